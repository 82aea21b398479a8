//! GPK-means: the clusters determine how far each constraint reaches, round by round.

use std::collections::HashSet;
use std::sync::Arc;

use linfa_linalg::cholesky::Cholesky;
use mustlink_core::clustering::canonical;
use mustlink_core::constraints::{Duplicates, Violations};
use mustlink_core::prelude::*;
use mustlink_core::registry::Catalogue;
use mustlink_core::serde_json::Value;
use mustlink_core::{reduce, run};
use mustlink_kernels::constrained::constraint_groups::{Entail, LISTED, entailed_pairs, pairs_fit};
use ndarray::Array2;

/// Pairs with a cost in later runs, in addition to the propagated ones.
#[options]
pub enum RerunEntail {
    /// The pairs that the given constraints entail: two runs differ only in the propagated pairs (§5.4.1).
    #[default]
    Sources,
    /// None, not even the pairs that follow from the given constraints.
    Off,
}

/// Alternates clustering and constraint propagation: clusters determine the reach of constraints.
///
/// # Method
/// The clusterer runs as configured. Then each round propagates the given constraints with the clusters just found. The
/// clusterer runs again on the result, from the centres just found. In this run the given constraints are extended as
/// `rerun_entail` says; propagated constraints are never extended. The loop ends when a clustering repeats or the
/// objective stops changing. A propagator that does not need a clustering propagates once, before a single run. If it
/// returns distances or affinities instead of constraints, these replace the data.
/// # Input and output
/// The input of clusterer and propagator; every object counts once. The result is the last clustering. After a cycle or
/// after `max_rounds`, it is the one with the smallest sum of distortion and costs of broken given constraints. Each
/// broken constraint costs the weight of the clusterer or, if that is "auto", the mean distortion of an object.
/// Diagnostics: `rounds`; `propagated`, the pairs beyond the given ones in the round returned; `propagated_1` and so on
/// for every round.
/// # Errors
/// The errors of clusterer and propagator, with their slot. `BadParam` when the clusterer does not accept the data
/// that the propagator returns. `BadParam` also when the clusterer must keep constraints that contradict each other
/// after propagation. `Memory` if the pairs that the given constraints entail do not fit.
/// # Cost and randomness
/// Rounds times the cost of clusterer and propagator; random only in them.
/// # References
/// [Eaton2005] fig. 3.1. Objectives of rounds with different constraints are compared, as printed. Differs: the loop
/// also ends when a clustering repeats.
#[options]
pub struct GpkMeans {
    /// Number of clusters. If absent, the k of the problem.
    #[option(min = 1)]
    pub k: Option<usize>,
    /// Clusterer. If it does not use weights, every propagated pair has weight 1. Propagated constraints may contradict
    /// each other; a clusterer that enforces all of them is then rejected.
    #[option(slot = "mpck_means")]
    pub clusterer: Option<Box<dyn BaseClusterer>>,
    /// Propagator that spreads the constraints.
    #[option(slot = "gaussian")]
    pub propagator: Option<Box<dyn ConstraintPropagator>>,
    /// Pairs with a cost in later runs, in addition to the propagated ones.
    pub rerun_entail: RerunEntail,
    /// Start later runs from the last labels, not only from the last centres. The authors' program appears to do
    /// this.
    pub carry_labels: bool,
    /// Start later runs from the last metrics. If false, from the identity, as the authors' program does.
    pub warm_metric: bool,
    /// Maximum number of propagation rounds after the first clustering.
    #[option(default = 20, min = 1)]
    pub max_rounds: usize,
    /// Smallest relative change of the clusterer's objective for which another round is made.
    #[option(default = 1e-6, min = 0.0)]
    pub tolerance: f64,
}

