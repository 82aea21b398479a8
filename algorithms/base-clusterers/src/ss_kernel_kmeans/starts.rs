//! First labels: neighbourhoods and single objects that are far apart start clusters.

use std::ops::Range;

use mustlink_core::prelude::*;
use mustlink_kernels::distance::points::row;
use ndarray::Array2;

/// Distance of a unit that starts a cluster.
const TAKEN: f64 = f64::NEG_INFINITY;

/// Units are what is placed as one: the neighbourhoods of must-links, then all other objects one by one.
pub(super) struct Starts<'a> {
    kernel: &'a Array2<f64>,
    members: Vec<u32>,
    offsets: Vec<usize>,
    /// Number of neighbourhoods.
    sets: usize,
    /// Mean of the kernel over all pairs of objects of each unit.
    inner: Vec<f64>,
}

impl<'a> Starts<'a> {
    pub(super) fn new(closure: &Closure, kernel: &'a Array2<f64>) -> Self {
        let n = closure.n();
        let sets = closure.neighbourhoods();
        let (mut members, mut offsets) = (Vec::with_capacity(n), vec![0]);
        let mut is_placed = vec![false; n];
        for set in &sets {
            set.iter().for_each(|&i| is_placed[i as usize] = true);
            members.extend_from_slice(set);
            offsets.push(members.len());
        }
        for i in (0..n).filter(|&i| !is_placed[i]) {
            members.push(i as u32);
            offsets.push(members.len());
        }
        let inner = Vec::new();
        let mut starts = Starts { kernel, members, offsets, sets: sets.len(), inner };
        let mut inner = vec![0.0; starts.count()];
        reduce::fill(&mut inner, |u| {
            let members = starts.of(u);
            let sum = members.iter().map(|&i| starts.mean(i as usize, members)).sum::<f64>();
            sum / members.len() as f64
        });
        starts.inner = inner;
        starts
    }

    /// First labels: from the farthest units if `is_first`, otherwise from random ones. Fewer units than clusters
    /// leave the last clusters empty.
    ///
    /// # Errors
    /// `Cancelled`, `TimedOut`.
    pub(super) fn labels(&self, k: usize, is_first: bool, ctx: &Context) -> Result<Vec<u32>> {
        let mut stream = ctx.stream("start");
        // Distance of each unit to the nearest one that starts a cluster, and that cluster.
        let mut nearest = vec![(f64::INFINITY, 0u32); self.count()];
        let mut closeness = vec![0.0; self.members.len()];
        for h in 0..k.min(self.count()) {
            ctx.check()?;
            let unit = match h {
                0 if is_first => self.largest(&mut stream),
                _ if is_first => self.farthest(&nearest),
                _ => self.drawn(&nearest, &mut stream),
            };
            reduce::fill(&mut closeness, |i| self.mean(i, self.of(unit)));
            nearest[unit] = (TAKEN, h as u32);
            for (u, near) in nearest.iter_mut().enumerate() {
                let members = self.of(u);
                let sum = members.iter().map(|&i| closeness[i as usize]).sum::<f64>();
                let between = sum / members.len() as f64;
                let distance = self.inner[u] + self.inner[unit] - 2.0 * between;
                if distance < near.0 {
                    *near = (distance, h as u32);
                }
            }
        }
        let mut labels = vec![0; self.members.len()];
        for (u, near) in nearest.iter().enumerate() {
            self.of(u).iter().for_each(|&i| labels[i as usize] = near.1);
        }
        Ok(labels)
    }

    fn count(&self) -> usize {
        self.offsets.len() - 1
    }

    fn of(&self, unit: usize) -> &[u32] {
        &self.members[self.offsets[unit]..self.offsets[unit + 1]]
    }

    /// Mean of the kernel between an object and some others.
    fn mean(&self, i: usize, others: &[u32]) -> f64 {
        let entries = row(self.kernel, i);
        others.iter().map(|&j| entries[j as usize]).sum::<f64>() / others.len() as f64
    }

    /// The largest neighbourhood, or a random object without neighbourhoods.
    fn largest(&self, stream: &mut Stream) -> usize {
        let size = |u: usize| self.of(u).len();
        let largest = (0..self.sets).reduce(|best, u| if size(u) > size(best) { u } else { best });
        largest.unwrap_or_else(|| stream.below(self.count()))
    }

    /// The farthest neighbourhood that is free, or the farthest object if none is.
    fn farthest(&self, nearest: &[(f64, u32)]) -> usize {
        let among = |units: Range<usize>| {
            let free = units.filter(|&u| nearest[u].0 > TAKEN);
            free.reduce(|best, u| if nearest[u].0 > nearest[best].0 { u } else { best })
        };
        let found = among(0..self.sets).or_else(|| among(self.sets..self.count()));
        found.expect("fewer units are taken than there are")
    }

    /// A free unit, with a probability proportional to its size and its squared distance.
    fn drawn(&self, nearest: &[(f64, u32)], stream: &mut Stream) -> usize {
        let weight = |u: usize| {
            let size = self.of(u).len() as f64;
            // Before the first draw all distances are infinite.
            if nearest[u].0 == f64::INFINITY { size } else { size * nearest[u].0.max(0.0) }
        };
        let weights: Vec<f64> = (0..self.count()).map(weight).collect();
        if weights.iter().any(|&w| w > 0.0) {
            return stream.weighted(&weights);
        }
        // All free units are where a cluster starts already.
        self.farthest(nearest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array1;

    /// Objects on a line, with the kernel of their inner products.
    fn starts_on(x: &[f64], pairs: &[Constraint], k: usize, is_first: bool) -> Vec<u32> {
        let x = Array1::from(x.to_vec());
        let kernel = Array2::from_shape_fn((x.len(), x.len()), |(i, j)| x[i] * x[j]);
        let constraints = Constraints::new(x.len(), pairs.iter().copied()).unwrap();
        let closure = Closure::new(&constraints, x.len(), OnConflict::Keep).unwrap();
        Starts::new(&closure, &kernel).labels(k, is_first, &Context::new(3)).unwrap()
    }

    #[test]
    fn neighbourhoods_come_before_single_objects() {
        // The largest set {0, 1, 2} has the mean 1. {3, 4} at 8 is farther from it than {5, 6} at 4. Among the objects,
        // 7 at 100 is the farthest, and 8 at 5 is nearest to the mean 4.
        let x = [0.0, 1.0, 2.0, 7.0, 9.0, 4.0, 4.0, 100.0, 5.0];
        let must = Constraint::must;
        let pairs = [must(0, 1), must(1, 2), must(3, 4), must(5, 6)];
        assert_eq!(starts_on(&x, &pairs, 2, true), [0, 0, 0, 1, 1, 0, 0, 1, 1]);
        assert_eq!(starts_on(&x, &pairs, 3, true), [0, 0, 0, 1, 1, 2, 2, 1, 2]);
        assert_eq!(starts_on(&x, &pairs, 4, true), [0, 0, 0, 1, 1, 2, 2, 3, 2]);
        for is_first in [false, true] {
            // There are five units, so the other four clusters stay empty.
            let labels = starts_on(&x, &pairs, 9, is_first);
            let mut used = labels.clone();
            used.sort_unstable();
            used.dedup();
            assert_eq!((used.len(), labels[0], labels[3]), (5, labels[2], labels[4]));
        }
    }

    #[test]
    fn equal_objects_start_different_clusters() {
        for is_first in [false, true] {
            let mut labels = starts_on(&[2.0; 4], &[], 4, is_first);
            labels.sort_unstable();
            assert_eq!(labels, [0, 1, 2, 3]);
        }
    }
}
