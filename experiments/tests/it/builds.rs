//! After an edit exactly the cells that depend on it are made again: of a crate of plugins in Rust, a script,
//! and a file that a script imports.

use mustlink as _;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use mustlink_core::inventory;
use mustlink_core::prelude::*;
use mustlink_core::registry::{Descriptor, Role};
use mustlink_datasets::{Classes, Dataset};
use mustlink_experiments::{
    Experiment, FailedCell, Keep, Outcome, RunOptions, Source, plan, retry, run,
};
use mustlink_report::report;

/// The build of the plugin below: what an edit of its constant and a new build change.
static BUILD: AtomicUsize = AtomicUsize::new(0);

/// Puts a number of objects, a constant in its source, into a cluster of their own.
#[options]
pub struct TestConstant {
    /// Fail in the first build.
    pub fails_first: bool,
}

impl Registered for TestConstant {}

#[typetag::serde(name = "test_constant")]
impl BaseClusterer for TestConstant {
    fn cluster(&self, problem: &Problem, _: &Context) -> Result<Clustering> {
        let constant = BUILD.load(Ordering::Relaxed);
        if self.fails_first && constant == 0 {
            return Err(Error::NumericalFailure { place: "the first build".into() });
        }
        let label = |i| u32::from(i <= constant);
        let labels = (0..problem.n()).map(label).collect();
        Ok(Clustering { k: 2, ..Clustering::from_labels(labels) })
    }
}

// As `register!` writes it, but for a crate whose digest a test can change.
inventory::submit! {
    Descriptor {
        role: Role::BaseClusterer,
        tag: "test_constant",
        aliases: &[],
        type_name: "TestConstant",
        references: &[],
        cited_if: &[],
        version: 1,
        waivers: &[],
        sources: || ["first", "second", "third"][BUILD.load(Ordering::Relaxed)],
        file: file!(),
        line: line!(),
        package: "test_crate",
        kind: <TestConstant as Described>::KIND,
        default: || serde_json::json!({ "fails_first": false }),
        properties: || serde_json::to_value(TestConstant::default().properties()).unwrap(),
        script: None,
    }
}

/// One at a time: the build is one for all of them.
fn alone() -> std::sync::MutexGuard<'static, ()> {
    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let held = ALONE.lock().unwrap_or_else(|e| e.into_inner());
    BUILD.store(0, Ordering::Relaxed);
    held
}

const RUST: &str = "[[method]]\nid = \"constant\"\nclusterer = \"test_constant\"\n";

struct Study {
    dir: tempfile::TempDir,
    methods: String,
}

impl Study {
    /// k-means and other methods, on two data sets with two repeats: four cells a method.
    fn new(methods: &str) -> Study {
        Study { dir: tempfile::tempdir().unwrap(), methods: methods.into() }
    }

    fn experiment(&self) -> Experiment {
        let text = format!(
            "[experiment]\nname = \"builds\"\n[split]\ntype = \"holdout\"\ntest_fraction = 0.3\nrepeats = 2\n\
             [[dataset]]\nid = \"one\"\n[[dataset]]\nid = \"two\"\n\
             [[method]]\nid = \"plain\"\nclusterer = \"kmeans\"\n{}",
            self.methods
        );
        Experiment::parse("study.toml", &text, self.dir.path(), &[])
            .unwrap_or_else(|e| panic!("{e}"))
    }

    fn out(&self) -> std::path::PathBuf {
        self.dir.path().join("out")
    }

    fn options(&self, keep: Keep) -> RunOptions {
        RunOptions { source: source(), threads: Some(1), keep, ..RunOptions::to(self.out()) }
    }

    fn run_keeping(&self, keep: Keep) -> Outcome {
        run(&self.experiment(), &self.options(keep)).unwrap_or_else(|e| panic!("{e}"))
    }

    /// Cells that were done now.
    fn run(&self) -> usize {
        self.run_keeping(Keep::Current).done
    }

    fn standing(&self) -> mustlink_experiments::Standing {
        plan(&self.experiment(), &source(), Some(&self.out())).unwrap().standing
    }

