//! A clustering at a curve point, and its scores.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mustlink::clustering::Status;
use mustlink::constraints::{Constraint, Constraints, Origin};
use mustlink::context::Context;
use mustlink::features::{FeatureWeights, Lineage};
use mustlink::method::Method;
use mustlink::roles::{MetricInput, MetricProperties};
use mustlink::run::{self, Run, guarded};
use mustlink::{Error, Problem, Result};

use crate::config::{Exclude, Scope};
use crate::grid::GridMethod;
use crate::row::Row;
use crate::run_env::RunEnv;
use crate::select::Selected;

/// As many weights are kept for the report; methods on text have more.
const MOST_WEIGHTS: usize = 20_000;

/// A clustering with its scores.
pub(crate) struct Scored {
    run: Run,
    test_classes: Option<usize>,
    scores: BTreeMap<String, Option<f64>>,
    keep_labels: bool,
    weights: Option<FeatureWeights>,
}

impl Scored {
    /// Writes it into a row.
    pub fn into_row(self, row: &mut Row) {
        let clustering = self.run.clustering;
        row.k_found = Some(clustering.k - self.run.empty_clusters);
        row.violations = Some(self.run.violations.total());
        row.objective = clustering.objective.filter(|o| o.is_finite());
        row.iterations = (!clustering.history.is_empty()).then_some(clustering.history.len());
        row.converged = Some(clustering.status == Status::Converged);
        row.test_classes = self.test_classes;
        row.scores = self.scores;
        row.time_cluster_s = Some(self.run.seconds);
        row.weights = self.weights;
        row.diagnostics = clustering.extras.diagnostics;
        row.diagnostics.retain(|_, v| v.is_finite());
        row.labels = self.keep_labels.then_some(clustering.labels);
    }
}

/// The given constraints that touch a test object: no method saw them.
fn heldout(given: &Constraints, test: &[bool]) -> Result<Constraints> {
    let touches = |c: &&Constraint| test[c.i as usize] || test[c.j as usize];
    Constraints::new(test.len(), given.pairs().iter().filter(touches).copied())
}

/// What the clusterer makes of the problem without constraints, from the same streams; `None` where
/// there are no constraints, or no clusterer.
fn without_constraints(
    method: &Method,
    under: &Problem,
    ctx: &Context,
) -> Result<Option<Vec<u32>>> {
    let Some(clusterer) = method.clusterer.as_ref().filter(|_| !under.constraints.is_empty())
    else {
        return Ok(None);
    };
    let free = Problem { constraints: Arc::default(), ..under.clone() };
    let input = run::transform_from(method.prefix().len(), method.suffix(), &free, ctx)
        .map_err(|e| e.at("scoring without constraints"))?;
    let run = run::cluster(&**clusterer, &input.problem, &ctx.child("clusterer"))
        .map_err(|e| e.at("scoring without constraints"))?;
    Ok(Some(run.clustering.labels))
}

/// Clusters at a curve point and scores the result.
///
/// # Errors
/// Those of the method and of the metrics; `Contract` for a score that is not a finite number.
pub(crate) fn cluster_and_score(
    env: &RunEnv,
    at: usize,
    (under, lineage): (&Problem, &Lineage),
    own: Option<&Selected>,
    p: usize,
    ctx: &Context,
) -> Result<Scored> {
    let cell = &env.grid.cells[at];
    let set = &env.grid.datasets[cell.dataset];
    let GridMethod { resolved, generator, .. } = env.grid.method_of_cell(at);
    let method = &resolved.method;
    ctx.check()?;
    let selection = own.and_then(|s| s.selection.as_ref().ok());
    let (input, run) = method.clustering_at(under, selection, p, 0, ctx)?;
    let test = env.grid.test(cell.dataset, cell.repeat, cell.fold);
    let scope: Option<Vec<bool>> = match (env.experiment.scoring.scope, test) {
        (Scope::All, _) | (_, None) => None,
        (Scope::Test, Some(test)) => Some(test.to_vec()),
        (Scope::Train, Some(test)) => Some(test.iter().map(|t| !t).collect()),
    };
    let exclude: Option<Vec<(u32, u32)>> = match env.experiment.scoring.exclude_constrained {
        Exclude::None => None,
        Exclude::Explicit => {
            let asked = under.constraints.pairs().iter();
            let mut pairs: Vec<(u32, u32)> = asked
                .filter(|c| matches!(c.origin, Origin::Given | Origin::Queried))
                .map(|c| (c.i, c.j))
                .collect();
            pairs.sort_unstable();
            pairs.dedup();
            Some(pairs)
        }
    };
    let metrics = &env.experiment.scoring.metrics;
    let wanted =
        |fact: fn(&MetricProperties) -> bool| metrics.iter().any(|m| fact(&m.properties()));
    let heldout = match test {
        Some(test) if wanted(|facts| facts.needs_heldout) => Some(heldout(&set.given, test)?),
        _ => None,
    };
    let unconstrained = match wanted(|facts| facts.needs_unconstrained) {
        true => without_constraints(method, under, ctx)?,
        false => None,
    };
    // That of the first generator that the method holds: the one it used itself.
    let ensemble = match generator {
        Some(generator) if wanted(|facts| facts.needs_ensemble) => {
            let made = ctx.ensemble_labels(&**generator, &input.problem);
            Some(made.map_err(|e| e.at("scoring the ensemble"))?)
        }
        _ => None,
    };
    let metric_input = MetricInput {
        labels: &run.clustering.labels,
        truth: set.labels(),
        scope: scope.as_deref(),
        data: Some(&input.problem.data),
        constraints: Some(&under.constraints),
        heldout: heldout.as_ref(),
        unconstrained: unconstrained.as_deref(),
        exclude: exclude.as_deref(),
        ensemble: ensemble.as_deref(),
    };
    let mut scores = BTreeMap::new();
    for (metric, column) in metrics.iter().zip(env.experiment.columns()) {
        let tag = metric.typetag_name();
        let score = match metric.properties().needs_truth && set.set.classes.is_none() {
            true => None,
            false => guarded(tag, || metric.score(&metric_input)).map_err(|e| e.at("scoring"))?,
        };
        if score.is_some_and(|s| !s.is_finite()) {
            return Err(Error::Contract {
                plugin: tag.into(),
                broken: "the score is not a finite number".into(),
            });
        }
        scores.insert(column.clone(), score);
    }
    let test_classes = set.labels().map(|labels| {
        let inside = |i: &usize| scope.as_ref().is_none_or(|s| s[*i]);
        let found: BTreeSet<u32> =
            (0..labels.len()).filter(inside).filter_map(|i| labels[i]).collect();
        found.len()
    });
    let keep_labels = env.experiment.run.keep_labels;
    let weights = Some(lineage.then(&input.lineage))
        .filter(|_| cell.repeat == 0 && cell.fold == 0)
        .and_then(|l| FeatureWeights::learned(&run.clustering, &l, &set.set.feature_names))
        .filter(|w| w.rows.len() * w.features.len() <= MOST_WEIGHTS);
    Ok(Scored { run, test_classes, scores, keep_labels, weights })
}
