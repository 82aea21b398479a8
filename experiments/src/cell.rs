//! What happens in one cell, and in the selection before it?
//!
//! A selection asks up to the largest curve point; a cell takes the first p replies at every point,
//! clusters from scratch, and scores. Whatever goes wrong becomes rows with the error.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use mustlink::clustering::Status;
use mustlink::constraints::{Constraint, Constraints, Kind, Origin};
use mustlink::context::{Context, EnsembleStore};
use mustlink::ensemble::Ensemble;
use mustlink::method::Method;
use mustlink::roles::{EnsembleGenerator, MetricInput, MetricProperties, RoleObject, Scene};
use mustlink::run::{self, guarded};
use mustlink::selection::{self, Counts, Selection};
use mustlink::{Error, Problem, Result};

use crate::config::{EnsemblePer, Exclude, Experiment, Scope};
use crate::data::Prepared;
use crate::row::{Row, RowStatus};
use crate::work::{self, Bound, Budget, Work, first_generator};

/// What cells and selections of a run have in common.
pub(crate) struct Place<'a> {
    pub experiment: &'a Experiment,
    pub work: &'a Work,
    /// The curve points; absent when another method decides.
    pub points: Option<&'a [usize]>,
    pub ensembles: &'a EnsembleStore,
    pub cancel: Arc<AtomicBool>,
    pub memory_limit: Option<u64>,
}

/// A selection that is over.
pub(crate) struct Selected {
    selection: Result<Selection>,
    /// The curve point it stands for, when another method decides.
    point: Option<usize>,
    seconds: f64,
    warnings: Vec<String>,
}

impl Place<'_> {
    fn context(&self, set: &Prepared, repeat: usize, fold: usize, since: Instant) -> Context {
        let limit = self.experiment.run.cell_timeout_s;
        let left = limit.map(|l| (l - since.elapsed().as_secs_f64()).max(0.0));
        let root = work::dataset_path(self.experiment, &set.id);
        let root = match self.experiment.head.ensemble_per {
            EnsemblePer::Dataset => root,
            EnsemblePer::Repeat => root.index(repeat),
        };
        work::context(self.experiment, &set.id, repeat, fold)
            .cancel(self.cancel.clone())
            .time_limit(left)
            .memory_limit(self.memory_limit)
            .ensembles(self.ensembles.clone(), root)
            .build()
    }
}

/// Carries out a selection; `first` is the one it takes its number of questions from.
pub(crate) fn select(place: &Place, s: usize, first: Option<&Selected>) -> Selected {
    let node = &place.work.selections[s];
    let set = &place.work.datasets[node.dataset];
    let bound = &place.work.bound[node.dataset][node.method];
    let start = Instant::now();
    let ctx = place.context(set, node.repeat, node.fold, start);
    let test = place.work.test(node.dataset, node.repeat, node.fold);
    let (problem, _) = work::problem(set, bound.k, test);
    let followed = match (node.budget, first) {
        (Budget::Follow(_), Some(f)) => match &f.selection {
            Ok(selection) => Ok(Some(selection.asked())),
            Err(Error::Cancelled) => Err(Error::Cancelled),
            Err(e) => Err(Error::Oracle(format!("the method to follow failed: {e}"))),
        },
        _ => Ok(None),
    };
    let selection = followed.and_then(|followed| {
        let points = match (followed, place.points) {
            (Some(p), _) => vec![p],
            (None, Some(points)) => points.to_vec(),
            (None, None) => Vec::new(),
        };
        let selection = guarded("selector", || ask(bound, set, &problem, &points, &ctx))?;
        Ok((followed, selection))
    });
    let point = match &selection {
        Ok((followed, selection)) if node.budget != Budget::Points => {
            Some(followed.unwrap_or_else(|| selection.asked()))
        }
        _ => None,
    };
    Selected {
        selection: selection.map(|(_, s)| s),
        point,
        seconds: start.elapsed().as_secs_f64(),
        warnings: ctx.warnings(),
    }
}

