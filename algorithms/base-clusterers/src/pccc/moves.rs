//! Moves that make feasible labels cheaper if a complete search would take too long.
//!
//! An item moves to a cheaper cluster. What must not be with it there moves out of its way, and what must not be with
//! that in turn, a few deep; all of it stays where the cost falls, else all of it is taken back.

use mustlink_core::{Context, Result, order};

use super::ties::Ties;

/// Number of items that move out of each other's way, one after the other.
const DEPTH: usize = 3;

/// Largest number of items that may block another one.
const IN_THE_WAY: u32 = 4;

/// Number of clusters that are tried for one item.
const TRIES: usize = 6;

/// Passes over all items.
const PASSES: usize = 50;

/// Smallest gain of a move relative to what its item costs: less is a rounding error.
const SMALLEST_GAIN: f64 = 1e-10;

/// Items with labels.
pub(super) struct Moves<'a> {
    ties: &'a Ties,
    k: usize,
    /// Cost of each item in each cluster, row by row.
    costs: &'a [f64],
    labels: Vec<u32>,
    /// For each item and cluster, the number of items there that it must not be with, row by row.
    barred: Vec<u32>,
    /// Cost of soft ties for each item in each cluster, row by row; empty without any.
    soft: Vec<f64>,
    /// Moves that may be taken back: item, and where it was.
    log: Vec<(u32, u32)>,
    locked: Vec<bool>,
}

impl<'a> Moves<'a> {
    /// Items with these labels.
    pub(super) fn new(ties: &'a Ties, k: usize, costs: &'a [f64], labels: &[u32]) -> Self {
        let m = ties.len();
        let mut barred = vec![0; m * k];
        let any_soft = (0..m).any(|u| ties.of(u).iter().any(|t| t.1.is_finite()));
        let mut soft = vec![0.0; if any_soft { m * k } else { 0 }];
        for u in 0..m {
            for &(v, w) in ties.of(u) {
                let at = u * k + labels[v as usize] as usize;
                if w == f64::INFINITY {
                    barred[at] += 1;
                } else {
                    soft[at] += w;
                }
            }
        }
        let (log, locked) = (Vec::new(), vec![false; m]);
        Moves { ties, k, costs, labels: labels.to_vec(), barred, soft, log, locked }
    }

    /// Moves every item that is with what it must not be with to where it may be; whether all could.
    pub(super) fn repair(&mut self) -> bool {
        for u in 0..self.ties.len() {
            if self.barred_from(u, self.labels[u]) == 0 {
                continue;
            }
            let way = self.clear(u, DEPTH);
            self.settle();
            if way.is_none() {
                return false;
            }
        }
        true
    }

    /// Moves items until no pass lowers the cost; gives the labels.
    ///
    /// # Errors
    /// `Cancelled` and its like.
    pub(super) fn run(mut self, ctx: &Context) -> Result<Vec<u32>> {
        for _ in 0..PASSES {
            ctx.check()?;
            let mut fell = false;
            for u in 0..self.ties.len() {
                fell |= self.better(u);
            }
            if !fell {
                break;
            }
        }
        Ok(self.labels)
    }

    fn barred_from(&self, u: usize, h: u32) -> u32 {
        self.barred[u * self.k + h as usize]
    }

    /// Cost of item `u` in cluster `h`, up to a constant for all clusters.
    fn cost(&self, u: usize, h: u32) -> f64 {
        let at = u * self.k + h as usize;
        self.costs[at] + self.soft.get(at).unwrap_or(&0.0)
    }

    /// The clusters that cost an item less than `limit`, cheapest first.
    fn cheaper(&self, u: usize, limit: f64) -> Vec<(f64, u32)> {
        let own = self.labels[u];
        let mut found: Vec<(f64, u32)> = (0..self.k as u32)
            .filter(|&h| h != own)
            .map(|h| (self.cost(u, h), h))
            .filter(|(cost, _)| *cost < limit)
            .collect();
        order::sort_objects(&mut found);
        found
    }

