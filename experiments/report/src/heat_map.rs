//! The learned weights of features as a heat map.

use mustlink_datasets::FeatureWeights;

use crate::axis::{Axis, Marked};
use crate::chart::{Chart, Panel};
use crate::legend::Key;
use crate::marks::Mark;
use crate::palette::shade;
use mustlink_experiments::results::CellRows;

/// Features drawn at most: those with the largest share somewhere.
const FEATURES: usize = 40;
const CELL: f64 = 22.0;
/// Colour of near-constant features.
const CONSTANT: &str = "#bbb";

/// The weights of one method on one data set.
pub(crate) struct Learned<'a> {
    pub dataset: &'a str,
    pub method: &'a str,
    pub weights: &'a FeatureWeights,
}

/// Weights that the first fold of the first repeat learned at its last curve point, in config order.
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

/// So many times the middle weight of its cluster has a feature that hardly varies: what is learned there is
/// the smallest variance that the method allows, not what the feature says.
const FLOOR: f64 = 1e6;

/// For each feature of a cluster, true if it is near-constant.
fn near_constant(row: &[f64]) -> Vec<bool> {
    let mut sorted: Vec<f64> = row.to_vec();
    mustlink_core::order::sort_values(&mut sorted);
    let middle = sorted.get(row.len().saturating_sub(1) / 2).copied().unwrap_or(0.0);
    row.iter().map(|w| middle > 0.0 && *w > FLOOR * middle).collect()
}

/// Each weight as a share of the weights of its cluster, those of near-constant features left out.
fn shares(weights: &FeatureWeights) -> Vec<Vec<f64>> {
    let share = |row: &Vec<f64>| {
        let constant = near_constant(row);
        let kept =
            || row.iter().zip(&constant).map(|(w, constant)| if *constant { 0.0 } else { *w });
        let total: f64 = kept().sum();
        kept().map(|w| if total > 0.0 { w / total } else { 0.0 }).collect()
    };
    weights.rows.iter().map(share).collect()
}

/// The features whose weight in some cluster is that of the smallest variance that the method allows: it
/// says that they hardly vary, not that they distinguish clusters.
pub fn near_constant_features(weights: &FeatureWeights) -> Vec<&str> {
    let constant: Vec<Vec<bool>> = weights.rows.iter().map(|row| near_constant(row)).collect();
    let named = weights.features.iter().enumerate();
    named
        .filter(|(at, _)| constant.iter().any(|row| row[*at]))
        .map(|(_, name)| name.as_str())
        .collect()
}

/// Text above all figures of weights.
pub(crate) const HOW: &str = "Darker: a larger share of the weights of the cluster. \u{201c}all\u{201d}: one metric for all \
                              clusters. The weights are those that the first fold of the first repeat learned at the \
                              last point.";

/// Text below one figure: its near-constant features, if it has any.
pub(crate) fn caption(weights: &FeatureWeights) -> String {
    let named = near_constant_features(weights);
    if named.is_empty() {
        return String::new();
    }
    format!(
        "Grey, and in no share: near-constant, so that the weight is that of the smallest variance allowed: {}.",
        named.join(", ")
    )
}

