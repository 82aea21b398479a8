//! K-means consensus: k distributions over the clusters of all members.

use mustlink_core::clustering::compact;
use mustlink_core::prelude::*;
use mustlink_core::random::Stream;
use mustlink_kernels::ensemble::signatures::Signatures;
use mustlink_kernels::kmeans::lloyd::best_of;

use crate::parts::canonical_ensemble::CanonicalEnsemble;
use crate::parts::weights::Weights;

/// KCC: k-means on the rows of labels, with the frequencies of labels as centres.
///
/// # Method
/// Objects go to the centre that fits their labels best, and centres become the means of their objects. The utility
/// defines how well an object fits. A member that misses an object does not count for it.
/// # Input and output
/// Any ensemble; labels are never expanded. At most k clusters. The objective never rises.
/// # Errors
/// `MissingK`, `BadK`, `TooManyClusters`; `BadParam`.
/// # Cost and randomness
/// O(restarts · sweeps · nτk), memory O(nτ + τk_t k). Random in the first centres.
/// # References
/// [WuLiuXiongCaoChen2015].
#[options]
pub struct Kcc {
    /// Utility that measures how well a label fits a centre.
    pub utility: Utility,
    /// Exponent of the utility `lp`.
    #[option(default = 5.0, above = 1.0)]
    pub p: f64,
    /// Number of starts; the best result is kept.
    #[option(default = 10, min = 1)]
    pub restarts: usize,
    /// Maximum number of sweeps in one start.
    #[option(default = 100, min = 1)]
    pub max_iterations: usize,
    /// Weights of the members.
    pub weights: Weights,
}

/// The distance of a label to the shares of labels in a cluster.
#[options]
pub enum Utility {
    /// Squared Euclidean: the category utility.
    #[default]
    Category,
    /// −ln of the share of the label: entropy.
    Entropy,
    /// 1 − the cosine with the shares.
    Cosine,
    /// 1 − (share / p-norm of the shares)^(p − 1).
    Lp,
}

/// Cost of each label of a member under shares `m` of that member's labels in a cluster.
fn costs(utility: Utility, p: f64, m: &[f64]) -> Vec<f64> {
    match utility {
        Utility::Category => {
            let squares: f64 = m.iter().map(|x| x * x).sum();
            m.iter().map(|x| 1.0 - 2.0 * x + squares).collect()
        }
        Utility::Entropy => m.iter().map(|x| -x.max(1e-12).ln()).collect(),
        Utility::Cosine | Utility::Lp => {
            let p = if utility == Utility::Cosine { 2.0 } else { p };
            let powers = |unit: f64| m.iter().map(|x| (x / unit).powf(p)).sum::<f64>();
            // Where powers of shares are too small for numbers, those relative to the largest share are not.
            let (unit, sum) = match powers(1.0) {
                sum if sum.is_normal() => (1.0, sum),
                _ => {
                    let largest = m.iter().copied().fold(0.0, f64::max);
                    (largest, powers(largest))
                }
            };
            let norm = sum.powf(1.0 / p);
            let share = |x: &f64| if norm > 0.0 { (x / unit / norm).powf(p - 1.0) } else { 0.0 };
            m.iter().map(|x| 1.0 - share(x)).collect()
        }
    }
}

/// Labels object by object, and what they cost under each centre.
struct Table<'a> {
    view: &'a CanonicalEnsemble<'a>,
    /// Clusters of each object, counted through all members; `NONE` where missing.
    rows: Vec<u32>,
    kcc: &'a Kcc,
}

