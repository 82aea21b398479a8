//! Objects that must-links join, as units of clusters whose size is limited.

use mustlink_core::prelude::*;

use super::limits::{Amount, Limits, sum};

/// The must-link components (units) of a problem. Labels and costs in this folder are those of units.
pub(super) struct Units<'a> {
    pub(super) closure: &'a Closure,
    pub(super) k: usize,
    pub(super) limits: Limits,
    pub(super) amounts: Vec<Amount>,
    /// Units of one object of size 1 that no pair binds: the clusters of all of them follow from those of the others
    /// by a flow.
    pub(super) loose: Vec<u32>,
    /// The other units.
    pub(super) bound: Vec<u32>,
    pub(super) weighted: bool,
}

impl<'a> Units<'a> {
    /// The units of `closure` under these limits.
    pub(super) fn new(closure: &'a Closure, limits: Limits, k: usize, weighted: bool) -> Self {
        let amount =
            |p: usize| [1, closure.members(p).iter().map(|&i| limits.sizes[i as usize]).sum()];
        let amounts: Vec<Amount> = (0..closure.components()).map(amount).collect();
        let is_loose = |&p: &u32| {
            let p = p as usize;
            !weighted && closure.members(p).len() == 1 && !closure.is_apart(p)
        };
        let (loose, bound) = (0..amounts.len() as u32).partition(is_loose);
        Units { closure, k, limits, amounts, loose, bound, weighted }
    }

    /// Number of units.
    pub(super) fn len(&self) -> usize {
        self.amounts.len()
    }

    /// Size of unit `u`.
    pub(super) fn amount(&self, u: u32) -> Amount {
        self.amounts[u as usize]
    }

    /// The units that must not be in the same cluster as `u`.
    pub(super) fn apart(&self, u: u32) -> &[u32] {
        if self.closure.is_apart(u as usize) { self.closure.apart(u as usize) } else { &[] }
    }

    /// Costs of the units, from those of their objects.
    pub(super) fn costs(&self, of_objects: Vec<f64>) -> Vec<f64> {
        if self.len() == self.closure.n() {
            return of_objects;
        }
        let k = self.k;
        let mut costs = vec![0.0; self.len() * k];
        for (i, row) in of_objects.chunks_exact(k).enumerate() {
            let own = &mut costs[self.closure.component(i) * k..][..k];
            own.iter_mut().zip(row).for_each(|(sum, cost)| *sum += cost);
        }
        costs
    }

    /// Labels of the objects, from those of their units.
    pub(super) fn objects(&self, labels: &[u32]) -> Vec<u32> {
        (0..self.closure.n()).map(|i| labels[self.closure.component(i)]).collect()
    }

    /// Size of each cluster; units without a label do not count.
    pub(super) fn sizes(&self, labels: &[u32]) -> Vec<Amount> {
        let mut sizes = vec![[0, 0]; self.k];
        for (&h, &amount) in labels.iter().zip(&self.amounts).filter(|(h, _)| **h != NONE) {
            sizes[h as usize] = sum(sizes[h as usize], amount);
        }
        sizes
    }

    /// True if these labels keep all limits and cannot-links.
    pub(super) fn are_legal(&self, labels: &[u32]) -> bool {
        let within = |&size: &Amount| self.limits.breach(size) == 0;
        let free =
            |&u: &u32| self.apart(u).iter().all(|&v| labels[v as usize] != labels[u as usize]);
        self.sizes(labels).iter().all(within) && self.bound.iter().all(free)
    }

    /// Total cost of these labels.
    pub(super) fn total(&self, costs: &[f64], labels: &[u32]) -> f64 {
        labels.iter().zip(costs.chunks_exact(self.k)).map(|(&h, row)| row[h as usize]).sum()
    }
}
