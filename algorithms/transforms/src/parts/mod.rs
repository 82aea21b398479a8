//! What do several transforms need?

pub mod linear_map;
pub mod numeric_words;
pub mod projection;
pub mod refused;
