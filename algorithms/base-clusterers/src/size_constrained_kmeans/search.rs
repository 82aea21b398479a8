//! A complete search for labels that keep limits and constraints.
//!
//! The unit with the fewest clusters left is placed next. A branch ends if a unit has no cluster left, if the units
//! that are not placed cannot fill the clusters that are too small, or if the room that is left in clusters is too
//! small for them. A search for the cheapest labels also ends a branch that cannot cost less than the best labels.

use mustlink_core::prelude::*;

use super::limits::{Amount, less, sum};
use super::units::Units;

/// Units and clusters that a node may look at and still count as one.
const ONE_NODE: usize = 1000;

/// Nodes between two looks at the flag.
const LOOK: u64 = 256;

/// Smallest saving relative to the cost: less is a rounding error.
const SMALLEST_GAIN: f64 = 1e-12;

/// Result of a search for any labels.
pub(super) enum Found {
    Labels(Vec<u32>),
    Impossible,
    Undecided,
}

/// The next step from a node.
enum Step {
    /// Nothing below this node helps.
    End,
    /// All units are placed.
    Done,
    /// A unit, and the clusters that are left for it, the best one last.
    Place(u32, Vec<u32>),
}

/// A unit on the way to labels of all.
struct Frame {
    unit: u32,
    /// The clusters that were not tried yet.
    clusters: Vec<u32>,
    /// Cost of the units before it.
    cost: f64,
}

/// Some units with labels, and the others.
pub(super) struct Search<'a> {
    units: &'a Units<'a>,
    /// Cost of each unit in each cluster, row by row; empty if any labels will do.
    costs: &'a [f64],
    /// The units that the search places; loose ones follow if any labels will do.
    placed: Vec<u32>,
    labels: Vec<u32>,
    sizes: Vec<Amount>,
    /// For each unit and cluster the number of units there that it must be apart from, row by row.
    barred: Vec<u32>,
    /// Number and size of the units without a label.
    rest: Amount,
    cost: f64,
    best: Option<(f64, Vec<u32>)>,
}

impl<'a> Search<'a> {
    /// Any labels that keep limits and constraints.
    ///
    /// # Errors
    /// `Cancelled` and its like.
    pub(super) fn any(units: &'a Units<'a>, node_limit: u64, ctx: &Context) -> Result<Found> {
        let mut search = Search::new(units, &[], units.bound.clone());
        let complete = search.run(node_limit, ctx)?;
        Ok(match (search.best, complete) {
            (Some((_, labels)), _) => Found::Labels(labels),
            (None, true) => Found::Impossible,
            (None, false) => Found::Undecided,
        })
    }

    /// The cheapest labels, or the cheapest that `nodes` nodes find; `known` are labels with their cost.
    ///
    /// # Errors
    /// `Cancelled` and its like.
    pub(super) fn cheapest(
        units: &'a Units<'a>,
        costs: &'a [f64],
        known: (f64, Vec<u32>),
        nodes: u64,
        ctx: &Context,
    ) -> Result<Vec<u32>> {
        let mut search = Search::new(units, costs, (0..units.len() as u32).collect());
        search.best = Some(known);
        search.run(nodes, ctx)?;
        Ok(search.best.map(|(_, labels)| labels).unwrap_or_default())
    }

    fn new(units: &'a Units<'a>, costs: &'a [f64], placed: Vec<u32>) -> Self {
        let (m, k) = (units.len(), units.k);
        let rest = (0..m as u32).map(|u| units.amount(u)).fold([0, 0], sum);
        Search {
            units,
            costs,
            placed,
            labels: vec![NONE; m],
            sizes: vec![[0, 0]; k],
            barred: vec![0; m * k],
            rest,
            cost: 0.0,
            best: None,
        }
    }

    /// Searches until labels are found that end the search; false if the nodes are used up before.
    fn run(&mut self, mut left: u64, ctx: &Context) -> Result<bool> {
        let weight = 1 + (self.placed.len() * self.units.k / ONE_NODE) as u64;
        let mut path: Vec<Frame> = Vec::new();
        let mut nodes = 0;
        loop {
            if left < weight {
                return Ok(false);
            }
            left -= weight;
            if nodes % LOOK == 0 {
                ctx.check()?;
            }
            nodes += 1;
            match self.step() {
                Step::End => {}
                Step::Done => {
                    self.best = Some((self.cost, self.filled()));
                    if self.costs.is_empty() {
                        return Ok(true);
                    }
                }
                Step::Place(unit, clusters) => {
                    path.push(Frame { unit, clusters, cost: self.cost });
                }
            }
            // The next cluster of the last unit that has one left.
            loop {
                let Some(frame) = path.last_mut() else { return Ok(true) };
                let (unit, next, cost) = (frame.unit, frame.clusters.pop(), frame.cost);
                self.take_back(unit);
                if let Some(h) = next {
                    self.put(unit, h);
                    self.cost = cost + self.cost_of(unit, h);
                    break;
                }
                path.pop();
            }
        }
    }

