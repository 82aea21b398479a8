//! A cell: the first p replies of its selection at every curve point p, a clustering
//! from scratch, and scores. Failures become rows with the error.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use mustlink_config::tree::own_name;
use mustlink_core::clustering::Status;
use mustlink_core::constraints::{Constraint, Constraints, Kind, Origin};
use mustlink_core::context::Context;
use mustlink_core::features::Lineage;
use mustlink_core::method::Method;
use mustlink_core::roles::{MetricInput, MetricProperties};
use mustlink_core::run::{self, Run, Transformed, guarded};
use mustlink_core::text::{count, form, visible};
use mustlink_core::{Error, Problem, Result};
use mustlink_datasets::FeatureWeights;

use crate::config::{Exclude, Experiment, ResolvedMethod, Scope};
use crate::data::{Prepared, in_file_words};
use crate::row::{Row, RowStatus};
use crate::run_env::{RunEnv, Selected, check_no_test_leak, problem};

/// Carries out a cell: one row per curve point; of the points in `only` where the others are there
/// already.
///
/// # Errors
/// `Cancelled` alone; every other error is in the rows.
pub(crate) fn run(
    env: &RunEnv,
    at: usize,
    selected: Option<&Selected>,
    only: Option<&[usize]>,
) -> Result<Vec<Row>> {
    let cell = &env.grid.cells[at];
    let set = &env.grid.datasets[cell.dataset];
    let resolved = env.grid.method_of_cell(at);
    let method = &resolved.method;
    let start = Instant::now();
    // What a selection warns of stands in every row of its cell.
    let only = only.filter(|_| selected.is_none_or(|s| s.warnings.is_empty()));
    let points: Vec<Option<usize>> = match only.or(env.points) {
        Some(points) => points.iter().copied().map(Some).collect(),
        None => vec![selected.and_then(|s| s.point)],
    };
    let base = base_row(env, at);
    let own = selected.filter(|_| method.selector.is_some());
    let test = env.grid.test(cell.dataset, cell.repeat, cell.fold);
    let posed = problem(set, resolved.k, test);
    let left_out = posed.as_ref().map_or(0, |(_, left_out)| *left_out);
    let mut notes: Vec<String> = set.notes.clone();
    notes.extend(own.into_iter().flat_map(|s| s.warnings.iter().cloned()));
    if left_out > 0 {
        let verbs = form(left_out, "touches test objects and was", "touch test objects and were");
        notes.push(format!("{} {verbs} left out", count(left_out, "given constraint")));
    }
    let failed_first = selected.and_then(|s| s.selection.as_ref().err());
    let seen = match failed_first {
        Some(e) => Err(e.clone()),
        None => {
            let ctx = env.context(set, cell.repeat, cell.fold, start);
            let seen = posed.and_then(|(problem, _)| {
                guarded("transforms", || run::transform(method.prefix(), &problem, &ctx))
                    .map_err(|e| e.with_feature_names(&set.set.feature_names))
            });
            notes.extend(ctx.warnings());
            seen
        }
    };
    let before = start.elapsed().as_secs_f64();
    let mut rows: Vec<Row> = Vec::with_capacity(points.len());
    let mut last: Option<(Arc<Constraints>, usize)> = None;
    for p in points {
        let began = Instant::now();
        let mut row = Row { p_requested: p, time_select_s: own.map(|s| s.seconds), ..base.clone() };
        let ctx = env.context(set, cell.repeat, cell.fold, start);
        let result = seen.clone().and_then(|Transformed { problem: seen, lineage, .. }| {
            let constraints = constraints_at(method, own, &seen, p.unwrap_or(0), &mut row)?;
            check_no_test_leak(method, &constraints, test)?;
            row.constraints_must = Some(constraints.count(Kind::MustLink));
            row.constraints_cannot = Some(constraints.count(Kind::CannotLink));
            // The same constraints from the same streams give the same clustering.
            let same =
                last.as_ref().filter(|(c, _)| method.clusterer.is_some() && **c == constraints);
            if let Some((_, at)) = same {
                return Ok(Made::Again(*at));
            }
            let constraints = Arc::new(constraints);
            last = Some((constraints.clone(), rows.len()));
            let under = Problem { constraints, ..seen };
            let work = || cluster_and_score(env, at, (&under, &lineage), own, p.unwrap_or(0), &ctx);
            Ok(Made::New(Box::new(guarded(&resolved.id, work)?)))
        });
        match result {
            Ok(Made::New(scored)) => {
                scored.into_row(&mut row);
                let warnings = ctx.warnings();
                let mut all = notes.clone();
                all.extend(warnings);
                all.sort();
                all.dedup();
                let base = env.experiment.base();
                row.message = (!all.is_empty()).then(|| from_base(&all.join("; "), base));
                row.time_total_s =
                    Some(before + began.elapsed().as_secs_f64() + own.map_or(0.0, |s| s.seconds));
            }
            Ok(Made::Again(at)) => {
                let earlier = rows[at].clone();
                row = Row {
                    p_requested: row.p_requested,
                    queries: row.queries,
                    cost: row.cost,
                    inferred: row.inferred,
                    dont_know: row.dont_know,
                    answers_contradicting: row.answers_contradicting,
                    constraints_used: row.constraints_used,
                    saturated: row.saturated,
                    ..earlier
                };
            }
            Err(Error::Cancelled) => return Err(Error::Cancelled),
            Err(error) => note_failure(env, set, error, &mut row),
        }
        rows.push(row);
    }
    Ok(rows)
}