fn ask(
    bound: &Bound,
    set: &Prepared,
    problem: &Problem,
    points: &[usize],
    ctx: &Context,
) -> Result<Selection> {
    let method = &bound.method;
    let (Some(selector), Some(oracle)) = (&method.selector, &method.oracle) else {
        return Err(Error::bad_param("selector", "nothing", "a selector with an oracle"));
    };
    let (seen, _) = run::transform(method.prefix(), problem, ctx)?;
    let scene = Scene { data: Some(seen.data.clone()), ..set.set.scene(ctx.child("oracle")) };
    let mut respondent = oracle.open(&scene).map_err(|e| e.at("oracle"))?;
    let provide =
        |so_far: &Constraints, _request: u64| method.between_questions(&seen, so_far, 0, ctx);
    let budget = points.last().copied();
    let ctx = ctx.child("selector");
    selection::run(&**selector, &seen, &mut *respondent, budget, points, Some(&provide), &ctx)
        .map_err(|e| e.at("selector"))
}

/// Carries out a cell: one row per curve point.
///
/// # Errors
/// `Cancelled` alone; every other error is in the rows.
pub(crate) fn run(place: &Place, at: usize, selected: Option<&Selected>) -> Result<Vec<Row>> {
    let cell = &place.work.cells[at];
    let set = &place.work.datasets[cell.dataset];
    let bound = &place.work.bound[cell.dataset][cell.method];
    let start = Instant::now();
    let points: Vec<Option<usize>> = match place.points {
        Some(points) => points.iter().copied().map(Some).collect(),
        None => vec![selected.and_then(|s| s.point)],
    };
    let base = base_row(place, at);
    let own = selected.filter(|_| bound.method.selector.is_some());
    let test = place.work.test(cell.dataset, cell.repeat, cell.fold);
    let (problem, left_out) = work::problem(set, bound.k, test);
    let mut notes: Vec<String> = set.notes.clone();
    notes.extend(own.into_iter().flat_map(|s| s.warnings.iter().cloned()));
    if left_out > 0 {
        notes.push(format!("{left_out} given constraints touch test objects and were left out"));
    }
    let failed_first = selected.and_then(|s| s.selection.as_ref().err());
    let seen = match failed_first {
        Some(e) => Err(e.clone()),
        None => {
            let ctx = place.context(set, cell.repeat, cell.fold, start);
            let made =
                guarded("transforms", || run::transform(bound.method.prefix(), &problem, &ctx));
            notes.extend(ctx.warnings());
            made.map(|(seen, _)| seen)
        }
    };
    let before = start.elapsed().as_secs_f64();
    let mut rows: Vec<Row> = Vec::with_capacity(points.len());
    let mut last: Option<(Arc<Constraints>, usize)> = None;
    for p in points {
        let began = Instant::now();
        let mut row = Row { p_requested: p, time_select_s: own.map(|s| s.seconds), ..base.clone() };
        let ctx = place.context(set, cell.repeat, cell.fold, start);
        let made = seen.clone().and_then(|seen| {
            let (constraints, counts) = constraints_at(bound, own, &seen, p.unwrap_or(0))?;
            fenced(bound, &constraints, test)?;
            if let Some((counts, saturated)) = counts {
                (row.queries, row.cost) = (Some(counts.queries), Some(counts.cost));
                (row.inferred, row.dont_know) = (Some(counts.inferred), Some(counts.dont_know));
                row.saturated = Some(saturated);
            } else {
                (row.queries, row.cost) = (Some(0), Some(0.0));
            }
            row.constraints_must = Some(constraints.count(Kind::MustLink));
            row.constraints_cannot = Some(constraints.count(Kind::CannotLink));
            // The same constraints from the same streams give the same clustering.
            let same = last
                .as_ref()
                .filter(|(c, _)| bound.method.clusterer.is_some() && **c == constraints);
            if let Some((_, at)) = same {
                return Ok(Made::Again(*at));
            }
            let constraints = Arc::new(constraints);
            last = Some((constraints.clone(), rows.len()));
            let under = Problem { constraints, ..seen };
            let work = || cluster_and_score(place, at, &under, own, p.unwrap_or(0), &ctx);
            Ok(Made::New(Box::new(guarded(&place.experiment.methods[cell.method].id, work)?)))
        });
        match made {
            Ok(Made::New(scored)) => {
                scored.into_row(&mut row);
                let warnings = ctx.warnings();
                let mut all = notes.clone();
                all.extend(warnings);
                all.sort();
                all.dedup();
                row.message = (!all.is_empty()).then(|| all.join("; "));
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
                    saturated: row.saturated,
                    ..earlier
                };
            }
            Err(Error::Cancelled) => return Err(Error::Cancelled),
            Err(error) => {
                let timeout = matches!(error.root(), Error::TimedOut { .. });
                row.status = if timeout { RowStatus::Timeout } else { RowStatus::Error };
                // What was left of the cell's time is said as the limit it was cut from; a plugin's
                // own time-out stands under its place and keeps its words.
                let error = match (&error, place.experiment.run.cell_timeout_s) {
                    (Error::TimedOut { .. }, Some(seconds)) => Error::TimedOut { seconds },
                    _ => error,
                };
                row.message = Some(error.render(&|i| set.set.id(i)));
            }
        }
        rows.push(row);
    }
    Ok(rows)
}

