//! K-means in the space of a kernel, and the objective.

use mustlink_core::prelude::*;
use mustlink_kernels::distance::points::row;
use ndarray::Array2;

/// Relative size of rounding errors.
const ROUNDING: f64 = 1e-12;

/// The entries of W: for each object its partners in constraints, ascending.
pub(super) struct Links(Vec<Vec<(u32, f64)>>);

impl Links {
    pub(super) fn new(n: usize, entries: impl Iterator<Item = (u32, u32, f64)>) -> Self {
        let mut of: Vec<Vec<(u32, f64)>> = vec![Vec::new(); n];
        for (i, j, w) in entries {
            of[i as usize].push((j, w));
            of[j as usize].push((i, w));
        }
        // Sums must not depend on the order of the constraints.
        for list in &mut of {
            list.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        }
        Links(of)
    }
}

/// The space of K = S + W with a shift, in which distances are measured. All numbers are divided by `unit`.
pub(super) struct Space {
    /// S.
    pub(super) kernel: Array2<f64>,
    /// W.
    pub(super) links: Links,
    /// Shift of the diagonal (σ).
    pub(super) sigma: f64,
    /// A power of two near the spread of S.
    pub(super) unit: f64,
}

/// Labels, with the sums that distances and the objective are made of.
#[derive(Clone)]
struct Clusters {
    labels: Vec<u32>,
    /// Sum of K between each object and the objects of each cluster: n rows of k.
    sums: Vec<f64>,
    /// Number of objects of each cluster.
    sizes: Vec<f64>,
    /// Sum of K over all pairs of objects of each cluster.
    within: Vec<f64>,
    /// Without the shift.
    objective: f64,
}

impl Space {
    /// Entry i of the product of K, without the shift, and a vector.
    pub(super) fn times(&self, i: usize, vector: &[f64]) -> f64 {
        let linked = self.links.0[i].iter().map(|&(j, w)| w * vector[j as usize]);
        reduce::inner_product(row(&self.kernel, i), vector) + linked.sum::<f64>()
    }

    /// Sweeps from some labels until the objective no longer falls.
    ///
    /// # Errors
    /// `Cancelled`, `TimedOut`.
    pub(super) fn sweeps(
        &self,
        labels: Vec<u32>,
        k: usize,
        max_iterations: usize,
        constraints: &[Constraint],
        ctx: &Context,
    ) -> Result<Clustering> {
        let stat = |clusters: &Clusters, moved: usize| {
            let broken = constraints.iter().filter(|c| c.is_violated(&clusters.labels));
            let objective = self.unit * clusters.objective;
            IterStat { objective, moved, violations: Some(broken.count()) }
        };
        let n = labels.len();
        let mut now = self.filled(labels, k);
        let mut history = vec![stat(&now, n)];
        let mut status = Status::MaxIter;
        for _ in 1..max_iterations {
            ctx.check()?;
            let labels = self.nearest(&now);
            let swept = (labels != now.labels).then(|| self.filled(labels, k));
            // A large shift holds objects where they are, and a small one lets the objective rise.
            let next = match swept.filter(|next| next.objective < now.objective) {
                Some(next) => next,
                None => self.one_by_one(&now),
            };
            if next.objective >= now.objective {
                status = Status::Converged;
                break;
            }
            let moved = next.labels.iter().zip(&now.labels).filter(|(a, b)| a != b).count();
            history.push(stat(&next, moved));
            now = next;
        }
        Ok(Clustering {
            labels: now.labels,
            k,
            objective: history.last().map(|stat| stat.objective),
            history,
            status,
            ..Clustering::default()
        })
    }

    fn measured(&self, labels: Vec<u32>, k: usize) -> Clusters {
        let mut sums = vec![0.0f64; labels.len() * k];
        reduce::rows(&mut sums, k, |i, sums| {
            for (entry, &label) in row(&self.kernel, i).iter().zip(&labels) {
                sums[label as usize] += entry;
            }
            for &(j, w) in &self.links.0[i] {
                sums[labels[j as usize] as usize] += w;
            }
        });
        let (mut sizes, mut within, mut own) = (vec![0.0; k], vec![0.0; k], vec![0.0; k]);
        for (i, &label) in labels.iter().enumerate() {
            let h = label as usize;
            sizes[h] += 1.0;
            within[h] += sums[i * k + h];
            own[h] += self.kernel[[i, i]];
        }
        let used = (0..k).filter(|&h| sizes[h] > 0.0);
        // Cluster by cluster: one far object would leave nothing of a difference of two totals.
        let objective = used.map(|h| own[h] - within[h] / sizes[h]).sum();
        Clusters { labels, sums, sizes, within, objective }
    }

