//! Exact distances between an object and a centre.
//!
//! Every assignment in the project is decided by the functions here: squared differences summed in
//! eight fixed lanes without fused operations for dense rows, cached norms with a fall-back to
//! differences for sparse ones. Fast kernels only pre-select.
//!
//! Sources: [Lloyd1982]; for cosine [DhillonModha2001] (spherical k-means).

use std::sync::OnceLock;

use ndarray::Array2;
use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use mustlink_core::clustering::Geometry;
use mustlink_core::data::{Csr, Data, DataKind, Row};
use mustlink_core::prelude::{__mustlink, options};
use mustlink_core::{AutoOr, Result, Shape, reduce};

pub use mustlink_core::reduce::{inner_product, squared_distance};

use crate::distance::precision::{Precision, SingleCopy, SingleScaling};
use crate::simd::dispatch::dispatch;
use crate::simd::vectors;

/// Distance from an object to a centre.
#[options]
pub enum Distortion {
    /// Σ (x − µ)².
    #[default]
    SquaredEuclidean,
    /// 1 − cos(x, µ), centres of unit length (spherical k-means).
    #[option(origin = true)]
    Cosine,
}

/// A distortion as an option: named, or "auto" for the one that suits the kind of data.
pub trait DistortionOption: Copy {
    /// The distortion on data of this kind: "auto" is cosine on sparse rows, such as counts of words, where a
    /// few long rows would decide squared distances, and squared Euclidean otherwise.
    fn on(self, kind: DataKind) -> Distortion;
    /// Bytes of the copy of all rows that [`Points`] may make, those of sparse ones with their columns.
    fn copy_bytes(self, shape: &Shape) -> usize;
}

impl DistortionOption for AutoOr<Distortion> {
    fn on(self, kind: DataKind) -> Distortion {
        self.or_find(|| match kind {
            DataKind::Csr => Distortion::Cosine,
            _ => Distortion::SquaredEuclidean,
        })
    }

    fn copy_bytes(self, shape: &Shape) -> usize {
        let sparse = shape.entries < shape.n * shape.d;
        match self.on(if sparse { DataKind::Csr } else { DataKind::Dense }) {
            Distortion::SquaredEuclidean => 0,
            Distortion::Cosine if sparse => 12 * shape.entries + 16 * shape.n,
            Distortion::Cosine => 8 * (shape.entries + shape.n),
        }
    }
}

impl Distortion {
    /// Its name in configurations.
    pub fn name(self) -> &'static str {
        match self {
            Distortion::SquaredEuclidean => "squared_euclidean",
            Distortion::Cosine => "cosine",
        }
    }

    /// The geometry that centres under this distortion have.
    pub fn geometry(self) -> Geometry {
        match self {
            Distortion::SquaredEuclidean => Geometry::SquaredEuclidean,
            Distortion::Cosine => Geometry::Cosine,
        }
    }
}

/// How far a squared norm may be from 1 in a row of unit length.
const UNIT: f64 = 1e-12;

/// The rows of dense objects.
#[derive(Clone, Copy)]
pub(crate) struct DenseRows<'a> {
    points: &'a Points,
    /// The rows one after the other, unless the data is a subset by a list of rows.
    all: Option<&'a [f64]>,
    d: usize,
}

impl<'a> DenseRows<'a> {
    #[inline(always)]
    pub(crate) fn row(&self, i: usize) -> &'a [f64] {
        match self.all {
            Some(all) => &all[i * self.d..][..self.d],
            None => self.points.dense_row(i),
        }
    }

    /// The rows of `count` objects from `first` on, one after the other; copied to `gathered` where the
    /// data is a subset by a list of rows.
    pub(crate) fn block<'b>(
        &self,
        first: usize,
        count: usize,
        gathered: &'b mut Vec<f64>,
    ) -> &'b [f64]
    where
        'a: 'b,
    {
        if let Some(all) = self.all {
            return &all[first * self.d..][..count * self.d];
        }
        gathered.clear();
        (first..first + count).for_each(|i| gathered.extend_from_slice(self.points.dense_row(i)));
        gathered
    }
}

