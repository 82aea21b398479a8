//! The figures of the manual are those that the commands beside them draw.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use super::{mustlink, read, refreshing, root, written};

#[path = "../../../examples/theory_figures.rs"]
#[expect(dead_code, reason = "the example has a main")]
mod theory_figures;

/// The figure of the README and the quick start.
const QUICK_START: &str = "quick-start.svg";
/// What draws it.
const QUICK_START_FIGURE: &str = "figures/wdbc-ari.svg";

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
                name == QUICK_START || theory_figures::FIGURES.contains(&name),
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
        return; // The experiment takes half a minute without optimisation.
    }
    let dir = tempfile::tempdir().expect("a directory");
    let mut command = Command::new(mustlink());
    command.args(["run", "experiments/quickstart.toml", "--quiet", "--out"]).arg(dir.path());
    let done = command.current_dir(root()).output().expect("it runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    check(QUICK_START, &read(&dir.path().join(QUICK_START_FIGURE)));
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
