//! What a method that can only obey constraints does with those marked soft.

use crate::closure::OnConflict;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::problem::Problem;

/// Runs a method that can only obey constraints. It is given those marked soft without their marks, and a warning
/// says that they are enforced; they are left out, with another warning, if the constraints contradict each other or
/// cannot be met because of them.
///
/// # Errors
/// Those of the method, where the constraints that are not marked soft lead to them.
pub fn obeying<T>(
    tag: &str,
    problem: &Problem,
    ctx: &Context,
    run: impl Fn(&Problem) -> Result<T>,
) -> Result<T> {
    let given = &problem.constraints;
    let marked = match given.soft_pairs() {
        0 => return run(problem),
        1 => "1 constraint marked soft is".to_owned(),
        many => format!("{many} constraints marked soft are"),
    };
    let with = problem.clone().with_constraints(given.soft_settled(true));
    let without = problem.clone().with_constraints(given.soft_settled(false));
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
        "{tag}: {marked} left out, because the other constraints cannot be met with them"
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
