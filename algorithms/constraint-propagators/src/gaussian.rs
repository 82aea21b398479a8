//! Gaussian propagation: pairs so close to a constrained pair that they get its constraint.

mod cluster_metrics;

use std::sync::atomic::{AtomicU64, Ordering};

use mustlink_core::closure::{EntailedWeight, MAX_CLOSURE_PAIRS};
use mustlink_core::constraints::{Duplicates, Origin};
use mustlink_core::prelude::*;
use mustlink_core::run::within_memory;
use mustlink_kernels::distance::kd_tree::KdTree;
use rayon::prelude::*;

use cluster_metrics::ClusterMetrics;

pub use cluster_metrics::{MetricSource, ScaleRule};

/// Treatment of several constraints on one pair.
#[options]
pub enum Mode {
    /// All are kept; their weights add up.
    #[default]
    Full,
    /// The one of largest weight is kept, for must-links and cannot-links separately.
    Reduced,
}

/// Pairs near a source that are skipped.
#[options]
pub enum EndpointRule {
    /// The source itself, which is included with its own weight.
    #[default]
    SourcePairOnly,
    /// As in the published procedure: with i < j and A < B, pairs with i = A or j = B.
    Printed,
    /// The same with A and B in the order in which a pair was drawn, which half of the time is B < A: the source then
    /// propagates onto itself. Because constraints do not store an order, a hash of the pair replaces it.
    PrintedAsDrawn,
}

/// Method of finding the pairs. The results are bitwise identical.
#[options]
pub enum Search {
    /// A tree finds objects near each end, then only pairs that pass are listed: time grows with the result.
    #[default]
    OutputSensitive,
    /// Every pair for every source, as published: Θ(constraints · n² · d).
    Published,
}

/// Gaussian propagation: a constraint spreads to pairs near its ends, more weakly the farther they are.
///
/// # Method
/// A constraint of weight w between A and B gives the pair {i, j} the weight w · max(G_A(i)·G_B(j), G_A(j)·G_B(i)) if
/// that maximum is at least `g`. G_A is a Gaussian of peak 1 around A with covariance s·n·M⁻¹. M is the metric of A's
/// cluster, n the size of the cluster, and s how central A lies in it. Must-links give must-links, cannot-links give
/// cannot-links; a pair may get both.
/// # Input and output
/// n × d, dense or sparse, and a clustering of it. The result has the given constraints unchanged, then the pairs of
/// each in turn, ordered by index. Weights of one pair are added (`full`), or the largest is kept.
/// # Errors
/// `BadParam`; `NumericalFailure` for a metric that is not positive definite; `TooManyPropagated` above `max_pairs`;
/// `Memory` if the pairs do not fit.
/// # Cost and randomness
/// O(ends · query + Σ objects near each end + pairs) with a k-d tree up to 15 features, otherwise O(ends · n · d) for
/// the queries; as published Θ(constraints · n² · d). Not random.
/// # References
/// [Eaton2005] ch. 3, App. A, B. Differs: a pair that shares one end with its source is kept (`endpoint_rule`); of
/// two equal constraints, the reduction keeps one.
#[options]
pub struct Gaussian {
    /// Smallest Gaussian factor that is propagated.
    #[option(default = 0.5, above = 0.0, max = 1.0)]
    pub g: f64,
    /// Treatment of several constraints on one pair.
    pub mode: Mode,
    /// Source of the metrics of the clusters.
    pub metric_source: MetricSource,
    /// Formula for the width of the Gaussians of a cluster, from its size.
    pub scale_rule: ScaleRule,
    /// Narrow the Gaussians of ends away from the centre of their cluster.
    #[option(default = true)]
    pub centrality: bool,
    /// Pairs near a source that are skipped.
    pub endpoint_rule: EndpointRule,
    /// Also propagate the pairs that the constraints entail.
    pub propagate_closure: bool,
    /// Maximum number of pairs to make.
    #[option(default = 50_000_000, min = 1)]
    pub max_pairs: u64,
    /// Method of finding the pairs; it changes no result.
    #[option(inert = "both ways to search find the same neighbours")]
    pub search: Search,
}

/// With more features a tree rules out too little.
const TREE_FEATURES: usize = 15;
/// Below this, looking at all objects is as quick.
const TREE_OBJECTS: usize = 2000;
/// Bytes of a pair, as it is made and as a constraint.
const PAIR: u64 = 96;

