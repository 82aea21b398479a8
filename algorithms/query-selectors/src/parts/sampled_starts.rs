//! Good starts of k-means from a sample of many objects.
//!
//! Several starts guard against a poor optimum, and which of them is best shows on some thousand
//! objects as well as on a million. So the starts compete on a sample, each to its end, and the centres
//! of the best are moved by a few sweeps over all objects ([BradleyFayyad1998], with one sample). Up to
//! the size of the sample this is k-means with restarts, to the bit.

use mustlink_core::data::{Data, DataKind};
use mustlink_core::{Context, Problem, Result};

use mustlink_kernels::distance::points::{Distortion, Points};
use mustlink_kernels::kmeans::lloyd::{
    Algorithm, Empty, Stop, ToleranceKind, best_in_turn, best_of, lloyd, lloyd_by,
};
use mustlink_kernels::kmeans::seeding::{Init, start};

/// Starts, where a sweep of one takes at most `DISTANCES`; fewer in proportion beyond: with many
/// clusters the optima of different starts are equally good.
const STARTS: usize = 10;
const DISTANCES: usize = 1 << 22;
/// Objects of the sample for each cluster, at least.
const PER_CLUSTER: usize = 20;
/// Products in a sweep up to which a start is too short to be worth waking another thread, and from
/// which on it fills all threads by itself.
const SHORT: usize = 1 << 15;
const LONG: usize = 1 << 22;
/// As k-means has them by default.
const ITERATIONS: usize = 300;
const TOLERANCE: f64 = 1e-6;
/// The change of the objective, relative, that is worth another sweep over all objects.
const LAST_TOLERANCE: f64 = 1e-4;

/// K-means under squared Euclidean distance for callers that need many small clusters rather than the
/// best possible ones.
#[derive(Debug, Clone, Copy)]
pub struct SampledStarts {
    /// Clusters, `1..=n`.
    pub k: usize,
    /// Objects among which the starts compete, at least 20 for each cluster.
    pub sample: usize,
}

impl SampledStarts {
    /// Number of the n objects that the starts use.
    fn seen(&self, n: usize) -> usize {
        self.sample.max(self.k.saturating_mul(PER_CLUSTER)).min(n)
    }

    fn starts(&self, seen: usize) -> usize {
        (STARTS * DISTANCES / self.k.saturating_mul(seen).max(1)).clamp(1, STARTS)
    }

    /// One label in `0..k` per object; some clusters may be empty where rows are equal.
    ///
    /// # Errors
    /// Cancellation.
    pub fn labels(&self, data: &Data, ctx: &Context) -> Result<Vec<u32>> {
        let (n, k) = (data.n(), self.k);
        let seen = self.seen(n);
        let some = if seen < n {
            let mut rows = ctx.stream("sample").sample(n, seen);
            rows.sort_unstable();
            contiguous(&data.subset(&rows))?
        } else {
            contiguous(data)?
        };
        let points = Points::new(&some, Distortion::SquaredEuclidean)?;
        let problem = Problem::new(some);
        let stop = Stop::new(ITERATIONS, TOLERANCE, ToleranceKind::Relative);
        let run = |r: usize| {
            let ctx = ctx.index(r);
            let centres = start(&points, k, Init::KmeansPlusPlus, &problem, &ctx)?;
            lloyd_by(Algorithm::Auto, &points, centres, stop, Empty::Reseed, &ctx)
        };
        let products = seen.saturating_mul(k).saturating_mul(data.d());
        let best = if (SHORT..LONG).contains(&products) {
            best_of(self.starts(seen), run)?
        } else {
            best_in_turn(self.starts(seen), run)?
        };
        if seen == n {
            return Ok(best.labels);
        }
        let centres = best.extras.centers.expect("k-means gives its centres");
        let stop = Stop { tolerance: LAST_TOLERANCE, ..stop };
        let all = Points::new(data, Distortion::SquaredEuclidean)?;
        Ok(lloyd(&all, centres, stop, Empty::Reseed, ctx)?.labels)
    }

