//! Clusterers that need more than their own crate to be tested.

mod cop_kmeans;
mod gpk_means;
mod hard_promises;
mod hdbscan;
mod k_prototypes;
mod mpck_means;
mod object_weights;
mod proved_optimum;
mod sparse_kmeans;
mod units;
