//! Plugins of one's own, one file each.

pub mod chain;
pub mod largest_share;
pub mod stripes;

/// The code of the manual's chapter about outside plugins, compiled by `cargo test --doc`.
#[cfg(doctest)]
#[doc = include_str!("../../../book/src/outside-plugins.md")]
mod manual {}
