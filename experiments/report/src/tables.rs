//! The tables of a report: scores data set by data set, and what they cost.

use std::collections::BTreeSet;

use mustlink_core::registry::suggestion;

use crate::columns::{Column, Made, columns, find, legend};
use crate::samples;
use crate::sheet::{Cell, Line, Sheet};
use mustlink_experiments::Experiment;
use mustlink_experiments::results::CellRows;
use mustlink_experiments::row::{self, RowStatus};
use mustlink_experiments::statistics::Unit;

/// A metric's tables.
pub(crate) struct OfMetric {
    pub metric: String,
    /// The number that tests over data sets compare comes first.
    pub sheets: Vec<Sheet>,
}

/// Data sets × methods for every number that stands for a curve, metric by metric.
pub(crate) fn scores(experiment: &Experiment, made: &Made<'_>) -> Vec<OfMetric> {
    let mut columns = columns(experiment, made.curves, true);
    columns.sort_by_key(|c| !c.is_compared(made.curves));
    // What has no value anywhere, as informativeness without constraints, is no table where another is.
    let known = |c: &Column| made.curves.iter().any(|m| m.metric == c.metric && c.of(m).is_some());
    let has: Vec<String> = columns.iter().filter(|c| known(c)).map(|c| c.metric.clone()).collect();
    columns.retain(|c| known(c) || !has.contains(&c.metric));
    let of = |metric: &String| {
        let mine = columns.iter().filter(|c| c.metric == *metric);
        let sheets = mine.map(|c| score_sheet(experiment, made, c)).collect();
        OfMetric { metric: metric.clone(), sheets }
    };
    experiment.measured().iter().map(of).collect()
}

fn score_sheet(experiment: &Experiment, made: &Made<'_>, column: &Column) -> Sheet {
    let mut any_bold = false;
    let line = |dataset: &str| {
        let best = column.best(made, dataset);
        let mut cells = vec![Cell::text(dataset)];
        for method in &experiment.methods {
            let curve = find(made.curves, dataset, &method.id, &column.metric);
            let bold = best.as_deref() == Some(method.id.as_str());
            any_bold |= bold;
            cells.push(Cell {
                text: column.text(curve),
                value: curve.and_then(|c| column.of(c)).map(|s| s.mean),
                bold,
                bad: curve.is_some_and(|c| column.failed(c) > 0),
            });
        }
        Line { method: None, cells }
    };
    let lines = experiment.datasets.iter().map(|d| d.id.as_str()).map(line).collect();
    let better = match column.higher {
        Some(true) => " ↑",
        Some(false) => " ↓",
        None => "",
    };
    let mine = made.curves.iter().filter(|c| c.metric == column.metric);
    let same = mine.clone().any(|c| column.of(c).is_some_and(|s| s.sd == Some(0.0)));
    let area = if column.is_area() { "; area: mean height of the curve" } else { "" };
    let mut note = format!("{}{area}.", legend(experiment, mine));
    if column.higher.is_some() && experiment.methods.len() > 1 {
        note += if any_bold {
            " Bold: the best mean where a paired t test against the next rejects at 5 %, with Holm's \
                 adjustment over all other methods."
        } else if experiment.split.repeats() * experiment.split.folds() == 1 {
            " Nothing is bold: one run of each method on a data set is no sample to test."
        } else {
            " Nothing is bold: on no data set the difference between the best and the next is \
                 significant at 5 % (paired t tests, Holm's adjustment over all other methods)."
        };
        // Other objects are not drawn: methods that draw nothing themselves are certain of one number.
        if same && !experiment.split.has_test() {
            note += " Where all repeats came out the same, ± 0.000 says nothing about other data, and no test \
                     compares two such methods.";
        }
    }
    let of_repeats = experiment.stats.unit == Unit::Repeat && experiment.split.repeats() > 1;
    if experiment.split.folds() > 1 && of_repeats {
        note += " Repeats of a cross-validation share all objects: ± says how far another division into folds would \
                 lie, not other data; the tests do not go by it.";
    }
    note += &few_repeats(experiment);
    Sheet {
        caption: format!("{}{better}", column.head),
        lead: "Scores: ",
        note,
        head: heads(experiment),
        lines,
        words: Vec::new(),
    }
}

