//! How well two partitions agree: tables of counts and the best matching of labels.

pub mod contingency;
pub mod linear_assignment;
