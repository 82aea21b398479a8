//! Moves of units between clusters, which first repair limits and then lower the cost.
//!
//! A unit goes to another cluster. If there is no room, or something that it must be apart from, a second unit leaves;
//! if its old cluster becomes too small, a second unit joins that. Exchanges of two units are among these moves, as in
//! [MulveyBeck1984]. A move counts if it brings sizes nearer to the limits, or lowers the cost and no size leaves them.

use mustlink_core::prelude::*;

use super::limits::{Amount, less, sum};
use super::units::Units;

/// Passes over all moves in one sweep; the next sweep begins where the last has ended.
const PASSES: usize = 3;

/// Passes of a repair.
const REPAIRS: usize = 100;

/// Number of units in a list of those that leave a cluster most cheaply.
const CHEAPEST: usize = 16;

/// Smallest saving relative to what the moved units cost: less is a rounding error.
const SMALLEST_GAIN: f64 = 1e-10;

/// Moves between two looks at the flag.
const LOOK: usize = 1024;

/// Aim of a pass.
#[derive(Clone, Copy, PartialEq)]
enum Aim {
    /// Moves of one unit that bring sizes nearer to the limits.
    Shift,
    /// Also moves of two units that do so.
    Exchange,
    /// Moves that lower the cost.
    Cost,
}

/// Change by a move: of the distance from the limits, and of the cost.
type Change = (i64, f64);

/// A unit with its new cluster.
type Shift = (u32, u32);

/// Units with labels that keep all cannot-links.
pub(super) struct Moves<'a> {
    units: &'a Units<'a>,
    /// Cost of each unit in each cluster, row by row.
    costs: &'a [f64],
    labels: Vec<u32>,
    sizes: Vec<Amount>,
    /// The units of each cluster when the pass began.
    members: Vec<Vec<u32>>,
    /// The units that go from cluster a to cluster b most cheaply at a · k + b, made when they are first needed.
    leaving: Vec<Vec<(f64, u32)>>,
}

impl<'a> Moves<'a> {
    /// Units with these labels.
    pub(super) fn new(units: &'a Units<'a>, costs: &'a [f64], labels: Vec<u32>) -> Self {
        let sizes = units.sizes(&labels);
        let (members, leaving) = Default::default();
        Moves { units, costs, labels, sizes, members, leaving }
    }

    /// Moves units until all sizes are within their limits; `None` if no move brings them nearer.
    ///
    /// # Errors
    /// `Cancelled` and its like.
    pub(super) fn repair(mut self, ctx: &Context) -> Result<Option<Vec<u32>>> {
        let mut aim = Aim::Shift;
        for _ in 0..REPAIRS {
            let before = self.breach();
            if before == 0 {
                return Ok(Some(self.labels));
            }
            self.pass(aim, ctx)?;
            aim = match (self.breach() < before, aim) {
                (true, _) => Aim::Shift,
                (false, Aim::Shift) => Aim::Exchange,
                (false, _) => break,
            };
        }
        Ok((self.breach() == 0).then_some(self.labels))
    }

    /// Moves units as long as the cost falls; sizes stay within their limits. Also whether any moved.
    ///
    /// # Errors
    /// `Cancelled` and its like.
    pub(super) fn improve(mut self, ctx: &Context) -> Result<(Vec<u32>, bool)> {
        let mut has_moved = false;
        for _ in 0..PASSES {
            if !self.pass(Aim::Cost, ctx)? {
                break;
            }
            has_moved = true;
        }
        Ok((self.labels, has_moved))
    }

    fn breach(&self) -> i64 {
        self.sizes.iter().map(|&size| self.units.limits.breach(size)).sum()
    }

