//! Varied options of an experiment have columns of their own.

use mustlink as _;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use mustlink_core::{Csr, Data};
use mustlink_datasets::{Classes, Dataset};
use mustlink_experiments::{Experiment, RunOptions, Shard, Source, diff, merge, run};
use mustlink_report::report;

const HEAD: &str = "[experiment]\nname = \"varied\"\n[[dataset]]\nid = \"one\"\n\
                    [[dataset]]\nid = \"two\"\n[curve]\npoints = [3]\n";

const LISTS: &str = r#"
[[method]]
id = "cobra"
selector = { type = "cobra", super_instances = { from = 4, to = 6, step = 2 } }
[[method]]
id = "pck"
clusterer = [{ type = "pck_means", weight = [0.5, 2], lambda_gt_k = "largest" }, "kmeans"]
selector = "random_pairs"
[[method]]
id = "preset"
clusterer = "kmeans"
presets = { few = { clusterer = { restarts = 1 } }, many = { "clusterer.restarts" = 3, transforms = ["z_score"] } }
[[method]]
id = "plain"
clusterer = "mini_batch_kmeans"
"#;

fn source() -> Source {
    let set = |name: &str, n: usize| {
        let values = (0..n).map(|i| (i % 3 * 10 + i % 4) as f64).collect();
        let csr = Csr { indptr: (0..=n).collect(), indices: vec![0; n], values, columns: 1 };
        let names: Vec<String> = (0..n).map(|i| format!("c{}", i % 3)).collect();
        let classes = Classes::from_values(names.iter().map(|c| Some(c.as_str())));
        let data = Data::dense(Data::csr(csr).unwrap().to_dense()).unwrap();
        (name.to_string(), Dataset { classes: Some(classes), ..Dataset::new(name, data) })
    };
    Source { memory: BTreeMap::from([set("one", 24), set("two", 30)]), ..Source::default() }
}

fn run_into(out: &Path, methods: &str, shard: Option<Shard>) {
    let text = format!("{HEAD}{methods}");
    let experiment = Experiment::parse("v.toml", &text, Path::new("."), &[]).unwrap();
    let options = RunOptions { source: source(), threads: Some(1), shard, ..RunOptions::to(out) };
    let outcome = run(&experiment, &options).unwrap();
    assert!(outcome.failed.is_empty(), "{:?}", outcome.failed);
}

/// The columns of `results.csv` in order, and the rows by column.
fn table(out: &Path) -> (Vec<String>, Vec<BTreeMap<String, String>>) {
    let mut reader = csv::Reader::from_path(out.join("results.csv")).unwrap();
    let head: Vec<String> = reader.headers().unwrap().iter().map(String::from).collect();
    let rows = reader.records().map(|r| {
        let cells = r.unwrap().iter().map(String::from).collect::<Vec<_>>();
        head.iter().cloned().zip(cells).collect()
    });
    let rows = rows.collect();
    (head, rows)
}

/// As directories were before they said what their experiment varies.
fn forget(out: &Path) {
    let path = out.join("config.json");
    let mut config: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert!(config.as_object_mut().unwrap().remove("varied").is_some());
    fs::write(path, config.to_string()).unwrap();
}

#[test]
fn every_option_that_is_varied_is_a_column() {
    let dir = tempfile::tempdir().unwrap();
    run_into(dir.path(), LISTS, None);
    let (head, rows) = table(dir.path());
    // In alphabetical order.
    let options = [
        "option.clusterer",
        "option.clusterer.restarts",
        "option.clusterer.weight",
        "option.clusterer.when_more_neighbourhoods",
        "option.selector.super_instances",
        "option.transforms",
    ];
    let at = head.iter().position(|c| c == options[0]).unwrap();
    assert_eq!(head[at - 1], "version");
    assert_eq!(head[at..at + 6], options);
    assert!(head[at + 6..].iter().all(|c| c.starts_with("time_")), "{head:?}");
    let of: BTreeMap<&str, Vec<&str>> = rows
        .iter()
        .filter(|row| row["dataset"] == "one")
        .map(|row| (row["method"].as_str(), options.map(|o| row[o].as_str()).to_vec()))
        .collect();
    let wanted = [
        ("cobra[super_instances=4]", ["", "", "", "", "4", "[]"]),
        ("cobra[super_instances=6]", ["", "", "", "", "6", "[]"]),
        ("pck[clusterer=pck_means,weight=0.5]", ["pck_means", "", "0.5", "largest", "", "[]"]),
        ("pck[clusterer=pck_means,weight=2]", ["pck_means", "", "2", "largest", "", "[]"]),
    ];
    for (method, values) in wanted {
        assert_eq!(of[method], values, "{method}");
    }
    // A default is the value of a method too.
    assert_eq!(of["pck[clusterer=kmeans]"][..1], ["kmeans"]);
    assert_ne!(of["pck[clusterer=kmeans]"][1], "");
    assert_eq!(of["preset[few]"][..3], ["kmeans", "1", ""]);
    assert_eq!(of["preset[many]"][..3], ["kmeans", "3", ""]);
    assert_eq!(of["preset[many]"][5], "[\"z_score\"]");
    assert_eq!(of["plain"][0], "mini_batch_kmeans");
}

#[test]
fn a_study_without_lists_has_no_such_column() {
    let dir = tempfile::tempdir().unwrap();
    run_into(dir.path(), "[[method]]\nid = \"plain\"\nclusterer = \"kmeans\"\n", None);
    assert!(table(dir.path()).0.iter().all(|c| !c.starts_with("option.")));
    let config = fs::read_to_string(dir.path().join("config.json")).unwrap();
    assert!(!config.contains("\"varied\":"), "{config}");
}

#[test]
fn rows_have_the_number_of_clusters_that_was_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let methods = "[[method]]\nid = \"own\"\nk = 5\nclusterer = { type = \"kmeans\", k = 2 }\n\
                   [[method]]\nid = \"given\"\nk = 4\nclusterer = \"kmeans\"\n\
                   [[method]]\nid = \"classes\"\nclusterer = \"kmeans\"\n";
    run_into(dir.path(), methods, None);
    for row in table(dir.path()).1 {
        let k = BTreeMap::from([("own", "2"), ("given", "4"), ("classes", "3")]);
        assert_eq!(row["k"], k[row["method"].as_str()], "{row:?}");
    }
}

#[test]
fn directories_with_and_without_the_columns_go_together() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| -> PathBuf { dir.path().join(name) };
    run_into(&at("whole"), LISTS, None);
    for number in [1, 2] {
        let shard = Shard { number, of: 2 };
        run_into(&at(&format!("shard{number}")), LISTS, Some(shard));
    }
    forget(&at("shard2"));
    merge(&[at("shard1"), at("shard2")], &at("merged")).unwrap();
    let untimed = |name: &str| {
        let (_, mut rows) = table(&at(name));
        rows.iter_mut().for_each(|row| row.retain(|column, _| !column.starts_with("time_")));
        rows
    };
    assert_eq!(untimed("merged"), untimed("whole"));
    forget(&at("merged"));
    report(&at("merged")).unwrap();
    assert!(table(&at("merged")).0.iter().all(|c| !c.starts_with("option.")));
    let found = diff(&at("merged"), &at("whole")).unwrap();
    assert!(found.is_same(), "{found}");
}