impl Table<'_> {
    fn row(&self, i: usize) -> &[u32] {
        let tau = self.view.len();
        &self.rows[i * tau..(i + 1) * tau]
    }

    /// Weighted costs of every cluster under every centre, clusters × k. A centre whose objects all
    /// miss a member says nothing there.
    fn prices(&self, labels: &[u32], k: usize) -> Vec<f64> {
        let view = self.view;
        let mut out = vec![0.0; view.clusters() * k];
        let tables = reduce::map(view.len(), |t| {
            let width = view.columns(t).len();
            let mut counts = vec![0.0; width * k];
            for (&l, &c) in view.labels[t].iter().zip(labels) {
                if l != NONE {
                    counts[c as usize * width + l as usize] += 1.0;
                }
            }
            for m in counts.chunks_mut(width.max(1)) {
                let total: f64 = m.iter().sum();
                if total > 0.0 {
                    m.iter_mut().for_each(|x| *x /= total);
                }
                let priced = costs(self.kcc.utility, self.kcc.p, m);
                m.iter_mut().zip(priced).for_each(|(m, c)| *m = c * view.weights[t]);
            }
            counts
        });
        for (t, table) in tables.iter().enumerate() {
            let width = view.columns(t).len();
            for c in 0..k {
                for l in 0..width {
                    out[(view.first[t] + l) * k + c] = table[c * width + l];
                }
            }
        }
        out
    }

    /// Cost of object `i` under each centre.
    fn fit(&self, i: usize, prices: &[f64], k: usize, out: &mut [f64]) {
        out.fill(0.0);
        for &c in self.row(i).iter().filter(|&&c| c != NONE) {
            let price = &prices[c as usize * k..(c as usize + 1) * k];
            out.iter_mut().zip(price).for_each(|(o, p)| *o += p);
        }
    }

    /// Cost of object `i` under the centre of its cluster.
    fn cost(&self, i: usize, labels: &[u32], prices: &[f64], k: usize) -> f64 {
        let present = self.row(i).iter().filter(|&&c| c != NONE);
        present.map(|&c| prices[c as usize * k + labels[i] as usize]).sum()
    }

    /// Cost of all objects under the centres of their clusters.
    fn objective(&self, labels: &[u32], prices: &[f64], k: usize) -> f64 {
        reduce::sum(labels.len(), |i| self.cost(i, labels, prices, k))
    }

    /// Prices under the centres of clusters of one object each, those in `start`.
    fn first_prices(&self, start: &[u32], k: usize) -> Vec<f64> {
        let view = self.view;
        let mut out = vec![0.0; view.clusters() * k];
        for t in 0..view.len() {
            let width = view.columns(t).len();
            for (c, &i) in start.iter().enumerate() {
                let mut m = vec![0.0; width];
                let l = view.labels[t][i as usize];
                if l != NONE {
                    m[l as usize] = 1.0;
                }
                let priced = costs(self.kcc.utility, self.kcc.p, &m);
                for (l, p) in priced.into_iter().enumerate() {
                    out[(view.first[t] + l) * k + c] = p * view.weights[t];
                }
            }
        }
        out
    }

    fn run(&self, start: Vec<u32>, k: usize, ctx: &Context) -> Result<Clustering> {
        let n = self.view.n;
        let mut prices = self.first_prices(&start, k);
        let mut labels = vec![NONE; n];
        let mut history: Vec<IterStat> = Vec::new();
        let mut status = Status::MaxIter;
        for _ in 0..self.kcc.max_iterations {
            ctx.check()?;
            let mut next = vec![0; n];
            reduce::over(next.chunks_mut(reduce::BLOCK), |b, chunk| {
                let mut cost = vec![0.0; k];
                for (at, to) in chunk.iter_mut().enumerate() {
                    let i = b * reduce::BLOCK + at;
                    self.fit(i, &prices, k, &mut cost);
                    let least = cost.iter().copied().fold(f64::INFINITY, f64::min);
                    let own = labels[i];
                    let stays = own != NONE && cost[own as usize] == least;
                    let lowest = || cost.iter().position(|&c| c == least).unwrap_or(0) as u32;
                    *to = if stays { own } else { lowest() };
                }
            });
            let mut moved = next.iter().zip(&labels).filter(|(a, b)| a != b).count();
            moved += self.refill(&mut next, &prices, k);
            labels = next;
            prices = self.prices(&labels, k);
            let objective = self.objective(&labels, &prices, k);
            let stands = history.last().is_some_and(|h| objective >= h.objective);
            history.push(IterStat { objective, moved, violations: None });
            if moved == 0 || stands {
                status = Status::Converged;
                break;
            }
        }
        let objective = history.last().map(|h| h.objective);
        Ok(Clustering { labels, k, objective, history, status, extras: Extras::default() })
    }

    /// Gives each cluster without an object the one that fits its own worst.
    fn refill(&self, labels: &mut [u32], prices: &[f64], k: usize) -> usize {
        let mut sizes = vec![0usize; k];
        labels.iter().for_each(|&l| sizes[l as usize] += 1);
        let mut moved = 0;
        for empty in 0..k {
            if sizes[empty] > 0 {
                continue;
            }
            let mut worst: Option<(f64, usize)> = None;
            for i in (0..labels.len()).filter(|&i| sizes[labels[i] as usize] > 1) {
                let c = self.cost(i, labels, prices, k);
                // An object that fits perfectly would leave its like for nothing.
                if c > worst.map_or(1e-12, |(w, _)| w) {
                    worst = Some((c, i));
                }
            }
            let Some((_, i)) = worst else { break };
            sizes[labels[i] as usize] -= 1;
            sizes[empty] += 1;
            labels[i] = empty as u32;
            moved += 1;
        }
        moved
    }
}

/// k objects with different rows of labels, where there are so many.
fn seeds(signatures: &Signatures, k: usize, stream: &mut Stream) -> Vec<u32> {
    if signatures.len() < k {
        let n = signatures.n();
        return stream.sample(n, k).into_iter().map(|i| i as u32).collect();
    }
    // Objects in random order, the first of each row: rows come as often as they have objects.
    let mut seen = vec![false; signatures.len()];
    let order = stream.permutation(signatures.n());
    let fresh = order
        .into_iter()
        .filter(|&i| !std::mem::replace(&mut seen[signatures.group_of(i as usize)], true));
    fresh.take(k).collect()
}

