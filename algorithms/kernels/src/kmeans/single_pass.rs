//! One sweep of Lloyd's algorithm in one pass over the objects, while they are in the cache.
//!
//! Where clusters are few, a sweep is bound by memory: here each row is read once for the distortion
//! to the centre it had, for its nearest centre, and, if it is dense and clusters are few, for the
//! sum of the rows of its new cluster. The inner products of sparse rows serve for both of the former.

use std::cell::RefCell;

use ndarray::Array2;
use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use mustlink_core::clustering::NONE;
use mustlink_core::data::DataKind;
use mustlink_core::reduce;

use crate::distance::points::{Distortion, Points, distortion, row, row_norms};
use crate::distance::precision::MAX_BLOCKED_CLUSTERS;
use crate::kmeans::means::Sums;
use crate::kmeans::nearest::assign::exact;
use crate::kmeans::nearest::many_rows::NearestTwo;
use crate::kmeans::nearest::scores::AllCentreScores;
use crate::kmeans::nearest::sparse::{Table, nearest, value};
use crate::simd::dispatch::dispatch;
use crate::simd::vectors::{add, inner_product_and_sum, squared_distance_and_sum};

/// Most rows, and most of their values, that the kernel takes at a time: the steps after the scores
/// then find them in the nearest cache.
const ROWS: usize = 128;
const NUMBERS: usize = 2048;
/// Sparse rows in a task.
const SPARSE_ROWS: usize = 128;

/// The result of one pass.
pub(crate) struct Pass {
    /// Objects whose label changed.
    pub moved: usize,
    /// Total distortion of the labels before; meaningless without earlier labels.
    pub objective: f64,
    /// Sums and sizes of the clusters after, where they were taken: not of objects with weights.
    pub sums: Option<Sums>,
}

/// Writes the labels of the nearest centres to `next`, as `nearest::assign` does. `table` is for sparse
/// rows, from pass to pass.
pub(crate) fn pass(
    points: &Points,
    centres: &Array2<f64>,
    labels: &[u32],
    next: &mut [u32],
    table: &mut Option<Table>,
) -> Pass {
    let norms = row_norms(centres);
    if points.data().kind() == DataKind::Csr {
        let table = table.get_or_insert_with(|| Table::sized(centres.dim()));
        table.fill(centres);
        return sparse_pass(points, centres, &norms, table, labels, next);
    }
    let scores = AllCentreScores::new(points, centres, &norms);
    DensePass { points, centres, norms: &norms, scores: &scores, labels }.tree(0, next)
}

/// The same for sparse rows: the inner products serve for both distances.
fn sparse_pass(
    points: &Points,
    centres: &Array2<f64>,
    norms: &[f64],
    table: &Table,
    labels: &[u32],
    next: &mut [u32],
) -> Pass {
    let mut own = vec![0.0; labels.len()];
    // Small tasks: rows are of very different lengths.
    let tasks = next.par_chunks_mut(SPARSE_ROWS).zip(own.par_chunks_mut(SPARSE_ROWS)).enumerate();
    let task = |(t, (next, own)): (usize, (&mut [u32], &mut [f64]))| {
        let first = t * SPARSE_ROWS;
        let mut moved = 0;
        table.rows(points, first, next.len(), None, |r, dots| {
            let (i, label) = (first + r, labels[first + r]);
            next[r] = nearest(points, centres, norms, i, dots, label);
            moved += usize::from(next[r] != label);
            if label != NONE {
                let h = label as usize;
                own[r] = value(points, i, dots[h], row(centres, h), norms[h]);
            }
        });
        moved
    };
    let moved = tasks.map(task).sum();
    let objective = reduce::sum(own.len(), |i| points.weight(i) * own[i]);
    Pass { moved, objective, sums: None }
}

thread_local! {
    /// Working memory for blocks, and for rows gathered by a list of rows: zeros are written once, not
    /// for each block.
    static WORK: RefCell<(NearestTwo, Vec<f64>)> = RefCell::default();
}

/// A pass over dense rows.
struct DensePass<'a> {
    points: &'a Points,
    centres: &'a Array2<f64>,
    norms: &'a [f64],
    scores: &'a AllCentreScores<'a>,
    labels: &'a [u32],
}

