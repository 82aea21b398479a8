//! Nonnegative factorisation of the mean connectivity matrix of the members.

use mustlink_core::clustering::compact;
use mustlink_core::prelude::*;
use mustlink_kernels::ensemble::signatures::Signatures;
use mustlink_kernels::kmeans::lloyd::{best_in_turn, best_of};
use rayon::prelude::*;

use crate::parts::canonical_ensemble::CanonicalEnsemble;
use crate::parts::typical::Typical;
use crate::parts::weights::Weights;

/// NMF: the matrix of co-associations as a product of nonnegative factors, whose columns are the clusters.
///
/// # Method
/// M̃ (n × n) is the mean of the connectivity matrices of the T members: M̃ = (1/T) Σ H_t H_tᵀ. H_t (n × k_t) has a 1
/// for each object in the column of its cluster. M̃ is approximated by Q S Qᵀ with Q (n × k) ≥ 0, S (k × k) ≥ 0 and
/// QᵀQ near I. A sweep is Q ← Q ∘ √(M̃QS / (QQᵀM̃QS)), then S ← S ∘ √(QᵀM̃Q / (QᵀQSQᵀQ)); products ∘, quotients and
/// roots are taken entry by entry. An object joins the cluster with the largest entry in its row of Q·diag(S)^½.
/// A start is a partition with indicator matrix H (n × k). Q is H + `offset` with columns of unit length. S is UᵀM̃U,
/// where U is H with columns of unit length. The first start is the member that agrees most with the others. All other
/// starts are k-means on the rows of labels, with seeds as in k-means++. A start ends when a sweep would raise
/// ‖M̃ − QSQᵀ‖² or hardly lowers it. The result is the partition of all starts and sweeps with the smallest
/// ‖M̃ − HHᵀ‖²: the one that differs least from the members. Constraints are ignored unless `weights` reads them.
/// # Input and output
/// Any ensemble. If labels are missing, M̃ holds the cosines of the rows of labels. At most k clusters; objects that
/// all members label alike stay together. The objective is ‖M̃ − HHᵀ‖² of the result, and the history holds the
/// smallest value so far. The diagnostic `factorisation_error` is ‖M̃ − QSQᵀ‖² at the end of the start.
/// # Errors
/// `MissingK`, `BadK`, `TooManyClusters`; `BadParam`.
/// # Cost and randomness
/// M̃ is never formed, and memory is linear in n: O(nT + nk), and O(Kk) for the K clusters of all members. Objects that
/// all members label alike share a row of Q. With g such rows a sweep takes O(gk(T + k) + Kk²), and ‖M̃‖² takes O(gT²)
/// once. Random in the seeds of k-means.
/// # References
/// [LiDingJordan2007]; [DingLiPengPark2006] for the updates; [ArthurVassilvitskii2007] for the seeds. Differs: several
/// starts; the choice by ‖M̃ − HHᵀ‖²; the end of a start, since the updates can raise ‖M̃ − QSQᵀ‖²; the factor
/// diag(S)^½, because entries of Q are larger in small clusters; weights and missing labels. The updates were compared
/// with public programs, not with the text of the paper. Its semi-supervised form is left out.
#[options]
pub struct Nmf {
    /// Number added to the indicator matrix of a start, so that objects can change their cluster.
    #[option(default = 0.2, min = 1e-6, max = 1.0)]
    pub offset: f64,
    /// Number of starts; the best result is kept.
    #[option(default = 5, min = 1)]
    pub restarts: usize,
    /// Maximum number of sweeps in one start.
    #[option(default = 300, min = 1)]
    pub max_iterations: usize,
    /// Smallest relative change of ‖M̃ − QSQᵀ‖² for which another sweep is made.
    #[option(default = 1e-5, min = 0.0)]
    pub tolerance: f64,
    /// Weights of the members.
    pub weights: Weights,
}

/// Maximum number of sweeps of k-means before a start.
const KMEANS_SWEEPS: usize = 20;

/// Up to so many groups, starts run at the same time. With more groups each start fills all threads.
const AT_ONCE: usize = 4096;

