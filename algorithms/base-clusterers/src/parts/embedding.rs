//! K-means in the space of a few eigenvectors.

use mustlink_core::prelude::*;
use mustlink_kernels::distance::points::{Distortion, Points};
use mustlink_kernels::kmeans::lloyd::{Empty, Stop, ToleranceKind, best_of, lloyd};
use mustlink_kernels::kmeans::seeding::{Init, start};
use ndarray::Array2;

/// The best of `restarts` runs of k-means on `rows`.
///
/// # Errors
/// Returns the errors of k-means: more clusters than rows, and cancellation.
pub fn kmeans_of(
    rows: Array2<f64>,
    k: usize,
    restarts: usize,
    ctx: &Context,
) -> Result<Clustering> {
    let points = Points::new(&Data::dense(rows)?, Distortion::SquaredEuclidean)?;
    let stop = Stop::new(300, 1e-9, ToleranceKind::Relative);
    let problem = Problem::new(points.data().clone());
    best_of(restarts, |r| {
        let ctx = ctx.index(r);
        let centres = start(&points, k, Init::KmeansPlusPlus, &problem, &ctx)?;
        lloyd(&points, centres, stop, Empty::Reseed, &ctx)
    })
}
