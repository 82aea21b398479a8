//! What can be done in one pass over dense rows, while they are in the cache?
//!
//! Where clusters are few, a sweep is bound by memory: here each row is read once for the distortion
//! to the centre it had, for its nearest centre, and for the sum of the rows of its new cluster.

use ndarray::Array2;
use pulp::{Simd, WithSimd};

use mustlink_core::clustering::NONE;
use mustlink_core::reduce;

use crate::assign::exact;
use crate::means::Sums;
use crate::panels::{Smallest, dispatch};
use crate::points::{Distortion, Points, inner_product, row, row_norms, squared_distance};
use crate::scores::Scores;

/// Rows that the kernel takes at a time.
const ROWS: usize = 128;

/// What one pass finds.
pub(crate) struct Pass {
    /// Objects whose label changed.
    pub moved: usize,
    /// Total distortion of the labels before; meaningless where there was none.
    pub objective: f64,
    /// Sums and sizes of the clusters after.
    pub sums: Sums,
}

/// Writes the labels of the nearest centres to `next`, as [`crate::assign::assign`] does.
pub(crate) fn pass(
    points: &Points,
    centres: &Array2<f64>,
    labels: &[u32],
    next: &mut [u32],
) -> Pass {
    let norms = row_norms(centres);
    let order = (0..centres.nrows() as u32).collect();
    let scores = Scores::new(points, centres, &norms, order);
    let all = All { points, centres, norms: &norms, scores: &scores, labels };
    all.tree(0, next)
}

struct All<'a> {
    points: &'a Points,
    centres: &'a Array2<f64>,
    norms: &'a [f64],
    scores: &'a Scores<'a>,
    labels: &'a [u32],
}

impl All<'_> {
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
        a.sums.add(&b.sums);
        a
    }

    fn block(&self, first: usize, next: &mut [u32]) -> Pass {
        let (k, d) = self.centres.dim();
        let mut pass = Pass { moved: 0, objective: 0.0, sums: Sums::new(k, d) };
        let mut found = [Smallest::NONE; ROWS];
        for (c, next) in next.chunks_mut(ROWS).enumerate() {
            let first = first + c * ROWS;
            let found = &mut found[..next.len()];
            self.scores.smallest(0..self.scores.panels(), |r| first + r, found);
            for (r, (to, found)) in next.iter_mut().zip(found.iter()).enumerate() {
                let (i, label) = (first + r, self.labels[first + r]);
                *to = if found.second > found.score + 2.0 * self.scores.error(i) {
                    found.centre
                } else {
                    exact(self.points, self.centres, self.norms, i, label, 0..k)
                };
                pass.moved += usize::from(*to != label);
            }
            dispatch(Rest { all: self, first, next, pass: &mut pass });
        }
        pass
    }
}

/// What is not scores, under the same instruction set.
struct Rest<'a> {
    all: &'a All<'a>,
    first: usize,
    next: &'a [u32],
    pass: &'a mut Pass,
}

impl WithSimd for Rest<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Rest { all, first, next, pass } = self;
        let cosine = all.points.distortion() == Distortion::Cosine;
        for (r, &new) in next.iter().enumerate() {
            let x = all.points.dense_row(first + r);
            let label = all.labels[first + r];
            if label != NONE {
                let centre = row(all.centres, label as usize);
                pass.objective += match cosine {
                    true => 1.0 - inner_product(x, centre),
                    false => squared_distance(x, centre),
                };
            }
            pass.sums.take(new as usize, x);
        }
    }
}