/// Writes an error into the row that it left without a result.
fn note_failure(env: &RunEnv, set: &Prepared, error: Error, row: &mut Row) {
    let timeout = matches!(error.root(), Error::TimedOut { .. });
    row.status = if timeout { RowStatus::Timeout } else { RowStatus::Error };
    row.seeded = Some(is_seeded(&error));
    // The message names the limit of the cell, not what was left of it; that of a plugin's own time-out,
    // which has a place, stays.
    let error = match (&error, env.experiment.run.cell_timeout_s) {
        (Error::TimedOut { .. }, Some(seconds)) => Error::TimedOut { seconds },
        _ => error,
    };
    let mut message = error.render(&|i| set.object(i));
    if let Error::Memory { limit, .. } = error.root()
        && Some(*limit) == env.cell_limit()
    {
        message = message.replace("--memory-limit", "--cell-memory");
    }
    if let Error::Feature { .. } = error.root() {
        message = in_file_words(&message);
    }
    row.message = Some(from_base(&message, env.experiment.base()));
}

/// A message that names files as the experiment does: rows are the same wherever it lies. Panics and functions of other
/// languages may write control characters, which do not reach tables and reports.
fn from_base(message: &str, base: &Path) -> String {
    // With a separator at its end; nothing where paths start at the working directory.
    let base = base.join("").display().to_string();
    if base.is_empty() {
        return visible(message);
    }
    let (mut out, mut rest) = (String::new(), message);
    while let Some((before, after)) = rest.split_once(&base) {
        out += before;
        // Within a path it is a folder of the same name.
        if out.ends_with(|c: char| c.is_alphanumeric() || "/\\._-".contains(c)) {
            out += &base;
        }
        rest = after;
    }
    visible(&(out + rest))
}

/// True if an error will come again from the same data, settings and seed. Time and memory depend on
/// the machine, files and programs outside on what they are by then.
fn is_seeded(error: &Error) -> bool {
    let root = error.root();
    let outside = matches!(
        root,
        Error::Data { .. } | Error::Feature { .. } | Error::Plugin { .. } | Error::Oracle(_)
    );
    !outside && !matches!(root, Error::TimedOut { .. } | Error::Memory { .. })
}

enum Made {
    New(Box<Scored>),
    /// The same as the row with this number.
    Again(usize),
}

fn base_row(env: &RunEnv, at: usize) -> Row {
    let cell = &env.grid.cells[at];
    let set = &env.grid.datasets[cell.dataset];
    let resolved = env.grid.method_of_cell(at);
    let named = |slot: &str| own_name(&resolved.config[slot]).map(str::to_string);
    // A number that a clusterer has of its own is what it is asked for.
    let own_k = resolved.config["clusterer"]["k"].as_u64().and_then(|k| usize::try_from(k).ok());
    Row {
        experiment: env.experiment.head.name.clone(),
        identity: cell.identity.clone(),
        dataset: set.id.clone(),
        target: set.target.clone(),
        n: set.set.n(),
        d: set.set.d(),
        classes: set.set.k(),
        method: resolved.id.clone(),
        clusterer: named("clusterer"),
        selector: named("selector"),
        oracle: named("oracle"),
        ensemble: resolved.generator.as_ref().map(|g| g.typetag_name().into()),
        repeat: cell.repeat,
        fold: cell.fold,
        view: resolved.method.selector.as_ref().map(|_| resolved.method.view.name().into()),
        k: own_k.or(resolved.k),
        version: env!("CARGO_PKG_VERSION").into(),
        scores: env.experiment.columns().iter().map(|c| (c.clone(), None)).collect(),
        ..Row::default()
    }
}

/// The constraints a clusterer gets at a point: those given and those selected, which are counted.
fn constraints_at(
    method: &Method,
    own: Option<&Selected>,
    seen: &Problem,
    p: usize,
    row: &mut Row,
) -> Result<Constraints> {
    let reads = method.reads_constraints();
    let Some(selection) = own.and_then(|s| s.selection.as_ref().ok()) else {
        (row.queries, row.cost) = (Some(0), Some(0.0));
        row.constraints_read = (!seen.constraints.is_empty()).then_some(reads);
        return Ok((*seen.constraints).clone());
    };
    let counts = selection.counts(p);
    (row.queries, row.cost) = (Some(counts.queries), Some(counts.cost));
    (row.inferred, row.dont_know) = (Some(counts.inferred), Some(counts.dont_know));
    row.answers_contradicting = Some(counts.conflicts);
    row.saturated = Some(selection.saturated(p));
    row.constraints_read = Some(reads);
    let used = selection.used(p, method.on_conflict, &seen.constraints)?;
    row.constraints_used = Some(if reads { used } else { 0 });
    method.constraints_at(seen, selection, p)
}

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