/// Objects prepared for one distortion: unit rows for cosine.
pub struct Points {
    data: Data,
    distortion: Distortion,
    zero_rows: usize,
    scaling: OnceLock<SingleScaling>,
    single_copy: Option<SingleCopy>,
}

impl Points {
    /// Prepares dense or sparse data. Cosine makes one normalised copy, unless all rows have unit
    /// length already.
    ///
    /// # Errors
    /// Returns no error for data that was checked when it was made.
    pub fn new(data: &Data, distortion: impl Into<AutoOr<Distortion>>) -> Result<Self> {
        Self::measured_by(data, distortion.into().on(data.kind()))
    }

    fn measured_by(data: &Data, distortion: Distortion) -> Result<Self> {
        let n = data.n();
        if distortion == Distortion::SquaredEuclidean {
            return Ok(Self::prepared(data.clone(), distortion, 0));
        }
        let norms = (0..n).map(|i| data.norm2(i));
        let zero_rows = norms.clone().filter(|&s| s == 0.0).count();
        // Rows that have unit length already are taken as they are: a subsample copies nothing.
        if norms.clone().all(|s| s == 0.0 || (s - 1.0).abs() <= UNIT) {
            return Ok(Self::prepared(data.clone(), distortion, zero_rows));
        }
        let scale = |i: usize| {
            let norm = data.norm2(i);
            if norm > 0.0 { 1.0 / norm.sqrt() } else { 0.0 }
        };
        let prepared = match data.kind() {
            DataKind::Csr => {
                let mut out =
                    Csr { indptr: vec![0], indices: vec![], values: vec![], columns: data.d() };
                for i in 0..n {
                    if let Row::Sparse(columns, values) = data.row(i) {
                        out.indices.extend_from_slice(columns);
                        out.values.extend(values.iter().map(|v| v * scale(i)));
                    }
                    out.indptr.push(out.indices.len());
                }
                Data::csr(out)?
            }
            _ => {
                let mut out = data.to_dense();
                for (i, mut row) in out.rows_mut().into_iter().enumerate() {
                    let s = scale(i);
                    row.mapv_inplace(|v| v * s);
                }
                Data::dense(out)?
            }
        };
        Ok(Self::prepared(prepared.weighted_as(data), distortion, zero_rows))
    }

    fn prepared(data: Data, distortion: Distortion, zero_rows: usize) -> Self {
        Points { data, distortion, zero_rows, scaling: OnceLock::new(), single_copy: None }
    }

    /// The same, with scores in this precision where it pays: for dense objects and enough clusters
    /// that scores take longer than the copy saves.
    pub fn with_precision(mut self, precision: Precision, k: usize) -> Self {
        let pays = self.data.kind() == DataKind::Dense && precision.pays(k);
        self.single_copy = pays.then(|| self.rounded_copy());
        self
    }

    /// For squared Euclidean distances about the mean of some objects: what is subtracted matters
    /// to rounding alone. Moving unit rows would change which centre they point to.
    pub(crate) fn scaling(&self) -> &SingleScaling {
        self.scaling.get_or_init(|| {
            let (n, d) = (self.n(), self.d());
            let mut shift = vec![0.0; d];
            if self.distortion == Distortion::SquaredEuclidean {
                let some = (0..n).step_by(n.div_ceil(256));
                let part = 1.0 / some.len() as f64;
                let square = some.clone().map(|i| part * self.norm(i)).sum::<f64>();
                some.for_each(|i| self.data.row(i).add_to(&mut shift, part));
                // Where rows lie about the origin as closely as about the mean, nothing is subtracted.
                if 16.0 * inner_product(&shift, &shift) <= square {
                    shift.fill(0.0);
                }
            }
            let largest = (0..n).map(|i| self.norm(i)).fold(0.0, f64::max);
            let most = largest.sqrt() + inner_product(&shift, &shift).sqrt();
            let fits = most > 0.0 && most.is_finite();
            let scale = if fits { (-most.log2().ceil()).exp2() } else { 1.0 };
            SingleScaling { largest, most, shift, scale }
        })
    }

