//! Experiment files: from text to a checked experiment.

mod axes;
mod check;
mod criterion;
mod experiment;
mod file;
mod load;
mod method;
pub(crate) mod stored;

pub use criterion::{Criterion, Tolerance};
pub use experiment::Experiment;
pub use file::{
    Curve, DatasetEntry, EnsemblePer, Exclude, ExperimentFile, Format, Head, MethodEntry, Plot,
    Points, Range, RunSection, Scope, Scoring, Stats,
};
pub use load::from_here;
pub use method::MethodSpec;
pub(crate) use method::ResolvedMethod;
