//! Attacks on every reader of bytes: whatever the bytes, it must end with a value or an error.
//!
//! A [`Target`] is a reader with the files it is attacked with: corpora, from which [`Mutants`] makes inputs,
//! and regressions, inputs that once broke it. [`Watch`] runs one input and reports a panic of any thread and memory
//! beyond a bound. All inputs follow from a seed. The tests attack with fixed seeds; bolero attacks for any length of
//! time.

mod corpus;
mod mutants;
mod targets;
mod watch;

pub use corpus::{Kept, kept};
pub use mutants::Mutants;
pub use targets::{Harness, TARGETS, Target, find};
pub use watch::{Broken, Taken, Watch};
