//! The differences between two results directories.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use mustlink_core::Result;
use mustlink_core::text::count;
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
    /// Rows with a result and a number here in both directories: those of the means.
    pub compared: usize,
    /// Mean over these rows in the first directory; absent without such rows.
    pub mean_a: Option<f64>,
    /// The same in the second.
    pub mean_b: Option<f64>,
}

/// Changes between two results directories.
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

/// Position of a row: data set, method, repeat, fold, and its number among the points.
type Place = (String, String, usize, usize, usize);

/// Compares two results directories row by row, times aside.
///
/// # Errors
/// `Data` when one is not a results directory, or when a file in it was changed.
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
        let mine = |p: &Place| p.0 == dataset && p.1 == method;
        let number = |row: &Row| row.number(&column).filter(|_| row.status == RowStatus::Ok);
        // Means over other rows would differ by what failed on one side.
        let pairs = old.1.iter().filter(|(place, _)| mine(place)).filter_map(|(place, x)| {
            let y = new.1.get(place)?;
            Some((number(x)?, number(y)?))
        });
        let (a, b): (Vec<f64>, Vec<f64>) = pairs.unzip();
        let compared = a.len();
        let mean =
            |values: &[f64]| (compared > 0).then(|| values.iter().sum::<f64>() / compared as f64);
        let (mean_a, mean_b) = (mean(&a), mean(&b));
        let rows = counts[&(&*dataset, &*method)];
        out.changed.push(ColumnDiff {
            rows,
            differ,
            compared,
            mean_a,
            mean_b,
            dataset,
            method,
            column,
        });
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
    /// True if both hold the same rows with the same bits, times aside.
    pub fn is_same(&self) -> bool {
        let Diff { settings, only_a, only_b, metrics, changed, common: _ } = self;
        settings.is_empty()
            && only_a.is_empty()
            && only_b.is_empty()
            && metrics.is_empty()
            && changed.is_empty()
    }
}

/// With four decimals; what would be 0 with them by its size.
fn change(by: f64) -> String {
    if by.abs() < 5e-5 { format!("{by:+.0e}") } else { format!("{by:+.4}") }
}

impl fmt::Display for Diff {
    /// One finding per line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.settings {
            writeln!(f, "setting: {line}")?;
        }
        for (name, only) in [("first", &self.only_a), ("second", &self.only_b)] {
            for (dataset, method, rows) in only {
                writeln!(f, "only in the {name}: {dataset}, {method}: {}", count(*rows, "row"))?;
            }
        }
        if !self.metrics.is_empty() {
            writeln!(f, "metrics that only one has: {}", self.metrics.join(", "))?;
        }
        for c in &self.changed {
            let place = format!("{}, {}, {}", c.dataset, c.method, c.column);
            write!(f, "{place}: {} of {} rows differ", c.differ, c.rows)?;
            match (c.mean_a, c.mean_b) {
                (Some(a), Some(b)) if a != b => {
                    let of = match c.compared {
                        compared if compared < c.rows => {
                            format!(" of {compared} rows with results")
                        }
                        _ => String::new(),
                    };
                    writeln!(f, "; mean{of} {a:.4} and {b:.4} ({})", change(b - a))?;
                }
                _ => writeln!(f)?,
            }
        }
        if self.is_same() {
            write!(f, "{}, all the same", count(self.common, "row"))
        } else {
            write!(f, "{} in both", count(self.common, "row"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_that_moved_are_of_rows_with_results() {
        let column = |compared: usize, mean_a: f64, mean_b: f64| ColumnDiff {
            dataset: "iris".into(),
            method: "a".into(),
            column: "ari".into(),
            rows: 9,
            differ: 2,
            compared,
            mean_a: Some(mean_a),
            mean_b: Some(mean_b),
        };
        let changed = vec![column(9, 0.5, 0.25), column(8, 0.5, 0.50001), column(8, 0.5, 0.5)];
        let said = Diff { changed, ..Diff::default() }.to_string();
        let expected = "iris, a, ari: 2 of 9 rows differ; mean 0.5000 and 0.2500 (-0.2500)\n\
                        iris, a, ari: 2 of 9 rows differ; mean of 8 rows with results 0.5000 and 0.5000 (+1e-5)\n\
                        iris, a, ari: 2 of 9 rows differ\n";
        assert!(said.starts_with(expected), "{said}");
    }
}
