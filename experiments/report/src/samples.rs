//! The numbers that are compared pair by pair.
//!
//! Rows as curves of samples: at each point one value per cell, under the repeat and fold that make it a
//! pair of the same cell of another method. Differences are those of cells that both have; folds are
//! averaged after that, where repeats are the units.

use mustlink_experiments::Experiment;
use mustlink_experiments::results::CellRows;
use mustlink_experiments::row::RowStatus;
pub(crate) use mustlink_experiments::verdict::areas;
use mustlink_experiments::verdict::{CurveValues, Results, Sample, SetResults};
use mustlink_experiments::{Scope, Split};

/// Diagnostics of methods that figures use, even if they are not summarised.
const DIAGNOSTICS: [&str; 2] = ["lower_bound", "propagated"];

/// The correlation of two folds (Nadeau and Bengio 2003), of scores of test objects under cross-validation;
/// `None` for other experiments. Other objects are in several folds, so their scores depend on each other in
/// a way that no formula describes.
pub(crate) fn correlation_of_folds(experiment: &Experiment) -> Option<f64> {
    match &experiment.split {
        Split::Kfold { folds, .. } if experiment.scoring.scope == Scope::Test => {
            Some(1.0 / *folds as f64)
        }
        _ => None,
    }
}

/// Rows as curves by data set, column and method, a value per cell.
pub(crate) fn results(experiment: &Experiment, cells: &[CellRows]) -> Results {
    let mut columns = experiment.number_columns();
    let diagnostics = DIAGNOSTICS.into_iter().map(str::to_string);
    columns.extend(diagnostics.filter(|d| !experiment.measured().contains(d)));
    let mut sets: Vec<SetResults> = Vec::new();
    for dataset in &experiment.datasets {
        let mine: Vec<&CellRows> = cells.iter().filter(|c| c.dataset == dataset.id).collect();
        let Some(first) = mine.iter().find_map(|c| c.rows.first()) else { continue };
        let mut set = SetResults {
            id: dataset.id.clone(),
            n: first.n,
            d: first.d,
            classes: first.classes,
            ..SetResults::default()
        };
        for column in &columns {
            for method in &experiment.methods {
                let cells = mine.iter().filter(|c| c.method == method.id);
                let mut curve = CurveValues::new();
                for cell in cells {
                    for (at, row) in cell.rows.iter().enumerate() {
                        if at == curve.len() {
                            curve.push((row.p_requested.unwrap_or(0) as f64, Sample::new()));
                        }
                        let value = row.number(column).filter(|_| row.status == RowStatus::Ok);
                        curve[at].1.extend(value.map(|v| ((row.repeat, row.fold), v)));
                    }
                }
                set.curves.insert((column.clone(), method.id.clone()), curve);
            }
        }
        sets.push(set);
    }
    let held_back = match &experiment.split {
        Split::All { .. } => None,
        Split::Holdout { test_fraction, .. } => Some(test_fraction / (1.0 - test_fraction)),
        Split::Kfold { folds, .. } => Some(1.0 / (*folds as f64 - 1.0)),
    };
    Results { sets, level: experiment.stats.level, unit: experiment.stats.unit, held_back }
}

/// Test objects per training object, if cells share training objects: folds, and test sets drawn again
/// (Nadeau and Bengio 2003). Repeats without test sets count as independent. Tests compare cells, whatever
/// the unit of the intervals: the repeats of a cross-validation share all objects, so they are not a sample of data.
pub(crate) fn correction(results: &Results) -> f64 {
    results.held_back.unwrap_or(0.0)
}

/// The curve of a method under a column on a data set; `None` without rows.
pub(crate) fn curve<'a>(
    results: &'a Results,
    dataset: &str,
    column: &str,
    method: &str,
) -> Option<&'a CurveValues> {
    let set = results.sets.iter().find(|s| s.id == dataset)?;
    let curve = set.curves.get(&(column.to_string(), method.to_string()))?;
    (!curve.is_empty()).then_some(curve)
}

/// Differences a − b of the cells that both have.
pub(crate) fn differences(a: &Sample, b: &Sample) -> Vec<f64> {
    a.iter().filter_map(|(key, x)| Some(x - b.get(key)?)).collect()
}

/// The mean of a sample; `None` when it is empty.
pub(crate) fn mean(sample: &Sample) -> Option<f64> {
    (!sample.is_empty()).then(|| sample.values().sum::<f64>() / sample.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_paired_and_areas_need_every_point() {
        let at = |p: f64, values: &[((usize, usize), f64)]| (p, values.iter().copied().collect());
        let curve: CurveValues = vec![
            at(0.0, &[((0, 0), 1.0), ((1, 0), 5.0)]),
            at(10.0, &[((0, 0), 3.0), ((2, 0), 7.0)]),
        ];
        assert_eq!(areas(&curve), Sample::from([((0, 0), 2.0)]));
        assert_eq!(differences(&curve[0].1, &curve[1].1), [-2.0]);
        assert_eq!((mean(&curve[0].1), mean(&Sample::new())), (Some(3.0), None));
        assert!(areas(&Vec::new()).is_empty());
    }
}
