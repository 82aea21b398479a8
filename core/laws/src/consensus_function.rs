//! The laws of [`ConsensusFunction`](mustlink_core::roles::ConsensusFunction).

use ndarray::{Array2, Axis};

use super::law::{Law, Runs, Verdict};
use super::{choices, fixtures, hard, looks, memory, promises, runs, shown};
use crate::ensure;
use mustlink_core::clustering::NONE;
use mustlink_core::clustering::{Clustering, Extras, canonical};
use mustlink_core::constraints::{Constraints, Kind};
use mustlink_core::context::Context;
use mustlink_core::ensemble::{Ensemble, Member};
use mustlink_core::error::Error;
use mustlink_core::problem::Problem;
use mustlink_core::random::SeedPath;
use mustlink_core::roles::{ConsensusFunction, RoleObject};
use mustlink_core::run;

type Plugin = dyn ConsensusFunction;

pub(super) fn laws() -> Vec<Law<Plugin>> {
    let mut laws = vec![
        Law::always("one_label_per_object", one_label_per_object),
        Law::always("same_seed_same_bits", same_seed_same_bits),
        Law::when(
            "same_bits_on_several_blocks",
            |p| fixtures::is_linear(|shape| p.memory(shape, MEMBERS)),
            same_bits_on_several_blocks,
        ),
        Law::always("names_of_labels_are_nothing", names_of_labels),
        Law::always("order_of_members_is_nothing", order_of_members),
        Law::always("a_unanimous_ensemble_is_returned", unanimous),
        Law::when("groups_of_any_size_are_returned", |p| !p.needs().balanced, groups_of_any_size),
        Law::always(shown::LAW, |p| {
            let (e, problem) = noisy(3);
            shown::by_size(&combine(p, &e, &problem)?)
        }),
        Law::always("extreme_k_is_legal", extreme_k_is_legal),
        Law::when("missing_labels_are_legal", |p| !p.needs().complete, missing_labels_are_legal),
        Law::always("needs_are_declared", needs_are_declared),
        Law::when("labels_alone_are_read", |p| p.needs().labels_only, labels_alone_are_read),
        Law::when(
            "size_is_refused_in_time",
            |p| p.needs().max_n.is_some(),
            size_is_refused_in_time,
        ),
        Law::always("looks_every_sweep", |p| {
            let (e, problem) = chance(1);
            let run = |p: &Plugin, ctx: &Context| combine_within(p, &e, &problem, ctx);
            looks::cover_the_history(p, run)?;
            looks::grow_with_the_work(p, run)
        }),
        Law::always(choices::LAW, options_count),
        Law::when(
            "constraints_are_read_only_if_declared",
            |p| !p.needs().reads_constraints,
            |p| {
                ensure!(
                    !reads(p, None)?,
                    "constraints change the result; declare reads_constraints"
                );
                Ok(())
            },
        ),
        Law::when(
            "must_links_change_something",
            |p| p.needs().reads_constraints,
            |p| changes_something(p, Kind::MustLink),
        ),
        Law::when(
            "cannot_links_change_something",
            |p| p.needs().reads_constraints,
            |p| changes_something(p, Kind::CannotLink),
        ),
        Law::when(
            "hard_promises_hold",
            |p| promises::any(&p.needs().promises()),
            hard_promises_hold,
        ),
        Law::when(
            "contradictions_are_named",
            |p| p.needs().hard_must && p.needs().hard_cannot,
            |p| {
                let (e, problem) = noisy(1);
                promises::contradictions_are_named(&problem, |problem| attempt(p, &e, problem))
            },
        ),
        Law::when(
            "contradictions_are_survived",
            |p| !(p.needs().hard_must && p.needs().hard_cannot),
            |p| {
                let (e, problem) = noisy(1);
                combine(p, &e, &promises::contradictory(problem)).map(drop)
            },
        ),
        Law::when(
            "soft_marks_refuse_nothing",
            |p| p.needs().reads_constraints,
            |p| {
                let (e, problem) = noisy(1);
                promises::soft_marks_refuse_nothing(&problem, |problem| attempt(p, &e, problem))
            },
        ),
        Law::when(
            "enforced_soft_marks_cause_a_warning",
            |p| p.needs().reads_constraints,
            |p| {
                let (e, problem) = noisy(1);
                let run = |problem: &Problem| {
                    let ctx = fixtures::context(5);
                    let made = combine_within(p, &e, problem, &ctx);
                    made.map(|clustering| (clustering, ctx.warnings()))
                };
                promises::enforced_soft_marks_cause_a_warning(&problem, run)
            },
        ),
        Law::always("order_of_constraints_is_nothing", order_of_constraints),
        Law::always("hard_ensembles_have_an_outcome", hard_ensembles),
        Law::always("memory_covers_the_result", memory_covers),
        memory::law(memory::of_consensus),
    ];
    laws.extend(runs::laws());
    laws
}

