//! The cheapest assignment to given centres.
//!
//! The integer programme of a step ([Baumann2025]), solved by row generation: at first no tie counts and every item
//! takes its cheapest cluster. Ties that this breaks join their ends to parts, which are searched again with all ties
//! inside them, until no tie between parts is broken. Ties that are never broken are never used, and the result is
//! the optimum of the whole programme.

use mustlink_core::clustering::NONE;
use mustlink_core::{Context, Result, order, reduce};
use mustlink_kernels::distance::points::{Points, row, row_norms};
use ndarray::Array2;

use super::branch::Branch;
use super::moves::Moves;
use super::ties::{Ties, due};

/// One assignment.
pub(super) struct Step<'a> {
    ties: &'a Ties,
    k: usize,
    /// Cost of each item in each cluster, row by row; infinite if it may not go there.
    costs: Vec<f64>,
    node_limit: u64,
}

/// Result of an assignment.
pub(super) struct Assigned {
    /// Label of each item.
    pub(super) labels: Vec<u32>,
    /// True if no other costs less.
    pub(super) proved: bool,
    /// Nodes of all searches.
    pub(super) nodes: u64,
}

impl<'a> Step<'a> {
    /// An assignment of the items to these centres.
    pub(super) fn new(
        ties: &'a Ties,
        points: &Points,
        centres: &Array2<f64>,
        node_limit: u64,
    ) -> Self {
        let (k, norms) = (centres.nrows(), row_norms(centres));
        let mut costs = vec![0.0; ties.len() * k];
        reduce::rows(&mut costs, k, |u, of| {
            for (h, cost) in of.iter_mut().enumerate() {
                let centre = row(centres, h);
                let each = ties.members(u).iter();
                *cost = each.map(|&i| points.distance(i as usize, centre, norms[h])).sum();
            }
        });
        Step { ties, k, costs, node_limit }
    }

    /// Leaves each item its `nearest` clusters, one more than it has hard cannot-links where those are more,
    /// and the one of `before`: then whatever the others take, one of them is free.
    pub(super) fn within(mut self, nearest: usize, before: Option<&[u32]>) -> Self {
        let k = self.k;
        for (u, of) in self.costs.chunks_exact_mut(k).enumerate() {
            let hard = self.ties.of(u).iter().filter(|t| t.1 == f64::INFINITY).count();
            let few = nearest.max(hard + 1);
            if few >= k {
                continue;
            }
            let order = order::ascending(of);
            let own = before.map(|labels| labels[u] as usize);
            let far = order[few..].iter().filter(|&&h| Some(h) != own);
            far.for_each(|&h| of[h] = f64::INFINITY);
        }
        self
    }

    /// The cheapest labels; `before` are labels that break no hard constraint, if any are known, and `first`
    /// finds some.
    ///
    /// # Errors
    /// Returns the errors of `first`; `Cancelled` and `TimedOut`.
    pub(super) fn solve(
        &self,
        before: Option<&[u32]>,
        first: impl FnOnce() -> Result<Vec<u32>>,
        ctx: &Context,
    ) -> Result<Assigned> {
        let mut left = self.node_limit;
        let (labels, proved) = self.exactly(before, &mut left, ctx)?;
        let nodes = self.node_limit - left;
        if proved {
            return Ok(Assigned { labels, proved, nodes });
        }
        let mut moves = Moves::new(self.ties, self.k, &self.costs, &labels);
        let repaired = moves.repair();
        let moves = match before {
            Some(before) if !repaired || self.total(before) <= self.total(moves.labels()) => {
                Moves::new(self.ties, self.k, &self.costs, before)
            }
            None if !repaired => Moves::new(self.ties, self.k, &self.costs, &first()?),
            _ => moves,
        };
        Ok(Assigned { labels: moves.run(ctx)?, proved, nodes })
    }

