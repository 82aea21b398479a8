//! The costs of the constraints of an object if every pair has its own cost.

use mustlink_core::prelude::*;
use mustlink_kernels::constrained::constraint_groups::ConstraintGroups;
use mustlink_kernels::constrained::icm::PairwiseCosts;
use rayon::prelude::*;

/// The pairs of each object, one object after the other: a visit reads them in one go.
pub(super) struct Partners {
    starts: Vec<usize>,
    all: Vec<Partner>,
}

/// One object's side of a pair.
pub(super) struct Partner {
    pub(super) object: u32,
    pub(super) other: u32,
    pub(super) kind: Kind,
    pub(super) weight: f64,
}

impl Partners {
    pub(super) fn new(n: usize, pairs: &[Constraint]) -> Self {
        let partner = |object, other, c: &Constraint| {
            let &Constraint { kind, weight, .. } = c;
            Partner { object, other, kind, weight }
        };
        let both = |c: &Constraint| [partner(c.i, c.j, c), partner(c.j, c.i, c)];
        let mut all: Vec<Partner> = pairs.iter().flat_map(both).collect();
        // Stable: the order of the pairs stays.
        all.par_sort_by_key(|partner| partner.object);
        let mut starts = vec![0; n + 1];
        all.iter().for_each(|partner| starts[partner.object as usize + 1] += 1);
        (0..n).for_each(|i| starts[i + 1] += starts[i]);
        Partners { starts, all }
    }
}

/// The pairs under the current weights.
pub(super) struct Pairs<'a> {
    links: &'a ConstraintGroups,
    partners: &'a Partners,
    /// Cost of each partner when its constraint is broken.
    prices: Vec<f64>,
}

impl<'a> Pairs<'a> {
    pub(super) fn new(
        links: &'a ConstraintGroups,
        partners: &'a Partners,
        price: impl Fn(&Partner) -> f64 + Sync + Send,
    ) -> Self {
        let prices = reduce::map(partners.all.len(), |at| price(&partners.all[at]));
        Pairs { links, partners, prices }
    }
}

impl PairwiseCosts for Pairs<'_> {
    fn links(&self) -> &ConstraintGroups {
        self.links
    }

    fn add(&mut self, i: usize, labels: &[u32], cost: &mut [f64]) {
        let Partners { starts, all } = self.partners;
        let own = starts[i]..starts[i + 1];
        for (partner, &price) in all[own.clone()].iter().zip(&self.prices[own]) {
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
