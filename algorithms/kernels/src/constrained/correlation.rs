//! The partition that agrees most with signed weights of pairs: correlation clustering.

use mustlink_core::clustering::{NONE, compact};
use mustlink_core::{Context, Result};

/// Weights of pairs of objects: above 0 for joining them, below 0 against it.
///
/// Objects may stand for several. Joining two objects about which no pair says anything costs `unjudged` for each pair
/// of the objects that they stand for.
pub struct SignedPairs {
    /// Index of the first neighbour of each object.
    starts: Vec<usize>,
    /// The neighbours of each object with the weights, in the order of the pairs.
    near: Vec<(u32, f64)>,
    /// Number of objects that each object stands for.
    sizes: Vec<f64>,
    unjudged: f64,
}

/// The effort of [`SignedPairs::partition`].
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Largest number of objects in a part that is solved exactly.
    pub exact_size: usize,
    /// Number of random pivot orders tried for a larger part.
    pub restarts: usize,
}

impl SignedPairs {
    /// The weights `pairs` between `sizes.len()` objects. A pair that is given twice has the sum of its weights.
    pub fn new(
        pairs: impl Iterator<Item = (u32, u32, f64)> + Clone,
        sizes: Vec<f64>,
        unjudged: f64,
    ) -> Self {
        let n = sizes.len();
        let mut starts = vec![0; n + 1];
        for (i, j, _) in pairs.clone() {
            starts[i as usize + 1] += 1;
            starts[j as usize + 1] += 1;
        }
        (0..n).for_each(|i| starts[i + 1] += starts[i]);
        let mut near = vec![(0, 0.0); starts[n]];
        // The place of the next neighbour of each object. In the end, this is the start of the next object.
        let mut put = |i: u32, j: u32, weight: f64| {
            near[starts[i as usize]] = (j, weight);
            starts[i as usize] += 1;
        };
        for (i, j, weight) in pairs {
            put(i, j, weight);
            put(j, i, weight);
        }
        starts.rotate_right(1);
        starts[0] = 0;
        SignedPairs { starts, near, sizes, unjudged }
    }

    fn n(&self) -> usize {
        self.sizes.len()
    }

    fn near(&self, i: u32) -> &[(u32, f64)] {
        &self.near[self.starts[i as usize]..self.starts[i as usize + 1]]
    }

    /// Objects that chains of weights above 0 join, in order. No optimum joins objects of two parts.
    pub fn parts(&self) -> Vec<Vec<u32>> {
        let mut seen = vec![false; self.n()];
        let mut parts = Vec::new();
        for first in 0..self.n() as u32 {
            if std::mem::replace(&mut seen[first as usize], true) {
                continue;
            }
            let mut part = vec![first];
            let mut at = 0;
            while at < part.len() {
                for &(j, w) in self.near(part[at]) {
                    if w > 0.0 && !std::mem::replace(&mut seen[j as usize], true) {
                        part.push(j);
                    }
                }
                at += 1;
            }
            part.sort_unstable();
            parts.push(part);
        }
        parts
    }

    /// A partition with a large sum of weights inside clusters, as labels: the optimum of small parts, otherwise one
    /// that no move of a single object improves.
    ///
    /// # Errors
    /// `Cancelled`, `TimedOut`.
    pub fn partition(&self, effort: Effort, ctx: &Context) -> Result<Vec<u32>> {
        let mut labels: Vec<u32> = (0..self.n() as u32).collect();
        let mut place = vec![NONE; self.n()];
        for (number, part) in self.parts().into_iter().enumerate() {
            ctx.check()?;
            if part.len() == 1 {
                continue;
            }
            let inside = self.within(&part, &mut place);
            let found = if part.len() <= effort.exact_size {
                inside.exactly()
            } else {
                inside.by_moves(effort.restarts, &ctx.child("part").index(number))?
            };
            // Clusters are named by their first object until all are known.
            let mut name = vec![NONE; part.len()];
            for (&i, &l) in part.iter().zip(&found) {
                let name = &mut name[l as usize];
                *name = if *name == NONE { i } else { *name };
                labels[i as usize] = *name;
            }
        }
        Ok(labels)
    }

