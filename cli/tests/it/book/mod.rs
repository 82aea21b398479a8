//! The manual: its pages are current, its snippets run, its links lead somewhere; the schemas and
//! the completions it speaks of do what it says.
//!
//! `MUSTLINK_REFRESH=1 cargo test -p mustlink-cli --test it book` rewrites what the program prints.

mod atlas;
mod blocks;
mod chances;
mod completions;
mod figures;
mod pages;
mod schemas;
mod snippets;
mod studies;
mod types;
mod with_and_without;

use std::path::{Path, PathBuf};

/// The root of the workspace.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the command line has a folder")
}

/// True if outdated files are to be rewritten.
fn refreshing() -> bool {
    std::env::var_os("MUSTLINK_REFRESH").is_some_and(|v| v == "1")
}

fn mustlink() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_mustlink"))
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The folders of both books: the manual and the book for developers.
fn books() -> [PathBuf; 2] {
    ["book/src", "book/developers/src"].map(|folder| root().join(folder))
}

/// The pages of both books, sorted.
fn manual() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open: Vec<PathBuf> = books().into();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The pages written by hand, and the README.
fn written() -> Vec<PathBuf> {
    let mut pages = manual();
    pages.retain(|p| !p.ancestors().any(|f| f.ends_with("src/reference")));
    pages.push(root().join("README.md"));
    pages
}