    fn rounded_copy(&self) -> SingleCopy {
        let (n, d) = (self.n(), self.d());
        let SingleScaling { shift, scale, .. } = self.scaling();
        let mut rows = vec![0.0f32; n * d];
        let mut lengths = vec![0.0f32; n];
        let chunks =
            rows.par_chunks_mut(reduce::BLOCK * d).zip(lengths.par_chunks_mut(reduce::BLOCK));
        chunks.enumerate().for_each(|(b, (rows, lengths))| {
            for (at, (to, length)) in rows.chunks_exact_mut(d).zip(lengths).enumerate() {
                let x = self.dense_row(b * reduce::BLOCK + at);
                let mut square = 0.0;
                for ((to, x), m) in to.iter_mut().zip(x).zip(shift) {
                    *to = ((x - m) * scale) as f32;
                    square += f64::from(*to) * f64::from(*to);
                }
                *length = square.sqrt() as f32;
            }
        });
        SingleCopy { rows, lengths }
    }

    /// The copy in single precision, if scores are computed in it.
    pub(crate) fn single_copy(&self) -> Option<(&SingleCopy, &SingleScaling)> {
        self.single_copy.as_ref().map(|single_copy| (single_copy, self.scaling()))
    }

    /// True if distances to centres with these squared norms are those of a metric: under cosine
    /// unit vectors, not a centre that is still the zero vector.
    pub(crate) fn fits_bounds(&self, norms: &[f64]) -> bool {
        let slack = 2.0 * (self.d() as f64 + 8.0) * f64::EPSILON;
        self.distortion == Distortion::SquaredEuclidean
            || norms.iter().all(|norm| (norm - 1.0).abs() <= slack)
    }

    /// Row `i` of dense objects.
    #[inline(always)]
    pub(crate) fn dense_row(&self, i: usize) -> &[f64] {
        match self.data.row(i) {
            Row::Dense(x) => x,
            Row::Sparse(_, values) => values,
        }
    }

