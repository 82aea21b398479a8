//! Weighted graphs, nearest neighbours, spanning trees and eigenvectors.

pub mod adjacency;
mod boruvka;
pub mod dense_regions;
pub mod eigen;
pub mod knn;
pub mod krylov;
pub mod reachability;
