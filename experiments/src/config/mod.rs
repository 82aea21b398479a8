//! Experiment files: from text to a checked experiment.

mod check;
mod criterion;
mod experiment;
mod file;
mod layers;
mod method;
mod read;
pub(crate) mod stored;

pub use criterion::{Criterion, Tolerance};
pub use experiment::Experiment;
pub use file::{
    Curve, DatasetEntry, EnsemblePer, Exclude, ExperimentFile, Format, Head, MethodEntry, Plot,
    Points, Range, RunSection, Scope, Scoring, Stats,
};
pub use layers::from_here;
pub(crate) use method::{ASSUMED_QUERIES, ResolvedMethod, mentions_classes};
pub use method::{MethodSpec, estimate, first_generator};
