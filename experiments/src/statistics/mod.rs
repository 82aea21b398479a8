//! Means, intervals and slopes of one sample.

mod inference;
mod sample;

pub use inference::{log_log_slope, one_sided_confidence};
pub use sample::{Summary, Unit, critical_t, mean_height};
