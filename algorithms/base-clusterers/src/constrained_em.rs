//! Gaussian mixtures under must-links and cannot-links.

mod all_apart;
mod belief_propagation;
mod cannot_link_mrf;
mod node_sets;
#[cfg(test)]
mod tests;
mod two_labels;

use std::collections::BTreeMap;
use std::sync::Arc;

use mustlink_core::clustering::compact;
use mustlink_core::error::Infeasible;
use mustlink_core::prelude::*;
use mustlink_core::soft_marks::obeying;
use mustlink_kernels::kmeans::lloyd::{Stop, ToleranceKind};
use ndarray::{Array1, Array2};

use crate::parts::gaussians::{Gaussians, mean_variance};
use belief_propagation::NoLabels;
use cannot_link_mrf::{CannotLinkMrf, MAX_ENTRIES};

pub use crate::parts::gaussians::Covariance;

/// Assumption about the origin of must-linked objects.
#[options]
pub enum Assumption {
    /// A component is drawn once for a chunklet, then its objects.
    #[default]
    ChunkletIid,
    /// Objects are drawn one by one, and share their component by chance.
    PointIid,
}

/// Estimate of mixing weights under cannot-links.
#[options]
pub enum Mixing {
    /// Mean memberships, which maximise the likelihood of the objects together with the cannot-links.
    #[default]
    IgnorePartition,
    /// Gradient steps on the likelihood of the objects given the cannot-links.
    Gradient,
}

/// Expectation maximisation for Gaussian mixtures under hard constraints.
///
/// # Method
/// Chunklets are the must-link components and all other single objects. They take one label each; those joined by a
/// cannot-link take different ones. The E step computes the exact probabilities of these labels for each component of
/// the cannot-link graph. It uses elimination. If that is more expensive, or exceeds `max_width`, it uses sums over the
/// sets of labels that chunklets all apart from one another take (as in groups), or over the sets of chunklets that may
/// share a label. With two clusters a component has only two labellings. With more, it may be too entangled for all of
/// these; it then uses belief propagation. The M step is that of a Gaussian mixture.
/// # Input and output
/// n × d dense. One label per object: the likeliest of a chunklet, jointly under cannot-links; memberships, means,
/// and inverse covariances. Every constraint holds. The objective is the negative log-likelihood divided by n; with
/// cannot-links and `mixing = "ignore_partition"` it is the likelihood of the objects together with the event that
/// the cannot-links hold. It never rises unless something was approximated (`approximate_chunklets` in the
/// diagnostics counts this). Weights of constraints are not used.
/// # Errors
/// `MissingK`, `BadK`, `TooManyClusters`; `InconsistentConstraints`, `InfeasibleConstraints`; `BadParam` for a start
/// that makes more clusters; `UndecidedConstraints` if a search reaches its limit; `NumericalFailure` if every start
/// ended in a singular covariance with `reg_covar = 0`, or density 0 everywhere.
/// # Cost and randomness
/// O(n·k·d² + k·d³) per iteration, and the tables: at most k^(max_width + 1) entries for a chunklet with cannot-links,
/// 4 million for a component; k·2^k for a group, a million for sums over sets. Belief propagation takes up to 200
/// sweeps an iteration, each O(k) for every two cannot-links of a chunklet. `mixing = "gradient"` repeats these sums
/// for cannot-links up to 400 times. Random only in the start.
/// # References
/// [Shental2003]. Differs: a floor under the variances instead of a ridge, so that the likelihood cannot fall.
#[options]
pub struct ConstrainedEm {
    /// Number of clusters, at most n. If absent, the k of the problem.
    #[option(min = 1)]
    pub k: Option<usize>,
    /// Form of the covariances of the components.
    #[option(default = Covariance::Full)]
    pub covariance: Covariance,
    /// Smallest variance of a component in any direction, relative to the mean variance of the features.
    #[option(default = 1e-6, min = 0.0)]
    pub reg_covar: f64,
    /// Assumption about the origin of must-linked objects.
    pub assumption: Assumption,
    /// Estimate of mixing weights under cannot-links.
    pub mixing: Mixing,
    /// Largest number of other chunklets that elimination handles together with a chunklet that has cannot-links.
    #[option(default = 6, min = 0)]
    pub max_width: usize,
    /// Clusterer that gives the first labels.
    #[option(slot = "kmeans")]
    pub start: Option<Box<dyn BaseClusterer>>,
    /// Number of starts; the best result is kept.
    #[option(default = 5, min = 1)]
    pub restarts: usize,
    /// Maximum number of iterations in one start.
    #[option(default = 200, min = 1)]
    pub max_iterations: usize,
    /// Smallest change of the mean log-likelihood for which another iteration is made.
    #[option(default = 1e-6, min = 0.0)]
    pub tolerance: f64,
}

