//! Random forests, for which objects fall together.

pub mod columns;
pub mod random_forest;
mod split;
mod tree;
