//! Changes since a study ran are found, and no results are lost because of them.

use mustlink as _;
use std::fs;
use std::path::PathBuf;

use mustlink_core::prelude::*;
use mustlink_experiments::{Experiment, Outcome, RunOptions, failures, plan, retry, run, verify};
use tempfile::TempDir;

/// A folder with two data sets of two clouds each, a list of pairs, and a study of them.
struct Study {
    dir: TempDir,
    text: String,
}

const TEXT: &str = r#"
[experiment]
name = "changed"
[[dataset]]
id = "one"
path = "one.csv"
target = "class"
labels = "known"
[[dataset]]
id = "two"
path = "two.csv"
target = "class"
ignore = ["known"]
optional = true
[split]
type = "all"
[curve]
points = [0, 4]
[[method]]
id = "m"
clusterer = "pck_means"
selector = { type = "fixed_list", file = "pairs.csv" }
"#;

impl Study {
    fn new(text: &str) -> Study {
        let study = Study { dir: tempfile::tempdir().unwrap(), text: text.into() };
        study.write("one.csv", &cloud(|i| if i < 5 { "a" } else { "" }));
        study.write("two.csv", &cloud(|_| ""));
        study.write("pairs.csv", "0,1\n0,30\n1,31\n2,3\n");
        study
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.dir.path().join(name), text).unwrap();
    }

    fn out(&self) -> PathBuf {
        self.dir.path().join("out")
    }

    fn experiment(&self) -> Experiment {
        let base = self.dir.path();
        Experiment::parse("t.toml", &self.text, base, &[]).unwrap_or_else(|e| panic!("{e}"))
    }

    fn run(&self) -> Outcome {
        run(&self.experiment(), &RunOptions::to(self.out())).unwrap_or_else(|e| panic!("{e}"))
    }

    fn retry(&self, sets: &[&str]) -> Result<Outcome> {
        let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
        retry(&self.out(), &sets, &RunOptions::to(self.out()))
    }

    fn lines(&self) -> usize {
        fs::read_to_string(self.out().join("results.csv")).unwrap().lines().count() - 1
    }
}

fn cloud(known: impl Fn(usize) -> &'static str) -> String {
    let row = |i: usize| {
        let (x, y) = (i % 7 + 20 * (i / 30), i * i % 11);
        format!("{x}.5,{y}.5,{},{}\n", known(i), i / 30)
    };
    format!("x,y,known,class\n{}", (0..60).map(row).collect::<String>())
}

#[test]
fn labels_and_files_that_changed_make_other_cells() {
    let study = Study::new(TEXT);
    assert_eq!((study.run().done, study.run().done), (2, 0));
    // A label that is told belongs to the problem as a constraint does.
    study.write("one.csv", &cloud(|i| if i < 5 { "b" } else { "" }));
    assert_eq!(study.run().done, 1);
    study.write("one.csv", &cloud(|i| if i < 5 { "a" } else { "" }));
    assert_eq!(study.run().done, 0);
    study.write("pairs.csv", "0,1\n0,30\n");
    let standing = plan(&study.experiment(), &RunOptions::to(".").source, Some(&study.out()));
    let standing = standing.unwrap().standing;
    assert_eq!((standing.stale, standing.changed.contains("pairs.csv")), (2, true));
    assert_eq!(study.run().done, 2);
}

#[test]
fn nothing_is_retried_over_data_that_changed() {
    let study = Study::new(TEXT);
    study.write("pairs.csv", "0,1\n0,99\n");
    assert_eq!(study.run().failed.len(), 2);
    study.write("pairs.csv", "0,1\n0,9\n");
    let before = study.lines();
    for (damage, why) in [
        (Some(cloud(|_| "b")), "the data of \"two\" have changed since"),
        (None, "the data set \"two\" is missing"),
    ] {
        match damage {
            Some(text) => study.write("two.csv", &text.replacen("0.5,0.5,", "9.5,9.5,", 1)),
            None => fs::remove_file(study.dir.path().join("two.csv")).unwrap(),
        }
        let refused = study.retry(&[]).map(|_| ()).unwrap_err().to_string();
        assert!(refused.contains(why) && refused.contains("mustlink run"), "{refused}");
        assert_eq!(study.lines(), before);
    }
    study.write("two.csv", &cloud(|_| ""));
    let again = study.retry(&[]).unwrap();
    assert_eq!((again.done, again.failed.len()), (2, 0));
    study.write("two.csv", &cloud(|_| "b").replacen("0.5,0.5,", "9.5,9.5,", 1));
    let verified = verify(&study.out(), 1.0, 0, &RunOptions::to(study.out())).unwrap();
    assert_eq!((verified.tried, verified.differing.len()), (1, 0));
    let changed = "the data of \"two\" have changed since, or the version of a plugin";
    assert_eq!(verified.strayed, [changed]);
}

