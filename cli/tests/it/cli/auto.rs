//! The method that tries others: its model, its time limit.

use super::support::Bench;

/// Saving changes no label, and the objects of the model go back to where they were, but for those that constraints
/// moved.
#[test]
fn what_auto_found_is_a_model() {
    let bench = Bench::new();
    let line = "cluster --data iris --selector random_pairs --budget 60 --k 3 --quiet";
    let plain = bench.run(&format!("{line} --out plain.csv"));
    assert_eq!(plain.status, 0, "{}", plain.err);
    let saved = bench.run(&format!("{line} --out labels.csv --save-model m.json"));
    assert_eq!(saved.status, 0, "{}", saved.err);
    assert_eq!(bench.read("labels.csv"), bench.read("plain.csv"));
    let done = bench.run("predict --model m.json --data iris --out new.csv");
    assert_eq!(done.status, 0, "{}", done.err);
    assert!(done.err.contains("by the weighted vote of the combined methods"), "{}", done.err);
    let (old, new) = (bench.read("labels.csv"), bench.read("new.csv"));
    let moved = old.lines().zip(new.lines()).filter(|(a, b)| a != b).count();
    assert!(moved <= 3, "{moved}");
    let done = bench.run("predict --model m.json --data iris --out new.csv --probabilities");
    let said = "go by the weighted vote of the combined methods, which has none";
    assert!(done.status == 2 && done.err.contains(said), "{}", done.err);
}

#[test]
fn a_time_limit_is_for_auto() {
    let bench = Bench::new();
    let line = "cluster --data iris --selector random_pairs --budget 20 --k 3";
    let found = bench.run(&format!("{line} --time 0 --format json"));
    assert_eq!(found.status, 0, "{}", found.err);
    let said = "38 of 38 candidates were left out because time ran out; the same seed may give a different result";
    assert!(found.err.contains(said), "{}", found.err);
    assert_eq!(found.json()["method"]["clusterer"]["time_budget_seconds"], 0.0);
    let all = bench.run(&format!("{line} --time none --format json"));
    assert_eq!(all.json()["method"]["clusterer"]["effort"], 1e12);
    let said = "error: --time limits auto, which tries many methods, and the clusterer is kmeans\n";
    bench.run(&format!("{line} --clusterer kmeans --time 5")).failed(2, said);
    let said = "must be a number of seconds of at least 0, or none, got -1";
    assert!(bench.run(&format!("{line} --time=-1")).err.contains(said));
}
