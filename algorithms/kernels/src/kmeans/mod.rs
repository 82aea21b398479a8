//! Means, starts and Lloyd's algorithm in its variants.

pub mod lloyd;
pub mod means;
pub mod nearest;
pub mod seeding;
pub mod single_moves;
mod single_pass;
mod yinyang;
