//! Shared code of plugins in other languages.

pub mod child;
pub mod exchange;
pub mod kept_children;
pub mod programs;
mod running;
pub mod scripts;
