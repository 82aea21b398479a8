//! CSPA: a cut of the graph of co-associations.

use mustlink_core::prelude::*;
use mustlink_core::soft_marks::obeying;
use mustlink_kernels::ensemble::signatures::Signatures;

use crate::parts::canonical_ensemble::CanonicalEnsemble;
use crate::parts::cutting::{Cutting, Units};
use crate::parts::pairwise;
use crate::parts::weights::Weights;

/// CSPA: the graph of co-associations between all pairs of objects, cut into k parts.
///
/// # Method
/// The similarity of two objects is the share of members that put them together; pairs that no member puts together
/// have no edge. Objects that all members treat alike are one vertex, up to a twentieth of a part. Constraints as in
/// `hbgf`.
/// # Input and output
/// Any ensemble; a member that misses an object does not put it together with any other. At most k clusters, of about
/// the sizes that the members' clusters have; if all members agree, their partition is returned. With `imbalance`
/// they are of about equal size, as published.
/// # Errors
/// `MissingK`, `BadK`, `TooManyClusters`; `BadParam` above `max_n`.
/// # Cost and randomness
/// O(n²τ) time, 8 n² bytes for the graph and at least as much for cutting it. Random in the partitioner.
/// # References
/// [StrehlGhosh2002]. Differs: sizes of parts (`imbalance = 0.03` gives the sizes of METIS).
#[options]
pub struct Cspa {
    /// Options for cutting the graph.
    #[option(flatten)]
    pub cutting: Cutting,
    /// Largest number of objects that is accepted.
    #[option(default = 5000, min = 1)]
    pub max_n: usize,
    /// Weights of the members.
    pub weights: Weights,
}

#[plugin("cspa", cites = ["StrehlGhosh2002", "KarypisKumar1998"], version = 6)]
impl ConsensusFunction for Cspa {
    fn combine(&self, ensemble: &Ensemble, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        obeying("cspa", problem, ctx, |problem| self.obey(ensemble, problem, ctx))
    }

    fn needs(&self) -> Needs {
        Needs {
            max_n: Some(self.max_n),
            instead: pairwise::INSTEAD,
            labels_only: true,
            ..self.weights.needs(self.cutting.needs())
        }
    }

    fn memory(&self, shape: &Shape, members: usize) -> u64 {
        (16 * shape.n * members) as u64 + pairwise::memory(&self.cutting, shape)
    }

    fn operations(&self, shape: &Shape, members: usize) -> f64 {
        let pairs = pairwise::label_pairs(shape.n, members, &self.weights);
        pairs + self.weights.operations(shape, members) + pairwise::operations(&self.cutting, shape)
    }
}

impl Cspa {
    /// The outcome under constraints that are all obeyed.
    fn obey(&self, ensemble: &Ensemble, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        pairwise::limit(ensemble.n(), self.max_n, pairwise::INSTEAD)?;
        let view = CanonicalEnsemble::new(ensemble, problem, &self.weights, "cspa", ctx)?;
        let cutting = &self.cutting;
        cutting.check(view.k)?;
        if let Some(trivial) = cutting.trivial(&view, problem)? {
            return Ok(trivial);
        }
        let units = Units::new(&view, cutting, problem, ctx)?;
        let signatures = Signatures::new(&view.ensemble());
        let group: Vec<usize> =
            units.first.iter().map(|&i| signatures.group_of(i as usize)).collect();
        let by_unit = |counts: Vec<f64>| group.iter().map(|&a| counts[a]).collect::<Vec<f64>>();
        // [StrehlGhosh2002] §3.2: S = H·Hᵀ, H the indicators of all clusters: the weight of the members
        // that put both objects in one cluster. Row u of S, over the units of like objects:
        let row = |u: usize| {
            if view.is_uniform() {
                return by_unit(signatures.row(group[u]).into_iter().map(f64::from).collect());
            }
            let mut sums = vec![0.0; units.len()];
            for (labels, weight) in view.labels.iter().zip(&view.weights) {
                let own = labels[units.first[u] as usize];
                for (sum, &j) in sums.iter_mut().zip(&units.first) {
                    if own != NONE && labels[j as usize] == own {
                        *sum += weight;
                    }
                }
            }
            sums
        };
        // The complete graph with these weights, cut into k parts.
        pairwise::cut(&view, &units, cutting, row, ctx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::e12::{blank, e12};

    #[test]
    fn worked_example() {
        // Balanced as the parts of E12 are: at most 4 + 2 of 12 objects in a part.
        let (ensemble, problem) = e12();
        let cutting = Cutting { imbalance: Some(0.5), ..Cutting::default() };
        let cspa = Cspa { cutting, ..Cspa::default() };
        let c = cspa.combine(&ensemble, &problem, &Context::new(1)).unwrap();
        // By hand: 5 + 4 + 3 objects as the classes are, or 5 + 5 + 2; all pairs, τ counts.
        let count = |i: usize, j: usize| {
            ensemble.members().iter().filter(|m| m.labels[i] == m.labels[j]).count() as f64
        };
        let cut = |labels: &[u32]| -> f64 {
            let pairs = (0..12).flat_map(|i| (0..i).map(move |j| (i, j)));
            pairs.filter(|&(i, j)| labels[i] != labels[j]).map(|(i, j)| count(i, j)).sum()
        };
        let classes = [0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2];
        assert!(cut(&c.labels) <= cut(&classes));
        assert!(c.sizes().iter().all(|&s| s <= 6));
    }

    #[test]
    fn more_objects_than_the_limit_are_refused_with_the_alternative() {
        let (ensemble, problem) = e12();
        let e = Cspa { max_n: 11, ..Cspa::default() };
        let e = e.combine(&ensemble, &problem, &Context::new(1)).unwrap_err().to_string();
        assert!(e.starts_with("max_n: must be at least 12") && e.contains("hbgf"), "{e}");
        assert!(blank(4, 2).k.is_some());
    }

    #[test]
    fn a_weight_of_zero_silences_a_member() {
        let (ensemble, problem) = e12();
        let weights = Weights::Given(vec![1.0, 0.0, 0.0, 0.0, 0.0]);
        let cutting = Cutting { imbalance: Some(0.5), ..Cutting::default() };
        let cspa = Cspa { weights, cutting, ..Cspa::default() };
        let c = cspa.combine(&ensemble, &problem, &Context::new(1)).unwrap();
        assert_eq!(c.labels, ensemble.members()[0].labels);
    }
}