/// M̃ by the labels that determine it. Objects that all members label alike are one group.
struct Rows {
    /// Number of clusters wanted.
    k: usize,
    /// Index of the first cluster of each member in the numbering of all clusters, and their number.
    first: Vec<usize>,
    /// Cluster of each group in every member, groups × members; `NONE` where missing.
    clusters: Vec<u32>,
    /// Number of objects in each group.
    sizes: Vec<f64>,
    /// Factor of each row of labels: 1 if no label is missing, 0 if all are.
    scales: Vec<f64>,
    /// Weight of the member of each cluster; those of the members sum to 1.
    shares: Vec<f64>,
    /// ‖M̃‖².
    square: f64,
}

impl Rows {
    fn new(view: &CanonicalEnsemble, signatures: &Signatures, ctx: &Context) -> Result<Self> {
        let tau = view.len();
        let mut clusters = vec![NONE; signatures.len() * tau];
        reduce::rows(&mut clusters, tau, |a, row| {
            let object = signatures.objects(a)[0] as usize;
            for (t, cluster) in row.iter_mut().enumerate() {
                *cluster = view.cluster(object, t).map_or(NONE, |c| c as u32);
            }
        });
        let total: f64 = view.given.iter().sum();
        // The same sum in the same order, so that the factor of a complete row is exactly 1.
        let scale = |row: &[u32]| {
            let seen = row.iter().zip(&view.given).filter(|(c, _)| **c != NONE);
            let seen: f64 = seen.map(|(_, weight)| weight).sum();
            if seen > 0.0 { (total / seen).sqrt() } else { 0.0 }
        };
        let scales = clusters.chunks_exact(tau).map(scale).collect();
        let sizes = (0..signatures.len()).map(|a| signatures.size(a) as f64).collect();
        let members = view.member_of_clusters().into_iter();
        let shares = members.map(|t| view.given[t] / total).collect();
        let (k, first) = (view.k, view.first.clone());
        let mut rows = Rows { k, first, clusters, sizes, scales, shares, square: 0.0 };
        rows.square = rows.squared_norm(ctx)?;
        Ok(rows)
    }

    /// Clusters of group `a`, one for each member.
    fn labels(&self, a: usize) -> &[u32] {
        let tau = self.first.len() - 1;
        &self.clusters[a * tau..(a + 1) * tau]
    }

