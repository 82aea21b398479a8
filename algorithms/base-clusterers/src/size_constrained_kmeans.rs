//! K-means whose clusters have a smallest and a largest size, under must-links and cannot-links.

mod assignment;
mod limits;
mod moves;
mod search;
#[cfg(test)]
mod tests;
mod units;

use mustlink_core::prelude::*;
use mustlink_core::soft_marks::obeying;
use mustlink_kernels::constrained::penalised_kmeans::distances;
use mustlink_kernels::distance::points::{Distortion, DistortionOption, Points};
use mustlink_kernels::kmeans::lloyd::{Stop, clustering, total_distortion};
use mustlink_kernels::kmeans::means::means;
use ndarray::Array2;

use crate::parts::starts::Starts;
use limits::Limits;
use units::Units;

/// K-means whose clusters have a size between `min_size` and `max_size`, and obey constraints.
///
/// # Method
/// Lloyd's two steps. The first step assigns all objects together, so that sizes and constraints hold. Objects need not
/// be with their nearest centre. Without constraints and weights, a minimum-cost flow finds the assignment with the
/// smallest objective. Otherwise, objects that must-links join are assigned together, and objects that no constraint
/// mentions take the places that these leave, again by a flow. Moves and exchanges lower the objective. With up to 30
/// groups of joined objects and other objects, a search then looks for the best assignment (5 000 nodes). If no start
/// finds sizes and constraints that hold, a complete search for them decides.
/// # Input and output
/// n × d, dense or sparse, objects of any weight, constraints (whose weights are not used). The size of a cluster is
/// the number of its objects, or the sum of their weights (capacity). Such a sum may miss a limit by a rounding error
/// of 1e-9. One label per object in `0..k`, k centres; no limit, must-link or cannot-link is ever broken. The objective
/// is the total distortion, in which each object counts by its weight, and never rises.
/// # Errors
/// `MissingK`, `BadK`, `TooManyClusters`; `BadParam` for sizes that k clusters cannot have;
/// `InconsistentConstraints` with the chain of must-links; `InfeasibleConstraints` when k clusters provably cannot hold
/// sizes and constraints, with the limit or with objects that show it; `UndecidedConstraints` when the search ends at
/// `node_limit`.
/// # Cost and randomness
/// O(n·k·d) per sweep, and O(k²) for every object that is moved from its nearest centre; O(n·k + k²) memory. With
/// constraints or weights also the moves, O(k) for each unit and cluster that are tried; random only in the first
/// centres.
/// # References
/// [Bradley2000], extended by largest sizes, weights and constraints. [MulveyBeck1984]: the order in which objects take
/// places in clusters of limited capacity, and exchanges. Differs from [Babaki2014], which proves the smallest
/// objective of all clusterings: here a search decides about sizes and constraints, and the result is the best of
/// several starts.
#[options]
pub struct SizeConstrainedKMeans {
    /// Number of clusters, at most n. If absent, the k of the problem.
    #[option(min = 1)]
    pub k: Option<usize>,
    /// Smallest number of objects in a cluster, or sum of their weights; at most n / k. If absent, each cluster has at
    /// least one object, unless must-links leave too few groups.
    #[option(min = 0.0)]
    pub min_size: Option<f64>,
    /// Largest number of objects in a cluster, or sum of their weights; at least n / k. If absent, no limit.
    #[option(above = 0.0)]
    pub max_size: Option<f64>,
    /// Distance from an object to a centre. "auto": cosine for sparse rows, otherwise squared Euclidean.
    pub distortion: AutoOr<Distortion>,
    /// Maximum number of nodes of the complete search. If it is reached and no assignment is known, the run ends with
    /// an error, because it is undecided whether sizes and constraints can hold.
    #[option(default = 1_000_000, min = 1, inert = "a limit that small problems do not reach")]
    pub node_limit: u64,
    /// Options shared by methods that take Lloyd's steps.
    #[option(flatten)]
    pub starts: Starts,
}

