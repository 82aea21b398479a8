//! What plugins of other languages share.

pub mod child;
pub mod exchange;
pub mod kept_children;
pub mod programs;
pub mod scripts;
