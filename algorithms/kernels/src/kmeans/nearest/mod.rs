//! The nearest centre of each object.

pub mod assign;
pub mod centres;
pub(crate) mod few_rows;
pub(crate) mod many_rows;
pub(crate) mod scores;
pub(crate) mod sparse;
pub mod weighted;
