//! The nearest centre of each sparse row.
//!
//! Centres are stored feature by feature in panels of a few vectors, so that each non-zero of a row
//! is one step over all centres of a panel whose inner products stay in registers: O(non-zeros · k),
//! and never an n × k matrix. Products are added one by one in the order of the columns, without
//! fused operations: they are bit for bit those of [`Row::dot`], on every instruction set, so
//! nothing has to be decided again.

use ndarray::Array2;
use pulp::{Simd, WithSimd, bytemuck};
use rayon::prelude::*;

use crate::distance::points::{Distortion, Points, row};
use crate::simd::dispatch::dispatch;
use crate::simd::vectors::{Aligned, lanes};
use mustlink_core::data::Row;
use mustlink_core::reduce;

/// Rows per block: few enough that small data keeps all threads busy.
const ROWS: usize = 64;
/// Most vectors in one panel: as many sums as registers hold in addition to the terms.
const VECTORS: usize = 8;
/// Features written at a time when centres are transposed.
const TILE: usize = 128;

/// Centres feature by feature, in panels: panel, feature, centre.
pub(crate) struct Table {
    k: usize,
    d: usize,
    /// Vectors in a panel.
    vectors: usize,
    /// Centres in a panel, those that fill it up included.
    width: usize,
    packed: Aligned,
}

impl Table {
    pub(crate) fn new(centres: &Array2<f64>) -> Self {
        let mut table = Self::sized(centres.dim());
        table.fill(centres);
        table
    }

    /// Room for so many centres in so many features.
    pub(crate) fn sized((k, d): (usize, usize)) -> Self {
        let needed = k.div_ceil(lanes::<f64>());
        // Panels of equal width waste the least.
        let vectors = needed.div_ceil(needed.div_ceil(VECTORS));
        let width = vectors * lanes::<f64>();
        let packed = Aligned::zeros(needed.div_ceil(vectors) * width * d);
        Table { k, d, vectors, width, packed }
    }

    /// Fills in these centres. Places beyond the last one are never written.
    pub(crate) fn fill(&mut self, centres: &Array2<f64>) {
        let (k, d, width, count) = (self.k, self.d, self.width, self.stride() * self.d);
        for (p, panel) in self.packed.numbers::<f64>(count).chunks_exact_mut(width * d).enumerate()
        {
            let first = p * width;
            let members = width.min(k - first);
            panel.par_chunks_mut(TILE * width).enumerate().for_each(|(t, tile)| {
                let features = tile.len() / width;
                for w in 0..members {
                    let centre = &row(centres, first + w)[t * TILE..t * TILE + features];
                    for (to, &value) in tile.iter_mut().skip(w).step_by(width).zip(centre) {
                        *to = value;
                    }
                }
            });
        }
    }

    /// Gives `take` each of `count` rows from `first` on that is not skipped, counted from 0, with
    /// its inner products with all centres.
    pub(crate) fn rows(
        &self,
        points: &Points,
        first: usize,
        count: usize,
        skip: Option<&[bool]>,
        mut take: impl FnMut(usize, &[f64]),
    ) {
        let stride = self.stride();
        let mut products = vec![0.0; ROWS.min(count) * stride];
        for start in (0..count).step_by(ROWS) {
            let out = &mut products[..ROWS.min(count - start) * stride];
            dispatch(Products { points, table: self, first: first + start, skip, out });
            for (r, dots) in out.chunks_exact(stride).enumerate() {
                if !skip.is_some_and(|s| s[first + start + r]) {
                    take(start + r, &dots[..self.k]);
                }
            }
        }
    }

    /// The panels, one after the other.
    fn panels(&self) -> std::slice::ChunksExact<'_, f64> {
        self.packed.get(self.stride() * self.d).chunks_exact(self.width * self.d)
    }

    /// Number of inner products a row gets, those of no centre included.
    fn stride(&self) -> usize {
        self.k.div_ceil(self.width) * self.width
    }
}

