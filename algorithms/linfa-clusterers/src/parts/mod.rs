//! What do several adapters need?

pub mod adapting;
