//! The parts that are the same in every start: objects, pairs, and the kind of distance.

use std::sync::Arc;

use mustlink_core::prelude::*;
use mustlink_kernels::constrained::constraint_groups::ConstraintGroups;
use mustlink_kernels::distance::points::row;
use ndarray::Array2;

use super::measure::Measure;
use super::pairs::{Pairs, Partner, Partners};

/// The problem, as all starts see it.
pub(super) struct Field {
    pub(super) measure: Measure,
    pub(super) rate: f64,
    pub(super) x: Array2<f64>,
    /// The features in the log-determinant: those that are not constant; none where it does not count.
    pub(super) varying: Vec<usize>,
    pub(super) links: Arc<ConstraintGroups>,
    pub(super) partners: Partners,
    /// Centres of I-divergence are not below this: a feature absent from a cluster stays possible.
    pub(super) least: Vec<f64>,
    /// Given or entailed cannot-links, whose largest distance is φ_max.
    pub(super) apart: Vec<(u32, u32)>,
}

impl Field {
    pub(super) fn row(&self, i: u32) -> &[f64] {
        row(&self.x, i as usize)
    }

    /// Costs of the pairs under the weights `a`, with `largest` as φ_max.
    pub(super) fn prices(&self, a: &[f64], largest: f64) -> Pairs<'_> {
        let (must, cannot) = self.links.factors();
        let price = |partner: &Partner| {
            let &Partner { object, other, weight, .. } = partner;
            let (first, second) = (object.min(other), object.max(other));
            let far = self.measure.pair(a, self.row(first), self.row(second));
            match partner.kind {
                Kind::MustLink => must * weight * far,
                Kind::CannotLink => cannot * weight * (largest - far),
            }
        };
        Pairs::new(&self.links, &self.partners, price)
    }
}