#[plugin("gaussian", cites = ["Eaton2005"])]
impl ConstraintPropagator for Gaussian {
    fn propagate(
        &self,
        constraints: &Constraints,
        clustering: Option<&Clustering>,
        problem: &Problem,
        ctx: &Context,
    ) -> Result<Propagated> {
        let n = problem.n();
        let clustering = clustering
            .filter(|c| c.labels.len() == n)
            .ok_or_else(|| Error::bad_param("clustering", "none", "one of the same objects"))?;
        let sources = self.sources(constraints, n)?;
        let made = self.spread(&sources, clustering, problem, ctx)?;
        let new = made.iter().zip(&sources).flat_map(|(pairs, source)| {
            pairs.iter().map(|&(i, j, e)| {
                Constraint::new(i as usize, j as usize, source.kind)
                    .weighing(source.weight * (-e).exp())
                    .from(Origin::Propagated)
            })
        });
        let duplicates = match self.mode {
            Mode::Full => Duplicates::Sum,
            Mode::Reduced => Duplicates::Max,
        };
        let total = sources.len() + made.iter().map(Vec::len).sum::<usize>();
        within_memory(PAIR.saturating_mul(total as u64), &problem.data, ctx)?;
        // The canonical form reserves what it is told to expect.
        let all = Expected { items: sources.iter().copied().chain(new), total };
        let all = Constraints::with_duplicates(n, all, duplicates)?;
        Ok(Propagated::Constraints(all.with_neighbourhoods(constraints.neighbourhoods().to_vec())))
    }

    fn properties(&self) -> PropagatorProperties {
        PropagatorProperties { needs_clustering: true, ..PropagatorProperties::default() }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let (n, d) = (shape.n as u64, shape.d as u64);
        let pairs = (shape.constraints as u64).saturating_mul(n).min(self.max_pairs);
        16 * n * d + 64 * n + PAIR * pairs
    }
}

/// An iterator that knows how long it is.
struct Expected<I> {
    items: I,
    total: usize,
}

impl<I: Iterator> Iterator for Expected<I> {
    type Item = I::Item;
    fn next(&mut self) -> Option<I::Item> {
        self.items.next()
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.total, None)
    }
}

/// A pair made from a source, i < j, with its exponent.
type Made = (u32, u32, f64);

/// For every object its exponent at each end of a source; infinite where out of reach.
struct Scratch {
    a: Vec<f64>,
    b: Vec<f64>,
}

impl Gaussian {
    /// Constraints to propagate: the given pairs, and the entailed ones with `propagate_closure`.
    fn sources(&self, given: &Constraints, n: usize) -> Result<Vec<Constraint>> {
        let mut sources = given.pairs().to_vec();
        if self.propagate_closure {
            let closure = Closure::new(given, n, OnConflict::Keep)?;
            let known: std::collections::HashSet<(u32, u32, Kind)> =
                sources.iter().map(|c| (c.i, c.j, c.kind)).collect();
            let all = closure.pairs(EntailedWeight::Bottleneck, MAX_CLOSURE_PAIRS)?;
            sources.extend(all.into_iter().filter(|c| !known.contains(&(c.i, c.j, c.kind))));
        }
        Ok(sources)
    }

    /// The pairs of each source, each pair once, in order.
    fn spread(
        &self,
        sources: &[Constraint],
        clustering: &Clustering,
        problem: &Problem,
        ctx: &Context,
    ) -> Result<Vec<Vec<Made>>> {
        ctx.check()?;
        if sources.is_empty() {
            return Ok(Vec::new());
        }
        // The test is on exponents: e <= τ, never on rounded exponentials.
        let tau = -self.g.ln();
        let metrics =
            ClusterMetrics::new(&problem.data, clustering, self.metric_source, self.scale_rule)?;
        match self.search {
            Search::Published => self.published(sources, &metrics, tau, problem.n(), ctx),
            Search::OutputSensitive => self.near(sources, &metrics, tau, problem, ctx),
        }
    }

    /// True if the pair (i < j) is passed over by the source (A < B).
    fn skips(&self, source: &Constraint, i: u32, j: u32) -> bool {
        match self.endpoint_rule {
            EndpointRule::SourcePairOnly => (i, j) == (source.i, source.j),
            EndpointRule::PrintedAsDrawn if drawn_backwards(source) => {
                i == source.j || j == source.i
            }
            EndpointRule::Printed | EndpointRule::PrintedAsDrawn => i == source.i || j == source.j,
        }
    }

