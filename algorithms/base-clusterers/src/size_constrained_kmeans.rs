//! K-means whose clusters have a smallest and a largest size.

use mustlink_core::prelude::*;
use mustlink_kernels::constrained::penalised_kmeans::distances;
use mustlink_kernels::distance::points::{Distortion, DistortionOption, Points};
use mustlink_kernels::kmeans::lloyd::{clustering, total_distortion};
use mustlink_kernels::kmeans::means::means;
use ndarray::Array2;

use crate::parts::sized_assignment::assign;
use crate::parts::starts::Starts;

/// K-means whose clusters have between `min_size` and `max_size` objects.
///
/// # Method
/// Lloyd's two steps. The first step assigns all objects together, with a minimum-cost flow, so that no assignment to
/// these centres with allowed sizes has a smaller objective. Objects need not be with their nearest centre.
/// # Input and output
/// n × d, dense or sparse. One label per object in `0..k`, k centres. The objective is the total distortion, and
/// never rises.
/// # Errors
/// `MissingK`, `BadK`, `TooManyClusters`; `BadParam` for sizes that n objects in k clusters cannot have.
/// # Cost and randomness
/// O(n·k·d) per sweep and O(k²) for every object that is moved from its nearest centre; O(n·k) memory; random only in
/// the first centres.
/// # References
/// [Bradley2000], extended by largest sizes.
#[options]
pub struct SizeConstrainedKMeans {
    /// Number of clusters, at most n. If absent, the k of the problem.
    #[option(min = 1)]
    pub k: Option<usize>,
    /// Smallest number of objects in a cluster, at most n / k.
    #[option(default = 1, min = 0)]
    pub min_size: usize,
    /// Largest number of objects in a cluster, at least n / k. If absent, no limit.
    #[option(min = 1)]
    pub max_size: Option<usize>,
    /// Distance from an object to a centre. "auto": cosine for sparse rows, otherwise squared Euclidean.
    pub distortion: AutoOr<Distortion>,
    /// Options shared by methods that take Lloyd's steps.
    #[option(flatten)]
    pub starts: Starts,
}

#[plugin("size_constrained_kmeans", aliases = ["k_means_constrained"], cites = ["Bradley2000"])]
impl BaseClusterer for SizeConstrainedKMeans {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let (n, k) = (problem.n(), problem.require_k(self.k, "size_constrained_kmeans")?);
        let (least, most) = (self.min_size, self.max_size.unwrap_or(n));
        if least.saturating_mul(k) > n {
            let legal = format!("at most {} ({n} objects in {k} clusters)", n / k);
            return Err(Error::bad_param("min_size", least, legal));
        }
        if most.saturating_mul(k) < n {
            let legal = format!("at least {} ({n} objects in {k} clusters)", n.div_ceil(k));
            return Err(Error::bad_param("max_size", most, legal));
        }
        if most < least {
            return Err(Error::bad_param("max_size", most, format!("at least min_size = {least}")));
        }
        let points = Points::new(&problem.data, self.distortion)?;
        self.starts.best(&points, k, problem, ctx, |centres, ctx| {
            self.run(&points, centres, (least, most), ctx)
        })
    }

    fn properties(&self) -> Properties {
        Properties {
            accepts: vec![DataKind::Dense, DataKind::Csr],
            needs_k: self.k.is_none(),
            gives_centers: true,
            ..Properties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let Shape { n, d, .. } = *shape;
        let k = self.k.unwrap_or(shape.k);
        let copy = self.distortion.copy_bytes(shape);
        let at_once = self.starts.restarts.min(reduce::WAVE).min(rayon::current_num_threads());
        // Costs, and moves of which those that were made may stand twice.
        (copy + at_once * (40 * n * k + 16 * n + 24 * k * d)) as u64
    }

    fn operations(&self, shape: &Shape) -> Option<f64> {
        Some(20.0 * self.starts.restarts as f64 * shape.sweep(self.k.unwrap_or(shape.k)))
    }
}

