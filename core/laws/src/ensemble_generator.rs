//! The laws of [`EnsembleGenerator`](mustlink_core::roles::EnsembleGenerator).

use super::law::{Law, Runs, Verdict};
use super::{choices, fixtures, hard, looks, memory, runs};
use crate::ensure;
use mustlink_core::clustering::NONE;
use mustlink_core::constraints::Constraints;
use mustlink_core::context::Context;
use mustlink_core::ensemble::{Ensemble, Member};
use mustlink_core::error::Error;
use mustlink_core::problem::Problem;
use mustlink_core::roles::{EnsembleGenerator, RoleObject};
use mustlink_core::run::guarded;

type Plugin = dyn EnsembleGenerator;

pub(super) fn laws() -> Vec<Law<Plugin>> {
    let mut laws = vec![
        Law::always("members_are_compact", members_are_compact),
        Law::always("same_seed_same_bits", same_seed_same_bits),
        Law::when(
            "same_bits_on_several_blocks",
            |p| fixtures::is_linear(|shape| p.memory(shape, false)),
            same_bits_on_several_blocks,
        ),
        Law::always("members_are_not_all_the_same", members_differ),
        Law::always("a_shorter_ensemble_begins_a_longer_one", prefix),
        Law::when(
            "constraints_are_read_only_if_declared",
            |p| !p.properties().reads_constraints,
            constraints_are_not_read,
        ),
        Law::always("looks_at_every_member", |p| {
            let (problem, _) = hard::noise(60, 4, 4, 1);
            looks::grow_with_the_work(p, |p, ctx| attempt(p, &problem, ctx))
        }),
        Law::always(choices::LAW, options_count),
        Law::when(
            "constraints_change_something",
            |p| p.properties().reads_constraints,
            constraints_count,
        ),
        Law::always("hard_problems_have_an_outcome", hard_problems),
        Law::always("memory_covers_the_result", memory_covers),
        memory::law(memory::of_generator),
    ];
    laws.extend(runs::laws());
    laws
}

/// A small copy of the plugin: its default may make hundreds of members.
fn small(p: &Plugin, members: usize) -> Result<Box<Plugin>, String> {
    let mut config = RoleObject::to_value(p);
    if config.get("members").is_some() {
        config["members"] = members.into();
    }
    <Plugin as RoleObject>::from_value(config)
}

impl Runs for Plugin {
    type Made = Ensemble;

    fn run_small(&self, ctx: &Context) -> Result<Ensemble, Error> {
        attempt(self, &fixtures::dense(1).0, ctx)
    }

    fn smaller(&self) -> Result<Option<Box<Plugin>>, String> {
        small(self, 4).map(Some)
    }
}

/// A run on a problem that is remembered.
fn attempt(p: &Plugin, problem: &Problem, ctx: &Context) -> Result<Ensemble, Error> {
    fixtures::tried(problem);
    guarded(p.tag(), || p.generate(problem, ctx))
}

fn make(p: &Plugin, problem: &Problem, seed: u64) -> Result<Ensemble, String> {
    attempt(p, problem, &fixtures::context(seed)).map_err(|e| e.to_string())
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

/// Members that say the same on objects without structure say no more than one of them.
fn members_differ(p: &Plugin) -> Verdict {
    let p = small(p, 5)?;
    for seed in 1..4 {
        let ensemble = make(&*p, &hard::unstructured(seed).0, seed)?;
        let members = ensemble.members();
        if members.iter().any(|m| m.labels != members[0].labels) {
            return Ok(());
        }
    }
    Err("all members are the same where there is no structure; draw from ctx.index(member)".into())
}

fn same_seed_same_bits(p: &Plugin) -> Verdict {
    let p = small(p, 5)?;
    // Groups that are easily told apart look the same whatever the start.
    for problem in [fixtures::dense(2).0, hard::unstructured(2).0] {
        runs::same_every_time(|| make(&*p, &problem, 3))??;
    }
    Ok(())
}

fn same_bits_on_several_blocks(p: &Plugin) -> Verdict {
    let (problem, _) = fixtures::several_blocks(2);
    let p = small(p, 3)?;
    runs::same_on_threads(3, |ctx| attempt(&*p, &problem, ctx))
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
    let easy = problem.with_constraints(fixtures::true_constraints(&classes, 40, 1));
    let made = |problem: &Problem| -> Result<Vec<Member>, String> {
        // Who made it may say how many constraints were left out.
        let members = make(&*p, problem, 1)?.members().to_vec();
        Ok(members.into_iter().map(|m| Member { provenance: String::new(), ..m }).collect())
    };
    // True constraints change nothing if the groups are easy to distinguish.
    for with in [easy, hard::small_unstructured(4)] {
        let without = with.clone().with_constraints(Constraints::default());
        let same = made(&with)? == made(&without)?;
        ensure!(same, "constraints change the ensemble; declare reads_constraints in properties()");
    }
    Ok(())
}

/// The members, without their provenance.
fn members(p: &Plugin, problem: &Problem, ctx: &Context) -> Result<Vec<Member>, Error> {
    let members = attempt(p, problem, ctx)?.members().to_vec();
    Ok(members.into_iter().map(|m| Member { provenance: String::new(), ..m }).collect())
}

fn options_count(p: &Plugin) -> Verdict {
    let worlds = [hard::small_unstructured(1), fixtures::dense(1).0];
    choices::each_changes_something(&*small(p, 4)?, worlds.len(), |p, world, ctx| {
        members(p, &worlds[world], ctx)
    })
}

fn constraints_count(p: &Plugin) -> Verdict {
    let p = small(p, 4)?;
    for seed in 0..3 {
        let with = hard::small_unstructured(seed);
        let without = with.clone().with_constraints(Constraints::default());
        let of = |problem: &Problem| members(&*p, problem, &fixtures::context(1));
        if of(&with).map_err(|e| e.to_string()) != of(&without).map_err(|e| e.to_string()) {
            return Ok(());
        }
    }
    Err("declares reads_constraints, and constraints change nothing".into())
}

/// Problems that are legal and not easy give members; those with constraints where it reads them.
fn hard_problems(p: &Plugin) -> Verdict {
    let reads = p.properties().reads_constraints;
    let p = small(p, 3)?;
    for (name, problem) in hard::hard(1) {
        if problem.constraints.is_empty() || reads {
            attempt(&*p, &problem, &fixtures::context(1))
                .map_err(|e| format!("{name}: {}", hard::said(&e)))?;
        }
    }
    Ok(())
}

fn memory_covers(p: &Plugin) -> Verdict {
    let (problem, _) = hard::unstructured(1);
    let p = small(p, 5)?;
    let returned = hard::ensemble_bytes(&make(&*p, &problem, 1)?);
    hard::memory_covers(&problem, |shape| p.memory(shape, false), returned)
}
