//! The reach of a constraint around an object of a cluster.
//!
//! The metrics of a clustering, the size of each cluster under its own, and the exponent q of the
//! Gaussian around an object.

use linfa_linalg::cholesky::Cholesky;
use linfa_linalg::eigh::Eigh;
use mustlink_core::prelude::*;
use mustlink_kernels::distance::kd_tree::{KdTree, gaps};
use ndarray::Array2;

/// Source of the metrics of the clusters.
#[options]
pub enum MetricSource {
    /// The metrics of the clustering; without any, as `cluster_cov`.
    #[default]
    Base,
    /// Inverse of the diagonal covariance of each cluster.
    ClusterCov,
    /// Inverse of the diagonal covariance around the centres, of all clusters together.
    PooledCov,
    /// The identity: Euclidean distance.
    Identity,
}

/// Formula for the width of the Gaussians of a cluster, from its size (n_h).
#[options]
pub enum ScaleRule {
    /// radius / (3 σ) as printed: depends on the unit of the data.
    #[default]
    Printed,
    /// (radius / 3)²: three standard deviations reach the outermost member, in any unit.
    Calibrated,
}

/// Share of the mean variance added to the diagonal of an estimated covariance.
const RIDGE: f64 = 1e-6;
/// Full metrics of a larger condition search without the tree: their inverse is not exact enough.
const TREE_CONDITION: f64 = 1e9;
/// Widening of the half axes of an ellipsoid, which come from an inverse.
const TREE_SLACK: f64 = 1e-6;

/// A positive definite metric.
#[derive(Debug, Clone)]
pub enum Metric {
    /// Σ a (x − y)².
    Diagonal(Vec<f64>),
    /// ‖Lᵀ(x − y)‖².
    Full {
        /// L, lower triangular, with L·Lᵀ the metric.
        factor: Array2<f64>,
        /// Diagonal of the inverse of the metric.
        inverse: Vec<f64>,
        /// Smallest eigenvalue of the metric.
        least: f64,
        /// Largest over smallest eigenvalue.
        condition: f64,
    },
}

impl Metric {
    /// From a matrix; one without entries off the diagonal becomes diagonal.
    fn of_matrix(a: &Array2<f64>) -> Option<Metric> {
        let d = a.nrows();
        let off = a.indexed_iter().any(|((s, t), v)| s != t && *v != 0.0);
        if !off {
            return Metric::of_weights((0..d).map(|s| a[[s, s]]).collect());
        }
        if a.iter().any(|v| !v.is_finite()) {
            return None;
        }
        let (values, _) = a.eigh().ok()?;
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = values.iter().copied().fold(0.0, f64::max);
        let factor = a.cholesky().ok()?;
        if least <= 0.0 || (0..d).any(|s| factor[[s, s]].is_nan() || factor[[s, s]] <= 0.0) {
            return None;
        }
        // A⁻¹ = L⁻ᵀ·L⁻¹: its diagonal is the squared lengths of the columns of L⁻¹.
        let mut root = Array2::<f64>::zeros((d, d));
        for s in 0..d {
            for t in s..d {
                let known: f64 = (s..t).map(|u| factor[[t, u]] * root[[u, s]]).sum();
                let one = if s == t { 1.0 } else { 0.0 };
                root[[t, s]] = (one - known) / factor[[t, t]];
            }
        }
        let inverse = (0..d).map(|s| root.column(s).iter().map(|v| v * v).sum()).collect();
        Some(Metric::Full { factor, inverse, least, condition: largest / least })
    }

    fn of_weights(a: Vec<f64>) -> Option<Metric> {
        a.iter().all(|v| v.is_finite() && *v > 0.0).then_some(Metric::Diagonal(a))
    }

    /// Squared distance, from differences. Of diagonal metrics it never falls when a difference
    /// grows in size, rounded or not.
    fn squared(&self, x: &[f64], y: &[f64]) -> f64 {
        match self {
            Metric::Diagonal(a) => {
                a.iter().zip(x.iter().zip(y)).map(|(a, (x, y))| a * ((x - y) * (x - y))).sum()
            }
            Metric::Full { factor, .. } => {
                let d = x.len();
                let column = |t: usize| -> f64 {
                    (t..d).map(|s| factor[[s, t]] * (x[s] - y[s])).sum::<f64>()
                };
                (0..d).map(|t| column(t) * column(t)).sum()
            }
        }
    }

