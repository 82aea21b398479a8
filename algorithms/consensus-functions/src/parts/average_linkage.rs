//! Average linkage under constraints, for consensus functions with similarities of their own.

use mustlink_core::prelude::*;

use crate::evidence_accumulation::{Constrain, EvidenceAccumulation, Part};
use crate::parts::weights::Weights;

/// Options of average linkage.
#[options]
pub struct AverageLinkage {
    /// Largest number of objects that is accepted.
    #[option(default = 20_000, min = 1)]
    pub max_n: usize,
    /// Weights of the members.
    pub weights: Weights,
    /// Use of constraints.
    pub constrain: Constrain,
    /// Time at which obeyed cannot-links separate clusters. If absent, afterwards.
    pub part: Option<Part>,
    /// Maximum number of nodes in each search for k clusters that hold the cannot-links.
    #[option(default = 1_000_000, min = 1, inert = "a limit that small problems do not reach")]
    pub node_limit: u64,
}

impl AverageLinkage {
    /// The hierarchy that merges the similarities.
    pub(crate) fn accumulation(&self) -> EvidenceAccumulation {
        EvidenceAccumulation {
            max_n: self.max_n,
            weights: self.weights.clone(),
            constrain: self.constrain,
            part: self.part,
            node_limit: self.node_limit,
            ..EvidenceAccumulation::default()
        }
    }
}
