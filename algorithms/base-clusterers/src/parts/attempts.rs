//! Shared code of methods that make several attempts under constraints.

use mustlink_core::prelude::*;
use mustlink_kernels::constrained::neighbourhood_seeding::{MoreThanK, chunklet_start};
use mustlink_kernels::constrained::penalised_kmeans::ConstrainedInit;
use mustlink_kernels::distance::points::Points;
use mustlink_kernels::kmeans::lloyd::{Stop, ToleranceKind};
use mustlink_kernels::kmeans::seeding::start;
use ndarray::Array2;

/// Options for the neighbourhoods that start an attempt, the end of an attempt, and the number of attempts.
#[options]
#[derive(Copy)]
pub struct Attempts {
    /// Selection of the neighbourhoods that start clusters when there are more than k.
    #[option(alias = "lambda_gt_k")]
    pub when_more_neighbourhoods: MoreThanK,
    /// Number of attempts; the best result is kept.
    #[option(default = 10, min = 1)]
    pub restarts: usize,
    /// Maximum number of sweeps in one attempt.
    #[option(default = 100, min = 1)]
    pub max_iterations: usize,
    /// Smallest change of the objective for which another sweep is made.
    #[option(default = 1e-6, min = 0.0)]
    pub tolerance: f64,
    /// Unit of the tolerance: relative to the objective, or absolute.
    pub tolerance_kind: ToleranceKind,
}

impl Attempts {
    /// When to stop.
    pub(crate) fn stop(&self) -> Stop {
        Stop::new(self.max_iterations, self.tolerance, self.tolerance_kind)
    }

    /// The first centres of an attempt.
    ///
    /// # Errors
    /// Returns the errors of [`start`].
    pub(crate) fn centres(
        &self,
        init: ConstrainedInit,
        points: &Points,
        k: usize,
        closure: &Closure,
        problem: &Problem,
        ctx: &Context,
    ) -> Result<Array2<f64>> {
        match init {
            ConstrainedInit::Plain(init) => start(points, k, init, problem, ctx),
            ConstrainedInit::Neighbourhood => {
                ctx.check()?;
                chunklet_start(points, k, closure, self.when_more_neighbourhoods, ctx)
            }
        }
    }
}
