//! Iterated conditional modes: constrained objects choose clusters one after the other.
//!
//! Sources: Besag 1986; as the assignment step of [Basu2004] §4 and [BasuBilenkoMooney2004].

use mustlink_core::clustering::NONE;
use mustlink_core::prelude::{__mustlink, options};
use mustlink_core::{Context, order};

use crate::constrained::constraint_groups::ConstraintGroups;
use crate::kmeans::lloyd::PenaltyTerm;

/// Order in which objects are visited.
#[options]
pub enum Order {
    /// A fresh random order each sweep.
    #[default]
    Random,
    /// One random order for all sweeps.
    RandomFixed,
    /// By index.
    Index,
    /// By ascending smallest cost at the start of the sweep.
    Sorted,
}

/// Costs of the label of one object that depend on the labels of others.
pub trait PairwiseCosts {
    /// Which objects concern each other.
    fn links(&self) -> &ConstraintGroups;
    /// Adds to `cost[h]` what object `i` would pay in cluster h, given everyone else's `labels`.
    fn add(&mut self, i: usize, labels: &[u32], cost: &mut [f64]);
    /// Notes that object `i` goes from cluster `from` to `to` ([`NONE`] = unlabelled).
    fn moved(&mut self, i: usize, from: u32, to: u32);
}

/// One pass over the coupled objects, in order, with labels as they are now; gives the number of
/// moves. Each takes the cluster of least cost: the current one if it attains the minimum, else
/// the lowest.
///
/// `own` holds what each of them pays in each of the k clusters by itself, row by row.
pub fn visit(
    pairwise: &mut impl PairwiseCosts,
    own: &[f64],
    k: usize,
    labels: &mut [u32],
    order: Order,
    sweep: usize,
    ctx: &Context,
) -> usize {
    let objects = pairwise.links().objects().to_vec();
    let single: Vec<&[u32]> = objects.chunks(1).collect();
    // Where no cost is a number, an object stays where it is: that the objective is none is told by whoever
    // runs the method.
    let stay = |at: usize, labels: &[u32], cost: &mut [f64]| {
        if cost.iter().all(|c| c.is_nan() || *c == f64::INFINITY) {
            let current = labels[single[at][0] as usize];
            cost[if current == NONE { 0 } else { current as usize }] = 0.0;
        }
    };
    visit_groups(pairwise, &single, own, k, labels, order, sweep, ctx, stay)
        .expect("some cluster is always allowed")
}

/// The same over groups that move as one, where `forbid` raises the cost of clusters a group may not
/// join to infinity. No two objects of a group may be coupled.
///
/// # Errors
/// The number of a group that may join no cluster.
#[allow(clippy::too_many_arguments)] // the state of one sweep; a struct for it would say less
pub fn visit_groups(
    pairwise: &mut impl PairwiseCosts,
    groups: &[&[u32]],
    own: &[f64],
    k: usize,
    labels: &mut [u32],
    order: Order,
    sweep: usize,
    ctx: &Context,
    forbid: impl Fn(usize, &[u32], &mut [f64]),
) -> Result<usize, usize> {
    let mut cost = vec![0.0; k];
    let mut moved = 0;
    for at in order_of(pairwise, groups, own, k, labels, order, sweep, ctx) {
        cost.copy_from_slice(&own[at * k..(at + 1) * k]);
        groups[at].iter().for_each(|&i| pairwise.add(i as usize, labels, &mut cost));
        forbid(at, labels, &mut cost);
        let current = labels[groups[at][0] as usize];
        let best = cheapest(&cost, current);
        if best == NONE {
            return Err(at);
        }
        if best != current {
            for &i in groups[at] {
                pairwise.moved(i as usize, current, best);
                labels[i as usize] = best;
                moved += 1;
            }
        }
    }
    Ok(moved)
}

/// The cluster of least cost: `current` if it attains the minimum, else the lowest.
pub fn cheapest(cost: &[f64], current: u32) -> u32 {
    let mut best = (f64::INFINITY, NONE);
    for (h, &c) in cost.iter().enumerate() {
        if c < best.0 || (c == best.0 && h as u32 == current) {
            best = (c, h as u32);
        }
    }
    best.1
}

