//! Every clusterer with five selectors on two small sets: nothing breaks, and questions do no great harm.

use mustlink as _;
use std::collections::BTreeMap;
use std::path::Path;

use mustlink_experiments::{Experiment, RunOptions, run};

/// Mean test ARI by data set, method and number of questions.
type Means = BTreeMap<(String, String, usize), f64>;

fn means(results: &Path) -> Means {
    let mut sums: BTreeMap<(String, String, usize), (f64, f64)> = BTreeMap::new();
    let mut reader = csv::Reader::from_path(results).unwrap();
    let head = reader.headers().unwrap().clone();
    let column = |name: &str| head.iter().position(|h| h == name).unwrap();
    let (set, method, p, ari) =
        (column("dataset"), column("method"), column("p_requested"), column("ari"));
    for row in reader.records() {
        let row = row.unwrap();
        let Ok(value) = row[ari].parse::<f64>() else { continue };
        let key = (row[set].into(), row[method].into(), row[p].parse().unwrap());
        let sum = sums.entry(key).or_default();
        *sum = (sum.0 + value, sum.1 + 1.0);
    }
    sums.into_iter().map(|(key, (sum, n))| (key, sum / n)).collect()
}

#[test]
fn every_clusterer_with_every_kind_of_selector() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("smoke-all.toml");
    // One draw shows that nothing breaks; means that can be compared take two, which is for the night.
    let repeats = if std::env::var_os("MUSTLINK_SLOW_TESTS").is_some() { 2 } else { 1 };
    let day = ["split.repeats=1".to_string(), "curve.points=[0, 20]".to_string()];
    let changed = if repeats == 1 { &day[..] } else { &[] };
    let experiment = Experiment::load(&file, changed).unwrap();
    assert_eq!(experiment.methods.len(), 21 * 5 + 2);
    let dir = tempfile::tempdir().unwrap();
    let outcome = run(&experiment, &RunOptions::to(dir.path())).unwrap();
    assert_eq!(outcome.done, (21 * 5 + 2) * 2 * 3 * repeats);
    assert!(outcome.failed.is_empty(), "{:?}", outcome.failed);
    if repeats == 1 {
        return;
    }
    let means = means(&dir.path().join("results.csv"));
    let at = |set: &str, method: &str, p: usize| -> f64 {
        let found = means.get(&(set.into(), method.into(), p));
        *found.unwrap_or_else(|| panic!("{method} on {set} at {p}"))
    };
    for set in ["iris", "blobs"] {
        for method in &experiment.methods {
            let (start, end) = (at(set, &method.id, 0), at(set, &method.id, 60));
            assert!(end >= start - 0.10, "{} on {set}: {start} and {end}", method.id);
        }
    }
    // Areas over the questions, of the selectors that choose and of the one that draws.
    let area = |id: &str| {
        let [a, b, c] = [0, 20, 60].map(|p| at("blobs", id, p));
        ((a + b) / 2.0 * 20.0 + (b + c) / 2.0 * 40.0) / 60.0
    };
    let drawn: Vec<&str> = experiment.methods.iter().map(|m| &*m.id).collect();
    let drawn: Vec<&str> = drawn.into_iter().filter(|id| id.contains("random_pairs")).collect();
    assert_eq!(drawn.len(), 21);
    for id in drawn {
        for chosen in ["explore_consolidate", "committee"] {
            let other = id.replace("random_pairs", chosen);
            assert!(area(&other) >= area(id) - 0.02, "{other}: {} of {}", area(&other), area(id));
        }
    }
    assert!(at("blobs", "cobra", 60) >= 0.95);
    assert!(at("blobs", "wbpa", 0) >= 0.90);
}
