//! Claims in an experiment file: what they may say, and what the report makes of them.

use mustlink as _;
use std::path::Path;

use mustlink_experiments::{Experiment, RunOptions, Source, plan, run};
use mustlink_report::{Judgement, report};

const TEXT: &str = r#"
[experiment]
name = "claims"

[[dataset]]
id = "iris"

[[dataset]]
id = "some-wine"
source = "iris"
class_sizes = { Iris-setosa = 20, Iris-virginica = 20 }

[[dataset]]
id = "nobody-has-this"
optional = true

[split]
type = "kfold"
folds = 3
repeats = 2

[curve]
points = [0, 10]

[scoring]
metrics = ["ari"]

[stats]
unit = "fold"
records = ["neighbourhoods", "constraints_must"]

[[method]]
id = "pck"
clusterer = "pck_means"
selector = "random_pairs"

[[method]]
id = "plain"
clusterer = "kmeans"

[[criterion]]
id = "size"
statement = "the sizes are as printed"
value = "n"
printed = { iris = 150, some-wine = 91, nobody-has-this = 7 }
tolerance = 0

[[criterion]]
id = "holds"
statement = "constraints are there at the last point"
datasets = ["iris", "some-wine"]
check = "last(constraints_must('pck') + constraints_cannot('pck')) >= 5 and first(neighbourhoods('pck')) == 0"

[[criterion]]
id = "fails"
statement = "k-means is worse than nothing"
datasets = ["iris"]
check = "last(ari('plain')) < 0"

[[criterion]]
id = "absent"
statement = "something about a set nobody has"
datasets = ["nobody-has-this"]
check = "last(ari('plain')) > 0"

[[criterion]]
id = "most"
statement = "pck is defined on two of three"
check = "last(ari('pck')) <= 1"
at_least = 2

[[criterion]]
id = "together"
statement = "the larger set is iris"
check = "count_sets(n <= in_set('iris', n)) == sets() and sets() == 2"
"#;

fn parse(text: &str) -> Result<Experiment, String> {
    Experiment::parse("c.toml", text, Path::new("."), &[]).map_err(|e| e.to_string())
}

#[test]
fn verdicts_come_from_the_rows() {
    let dir = tempfile::tempdir().unwrap();
    let experiment = parse(TEXT).unwrap();
    let planned = plan(&experiment, &Source::default(), None).unwrap();
    assert_eq!((planned.cells, planned.missing().count()), (24, 0));
    assert!(planned.to_string().contains("nobody-has-this: left out: "));
    let options = RunOptions::to(dir.path());
    let outcome = run(&experiment, &options).unwrap();
    assert_eq!((outcome.done, outcome.failed.len()), (24, 0));
    let made = report(dir.path()).unwrap();
    let found: Vec<_> =
        made.verdicts.iter().map(|v| (v.criterion.id.as_str(), v.judgement)).collect();
    let expected = [
        ("size", Judgement::Partly),
        ("holds", Judgement::Reproduced),
        ("fails", Judgement::NotReproduced),
        ("absent", Judgement::NoData),
        ("most", Judgement::Reproduced),
        ("together", Judgement::Reproduced),
    ];
    assert_eq!(found, expected);
    assert_eq!(
        made.verdicts[0].note(),
        "holds on iris; not on some-wine; no data: nobody-has-this"
    );
    assert_eq!(made.verdicts[0].findings[1].numbers, "ours 90, printed 91 ± 0");
    assert!(
        made.table.contains("6 criteria: 3 reproduced, 1 partly, 1 not reproduced, 1 without data")
    );
    let page = std::fs::read_to_string(dir.path().join("report.html")).unwrap();
    assert!(page.contains("<h2>Criteria</h2>") && page.contains("not reproduced"));
    let csv = std::fs::read_to_string(dir.path().join("verdicts.csv")).unwrap();
    assert!(csv.contains("size,partly,iris,yes,\"ours 150, printed 150 ± 0\",n,"), "{csv}");
    // What a clusterer tells of itself is summarised like a score.
    let curve = made.curves.iter().find(|c| c.metric == "neighbourhoods").unwrap();
    assert_eq!(curve.points[0].score.unwrap().mean, 0.0);
    // Claims may change without the run being another.
    let other = parse(&TEXT.replace("at_least = 2", "at_least = 1")).unwrap();
    assert_eq!(run(&other, &options).unwrap().done, 0);
}

