//! The files of a report that the next report reads.

use std::path::Path;

use mustlink_experiments::{Experiment, RunOptions, run};
use mustlink_report::report;

use super::harness::Harness;
use super::results::parts;

pub(super) const WORDS: &[&str] = &[
    "dataset",
    "metric",
    "method",
    "p",
    "mean",
    "mean_rank",
    "p_holm",
    "what",
    "before",
    "after",
    "ari",
    "m0",
    "m1",
    "NaN",
    "inf",
    "1e308",
    "method added",
    "mean rank",
    "\"\"",
    "\n----\n",
];

/// Two methods on two sets of six objects.
const STUDY: &str = r#"
[experiment]
name = "two"
[[dataset]]
id = "a"
path = "a.csv"
[[dataset]]
id = "b"
path = "b.csv"
[plot]
formats = []
[[method]]
id = "m0"
clusterer = "kmeans"
[[method]]
id = "m1"
clusterer = { type = "kmeans", restarts = 2 }
"#;

/// Between lines `----`: summary.csv, statistics.csv and moved.csv.
pub(super) fn report_before() -> Harness {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, last) in [("a.csv", "9,9,b"), ("b.csv", "1,7,b")] {
        let rows = format!("x,y,class\n0,1,a\n1,1,a\n0,2,a\n8,9,b\n9,8,b\n{last}\n");
        std::fs::write(folder.path().join(name), rows).expect("a file");
    }
    let dir = folder.path().join("out");
    let study = Experiment::parse("two.toml", STUDY, folder.path(), &[]).expect("a study");
    run(&study, &RunOptions::to(&dir)).expect("results");
    Box::new(move |bytes| {
        let _ = folder.path();
        write(&dir, bytes);
        // Made twice: the second time nothing has changed, and what moved is read again.
        let _ = (report(&dir), report(&dir));
    })
}

fn write(dir: &Path, bytes: &[u8]) {
    let mut parts = parts(bytes);
    for name in ["summary.csv", "statistics.csv", "moved.csv"] {
        std::fs::write(dir.join(name), parts.next().unwrap_or_default()).expect("a file");
    }
}
