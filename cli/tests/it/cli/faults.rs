//! Every write of a command fails once: it says which and why, leaves no half file, and the same command
//! run again gives what it gives when nothing fails.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;

use mustlink_failing_writes::{Call, Fault, Trial, calls, library};
use serde_json::Value;

use super::support::{columns_without_times, rows, words};

/// More trials of one command than these are thinned out evenly, unless `MUSTLINK_SLOW_TESTS` is set.
const MOST: usize = 80;

const GRID: &str = "[experiment]\nname = \"small\"\n[[dataset]]\nid = \"two\"\npath = \"two.csv\"\nid_column = \"id\"\n\
                    [curve]\npoints = [0, 4]\n[split]\ntype = \"kfold\"\nfolds = 2\n\
                    [[method]]\nid = \"plain\"\nclusterer = \"kmeans\"\n\
                    [[method]]\nid = \"asked\"\nclusterer = \"pck_means\"\nselector = \"random_pairs\"\n";

/// Files by their paths, without what differs from one run to the next.
type Files = BTreeMap<PathBuf, String>;

/// A folder of its own for each start of the program, next to the log of its calls.
struct Place {
    dir: tempfile::TempDir,
    /// Files made of times are not compared.
    timed: bool,
}

impl Place {
    fn new(timed: bool) -> Place {
        let place = Place { dir: tempfile::tempdir().expect("a folder"), timed };
        std::fs::create_dir(place.folder()).expect("a folder");
        place
    }

    fn like(other: &Place) -> Place {
        let place = Place { dir: tempfile::tempdir().expect("a folder"), timed: other.timed };
        copy(&other.folder(), &place.folder());
        place
    }

    /// As the kernel calls it.
    fn folder(&self) -> PathBuf {
        self.dir.path().canonicalize().expect("a folder").join("files")
    }

    fn log(&self) -> PathBuf {
        self.dir.path().join("log")
    }

    fn run(&self, line: &str, watched: Option<(&Path, Option<(usize, Fault)>)>) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mustlink"));
        command.args(words(line)).current_dir(self.folder());
        // Figures are drawn on all threads there are; here their files come in one order.
        command
            .env("RAYON_NUM_THREADS", "1")
            .env_remove("MUSTLINK_DATA")
            .env_remove("RUST_BACKTRACE")
            .stdin(Stdio::null());
        if let Some((library, fault)) = watched {
            Trial { library, folder: &self.folder(), log: &self.log(), fault }.apply(&mut command);
        }
        command.output().expect("it starts")
    }

    /// Runs it undisturbed, and returns what it printed.
    fn done(&self, line: &str) -> String {
        let done = self.run(line, None);
        let told = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.success(), "{line}: {told}");
        told
    }

    fn files(&self) -> Files {
        let mut out = Files::new();
        let mut folders = vec![self.folder()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let content = std::fs::read(&path).expect("a file");
                    let name = path.strip_prefix(self.folder()).expect("inside").to_path_buf();
                    out.insert(name, self.lasting(&path, &String::from_utf8_lossy(&content)));
                }
            }
        }
        out
    }

    /// A text without times, the checksums of times, and the path of the folder.
    fn lasting(&self, path: &Path, text: &str) -> String {
        let name = path.file_name().expect("a name").to_string_lossy();
        let shown = path.parent().is_some_and(|p| p.ends_with("out") || p.ends_with("figures"));
        let journal = ["cells.csv", "config.json", "config.toml", "data.csv", "results.csv"];
        if name.ends_with(".lock") || self.timed && shown && !journal.contains(&&*name) {
            return String::new();
        }
        if name == "config.json" {
            // It says where the experiment file was.
            return text.lines().filter(|l| !l.contains("\"base\": ")).collect();
        }
        if name.ends_with(".jsonl") {
            return text.lines().map(|line| without_times(line) + "\n").collect();
        }
        if name == "results.csv" {
            return columns_without_times(text);
        }
        text.into()
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(&path, &target).expect("a file");
        }
    }
}