#[plugin("gpk_means", cites = ["Eaton2005"], version = 2, waives = ["any_unit" => "the width of the published propagation depends on the unit"])]
impl BaseClusterer for GpkMeans {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let base = self.clusterer()?;
        let propagator = self.propagator()?;
        let mut problem = problem.clone();
        problem.k = self.k.or(problem.k);
        let parts = Parts {
            base: &**base,
            again: rerun(&**base, true)?,
            entail: entail_of(&**base).filter(|_| self.rerun_entail == RerunEntail::Sources),
            propagator: &**propagator,
            problem: &problem,
            ctx,
        };
        if propagator.properties().needs_clustering { self.alternate(&parts) } else { parts.once() }
    }

    fn properties(&self) -> Properties {
        let base = self.clusterer();
        let propagator = self.propagator();
        // A default that is not linked is reported by `cluster`.
        let (Ok(base), Ok(propagator)) = (base, propagator) else { return Properties::default() };
        let (facts, spread) = (base.properties(), propagator.properties());
        let mut accepts = spread.accepts;
        if spread.gives.is_none() {
            accepts.retain(|kind| facts.accepts.contains(kind));
        }
        Properties {
            accepts,
            needs_k: self.k.is_none() && facts.needs_k,
            reads_constraints: true,
            gives_centers: facts.gives_centers && spread.gives.is_none(),
            // Propagators count every object once, and so do the rounds that are compared.
            object_weights: false,
            ..facts
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let shape = &Shape { k: self.k.unwrap_or(shape.k), ..*shape };
        let base = self.clusterer();
        let propagator = self.propagator();
        base.map_or(0, |b| b.memory(shape)) + propagator.map_or(0, |p| p.memory(shape))
    }
}

/// The clusterer as it runs on propagated constraints: they are uncertain, so they are not closed
/// (a chain would link whole clusters), and contradictions among them are two costs. With `start`
/// it begins at the centres of the problem.
fn rerun(base: &(dyn BaseClusterer + 'static), start: bool) -> Result<Box<dyn BaseClusterer>> {
    let mut config = base.to_value();
    let descriptor = Catalogue::get()?.find(base.tag());
    if let Value::Object(map) = &mut config {
        // An option that is absent now may be known all the same.
        let mut set = |option: &str, value: &str| {
            if descriptor.is_some_and(|d| d.option(option).is_some()) {
                map.insert(option.into(), value.into());
            }
        };
        set("entail", "off");
        set("on_conflict", "keep");
        if start {
            set("init", "given");
        }
    }
    <dyn BaseClusterer as RoleObject>::from_value(config)
        .map_err(|message| Error::Plugin { tag: base.tag().into(), message })
}

/// Value of the clusterer's option for extending constraints before they cost anything, if it has that option.
fn entail_of(base: &(dyn BaseClusterer + 'static)) -> Option<Entail> {
    serde_json::from_value(base.to_value().get("entail")?.clone()).ok()
}

/// One method, put together.
struct Parts<'a> {
    base: &'a (dyn BaseClusterer + 'static),
    again: Box<dyn BaseClusterer>,
    /// Extension of the given constraints in the runs after the first.
    entail: Option<Entail>,
    propagator: &'a (dyn ConstraintPropagator + 'static),
    problem: &'a Problem,
    ctx: &'a Context,
}

