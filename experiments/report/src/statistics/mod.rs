//! Tests of differences between methods.

pub mod bayes;
pub mod multiple;
pub mod paired;
mod ranks;
pub mod several;
