//! One constraint: a pair of objects, its kind, weight and strength.

use crate::kind::{self, Described};
use serde::{Deserialize, Serialize};

/// Kind of a constraint: the two objects belong together or apart.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, Described,
)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The two objects are in one cluster.
    MustLink,
    /// The two objects are in different clusters.
    CannotLink,
}

impl Kind {
    /// The word used in files.
    pub fn name(self) -> &'static str {
        match self {
            Kind::MustLink => "must_link",
            Kind::CannotLink => "cannot_link",
        }
    }

    /// The word used in sentences.
    pub fn hyphenated(self) -> &'static str {
        match self {
            Kind::MustLink => "must-link",
            Kind::CannotLink => "cannot-link",
        }
    }
}

/// Mark of a constraint as hard or soft, if given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Described)]
#[serde(rename_all = "snake_case")]
pub enum Strength {
    /// A violation costs the weight.
    Soft,
    /// The constraint must hold.
    Hard,
}

impl Strength {
    /// The more binding of two marks: hard before unmarked before soft.
    pub fn stronger(a: Option<Strength>, b: Option<Strength>) -> Option<Strength> {
        match (a, b) {
            (Some(Strength::Hard), _) | (_, Some(Strength::Hard)) => Some(Strength::Hard),
            (None, _) | (_, None) => None,
            (Some(Strength::Soft), Some(Strength::Soft)) => Some(Strength::Soft),
        }
    }
}

/// Origin of a constraint. It does not affect any computation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, Described)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Given with the problem.
    #[default]
    Given,
    /// A reply of an oracle.
    Queried,
    /// Imputed by a method from an ensemble.
    Imputed,
    /// Concluded from replies.
    Entailed,
    /// Spread from other constraints.
    Propagated,
}

/// A must-link or cannot-link between two objects, with its weight.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Constraint {
    /// Smaller object.
    pub i: u32,
    /// Larger object.
    pub j: u32,
    /// Together or apart.
    pub kind: Kind,
    /// Multiplier of the clusterer's penalty, 1 by default: finite and at least 0. Methods accept at most
    /// [`Constraint::MAX_WEIGHT`].
    pub weight: f64,
    /// Mark as hard or soft; if absent, the method decides.
    pub strength: Option<Strength>,
    /// Origin of the constraint.
    pub origin: Origin,
}

impl Constraint {
    /// The largest weight that methods take, as it is the largest value of data: products with squares of values, and
    /// their sums, are numbers.
    pub const MAX_WEIGHT: f64 = 1e100;

    /// A constraint of weight 1 without strength. An index too large for the type becomes the
    /// largest index, which no data has.
    pub fn new(i: usize, j: usize, kind: Kind) -> Self {
        let object = |o: usize| u32::try_from(o).unwrap_or(u32::MAX);
        let (i, j) = (object(i.min(j)), object(i.max(j)));
        Constraint { i, j, kind, weight: 1.0, strength: None, origin: Origin::Given }
    }
    /// A must-link of weight 1.
    pub fn must(i: usize, j: usize) -> Self {
        Constraint::new(i, j, Kind::MustLink)
    }
    /// A cannot-link of weight 1.
    pub fn cannot(i: usize, j: usize) -> Self {
        Constraint::new(i, j, Kind::CannotLink)
    }
    /// The same with another weight.
    pub fn weighing(mut self, weight: f64) -> Self {
        self.weight = weight;
        self
    }
    /// The same with another origin.
    pub fn from(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }
    /// True if `labels` violate the constraint. An object without a label (`u32::MAX`) is apart from all others.
    pub fn is_violated(&self, labels: &[u32]) -> bool {
        let label = labels[self.i as usize];
        let together = label == labels[self.j as usize] && label != u32::MAX;
        together != (self.kind == Kind::MustLink)
    }
}
