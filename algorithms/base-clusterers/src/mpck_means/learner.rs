//! The steps of metric pairwise-constrained k-means: labels, means and metrics.

use std::sync::Arc;

use mustlink_core::prelude::*;
use mustlink_kernels::constrained::constraint_groups::ConstraintGroups;
use mustlink_kernels::constrained::distance_costs::MetricPenalties;
use mustlink_kernels::constrained::icm::{PairwiseCosts, cheapest};
use mustlink_kernels::constrained::mahalanobis::{Floors, Metric, Scatter, Singular};
use mustlink_kernels::constrained::penalised_kmeans::PenalisedKMeans;
use mustlink_kernels::distance::points::{Distortion, Points, row, squared_distance};
use mustlink_kernels::distance::rows_by_label::by_label;
use mustlink_kernels::kmeans::lloyd::{Empty, clustering};
use mustlink_kernels::kmeans::means::means;
use ndarray::Array2;

/// Difference that counts as the largest in the cost of broken cannot-links.
#[options]
pub enum MaxPair {
    /// Between opposite corners of the box around all objects (diagonal metrics only).
    Box,
    /// From the second round on, when each cluster has its own metric: between opposite corners of the box around its
    /// members, times √d. This is the rule of the authors' program (diagonal metrics only).
    Cluster,
    /// Between the two objects farthest apart under the metric.
    Exact,
    /// Between the two cannot-linked objects farthest apart under the metric.
    FarthestCl,
}

/// Rows per block of an assignment.
const ROWS: usize = 256;

/// Which metrics are learned, and when a scatter counts as singular.
#[derive(Debug, Clone, Copy)]
pub(super) struct MetricOptions {
    /// Matrices, not weights of features.
    pub(super) full: bool,
    pub(super) max_pair: MaxPair,
    /// The box around all objects holds the origin too.
    pub(super) box_includes_origin: bool,
    /// Factor of log det A.
    pub(super) log_weight: f64,
    /// Smallest scatter that counts, relative.
    pub(super) floor_relative: f64,
    pub(super) singular: Singular,
    /// Learn at all; if not, the metric stays Euclidean.
    pub(super) learn: bool,
}

/// Quantities that are the same in all starts.
pub(super) struct Learner<'a> {
    pub(super) options: MetricOptions,
    pub(super) points: &'a Points,
    pub(super) soft: &'a PenalisedKMeans,
    pub(super) links: Arc<ConstraintGroups>,
    floors: Floors,
    /// Largest less smallest value of each feature.
    sides: Vec<f64>,
}

impl<'a> Learner<'a> {
    pub(super) fn new(
        options: MetricOptions,
        points: &'a Points,
        soft: &'a PenalisedKMeans,
        links: Arc<ConstraintGroups>,
    ) -> Self {
        let (n, d) = (points.n(), points.d());
        let origin = vec![0.0; d];
        let origin = options.box_includes_origin.then_some(&origin[..]);
        let rows = (0..n).map(|i| dense(points, i));
        let (low, high) = corners(d, origin.into_iter().chain(rows));
        let all: Vec<u32> = (0..n as u32).collect();
        let mean = points.mean(&all).expect("data is not empty");
        let variance = reduce::sum(n, |i| squared_distance(dense(points, i), &mean)) / n as f64;
        let magnitude: Vec<f64> =
            low.iter().zip(&high).map(|(l, h)| l.abs().max(h.abs())).collect();
        // Equal rows may miss their mean by a rounding error.
        let largest = magnitude.iter().copied().fold(0.0, f64::max);
        let rounding = 4.0 * f64::EPSILON * largest;
        let mean_variance = variance / d as f64;
        let floors = Floors {
            singular: options.singular,
            relative: options.floor_relative,
            mean_variance: if mean_variance > rounding * rounding { mean_variance } else { 0.0 },
            magnitude,
        };
        let sides = high.iter().zip(&low).map(|(h, l)| h - l).collect();
        Learner { options, points, soft, links, floors, sides }
    }

