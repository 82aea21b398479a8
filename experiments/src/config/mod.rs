//! Experiment files: from text to a checked experiment.

mod axes;
mod check;
mod columns;
mod criterion;
mod expand;
mod experiment;
mod file;
mod load;
mod null;
mod plot;
mod resolved;
pub(crate) mod stored;

pub use criterion::{Criterion, Tolerance};
pub use experiment::Experiment;
pub use file::{
    Curve, DatasetEntry, EnsemblePer, Exclude, ExperimentFile, Head, MethodEntry, Points, Range,
    RunSection, Scope, Scoring, Stats,
};
pub use plot::{Format, Plot};
pub(crate) use resolved::ResolvedMethod;
pub use resolved::{DatasetSpec, MethodSpec};
