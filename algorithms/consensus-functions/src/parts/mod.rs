//! Code that several consensus functions share.

pub mod agreement;
pub mod average_linkage;
pub mod bipartite;
pub mod canonical_ensemble;
pub mod cutting;
#[cfg(test)]
pub mod e12;
pub mod matching;
pub mod pairwise;
pub mod reliability;
pub mod satisfaction;
pub mod typical;
pub mod weights;
