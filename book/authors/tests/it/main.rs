//! Reference pages are what the catalogue says, and kept verdicts are those of the results.

use std::path::{Path, PathBuf};

use mustlink_authors::{keep_verdicts, kept_verdicts, null, reference_pages, verdicts_page};
use mustlink_experiments::{Experiment, RunOptions, Shard, run};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Compares a committed file with what is made now, or takes that over.
fn is_current(path: &Path, made: &str) {
    if std::env::var_os("MUSTLINK_REFRESH").is_some_and(|v| v == "1") {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, made).expect("a file");
    }
    let there = std::fs::read_to_string(path).unwrap_or_default();
    assert!(there == made, "{} is not current (MUSTLINK_REFRESH=1 rewrites it)", path.display());
}

#[test]
fn reference_pages_are_what_the_catalogue_says() {
    let dir = root().join("book");
    for (path, page) in reference_pages(&dir).unwrap_or_else(|e| panic!("{e}")) {
        is_current(&dir.join("src").join(path), &page);
    }
}

#[test]
fn citations_without_an_entry_are_named() {
    let dir = tempfile::tempdir().expect("a directory");
    let with = |bib: &str| {
        std::fs::write(dir.path().join("references.bib"), bib).expect("a file");
        reference_pages(dir.path()).expect_err("it is refused").to_string()
    };
    let bib = read(&root().join("book/references.bib"));
    let said = with(&bib.replace("{Basu2004,", "{Basu20044,"));
    let complaint =
        "pck_means cites Basu2004, which references.bib does not have; did you mean \"Basu20044\"?";
    assert!(said.contains(complaint), "{said}");
    let said = with("@article{A2000,\n title = {");
    assert!(said.contains("references.bib:"), "{said}");
}

#[test]
fn the_page_of_the_papers_is_current_and_can_be_read() {
    let folder = root().join("experiments/papers");
    let page = verdicts_page(&folder).unwrap_or_else(|e| panic!("{e}"));
    is_current(&folder.join("README.md"), &page);
    assert!(page.contains("| **all** | "), "no totals");
    assert!(page.len() <= 30_000, "{} bytes", page.len());
    for line in page.lines() {
        assert!(line.chars().count() <= 300, "{line}");
    }
}

const CLAIMS: &str = include_str!("../../../../cli/tests/it/cli/claims.toml");

/// Runs the claims, all cells or one of two parts; the results directory and how many cells were run.
fn results(dir: &Path, shard: Option<Shard>) -> (PathBuf, usize) {
    let experiment = Experiment::parse("c.toml", CLAIMS, dir, &[]).expect("an experiment");
    let out = dir.join("out");
    let done =
        run(&experiment, &RunOptions { shard, ..RunOptions::to(&out) }).expect("results").done;
    (out, done)
}

#[test]
fn kept_verdicts_say_of_how_many_cells_they_are() {
    let dir = tempfile::tempdir().expect("a directory");
    std::fs::write(dir.path().join("claims.toml"), CLAIMS).expect("a file");
    let kept = |out: &Path| {
        String::from_utf8(kept_verdicts(out, dir.path()).expect("verdicts")).expect("text")
    };
    let (out, done) = results(dir.path(), Some(Shard { number: 1, of: 2 }));
    assert!(done < 8);
    assert!(kept(&out).contains(&format!("{done} of 8 cells are finished")), "{}", kept(&out));
    let (out, _) = results(dir.path(), None);
    assert!(!kept(&out).contains("cells are finished"), "{}", kept(&out));
}

#[test]
fn kept_verdicts_become_a_page() {
    let dir = tempfile::tempdir().expect("a directory");
    let papers = dir.path().join("papers");
    std::fs::create_dir(&papers).expect("a folder");
    let (out, _) = results(dir.path(), None);
    let save = |text: String| {
        std::fs::write(papers.join("claims.toml"), text).expect("a file");
        keep_verdicts(std::slice::from_ref(&out), &papers).expect("a page");
        read(&papers.join("README.md"))
    };
    // The reason why a claim fails is in the file, and in the table only next to that verdict.
    let why = CLAIMS.replace("\ncheck = ", "\nwhy = \"a | b\"\ncheck = ");
    let page = save(why.replace("repeats = 2", "repeats = 5"));
    assert!(page.contains("\n| claims | 4 | 3 | 0 | 0 | 1 | 0 | 0 |\n"), "{page}");
    assert!(
        page.contains("[numbers](verdicts/claims.csv). For this run: split.repeats 5 → 2.\n"),
        "{page}"
    );
    assert!(page.contains("\n| 1: the method does no harm \\| much | "), "{page}");
    let fails = page.lines().filter(|l| l.ends_with(" | not **iris** | not reproduced |"));
    assert_eq!(fails.count(), 1, "{page}");
    assert!(page.contains("**2 claims hold that could have failed.** Of the 3 that"), "{page}");
    assert!(!page.to_lowercase().contains("checks of our own"), "{page}");
    // A claim in other words waits for a run; a check of our own is not counted.
    let later = CLAIMS.replace("there are objects", "there are many objects");
    let page = save(
        later.replace("id = \"1\"", "id = \"1\"\nown = true\nshow = \"last(ari('asked')), n\""),
    );
    assert!(page.contains("\n| claims | 3 | 2 | 0 | 0 | 0 | 0 | 1 |\n"), "{page}");
    assert!(page.contains("\nWait for a run: 4.\n"), "{page}");
    assert!(page.contains("\n### Own: claims\n"), "{page}");
    assert!(page.contains(".\n\n## Checks of our own\n\nNo claims of a paper"), "{page}");
    // A page of somebody else's stays.
    std::fs::write(dir.path().join("README.md"), "# My project\n").expect("a file");
    std::fs::write(dir.path().join("claims.toml"), CLAIMS).expect("a file");
    let refused = keep_verdicts(&[out], dir.path()).expect_err("it is refused");
    assert!(refused.to_string().contains("is not a page of verdicts"), "{refused}");
    assert_eq!(read(&dir.path().join("README.md")), "# My project\n");
}

#[test]
fn claims_that_hold_without_their_methods_are_listed() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("e.toml");
    let table = |text: &str| {
        std::fs::write(&file, text).expect("a file");
        let sets = ["split.repeats=1".to_string()];
        null(std::slice::from_ref(&file), &sets, dir.path()).expect("a table")
    };
    let (text, without_reason) = table(CLAIMS);
    // Claim 2 fails if both methods are k-means, claim 4 speaks about no method.
    let expected = [
        "| claims | 1: the method does no harm \\| much | iris |  |",
        "| claims | 3: k-means is no worse than chance | iris | it is about k-means |",
    ];
    assert_eq!(text.lines().skip(2).collect::<Vec<_>>(), expected);
    assert_eq!(without_reason, 1);
    let reason = "statement = \"the method does no harm | much\"\nnull = \"so it should be\"";
    let (text, without_reason) =
        table(&CLAIMS.replace("statement = \"the method does no harm | much\"", reason));
    assert!(text.contains("| so it should be |"), "{text}");
    assert_eq!(without_reason, 0);
}