enum Made {
    New(Box<Scored>),
    /// The same as the row with this number.
    Again(usize),
}

fn base_row(place: &Place, at: usize) -> Row {
    let cell = &place.work.cells[at];
    let set = &place.work.datasets[cell.dataset];
    let bound = &place.work.bound[cell.dataset][cell.method];
    let method = &bound.method;
    Row {
        experiment: place.experiment.head.name.clone(),
        identity: cell.identity.clone(),
        dataset: set.id.clone(),
        target: set.target.clone(),
        n: set.set.n(),
        d: set.set.d(),
        classes: set.set.k(),
        method: place.experiment.methods[cell.method].id.clone(),
        clusterer: method.clusterer.as_ref().map(|c| c.typetag_name().into()),
        selector: method.selector.as_ref().map(|s| s.typetag_name().into()),
        oracle: method.oracle.as_ref().map(|o| o.typetag_name().into()),
        ensemble: bound.ensemble.clone(),
        repeat: cell.repeat,
        fold: cell.fold,
        view: method.selector.as_ref().map(|_| method.view.name().into()),
        k: bound.k,
        version: env!("CARGO_PKG_VERSION").into(),
        scores: place.experiment.columns().iter().map(|c| (c.clone(), None)).collect(),
        ..Row::default()
    }
}

/// The constraints a clusterer gets at a point: those given and those selected.
fn constraints_at(
    bound: &Bound,
    own: Option<&Selected>,
    seen: &Problem,
    p: usize,
) -> Result<(Constraints, Option<(Counts, bool)>)> {
    let Some(selection) = own.and_then(|s| s.selection.as_ref().ok()) else {
        return Ok(((*seen.constraints).clone(), None));
    };
    let selected = selection.at(p, bound.method.view)?;
    let all = seen.constraints.union(&selected, seen.n())?;
    Ok((all, Some((selection.counts(p), selection.saturated(p)))))
}

/// No statement about a test object may reach a method, wherever it comes from.
fn fenced(bound: &Bound, constraints: &Constraints, test: Option<&Arc<[bool]>>) -> Result<()> {
    let Some(test) = test else { return Ok(()) };
    let touches = |o: u32| test[o as usize];
    let pair = constraints
        .pairs()
        .iter()
        .filter(|c| matches!(c.origin, Origin::Given | Origin::Queried | Origin::Entailed))
        .find(|c| touches(c.i) || touches(c.j))
        .map(|c| format!("its constraint ({}, {}) touches a test object", c.i, c.j));
    let named = || {
        let found = constraints.neighbourhoods().iter().flatten().copied().find(|&o| touches(o));
        found.map(|o| format!("its neighbourhoods hold the test object {o}"))
    };
    match pair.or_else(named) {
        None => Ok(()),
        Some(broken) => {
            let plugin = bound.method.selector.as_ref().map_or("constraints", |s| s.typetag_name());
            Err(Error::Contract { plugin: plugin.into(), broken })
        }
    }
}

struct Scored {
    run: run::Run,
    test_classes: Option<usize>,
    scores: BTreeMap<String, Option<f64>>,
    keep_labels: bool,
}

