//! The laws of [`ConstraintPropagator`](mustlink_core::roles::ConstraintPropagator).

use super::law::{Law, Runs, Verdict};
use super::{choices, fixtures, hard, looks, memory, runs};
use crate::ensure;
use mustlink_core::clustering::Clustering;
use mustlink_core::constraints::{Constraint, Constraints, Kind};
use mustlink_core::context::Context;
use mustlink_core::data::DataKind;
use mustlink_core::error::Result;
use mustlink_core::problem::Problem;
use mustlink_core::random::SeedPath;
use mustlink_core::roles::{ConstraintPropagator, Propagated};
use mustlink_core::run;

type Plugin = dyn ConstraintPropagator;

pub(super) fn laws() -> Vec<Law<Plugin>> {
    let mut laws = vec![
        Law::always("given_constraints_are_kept", given_are_kept),
        Law::always("same_seed_same_bits", same_seed_same_bits),
        Law::when(
            "same_bits_on_several_blocks",
            |p| fixtures::is_linear(|shape| p.memory(shape)),
            same_bits_on_several_blocks,
        ),
        Law::always("pairwise_results_are_symmetric", symmetric),
        Law::always("declared_results_are_given", as_declared),
        Law::always("weights_are_legal", weights_are_legal),
        Law::always("nothing_given_nothing_made", nothing_from_nothing),
        Law::always("every_declared_kind_is_taken", kinds_are_taken),
        Law::always("order_of_constraints_is_irrelevant", order_is_irrelevant),
        Law::always("degenerate_data_is_legal", degenerate_is_legal),
        Law::always("looks_every_sweep", |p| {
            let (problem, classes, given) = setting(p, 1);
            looks::grow_with_the_work(p, |p, ctx| made(p, &problem, &given, &classes, ctx))
        }),
        Law::always(choices::LAW, options_count),
        Law::always("every_constraint_counts", every_constraint_counts),
        Law::always("memory_covers_the_result", memory_covers),
        memory::law(memory::of_propagator),
    ];
    laws.extend(runs::laws());
    laws
}

/// Result of the plugin for constraints on a problem with this partition of its objects.
fn made(
    p: &Plugin,
    problem: &Problem,
    given: &Constraints,
    classes: &[u32],
    ctx: &Context,
) -> Result<Propagated> {
    let problem = problem.clone().with_constraints(given.clone());
    fixtures::tried(&problem);
    let clustering = Clustering::from_labels(classes.to_vec());
    let clustering = p.properties().needs_clustering.then_some(&clustering);
    run::propagate(p, given, clustering, &problem, ctx)
}

impl Runs for Plugin {
    type Made = Propagated;

    fn run_small(&self, ctx: &Context) -> Result<Propagated> {
        let (problem, classes, given) = setting(self, 1);
        made(self, &problem, &given, &classes, ctx)
    }
}

/// A problem of a kind the plugin takes, its classes, and true constraints.
fn setting(p: &Plugin, seed: u64) -> (Problem, Vec<u32>, Constraints) {
    of_its_kind(p, fixtures::dense(seed), seed)
}

fn of_its_kind(
    p: &Plugin,
    (dense, classes): (Problem, Vec<u32>),
    seed: u64,
) -> (Problem, Vec<u32>, Constraints) {
    let given = fixtures::true_constraints(&classes, 12, seed);
    let problem = fixtures::of_first_kind(&p.properties().accepts, dense);
    (problem, classes, given)
}

fn propagate(p: &Plugin, seed: u64) -> Result<(Propagated, Constraints), String> {
    let (problem, classes, given) = setting(p, seed);
    let out = made(p, &problem, &given, &classes, &Context::new(seed));
    out.map(|out| (out, given)).map_err(|e| e.to_string())
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
    runs::same_every_time(|| propagate(p, 2))?.map(drop)
}

fn same_bits_on_several_blocks(p: &Plugin) -> Verdict {
    let (problem, classes, given) = of_its_kind(p, fixtures::several_blocks(2), 2);
    runs::same_on_threads(2, |ctx| made(p, &problem, &given, &classes, ctx))
}

