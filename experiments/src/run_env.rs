//! The shared data of the selections and cells of a run, and the selection itself: queries up to
//! the largest curve point, made once for all cells that share it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use mustlink_core::constraints::{Constraints, Origin};
use mustlink_core::context::{Context, EnsembleStore};
use mustlink_core::method::Method;
use mustlink_core::roles::Scene;
use mustlink_core::run::{self, guarded};
use mustlink_core::selection::{self, Selection};
use mustlink_core::{Error, Problem, Result};

use crate::config::{EnsemblePer, Experiment};
use crate::data::Prepared;
use crate::grid::{Budget, Grid};

/// Environment that cells and selections of a run share.
pub(crate) struct RunEnv<'a> {
    pub experiment: &'a Experiment,
    pub grid: &'a Grid,
    /// The curve points; absent when another method decides.
    pub points: Option<&'a [usize]>,
    pub ensembles: &'a EnsembleStore,
    pub cancel: Arc<AtomicBool>,
    pub memory_limit: Option<u64>,
    /// Bytes of all data sets, which are held throughout.
    pub data: u64,
}

impl RunEnv<'_> {
    /// Bytes that a cell may take at most.
    pub fn cell_limit(&self) -> Option<u64> {
        self.experiment.run.cell_memory_bytes
    }

    /// The context of a fold; its time limit counts from `since`.
    pub fn context(&self, set: &Prepared, repeat: usize, fold: usize, since: Instant) -> Context {
        let limit = self.experiment.run.cell_timeout_s;
        let left = limit.map(|l| (l - since.elapsed().as_secs_f64()).max(0.0));
        let dataset = set.path.clone();
        let ensembles = match self.experiment.head.ensemble_per {
            EnsemblePer::Dataset => dataset.clone(),
            EnsemblePer::Repeat => dataset.index(repeat),
        };
        let others = self.data - set.set.data.bytes();
        let run_limit = self.memory_limit.map(|limit| limit.saturating_sub(others));
        Context::builder(dataset.index(repeat).index(fold))
            .cancel(self.cancel.clone())
            .time_limit(left)
            .memory_limit(run_limit.into_iter().chain(self.cell_limit()).min())
            .base(self.experiment.base())
            .ensembles(self.ensembles.clone(), ensembles)
            .build()
    }
}

/// The problem of a fold as every method gets it: all objects, training objects eligible, given
/// constraints that touch a test object left out (their number comes second).
///
/// # Errors
/// No errors are known.
pub(crate) fn problem(
    set: &Prepared,
    k: Option<usize>,
    test: Option<&Arc<[bool]>>,
) -> Result<(Problem, usize)> {
    let (constraints, left_out) = set.constraints(|i| test.is_none_or(|test| !test[i]))?;
    let mut problem = Problem { k, constraints, ..Problem::new(set.set.data.clone()) };
    problem.eligible = test.map(|test| test.iter().map(|t| !t).collect());
    Ok((problem, left_out))
}

/// No constraint on a test object may reach a method, wherever it comes from.
///
/// # Errors
/// `Contract` with the constraint or the neighbourhood that does.
pub(crate) fn check_no_test_leak(
    method: &Method,
    constraints: &Constraints,
    test: Option<&Arc<[bool]>>,
) -> Result<()> {
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
            let plugin = method.selector.as_ref().map_or("constraints", |s| s.typetag_name());
            Err(Error::Contract { plugin: plugin.into(), broken })
        }
    }
}

/// A selection that is over.
pub(crate) struct Selected {
    pub selection: Result<Selection>,
    /// Its curve point, when another method decides.
    pub point: Option<usize>,
    pub seconds: f64,
    pub warnings: Vec<String>,
}

/// Carries out a selection; `first` is the one it takes its number of questions from.
pub(crate) fn select(env: &RunEnv, s: usize, first: Option<&Selected>) -> Selected {
    let task = &env.grid.selections[s];
    let set = &env.grid.datasets[task.dataset];
    let resolved = env.grid.method_of_selection(s);
    let start = Instant::now();
    let ctx = env.context(set, task.repeat, task.fold, start);
    let test = env.grid.test(task.dataset, task.repeat, task.fold);
    let followed = match (task.budget, first) {
        (Budget::Follow(_), Some(f)) => match &f.selection {
            Ok(selection) => Ok(Some(selection.asked())),
            Err(Error::Cancelled) => Err(Error::Cancelled),
            Err(e) => Err(Error::Oracle(format!("the method to follow failed: {e}"))),
        },
        _ => Ok(None),
    };
    let selection = followed.and_then(|followed| {
        let points = match (followed, env.points) {
            (Some(p), _) => vec![p],
            (None, Some(points)) => points.to_vec(),
            (None, None) => Vec::new(),
        };
        let (mut problem, _) = problem(set, resolved.k, test)?;
        let known = set.set.answerable().filter(|_| resolved.method.is_answered_by_classes());
        if let Some(known) = known {
            problem = problem.asking_about(&known);
        }
        let selection =
            guarded("selector", || ask(&resolved.method, set, &problem, &points, &ctx))?;
        Ok((followed, selection))
    });
    let point = match &selection {
        Ok((followed, selection)) if task.budget != Budget::Points => {
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
    method: &Method,
    set: &Prepared,
    problem: &Problem,
    points: &[usize],
    ctx: &Context,
) -> Result<Selection> {
    let (Some(selector), Some(oracle)) = (&method.selector, &method.oracle) else {
        return Err(Error::bad_param("selector", "nothing", "a selector with an oracle"));
    };
    method.admit_hard(&problem.constraints)?;
    let named = |e: Error| e.with_feature_names(&set.set.feature_names);
    let made = run::transform(method.prefix(), problem, ctx).map_err(named)?;
    let seen = made.problem;
    let scene = Scene { data: Some(seen.data.clone()), ..set.set.scene(ctx.child("oracle")) };
    let mut respondent = oracle.open(&scene).map_err(|e| e.at("oracle"))?;
    let provide =
        |so_far: &Constraints, _request: u64| method.between_questions(&seen, so_far, 0, ctx);
    let budget = points.last().copied();
    let ctx = ctx.child("selector");
    selection::run(&**selector, &seen, &mut *respondent, budget, points, Some(&provide), &ctx)
        .map_err(|e| named(made.lineage.features.error_before(e)).at("selector"))
}
