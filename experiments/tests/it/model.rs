//! However often a run is stopped, cut off, split among shards and merged, and whatever becomes of its files: a
//! results directory holds the cells that a plain table says, and ends as one that was let be.

use mustlink as _;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use mustlink_experiments::results::finished;
use mustlink_experiments::{
    Experiment, ProgressSnapshot, Row, RunOptions, RunProgress, Shard, Source, merge, plan, retry,
    run,
};
use proptest::prelude::*;
use tempfile::TempDir;

const TEXT: &str = "[experiment]\nname = \"model\"\n[[dataset]]\nid = \"line\"\npath = \"line.csv\"\n[split]\n\
                    type = \"all\"\nrepeats = 3\n[curve]\npoints = [0, 4]\n\
                    [[method]]\nid = \"plain\"\nk = 2\nclusterer = \"kmeans\"\n\
                    [[method]]\nid = \"asked\"\nk = 2\nclusterer = \"pck_means\"\nselector = \"random_pairs\"\n";
/// Cells of the experiment.
const CELLS: usize = 6;
/// Results directories; merging replaces the first.
const DIRS: usize = 2;

/// Possible events. Numbers choose among the possible ones.
#[derive(Debug, Clone)]
enum Op {
    /// All of it or a shard of two, stopped after so many new cells.
    Run { dir: usize, shard: Option<usize>, stop: Option<usize> },
    /// Damaged cells are run again.
    Retry(usize),
    /// The file of a cell ends after this share of its bytes, in 65536ths.
    Cut(usize, usize, u16),
    /// One bit of it is another.
    Flip(usize, usize, usize),
    /// Two files change places.
    Swap(usize, usize, usize),
    /// It is gone.
    Lose(usize, usize),
    /// Result of a kill during a write: half a file under another name.
    Half(usize, Half),
    /// The file that says what the experiment is is gone.
    Forget(usize),
    /// All directories into a new one.
    Merge,
}

#[derive(Debug, Clone, Copy)]
enum Half {
    Cell,
    Results,
    Config,
}

/// Result of a run without interruptions.
struct Whole {
    dir: TempDir,
    /// Rows by cell, without times.
    rows: BTreeMap<String, Vec<Row>>,
}

/// Content of the file of a cell.
#[derive(Debug, Clone, PartialEq)]
enum Content {
    /// As it was written for this cell.
    Of(String),
    Damaged,
}

/// A results directory and the table of what it holds.
struct Dir {
    path: PathBuf,
    cells: BTreeMap<String, Content>,
    /// It says what the experiment is.
    named: bool,
}

struct StopAfter(usize, Arc<AtomicBool>);

impl RunProgress for StopAfter {
    fn update(&self, snapshot: &ProgressSnapshot) {
        if snapshot.done >= self.0 {
            self.1.store(true, Ordering::Relaxed);
        }
    }
}

fn experiment() -> Experiment {
    Experiment::parse("e.toml", TEXT, whole().dir.path(), &[]).unwrap_or_else(|e| panic!("{e}"))
}

fn options(out: &Path) -> RunOptions {
    RunOptions { threads: Some(1), ..RunOptions::to(out) }
}

fn whole() -> &'static Whole {
    static WHOLE: OnceLock<Whole> = OnceLock::new();
    WHOLE.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        let line: String = (0..12).map(|i| format!("{},{}\n", i * i % 17, i % 2)).collect();
        fs::write(dir.path().join("line.csv"), format!("x,class\n{line}")).unwrap();
        let out = dir.path().join("out");
        let experiment = Experiment::parse("e.toml", TEXT, dir.path(), &[]).unwrap();
        run(&experiment, &options(&out)).unwrap();
        let rows = rows_of(&out).unwrap();
        assert_eq!(rows.len(), CELLS);
        Whole { dir, rows }
    })
}

/// The rows of the finished cells, without times.
fn rows_of(dir: &Path) -> Result<BTreeMap<String, Vec<Row>>, String> {
    let finished = finished(dir).map_err(|e| e.to_string())?;
    let without =
        |row: Row| Row { time_select_s: None, time_cluster_s: None, time_total_s: None, ..row };
    let of = |rows: Vec<Row>| rows.into_iter().map(without).collect();
    Ok(finished.cells.into_iter().map(|c| (c.identity, of(c.rows))).collect())
}

impl Dir {
    fn new(path: PathBuf) -> Dir {
        Dir { path, cells: BTreeMap::new(), named: false }
    }

    fn file(&self, cell: &str) -> PathBuf {
        self.path.join("cells").join(format!("{cell}.jsonl"))
    }

    fn is_whole(&self, cell: &str) -> bool {
        matches!(self.cells.get(cell), Some(Content::Of(of)) if of == cell)
    }

    fn whole(&self) -> BTreeSet<&String> {
        self.cells.keys().filter(|c| self.is_whole(c)).collect()
    }

    fn damaged(&self) -> BTreeSet<&String> {
        self.cells.keys().filter(|c| !self.is_whole(c)).collect()
    }

    /// One of the cells that have a file.
    fn some(&self, which: usize) -> Option<String> {
        self.cells.keys().nth(which % self.cells.len().max(1)).cloned()
    }

