//! Constraints on a clustering: must-links, cannot-links, groups, their closure, and why they may contradict.
//!
//! All other crates depend on this one. So it also contains the errors of mustlink, which report contradictions,
//! and the trait of checked options. The core re-exports all of it.

pub mod closure;
mod colours;
mod constraint;
pub mod constraints;
mod contradictions;
mod counted;
pub mod error;
pub mod groups;
pub mod kind;
pub mod lists;
pub mod options;
pub mod overruled;
mod range;
pub mod role;
pub mod text;
pub mod union_find;
mod widest_paths;
pub mod witness;