    /// The rows of a method, times aside.
    fn rows(&self, method: &str) -> Vec<String> {
        let text = fs::read_to_string(self.out().join("results.csv")).unwrap();
        let of = text.lines().filter(|l| l.contains(&format!(",{method},")));
        of.map(|l| l.rsplitn(4, ',').last().unwrap().to_string()).collect()
    }

    /// Scores alone: without what names the cell.
    fn scores(&self, method: &str) -> Vec<String> {
        self.rows(method).iter().map(|l| l.splitn(3, ',').last().unwrap().to_string()).collect()
    }

    /// An edit of the code `name`: exactly the four cells of `method` are made again.
    fn edit_reaches(&self, method: &str, name: &str, edit: impl FnOnce()) {
        let (plain, edited) = (self.rows("plain"), self.scores(method));
        edit();
        let standing = self.standing();
        assert_eq!((standing.stale, standing.kept), (4, 0), "{standing}");
        let said = format!(
            "4 cells were made by another build (changed: {name}): one × {method}, two × {method}; they are \
             made again (--keep-stale keeps them)\n"
        );
        assert_eq!(standing.to_string(), said);
        assert_eq!(report(&self.out()).unwrap().stale, 4);
        assert_eq!(self.run(), 4);
        assert_eq!(self.rows("plain"), plain);
        assert_ne!(self.scores(method), edited);
        assert_eq!(self.standing().to_string(), "");
        assert_eq!(self.run(), 0);
    }
}

fn source() -> Source {
    let set = |name: &str, n: usize| {
        let values = (0..n).map(|i| (i % 2) as f64).collect();
        let csr = Csr { indptr: (0..=n).collect(), indices: vec![0; n], values, columns: 1 };
        let data = Data::dense(Data::csr(csr).unwrap().to_dense());
        let names: Vec<String> = (0..n).map(|i| format!("c{}", i % 2)).collect();
        let classes = Classes::from_values(names.iter().map(|c| Some(c.as_str())));
        Dataset { classes: Some(classes), ..Dataset::new(name, data.unwrap()) }
    };
    let sets = [set("one", 12), set("two", 14)];
    let memory: BTreeMap<_, _> = sets.into_iter().map(|s| (s.name.clone(), s)).collect();
    Source { memory, ..Source::default() }
}

#[test]
fn a_constant_of_a_rust_plugin_makes_its_cells_again() {
    let _alone = alone();
    let study = Study::new(RUST);
    assert_eq!(study.run(), 8);
    study.edit_reaches("constant", "test_crate", || BUILD.store(1, Ordering::Relaxed));
    // The rows of the first build are there when it comes back.
    BUILD.store(0, Ordering::Relaxed);
    assert_eq!(study.run(), 0);
}

/// Gives label 1 to the objects below a constant of its own and one of `part.sh`.
#[cfg(unix)]
const SCRIPT: &str = r#"A=2
. ./part.sh
read hello; echo '{"v":1,"type":"hello","name":"shell"}'; read request
n=$(printf '%s' "$request" | sed 's/.*"n":\([0-9]*\).*/\1/')
labels=$(seq 1 $n | awk -v k=$((A + B)) '{ printf "%s%d", (NR > 1 ? "," : ""), ($1 <= k) }')
echo "{\"type\":\"clustering\",\"labels\":[$labels]}"
"#;

#[cfg(unix)]
#[test]
fn a_constant_of_a_script_and_of_what_it_imports_make_its_cells_again() {
    let _alone = alone();
    let command = "clusterer = { type = \"external_clusterer\", command = [\"sh\", \"shell.sh\"] }";
    let study = Study::new(&format!("{RUST}[[method]]\nid = \"script\"\n{command}\n"));
    let write = |name: &str, text: &str| fs::write(study.dir.path().join(name), text).unwrap();
    write("shell.sh", SCRIPT);
    write("part.sh", "B=2\n");
    write("unrelated.sh", "B=2\n");
    let first = study.run_keeping(Keep::Current);
    assert_eq!((first.done, first.failed.len()), (12, 0), "{:?}", first.failed);
    study.edit_reaches("script", "shell.sh", || write("shell.sh", &SCRIPT.replace("A=2", "A=3")));
    study.edit_reaches("script", "part.sh", || write("part.sh", "B=3\n"));
    write("unrelated.sh", "B=3\n");
    assert_eq!(study.run(), 0);
}

