//! The agreement of the members of an ensemble, pair by pair of objects.

mod bit_counts;
pub mod co_association;
pub mod consensus_matrix;
pub mod imputation;
pub mod signatures;
