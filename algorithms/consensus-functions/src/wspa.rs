//! Which objects lean towards the clusters of all members in the same way?

use mustlink_core::prelude::*;
use mustlink_partitioners::Engine;

use crate::cutting::{Cutting, Units};
use crate::members::{CanonicalEnsemble, Weights};
use crate::pairwise;
use crate::soft::{self, DistanceUnit};

/// WSPA: the graph of all pairs of objects, as similar as their cluster probabilities, cut into k parts.
///
/// # Method
/// In each member the similarity of two objects is the cosine of their rows of cluster probabilities
/// (those of `wbpa`); the mean over the members weighs the edge.
/// # Input and output
/// As `wbpa`.
/// # Errors
/// As `wbpa`; `BadParam` above `max_n`.
/// # Cost and randomness
/// O(n² Σk_t) time, 8 n² bytes for the graph and as much and more for cutting it. Random in the
/// partitioner.
/// # References
/// [AlRazganDomeniconi2006].
#[options]
pub struct Wspa {
    /// What cuts the graph.
    pub partitioner: Engine,
    /// No part is heavier than 1 + this times its share; at most k - 1.
    #[option(default = 0.03, min = 0.0)]
    pub imbalance: f64,
    /// Starts of the partitioner, of which the best cut is kept; absent: 10, fewer on graphs of more
    /// than half a million ends of edges.
    #[option(min = 1)]
    pub trials: Option<usize>,
    /// Edge weights are multiplied by this and rounded to whole numbers >= 1; lowered where their sum
    /// would pass 2³¹ - 1.
    #[option(default = 1e6, min = 1.0, max = 1e9)]
    pub weight_scale: f64,
    /// What distances are divided by.
    #[option(default = DistanceUnit::Raw)]
    pub distance_unit: DistanceUnit,
    /// More objects than this are refused.
    #[option(default = 8000, min = 1)]
    pub max_n: usize,
    /// Objects joined by must-links stay together.
    pub respect_must_link: bool,
    /// Objects kept apart by cannot-links go to different parts where the bounds allow it.
    pub respect_cannot_link: bool,
}

const INSTEAD: &str = "consensus = \"wbpa\", which cuts the same members without a table of pairs";

impl Wspa {
    fn cutting(&self) -> Cutting {
        Cutting {
            partitioner: self.partitioner,
            imbalance: self.imbalance,
            trials: self.trials,
            weight_scale: self.weight_scale,
            respect_must_link: self.respect_must_link,
            respect_cannot_link: self.respect_cannot_link,
        }
    }
}

#[plugin("wspa", cites = ["AlRazganDomeniconi2006", "KarypisKumar1998"])]
impl ConsensusFunction for Wspa {
    fn combine(&self, ensemble: &Ensemble, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        pairwise::limit(ensemble.n(), self.max_n, INSTEAD)?;
        let view = CanonicalEnsemble::new(ensemble, problem, &Weights::default(), "wspa")?;
        let cutting = self.cutting();
        cutting.check(view.k)?;
        let mut rows = soft::rows(&view, problem, self.distance_unit, "wspa", ctx)?;
        if let Some(trivial) = cutting.trivial(&view, problem)? {
            return Ok(trivial);
        }
        // Rows of unit length in every member, one after the other: their inner product is the sum
        // of the cosines.
        for mut row in rows.rows_mut() {
            let row = row.as_slice_mut().expect("standard layout");
            for t in 0..view.len() {
                let part = &mut row[view.first[t]..view.first[t + 1]];
                let norm = part.iter().map(|v| v * v).sum::<f32>().sqrt();
                // Half of the weight goes into each of the two rows of a product.
                let length = norm.max(f32::MIN_POSITIVE) / view.weights[t].sqrt() as f32;
                part.iter_mut().for_each(|v| *v /= length);
            }
        }
        let units = Units::single(&view, &cutting, problem)?;
        let members = view.len() as f64;
        let width = rows.ncols();
        let rows = rows.as_slice().expect("standard layout");
        let of = |i: usize| &rows[i * width..(i + 1) * width];
        let row = |u: usize| {
            let own = of(units.first[u] as usize);
            let cosine = |&j: &u32| {
                let sum: f32 = own.iter().zip(of(j as usize)).map(|(a, b)| a * b).sum();
                f64::from(sum) / members
            };
            units.first.iter().map(cosine).collect()
        };
        pairwise::cut(&view, &units, &cutting, row, ctx)
    }

    fn needs(&self) -> Needs {
        Needs {
            distances: true,
            complete: true,
            fixed_k: true,
            balanced: self.partitioner.is_balanced(),
            max_n: Some(self.max_n),
            instead: INSTEAD,
            reads_constraints: self.respect_must_link || self.respect_cannot_link,
            ..Needs::default()
        }
    }

    fn memory(&self, shape: &Shape, members: usize) -> u64 {
        (12 * shape.n * members * shape.k) as u64 + pairwise::memory(&self.cutting(), shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::soft::probabilities;
    use mustlink_laws::fixtures;

    #[test]
    fn printed_cosines() {
        let rows = [[1.0, 3.0], [2.0, 2.0], [4.0, 0.5]].map(|d| probabilities(&d));
        let cosine = |a: &[f64], b: &[f64]| {
            let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(p, q)| p * q).sum::<f64>();
            dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
        };
        for (a, b, printed) in [(0, 1, 0.894427), (0, 2, 0.514496), (1, 2, 0.843661)] {
            assert!((cosine(&rows[a], &rows[b]) - printed).abs() < 1e-6);
        }
    }

    #[test]
    fn groups_of_equal_size_are_found_from_distances() {
        let (problem, classes) = fixtures::dense(2);
        let x = problem.data.to_dense();
        let distances = ndarray::Array2::from_shape_fn((45, 3), |(i, c)| {
            let mates: Vec<usize> = (0..45).filter(|&j| classes[j] == c as u32).collect();
            let d = |j: usize| (&x.row(i) - &x.row(j)).mapv(|v| v * v).sum().sqrt();
            mates.iter().map(|&j| d(j)).sum::<f64>() / mates.len() as f64
        });
        let extras = Extras { distances: Some(distances), ..Extras::default() };
        let member = Member { extras, ..Member::from_labels(&classes) };
        let ensemble = Ensemble::new(45, vec![member; 2]).unwrap();
        let c = Wspa::default().combine(&ensemble, &problem, &Context::new(1)).unwrap();
        assert!(mustlink_kernels::agreement::contingency::adjusted_rand(&classes, &c.labels) > 0.9);
        assert!(c.sizes().iter().all(|&s| s <= 16));
        let small = Wspa { max_n: 44, ..Wspa::default() };
        let e = small.combine(&ensemble, &problem, &Context::new(1)).unwrap_err().to_string();
        assert!(e.contains("wbpa"), "{e}");
    }
}