/// A member with everything a consensus function may need: weights of the features, distances and
/// memberships that follow its labels.
fn member(labels: &[u32], problem: &Problem) -> Member {
    let member = Member::from_labels(labels);
    let (n, d, k) = (problem.n(), problem.d(), member.k);
    let x = problem.data.to_dense();
    let mut centers: Array2<f64> = Array2::zeros((k, d));
    let mut sizes = vec![0.0; k];
    for (i, &l) in member.labels.iter().enumerate().filter(|(_, l)| **l != NONE) {
        sizes[l as usize] += 1.0;
        for f in 0..d {
            centers[[l as usize, f]] += x[[i, f]];
        }
    }
    for l in 0..k {
        centers.row_mut(l).mapv_inplace(|c| c / sizes[l]);
    }
    let weights = Array2::from_shape_fn((k, d), |(l, f)| {
        let feature = 1.0 + ((l + f) % d) as f64;
        feature / (1..=d).sum::<usize>() as f64
    });
    let distances = Array2::from_shape_fn((n, k), |(i, l)| {
        let square = |f: usize| weights[[l, f]] * (x[[i, f]] - centers[[l, f]]).powi(2);
        (0..d).map(square).sum::<f64>().sqrt()
    });
    let mut memberships = distances.mapv(|v| 1.0 / (1.0 + v));
    for mut row in memberships.rows_mut() {
        let total = row.sum();
        row.mapv_inplace(|v| v / total);
    }
    let extras = Extras {
        centers: Some(centers),
        weights: Some(weights),
        distances: Some(distances),
        memberships: Some(memberships),
        ..Extras::default()
    };
    Member { extras, ..member }
}

/// Members of an ensemble that the laws are tried on.
const MEMBERS: usize = 7;

/// Noisy copies of the classes of 45 objects, none of them the same.
fn noisy(seed: u64) -> (Ensemble, Problem) {
    noisy_members(fixtures::dense(seed), seed)
}

fn noisy_members((problem, classes): (Problem, Vec<u32>), seed: u64) -> (Ensemble, Problem) {
    let mut s = SeedPath::new(seed).stream("noise");
    let members = (0..MEMBERS).map(|_| {
        let labels: Vec<u32> =
            classes.iter().map(|&c| if s.unit() < 0.15 { s.below(3) as u32 } else { c }).collect();
        member(&labels, &problem)
    });
    (Ensemble::new(problem.n(), members.collect()).expect("members fit"), problem)
}

/// Members that have nothing to do with each other, over 60 objects without structure.
fn chance(seed: u64) -> (Ensemble, Problem) {
    let (problem, _) = hard::noise(60, 4, 4, seed);
    let mut s = SeedPath::new(seed).stream("chance");
    let members = (0..MEMBERS).map(|_| {
        let labels: Vec<u32> = (0..problem.n()).map(|_| s.below(4) as u32).collect();
        member(&labels, &problem)
    });
    (Ensemble::new(problem.n(), members.collect()).expect("members fit"), problem)
}

fn combine_within(
    p: &Plugin,
    e: &Ensemble,
    problem: &Problem,
    ctx: &Context,
) -> Result<Clustering, Error> {
    fixtures::tried(problem);
    run::guarded(p.tag(), || p.combine(e, problem, ctx))
        .and_then(|c| run::check_and_count(p.tag(), c, problem, 0.0))
        .map(|r| r.clustering)
}

/// A run as the framework makes it, which checks what the plugin needs before and promises after.
fn attempt(p: &Plugin, e: &Ensemble, problem: &Problem) -> Result<Clustering, Error> {
    fixtures::tried(problem);
    run::combine(p, e, problem, &fixtures::context(5)).map(|r| r.clustering)
}

impl Runs for Plugin {
    type Made = Clustering;

    fn run_small(&self, ctx: &Context) -> Result<Clustering, Error> {
        let (e, problem) = noisy(1);
        combine_within(self, &e, &problem, ctx)
    }
}

fn combine(p: &Plugin, e: &Ensemble, problem: &Problem) -> Result<Clustering, String> {
    combine_within(p, e, problem, &Context::new(5)).map_err(|e| e.to_string())
}

fn one_label_per_object(p: &Plugin) -> Verdict {
    for seed in 0..3 {
        let (e, problem) = noisy(seed);
        combine(p, &e, &problem)?;
    }
    Ok(())
}

fn same_seed_same_bits(p: &Plugin) -> Verdict {
    // Members that nearly agree look the same whatever the start.
    for (e, problem) in [noisy(1), chance(1)] {
        runs::same_every_time(|| combine(p, &e, &problem))??;
    }
    Ok(())
}

