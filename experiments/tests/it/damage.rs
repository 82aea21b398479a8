//! Files of results that are not as they were written are found before one row of them is used.

use mustlink as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mustlink_core::prelude::*;
use mustlink_experiments::{
    Experiment, ProgressSnapshot, RunOptions, RunProgress, diff, merge, plan, retry, run,
};
use mustlink_report::report;
use tempfile::TempDir;

const TEXT: &str = "[experiment]\nname = \"damaged\"\n[[dataset]]\nid = \"iris\"\n[split]\ntype = \"all\"\n\
                    repeats = 3\n[curve]\npoints = [0, 4]\n[[method]]\nid = \"m\"\n\
                    clusterer = \"pck_means\"\nselector = \"random_pairs\"\n";

/// A finished study of three cells.
struct Study {
    dir: TempDir,
}

impl Study {
    fn new() -> Study {
        let study = Study { dir: tempfile::tempdir().unwrap() };
        assert_eq!(study.run(), 3);
        study
    }

    fn out(&self) -> PathBuf {
        self.dir.path().join("out")
    }

    /// Runs what is left, and gives the number of cells done.
    fn run(&self) -> usize {
        run(&experiment(), &RunOptions::to(self.out())).unwrap_or_else(|e| panic!("{e}")).done
    }

    fn cells(&self) -> Vec<PathBuf> {
        let files = fs::read_dir(self.out().join("cells")).unwrap();
        let mut files: Vec<PathBuf> = files.map(|f| f.unwrap().path()).collect();
        files.sort();
        files
    }

    /// Every reader names `file` and what is wrong with it; nothing is written.
    fn is_refused(&self, file: &Path, why: &str) {
        let before = fs::read(self.out().join("results.csv")).unwrap();
        let copy = self.dir.path().join("copy");
        let errors = [
            report(&self.out()).unwrap_err(),
            merge(&[self.out()], &copy).unwrap_err(),
            diff(&self.out(), &self.out()).unwrap_err(),
        ];
        for error in errors {
            let error = error.to_string();
            assert!(error.starts_with(&format!("{}: damaged: ", file.display())), "{error}");
            assert!(error.contains(why) && error.contains("makes it again"), "{error}");
        }
        assert!(!copy.join("results.csv").exists());
        assert_eq!(fs::read(self.out().join("results.csv")).unwrap(), before);
    }

    /// The rows without times, which come last.
    fn rows(&self) -> Vec<String> {
        let text = fs::read_to_string(self.out().join("results.csv")).unwrap();
        text.lines().map(|l| l.rsplitn(4, ',').last().unwrap().to_string()).collect()
    }
}