/// A random order of all `n` objects, restricted to those with a place in `places` ([`NONE`] = none):
/// their places, in that order. What is left out never changes the order of the rest.
pub fn random_order(places: &[u32], sweep: usize, ctx: &Context) -> impl Iterator<Item = usize> {
    let all = ctx.index(sweep).stream("order").permutation(places.len());
    all.into_iter().map(|i| places[i as usize]).filter(|&p| p != NONE).map(|p| p as usize)
}

/// Positions in `groups` in the order of visits; a group comes when its first object does.
#[allow(clippy::too_many_arguments)]
fn order_of(
    pairwise: &mut impl PairwiseCosts,
    groups: &[&[u32]],
    own: &[f64],
    k: usize,
    labels: &[u32],
    order: Order,
    sweep: usize,
    ctx: &Context,
) -> Vec<usize> {
    match order {
        Order::Index => (0..groups.len()).collect(),
        Order::Sorted => {
            let mut costs = own.to_vec();
            let mut least = Vec::with_capacity(groups.len());
            for (cost, group) in costs.chunks_mut(k).zip(groups) {
                group.iter().for_each(|&i| pairwise.add(i as usize, labels, cost));
                least.push(cost.iter().copied().fold(f64::INFINITY, f64::min));
            }
            order::ascending(&least)
        }
        Order::Random | Order::RandomFixed => {
            let mut places = vec![NONE; labels.len()];
            groups.iter().enumerate().for_each(|(at, g)| places[g[0] as usize] = at as u32);
            let sweep = if order == Order::RandomFixed { 0 } else { sweep };
            random_order(&places, sweep, ctx).collect()
        }
    }
}

/// Pairwise costs as the part of the objective that is not distortion.
pub struct PairwiseTerm<'a, C> {
    pairwise: &'a mut C,
    scale: f64,
    cost: Vec<f64>,
}

impl<'a, C: PairwiseCosts> PairwiseTerm<'a, C> {
    /// For k clusters, where distortions stand `scale` times in the objective.
    pub fn new(pairwise: &'a mut C, k: usize, scale: f64) -> Self {
        PairwiseTerm { pairwise, scale, cost: vec![0.0; k] }
    }
}

impl<C: PairwiseCosts> PenaltyTerm for PairwiseTerm<'_, C> {
    fn rise(&mut self, i: usize, to: u32, labels: &[u32]) -> f64 {
        self.cost.fill(0.0);
        self.pairwise.add(i, labels, &mut self.cost);
        let change = self.cost[to as usize] - self.cost[labels[i] as usize];
        // Where distances count for nothing any change is infinite, and none is none.
        if change == 0.0 { 0.0 } else { change / self.scale }
    }

    fn moved(&mut self, i: usize, from: u32, to: u32) {
        self.pairwise.moved(i, from, to);
    }
}

#[cfg(test)]
mod tests {
    use mustlink_core::closure::{Closure, OnConflict};
    use mustlink_core::{Constraint, Constraints};

    use super::*;
    use crate::constrained::constraint_groups::Entail;

    /// Whatever an object chooses costs more than there are numbers.
    struct Beyond(ConstraintGroups);

    impl PairwiseCosts for Beyond {
        fn links(&self) -> &ConstraintGroups {
            &self.0
        }

        fn add(&mut self, _: usize, _: &[u32], cost: &mut [f64]) {
            cost.fill(f64::INFINITY);
        }

        fn moved(&mut self, _: usize, _: u32, _: u32) {}
    }

    #[test]
    fn where_all_costs_are_infinite_objects_stay() {
        let given =
            Constraints::new(3, [Constraint::must(0, 1), Constraint::cannot(1, 2)]).unwrap();
        let closure = Closure::new(&given, 3, OnConflict::Keep).unwrap();
        let groups = ConstraintGroups::new(&closure, 1.0, 1.0, Entail::Full, 2).unwrap();
        let mut labels = vec![1, NONE, 0];
        let (own, ctx) = (vec![0.0; 6], Context::new(1));
        let moved = visit(&mut Beyond(groups), &own, 2, &mut labels, Order::Index, 0, &ctx);
        assert_eq!((moved, labels), (1, vec![1, 0, 0]));
    }
}
