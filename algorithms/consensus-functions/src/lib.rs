//! Consensus functions: what combines many partitions into one. One file each.
//!
//! Options that several share: how a graph is cut ([`Cutting`]) and how much members count ([`Weights`]).

mod parts;

pub use parts::cutting::Cutting;
pub use parts::weights::{Scheme, Weights};

automod::dir!(pub "src");
