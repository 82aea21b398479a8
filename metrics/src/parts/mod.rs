//! Shared code of metrics.

pub mod agreement;
pub mod constraint_set;
pub mod geometry;
