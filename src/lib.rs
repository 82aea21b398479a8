//! Semi-supervised clustering ensembles as a tree of named plugins.
//!
//! This crate is the whole library: it re-exports `mustlink-core` and links every plugin crate, so
//! that all of them are found by name.

pub use mustlink_core::*;

use mustlink_base_clusterers as _;
use mustlink_consensus_functions as _;
use mustlink_constraint_propagators as _;
use mustlink_ensemble_generators as _;
use mustlink_linfa_clusterers as _;
use mustlink_metrics as _;
use mustlink_oracles as _;
use mustlink_query_selectors as _;
use mustlink_transforms as _;

/// The code of the manual, compiled and run by `cargo test --doc`.
#[cfg(doctest)]
mod manual {
    #[doc = include_str!("../book/src/add-a-method.md")]
    struct AddAMethod;
    #[doc = include_str!("../book/src/rust-library.md")]
    struct RustLibrary;
    #[doc = include_str!("../book/src/test-an-invariant.md")]
    struct TestAnInvariant;
}