    /// Bytes needed for n objects in d features beyond them.
    pub fn memory(&self, n: usize, d: usize) -> u64 {
        let (seen, threads) = (self.seen(n), rayon::current_num_threads());
        let at_once = self.starts(seen).min(threads) as u64;
        let start = Algorithm::Auto.memory(seen, d, self.k, true) + (32 * seen) as u64;
        let results = (self.starts(seen) * (4 * seen + 8 * self.k * d)) as u64;
        let copy = (8 * seen * (d + 1)) as u64;
        let last = if seen < n { Algorithm::Auto.memory(n, d, self.k, true) } else { 0 };
        copy + at_once * start + results + last + (12 * n) as u64
    }
}

/// The same rows one after the other: starts and sweeps read them many times.
fn contiguous(data: &Data) -> Result<Data> {
    match data.kind() {
        DataKind::Dense if data.dense_slice().is_none() => Data::dense(data.to_dense()),
        _ => Ok(data.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::random::SeedPath;
    use mustlink_kernels::kmeans::lloyd::total_distortion;
    use ndarray::Array2;
    use proptest::prelude::*;

    fn blobs(n: usize, groups: usize, seed: u64) -> Data {
        let mut s = SeedPath::new(seed).stream("blobs");
        let x = Array2::from_shape_fn((n, 3), |(i, f)| {
            30.0 * (((i % groups) * (f + 2)) % groups) as f64 + s.normal()
        });
        Data::dense(x).unwrap()
    }

    fn objective(data: &Data, labels: &[u32], k: usize) -> f64 {
        let points = Points::new(data, Distortion::SquaredEuclidean).unwrap();
        let (centres, _) =
            mustlink_kernels::kmeans::means::means(&points, labels, Array2::zeros((k, data.d())));
        total_distortion(&points, labels, &centres)
    }

    proptest! {
        /// Separated groups are found whichever objects the starts see, and so is their optimum.
        #[test]
        fn a_sample_loses_nothing_that_is_plain(seed: u64, groups in 2usize..7) {
            let data = blobs(3000, groups, seed);
            let of = |sample: usize| {
                let made = SampledStarts { k: groups, sample };
                let labels = made.labels(&data, &Context::new(seed)).unwrap();
                assert!(labels.iter().all(|&l| (l as usize) < groups));
                objective(&data, &labels, groups)
            };
            prop_assert!(of(300) <= of(3000) * 1.001);
        }
    }

    #[test]
    fn a_list_of_rows_is_as_good_as_a_copy_of_them() {
        let data = blobs(900, 5, 3);
        let rows: Vec<usize> = (0..900).filter(|i| i % 3 != 1).collect();
        for sample in [50, 1000] {
            let made = SampledStarts { k: 4, sample };
            let listed = made.labels(&data.subset(&rows), &Context::new(3)).unwrap();
            let copy = Data::dense(data.subset(&rows).to_dense()).unwrap();
            assert_eq!(listed, made.labels(&copy, &Context::new(3)).unwrap());
        }
    }

    #[test]
    fn any_number_of_threads_gives_the_same_labels() {
        let data = blobs(5000, 8, 1);
        for sample in [400, 2500, 5000] {
            let at = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let made = SampledStarts { k: 20, sample };
                pool.install(|| made.labels(&data, &Context::new(1)).unwrap())
            };
            assert_eq!(at(1), at(2));
            assert_eq!(at(1), at(7));
        }
    }

    #[test]
    fn starts_are_fewer_where_each_is_long() {
        let starts = |n: usize, k: usize| {
            let made = SampledStarts { k, sample: 16_384 };
            (made.seen(n), made.starts(made.seen(n)))
        };
        assert_eq!(starts(1000, 25), (1000, 10));
        assert_eq!(starts(1_000_000, 100), (16_384, 10));
        assert_eq!(starts(1_000_000, 1000), (20_000, 2));
        assert_eq!(starts(100_000, 5000), (100_000, 1));
    }
}
