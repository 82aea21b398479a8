//! What do several base clusterers need?

pub mod attempts;
pub mod seeds;
