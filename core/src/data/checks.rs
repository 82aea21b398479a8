//! Checks of the values of a matrix.

use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;

use crate::error::{Error, Result};

/// Rounding of single precision, relative to the largest value; distances such as 1 − cosine have it everywhere.
const ROUNDING: f64 = 1e-6;

/// Rejects a matrix with a value that is not finite.
pub(super) fn finite(x: ArrayView2<'_, f64>) -> Result<()> {
    // Without a branch for each value; which one it is is only asked when there is one.
    let good = |values: &[f64]| values.iter().fold(true, |good, v| good & v.is_finite());
    if x.as_slice().is_some_and(|all| all.par_chunks(1 << 16).all(good)) {
        return Ok(());
    }
    match x.indexed_iter().find(|(_, v)| !v.is_finite()) {
        Some(((row, col), _)) => Err(Error::NonFinite { row, col }),
        None => Ok(()),
    }
}

/// Rejects a matrix that is not square, not finite or not symmetric.
pub(super) fn symmetric(x: &Array2<f64>) -> Result<()> {
    finite(x.view())?;
    let (n, d) = x.dim();
    if n != d {
        return Err(Error::bad_param("data", format!("{n} × {d}"), "n × n, a column for each row"));
    }
    let largest = largest(x);
    for i in 0..n {
        for j in 0..i {
            if (x[[i, j]] - x[[j, i]]).abs() > 1e-12 * largest {
                return Err(Error::NotSymmetric { row: j, col: i });
            }
        }
    }
    Ok(())
}

/// Rejects a matrix that is not symmetric, or with entries that are not distances: negative ones, and entries of the
/// diagonal that are not 0.
pub(super) fn distances(x: &Array2<f64>) -> Result<()> {
    symmetric(x)?;
    let rounding = ROUNDING * largest(x);
    let wrong = x.indexed_iter().find(|((i, j), v)| **v < -rounding || (i == j && **v > rounding));
    let Some(((i, j), &value)) = wrong else { return Ok(()) };
    let fault = match i == j {
        true => format!("must be 0, the distance of an object to itself, got {value}"),
        false => format!("must be at least 0, got {value}"),
    };
    let remedy = match i == j {
        _ if is_similarity(x, rounding) => of_similarities(x, rounding),
        true => "Set the diagonal to 0".into(),
        false => "A distance is not negative: check how the matrix was computed".into(),
    };
    Err(Error::Data {
        place: format!("data: entry ({i}, {j})"),
        message: format!("{fault}. {remedy}"),
    })
}

fn largest(x: &Array2<f64>) -> f64 {
    x.iter().fold(0.0f64, |m, v| m.max(v.abs()))
}

/// True if no object is closer to another than to itself when large values mean close.
fn is_similarity(x: &Array2<f64>, rounding: f64) -> bool {
    x.rows().into_iter().enumerate().all(|(i, row)| row.iter().all(|v| *v <= row[i] + rounding))
}

/// The remedy for similarities: subtract them from the similarity of an object to itself, if all objects have the same.
fn of_similarities(x: &Array2<f64>, rounding: f64) -> String {
    let top = x[[0, 0]];
    let affinities = "kind \"affinity\" with a method that accepts affinities";
    let finding = "Each entry of the diagonal is the largest of its row, so these are similarities";
    if x.diag().iter().any(|v| (v - top).abs() > rounding) {
        return format!("{finding}. Use {affinities}");
    }
    let top = if (top - top.round()).abs() <= rounding { top.round() } else { top };
    format!("{finding}. Pass {top} - similarity, or use {affinities}")
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    fn refused(x: Array2<f64>) -> String {
        distances(&x).unwrap_err().to_string()
    }

    #[test]
    fn entries_that_are_not_distances_are_rejected() {
        assert_eq!(
            refused(array![[1.0, 0.5], [0.5, 1.0]]),
            "data: entry (0, 0): must be 0, the distance of an object to itself, got 1. Each entry of the diagonal \
             is the largest of its row, so these are similarities. Pass 1 - similarity, or use kind \"affinity\" with \
             a method that accepts affinities"
        );
        assert!(refused(array![[4.0, 1.0], [1.0, 9.0]]).ends_with(
            "so these are similarities. Use kind \"affinity\" with a method that accepts affinities"
        ));
        // Minus distances are similarities, too.
        assert!(refused(array![[0.0, -2.0], [-2.0, 0.0]]).contains("Pass 0 - similarity"));
        assert_eq!(
            refused(array![[0.0, 2.0], [2.0, 0.5]]),
            "data: entry (1, 1): must be 0, the distance of an object to itself, got 0.5. Set the diagonal to 0"
        );
        assert_eq!(
            refused(array![[0.0, 3.0, 1.0], [3.0, 0.0, -2.0], [1.0, -2.0, 0.0]]),
            "data: entry (1, 2): must be at least 0, got -2. A distance is not negative: check how the matrix was \
             computed"
        );
    }

    #[test]
    fn rounding_of_single_precision_is_accepted() {
        let x = array![[1e-7, -1e-7, 1.0], [-1e-7, -2e-7, 1.0], [1.0, 1.0, 0.0]];
        assert_eq!(distances(&x), Ok(()));
        assert_eq!(distances(&Array2::zeros((3, 3))), Ok(()));
        assert_eq!(distances(&array![[0.0]]), Ok(()));
    }
}
