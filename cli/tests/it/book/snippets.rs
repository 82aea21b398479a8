//! Every snippet runs.
//!
//! A block with `file=NAME` stands for a file. `toml` blocks are checked as method or experiment
//! files, unless they are marked `fragment`. `sh` blocks run, unless they call cargo or are marked
//! `no_run`: measurements that take long. In `console` blocks the lines after `$ ` run, and what
//! follows is what the program prints; where they are marked `fails`, it ends with an error. A figure
//! that a page shows is the one that its commands write to `figures/`.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use super::blocks::{Block, blocks};
use super::{figures, mustlink, read, refreshing, root, written};

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Folder(tempfile::tempdir().expect("a directory"));
        std::fs::create_dir(folder.0.path().join("figures")).expect("a folder");
        folder
    }

    /// The figures that the commands of a page wrote.
    fn figures(&self) -> Vec<(String, String)> {
        figures::in_folder(&self.0.path().join("figures"))
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().expect("inside the folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }

    /// Runs a line of the shell; gives what it prints to either stream, and its exit status.
    fn run(&self, script: &str) -> (String, i32) {
        let mut path = mustlink().parent().expect("a folder").as_os_str().to_owned();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let done = Command::new("sh")
            .args(["-c", &format!("exec 2>&1\n{script}")])
            .current_dir(self.0.path())
            .env("PATH", path)
            .env_remove("MUSTLINK_DATA")
            .env_remove("RUST_BACKTRACE")
            .output()
            .expect("a shell");
        let text = String::from_utf8(done.stdout).expect("UTF-8");
        (text, done.status.code().unwrap_or(-1))
    }
}

/// Seconds differ from run to run.
fn steady(line: &str) -> String {
    let line = line.trim_end();
    match line.strip_suffix(" s").and_then(|l| l.rsplit_once(' ')) {
        Some((before, number)) if number.parse::<f64>().is_ok() => format!("{before} … s"),
        _ => line.to_string(),
    }
}

/// The lines of a `console` block if its commands run now.
fn played(block: &Block, folder: &Folder) -> Vec<String> {
    let mut out = Vec::new();
    for command in block.text.lines().filter_map(|l| l.strip_prefix("$ ")) {
        assert!(command.starts_with("mustlink "), "{command}: only mustlink is played");
        out.push(format!("$ {command}"));
        let (said, status) = folder.run(command);
        assert_eq!(status != 0, block.has("fails"), "{command}: status {status}: {said}");
        out.extend(said.lines().map(steady));
    }
    out
}

/// Commands that build are not run here: the tests run inside a build, and the Python package has its own.
fn builds(text: &str) -> bool {
    text.lines().any(|l| l.starts_with("cargo ") || l.starts_with("pip install ./python"))
}

/// Runs the blocks of a page in order; gives the page as it should be.
fn checked(page: &str, name: &str, folder: &Folder) -> String {
    let mut lines: Vec<String> = page.lines().map(str::to_string).collect();
    let mut shift = 0isize;
    for block in blocks(page) {
        let place = format!("{name}:{}", block.first);
        if let Some(file) = block.file() {
            folder.write(file, &block.text);
        }
        match block.language.as_str() {
            "toml" if !block.has("fragment") => {
                let file = block.file().unwrap_or("snippet.toml");
                folder.write(file, &block.text);
                let (said, status) = folder.run(&format!("mustlink check {file}"));
                // Of sets in a data directory nothing is known here.
                let good = status == 0 || status == 3 && said.contains("no data set ");
                assert!(good, "{place}: {said}");
            }
            "sh" if !builds(&block.text) && !block.has("no_run") => {
                let (said, status) = folder.run(&format!("set -e\n{}", block.text));
                assert_eq!(status, 0, "{place}: {said}");
            }
            "console" => {
                let new = played(&block, folder);
                let old = block.end - block.first;
                let from = block.first.checked_add_signed(shift).expect("inside the page");
                shift += new.len() as isize - old as isize;
                lines.splice(from..from + old, new);
            }
            _ => {}
        }
    }
    lines.join("\n") + "\n"
}

#[test]
#[cfg(unix)]
fn every_snippet_runs() {
    for path in written() {
        let name = path.strip_prefix(root()).unwrap_or(&path).display().to_string();
        let page = read(&path);
        let folder = Folder::new();
        let now = checked(&page, &name, &folder);
        figures::check_shown(&page, &name, &folder.figures());
        if now == page {
            continue;
        }
        if refreshing() {
            std::fs::write(&path, now).expect("a page");
            continue;
        }
        let (line, (new, old)) = now
            .lines()
            .zip(page.lines())
            .enumerate()
            .find(|(_, (new, old))| new != old)
            .unwrap_or((page.lines().count(), ("more lines or fewer", "")));
        panic!(
            "{name}:{}: the program now prints\n{new}\nnot\n{old}\n(MUSTLINK_REFRESH=1 rewrites it)",
            line + 1
        );
    }
}

#[test]
fn experiments_that_ship_are_in_order() {
    for path in super::schemas::shipped() {
        let done = Command::new(mustlink()).arg("check").arg(&path).output().expect("it runs");
        let said = String::from_utf8_lossy(&done.stderr);
        // Where its data is not at hand, that alone may be missing.
        let good = done.status.success() || said.contains("no data set ");
        assert!(good, "{}: {said}", path.display());
    }
}

#[test]
fn the_plugin_of_the_manual_is_one_whole_file() {
    let page = read(&root().join("book/src/add-a-method.md"));
    let whole: Vec<Block> = blocks(&page)
        .into_iter()
        .filter(|b| {
            b.language == "rust" && b.text.starts_with("//!") && b.text.contains("#[plugin(")
        })
        .collect();
    assert_eq!(whole.len(), 1);
    let tag = whole[0].text.split("#[plugin(\"").nth(1).and_then(|t| t.split('"').next());
    let file = format!("algorithms/base-clusterers/src/{}.rs", tag.expect("a tag"));
    assert!(page.contains(&file), "the page does not name {file}");
    assert!(
        !Path::new(&root().join(&file)).exists(),
        "{file} exists; the page needs another example"
    );
}

#[test]
fn the_scored_pairs_of_the_manual_are_those_of_its_example() {
    let book = root().join("book/src");
    let page = read(&book.join("scored-pairs.md"));
    let block = blocks(&page).into_iter().find(|block| block.file() == Some("scored.csv"));
    assert_eq!(block.expect("a block").text, read(&book.join("examples/scored.csv")));
}

#[test]
fn only_measurements_are_not_run() {
    let measured = [
        "performance.md",
        "quality.md",
        "papers.md",
        "where-papers-leave-room.md",
        "reliability.md",
        "data.md",
    ];
    // Rust marked no_run is compiled all the same, as documentation tests.
    let skipped = |b: &Block| b.has("no_run") && b.language != "rust";
    for path in written().iter().filter(|p| !measured.iter().any(|m| p.ends_with(m))) {
        assert!(!blocks(&read(path)).iter().any(skipped), "{}", path.display());
    }
}

#[test]
fn rust_is_compiled() {
    // What `cargo test --doc` compiles: the pages that a library includes as documentation.
    let libraries =
        ["src/lib.rs", "tests/outside-plugin/src/lib.rs"].map(|p| read(&root().join(p)));
    for path in &written() {
        let rust: Vec<Block> =
            blocks(&read(path)).into_iter().filter(|b| b.language == "rust").collect();
        let name = path.file_name().expect("a name").to_string_lossy();
        let included = libraries.iter().any(|l| l.contains(&format!("/{name}\")")));
        assert!(rust.is_empty() || included, "no library includes {name}");
        assert!(!rust.iter().any(|b| b.has("ignore")), "{name} has Rust that is not compiled");
    }
}

#[test]
fn seconds_are_left_out() {
    assert_eq!(steady("time         0.3 s"), "time         … s");
    assert_eq!(steady("4 clusters of s"), "4 clusters of s");
}