    /// The clusters that group `a` is in.
    fn clusters_of(&self, a: usize) -> impl Iterator<Item = usize> + '_ {
        self.labels(a).iter().filter(|c| **c != NONE).map(|&c| c as usize)
    }

    /// The entry of M̃ for objects of two groups.
    fn similarity(&self, a: usize, b: usize) -> f64 {
        let labels = self.labels(a).iter().zip(self.labels(b));
        let shared = labels.filter(|(c, d)| c == d && **c != NONE);
        let sum: f64 = shared.map(|(c, _)| self.shares[*c as usize]).sum();
        self.scales[a] * self.scales[b] * sum
    }

    /// ‖M̃‖²: the squares of what each pair of clusters has in common. Each cluster is compared with all others in one
    /// pass over its groups, because a table of the pairs can have n² cells.
    fn squared_norm(&self, ctx: &Context) -> Result<f64> {
        let mut inside: Vec<Vec<u32>> = vec![Vec::new(); self.shares.len()];
        for a in 0..self.sizes.len() {
            self.clusters_of(a).for_each(|c| inside[c].push(a as u32));
        }
        let empty = || vec![0.0; self.shares.len()];
        let of_cluster = |common: &mut Vec<f64>, c: usize| -> Result<f64> {
            ctx.check()?;
            for a in inside[c].iter().map(|&a| a as usize) {
                let weight = self.sizes[a] * self.scales[a].powi(2);
                self.clusters_of(a).for_each(|d| common[d] += weight);
            }
            let mut sum = 0.0;
            for a in inside[c].iter().map(|&a| a as usize) {
                for d in self.clusters_of(a) {
                    sum += self.shares[d] * std::mem::take(&mut common[d]).powi(2);
                }
            }
            Ok(self.shares[c] * sum)
        };
        let sums = (0..inside.len()).into_par_iter().map_init(empty, of_cluster);
        Ok(sums.collect::<Result<Vec<f64>>>()?.iter().sum())
    }

    /// H_tᵀX of all members below one another, clusters × k. `add` adds row `a` of X, times a weight, to a row of sums.
    fn table(&self, add: impl Fn(&mut [f64], usize, f64) + Sync) -> Vec<f64> {
        let k = self.k;
        let of_member = |t: usize| {
            let first = self.first[t];
            let mut sums = vec![0.0; (self.first[t + 1] - first) * k];
            for a in 0..self.sizes.len() {
                let c = self.labels(a)[t];
                if c != NONE {
                    let at = (c as usize - first) * k;
                    add(&mut sums[at..at + k], a, self.sizes[a] * self.scales[a]);
                }
            }
            sums
        };
        reduce::map(self.first.len() - 1, of_member).concat()
    }

    /// Row `a` of M̃X, from the table of X.
    fn image(&self, a: usize, table: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for c in self.clusters_of(a) {
            let factor = self.scales[a] * self.shares[c];
            let sums = &table[c * self.k..(c + 1) * self.k];
            out.iter_mut().zip(sums).for_each(|(o, sum)| *o += factor * sum);
        }
    }

    /// The table of the indicator matrix of a partition of the groups.
    fn counts(&self, labels: &[u32]) -> Vec<f64> {
        self.table(|sums, a, weight| sums[labels[a] as usize] += weight)
    }

    /// Number of objects in each of the k clusters.
    fn sizes_of(&self, labels: &[u32]) -> Vec<f64> {
        let mut sizes = vec![0.0; self.k];
        labels.iter().zip(&self.sizes).for_each(|(&h, size)| sizes[h as usize] += size);
        sizes
    }

    /// ‖M̃ − HHᵀ‖², where H is the indicator matrix of a partition: ‖M̃‖² − 2 tr(HᵀM̃H) + Σ n_h².
    fn disagreement(&self, labels: &[u32]) -> f64 {
        let square = |row: &[f64]| row.iter().map(|count| count * count).sum::<f64>();
        let counts = self.counts(labels);
        let within = counts.chunks_exact(self.k).zip(&self.shares);
        let together: f64 = within.map(|(row, share)| share * square(row)).sum();
        let whole: f64 = self.sizes_of(labels).iter().map(|size| size * size).sum();
        without_rounding(self.square - 2.0 * together + whole)
    }

    /// K-means on the rows of labels, with M̃ as their inner products. Seeds as in k-means++.
    fn kmeans(&self, ctx: &Context) -> Result<Vec<u32>> {
        let mut stream = ctx.stream("start");
        let mut labels = vec![0; self.sizes.len()];
        // Half the squared distance of each group from its seed.
        let mut least = vec![1.0; self.sizes.len()];
        let mut distances = vec![0.0; self.sizes.len()];
        for h in 0..self.k as u32 {
            ctx.check()?;
            let weights: Vec<f64> = self.sizes.iter().zip(&least).map(|(n, d)| n * d).collect();
            let seed = stream.weighted(&weights);
            reduce::fill(&mut distances, |a| {
                if a == seed { 0.0 } else { (1.0 - self.similarity(a, seed)).max(0.0) }
            });
            for a in 0..self.sizes.len() {
                if distances[a] < least[a] {
                    (least[a], labels[a]) = (distances[a], h);
                }
            }
        }
        for _ in 0..KMEANS_SWEEPS {
            ctx.check()?;
            let next = self.nearest(&labels);
            if next == labels {
                break;
            }
            labels = next;
        }
        Ok(labels)
    }

    /// The cluster whose mean row of labels is nearest to each group.
    fn nearest(&self, labels: &[u32]) -> Vec<u32> {
        let (k, sizes) = (self.k, self.sizes_of(labels));
        let mut means = self.counts(labels);
        // Squared length of each mean; a cluster without objects is never the nearest.
        let length = |&size: &f64| if size > 0.0 { 0.0 } else { f64::INFINITY };
        let mut lengths: Vec<f64> = sizes.iter().map(length).collect();
        for (row, share) in means.chunks_exact_mut(k).zip(&self.shares) {
            for h in (0..k).filter(|&h| sizes[h] > 0.0) {
                row[h] /= sizes[h];
                lengths[h] += share * row[h] * row[h];
            }
        }
        let mut nearest = vec![0; self.sizes.len()];
        reduce::over(nearest.chunks_mut(reduce::BLOCK), |b, block| {
            let mut shared = vec![0.0; k];
            for (at, label) in block.iter_mut().enumerate() {
                self.image(b * reduce::BLOCK + at, &means, &mut shared);
                *label = first_largest((0..k).map(|h| 2.0 * shared[h] - lengths[h]));
            }
        });
        nearest
    }
}

