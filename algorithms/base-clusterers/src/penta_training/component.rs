//! One of the clusterings that give each other constraints.

use mustlink_core::clustering::{canonical, compact};
use mustlink_core::ensemble::without_empty;
use mustlink_core::needs::check_needs;
use mustlink_core::prelude::*;
use mustlink_core::run;
use ndarray::Array2;

use super::links::Links;

/// One clustering and what it has learnt.
pub(super) struct Component {
    /// Which value of h.
    pub number: usize,
    pub clusterer: Box<dyn BaseClusterer>,
    pub clustering: Clustering,
    pub weights: Array2<f64>,
    pub learnt: Vec<Constraint>,
    pub links: Links,
}

/// Pairs that a component is to learn, with how many candidates were passed over.
#[derive(Default)]
pub(super) struct Lesson {
    pub pairs: Vec<Constraint>,
    pub skipped: usize,
}

impl Component {
    pub(super) fn learn(&mut self, lesson: Lesson) {
        for pair in lesson.pairs {
            self.links.add(pair.i, pair.j, pair.kind);
            self.learnt.push(pair);
        }
    }

    pub(super) fn fit_again(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        fit(&*self.clusterer, self.number, &self.learnt, problem, ctx)
    }

    /// Takes over a new clustering; gives whether the component stays, and whether it or another
    /// one before changed.
    pub(super) fn replace(
        &mut self,
        made: Result<Clustering>,
        changed: bool,
        problem: &Problem,
        ctx: &Context,
    ) -> Result<(bool, bool)> {
        let Some(made) = unless_failed(self.number, made, ctx)? else { return Ok((false, true)) };
        let other = canonical(&made.labels) != canonical(&self.clustering.labels);
        self.weights = weights(&made, problem.d());
        self.clustering = made;
        Ok((true, changed || other))
    }
}

/// One component for each of the clusterers, without those that fail numerically.
pub(super) fn first(
    clusterers: Vec<Box<dyn BaseClusterer>>,
    problem: &Problem,
    ctx: &Context,
) -> Result<Vec<Component>> {
    let made = reduce::map(clusterers.len(), |number| {
        fit(&*clusterers[number], number, &[], problem, ctx)
    });
    let mut components = Vec::new();
    for (number, (clusterer, made)) in clusterers.into_iter().zip(made).enumerate() {
        let Some(clustering) = unless_failed(number, made, ctx)? else { continue };
        components.push(Component {
            number,
            clusterer,
            weights: weights(&clustering, problem.d()),
            links: Links::new(problem.n(), clustering.k, &problem.constraints),
            clustering,
            learnt: vec![],
        });
    }
    Ok(components)
}

/// Tracks for how many rounds the consensus has not changed.
pub(super) struct Standstill {
    patience: Option<usize>,
    stable: usize,
    last: Option<Vec<u32>>,
}

impl Standstill {
    pub(super) fn new(patience: Option<usize>) -> Self {
        Standstill { patience, stable: 0, last: None }
    }

    /// Looks at the consensus as it is now, where that decides.
    pub(super) fn look(&mut self, now: impl FnOnce() -> Result<Clustering>) -> Result<bool> {
        let Some(patience) = self.patience else { return Ok(false) };
        let now = Some(canonical(&now()?.labels));
        self.stable = if now == self.last { self.stable + 1 } else { 0 };
        self.last = now;
        Ok(self.stable >= patience)
    }
}

/// One component, which draws the same random numbers each time.
fn fit(
    clusterer: &dyn BaseClusterer,
    number: usize,
    learnt: &[Constraint],
    problem: &Problem,
    ctx: &Context,
) -> Result<Clustering> {
    let mut problem = problem.clone();
    if !learnt.is_empty() {
        let learnt = Constraints::new(problem.n(), learnt.iter().copied())?;
        let all = problem.constraints.union(&learnt, problem.n())?;
        problem = problem.with_constraints(all);
    }
    let ctx = ctx.child("clusterer").index(number);
    let run = run::cluster(clusterer, &problem, &ctx).map_err(|e| e.at("clusterer"))?;
    Ok(run.clustering)
}

/// Nothing, with a warning, for a component that failed numerically.
fn unless_failed(
    number: usize,
    made: Result<Clustering>,
    ctx: &Context,
) -> Result<Option<Clustering>> {
    match made {
        Ok(made) => Ok(Some(made)),
        Err(e) if matches!(e.root(), Error::NumericalFailure { .. }) => {
            ctx.warn(format!("component {number} is left out: {e}"));
            Ok(None)
        }
        Err(e) => Err(e),
    }
}

/// The feature weights of each cluster; equal ones where a clusterer has none.
fn weights(clustering: &Clustering, d: usize) -> Array2<f64> {
    let given = clustering.extras.weights.clone();
    given
        .filter(|w| w.dim() == (clustering.k, d))
        .unwrap_or_else(|| Array2::from_elem((clustering.k, d), 1.0 / d as f64))
}

/// The clusterings of the components, of `n` objects.
pub(super) fn ensemble_of(components: &[Component], n: usize) -> Result<Ensemble> {
    if components.len() < 2 {
        let place = format!("{} components are left, too few to combine", components.len());
        return Err(Error::NumericalFailure { place });
    }
    let member = |c: &Component| {
        let made = c.clustering.clone();
        let (labels, k) = compact(&made.labels);
        let extras = without_empty(made.extras, &made.labels, made.k);
        let provenance = format!("component {}", c.number);
        Member { labels, k, objective: made.objective, extras, provenance, ..Member::default() }
    };
    Ensemble::new(n, components.iter().map(member).collect())
}

/// The consensus of the components.
pub(super) fn combine(
    ensemble: &Ensemble,
    consensus: &(dyn ConsensusFunction + 'static),
    problem: &Problem,
    ctx: &Context,
) -> Result<Clustering> {
    check_needs(ensemble, consensus)?;
    let made = consensus.combine(ensemble, problem, &ctx.child("consensus"));
    made.map_err(|e| e.at("consensus"))
}
