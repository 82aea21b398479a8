//! How well two partitions agree: tables of counts and the best matching of labels. How well people do.

pub mod annotators;
pub mod contingency;
pub mod linear_assignment;
pub mod members;
pub mod sparse_matching;
