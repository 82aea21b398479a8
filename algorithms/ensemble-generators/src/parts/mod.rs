//! Shared code of ensemble generators.

pub mod member_input;
pub mod member_k;
pub mod members;
pub mod recipe;
pub mod view;