    /// All rows of dense objects, for loops over many.
    pub(crate) fn dense_rows(&self) -> DenseRows<'_> {
        DenseRows { points: self, all: self.data.dense_slice(), d: self.d() }
    }

    /// Number of objects.
    pub fn n(&self) -> usize {
        self.data.n()
    }

    /// Number of features.
    pub fn d(&self) -> usize {
        self.data.d()
    }

    /// The prepared objects (unit rows for cosine).
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// The distortion they were prepared for.
    pub fn distortion(&self) -> Distortion {
        self.distortion
    }

    /// Squared norm of prepared row `i`.
    #[inline]
    pub fn norm(&self, i: usize) -> f64 {
        self.data.norm2(i)
    }

    /// How often object `i` counts.
    #[inline]
    pub fn weight(&self, i: usize) -> f64 {
        self.data.weights().map_or(1.0, |weights| weights[i])
    }

    /// How many objects there are, each as often as it counts.
    pub fn total_weight(&self) -> f64 {
        self.data.weights().map_or(self.n() as f64, |weights| weights.iter().sum())
    }

    /// Rows of length zero (cosine only).
    pub fn zero_rows(&self) -> usize {
        self.zero_rows
    }

    /// Distortion of object `i` to a centre whose squared norm is `norm`.
    pub fn distance(&self, i: usize, centre: &[f64], norm: f64) -> f64 {
        let row = self.data.row(i);
        match (self.distortion, &row) {
            (Distortion::Cosine, Row::Dense(x)) => 1.0 - inner_product(x, centre),
            (Distortion::Cosine, Row::Sparse(..)) => 1.0 - row.dot(centre),
            (Distortion::SquaredEuclidean, Row::Dense(x)) => squared_distance(x, centre),
            (Distortion::SquaredEuclidean, Row::Sparse(..)) => {
                self.sparse_distance(i, row.dot(centre), centre, norm)
            }
        }
    }

    /// Squared Euclidean distance of a sparse row from its inner product with the centre; by
    /// differences where cancellation would decide.
    pub(crate) fn sparse_distance(&self, i: usize, dot: f64, centre: &[f64], norm: f64) -> f64 {
        let sum = self.norm(i) + norm;
        let value = sum - 2.0 * dot;
        if value < 1e-8 * sum {
            return self.data.row(i).squared_distance(&Row::Dense(centre));
        }
        value
    }

    /// Distortion between two objects.
    pub fn between(&self, i: usize, j: usize) -> f64 {
        let (a, b) = (self.data.row(i), self.data.row(j));
        match (self.distortion, &a, &b) {
            (Distortion::SquaredEuclidean, Row::Dense(x), Row::Dense(y)) => squared_distance(x, y),
            (Distortion::SquaredEuclidean, ..) => a.squared_distance(&b),
            (Distortion::Cosine, Row::Dense(x), Row::Dense(y)) => 1.0 - inner_product(x, y),
            (Distortion::Cosine, ..) => 1.0 - a.dot_row(&b),
        }
    }

    /// Mean of the objects in `members`, of unit length for cosine; `None` without members (or,
    /// for cosine, when they sum to zero). Members are summed in blocks of 1024 in the order given, each with
    /// its weight.
    pub fn mean(&self, members: &[u32]) -> Option<Vec<f64>> {
        if members.is_empty() {
            return None;
        }
        if self.data.weights().is_some() && members.len() > 1 {
            return self.weighted_mean(members);
        }
        let sum_of = |range: std::ops::Range<usize>| {
            let mut sum = vec![0.0; self.d()];
            if self.data.kind() == DataKind::Csr {
                members[range]
                    .iter()
                    .for_each(|&i| self.data.row(i as usize).add_to(&mut sum, 1.0));
                return sum;
            }
            dispatch(Sum { rows: self.dense_rows(), members: &members[range], sum: &mut sum });
            sum
        };
        let add = |mut a: Vec<f64>, b: Vec<f64>| {
            a.iter_mut().zip(&b).for_each(|(x, y)| *x += y);
            a
        };
        let sum = reduce::reduce(members.len(), sum_of, add).expect("not empty");
        self.divided(sum, members.len() as f64)
    }

    /// [`Points::mean`] of members of which each counts by its weight; where all weigh 0, the mean of all.
    fn weighted_mean(&self, members: &[u32]) -> Option<Vec<f64>> {
        let counts = members.iter().any(|&i| self.weight(i as usize) > 0.0);
        let sum_of = |range: std::ops::Range<usize>| {
            let (mut sum, mut total) = (vec![0.0; self.d()], 0.0);
            for &i in &members[range] {
                let weight = if counts { self.weight(i as usize) } else { 1.0 };
                self.data.row(i as usize).add_to(&mut sum, weight);
                total += weight;
            }
            (sum, total)
        };
        let add = |(mut a, count): (Vec<f64>, f64), (b, more): (Vec<f64>, f64)| {
            a.iter_mut().zip(&b).for_each(|(x, y)| *x += y);
            (a, count + more)
        };
        let (sum, count) = reduce::reduce(members.len(), sum_of, add)?;
        self.divided(sum, count)
    }

    fn divided(&self, mut sum: Vec<f64>, count: f64) -> Option<Vec<f64>> {
        match self.distortion {
            Distortion::SquaredEuclidean => sum.iter_mut().for_each(|v| *v /= count),
            Distortion::Cosine if !normalise(&mut sum) => return None,
            Distortion::Cosine => {}
        }
        Some(sum)
    }

    /// The prepared row `i` as a centre; `None` for a zero row under cosine.
    pub fn centre_at(&self, i: usize) -> Option<Vec<f64>> {
        self.mean(&[i as u32])
    }
}

