//! What is known of a clustering: must-links, cannot-links, groups, what follows from them, why they cannot hold.
//!
//! Below everything else, so the errors of mustlink are here as well, which tell of contradictions, and the
//! trait of checked options. The core hands all of it on under its own name.

pub mod closure;
mod colours;
mod constraint;
pub mod constraints;
mod contradictions;
mod counted;
pub mod error;
pub mod groups;
pub mod lists;
pub mod options;
pub mod role;
pub mod text;
pub mod union_find;
mod widest_paths;
pub mod witness;
