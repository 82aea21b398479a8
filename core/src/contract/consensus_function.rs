//! The laws of [`ConsensusFunction`](crate::roles::ConsensusFunction).

use super::{Law, Verdict, fixtures, in_threads};
use crate::clustering::{Clustering, canonical};
use crate::context::Context;
use crate::ensemble::{Ensemble, Member};
use crate::ensure;
use crate::problem::Problem;
use crate::random::SeedPath;
use crate::roles::{ConsensusFunction, RoleObject};
use crate::run::{account, guarded};

type Plugin = dyn ConsensusFunction;

pub(super) fn laws() -> Vec<Law<Plugin>> {
    fn always(_: &Plugin) -> bool {
        true
    }
    fn from_labels(p: &Plugin) -> bool {
        let needs = p.needs();
        !needs.memberships && !needs.distances && !needs.feature_weights
    }
    vec![
        Law { name: "one_label_per_object", applies: from_labels, check: one_label_per_object },
        Law { name: "same_seed_same_bits", applies: from_labels, check: same_seed_same_bits },
        Law { name: "names_of_labels_are_nothing", applies: from_labels, check: names_of_labels },
        Law { name: "order_of_members_is_nothing", applies: from_labels, check: order_of_members },
        Law {
            name: "a_unanimous_ensemble_is_returned",
            applies: |p| from_labels(p) && !p.needs().balanced,
            check: unanimous,
        },
        Law { name: "extreme_k_is_legal", applies: from_labels, check: extreme_k_is_legal },
        Law { name: "needs_are_declared", applies: always, check: needs_are_declared },
    ]
}

/// Seven noisy copies of the classes of 45 objects, none of them the same.
fn noisy(seed: u64) -> (Ensemble, Problem) {
    let (problem, classes) = fixtures::dense(seed);
    let mut s = SeedPath::new(seed).stream("noise");
    let members = (0..7).map(|_| {
        let labels: Vec<u32> =
            classes.iter().map(|&c| if s.unit() < 0.15 { s.below(3) as u32 } else { c }).collect();
        Member::from_labels(&labels)
    });
    (Ensemble::new(problem.n(), members.collect()).expect("members fit"), problem)
}

fn combine(p: &Plugin, e: &Ensemble, problem: &Problem) -> Result<Clustering, String> {
    let result = guarded(p.tag(), || p.combine(e, problem, &Context::new(5)))
        .and_then(|c| account(p.tag(), c, problem, 0.0));
    result.map(|r| r.clustering).map_err(|e| e.to_string())
}

fn one_label_per_object(p: &Plugin) -> Verdict {
    for seed in 0..3 {
        let (e, problem) = noisy(seed);
        combine(p, &e, &problem)?;
    }
    Ok(())
}

fn same_seed_same_bits(p: &Plugin) -> Verdict {
    let (e, problem) = noisy(1);
    let first = combine(p, &e, &problem)?;
    for threads in [1, 2, 7] {
        let again = in_threads(threads, || combine(p, &e, &problem))?;
        ensure!(again == first, "{threads} threads give another result");
    }
    Ok(())
}

fn names_of_labels(p: &Plugin) -> Verdict {
    let (e, problem) = noisy(2);
    // Names 0 and 1 exchanged in every member.
    let renamed = e.members().iter().map(|m| {
        let labels = m.labels.iter().map(|&l| if l < 2 { 1 - l } else { l }).collect();
        Member { labels, ..m.clone() }
    });
    let renamed = Ensemble::new(e.n(), renamed.collect()).map_err(|e| e.to_string())?;
    let (a, b) = (combine(p, &e, &problem)?, combine(p, &renamed, &problem)?);
    ensure!(canonical(&a.labels) == canonical(&b.labels), "renamed labels give another partition");
    Ok(())
}

fn order_of_members(p: &Plugin) -> Verdict {
    let (e, problem) = noisy(3);
    let mut members = e.members().to_vec();
    members.reverse();
    let reversed = Ensemble::new(e.n(), members).map_err(|e| e.to_string())?;
    let (a, b) = (combine(p, &e, &problem)?, combine(p, &reversed, &problem)?);
    ensure!(canonical(&a.labels) == canonical(&b.labels), "another order gives another partition");
    Ok(())
}

fn unanimous(p: &Plugin) -> Verdict {
    let (problem, classes) = fixtures::dense(4);
    let members = vec![Member::from_labels(&classes); 4];
    let e = Ensemble::new(problem.n(), members).map_err(|e| e.to_string())?;
    let c = combine(p, &e, &problem)?;
    ensure!(canonical(&c.labels) == canonical(&classes), "it returns something else");
    Ok(())
}

fn extreme_k_is_legal(p: &Plugin) -> Verdict {
    let (e, mut problem) = noisy(5);
    problem.k = Some(1);
    let one = combine(p, &e, &problem)?;
    ensure!(one.labels.iter().all(|&l| l == 0), "k = 1 gives more than one cluster");
    problem.k = Some(problem.n());
    let all = combine(p, &e, &problem)?;
    ensure!(all.empty_clusters() == 0 && all.k == problem.n(), "k = n gives {} clusters", all.k);
    Ok(())
}

fn needs_are_declared(p: &Plugin) -> Verdict {
    let (e, problem) = noisy(6);
    let missing = crate::ensemble::check_needs(&e, p).is_err();
    let result = combine(p, &e, &problem);
    ensure!(missing || result.is_ok(), "labels alone should do, but: {:?}", result.err());
    Ok(())
}