/// A line of JSON without times. Text that is not JSON, such as a line that was cut off, stays as it is.
fn without_times(line: &str) -> String {
    let Ok(mut value) = serde_json::from_str::<Value>(line) else { return line.into() };
    if let Some(entries) = value.as_object_mut() {
        entries.retain(|key, _| {
            !key.starts_with("time_")
                && !["created", "at", "elapsed_ms", "checksum"].contains(&&**key)
        });
    }
    value.to_string()
}

/// Answers that were stated at once are not, where a kill came between them.
fn without_groups(text: &str) -> String {
    let line = |line: &str| match serde_json::from_str::<Value>(line) {
        Ok(Value::Object(mut entries)) => {
            entries.retain(|key, _| key != "with");
            Value::Object(entries).to_string()
        }
        _ => line.into(),
    };
    text.lines().map(|l| line(l) + "\n").collect()
}

/// True if a file is still being written, under a name that no command reads.
fn is_aside(path: &Path) -> bool {
    path.to_string_lossy().contains(".part")
}

fn is_lock(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "lock")
}

/// The mistakes in the files that a disturbed run left.
fn half_written(left: &Files, before: &Files, after: &Files, fault: Fault) -> Option<String> {
    for (path, text) in left {
        // A run that was killed takes nothing away; one that gave up does.
        if is_lock(path) || is_aside(path) && fault == Fault::Killed {
            continue;
        }
        let whole = before.get(path) == Some(text) || after.get(path) == Some(text);
        // A ledger grows line by line, and a program that is killed may leave half of one.
        let grown = path.ends_with("asked.jsonl")
            && after.get(path).is_some_and(|all| {
                let lines = text.lines().count();
                let whole = |kept: usize| all.lines().take(kept).eq(text.lines().take(kept));
                whole(lines) || fault == Fault::Killed && whole(lines - 1)
            });
        if !whole && !grown {
            return Some(format!("{} is half written:\n{text}", path.display()));
        }
    }
    before
        .keys()
        .find(|path| !is_lock(path) && !left.contains_key(*path))
        .map(|p| format!("{} is lost", p.display()))
}

/// The names one of which a message about a call has: that of the file, or where another is written in
/// its place for a while, those of all files.
fn names(call: &Call, after: &Files) -> BTreeSet<String> {
    let name = |p: &Path| p.file_name().map(|n| n.to_string_lossy().into_owned());
    let own = name(&call.path).unwrap_or_default();
    match own.split(".part").next() {
        Some(own) if !own.is_empty() && !own.starts_with(".mustlink-") => [own.into()].into(),
        _ => after.keys().filter_map(|p| name(p)).collect(),
    }
}

/// A command, and what it does when nothing fails.
struct Case<'a> {
    library: &'a Path,
    line: &'a str,
    start: Place,
    before: Files,
    after: Files,
    calls: Vec<Call>,
    spared: Option<Fault>,
}