impl Scored {
    fn into_row(self, row: &mut Row) {
        let clustering = self.run.clustering;
        row.k_found = Some(clustering.k - self.run.empty_clusters);
        row.violations = Some(self.run.violations.total());
        row.objective = clustering.objective.filter(|o| o.is_finite());
        row.iterations = (!clustering.history.is_empty()).then_some(clustering.history.len());
        row.converged = Some(clustering.status == Status::Converged);
        row.test_classes = self.test_classes;
        row.scores = self.scores;
        row.time_cluster_s = Some(self.run.seconds);
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
    let (input, _) = run::transform_from(method.prefix().len(), method.suffix(), &free, ctx)
        .map_err(|e| e.at("scoring without constraints"))?;
    let run = run::cluster(&**clusterer, &input, &ctx.child("clusterer"))
        .map_err(|e| e.at("scoring without constraints"))?;
    Ok(Some(run.clustering.labels))
}

/// The ensemble of the first generator that a method holds, if it holds one: the one it used itself.
fn ensemble_of(bound: &Bound, input: &Problem, ctx: &Context) -> Result<Option<Arc<Ensemble>>> {
    let Some(config) = first_generator(&bound.config) else { return Ok(None) };
    let build = |message| Error::Plugin { tag: "generator".into(), message };
    let generator = <dyn EnsembleGenerator as RoleObject>::from_value(config.clone());
    let ensemble = ctx.ensemble_labels(&*generator.map_err(build)?, input);
    ensemble.map(Some).map_err(|e| e.at("scoring the ensemble"))
}

fn cluster_and_score(
    place: &Place,
    at: usize,
    under: &Problem,
    own: Option<&Selected>,
    p: usize,
    ctx: &Context,
) -> Result<Scored> {
    let cell = &place.work.cells[at];
    let set = &place.work.datasets[cell.dataset];
    let method = &place.work.bound[cell.dataset][cell.method].method;
    ctx.check()?;
    let (input, run) = match &method.clusterer {
        Some(_) => method.cluster(under, 0, ctx)?,
        None => {
            let tag = method.selector.as_ref().map_or("selector", |s| s.typetag_name());
            let snapshot = own
                .and_then(|s| s.selection.as_ref().ok())
                .and_then(|s| s.snapshot(p))
                .cloned()
                .ok_or_else(|| Error::Contract {
                    plugin: tag.into(),
                    broken: "it says that it clusters by itself and gives no clustering".into(),
                })?;
            (under.clone(), run::account(tag, snapshot, under, 0.0)?)
        }
    };
    let test = place.work.test(cell.dataset, cell.repeat, cell.fold);
    let scope: Option<Vec<bool>> = match (place.experiment.scoring.scope, test) {
        (Scope::All, _) | (_, None) => None,
        (Scope::Test, Some(test)) => Some(test.to_vec()),
        (Scope::Train, Some(test)) => Some(test.iter().map(|t| !t).collect()),
    };
    let exclude: Option<Vec<(u32, u32)>> = match place.experiment.scoring.exclude_constrained {
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
    let metrics = &place.experiment.scoring.metrics;
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
    let ensemble = match wanted(|facts| facts.needs_ensemble) {
        true => ensemble_of(&place.work.bound[cell.dataset][cell.method], &input, ctx)?,
        false => None,
    };
    let metric_input = MetricInput {
        labels: &run.clustering.labels,
        truth: set.labels(),
        scope: scope.as_deref(),
        data: Some(&input.data),
        constraints: Some(&under.constraints),
        heldout: heldout.as_ref(),
        unconstrained: unconstrained.as_deref(),
        exclude: exclude.as_deref(),
        ensemble: ensemble.as_deref(),
    };
    let mut scores = BTreeMap::new();
    for (metric, column) in metrics.iter().zip(place.experiment.columns()) {
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
        let found: std::collections::BTreeSet<u32> =
            (0..labels.len()).filter(inside).filter_map(|i| labels[i]).collect();
        found.len()
    });
    Ok(Scored { run, test_classes, scores, keep_labels: place.experiment.run.keep_labels })
}
