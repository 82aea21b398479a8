//! Objectives with violation costs: which pairs cost something, what, and how objects choose clusters.

pub mod colouring;
pub mod constraint_groups;
pub mod correlation;
pub mod distance_costs;
pub mod icm;
pub mod judged_pairs;
pub mod mahalanobis;
mod memory_of_starts;
pub mod must_link_units;
pub mod neighbourhood_seeding;
pub mod pair_folds;
pub mod parting;
pub mod penalised_kmeans;
pub mod sides;
pub mod violation_costs;