    fn damage(&mut self, which: usize, how: impl FnOnce(&mut Vec<u8>)) {
        let Some(cell) = self.some(which) else { return };
        let before = fs::read(self.file(&cell)).unwrap();
        let mut bytes = before.clone();
        how(&mut bytes);
        fs::write(self.file(&cell), &bytes).unwrap();
        if bytes != before {
            self.cells.insert(cell, Content::Damaged);
        }
    }

    fn run(&mut self, shard: Option<usize>, stop: Option<usize>) {
        let shard = shard.map(|number| Shard { number, of: 2 });
        let mine: BTreeSet<&String> = match shard {
            None => whole().rows.keys().collect(),
            Some(Shard { number, .. }) => {
                let of = |rows: &[Row]| rows[0].repeat % 2 == number - 1;
                whole().rows.iter().filter(|(_, rows)| of(rows)).map(|(cell, _)| cell).collect()
            }
        };
        let todo: Vec<&String> = mine.iter().copied().filter(|c| !self.is_whole(c)).collect();
        let skipped = mine.len() - todo.len();
        let before: BTreeMap<&String, _> =
            todo.iter().map(|c| (*c, fs::read(self.file(c)).ok())).collect();
        let cancel = Arc::new(AtomicBool::new(false));
        let most = stop.map_or(usize::MAX, |stop| skipped + stop);
        let progress = Arc::new(StopAfter(most, cancel.clone()));
        let outcome =
            run(&experiment(), &RunOptions { shard, cancel, progress, ..options(&self.path) });
        self.named = true;
        let expected = stop.map_or(todo.len(), |stop| stop.min(todo.len()));
        let done: Vec<String> = before
            .iter()
            .filter(|(c, b)| fs::read(self.file(c)).ok() != **b)
            .map(|(c, _)| c.to_string())
            .collect();
        assert_eq!(done.len(), expected, "stopped after {stop:?}: {outcome:?}");
        for cell in done {
            self.cells.insert(cell.clone(), Content::Of(cell));
        }
        match outcome {
            Ok(outcome) => {
                let counts = (outcome.total, outcome.skipped, outcome.done);
                assert_eq!(counts, (mine.len(), skipped, expected));
                assert_eq!(outcome.stopped, expected < todo.len());
                assert!(outcome.failed.is_empty());
            }
            // A run that was stopped before it came to a damaged file says so.
            Err(e) => {
                let left = self.damaged();
                let left = left.iter().any(|c| shard.is_none() || mine.contains(*c));
                assert!(left && e.to_string().contains("damaged"), "{e}");
            }
        }
    }

    fn retry(&mut self) {
        let damaged: Vec<String> = self.damaged().into_iter().cloned().collect();
        match retry(&self.path, &[], &options(&self.path)) {
            Ok(outcome) => {
                assert!(self.named);
                assert_eq!((outcome.done, outcome.failed.len()), (damaged.len(), 0));
                self.cells.extend(damaged.into_iter().map(|c| (c.clone(), Content::Of(c))));
            }
            Err(e) => assert!(!self.named, "{e}"),
        }
    }

    fn half(&self, what: Half) {
        let name = match what {
            Half::Cell => "cells/0123456789abcdef.jsonl.part",
            Half::Results => "results.csv.part",
            Half::Config => "config.json.part",
        };
        if self.named {
            fs::write(self.path.join(name), "{\"exp").unwrap();
        }
    }

    fn take(&mut self, op: &Op) {
        match *op {
            Op::Run { shard, stop, .. } => self.run(shard, stop),
            Op::Retry(_) => self.retry(),
            Op::Cut(_, which, share) => self.damage(which, |bytes| {
                bytes.truncate(bytes.len() * usize::from(share) / 65536);
            }),
            Op::Flip(_, which, at) => self.damage(which, |bytes| {
                let bit = at % (8 * bytes.len()).max(1);
                if let Some(byte) = bytes.get_mut(bit / 8) {
                    *byte ^= 1 << (bit % 8);
                }
            }),
            Op::Swap(_, a, b) => {
                let (Some(a), Some(b)) = (self.some(a), self.some(b)) else { return };
                let (first, second) =
                    (fs::read(self.file(&a)).unwrap(), fs::read(self.file(&b)).unwrap());
                fs::write(self.file(&a), second).unwrap();
                fs::write(self.file(&b), first).unwrap();
                let (first, second) = (self.cells[&a].clone(), self.cells[&b].clone());
                self.cells.extend([(a, second), (b, first)]);
            }
            Op::Lose(_, which) => {
                let Some(cell) = self.some(which) else { return };
                fs::remove_file(self.file(&cell)).unwrap();
                self.cells.remove(&cell);
            }
            Op::Half(_, what) => self.half(what),
            Op::Forget(_) => {
                let there = fs::remove_file(self.path.join("config.json")).is_ok();
                assert_eq!(there, self.named);
                self.named = false;
            }
            Op::Merge => {}
        }
    }

