//! What do several transforms need?

pub mod linear_map;
pub mod projection;
