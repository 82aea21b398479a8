//! Plugins of one's own, one file each: one of every role, and a clusterer that reads constraints, holds
//! another and has an option that is a number or "auto". `mustlink plugin new` copies them.

pub mod above_least;
pub mod chain;
pub mod hesitant;
pub mod largest_share;
pub mod leaders;
pub mod per_feature;
pub mod second_thoughts;
pub mod stripes;
pub mod to_neighbours;

/// The code of the manual's chapter about outside plugins, compiled by `cargo test --doc`.
#[cfg(doctest)]
#[doc = include_str!("../../../book/src/outside-plugins.md")]
mod manual {}
