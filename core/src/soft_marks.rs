//! Soft constraints for methods that can only obey constraints.

use crate::closure::OnConflict;
use crate::constraints::Kind;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::text::{count, form};

/// Runs a method that can only obey constraints. The method gets the soft constraints without their marks, and a
/// warning reports that they are enforced. If they contradict the others, or if the constraints cannot be satisfied
/// because of them, all soft constraints are left out, with another warning.
///
/// # Errors
/// The errors of the method, except those that only soft constraints cause.
pub fn obeying<T>(
    tag: &str,
    problem: &Problem,
    ctx: &Context,
    run: impl Fn(&Problem) -> Result<T>,
) -> Result<T> {
    obeying_kinds(&[Kind::MustLink, Kind::CannotLink], tag, problem, ctx, &run)
}

/// As [`obeying`], for a method that obeys must-links and does not use cannot-links.
///
/// # Errors
/// Returns the errors of [`obeying`].
pub fn obeying_must_links<T>(
    tag: &str,
    problem: &Problem,
    ctx: &Context,
    run: impl Fn(&Problem) -> Result<T>,
) -> Result<T> {
    obeying_kinds(&[Kind::MustLink], tag, problem, ctx, &run)
}

fn obeying_kinds<T>(
    kinds: &[Kind],
    tag: &str,
    problem: &Problem,
    ctx: &Context,
    run: &dyn Fn(&Problem) -> Result<T>,
) -> Result<T> {
    let given = &problem.constraints;
    let soft = given.soft_pairs(kinds);
    if soft == 0 {
        return run(problem);
    }
    let soft = soft as usize;
    let marked = format!("{} marked soft {}", count(soft, "constraint"), form(soft, "is", "are"));
    let with = problem.clone().with_constraints(given.soft_settled(kinds, true));
    let without = problem.clone().with_constraints(given.soft_settled(kinds, false));
    let conflicts = |problem: &Problem| -> Result<usize> {
        Ok(problem.closure(OnConflict::Keep)?.conflicts().len())
    };
    if conflicts(&with)? <= conflicts(&without)? {
        match run(&with) {
            Err(e) if contradicts(e.root()) => {}
            done => {
                ctx.warn(format!("{tag}: {marked} enforced as if hard"));
                return done;
            }
        }
    }
    let done = run(&without)?;
    ctx.warn(format!(
        "{tag}: {marked} left out, because the other constraints cannot be satisfied with them"
    ));
    Ok(done)
}

fn contradicts(error: &Error) -> bool {
    matches!(
        error,
        Error::InconsistentConstraints(_)
            | Error::InfeasibleConstraints { .. }
            | Error::UndecidedConstraints { .. }
    )
}