#[test]
fn mistakes_in_claims_are_named() {
    let head = "[experiment]\nname = \"t\"\n[[dataset]]\nid = \"iris\"\n\
                [[method]]\nid = \"m\"\nclusterer = \"kmeans\"\n[[criterion]]\nid = \"1\"\nstatement = \"s\"\n";
    for (rest, expected) in [
        ("", "c.toml:8:1: criterion[0].check: a criterion has either a check or a value"),
        (
            "check = \"last(arii('m')) > 0\"",
            "criterion[0].check: no function or column \"arii\"; did you mean \"ari\"?",
        ),
        ("value = \"n\"", "criterion[0].printed: missing: the numbers to compare with"),
        (
            "value = \"n\"\nprinted = { irsi = 3 }",
            "c.toml:12:11: criterion[0].printed: no data set \"irsi\"; did you mean \"iris\"?",
        ),
        (
            "value = \"n\"\nprinted = { iris = 3 }\ntolerance = { irsi = 1 }",
            "criterion[0].tolerance: no data set \"irsi\"; did you mean \"iris\"?",
        ),
        (
            "datasets = [\"irsi\"]\ncheck = \"n > 0\"",
            "criterion[0].datasets: no data set \"irsi\"; did you mean \"iris\"?",
        ),
        (
            "value = \"n\"\nprinted = { iris = 3 }\ntolerance = 1\nfactor = 2",
            "criterion[0].factor: goes instead of tolerance, not with it",
        ),
        (
            "check = \"sets() > 1\"\nat_least = 2",
            "criterion[0].check: is about all data sets together; use a check alone",
        ),
        (
            "check = \"n > 1\"\nat_least = 2",
            "criterion[0].at_least: must be between 1 and 1 (the data sets that it is about), got 2",
        ),
        (
            "check = \"n > 1\"\ndatasets = []",
            "criterion[0].datasets: needs at least one data set; leave it out to use all",
        ),
        (
            "check = \"n > 1\"\ntolerance = 1",
            "criterion[0].tolerance: goes with value, not with check",
        ),
    ] {
        let said = parse(&format!("{head}{rest}\n")).unwrap_err();
        assert!(said.contains(expected), "{rest}: {said}");
    }
}

#[test]
fn the_papers_files_are_good_files() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../papers");
    let mut names: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    // Figures of the papers stand beside them as numbers.
    names.retain(|path| path.extension().is_some_and(|e| e == "toml"));
    names.sort();
    assert!(names.len() >= 5);
    for path in names {
        let experiment = Experiment::load(&path, &[]).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(Some(experiment.head.name.as_str()), path.file_stem().and_then(|s| s.to_str()));
        assert!(!experiment.criteria.is_empty(), "{}", path.display());
    }
}

#[test]
fn every_claim_of_a_paper_that_fails_says_why() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../papers");
    let mut failed = 0;
    for kept in std::fs::read_dir(folder.join("verdicts")).unwrap() {
        let kept = kept.unwrap().path();
        let name = format!("{}.toml", kept.file_stem().unwrap().to_str().unwrap());
        let experiment = Experiment::load(&folder.join(&name), &[]).unwrap();
        let mut lines = csv::Reader::from_path(&kept).unwrap();
        let ids: Vec<String> = experiment.criteria.iter().map(|c| c.id.clone()).collect();
        let mut kept_ids: Vec<String> = Vec::new();
        for line in lines.deserialize::<std::collections::BTreeMap<String, String>>() {
            let line = line.unwrap();
            let id = &line["criterion"];
            if !kept_ids.contains(id) {
                kept_ids.push(id.clone());
            }
            let criterion = experiment.criteria.iter().find(|c| c.id == *id).unwrap();
            assert_eq!(criterion.statement, line["statement"], "{name} {id}");
            if line["verdict"] == "not reproduced" {
                failed += 1;
                assert!(criterion.why.is_some(), "{name}: {id} does not say why it fails");
            }
        }
        // A claim that came later waits for a run.
        let known: Vec<&String> = ids.iter().filter(|id| kept_ids.contains(id)).collect();
        assert_eq!(
            kept_ids.iter().collect::<Vec<_>>(),
            known,
            "{name}: not the verdicts of its claims"
        );
    }
    assert!(failed > 0);
}

/// Diagnostics of an active clusterer are summarised like the scores: its bound, its questions, and
/// its number of clusters.
#[test]
fn records_of_active_clusterers_are_summarised() {
    let dir = tempfile::tempdir().unwrap();
    let text = r#"
[experiment]
name = "bound"

[[dataset]]
id = "iris"

[split]
type = "kfold"
folds = 3

[curve]
points = [5, 200]

[scoring]
metrics = ["ari"]

[stats]
records = ["lower_bound", "super_instances", "queries", "k_found"]

[[method]]
id = "cobra"
k = "unknown"
selector = { type = "cobra", super_instances = 10 }

[[method]]
id = "cobras"
k = "unknown"
selector = "cobras"

[[criterion]]
id = "bound"
statement = "no fewer questions than the bound, and no fewer than merges"
check = "last(queries('cobra')) >= last(lower_bound('cobra')) and last(lower_bound('cobra')) >= last(super_instances('cobra') - k_found('cobra'))"

[[criterion]]
id = "found"
statement = "COBRAS begins with few super-instances and makes more of them"
check = "last(super_instances('cobras')) > first(super_instances('cobras')) and last(k_found('cobras')) >= 2"
"#;
    let outcome = run(&parse(text).unwrap(), &RunOptions::to(dir.path())).unwrap();
    assert!(outcome.failed.is_empty(), "{:?}", outcome.failed);
    let made = report(dir.path()).unwrap();
    let found: Vec<_> = made.verdicts.iter().map(|v| (v.judgement, v.note())).collect();
    assert!(found.iter().all(|(j, _)| *j == Judgement::Reproduced), "{found:?}");
    let summary = std::fs::read_to_string(dir.path().join("summary.csv")).unwrap();
    for name in ["lower_bound", "super_instances", "queries", "k_found"] {
        assert!(summary.contains(name), "{name}: {summary}");
    }
}