    pub(super) fn made(
        &self,
        labels: Vec<u32>,
        centres: Array2<f64>,
        metrics: Vec<Metric>,
        history: Vec<IterStat>,
        status: Status,
    ) -> Clustering {
        let (k, d) = centres.dim();
        let mut made = clustering(labels, centres, history, status, Distortion::SquaredEuclidean);
        let of = |h: usize| if metrics.len() == 1 { &metrics[0] } else { &metrics[h] };
        if self.options.full {
            made.extras.geometry = Geometry::Mahalanobis;
            let matrices = metrics.iter().map(|m| match m {
                Metric::Full { matrix, .. } => matrix.clone(),
                Metric::Diagonal(a) => Array2::from_diag(&ndarray::arr1(a)),
            });
            made.extras.metrics = Some(matrices.collect());
        } else {
            made.extras.geometry = Geometry::Weighted;
            made.extras.weights = Some(Array2::from_shape_fn((k, d), |(h, s)| match of(h) {
                Metric::Diagonal(a) => a[s],
                Metric::Full { matrix, .. } => matrix[[s, s]],
            }));
        }
        made
    }

    /// Cost of each object of a block in each cluster by itself.
    fn costs(
        &self,
        objects: &[u32],
        centres: &[Array2<f64>],
        metrics: &[Metric],
        k: usize,
    ) -> Vec<f64> {
        let d = self.points.d();
        let mut rows = Array2::zeros((objects.len(), d));
        for (mut to, &i) in rows.rows_mut().into_iter().zip(objects) {
            to.as_slice_mut()
                .expect("standard layout")
                .copy_from_slice(dense(self.points, i as usize));
        }
        let mut out = vec![0.0; objects.len() * k];
        for (m, metric) in metrics.iter().enumerate() {
            let images = metric.image(rows.clone());
            let log = self.options.log_weight * metric.log_det();
            let clusters = if metrics.len() == 1 { 0..k } else { m..m + 1 };
            for h in clusters {
                let centre = row(&centres[m], h);
                for at in 0..objects.len() {
                    out[at * k + h] = squared_distance(row(&images, at), centre) - log;
                }
            }
        }
        out
    }

    /// The images of the centres under each metric.
    fn images(&self, centres: &Array2<f64>, metrics: &[Metric]) -> Vec<Array2<f64>> {
        metrics.iter().map(|m| m.image(centres.clone())).collect()
    }

    /// Gives every free object its cheapest cluster; returns how many moved, and what the
    /// constrained ones pay by themselves, row by row.
    pub(super) fn assign(
        &self,
        centres: &Array2<f64>,
        metrics: &[Metric],
        labels: &mut [u32],
    ) -> (usize, Vec<f64>) {
        let k = centres.nrows();
        let images = self.images(centres, metrics);
        let constrained = self.links.constrained();
        let blocks = reduce::over(labels.chunks_mut(ROWS), |b, chunk| {
            let first = b * ROWS;
            let objects: Vec<u32> = (first as u32..(first + chunk.len()) as u32).collect();
            let costs = self.costs(&objects, &images, metrics, k);
            let (mut moved, mut own) = (0, Vec::new());
            for (at, label) in chunk.iter_mut().enumerate() {
                let cost = &costs[at * k..(at + 1) * k];
                if constrained[first + at] {
                    own.extend_from_slice(cost);
                } else {
                    let new = cheapest(cost, *label);
                    moved += usize::from(new != *label);
                    *label = new;
                }
            }
            (moved, own)
        });
        let moved = blocks.iter().map(|b| b.0).sum();
        (moved, blocks.into_iter().flat_map(|b| b.1).collect())
    }

