//! The role of transforms: they change the data before clustering.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::context::Context;
use crate::data::{Data, DataKind};
use crate::error::{Error, Result};
use crate::features::Features;
use crate::problem::{Problem, Shape};

/// A transform fitted to data.
pub trait Fitted: Send + Sync {
    /// The transformed objects.
    ///
    /// # Errors
    /// Returns the errors that the plugin documents.
    fn apply(&self, data: &Data) -> Result<Data>;

    /// For transforms that drop or merge rows: the new row of each old row (`None` = dropped).
    /// The first old row that maps to a new row is the one kept.
    fn row_map(&self) -> Option<&[Option<u32>]> {
        None
    }

    /// Features of the result.
    fn features(&self) -> Features {
        Features::Same
    }

    /// For transforms that learn a metric: the weight of each feature before it.
    fn weights(&self) -> Option<Vec<f64>> {
        None
    }

    /// Words of other data that were not in those of the fit and are lost in [`Fitted::apply`], by feature.
    fn unseen(&self, data: &Data) -> Vec<(usize, String)> {
        let _ = data;
        Vec::new()
    }

    /// Features of other data that hold words where those of the fit held numbers, or numbers where they held
    /// words: [`Fitted::apply`] refuses such data.
    fn of_other_kind(&self, data: &Data) -> Vec<usize> {
        let _ = data;
        Vec::new()
    }

    /// Data from which [`Transform::restore`] can make it again, for models that are kept in a file; absent if
    /// it cannot be kept.
    fn saved(&self) -> Option<Value> {
        None
    }
}

/// Result of [`Fitted::saved`] for a transform that is kept unchanged.
pub fn kept<F: Fitted + Serialize>(fitted: &F) -> Option<Value> {
    serde_json::to_value(fitted).ok()
}

/// Restores a fitted transform from the value that [`kept`] made of it.
///
/// # Errors
/// `Plugin` if the value does not describe such a transform.
pub fn restored<F: Fitted + DeserializeOwned + 'static>(
    tag: &str,
    saved: &Value,
) -> Result<Box<dyn Fitted>> {
    match F::deserialize(saved) {
        Ok(fitted) => Ok(Box::new(fitted)),
        Err(e) => {
            Err(Error::Plugin { tag: tag.into(), message: format!("is not such a step: {e}") })
        }
    }
}

/// Plain facts about a transform.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TransformProperties {
    /// Kinds of data that it accepts.
    pub accepts: Vec<DataKind>,
    /// It learns from constraints, so it is fitted again whenever they change.
    pub reads_constraints: bool,
    /// It drops or merges rows.
    pub changes_rows: bool,
    /// It accepts values of any size.
    pub any_magnitude: bool,
}

impl Default for TransformProperties {
    fn default() -> Self {
        TransformProperties {
            accepts: vec![DataKind::Dense, DataKind::Csr],
            reads_constraints: false,
            changes_rows: false,
            any_magnitude: false,
        }
    }
}

/// Changes data. In configs: `transforms = [{ type = "…" }, …]`, applied in order.
#[typetag::serde(tag = "type")]
pub trait Transform: super::Plugin {
    /// Learns what is needed from all rows of `problem`.
    ///
    /// # Errors
    /// Returns the errors that the plugin documents.
    fn fit(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Fitted>>;

    /// The fitted transform that [`Fitted::saved`] kept.
    ///
    /// # Errors
    /// `Plugin` when the value does not belong to this transform, or if it cannot be kept.
    fn restore(&self, saved: &Value) -> Result<Box<dyn Fitted>> {
        let _ = saved;
        let message = "cannot be kept in a model".into();
        Err(Error::Plugin { tag: self.typetag_name().into(), message })
    }

    /// Plain facts, computed from the parameters.
    fn properties(&self) -> TransformProperties {
        TransformProperties::default()
    }

    /// Bytes needed beyond the data.
    fn memory(&self, shape: &Shape) -> u64 {
        (8 * shape.entries) as u64
    }

    /// Multiplications and additions of fitting and applying it once, roughly. Plans and the order of cells
    /// are made from these.
    fn operations(&self, shape: &Shape) -> f64 {
        shape.entries as f64
    }

    /// Upper bound of the shape of the result, if the parameters determine it; `shape` itself if it depends on
    /// the values.
    fn shape_of_result(&self, shape: &Shape) -> Shape {
        *shape
    }
}

/// A transform with its fitted form.
pub type FittedStep = (Box<dyn Transform>, Arc<dyn Fitted>);

/// A fitted transform as it is stored, for objects that come later.
#[derive(Serialize, Deserialize)]
pub struct SavedStep {
    /// The transform.
    pub transform: Box<dyn Transform>,
    /// Result of [`Fitted::saved`].
    pub fitted: Value,
}

impl SavedStep {
    /// The steps for new objects, in order. Steps that drop or merge rows are left out: they belong to the objects
    /// that were clustered.
    ///
    /// # Errors
    /// The name of the first transform that cannot be stored.
    pub fn of_all(steps: &[FittedStep]) -> std::result::Result<Vec<Self>, &'static str> {
        let mut saved = Vec::new();
        for (transform, fitted) in steps.iter().filter(|(t, _)| !t.properties().changes_rows) {
            let fitted = fitted.saved().ok_or(transform.typetag_name())?;
            saved.push(SavedStep { transform: transform.clone(), fitted });
        }
        Ok(saved)
    }

    /// The fitted transform.
    ///
    /// # Errors
    /// Returns the errors of [`Transform::restore`].
    pub fn restored(&self) -> Result<Box<dyn Fitted>> {
        self.transform.restore(&self.fitted)
    }
}

/// Cost of several steps, one after the other.
#[derive(Debug, Clone, Copy)]
pub struct CostOfSteps {
    /// Bytes that the step with the largest memory needs beyond the data.
    pub memory: u64,
    /// Multiplications and additions of all of them.
    pub operations: f64,
    /// The shape of what they make.
    pub result: Shape,
}

/// Cost of these steps on data of this shape.
pub fn cost_of_steps(steps: &[Box<dyn Transform>], shape: &Shape) -> CostOfSteps {
    let none = CostOfSteps { memory: 0, operations: 0.0, result: *shape };
    steps.iter().fold(none, |so_far, step| CostOfSteps {
        memory: so_far.memory.max(step.memory(&so_far.result)),
        operations: so_far.operations + step.operations(&so_far.result),
        result: step.shape_of_result(&so_far.result),
    })
}
