//! The means of clusters, with the same bits for any number of threads.
//!
//! One definition for all methods. Few clusters: rows are summed by cluster in blocks of 1024 rows in
//! index order, and the sums of the blocks are added in the fixed tree, so that data is read once and
//! in order. Many clusters, where the sums of a block would outweigh its rows: the members of each
//! cluster are summed in index order, in blocks of 1024 members, as are objects of unequal weights. Up to
//! 1024 rows both are the same.

use ndarray::{Array2, ArrayView1};
use rayon::prelude::*;

use mustlink_core::data::DataKind;
use mustlink_core::{Row, reduce};

use crate::distance::points::{Distortion, Points, normalise};
use crate::distance::precision::MAX_BLOCKED_CLUSTERS;
use crate::distance::rows_by_label::by_label;

/// Sums and sizes of clusters.
pub(crate) struct Sums {
    d: usize,
    values: Vec<f64>,
    sizes: Vec<usize>,
}

impl Sums {
    pub(crate) fn new(k: usize, d: usize) -> Self {
        Sums { d, values: vec![0.0; k * d], sizes: vec![0; k] }
    }

    /// The sums, one cluster after the other, and the sizes.
    pub(crate) fn all(&mut self) -> (&mut [f64], &mut [usize]) {
        (&mut self.values, &mut self.sizes)
    }

    /// Adds a dense row to cluster `h`.
    fn take(&mut self, h: usize, x: &[f64]) {
        let sum = &mut self.values[h * self.d..(h + 1) * self.d];
        sum.iter_mut().zip(x).for_each(|(s, v)| *s += v);
        self.sizes[h] += 1;
    }

    /// Adds the sums of later rows.
    pub(crate) fn add(&mut self, later: &Sums) {
        self.values.iter_mut().zip(&later.values).for_each(|(a, b)| *a += b);
        self.sizes.iter_mut().zip(&later.sizes).for_each(|(a, b)| *a += b);
    }

    /// Puts the means of the clusters in place of `centres`; those without members (or, for
    /// cosine, whose members sum to zero) keep theirs. Returns the sizes.
    pub(crate) fn into_means(
        mut self,
        distortion: Distortion,
        changed: Option<&[bool]>,
        centres: &mut Array2<f64>,
    ) -> Vec<usize> {
        for (h, sum) in self.values.chunks_exact_mut(self.d).enumerate() {
            if self.sizes[h] == 0 || changed.is_some_and(|c| !c[h]) {
                continue;
            }
            match distortion {
                Distortion::SquaredEuclidean => {
                    let count = self.sizes[h] as f64;
                    sum.iter_mut().for_each(|v| *v /= count);
                }
                Distortion::Cosine => {
                    if !normalise(sum) {
                        continue;
                    }
                }
            }
            centres.row_mut(h).assign(&ArrayView1::from(&*sum));
        }
        self.sizes
    }
}

/// Writes the means of the clusters that `changed` (absent: of all) to `centres`; the others, and those
/// without members (or, for cosine, whose members sum to zero), keep their centre. Returns all sizes.
pub(crate) fn update_means(
    points: &Points,
    labels: &[u32],
    changed: Option<&[bool]>,
    centres: &mut Array2<f64>,
) -> Vec<usize> {
    let (k, d) = centres.dim();
    let wanted = |h: usize| changed.is_none_or(|c| c[h]);
    let counted_once = points.data().weights().is_none();
    if k <= MAX_BLOCKED_CLUSTERS && points.data().kind() == DataKind::Dense && counted_once {
        let sum_of = |rows: std::ops::Range<usize>| {
            let mut sums = Sums::new(k, d);
            for i in rows {
                match (points.data().row(i), labels[i] as usize) {
                    (_, h) if h >= k => {}
                    (Row::Dense(x), h) if wanted(h) => sums.take(h, x),
                    (_, h) => sums.sizes[h] += 1,
                }
            }
            sums
        };
        let add = |mut a: Sums, b: Sums| {
            a.add(&b);
            a
        };
        let sums = reduce::reduce(labels.len(), sum_of, add).expect("data is not empty");
        return sums.into_means(points.distortion(), changed, centres);
    }
    let (offsets, order) = by_label(labels, k);
    let all = centres.as_slice_mut().expect("standard layout");
    all.par_chunks_mut(d).with_max_len(1).enumerate().filter(|(h, _)| wanted(*h)).for_each(
        |(h, to)| {
            if let Some(mean) = points.mean(&order[offsets[h]..offsets[h + 1]]) {
                to.copy_from_slice(&mean);
            }
        },
    );
    offsets.windows(2).map(|w| w[1] - w[0]).collect()
}

/// The centre of every cluster; those without members (or, for cosine, whose members sum to zero)
/// keep the row of `previous`. Also gives the number of members of each cluster.
pub fn means(points: &Points, labels: &[u32], previous: Array2<f64>) -> (Array2<f64>, Vec<usize>) {
    let mut centres = previous;
    let sizes = update_means(points, labels, None, &mut centres);
    (centres, sizes)
}
