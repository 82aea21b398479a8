//! A finished study takes data sets, methods, metrics, points and repeats without losing a row.

use mustlink as _;
use std::collections::BTreeMap;
use std::path::Path;

use mustlink_core::prelude::*;
use mustlink_datasets::{Classes, Dataset};
use mustlink_experiments::{
    Experiment, Outcome, RunOptions, Shard, Source, diff, merge, plan, run,
};
use mustlink_report::report;

/// Three groups along a line, small enough for a cell to take a moment.
fn dataset(name: &str, n: usize) -> Dataset {
    let mut stream = SeedPath::new(n as u64).stream(name);
    let class: Vec<u32> = (0..n).map(|i| (i % 3) as u32).collect();
    let values: Vec<f64> = class.iter().map(|&c| f64::from(c) * 2.0 + stream.normal()).collect();
    let csr = Csr { indptr: (0..=n).collect(), indices: vec![0; n], values, columns: 1 };
    let data = Data::dense(Data::csr(csr).unwrap().to_dense()).unwrap();
    let names: Vec<String> = class.iter().map(|c| format!("c{c}")).collect();
    let classes = Classes::from_values(names.iter().map(|c| Some(c.as_str())));
    Dataset { classes: Some(classes), ..Dataset::new(name, data) }
}

const SETS: [&str; 4] = ["one", "two", "iris", "three"];

const METHODS: [(&str, &str); 6] = [
    ("plain", "clusterer = { type = \"kmeans\", restarts = 1 }"),
    ("twice", "clusterer = { type = \"kmeans\", restarts = 2 }"),
    ("random", "clusterer = \"pck_means\"\nselector = \"random_pairs\""),
    ("chosen", "clusterer = \"pck_means\"\nselector = \"explore_consolidate\""),
    ("light", "clusterer = { type = \"pck_means\", weight = 0.1 }\nselector = \"random_pairs\""),
    ("new", "clusterer = { type = \"pck_means\", weight = 9.0 }\nselector = \"random_pairs\""),
];

/// A study in its parts.
#[derive(Clone)]
struct Study {
    sets: usize,
    methods: usize,
    repeats: usize,
    points: &'static str,
    metrics: &'static str,
}

const SMALL: Study =
    Study { sets: 3, methods: 5, repeats: 20, points: "[0, 6]", metrics: "[\"ari\"]" };

impl Study {
    fn text(&self) -> String {
        let sets = SETS[..self.sets].iter().map(|id| format!("[[dataset]]\nid = \"{id}\"\n"));
        let methods = METHODS[..self.methods].iter();
        let methods = methods.map(|(id, rest)| format!("[[method]]\nid = \"{id}\"\n{rest}\n"));
        format!(
            "[experiment]\nname = \"study\"\nseed = 3\n[split]\ntype = \"holdout\"\ntest_fraction = 0.3\n\
             repeats = {}\n[curve]\npoints = {}\n[scoring]\nmetrics = {}\n{}{}",
            self.repeats,
            self.points,
            self.metrics,
            sets.collect::<String>(),
            methods.collect::<String>()
        )
    }

    fn experiment(&self) -> Experiment {
        Experiment::parse("study.toml", &self.text(), Path::new("."), &[])
            .unwrap_or_else(|e| panic!("{e}"))
    }

    fn run(&self, out: &Path) -> Outcome {
        let outcome = run(&self.experiment(), &options(out)).unwrap_or_else(|e| panic!("{e}"));
        assert!(outcome.failed.is_empty(), "{:?}", outcome.failed);
        outcome
    }
}

fn source() -> Source {
    let sets = [dataset("one", 30), dataset("two", 24), dataset("three", 27)];
    let memory: BTreeMap<_, _> = sets.into_iter().map(|s| (s.name.clone(), s)).collect();
    Source { memory, ..Source::default() }
}

fn options(out: &Path) -> RunOptions {
    RunOptions { source: source(), threads: Some(2), ..RunOptions::to(out) }
}

