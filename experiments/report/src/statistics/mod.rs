//! Tests of differences between methods.

pub mod bayes;
pub use mustlink_experiments::statistics::{effect, multiple, paired, several};
