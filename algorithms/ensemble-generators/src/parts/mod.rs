//! What do several ensemble generators need?

pub mod member_input;
pub mod member_k;
pub mod members;
pub mod recipe;
pub mod view;
