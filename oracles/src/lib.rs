//! Who answers "same cluster or not?" One file per oracle.
//!
//! Oracles are built by wrapping, in one fixed order ([`wrapping`]); simulated ones draw what is
//! random from a hash of the pair ([`pair_hash`]), so that no reply depends on what was asked before.

automod::dir!(pub "src");
