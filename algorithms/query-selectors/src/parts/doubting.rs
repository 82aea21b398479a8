//! The probability that an answer is wrong, for a selector that doubts answers.

use mustlink_core::prelude::*;

/// Options for doubting answers.
#[options]
#[derive(Copy)]
pub struct Doubting {
    /// Probability that an answer is wrong.
    #[option(default = 0.1, above = 0.0, below = 0.5)]
    pub noise: f64,
    /// Probability with which answers must be correct, as far as questions can achieve it. At 0 no answer is confirmed;
    /// answers are then doubted only if they contradict each other.
    #[option(default = 0.95, min = 0.0, below = 1.0)]
    pub certainty: f64,
    /// Maximum number of answers assumed to be wrong at the same time, in addition to those already found. If many
    /// answers share cycles, the number is limited to at most 20 000 choices: 2 of 200, 3 of 50.
    #[option(default = 2, min = 1, max = 3)]
    pub order: usize,
}
