//! WSBPA: the clusters of `wbpa`, with the features that distinguish them.

use mustlink_core::prelude::*;
use mustlink_core::soft_marks::obeying;
use ndarray::{Array1, Array2};

use crate::parts::canonical_ensemble::{CanonicalEnsemble, order};
use crate::wbpa::Wbpa;

/// WSBPA: the parts of `wbpa`, each described by the feature weights of the clusters in it.
///
/// # Method
/// The weights of a part are the mean weights of its clusters, made to sum to 1. A part without a cluster gives all
/// features the same weight; the diagnostics count such parts. Constraints are treated as in `hbgf`.
/// # Input and output
/// As `wbpa`, with feature weights in every member. The result has weights, clusters × features.
/// # Errors
/// Returns the errors of `wbpa`; `BadParam` when a member has no feature weights.
/// # Cost and randomness
/// As `wbpa`.
/// # References
/// [DomeniconiAlRazgan2009]; the mean is this project's reading.
#[options]
pub struct Wsbpa {
    /// Average of the weights of the clusters of a part.
    pub aggregate: Aggregate,
    /// Options shared with `wbpa`.
    #[option(flatten)]
    pub wbpa: Wbpa,
}

/// Average of the feature weights of the clusters of a part.
#[options]
pub enum Aggregate {
    /// Each cluster counts the same.
    #[default]
    Mean,
    /// Each cluster counts in proportion to its number of objects.
    SizeWeighted,
}

impl Wsbpa {
    /// Weights of the `k` clusters of the consensus, and how many of them hold no cluster.
    fn describe(
        &self,
        view: &CanonicalEnsemble,
        clusters: &[u32],
        k: usize,
        d: usize,
    ) -> (Array2<f64>, usize) {
        let mut sums: Array2<f64> = Array2::zeros((k, d));
        for t in 0..view.len() {
            let m = view.members[t];
            let weights = m.extras.weights.as_ref().expect("checked before");
            let mut sizes = vec![0.0; view.columns(t).len()];
            view.labels[t].iter().for_each(|&l| sizes[l as usize] += 1.0);
            for (at, l) in order(m, weights.nrows()).into_iter().enumerate() {
                let part = clusters[view.first[t] + at];
                if part != NONE {
                    let factor = match self.aggregate {
                        Aggregate::Mean => 1.0,
                        Aggregate::SizeWeighted => sizes[at],
                    };
                    let factor = view.weights[t] * factor;
                    sums.row_mut(part as usize).scaled_add(factor, &weights.row(l));
                }
            }
        }
        let mut bare = 0;
        for mut row in sums.rows_mut() {
            let total = row.sum();
            if total > 0.0 {
                row.mapv_inplace(|w| w / total);
            } else {
                row.assign(&Array1::from_elem(d, 1.0 / d as f64));
                bare += 1;
            }
        }
        (sums, bare)
    }
}

#[plugin("wsbpa", cites = ["DomeniconiAlRazgan2009", "AlRazganDomeniconi2006", "KarypisKumar1998"], version = 5)]
impl ConsensusFunction for Wsbpa {
    fn combine(&self, ensemble: &Ensemble, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        obeying("wsbpa", problem, ctx, |problem| self.obey(ensemble, problem, ctx))
    }

    fn needs(&self) -> Needs {
        Needs { feature_weights: true, ..self.wbpa.needs() }
    }

    fn memory(&self, shape: &Shape, members: usize) -> u64 {
        self.wbpa.memory(shape, members) + (8 * shape.k * shape.d) as u64
    }

    fn operations(&self, shape: &Shape, members: usize) -> f64 {
        self.wbpa.operations(shape, members) + (members * shape.k * shape.d) as f64
    }
}

impl Wsbpa {
    /// The outcome under constraints that are all obeyed.
    fn obey(&self, ensemble: &Ensemble, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let view = CanonicalEnsemble::new(ensemble, problem, &self.wbpa.weights, "wsbpa", ctx)?;
        let width = view.members[0].extras.weights.as_ref().map(Array2::ncols);
        let lacking = view
            .members
            .iter()
            .filter(|m| m.extras.weights.as_ref().map(Array2::ncols) != width || width.is_none());
        let (lacking, all) = (lacking.count(), view.len());
        let d = match width {
            Some(d) if lacking == 0 => d,
            _ => {
                let legal = format!(
                    "used with members that have weights of the same features; {lacking} of {all} do not"
                );
                return Err(Error::bad_param("consensus", "wsbpa", legal));
            }
        };
        let cut = self.wbpa.cut(&view, problem, "wsbpa", ctx)?;
        let (mut clustering, clusters) = match cut {
            Some(cut) => (cut.clustering, cut.clusters),
            // k = 1: everything is in one part. k = n: no part holds a cluster.
            None => {
                let name = if view.k == 1 { 0 } else { NONE };
                let trivial = self.wbpa.cutting.trivial(&view, problem)?;
                (trivial.expect("nothing was cut"), vec![name; view.clusters()])
            }
        };
        let (weights, bare) = self.describe(&view, &clusters, clustering.k, d);
        clustering.extras.weights = Some(weights);
        clustering.extras.diagnostics.insert("parts_without_cluster".into(), bare as f64);
        Ok(clustering)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::cutting::Cutting;
    use mustlink_partitioners::Engine;
    use ndarray::array;

    #[test]
    fn a_part_has_the_mean_weights_of_its_clusters() {
        let x = array![[0.0, 0.0], [1.0, 0.0], [8.0, 9.0], [9.0, 9.0]];
        let problem = Problem::new(Data::dense(x).unwrap()).with_k(2);
        let member = |w: Array2<f64>| {
            let centers = array![[0.5, 0.0], [8.5, 9.0]];
            let extras = Extras { centers: Some(centers), weights: Some(w), ..Extras::default() };
            Member { extras, ..Member::from_labels(&[0, 0, 1, 1]) }
        };
        let members =
            vec![member(array![[0.8, 0.2], [0.5, 0.5]]), member(array![[0.6, 0.4], [0.1, 0.9]])];
        let ensemble = Ensemble::new(4, members).unwrap();
        // Four objects and four clusters: the multilevel partitioner finds parts of four.
        let cutting = Cutting { partitioner: Engine::Multilevel, ..Cutting::default() };
        let wbpa = Wbpa { cutting, ..Wbpa::default() };
        let wsbpa = Wsbpa { wbpa, ..Wsbpa::default() };
        let c = wsbpa.combine(&ensemble, &problem, &Context::new(1)).unwrap();
        assert_eq!(c.labels, [0, 0, 1, 1]);
        let weights = c.extras.weights.unwrap();
        assert!((&weights - &array![[0.7, 0.3], [0.3, 0.7]]).iter().all(|e| e.abs() < 1e-12));
        assert_eq!(c.extras.diagnostics["parts_without_cluster"], 0.0);
        let none = Ensemble::new(4, vec![Member::from_labels(&[0, 0, 1, 1])]).unwrap();
        assert!(wsbpa.combine(&none, &problem, &Context::new(1)).is_err());
    }
}
