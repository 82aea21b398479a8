//! What do several base clusterers need?

pub mod seeds;
