//! Clusterers that need more than their own crate to be tested.

mod cop_kmeans;
mod gpk_means;
mod sparse_kmeans;
