//! The task of an engine, its result, and the trait of engines.

use mustlink_core::{Context, Error, Result};

use crate::graph::{Apart, CutGraph};

/// A graph to be cut.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    /// The graph.
    pub graph: &'a CutGraph,
    /// Number of parts, 1 ..= vertices.
    pub k: usize,
    /// No part is heavier than 1 + this times its share (balanced engines).
    pub imbalance: f64,
    /// Starts, the best of which is kept. Absent: 10, fewer on large graphs.
    pub trials: Option<usize>,
    /// Vertices that may not share a part, where any are given.
    pub apart: Option<&'a Apart>,
    /// The pairs that take precedence if not all can be kept.
    pub firm: Option<&'a Apart>,
    /// Known shares and parts; absent: all parts weigh the same.
    pub guide: Option<Guide<'a>>,
}

/// Shares and parts of a known partition, for balanced engines.
#[derive(Debug, Clone, Copy)]
pub struct Guide<'a> {
    /// The share of the total weight for each part; the shares sum to 1.
    pub shares: &'a [f64],
    /// A part of every vertex. They are improved, and kept if no other start leads to a lower cut.
    pub parts: &'a [u32],
    /// True if these parts are the result, so that no others are searched for.
    pub settled: bool,
    /// The objects of a bipartite graph go where most of the weight of their edges leads in the end, whatever the
    /// parts weigh then.
    pub follow: bool,
}

impl<'a> Task<'a> {
    /// `graph` in `k` parts, with the defaults of the options.
    pub fn new(graph: &'a CutGraph, k: usize) -> Self {
        Task { graph, k, imbalance: 0.03, trials: None, apart: None, firm: None, guide: None }
    }

    /// Starts: those asked for, or as many as look at 5 million ends of edges in all, from
    /// 1 to 10.
    pub fn starts(&self) -> usize {
        self.cut().starts(self.graph.directions())
    }

    /// The request apart from the graph.
    pub(crate) fn cut(&self) -> Cut<'a> {
        let Task { k, imbalance, trials, guide, .. } = *self;
        Cut { k, imbalance, trials, guide }
    }

    /// The bounds on the weights of parts.
    pub(crate) fn bounds(&self) -> Bounds {
        Bounds::new(self.graph.sizes(), &self.cut())
    }

    /// Weight above the bounds, and of the edges cut: the less the better.
    pub(crate) fn value(&self, parts: &[u32]) -> (u64, u64) {
        let excess = self.bounds().excess(&self.graph.part_sizes(parts, self.k));
        (excess, self.graph.cut(parts))
    }

    /// Checks that the options are legal for the graph.
    pub(crate) fn check(&self) -> Result<()> {
        self.cut().check(self.graph.len())
    }
}

/// Into what a graph is to be cut.
#[derive(Debug, Clone, Copy)]
pub struct Cut<'a> {
    /// Number of parts.
    pub k: usize,
    /// No part is heavier than 1 + this times its share.
    pub imbalance: f64,
    /// Starts of the engine; absent: as many as are affordable.
    pub trials: Option<usize>,
    /// The known shares and parts.
    pub guide: Option<Guide<'a>>,
}

impl Cut<'_> {
    /// The share of all weight that each part has.
    pub(crate) fn shares(&self) -> Vec<f64> {
        self.guide.map_or_else(|| vec![1.0 / self.k as f64; self.k], |g| g.shares.to_vec())
    }

    /// Starts: those asked for, or as many as look at 5 million of so many ends of edges in all.
    pub(crate) fn starts(&self, directions: usize) -> usize {
        let affordable = 5_000_000 / directions.max(1);
        self.trials.unwrap_or_else(|| affordable.clamp(1, 10))
    }

    /// Checks that the options are legal for `n` vertices.
    pub(crate) fn check(&self, n: usize) -> Result<()> {
        if self.k == 0 {
            return Err(Error::BadK);
        }
        if self.k > n {
            return Err(Error::TooManyClusters { k: self.k, n });
        }
        if !(0.0..=(self.k - 1).max(1) as f64).contains(&self.imbalance) {
            let legal = format!("between 0 and {} (k - 1)", self.k - 1);
            return Err(Error::bad_param("imbalance", self.imbalance, legal));
        }
        if self.trials == Some(0) {
            return Err(Error::bad_param("trials", 0, "at least 1"));
        }
        Ok(())
    }
}

/// A graph cut into parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// Part of each vertex, in `0..k`; parts may be empty.
    pub parts: Vec<u32>,
    /// Weight of the edges between parts.
    pub cut: u64,
    /// Weight of the heaviest part.
    pub heaviest: u64,
    /// The largest weight of a part (balanced engines).
    pub bound: u64,
    /// Pairs of `apart` that share a part all the same.
    pub together: usize,
}

/// Cuts graphs.
pub trait Partitioner: Sync {
    /// Part of each vertex, in `0..k`.
    ///
    /// # Errors
    /// `NumericalFailure` where the arithmetic has no answer; cancellation.
    fn parts(&self, task: &Task, ctx: &Context) -> Result<Vec<u32>>;
}

/// The least whole number that is not less, up to rounding.
pub(crate) fn whole(weight: f64) -> f64 {
    (weight * (1.0 - 1e-12)).ceil()
}

/// The maximum weight of each part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bounds(pub Vec<u64>);

impl Bounds {
    /// (1 + ε)·⌈W/k⌉, or its own share of W in place of 1/k; the heaviest vertex if that is more.
    pub fn new(sizes: &[u32], cut: &Cut) -> Self {
        let total: u64 = sizes.iter().map(|&s| u64::from(s)).sum();
        let heaviest = u64::from(sizes.iter().copied().max().unwrap_or(0));
        // Decimal shares such as 0.03 · 100 are meant exactly.
        let bound =
            |share: f64| ((share * (1.0 + cut.imbalance) + 1e-9).floor() as u64).max(heaviest);
        Bounds(match cut.guide {
            None => vec![bound(total.div_ceil(cut.k as u64) as f64); cut.k],
            Some(guide) => guide.shares.iter().map(|s| bound(whole(s * total as f64))).collect(),
        })
    }

    /// No bound.
    pub fn none(k: usize) -> Self {
        Bounds(vec![u64::MAX / 4; k])
    }

    /// The largest.
    pub fn largest(&self) -> u64 {
        self.0.iter().copied().max().unwrap_or(0)
    }

    /// The weight above the bounds.
    pub fn excess(&self, sizes: &[u64]) -> u64 {
        self.0.iter().zip(sizes).map(|(b, s)| s.saturating_sub(*b)).sum()
    }
}
