//! The silhouette: the distance to the own cluster compared with the next one.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Range;

use mustlink_core::prelude::*;
use mustlink_kernels::distance::points::{Distortion, Points, row, row_norms, squared_distance};
use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, Axis, Slice};

use crate::parts::agreement::within;
use crate::parts::geometry::{Groups, data, finite, rows};

/// A cosine distance below this is rounding: the rows are parallel.
const PARALLEL: f64 = 1e-14;

/// Distance between two objects.
#[options]
pub enum Distance {
    /// √Σ(x − y)².
    #[default]
    Euclidean,
    /// 1 − cos(x, y); an object of zeros has distance 1 to all others.
    Cosine,
}

/// Silhouette: mean over objects of (b − a) / max(a, b).
///
/// a is the mean distance to the other objects of the same cluster, b the smallest mean distance to another cluster.
/// An object alone in its cluster scores 0. Undefined for fewer than two clusters and if all clusters are singletons.
/// Dense or sparse data, or distances, which are used unchanged.
/// # Cost and randomness
/// O(N² d) for up to `max_n` objects. Above, a sample of this size is scored, by the distances within it. Each cluster
/// gets its share of the sample, at least two objects if it has them, and is weighted by its size. If there are too
/// many clusters for two objects each, as many clusters as fit are sampled. Only the sample is random; `seed` fixes it.
/// # References
/// [Rousseeuw1987].
#[options]
pub struct Silhouette {
    /// Distance between two objects.
    pub distance: Distance,
    /// Largest number of objects that are all compared with each other.
    #[option(default = 5000, min = 2)]
    pub max_n: usize,
    /// Seed of the sample.
    #[option(min = 0)]
    pub seed: u64,
}

/// Objects whose distances to all others are taken at once.
const BLOCK: usize = 64;

/// Below this share of the squared lengths, a squared distance is taken by differences: what is
/// left of it by products has lost too many digits.
const CANCELLATION: f64 = 1e-4;

/// Distances from some objects to all.
enum Reach {
    /// Dense rows around their mean, with squared lengths.
    Products(Array2<f64>, Vec<f64>),
    Points(Points),
    Matrix(Data),
}

impl Reach {
    fn new(data: Data, distance: Distance) -> Result<Self> {
        Ok(match (data.kind(), distance) {
            (DataKind::Distances, _) => Reach::Matrix(data),
            (_, Distance::Cosine) => Reach::Points(Points::new(&data, Distortion::Cosine)?),
            (DataKind::Dense, Distance::Euclidean) => {
                let mut x = data.to_dense();
                let mean = x.mean_axis(Axis(0)).expect("there are objects");
                x -= &mean;
                let norms = row_norms(&x);
                Reach::Products(x, norms)
            }
            (_, Distance::Euclidean) => {
                Reach::Points(Points::new(&data, Distortion::SquaredEuclidean)?)
            }
        })
    }

    /// Distances of the objects `from` to all `n`, row by row.
    fn distances(&self, from: Range<usize>, n: usize) -> Array2<f64> {
        let points = match self {
            Reach::Matrix(data) => {
                return Array2::from_shape_fn((from.len(), n), |(at, j)| {
                    data.pair(from.start + at, j)
                });
            }
            Reach::Products(x, norms) => {
                let mut out = Array2::zeros((from.len(), n));
                let some = x.slice_axis(Axis(0), Slice::from(from.clone()));
                general_mat_mul(1.0, &some, &x.t(), 0.0, &mut out);
                for (i, mut line) in from.zip(out.rows_mut()) {
                    for (j, product) in line.iter_mut().enumerate() {
                        let lengths = norms[i] + norms[j];
                        let mut squared = lengths - 2.0 * *product;
                        if squared < CANCELLATION * lengths {
                            squared = squared_distance(row(x, i), row(x, j));
                        }
                        *product = squared.sqrt();
                    }
                }
                return out;
            }
            Reach::Points(points) => points,
        };
        let mut out = Array2::zeros((from.len(), n));
        let mut centre = vec![0.0; points.d()];
        for (i, mut line) in from.zip(out.rows_mut()) {
            centre.fill(0.0);
            points.data().row(i).add_to(&mut centre, 1.0);
            let distance = |j: usize| points.distance(j, &centre, points.norm(i));
            line.iter_mut().enumerate().for_each(|(j, to)| {
                *to = match points.distortion() {
                    Distortion::SquaredEuclidean => distance(j).sqrt(),
                    // Rounding leaves cosines of parallel rows just beside 1.
                    Distortion::Cosine if distance(j) < PARALLEL => 0.0,
                    Distortion::Cosine => distance(j),
                }
            });
        }
        out
    }
}

impl Silhouette {
    /// The objects that are scored, with the silhouette of each; `None` where it is not defined.
    ///
    /// # Errors
    /// `BadParam` for lengths that differ; `UnsupportedData` for affinities.
    pub fn values(&self, input: &MetricInput) -> Result<Option<Vec<(usize, f64)>>> {
        let accepts = [DataKind::Dense, DataKind::Csr, DataKind::Distances];
        let data = data(self.typetag_name(), input, &accepts)?;
        let rows = self.sample(rows(input), input.labels);
        let n = rows.len();
        let groups = Groups::new(rows.iter().map(|&i| input.labels[i]));
        let k = groups.members.len();
        if k < 2 || k == n {
            return Ok(None);
        }
        let data = if n == data.n() { data.clone() } else { data.subset(&rows) };
        let reach = Reach::new(data, self.distance)?;
        let mut values = vec![0.0; n];
        let filled = reduce::over(values.chunks_mut(BLOCK), |b, block| -> Result<()> {
            input.check()?;
            let from = b * BLOCK..b * BLOCK + block.len();
            let distances = reach.distances(from.clone(), n);
            for ((i, to), line) in from.zip(block).zip(distances.rows()) {
                *to = value(&groups, i, line.to_slice().expect("rows are contiguous"));
            }
            Ok(())
        });
        filled.into_iter().collect::<Result<()>>()?;
        Ok(Some(rows.into_iter().zip(values).collect()))
    }

