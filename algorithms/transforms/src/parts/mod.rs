//! Shared code of transforms.

pub mod linear_map;
pub mod numeric_words;
pub mod projection;
pub mod refused;
