//! Shared code of methods that take Lloyd's steps from several starts.

use mustlink_core::prelude::*;
use mustlink_kernels::distance::points::Points;
use mustlink_kernels::kmeans::lloyd::{Stop, ToleranceKind, best_of};
use mustlink_kernels::kmeans::seeding::{Init, start};
use ndarray::Array2;

/// Options for the first centres, the number of starts, and the end of a start.
#[options]
#[derive(Copy)]
pub struct Starts {
    /// Method of choosing the first centres.
    pub init: Init,
    /// Number of starts; the best result is kept. A given start is run once.
    #[option(default = 10, min = 1)]
    pub restarts: usize,
    /// Maximum number of sweeps in one start.
    #[option(default = 100, min = 1)]
    pub max_iterations: usize,
    /// Smallest change of the objective for which another sweep is made.
    #[option(default = 1e-6, min = 0.0)]
    pub tolerance: f64,
    /// Unit of the tolerance: relative to the objective, or absolute.
    pub tolerance_kind: ToleranceKind,
}

impl Starts {
    /// When to stop.
    pub(crate) fn stop(&self) -> Stop {
        Stop::new(self.max_iterations, self.tolerance, self.tolerance_kind)
    }

    /// The best of what `run` makes of the first centres of each start.
    ///
    /// # Errors
    /// Returns the errors of [`start`] and `run`.
    pub(crate) fn best(
        &self,
        points: &Points,
        k: usize,
        problem: &Problem,
        ctx: &Context,
        run: impl Fn(Array2<f64>, &Context) -> Result<Clustering> + Send + Sync,
    ) -> Result<Clustering> {
        let restarts = if self.init.is_random() { self.restarts } else { 1 };
        best_of(restarts, |r| {
            let ctx = ctx.index(r);
            run(start(points, k, self.init, problem, &ctx)?, &ctx)
        })
    }
}