    /// At most `max_n` of the rows, ascending: of each cluster as many as its share, and two at least, since
    /// one alone would count as a cluster of one.
    fn sample(&self, rows: Vec<usize>, labels: &[u32]) -> Vec<usize> {
        let n = rows.len();
        if n <= self.max_n {
            return rows;
        }
        let groups = Groups::new(rows.iter().map(|&i| labels[i]));
        // Whole shares first; what is left goes to the largest fractions, ties to the first cluster.
        let share = |m: &Vec<u32>| {
            let exact = m.len() as u128 * self.max_n as u128;
            ((exact / n as u128) as usize, (exact % n as u128) as u64)
        };
        let mut shares: Vec<(usize, u64)> = groups.members.iter().map(share).collect();
        let mut order: Vec<usize> = (0..shares.len()).collect();
        order.sort_by_key(|&h| (Reverse(shares[h].1), h));
        let left = self.max_n - shares.iter().map(|s| s.0).sum::<usize>();
        order[..left].iter().for_each(|&h| shares[h].0 += 1);
        let mut shares: Vec<usize> = shares.into_iter().map(|s| s.0).collect();
        let place = SeedPath::new(self.seed).child("silhouette");
        two_of_each(&mut shares, &groups.members, self.max_n, &mut place.stream("clusters"));
        let mut out = Vec::with_capacity(self.max_n);
        for (h, (members, wanted)) in groups.members.iter().zip(shares).enumerate() {
            let drawn = place.index(h).stream("sample").sample(members.len(), wanted);
            out.extend(drawn.into_iter().map(|at| rows[members[at] as usize]));
        }
        out.sort_unstable();
        out
    }
}

/// Changes shares of `max_n` objects so that every cluster has two, or its only one. If that exceeds `max_n`,
/// as many clusters as fit are drawn at random.
fn two_of_each(shares: &mut [usize], members: &[Vec<u32>], max_n: usize, stream: &mut Stream) {
    let least = |h: usize| members[h].len().min(2);
    let all: usize = (0..shares.len()).map(least).sum();
    if all > max_n {
        shares.fill(0);
        let mut room = max_n;
        for h in stream.sample(shares.len(), shares.len()) {
            if least(h) <= room {
                shares[h] = least(h);
                room -= least(h);
            }
        }
        return;
    }
    let mut owed = 0;
    for (h, share) in shares.iter_mut().enumerate() {
        owed += least(h).saturating_sub(*share);
        *share = (*share).max(least(h));
    }
    // From the largest, ties from the first.
    let mut largest: BinaryHeap<(usize, Reverse<usize>)> =
        shares.iter().enumerate().map(|(h, &share)| (share, Reverse(h))).collect();
    for _ in 0..owed {
        let Some((share, Reverse(h))) = largest.pop() else { return };
        shares[h] = share - 1;
        largest.push((share - 1, Reverse(h)));
    }
}

/// The silhouette of object `i` from its distances to all objects.
fn value(groups: &Groups, i: usize, distances: &[f64]) -> f64 {
    let own = groups.labels[i] as usize;
    let size = groups.members[own].len();
    if size == 1 {
        return 0.0;
    }
    let mut sums = vec![0.0; groups.members.len()];
    for (j, (&h, d)) in groups.labels.iter().zip(distances).enumerate() {
        if j != i {
            sums[h as usize] += d;
        }
    }
    let a = sums[own] / (size - 1) as f64;
    let means = sums.iter().zip(&groups.members).map(|(sum, m)| sum / m.len() as f64);
    let others = means.enumerate().filter(|(h, _)| *h != own);
    let b = others.map(|(_, mean)| mean).fold(f64::INFINITY, f64::min);
    let scale = a.max(b);
    // All of both clusters in one place: neither is closer.
    if scale > 0.0 { (b - a) / scale } else { 0.0 }
}

#[plugin("silhouette", cites = ["Rousseeuw1987"])]
impl Metric for Silhouette {
    fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
        let Some(values) = self.values(input)? else { return Ok(None) };
        // Each cluster counts by its size, however many of it were drawn.
        let mut sizes: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
        rows(input).iter().for_each(|&i| sizes.entry(input.labels[i]).or_default().0 += 1.0);
        values.iter().for_each(|v| sizes.entry(input.labels[v.0]).or_default().1 += 1.0);
        let weight = |i: usize| {
            let (of, drawn) = sizes[&input.labels[values[i].0]];
            of / drawn
        };
        let sum = reduce::sum(values.len(), |i| weight(i) * values[i].1);
        let mean = sum / reduce::sum(values.len(), weight);
        Ok(finite(within(mean, -1.0, 1.0)))
    }

    fn properties(&self) -> MetricProperties {
        MetricProperties {
            min: -1.0,
            needs_truth: false,
            needs_data: true,
            perfect: None,
            ..MetricProperties::default()
        }
    }
}
