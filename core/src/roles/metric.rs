//! The role of metrics: they score a clustering.

use serde::Serialize;

use crate::constraints::Constraints;
use crate::context::Context;
use crate::data::Data;
use crate::ensemble::Ensemble;
use crate::error::Result;

/// Input of a metric.
#[derive(Clone, Copy, Default)]
pub struct MetricInput<'a> {
    /// Cluster of each object.
    pub labels: &'a [u32],
    /// Class of each object; `None` inside = unknown, which removes the object from the scope.
    pub truth: Option<&'a [Option<u32>]>,
    /// Objects that count; absent means all.
    pub scope: Option<&'a [bool]>,
    /// The objects.
    pub data: Option<&'a Data>,
    /// The constraints that the clusterer got.
    pub constraints: Option<&'a Constraints>,
    /// Constraints that the clusterer did not get.
    pub heldout: Option<&'a Constraints>,
    /// Cluster of each object when the same clusterer is run with the same seed and no constraints.
    pub unconstrained: Option<&'a [u32]>,
    /// Pairs left out of pair counts, each i < j, sorted, unique.
    pub exclude: Option<&'a [(u32, u32)]>,
    /// An ensemble to compare with.
    pub ensemble: Option<&'a Ensemble>,
    /// The run that scores; if absent, it cannot be cancelled and has no time limit.
    pub ctx: Option<&'a Context>,
}

impl MetricInput<'_> {
    /// An error if the run that scores was cancelled or is out of time. Call it between parts of long work.
    ///
    /// # Errors
    /// `Cancelled`, `TimedOut`.
    pub fn check(&self) -> Result<()> {
        self.ctx.map_or(Ok(()), Context::check)
    }

    /// The run that scores, or one that cannot be cancelled.
    pub fn context(&self) -> Context {
        self.ctx.cloned().unwrap_or_else(|| Context::new(0))
    }
}

/// Plain facts about a metric.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MetricProperties {
    /// Smallest value.
    #[serde(serialize_with = "infinity_as_text")]
    pub min: f64,
    /// Largest value, infinity if unbounded.
    #[serde(serialize_with = "infinity_as_text")]
    pub max: f64,
    /// Larger is better.
    pub higher_is_better: bool,
    /// It ranks methods, because high values are better than low ones, or the reverse; false, for example, for the
    /// number of clusters found.
    pub ranked: bool,
    /// Needs classes.
    pub needs_truth: bool,
    /// Needs the objects.
    pub needs_data: bool,
    /// Needs constraints.
    pub needs_constraints: bool,
    /// Needs constraints that the clusterer does not get.
    pub needs_heldout: bool,
    /// Needs the partition made without constraints: one more run of the clusterer.
    pub needs_unconstrained: bool,
    /// Needs an ensemble.
    pub needs_ensemble: bool,
    /// Exchanging clusters and classes leaves it unchanged.
    pub symmetric: bool,
    /// A perfect clustering has this value.
    pub perfect: Option<f64>,
}

fn infinity_as_text<S: serde::Serializer>(v: &f64, s: S) -> std::result::Result<S::Ok, S::Error> {
    match *v {
        f64::INFINITY => s.serialize_str("infinity"),
        f64::NEG_INFINITY => s.serialize_str("-infinity"),
        v => s.serialize_f64(v),
    }
}

impl Default for MetricProperties {
    /// Agreement with classes in [0, 1], larger is better.
    fn default() -> Self {
        MetricProperties {
            min: 0.0,
            max: 1.0,
            higher_is_better: true,
            ranked: true,
            needs_truth: true,
            needs_data: false,
            needs_constraints: false,
            needs_heldout: false,
            needs_unconstrained: false,
            needs_ensemble: false,
            symmetric: false,
            perfect: Some(1.0),
        }
    }
}

/// Scores a clustering. In configs: `metrics = ["ari", …]`.
#[typetag::serde(tag = "type")]
pub trait Metric: super::Plugin {
    /// The score; `None` where undefined, never NaN.
    ///
    /// # Errors
    /// Returns the errors that the plugin documents.
    fn score(&self, input: &MetricInput) -> Result<Option<f64>>;

    /// Plain facts.
    fn properties(&self) -> MetricProperties {
        MetricProperties::default()
    }
}
