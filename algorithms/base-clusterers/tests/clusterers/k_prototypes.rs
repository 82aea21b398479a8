//! K-prototypes and k-modes compared with the package kmodes 0.12 on its examples, stocks and soybean, which
//! `benches/peers/k_prototypes.py` stored: the smallest cost of at least 100 of its starts, and the clusters.

use mustlink_base_clusterers::k_prototypes::KPrototypes;
use mustlink_core::clustering::canonical;
use mustlink_core::prelude::*;
use mustlink_core::run;
use mustlink_transforms::one_hot::OneHot;
use ndarray::Array2;
use serde_json::Value;

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

/// The table of a case, numbers first.
fn table(case: &Value) -> Data {
    let (numbers, words) = (list(&case["numbers"]), list(&case["words"]));
    let of_numbers = usize::from(!numbers.is_empty());
    let word = |i: usize, s: usize| words[i][s].as_str().unwrap().to_string();
    let d = of_numbers + list(&words[0]).len();
    let mut lists = vec![None; of_numbers];
    for s in 0..d - of_numbers {
        let mut all: Vec<String> = (0..words.len()).map(|i| word(i, s)).collect();
        all.sort();
        all.dedup();
        lists.push(Some(all));
    }
    let x = Array2::from_shape_fn((words.len(), d), |(i, s)| match &lists[s] {
        Some(all) => all.binary_search(&word(i, s - of_numbers)).unwrap() as f64,
        None => numbers[i].as_f64().unwrap(),
    });
    Data::table(x, lists.into_iter().map(|all| all.map(Into::into)).collect()).unwrap()
}

#[test]
fn costs_and_clusters_are_those_of_kmodes() {
    let all: Value = serde_json::from_str(include_str!("../kmodes.json")).unwrap();
    assert_eq!(list(&all["cases"]).len(), 3);
    for (at, case) in list(&all["cases"]).iter().enumerate() {
        let steps: [Box<dyn Transform>; 1] = [Box::new(OneHot::default())];
        let problem = Problem::new(table(case)).with_k(case["k"].as_u64().unwrap() as usize);
        let ctx = Context::new(1);
        let made = run::transform(&steps, &problem, &ctx).unwrap().problem;
        // The first case has the gamma that "auto" finds; soybean has no numbers.
        let gamma = case["gamma"].as_f64().unwrap();
        let own = if at == 1 { gamma.into() } else { AutoOr::Auto };
        let method = KPrototypes { gamma: own, ..KPrototypes::default() };
        let found = run::cluster(&method, &made, &ctx).unwrap().clustering;
        let (name, cost) = (&case["name"], case["cost"].as_f64().unwrap());
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b;
        assert!(near(found.extras.diagnostics["gamma"], gamma), "{name}");
        assert!(near(found.objective.unwrap(), cost), "{name}: {:?}, {cost}", found.objective);
        let theirs: Vec<u32> =
            list(&case["labels"]).iter().map(|v| v.as_u64().unwrap() as u32).collect();
        assert_eq!(canonical(&found.labels), canonical(&theirs), "{name}");
    }
}