/// A number that cannot be negative: 0 if rounding made it so. NaN stays.
fn without_rounding(value: f64) -> f64 {
    if value < 0.0 { 0.0 } else { value }
}

/// The position of the largest value; of several, the first.
fn first_largest(values: impl Iterator<Item = f64>) -> u32 {
    let start = (f64::NEG_INFINITY, 0);
    values.zip(0..).fold(start, |best, now| if now.0 > best.0 { now } else { best }).1
}

/// Σ w_a x_a x_aᵀ over the rows x_a of X and their weights w_a, k × k.
fn weighted_gram(x: &[f64], weights: &[f64], k: usize) -> Vec<f64> {
    let block = |rows: std::ops::Range<usize>| {
        let mut sum = vec![0.0; k * k];
        for a in rows {
            let row = &x[a * k..(a + 1) * k];
            for (sums, value) in sum.chunks_exact_mut(k).zip(row) {
                let factor = weights[a] * value;
                sums.iter_mut().zip(row).for_each(|(s, v)| *s += factor * v);
            }
        }
        sum
    };
    let add = |mut one: Vec<f64>, other: Vec<f64>| {
        one.iter_mut().zip(other).for_each(|(a, b)| *a += b);
        one
    };
    reduce::reduce(weights.len(), block, add).unwrap_or_else(|| vec![0.0; k * k])
}

/// XY, for X of any number of rows and Y of k × k.
fn product(x: &[f64], y: &[f64], k: usize) -> Vec<f64> {
    let mut out = vec![0.0; x.len()];
    out.chunks_exact_mut(k).zip(x.chunks_exact(k)).for_each(|(to, row)| add_product(row, y, to));
    out
}

/// Adds the product of a row and Y to `out`.
fn add_product(row: &[f64], y: &[f64], out: &mut [f64]) {
    for (value, y) in row.iter().zip(y.chunks_exact(out.len())) {
        out.iter_mut().zip(y).for_each(|(o, y)| *o += value * y);
    }
}

/// Each value times √(above / below). A value whose factor is not a number, such as 0 / 0, stays.
fn rescale(values: &mut [f64], above: &[f64], below: &[f64]) {
    for (value, (above, below)) in values.iter_mut().zip(above.iter().zip(below)) {
        let factor = (above / below).sqrt();
        if factor.is_finite() {
            *value *= factor;
        }
    }
}

/// Q and S, with the products that the next sweep needs.
struct Factors {
    /// One row per group, groups × k.
    q: Vec<f64>,
    /// k × k.
    s: Vec<f64>,
    /// H_tᵀQ of all members, clusters × k.
    table: Vec<f64>,
    /// QᵀM̃Q.
    form: Vec<f64>,
    /// ‖M̃ − QSQᵀ‖².
    error: f64,
}

impl Factors {
    /// The factors with this Q; `s` makes S from QᵀM̃Q and QᵀQ.
    fn new(rows: &Rows, q: Vec<f64>, s: impl FnOnce(&[f64], &[f64]) -> Vec<f64>) -> Self {
        let k = rows.k;
        let table = rows.table(|sums, a, weight| {
            sums.iter_mut().zip(&q[a * k..]).for_each(|(sum, value)| *sum += weight * value);
        });
        let form = weighted_gram(&table, &rows.shares, k);
        let gram = weighted_gram(&q, &rows.sizes, k);
        let s = s(&form, &gram);
        // ‖M̃‖² − 2 tr(S QᵀM̃Q) + tr(S QᵀQ S QᵀQ); S and QᵀM̃Q are symmetric.
        let fit: f64 = s.iter().zip(&form).map(|(s, f)| s * f).sum();
        let sg = product(&s, &gram, k);
        let square: f64 = (0..k * k).map(|at| sg[at] * sg[(at % k) * k + at / k]).sum();
        let error = without_rounding(rows.square - 2.0 * fit + square);
        Factors { q, s, table, form, error }
    }

