//! Consensus functions: what combines many partitions into one. One file each.

automod::dir!(pub "src");