/// Name of the plugin.
const TAG: &str = "size_constrained_kmeans";

#[plugin(
    "size_constrained_kmeans",
    aliases = ["k_means_constrained"],
    cites = ["Bradley2000", "MulveyBeck1984", "Babaki2014"],
    version = 2
)]
impl BaseClusterer for SizeConstrainedKMeans {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        obeying(TAG, problem, ctx, |problem| self.obey(problem, ctx))
    }

    fn properties(&self) -> Properties {
        Properties {
            accepts: vec![DataKind::Dense, DataKind::Csr],
            needs_k: self.k.is_none(),
            reads_constraints: true,
            hard_must: true,
            hard_cannot: true,
            object_weights: true,
            gives_centers: true,
            ..Properties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let Shape { n, d, constraints, .. } = *shape;
        let k = self.k.unwrap_or(shape.k).min(n);
        let copy = self.distortion.copy_bytes(shape);
        let at_once = self.starts.restarts.min(reduce::WAVE).min(rayon::current_num_threads());
        // Costs, and moves of which those that were made may stand twice; with constraints the costs of units, too.
        let of_pairs = if constraints > 0 { 64 } else { 40 };
        let start = of_pairs * n * k + 80 * n + 24 * k * d + 24 * k * k;
        (copy + 60 * n + 140 * constraints).saturating_add(at_once.saturating_mul(start)) as u64
    }

    fn operations(&self, shape: &Shape) -> Option<f64> {
        Some(20.0 * self.starts.restarts as f64 * shape.sweep(self.k.unwrap_or(shape.k)))
    }
}

impl SizeConstrainedKMeans {
    /// The outcome under constraints that are all obeyed.
    fn obey(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let k = problem.require_k(self.k, TAG)?;
        let closure = problem.closure(OnConflict::Error)?;
        let Problem { data, .. } = problem;
        let limits = Limits::new(self.min_size, self.max_size, closure.components(), k, data)?;
        let units = Units::new(&closure, limits, k, data.weights().is_some());
        let any = units.any(self.node_limit, ctx)?;
        let points = Points::new(data, self.distortion)?;
        let violations = (!problem.constraints.is_empty()).then_some(0);
        self.starts.best(&points, k, problem, ctx, |centres, ctx| {
            let run = Run { points: &points, units: &units, any: any.as_deref(), violations };
            run.sweeps(centres, self.starts.stop(), ctx)
        })
    }
}

/// One start.
struct Run<'a> {
    points: &'a Points,
    units: &'a Units<'a>,
    /// Labels of units that keep sizes and constraints, unless a flow finds them.
    any: Option<&'a [u32]>,
    violations: Option<usize>,
}

impl Run<'_> {
    fn sweeps(&self, mut centres: Array2<f64>, stop: Stop, ctx: &Context) -> Result<Clustering> {
        let Run { points, units, .. } = self;
        let all: Vec<u32> = (0..points.n() as u32).collect();
        let mut labels = vec![NONE; points.n()];
        let mut known: Option<Vec<u32>> = None;
        let mut history: Vec<IterStat> = Vec::new();
        let mut status = Status::MaxIter;
        for _ in 0..stop.max_iterations {
            ctx.check()?;
            let costs = units.costs(distances(points, &centres, &all, 1.0));
            let of_units = units.assign(&costs, known.as_deref(), self.any, ctx)?;
            let next = units.objects(&of_units);
            known = Some(of_units);
            let moved = next.iter().zip(&labels).filter(|(a, b)| a != b).count();
            labels = next;
            centres = means(points, &labels, centres).0;
            let objective = total_distortion(points, &labels, &centres);
            let before = history.last().map(|s| s.objective);
            history.push(IterStat { objective, moved, violations: self.violations });
            if moved == 0 || before.is_some_and(|b| stop.is_over(b, objective)) {
                status = Status::Converged;
                break;
            }
        }
        Ok(clustering(labels, centres, history, status, points.distortion()))
    }
}
