//! The table of what choosing by the answers is worth follows from the rows of the studies.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use super::{read, refreshing, root};

/// Methods that choose among others.
const CHOOSING: [&str; 4] = ["auto", "best-score-alone", "cvcp-folds", "cobs"];

/// ARI of each method on each set: the mean of its cells, 0 where one gave no result.
pub(crate) type Means = BTreeMap<String, BTreeMap<String, f64>>;

/// ARI of each method on each set in each draw; nothing where it gave no result.
pub(crate) type Draws = BTreeMap<String, Sets>;
pub(crate) type Sets = BTreeMap<String, InDraws>;
pub(crate) type InDraws = BTreeMap<String, Option<f64>>;

pub(crate) fn draws(file: &str, questions: &str) -> Draws {
    let mut all = Draws::new();
    let text = read(&root().join("experiments/atlas").join(file));
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let [method, set, draw, asked, ari] = cells[..] else { panic!("{file}: {line}") };
        if asked == questions {
            let of = all.entry(method.into()).or_default().entry(set.into()).or_default();
            of.insert(draw.into(), ari.parse().ok());
        }
    }
    all
}

/// Their mean but for one draw, 0 without any.
fn mean_of(draws: &InDraws, skip: Option<&str>) -> f64 {
    let kept = draws.iter().filter(|(draw, _)| Some(&***draw) != skip);
    let found: Vec<f64> = kept.map(|(_, ari)| ari.unwrap_or(0.0)).collect();
    found.iter().sum::<f64>() / found.len().max(1) as f64
}

pub(crate) fn means(file: &str, questions: &str) -> Means {
    let of =
        |sets: Sets| sets.into_iter().map(|(set, draws)| (set, mean_of(&draws, None))).collect();
    draws(file, questions).into_iter().map(|(method, sets)| (method, of(sets))).collect()
}

/// The ARI in each draw of whichever method is best on the other draws of the set, as a mean over all.
fn best_elsewhere(draws: &Draws) -> f64 {
    let fixed = draws.iter().filter(|(method, _)| !CHOOSING.contains(&&***method));
    let fixed: Vec<&Sets> = fixed.map(|(_, of)| of).collect();
    let on_set = |set: &String| {
        let of: Vec<&InDraws> = fixed.iter().map(|sets| &sets[set]).collect();
        of[0].keys().map(|draw| chosen_elsewhere(&of, draw)).sum::<f64>() / of[0].len() as f64
    };
    fixed[0].keys().map(on_set).sum::<f64>() / fixed[0].len() as f64
}

/// The ARI in one draw of the method that is best on the others; of equally good ones any might have
/// been chosen, and their mean counts.
fn chosen_elsewhere(of: &[&InDraws], draw: &str) -> f64 {
    let elsewhere: Vec<f64> = of.iter().map(|draws| mean_of(draws, Some(draw))).collect();
    let best = elsewhere.iter().copied().fold(f64::MIN, f64::max);
    let chosen = of.iter().zip(&elsewhere).filter(|(_, ari)| **ari >= best - 1e-12);
    let here: Vec<f64> = chosen.map(|(draws, _)| draws[draw].unwrap_or(0.0)).collect();
    here.iter().sum::<f64>() / here.len() as f64
}

pub(crate) fn mean(of: &BTreeMap<String, f64>, skip: Option<&str>) -> f64 {
    let all: Vec<f64> = of.iter().filter(|(s, _)| Some(&***s) != skip).map(|(_, v)| *v).collect();
    all.iter().sum::<f64>() / all.len() as f64
}

/// The value of a line of the table for a study; absent: the study has no such method.
fn value(line: &str, all: &Means) -> Option<f64> {
    let fixed = || all.iter().filter(|(m, _)| !CHOOSING.contains(&&***m)).map(|(_, of)| of);
    let sets: BTreeSet<&String> = all.values().flat_map(BTreeMap::keys).collect();
    let over_sets =
        |f: &dyn Fn(&str) -> f64| sets.iter().map(|s| f(s)).sum::<f64>() / sets.len() as f64;
    let best = |f: &dyn Fn(&BTreeMap<String, f64>) -> f64| {
        fixed().max_by(|a, b| f(a).total_cmp(&f(b))).expect("a method")
    };
    Some(match line {
        "each" => over_sets(&|s| fixed().map(|of| of[s]).fold(f64::MIN, f64::max)),
        "all" => mean(best(&|of| mean(of, None)), None),
        "others" => over_sets(&|s| best(&|of| mean(of, Some(s)))[s]),
        method => mean(all.get(method)?, None),
    })
}

