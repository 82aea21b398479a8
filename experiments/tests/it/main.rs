//! Studies from file to results.

mod builds;
mod changed;
mod consensus_cluster_plus;
mod continued;
mod damage;
mod distortions;
mod files;
mod growth;
mod identities;
mod judged_pairs;
mod merged_rows;
mod model;
mod runs;
mod smoke;
mod varied;
