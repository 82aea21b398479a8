//! WSPA: groups of objects with similar probabilities of the clusters of all members.

use mustlink_core::prelude::*;
use mustlink_core::soft_marks::obeying;

use crate::parts::canonical_ensemble::CanonicalEnsemble;
use crate::parts::cutting::{Cutting, Units};
use crate::parts::pairwise;
use crate::parts::weights::Weights;
use crate::wbpa::{DistanceUnit, distances, posteriors};

/// WSPA: the graph of all pairs of objects, weighted by the similarity of cluster probabilities, cut into k parts.
///
/// # Method
/// In each member the similarity of two objects is the cosine of their rows of cluster probabilities (those of `wbpa`).
/// The mean over the members is the weight of the edge. Constraints are treated as in `hbgf`.
/// # Input and output
/// As `wbpa`.
/// # Errors
/// Returns the errors of `wbpa`; `BadParam` above `max_n`.
/// # Cost and randomness
/// O(n² Σk_t) time, 8 n² bytes for the graph and at least as much for cutting it. Random in the partitioner.
/// # References
/// [AlRazganDomeniconi2006].
#[options]
pub struct Wspa {
    /// Options for cutting the graph.
    #[option(flatten)]
    pub cutting: Cutting,
    /// Divisor of distances.
    #[option(default = DistanceUnit::Raw)]
    pub distance_unit: DistanceUnit,
    /// Largest number of objects that is accepted.
    #[option(default = 8000, min = 1)]
    pub max_n: usize,
}

const INSTEAD: &str = "consensus = \"wbpa\", which cuts the same members without a table of pairs";

#[plugin("wspa", cites = ["AlRazganDomeniconi2006", "KarypisKumar1998"], version = 5)]
impl ConsensusFunction for Wspa {
    fn combine(&self, ensemble: &Ensemble, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        obeying("wspa", problem, ctx, |problem| self.obey(ensemble, problem, ctx))
    }

    fn needs(&self) -> Needs {
        Needs {
            distances: true,
            complete: true,
            max_n: Some(self.max_n),
            instead: INSTEAD,
            ..self.cutting.needs()
        }
    }

    fn memory(&self, shape: &Shape, members: usize) -> u64 {
        (12 * shape.n * members * shape.k) as u64 + pairwise::memory(&self.cutting, shape)
    }

    fn operations(&self, shape: &Shape, members: usize) -> f64 {
        let cosines = (shape.n as f64).powi(2) * (members * shape.k) as f64;
        let pairs = distances::operations(shape, members) + cosines;
        pairs + pairwise::operations(&self.cutting, shape)
    }
}

impl Wspa {
    /// The outcome under constraints that are all obeyed.
    fn obey(&self, ensemble: &Ensemble, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        pairwise::limit(ensemble.n(), self.max_n, INSTEAD)?;
        let view = CanonicalEnsemble::new(ensemble, problem, &Weights::default(), "wspa", ctx)?;
        let cutting = &self.cutting;
        cutting.check(view.k)?;
        // P_i: the row of object i holds P(C_l | x_i) for the clusters of all members.
        let mut p = posteriors(&view, problem, self.distance_unit, "wspa", ctx)?;
        if let Some(trivial) = cutting.trivial(&view, problem)? {
            return Ok(trivial);
        }
        // S_t(i, j) = P_i·P_j / (‖P_i‖ ‖P_j‖) within each member t: with rows of unit length in every
        // member, one after the other, an inner product is the sum of the cosines.
        for mut row in p.rows_mut() {
            let row = row.as_slice_mut().expect("standard layout");
            for t in 0..view.len() {
                let own = &mut row[view.columns(t)];
                let norm = own.iter().map(|v| v * v).sum::<f32>().sqrt();
                // Half of the weight goes into each of the two rows of a product.
                let length = norm.max(f32::MIN_POSITIVE) / view.weights[t].sqrt() as f32;
                own.iter_mut().for_each(|v| *v /= length);
            }
        }
        let units = Units::single(&view, cutting, problem, ctx)?;
        let members = view.len() as f64;
        let (width, p) = (p.ncols(), p.as_slice().expect("standard layout"));
        let of = |u: usize| &p[units.first[u] as usize * width..][..width];
        // Ψ = (1/τ) Σ_t S_t weighs the edges of the complete graph of the objects, which is cut.
        let row = |u: usize| {
            let cosine = |v: usize| {
                let sum: f32 = of(u).iter().zip(of(v)).map(|(a, b)| a * b).sum();
                f64::from(sum) / members
            };
            (0..units.len()).map(cosine).collect()
        };
        pairwise::cut(&view, &units, cutting, row, ctx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::e12::blank;
    use mustlink_laws::fixtures;

    #[test]
    fn printed_cosines() {
        let distances = ndarray::array![[1.0, 3.0], [2.0, 2.0], [4.0, 0.5]];
        let extras = Extras { distances: Some(distances), ..Extras::default() };
        let member = Member { extras, ..Member::from_labels(&[0, 0, 1]) };
        let ensemble = Ensemble::new(3, vec![member]).unwrap();
        let problem = blank(3, 2);
        let view = CanonicalEnsemble::new(
            &ensemble,
            &problem,
            &Weights::default(),
            "wspa",
            &Context::new(1),
        )
        .unwrap();
        let unit = DistanceUnit::Raw;
        let rows = posteriors(&view, &problem, unit, "wspa", &Context::new(1)).unwrap();
        let rows: Vec<Vec<f64>> =
            rows.outer_iter().map(|row| row.iter().copied().map(f64::from).collect()).collect();
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
