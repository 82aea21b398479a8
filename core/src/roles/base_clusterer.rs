//! The role of base clusterers: they group objects.

use serde::Serialize;

use crate::clustering::Clustering;
use crate::constraints::{Constraint, Kind, Strength};
use crate::context::Context;
use crate::data::DataKind;
use crate::error::Result;
use crate::problem::{Problem, Shape};

/// Plain facts about a clusterer, which the framework checks and the laws test.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Properties {
    /// Kinds of data that it accepts.
    pub accepts: Vec<DataKind>,
    /// It cannot run without k.
    pub needs_k: bool,
    /// It uses constraints.
    pub reads_constraints: bool,
    /// It accepts groups whose members must be apart; other clusterers get the pairs of each group.
    pub reads_groups: bool,
    /// Every must-link holds in its result.
    pub hard_must: bool,
    /// Every cannot-link holds in its result.
    pub hard_cannot: bool,
    /// Constraints marked hard hold in its result; others may be violated.
    pub hard_if_marked: bool,
    /// It may violate constraints marked hard, because an option sets their cost.
    pub hard_as_soft: bool,
    /// It uses the weights of constraints.
    pub soft_weights: bool,
    /// It uses the weights of objects.
    pub object_weights: bool,
    /// It returns centres.
    pub gives_centers: bool,
    /// It may learn how much each feature counts: weights of features, or a metric.
    pub learns_weights: bool,
    /// It makes random choices by object index, so that permuting rows may change the result.
    pub index_keyed: bool,
    /// It cannot run with its defaults: an option must be set first.
    pub needs_setup: bool,
}

impl Default for Properties {
    fn default() -> Self {
        Properties {
            accepts: vec![DataKind::Dense],
            needs_k: true,
            reads_constraints: false,
            reads_groups: false,
            hard_must: false,
            hard_cannot: false,
            hard_if_marked: false,
            hard_as_soft: false,
            soft_weights: false,
            object_weights: false,
            gives_centers: false,
            learns_weights: false,
            index_keyed: true,
            needs_setup: false,
        }
    }
}

impl Properties {
    /// True if every constraint of this kind is promised.
    pub fn hard(&self, kind: Kind) -> bool {
        match kind {
            Kind::MustLink => self.hard_must,
            Kind::CannotLink => self.hard_cannot,
        }
    }

    /// True if this constraint is promised.
    pub fn promise(&self, constraint: &Constraint) -> bool {
        match constraint.strength {
            Some(Strength::Soft) => false,
            Some(Strength::Hard) => self.hard_if_marked || self.hard(constraint.kind),
            None => self.hard(constraint.kind),
        }
    }
}

/// Operations in one second of processor time, roughly, on machines from 2020 on. With these, numbers of operations
/// become the times that plans and `auto` estimate.
pub const OPERATIONS_PER_SECOND: f64 = 2e9;

/// A method that a clusterer would try, with its estimated costs.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// Name of the method.
    pub name: String,
    /// Operations of all its runs, roughly.
    pub operations: f64,
    /// Bytes of one run beyond the data.
    pub memory: u64,
    /// True if the method is too expensive to be tried.
    pub left_out: bool,
}

/// Groups objects into clusters. Tag in configs: `clusterer = { type = "…" }`.
#[typetag::serde(tag = "type")]
pub trait BaseClusterer: super::Plugin {
    /// One label in `0..k` for every object of `problem`.
    ///
    /// # Errors
    /// Returns the errors that the plugin documents; a panic is a defect.
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering>;

    /// Plain facts, computed from the parameters.
    fn properties(&self) -> Properties {
        Properties::default()
    }

    /// Bytes needed beyond the data, children included.
    fn memory(&self, shape: &Shape) -> u64 {
        (16 * shape.n + 16 * shape.k * shape.d) as u64
    }

    /// Multiplications and additions of one run, including its starts, roughly; absent: those of twenty sweeps over the
    /// data from each start ([`Shape::sweep`]). Children do not count, except a consensus function, because only its
    /// parent knows how many members it combines. Plans and the order of cells are made from these.
    fn operations(&self, _shape: &Shape) -> Option<f64> {
        None
    }

    /// The methods that it would try on data of this shape. Empty for a clusterer that tries no others.
    fn attempts(&self, _shape: &Shape) -> Vec<Attempt> {
        Vec::new()
    }
}
