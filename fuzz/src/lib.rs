//! Fuzzing: every reader of bytes ends with a value or an error.
//!
//! A [`Target`] is a reader with the files it is attacked with: corpora, from which [`Mutants`] makes inputs,
//! and regressions, inputs that once broke it. [`Watch`] runs one input and tells a panic of any thread, memory
//! beyond a bound, and input that takes too long. All inputs follow from a seed: the n-th input of a target is
//! the same on every machine.

mod corpus;
mod minimise;
mod mutants;
mod targets;
mod watch;

pub use corpus::{Kept, kept};
pub use minimise::minimise;
pub use mutants::{Mutants, entropy};
pub use targets::{Harness, TARGETS, Target, find};
pub use watch::{Broken, MOST_MEMORY, Taken, Watch};