    /// The nearest cluster of each object; of equally near ones its own, then the first.
    fn nearest(&self, now: &Clusters) -> Vec<u32> {
        let k = now.sizes.len();
        let mut labels = vec![0; now.labels.len()];
        reduce::fill(&mut labels, |i| {
            let own = now.labels[i] as usize;
            // Without K_ii + σ, which is the same for all clusters.
            let distance = |h: usize| {
                let size = now.sizes[h];
                let shift = if h == own { -self.sigma } else { self.sigma };
                (now.within[h] / size - 2.0 * now.sums[i * k + h] + shift) / size
            };
            let mut best = (distance(own), own);
            for h in (0..k).filter(|&h| h != own && now.sizes[h] > 0.0) {
                let other = distance(h);
                if other < best.0 {
                    best = (other, h);
                }
            }
            best.1 as u32
        });
        labels
    }

    /// The clusters after one visit of each object, in order, which moves it where this lowers the objective most. The
    /// last object of a cluster stays.
    fn one_by_one(&self, now: &Clusters) -> Clusters {
        let k = now.sizes.len();
        let mut clusters = now.clone();
        for i in 0..now.labels.len() {
            let (from, own) = (clusters.labels[i] as usize, self.kernel[[i, i]]);
            if clusters.sizes[from] < 2.0 {
                continue;
            }
            // Means of a cluster with and without the object; the sum of all, reversed, is the objective.
            let with = |h: usize, sign: f64| {
                let sum = clusters.within[h] + sign * 2.0 * clusters.sums[i * k + h] + own;
                sum / (clusters.sizes[h] + sign)
            };
            let mean = |h: usize| clusters.within[h] / clusters.sizes[h];
            let loss = mean(from) - with(from, -1.0);
            let mut best = (ROUNDING * (loss.abs() + own.abs()), from);
            for h in (0..k).filter(|&h| h != from && clusters.sizes[h] > 0.0) {
                let gain = with(h, 1.0) - mean(h) - loss;
                if gain > best.0 {
                    best = (gain, h);
                }
            }
            if best.1 != from {
                self.part(&mut clusters, i, best.1);
            }
        }
        self.measured(clusters.labels, k)
    }

    /// Some labels, with objects in empty clusters where this lowers the objective.
    fn filled(&self, labels: Vec<u32>, k: usize) -> Clusters {
        let mut clusters = self.measured(labels, k);
        let empty: Vec<usize> = (0..k).filter(|&h| clusters.sizes[h] == 0.0).collect();
        let mut is_changed = false;
        for to in empty {
            let Some(i) = self.loosest(&clusters) else { break };
            self.part(&mut clusters, i, to);
            is_changed = true;
        }
        // Sums that were taken from again and again are inexact.
        if is_changed { self.measured(clusters.labels, k) } else { clusters }
    }

    /// The object whose move to a cluster of its own lowers the objective most, if any does.
    fn loosest(&self, now: &Clusters) -> Option<usize> {
        let k = now.sizes.len();
        let mut best = (0.0, None);
        for (i, &label) in now.labels.iter().enumerate() {
            let h = label as usize;
            let size = now.sizes[h];
            if size < 2.0 {
                continue;
            }
            let own = self.kernel[[i, i]];
            let (cross, mean) = (2.0 * now.sums[i * k + h] / size, now.within[h] / (size * size));
            let rounding = ROUNDING * (own.abs() + cross.abs() + mean.abs());
            let distance = own - cross + mean;
            let gain = size / (size - 1.0) * distance;
            if distance > rounding && gain > best.0 {
                best = (gain, Some(i));
            }
        }
        best.1
    }