fn symmetric(p: &Plugin) -> Verdict {
    if let (Propagated::Distances(x) | Propagated::Affinity(x), _) = propagate(p, 3)? {
        ensure!(x.iter().all(|v| v.is_finite()), "an entry is not finite");
        ensure!(x == x.t(), "the matrix is not symmetric");
        ensure!(x.iter().all(|v| *v >= 0.0), "an entry is negative");
    }
    Ok(())
}

fn as_declared(p: &Plugin) -> Verdict {
    let gives = match propagate(p, 4)?.0 {
        Propagated::Constraints(_) => None,
        Propagated::Distances(_) => Some(DataKind::Distances),
        Propagated::Affinity(_) => Some(DataKind::Affinity),
    };
    let declared = p.properties().gives;
    ensure!(gives == declared, "it declares {declared:?} and gives {gives:?}");
    Ok(())
}

fn weights_are_legal(p: &Plugin) -> Verdict {
    let (out, given) = propagate(p, 5)?;
    if let Propagated::Constraints(all) = out {
        let n = setting(p, 5).0.n();
        // Several sources may add up on one pair, never beyond all of them together.
        let most = given.pairs().iter().map(|c| c.weight).sum::<f64>() * (1.0 + 1e-12);
        for c in all.pairs() {
            ensure!(c.i < c.j && (c.j as usize) < n, "({}, {}) is no pair", c.i, c.j);
            ensure!(c.weight > 0.0 && c.weight <= most, "({}, {}) weighs {}", c.i, c.j, c.weight);
        }
    }
    Ok(())
}

fn nothing_from_nothing(p: &Plugin) -> Verdict {
    let (problem, classes, _) = setting(p, 6);
    let out = made(p, &problem, &Constraints::default(), &classes, &Context::new(6));
    if let Propagated::Constraints(all) = out.map_err(|e| e.to_string())? {
        ensure!(all.is_empty(), "{} constraints came from none", all.len());
    }
    Ok(())
}

fn kinds_are_taken(p: &Plugin) -> Verdict {
    let (dense, classes) = fixtures::dense(7);
    let given = fixtures::true_constraints(&classes, 12, 7);
    for kind in p.properties().accepts {
        let problem = match kind {
            DataKind::Dense => dense.clone(),
            DataKind::Csr => fixtures::sparse(7).0,
            pairwise => fixtures::pairwise(&dense, pairwise),
        };
        let out = made(p, &problem, &given, &classes, &Context::new(7));
        out.map_err(|e| format!("{} data: {e}", kind.name()))?;
    }
    Ok(())
}

fn order_is_irrelevant(p: &Plugin) -> Verdict {
    let (problem, classes, given) = setting(p, 8);
    let mut pairs: Vec<Constraint> = given.pairs().to_vec();
    SeedPath::new(8).stream("order").shuffle(&mut pairs);
    let shuffled = Constraints::new(problem.n(), pairs).map_err(|e| e.to_string())?;
    let of = |given: &Constraints| {
        made(p, &problem, given, &classes, &Context::new(8)).map_err(|e| e.to_string())
    };
    match (of(&given)?, of(&shuffled)?) {
        (Propagated::Constraints(a), Propagated::Constraints(b)) => {
            let sorted = |c: &Constraints| {
                let mut all: Vec<_> = c.pairs().to_vec();
                all.sort_by_key(|c| (c.i, c.j, c.kind));
                all
            };
            let near = |(a, b): (&Constraint, &Constraint)| {
                (a.i, a.j, a.kind) == (b.i, b.j, b.kind)
                    && (a.weight - b.weight).abs() <= 1e-9 * a.weight
            };
            let (a, b) = (sorted(&a), sorted(&b));
            let same = a.len() == b.len() && a.iter().zip(&b).all(near);
            ensure!(same, "another order of the constraints gives others");
        }
        (
            Propagated::Distances(a) | Propagated::Affinity(a),
            Propagated::Distances(b) | Propagated::Affinity(b),
        ) => {
            let same = a.iter().zip(&b).all(|(a, b)| (a - b).abs() <= 1e-9 * (1.0 + a.abs()));
            ensure!(same, "another order of the constraints gives other numbers");
        }
        _ => return Err("another order of the constraints gives another kind of result".into()),
    }
    Ok(())
}