impl Parts<'_> {
    fn propagate(&self, round: usize, clustering: Option<&Clustering>) -> Result<Propagated> {
        let ctx = self.ctx.child("propagator").index(round);
        let given = &self.problem.constraints;
        let made = run::propagate(self.propagator, given, clustering, self.problem, &ctx);
        made.map_err(|e| e.at("propagator"))
    }

    fn cluster(
        &self,
        round: usize,
        base: &dyn BaseClusterer,
        problem: &Problem,
    ) -> Result<Clustering> {
        self.ctx.check()?;
        let ctx = self.ctx.child("clusterer").index(round);
        let run = run::cluster(base, problem, &ctx).map_err(|e| e.at("clusterer"))?;
        Ok(run.clustering)
    }

    /// The error of a run on propagated constraints, if the given ones alone were accepted. Contradictions, and
    /// weights that the clusterer does not take, then come from propagation and not from the user.
    fn of_propagated(&self, error: Error) -> Error {
        let by_them = match &error {
            Error::At { source, .. } => matches!(
                **source,
                Error::InconsistentConstraints(_)
                    | Error::InfeasibleConstraints { .. }
                    | Error::UndecidedConstraints { .. }
            ),
            Error::BadParam { name, .. } => name == "clusterer.constraints",
            _ => false,
        };
        if !by_them {
            return error;
        }
        let legal = format!(
            "one that weighs constraints, such as pck_means, for propagated ones ({error})"
        );
        Error::bad_param("clusterer", self.base.tag(), legal)
    }

    /// Constraints as the clusterer takes them.
    fn fitting(&self, made: Constraints) -> Result<Constraints> {
        if self.base.properties().soft_weights {
            return Ok(made);
        }
        let plain = made.pairs().iter().map(|c| c.weighing(1.0));
        let named = made.neighbourhoods().to_vec();
        Ok(Constraints::new(self.problem.n(), plain)?.with_neighbourhoods(named))
    }

    /// Pairs beyond the given ones, several for one pair counted as often.
    fn beyond(&self, made: &Constraints) -> f64 {
        (made.len() + made.summed()).saturating_sub(self.problem.constraints.len()) as f64
    }

    fn once(&self) -> Result<Clustering> {
        let mut problem = self.problem.clone();
        let mut propagated = None;
        match self.propagate(0, None)? {
            Propagated::Constraints(made) => {
                propagated = Some(self.beyond(&made));
                problem.constraints = Arc::new(self.fitting(made)?);
            }
            Propagated::Distances(d) => problem.data = Data::distances(d)?,
            Propagated::Affinity(a) => problem.data = Data::affinity(a)?,
        }
        let open = rerun(self.base, false)?;
        let base = if propagated.is_some() { &*open } else { self.base };
        let accepts = self.base.properties().accepts;
        if !accepts.contains(&problem.data.kind()) {
            let kind = problem.data.kind().name();
            let legal = format!("a clusterer of {kind}, which {} gives", self.propagator.tag());
            return Err(Error::bad_param("clusterer", self.base.tag(), legal));
        }
        let mut made = self.cluster(0, base, &problem)?;
        let diagnostics = &mut made.extras.diagnostics;
        diagnostics.insert("rounds".into(), 1.0);
        if let Some(propagated) = propagated {
            diagnostics.insert("propagated".into(), propagated);
            diagnostics.insert("propagated_1".into(), propagated);
        }
        Ok(made)
    }

    /// Cost of a broken constraint if the clusterer has no number for it: the mean cost of an object in
    /// this clustering; 1 under learned metrics, which have no unit.
    fn unit(&self, clustering: &Clustering) -> f64 {
        let extras = &clustering.extras;
        if extras.weights.is_some() || extras.metrics.is_some() {
            return 1.0;
        }
        let mean = distortion(&self.problem.data, clustering) / self.problem.n() as f64;
        if mean > 0.0 { mean } else { 1.0 }
    }

    /// Distortion of a clustering and the cost of the given constraints it breaks, which show
    /// rounds with different propagated constraints apart.
    fn cost(&self, clustering: &Clustering, unit: f64) -> f64 {
        let config = self.base.to_value();
        let weight = |option: &str| config.get(option).and_then(Value::as_f64);
        let must = weight("weight").unwrap_or(unit);
        let cannot = weight("weight_cannot").unwrap_or(must);
        let broken: Violations = self.problem.constraints.violations(&clustering.labels);
        distortion(&self.problem.data, clustering)
            + must * broken.must_weight
            + cannot * broken.cannot_weight
    }
}

