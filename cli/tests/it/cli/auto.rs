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
    assert!(saved.out.contains("\nmodel        m.json\n"), "{}", saved.out);
    // Each voting method stores its own rule for new rows, so the model does not contain a copy of the old rows.
    let model: serde_json::Value = serde_json::from_str(&bench.read("m.json")).expect("JSON");
    assert!(model["place"]["neighbours"].is_null());
    let done = bench.run("predict --model m.json --data iris --out new.csv");
    assert_eq!(done.status, 0, "{}", done.err);
    assert!(
        done.err.contains("\nmethod       the weighted vote of the combined methods\n"),
        "{}",
        done.err
    );
    let (old, new) = (bench.read("labels.csv"), bench.read("new.csv"));
    let moved = old.lines().zip(new.lines()).filter(|(a, b)| a != b).count();
    assert!(moved <= 3, "{moved}");
    for option in ["--probabilities", "--distances"] {
        let done = bench.run(&format!("predict --model m.json --data iris --out new.csv {option}"));
        let said = "use the weighted vote of the combined methods";
        let refused = done.status == 2 && done.err.starts_with(&format!("error: {option}: "));
        assert!(refused && done.err.contains(said), "{}", done.err);
    }
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
    assert!(all.json()["diagnostics"]["score_error"].as_f64() > Some(0.0));
    let said = "error: --time limits auto, which tries many methods, and the clusterer is kmeans\n";
    bench.run(&format!("{line} --clusterer kmeans --time 5")).failed(2, said);
    // A method that ends early of its own accord was not interrupted.
    let asks = "selector = { type = \"cobra\", on_dont_know = \"stop\" }\noracle = { type = \"dont_know\", rate = 1.0 }\n";
    bench.write("asks.toml", asks);
    let found = bench.run("cluster --data iris --method asks.toml --budget 20 --format json");
    assert_eq!((found.status, &found.json()["status"]), (0, &"stopped".into()), "{}", found.err);
    let said = "must be a number of seconds of at least 0, or none, got -1";
    assert!(bench.run(&format!("{line} --time=-1")).err.contains(said));
}

#[test]
fn what_auto_would_try_is_estimated() {
    let bench = Bench::new();
    bench.write("p.csv", "i,j,type\n0,1,must_link\n0,70,cannot_link\n");
    let line = "cluster --data iris --k 3 --constraints p.csv --dry-run";
    let found = bench.run(line);
    assert_eq!(found.status, 0, "{}", found.err);
    assert!(found.out.starts_with("auto: about ") && found.out.contains(" z_score + kmeans "));
    let rows = |line: &str| bench.run(&format!("{line} --format json")).json()["attempts"].clone();
    let rows = |line| rows(line).as_array().unwrap().clone();
    let left_out = |line| rows(line).iter().filter(|r| r["left_out"] == true).count();
    assert_eq!((rows(line).len(), left_out(line)), (38, 0));
    let few = "cluster --data iris --k 3 --constraints p.csv --set clusterer.effort=0.0 --dry-run";
    assert_eq!((rows(few).len(), left_out(few)), (38, 34));
    let found = bench.run("cluster --data iris --k 3 --clusterer kmeans --dry-run --format json");
    assert!(found.json()["seconds"].as_f64() < Some(10.0), "{}", found.out);
}