    /// The cheapest other cluster, of equals the first, that holds nothing item `u` must not be with.
    fn cheapest_free(&self, u: usize) -> Option<(f64, u32)> {
        let own = self.labels[u];
        let free = (0..self.k as u32).filter(|&h| h != own && self.barred_from(u, h) == 0);
        let costs = free.map(|h| (self.cost(u, h), h)).filter(|(cost, _)| cost.is_finite());
        costs.reduce(|low, next| if next.0 < low.0 { next } else { low })
    }

    /// Moves an item where that lowers the cost; whether it did.
    fn better(&mut self, u: usize) -> bool {
        let now = self.cost(u, self.labels[u]);
        // Where an item may not be any more, every other cluster is better.
        let least = if now.is_finite() { SMALLEST_GAIN * now.abs() } else { 0.0 };
        for (cost, h) in self.cheaper(u, now - least).into_iter().take(TRIES) {
            if self.barred_from(u, h) > IN_THE_WAY {
                continue;
            }
            let change = self.enter(u, h, DEPTH).map(|rest| cost - now + rest);
            let better = change.is_some_and(|change| change < -least);
            if better {
                self.settle();
                return true;
            }
            self.take_back(0);
        }
        false
    }

    /// Moves `u` to cluster `h`, and out of its way what must not be there with it; what the latter costs.
    fn enter(&mut self, u: usize, h: u32, depth: usize) -> Option<f64> {
        let ties = self.ties;
        let in_the_way = |t: &&(u32, f64)| t.1 == f64::INFINITY && self.labels[t.0 as usize] == h;
        let others: Vec<usize> =
            ties.of(u).iter().filter(in_the_way).map(|t| t.0 as usize).collect();
        if others.iter().any(|&v| self.locked[v]) || (depth == 0 && !others.is_empty()) {
            return None;
        }
        self.shift(u, h);
        self.locked[u] = true;
        let mut total = 0.0;
        for v in others {
            // One that made room for another before is not there any more.
            if !self.locked[v] {
                total += self.clear(v, depth - 1)?;
            }
        }
        Some(total)
    }

    /// Moves `u` to the cluster that costs least, with what must then move out of its way; what it all costs more
    /// than now.
    fn clear(&mut self, u: usize, depth: usize) -> Option<f64> {
        let now = self.cost(u, self.labels[u]);
        let free = self.cheapest_free(u);
        let limit = free.map_or(f64::INFINITY, |(cost, _)| cost);
        if depth > 0 {
            for (cost, h) in self.cheaper(u, limit).into_iter().take(TRIES) {
                if self.barred_from(u, h) > IN_THE_WAY {
                    continue;
                }
                let mark = self.log.len();
                match self.enter(u, h, depth) {
                    Some(rest) if cost + rest < limit => return Some(cost - now + rest),
                    _ => self.take_back(mark),
                }
            }
        }
        let (cost, h) = free?;
        self.shift(u, h);
        self.locked[u] = true;
        Some(cost - now)
    }

    fn shift(&mut self, u: usize, to: u32) {
        self.log.push((u as u32, self.labels[u]));
        self.relabel(u, to);
    }

    fn relabel(&mut self, u: usize, to: u32) {
        let from = std::mem::replace(&mut self.labels[u], to) as usize;
        let ties = self.ties;
        for &(v, w) in ties.of(u) {
            let row = v as usize * self.k;
            if w == f64::INFINITY {
                self.barred[row + from] -= 1;
                self.barred[row + to as usize] += 1;
            } else {
                // Together costs w, or, below 0, saves what apart would cost.
                self.soft[row + from] -= w;
                self.soft[row + to as usize] += w;
            }
        }
    }

    /// Takes the moves back that were made since `mark`.
    fn take_back(&mut self, mark: usize) {
        while self.log.len() > mark
            && let Some((u, from)) = self.log.pop()
        {
            self.locked[u as usize] = false;
            self.relabel(u as usize, from);
        }
    }

    /// Lets the moves stand that were made.
    fn settle(&mut self) {
        self.log.drain(..).for_each(|(u, _)| self.locked[u as usize] = false);
    }

    /// The labels.
    pub(super) fn labels(&self) -> &[u32] {
        &self.labels
    }
}