/// The features that are drawn, in the order of the data.
fn drawn(shares: &[Vec<f64>], d: usize) -> Vec<usize> {
    let largest = |s: usize| shares.iter().map(|row| row[s]).fold(0.0, f64::max);
    let mut order = mustlink_core::order::descending(&(0..d).map(largest).collect::<Vec<f64>>());
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
    let several = shares.len() > 1;
    let name = |at: usize| {
        if several { format!("cluster {at}") } else { "all".into() }
    };
    let mut marks = Vec::new();
    for (at, row) in shares.iter().enumerate() {
        let constant = near_constant(&weights.rows[at]);
        for (column, &feature) in columns.iter().enumerate() {
            // By the root, or one large share leaves all others white.
            let depth = if most > 0.0 { (row[feature] / most).sqrt() } else { 0.0 };
            let (x, y) = (column as f64, at as f64);
            let (name_of, weight) = (&weights.features[feature], weights.rows[at][feature]);
            let share = 100.0 * row[feature];
            marks.push(Mark::Cell {
                corners: [(x, y), (x + 1.0, y + 1.0)],
                fill: if constant[feature] { CONSTANT.into() } else { shade(depth) },
                opacity: 1.0,
                tip: Some(if constant[feature] {
                    format!("{name_of}: {weight:.3e}, near-constant")
                } else {
                    format!("{name_of}: {weight:.3e}, {share:.1} % of {}", name(at))
                }),
            });
        }
    }
    let short = |feature: &usize| weights.features[*feature].clone();
    let x = Axis::names(columns.iter().map(short), Marked::Upright);
    let y = Axis::names((0..shares.len()).map(name), Marked::Bare).downwards();
    let panels = vec![Panel::new(x, y, CELL * shares.len() as f64, marks)];
    let description = format!(
        "A heat map of {} and {} of {} features: the darker, the larger the share of the weights in its row.",
        if several { format!("{} clusters", shares.len()) } else { "all clusters".into() },
        columns.len(),
        weights.features.len()
    );
    let width = CELL * columns.len() as f64;
    let mut chart = Chart::new(&format!("{dataset}: {method}"), &description, width, 1, panels);
    if most > 0.0 {
        let whole = if several { "its cluster" } else { "all features" };
        let bar = format!("{:.1} % of the weights of {whole}", 100.0 * most);
        chart.legend.entries.push((Key::Ramp { by_root: true }, bar));
    }
    if !near_constant_features(weights).is_empty() {
        chart.legend.entries.push((Key::Colour(CONSTANT, 1.0), "near-constant".into()));
    }
    chart.svg()
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
        assert_eq!(svg.matches("stroke=\"#e4e4e4\"").count(), 2 * FEATURES);
        assert!(svg.contains(&format!("f&lt;{}&gt;: 5.000e2", d - 1)) && svg.contains("a &amp; b"));
        assert!(svg.contains("fill=\"#08306b\"") && svg.contains("cluster 1"));
        // A bar shows what the colours mean.
        assert!(
            svg.contains(
                "<text y=\"4\">0</text><g shape-rendering=\"crispEdges\"><path d=\"M12-5h8"
            ),
            "{svg}"
        );
        assert!(svg.contains(">92.3 % of the weights of its cluster</text>"), "{svg}");
        assert!(!svg.contains("NaN"));
    }

    #[test]
    fn near_constant_features_are_named_and_take_no_share() {
        let features = ["mcg", "lip", "chg", "aac"].map(String::from).to_vec();
        let rows = vec![vec![100.0, 4e10, 1333.0, 125.0]];
        let weights = FeatureWeights { features, rows };
        let said = caption(&weights);
        assert!(said.ends_with("allowed: lip."), "{said}");
        let svg = heat_map(&Learned { dataset: "ecoli", method: "mpck", weights: &weights });
        assert!(
            svg.contains("lip: 4.000e10, near-constant") && svg.contains("fill=\"#bbb\""),
            "{svg}"
        );
        assert!(svg.contains("chg: 1.333e3, 85.6 % of all"), "{svg}");
        // Others are no white beside it.
        let marks = svg.split("near-constant</text>").nth(1).unwrap();
        assert!(!marks.contains("#ffffff") && !marks.contains("#eb"), "{svg}");
        let plain = FeatureWeights {
            features: vec!["a".into(), "b".into()],
            rows: vec![vec![1.0, 9.0]; 2],
        };
        assert_eq!(caption(&plain), "");
    }

    #[test]
    fn weights_of_nothing_are_white() {
        let weights = FeatureWeights { features: vec!["a".into()], rows: vec![vec![0.0]] };
        let learned = Learned { dataset: "set", method: "m", weights: &weights };
        assert!(heat_map(&learned).contains("#ffffff"));
        let numbers = mustlink_datasets::weights_csv(&weights).unwrap();
        assert_eq!(numbers, b"cluster,a\nall,0\n");
    }
}
