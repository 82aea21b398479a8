//! What is said of constraints and of the number of clusters, before a method runs and after?

use mustlink::closure::{Feasibility, OnConflict};
use mustlink::clustering::Clustering;
use mustlink::method::Method;
use mustlink::{Error, Problem, Result};

/// What is said of `given` constraints where nothing of the method reads them.
pub fn unread(method: &Method, given: usize) -> Option<String> {
    let unread = method.unread_by().filter(|_| given > 0)?;
    Some(format!(
        "{unread} reads no constraints: the {given} given ones change nothing; pck_means, \
         mpck_means and cop_kmeans are among those that do"
    ))
}

/// What is wrong with the given constraints, for methods that live with it; objects are named by `id`.
///
/// # Errors
/// None that is known: what contradicts is kept.
pub fn contradictions(problem: &Problem, id: &dyn Fn(usize) -> String) -> Result<Vec<String>> {
    let constraints = &problem.constraints;
    if constraints.is_empty() {
        return Ok(Vec::new());
    }
    let closure = problem.closure(OnConflict::Keep)?;
    let conflicts = closure.conflicts().len();
    // Each chain is a search of its own: long lists of them are no help.
    if conflicts > 1000 {
        return Ok(vec![format!("constraints: {conflicts} cannot-links contradict must-links")]);
    }
    if conflicts > 0 {
        let error = Error::InconsistentConstraints(closure.witnesses());
        return Ok(vec![error.render(id)]);
    }
    // Looking for cliques in large sets may take longer than clustering.
    match problem.k {
        Some(k) if k <= 2 || constraints.len() <= 10_000 => match closure.feasibility(k) {
            Feasibility::Infeasible(witness) => {
                let error = Error::InfeasibleConstraints { k, witness };
                Ok(vec![error.render(id)])
            }
            _ => Ok(Vec::new()),
        },
        _ => Ok(Vec::new()),
    }
}

/// What is said where the result has not as many clusters as were asked for; `name` grouped the objects.
pub fn other_k(
    method: &Method,
    name: &str,
    asked: Option<usize>,
    clustering: &Clustering,
) -> Option<String> {
    let found = clustering.sizes().iter().filter(|&&size| size > 0).count();
    let k = asked.filter(|&k| k != found)?;
    let needs = method.clusterer.as_ref().is_some_and(|c| c.properties().needs_k);
    Some(if needs {
        format!("k = {k} was asked for, and {name} leaves {} clusters empty", k.abs_diff(found))
    } else {
        format!(
            "k = {k} was asked for, and {name}, which finds their number, made {found} clusters"
        )
    })
}