    /// Tries the moves that look best, cheapest first; whether one was made.
    fn pass(&mut self, aim: Aim, ctx: &Context) -> Result<bool> {
        let k = self.units.k;
        self.leaving = vec![Vec::new(); k * k];
        self.members = vec![Vec::new(); k];
        for (u, &h) in (0..).zip(&self.labels) {
            self.members[h as usize].push(u);
        }
        let mut wanted = self.wanted(aim);
        wanted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        let mut moved = false;
        for (at, (_, u, to)) in wanted.into_iter().enumerate() {
            if at % LOOK == 0 {
                ctx.check()?;
            }
            moved |= self.move_to(u, to, aim);
        }
        Ok(moved)
    }

    /// The first shifts of moves that are tried, each with what it costs; in a repair, for one unit of size.
    fn wanted(&self, aim: Aim) -> Vec<(f64, u32, u32)> {
        let repairs = aim != Aim::Cost;
        let (units, k) = (self.units, self.units.k);
        let limits = &units.limits;
        let full = |h: usize| !limits.fits(self.sizes[h], [0, 0]);
        let short = |h: usize| limits.breach(self.sizes[h]) > 0 && !full(h);
        let (full, short): (Vec<bool>, Vec<bool>) = (0..k).map(|h| (full(h), short(h))).unzip();
        // A flow places loose units.
        let all = 0..units.len() as u32;
        let movers: Vec<u32> = if repairs { all.collect() } else { units.bound.clone() };
        let mut wanted = Vec::new();
        for u in movers {
            let own = self.labels[u as usize] as usize;
            let size = units.amount(u)[1].max(1) as f64;
            for to in (0..k).filter(|&h| h != own) {
                let change = self.cost(u, to as u32) - self.cost(u, own as u32);
                if repairs && (full[own] || short[to]) {
                    wanted.push((change / size, u, to as u32));
                } else if !repairs && change < 0.0 {
                    wanted.push((change, u, to as u32));
                }
            }
        }
        wanted
    }

    fn cost(&self, u: u32, h: u32) -> f64 {
        self.costs[u as usize * self.units.k + h as usize]
    }

    /// Change by these shifts of one unit or two.
    fn change(&self, shifts: &[Shift]) -> Change {
        let mut touched: [(usize, Amount); 4] = [(usize::MAX, [0, 0]); 4];
        let mut count = 0;
        let mut cost = 0.0;
        for &(u, to) in shifts {
            let (from, amount) = (self.labels[u as usize], self.units.amount(u));
            cost += self.cost(u, to) - self.cost(u, from);
            for (h, amount) in [(from, less([0, 0], amount)), (to, amount)] {
                let h = h as usize;
                let at = touched[..count].iter().position(|(other, _)| *other == h);
                let at = at.unwrap_or_else(|| {
                    touched[count] = (h, self.sizes[h]);
                    count += 1;
                    count - 1
                });
                touched[at].1 = sum(touched[at].1, amount);
            }
        }
        let limits = &self.units.limits;
        let breach = touched[..count]
            .iter()
            .map(|&(h, size)| limits.breach(size) - limits.breach(self.sizes[h]))
            .sum();
        (breach, cost)
    }

    /// Largest change of the cost of these shifts that counts as lower.
    fn threshold(&self, u: u32, to: u32) -> f64 {
        let from = self.labels[u as usize];
        -SMALLEST_GAIN * (self.cost(u, from).abs() + self.cost(u, to).abs())
    }

    /// The units that `u` finds in a cluster and must be apart from, without `but`.
    fn in_the_way(&self, u: u32, h: u32, but: u32) -> impl Iterator<Item = u32> {
        let there = move |v: &u32| *v != but && self.labels[*v as usize] == h;
        self.units.apart(u).iter().copied().filter(there)
    }

