//! Shared arithmetic of the methods: distances, assignment, starts, Lloyd's loop, tables.

pub mod assign;
pub mod contingency;
pub mod linear_assignment;
pub mod lloyd;
pub mod neighbourhood_start;
mod panels;
pub mod penalties;
pub mod points;
pub mod seeding;
