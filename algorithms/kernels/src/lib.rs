//! Shared arithmetic of the methods: distances, assignment, starts, Lloyd's loop, tables, graphs, forests.

pub mod agreement;
pub mod constrained;
pub mod distance;
pub mod ensemble;
pub mod forest;
pub mod graph;
pub mod kmeans;
pub mod npy;
mod simd;