    /// The start at a partition of the groups.
    fn start(rows: &Rows, labels: &[u32], offset: f64) -> Self {
        let (k, sizes) = (rows.k, rows.sizes_of(labels));
        let n: f64 = rows.sizes.iter().sum();
        let length =
            |size: &f64| (size * (1.0 + offset).powi(2) + (n - size) * offset.powi(2)).sqrt();
        let lengths: Vec<f64> = sizes.iter().map(length).collect();
        let mut q = Vec::with_capacity(labels.len() * k);
        for &own in labels {
            let value = |h: usize| offset + f64::from(u8::from(own as usize == h));
            q.extend((0..k).map(|h| value(h) / lengths[h]));
        }
        let mut s = weighted_gram(&rows.counts(labels), &rows.shares, k);
        for at in 0..k * k {
            let root = (sizes[at / k] * sizes[at % k]).sqrt();
            // Sums over a cluster without objects are 0.
            if root > 0.0 {
                s[at] /= root;
            }
        }
        Factors::new(rows, q, |_, _| s)
    }

    /// The factors after a sweep.
    fn updated(&self, rows: &Rows) -> Self {
        let k = rows.k;
        // M̃QS row by row from H_tᵀQS; QQᵀM̃QS row by row from QᵀM̃QS.
        let table = product(&self.table, &self.s, k);
        let form = product(&self.form, &self.s, k);
        let mut q = self.q.clone();
        reduce::over(q.chunks_mut(k * reduce::BLOCK), |b, block| {
            let (mut above, mut below) = (vec![0.0; k], vec![0.0; k]);
            for (at, row) in block.chunks_exact_mut(k).enumerate() {
                rows.image(b * reduce::BLOCK + at, &table, &mut above);
                below.fill(0.0);
                add_product(row, &form, &mut below);
                rescale(row, &above, &below);
            }
        });
        Factors::new(rows, q, |form, gram| {
            let below = product(&product(gram, &self.s, k), gram, k);
            let mut s = self.s.clone();
            rescale(&mut s, form, &below);
            s
        })
    }

    /// The factors after a sweep, unless it would raise the error.
    fn improved(&self, rows: &Rows) -> Option<Self> {
        let next = self.updated(rows);
        (next.error <= self.error).then_some(next)
    }

    /// The cluster with the largest entry in each row of Q·diag(S)^½; of several, the first.
    fn labels(&self, k: usize) -> Vec<u32> {
        let roots: Vec<f64> = (0..k).map(|h| self.s[h * k + h].sqrt()).collect();
        let mut labels = vec![0; self.q.len() / k];
        reduce::fill(&mut labels, |a| {
            let row = &self.q[a * k..(a + 1) * k];
            first_largest(row.iter().zip(&roots).map(|(value, root)| value * root))
        });
        labels
    }
}

impl Nmf {
    /// The best partition of the groups in one start.
    fn run(&self, rows: &Rows, start: Vec<u32>, ctx: &Context) -> Result<Clustering> {
        let mut factors = Factors::start(rows, &start, self.offset);
        let mut labels = start.clone();
        let mut best = (rows.disagreement(&start), start);
        let mut history: Vec<IterStat> = Vec::new();
        let mut status = Status::Converged;
        for sweep in 1..=self.max_iterations {
            ctx.check()?;
            let Some(next) = factors.improved(rows) else { break };
            let found = next.labels(rows.k);
            let changed = (0..rows.sizes.len()).filter(|&a| found[a] != labels[a]);
            let moved: usize = changed.map(|a| rows.sizes[a] as usize).sum();
            if moved > 0 {
                let objective = rows.disagreement(&found);
                if objective < best.0 {
                    best = (objective, found.clone());
                }
            }
            labels = found;
            history.push(IterStat { objective: best.0, moved, violations: None });
            let stands = factors.error - next.error <= self.tolerance * factors.error;
            factors = next;
            if stands {
                break;
            }
            if sweep == self.max_iterations {
                status = Status::MaxIter;
            }
        }
        let mut extras = Extras::default();
        extras.diagnostics.insert("factorisation_error".into(), factors.error);
        let (objective, labels) = (Some(best.0), best.1);
        Ok(Clustering { labels, k: rows.k, objective, history, status, extras })
    }
}