#[test]
fn rows_of_another_build_can_be_kept_and_all_can_be_made_again() {
    let _alone = alone();
    let study = Study::new(RUST);
    study.run();
    let before = study.rows("constant");
    BUILD.store(1, Ordering::Relaxed);
    let kept = study.run_keeping(Keep::Stale);
    assert_eq!((kept.total, kept.skipped, kept.done), (8, 8, 0));
    assert_eq!(study.rows("constant"), before);
    let report = report(&kept.out).unwrap();
    assert_eq!((report.stale, report.finished), (4, 8));
    assert!(report.changed.iter().eq(["test_crate"]), "{:?}", report.changed);
    let page = fs::read_to_string(&report.page).unwrap();
    assert!(page.contains("4 of these cells were made by another build"));
    // Keeping is for that run alone.
    assert_eq!(study.run(), 4);
    assert_eq!(report_of(&study), 0);
    let forced = study.run_keeping(Keep::Nothing);
    assert_eq!((forced.skipped, forced.done), (0, 8));
}

fn report_of(study: &Study) -> usize {
    report(&study.out()).unwrap().stale
}

#[test]
fn what_an_earlier_form_of_the_program_made_is_known_by_its_name() {
    let _alone = alone();
    let study = Study::new(RUST);
    study.run();
    // As they were: named without the build, which they did not say.
    let cells = study.out().join("cells");
    let mut list = fs::read_to_string(study.out().join("cells.csv")).unwrap();
    for entry in fs::read_dir(&cells).unwrap() {
        let path = entry.unwrap().path();
        let old = path.file_stem().unwrap().to_str().unwrap().to_string();
        let text = fs::read_to_string(&path).unwrap();
        let head: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        let name = head["of_any_build"].as_str().unwrap().to_string();
        assert_ne!(name, old);
        list = list.replace(&old, &name);
        fs::remove_file(&path).unwrap();
        let file = Rewritten { head, text: &text, name: &name };
        fs::write(cells.join(format!("{name}.jsonl")), file.without_build()).unwrap();
    }
    fs::write(study.out().join("cells.csv"), list).unwrap();
    let standing = study.standing();
    assert_eq!((standing.stale, standing.kept), (8, 0), "{standing}");
    assert_eq!(study.run_keeping(Keep::Stale).done, 0);
    assert_eq!(study.run(), 8);
}

/// A file of a cell as it was before files said what made them.
struct Rewritten<'a> {
    head: Value,
    text: &'a str,
    name: &'a str,
}

impl Rewritten<'_> {
    fn without_build(&self) -> String {
        let rows = self.text.split_once('\n').unwrap().1;
        // Metrics had no code either: what stands before the point.
        let metrics: BTreeMap<&String, &str> = self.head["metrics"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(c, d)| (c, d.as_str().unwrap().split('.').next().unwrap()))
            .collect();
        let metrics = serde_json::to_string(&metrics).unwrap();
        let head = |sum: &str| {
            format!(
                "{{\"format\":2,\"identity\":\"{}\",\"rows\":{},\"metrics\":{metrics},\"checksum\":\"{sum}\"}}",
                self.name, self.head["rows"]
            )
        };
        let whole = format!("{}\n{rows}", head(""));
        let sum = blake3::hash(whole.as_bytes()).to_hex()[..16].to_string();
        format!("{}\n{rows}", head(&sum))
    }
}

#[test]
fn a_retry_leaves_what_did_not_fail() {
    let _alone = alone();
    let fails = "[[method]]\nid = \"fails\"\nclusterer = { type = \"test_constant\", fails_first = true }\n";
    let study = Study::new(&format!("{RUST}{fails}"));
    let of = |failed: &[FailedCell]| failed.iter().filter(|f| f.method == "fails").count();
    assert_eq!(of(&study.run_keeping(Keep::Current).failed), 4);
    let before = study.rows("constant");
    BUILD.store(2, Ordering::Relaxed);
    let again = retry(&study.out(), &[], &study.options(Keep::Current)).unwrap();
    assert_eq!((again.done, again.failed.len()), (4, 0), "{:?}", again.failed);
    assert_eq!(study.rows("constant"), before);
    assert_eq!(report_of(&study), 4);
    assert!(Path::new(&study.out()).join("report.html").is_file());
}
