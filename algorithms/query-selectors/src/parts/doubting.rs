//! How much does a selector doubt answers?

use mustlink_core::prelude::*;

/// How much answers are doubted.
#[options]
#[derive(Copy)]
pub struct Doubting {
    /// Probability that an answer is wrong.
    #[option(default = 0.1, above = 0.0, below = 0.5)]
    pub noise: f64,
    /// How probable it has to be that answers are right, as far as questions can make it so; at 0 none is asked to
    /// confirm others, and answers are doubted only where they contradict each other by themselves.
    #[option(default = 0.95, min = 0.0, below = 1.0)]
    pub certainty: f64,
    /// Most answers taken to be wrong at once, beside those found out before; where many answers share cycles,
    /// no more than can be chosen in 20 000 ways: 2 of 200, 3 of 50.
    #[option(default = 2, min = 1, max = 3)]
    pub order: usize,
}