/// The records of the experiment that no row has, each with what is said of it. Which there are shows with the
/// first rows alone: clusterers report what they like.
pub(crate) fn unknown_records(
    experiment: &Experiment,
    cells: &[CellRows],
) -> Vec<(String, String)> {
    let rows = || cells.iter().flat_map(|c| &c.rows).filter(|row| row.status == RowStatus::Ok);
    if rows().next().is_none() {
        return Vec::new();
    }
    let mut names: BTreeSet<&str> = row::counted().collect();
    names.extend(rows().flat_map(|row| row.diagnostics.keys().map(String::as_str)));
    let unknown = experiment.stats.records.iter().filter(|r| !names.contains(r.as_str()));
    let said = |record: &String| {
        let near = suggestion(record, names.iter().copied());
        (record.clone(), format!(" No row has a number \"{record}\"{near}"))
    };
    unknown.map(said).collect()
}

/// What stands under numbers of a study that goes on: tables are copied from the page that says so.
pub(crate) fn unfinished(finished: usize, planned: usize) -> String {
    format!(" The study is not finished: {finished} of {planned} cells are in these numbers.")
}

/// A word of caution where intervals rest on few repeats.
pub(crate) fn few_repeats(experiment: &Experiment) -> String {
    match experiment.split.repeats() {
        1 => " One repeat: no interval shows how far another would lie.".into(),
        n @ 2..5 => format!(" Only {n} repeats: intervals are wide, and tests see little."),
        _ => String::new(),
    }
}

fn heads(experiment: &Experiment) -> Vec<(String, Option<usize>)> {
    let methods = experiment.methods.iter().enumerate().map(|(at, m)| (m.id.clone(), Some(at)));
    std::iter::once(("data set".to_string(), None)).chain(methods).collect()
}

/// Data sets × methods for what the last point takes: time, questions, constraints broken.
pub(crate) fn costs(experiment: &Experiment, made: &Made<'_>) -> Vec<Sheet> {
    let columns = [
        (
            "time_total_s",
            "seconds",
            "Mean seconds of a cell at its last point, selection included.",
        ),
        (
            "queries",
            "queries",
            "Mean number of questions at the last point, those without an answer included.",
        ),
        (
            "dont_know",
            "questions without an answer",
            "Mean number of those among them at the last point.",
        ),
        (
            "answers_contradicting",
            "contradicting answers",
            "Mean number of answers at the last point that contradict what was known when they came; \
             on_conflict of the method says what becomes of them.",
        ),
        (
            "violations",
            "constraints violated",
            "Mean number of the constraints handed to the clusterer that its result breaks, at the last point.",
        ),
    ];
    let sheets = columns.into_iter().filter_map(|(column, caption, note)| {
        let mean = |dataset: &str, method: &str| {
            let curve = samples::curve(made.results, dataset, column, method)?;
            samples::mean(&curve.last()?.1)
        };
        let sets = || experiment.datasets.iter().map(|d| d.id.as_str());
        let of = |set| experiment.methods.iter().filter_map(move |m| mean(set, &m.id));
        let all: Vec<f64> = sets().flat_map(of).collect();
        let decimals = decimals(&all);
        let line = |set: &str| {
            let number =
                |method: &str| Cell::number(mean(set, method), |v| format!("{v:.decimals$}"));
            let numbers = experiment.methods.iter().map(|m| number(&m.id));
            Line { method: None, cells: std::iter::once(Cell::text(set)).chain(numbers).collect() }
        };
        let lines = sets().map(line).collect();
        let (caption, mut note) = (caption.to_string(), note.to_string());
        let mut at_last = made.curves.iter().filter_map(|curve| curve.points.last());
        if at_last.any(|point| point.failed > 0) {
            note += " Without the cells that failed there.";
        }
        let any = all.iter().any(|m| *m > 0.0);
        any.then(|| Sheet {
            caption,
            lead: "At the last point: ",
            note,
            head: heads(experiment),
            lines,
            words: Vec::new(),
        })
    });
    sheets.collect()
}

/// Decimals for all numbers of a table, so that they stand below one another: two digits of the smallest
/// that is not 0, and at most four.
fn decimals(all: &[f64]) -> usize {
    if all.iter().all(|v| v.fract() == 0.0) {
        return 0;
    }
    let least = all.iter().map(|v| v.abs()).filter(|v| *v > 0.0).fold(f64::INFINITY, f64::min);
    (1.0 - least.log10().floor()).clamp(1.0, 4.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_one_number_of_decimals() {
        assert_eq!(decimals(&[5.40, 0.5, 10.1, 8.5e-4]), 4);
        assert_eq!(decimals(&[5.40, 0.0, 10.1, 120.0]), 1);
        assert_eq!(decimals(&[0.25, 3.0]), 2);
        assert_eq!(decimals(&[20.0, 19.5]), 1);
        assert_eq!(decimals(&[20.0, 0.0]), 0);
        assert_eq!(decimals(&[]), 0);
    }
}
