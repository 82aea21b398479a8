//! The program of three lines is the whole command line, and knows its own plugins besides.

use std::process::Command;

fn run(arguments: &[&str]) -> String {
    let done = Command::new(env!("CARGO_BIN_EXE_outside-plugin"))
        .args(arguments)
        .env_remove("MUSTLINK_DATA")
        .output()
        .expect("it starts");
    let error = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{arguments:?}: {error}");
    String::from_utf8(done.stdout).expect("UTF-8")
}

#[test]
fn plugins_are_listed_and_described() {
    let list = run(&["list"]);
    for tag in ["stripes", "chain", "largest_share", "kmeans", "random_pairs", "ari"] {
        assert!(list.lines().any(|l| l.split_whitespace().next() == Some(tag)), "{tag}: {list}");
    }
    let described = run(&["describe", "stripes"]);
    assert!(described.contains("Slices of about equal size"), "{described}");
    assert!(
        run(&["schema", "method"]).contains("largest_share")
            || run(&["schema"]).contains("largest_share")
    );
    assert!(run(&["schema", "stripes"]).contains("Number of the feature, from 0."));
}

#[test]
fn plugins_take_part() {
    let method = [
        "cluster",
        "--quiet",
        "--selection-only",
        "--data",
        "iris",
        "--k",
        "3",
        "--clusterer",
        "stripes",
        "--selector",
        "chain",
        "--budget",
        "20",
        "--format",
        "json",
        "--set",
        "clusterer.feature=2",
    ];
    let summary = run(&method);
    assert!(summary.contains("\"queries\": 20"), "{summary}");
}