impl GpkMeans {
    /// `made` with the pairs that the given constraints entail, where they are wanted. One that was
    /// propagated as well costs what both cost, or the larger of the two where the propagator keeps
    /// one constraint a pair.
    fn entailing(&self, parts: &Parts, made: Constraints) -> Result<Constraints> {
        let given = &parts.problem.constraints;
        let Some(entail) = parts.entail.filter(|_| !given.is_empty()) else { return Ok(made) };
        let n = parts.problem.n();
        let closure = Closure::new(given, n, OnConflict::Keep)?;
        if entail != Entail::Off {
            pairs_fit(&closure, LISTED, &parts.problem.data, parts.ctx)?;
        }
        let known: HashSet<(u32, u32, Kind)> =
            given.pairs().iter().map(|c| (c.i, c.j, c.kind)).collect();
        let follows = entailed_pairs(&closure, entail, parts.problem.k.unwrap_or(n))?;
        let new = follows.into_iter().filter(|c| !known.contains(&(c.i, c.j, c.kind)));
        let all = made.pairs().iter().copied().chain(new);
        let named = made.neighbourhoods().to_vec();
        let reduced = parts.propagator.to_value().get("mode").is_some_and(|m| m == "reduced");
        let both = if reduced { Duplicates::Max } else { Duplicates::Sum };
        Ok(Constraints::with_duplicates(n, all, both)?.with_neighbourhoods(named))
    }

    /// Start of the next run.
    fn start(&self, data: &Data, last: &Clustering) -> Option<Start> {
        let centres = start(data, last)?;
        if !self.carry_labels && !self.warm_metric {
            return Some(Start::Centroids(centres));
        }
        let mut from = last.clone();
        from.extras.centers = Some(centres);
        if !self.carry_labels {
            from.labels.fill(NONE);
        }
        if !self.warm_metric {
            (from.extras.weights, from.extras.metrics) = (None, None);
        }
        Some(Start::Clustering(Arc::new(from)))
    }

    fn alternate(&self, parts: &Parts) -> Result<Clustering> {
        if !parts.base.properties().reads_constraints {
            parts.ctx.warn(format!("{} does not look at constraints", parts.base.tag()));
        }
        let mut last = parts.cluster(0, parts.base, parts.problem)?;
        let unit = parts.unit(&last);
        let mut seen = vec![canonical(&last.labels)];
        let mut counts: Vec<f64> = Vec::new();
        let mut best: Option<(f64, usize, Clustering)> = None;
        let mut status = Status::MaxIter;
        for round in 1..=self.max_rounds {
            let made = match parts.propagate(round, Some(&last))? {
                Propagated::Constraints(made) => made,
                Propagated::Distances(_) | Propagated::Affinity(_) => {
                    return Err(Error::Contract {
                        plugin: parts.propagator.tag().into(),
                        broken: "it needs a clustering and gives no constraints".into(),
                    });
                }
            };
            counts.push(parts.beyond(&made));
            let made = self.entailing(parts, made)?;
            let mut problem = parts.problem.clone().with_constraints(parts.fitting(made)?);
            if let Some(start) = self.start(&problem.data, &last) {
                problem = problem.with_start(start);
            }
            let before = last.objective;
            let made = parts.cluster(round, &*parts.again, &problem);
            last = made.map_err(|e| parts.of_propagated(e))?;
            // The objective of the first clustering is over the given constraints alone.
            let still = round >= 2
                && matches!((before, last.objective), (Some(b), Some(now))
                    if (now - b).abs() <= self.tolerance * b.abs().max(1.0));
            let form = canonical(&last.labels);
            let earlier = seen.iter().rposition(|s| *s == form);
            let cost = parts.cost(&last, unit);
            if best.as_ref().is_none_or(|(least, ..)| cost < *least) {
                best = Some((cost, round, last.clone()));
            }
            if still || earlier == Some(seen.len() - 1) {
                status = Status::Converged;
                break;
            }
            if earlier.is_some() {
                status = Status::Cycle;
                break;
            }
            seen.push(form);
        }
        let rounds = counts.len();
        let (kept, mut result) = match (status, best) {
            (Status::Converged, _) | (_, None) => (rounds, last),
            (_, Some((_, round, clustering))) => (round, clustering),
        };
        result.status = status;
        let diagnostics = &mut result.extras.diagnostics;
        diagnostics.insert("rounds".into(), rounds as f64);
        diagnostics.insert("propagated".into(), counts[kept - 1]);
        for (at, count) in counts.iter().enumerate() {
            diagnostics.insert(format!("propagated_{}", at + 1), *count);
        }
        Ok(result)
    }
}

