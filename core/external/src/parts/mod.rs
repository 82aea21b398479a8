//! What plugins of other languages share.

pub mod child;
pub mod exchange;
pub mod kept_children;
pub mod programs;
mod running;
pub mod scripts;