impl<'a> Case<'a> {
    fn new(library: &'a Path, setting: &Setting, line: &'a str) -> Case<'a> {
        let start = Place::new(setting.timed);
        let csv = rows("id,a,b,class", |i, a, b, class| format!("o{i},{a},{b},{class}"));
        let put = |name: &str, text: &str| {
            std::fs::write(start.folder().join(name), text).expect("a file");
        };
        put("two.csv", &csv);
        put("grid.toml", GRID);
        std::fs::create_dir(start.folder().join("kept")).expect("a folder");
        put("kept/small.toml", GRID);
        put("sheet.csv", "i,j,answer\no0,o1,same\no0,o2,different\n");
        for line in setting.before {
            start.done(line);
        }
        (setting.arrange)(&start.folder());
        let plain = Place::like(&start);
        plain.done(line);
        let watched = Place::like(&start);
        let done = watched.run(line, Some((library, None)));
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let calls = calls(&std::fs::read_to_string(watched.log()).expect("a log"));
        assert!(!calls.is_empty(), "{}: writes nothing", line);
        let (before, after) = (start.files(), plain.files());
        assert_eq!(watched.files(), after, "{}: differs from run to run", line);
        Case { library, line, start, before, after, calls, spared: setting.spared }
    }

    /// The mistake if call `at` fails.
    fn wrong(&self, at: usize, fault: Fault) -> Option<String> {
        let call = &self.calls[at - 1];
        let place = Place::like(&self.start);
        let done = place.run(self.line, Some((self.library, Some((at, fault)))));
        let told = String::from_utf8_lossy(&done.stderr).into_owned();
        let left = place.files();
        // A lock file that stays is taken over.
        let may_fail = call.name == "unlink" && is_lock(&call.path);
        match done.status.code() {
            None if fault == Fault::Killed => {}
            Some(0) if may_fail => {}
            Some(_) if told.contains("panicked") => return Some(told),
            // Whether the files can be written is looked at before the work, as a mistake on the line.
            Some(2 | 3) => {
                let named = names(call, &self.after).iter().any(|name| told.contains(name));
                if !told.contains(fault.cause()) || !named {
                    return Some(format!("the message lacks file or cause: {told}"));
                }
            }
            _ => return Some(format!("{}: {told}", done.status)),
        }
        if let Some(half) = half_written(&left, &self.before, &self.after, fault) {
            return Some(half);
        }
        let lock = std::fs::metadata(place.folder().join("asked.jsonl.lock"));
        let owned = lock.is_ok_and(|lock| lock.len() > 0);
        let again = place.run(self.line, None);
        let told = String::from_utf8_lossy(&again.stderr).into_owned();
        if !again.status.success() {
            return Some(format!("run again: {told}"));
        }
        if owned && !told.contains("taken over from process") {
            return Some(format!("run again: does not say whose lock it takes: {told}"));
        }
        let mut files = place.files();
        // What a kill leaves of a file that is not written in a results directory stays, under a name of
        // its own.
        files.retain(|path, _| {
            fault != Fault::Killed || !path.to_string_lossy().contains(".mustlink-")
        });
        let paths = files.keys().chain(self.after.keys());
        let same = |p: &PathBuf| match (files.get(p), self.after.get(p)) {
            (Some(a), Some(b)) if fault == Fault::Killed => without_groups(a) == without_groups(b),
            (a, b) => a == b,
        };
        let differs: BTreeSet<_> = paths.filter(|p| !same(p)).collect();
        (!differs.is_empty()).then(|| format!("run again: differs in {differs:?}"))
    }

    /// Tries all of them, on two threads.
    fn check(&self) {
        let all: Vec<(usize, Fault)> = (1..=self.calls.len())
            .flat_map(|at| Fault::ALL.map(|fault| (at, fault)))
            .filter(|(at, fault)| {
                fault.befalls(&self.calls[at - 1].name) && self.spared != Some(*fault)
            })
            .collect();
        let thin = std::env::var_os("MUSTLINK_SLOW_TESTS").is_none();
        let step = if thin { all.len().div_ceil(MOST).max(1) } else { 1 };
        let left = Mutex::new(all.iter().step_by(step).copied().collect::<Vec<_>>());
        let trials = left.lock().expect("a list").len();
        let found = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    loop {
                        let Some((at, fault)) = left.lock().expect("a list").pop() else { break };
                        if let Some(wrong) = self.wrong(at, fault) {
                            let call = &self.calls[at - 1];
                            let what = format!("{at}: {} {}", call.name, call.path.display());
                            found
                                .lock()
                                .expect("a list")
                                .push(format!("{what}, {fault:?}: {wrong}"));
                        }
                    }
                });
            }
        });
        let found = found.into_inner().expect("a list");
        let _ = writeln!(
            std::io::stderr(),
            "{}: {} calls, {trials} of {} faults",
            self.line,
            self.calls.len(),
            all.len()
        );
        assert!(found.is_empty(), "{}:\n{}", self.line, found.join("\n"));
    }
}

/// The steps before a command, and the checks that are left out.
struct Setting<'a> {
    before: &'a [&'a str],
    /// After these commands.
    arrange: fn(&Path),
    /// Tables of times are not looked into.
    timed: bool,
    /// A fault after which the command refuses to be given again.
    spared: Option<Fault>,
}

impl Default for Setting<'_> {
    fn default() -> Self {
        Setting { before: &[], arrange: |_| {}, timed: false, spared: None }
    }
}

impl Setting<'_> {
    fn check(&self, line: &str) {
        match library() {
            Ok(library) => Case::new(&library, self, line).check(),
            Err(why) => drop(writeln!(std::io::stderr(), "SKIPPED: {why}")),
        }
    }
}

