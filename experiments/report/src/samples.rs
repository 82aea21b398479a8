//! Which numbers are compared pair by pair?
//!
//! Rows as curves of samples: at each point one value per unit, under the repeat and fold that make it a
//! pair of the same unit of another method.

use std::collections::BTreeMap;

use mustlink_experiments::Experiment;
use mustlink_experiments::results::CellRows;
use mustlink_experiments::row::RowStatus;
use mustlink_experiments::statistics::{Unit, mean_height};
use mustlink_experiments::verdict::{CurveValues, Results, Sample, SetResults};
use mustlink_experiments::{Scope, Split};

/// What methods report of themselves and figures draw, whether it is summarised or not.
const DIAGNOSTICS: [&str; 2] = ["lower_bound", "propagated"];

/// Values of one point by repeat and fold.
type Units = BTreeMap<(usize, usize), Vec<f64>>;

/// Rows as curves by data set, column and method; the unit is that of the intervals.
pub(crate) fn results(experiment: &Experiment, cells: &[CellRows]) -> Results {
    by_unit(experiment, cells, experiment.stats.unit)
}

/// The same with a value per fold, and the correlation of two folds (Nadeau and Bengio 2003), of scores of test
/// objects under cross-validation; `None` for other experiments. Other objects are in several folds, and
/// their scores depend on each other in a way for which there is no formula.
pub(crate) fn by_fold(experiment: &Experiment, cells: &[CellRows]) -> Option<(Results, f64)> {
    let Split::Kfold { folds, .. } = &experiment.split else { return None };
    if experiment.scoring.scope != Scope::Test {
        return None;
    }
    Some((by_unit(experiment, cells, Unit::Fold), 1.0 / *folds as f64))
}

fn by_unit(experiment: &Experiment, cells: &[CellRows], unit: Unit) -> Results {
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
                let mut points: Vec<(f64, Units)> = Vec::new();
                for cell in cells {
                    for (at, row) in cell.rows.iter().enumerate() {
                        if at == points.len() {
                            points.push((row.p_requested.unwrap_or(0) as f64, BTreeMap::new()));
                        }
                        let value = row.number(column).filter(|_| row.status == RowStatus::Ok);
                        let key = match unit {
                            Unit::Fold => (row.repeat, row.fold),
                            Unit::Repeat => (row.repeat, 0),
                        };
                        if let Some(value) = value {
                            points[at].1.entry(key).or_default().push(value);
                        }
                    }
                }
                let mean = |v: Vec<f64>| v.iter().sum::<f64>() / v.len() as f64;
                let curve = points
                    .into_iter()
                    .map(|(p, by)| {
                        (p, by.into_iter().map(|(k, v)| (k, mean(v))).collect::<Sample>())
                    })
                    .collect();
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
    Results { sets, level: experiment.stats.level, held_back }
}

/// Test objects per training object, where units share training objects: folds, and test sets drawn
/// anew. The means over all folds of a repeat, and repeats without test sets, count as independent, as
/// in the intervals.
pub(crate) fn correction(experiment: &Experiment, results: &Results) -> f64 {
    match (&experiment.split, experiment.stats.unit) {
        (Split::Kfold { .. }, Unit::Repeat) => 0.0,
        _ => results.held_back.unwrap_or(0.0),
    }
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

/// The mean height of each unit's curve, for the units that have every point.
pub(crate) fn areas(curve: &CurveValues) -> Sample {
    let Some((_, first)) = curve.first() else { return Sample::new() };
    let area = |key: &(usize, usize)| {
        let points: Option<Vec<(f64, f64)>> =
            curve.iter().map(|(p, sample)| Some((*p, *sample.get(key)?))).collect();
        mean_height(&points?)
    };
    first.keys().filter_map(|key| Some((*key, area(key)?))).collect()
}

/// Differences a − b of the units that both have.
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
