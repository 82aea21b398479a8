//! Objects as rows, and how far they are from each other and from centres.

pub mod kd_tree;
pub mod points;
pub mod precision;
pub mod rows_by_label;