    /// Next step at this node.
    fn step(&self) -> Step {
        let limits = &self.units.limits;
        let needs =
            |size: &Amount| less(limits.low, *size).map(|missing| i128::from(missing.max(0)));
        let missing = self.sizes.iter().map(needs).fold([0, 0], |a, b| [a[0] + b[0], a[1] + b[1]]);
        if missing[0] > i128::from(self.rest[0]) || missing[1] > i128::from(self.rest[1]) {
            return Step::End;
        }
        let mut bound = self.cost;
        let mut next: Option<(usize, i64, u32)> = None;
        let mut smallest = i64::MAX;
        for &u in self.placed.iter().filter(|&&u| self.labels[u as usize] == NONE) {
            let size = self.units.amount(u)[1];
            let (mut open, mut least) = (0, f64::INFINITY);
            for h in self.open(u) {
                open += 1;
                least = least.min(self.cost_of(u, h));
            }
            if open == 0 {
                return Step::End;
            }
            bound += least;
            smallest = smallest.min(size.max(1));
            // The unit with the fewest clusters; of equals the largest, then the first.
            if next.is_none_or(|(fewest, largest, _)| (open, -size) < (fewest, -largest)) {
                next = Some((open, size, u));
            }
        }
        let ends = |(best, _): &(f64, Vec<u32>)| bound >= best - SMALLEST_GAIN * best.abs();
        if self.best.as_ref().is_some_and(ends) {
            return Step::End;
        }
        let Some((_, _, u)) = next else { return Step::Done };
        if self.placed.len() < self.units.len() {
            // Loose units have size 1.
            smallest = 1;
        }
        let room = |size: &Amount| limits.high - size[1];
        let usable = self.sizes.iter().map(room).filter(|&room| room >= smallest);
        if usable.map(i128::from).sum::<i128>() < i128::from(self.rest[1]) {
            return Step::End;
        }
        Step::Place(u, self.choices(u))
    }

    fn cost_of(&self, u: u32, h: u32) -> f64 {
        self.costs.get(u as usize * self.units.k + h as usize).copied().unwrap_or(0.0)
    }

    /// The clusters that have room for a unit and nothing that it must be apart from.
    fn open(&self, u: u32) -> impl Iterator<Item = u32> {
        let (units, amount) = (self.units, self.units.amount(u));
        let barred = &self.barred[u as usize * units.k..][..units.k];
        let fits = move |h: &usize| barred[*h] == 0 && units.limits.fits(self.sizes[*h], amount);
        (0..units.k).filter(fits).map(|h| h as u32)
    }

    /// The clusters that are tried for a unit, the best one last: the cheapest, or that which has least if clusters
    /// have a smallest size, otherwise that which has most.
    fn choices(&self, u: u32) -> Vec<u32> {
        let size = |h: u32| self.sizes[h as usize];
        let mut clusters: Vec<u32> = self.open(u).collect();
        if self.costs.is_empty() {
            // Clusters without units are alike.
            let first = clusters.iter().copied().find(|&h| size(h)[0] == 0);
            clusters.retain(|&h| size(h)[0] > 0 || Some(h) == first);
            let sign = if self.units.limits.low == [0, 0] { -1 } else { 1 };
            clusters.sort_by_key(|&h| (sign * size(h)[1], sign * size(h)[0], h));
        } else {
            clusters.sort_by(|&a, &b| self.cost_of(u, a).total_cmp(&self.cost_of(u, b)));
        }
        clusters.reverse();
        clusters
    }

    fn put(&mut self, u: u32, h: u32) {
        let amount = self.units.amount(u);
        self.labels[u as usize] = h;
        self.sizes[h as usize] = sum(self.sizes[h as usize], amount);
        self.rest = less(self.rest, amount);
        self.bar(u, h, 1);
    }

    /// Undoes `put`, if there is anything to undo.
    fn take_back(&mut self, u: u32) {
        let h = std::mem::replace(&mut self.labels[u as usize], NONE);
        if h == NONE {
            return;
        }
        let amount = self.units.amount(u);
        self.sizes[h as usize] = less(self.sizes[h as usize], amount);
        self.rest = sum(self.rest, amount);
        self.bar(u, h, -1);
    }

    fn bar(&mut self, u: u32, h: u32, by: i32) {
        for &v in self.units.apart(u) {
            let count = &mut self.barred[v as usize * self.units.k + h as usize];
            *count = count.wrapping_add_signed(by);
        }
    }

    /// The labels, after loose units have filled the clusters that are too small, and then any that have room.
    fn filled(&self) -> Vec<u32> {
        let (units, limits) = (self.units, &self.units.limits);
        let (mut labels, mut sizes) = (self.labels.clone(), self.sizes.clone());
        let mut short = 0;
        let mut roomy = 0;
        for u in (0..units.len() as u32).filter(|&u| self.labels[u as usize] == NONE) {
            while short < units.k && limits.breach(sizes[short]) == 0 {
                short += 1;
            }
            while short == units.k && !limits.fits(sizes[roomy], units.amount(u)) {
                roomy += 1;
            }
            let h = if short < units.k { short } else { roomy };
            labels[u as usize] = h as u32;
            sizes[h] = sum(sizes[h], units.amount(u));
        }
        labels
    }
}
