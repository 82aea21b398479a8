//! Runs from file to results: same bits whatever happens on the way, and no object that is scored
//! is ever asked about.

use mustlink as _;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mustlink_core::prelude::*;
use mustlink_core::text::{count, form};
use mustlink_datasets::{Classes, Dataset};
use mustlink_experiments::{
    Experiment, Outcome, ProgressSnapshot, RunOptions, RunProgress, Shard, Source, plan, retry, run,
};
use mustlink_report::report;

/// Fails if the option asks for it.
#[options]
pub struct TestTrouble {
    /// `error`, `panic`, or nothing.
    pub what: String,
    /// Fail only with constraints.
    pub only_constrained: bool,
    /// A file whose existence is needed.
    pub file: Option<String>,
}

mustlink_core::register!(BaseClusterer, TestTrouble, "test_trouble", references: []);

#[typetag::serde(name = "test_trouble")]
impl BaseClusterer for TestTrouble {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let spared = self.only_constrained && problem.constraints.is_empty();
        match self.what.as_str() {
            _ if spared => {}
            "error" => return Err(Error::NumericalFailure { place: "a test".into() }),
            "panic" => panic!("on \u{1b}[1mpurpose"),
            "slow" => {
                let start = std::time::Instant::now();
                while start.elapsed().as_secs() < 20 {
                    ctx.check()?;
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
            }
            _ => {}
        }
        if self.file.as_ref().is_some_and(|f| !Path::new(f).exists()) {
            return Err(Error::NumericalFailure { place: "a missing file".into() });
        }
        Ok(Clustering {
            k: 2,
            ..Clustering::from_labels((0..problem.n() as u32).map(|i| i % 2).collect())
        })
    }
}

/// Asks about objects whether they are eligible or not.
#[options]
pub struct TestCurious {}

mustlink_core::register!(QuerySelector, TestCurious, "test_curious", references: []);

struct Curious(u32);

impl Inquiry for Curious {
    fn step(&mut self) -> Result<Step> {
        Ok(Step::Ask {
            id: self.0.into(),
            subject: 2 * self.0,
            reference: 2 * self.0 + 1,
            purpose: "test",
        })
    }
    fn tell(&mut self, _: QueryId, _: Reply) -> Result<()> {
        self.0 += 1;
        Ok(())
    }
}

#[typetag::serde(name = "test_curious")]
impl QuerySelector for TestCurious {
    fn start(&self, _: &Problem, _: &Context) -> Result<Box<dyn Inquiry>> {
        Ok(Box::new(Curious(0)))
    }
}

/// Makes two members and says in a directory that it did.
#[options]
pub struct TestCounted {
    /// Gets one file per ensemble made.
    pub dir: String,
}

mustlink_core::register!(EnsembleGenerator, TestCounted, "test_counted", references: []);

#[typetag::serde(name = "test_counted")]
impl EnsembleGenerator for TestCounted {
    fn generate(&self, problem: &Problem, ctx: &Context) -> Result<Ensemble> {
        // Long enough for others to come in between.
        std::thread::sleep(std::time::Duration::from_millis(30));
        tempfile::Builder::new().tempfile_in(&self.dir).unwrap().keep().unwrap();
        let mut stream = ctx.stream("labels");
        let members = (0..2).map(|_| {
            let labels: Vec<u32> = (0..problem.n()).map(|_| stream.below(3) as u32).collect();
            Member::from_labels(&labels)
        });
        Ensemble::new(problem.n(), members.collect())
    }
}

/// Asks along an ensemble.
#[options]
pub struct TestCommittee {
    /// Generator that makes the ensemble.
    pub generator: Option<Box<dyn EnsembleGenerator>>,
}

mustlink_core::register!(QuerySelector, TestCommittee, "test_committee", references: []);