#[plugin("nmf", cites = ["LiDingJordan2007", "DingLiPengPark2006", "ArthurVassilvitskii2007"])]
impl ConsensusFunction for Nmf {
    fn combine(&self, ensemble: &Ensemble, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let view = CanonicalEnsemble::new(ensemble, problem, &self.weights, "nmf", ctx)?;
        if let Some(trivial) = view.trivial() {
            return Ok(trivial);
        }
        let signatures = Signatures::new(&view.ensemble());
        let rows = Rows::new(&view, &signatures, ctx)?;
        let typical = Typical::new(&view, ctx)?.labels;
        let label = |a: usize| typical[signatures.objects(a)[0] as usize];
        let member: Vec<u32> = (0..rows.sizes.len()).map(label).collect();
        let run = |r: usize| {
            let ctx = ctx.index(r);
            let start = if r == 0 { member.clone() } else { rows.kmeans(&ctx)? };
            self.run(&rows, start, &ctx)
        };
        let mut best = if rows.sizes.len() > AT_ONCE {
            best_in_turn(self.restarts, run)?
        } else {
            best_of(self.restarts, run)?
        };
        let labels: Vec<u32> = (0..view.n).map(|i| best.labels[signatures.group_of(i)]).collect();
        (best.labels, best.k) = compact(&labels);
        Ok(best)
    }

    fn needs(&self) -> Needs {
        self.weights.needs(Needs { labels_only: true, fixed_k: true, ..Needs::default() })
    }

    fn memory(&self, shape: &Shape, members: usize) -> u64 {
        let (n, k, starts) = (shape.n, shape.k, self.restarts.min(64));
        // Labels in two copies, by group and by cluster; Q before and after a sweep; tables of the clusters.
        let labels = 16 * n * members + 32 * n;
        let rows = n.max(starts * n.min(AT_ONCE));
        let factors = 24 * rows * k + starts * (32 * members + 64) * k * k;
        Signatures::bytes(n, members, k) + (labels + factors) as u64
    }