    /// The weights that `labels` disagree with, and the costs of joined pairs, of objects that are `counted`. Each
    /// pair must be given once, and no cluster may have counted objects and others.
    pub fn disagreement(&self, labels: &[u32], counted: impl Fn(u32) -> bool) -> f64 {
        let mut joined = vec![(0.0, 0.0); self.n()];
        let (mut weights, mut judged) = (0.0, 0.0);
        for i in (0..self.n() as u32).filter(|&i| counted(i)) {
            let size = self.sizes[i as usize];
            let (sum, squares) = &mut joined[labels[i as usize] as usize];
            *sum += size;
            *squares += size * size;
            for &(j, w) in self.near(i).iter().filter(|(j, _)| *j > i) {
                let is_together = labels[i as usize] == labels[j as usize];
                weights += if is_together == (w > 0.0) { 0.0 } else { w.abs() };
                judged += if is_together { size * self.sizes[j as usize] } else { 0.0 };
            }
        }
        let all: f64 = joined.into_iter().map(|(sum, squares)| (sum * sum - squares) / 2.0).sum();
        weights + self.unjudged * (all - judged)
    }

    /// The pairs inside a part, whose objects are numbered by their position in it; `place` is scratch space. Every
    /// pair of objects costs something, which a pair with a weight gets back.
    fn within(&self, part: &[u32], place: &mut [u32]) -> SignedPairs {
        (0..).zip(part).for_each(|(at, &i)| place[i as usize] = at);
        let mut starts = Vec::with_capacity(part.len() + 1);
        starts.push(0);
        let (mut near, mut judged) = (Vec::new(), Vec::new());
        for &i in part {
            let inside = self.near(i).iter().filter(|(j, _)| place[*j as usize] != NONE);
            near.extend(inside.map(|&(j, w)| (place[j as usize], w)));
            if self.unjudged > 0.0 {
                judged.resize(part.len(), NONE);
                for (at, weight) in &mut near[starts[starts.len() - 1]..] {
                    // A pair that is given twice gets its costs back once.
                    if std::mem::replace(&mut judged[*at as usize], i) != i {
                        let both = self.sizes[i as usize] * self.sizes[part[*at as usize] as usize];
                        *weight += self.unjudged * both;
                    }
                }
            }
            starts.push(near.len());
        }
        part.iter().for_each(|&i| place[i as usize] = NONE);
        let sizes = part.iter().map(|&i| self.sizes[i as usize]).collect();
        SignedPairs { starts, near, sizes, unjudged: self.unjudged }
    }

    /// The best labels by dynamic programming over all subsets: the best partition of a set is a cluster
    /// with its first object and the best partition of the rest.
    fn exactly(&self) -> Vec<u32> {
        let s = self.n();
        let all = (1usize << s) - 1;
        // Sum of the weights inside each set: that without its first object, and the weights of this one.
        let mut inside = vec![0.0f64; all + 1];
        let mut between = vec![0.0f64; s * s];
        for a in 0..s {
            self.near(a as u32).iter().for_each(|&(b, w)| between[a * s + b as usize] += w);
        }
        for set in 1..=all {
            let first = set.trailing_zeros() as usize;
            let rest = set & (set - 1);
            let (mut sum, mut size) = (inside[rest], 0.0);
            let mut left = rest;
            while left != 0 {
                let other = left.trailing_zeros() as usize;
                sum += between[first * s + other];
                size += self.sizes[other];
                left &= left - 1;
            }
            inside[set] = sum - self.unjudged * self.sizes[first] * size;
        }
        let mut best = vec![(0.0f64, 0usize); all + 1];
        for set in 1..=all {
            let first = set & set.wrapping_neg();
            let rest = set ^ first;
            let mut most = (f64::NEG_INFINITY, 0);
            // All subsets of the rest, the largest first: of equal sums the larger cluster.
            let mut sub = rest;
            loop {
                let cluster = sub | first;
                let sum = inside[cluster] + best[set ^ cluster].0;
                if sum > most.0 {
                    most = (sum, cluster);
                }
                if sub == 0 {
                    break;
                }
                sub = (sub - 1) & rest;
            }
            best[set] = most;
        }
        let mut labels = vec![0; s];
        let (mut set, mut label) = (all, 0);
        while set != 0 {
            let cluster = best[set].1;
            (0..s).filter(|a| cluster >> a & 1 == 1).for_each(|a| labels[a] = label);
            set ^= cluster;
            label += 1;
        }
        labels
    }

