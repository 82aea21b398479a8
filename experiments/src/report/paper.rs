//! What can a paper take over? A table per number, in LaTeX and in Markdown, and a paragraph that says how
//! the numbers came about.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::columns::{Column, columns, counts, find, legend};
use super::curves::CurveSummary;
use super::significance::Significance;
use crate::config::{Experiment, Scope};
use crate::split::Split;
use crate::statistics::Unit;

/// One table per number: a line for each data set, a column for each method.
pub(super) fn markdown(experiment: &Experiment, curves: &[CurveSummary]) -> String {
    let mut out = String::new();
    for column in columns(experiment, curves, false) {
        let ids = experiment.methods.iter().map(|m| m.id.replace('|', "\\|"));
        let _ = writeln!(out, "**{}{}**\n", column.head, better(&column));
        let _ = writeln!(out, "| data set | {} |", ids.collect::<Vec<_>>().join(" | "));
        let _ = writeln!(out, "|---|{}", "---|".repeat(experiment.methods.len()));
        for_each_set(experiment, curves, &column, |set, cells| {
            let cells = cells.iter().map(|(text, best)| match best {
                true => format!("**{text}**"),
                false => text.clone(),
            });
            let _ = writeln!(
                out,
                "| {} | {} |",
                set.replace('|', "\\|"),
                cells.collect::<Vec<_>>().join(" | ")
            );
        });
        let _ = writeln!(out, "\n{}.\n", legend(experiment, curves));
    }
    out
}

/// The same with the rules of the package booktabs.
pub(super) fn latex(experiment: &Experiment, curves: &[CurveSummary]) -> String {
    let mut out = String::from("% \\usepackage{booktabs}\n");
    for column in columns(experiment, curves, false) {
        let _ = writeln!(
            out,
            "\n\\begin{{table}}\n\\centering\n\\caption{{{}{}; {}.}}\n\\begin{{tabular}}{{l{}}}\n\\toprule",
            tex(&column.head),
            tex(better(&column)),
            tex(&legend(experiment, curves)),
            "r".repeat(experiment.methods.len())
        );
        for method in &experiment.methods {
            let _ = write!(out, " & {}", tex(&method.id));
        }
        out.push_str(" \\\\\n\\midrule\n");
        for_each_set(experiment, curves, &column, |set, cells| {
            let _ = write!(out, "{}", tex(set));
            for (text, best) in cells {
                let text = tex(text);
                let _ = match best {
                    true => write!(out, " & \\textbf{{{text}}}"),
                    false => write!(out, " & {text}"),
                };
            }
            out.push_str(" \\\\\n");
        });
        out.push_str("\\bottomrule\n\\end{tabular}\n\\end{table}\n");
    }
    out
}

/// A data set's numbers, each with whether it is the best.
fn for_each_set(
    experiment: &Experiment,
    curves: &[CurveSummary],
    column: &Column,
    mut each: impl FnMut(&str, &[(String, bool)]),
) {
    for set in &experiment.datasets {
        let best = column.best(curves, &set.id);
        let cell = |method: &str| {
            let curve = find(curves, &set.id, method, &column.metric);
            let mean = curve.and_then(|c| column.of(c)).map(|s| s.mean);
            let whole = curve.is_some_and(|c| counts(c).1 == 0);
            (column.text(curve), best.is_some() && mean == best && whole)
        };
        let cells: Vec<_> = experiment.methods.iter().map(|m| cell(&m.id)).collect();
        each(&set.id, &cells);
    }
}

fn better(column: &Column) -> &'static str {
    match column.higher {
        Some(true) => " (more is better)",
        Some(false) => " (less is better)",
        None => "",
    }
}

/// Text for LaTeX.
fn tex(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\textbackslash{}"),
            '_' | '%' | '&' | '#' | '{' | '}' | '$' => {
                out.push('\\');
                out.push(c);
            }
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '±' => out.push_str("$\\pm$"),
            '–' => out.push_str("--"),
            c => out.push(c),
        }
    }
    out
}