    /// Cost of labels.
    pub(super) fn total(&self, labels: &[u32]) -> f64 {
        let own = |(u, &h): (usize, &u32)| self.costs[u * self.k + h as usize];
        labels.iter().enumerate().map(own).sum::<f64>() + self.ties.cost(labels)
    }

    /// Labels of least cost, if `left` nodes are enough; else such as may break ties.
    fn exactly(
        &self,
        before: Option<&[u32]>,
        left: &mut u64,
        ctx: &Context,
    ) -> Result<(Vec<u32>, bool)> {
        let m = self.ties.len();
        let lower = |low: (u32, f64), (h, &cost): (u32, &f64)| {
            if cost < low.1 { (h, cost) } else { low }
        };
        let nearest = |of: &[f64]| (0..).zip(of).fold((0, f64::INFINITY), lower).0;
        let mut labels: Vec<u32> = self.costs.chunks_exact(self.k).map(nearest).collect();
        let mut parts = Parts::new(m);
        let mut place = vec![NONE; m];
        let mut moved: Vec<u32> = (0..m as u32).collect();
        loop {
            ctx.check()?;
            let mut broken = Vec::new();
            for &u in &moved {
                let own = labels[u as usize];
                let between = |v: u32| parts.of[u as usize] != parts.of[v as usize];
                let ties = self.ties.of(u as usize).iter();
                let breaks =
                    ties.filter(|(v, w)| due(*w, own == labels[*v as usize]) > 0.0 && between(*v));
                broken.extend(breaks.map(|t| (u, t.0)));
            }
            if broken.is_empty() {
                return Ok((labels, true));
            }
            broken.iter().for_each(|&(u, v)| parts.join(u, v));
            let mut touched: Vec<u32> = broken.iter().map(|&(u, _)| parts.of[u as usize]).collect();
            touched.sort_unstable();
            touched.dedup();
            // The small ones first: of nodes that do not reach for all they reach for most.
            touched.sort_by_key(|&p| parts.members[p as usize].len());
            moved.clear();
            for p in touched {
                let part = &mut parts.members[p as usize];
                part.sort_unstable();
                let (found, proved) = self.part(part, before, left, &mut place, ctx)?;
                for (&u, h) in part.iter().zip(found.into_iter().flatten()) {
                    if std::mem::replace(&mut labels[u as usize], h) != h {
                        moved.push(u);
                    }
                }
                if !proved {
                    return Ok((labels, false));
                }
            }
            moved.sort_unstable();
        }
    }

    /// The best labels of a part, ascending, that its search finds, and whether none cost less; `place` is
    /// room for the places of its items.
    fn part(
        &self,
        part: &[u32],
        before: Option<&[u32]>,
        left: &mut u64,
        place: &mut [u32],
        ctx: &Context,
    ) -> Result<(Option<Vec<u32>>, bool)> {
        (0..).zip(part).for_each(|(at, &u)| place[u as usize] = at);
        let inside = |&u: &u32| {
            let ties = self.ties.of(u as usize).iter().filter(|t| place[t.0 as usize] != NONE);
            ties.map(|&(v, w)| (place[v as usize], w)).collect::<Vec<_>>()
        };
        let ties: Vec<Vec<(u32, f64)>> = part.iter().map(inside).collect();
        part.iter().for_each(|&u| place[u as usize] = NONE);
        let rows = part.iter().flat_map(|&u| &self.costs[u as usize * self.k..][..self.k]);
        let mut branch = Branch::new(self.k, rows.copied().collect(), &ties);
        if let Some(before) = before {
            let own: Vec<u32> = part.iter().map(|&u| before[u as usize]).collect();
            branch.offer(&own);
        }
        branch.run(left, ctx)
    }
}

/// Items in parts that grow together.
struct Parts {
    of: Vec<u32>,
    members: Vec<Vec<u32>>,
}

impl Parts {
    fn new(m: usize) -> Self {
        Parts { of: (0..m as u32).collect(), members: (0..m as u32).map(|u| vec![u]).collect() }
    }

