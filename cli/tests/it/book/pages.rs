//! Every link leads somewhere, and pages are short.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::blocks::blocks;
use super::{books, manual, read, root};

/// The page without its fenced blocks.
fn prose(page: &str) -> String {
    let hidden: BTreeSet<usize> = blocks(page).iter().flat_map(|b| b.first..b.end).collect();
    let kept = page.lines().enumerate().filter(|(n, _)| !hidden.contains(n));
    kept.map(|(_, l)| l.to_string() + "\n").collect()
}

/// The targets of the links of a page: file and heading.
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
            // mdBook renders the files of the two books and no others.
            let rendered = books().map(|book| book.canonicalize().expect("a book"));
            let target = to.canonicalize().expect("a file");
            let leaves = path.starts_with(root().join("book"))
                && !rendered.iter().any(|book| target.starts_with(book));
            assert!(!leaves, "{}: {file} is in neither book", path.display());
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
    for folder in books() {
        let summary = read(&folder.join("SUMMARY.md"));
        let named: Vec<PathBuf> = links(&summary).iter().map(|(f, _)| folder.join(f)).collect();
        let set: BTreeSet<&Path> = named.iter().map(PathBuf::as_path).collect();
        assert_eq!(set.len(), named.len(), "a page is named twice");
        let pages = manual().into_iter().filter(|p| p.starts_with(&folder));
        for path in pages.filter(|p| !p.ends_with("SUMMARY.md")) {
            assert!(set.contains(path.as_path()), "{} is not in SUMMARY.md", path.display());
        }
    }
}

/// The words of a page that contain a letter, outside blocks.
fn words(page: &str) -> usize {
    let mut in_block = false;
    let mut count = 0;
    for line in page.lines() {
        let is_fence = line.trim_start().starts_with("```");
        in_block ^= is_fence;
        if !in_block && !is_fence {
            count += line.split_whitespace().filter(|w| w.chars().any(char::is_alphabetic)).count();
        }
    }
    count
}

#[test]
fn the_first_page_and_the_pages_for_users_are_short() {
    let first_page = read(&root().join("README.md")).split_whitespace().count();
    assert!(first_page <= 500, "README.md has {first_page} words; at most 500");
    let [users, _] = books();
    let mut pages = manual();
    pages.retain(|p| p.starts_with(&users) && !p.starts_with(users.join("reference")));
    pages.retain(|p| !p.ends_with("SUMMARY.md"));
    let all: usize = pages.iter().map(|p| words(&read(p))).sum();
    assert!(all <= 30_000, "the pages for users have {all} words; at most 30 000");
}
