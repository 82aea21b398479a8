//! The role of constraint propagators: they spread a few constraints to many pairs.

use ndarray::Array2;
use serde::Serialize;

use crate::clustering::Clustering;
use crate::constraints::Constraints;
use crate::context::Context;
use crate::data::DataKind;
use crate::error::Result;
use crate::problem::{Problem, Shape};

/// Result of propagation.
#[derive(Debug, Clone, PartialEq)]
pub enum Propagated {
    /// More constraints, the given ones among them.
    Constraints(Constraints),
    /// Distances that respect the constraints, n × n.
    Distances(Array2<f64>),
    /// Affinities that respect the constraints, n × n.
    Affinity(Array2<f64>),
}

/// Plain facts about a propagator.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PropagatorProperties {
    /// It needs a clustering of the same data.
    pub needs_clustering: bool,
    /// Kinds of data that it accepts.
    pub accepts: Vec<DataKind>,
    /// Kind of data that replaces the data afterwards; absent if the result is constraints.
    pub gives: Option<DataKind>,
}

impl Default for PropagatorProperties {
    fn default() -> Self {
        PropagatorProperties {
            needs_clustering: false,
            accepts: vec![DataKind::Dense, DataKind::Csr],
            gives: None,
        }
    }
}

/// Spreads constraints. Tag in configs: `propagator = { type = "…" }`.
#[typetag::serde(tag = "type")]
pub trait ConstraintPropagator: super::Plugin {
    /// Propagates `constraints`; every given constraint is kept.
    ///
    /// # Errors
    /// Returns the errors that the plugin documents.
    fn propagate(
        &self,
        constraints: &Constraints,
        clustering: Option<&Clustering>,
        problem: &Problem,
        ctx: &Context,
    ) -> Result<Propagated>;

    /// Plain facts, computed from the parameters.
    fn properties(&self) -> PropagatorProperties {
        PropagatorProperties::default()
    }

    /// Bytes needed beyond the data.
    fn memory(&self, shape: &Shape) -> u64 {
        (16 * shape.n) as u64
    }
}