#[test]
fn the_table_of_choosing_is_current() {
    let studies = [
        ("answers.csv", "20"),
        ("answers.csv", "50"),
        ("answers.csv", "100"),
        ("wrong-answers.csv", "100"),
    ];
    let studies = studies.map(|(file, q)| (means(file, q), best_elsewhere(&draws(file, q))));
    let lines = [
        ("best of the 38 on each set, chosen with hindsight", "each"),
        ("the same, but chosen on the other draws", "elsewhere"),
        ("**`auto`**", "auto"),
        (
            "only the candidate with the best score, not the consensus (`ties = 0.0`)",
            "best-score-alone",
        ),
        (
            "the same, scored by folds of objects instead of pairs (`hold_out = \"objects\"`), as in CVCP",
            "cvcp-folds",
        ),
        ("the best of the 38 for all sets, chosen with hindsight", "all"),
        ("on each set, the one of the 38 that is best on the eleven other sets", "others"),
        ("among candidates that do not use the answers, the one that satisfies most pairs", "cobs"),
        ("`z_score` and `pck_means`", "z-pck"),
        ("`pck_means` without a transform", "pck"),
        ("`z_score` and `kmeans`", "z-kmeans"),
    ];
    let mut table =
        String::from("| | 20 | 50 | 100 | 100, a tenth wrong |\n|---|---|---|---|---|\n");
    for (text, line) in lines {
        let cell = |(all, elsewhere): &(Means, f64)| {
            let found = if line == "elsewhere" { Some(*elsewhere) } else { value(line, all) };
            let shown = found.map(|v| format!("{v:.3}").replacen("0.", ".", 1));
            let bold = if line == "auto" { "**" } else { "" };
            shown.map_or(String::new(), |v| format!("{bold}{v}{bold}"))
        };
        table += &format!("| {text} | {} |\n", studies.each_ref().map(cell).join(" | ").trim_end());
    }
    hold("| | 20 | 50 | 100 |", &table);
}

#[test]
fn the_table_of_selectors_is_current() {
    let lines = [
        ("`random_pairs`", "random"),
        ("`random_pairs`, `skip_entailed = true`", "entailed"),
        ("`explore_consolidate`", "explore"),
        ("`min_max_selection`", "min-max"),
        ("`npu`", "npu"),
        ("`boundary`", "boundary"),
        ("`committee`", "committee"),
        ("`density_weighted`", "density"),
        ("`object_margin`", "object-margin"),
        ("`pair_disagreement`", "pair-disagreement"),
        ("`pair_entropy`", "pair-entropy"),
        ("`imputed_pairs`", "imputed"),
        ("`co_association_band`", "band"),
        ("`candidate_disagreement`", "disagreement"),
    ];
    let studies = [
        ("selectors.csv", "z-itml-pck"),
        ("selectors.csv", "z-cosc"),
        ("auto-selectors.csv", "auto"),
    ];
    let columns: Vec<(&str, Means)> = studies
        .iter()
        .flat_map(|(file, method)| ["20", "50", "100"].map(|q| (*method, means(file, q))))
        .collect();
    let mut table = String::from(
        "| who asks | `itml`, `pck_means`: 20 | 50 | 100 | `cosc`: 20 | 50 | 100 | `auto`: 20 | 50 | 100 |\n\
         |---|---|---|---|---|---|---|---|---|---|\n",
    );
    for (text, selector) in lines {
        let cell = |(method, all): &(&str, Means)| {
            let found = all.get(&format!("{method}/{selector}"));
            found
                .map_or(String::new(), |of| format!("{:.3}", mean(of, None)).replacen("0.", ".", 1))
        };
        table +=
            &format!("| {text} | {} |\n", columns.iter().map(cell).collect::<Vec<_>>().join(" | "));
    }
    hold("| who asks |", &table);
}

/// The pages with tables of the atlas.
const PAGES: [&str; 2] = ["book/src/how-good.md", "book/developers/src/benchmarks.md"];

/// Checks the table that begins with `begin` on the one page that has it, or rewrites it when pages are refreshed.
pub(crate) fn hold(begin: &str, table: &str) {
    // One test at a time reads and writes the pages.
    static PAGE: Mutex<()> = Mutex::new(());
    let _alone = PAGE.lock().unwrap_or_else(PoisonError::into_inner);
    let pages = PAGES.map(|page| root().join(page));
    let found: Vec<_> = pages.iter().filter(|path| read(path).contains(begin)).collect();
    let [path] = found[..] else { panic!("{begin}: on {} pages", found.len()) };
    let page = read(path);
    let start = page.find(begin).expect("the table");
    let end = start + page[start..].find("\n\n").expect("what follows it") + 1;
    if refreshing() {
        std::fs::write(path, format!("{}{table}{}", &page[..start], &page[end..]))
            .expect("written");
    } else {
        assert_eq!(&page[start..end], table, "refresh {}", path.display());
    }
}
