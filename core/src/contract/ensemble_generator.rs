//! The laws of [`EnsembleGenerator`](crate::roles::EnsembleGenerator).

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::ceilings;
use super::fixtures;
use super::law::{Law, Verdict, in_threads};
use crate::clustering::NONE;
use crate::constraints::Constraints;
use crate::context::Context;
use crate::ensemble::{Ensemble, Member};
use crate::ensure;
use crate::error::Error;
use crate::problem::Problem;
use crate::random::SeedPath;
use crate::roles::{EnsembleGenerator, RoleObject};
use crate::run::guarded;

type Plugin = dyn EnsembleGenerator;

pub(super) fn laws() -> Vec<Law<Plugin>> {
    fn always(_: &Plugin) -> bool {
        true
    }
    vec![
        Law { name: "members_are_compact", applies: always, check: members_are_compact },
        Law { name: "same_seed_same_bits", applies: always, check: same_seed_same_bits },
        Law {
            name: "same_bits_on_several_blocks",
            applies: |p| fixtures::is_linear(|shape| p.memory(shape, false)),
            check: same_bits_on_several_blocks,
        },
        Law { name: "a_shorter_ensemble_begins_a_longer_one", applies: always, check: prefix },
        Law {
            name: "constraints_are_read_only_if_declared",
            applies: |p| !p.properties().reads_constraints,
            check: constraints_are_not_read,
        },
        Law { name: "cancelling_is_heard", applies: always, check: cancelling_is_heard },
        Law { name: "largest_numbers_are_harmless", applies: always, check: largest_numbers },
    ]
}

/// A small copy of the plugin: its default may make hundreds of members.
fn small(p: &Plugin, members: usize) -> Result<Box<Plugin>, String> {
    let mut config = RoleObject::to_value(p);
    if config.get("members").is_some() {
        config["members"] = members.into();
    }
    <Plugin as RoleObject>::from_value(config)
}

fn make(p: &Plugin, problem: &Problem, seed: u64) -> Result<Ensemble, String> {
    guarded(p.tag(), || p.generate(problem, &Context::new(seed))).map_err(|e| e.to_string())
}

fn members_are_compact(p: &Plugin) -> Verdict {
    let (problem, _) = fixtures::dense(1);
    let ensemble = make(&*small(p, 5)?, &problem, 1)?;
    ensure!(ensemble.n() == problem.n(), "{} objects", ensemble.n());
    for (t, m) in ensemble.members().iter().enumerate() {
        ensure!(m.labels.len() == problem.n(), "member {t} has {} labels", m.labels.len());
        let mut seen = 0;
        for &l in m.labels.iter().filter(|&&l| l != NONE) {
            ensure!(l <= seen, "member {t}: label {l} before {seen}");
            seen += u32::from(l == seen);
        }
        ensure!(seen as usize == m.k, "member {t} has {seen} clusters, says {}", m.k);
        ensure!(!m.provenance.is_empty(), "member {t} does not say how it was made");
        if let Some(c) = &m.extras.centers {
            ensure!(c.nrows() == m.k, "member {t} has {} centres for {} clusters", c.nrows(), m.k);
        }
    }
    Ok(())
}

fn same_seed_same_bits(p: &Plugin) -> Verdict {
    let (problem, _) = fixtures::dense(2);
    let p = small(p, 5)?;
    let first = make(&*p, &problem, 3)?;
    for threads in [1, 2, 7] {
        let again = in_threads(threads, || make(&*p, &problem, 3))?;
        ensure!(again == first, "{threads} threads give another ensemble");
    }
    Ok(())
}

fn same_bits_on_several_blocks(p: &Plugin) -> Verdict {
    let (problem, _) = fixtures::several_blocks(2);
    let p = small(p, 3)?;
    let alone =
        in_threads(1, || guarded(p.tag(), || p.generate(&problem, &fixtures::short_context(3))));
    let alone = match alone.map_err(|e| e.root().clone()) {
        Err(Error::TimedOut { .. }) => return Ok(()),
        result => result.map_err(|e| e.to_string())?,
    };
    let together = in_threads(3, || make(&*p, &problem, 3))?;
    ensure!(together == alone, "1 and 3 threads give different ensembles");
    Ok(())
}

fn prefix(p: &Plugin) -> Verdict {
    let (problem, _) = fixtures::dense(3);
    if RoleObject::to_value(p).get("members").is_none() {
        return Ok(());
    }
    let (short, long) = (make(&*small(p, 3)?, &problem, 4)?, make(&*small(p, 6)?, &problem, 4)?);
    ensure!(short.members() == &long.members()[..3], "member t depends on the number of members");
    Ok(())
}

fn constraints_are_not_read(p: &Plugin) -> Verdict {
    let (problem, classes) = fixtures::dense(4);
    let p = small(p, 4)?;
    let with = problem.clone().with_constraints(fixtures::true_constraints(&classes, 40, 1));
    let without = problem.with_constraints(Constraints::default());
    let made = |problem: &Problem| -> Result<Vec<Member>, String> {
        // Who made it may say how many constraints were left out.
        let members = make(&*p, problem, 1)?.members().to_vec();
        Ok(members.into_iter().map(|m| Member { provenance: String::new(), ..m }).collect())
    };
    let same = made(&with)? == made(&without)?;
    ensure!(same, "constraints change the ensemble; declare reads_constraints");
    Ok(())
}

fn cancelling_is_heard(p: &Plugin) -> Verdict {
    let (problem, _) = fixtures::dense(1);
    let flag = Arc::new(AtomicBool::new(true));
    let ctx = Context::builder(SeedPath::new(1)).cancel(flag).build();
    match small(p, 4)?.generate(&problem, &ctx).map_err(|e| e.root().clone()) {
        Err(Error::Cancelled) => Ok(()),
        other => Err(format!("a cancelled run gave {:?}", other.map(|e| e.len()))),
    }
}

/// See [`ceilings`].
fn largest_numbers(p: &Plugin) -> Verdict {
    let (problem, _) = fixtures::dense(1);
    ceilings::are_harmless(&*small(p, 4)?, |p, ctx| p.generate(&problem, ctx))
}
