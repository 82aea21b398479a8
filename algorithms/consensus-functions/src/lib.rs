//! Consensus functions: what combines many partitions into one. One file each.
//!
//! How much members count is said by [`Weights`] wherever it may be said.

mod parts;

pub use parts::weights::{Scheme, Weights};

automod::dir!(pub "src");
