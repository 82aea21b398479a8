//! The default of h in locally adaptive clustering.
//!
//! It is compared with variances of features inside clusters: those about the first centres make it the
//! same in any unit.

use mustlink_core::prelude::*;
use mustlink_kernels::distance::points::{Points, row, row_norms};
use ndarray::{Array2, Axis};

/// The mean squared distance of an object to the nearest of some centres, by the number of features. 1
/// where every object is on one.
pub(crate) fn mean_spread(points: &Points, centres: &Array2<f64>) -> f64 {
    let norms = row_norms(centres);
    let nearest = |i: usize| {
        let each = (0..norms.len()).map(|h| points.distance(i, row(centres, h), norms[h]));
        each.fold(f64::INFINITY, f64::min)
    };
    let spread = reduce::sum(points.n(), nearest) / (points.n() * points.d()) as f64;
    if spread > 0.0 { spread } else { 1.0 }
}

/// The same about the mean of all objects: the mean variance of a feature.
pub(crate) fn mean_variance(points: &Points) -> f64 {
    let all: Vec<u32> = (0..points.n() as u32).collect();
    let centre = points.mean(&all).unwrap_or_else(|| vec![0.0; points.d()]);
    mean_spread(points, &ndarray::Array1::from(centre).insert_axis(Axis(0)))
}
