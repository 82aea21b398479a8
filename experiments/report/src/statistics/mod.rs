//! Tests of differences between methods.

pub mod bayes;
mod draws;
pub mod hierarchical;
pub mod plackett_luce;
pub use mustlink_experiments::statistics::{effect, multiple, paired, several};
