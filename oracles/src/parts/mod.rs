//! What do several oracles need?

pub mod pair_hash;
pub mod table;
pub mod wrapping;
