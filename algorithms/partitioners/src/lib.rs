//! Partitioners: they cut a graph or a hypergraph into k parts.
//!
//! A [`CutGraph`] has whole-number weights; an [`Engine`] cuts it into k parts. `metis` and `multilevel`
//! keep the parts of about equal weight, `spectral` and `greedy_ncut` look at the normalised cut
//! instead. A [`Hypergraph`] is cut by its own local search.

mod coarsen;
mod engine;
mod graph;
mod greedy_ncut;
mod hypergraph;
#[cfg(feature = "metis")]
mod metis;
mod multilevel;
mod refine;
mod repair;
mod sample;
mod sides;
mod spectral;
mod task;
#[cfg(not(feature = "metis"))]
mod without_metis;

pub use engine::{Engine, pairs_together};
pub use graph::{Apart, CutGraph, GraphBuilder, whole_scale, whole_weight};
pub use hypergraph::{HyperPartition, HyperTask, Hypergraph};
pub use repair::REPAIR_NODES;
pub use sides::Sides;
pub use spectral::embed;
pub use task::{Cut, Guide, Partition, Partitioner, Task};
