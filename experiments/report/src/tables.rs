//! The tables of a report: scores data set by data set, and what they cost.

use std::collections::BTreeSet;

use mustlink_core::registry::suggestion;

use crate::columns::{Column, Made, columns, find, legend};
use crate::samples;
use crate::sheet::{Cell, Line, Sheet, capital};
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
    // A column without any value, such as informativeness without constraints, gets no table if another column
    // of its metric has values.
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
    let mut how = vec![format!("{}.", capital(&legend(experiment, mine)))];
    if column.is_area() {
        how.push("Area: the mean height of the learning curve.".into());
    }
    let mut note = String::new();
    if column.higher.is_some() && experiment.methods.len() > 1 {
        let tested = experiment.split.repeats() * experiment.split.folds() > 1;
        if tested {
            how.push(
                "Bold: the best mean, if it is significantly better than the next best (paired t test at 5 %, with \
                 Holm's adjustment over all other methods)."
                    .into(),
            );
        }
        note += match (any_bold, tested) {
            (true, _) => "",
            (_, true) => {
                "Nothing is bold: on no data set is the best significantly better than the next."
            }
            _ => "Nothing is bold: tests need more than one run of each method on a data set.",
        };
        // Other objects are not drawn: methods that draw nothing themselves are certain of one number.
        if same && !experiment.split.has_test() {
            how.push(
                "If all repeats have the same score, ± 0.000 shows nothing about other data, and two such methods are \
                 not tested against each other."
                    .into(),
            );
        }
    }
    let of_repeats = experiment.stats.unit == Unit::Repeat && experiment.split.repeats() > 1;
    if experiment.split.folds() > 1 && of_repeats {
        how.push(
            "All repeats of a cross-validation use the same objects. ± shows how much the score changes with the \
             division into folds, not with other data; the tests do not use it."
                .into(),
        );
    }
    how.extend(few_repeats(experiment));
    Sheet {
        caption: format!("{}{better}", column.head),
        lead: "Scores: ",
        how,
        note,
        head: heads(experiment),
        lines,
        words: Vec::new(),
    }
}

/// The records of the experiment that no row has, each with a note. Missing records can be found only with the
/// first rows, because clusterers report any diagnostics.
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

/// Text under numbers of an unfinished study, because tables are copied from the page that reports it.
pub(crate) fn unfinished(finished: usize, planned: usize) -> String {
    format!(" The study is not finished: {finished} of {planned} cells are in these numbers.")
}

/// Warning about intervals that are based on few repeats.
pub(crate) fn few_repeats(experiment: &Experiment) -> Option<String> {
    match experiment.split.repeats() {
        1 => Some("Only one repeat: no interval can show how much repeats differ.".into()),
        n @ 2..5 => Some(format!(
            "Only {n} repeats: intervals are wide, and tests find only large differences."
        )),
        _ => None,
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
            "Mean number of questions at the last point, including questions without an answer.",
        ),
        (
            "dont_know",
            "questions without an answer",
            "Mean number of questions without an answer at the last point.",
        ),
        (
            "answers_contradicting",
            "contradicting answers",
            "Mean number of answers at the last point that contradict what was known before them; \
             the option on_conflict of the method decides what happens to them.",
        ),
        (
            "violations",
            "constraints violated",
            "Mean number of constraints at the last point that were given to the clusterer and that its result violates.",
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
        let mut lines: Vec<Line> = sets().map(line).collect();
        if lines.len() > 1 {
            // Data sets without any value, such as optional ones that are not there, count for no method.
            let has_values =
                |set: &&str| experiment.methods.iter().any(|m| mean(set, &m.id).is_some());
            let sums = experiment.methods.iter().map(|m| {
                let total = sum(sets().filter(has_values).map(|set| mean(set, &m.id)));
                Cell::text(total.map_or("–".into(), |v| format!("{v:.decimals$}")))
            });
            let cells = std::iter::once(Cell::text("sum")).chain(sums).collect();
            lines.push(Line { method: None, cells });
        }
        let (caption, mut note) = (caption.to_string(), note.to_string());
        let mut at_last = made.curves.iter().filter_map(|curve| curve.points.last());
        if at_last.any(|point| point.failed > 0) {
            note += " Cells that failed at this point are left out.";
        }
        let any = all.iter().any(|m| *m > 0.0);
        any.then(|| Sheet {
            caption,
            lead: "At the last point: ",
            note,
            head: heads(experiment),
            lines,
            ..Sheet::default()
        })
    });
    sheets.collect()
}

/// The sum of values; `None` if one is missing, because sums over different data sets cannot be compared.
fn sum(mut values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    // `Iterator::sum` gives -0 for no values.
    values.try_fold(0.0, |total, value| Some(total + value?))
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
    fn sums_need_a_value_of_each_data_set() {
        assert_eq!(sum([Some(1.5), Some(2.0)].into_iter()), Some(3.5));
        assert_eq!(sum([Some(1.5), None].into_iter()), None);
        assert_eq!(sum([None, None].into_iter()), None);
        let zero = sum([Some(0.0), Some(-0.0)].into_iter()).unwrap();
        assert!(zero.is_sign_positive());
    }

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
