//! The role of ensemble generators: they make many partitions of the same objects.

use serde::Serialize;

use crate::context::Context;
use crate::data::DataKind;
use crate::ensemble::Ensemble;
use crate::error::Result;
use crate::problem::{Problem, Shape};

/// Plain facts about a generator.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GeneratorProperties {
    /// Kinds of data that it accepts.
    pub accepts: Vec<DataKind>,
    /// It cannot run without k.
    pub needs_k: bool,
    /// It, or a plugin inside it, uses constraints.
    pub reads_constraints: bool,
}

impl Default for GeneratorProperties {
    fn default() -> Self {
        GeneratorProperties {
            accepts: vec![DataKind::Dense],
            needs_k: true,
            reads_constraints: false,
        }
    }
}

/// Makes an ensemble. Tag in configs: `generator = { type = "…" }`.
#[typetag::serde(tag = "type")]
pub trait EnsembleGenerator: super::Plugin {
    /// Members over the same objects; member t depends on nothing but the problem, the path and t.
    ///
    /// # Errors
    /// Returns the errors that the plugin documents.
    fn generate(&self, problem: &Problem, ctx: &Context) -> Result<Ensemble>;

    /// Plain facts, computed from the parameters.
    fn properties(&self) -> GeneratorProperties {
        GeneratorProperties::default()
    }

    /// Number of members, and the largest number of clusters in one of them. Plugins that combine them use it to
    /// declare their memory. Absent: the option `members` (100 without it), with the number of clusters of the problem.
    fn size(&self, _shape: &Shape) -> Option<(usize, usize)> {
        None
    }

    /// Bytes needed beyond the data, children and the ensemble included. `labels_only`: members keep
    /// no centres and the like, as for [`Context::ensemble_labels`].
    fn memory(&self, shape: &Shape, labels_only: bool) -> u64 {
        let extras = if labels_only { 0 } else { 8 * shape.k * shape.d };
        (16 * shape.n + extras) as u64
    }
}