    /// Fills empty clusters with the object that pays most for its own, where that lowers the
    /// objective; gives the number of objects moved.
    pub(super) fn refill(
        &self,
        centres: &mut Array2<f64>,
        metrics: &[Metric],
        labels: &mut [u32],
        penalties: &mut MetricPenalties,
    ) -> Result<usize> {
        let (n, k) = (self.points.n(), centres.nrows());
        let mut moved = 0;
        for h in 0..k {
            let sizes = sizes_of(labels, k);
            if sizes[h] > 0 {
                continue;
            }
            if self.soft.options.rules.empty == Empty::Error {
                let place = format!("cluster {h} is empty (empty = \"error\")");
                return Err(Error::NumericalFailure { place });
            }
            let images = self.images(centres, metrics);
            let of = |l: u32| if metrics.len() == 1 { 0 } else { l as usize };
            let mut far = vec![0.0; n];
            reduce::fill(&mut far, |i| {
                let l = labels[i];
                let x = dense(self.points, i).to_vec();
                let here = Array2::from_shape_vec((1, x.len()), x).expect("one row");
                let here = metrics[of(l)].image(here);
                let centre = row(&images[of(l)], l as usize);
                if sizes[l as usize] < 2 { 0.0 } else { squared_distance(row(&here, 0), centre) }
            });
            let object = (0..n).fold(0, |best, i| if far[i] > far[best] { i } else { best });
            let l = labels[object];
            let log = |c: u32| self.options.log_weight * metrics[of(c)].log_det();
            let mut cost = vec![0.0; k];
            penalties.add(object, labels, &mut cost);
            cost[l as usize] += far[object] - log(l);
            cost[h] -= log(h as u32);
            let noise = 64.0 * f64::EPSILON * self.points.norm(object);
            if far[object] > noise && cost[h] <= cost[l as usize] {
                penalties.moved(object, l, h as u32);
                labels[object] = h as u32;
                *centres = means(self.points, labels, std::mem::take(centres)).0;
                moved += 1;
            }
        }
        Ok(moved)
    }

    /// The scatter of members about their centres, added to that of the violations.
    pub(super) fn scatter(
        &self,
        labels: &[u32],
        centres: &Array2<f64>,
        violated: Vec<Scatter>,
    ) -> Vec<Scatter> {
        let (k, d) = centres.dim();
        let count = violated.len();
        let full = self.options.full;
        let of_block = |range: std::ops::Range<usize>| {
            let (offsets, order) = by_label(&labels[range.clone()], k);
            (0..count)
                .map(|m| {
                    let members =
                        if count == 1 { &order[..] } else { &order[offsets[m]..offsets[m + 1]] };
                    let mut rows = Array2::zeros((members.len(), d));
                    for (mut to, &at) in rows.rows_mut().into_iter().zip(members) {
                        let i = range.start + at as usize;
                        let centre = row(centres, labels[i] as usize);
                        let x = dense(self.points, i).iter().zip(centre);
                        to.iter_mut().zip(x).for_each(|(t, (v, c))| *t = v - c);
                    }
                    let mut sum = Scatter::zero(full, d);
                    sum.add_rows(&rows);
                    sum
                })
                .collect::<Vec<_>>()
        };
        let add = |mut a: Vec<Scatter>, b: Vec<Scatter>| {
            a.iter_mut().zip(&b).for_each(|(a, b)| a.add(b));
            a
        };
        let within = reduce::reduce(self.points.n(), of_block, add).expect("data is not empty");
        add(within, violated)
    }

    pub(super) fn update(
        &self,
        scatter: &[Scatter],
        sizes: &[usize],
        old: &[Metric],
    ) -> Result<Vec<Metric>> {
        let log = self.options.log_weight;
        let n = self.points.n() as f64;
        if scatter.len() == 1 {
            return Ok(vec![self.floors.invert(&scatter[0], log * n, n, &old[0])?]);
        }
        reduce::try_map(scatter.len(), |h| match sizes[h] {
            // One object has no scatter: its metric would grow without bound.
            0 | 1 => Ok(old[h].clone()),
            size => {
                let size = size as f64;
                self.floors.invert(&scatter[h], log * size, size, &old[h])
            }
        })
    }

    pub(super) fn objective(
        &self,
        metrics: &[Metric],
        scatter: &[Scatter],
        sizes: &[usize],
    ) -> f64 {
        let spread: f64 = metrics.iter().zip(scatter).map(|(a, b)| a.trace_with(b)).sum();
        let log: f64 = match metrics {
            [one] => self.points.n() as f64 * one.log_det(),
            _ => metrics.iter().zip(sizes).map(|(a, &size)| size as f64 * a.log_det()).sum(),
        };
        let objective = spread - self.options.log_weight * log;
        // Infinite costs of both signs are as far from a number as those of one.
        if objective.is_nan() { f64::INFINITY } else { objective }
    }