#[test]
fn what_ran_out_of_a_limit_is_retried_with_another() {
    let study = Study::new(&format!("{TEXT}[run]\ncell_memory_bytes = 1\n"));
    assert_eq!(study.run().failed.len(), 2);
    assert_eq!(study.retry(&[]).unwrap().failed.len(), 2);
    let again = study.retry(&["run.cell_memory_bytes=1000000000"]).unwrap();
    assert_eq!((again.done, again.failed.len()), (2, 0));
    assert_eq!(study.retry(&[]).unwrap().total, 0);
}

#[test]
fn what_a_limit_cuts_off_is_no_other_bit() {
    let limited = format!("{TEXT}[run]\ncell_timeout_s = 1e-9\ncell_memory_bytes = 1\n");
    let mut study = Study::new(TEXT);
    assert!(study.run().failed.is_empty());
    // Limits that were set later, within which nothing of it would be made.
    study.text = limited.clone();
    assert_eq!(study.run().done, 0);
    let verified = verify(&study.out(), 1.0, 0, &RunOptions::to(study.out())).unwrap();
    assert_eq!((verified.finished, verified.tried, verified.differing.len()), (2, 2, 0));
    let study = Study::new(&limited);
    assert_eq!(study.run().failed.len(), 2);
    let refused = verify(&study.out(), 1.0, 0, &RunOptions::to(study.out())).unwrap_err();
    assert!(refused.to_string().contains("no finished cell to make again"), "{refused}");
}

#[test]
fn rows_that_nobody_asks_for_any_more_are_not_retried() {
    // After the third answer two clusters are too few for "two"; what is known of "one" contradicts it.
    let method = r#"clusterer = "cop_kmeans"
selector = { type = "fixed_list", pairs = [[0, 1], [1, 2], [0, 2]] }
[method.oracle]
type = "scripted"
replies = [
  { i = 0, j = 1, reply = "cannot_link" },
  { i = 1, j = 2, reply = "cannot_link" },
  { i = 0, j = 2, reply = "cannot_link" },
]
"#;
    let (head, _) = TEXT.split_once("clusterer = ").unwrap();
    let text = format!("{head}{method}");
    let mut study = Study::new(&text.replace("points = [0, 4]", "points = [0, 2, 3]"));
    assert_eq!(study.run().failed.len(), 1);
    study.text = text.replace("points = [0, 4]", "points = [0, 2]");
    assert!(study.run().failed.is_empty());
    assert_eq!(failures(&study.out()).unwrap(), []);
    assert_eq!(study.retry(&[]).unwrap().total, 0);
}

#[test]
fn a_count_below_the_classes_is_legal_where_there_are_enough() {
    let text = |k: &str| TEXT.replace("id = \"m\"", &format!("id = \"m\"\nk = \"{k}\""));
    let study = Study::new(&text("classes-1"));
    assert!(study.run().failed.is_empty());
    let study = Study::new(&text("classes-3"));
    let refused = run(&study.experiment(), &RunOptions::to(study.out())).map(|_| ()).unwrap_err();
    assert!(refused.to_string().contains("k = \"classes-3\" is -1 with 2 classes"), "{refused}");
    let complaint = |text: &str| {
        Experiment::parse("t.toml", text, study.dir.path(), &[])
            .map(|_| ())
            .unwrap_err()
            .to_string()
    };
    let said = complaint(&text("clases"));
    assert!(said.contains("\"classes\"") && said.contains("did you mean"), "{said}");
    let said = complaint(&text("unknown"));
    assert!(said.contains("method[0].k: is \"unknown\", and pck_means needs"), "{said}");
}

#[test]
fn metrics_that_never_have_a_value_are_named_beforehand() {
    let scoring = |scope: &str| {
        let all = "type = \"all\"";
        let folds = TEXT.replace(all, "type = \"kfold\"\nfolds = 2");
        let text = format!("{folds}[scoring]\nmetrics = [\"ari\", \"violations\"]\n{scope}");
        Study::new(&text).experiment().unread().join("\n")
    };
    assert!(
        scoring("").contains("violations: without a value, because no constraint touches a test")
    );
    assert_eq!(scoring("scope = \"train\"\n"), "");
    // What was held out touches test objects.
    let held_out = |split: &str, scope: &str| {
        let text = TEXT.replace("type = \"all\"", split);
        let text = format!("{text}[scoring]\nmetrics = [\"violation_rate_heldout\"]\n{scope}");
        Study::new(&text).experiment().unread().join("\n")
    };
    let folds = "type = \"kfold\"\nfolds = 2";
    assert_eq!(held_out(folds, ""), "");
    assert_eq!(held_out(folds, "scope = \"all\"\n"), "");
    let none = "violation_rate_heldout: without a value, because ";
    let said = held_out(folds, "scope = \"train\"\n");
    assert!(said.starts_with(&format!("{none}constraints that are held out touch test")), "{said}");
    let said = held_out("type = \"all\"", "");
    assert!(said.starts_with(&format!("{none}nothing is held out; ")), "{said}");
}

