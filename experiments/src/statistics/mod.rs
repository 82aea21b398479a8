//! Means, intervals and slopes of one sample, and tests of differences between methods.

pub mod effect;
mod inference;
pub mod multiple;
pub mod paired;
mod ranks;
mod sample;
pub mod several;

pub use inference::{log_log_slope, one_sided_confidence};
pub use sample::{Summary, Unit, critical_t, mean_height};