    /// Moves `u` to another cluster, alone or with a second unit, if that is better; whether it is.
    fn move_to(&mut self, u: u32, to: u32, aim: Aim) -> bool {
        let from = self.labels[u as usize];
        // What was too large or too small when the pass began may be repaired.
        let breach = |h: u32| self.units.limits.breach(self.sizes[h as usize]);
        if from == to || (aim != Aim::Cost && breach(from) == 0 && breach(to) == 0) {
            return false;
        }
        let (first, second) = {
            let mut others = self.in_the_way(u, to, u);
            (others.next(), others.next())
        };
        if second.is_some() {
            return false;
        }
        let least = self.threshold(u, to);
        let alone = self.change(&[(u, to)]);
        if first.is_none() && (alone.0 < 0 || (alone.0 == 0 && alone.1 < least)) {
            self.shift((u, to));
            return true;
        }
        if aim == Aim::Shift {
            return false;
        }
        let repairs = aim == Aim::Exchange;
        let mut best: Option<(Change, Shift)> = None;
        if let Some(v) = first {
            for h in (0..self.units.k as u32).filter(|&h| h != to) {
                self.consider(u, to, (v, h), least, &mut best);
            }
        } else if alone.0 > 0 || repairs {
            let (full, short) = self.leaves(u, from, to);
            for h in 0..self.units.k as u32 {
                if full && h != to {
                    self.best_of(u, to, (to, h), (least, alone.1, repairs), &mut best);
                }
                if short && h != from {
                    self.best_of(u, to, (h, from), (least, alone.1, repairs), &mut best);
                }
            }
        }
        let Some((_, shift)) = best else { return false };
        self.shift((u, to));
        self.shift(shift);
        true
    }

    /// True, if `u` makes its new cluster too large, and true, if it makes its old one too small.
    fn leaves(&self, u: u32, from: u32, to: u32) -> (bool, bool) {
        let (units, amount) = (self.units, self.units.amount(u));
        let full = !units.limits.fits(self.sizes[to as usize], amount);
        let old = self.sizes[from as usize];
        let left = less(old, amount);
        let short = units.limits.breach(left) > 0 && units.limits.fits(left, [0, 0]);
        (full, short)
    }

    /// Considers the second shifts from one cluster to another.
    fn best_of(
        &mut self,
        u: u32,
        to: u32,
        (from, h): (u32, u32),
        (least, alone, repairs): (f64, f64, bool),
        best: &mut Option<(Change, Shift)>,
    ) {
        let at = from as usize * self.units.k + h as usize;
        let mut list = std::mem::take(&mut self.leaving[at]);
        if list.is_empty() {
            list = self.leaving(from, h);
        }
        for &(change, v) in &list {
            let limit = best.as_ref().map_or(least, |((_, cost), _)| *cost);
            // In ascending order: the others cost more.
            if !repairs && alone + change >= limit {
                break;
            }
            if v != u && self.labels[v as usize] == from {
                self.consider(u, to, (v, h), least, best);
            }
        }
        self.leaving[at] = list;
    }

    /// Keeps the second shift if, with the first, it is better than the best.
    fn consider(
        &self,
        u: u32,
        to: u32,
        (v, h): Shift,
        least: f64,
        best: &mut Option<(Change, Shift)>,
    ) {
        if self.in_the_way(v, h, u).next().is_some() {
            return;
        }
        let change = self.change(&[(u, to), (v, h)]);
        let (breach, cost) = best.as_ref().map_or((0, least), |(change, _)| *change);
        if change.0 < breach || (change.0 == breach && change.1 < cost) {
            *best = Some((change, (v, h)));
        }
    }

    /// The units of a cluster that go to another one most cheaply, in ascending order.
    fn leaving(&self, from: u32, to: u32) -> Vec<(f64, u32)> {
        let members = self.members[from as usize].iter();
        let changes = members.map(|&v| (self.cost(v, to) - self.cost(v, from), v)).collect();
        order::smallest(changes, CHEAPEST)
    }

    fn shift(&mut self, (u, to): Shift) {
        let amount = self.units.amount(u);
        let from = std::mem::replace(&mut self.labels[u as usize], to);
        self.sizes[from as usize] = less(self.sizes[from as usize], amount);
        self.sizes[to as usize] = sum(self.sizes[to as usize], amount);
    }
}