/// The sum of some dense rows, in the order given.
struct Sum<'a> {
    rows: DenseRows<'a>,
    members: &'a [u32],
    sum: &'a mut [f64],
}

impl Sum<'_> {
    /// Members whose rows are prefetched: they may stand anywhere.
    const PREFETCH_ROWS: usize = 16;
    /// Numbers of a row that are prefetched: the hardware brings what follows them.
    const PREFETCH_VALUES: usize = 128;
}

impl WithSimd for Sum<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Sum { rows, members, sum } = self;
        let prefetch = |at: usize| {
            if let Some(&i) = members.get(at) {
                vectors::prefetch(rows.row(i as usize), 0, rows.d.min(Self::PREFETCH_VALUES));
            }
        };
        (0..Self::PREFETCH_ROWS).for_each(prefetch);
        // Four rows at a time: the sums are loaded and stored once for all of them.
        let (four, rest) = members.as_chunks::<4>();
        for (m, members) in four.iter().enumerate() {
            (0..4).for_each(|a| prefetch(4 * m + a + Self::PREFETCH_ROWS));
            vectors::add_four(simd, sum, members.map(|i| rows.row(i as usize)));
        }
        rest.iter().for_each(|&i| vectors::add(simd, sum, rows.row(i as usize)));
    }
}

/// The distortions of dense objects, from `first` on, to the centres they are with.
pub(crate) struct Distortions<'a> {
    pub points: &'a Points,
    pub first: usize,
    pub labels: &'a [u32],
    pub centres: &'a Array2<f64>,
    /// Only those of these clusters are taken.
    pub wanted: Option<&'a [bool]>,
    pub out: &'a mut [f64],
}

impl WithSimd for Distortions<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let rows = self.points.dense_rows();
        for (r, (to, &label)) in self.out.iter_mut().zip(self.labels).enumerate() {
            let h = label as usize;
            if self.wanted.is_none_or(|wanted| wanted[h]) {
                let (x, centre) = (rows.row(self.first + r), row(self.centres, h));
                *to = distortion(simd, self.points.distortion, x, centre);
            }
        }
    }
}

/// Squared distances of a row to others that follow each other.
pub(crate) struct SquaredDistances<'a> {
    pub row: &'a [f64],
    pub rows: &'a [f64],
    pub out: &'a mut [f64],
}

impl WithSimd for SquaredDistances<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for (other, out) in self.rows.chunks_exact(self.row.len()).zip(self.out) {
            *out = vectors::squared_distance(simd, self.row, other);
        }
    }
}

/// [`Points::distance`] of a dense row, under an instruction set.
#[inline(always)]
pub(crate) fn distortion<S: Simd>(
    simd: S,
    distortion: Distortion,
    x: &[f64],
    centre: &[f64],
) -> f64 {
    match distortion {
        Distortion::Cosine => 1.0 - vectors::inner_product(simd, x, centre),
        Distortion::SquaredEuclidean => vectors::squared_distance(simd, x, centre),
    }
}

/// Scales to unit length; false for the zero vector, which is left as it is.
pub fn normalise(x: &mut [f64]) -> bool {
    let norm = inner_product(x, x).sqrt();
    if norm > 0.0 {
        x.iter_mut().for_each(|v| *v /= norm);
    }
    norm > 0.0
}

/// Squared norms of the rows of a matrix of centres.
pub fn row_norms(centres: &Array2<f64>) -> Vec<f64> {
    (0..centres.nrows()).map(|h| inner_product(row(centres, h), row(centres, h))).collect()
}

/// Row `h` of a standard-layout matrix as a slice.
pub fn row(matrix: &Array2<f64>, h: usize) -> &[f64] {
    matrix.row(h).to_slice().expect("rows of standard-layout matrices are contiguous")
}