    /// Sum of the weights inside clusters.
    fn agreement(&self, labels: &[u32]) -> f64 {
        let inside = |i: u32| {
            let is_mine = |j: u32| j > i && labels[j as usize] == labels[i as usize];
            self.near(i).iter().filter(|(j, _)| is_mine(*j)).map(|(_, w)| w).sum::<f64>()
        };
        let weights: f64 = (0..self.n() as u32).map(inside).sum();
        if self.unjudged == 0.0 {
            return weights;
        }
        let mut joined = vec![(0.0, 0.0); labels.len()];
        for (&label, size) in labels.iter().zip(&self.sizes) {
            let (sum, squares) = &mut joined[label as usize];
            *sum += size;
            *squares += size * size;
        }
        let pairs = |(sum, squares): &(f64, f64)| (sum * sum - squares) / 2.0;
        weights - self.unjudged * joined.iter().map(pairs).sum::<f64>()
    }

    /// Labels by pivots and moves; the best of the restarts, of equals the first.
    fn by_moves(&self, restarts: usize, ctx: &Context) -> Result<Vec<u32>> {
        let n = self.n();
        let mut best: Option<(f64, Vec<u32>)> = None;
        for r in 0..=restarts {
            let mut order: Vec<u32> = (0..n as u32).collect();
            ctx.index(r).stream("pivots").shuffle(&mut order);
            // Of answers that agree the whole part is the optimum: that is tried first.
            let mut labels = vec![if r == 0 { 0 } else { NONE }; n];
            for &pivot in &order {
                if labels[pivot as usize] != NONE {
                    continue;
                }
                labels[pivot as usize] = pivot;
                for &(j, w) in self.near(pivot) {
                    if w > 0.0 && labels[j as usize] == NONE {
                        labels[j as usize] = pivot;
                    }
                }
            }
            self.settle(&order, &mut labels, ctx)?;
            let agreement = self.agreement(&labels);
            if best.as_ref().is_none_or(|(most, _)| agreement > *most) {
                best = Some((agreement, labels));
            }
        }
        Ok(compact(&best.expect("at least one restart").1).0)
    }

    /// Moves single objects, in order, to the cluster their weights agree with most, or to one of their own, while
    /// that helps.
    fn settle(&self, order: &[u32], labels: &mut [u32], ctx: &Context) -> Result<()> {
        // A cluster has the number of an object, so one number is always free.
        let (mut counts, mut sizes) = (vec![0u32; labels.len()], vec![0.0; labels.len()]);
        for &i in order {
            counts[labels[i as usize] as usize] += 1;
            sizes[labels[i as usize] as usize] += self.sizes[i as usize];
        }
        let mut free: Vec<u32> =
            order.iter().copied().filter(|&i| counts[i as usize] == 0).collect();
        let (mut near, mut sums) = (Vec::<(u32, f64)>::new(), Vec::<(u32, f64)>::new());
        loop {
            ctx.check()?;
            let mut moved = false;
            for &i in order {
                let (own, size) = (labels[i as usize], self.sizes[i as usize]);
                near.clear();
                near.extend(self.near(i).iter().map(|&(j, w)| (labels[j as usize], w)));
                near.sort_unstable_by_key(|(l, _)| *l);
                sums.clear();
                for &(l, w) in &near {
                    match sums.last_mut() {
                        Some(last) if last.0 == l => last.1 += w,
                        _ => sums.push((l, w)),
                    }
                }
                // Every other object of a cluster costs something.
                let cost = |l: u32| self.unjudged * size * sizes[l as usize];
                sums.iter_mut().for_each(|s| s.1 -= cost(s.0));
                let here = sums.iter().find(|s| s.0 == own).map_or(-cost(own), |s| s.1);
                let here = here + self.unjudged * size * size;
                let best = sums
                    .iter()
                    .filter(|s| s.0 != own)
                    .fold((NONE, 0.0), |best, s| if s.1 > best.1 { *s } else { best });
                // A gain by rounding alone could go on for ever.
                if best.1 <= here + 1e-12 * (1.0 + here.abs()) {
                    continue;
                }
                let to = match best.0 {
                    NONE if counts[own as usize] == 1 => continue,
                    NONE => free.pop().expect("fewer clusters than objects"),
                    other => other,
                };
                counts[own as usize] -= 1;
                sizes[own as usize] -= size;
                if counts[own as usize] == 0 {
                    free.push(own);
                }
                counts[to as usize] += 1;
                sizes[to as usize] += size;
                labels[i as usize] = to;
                moved = true;
            }
            if !moved {
                return Ok(());
            }
        }
    }
}