    /// Moves an object to another cluster.
    fn part(&self, clusters: &mut Clusters, i: usize, to: usize) {
        let k = clusters.sizes.len();
        let from = clusters.labels[i] as usize;
        clusters.labels[i] = to as u32;
        clusters.sizes[from] -= 1.0;
        clusters.sizes[to] += 1.0;
        let dense = row(&self.kernel, i).iter().copied().enumerate();
        let linked = self.links.0[i].iter().map(|&(j, w)| (j as usize, w));
        for (j, entry) in dense.chain(linked) {
            clusters.sums[j * k + from] -= entry;
            clusters.sums[j * k + to] += entry;
        }
        for h in [from, to] {
            let rows = clusters.sums.chunks_exact(k).zip(&clusters.labels);
            let inside = rows.filter(|(_, label)| **label as usize == h);
            clusters.within[h] = inside.map(|(sums, _)| sums[h]).sum();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::shift::least_shift;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_empty_cluster_takes_the_loosest_object() {
        // 0, 0 and 6 have the mean 2 and the objective 4 + 4 + 16. Alone, 6 lowers it by 3/2 · 16, to 0. Two equal
        // objects are not moved.
        let x = [0.0, 0.0, 6.0];
        let kernel = Array2::from_shape_fn((3, 3), |(i, j)| x[i] * x[j]);
        let links = Links::new(3, std::iter::empty());
        let space = Space { kernel, links, sigma: 0.0, unit: 1.0 };
        assert_eq!(space.measured(vec![0; 3], 2).objective, 24.0);
        for k in [2, 3] {
            let filled = space.filled(vec![0; 3], k);
            assert_eq!((filled.labels, filled.objective), (vec![0, 0, 1], 0.0));
        }
    }

    /// A random kernel, which is not positive semidefinite, and random constraints.
    fn random(s: &mut Stream, n: usize, sigma: f64) -> Space {
        let mut kernel = Array2::zeros((n, n));
        let mut entries = Vec::new();
        for i in 0..n {
            for j in 0..=i {
                kernel[[i, j]] = s.normal();
                kernel[[j, i]] = kernel[[i, j]];
                if i != j && s.unit() < 0.2 {
                    entries.push((i as u32, j as u32, 3.0 * s.normal()));
                }
            }
        }
        Space { kernel, links: Links::new(n, entries.into_iter()), sigma, unit: 4.0 }
    }

    /// Entry of K with the shift.
    fn entry(space: &Space, i: usize, j: usize) -> f64 {
        let linked = space.links.0[i].iter().filter(|link| link.0 as usize == j);
        let shift = if i == j { space.sigma } else { 0.0 };
        space.kernel[[i, j]] + linked.map(|link| link.1).sum::<f64>() + shift
    }

    fn used(labels: &[u32], k: usize) -> Vec<usize> {
        (0..k).filter(|&h| labels.contains(&(h as u32))).collect()
    }

    proptest! {
        /// A second way: the distances as the formula says, over all pairs.
        #[test]
        fn a_step_follows_the_formula_and_lowers_the_objective(
            seed: u64,
            n in 2usize..18,
            k in 1usize..5,
        ) {
            let mut s = SeedPath::new(seed).stream("case");
            let free = random(&mut s, n, 0.0);
            let times = |i: usize, x: &[f64]| free.times(i, x);
            let sigma = least_shift(n, times, &Context::new(seed)).unwrap();
            let space = Space { sigma, ..free };
            let labels: Vec<u32> = (0..n).map(|_| s.below(k) as u32).collect();
            let now = space.measured(labels.clone(), k);
            let distance = |i: usize, h: usize| {
                let members: Vec<usize> = (0..n).filter(|&j| labels[j] as usize == h).collect();
                let size = members.len() as f64;
                let cross: f64 = members.iter().map(|&j| entry(&space, i, j)).sum();
                let pairs = members.iter().flat_map(|&j| members.iter().map(move |&l| (j, l)));
                let within: f64 = pairs.map(|(j, l)| entry(&space, j, l)).sum();
                entry(&space, i, i) - 2.0 * cross / size + within / (size * size)
            };
            let next = space.nearest(&now);
            for i in 0..n {
                let chosen = distance(i, next[i] as usize);
                for h in used(&labels, k) {
                    prop_assert!(chosen <= distance(i, h) + 1e-9, "{i} to {h}");
                }
            }
            let shifted = |clusters: &Clusters| {
                clusters.objective + sigma * (n - used(&clusters.labels, k).len()) as f64
            };
            let slow: f64 = (0..n).map(|i| distance(i, labels[i] as usize)).sum();
            prop_assert!((shifted(&now) - slow).abs() < 1e-9);
            let after = space.measured(next, k);
            prop_assert!(shifted(&after) <= shifted(&now) + 1e-9);
        }

        /// With any shift, also one that is too small.
        #[test]
        fn the_objective_never_rises(
            seed: u64,
            n in 2usize..30,
            k in 1usize..6,
            sigma in 0.0f64..20.0,
        ) {
            let mut s = SeedPath::new(seed).stream("case");
            let space = random(&mut s, n, sigma);
            let labels: Vec<u32> = (0..n).map(|_| s.below(k) as u32).collect();
            let c = space.sweeps(labels, k, 50, &[], &Context::new(1)).unwrap();
            prop_assert!(c.history.windows(2).all(|w| w[1].objective < w[0].objective));
            prop_assert_eq!(c.objective, Some(4.0 * space.measured(c.labels, k).objective));
        }
    }
}