    /// The directory contains what the table predicts.
    fn agrees(&self) {
        let planned = plan(&experiment(), &Source::default(), Some(&self.path)).unwrap();
        assert_eq!(planned.finished, self.whole().len());
        assert_eq!(planned.standing.damaged.len(), self.damaged().len());
        match rows_of(&self.path) {
            Ok(rows) => {
                assert!(self.named && self.damaged().is_empty());
                assert_eq!(rows.keys().collect::<BTreeSet<_>>(), self.whole());
                rows.iter().for_each(|(cell, rows)| assert_eq!(rows, &whole().rows[cell]));
            }
            Err(e) if self.named => {
                assert!(!self.damaged().is_empty() && e.contains("damaged"), "{e}")
            }
            Err(_) => {}
        }
    }

    /// The rest is run, and the result equals that of an uninterrupted run; no half file is left.
    fn ends_as_the_whole(&mut self) {
        self.run(None, None);
        self.agrees();
        assert_eq!(rows_of(&self.path).as_ref(), Ok(&whole().rows));
        let mut names = Vec::new();
        for folder in [self.path.clone(), self.path.join("cells")] {
            names.extend(fs::read_dir(folder).unwrap().map(|f| f.unwrap().file_name()));
        }
        let half = names.iter().filter(|n| n.to_string_lossy().contains(".part"));
        assert_eq!(half.count(), 0, "{names:?}");
        assert_eq!(timeless(&self.path), timeless(&whole().dir.path().join("out")));
        self.run(None, Some(0));
    }
}

/// `results.csv` without the columns of times, which come last.
fn timeless(dir: &Path) -> Vec<String> {
    let text = fs::read_to_string(dir.join("results.csv")).unwrap();
    text.lines().map(|l| l.rsplitn(4, ',').last().unwrap().to_string()).collect()
}

/// All directories that say what they are become one, whose table is the union of theirs.
fn merged(dirs: &[Dir], path: PathBuf) -> Option<Dir> {
    let parts: Vec<&Dir> = dirs.iter().filter(|d| d.named).collect();
    let paths: Vec<PathBuf> = parts.iter().map(|d| d.path.clone()).collect();
    let damaged = parts.iter().any(|d| !d.damaged().is_empty());
    let mut out = Dir::new(path);
    match merge(&paths, &out.path) {
        Ok(done) => {
            assert!(!parts.is_empty() && !damaged);
            let all: usize = parts.iter().map(|d| d.cells.len()).sum();
            parts.iter().for_each(|d| out.cells.extend(d.cells.clone()));
            out.named = true;
            assert_eq!(
                (done.cells, done.shared, done.mended),
                (out.cells.len(), all - out.cells.len(), 0)
            );
            Some(out)
        }
        Err(e) => {
            assert!(parts.is_empty() || damaged && e.to_string().contains("damaged"), "{e}");
            assert!(!out.path.exists());
            None
        }
    }
}

/// A folder in memory where there is one: thousands of files are flushed, and no disk is looked at here.
fn folder() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

fn check(ops: &[Op]) {
    let folder = folder();
    let path = |name: String| folder.path().join(name);
    let mut dirs: Vec<Dir> = (0..DIRS).map(|d| Dir::new(path(d.to_string()))).collect();
    for (at, op) in ops.iter().enumerate() {
        let dir = match *op {
            Op::Run { dir, .. }
            | Op::Retry(dir)
            | Op::Cut(dir, ..)
            | Op::Flip(dir, ..)
            | Op::Swap(dir, ..)
            | Op::Lose(dir, _)
            | Op::Half(dir, _)
            | Op::Forget(dir) => dir,
            Op::Merge => {
                if let Some(one) = merged(&dirs, path(format!("merged-{at}"))) {
                    dirs[0] = one;
                }
                0
            }
        };
        dirs[dir].take(op);
        dirs[dir].agrees();
    }
    dirs.iter_mut().for_each(Dir::ends_as_the_whole);
}

fn op() -> impl Strategy<Value = Op> {
    let (dir, which) = (0..DIRS, 0..CELLS);
    let shard = prop::option::of(1..=2usize);
    let stop = prop::option::of(0..CELLS);
    let half = prop::sample::select(vec![Half::Cell, Half::Results, Half::Config]);
    prop_oneof![
        8 => (dir.clone(), shard, stop).prop_map(|(dir, shard, stop)| Op::Run { dir, shard, stop }),
        1 => dir.clone().prop_map(Op::Retry),
        2 => (dir.clone(), which.clone(), any::<u16>()).prop_map(|(d, c, s)| Op::Cut(d, c, s)),
        2 => (dir.clone(), which.clone(), any::<usize>()).prop_map(|(d, c, b)| Op::Flip(d, c, b)),
        1 => (dir.clone(), which.clone(), which.clone()).prop_map(|(d, a, b)| Op::Swap(d, a, b)),
        1 => (dir.clone(), which).prop_map(|(d, c)| Op::Lose(d, c)),
        1 => (dir.clone(), half).prop_map(|(d, h)| Op::Half(d, h)),
        1 => dir.prop_map(Op::Forget),
        2 => Just(Op::Merge),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_results_directory_holds_what_its_table_says(ops in prop::collection::vec(op(), 1..12)) {
        check(&ops);
    }
}
