//! What happens in a selection: queries up to the largest curve point, made once for all cells that
//! share it.

use std::time::Instant;

use mustlink::constraints::Constraints;
use mustlink::context::Context;
use mustlink::method::Method;
use mustlink::roles::Scene;
use mustlink::run::{self, guarded};
use mustlink::selection::{self, Selection};
use mustlink::{Error, Problem, Result};

use crate::data::Prepared;
use crate::grid::Budget;
use crate::run_env::{RunEnv, problem};

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
    let resolved = &env.grid.method_of_selection(s).resolved;
    let start = Instant::now();
    let ctx = env.context(set, task.repeat, task.fold, start);
    let test = env.grid.test(task.dataset, task.repeat, task.fold);
    let (problem, _) = problem(set, resolved.k, test);
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
    let seen = run::transform(method.prefix(), problem, ctx)?.problem;
    let scene = Scene { data: Some(seen.data.clone()), ..set.set.scene(ctx.child("oracle")) };
    let mut respondent = oracle.open(&scene).map_err(|e| e.at("oracle"))?;
    let provide =
        |so_far: &Constraints, _request: u64| method.between_questions(&seen, so_far, 0, ctx);
    let budget = points.last().copied();
    let ctx = ctx.child("selector");
    selection::run(&**selector, &seen, &mut *respondent, budget, points, Some(&provide), &ctx)
        .map_err(|e| e.at("selector"))
}