    /// σ_pc1: the standard deviation along the longest axis of A⁻¹.
    fn widest(&self) -> f64 {
        let least = match self {
            Metric::Diagonal(a) => a.iter().copied().fold(f64::INFINITY, f64::min),
            Metric::Full { least, .. } => *least,
        };
        1.0 / least.sqrt()
    }
}

/// Row `i` of dense or sparse data, in `scratch` where it is sparse: nothing is densified as a whole.
fn row<'a>(data: &'a Data, i: usize, scratch: &'a mut Vec<f64>) -> &'a [f64] {
    match data.row(i) {
        Row::Dense(x) => x,
        sparse @ Row::Sparse(..) => {
            scratch.clear();
            scratch.resize(data.d(), 0.0);
            sparse.add_to(scratch, 1.0);
            scratch
        }
    }
}

/// A cluster with at least one object, as a Gaussian sees it.
struct Cluster {
    metric: usize,
    centre: Vec<f64>,
    /// n_h.
    scale: f64,
}

/// The metrics and sizes of the clusters of a clustering.
pub struct ClusterMetrics<'a> {
    data: &'a Data,
    labels: &'a [u32],
    metrics: Vec<Metric>,
    clusters: Vec<Option<Cluster>>,
}

impl<'a> ClusterMetrics<'a> {
    /// Measures `clustering`.
    ///
    /// # Errors
    /// `NumericalFailure` for a metric that is not positive definite.
    pub fn new(
        data: &'a Data,
        clustering: &'a Clustering,
        source: MetricSource,
        rule: ScaleRule,
    ) -> Result<Self> {
        let labels = &clustering.labels[..];
        let k = clustering.k;
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); k];
        labels.iter().enumerate().for_each(|(i, &l)| members[l as usize].push(i as u32));
        let centres = centres(data, clustering, &members);
        let extras = &clustering.extras;
        let given = extras.metrics.is_some() || extras.weights.is_some();
        let source = match source {
            MetricSource::Base if !given => MetricSource::ClusterCov,
            other => other,
        };
        let (metrics, metric_of): (Vec<Option<Metric>>, Vec<usize>) = match source {
            MetricSource::Identity => (vec![Metric::of_weights(vec![1.0; data.d()])], vec![0; k]),
            MetricSource::Base => own_metrics(extras, &members),
            MetricSource::ClusterCov | MetricSource::PooledCov => {
                let pooled = source == MetricSource::PooledCov;
                covariances(data, &members, &centres, pooled)
            }
        };
        let mut made = ClusterMetrics { data, labels, metrics: Vec::new(), clusters: Vec::new() };
        let mut place = vec![None; metrics.len()];
        for (at, metric) in metrics.into_iter().enumerate() {
            if let Some(metric) = metric {
                place[at] = Some(made.metrics.len());
                made.metrics.push(metric);
            }
        }
        for (h, centre) in centres.into_iter().enumerate() {
            let cluster = match centre {
                None => None,
                Some(centre) => {
                    let metric = place[metric_of[h]].ok_or_else(|| Error::NumericalFailure {
                        place: format!(
                            "gaussian: the metric of cluster {h}, which is not positive definite"
                        ),
                    })?;
                    let scale = made.scale(&members[h], metric, &centre, rule);
                    Some(Cluster { metric, centre, scale })
                }
            };
            made.clusters.push(cluster);
        }
        Ok(made)
    }

    /// n_h.
    fn scale(&self, members: &[u32], metric: usize, centre: &[f64], rule: ScaleRule) -> f64 {
        let metric = &self.metrics[metric];
        let mut scratch = Vec::new();
        let farthest = members
            .iter()
            .map(|&i| metric.squared(self.row(i as usize, &mut scratch), centre))
            .fold(0.0, f64::max);
        let radius = farthest.sqrt();
        match rule {
            ScaleRule::Printed => radius / (3.0 * metric.widest()),
            ScaleRule::Calibrated => (radius / 3.0) * (radius / 3.0),
        }
    }

    /// The Gaussian around object `i`; `centrality` narrows it for objects away from the centre.
    ///
    /// # Errors
    /// `NumericalFailure` when its width is not finite.
    pub fn reach(&self, i: usize, centrality: bool) -> Result<Reach<'_>> {
        let mut scratch = Vec::new();
        let at = self.row(i, &mut scratch).to_vec();
        let h = self.labels[i] as usize;
        let Some(cluster) = &self.clusters[h] else {
            // The cluster of an object has that object.
            return Err(Error::NumericalFailure { place: format!("gaussian: cluster {h}") });
        };
        let metric = &self.metrics[cluster.metric];
        let central = if centrality {
            // Eq. 3.6: with n·A⁻¹ of the cluster, not with the propagation covariance.
            (-metric.squared(&at, &cluster.centre) / (2.0 * cluster.scale)).exp()
        } else {
            1.0
        };
        let width = central * cluster.scale;
        if width.is_infinite() {
            let place = format!("gaussian: the size of cluster {h}");
            return Err(Error::NumericalFailure { place });
        }
        // 0/0 of a cluster at one place is no width either.
        let wide = width >= 1e-300;
        Ok(Reach { metric, at, twice_width: wide.then_some(2.0 * width) })
    }

    /// Row `i`, in `scratch` where it is sparse.
    pub fn row<'b>(&'b self, i: usize, scratch: &'b mut Vec<f64>) -> &'b [f64] {
        row(self.data, i, scratch)
    }
}

