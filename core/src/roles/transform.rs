//! What changes the data before it is clustered?

use serde::Serialize;

use crate::context::Context;
use crate::data::{Data, DataKind};
use crate::error::Result;
use crate::features::Features;
use crate::problem::{Problem, Shape};

/// A transform fitted to data.
pub trait Fitted: Send + Sync {
    /// The transformed objects.
    ///
    /// # Errors
    /// As the plugin documents.
    fn apply(&self, data: &Data) -> Result<Data>;

    /// For transforms that drop or merge rows: the new row of each old row (`None` = dropped).
    /// The first old row that maps to a new row is the one kept.
    fn row_map(&self) -> Option<&[Option<u32>]> {
        None
    }

    /// What its features are.
    fn features(&self) -> Features {
        Features::Same
    }

    /// For transforms that learn a metric: the weight of each feature before it.
    fn weights(&self) -> Option<Vec<f64>> {
        None
    }
}

/// Plain facts about a transform.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TransformProperties {
    /// Kinds of data it takes.
    pub accepts: Vec<DataKind>,
    /// It learns from constraints, so it is fitted again whenever they change.
    pub reads_constraints: bool,
    /// It drops or merges rows.
    pub changes_rows: bool,
}

impl Default for TransformProperties {
    fn default() -> Self {
        TransformProperties {
            accepts: vec![DataKind::Dense, DataKind::Csr],
            reads_constraints: false,
            changes_rows: false,
        }
    }
}

/// Changes data. In configs: `transforms = [{ type = "…" }, …]`, applied in order.
#[typetag::serde(tag = "type")]
pub trait Transform: super::Plugin {
    /// Learns what is needed from all rows of `problem`.
    ///
    /// # Errors
    /// As the plugin documents.
    fn fit(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Fitted>>;

    /// Plain facts, computed from the parameters.
    fn properties(&self) -> TransformProperties {
        TransformProperties::default()
    }

    /// Bytes needed beyond the data.
    fn memory(&self, shape: &Shape) -> u64 {
        (8 * shape.entries) as u64
    }
}