#[plugin("constrained_em", cites = ["Shental2003"], version = 3, waives = ["far_objects_stand_alone" => "a covariance that holds a far object holds all others"])]
impl BaseClusterer for ConstrainedEm {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        obeying("constrained_em", problem, ctx, |problem| self.obey(problem, ctx))
    }

    fn properties(&self) -> Properties {
        Properties {
            accepts: vec![DataKind::Dense],
            needs_k: self.k.is_none(),
            reads_constraints: true,
            hard_must: true,
            hard_cannot: true,
            gives_centers: true,
            learns_weights: true,
            ..Properties::default()
        }
    }

    fn operations(&self, shape: &Shape) -> Option<f64> {
        /// Iterations until most starts converge.
        const ITERATIONS: f64 = 100.0;
        let k = self.k.unwrap_or(shape.k);
        let (n, d, of) = (shape.n as f64, shape.d as f64, k as f64);
        let iteration = match self.covariance {
            // Products of matrices take a quarter of the time of as many single steps.
            Covariance::Full => of * (0.5 * n * d * d + 10.0 * d.powi(3)),
            Covariance::Tied => of * 0.5 * n * d * d + 10.0 * d.powi(3),
            Covariance::Diag | Covariance::Spherical => of * 10.0 * n * d,
        };
        let iterations = ITERATIONS.min(self.max_iterations as f64);
        // Exponentials and logarithms of the densities.
        let one = iterations * (iteration + 40.0 * n * of) + 32.0 * shape.sweep(k);
        Some(self.restarts as f64 * one)
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let shape = &Shape { k: self.k.unwrap_or(shape.k), ..*shape };
        let (n, d, k) = (shape.n as u64, shape.d as u64, shape.k as u64);
        let start = self.start();
        let start = start.map_or(0, |s| s.memory(shape));
        let tables = match shape.constraints {
            0 => 0,
            m => {
                let table = k.saturating_pow(self.max_width as u32 + 1).saturating_mul(m as u64);
                16 * table.min(MAX_ENTRIES as u64)
            }
        };
        let run = 8 * (5 * n * k + 4 * k * d * d + 4 * reduce::BLOCK as u64 * d) + tables;
        start.saturating_add(run.saturating_mul(self.restarts.min(reduce::WAVE) as u64))
    }
}

impl ConstrainedEm {
    /// The outcome under constraints that are all obeyed.
    fn obey(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let k = problem.require_k(self.k, "constrained_em")?;
        let stop = Stop::new(self.max_iterations, self.tolerance, ToleranceKind::Absolute);
        let start = self.start()?;
        let model = Model::new(self, problem, k, ctx)?;
        let easy = first_problem(problem, k)?;
        let first = |r: usize| {
            let first = start.cluster(&easy, &ctx.index(r).child("start"));
            among(k, first.map_err(|e| e.at("start"))?.labels, start.typetag_name())
        };
        // A start that leads to a component without extent does not end the others.
        let (mut best, mut failure): (Option<Clustering>, _) = (None, None);
        for from in (0..self.restarts).step_by(reduce::WAVE) {
            let wave = reduce::WAVE.min(self.restarts - from);
            let starts = reduce::map(wave, |at| first(from + at));
            let twins = twins(&starts);
            let run = |at: usize| match &starts[at] {
                Ok(labels) if twins[at] == at => {
                    Some(model.run(labels, stop, &ctx.index(from + at)))
                }
                _ => None,
            };
            let mut runs = reduce::map(starts.len(), run);
            let mut failures: BTreeMap<usize, Error> = BTreeMap::new();
            for (at, start) in starts.into_iter().enumerate() {
                let made = match (start, runs[at].take()) {
                    (Err(e), _) => Err(e),
                    (Ok(_), Some(made)) => made,
                    // The run of the equal start counts already.
                    (Ok(_), None) => match failures.get(&twins[at]) {
                        Some(e) => Err(e.clone()),
                        None => continue,
                    },
                };
                match made {
                    Ok(c) if best.as_ref().is_none_or(|b| c.objective < b.objective) => {
                        best = Some(c);
                    }
                    Ok(_) => {}
                    Err(e @ Error::NumericalFailure { .. }) => {
                        failures.insert(at, e.clone());
                        failure = Some(e);
                    }
                    Err(e) => return Err(e),
                }
            }
        }
        best.ok_or_else(|| failure.expect("a start succeeds or fails"))
    }
}