#[typetag::serde(name = "test_committee")]
impl QuerySelector for TestCommittee {
    fn start(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Inquiry>> {
        ctx.ensemble(&**self.generator.as_ref().unwrap(), problem)?;
        let random = mustlink_core::registry::build_default::<dyn QuerySelector>("random_pairs")?;
        random.start(problem, ctx)
    }
}

fn dataset(name: &str, n: usize, groups: usize) -> Dataset {
    let mut stream = SeedPath::new(n as u64).stream(name);
    let class: Vec<u32> = (0..n).map(|i| (i % groups) as u32).collect();
    let values = class.iter().flat_map(|&c| [c as f64 * 2.0, (c * c) as f64]).collect::<Vec<_>>();
    let values: Vec<f64> = values.into_iter().map(|v| v + stream.normal()).collect();
    let csr = Csr {
        indptr: (0..=n).map(|i| 2 * i).collect(),
        indices: (0..n).flat_map(|_| [0, 1]).collect(),
        values,
        columns: 2,
    };
    let data = Data::dense(Data::csr(csr).unwrap().to_dense()).unwrap();
    let names: Vec<String> = class.iter().map(|c| format!("c{c}")).collect();
    let classes = Classes::from_values(names.iter().map(|c| Some(c.as_str())));
    Dataset { classes: Some(classes), ..Dataset::new(name, data) }
}

fn source() -> Source {
    let sets = [dataset("left", 40, 3), dataset("right", 31, 2)];
    let memory: BTreeMap<_, _> = sets.into_iter().map(|s| (s.name.clone(), s)).collect();
    Source { memory, ..Source::default() }
}

const HEAD: &str = r#"
[experiment]
name = "test"
seed = 5
[split]
type = "kfold"
folds = 3
repeats = 2
[scoring]
metrics = ["ari", "nmi_arith"]
"#;
const CURVE: &str = "[curve]\npoints = [0, 4, 9]\n";
const SETS: [&str; 2] =
    ["[[dataset]]\nid = \"left\"\n", "[[dataset]]\nid = \"right\"\ntransforms = [\"min_max\"]\n"];
const METHODS: [&str; 4] = [
    "[[method]]\nid = \"kmeans\"\nclusterer = \"kmeans\"\n",
    "[[method]]\nid = \"random\"\nclusterer = \"pck_means\"\nselector = \"random_pairs\"\n",
    "[[method]]\nid = \"active\"\nclusterer = \"pck_means\"\nselector = \"explore_consolidate\"\n",
    "[[method]]\nid = \"boundary\"\nclusterer = \"pck_means\"\nselector = \"boundary\"\ntransforms = [\"z_score\", \"rca\"]\n",
];

fn text() -> String {
    format!("{HEAD}{CURVE}{}{}", SETS.concat(), METHODS.concat())
}

fn experiment(text: &str) -> Experiment {
    Experiment::parse("test.toml", text, Path::new("."), &[]).unwrap_or_else(|e| panic!("{e}"))
}

fn options(out: &Path) -> RunOptions {
    RunOptions { source: source(), threads: Some(2), ..RunOptions::to(out) }
}

fn done(text: &str, out: &Path) -> Outcome {
    run(&experiment(text), &options(out)).unwrap_or_else(|e| panic!("{e}"))
}

/// `results.csv` without its time columns, which come last.
fn results(out: &Path) -> Vec<Vec<String>> {
    let mut reader = csv::Reader::from_path(out.join("results.csv")).unwrap();
    let times = reader.headers().unwrap().iter().filter(|h| h.starts_with("time_")).count();
    assert_eq!(times, 3);
    let mut all = vec![reader.headers().unwrap().iter().map(String::from).collect::<Vec<_>>()];
    all.extend(reader.records().map(|r| r.unwrap().iter().map(String::from).collect::<Vec<_>>()));
    all.iter_mut().for_each(|line| line.truncate(line.len() - times));
    all
}

fn column(rows: &[Vec<String>], name: &str) -> Vec<String> {
    let at = rows[0].iter().position(|h| h == name).unwrap();
    rows[1..].iter().map(|r| r[at].clone()).collect()
}

/// The rows without a column, as a sorted set.
fn without(rows: &[Vec<String>], names: &[&str]) -> Vec<Vec<String>> {
    let keep: Vec<usize> =
        (0..rows[0].len()).filter(|&i| !names.contains(&rows[0][i].as_str())).collect();
    let mut out: Vec<Vec<String>> =
        rows[1..].iter().map(|r| keep.iter().map(|&i| r[i].clone()).collect()).collect();
    out.sort();
    out
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let all: Vec<_> = [1, 2, 7]
        .into_iter()
        .map(|threads| {
            let dir = tempfile::tempdir().unwrap();
            let options = RunOptions { threads: Some(threads), ..options(dir.path()) };
            let outcome = run(&experiment(&text()), &options).unwrap();
            assert!(outcome.failed.is_empty(), "{:?}", outcome.failed);
            assert_eq!((outcome.total, outcome.done, outcome.skipped), (48, 48, 0));
            results(dir.path())
        })
        .collect();
    assert_eq!(all[0].len(), 1 + 48 * 3);
    assert_eq!(all[0], all[1]);
    assert_eq!(all[0], all[2]);
    // Not everything is the same number: the test above can fail.
    let scores: std::collections::BTreeSet<String> = column(&all[0], "ari").into_iter().collect();
    assert!(scores.len() > 20);
}

struct StopAfter(usize, Arc<AtomicBool>);
impl RunProgress for StopAfter {
    fn update(&self, snapshot: &ProgressSnapshot) {
        if snapshot.done >= self.0 {
            self.1.store(true, Ordering::Relaxed);
        }
    }
}

#[test]
fn a_stopped_run_goes_on_where_it_was() {
    let whole = tempfile::tempdir().unwrap();
    done(&text(), whole.path());
    let dir = tempfile::tempdir().unwrap();
    let mut before = 0;
    for stop in [3, 20] {
        let cancel = Arc::new(AtomicBool::new(false));
        let progress = Arc::new(StopAfter(stop, cancel.clone()));
        let stopped = RunOptions { cancel, progress, finish: stop == 20, ..options(dir.path()) };
        let outcome = run(&experiment(&text()), &stopped).unwrap();
        assert!(outcome.stopped && outcome.skipped == before && outcome.done > 0);
        before += outcome.done;
        assert!(before < 48);
        // What a kill leaves behind: a file half written.
        std::fs::write(dir.path().join("cells/0123456789abcdef.jsonl.part"), "{\"exp").unwrap();
    }
    let cell = std::fs::read_dir(dir.path().join("cells")).unwrap().next().unwrap().unwrap().path();
    let cell = if cell.extension().is_some_and(|e| e == "part") { None } else { Some(cell) };
    if let Some(cell) = &cell {
        std::fs::remove_file(cell).unwrap();
        before -= 1;
    }
    let outcome = done(&text(), dir.path());
    assert_eq!((outcome.skipped, outcome.done, outcome.stopped), (before, 48 - before, false));
    assert_eq!(results(dir.path()), results(whole.path()));
    let left = std::fs::read_dir(dir.path().join("cells")).unwrap();
    assert!(left.into_iter().all(|f| f.unwrap().path().extension().unwrap() == "jsonl"));
    // And once more: nothing is left to do, and the report comes out the same.
    let page = || std::fs::read(report(dir.path()).unwrap().page).unwrap();
    let before = page();
    let outcome = done(&text(), dir.path());
    assert_eq!((outcome.skipped, outcome.done), (48, 0));
    assert_eq!(page(), before);
}

#[test]
fn order_in_the_file_changes_no_row() {
    let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    done(&text(), a.path());
    let turned: Vec<&str> = METHODS.iter().rev().copied().collect();
    done(&format!("{HEAD}{CURVE}{}{}{}", SETS[1], SETS[0], turned.concat()), b.path());
    let (a, b) = (results(a.path()), results(b.path()));
    assert_ne!(a, b);
    assert_eq!(without(&a, &[]), without(&b, &[]));
}

#[test]
fn further_points_change_no_row() {
    let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    done(&text(), a.path());
    let more = "[curve]\npoints = [0, 2, 4, 9, 15]\n";
    done(&format!("{HEAD}{more}{}{}", SETS.concat(), METHODS.concat()), b.path());
    let (a, mut b) = (results(a.path()), results(b.path()));
    let p = b[0].iter().position(|h| h == "p_requested").unwrap();
    b.retain(|row| ["p_requested", "0", "4", "9"].contains(&row[p].as_str()));
    assert_eq!(without(&a, &[]), without(&b, &[]));
}

#[test]
fn shards_together_are_the_whole() {
    let (whole, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    done(&text(), whole.path());
    let mut total = 0;
    for number in 1..=4 {
        let shard = Some(Shard { number, of: 4 });
        let outcome =
            run(&experiment(&text()), &RunOptions { shard, ..options(dir.path()) }).unwrap();
        assert!(outcome.part && outcome.skipped == 0);
        assert_eq!(outcome.total, 12);
        total += outcome.done;
    }
    assert_eq!(total, 48);
    let made = report(dir.path()).unwrap();
    assert_eq!((made.cells, made.finished, made.failed), (48, 48, 0));
    assert_eq!(results(dir.path()), results(whole.path()));
}

#[test]
fn methods_share_constraints_and_starts() {
    let dir = tempfile::tempdir().unwrap();
    let methods = [
        "[[method]]\nid = \"a\"\nclusterer = \"pck_means\"\nselector = \"random_pairs\"\n",
        "[[method]]\nid = \"b\"\nclusterer = { type = \"pck_means\", weight = 7.5 }\nselector = \"random_pairs\"\n",
        "[[method]]\nid = \"c\"\nclusterer = \"same:a\"\nselector = { type = \"random_pairs\" }\n",
    ];
    let outcome = done(&format!("{HEAD}{CURVE}{}{}", SETS[0], methods.concat()), dir.path());
    // a and c are one thing under two names: run once, told twice.
    assert_eq!((outcome.total, outcome.done), (12, 12));
    let rows = results(dir.path());
    let of = |id: &str| {
        let at = rows[0].iter().position(|h| h == "method").unwrap();
        let mut mine = vec![rows[0].clone()];
        mine.extend(rows[1..].iter().filter(|r| r[at] == id).cloned());
        mine
    };
    assert_eq!(without(&of("a"), &["method"]), without(&of("c"), &["method"]));
    for same in ["constraints_must", "constraints_cannot", "queries", "test_classes"] {
        assert_eq!(column(&of("a"), same), column(&of("b"), same), "{same}");
    }
    // Without constraints the weight decides nothing.
    let start = |id: &str| {
        let (p, ari) = (column(&of(id), "p_requested"), column(&of(id), "ari"));
        p.into_iter().zip(ari).filter(|(p, _)| p == "0").map(|(_, a)| a).collect::<Vec<_>>()
    };
    assert_eq!(start("a"), start("b"));
}

#[test]
fn an_ensemble_is_made_once_for_all_who_need_it() {
    for (per, repeats) in [("dataset", 1), ("repeat", 2)] {
        let dir = tempfile::tempdir().unwrap();
        let made = dir.path().join("made");
        std::fs::create_dir(&made).unwrap();
        let generator = format!("{{ type = \"test_counted\", dir = {made:?} }}");
        let head = HEAD.replace("seed = 5", &format!("seed = 5\nensemble_per = \"{per}\""));
        let text = format!(
            r#"{head}
[curve]
points = [0, 4]
[[dataset]]
id = "left"
[[dataset]]
id = "right"
[[method]]
id = "committee"
selector = {{ type = "test_committee", generator = {generator} }}
clusterer = "pck_means"
[[method]]
id = "both"
selector = {{ type = "test_committee", generator = {generator} }}
clusterer = {{ type = "ensemble", generator = {generator}, consensus = "voting" }}
[[method]]
id = "consensus"
clusterer = {{ type = "ensemble", generator = {generator}, consensus = "voting" }}
"#
        );
        let options = RunOptions { threads: Some(4), ..options(&dir.path().join("out")) };
        let outcome = run(&experiment(&text), &options).unwrap();
        assert!(outcome.failed.is_empty(), "{:?}", outcome.failed);
        assert_eq!(std::fs::read_dir(&made).unwrap().count(), 2 * repeats, "per {per}");
    }
}

#[test]
fn trouble_stays_in_its_cell() {
    let dir = tempfile::tempdir().unwrap();
    let methods = [
        METHODS[1],
        "[[method]]\nid = \"error\"\nselector = \"random_pairs\"\nclusterer = { type = \"test_trouble\", what = \"error\", only_constrained = true }\n",
        "[[method]]\nid = \"panic\"\nclusterer = { type = \"test_trouble\", what = \"panic\" }\n",
        "[[method]]\nid = \"curious\"\nselector = \"test_curious\"\nclusterer = \"pck_means\"\n",
    ];
    let outcome = done(&format!("{HEAD}{CURVE}{}{}", SETS[0], methods.concat()), dir.path());
    assert_eq!((outcome.done, outcome.failed.len(), outcome.stopped), (24, 18, false));
    let rows = results(dir.path());
    let (method, status) = (column(&rows, "method"), column(&rows, "status"));
    let (p, message) = (column(&rows, "p_requested"), column(&rows, "message"));
    for i in 0..method.len() {
        let (wanted, text) = match (method[i].as_str(), p[i].as_str()) {
            ("random", _) | ("error", "0") => ("ok", ""),
            ("error", _) => ("error", "clusterer: numerical failure in a test"),
            ("panic", _) => (
                "error",
                "clusterer: test_trouble broke its contract: panicked: on ?[1mpurpose; this is a defect of the plugin",
            ),
            _ => ("error", "which is not eligible"),
        };
        assert_eq!(status[i], wanted, "{} at {}", method[i], p[i]);
        assert!(message[i].contains(text), "{}", message[i]);
    }
    let made = report(&outcome.out).unwrap();
    assert!(made.table.contains("6 failed"), "{}", made.table);
    let page = std::fs::read_to_string(made.page).unwrap();
    assert!(page.contains("Failed cells") && page.contains("on ?[1mpurpose"));
}

#[test]
fn survivors_do_not_win() {
    let dir = tempfile::tempdir().unwrap();
    // Right wherever it comes to a result, and it comes to one only without constraints.
    let lucky = "[[method]]\nid = \"lucky\"\nselector = \"random_pairs\"\nclusterer = { type = \"test_trouble\", what = \"error\", only_constrained = true }\n";
    let text = format!("{HEAD}{CURVE}{}{}{lucky}", SETS[1], METHODS[0]);
    let outcome = done(&text, dir.path());
    let rows = results(dir.path());
    let (method, ari) = (column(&rows, "method"), column(&rows, "ari"));
    let lucky: Vec<&String> =
        (0..ari.len()).filter(|&i| method[i] == "lucky").map(|i| &ari[i]).collect();
    assert!(lucky.contains(&&"1.0".to_string()) && lucky.contains(&&String::new()));
    let made = report(&outcome.out).unwrap();
    assert!(made.table.contains("6 failed") && !made.table.contains("1.000"), "{}", made.table);
    let page = std::fs::read_to_string(made.page).unwrap();
    let scores = page.split("<h2>Scores").nth(1).unwrap().split("<h2").next().unwrap();
    let cells = |method: usize| -> Vec<&str> {
        let mine = format!(" data-m=\"{method}\"");
        let all = scores.split("<td").filter_map(|c| Some(c.split_once("</td>")?.0));
        all.filter(|c| c.contains(&mine)).collect()
    };
    // At the start, where it has every cell, it is shown; with failures further on it is not the best.
    let lucky = cells(1);
    assert!(lucky.iter().any(|c| c.ends_with(">1.000 ± 0.000")), "{lucky:?}");
    assert!(lucky.iter().any(|c| c.ends_with(">6 failed")), "{lucky:?}");
    assert!(lucky.iter().all(|c| !c.contains("<b>")), "{lucky:?}");
    assert!(cells(0).iter().all(|c| !c.contains("failed")), "{:?}", cells(0));
}

#[test]
fn an_undefined_score_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let head =
        HEAD.replace(r#"metrics = ["ari", "nmi_arith"]"#, r#"metrics = ["ari", "violations"]"#);
    let outcome = done(&format!("{head}{}{}", SETS[0], METHODS[0]), dir.path());
    let table = report(&outcome.out).unwrap().table;
    assert!(table.contains("undefined  "), "{table}");
    assert!(
        table.contains("; undefined: score_violations has no value without constraints"),
        "{table}"
    );
}

#[test]
fn max_fails_stops_and_retry_mends() {
    let dir = tempfile::tempdir().unwrap();
    let mark = dir.path().join("mark");
    let method = format!(
        "[[method]]\nid = \"m\"\nclusterer = {{ type = \"test_trouble\", file = '{}' }}\n",
        mark.display()
    );
    let text = format!("{HEAD}{CURVE}{}{method}{}", SETS[0], METHODS[0]);
    let out = dir.path().join("out");
    let first = RunOptions { max_fails: Some(1), threads: Some(1), ..options(&out) };
    let outcome = run(&experiment(&text), &first).unwrap();
    assert!(outcome.stopped && outcome.failed.len() == 1 && outcome.done < 12);
    let outcome = done(&text, &out);
    assert_eq!(outcome.failed.len(), 6);
    // A finished cell is finished, failed or not.
    assert_eq!(done(&text, &out).done, 0);
    std::fs::write(&mark, "").unwrap();
    let outcome = retry(&out, &[], &options(&out)).unwrap();
    assert_eq!((outcome.total, outcome.done, outcome.failed.len()), (6, 6, 0));
    assert!(column(&results(&out), "status").iter().all(|s| s == "ok"));
    assert_eq!(retry(&out, &[], &options(&out)).unwrap().total, 0);
}

#[test]
fn a_slow_cell_runs_out_of_time() {
    let dir = tempfile::tempdir().unwrap();
    let slow = "[[method]]\nid = \"slow\"\nclusterer = { type = \"test_trouble\", what = \"slow\" }\n[run]\ncell_timeout_s = 0.02\n";
    let outcome = done(&format!("{HEAD}{CURVE}{}{slow}", SETS[0]), dir.path());
    assert_eq!(outcome.failed.len(), 6);
    let rows = results(dir.path());
    assert!(column(&rows, "status").iter().all(|s| s == "timeout"));
    assert_eq!(column(&rows, "message")[0], "stopped after the time limit of 0.02 s");
}

#[test]
fn a_directory_belongs_to_one_run_of_one_experiment() {
    let dir = tempfile::tempdir().unwrap();
    let mine = tempfile::tempdir().unwrap();
    done(&text(), dir.path());
    // Another configuration.
    let other = text().replace("folds = 3", "folds = 4").replace("seed = 5", "seed = 6");
    let error = run(&experiment(&other), &options(dir.path())).unwrap_err();
    let place = dir.path().display();
    let message = format!(
        "{place}: holds the results of another experiment (experiment.seed is 5 there and 6 here; \
         split.folds is 3 there and 4 here); choose another --out, or remove it"
    );
    assert_eq!(error.to_string(), message);
    // A plan says what a run says.
    let error = plan(&experiment(&other), &source(), Some(dir.path())).unwrap_err();
    assert_eq!(error.to_string(), message);
    // What changes no row may differ.
    let same = format!("{}[run]\nthreads = 1\n[stats]\nunit = \"fold\"\n", text());
    assert_eq!(done(&same, dir.path()).done, 0);
    // Another run at work.
    struct Meanwhile(std::path::PathBuf, std::sync::Mutex<Vec<String>>);
    impl RunProgress for Meanwhile {
        fn update(&self, snapshot: &ProgressSnapshot) {
            if snapshot.done > 0 && self.1.lock().unwrap().is_empty() {
                let shard = Some(Shard { number: 1, of: 2 });
                for shard in [None, shard] {
                    let options = RunOptions { shard, ..options(&self.0) };
                    let error = run(&experiment(&text()), &options).unwrap_err();
                    self.1.lock().unwrap().push(error.to_string());
                }
            }
        }
    }
    let watch = Arc::new(Meanwhile(mine.path().to_path_buf(), Default::default()));
    let options = RunOptions { progress: watch.clone(), ..options(mine.path()) };
    assert!(run(&experiment(&text()), &options).unwrap().failed.is_empty());
    let message =
        format!("{}: another run is at work in this directory; wait for it", mine.path().display());
    assert_eq!(*watch.1.lock().unwrap(), [message.clone(), message]);
}

#[test]
fn given_constraints_stay_out_of_the_test_fold() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(
        dir.path().join("c.csv"),
        "i,j,type\n0,3,must_link\n1,2,cannot_link\n4,7,must_link\n9,10,cannot_link\n",
    )
    .unwrap();
    let set = "[[dataset]]\nid = \"left\"\nconstraints = \"c.csv\"\n";
    let method = "[[method]]\nid = \"m\"\nclusterer = \"pck_means\"\n";
    let text = format!("{HEAD}{set}{method}");
    let experiment = Experiment::parse("test.toml", &text, dir.path(), &[]).unwrap();
    let out = dir.path().join("out");
    let outcome = run(&experiment, &options(&out)).unwrap();
    assert!(outcome.failed.is_empty(), "{:?}", outcome.failed);
    let rows = results(&out);
    let number = |name: &str, i: usize| column(&rows, name)[i].parse::<usize>().unwrap();
    for i in 0..6 {
        let kept = number("constraints_must", i) + number("constraints_cannot", i);
        let message = &column(&rows, "message")[i];
        match 4 - kept {
            0 => assert_eq!(message, ""),
            gone => {
                let what = count(gone, "given constraint");
                let verbs =
                    form(gone, "touches test objects and was", "touch test objects and were");
                assert_eq!(*message, format!("{what} {verbs} left out"));
            }
        }
    }
    assert!(column(&rows, "message").iter().any(|m| !m.is_empty()));
}

#[test]
fn constraint_scores_get_what_they_need() {
    let dir = tempfile::tempdir().unwrap();
    // The first violates the groups, the others follow them.
    let pairs = "i,j,type\n0,1,must_link\n0,3,must_link\n1,2,cannot_link\n4,7,must_link\n";
    std::fs::write(dir.path().join("c.csv"), pairs).unwrap();
    let set = "[[dataset]]\nid = \"left\"\nconstraints = \"c.csv\"\n";
    let scores = r#"metrics = ["violation_rate", "informativeness", "violation_rate_heldout"]"#;
    let head = HEAD.replace(r#"metrics = ["ari", "nmi_arith"]"#, scores);
    let head = head.replace("[scoring]", "[scoring]\nscope = \"all\"");
    let text = format!("{head}{CURVE}{set}{}{}", METHODS[0], METHODS[1]);
    let experiment = Experiment::parse("test.toml", &text, dir.path(), &[]).unwrap();
    let outcome = run(&experiment, &options(&dir.path().join("out"))).unwrap();
    assert!(outcome.failed.is_empty(), "{:?}", outcome.failed);
    let rows = results(&dir.path().join("out"));
    let broken = column(&rows, "violation_rate");
    let informative = column(&rows, "informativeness");
    let heldout = column(&rows, "violation_rate_heldout");
    let message = column(&rows, "message");
    for (i, method) in column(&rows, "method").iter().enumerate() {
        // K-means reads no constraints: it is its own partition without them.
        if method == "kmeans" {
            assert_eq!(broken[i], informative[i]);
        }
        assert_eq!(heldout[i].is_empty(), !message[i].contains("left out"), "row {i}");
    }
    assert!(broken.iter().zip(&informative).any(|(a, b)| a != b), "nothing was run twice");
    assert!(heldout.iter().any(|rate| !rate.is_empty()));
}

#[test]
fn active_clusterers_lead_and_others_follow() {
    let dir = tempfile::tempdir().unwrap();
    let text = format!(
        "{HEAD}{}[curve]\npoints = \"from_run(cobra)\"\n\
         [[method]]\nid = \"random\"\nclusterer = \"pck_means\"\nselector = \"random_pairs\"\n\
         [[method]]\nid = \"hybrid\"\nclusterer = \"pck_means\"\nselector = \"same:cobra\"\n\
         [[method]]\nid = \"plain\"\nclusterer = \"kmeans\"\n\
         [[method]]\nid = \"cobra\"\nk = \"unknown\"\nselector = {{ type = \"cobra\", super_instances = 8 }}\n",
        SETS[0]
    );
    let planned = || plan(&experiment(&text), &source(), Some(dir.path())).unwrap().notes.concat();
    assert!(
        planned().contains("\"cobra\" is known only when it runs; the time is estimated for 100")
    );
    let outcome = done(&text, dir.path());
    assert!(outcome.failed.is_empty(), "{:?}", outcome.failed);
    assert!(!planned().contains("asks shows when it runs"), "nothing is left to do");
    let rows = results(dir.path());
    let (method, p, queries) =
        (column(&rows, "method"), column(&rows, "p_requested"), column(&rows, "queries"));
    let of = |id: &str| -> Vec<(String, String)> {
        (0..method.len())
            .filter(|&i| method[i] == id)
            .map(|i| (p[i].clone(), queries[i].clone()))
            .collect()
    };
    for (at, (p, queries)) in of("cobra").into_iter().enumerate() {
        assert_eq!(p, queries);
        assert!(p.parse::<usize>().unwrap() > 0);
        assert_eq!(of("random")[at], (p.clone(), p.clone()));
        assert_eq!(of("plain")[at], (p.clone(), "0".into()));
        assert_eq!(of("hybrid")[at].0, p);
    }
    assert_eq!(of("cobra").len(), 6);
}

#[test]
fn labels_are_kept_where_asked() {
    let dir = tempfile::tempdir().unwrap();
    let text = format!("{HEAD}{}{}[run]\nkeep_labels = true\n", SETS[0], METHODS[0]);
    done(&text, dir.path());
    let cell = std::fs::read_dir(dir.path().join("cells")).unwrap().next().unwrap().unwrap().path();
    let row: mustlink_experiments::Row =
        serde_json::from_str(std::fs::read_to_string(cell).unwrap().lines().nth(1).unwrap())
            .unwrap();
    assert_eq!(row.labels.unwrap().len(), 40);
}

#[test]
fn the_plan_counts_what_a_run_does() {
    let dir = tempfile::tempdir().unwrap();
    let experiment = experiment(&text());
    let before = plan(&experiment, &source(), Some(dir.path())).unwrap();
    assert_eq!((before.cells, before.finished, before.rows), (48, 0, 144));
    assert_eq!(before.selections, 36);
    assert!(before.seconds > 0.0 && before.memory > 0);
    assert!(before.to_string().ends_with(" per cell, including its data"), "{before}");
    done(&text(), dir.path());
    let after = plan(&experiment, &source(), Some(dir.path())).unwrap();
    assert_eq!((after.finished, after.seconds), (48, 0.0));
    assert!(after.to_string().contains("nothing is left to do; up to "), "{after}");
    let missing = plan(&experiment, &Source::default(), None).unwrap();
    assert_eq!(missing.missing().map(|d| d.id.as_str()).collect::<Vec<_>>(), ["left", "right"]);
    assert!(missing.to_string().contains("left: MISSING: "));
    // Nobody looked what is finished.
    assert!(!missing.to_string().contains("0 finished"), "{missing}");
}

#[test]
fn a_memory_limit_lets_cells_wait_their_turn() {
    let dir = tempfile::tempdir().unwrap();
    let text = format!("{HEAD}{CURVE}{}{}{}", SETS[0], METHODS[0], METHODS[1]);
    let per_cell = plan(&experiment(&text), &source(), None).unwrap().memory;
    let some = RunOptions { memory_limit: Some(per_cell), threads: Some(4), ..options(dir.path()) };
    let outcome = run(&experiment(&text), &some).unwrap();
    assert_eq!((outcome.done, outcome.failed.len()), (12, 0), "{:?}", outcome.failed);
    let dir = tempfile::tempdir().unwrap();
    let none = RunOptions { memory_limit: Some(10), ..options(dir.path()) };
    let outcome = run(&experiment(&text), &none).unwrap();
    assert_eq!(outcome.failed.len(), 12);
    assert!(outcome.failed[0].message.contains("memory: about "));
}
