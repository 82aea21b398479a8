//! Shared code of base clusterers.

pub(crate) mod adapting;
pub mod attempts;
pub(crate) mod cluster_tree;
pub(crate) mod complete_search;
pub(crate) mod embedding;
pub mod extraction;
pub mod gaussians;
pub(crate) mod incentive;
pub(crate) mod linkage;
pub(crate) mod matched_groups;
pub(crate) mod neighbour_graph;
pub mod seeds;
pub(crate) mod sized_assignment;
pub mod starts;