fn same_bits_on_several_blocks(p: &Plugin) -> Verdict {
    let (e, problem) = noisy_members(fixtures::several_blocks(1), 1);
    runs::same_on_threads(5, |ctx| combine_within(p, &e, &problem, ctx))
}

fn names_of_labels(p: &Plugin) -> Verdict {
    let (e, problem) = noisy(2);
    // Names moved on by another step in each member, and whatever has a row or column for each.
    let renamed = e.members().iter().enumerate().map(|(at, m)| {
        let step = if m.k < 2 { 0 } else { 1 + at % (m.k - 1) };
        let moved = |l: u32| ((l as usize + step) % m.k) as u32;
        let labels = m.labels.iter().map(|&l| if l == NONE { l } else { moved(l) }).collect();
        let order: Vec<usize> = (0..m.k).map(|l| (l + m.k - step) % m.k).collect();
        let rows = |x: &Option<Array2<f64>>| x.as_ref().map(|x| x.select(Axis(0), &order));
        let columns = |x: &Option<Array2<f64>>| x.as_ref().map(|x| x.select(Axis(1), &order));
        let extras = Extras {
            centers: rows(&m.extras.centers),
            weights: rows(&m.extras.weights),
            distances: columns(&m.extras.distances),
            memberships: columns(&m.extras.memberships),
            ..m.extras.clone()
        };
        Member { labels, extras, ..m.clone() }
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
    // The classes are of equal size, so that balanced functions have no excuse.
    let (problem, classes) = fixtures::dense(4);
    let members = vec![member(&classes, &problem); 4];
    let e = Ensemble::new(problem.n(), members).map_err(|e| e.to_string())?;
    let c = combine(p, &e, &problem)?;
    ensure!(canonical(&c.labels) == canonical(&classes), "it returns something else");
    Ok(())
}

/// Groups of 51, 7 and 2 objects on which all members agree.
fn groups_of_any_size(p: &Plugin) -> Verdict {
    let problem = hard::noise(60, 3, 3, 4).0;
    let classes: Vec<u32> = (0..60u32)
        .map(|i| match 7 * i % 60 {
            0..51 => 0,
            51..58 => 1,
            _ => 2,
        })
        .collect();
    let members = vec![member(&classes, &problem); 4];
    let e = Ensemble::new(problem.n(), members).map_err(|e| e.to_string())?;
    let c = combine(p, &e, &problem.with_k(3))?;
    ensure!(
        canonical(&c.labels) == canonical(&classes),
        "members that agree are contradicted; declare balanced if an option asks for it: {:?}",
        c.sizes()
    );
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

/// The same with almost a third of the labels missing, none of them in the first member.
fn with_gaps(e: &Ensemble) -> Ensemble {
    let mut s = SeedPath::new(7).stream("missing");
    let members = e.members().iter().enumerate().map(|(t, m)| {
        let hide = |&l: &u32| if t > 0 && s.unit() < 0.3 { NONE } else { l };
        let labels: Vec<u32> = m.labels.iter().map(hide).collect();
        Member { labels, ..m.clone() }
    });
    Ensemble::new(e.n(), members.collect()).expect("members fit")
}

fn missing_labels_are_legal(p: &Plugin) -> Verdict {
    let (e, problem) = noisy(7);
    combine(p, &with_gaps(&e), &problem).map(|_| ())
}

/// The framework rejects too large problems before members are made.
fn size_is_refused_in_time(p: &Plugin) -> Verdict {
    let needs = p.needs();
    let Some(limit) = needs.max_n else { return Ok(()) };
    ensure!(!needs.instead.is_empty(), "max_n without what takes more objects");
    ensure!(
        mustlink_core::needs::check_size(limit, p).is_ok(),
        "{limit} objects are within the limit"
    );
    let refused = mustlink_core::needs::check_size(limit + 1, p);
    let text = refused.err().map(|e| e.to_string()).unwrap_or_default();
    ensure!(text.contains(needs.instead), "the refusal does not name the alternative: {text}");
    Ok(())
}

fn labels_alone_are_read(p: &Plugin) -> Verdict {
    let (e, problem) = noisy(8);
    let bare = e.members().iter().map(|m| Member { extras: Extras::default(), ..m.clone() });
    let bare = Ensemble::new(e.n(), bare.collect()).map_err(|e| e.to_string())?;
    let (a, b) = (combine(p, &e, &problem)?, combine(p, &bare, &problem)?);
    ensure!(a == b, "members with more than labels give another result");
    Ok(())
}

fn needs_are_declared(p: &Plugin) -> Verdict {
    let (e, problem) = noisy(6);
    let bare = e.members().iter().map(|m| Member::from_labels(&m.labels)).collect();
    let e = Ensemble::new(e.n(), bare).map_err(|e| e.to_string())?;
    let missing = mustlink_core::needs::check_needs(&e, p).is_err();
    let result = combine(p, &e, &problem);
    ensure!(missing || result.is_ok(), "labels alone should do, but: {:?}", result.err());
    Ok(())
}

fn options_count(p: &Plugin) -> Verdict {
    let gaps = |seed| (with_gaps(&noisy(seed).0), noisy(seed).1);
    let constrained = |seed| {
        let (e, problem) = chance(seed);
        let constraints = hard::small_unstructured(seed).constraints;
        (e, Problem { constraints, ..problem })
    };
    let worlds = [noisy(1), chance(1), chance(2), gaps(1), constrained(1), constrained(2)];
    choices::each_changes_something(p, worlds.len(), |p, world, ctx| {
        let (e, problem) = &worlds[world];
        combine_within(p, e, problem, ctx)
    })
}

/// True if constraints of the problem (of one kind, if given) change the result anywhere.
fn reads(p: &Plugin, kind: Option<Kind>) -> Result<bool, String> {
    for (seed, (e, problem)) in [noisy(1), chance(1), chance(2)].into_iter().enumerate() {
        let given = of_chance(&problem, 40, seed as u64);
        let given = given.pairs().iter().copied().filter(|c| kind.is_none_or(|k| c.kind == k));
        let given = Constraints::new(problem.n(), given).map_err(|e| e.to_string())?;
        let with = problem.clone().with_constraints(given);
        if combine(p, &e, &with) != combine(p, &e, &problem) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// True constraints of classes that the members know nothing about.
fn of_chance(problem: &Problem, pairs: usize, seed: u64) -> Constraints {
    let classes: Vec<u32> = (0..problem.n() as u32).map(|i| i * i % 7 % 3).collect();
    fixtures::true_constraints(&classes, pairs, seed)
}

fn changes_something(p: &Plugin, kind: Kind) -> Verdict {
    let changes = reads(p, Some(kind))?;
    ensure!(changes, "declares reads_constraints, and a {} changes nothing", kind.name());
    Ok(())
}

/// Random sets of constraints that k clusters can hold, at that k and with one cluster more; not marked
/// and marked hard.
fn hard_promises_hold(p: &Plugin) -> Verdict {
    for seed in 0..10 {
        for (e, problem) in [noisy(seed), chance(seed)] {
            let given = of_chance(&problem, 10 + 5 * seed as usize, seed);
            for k in [3, 4] {
                let asked =
                    Problem { k: Some(k), ..problem.clone().with_constraints(given.clone()) };
                promises::hold(&p.needs().promises(), &asked, |problem| attempt(p, &e, problem))?;
            }
        }
    }
    Ok(())
}

fn order_of_constraints(p: &Plugin) -> Verdict {
    for (e, problem) in [noisy(4), chance(4)] {
        let with = problem.clone().with_constraints(of_chance(&problem, 30, 4));
        promises::order_is_nothing(&with, |problem| {
            combine(p, &e, problem).map(|c| c.labels).ok()
        })?;
    }
    Ok(())
}

/// Ensembles that are legal and not easy.
fn hard_ensembles(p: &Plugin) -> Verdict {
    let world = |n: usize, k: usize, labels: &[&dyn Fn(usize) -> u32]| {
        let problem = hard::noise(n, 3, k, 1).0.subset(&(0..n).collect::<Vec<_>>()).with_k(k);
        let members =
            labels.iter().map(|label| member(&(0..n).map(label).collect::<Vec<u32>>(), &problem));
        (Ensemble::new(n, members.collect()).expect("members fit"), problem)
    };
    let (one, each, mixed) = (|_: usize| 0, |i: usize| i as u32, |i: usize| (i * i % 4) as u32);
    for (name, (e, problem)) in [
        ("one object", world(1, 1, &[&one, &one])),
        ("one member", world(20, 3, &[&mixed])),
        ("members of one cluster", world(20, 3, &[&one, &one, &one])),
        ("members of single objects", world(20, 3, &[&each, &each, &each])),
        ("fewer clusters in the members than are wanted", world(20, 8, &[&mixed, &one, &mixed])),
    ] {
        match combine_within(p, &e, &problem, &fixtures::context(1)) {
            Ok(c) => {
                let bad = hard::not_finite(&c);
                ensure!(bad.is_none(), "{name}: {} is not finite", bad.unwrap_or_default());
            }
            Err(e) => return Err(format!("{name}: {}", hard::said(&e))),
        }
    }
    Ok(())
}

fn memory_covers(p: &Plugin) -> Verdict {
    let (e, problem) = chance(1);
    let returned = hard::bytes(&combine(p, &e, &problem)?);
    hard::memory_covers(&problem, |shape| p.memory(shape, MEMBERS), returned)
}