#[plugin("kcc", cites = ["WuLiuXiongCaoChen2015"], version = 2)]
impl ConsensusFunction for Kcc {
    fn combine(&self, ensemble: &Ensemble, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let view = CanonicalEnsemble::new(ensemble, problem, &self.weights, "kcc", ctx)?;
        if let Some(trivial) = view.trivial() {
            return Ok(trivial);
        }
        let tau = view.len();
        let mut rows = vec![NONE; view.n * tau];
        reduce::rows(&mut rows, tau, |i, row| {
            for (t, c) in row.iter_mut().enumerate() {
                *c = view.cluster(i, t).map_or(NONE, |c| c as u32);
            }
        });
        let signatures = Signatures::new(&view.ensemble());
        let table = Table { view: &view, rows, kcc: self };
        let mut best = best_of(self.restarts, |r| {
            let ctx = ctx.index(r);
            table.run(seeds(&signatures, view.k, &mut ctx.stream("start")), view.k, &ctx)
        })?;
        (best.labels, best.k) = compact(&best.labels);
        Ok(best)
    }

    fn needs(&self) -> Needs {
        self.weights.needs(Needs { labels_only: true, fixed_k: true, ..Needs::default() })
    }

    fn memory(&self, shape: &Shape, members: usize) -> u64 {
        let clusters = members * shape.k;
        let runs = self.restarts.min(64) * (16 * shape.n + 16 * clusters * shape.k);
        (16 * shape.n * members + runs) as u64
    }

    fn operations(&self, shape: &Shape, members: usize) -> f64 {
        let sweeps = self.restarts as f64 * self.max_iterations.min(20) as f64;
        let sweep = 0.25 * shape.n as f64 * members as f64 * shape.k as f64;
        sweeps * sweep + self.weights.operations(shape, members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::e12::{E12_CLASSES, blank, e12};
    use proptest::prelude::*;

    fn value(kcc: &Kcc, ensemble: &Ensemble, problem: &Problem, labels: &[u32], k: usize) -> f64 {
        let view = CanonicalEnsemble::new(ensemble, problem, &kcc.weights, "kcc", &Context::new(1))
            .unwrap();
        let row = |i: usize| {
            (0..view.len())
                .map(|t| view.cluster(i, t).map_or(NONE, |c| c as u32))
                .collect::<Vec<_>>()
        };
        let rows = (0..view.n).flat_map(row).collect();
        let table = Table { view: &view, rows, kcc };
        table.objective(labels, &table.prices(labels, k), k)
    }

    #[test]
    fn printed_objectives() {
        let (ensemble, problem) = e12();
        let of = |labels: &[u32]| value(&Kcc::default(), &ensemble, &problem, labels, 3);
        assert!((of(&E12_CLASSES) - 10.433333).abs() < 1e-6, "{}", of(&E12_CLASSES));
        let voting = [0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2];
        assert!((of(&voting) - 10.833333).abs() < 1e-6, "{}", of(&voting));
        let c = Kcc::default().combine(&ensemble, &problem, &Context::new(1)).unwrap();
        assert!(c.objective.unwrap() <= 10.433334);
    }

    #[test]
    fn the_squared_distance_is_that_of_one_hot_rows() {
        let m = [0.5, 0.3, 0.2];
        for (l, cost) in costs(Utility::Category, 5.0, &m).into_iter().enumerate() {
            let slow: f64 = (0..3).map(|j| (f64::from(u8::from(j == l)) - m[j]).powi(2)).sum();
            assert!((cost - slow).abs() < 1e-12);
        }
        // For p = 2 the p-norm utility is the cosine.
        let (a, b) = (costs(Utility::Lp, 2.0, &m), costs(Utility::Cosine, 7.0, &m));
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-12));
    }

    #[test]
    fn a_large_exponent_leaves_the_largest_share() {
        // 0.5^5000 is 0 in numbers, and so is the norm of such powers.
        assert_eq!(costs(Utility::Lp, 5000.0, &[0.5, 0.3, 0.2]), [0.0, 1.0, 1.0]);
        assert_eq!(costs(Utility::Lp, 5000.0, &[0.0, 0.0]), [1.0, 1.0]);
    }

    proptest! {
        #[test]
        fn the_objective_never_rises_and_is_what_it_says(
            seed: u64, n in 5usize..40, k in 2usize..5, missing in 0.0f64..0.4,
        ) {
            let mut s = SeedPath::new(seed).stream("members");
            let members: Vec<Member> = (0..5).map(|_| {
                let labels: Vec<u32> = (0..n).map(|_| {
                    if s.unit() < missing { NONE } else { s.below(3) as u32 }
                }).collect();
                Member::from_labels(&labels)
            }).collect();
            let ensemble = Ensemble::new(n, members).unwrap();
            for utility in [Utility::Category, Utility::Entropy, Utility::Cosine, Utility::Lp] {
                let kcc = Kcc { utility, restarts: 2, ..Kcc::default() };
                let problem = blank(n, k);
                let c = kcc.combine(&ensemble, &problem, &Context::new(seed)).unwrap();
                for w in c.history.windows(2) {
                    prop_assert!(w[1].objective <= w[0].objective + 1e-9 * w[0].objective.abs());
                }
                let slow = value(&kcc, &ensemble, &problem, &c.labels, c.k);
                prop_assert!((slow - c.objective.unwrap()).abs() <= 1e-9 * slow.abs().max(1.0));
            }
        }
    }
}