/// For each start the first one with the same labels, or itself. With few clusters many starts are equal, and what
/// follows from a start is not random.
fn twins(starts: &[Result<Vec<u32>>]) -> Vec<usize> {
    let twin = |(at, start): (usize, &Result<Vec<u32>>)| {
        let Ok(labels) = start else { return at };
        starts.iter().position(|other| other.as_ref().is_ok_and(|o| o == labels)).unwrap_or(at)
    };
    starts.iter().enumerate().map(twin).collect()
}

/// The problem for the start, without hard marks, because this plugin keeps constraints marked hard itself.
fn first_problem(problem: &Problem, k: usize) -> Result<Problem> {
    let pairs = problem.constraints.pairs().iter().map(|c| Constraint { strength: None, ..*c });
    let constraints = Constraints::new(problem.n(), pairs)?
        .with_neighbourhoods(problem.constraints.neighbourhoods().to_vec());
    Ok(problem.clone().with_k(k).with_constraints(constraints))
}

/// Labels of a start that finds its own number of clusters, or names one: in `0..k`.
fn among(k: usize, labels: Vec<u32>, tag: &str) -> Result<Vec<u32>> {
    if labels.iter().all(|&l| (l as usize) < k) {
        return Ok(labels);
    }
    match compact(&labels) {
        (labels, made) if made <= k => Ok(labels),
        (_, made) => {
            let legal = format!("a clusterer that makes at most k = {k} clusters");
            Err(Error::bad_param("start", format!("{tag}, which made {made}"), legal))
        }
    }
}

/// Quantities that do not change during a run.
struct Model<'a> {
    options: &'a ConstrainedEm,
    data: &'a Data,
    k: usize,
    closure: Arc<Closure>,
    /// Labels of chunklets given the cannot-links.
    field: CannotLinkMrf,
    /// The same before any object is seen, as the objective takes it.
    prior: CannotLinkMrf,
    /// Exponent of a chunklet in the prior: 1, or its size.
    exponents: Vec<f64>,
    /// Smallest variance.
    floor: f64,
}

/// Logs of mixing weights are kept above this, so that no label becomes impossible.
const FLOOR: f64 = -690.0;
/// Gain of the likelihood, relative, below which mixing weights are good enough.
const WORTH: f64 = 1e-9;

impl<'a> Model<'a> {
    fn new(
        options: &'a ConstrainedEm,
        problem: &'a Problem,
        k: usize,
        ctx: &Context,
    ) -> Result<Self> {
        let closure = problem.closure(OnConflict::Error)?;
        closure.require_feasible(k)?;
        let nodes = closure.components();
        let field = CannotLinkMrf::new(nodes, k, options.max_width, |p| closure.apart(p));
        if field.approximate() > 0 {
            ctx.warn(format!(
                "{} chunklets are too entangled by cannot-links: their probabilities are approximate",
                field.approximate()
            ));
        }
        let prior = match options.mixing {
            Mixing::IgnorePartition => field.without_edges(),
            Mixing::Gradient => field.clone(),
        };
        let exponent = |p: usize| match options.assumption {
            Assumption::ChunkletIid => 1.0,
            Assumption::PointIid => closure.members(p).len() as f64,
        };
        let exponents = (0..nodes).map(exponent).collect();
        let floor = options.reg_covar * mean_variance(&problem.data, ctx)?;
        Ok(Model { options, data: &problem.data, k, closure, field, prior, exponents, floor })
    }

