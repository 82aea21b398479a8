//! Shared arithmetic of the methods: distances, assignment, starts, Lloyd's loop, tables, graphs.

pub mod agreement;
pub mod constrained;
pub mod distance;
pub mod ensemble;
pub mod graph;
pub mod kmeans;
pub mod noise;
pub mod npy;
mod simd;
pub mod symmetric_eigen;

pub use simd::dispatch::check_forced as check_simd;
