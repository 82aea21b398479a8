//! Consensus functions: what combines many partitions into one. One file each.
//!
//! Options that several share: for cutting a graph ([`Cutting`]), for average linkage ([`AverageLinkage`]) and for the
//! weights of members ([`Weights`]).

mod parts;

pub use parts::average_linkage::AverageLinkage;
pub use parts::cutting::Cutting;
pub use parts::weights::{Scheme, Weights};

automod::dir!(pub "src");