    fn run(&self, start: &[u32], stop: Stop, ctx: &Context) -> Result<Clustering> {
        let nodes = self.closure.components();
        // Shares of the labels that the start gives the objects of a chunklet.
        let mut shares = Array2::zeros((nodes, self.k));
        for p in 0..nodes {
            let members = self.closure.members(p);
            for &i in members {
                shares[[p, start[i as usize] as usize]] += 1.0 / members.len() as f64;
            }
        }
        let mut log_mixing = Array1::from_elem(self.k, -(self.k as f64).ln());
        let mut components: Option<Gaussians> = None;
        let mut history: Vec<IterStat> = Vec::new();
        let mut status = Status::MaxIter;
        let mut labels = start.to_vec();
        let mut theta = Array2::zeros((nodes, self.k));
        for _ in 0..stop.max_iterations {
            ctx.check()?;
            log_mixing = self.mixing(&shares, log_mixing, ctx)?;
            let flat = shares.as_slice().expect("standard layout");
            let share = |i: usize, h: usize| flat[self.closure.component(i) * self.k + h];
            let fitted = Gaussians::fit(
                self.data,
                self.k,
                self.options.covariance,
                self.floor,
                share,
                components.as_ref(),
                ctx,
            )?;
            theta = self.potentials(&fitted.log_densities(self.data, ctx)?, &log_mixing)?;
            components = Some(fitted);
            let posterior = self.field.infer(&theta, ctx).map_err(|why| self.no_labels(why))?;
            let prior = self.prior(&log_mixing, ctx)?.0;
            let objective = (prior - posterior.log_partition) / self.data.n() as f64;
            shares = posterior.marginals;
            let moved = self.relabel(&shares, &mut labels);
            let before = history.last().map(|s| s.objective);
            history.push(IterStat { objective, moved, violations: None });
            if before.is_some_and(|b| stop.is_over(b, objective)) {
                status = Status::Converged;
                break;
            }
        }
        let best = self.field.best(&theta, ctx).map_err(|why| self.no_labels(why))?;
        let labels = (0..self.data.n()).map(|i| best[self.closure.component(i)]).collect();
        let components = components.expect("at least one iteration");
        let memberships = Array2::from_shape_fn((self.data.n(), self.k), |(i, h)| {
            shares[[self.closure.component(i), h]]
        });
        let mut extras = Extras {
            mixing: Some(log_mixing.mapv(f64::exp).to_vec()),
            memberships: Some(memberships),
            ..Extras::default()
        };
        components.describe(&mut extras, ctx)?;
        let approximate = self.field.approximate() as f64;
        extras.diagnostics.insert("approximate_chunklets".into(), approximate);
        let objective = history.last().map(|s| s.objective);
        Ok(Clustering { labels, k: self.k, objective, history, status, extras })
    }

    /// log π + Σ log N(x) for every chunklet and component.
    fn potentials(
        &self,
        log_densities: &Array2<f64>,
        log_mixing: &Array1<f64>,
    ) -> Result<Array2<f64>> {
        let (nodes, k) = (self.closure.components(), self.k);
        let mut theta = Array2::zeros((nodes, k));
        let flat = theta.as_slice_mut().expect("standard layout");
        let log_densities = log_densities.as_slice().expect("standard layout");
        let log_mixing = log_mixing.as_slice().expect("standard layout");
        reduce::rows(flat, k, |p, to| {
            let (members, exponent) = (self.closure.members(p), self.exponents[p]);
            for (h, to) in to.iter_mut().enumerate() {
                let density: f64 = members.iter().map(|&i| log_densities[i as usize * k + h]).sum();
                *to = exponent * log_mixing[h] + density;
            }
        });
        match theta.rows().into_iter().position(|row| !row.iter().all(|v| v.is_finite())) {
            None => Ok(theta),
            Some(p) => Err(Error::NumericalFailure {
                place: format!(
                    "constrained_em: the density of object {} or of those linked to it is 0",
                    self.closure.members(p)[0]
                ),
            }),
        }
    }