/// `results.csv` without its three time columns, which come last.
fn results(out: &Path) -> String {
    let text = std::fs::read_to_string(out.join("results.csv")).unwrap();
    let untimed = |line: &str| line.rsplitn(4, ',').last().unwrap().to_string() + "\n";
    text.lines().map(untimed).collect()
}

/// Both hold the same, byte for byte, times aside.
fn same(a: &Path, b: &Path) {
    assert_eq!(results(a), results(b));
    [a, b].into_iter().for_each(|dir| drop(report(dir).unwrap()));
    for file in ["summary.csv", "cells.csv", "config.toml"] {
        assert_eq!(std::fs::read(a.join(file)).unwrap(), std::fs::read(b.join(file)).unwrap());
    }
    let found = diff(a, b).unwrap();
    assert!(found.is_same(), "{found}");
}

fn counts(outcome: &Outcome) -> (usize, usize, usize) {
    (outcome.total, outcome.skipped, outcome.done)
}

#[test]
fn a_method_a_data_set_and_five_repeats_run_exactly_the_new_cells() {
    let (grown, whole) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    assert_eq!(counts(&SMALL.run(grown.path())), (300, 0, 300));
    let large = Study { sets: 4, methods: 6, repeats: 25, ..SMALL };
    let planned = plan(&large.experiment(), &source(), Some(grown.path())).unwrap();
    assert_eq!((planned.cells, planned.finished), (600, 300));
    assert_eq!(planned.standing.kept, 0);
    assert_eq!(counts(&large.run(grown.path())), (600, 300, 300));
    assert_eq!(counts(&large.run(whole.path())), (600, 0, 600));
    same(grown.path(), whole.path());
    // What is taken out stays on disk, is in no report, and is there when it comes back.
    let planned = plan(&SMALL.experiment(), &source(), Some(grown.path())).unwrap();
    assert_eq!((planned.finished, planned.standing.kept), (300, 300));
    assert_eq!(counts(&SMALL.run(grown.path())), (300, 300, 0));
    assert!(!results(grown.path()).contains(",new,"));
    assert_eq!(counts(&large.run(grown.path())), (600, 600, 0));
    same(grown.path(), whole.path());
}

#[test]
fn two_repeats_become_ten() {
    let (grown, whole) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let few = Study { sets: 1, methods: 4, repeats: 2, ..SMALL };
    let many = Study { repeats: 10, ..few.clone() };
    few.run(grown.path());
    assert_eq!(counts(&many.run(grown.path())), (40, 8, 32));
    many.run(whole.path());
    same(grown.path(), whole.path());
}

#[test]
fn a_point_more_keeps_the_rows_of_the_others() {
    let (grown, whole) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let few = Study { sets: 1, methods: 4, repeats: 2, ..SMALL };
    let more = Study { points: "[0, 3, 6, 9]", ..few.clone() };
    few.run(grown.path());
    let times = |out: &Path| -> Vec<String> {
        let text = std::fs::read_to_string(out.join("results.csv")).unwrap();
        text.lines().map(String::from).collect()
    };
    let before = times(grown.path());
    let planned = plan(&more.experiment(), &source(), Some(grown.path())).unwrap();
    assert_eq!((planned.finished, planned.standing.partial), (0, 8));
    assert_eq!(planned.standing.points, [3, 9].into());
    assert_eq!(counts(&more.run(grown.path())), (8, 0, 8));
    // Times included: these rows are the ones that were there.
    let after = times(grown.path());
    assert!(before.iter().all(|row| after.contains(row)));
    more.run(whole.path());
    same(grown.path(), whole.path());
    assert_eq!(counts(&few.run(grown.path())), (8, 8, 0));
    assert_eq!(times(grown.path()), before);
    assert_eq!(counts(&more.run(grown.path())), (8, 8, 0));
}

