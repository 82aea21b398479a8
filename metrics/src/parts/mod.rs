//! What do several scores need?

pub mod agreement;
pub mod constraint_set;
pub mod geometry;