    /// Log-partition of the labels before objects are seen, and the expected number of chunklets with each
    /// (counted by `exponents`).
    fn prior(&self, log_mixing: &Array1<f64>, ctx: &Context) -> Result<(f64, Array1<f64>)> {
        let nodes = self.closure.components();
        if self.prior.is_free() && self.options.assumption == Assumption::ChunkletIid {
            return Ok((0.0, log_mixing.mapv(f64::exp) * nodes as f64));
        }
        let theta =
            Array2::from_shape_fn((nodes, self.k), |(p, h)| self.exponents[p] * log_mixing[h]);
        let out = self.prior.infer(&theta, ctx).map_err(|why| self.no_labels(why))?;
        Ok((out.log_partition, self.counts(&out.marginals)))
    }

    fn counts(&self, shares: &Array2<f64>) -> Array1<f64> {
        let mut sums = vec![0.0; self.k];
        let rows = shares.as_slice().expect("standard layout").chunks_exact(self.k);
        for (row, &e) in rows.zip(&self.exponents) {
            sums.iter_mut().zip(row).for_each(|(sum, share)| *sum += e * share);
        }
        Array1::from(sums)
    }

    /// Logs of the mixing weights that fit the shares best, or better than those before.
    fn mixing(
        &self,
        shares: &Array2<f64>,
        before: Array1<f64>,
        ctx: &Context,
    ) -> Result<Array1<f64>> {
        let counts = self.counts(shares);
        if self.prior.is_free() && self.options.assumption == Assumption::ChunkletIid {
            return Ok(normalised(counts.mapv(|c| c.ln().max(FLOOR))));
        }
        let value = |log_mixing: &Array1<f64>| -> Result<(f64, Array1<f64>)> {
            let (log_partition, expected) = self.prior(log_mixing, ctx)?;
            Ok((counts.dot(log_mixing) - log_partition, expected))
        };
        let total: f64 = self.exponents.iter().sum();
        let mut now = before;
        let (mut best, mut expected) = value(&now)?;
        let mut step = 1.0;
        for _ in 0..20 {
            let gradient = (&counts - &expected) / total;
            // What a step can gain at most, to first order; belief propagation settles to no more
            // digits than this asks for.
            let rise = total * gradient.dot(&gradient);
            let least = WORTH * (1.0 + best.abs()) / rise;
            let mut accepted = false;
            for _ in 0..20 {
                if step < least {
                    break;
                }
                let next = &now + &(&gradient * step);
                let next = normalised(next.mapv(|v| v.max(FLOOR)));
                let (found, then) = value(&next)?;
                if found > best {
                    (now, best, expected, accepted) = (next, found, then, true);
                    step *= 2.0;
                    break;
                }
                step /= 2.0;
            }
            if !accepted {
                break;
            }
        }
        Ok(now)
    }

    /// Labels of the likeliest component of each chunklet by itself; returns the number of changed objects.
    fn relabel(&self, shares: &Array2<f64>, labels: &mut [u32]) -> usize {
        let mut moved = 0;
        let shares = shares.as_slice().expect("standard layout");
        for (i, label) in labels.iter_mut().enumerate() {
            let row = &shares[self.closure.component(i) * self.k..][..self.k];
            let best = (1..self.k).fold(0, |best, h| if row[h] > row[best] { h } else { best });
            moved += usize::from(*label != best as u32);
            *label = best as u32;
        }
        moved
    }

    fn no_labels(&self, why: NoLabels) -> Error {
        match why {
            NoLabels::Ended(error) => error,
            NoLabels::Impossible(nodes) => {
                let objects = nodes.iter().map(|&p| self.closure.members(p as usize)[0]).collect();
                Error::InfeasibleConstraints { k: self.k, witness: Infeasible::Exhausted(objects) }
            }
        }
    }
}

/// Logs of weights that sum to 1.
fn normalised(logs: Array1<f64>) -> Array1<f64> {
    let top = logs.fold(f64::NEG_INFINITY, |m, &v| m.max(v));
    let all = top + logs.mapv(|v| (v - top).exp()).sum().ln();
    logs - all
}