/// The nearest centre of every sparse row: the current label if it attains the minimum, else the
/// lowest index. Objects with `skip(i)` keep theirs. Returns how many labels changed.
pub(crate) fn assign(
    points: &Points,
    centres: &Array2<f64>,
    norms: &[f64],
    labels: &mut [u32],
    skip: Option<&[bool]>,
) -> usize {
    let table = Table::new(centres);
    let block = |(b, chunk): (usize, &mut [u32])| {
        let mut moved = 0;
        table.rows(points, b * ROWS, chunk.len(), skip, |r, dots| {
            let new = nearest(points, centres, norms, b * ROWS + r, dots, chunk[r]);
            moved += usize::from(new != chunk[r]);
            chunk[r] = new;
        });
        moved
    };
    labels.par_chunks_mut(ROWS).enumerate().map(block).sum()
}

/// The centre of the smallest distance; the current one wins ties, then the lowest.
pub(crate) fn nearest(
    points: &Points,
    centres: &Array2<f64>,
    norms: &[f64],
    i: usize,
    dots: &[f64],
    current: u32,
) -> u32 {
    let mut best = (f64::INFINITY, u32::MAX);
    for (h, &dot) in dots.iter().enumerate() {
        let value = value(points, i, dot, row(centres, h), norms[h]);
        if value < best.0 || (value == best.0 && h as u32 == current) {
            best = (value, h as u32);
        }
    }
    best.1
}

/// The distortion of sparse row `i`, from its inner product with the centre.
#[inline(always)]
pub(crate) fn value(points: &Points, i: usize, dot: f64, centre: &[f64], norm: f64) -> f64 {
    match points.distortion() {
        Distortion::Cosine => 1.0 - dot,
        Distortion::SquaredEuclidean => points.sparse_distance(i, dot, centre, norm),
    }
}

/// The inner products of a block of rows with all centres of a table.
struct Products<'a> {
    points: &'a Points,
    table: &'a Table,
    first: usize,
    skip: Option<&'a [bool]>,
    out: &'a mut [f64],
}

impl WithSimd for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match self.table.vectors {
            1 => products::<S, 1>(simd, self),
            2 => products::<S, 2>(simd, self),
            3 => products::<S, 3>(simd, self),
            4 => products::<S, 4>(simd, self),
            5 => products::<S, 5>(simd, self),
            6 => products::<S, 6>(simd, self),
            7 => products::<S, 7>(simd, self),
            _ => products::<S, VECTORS>(simd, self),
        }
    }
}

#[inline(always)]
fn products<S: Simd, const V: usize>(simd: S, block: Products<'_>) {
    let Products { points, table, first, skip, out } = block;
    debug_assert_eq!((table.vectors, table.width), (V, V * S::F64_LANES));
    let stride = table.stride();
    let wanted = |at: &usize| !skip.is_some_and(|s| s[first + at]);
    let wanted: Vec<usize> = (0..out.len() / stride).filter(wanted).collect();
    for (p, panel) in table.panels().enumerate() {
        let centres = S::as_simd_f64s(panel).0;
        let mut keep = |at: usize, sums: &[S::f64s; V]| {
            let from = at * stride + p * table.width;
            out[from..from + table.width].copy_from_slice(bytemuck::cast_slice(sums));
        };
        let none = [simd.splat_f64s(0.0); V];
        // The sums of one row depend on each other: with few of them, two rows are interleaved.
        for pair in wanted.chunks(if V <= 3 { 2 } else { 1 }) {
            let (columns, values) = sparse_row(points, first + pair[0]);
            let (others, theirs) = match pair.get(1) {
                Some(at) => sparse_row(points, first + at),
                None => (&[][..], &[][..]),
            };
            let both = columns.len().min(others.len());
            let (mut sums, mut more) = (none, none);
            for e in 0..both {
                step(simd, centres, columns[e], values[e], &mut sums);
                step(simd, centres, others[e], theirs[e], &mut more);
            }
            for e in both..columns.len() {
                step(simd, centres, columns[e], values[e], &mut sums);
            }
            keep(pair[0], &sums);
            if let Some(&at) = pair.get(1) {
                for e in both..others.len() {
                    step(simd, centres, others[e], theirs[e], &mut more);
                }
                keep(at, &more);
            }
        }
    }
}