/// The centres of non-empty clusters: the clustering's, or the means of members where it has none
/// or only directions.
fn centres(data: &Data, clustering: &Clustering, members: &[Vec<u32>]) -> Vec<Option<Vec<f64>>> {
    let d = data.d();
    let own = clustering
        .extras
        .centers
        .as_ref()
        .filter(|c| c.dim() == (members.len(), d))
        .filter(|_| clustering.extras.geometry != Geometry::Cosine);
    let mut scratch = Vec::new();
    members
        .iter()
        .enumerate()
        .map(|(h, set)| match own {
            _ if set.is_empty() => None,
            Some(centres) => Some(centres.row(h).to_vec()),
            None => {
                let mut mean = vec![0.0; d];
                for &i in set {
                    let x = row(data, i as usize, &mut scratch);
                    mean.iter_mut().zip(x).for_each(|(m, v)| *m += v);
                }
                mean.iter_mut().for_each(|m| *m /= set.len() as f64);
                Some(mean)
            }
        })
        .collect()
}

/// The metrics a clustering brings, and which of them belongs to each cluster.
fn own_metrics(extras: &Extras, members: &[Vec<u32>]) -> (Vec<Option<Metric>>, Vec<usize>) {
    let k = members.len();
    let of = |count: usize| (0..k).map(|h| h.min(count.saturating_sub(1))).collect();
    let used =
        |at: usize, count: usize| count == 1 || members.get(at).is_some_and(|m| !m.is_empty());
    match (&extras.metrics, &extras.weights) {
        (Some(all), _) => {
            let metric =
                |(at, a): (usize, &Array2<f64>)| used(at, all.len()).then(|| Metric::of_matrix(a));
            (all.iter().enumerate().map(|m| metric(m).flatten()).collect(), of(all.len()))
        }
        (None, Some(weights)) => {
            let metrics = weights.rows().into_iter().map(|w| Metric::of_weights(w.to_vec()));
            (metrics.collect(), of(weights.nrows()))
        }
        (None, None) => (vec![None], vec![0; k]),
    }
}