    /// The smaller part goes to the larger.
    fn join(&mut self, u: u32, v: u32) {
        let (mut to, mut from) = (self.of[u as usize] as usize, self.of[v as usize] as usize);
        if to == from {
            return;
        }
        if self.members[to].len() < self.members[from].len() {
            (to, from) = (from, to);
        }
        let joining = std::mem::take(&mut self.members[from]);
        joining.iter().for_each(|&u| self.of[u as usize] = to as u32);
        self.members[to].extend(joining);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::closure::{Closure, OnConflict};
    use mustlink_core::constraints::{Constraint, Constraints, Kind};
    use mustlink_core::data::Data;
    use mustlink_core::random::SeedPath;
    use mustlink_kernels::distance::points::Distortion;
    use proptest::prelude::*;

    /// Objects and centres on a line, pairs that must hold and pairs with a price.
    struct World {
        points: Points,
        centres: Array2<f64>,
        hard: Vec<Constraint>,
        soft: Vec<Constraint>,
    }

    fn world(seed: u64, n: usize, k: usize) -> World {
        let mut s = SeedPath::new(seed).stream("world");
        let mut places = |rows: usize| Array2::from_shape_fn((rows, 1), |_| s.below(12) as f64);
        let (x, centres) = (places(n), places(k));
        let mut hidden: Vec<usize> = (0..n).map(|_| s.below(k)).collect();
        hidden[0] = 0;
        let mut draw = |count: usize, hard: bool| -> Vec<Constraint> {
            let pairs = (0..count).filter_map(|_| {
                let (i, j, w) = (s.below(n), s.below(n), (1 + s.below(40)) as f64 / 4.0);
                // Hard ones agree with some labels, so that they can be met.
                let must = if hard { hidden[i] == hidden[j] } else { s.below(2) == 0 };
                let kind = if must { Kind::MustLink } else { Kind::CannotLink };
                (i != j).then(|| Constraint::new(i, j, kind).weighing(w))
            });
            pairs.collect()
        };
        let (hard, soft) = (draw(n / 2, true), draw(n, false));
        let points = Points::new(&Data::dense(x).unwrap(), Distortion::SquaredEuclidean).unwrap();
        World { points, centres, hard, soft }
    }

    impl World {
        fn closure(&self) -> Closure {
            let hard = Constraints::new(self.points.n(), self.hard.iter().copied()).unwrap();
            Closure::new(&hard, self.points.n(), OnConflict::Error).unwrap()
        }

        /// The cost of labels of all objects, pair by pair; infinite if a hard pair is broken.
        fn cost(&self, labels: &[u32]) -> f64 {
            if self.hard.iter().any(|c| c.is_violated(labels)) {
                return f64::INFINITY;
            }
            let own = |(i, &h): (usize, &u32)| self.distance(i, h as usize);
            let broken = self.soft.iter().filter(|c| c.is_violated(labels));
            labels.iter().enumerate().map(own).sum::<f64>() + broken.map(|c| c.weight).sum::<f64>()
        }

        fn distance(&self, i: usize, h: usize) -> f64 {
            let centre = row(&self.centres, h);
            self.points.distance(i, centre, centre[0] * centre[0])
        }

        fn all(&self) -> impl Iterator<Item = Vec<u32>> {
            let (n, k) = (self.points.n() as u32, self.centres.nrows() as u32);
            (0..k.pow(n)).map(move |code| (0..n).map(|i| code / k.pow(i) % k).collect())
        }

        /// Labels of all objects, those that are in no item at their nearest centre.
        fn spread(&self, ties: &Ties, items: &[u32]) -> Vec<u32> {
            let k = self.centres.nrows();
            let nearest = |i: usize| {
                (0..k).min_by(|&a, &b| self.distance(i, a).total_cmp(&self.distance(i, b)))
            };
            let mut labels: Vec<u32> =
                (0..self.points.n()).map(|i| nearest(i).unwrap() as u32).collect();
            ties.put(items, &mut labels);
            labels
        }

        /// One object after the other, in order, where it breaks nothing that is placed.
        fn greedy(&self) -> f64 {
            let mut labels = vec![NONE; self.points.n()];
            for i in 0..labels.len() {
                let ends = |c: &&Constraint| c.j as usize == i || c.i as usize == i;
                let price = |h: u32, labels: &[u32]| {
                    let mut with = labels.to_vec();
                    with[i] = h;
                    let known =
                        |c: &&Constraint| with[c.i as usize] != NONE && with[c.j as usize] != NONE;
                    let broken = |all: &[Constraint]| -> f64 {
                        let mine = all.iter().filter(ends).filter(known);
                        mine.filter(|c| c.is_violated(&with)).map(|c| c.weight).sum()
                    };
                    let mut hard = self.hard.iter().filter(ends).filter(known);
                    if hard.any(|c| c.is_violated(&with)) {
                        f64::INFINITY
                    } else {
                        self.distance(i, h as usize) + broken(&self.soft)
                    }
                };
                let k = self.centres.nrows() as u32;
                let of = (0..k).min_by(|&a, &b| price(a, &labels).total_cmp(&price(b, &labels)));
                labels[i] = of.unwrap();
            }
            self.cost(&labels)
        }
    }

    proptest! {
        /// As cheap as the cheapest of all labellings of the objects, one by one: must-linked objects as one,
        /// and parts by themselves, are the same problem.
        #[test]
        fn a_step_is_the_cheapest_of_all(seed: u64, n in 1usize..8, k in 1usize..4) {
            let world = world(seed, n, k);
            let least = world.all().map(|labels| world.cost(&labels)).fold(f64::INFINITY, f64::min);
            prop_assume!(least.is_finite());
            let ties = Ties::new(&world.closure(), &world.soft);
            let ctx = Context::new(1);
            let step = |limit: u64| Step::new(&ties, &world.points, &world.centres, limit);
            let placed = || {
                let labels = world.all().find(|labels| world.cost(labels).is_finite());
                Ok(ties.of_objects(&labels.unwrap()))
            };
            let found = step(100_000).solve(None, placed, &ctx).unwrap();
            prop_assert!(found.proved);
            let cost = world.cost(&world.spread(&ties, &found.labels));
            prop_assert!((cost - least).abs() <= 1e-9 * least.max(1.0), "{cost}, not {least}");
            prop_assert!(cost <= world.greedy() + 1e-9);
            // Without a node, and with a few: nothing hard breaks, nothing costs more than what was known.
            for limit in [0, 3] {
                let fast = step(limit).solve(None, placed, &ctx).unwrap();
                let cost = world.cost(&world.spread(&ties, &fast.labels));
                prop_assert!(cost.is_finite() && cost >= least - 1e-9);
                let known = placed().unwrap();
                let total = step(0).total(&known);
                let better = step(limit).solve(Some(&known), placed, &ctx).unwrap();
                prop_assert!(step(0).total(&better.labels) <= total * (1.0 + 1e-12) + 1e-12);
            }
            // What is known is not left for what costs the same.
            let again = step(100_000).solve(Some(&found.labels), placed, &ctx).unwrap();
            prop_assert_eq!(step(0).total(&again.labels), step(0).total(&found.labels));
        }

        /// Hard cannot-links need no more than one centre beyond their number.
        #[test]
        fn the_nearest_are_enough_for_hard_constraints(seed: u64, n in 1usize..8, k in 1usize..5) {
            let mut world = world(seed, n, k);
            world.soft.clear();
            let ties = Ties::new(&world.closure(), &[]);
            let solve = |step: Step| {
                let found = step.solve(None, || Ok(vec![0; ties.len()]), &Context::new(1)).unwrap();
                world.cost(&world.spread(&ties, &found.labels))
            };
            let step = || Step::new(&ties, &world.points, &world.centres, 100_000);
            prop_assert!((solve(step()) - solve(step().within(1, None))).abs() < 1e-9);
        }
    }
}
