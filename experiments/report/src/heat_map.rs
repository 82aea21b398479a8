//! Which features make which cluster? The weights that a method learned, as a heat map.

use std::fmt::Write;

use mustlink_core::features::FeatureWeights;

use crate::svg::{self, escape};
use mustlink_experiments::results::CellRows;

/// Features drawn at most: those with the largest share somewhere.
const FEATURES: usize = 40;
const CELL: f64 = 22.0;

/// The weights of one method on one data set.
pub(crate) struct Learned<'a> {
    pub dataset: &'a str,
    pub method: &'a str,
    pub weights: &'a FeatureWeights,
}

/// What the first fold of the first repeat learned at its last curve point, in config order.
pub(crate) fn learned(cells: &[CellRows]) -> Vec<Learned<'_>> {
    let mut out: Vec<Learned<'_>> = Vec::new();
    for cell in cells.iter().filter(|c| c.repeat == 0) {
        let Some(weights) = cell.rows.iter().rev().find_map(|r| r.weights.as_ref()) else {
            continue;
        };
        let (dataset, method) = (cell.dataset.as_str(), cell.method.as_str());
        if !out.iter().any(|l| l.dataset == dataset && l.method == method) {
            out.push(Learned { dataset, method, weights });
        }
    }
    out
}

/// Each weight as a share of the weights of its cluster.
fn shares(weights: &FeatureWeights) -> Vec<Vec<f64>> {
    let share = |row: &Vec<f64>| {
        let total: f64 = row.iter().sum();
        row.iter().map(|w| if total > 0.0 { w / total } else { 0.0 }).collect()
    };
    weights.rows.iter().map(share).collect()
}

/// The features that are drawn, in the order of the data.
fn drawn(shares: &[Vec<f64>], d: usize) -> Vec<usize> {
    let largest = |s: usize| shares.iter().map(|row| row[s]).fold(0.0, f64::max);
    let mut order: Vec<usize> = (0..d).collect();
    order.sort_by(|&a, &b| largest(b).total_cmp(&largest(a)).then(a.cmp(&b)));
    order.truncate(FEATURES);
    order.sort_unstable();
    order
}

/// The heat map: a row per cluster, a column per feature, darker where a feature has a larger share of
/// the weights of the cluster.
pub(crate) fn heat_map(learned: &Learned<'_>) -> String {
    let Learned { dataset, method, weights } = learned;
    let shares = shares(weights);
    let columns = drawn(&shares, weights.features.len());
    let most = shares.iter().flatten().fold(0.0f64, |m, &s| m.max(s));
    let longest = columns.iter().map(|&s| weights.features[s].chars().count()).max().unwrap_or(0);
    // Names stand upright below the cells.
    let (left, top, below) = (84.0, 40.0, 16.0 + 6.8 * longest.min(28) as f64);
    let (width, rows) = (left + CELL * columns.len() as f64 + 24.0, shares.len() as f64);
    let title = format!("{dataset}: {method}");
    let width = width.max(left + 8.0 * title.chars().count() as f64);
    let description = format!(
        "A heat map of {} clusters and {} of {} features: the darker, the larger the share of the cluster's \
         weights.",
        shares.len(),
        columns.len(),
        weights.features.len()
    );
    let mut s = svg::head(&title, &description, width, top + CELL * rows + below, 20.0);
    for (at, row) in shares.iter().enumerate() {
        let y = top + CELL * at as f64;
        let name = if shares.len() == 1 { "all".into() } else { format!("cluster {at}") };
        let _ = writeln!(
            s,
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{name}</text>",
            left - 8.0,
            y + 15.0
        );
        for (column, &feature) in columns.iter().enumerate() {
            let depth = if most > 0.0 { row[feature] / most } else { 0.0 };
            let mix = |end: f64| (255.0 - (255.0 - end) * depth).round();
            let _ = writeln!(
                s,
                "<rect x=\"{:.1}\" y=\"{y:.1}\" width=\"{CELL}\" height=\"{CELL}\" fill=\"rgb({},{},{})\" \
                 stroke=\"#e4e4e4\"><title>{}: {:.3e}, {:.1} % of {name}</title></rect>",
                left + CELL * column as f64,
                mix(0.0),
                mix(68.0),
                mix(120.0),
                escape(&weights.features[feature]),
                weights.rows[at][feature],
                100.0 * row[feature],
            );
        }
    }
    let y = top + CELL * rows + 8.0;
    for (column, &feature) in columns.iter().enumerate() {
        let short: String = weights.features[feature].chars().take(28).collect();
        let _ = writeln!(
            s,
            "<text transform=\"translate({:.1} {y:.1}) rotate(-90)\" text-anchor=\"end\">{}</text>",
            left + CELL * column as f64 + 15.0,
            escape(&short)
        );
    }
    s.push_str("</svg>\n");
    s
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_features_with_the_largest_shares_are_drawn() {
        let d = FEATURES + 3;
        let mut rows = vec![vec![1.0; d]; 2];
        rows[1][d - 1] = 500.0;
        rows[0][4] = 0.0;
        let weights =
            FeatureWeights { features: (0..d).map(|s| format!("f<{s}>")).collect(), rows };
        let svg = heat_map(&Learned { dataset: "set", method: "a & b", weights: &weights });
        assert_eq!(svg.matches("<rect x=").count(), 2 * FEATURES);
        assert!(svg.contains(&format!("f&lt;{}&gt;: 5.000e2", d - 1)) && svg.contains("a &amp; b"));
        assert!(svg.contains("fill=\"rgb(0,68,120)\"") && svg.contains("cluster 1"));
        assert!(!svg.contains("NaN"));
    }

    #[test]
    fn weights_of_nothing_are_white() {
        let weights = FeatureWeights { features: vec!["a".into()], rows: vec![vec![0.0]] };
        let learned = Learned { dataset: "set", method: "m", weights: &weights };
        assert!(heat_map(&learned).contains("rgb(255,255,255)"));
        let numbers = mustlink_datasets::weights_csv(&weights).unwrap();
        assert_eq!(numbers, b"cluster,a\nall,0\n");
    }
}