/// Equal rows, one feature, two objects, a far one; all must-linked, one apart from all others.
fn degenerate_is_legal(p: &Plugin) -> Verdict {
    if !p.properties().accepts.contains(&DataKind::Dense) {
        return Ok(());
    }
    let tables = [
        ("equal rows", ndarray::Array2::from_elem((9, 2), 1.5)),
        ("one feature", ndarray::Array2::from_shape_fn((9, 1), |(i, _)| i as f64)),
        ("two objects", ndarray::Array2::from_shape_fn((2, 2), |(i, s)| (i + s) as f64)),
        (
            "one far object",
            ndarray::Array2::from_shape_fn(
                (9, 2),
                |(i, s)| if i == 0 { 1e9 } else { (i * s) as f64 },
            ),
        ),
    ];
    for (name, x) in tables {
        let n = x.nrows();
        let problem = Problem::new(mustlink_core::Data::dense(x).map_err(|e| e.to_string())?);
        let given = [Constraint::must(0, 1)].into_iter().collect();
        let chain = (1..n).map(|i| Constraint::must(i - 1, i)).collect();
        let star = (1..n).map(|i| Constraint::cannot(0, i)).collect();
        for given in [given, chain, star] {
            let given: Vec<Constraint> = given;
            let given = Constraints::new(n, given).map_err(|e| e.to_string())?;
            let classes: Vec<u32> = (0..n as u32).map(|i| i % 2).collect();
            let out = made(p, &problem, &given, &classes, &Context::new(1));
            let finite = match out.map_err(|e| format!("{name}: {}", hard::said(&e)))? {
                Propagated::Constraints(all) => all.pairs().iter().all(|c| c.weight.is_finite()),
                Propagated::Distances(x) | Propagated::Affinity(x) => {
                    x.iter().all(|v| v.is_finite())
                }
            };
            ensure!(finite, "{name}: a number of the result is not finite");
        }
    }
    Ok(())
}

fn options_count(p: &Plugin) -> Verdict {
    let noise = of_its_kind(p, hard::noise(60, 4, 4, 1), 1);
    let contested = of_its_kind(p, hard::noise(30, 2, 2, 2), 2);
    let given = (*hard::contested(false).constraints).clone();
    let worlds = [setting(p, 1), noise, (contested.0, contested.1, given)];
    choices::each_changes_something(p, worlds.len(), |p, world, ctx| {
        let (problem, classes, given) = &worlds[world];
        made(p, problem, given, classes, ctx)
    })
}

/// With constraints of one kind left out the result is another one.
fn every_constraint_counts(p: &Plugin) -> Verdict {
    let (problem, classes, given) = setting(p, 9);
    let of = |given: &Constraints| {
        made(p, &problem, given, &classes, &fixtures::context(1)).map_err(|e| e.to_string())
    };
    let all = of(&given)?;
    for kind in [Kind::MustLink, Kind::CannotLink] {
        let others = given.pairs().iter().copied().filter(|c| c.kind != kind);
        let fewer = Constraints::new(problem.n(), others).map_err(|e| e.to_string())?;
        let counts = fewer.len() == given.len() || of(&fewer)? != all;
        ensure!(counts, "without the {} constraints the result is the same", kind.name());
    }
    Ok(())
}

fn memory_covers(p: &Plugin) -> Verdict {
    let (problem, classes, given) = setting(p, 1);
    let made = made(p, &problem, &given, &classes, &fixtures::context(1));
    let returned = match made.map_err(|e| e.to_string())? {
        Propagated::Constraints(all) => (8 * all.len()) as u64,
        Propagated::Distances(x) | Propagated::Affinity(x) => 8 * x.len() as u64,
    };
    let problem = problem.with_constraints(given);
    hard::memory_covers(&problem, |shape| p.memory(shape), returned)
}
