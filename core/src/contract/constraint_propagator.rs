//! The laws of [`ConstraintPropagator`](crate::roles::ConstraintPropagator).

use super::{Law, Verdict, fixtures, in_threads};
use crate::clustering::Clustering;
use crate::context::Context;
use crate::ensure;
use crate::roles::{ConstraintPropagator, Propagated, RoleObject};
use crate::run::guarded;

type Plugin = dyn ConstraintPropagator;

pub(super) fn laws() -> Vec<Law<Plugin>> {
    fn always(_: &Plugin) -> bool {
        true
    }
    vec![
        Law { name: "given_constraints_are_kept", applies: always, check: given_are_kept },
        Law { name: "same_seed_same_bits", applies: always, check: same_seed_same_bits },
        Law { name: "pairwise_results_are_symmetric", applies: always, check: symmetric },
    ]
}

fn propagate(p: &Plugin, seed: u64) -> Result<(Propagated, crate::Constraints), String> {
    let (problem, classes) = fixtures::dense(seed);
    let given = fixtures::true_constraints(&classes, 12, seed);
    let problem = problem.with_constraints(given.clone());
    let clustering = Clustering::from_labels(classes);
    let clustering = p.properties().needs_clustering.then_some(&clustering);
    guarded(p.tag(), || p.propagate(&given, clustering, &problem, &Context::new(seed)))
        .map(|out| (out, given))
        .map_err(|e| e.to_string())
}

fn given_are_kept(p: &Plugin) -> Verdict {
    let (out, given) = propagate(p, 1)?;
    if let Propagated::Constraints(all) = out {
        for c in given.pairs() {
            let kept = all.pairs().iter().any(|o| (o.i, o.j, o.kind) == (c.i, c.j, c.kind));
            ensure!(kept, "({}, {}) was given and is gone", c.i, c.j);
        }
    }
    Ok(())
}

fn same_seed_same_bits(p: &Plugin) -> Verdict {
    let first = propagate(p, 2)?;
    for threads in [1, 2, 7] {
        let again = in_threads(threads, || propagate(p, 2))?;
        ensure!(again == first, "{threads} threads give another result");
    }
    Ok(())
}

fn symmetric(p: &Plugin) -> Verdict {
    if let (Propagated::Distances(x) | Propagated::Affinity(x), _) = propagate(p, 3)? {
        ensure!(x.iter().all(|v| v.is_finite()), "an entry is not finite");
        ensure!(x == x.t(), "the matrix is not symmetric");
    }
    Ok(())
}