#[test]
fn a_metric_more_runs_again_and_one_less_does_not() {
    let (grown, whole) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let one = Study { sets: 1, methods: 4, repeats: 2, ..SMALL };
    let two = Study { metrics: "[\"purity\", \"ari\"]", ..one.clone() };
    one.run(grown.path());
    let planned = plan(&two.experiment(), &source(), Some(grown.path())).unwrap();
    assert_eq!((planned.finished, planned.standing.partial), (0, 8));
    assert_eq!(planned.standing.metrics, ["purity".to_string()].into());
    assert_eq!(counts(&two.run(grown.path())), (8, 0, 8));
    two.run(whole.path());
    same(grown.path(), whole.path());
    assert_eq!(counts(&one.run(grown.path())), (8, 8, 0));
    // Another metric, and the scores of the one left out are still there.
    let other = Study { metrics: "[\"nmi_arith\"]", ..one.clone() };
    assert_eq!(other.run(grown.path()).done, 8);
    assert_eq!(counts(&two.run(grown.path())), (8, 8, 0));
    same(grown.path(), whole.path());
}

#[test]
fn parts_of_a_study_on_several_machines_are_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let whole = Study { sets: 2, methods: 3, repeats: 2, ..SMALL };
    whole.run(&at("whole"));
    let shard = |number: usize| {
        let shard = Some(Shard { number, of: 2 });
        let out = at(&format!("shard{number}"));
        run(&whole.experiment(), &RunOptions { shard, ..options(&out) }).unwrap();
        out
    };
    let merged = merge(&[shard(1), shard(2)], &at("shards")).unwrap();
    assert_eq!((merged.cells, merged.shared, merged.mended), (12, 0, 0));
    same(&at("whole"), &at("shards"));
    // One machine had fewer methods, the other one data set, and both had some cells.
    let fewer = Study { methods: 2, ..whole.clone() };
    let one = Study { sets: 1, ..whole.clone() };
    fewer.run(&at("fewer"));
    one.run(&at("one"));
    let merged = merge(&[at("fewer"), at("one")], &at("both")).unwrap();
    assert_eq!((merged.cells, merged.shared), (10, 4));
    // What neither had is the rest of the study.
    assert_eq!(counts(&whole.run(&at("both"))), (12, 10, 2));
    same(&at("whole"), &at("both"));
    // A cell that is another one: a row of a machine that is not to be trusted.
    let mut other = source();
    other.memory.insert("one".into(), dataset("one", 33));
    run(&one.experiment(), &RunOptions { source: other, ..options(&at("other")) }).unwrap();
    let error = merge(&[at("fewer"), at("other")], &at("never")).unwrap_err().to_string();
    assert!(error.contains("one, plain, repeat 0, fold 0 is another cell here"), "{error}");
    assert!(!at("never").exists());
    let found = diff(&at("one"), &at("other")).unwrap();
    assert!(found.changed.iter().any(|c| c.column == "n" && c.differ == c.rows), "{found}");
    assert_eq!(report(&at("both")).unwrap().finished, 12);
}

#[test]
fn labels_that_one_part_kept_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let small = Study { sets: 1, methods: 1, repeats: 1, ..SMALL };
    small.run(&at("bare"));
    let text = small.text() + "[run]\nkeep_labels = true\n";
    let keeping = Experiment::parse("study.toml", &text, Path::new("."), &[]).unwrap();
    run(&keeping, &options(&at("kept"))).unwrap();
    for (name, parts) in [("one", ["kept", "bare"]), ("other", ["bare", "kept"])] {
        let merged = merge(&parts.map(at), &at(name)).unwrap();
        assert_eq!((merged.cells, merged.shared), (1, 1));
        let cells = std::fs::read_dir(at(name).join("cells")).unwrap();
        let rows: String =
            cells.map(|cell| std::fs::read_to_string(cell.unwrap().path()).unwrap()).collect();
        assert_eq!(rows.matches("\"labels\":[").count(), 2, "{name}");
    }
}
