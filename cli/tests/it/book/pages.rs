//! The reference pages are what the catalogue says, and every link leads somewhere.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::blocks::blocks;
use super::{manual, mustlink, read, refreshing, root};

#[test]
fn reference_pages_are_current() {
    let mut command = Command::new(mustlink());
    command.args(["book", "--dir", "book"]).current_dir(root());
    if !refreshing() {
        command.arg("--check");
    }
    let done = command.output().expect("it runs");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}(MUSTLINK_REFRESH=1 rewrites them)");
}

#[test]
fn a_stale_page_and_an_unknown_citation_fail() {
    let dir = tempfile::tempdir().expect("a directory");
    let run = |more: &[&str]| {
        let done = Command::new(mustlink())
            .args(["book", "--dir", "."])
            .args(more)
            .current_dir(dir.path())
            .output()
            .expect("it runs");
        (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    let bib = read(&root().join("book/references.bib"));
    std::fs::write(dir.path().join("references.bib"), &bib).expect("a file");
    let (status, said) = run(&["--check"]);
    assert_eq!(status, Some(2));
    assert!(said.starts_with("error: stale: ./src/reference/"), "{said}");
    assert_eq!(run(&[]).0, Some(0));
    assert_eq!(run(&["--check"]), (Some(0), String::new()));
    let page = dir.path().join("src/reference/metrics.md");
    std::fs::write(&page, read(&page) + "by hand\n").expect("a file");
    let expected = "error: stale: ./src/reference/metrics.md; run \"mustlink book --dir .\"\n";
    assert_eq!(run(&["--check"]), (Some(2), expected.into()));
    std::fs::write(dir.path().join("references.bib"), bib.replace("{Basu2004,", "{Basu20044,"))
        .expect("a file");
    let (status, said) = run(&[]);
    assert_eq!(status, Some(2));
    let complaint = "pck_means cites Basu2004, which references.bib does not have; did you mean \
                     \"Basu20044\"?";
    assert!(said.contains(complaint), "{said}");
    std::fs::write(dir.path().join("references.bib"), "@article{A2000,\n title = {")
        .expect("a file");
    let (status, said) = run(&[]);
    assert_eq!(status, Some(3));
    assert!(said.starts_with("error: ./references.bib:"), "{said}");
}

/// The page without its fenced blocks.
fn prose(page: &str) -> String {
    let hidden: BTreeSet<usize> = blocks(page).iter().flat_map(|b| b.first..b.end).collect();
    let kept = page.lines().enumerate().filter(|(n, _)| !hidden.contains(n));
    kept.map(|(_, l)| l.to_string() + "\n").collect()
}

/// Where the links of a page lead: file and heading.
fn links(page: &str) -> Vec<(String, Option<String>)> {
    let prose = prose(page);
    prose
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .filter(|to| !to.starts_with("http"))
        .map(|to| match to.split_once('#') {
            Some((file, heading)) => (file.to_string(), Some(heading.to_string())),
            None => (to.to_string(), None),
        })
        .collect()
}

/// The name of a heading in addresses.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

#[test]
fn every_link_leads_somewhere() {
    let mut pages = manual();
    pages.push(root().join("README.md"));
    pages.push(root().join("CONTRIBUTING.md"));
    for path in pages {
        let folder = path.parent().expect("a folder");
        for (file, heading) in links(&read(&path)) {
            let to = if file.is_empty() { path.clone() } else { folder.join(&file) };
            assert!(to.exists(), "{}: no {file}", path.display());
            // What mdBook renders holds nothing but its own folder.
            let book = root().join("book/src").canonicalize().expect("the manual");
            let leaves = path.starts_with(root().join("book"))
                && !to.canonicalize().expect("it").starts_with(&book);
            assert!(!leaves, "{}: {file} is not within book/src", path.display());
            let Some(heading) = heading else { continue };
            let page = prose(&read(&to));
            let mut headings = page.lines().filter(|l| l.starts_with('#'));
            let found = headings.any(|l| anchor(l.trim_start_matches('#').trim()) == heading);
            assert!(found, "{}: no heading {heading} in {file}", path.display());
        }
    }
}

#[test]
fn the_summary_names_every_page_once() {
    let folder = root().join("book/src");
    let summary = read(&folder.join("SUMMARY.md"));
    let named: Vec<PathBuf> = links(&summary).iter().map(|(f, _)| folder.join(f)).collect();
    let set: BTreeSet<&Path> = named.iter().map(PathBuf::as_path).collect();
    assert_eq!(set.len(), named.len(), "a page is named twice");
    for path in manual().iter().filter(|p| !p.ends_with("SUMMARY.md")) {
        assert!(set.contains(path.as_path()), "{} is not in SUMMARY.md", path.display());
    }
}