impl SizeConstrainedKMeans {
    fn run(
        &self,
        points: &Points,
        mut centres: Array2<f64>,
        (least, most): (usize, usize),
        ctx: &Context,
    ) -> Result<Clustering> {
        let (k, stop) = (centres.nrows(), self.starts.stop());
        let all: Vec<u32> = (0..points.n() as u32).collect();
        let mut labels = vec![NONE; points.n()];
        let mut history: Vec<IterStat> = Vec::new();
        let mut status = Status::MaxIter;
        for _ in 0..stop.max_iterations {
            ctx.check()?;
            let costs = distances(points, &centres, &all, 1.0);
            let next = assign(&costs, k, least, most, ctx)?;
            let moved = next.iter().zip(&labels).filter(|(a, b)| a != b).count();
            labels = next;
            centres = means(points, &labels, centres).0;
            let objective = total_distortion(points, &labels, &centres);
            let before = history.last().map(|s| s.objective);
            history.push(IterStat { objective, moved, violations: None });
            if moved == 0 || before.is_some_and(|b| stop.is_over(b, objective)) {
                status = Status::Converged;
                break;
            }
        }
        Ok(clustering(labels, centres, history, status, points.distortion()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kmeans::KMeans;
    use mustlink_laws::fixtures;
    use ndarray::array;
    use proptest::prelude::*;

    #[test]
    fn worked_example() {
        // 0 1 2 | 10: with two objects each, 2 goes to the other one: (0 − ½)² · 2 + (2 − 6)² · 2 = 32.5.
        let data = Data::dense(array![[0.0], [1.0], [2.0], [10.0]]).unwrap();
        let p = Problem::new(data).with_k(2);
        let run = |min_size, max_size| {
            let method =
                SizeConstrainedKMeans { min_size, max_size, ..SizeConstrainedKMeans::default() };
            let c = method.cluster(&p, &Context::new(1));
            c.map(|c| (mustlink_core::clustering::canonical(&c.labels), c.objective.unwrap()))
        };
        assert_eq!(run(1, None).unwrap(), (vec![0, 0, 0, 1], 2.0));
        for (least, most) in [(2, None), (0, Some(2)), (2, Some(2))] {
            assert_eq!(run(least, most).unwrap(), (vec![0, 0, 1, 1], 32.5));
        }
        assert_eq!(
            run(3, None).unwrap_err().to_string(),
            "min_size: must be at most 2 (4 objects in 2 clusters), got 3"
        );
        assert_eq!(
            run(1, Some(1)).unwrap_err().to_string(),
            "max_size: must be at least 2 (4 objects in 2 clusters), got 1"
        );
    }

    proptest! {
        #[test]
        fn sizes_hold_and_the_objective_falls(seed: u64, cosine: bool, least in 0usize..12, more in 0usize..8) {
            let (p, _) = fixtures::dense(seed % 50);
            let (n, k) = (p.n(), 3);
            let p = p.with_k(k);
            let least = least.min(n / k);
            let most = n.div_ceil(k) + more;
            let distortion = if cosine { Distortion::Cosine } else { Distortion::SquaredEuclidean };
            let method = SizeConstrainedKMeans {
                min_size: least, max_size: Some(most), distortion: distortion.into(),
                starts: Starts { tolerance: 0.0, restarts: 2, ..Starts::default() }, ..SizeConstrainedKMeans::default()
            };
            let c = method.cluster(&p, &Context::new(seed)).unwrap();
            prop_assert!(c.sizes().iter().all(|s| (least..=most).contains(s)), "{:?}", c.sizes());
            for w in c.history.windows(2) {
                prop_assert!(w[1].objective <= w[0].objective * (1.0 + 1e-12) + 1e-12);
            }
        }

        /// Without bounds it is k-means from the same starts.
        #[test]
        fn without_bounds_it_is_k_means(seed in 0u64..200) {
            let (p, _) = fixtures::dense(seed % 50);
            let p = p.with_k(3);
            let starts = Starts { restarts: 3, ..Starts::default() };
            let free = SizeConstrainedKMeans { min_size: 0, starts, ..SizeConstrainedKMeans::default() };
            let kmeans = KMeans { restarts: 3, ..KMeans::default() };
            let ctx = Context::new(seed);
            let (a, b) = (free.cluster(&p, &ctx).unwrap(), kmeans.cluster(&p, &ctx).unwrap());
            prop_assert_eq!(a.labels, b.labels);
        }
    }
}
