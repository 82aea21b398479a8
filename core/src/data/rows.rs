//! The places of dense rows in memory.

use std::sync::Arc;

use ndarray::{Array2, ArrayView2};

/// n × d values, row by row.
pub(super) enum Rows {
    /// In memory of the core.
    Own(Array2<f64>),
    /// In memory of another owner, which does not change it.
    Lent { values: Lent, shape: (usize, usize) },
}

/// Values in memory of another owner.
pub type Lent = Arc<dyn AsRef<[f64]> + Send + Sync>;

impl Rows {
    pub(super) fn dim(&self) -> (usize, usize) {
        match self {
            Rows::Own(x) => x.dim(),
            Rows::Lent { shape, .. } => *shape,
        }
    }

    #[inline]
    pub(super) fn d(&self) -> usize {
        self.dim().1
    }

    /// All values, row after row.
    #[inline]
    pub(super) fn values(&self) -> &[f64] {
        match self {
            Rows::Own(x) => x.as_slice().expect("standard layout"),
            Rows::Lent { values, shape: (n, d) } => &(**values).as_ref()[..n * d],
        }
    }

    pub(super) fn view(&self) -> ArrayView2<'_, f64> {
        ArrayView2::from_shape(self.dim(), self.values()).expect("as many values as the shape says")
    }
}

impl std::fmt::Debug for Rows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.view().fmt(f)
    }
}
