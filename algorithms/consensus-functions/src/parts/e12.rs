//! A small ensemble on which consensus functions can be checked by hand.

use mustlink_core::prelude::*;
use ndarray::Array2;

/// The worked example E12: 5 members over 12 objects, and a problem with k = 3.
pub fn e12() -> (Ensemble, Problem) {
    let members = [
        [0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2],
        [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2],
        [0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2],
        [0, 0, 0, 0, 0, 1, 1, 2, 2, 2, 2, 2],
        [0, 0, 0, 0, 3, 1, 1, 1, 1, 2, 2, 2],
    ];
    let members = members.iter().map(|m| Member::from_labels(m)).collect();
    (Ensemble::new(12, members).unwrap(), blank(12, 3))
}

/// The true class of each object of [`e12`].
pub const E12_CLASSES: [u32; 12] = [0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2];

/// A problem of which only the size matters.
pub fn blank(n: usize, k: usize) -> Problem {
    Problem::new(Data::dense(Array2::zeros((n, 1))).unwrap()).with_k(k)
}