/// Adds one non-zero to the inner products of its row with all centres of a panel.
#[inline(always)]
fn step<S: Simd, const V: usize>(
    simd: S,
    centres: &[S::f64s],
    column: u32,
    value: f64,
    sums: &mut [S::f64s; V],
) {
    let from = column as usize * V;
    let centre = &centres[from..from + V];
    let value = simd.splat_f64s(value);
    for v in 0..V {
        sums[v] = simd.add_f64s(sums[v], simd.mul_f64s(value, centre[v]));
    }
}

fn sparse_row(points: &Points, i: usize) -> (&[u32], &[f64]) {
    match points.data().row(i) {
        Row::Sparse(columns, values) => (columns, values),
        Row::Dense(_) => (&[], &[]),
    }
}

/// Σ D(x, µ) over sparse rows, of the centres they are with: bit for bit the sum of
/// [`Points::distance`]. Four rows are interleaved: the sums of one row depend on each other.
pub(crate) fn total_distortion(
    points: &Points,
    labels: &[u32],
    centres: &Array2<f64>,
    norms: &[f64],
) -> f64 {
    let sum = |rows: std::ops::Range<usize>| {
        let mut total = 0.0;
        let mut first = rows.start;
        while first < rows.end {
            let count = (rows.end - first).min(4);
            let label = |r: usize| labels[first + r.min(count - 1)] as usize;
            let sparse: [_; 4] =
                std::array::from_fn(|r| sparse_row(points, first + r.min(count - 1)));
            let own: [&[f64]; 4] = std::array::from_fn(|r| row(centres, label(r)));
            let all = sparse.iter().map(|(columns, _)| columns.len()).min().unwrap_or(0);
            let mut dots = [0.0; 4];
            let begun = sparse.map(|(columns, values)| (&columns[..all], &values[..all]));
            for e in 0..all {
                for r in 0..4 {
                    dots[r] += begun[r].1[e] * own[r][begun[r].0[e] as usize];
                }
            }
            for r in 0..count {
                let (columns, values) = sparse[r];
                for (&c, v) in columns[all..].iter().zip(&values[all..]) {
                    dots[r] += v * own[r][c as usize];
                }
                let value = value(points, first + r, dots[r], own[r], norms[label(r)]);
                total += points.weight(first + r) * value;
            }
            first += count;
        }
        total
    };
    reduce::reduce(points.n(), sum, |a, b| a + b).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distance::points::row_norms;
    use mustlink_core::data::Data;
    use mustlink_core::random::SeedPath;
    use mustlink_laws::fixtures;
    use proptest::prelude::*;

    /// The plain loop over exact distances.
    fn plain(points: &Points, centres: &Array2<f64>, labels: &mut [u32]) -> usize {
        let norms = row_norms(centres);
        let mut moved = 0;
        for (i, label) in labels.iter_mut().enumerate() {
            let mut best = (f64::INFINITY, u32::MAX);
            for h in 0..centres.nrows() {
                let value = points.distance(i, row(centres, h), norms[h]);
                if value < best.0 || (value == best.0 && h as u32 == *label) {
                    best = (value, h as u32);
                }
            }
            moved += usize::from(best.1 != *label);
            *label = best.1;
        }
        moved
    }

    proptest! {
        /// Rounded values make exact ties; k reaches into several panels.
        #[test]
        fn labels_are_those_of_the_plain_loop(
            seed: u64,
            n in 1usize..150,
            d in 1usize..40,
            k in 1usize..90,
            filled in 1usize..4,
            cosine: bool,
        ) {
            let mut s = SeedPath::new(seed).stream("sparse");
            let x = Array2::from_shape_fn((n, d), |_| {
                if s.below(4) < filled { s.below(3) as f64 } else { 0.0 }
            });
            let distortion =
                if cosine { Distortion::Cosine } else { Distortion::SquaredEuclidean };
            let data = Data::csr(fixtures::to_csr(&x)).unwrap();
            let points = Points::new(&data, distortion).unwrap();
            // Some centres lie on objects.
            let centres = Array2::from_shape_fn((k, d), |(h, f)| match h % 2 {
                0 => x[[h % n, f]],
                _ => s.below(3) as f64,
            });
            let mut fast: Vec<u32> = (0..n).map(|_| s.below(k) as u32).collect();
            let mut slow = fast.clone();
            let moved = assign(&points, &centres, &row_norms(&centres), &mut fast, None);
            prop_assert_eq!(moved, plain(&points, &centres, &mut slow));
            prop_assert_eq!(fast, slow);
        }
    }

    #[test]
    fn inner_products_are_those_of_the_rows_bit_for_bit() {
        let mut s = SeedPath::new(3).stream("sparse");
        let x =
            Array2::from_shape_fn((70, 300), |_| if s.below(4) == 0 { s.normal() } else { 0.0 });
        let data = Data::csr(fixtures::to_csr(&x)).unwrap();
        let points = Points::new(&data, Distortion::SquaredEuclidean).unwrap();
        for k in [1, 3, 5, 8, 20, 33, 40, 100] {
            let centres = Array2::from_shape_fn((k, 300), |_| s.normal());
            let table = Table::new(&centres);
            let mut out = vec![0.0; 70 * table.stride()];
            let all =
                Products { points: &points, table: &table, first: 0, skip: None, out: &mut out };
            dispatch(all);
            for (i, dots) in out.chunks_exact(table.stride()).enumerate() {
                for h in 0..k {
                    assert_eq!(dots[h], points.data().row(i).dot(row(&centres, h)), "k = {k}");
                }
            }
        }
    }

    #[test]
    fn total_distortion_is_that_of_the_single_distances_bit_for_bit() {
        let mut s = SeedPath::new(6).stream("sparse");
        for n in [1, 2, 3, 4, 7, 2100] {
            let x =
                Array2::from_shape_fn(
                    (n, 30),
                    |(i, _)| {
                        if s.below(30) < i % 31 { s.normal() } else { 0.0 }
                    },
                );
            let data = Data::csr(fixtures::to_csr(&x)).unwrap();
            let labels: Vec<u32> = (0..n).map(|_| s.below(5) as u32).collect();
            // One centre lies on an object.
            let centres = Array2::from_shape_fn((5, 30), |(h, f)| match h {
                0 => x[[0, f]],
                _ => s.normal(),
            });
            let norms = row_norms(&centres);
            for distortion in [Distortion::Cosine, Distortion::SquaredEuclidean] {
                let points = Points::new(&data, distortion).unwrap();
                let plain = reduce::sum(n, |i| {
                    let h = labels[i] as usize;
                    points.distance(i, row(&centres, h), norms[h])
                });
                let fast = total_distortion(&points, &labels, &centres, &norms);
                assert_eq!(fast.to_bits(), plain.to_bits(), "n = {n}");
            }
        }
    }

    #[test]
    fn skipped_rows_keep_their_labels() {
        let x = ndarray::array![[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]];
        let data = Data::csr(fixtures::to_csr(&x)).unwrap();
        let points = Points::new(&data, Distortion::Cosine).unwrap();
        let mut labels = [1, 0, 1];
        let skip = [false, false, true];
        assert_eq!(assign(&points, &x, &row_norms(&x), &mut labels, Some(&skip)), 2);
        assert_eq!(labels, [0, 1, 1]);
    }
}
