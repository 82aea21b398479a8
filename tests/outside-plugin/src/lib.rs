//! Plugins of one's own, one file each.

pub mod chain;
pub mod largest_share;
pub mod stripes;