/// How the numbers came about, in sentences that a paper can take over.
pub(super) fn methods_paragraph(experiment: &Experiment, significance: &[Significance]) -> String {
    let count = |n: usize, one: &str, many: &str| match n {
        1 => format!("one {one}"),
        n => format!("{n} {many}"),
    };
    let mut text = format!(
        "{} ran on {}",
        capital(&count(experiment.methods.len(), "method", "methods")),
        count(experiment.datasets.len(), "data set", "data sets")
    );
    let repeats = |n: usize| match n {
        1 => "once".to_string(),
        n => format!("{n} times with other random numbers"),
    };
    let _ = match &experiment.split {
        Split::All { repeats: n } => {
            write!(text, ", {}; every object could be asked about and was scored.", repeats(*n))
        }
        Split::Holdout { test_fraction, repeats: n, stratified } => write!(
            text,
            " under {} random {}splits with {:.0} % of the objects held back.",
            n,
            if *stratified { "stratified " } else { "" },
            100.0 * test_fraction
        ),
        Split::Kfold { folds, repeats: n, stratified } => write!(
            text,
            " under {}{folds}-fold cross-validation, repeated {}.",
            if *stratified { "stratified " } else { "" },
            repeats(*n)
        ),
    };
    if !matches!(experiment.split, Split::All { .. }) {
        let scored = match experiment.scoring.scope {
            Scope::Test => "held-out objects alone were scored",
            Scope::Train => "the objects that could be asked about were scored",
            Scope::All => "all objects were scored",
        };
        let _ = write!(
            text,
            " Methods saw all objects; questions and constraints never touched those held back; {scored}."
        );
    }
    let asking: Vec<_> =
        experiment.methods.iter().filter(|m| m.config["selector"].is_object()).collect();
    if !asking.is_empty() {
        let oracles: BTreeSet<&str> =
            asking.iter().filter_map(|m| m.config["oracle"]["type"].as_str()).collect();
        let oracles: Vec<&str> = oracles.into_iter().collect();
        let _ = match experiment.points.numbers() {
            Ok(points) => write!(
                text,
                " Up to {} questions about pairs were answered (oracle: {}), and each clustering was made \
                 from scratch at {}.",
                points.last().copied().unwrap_or(0),
                oracles.join(", "),
                count(points.len(), "number of questions", "numbers of questions")
            ),
            Err(first) => write!(
                text,
                " Each method got as many answers about pairs as {first} asked for in the same fold (oracle: \
                 {}).",
                oracles.join(", ")
            ),
        };
    }
    let unit = match experiment.stats.unit {
        Unit::Repeat => "repeats",
        Unit::Fold => "folds",
    };
    let _ = write!(
        text,
        " Scores ({}) are means with {} % t-intervals over {unit}.",
        experiment.columns().join(", "),
        100.0 * experiment.stats.level
    );
    if let Some(s) = significance.first() {
        let _ = write!(
            text,
            " Over {} data sets, methods were compared by mean ranks (Friedman and aligned ranks, Holm's \
             adjustment against the best) and by Wilcoxon's signed-rank test.",
            s.sets.len()
        );
    }
    let _ = write!(
        text,
        " All with mustlink {}, seed {}.",
        env!("CARGO_PKG_VERSION"),
        experiment.head.seed
    );
    text
}

fn capital(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map_or(String::new(), |c| c.to_uppercase().chain(rest).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_latex_reads_as_a_command_is_text() {
        assert_eq!(
            tex("pck_means[w=0.5] ± 50 % & more"),
            "pck\\_means[w=0.5] $\\pm$ 50 \\% \\& more"
        );
        assert_eq!(
            tex("a\\b~c^d{e}"),
            "a\\textbackslash{}b\\textasciitilde{}c\\textasciicircum{}d\\{e\\}"
        );
    }

    #[test]
    fn sentences_begin_with_a_capital() {
        assert_eq!(capital("one method"), "One method");
        assert_eq!(capital(""), "");
    }
}
