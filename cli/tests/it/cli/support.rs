//! A folder of its own for every test, and the program run in it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

pub struct Bench {
    dir: TempDir,
    /// The user's own folder, where the program remembers.
    home: TempDir,
}

#[derive(Debug, PartialEq)]
pub struct Done {
    pub status: i32,
    pub out: String,
    pub err: String,
}

impl Done {
    /// The output as JSON, of a program that ended well.
    pub fn json(&self) -> Value {
        assert_eq!(self.status, 0, "{}", self.err);
        serde_json::from_str(&self.out).expect("JSON")
    }

    /// The program failed with this message and wrote no data.
    pub fn failed(&self, status: i32, message: &str) {
        assert_eq!((self.err.as_str(), self.status), (message, status));
        assert_eq!(self.out, "");
    }
}

impl Bench {
    pub fn new() -> Self {
        let folder = || tempfile::tempdir().expect("a directory");
        Bench { dir: folder(), home: folder() }
    }

    /// A bench with one file.
    pub fn with(name: &str, content: impl AsRef<[u8]>) -> Self {
        let bench = Bench::new();
        bench.write(name, content);
        bench
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).expect("a file");
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("a file")
    }

    /// Makes the program forget what it knew of other runs, as on another machine.
    pub fn forget(&mut self) {
        self.home = tempfile::tempdir().expect("a directory");
    }

    pub fn files(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.dir.path())
            .expect("a directory")
            .map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mustlink"));
        command
            .args(arguments)
            .current_dir(self.dir.path())
            .env("XDG_CACHE_HOME", self.home.path().join("cache"))
            .env("XDG_STATE_HOME", self.home.path().join("state"))
            // No line is wrapped.
            .env("COLUMNS", "1000")
            .env_remove("MUSTLINK_DATA")
            .env_remove("RUST_BACKTRACE");
        command
    }

    /// Runs the program; words of `line` are parted by spaces, quotes join.
    pub fn run(&self, line: &str) -> Done {
        self.run_with(line, "")
    }

    /// The same with this text on standard input.
    pub fn run_with(&self, line: &str, input: &str) -> Done {
        let words = words(line);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut child = self
            .command(&words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        // A program that does not read its input may be gone already.
        let _ = child.stdin.take().expect("piped").write_all(input.as_bytes());
        let done = child.wait_with_output().expect("it ends");
        let err = String::from_utf8(done.stderr).expect("UTF-8");
        assert_eq!(one_as_many(&err), None, "{err}");
        // A message and its tip are one text.
        let err = err.replace("\n\n  tip: ", "; ");
        Done {
            status: done.status.code().unwrap_or(-1),
            out: String::from_utf8(done.stdout).expect("UTF-8"),
            err,
        }
    }
}

/// A word that counts one thing as many, such as `objects` after `1`.
fn one_as_many(text: &str) -> Option<&str> {
    const THINGS: &str = "answers candidates cannot-links cells classes clusters columns constraints features groups \
                          labels lines members methods must-links objects pairs partitions queries questions rows \
                          sets values";
    let words: Vec<&str> = text.split_whitespace().collect();
    let thing =
        |word: &str| THINGS.split(' ').any(|t| t == word.trim_end_matches([',', ';', ':', ')']));
    // The last number of a list of sizes may be 1.
    let ends_list = |at: usize| at > 1 && words[at - 2] == "and";
    let is_wrong = |at: &usize| words[at - 1] == "1" && thing(words[*at]) && !ends_list(*at);
    (1..words.len()).find(is_wrong).map(|at| words[at])
}

pub fn words(line: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => out.push(String::new()),
            c => out.last_mut().expect("never empty").push(c),
        }
    }
    out.retain(|w| !w.is_empty());
    out
}

/// True if `path` holds a `.part` file anywhere.
pub fn has_leftovers(path: &Path) -> bool {
    std::fs::read_dir(path).expect("a directory").any(|e| {
        let path = e.expect("an entry").path();
        path.to_string_lossy().contains(".part") || path.is_dir() && has_leftovers(&path)
    })
}

/// `results.csv` without the columns that hold times, a line for each row.
pub fn columns_without_times(results: &str) -> String {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(results.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().map(|r| r.expect("a row")).collect();
    let kept = |c: &usize| !rows[0][*c].starts_with("time_");
    let line = |row: &csv::StringRecord| {
        let cells: Vec<&str> = (0..row.len()).filter(kept).map(|c| &row[c]).collect();
        format!("{cells:?}\n")
    };
    rows.iter().map(line).collect()
}

/// Finished cells of a results directory.
pub fn cells(results: &Path) -> usize {
    let found = std::fs::read_dir(results.join("cells")).into_iter().flatten().flatten();
    found.filter(|e| e.path().extension().is_some_and(|end| end == "jsonl")).count()
}

/// Rows of two groups: `f` gives the text of each.
pub fn rows(header: &str, f: impl Fn(usize, f64, f64, char) -> String) -> String {
    let mut out = format!("{header}\n");
    for i in 0..12 {
        // In no order, so that nothing rises by row.
        let (group, class) = if (i * 7) % 12 < 6 { (0.0, 'p') } else { (9.0, 'q') };
        let (a, b) = (group + 0.25 * ((i * 5) % 7) as f64, group - 0.125 * ((i * 3) % 5) as f64);
        out += &f(i, a, b, class);
        out.push('\n');
    }
    out
}
