//! The assignment of units to clusters of limited size.

use mustlink_core::error::Infeasible;
use mustlink_core::prelude::*;
use mustlink_kernels::constrained::must_link_units::MustLinkUnits;

use super::limits::{Amount, Limits, sum};
use super::moves::Moves;
use super::search::{Found, Search};
use super::units::Units;
use crate::parts::sized_assignment::{Bounds, assign};

/// Largest number of units for which the search looks for the cheapest assignment of all.
const FEW: usize = 30;

/// Nodes of that search.
const NODES: u64 = 5000;

/// Smallest saving relative to the cost: less is a rounding error.
const SMALLEST_GAIN: f64 = 1e-12;

impl Units<'_> {
    /// True if the cost `a` is below `b` by more than rounding errors.
    fn is_less(a: f64, b: f64) -> bool {
        a < b - SMALLEST_GAIN * b.abs()
    }

    /// Labels that keep all limits and constraints, whatever they cost; `None` if a flow finds them in any case.
    ///
    /// # Errors
    /// `InfeasibleConstraints` if no labels keep them; `UndecidedConstraints` if the search ends after `node_limit`
    /// nodes; `Cancelled` and its like.
    pub(super) fn any(&self, node_limit: u64, ctx: &Context) -> Result<Option<Vec<u32>>> {
        if self.bound.is_empty() {
            return Ok(None);
        }
        let k = self.k;
        let limits = self.limits.name.clone();
        let infeasible = |witness| Error::InfeasibleConstraints { k, witness };
        if let Some(&u) = self.bound.iter().find(|&&u| self.amount(u)[1] > self.limits.high) {
            let objects = self.closure.members(u as usize).to_vec();
            return Err(infeasible(Infeasible::Limits { limits, objects }));
        }
        let joined = MustLinkUnits::new(self.closure);
        if let Some(clusters) = joined.any_placement(k, node_limit, ctx)? {
            let mut labels = vec![NONE; self.len()];
            for (at, h) in clusters.into_iter().enumerate() {
                labels[self.closure.component(joined.members(at)[0] as usize)] = h;
            }
            let free = vec![0.0; self.len() * k];
            let open: Vec<u32> =
                (0..).zip(&labels).filter(|(_, h)| **h == NONE).map(|(u, _)| u).collect();
            if self.place(&free, &open, &mut labels) {
                let repaired = Moves::new(self, &free, labels).repair(ctx)?;
                if repaired.is_some() {
                    return Ok(repaired);
                }
            }
        }
        match Search::any(self, node_limit, ctx)? {
            Found::Labels(labels) => Ok(Some(labels)),
            Found::Impossible if limits.is_empty() => {
                let first = |&u: &u32| self.closure.members(u as usize)[0];
                Err(infeasible(Infeasible::Exhausted(self.bound.iter().map(first).collect())))
            }
            Found::Impossible => Err(infeasible(Infeasible::Limits { limits, objects: vec![] })),
            Found::Undecided => {
                let error = Error::UndecidedConstraints { k, node_limit };
                Err(if limits.is_empty() { error } else { error.at(&limits) })
            }
        }
    }

    /// Labels that keep all limits and constraints and cost as little as is found; no more than the labels `known`,
    /// if there are any.
    ///
    /// # Errors
    /// `Cancelled` and its like.
    pub(super) fn assign(
        &self,
        costs: &[f64],
        known: Option<&[u32]>,
        any: Option<&[u32]>,
        ctx: &Context,
    ) -> Result<Vec<u32>> {
        let nearest: Vec<u32> = costs.chunks_exact(self.k).map(cheapest).collect();
        if self.are_legal(&nearest) {
            return Ok(nearest);
        }
        let Some(any) = any else {
            return Ok(assign(costs, self.k, &self.room(&vec![[0, 0]; self.k]), ctx)?.labels);
        };
        // The labels of the last sweep are kept, unless others cost less.
        let mut best = known.map(|labels| (self.total(costs, labels), labels.to_vec()));
        let mut offer = |labels: Vec<u32>| {
            let cost = self.total(costs, &labels);
            if best.as_ref().is_none_or(|(least, _)| Units::is_less(cost, *least)) {
                best = Some((cost, labels));
            }
        };
        let mut prices = None;
        if let Some(known) = known {
            let (labels, paid) = self.improved(costs, known.to_vec(), ctx)?;
            offer(labels);
            prices = paid;
        }
        match self.fresh(costs, prices, ctx)? {
            Some(labels) => offer(self.improved(costs, labels, ctx)?.0),
            None if known.is_none() => offer(self.improved(costs, any.to_vec(), ctx)?.0),
            None => {}
        }
        let (cost, labels) = best.expect("labels were offered");
        if self.len() > FEW {
            return Ok(labels);
        }
        Search::cheapest(self, costs, (cost, labels), NODES, ctx)
    }

    /// Legal labels, improved by moves and, for loose units, by a flow; with the prices of that.
    fn improved(
        &self,
        costs: &[f64],
        labels: Vec<u32>,
        ctx: &Context,
    ) -> Result<(Vec<u32>, Option<Vec<f64>>)> {
        let (labels, prices) = self.settled(costs, labels, ctx)?;
        let (labels, has_moved) = Moves::new(self, costs, labels).improve(ctx)?;
        if has_moved { self.settled(costs, labels, ctx) } else { Ok((labels, prices)) }
    }

    /// The labels after the loose units have taken the cheapest clusters in which the others leave room.
    fn settled(
        &self,
        costs: &[f64],
        mut labels: Vec<u32>,
        ctx: &Context,
    ) -> Result<(Vec<u32>, Option<Vec<f64>>)> {
        if self.loose.is_empty() {
            return Ok((labels, None));
        }
        let k = self.k;
        self.loose.iter().for_each(|&u| labels[u as usize] = NONE);
        let bounds = self.room(&self.sizes(&labels));
        let rows = self.loose.iter().flat_map(|&u| &costs[u as usize * k..][..k]);
        let rows: Vec<f64> = rows.copied().collect();
        let found = assign(&rows, k, &bounds, ctx)?;
        self.loose.iter().zip(found.labels).for_each(|(&u, h)| labels[u as usize] = h);
        Ok((labels, Some(found.prices)))
    }

    /// The numbers of objects of size 1 that each cluster of this size still needs, and has room for.
    fn room(&self, sizes: &[Amount]) -> Bounds {
        let Limits { low, high, .. } = self.limits;
        let needs = |size: &Amount| (low[1] - size[1]).max(low[0] - size[0]).max(0) as usize;
        let least = sizes.iter().map(needs).collect();
        let most = sizes.iter().map(|size| (high - size[1]).max(0) as usize).collect();
        Bounds { least, most }
    }

    /// Legal labels that do not depend on earlier ones, if they are found without a search; loose units may lack one.
    fn fresh(
        &self,
        costs: &[f64],
        prices: Option<Vec<f64>>,
        ctx: &Context,
    ) -> Result<Option<Vec<u32>>> {
        let wishes = match prices {
            _ if self.weighted => costs.to_vec(),
            Some(prices) => self.priced(costs, &prices),
            None => self.priced(costs, &self.prices(costs, ctx)?),
        };
        let mut labels = vec![NONE; self.len()];
        if !self.place(&wishes, &self.bound, &mut labels) {
            return Ok(None);
        }
        let sizes = self.sizes(&labels);
        let room = self.room(&sizes);
        let fits = sizes.iter().all(|&size| self.limits.fits(size, [0, 0]));
        if fits && room.allows(self.loose.len()) {
            return Ok(Some(labels));
        }
        self.place(&wishes, &self.loose, &mut labels);
        Moves::new(self, costs, labels).repair(ctx)
    }

    /// The prices of room in each cluster, by a flow in which joined objects may part.
    fn prices(&self, costs: &[f64], ctx: &Context) -> Result<Vec<f64>> {
        let k = self.k;
        let share = |i: usize| {
            let u = self.closure.component(i);
            let size = self.closure.members(u).len() as f64;
            costs[u * k..][..k].iter().map(move |cost| cost / size)
        };
        let rows: Vec<f64> = (0..self.closure.n()).flat_map(share).collect();
        Ok(assign(&rows, k, &self.room(&vec![[0, 0]; k]), ctx)?.prices)
    }

    /// Costs with the price of the room that each unit takes.
    fn priced(&self, costs: &[f64], prices: &[f64]) -> Vec<f64> {
        let mut priced = costs.to_vec();
        for (row, amount) in priced.chunks_exact_mut(self.k).zip(&self.amounts) {
            row.iter_mut().zip(prices).for_each(|(cost, price)| *cost += amount[1] as f64 * price);
        }
        priced
    }

    /// Places units without a label, each in the cheapest cluster that has room and nothing it must be apart from.
    /// Units that lose most in their second choice come first, as in [MulveyBeck1984]. A unit for which no cluster
    /// has room goes where it costs least; false if what it must be apart from is in every cluster.
    fn place(&self, costs: &[f64], open: &[u32], labels: &mut [u32]) -> bool {
        let k = self.k;
        let mut sizes = self.sizes(labels);
        let row = |u: u32| &costs[u as usize * k..][..k];
        let regret = |u: u32| {
            let mut low = [f64::INFINITY; 2];
            for &cost in row(u) {
                if cost < low[0] {
                    low = [cost, low[0]];
                } else if cost < low[1] {
                    low[1] = cost;
                }
            }
            if low[1].is_finite() { low[1] - low[0] } else { 0.0 }
        };
        let mut order: Vec<(f64, i64, u32)> =
            open.iter().map(|&u| (regret(u), self.amount(u)[1], u)).collect();
        order.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)).then(a.2.cmp(&b.2)));
        let mut barred = vec![NONE; k];
        for (_, _, u) in order {
            for &v in self.apart(u) {
                if let Some(at) = barred.get_mut(labels[v as usize] as usize) {
                    *at = u;
                }
            }
            let free = (0..k).filter(|&h| barred[h] != u);
            let key = |h: &usize| (!self.limits.fits(sizes[*h], self.amount(u)), row(u)[*h]);
            let best = free.min_by(|a, b| {
                let ((over, cost), (other, least)) = (key(a), key(b));
                over.cmp(&other).then(cost.total_cmp(&least))
            });
            let Some(h) = best else { return false };
            labels[u as usize] = h as u32;
            sizes[h] = sum(sizes[h], self.amount(u));
        }
        true
    }
}

/// The cheapest cluster of a row of costs, of equals the first.
fn cheapest(row: &[f64]) -> u32 {
    (0..row.len()).min_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap_or_default() as u32
}
