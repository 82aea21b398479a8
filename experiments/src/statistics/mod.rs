//! Summary statistics, and tests of differences between paired samples.

mod inference;
mod sample;

pub(crate) use inference::{log_log_slope, one_sided_confidence};
pub use sample::{Summary, Unit, critical_t, mean_height};