/// Result of the clusterer on the problem without constraints, from the same streams; `None` without
/// constraints or without a clusterer.
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

/// The pairs given or asked.
fn explicit(constraints: &Constraints) -> Vec<(u32, u32)> {
    let explicit = constraints.pairs().iter();
    let explicit = explicit.filter(|c| matches!(c.origin, Origin::Given | Origin::Queried));
    let mut pairs: Vec<(u32, u32)> = explicit.map(|c| (c.i, c.j)).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// The scores by column; a metric that needs classes has no score without them.
fn scores(
    experiment: &Experiment,
    set: &Prepared,
    input: &MetricInput<'_>,
) -> Result<BTreeMap<String, Option<f64>>> {
    let mut scores = BTreeMap::new();
    for (metric, column) in experiment.scoring.metrics.iter().zip(experiment.columns()) {
        let tag = metric.typetag_name();
        let score = if metric.properties().needs_truth && set.set.classes.is_none() {
            None
        } else {
            guarded(tag, || metric.score(input)).map_err(|e| e.at("scoring"))?
        };
        if score.is_some_and(|s| !s.is_finite()) {
            return Err(Error::Contract {
                plugin: tag.into(),
                broken: "the score is not a finite number".into(),
            });
        }
        scores.insert(column.clone(), score);
    }
    Ok(scores)
}

/// Clusters at a curve point and scores the result.
///
/// # Errors
/// Returns the errors of the method and of the metrics; `Contract` for a score that is not a finite number.
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
    let ResolvedMethod { method, generator, .. } = env.grid.method_of_cell(at);
    ctx.check()?;
    let selection = own.and_then(|s| s.selection.as_ref().ok());
    let (input, run) = method
        .clustering_at(under, selection, p, 0, ctx)
        .map_err(|e| lineage.features.error_before(e).with_feature_names(&set.set.feature_names))?;
    let test = env.grid.test(cell.dataset, cell.repeat, cell.fold);
    let scope: Option<Vec<bool>> = match (env.experiment.scoring.scope, test) {
        (Scope::All, _) | (_, None) => None,
        (Scope::Test, Some(test)) => Some(test.to_vec()),
        (Scope::Train, Some(test)) => Some(test.iter().map(|t| !t).collect()),
    };
    let exclude: Option<Vec<(u32, u32)>> = match env.experiment.scoring.exclude_constrained {
        Exclude::None => None,
        Exclude::Explicit => Some(explicit(&under.constraints)),
    };
    let metrics = &env.experiment.scoring.metrics;
    let wanted =
        |fact: fn(&MetricProperties) -> bool| metrics.iter().any(|m| fact(&m.properties()));
    let heldout = match test {
        Some(test) if wanted(|facts| facts.needs_heldout) => Some(heldout(&set.given, test)?),
        _ => None,
    };
    let unconstrained = if wanted(|facts| facts.needs_unconstrained) {
        without_constraints(method, under, ctx)?
    } else {
        None
    };
    // That of the first generator that the method holds: the one it used itself.
    let ensemble = match generator {
        Some(generator) if wanted(|facts| facts.needs_ensemble) => {
            let labels = ctx.ensemble_labels(&**generator, &input.problem);
            Some(labels.map_err(|e| e.at("scoring the ensemble"))?)
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
        ctx: Some(ctx),
    };
    let scores = scores(env.experiment, set, &metric_input)?;
    let test_classes = set.labels().map(|labels| {
        let inside = |i: &usize| scope.as_ref().is_none_or(|s| s[*i]);
        let classes: BTreeSet<u32> =
            (0..labels.len()).filter(inside).filter_map(|i| labels[i]).collect();
        classes.len()
    });
    let keep_labels = env.experiment.run.keep_labels;
    let weights = Some(lineage.then(&input.lineage))
        .filter(|_| cell.repeat == 0 && cell.fold == 0)
        .and_then(|l| FeatureWeights::learned(&run.clustering.extras, &l, &set.set.feature_names))
        .filter(|w| w.rows.len() * w.features.len() <= MOST_WEIGHTS);
    Ok(Scored { run, test_classes, scores, keep_labels, weights })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_as_the_experiment_does() {
        let said = |base: &str, message: &str| from_base(message, Path::new(base));
        let message = "line 2 of studies/a/pairs.csv, as in \"studies/a/b.csv\" and in old/studies/a/pairs.csv";
        let bare = "line 2 of pairs.csv, as in \"b.csv\" and in old/studies/a/pairs.csv";
        assert_eq!(said("studies/a", message), bare);
        assert_eq!(said("", message), message);
        assert_eq!(said(".", "no ./../own.csv"), "no ../own.csv");
        assert_eq!(said("", "a\u{1b}[2J"), "a?[2J");
    }
}
