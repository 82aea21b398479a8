//! What do several base clusterers need?

pub mod attempts;
pub(crate) mod complete_search;
pub(crate) mod incentive;
pub(crate) mod matched_groups;
pub mod seeds;