/// The centres a clustering ends with; means of members where it brings none. Clusters without
/// objects and without a centre make a start impossible.
fn start(data: &Data, clustering: &Clustering) -> Option<Array2<f64>> {
    if !data.kind().is_rows() {
        return None;
    }
    if let Some(centres) = &clustering.extras.centers {
        return Some(centres.clone());
    }
    let sizes = clustering.sizes();
    if sizes.contains(&0) {
        return None;
    }
    let mut sums = Array2::zeros((clustering.k, data.d()));
    for (i, &l) in clustering.labels.iter().enumerate() {
        let mut to = sums.row_mut(l as usize);
        data.row(i).add_to(to.as_slice_mut().expect("standard layout"), 1.0);
    }
    for (mut row, size) in sums.rows_mut().into_iter().zip(sizes) {
        row.mapv_inplace(|v| v / size as f64);
    }
    Some(sums)
}

/// Σ of the distances to the centres as the clustering takes them, with −log det of its metrics.
fn distortion(data: &Data, clustering: &Clustering) -> f64 {
    let Some(centres) = start(data, clustering) else { return 0.0 };
    let extras = &clustering.extras;
    let log_det = |a: &Array2<f64>| match a.cholesky() {
        Ok(l) => 2.0 * (0..a.nrows()).map(|s| l[[s, s]].ln()).sum::<f64>(),
        Err(_) => f64::NEG_INFINITY,
    };
    let log_dets: Vec<f64> = extras.metrics.iter().flatten().map(log_det).collect();
    reduce::sum(data.n(), |i| {
        let h = clustering.labels[i] as usize;
        let mut x = vec![0.0; data.d()];
        data.row(i).add_to(&mut x, 1.0);
        let centre = centres.row(h);
        let differences: Vec<f64> = x.iter().zip(&centre).map(|(a, b)| a - b).collect();
        match (extras.geometry, &extras.weights, &extras.metrics) {
            (Geometry::Cosine, ..) => {
                let norm = x.iter().map(|v| v * v).sum::<f64>().sqrt();
                let inner: f64 = x.iter().zip(&centre).map(|(a, b)| a * b).sum();
                if norm > 0.0 { 1.0 - inner / norm } else { 1.0 }
            }
            (Geometry::Weighted, Some(w), _) => {
                let w = w.row(h.min(w.nrows() - 1));
                differences.iter().zip(&w).map(|(e, w)| w * e * e - w.ln()).sum()
            }
            (Geometry::Mahalanobis, _, Some(all)) if !all.is_empty() => {
                let at = h.min(all.len() - 1);
                let e = ndarray::ArrayView1::from(&differences);
                e.dot(&all[at].dot(&e)) - log_dets[at]
            }
            _ => differences.iter().map(|e| e * e).sum(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_constraint_propagators as _;
    use mustlink_laws::fixtures;
    use serde_json::json;

    #[test]
    fn rounds_are_told_apart_in_any_unit() {
        let base = <dyn BaseClusterer as RoleObject>::from_value(json!({ "type": "pck_means" }));
        let base = base.unwrap();
        let spread =
            <dyn ConstraintPropagator as RoleObject>::from_value(json!({ "type": "closure" }));
        let spread = spread.unwrap();
        let (problem, classes) = fixtures::dense(1);
        let problem = problem.with_constraints(fixtures::true_constraints(&classes, 15, 1));
        let ctx = Context::new(1);
        let costs = [1.0, 1024.0].map(|times| {
            let data = Data::dense(problem.data.to_dense() * times).unwrap();
            let problem = Problem { data, ..problem.clone() };
            let parts = Parts {
                base: &*base,
                again: rerun(&*base, true).unwrap(),
                entail: None,
                propagator: &*spread,
                problem: &problem,
                ctx: &ctx,
            };
            let unit = parts.unit(&Clustering::from_labels(classes.clone()));
            // Whatever is broken costs the same share.
            let labels = (0..problem.n() as u32).map(|i| i / 15).collect();
            let other = Clustering::from_labels(labels);
            assert!(problem.constraints.violations(&other.labels).total() > 0);
            parts.cost(&other, unit)
        });
        assert_eq!(costs[1], costs[0] * 1024.0 * 1024.0);
    }
}
