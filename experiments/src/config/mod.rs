//! Experiment files: from text to a checked experiment.

mod axes;
mod check;
mod criterion;
mod experiment;
mod file;
mod load;
pub(crate) mod stored;

pub use criterion::{Criterion, Tolerance};
pub(crate) use experiment::ResolvedMethod;
pub use experiment::{Experiment, MethodSpec};
pub use file::{
    Curve, DatasetEntry, EnsemblePer, Exclude, ExperimentFile, Format, Head, MethodEntry, Plot,
    Points, Range, RunSection, Scope, Scoring, Stats,
};
pub use load::from_here;
