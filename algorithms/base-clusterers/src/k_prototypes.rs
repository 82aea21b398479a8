//! K-prototypes: k-means whose centres have one word in each column of words.

#[cfg(test)]
mod tests;
mod word_columns;

use mustlink_core::clustering::Geometry;
use mustlink_core::prelude::*;
use mustlink_kernels::distance::points::{Distortion, Points};
use mustlink_kernels::kmeans::lloyd::{Empty, Stop, clustering, refill, total_distortion};
use mustlink_kernels::kmeans::means::means;
use mustlink_kernels::kmeans::nearest::assign::assign;
use ndarray::Array2;

use crate::parts::starts::Starts;
use word_columns::WordColumns;

/// K-prototypes: k-means for numbers and words, whose centres have one word in each column of words.
///
/// # Method
/// Lloyd's two steps. The distance of an object to a centre is the sum of squared differences of numbers, plus `gamma`
/// for each column with another word. A centre has the means of the numbers of its objects and their most frequent
/// words, of equally frequent ones the first. Without numbers, this is k-modes.
///
/// The columns of words are those that `one_hot` makes: put it in front, and `impute_missing` if words are missing.
/// Consecutive columns with two values each hold words if exactly one of them has its larger value in each row. Their
/// scale does not matter, because `gamma` replaces it, so steps such as `z_score` can follow.
///
/// K-means on the same columns is another method: its centres have shares of words. On columns of 0 and √(`gamma` / 2),
/// a column of words costs it (1 - Σ p²) `gamma` / 2 for each object of a cluster with shares p, here it costs (1 - max
/// p) `gamma`. That is between one and two times as much, and the best clusters can differ.
/// # Input and output
/// n × d dense; objects may have weights. One label per object in `0..k`, k centres, and the weights of the columns.
/// The objective is the sum of the distances, and never rises. The number of columns of words is reported, and `gamma`.
/// # Errors
/// `MissingK`, `BadK`, `TooManyClusters`; `NumericalFailure` for an empty cluster if `empty = "error"`.
/// # Cost and randomness
/// O(sweeps · n·k·d), memory O(n·d); random only in the first centres.
/// # References
/// [Huang1998]. Differs: centres change after all objects, not after each, and the first centres are those of k-means.
/// "auto" is the default of the Python package kmodes 0.12: [Huang1998] advises multiples of the mean standard
/// deviation. It depends on the unit of the numbers, because a deviation is compared with squares: with `z_score`, it
/// is always ½.
#[options]
pub struct KPrototypes {
    /// Number of clusters, at most n. If absent, the k of the problem.
    #[option(min = 1)]
    pub k: Option<usize>,
    /// Distance of two different words. "auto": half the mean standard deviation of the columns of numbers that vary,
    /// or 1 without such columns.
    #[option(default = AutoOr::Auto, above = 0.0)]
    pub gamma: AutoOr<f64>,
    /// Options shared by methods that take Lloyd's steps.
    #[option(flatten)]
    pub starts: Starts,
    /// Treatment of a cluster that has no objects.
    #[option(default = Empty::Reseed)]
    pub empty: Empty,
}

#[plugin("k_prototypes", aliases = ["k_modes"], cites = ["Huang1998"])]
impl BaseClusterer for KPrototypes {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let k = problem.require_k(self.k, "k_prototypes")?;
        let words = WordColumns::of(&problem.data, self.gamma);
        let seen = words.scaled(problem)?;
        let points = Points::new(&seen.data, Distortion::SquaredEuclidean)?;
        let mut best = self.starts.best(&points, k, &seen, ctx, |centres, ctx| {
            self.sweeps(&points, &words, centres, self.starts.stop(), ctx)
        })?;
        let weights = words.weights();
        let extras = &mut best.extras;
        extras.centers = extras.centers.take().map(|centres| words.unscaled(centres));
        extras.geometry = Geometry::Weighted;
        extras.weights = Some(Array2::from_shape_fn((k, problem.d()), |(_, s)| weights[s]));
        extras.diagnostics.insert("gamma".into(), words.gamma());
        extras.diagnostics.insert("word_columns".into(), words.len() as f64);
        Ok(best)
    }

    fn properties(&self) -> Properties {
        Properties {
            needs_k: self.k.is_none(),
            object_weights: true,
            gives_centers: true,
            learns_weights: true,
            ..Properties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let Shape { n, d, .. } = *shape;
        let k = self.k.unwrap_or(shape.k).min(n);
        let at_once = self.starts.restarts.min(reduce::WAVE);
        // The scaled objects twice while they are made, and their norms.
        (16 * n * d + 24 * n + 64 * d + at_once * (24 * n + 48 * k * d)) as u64
    }
}

impl KPrototypes {
    /// One start, on columns of words that are scaled.
    fn sweeps(
        &self,
        points: &Points,
        words: &WordColumns,
        mut centres: Array2<f64>,
        stop: Stop,
        ctx: &Context,
    ) -> Result<Clustering> {
        let k = centres.nrows();
        words.choose(&mut centres);
        let prototypes = |labels: &[u32], centres: Array2<f64>| {
            let (mut centres, sizes) = means(points, labels, centres);
            words.choose(&mut centres);
            (centres, sizes)
        };
        let mut labels = vec![NONE; points.n()];
        let mut history: Vec<IterStat> = Vec::new();
        let mut status = Status::MaxIter;
        for _ in 0..stop.max_iterations {
            ctx.check()?;
            let before = labels.clone();
            assign(points, &centres, &mut labels, None);
            let sizes;
            (centres, sizes) = prototypes(&labels, centres);
            if (0..k).any(|h| sizes[h] == 0)
                && refill(points, &mut labels, &mut centres, self.empty, &mut ())? > 0
            {
                (centres, _) = prototypes(&labels, centres);
            }
            let moved = labels.iter().zip(&before).filter(|(a, b)| a != b).count();
            let objective = total_distortion(points, &labels, &centres);
            let last = history.last().map(|s| s.objective);
            history.push(IterStat { objective, moved, violations: None });
            if moved == 0 || last.is_some_and(|before| stop.is_over(before, objective)) {
                status = Status::Converged;
                break;
            }
        }
        Ok(clustering(labels, centres, history, status, points.distortion()))
    }
}