/// Inverse diagonal covariances with a ridge, of each cluster or of all together.
fn covariances(
    data: &Data,
    members: &[Vec<u32>],
    centres: &[Option<Vec<f64>>],
    pooled: bool,
) -> (Vec<Option<Metric>>, Vec<usize>) {
    let (n, d) = (data.n(), data.d());
    let mut scratch = Vec::new();
    let mut sums = |set: &[u32], centre: &[f64]| {
        let mut sum = vec![0.0; d];
        for &i in set {
            let x = row(data, i as usize, &mut scratch);
            for (s, v) in sum.iter_mut().enumerate() {
                *v += (x[s] - centre[s]) * (x[s] - centre[s]);
            }
        }
        sum
    };
    let all: Vec<u32> = (0..n as u32).collect();
    let mean: Vec<f64> = {
        let total = reduce::reduce(
            n,
            |range| {
                let mut sum = vec![0.0; d];
                range.for_each(|i| data.row(i).add_to(&mut sum, 1.0));
                sum
            },
            |mut a, b| {
                a.iter_mut().zip(&b).for_each(|(x, y)| *x += y);
                a
            },
        );
        total.unwrap_or_else(|| vec![0.0; d]).iter().map(|v| v / n as f64).collect()
    };
    let ridge = RIDGE * sums(&all, &mean).iter().sum::<f64>() / (n * d) as f64;
    // All rows equal: any metric will do.
    let invert = |variance: f64| if ridge > 0.0 { 1.0 / (variance + ridge) } else { 1.0 };
    let within: Vec<Vec<f64>> = members
        .iter()
        .zip(centres)
        .map(|(set, centre)| centre.as_ref().map_or_else(|| vec![0.0; d], |c| sums(set, c)))
        .collect();
    if pooled {
        let sum = |s: usize| within.iter().map(|w| w[s]).sum::<f64>();
        let a = (0..d).map(|s| invert(sum(s) / n as f64)).collect();
        return (vec![Metric::of_weights(a)], vec![0; members.len()]);
    }
    let metric = |(set, sum): (&Vec<u32>, &Vec<f64>)| {
        let count = set.len().max(1) as f64;
        Metric::of_weights(sum.iter().map(|v| invert(v / count)).collect())
    };
    (members.iter().zip(&within).map(metric).collect(), (0..members.len()).collect())
}

/// The Gaussian around one object.
pub struct Reach<'a> {
    metric: &'a Metric,
    at: Vec<f64>,
    /// 2·s·n; absent where only exact duplicates are reached.
    twice_width: Option<f64>,
}

impl Reach<'_> {
    /// The exponent q ≥ 0 for a place.
    pub fn exponent(&self, x: &[f64]) -> f64 {
        match self.twice_width {
            Some(width) => self.metric.squared(x, &self.at) / width,
            None if x == self.at => 0.0,
            None => f64::INFINITY,
        }
    }

    /// Objects with an exponent of at most `tau`, with it, smallest first, ties by index.
    pub fn within(
        &self,
        tau: f64,
        rows: &ClusterMetrics,
        tree: Option<&KdTree>,
    ) -> Vec<(f64, u32)> {
        let mut inside = Vec::new();
        let mut look = |i: u32, x: &[f64]| {
            let q = self.exponent(x);
            if q <= tau {
                inside.push((q, i));
            }
        };
        let exact =
            !matches!(self.metric, Metric::Full { condition, .. } if *condition > TREE_CONDITION);
        match tree.filter(|_| exact) {
            Some(tree) => {
                let mut gap = vec![0.0; self.at.len()];
                tree.search(
                    |low, high| {
                        gaps(&self.at, low, high, &mut gap);
                        self.possible(&gap, tau)
                    },
                    look,
                );
            }
            None => {
                let mut scratch = Vec::new();
                for i in 0..rows.labels.len() {
                    look(i as u32, rows.row(i, &mut scratch));
                }
            }
        }
        order::sort_objects(&mut inside);
        inside
    }

    /// True if an object this far away in each feature can have an exponent of at most `tau`.
    fn possible(&self, gap: &[f64], tau: f64) -> bool {
        match (self.twice_width, self.metric) {
            (None, _) => gap.iter().all(|&g| g == 0.0),
            // The same operations as for the exponent: rounding cannot lose an object.
            (Some(width), Metric::Diagonal(a)) => {
                a.iter().zip(gap).map(|(a, g)| a * (g * g)).sum::<f64>() / width <= tau
            }
            // Inside the box around the ellipsoid.
            (Some(width), Metric::Full { inverse, .. }) => gap
                .iter()
                .zip(inverse)
                .all(|(g, inverse)| g * g <= tau * width * inverse * (1.0 + TREE_SLACK)),
        }
    }
}
