//! Summary statistics, and tests of differences between methods.

pub mod bayes;
mod inference;
pub mod multiple;
pub mod paired;
mod ranks;
mod sample;
pub mod several;

pub(crate) use inference::{log_log_slope, one_sided_confidence};
pub use sample::{Summary, Unit, critical_t, mean_height};
