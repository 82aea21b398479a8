//! NumPy matrices that the core reads in place.
//!
//! The one place of this package with `unsafe` of its own: a matrix of doubles, row by row, is read through its
//! address for as long as the call that was given it runs, without the interpreter's lock. NumPy neither moves nor
//! frees memory that somebody holds a reference to. As with every extension of Python, a program that writes into a
//! matrix while it is read gets results of neither of the two.

use std::sync::Arc;

use mustlink::data::Lent;
use numpy::{PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;

/// The values of a matrix of Python, and what keeps them.
struct Values {
    first: *const f64,
    count: usize,
    /// Keeps the memory alive.
    _matrix: Py<PyArray2<f64>>,
}

// SAFETY: the values are read alone, through an address that the reference beside it keeps valid; a reference to a
// Python object may be sent to and dropped in any thread.
unsafe impl Send for Values {}
unsafe impl Sync for Values {}

impl AsRef<[f64]> for Values {
    fn as_ref(&self) -> &[f64] {
        // SAFETY: `lent` took address and number from a slice of this matrix, which is held.
        unsafe { std::slice::from_raw_parts(self.first, self.count) }
    }
}

/// The values of a matrix stored row by row, not copied; `None` for any other order.
pub(crate) fn lent(rows: &PyReadonlyArray2<'_, f64>) -> Option<Lent> {
    let view = rows.as_array();
    // Of columns that stand one after the other, and of values between which others stand, there is no slice.
    let all = view.as_slice()?;
    let (first, count) = (all.as_ptr(), all.len());
    // A view without memory of its own holds its base, and this the view.
    let matrix = rows.as_unbound().clone_ref(rows.py());
    (count > 0).then(|| Arc::new(Values { first, count, _matrix: matrix }) as Lent)
}