#[test]
fn test_sets_of_one_object_are_named_beforehand() {
    let said = |split: &str| {
        let study = Study::new(&TEXT.replace("type = \"all\"", split));
        plan(&study.experiment(), &RunOptions::to(".").source, None).unwrap().notes.join("\n")
    };
    let one = "two: test sets with fewer than 2 objects to score";
    assert!(said("type = \"kfold\"\nfolds = 60").contains(one));
    assert!(said("type = \"holdout\"\ntest_fraction = 0.001").contains(one));
    assert!(!said("type = \"kfold\"\nfolds = 30").contains(one));
    assert!(!said("type = \"all\"").contains(one));
}

#[test]
fn curves_beyond_all_pairs_are_named_beforehand() {
    let said = |points: &str| {
        let study = Study::new(&TEXT.replace("[0, 4]", points));
        plan(&study.experiment(), &RunOptions::to(".").source, None).unwrap().notes.join("\n")
    };
    let beyond =
        "two: the curve continues to 1771 questions, but 60 objects to ask about make 1770 pairs";
    assert!(said("[0, 1771]").contains(beyond), "{}", said("[0, 1771]"));
    assert!(!said("[0, 1770]").contains("the curve continues"));
}

#[test]
fn objects_without_a_class_are_neither_asked_about_nor_scored() {
    let folds = |folds: usize| format!("type = \"kfold\"\nfolds = {folds}\nstratified = true");
    let said = |split: &str, points: &str| {
        let text = TEXT.replace("[0, 4]", points).replace("type = \"all\"", split);
        let study = Study::new(&text);
        // A third of the objects has a class, 10 in each cloud.
        let partly = |(at, line): (usize, &str)| match (at % 3, line.rsplit_once(',')) {
            (2, Some((cells, _))) | (0, Some((cells, _))) if at > 0 => format!("{cells},\n"),
            _ => format!("{line}\n"),
        };
        let rows: String = cloud(|_| "").lines().enumerate().map(partly).collect();
        study.write("two.csv", &rows);
        plan(&study.experiment(), &RunOptions::to(".").source, None).unwrap().notes.join("\n")
    };
    let pairs = "but 20 objects to ask about make 190 pairs";
    assert!(said("type = \"all\"", "[0, 191]").contains(pairs));
    // Each of 5 folds holds out 4 of them.
    let pairs =
        "two: the curve continues to 121 questions, but 16 objects to ask about make 120 pairs";
    assert!(said(&folds(5), "[0, 121]").contains(pairs), "{}", said(&folds(5), "[0, 121]"));
    assert!(!said(&folds(5), "[0, 120]").contains("two: the curve goes on"));
    let few = "two: test sets with fewer than 2 objects to score";
    assert!(said(&folds(12), "[0, 4]").contains(few) && !said(&folds(10), "[0, 4]").contains(few));
}

#[test]
fn results_whose_study_was_moved_say_how_to_go_on() {
    let (head, _) = TEXT.split_once("selector = ").unwrap();
    let study = Study::new(head);
    assert!(study.run().failed.is_empty());
    let elsewhere = tempfile::tempdir().unwrap();
    let out = elsewhere.path().join("out");
    fs::rename(study.out(), &out).unwrap();
    for name in ["one.csv", "two.csv"] {
        fs::rename(study.dir.path().join(name), elsewhere.path().join(name)).unwrap();
    }
    fs::remove_dir_all(study.dir.path()).unwrap();
    let options = RunOptions::to(&out);
    let errors = [
        verify(&out, 1.0, 0, &options).map(|_| ()).unwrap_err().to_string(),
        retry(&out, &[], &options).map(|_| ()).unwrap_err().to_string(),
    ];
    for error in errors {
        assert!(error.contains("one.csv") && error.contains("at its new place"), "{error}");
    }
    let moved = Experiment::parse("t.toml", &study.text, elsewhere.path(), &[]).unwrap();
    assert_eq!(run(&moved, &options).unwrap().done, 0);
    assert_eq!(verify(&out, 1.0, 0, &options).unwrap().tried, 2);
}

#[test]
fn messages_are_the_same_wherever_the_study_lies() {
    let study = Study::new(TEXT);
    study.write("pairs.csv", "0,1\nno,pair\n");
    // Another way to write the folder, as another place of it would be.
    let base = study.dir.path().join(".");
    let experiment = Experiment::parse("t.toml", TEXT, &base, &[]).unwrap();
    let failed = run(&experiment, &RunOptions::to(study.out())).unwrap().failed;
    assert_eq!(failed.len(), 2);
    assert!(failed[0].message.ends_with(" in line 2 of pairs.csv"), "{}", failed[0].message);
    let verified = verify(&study.out(), 1.0, 0, &RunOptions::to(study.out())).unwrap();
    assert_eq!((verified.tried, verified.differing.len()), (2, 0));
}