    fn near(
        &self,
        sources: &[Constraint],
        metrics: &ClusterMetrics,
        tau: f64,
        problem: &Problem,
        ctx: &Context,
    ) -> Result<Vec<Vec<Made>>> {
        let (n, d) = (problem.n(), problem.d());
        let tree =
            (problem.data.kind() == DataKind::Dense && d <= TREE_FEATURES && n >= TREE_OBJECTS)
                .then(|| KdTree::new(problem.data.matrix().view()));
        let mut ends: Vec<u32> = sources.iter().flat_map(|c| [c.i, c.j]).collect();
        ends.sort_unstable();
        ends.dedup();
        // How many pairs there are depends on the data: what they take is known as they are found.
        let listed = AtomicU64::new(0);
        let within = |&end: &u32| {
            ctx.check()?;
            let reach = metrics.reach(end as usize, self.centrality)?;
            let near = reach.within(tau, metrics, tree.as_ref());
            let bytes = (near.capacity() * size_of::<(f64, u32)>()) as u64;
            let held = bytes + listed.fetch_add(bytes, Ordering::Relaxed);
            within_memory(held, &problem.data, ctx)?;
            Ok(near)
        };
        let near = reduce::try_map(ends.len(), |at| within(&ends[at]))?;
        let of = |end: u32| &near[ends.binary_search(&end).expect("every end is listed")][..];
        let least: u64 =
            reduce::map(sources.len(), |at| at_least(of(sources[at].i), of(sources[at].j), tau))
                .iter()
                .sum();
        if least > self.max_pairs {
            return Err(Error::TooManyPropagated { pairs: least, limit: self.max_pairs });
        }
        within_memory(PAIR.saturating_mul(least), &problem.data, ctx)?;
        let fresh = || Scratch { a: vec![f64::INFINITY; n], b: vec![f64::INFINITY; n] };
        let made: Vec<Vec<Made>> = sources
            .par_iter()
            .map_init(fresh, |scratch, source| {
                ctx.check()?;
                let (a, b) = (of(source.i), of(source.j));
                a.iter().for_each(|&(q, i)| scratch.a[i as usize] = q);
                b.iter().for_each(|&(q, i)| scratch.b[i as usize] = q);
                let mut pairs = Vec::new();
                visit(a, b, tau, |(u, i), b| {
                    for &(v, j) in b {
                        let e = u + v;
                        // The same pair the other way round: the smaller exponent is kept, once.
                        let other = scratch.a[j as usize] + scratch.b[i as usize];
                        let worse = other <= tau && (other < e || (other == e && j < i));
                        let (low, high) = (i.min(j), i.max(j));
                        if i != j && !worse && !self.skips(source, low, high) {
                            pairs.push((low, high, e));
                        }
                    }
                });
                a.iter().for_each(|&(_, i)| scratch.a[i as usize] = f64::INFINITY);
                b.iter().for_each(|&(_, i)| scratch.b[i as usize] = f64::INFINITY);
                pairs.sort_unstable_by_key(|&(i, j, _)| (i, j));
                Ok(pairs)
            })
            .collect::<Result<_>>()?;
        self.counted(made)
    }

    fn published(
        &self,
        sources: &[Constraint],
        metrics: &ClusterMetrics,
        tau: f64,
        n: usize,
        ctx: &Context,
    ) -> Result<Vec<Vec<Made>>> {
        let made = sources.iter().map(|source| {
            let a = metrics.reach(source.i as usize, self.centrality)?;
            let b = metrics.reach(source.j as usize, self.centrality)?;
            let rows = (0..n).into_par_iter().map(|i| {
                ctx.check()?;
                let (mut scratch_i, mut scratch_j) = (Vec::new(), Vec::new());
                let x = metrics.row(i, &mut scratch_i);
                let mut pairs = Vec::new();
                for j in i + 1..n {
                    let y = metrics.row(j, &mut scratch_j);
                    let e = (a.exponent(x) + b.exponent(y)).min(a.exponent(y) + b.exponent(x));
                    if e <= tau && !self.skips(source, i as u32, j as u32) {
                        pairs.push((i as u32, j as u32, e));
                    }
                }
                Ok(pairs)
            });
            let rows: Vec<Vec<Made>> = rows.collect::<Result<_>>()?;
            Ok(rows.concat())
        });
        self.counted(made.collect::<Result<_>>()?)
    }

    fn counted(&self, made: Vec<Vec<Made>>) -> Result<Vec<Vec<Made>>> {
        let pairs = made.iter().map(|m| m.len() as u64).sum();
        if pairs > self.max_pairs {
            Err(Error::TooManyPropagated { pairs, limit: self.max_pairs })
        } else {
            Ok(made)
        }
    }
}

/// True if a pair counts as drawn with its larger object first: the same for a pair wherever it comes
/// up, and as often as not.
fn drawn_backwards(source: &Constraint) -> bool {
    let both = u64::from(source.i) << 32 | u64::from(source.j);
    // The finaliser of SplitMix64.
    let x = (both ^ (both >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (x ^ (x >> 31)) & 1 == 1
}

/// Hands on each object near the first end with the objects near the second that pass with it: a
/// prefix of the ascending list, which shrinks as the first exponent grows.
fn visit<'a>(
    a: &[(f64, u32)],
    b: &'a [(f64, u32)],
    tau: f64,
    mut with: impl FnMut((f64, u32), &'a [(f64, u32)]),
) {
    let mut p = b.len();
    for &(u, i) in a {
        while p > 0 && u + b[p - 1].0 > tau {
            p -= 1;
        }
        if p == 0 {
            return;
        }
        with((u, i), &b[..p]);
    }
}

/// Lower bound of the number of pairs that a source makes: half of those visited, without (i, i) and itself.
fn at_least(a: &[(f64, u32)], b: &[(f64, u32)], tau: f64) -> u64 {
    let mut visited = 0u64;
    visit(a, b, tau, |_, b| visited += b.len() as u64);
    // Under the printed rule the pairs at an end go too: at most those of the lists.
    visited.saturating_sub(3 * (a.len() + b.len()) as u64) / 2
}
