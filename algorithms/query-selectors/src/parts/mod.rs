//! Shared code of selectors: neighbourhoods and the questions about them, super-instances, lists of
//! pairs.

pub mod ascending;
pub mod asking;
pub mod blocks;
pub mod checks;
pub mod doubting;
pub mod expansion;
pub mod farthest;
pub mod mean;
pub mod neighbourhoods;
pub mod pair_list;
pub mod pair_pool;
pub mod placing;
pub mod relations;
pub mod representative_pairs;
pub mod super_instances;
pub mod voting;
pub mod world_search;
pub mod worlds;
