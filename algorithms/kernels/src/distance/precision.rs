//! The precision in which nearest centres are pre-selected.

use mustlink_core::prelude::{__mustlink, options};

/// Most clusters whose sums are taken by blocks of rows, in the same pass over the data as their
/// scores.
pub(crate) const MAX_BLOCKED_CLUSTERS: usize = 128;

/// Number format of the scores that pre-select the nearest centre of dense objects. It never
/// changes a label: if scores lie within their rounding error, exact distances decide.
#[options]
pub enum Precision {
    /// The data in double precision. Rows are rounded if single-precision scores are used.
    #[default]
    F64,
    /// A copy of half the size in single precision, from 129 clusters on. With fewer clusters a copy would be slower,
    /// because the means are then taken in the same pass over the data.
    F32,
}

impl Precision {
    /// True if scores for so many clusters are computed in single precision.
    pub(crate) fn pays(self, k: usize) -> bool {
        self == Precision::F32 && k > MAX_BLOCKED_CLUSTERS
    }

    /// Bytes that n dense objects in d features, prepared for it and k clusters, take in addition to
    /// the data.
    pub fn memory(self, n: usize, d: usize, k: usize) -> u64 {
        if self.pays(k) { (4 * n * d + 4 * n) as u64 } else { 0 }
    }
}

/// How dense rows are shifted and scaled before they are rounded to single precision: to about their
/// mean, and by a power of two to a length of at most 1, so that rounding errors are small compared
/// with the distances and nothing overflows.
pub(crate) struct SingleScaling {
    /// The largest squared norm of a row, before.
    pub largest: f64,
    /// Upper bound of the length of a shifted row.
    pub most: f64,
    /// The vector that is subtracted from every row.
    pub shift: Vec<f64>,
    /// The factor of every row after that.
    pub scale: f64,
}

impl SingleScaling {
    /// True if products of shifted rows fit single precision as they are, without a scale.
    pub(crate) fn fits_singles(&self) -> bool {
        (1e-12..1e12).contains(&self.most)
    }
}

/// A copy of dense rows in single precision.
pub(crate) struct SingleCopy {
    pub rows: Vec<f32>,
    /// Length of each rounded row.
    pub lengths: Vec<f32>,
}
