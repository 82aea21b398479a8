//! The role of consensus functions: they combine many partitions into one.

use serde::Serialize;

use crate::clustering::Clustering;
use crate::context::Context;
use crate::ensemble::Ensemble;
use crate::error::Result;
use crate::problem::{Problem, Shape};

use super::base_clusterer::Properties;

/// Requirements of a consensus function on the members.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Needs {
    /// Memberships of every member.
    pub memberships: bool,
    /// It needs distances of every member, or centres or memberships to compute them.
    pub distances: bool,
    /// Feature weights of every member.
    pub feature_weights: bool,
    /// It uses only the labels of a member.
    pub labels_only: bool,
    /// No label may be missing.
    pub complete: bool,
    /// It cannot run without k.
    pub fixed_k: bool,
    /// An option asks for parts of about equal size, so the result may contradict even members that agree.
    pub balanced: bool,
    /// It uses the constraints of the problem.
    pub reads_constraints: bool,
    /// Every must-link holds in its result.
    pub hard_must: bool,
    /// Every cannot-link holds in its result.
    pub hard_cannot: bool,
    /// Constraints marked hard hold in its result; others may be violated.
    pub hard_if_marked: bool,
    /// Largest number of objects that it accepts.
    pub max_n: Option<usize>,
    /// Name of a function that accepts more objects.
    pub instead: &'static str,
}

impl Needs {
    /// Promises about constraints, in the form of a clusterer.
    pub fn promises(&self) -> Properties {
        Properties {
            reads_constraints: self.reads_constraints,
            hard_must: self.hard_must,
            hard_cannot: self.hard_cannot,
            hard_if_marked: self.hard_if_marked,
            ..Properties::default()
        }
    }
}

/// Combines an ensemble. Tag in configs: `consensus = { type = "…" }`.
#[typetag::serde(tag = "type")]
pub trait ConsensusFunction: super::Plugin {
    /// One partition of the ensemble's objects; k is that of `problem`.
    ///
    /// # Errors
    /// Returns the errors that the plugin documents.
    fn combine(&self, ensemble: &Ensemble, problem: &Problem, ctx: &Context) -> Result<Clustering>;

    /// Requirements on the members.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Bytes needed beyond the ensemble of `members` members.
    fn memory(&self, shape: &Shape, members: usize) -> u64 {
        (8 * (shape.n + members)) as u64
    }

    /// Multiplications and additions of combining `members` members once, roughly, children included. Plans and
    /// the order of cells are made from these.
    fn operations(&self, shape: &Shape, _members: usize) -> f64 {
        shape.entries as f64
    }
}
