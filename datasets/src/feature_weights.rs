//! The weights of the features in each cluster.

use std::path::Path;

use mustlink_core::features::Lineage;
use mustlink_core::prelude::*;
use ndarray::{Array2, ArrayView1};
use serde::{Deserialize, Serialize};

use crate::bytes;

/// How much each feature counts in each cluster, in the units of what the method saw: a difference in
/// feature s adds its square times the weight to the squared distance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FeatureWeights {
    /// Names of the features.
    pub features: Vec<String>,
    /// One row per cluster, or a single one that holds for all; one value ≥ 0 per feature.
    pub rows: Vec<Vec<f64>>,
}

impl FeatureWeights {
    /// The weights that a clusterer and the transforms before it learned: those of the clusterer, otherwise the
    /// diagonals of its metrics, otherwise the diagonal of the metric that a transform learned. `names` are the names
    /// of the features of the data set.
    pub fn learned(extras: &Extras, lineage: &Lineage, names: &[String]) -> Option<Self> {
        let of_clusterer = |rows: Vec<Vec<f64>>| {
            let d = rows.first().map_or(0, Vec::len);
            Some(FeatureWeights { features: lineage.features.names(names, d), rows })
        };
        if let Some(weights) = &extras.weights {
            return of_clusterer(distinct(weights));
        }
        match (&extras.metrics, &lineage.metric) {
            (Some(metrics), _) if !metrics.is_empty() => {
                of_clusterer(metrics.iter().map(|a| a.diag().to_vec()).collect())
            }
            (_, Some((features, weights))) => Some(FeatureWeights {
                features: features.names(names, weights.len()),
                rows: vec![weights.clone()],
            }),
            _ => None,
        }
    }
}

/// The rows; a single one where all are equal, since then it is one metric for all clusters.
fn distinct(weights: &Array2<f64>) -> Vec<Vec<f64>> {
    let first = weights.rows().into_iter().next();
    let same = first.is_some_and(|f: ArrayView1<f64>| weights.rows().into_iter().all(|r| r == f));
    let rows = if same { 1 } else { weights.nrows() };
    weights.rows().into_iter().take(rows).map(|r| r.to_vec()).collect()
}

/// Writes feature weights as [`weights_csv`] gives them; `-` is the standard output.
///
/// # Errors
/// `Data` when the file cannot be written; nothing is left of it then.
pub fn write_weights(path: &str, weights: &FeatureWeights) -> Result<()> {
    bytes::write(Path::new(path), &weights_csv(weights)?)
}

/// Feature weights as CSV: `cluster` and a column per feature; the row `all` is that of every cluster.
///
/// # Errors
/// `Data` when the writer fails.
pub fn weights_csv(weights: &FeatureWeights) -> Result<Vec<u8>> {
    bytes::csv_text("weights", |out| {
        let names = weights.features.iter().map(String::as_str);
        out.write_record(std::iter::once("cluster").chain(names))?;
        for (at, row) in weights.rows.iter().enumerate() {
            let name = if weights.rows.len() == 1 { "all".into() } else { at.to_string() };
            let values = row.iter().map(f64::to_string);
            out.write_record(std::iter::once(name).chain(values))?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::features::Features;
    use ndarray::array;

    fn names(all: &[&str]) -> Vec<String> {
        all.iter().map(|n| (*n).to_string()).collect()
    }

    #[test]
    fn the_clusterer_comes_before_the_transform() {
        let prefix = Lineage { features: Features::Chosen(vec![1, 2]), metric: None };
        let learned =
            Lineage { features: Features::New, metric: Some((Features::Same, vec![2.0, 0.5])) };
        let lineage = prefix.then(&learned);
        let mut c = Clustering::from_labels(vec![0, 1]);
        let of = |c: &Clustering| {
            FeatureWeights::learned(&c.extras, &lineage, &names(&["a", "b", "c"])).unwrap()
        };
        assert_eq!(
            of(&c),
            FeatureWeights { features: names(&["b", "c"]), rows: vec![vec![2.0, 0.5]] }
        );
        c.extras.metrics =
            Some(vec![array![[4.0, 1.0], [1.0, 3.0]], array![[1.0, 0.0], [0.0, 2.0]]]);
        assert_eq!(of(&c).features, ["component_0", "component_1"]);
        assert_eq!(of(&c).rows, [[4.0, 3.0], [1.0, 2.0]]);
        c.extras.weights = Some(array![[1.0, 0.0], [1.0, 0.0]]);
        assert_eq!(of(&c).rows, [[1.0, 0.0]]);
        let nothing = Lineage::default();
        assert_eq!(FeatureWeights::learned(&Extras::default(), &nothing, &[]), None);
    }
}
