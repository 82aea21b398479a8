//! Base clusterers: what groups objects. One file each.

mod parts;

pub use parts::attempts::Attempts;
pub use parts::extraction::{ClusterSelection, Extraction};
pub use parts::seeds::{SeedOptions, Unseeded};

automod::dir!(pub "src");
