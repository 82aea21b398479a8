//! The best method so far, while a run is under way.
//!
//! Long cells run first, so that the cells of cheap methods come late. Methods are compared only on a data set, repeat
//! and fold that all of them have finished.

use std::collections::BTreeMap;

use crate::config::Experiment;
use crate::grid::{Cell, Grid};
use crate::row::{Row, RowStatus};

/// The method with the best mean so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Best {
    /// Its id.
    pub method: String,
    /// The first metric with a better end.
    pub metric: String,
    /// Mean over the points of the cells that all methods have finished.
    pub mean: f64,
    /// Number of these cells, per method.
    pub cells: usize,
    /// Number of all cells, per method.
    pub of: usize,
}

/// Scores by curve point.
type Curve = BTreeMap<Option<usize>, f64>;

/// The scores of cells, as these finish.
pub(crate) struct Scores {
    metric: String,
    higher_is_better: bool,
    methods: Vec<String>,
    /// Curves by data set, repeat and fold, then method, until all methods have one.
    waiting: BTreeMap<[usize; 3], BTreeMap<usize, Curve>>,
    /// Sum of the scores of each method.
    sums: Vec<f64>,
    /// Number of scores in each sum.
    points: usize,
    cells: usize,
    of: usize,
    /// Number of cells of one method on one data set.
    of_set: usize,
}

impl Scores {
    /// `None` if there is nothing to compare: one method, or no metric with a better end.
    pub fn new(experiment: &Experiment, grid: &Grid) -> Option<Scores> {
        let metrics = experiment.scoring.metrics.iter().map(|metric| metric.properties());
        let (at, facts) = metrics.enumerate().find(|(_, facts)| facts.ranked)?;
        let methods: Vec<String> = experiment.methods.iter().map(|m| m.id.clone()).collect();
        let of = grid.cells.len() / methods.len().max(1);
        (methods.len() > 1).then(|| Scores {
            metric: experiment.columns()[at].clone(),
            higher_is_better: facts.higher_is_better,
            sums: vec![0.0; methods.len()],
            of,
            of_set: of / grid.datasets.len().max(1),
            methods,
            waiting: BTreeMap::new(),
            points: 0,
            cells: 0,
        })
    }

    /// Takes the rows of a finished cell, which methods with equal settings share.
    pub fn add<'a>(&mut self, grid: &Grid, cell: usize, rows: impl IntoIterator<Item = &'a Row>) {
        let scored = rows.into_iter().filter(|row| row.status == RowStatus::Ok);
        let scored = scored.filter_map(|row| Some((row.p_requested, row.number(&self.metric)?)));
        let curve: Curve = scored.collect();
        let Cell { dataset, method, repeat, fold, identity, .. } = &grid.cells[cell];
        let place = [*dataset, *repeat, *fold];
        let curves = self.waiting.entry(place).or_default();
        // Cells are in the order of data sets, methods, repeats and folds.
        let first = cell - method * self.of_set;
        for other in 0..self.methods.len() {
            if grid.cells[first + other * self.of_set].identity == *identity {
                curves.insert(other, curve.clone());
            }
        }
        if curves.len() == self.methods.len()
            && let Some(curves) = self.waiting.remove(&place)
        {
            self.compare(&curves);
        }
    }

    /// Adds the points at which every method has a score.
    fn compare(&mut self, curves: &BTreeMap<usize, Curve>) {
        let points = curves.get(&0).into_iter().flat_map(Curve::keys);
        let shared = points.filter_map(|p| {
            curves.values().map(|curve| curve.get(p).copied()).collect::<Option<Vec<f64>>>()
        });
        let before = self.points;
        for scores in shared {
            self.sums.iter_mut().zip(scores).for_each(|(sum, score)| *sum += score);
            self.points += 1;
        }
        self.cells += usize::from(self.points > before);
    }

    /// The best method; `None` before all methods have finished the same cell.
    pub fn best(&self) -> Option<Best> {
        let sign = if self.higher_is_better { 1.0 } else { -1.0 };
        let sums = || self.sums.iter().map(|sum| sign * sum);
        let most = sums().reduce(f64::max).filter(|_| self.points > 0)?;
        let first = sums().position(|sum| sum == most)?;
        Some(Best {
            method: self.methods[first].clone(),
            metric: self.metric.clone(),
            mean: self.sums[first] / self.points as f64,
            cells: self.cells,
            of: self.of,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::data::Source;

    #[test]
    fn methods_are_compared_on_what_all_have_finished() {
        let text = "[experiment]\nname = \"t\"\n[[dataset]]\nid = \"iris\"\n[split]\ntype = \"all\"\nrepeats = 2\n\
                    [scoring]\nmetrics = [\"k_found\", \"vi\"]\n[[method]]\nid = \"one\"\nclusterer = \"kmeans\"\n\
                    [[method]]\nid = \"same\"\nclusterer = \"kmeans\"\n\
                    [[method]]\nid = \"other\"\nclusterer = \"hierarchical\"\n";
        let experiment = Experiment::parse("t.toml", text, Path::new("."), &[]).unwrap();
        let grid = Grid::new(&experiment, &Source::default()).unwrap();
        let mut scores = Scores::new(&experiment, &grid).unwrap();
        let cell = |method: usize, repeat: usize| {
            let is = |c: &Cell| (c.method, c.repeat) == (method, repeat);
            grid.cells.iter().position(is).unwrap()
        };
        let rows = |all: &[(usize, Option<f64>)]| -> Vec<Row> {
            let row = |&(p, vi): &(usize, Option<f64>)| Row {
                p_requested: Some(p),
                scores: [("vi".to_string(), vi), ("k_found".into(), Some(9.0))].into(),
                ..Row::default()
            };
            all.iter().map(row).collect()
        };
        scores.add(&grid, cell(2, 0), &rows(&[(0, Some(0.5)), (10, Some(0.3))]));
        // Two cells of repeat 0 are compared with none of repeat 1.
        scores.add(&grid, cell(2, 1), &rows(&[(0, Some(0.0)), (10, Some(0.0))]));
        assert_eq!(scores.best(), None);
        // Both methods with equal settings are done; their second point has no score.
        scores.add(&grid, cell(0, 0), &rows(&[(0, Some(0.7)), (10, None)]));
        let best = scores.best().unwrap();
        // Less is better. The first metric has no better end.
        assert_eq!((&*best.method, &*best.metric, best.mean), ("other", "vi", 0.5));
        assert_eq!((best.cells, best.of), (1, 2));
        // A cell that failed is finished and compared with nothing.
        let failed = Row { status: RowStatus::Error, ..Row::default() };
        scores.add(&grid, cell(0, 1), &[failed]);
        assert_eq!(scores.best().unwrap(), best);
    }
}