    fn operations(&self, shape: &Shape, members: usize) -> f64 {
        let (n, k, tau) = (shape.n as f64, shape.k as f64, members as f64);
        let sweeps = self.restarts as f64 * self.max_iterations.min(200) as f64;
        // Often half the objects are labelled like another one.
        let sweep = n * k * (tau + k) + 2.0 * tau * k.powi(3);
        sweeps * sweep + n * tau * tau + self.weights.operations(shape, members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::e12::{E12_CLASSES, blank, e12};
    use mustlink_kernels::agreement::contingency::adjusted_rand;
    use ndarray::{Array2, Axis};
    use proptest::prelude::*;

    fn rows(ensemble: &Ensemble, k: usize) -> (Rows, Signatures) {
        let (ctx, problem) = (Context::new(1), blank(ensemble.n(), k));
        let weights = Weights::default();
        let view = CanonicalEnsemble::new(ensemble, &problem, &weights, "nmf", &ctx).unwrap();
        let signatures = Signatures::new(&view.ensemble());
        (Rows::new(&view, &signatures, &ctx).unwrap(), signatures)
    }

    fn ensemble(members: &[&[u32]]) -> Ensemble {
        let n = members[0].len();
        Ensemble::new(n, members.iter().map(|m| Member::from_labels(m)).collect()).unwrap()
    }

    fn run(nmf: &Nmf, ensemble: &Ensemble, k: usize) -> Clustering {
        nmf.combine(ensemble, &blank(ensemble.n(), k), &Context::new(1)).unwrap()
    }

    /// M̃ by its definition.
    fn connectivity(ensemble: &Ensemble) -> Array2<f64> {
        let sum = |counts: &dyn Fn(&Member) -> bool| -> f64 {
            ensemble.members().iter().filter(|&m| counts(m)).map(|m| m.weight).sum()
        };
        let seen = |i: usize| sum(&|m: &Member| m.labels[i] != NONE);
        Array2::from_shape_fn((ensemble.n(), ensemble.n()), |(i, j)| {
            let both = sum(&|m: &Member| m.labels[i] != NONE && m.labels[i] == m.labels[j]);
            if both > 0.0 { both / (seen(i) * seen(j)).sqrt() } else { 0.0 }
        })
    }

    fn indicator(labels: &[u32], k: usize) -> Array2<f64> {
        Array2::from_shape_fn((labels.len(), k), |(i, h)| {
            f64::from(u8::from(labels[i] as usize == h))
        })
    }

    /// ‖M − XSXᵀ‖².
    fn distance(m: &Array2<f64>, x: &Array2<f64>, s: &Array2<f64>) -> f64 {
        (m - &x.dot(s).dot(&x.t())).mapv(|v| v * v).sum()
    }

    /// Q and S after a sweep with all matrices written out.
    fn dense_sweep(m: &Array2<f64>, q: &Array2<f64>, s: &Array2<f64>) -> [Array2<f64>; 2] {
        let rescaled = |x: &Array2<f64>, above: &Array2<f64>, below: &Array2<f64>| {
            let factor = |ratio: f64| if ratio.sqrt().is_finite() { ratio.sqrt() } else { 1.0 };
            x * &(above / below).mapv(factor)
        };
        let above = m.dot(q).dot(s);
        let q = rescaled(q, &above, &q.dot(&q.t().dot(&above)));
        let gram = q.t().dot(&q);
        let s = rescaled(s, &q.t().dot(m).dot(&q), &gram.dot(s).dot(&gram));
        [q, s]
    }

    #[test]
    fn a_sweep_by_hand() {
        // {0, 1} and {0} {1}: M̃ = (1 ½; ½ 1) and ‖M̃‖² = 2.5. For Q = (.8, .6), M̃Q = (1.1, 1) and QᵀM̃Q = 1.48. With
        // S = 1.48 the error is 2.5 − 1.48² = .3096. Q becomes (.8·√(1.1/(.8·1.48)), .6·√(1/(.6·1.48))) =
        // (.771100, .636715), which has length 1; QᵀM̃Q = 1.490970. S becomes √(1.48·1.490970) = 1.485475, and the
        // error 2.5 − 2·1.485475·1.490970 + 1.485475² = .277038.
        let (rows, _) = rows(&ensemble(&[&[0, 0], &[0, 1]]), 1);
        assert_eq!(rows.square, 2.5);
        let start = Factors::new(&rows, vec![0.8, 0.6], |form, _| form.to_vec());
        assert!((start.s[0] - 1.48).abs() < 1e-12 && (start.error - 0.3096).abs() < 1e-12);
        let next = start.updated(&rows);
        assert!((next.q[0] - 0.771100).abs() < 1e-6 && (next.q[1] - 0.636715).abs() < 1e-6);
        assert!((next.form[0] - 1.490970).abs() < 1e-6, "{}", next.form[0]);
        assert!((next.s[0] - 1.485475).abs() < 1e-6, "{}", next.s[0]);
        assert!((next.error - 0.277038).abs() < 1e-6, "{}", next.error);
    }

    #[test]
    fn objective_by_hand() {
        // {0, 1} {2} and {0} {1, 2}: M̃ is ½ at (0, 1) and (1, 2). Joining 0 and 1 leaves ½² at four places.
        let (small, groups) = rows(&ensemble(&[&[0, 0, 1], &[0, 1, 1]]), 2);
        assert_eq!(groups.len(), 3);
        assert_eq!(small.disagreement(&[0, 0, 1]), 1.0);
        // Object 2 is missing in the second of three members: its similarity to object 3 is √⅔.
        let members: [&[u32]; 3] = [&[0, 0, 1, 1], &[0, 0, NONE, 1], &[0, 0, 1, 1]];
        let c = run(&Nmf::default(), &ensemble(&members), 2);
        assert_eq!(c.labels, [0, 0, 1, 1]);
        let by_hand = 2.0 * (1.0 - (2.0f64 / 3.0).sqrt()).powi(2);
        assert!((c.objective.unwrap() - by_hand).abs() < 1e-12, "{:?}", c.objective);
    }

    #[test]
    fn worked_example() {
        // No other partition in three clusters is as near to the members: 176 twenty-fifths.
        let (ensemble, _) = e12();
        for restarts in [1, 5] {
            let c = run(&Nmf { restarts, ..Nmf::default() }, &ensemble, 3);
            assert_eq!(c.labels, E12_CLASSES);
            assert!((c.objective.unwrap() - 7.04).abs() < 1e-9, "{:?}", c.objective);
        }
    }

    #[test]
    fn members_that_agree_are_returned_whatever_their_sizes() {
        for sizes in [[51, 7, 2], [5000, 30, 1], [1, 1, 1]] {
            let groups = sizes.iter().enumerate();
            let labels: Vec<u32> =
                groups.flat_map(|(h, &size)| vec![h as u32; size]).chain([2]).collect();
            for restarts in [1, 5] {
                let nmf = Nmf { restarts, ..Nmf::default() };
                let c = run(&nmf, &ensemble(&[&labels, &labels, &labels]), 3);
                assert_eq!(c.labels, labels, "{sizes:?}");
                assert!(c.objective.unwrap() < 1e-3, "{:?}", c.objective);
            }
        }
    }

    #[test]
    fn poor_members_are_better_together() {
        // Half the labels are drawn by chance.
        let classes: Vec<u32> = (0..180).map(|i| i % 3).collect();
        let mut s = SeedPath::new(2).stream("members");
        let mut member = || {
            let label = |&c: &u32| if s.unit() < 0.5 { s.below(3) as u32 } else { c };
            Member::from_labels(&classes.iter().map(label).collect::<Vec<u32>>())
        };
        let members: Vec<Member> = (0..12).map(|_| member()).collect();
        let each = members.iter().map(|m| adjusted_rand(&classes, &m.labels));
        assert!(each.fold(0.0, f64::max) < 0.5);
        let ensemble = Ensemble::new(180, members).unwrap();
        for restarts in [1, 5] {
            let c = run(&Nmf { restarts, ..Nmf::default() }, &ensemble, 3);
            let ari = adjusted_rand(&classes, &c.labels);
            assert!(ari > 0.7, "{ari} with {restarts}");
        }
    }

    #[test]
    fn more_clusters_than_rows_of_labels_leave_some_empty() {
        let c = run(&Nmf::default(), &ensemble(&[&[0, 0, 0, 1, 1, 1]]), 4);
        assert_eq!((c.labels, c.k), (vec![0, 0, 0, 1, 1, 1], 2));
        // Object 3 is in no member.
        let c = run(&Nmf::default(), &ensemble(&[&[0, 0, 1, NONE], &[0, 0, 1, NONE]]), 2);
        assert_eq!(c.labels[..3], [0, 0, 1]);
    }

    proptest! {
        #[test]
        fn labels_give_what_matrices_give_and_nothing_rises(
            seed: u64, n in 4usize..25, k in 2usize..4, missing in 0.0f64..0.4,
        ) {
            let mut stream = SeedPath::new(seed).stream("members");
            let members = (0..4).map(|t| {
                let labels: Vec<u32> = (0..n).map(|_| {
                    if stream.unit() < missing { NONE } else { stream.below(3) as u32 }
                }).collect();
                Member { weight: 1.0 + f64::from(t % 2), ..Member::from_labels(&labels) }
            }).collect();
            let ensemble = Ensemble::new(n, members).unwrap();
            let m = connectivity(&ensemble);
            let (rows, signatures) = rows(&ensemble, k);
            let square = m.mapv(|v| v * v).sum();
            prop_assert!((rows.square - square).abs() <= 1e-9 * square);
            // The start.
            let start: Vec<u32> =
                (0..rows.sizes.len()).map(|_| stream.below(k) as u32).collect();
            let labels: Vec<u32> = (0..n).map(|i| start[signatures.group_of(i)]).collect();
            let h = indicator(&labels, k);
            let unit = |x: &Array2<f64>| {
                x / &(x * x).sum_axis(Axis(0)).mapv(|square| square.sqrt().max(1e-300))
            };
            let mut q = unit(&h.mapv(|v| v + 0.2));
            let mut s = unit(&h).t().dot(&m).dot(&unit(&h));
            let objective = distance(&m, &h, &Array2::eye(k));
            prop_assert!((rows.disagreement(&start) - objective).abs() <= 1e-9 * square);
            // Ten sweeps.
            let mut factors = Factors::start(&rows, &start, 0.2);
            for _ in 0..10 {
                prop_assert!((factors.error - distance(&m, &q, &s)).abs() <= 1e-8 * square);
                let value = |(i, h): (usize, usize)| factors.q[signatures.group_of(i) * k + h];
                let fast = Array2::from_shape_fn((n, k), value);
                prop_assert!((fast - &q).iter().all(|difference| difference.abs() <= 1e-8));
                let Some(next) = factors.improved(&rows) else { break };
                prop_assert!(next.error <= factors.error);
                factors = next;
                [q, s] = dense_sweep(&m, &q, &s);
            }
            // The result.
            let nmf = Nmf { restarts: 2, max_iterations: 20, ..Nmf::default() };
            let c = run(&nmf, &ensemble, k);
            prop_assert!(c.history.windows(2).all(|w| w[1].objective <= w[0].objective));
            let objective = distance(&m, &indicator(&c.labels, c.k), &Array2::eye(c.k));
            prop_assert!((objective - c.objective.unwrap()).abs() <= 1e-9 * square);
        }
    }
}
