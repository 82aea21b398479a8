//! What does an object pay for its constraints, when every pair has a price of its own?

use mustlink_core::prelude::*;
use mustlink_kernels::constrained::constraint_groups::ConstraintGroups;
use mustlink_kernels::constrained::icm::PairwiseCosts;
use rayon::prelude::*;

use super::field::{Field, Partner, Partners};

/// The pairs under the current weights.
pub(super) struct Pairs<'a> {
    field: &'a Field,
    /// What each of the partners costs when its constraint is broken.
    costs: Vec<f64>,
}

impl<'a> Pairs<'a> {
    pub(super) fn new(field: &'a Field, a: &[f64], largest: f64) -> Self {
        let (must, cannot) = field.links.factors();
        let cost = |partner: &Partner| {
            let &Partner { object, other, weight, .. } = partner;
            let (first, second) = (object.min(other), object.max(other));
            let far = field.measure.pair(a, field.row(first), field.row(second));
            match partner.kind {
                Kind::MustLink => must * weight * far,
                Kind::CannotLink => cannot * weight * (largest - far),
            }
        };
        Pairs { field, costs: field.partners.all.par_iter().map(cost).collect() }
    }
}

impl PairwiseCosts for Pairs<'_> {
    fn links(&self) -> &ConstraintGroups {
        &self.field.links
    }

    fn add(&mut self, i: usize, labels: &[u32], cost: &mut [f64]) {
        let Partners { starts, all } = &self.field.partners;
        let own = starts[i]..starts[i + 1];
        for (partner, &price) in all[own.clone()].iter().zip(&self.costs[own]) {
            let l = labels[partner.other as usize];
            if l == NONE {
                continue;
            }
            match partner.kind {
                Kind::CannotLink => cost[l as usize] += price,
                Kind::MustLink => {
                    cost.iter_mut().for_each(|c| *c += price);
                    cost[l as usize] -= price;
                }
            }
        }
    }

    fn moved(&mut self, _: usize, _: u32, _: u32) {}
}