    /// The sides of the box around the members of each cluster, times √d.
    fn sides_of_clusters(&self, labels: &[u32], k: usize) -> Vec<Vec<f64>> {
        let d = self.points.d();
        let origin = vec![0.0; d];
        let (offsets, order) = by_label(labels, k);
        let of = |h: usize| {
            let members = order[offsets[h]..offsets[h + 1]].iter();
            let rows = members.map(|&i| dense(self.points, i as usize));
            let origin = self.options.box_includes_origin.then_some(&origin[..]);
            let (low, high) = corners(d, rows.chain(origin));
            let side = |(h, l): (&f64, &f64)| (h - l).max(0.0) * (d as f64).sqrt();
            high.iter().zip(&low).map(side).collect()
        };
        (0..k).map(of).collect()
    }

    /// The largest difference under each metric, given the labels after the first round.
    ///
    /// # Errors
    /// Cancellation.
    pub(super) fn spans(
        &self,
        metrics: &[Metric],
        labels: Option<&[u32]>,
        ctx: &Context,
    ) -> Result<Vec<Vec<f64>>> {
        let difference = |i: usize, j: usize| -> Vec<f64> {
            dense(self.points, i).iter().zip(dense(self.points, j)).map(|(a, b)| a - b).collect()
        };
        match self.options.max_pair {
            MaxPair::Box => Ok(vec![self.sides.clone(); metrics.len()]),
            MaxPair::Cluster => Ok(match labels.filter(|_| metrics.len() > 1) {
                None => vec![self.sides.clone(); metrics.len()],
                Some(labels) => self.sides_of_clusters(labels, metrics.len()),
            }),
            MaxPair::Exact => metrics
                .iter()
                .map(|metric| {
                    let images = metric.image(self.points.data().to_dense());
                    let (i, j) = farthest(&images, ctx)?;
                    Ok(difference(i, j))
                })
                .collect(),
            MaxPair::FarthestCl => {
                let pairs = self.soft.closure.constraints().pairs().iter();
                let apart: Vec<Vec<f64>> = pairs
                    .filter(|c| c.kind == Kind::CannotLink)
                    .map(|c| difference(c.i as usize, c.j as usize))
                    .collect();
                let largest = |metric: &Metric| {
                    let squares = reduce::map(apart.len(), |at| metric.square(&apart[at]));
                    let best =
                        (0..squares.len()).fold(None, |best: Option<usize>, at| match best {
                            Some(b) if squares[at] <= squares[b] => best,
                            _ => Some(at),
                        });
                    best.map_or_else(|| vec![0.0; self.points.d()], |at| apart[at].clone())
                };
                Ok(metrics.iter().map(largest).collect())
            }
        }
    }
}

/// Smallest and largest value of each feature.
fn corners<'a>(d: usize, rows: impl Iterator<Item = &'a [f64]>) -> (Vec<f64>, Vec<f64>) {
    let (mut low, mut high) = (vec![f64::INFINITY; d], vec![f64::NEG_INFINITY; d]);
    for row in rows {
        for (s, &v) in row.iter().enumerate() {
            low[s] = low[s].min(v);
            high[s] = high[s].max(v);
        }
    }
    (low, high)
}

/// The two rows farthest apart; ties: the lowest indexes.
///
/// # Errors
/// Cancellation.
pub(super) fn farthest(rows: &Array2<f64>, ctx: &Context) -> Result<(usize, usize)> {
    let n = rows.nrows();
    let of_row = |i: usize| -> Result<(f64, usize, usize)> {
        ctx.check()?;
        Ok((i + 1..n).fold((-1.0, i, i), |best: (f64, usize, usize), j| {
            let length = squared_distance(row(rows, i), row(rows, j));
            if length > best.0 { (length, i, j) } else { best }
        }))
    };
    let each = reduce::try_map(n, of_row)?.into_iter();
    let (_, i, j) = each.fold((-1.0, 0, 0), |a, b| if b.0 > a.0 { b } else { a });
    Ok((i, j))
}

pub(super) fn sizes_of(labels: &[u32], k: usize) -> Vec<usize> {
    by_label(labels, k).0.windows(2).map(|w| w[1] - w[0]).collect()
}

/// Row `i` of dense data.
pub(super) fn dense(points: &Points, i: usize) -> &[f64] {
    match points.data().row(i) {
        Row::Dense(x) => x,
        // Other kinds are refused before a run.
        Row::Sparse(_, x) => x,
    }
}