fn experiment() -> Experiment {
    Experiment::parse("e.toml", TEXT, Path::new("."), &[]).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn a_cell_file_that_was_changed_is_refused_and_run_again() {
    type Change = fn(&[&str]) -> Vec<String>;
    let changes: [(&str, Change); 4] = [
        ("was written with 2 rows and has 1", |l| l[..2].iter().map(|l| l.to_string()).collect()),
        ("was written with 2 rows and has 3", |l| {
            [l[0], l[1], l[2], l[2]].iter().map(|l| l.to_string()).collect()
        }),
        ("checksum", |l| {
            let edited = l[1].replace("\"status\":\"ok\"", "\"status\":\"timeout\"");
            assert_ne!(edited, l[1]);
            vec![l[0].into(), edited, l[2].into()]
        }),
        ("first line", |l| l[1..].iter().map(|l| l.to_string()).collect()),
    ];
    for (why, change) in changes {
        let study = Study::new();
        let rows = study.rows();
        let file = study.cells().swap_remove(1);
        let text = fs::read_to_string(&file).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        let changed: String = change(&lines).iter().map(|l| format!("{l}\n")).collect();
        fs::write(&file, changed).unwrap();
        study.is_refused(&file, why);
        let planned = plan(&experiment(), &Default::default(), Some(&study.out())).unwrap();
        assert_eq!(planned.finished, 2);
        assert!(planned.standing.damaged[0].contains(why), "{planned}");
        // It is what a run that is under way says as well.
        assert!(planned.standing.damaged[0].ends_with("; its cell is run again"), "{planned}");
        assert!(!planned.standing.damaged[0].contains("mustlink run"), "{planned}");
        assert!(planned.to_string().contains(&file.display().to_string()), "{planned}");
        assert_eq!(study.run(), 1);
        assert_eq!(study.rows(), rows);
        report(&study.out()).unwrap();
    }
}

#[test]
fn files_that_changed_places_are_refused_and_run_again() {
    let study = Study::new();
    let rows = study.rows();
    let files = study.cells();
    let aside = study.dir.path().join("aside");
    fs::rename(&files[0], &aside).unwrap();
    fs::rename(&files[1], &files[0]).unwrap();
    fs::rename(&aside, &files[1]).unwrap();
    let name = |f: &PathBuf| f.file_stem().unwrap().to_str().unwrap().to_string();
    let error = report(&study.out()).unwrap_err().to_string();
    assert!(error.contains("it holds the rows of the cell "), "{error}");
    assert!(error.contains(&name(&files[0])) && error.contains(&name(&files[1])), "{error}");
    assert_eq!(study.run(), 2);
    assert_eq!(study.rows(), rows);
}

#[test]
fn a_damaged_cell_is_among_those_that_are_retried() {
    let study = Study::new();
    fs::write(&study.cells()[0], "").unwrap();
    let outcome = retry(&study.out(), &[], &RunOptions::to(study.out())).unwrap();
    assert_eq!((outcome.total, outcome.done), (1, 1));
    report(&study.out()).unwrap();
}

#[test]
fn a_list_of_cells_that_was_changed_is_refused_and_made_again() {
    for damage in ["", "nonsense", "dataset,method,repeat,fold,identity\n"] {
        let study = Study::new();
        let rows = study.rows();
        let file = study.out().join("cells.csv");
        fs::write(&file, damage).unwrap();
        study.is_refused(&file, "checksum");
        assert_eq!(study.run(), 0);
        assert_eq!(report(&study.out()).unwrap().finished, 3);
        assert_eq!(study.rows(), rows);
    }
    let study = Study::new();
    let file = study.out().join("cells.csv");
    let text = fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    fs::write(&file, lines[..3].join("\n") + "\n").unwrap();
    study.is_refused(&file, "checksum");
    fs::remove_file(&file).unwrap();
    let error = report(&study.out()).unwrap_err().to_string();
    assert!(error.contains("cells.csv") && error.contains("makes it again"), "{error}");
}

#[test]
fn a_configuration_that_was_changed_is_refused() {
    let study = Study::new();
    let file = study.out().join("config.json");
    let text = fs::read_to_string(&file).unwrap();
    let edited = text.replace("\"seed\": 0", "\"seed\": 1");
    assert_ne!(edited, text);
    fs::write(&file, edited).unwrap();
    study.is_refused(&file, "checksum");
    let error = run(&experiment(), &RunOptions::to(study.out())).unwrap_err().to_string();
    assert!(error.contains("remove it, and mustlink run"), "{error}");
    fs::write(&file, &text.as_bytes()[..text.len() / 2]).unwrap();
    study.is_refused(&file, "remove it, and mustlink run");
    fs::remove_file(&file).unwrap();
    let error = report(&study.out()).unwrap_err().to_string();
    assert!(
        error.ends_with("; mustlink run with the same file and --out makes it again"),
        "{error}"
    );
    assert_eq!(study.run(), 0);
}

/// Makes as many groups as a file says: a machine of its own.
#[options]
pub struct TestMachine {
    /// The file.
    pub file: String,
}

mustlink_core::register!(BaseClusterer, TestMachine, "test_machine", references: []);

#[typetag::serde(name = "test_machine")]
impl BaseClusterer for TestMachine {
    fn cluster(&self, problem: &Problem, _: &Context) -> Result<Clustering> {
        let text = fs::read_to_string(&self.file).unwrap_or_default();
        let Ok(k) = text.parse::<usize>() else {
            return Err(Error::NumericalFailure { place: "a machine".into() });
        };
        let labels = (0..problem.n()).map(|i| (i % k) as u32).collect();
        Ok(Clustering { k, ..Clustering::from_labels(labels) })
    }
}

#[test]
fn cells_that_two_parts_have_must_agree() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let machine = at("machine");
    let clusterer = format!("{{ type = \"test_machine\", file = '{}' }}", machine.display());
    let text = TEXT.replace("\"pck_means\"\nselector = \"random_pairs\"", &clusterer);
    let experiment = Experiment::parse("e.toml", &text, Path::new("."), &[]).unwrap();
    for (out, says) in [("two", "2"), ("again", "2"), ("three", "3"), ("broken", "")] {
        fs::write(&machine, says).unwrap();
        run(&experiment, &RunOptions::to(at(out))).unwrap();
    }
    let merged = merge(&[at("two"), at("again")], &at("same")).unwrap();
    assert_eq!((merged.cells, merged.shared, merged.mended), (3, 3, 0));
    let error = merge(&[at("two"), at("again"), at("three")], &at("no")).unwrap_err().to_string();
    assert!(error.contains("cells that should agree bit for bit do not"), "{error}");
    assert!(error.contains("iris, m, repeat 0, fold 0: ari at 0 queries is "), "{error}");
    assert!(error.contains(&format!("in {} and {}", at("two").display(), at("three").display())));
    assert!(!at("no").exists());
    // What failed on one machine and not on the other.
    for (parts, name) in [(["broken", "two"], "first"), (["two", "broken"], "second")] {
        let merged = merge(&parts.map(at), &at(name)).unwrap();
        assert_eq!((merged.mended, report(&at(name)).unwrap().failed), (3, 0));
    }
    // What failed on both for want of memory, with a limit of each.
    for (out, limit) in [("little", "1"), ("less", "2")] {
        let set = format!("run.cell_memory_bytes={limit}");
        let experiment = Experiment::parse("e.toml", &text, Path::new("."), &[set]).unwrap();
        assert_eq!(run(&experiment, &RunOptions::to(at(out))).unwrap().failed.len(), 3);
    }
    let merged = merge(&[at("little"), at("less")], &at("both")).unwrap();
    assert_eq!((merged.cells, report(&at("both")).unwrap().failed), (3, 3));
    let found = diff(&at("two"), &at("three")).unwrap();
    let ari = found.changed.iter().find(|c| c.column == "ari").unwrap();
    assert_eq!((ari.rows, ari.differ, ari.compared), (6, 6, 6));
    assert!(ari.mean_a.unwrap() != ari.mean_b.unwrap());
    // Means are of the same rows: where one side failed there is none.
    let failed = diff(&at("two"), &at("broken")).unwrap();
    let ari = failed.changed.iter().find(|c| c.column == "ari").unwrap();
    assert_eq!((ari.differ, ari.compared, ari.mean_a, ari.mean_b), (6, 0, None, None));
    assert!(!found.changed.iter().any(|c| c.column.starts_with("time_")), "{found}");
}

/// Panics when the first cell exists.
struct Panics;

impl RunProgress for Panics {
    fn update(&self, snapshot: &ProgressSnapshot) {
        assert!(snapshot.done == 0, "the display is broken");
    }
}

#[test]
fn a_panic_outside_plugins_ends_the_run_on_all_threads() {
    let dir = tempfile::tempdir().unwrap();
    let study = Experiment::parse("t.toml", TEXT, Path::new("."), &[]).unwrap();
    let options =
        RunOptions { progress: Arc::new(Panics), threads: Some(2), ..RunOptions::to(dir.path()) };
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(&study, &options)));
    assert!(ended.is_err());
}