fn check(before: &[&str], line: &str) {
    Setting { before, ..Setting::default() }.check(line);
}

/// Its tables hold times. What is made of cells is looked into by those who find these finished.
#[test]
fn a_run() {
    Setting { timed: true, ..Setting::default() }
        .check("run grid.toml --out out --quiet --threads 1");
}

#[test]
fn a_shard() {
    check(
        &["run grid.toml --out out --shard 2/2 --quiet --threads 1"],
        "run grid.toml --out out --shard 1/2 --quiet --threads 1",
    );
}

#[test]
fn a_merge() {
    check(
        &[
            "run grid.toml --out one --shard 1/2 --quiet --threads 1",
            "run grid.toml --out two --shard 2/2 --quiet --threads 1",
        ],
        "merge one two --out merged",
    );
}

#[test]
fn a_report() {
    check(&["run grid.toml --out out --quiet --threads 1"], "report out");
}

#[test]
fn a_clustering_with_all_its_files() {
    check(
        &[],
        "cluster --data two.csv --id id --k 2 --clusterer lac --out labels.csv --weights weights.csv \
         --save-model model.json --plot plots --profile profile --threads 1",
    );
}

#[test]
fn a_selection_with_a_ledger() {
    check(
        &[],
        "select --data two.csv --id id --k 2 --selector explore_consolidate --budget 8 --ledger asked.jsonl \
         --out pairs.csv --threads 1",
    );
}

#[test]
fn answers_from_a_sheet() {
    check(
        &[],
        "label --data two.csv --id id --k 2 --selector random_pairs --ledger asked.jsonl --import sheet.csv \
         --out labels.csv --threads 1",
    );
}

/// Each answer of a person is on the disk before the next question, others after 64 lines, all at the end.
#[test]
fn answers_reach_the_disk() {
    let library = match library() {
        Ok(library) => library,
        Err(why) => return drop(writeln!(std::io::stderr(), "SKIPPED: {why}")),
    };
    let calls = |line: &str| -> Vec<String> {
        let line = format!(
            "{line} --data two.csv --id id --k 2 --selector random_pairs --ledger asked.jsonl --threads 1"
        );
        let case = Case::new(&library, &Setting::default(), &line);
        let named = |call: &Call| call.name == "sync" && call.path == Path::new(".");
        assert!(case.calls.iter().any(named), "{line}: the folder may not have the file's name");
        let of_ledger = case.calls.iter().filter(|c| c.path.ends_with("asked.jsonl"));
        let names = of_ledger.map(|c| c.name.clone());
        names.filter(|name| name == "write" || name == "sync").collect()
    };
    let by_hand = calls("label --import sheet.csv --out labels.csv");
    let mut lines = by_hand.chunks(2);
    assert!(by_hand.len() > 4 && lines.all(|c| c == ["write", "sync"]), "{by_hand:?}");
    let drawn = calls("select --budget 40 --out pairs.csv");
    let between: Vec<usize> = drawn.split(|name| name == "sync").map(<[_]>::len).collect();
    assert!(matches!(between[..], [64, 1..64, 0]), "{between:?}");
}

/// A process that was killed left a torn line and its lock.
#[test]
fn a_selection_that_goes_on() {
    let tear = |folder: &Path| {
        let ledger = folder.join("asked.jsonl");
        let text = std::fs::read(&ledger).expect("a ledger");
        std::fs::write(&ledger, &text[..text.len() - 30]).expect("a file");
        std::fs::write(folder.join("asked.jsonl.lock"), "4194999 0\n").expect("a file");
    };
    let line = "select --data two.csv --id id --k 2 --selector random_pairs --ledger asked.jsonl --threads 1";
    let before = format!("{line} --budget 3 --out few.csv");
    Setting { before: &[&before], arrange: tear, ..Setting::default() }
        .check(&format!("{line} --budget 5 --out pairs.csv"));
}

/// A kill leaves an unfinished crate, of which nothing is removed.
#[test]
fn a_new_plugin() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    Setting { spared: Some(Fault::Killed), ..Setting::default() }
        .check(&format!("plugin new my_means --role clusterer --path '{}'", root.display()));
}
