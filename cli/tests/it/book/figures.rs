//! The figures of the manual are those that the commands next to them draw.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use super::{mustlink, read, refreshing, root, written};

#[path = "../../../../book/authors/src/theory_figures.rs"]
mod theory_figures;

/// The figure of the study in "Your first clustering".
const QUICK_START: &str = "quick-start.svg";
/// The study that draws it.
const QUICK_START_FIGURE: &str = "figures/wdbc-200-ari.svg";
/// The figure of README, which a script draws from the rows of the benchmark.
const FIRST_PAGE: &str = "first-page.svg";
/// The page that shows the figure of the quick start.
const QUICK_START_PAGE: &str = "book/src/quick-start.md";

/// The SVG files of a folder, sorted by name.
pub fn in_folder(folder: &Path) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path());
    let svg = entries.filter(|p| p.extension().is_some_and(|e| e == "svg"));
    let name = |p: &Path| p.file_name().expect("a name").to_string_lossy().into_owned();
    let mut found: Vec<_> = svg.map(|p| (name(&p), read(&p))).collect();
    found.sort();
    found
}

/// Compares what was drawn with the figure of the manual, or takes it over.
fn check(name: &str, drawn: &str) {
    let path = root().join("book/src/figures").join(name);
    if refreshing() {
        std::fs::write(&path, drawn).expect("a figure");
    }
    assert!(path.exists(), "book/src/figures/{name} is missing (MUSTLINK_REFRESH=1 draws it)");
    assert!(read(&path) == drawn, "{name} looks different now (MUSTLINK_REFRESH=1 draws it)");
}

/// Checks each figure that `page` shows against those that its commands drew.
pub fn check_shown(page: &str, place: &str, drawn: &[(String, String)]) {
    for name in page.split("figures/").skip(1).filter_map(|rest| rest.split_once(")")).map(|r| r.0)
    {
        if !name.ends_with(".svg") || name.contains(char::is_whitespace) {
            continue;
        }
        match drawn.iter().find(|(n, _)| n == name) {
            Some((_, svg)) => check(name, svg),
            None => assert!(
                [QUICK_START, FIRST_PAGE].contains(&name)
                    || theory_figures::FIGURES.contains(&name),
                "{place} shows {name}, which none of its commands draws"
            ),
        }
    }
}

#[test]
fn schematic_figures_are_current() {
    for name in theory_figures::FIGURES {
        check(name, &theory_figures::draw(name));
    }
}

#[test]
fn the_figure_of_the_quick_start_is_current() {
    if !refreshing() && std::env::var_os("MUSTLINK_SLOW_TESTS").is_none_or(|v| v != "1") {
        return; // The study takes about two minutes of processor time.
    }
    let dir = tempfile::tempdir().expect("a directory");
    let mut command = Command::new(mustlink());
    command.args(["run", "experiments/quickstart.toml", "--quiet", "--out"]).arg(dir.path());
    let done = command.current_dir(root()).output().expect("it runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    check(QUICK_START, &read(&dir.path().join(QUICK_START_FIGURE)));
    let mut verdicts = csv::Reader::from_path(dir.path().join("verdicts.csv")).expect("verdicts");
    let column = verdicts.headers().expect("a header").iter().position(|h| h == "verdict");
    let column = column.expect("a column of verdicts");
    let all: Vec<_> = verdicts.records().map(|row| row.expect("a row")).collect();
    assert!(!all.is_empty());
    for row in all {
        assert_eq!(row.get(column), Some("reproduced"), "{row:?}");
    }
}

#[test]
fn the_figure_of_the_first_page_is_current() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join(FIRST_PAGE);
    let mut command = Command::new("python3");
    command.arg(root().join("experiments/benchmark/benchmark.py")).arg("--figure").arg(&file);
    // Without Python there is nothing to compare.
    let Ok(done) = command.output() else { return };
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    check(FIRST_PAGE, &read(&file));
}

#[test]
fn the_caption_of_the_quick_start_is_its_claims() {
    let study: toml::Table =
        read(&root().join("experiments/quickstart.toml")).parse().expect("TOML");
    let claims = study["criterion"].as_array().expect("claims");
    let caption: Vec<&str> = claims.iter().filter_map(|c| c["statement"].as_str()).collect();
    let page = read(&root().join(QUICK_START_PAGE));
    let words = |text: &str| text.replace('`', "").split_whitespace().collect::<Vec<_>>().join(" ");
    let page = words(&page);
    for sentence in caption {
        assert!(page.contains(&words(sentence)), "{QUICK_START_PAGE} lacks {sentence:?}");
    }
}

#[test]
fn every_figure_is_shown_and_small() {
    let pages: Vec<String> = written().iter().map(|p| read(p)).collect();
    let all = in_folder(&root().join("book/src/figures"));
    let names: BTreeSet<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
    assert!(names.contains(QUICK_START));
    for (name, svg) in &all {
        let shown = pages.iter().any(|p| p.contains(&format!("figures/{name})")));
        assert!(shown, "no page shows {name}");
        assert!(svg.len() < 200_000, "{name} has {} bytes", svg.len());
    }
}
