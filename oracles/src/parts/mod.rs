//! Shared code of oracles.

pub mod pair_hash;
pub mod table;
pub mod wrapping;