impl DensePass<'_> {
    /// The fixed tree of [`reduce`], from object `first` on.
    fn tree(&self, first: usize, next: &mut [u32]) -> Pass {
        let blocks = reduce::blocks(next.len());
        if blocks <= 1 {
            return self.block(first, next);
        }
        let half = blocks.next_power_of_two() / 2 * reduce::BLOCK;
        let (left, right) = next.split_at_mut(half);
        let (mut a, b) = rayon::join(|| self.tree(first, left), || self.tree(first + half, right));
        a.moved += b.moved;
        a.objective += b.objective;
        if let (Some(a), Some(b)) = (&mut a.sums, &b.sums) {
            a.add(b);
        }
        a
    }

    fn block(&self, first: usize, next: &mut [u32]) -> Pass {
        WORK.with_borrow_mut(|(found, gathered)| self.block_in(first, next, found, gathered))
    }

    fn block_in(
        &self,
        first: usize,
        next: &mut [u32],
        found: &mut NearestTwo,
        gathered: &mut Vec<f64>,
    ) -> Pass {
        let (k, d) = self.centres.dim();
        let counted_once = self.points.data().weights().is_none();
        let sums = (k <= MAX_BLOCKED_CLUSTERS && counted_once).then(|| Sums::new(k, d));
        let mut pass = Pass { moved: 0, objective: 0.0, sums };
        let rows = self.points.dense_rows();
        let count = (NUMBERS / d).clamp(32, ROWS);
        for (c, next) in next.chunks_mut(count).enumerate() {
            let first = first + c * count;
            let rows = rows.block(first, next.len(), gathered);
            let labels = &self.labels[first..first + next.len()];
            let exact =
                |i: usize| exact(self.points, self.centres, self.norms, i, labels[i - first], 0..k);
            self.scores.nearest(first, rows, found, next, exact);
            dispatch(AfterScores { all: self, first, labels, rows, next, pass: &mut pass });
        }
        pass
    }
}

/// The step after the scores of a block of rows, under the same instruction set.
struct AfterScores<'a> {
    all: &'a DensePass<'a>,
    first: usize,
    labels: &'a [u32],
    rows: &'a [f64],
    next: &'a [u32],
    pass: &'a mut Pass,
}

impl WithSimd for AfterScores<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let kind = self.all.points.distortion();
        self.pass.moved +=
            self.next.iter().zip(self.labels).filter(|(new, old)| new != old).count();
        if self.pass.sums.is_some() && !self.labels.contains(&NONE) {
            // A loop for each: what is decided once is not decided row by row.
            return match kind {
                Distortion::SquaredEuclidean => {
                    self.both(|x, y, sum| squared_distance_and_sum(simd, x, y, sum))
                }
                Distortion::Cosine => {
                    self.both(|x, y, sum| 1.0 - inner_product_and_sum(simd, x, y, sum))
                }
            };
        }
        let AfterScores { all, first, labels, rows, next, pass } = self;
        let d = all.points.d();
        let centres = all.centres.as_slice().expect("standard layout");
        for (r, (&label, &new)) in labels.iter().zip(next).enumerate() {
            let x = &rows[r * d..][..d];
            if let Some(sums) = &mut pass.sums {
                let (sums, sizes) = sums.all();
                sizes[new as usize] += 1;
                add(simd, &mut sums[new as usize * d..][..d], x);
            }
            if label != NONE {
                let centre = &centres[label as usize * d..][..d];
                let weight = all.points.weight(first + r);
                pass.objective += weight * distortion(simd, kind, x, centre);
            }
        }
    }
}

impl AfterScores<'_> {
    /// For rows that all had a centre, where sums are taken: adds to the objective what `found` returns
    /// for each row, its centre, and the sum to which it adds the row.
    #[inline(always)]
    fn both(self, found: impl Fn(&[f64], &[f64], &mut [f64]) -> f64) {
        let AfterScores { all, labels, rows, next, pass, .. } = self;
        let d = all.points.d();
        let centres = all.centres.as_slice().expect("standard layout");
        let (sums, sizes) = pass.sums.as_mut().expect("sums are taken").all();
        let mut total = pass.objective;
        for ((x, &label), &new) in rows.chunks_exact(d).zip(labels).zip(next) {
            let (label, new) = (label as usize, new as usize);
            sizes[new] += 1;
            total += found(x, &centres[label * d..][..d], &mut sums[new * d..][..d]);
        }
        pass.objective = total;
    }
}
