//! What changed between two results directories?

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use mustlink_core::Result;
use serde::Serialize;

use crate::config::{Experiment, stored};
use crate::results::{Finished, finished};
use crate::row::{Row, RowStatus, differences};

/// A column of one method on one data set in which rows differ.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColumnDiff {
    /// Data set.
    pub dataset: String,
    /// Method.
    pub method: String,
    /// Column of the rows: a metric, a count, a diagnostic, `status`, `message` ….
    pub column: String,
    /// Rows that both directories have.
    pub rows: usize,
    /// Those that differ.
    pub differ: usize,
    /// Mean over these rows in the first directory; absent for columns that are no number.
    pub mean_a: Option<f64>,
    /// The same in the second.
    pub mean_b: Option<f64>,
}

/// What changed between two results directories.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Diff {
    /// Settings that alter the meaning of rows.
    pub settings: Vec<String>,
    /// Rows that only the first has, by data set and method, and how many.
    pub only_a: Vec<(String, String, usize)>,
    /// Rows that only the second has.
    pub only_b: Vec<(String, String, usize)>,
    /// Metrics that only one of them has.
    pub metrics: Vec<String>,
    /// Rows that both have.
    pub common: usize,
    /// Columns in which these differ, times aside.
    pub changed: Vec<ColumnDiff>,
}

/// Where a row stands: data set, method, repeat, fold, and its number among the points.
type Place = (String, String, usize, usize, usize);

/// Compares two results directories row by row, times aside.
///
/// # Errors
/// `Data` when one is no results directory, or a file in it is not as it was written.
pub fn diff(a: &Path, b: &Path) -> Result<Diff> {
    let (old, new) = (side(a)?, side(b)?);
    let mut out = Diff {
        settings: stored::differences(old.0.resolved(), new.0.resolved()),
        only_a: only(&old.1, &new.1),
        only_b: only(&new.1, &old.1),
        ..Diff::default()
    };
    let columns = |e: &Experiment| e.columns().iter().cloned().collect::<BTreeSet<String>>();
    let (here, there) = (columns(&old.0), columns(&new.0));
    out.metrics = here.symmetric_difference(&there).cloned().collect();
    let mut changed: BTreeMap<(String, String, String), usize> = BTreeMap::new();
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (place, x) in &old.1 {
        let Some(y) = new.1.get(place) else { continue };
        out.common += 1;
        *counts.entry((&place.0, &place.1)).or_default() += 1;
        for (column, ..) in differences(x, y) {
            if !out.metrics.contains(&column) {
                *changed.entry((place.0.clone(), place.1.clone(), column)).or_default() += 1;
            }
        }
    }
    for ((dataset, method, column), differ) in changed {
        let mine = |p: &&Place| p.0 == dataset && p.1 == method;
        let both = || old.1.keys().filter(mine).filter(|p| new.1.contains_key(*p));
        let mean = |rows: &BTreeMap<Place, Row>| {
            let ok = both().filter_map(|p| rows.get(p)).filter(|r| r.status == RowStatus::Ok);
            let values: Vec<f64> = ok.filter_map(|r| r.number(&column)).collect();
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        };
        let (mean_a, mean_b) = (mean(&old.1), mean(&new.1));
        let rows = counts[&(&*dataset, &*method)];
        out.changed.push(ColumnDiff { rows, differ, mean_a, mean_b, dataset, method, column });
    }
    Ok(out)
}

/// The experiment and the rows of a directory.
fn side(dir: &Path) -> Result<(Experiment, BTreeMap<Place, Row>)> {
    let Finished { experiment, cells, .. } = finished(dir)?;
    let mut rows = BTreeMap::new();
    for cell in cells {
        for (at, row) in cell.rows.into_iter().enumerate() {
            // Where another method decides, the number of queries is a result.
            let point = experiment.points.numbers().map_or(at, |p| p[at]);
            let place = (cell.dataset.clone(), cell.method.clone(), row.repeat, row.fold, point);
            rows.insert(place, row);
        }
    }
    Ok((experiment, rows))
}

fn only(here: &BTreeMap<Place, Row>, there: &BTreeMap<Place, Row>) -> Vec<(String, String, usize)> {
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for place in here.keys().filter(|p| !there.contains_key(*p)) {
        *counts.entry((&place.0, &place.1)).or_default() += 1;
    }
    counts.into_iter().map(|((d, m), n)| (d.into(), m.into(), n)).collect()
}

impl Diff {
    /// Whether both hold the same rows with the same bits, times aside.
    pub fn is_same(&self) -> bool {
        let Diff { settings, only_a, only_b, metrics, changed, common: _ } = self;
        settings.is_empty()
            && only_a.is_empty()
            && only_b.is_empty()
            && metrics.is_empty()
            && changed.is_empty()
    }
}

impl fmt::Display for Diff {
    /// One finding per line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.settings {
            writeln!(f, "setting: {line}")?;
        }
        for (name, only) in [("first", &self.only_a), ("second", &self.only_b)] {
            for (dataset, method, rows) in only {
                writeln!(f, "only in the {name}: {dataset}, {method}: {rows} rows")?;
            }
        }
        if !self.metrics.is_empty() {
            writeln!(f, "metrics that only one has: {}", self.metrics.join(", "))?;
        }
        for c in &self.changed {
            let place = format!("{}, {}, {}", c.dataset, c.method, c.column);
            write!(f, "{place}: {} of {} rows differ", c.differ, c.rows)?;
            match (c.mean_a, c.mean_b) {
                (Some(a), Some(b)) => writeln!(f, "; mean {a:.4} and {b:.4} ({:+.4})", b - a)?,
                _ => writeln!(f)?,
            }
        }
        if self.is_same() {
            write!(f, "{} rows, all the same", self.common)
        } else {
            write!(f, "{} rows in both", self.common)
        }
    }
}
