//! Oracles, which answer "same cluster or not?": one file per oracle.
//!
//! Oracles are built by wrapping, in one fixed order (`parts/wrapping.rs`); simulated ones draw what is
//! random from a hash of the pair (`parts/pair_hash.rs`), so that no reply depends on what was asked before.

mod parts;

automod::dir!(pub "src");
