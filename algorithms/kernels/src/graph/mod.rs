//! Weighted graphs, nearest neighbours and eigenvectors.

pub mod adjacency;
pub mod eigen;
pub mod knn;
pub mod krylov;
