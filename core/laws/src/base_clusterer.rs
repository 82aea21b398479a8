//! The laws of [`BaseClusterer`](mustlink_core::roles::BaseClusterer).

use std::sync::Arc;

use ndarray::Array2;

use super::law::{Law, MISSING_SETUP, Runs, Verdict};
use super::{
    choices, feasible, fixtures, hard, looks, magnitudes, memory, promises, runs, shown, weights,
};
use crate::ensure;
use mustlink_core::clustering::Clustering;
use mustlink_core::constraints::{Constraint, Constraints, Kind, Strength};
use mustlink_core::context::Context;
use mustlink_core::data::{Data, DataKind};
use mustlink_core::error::Error;
use mustlink_core::problem::Problem;
use mustlink_core::random::SeedPath;
use mustlink_core::roles::{BaseClusterer, Properties, RoleObject};
use mustlink_core::run;

type Plugin = dyn BaseClusterer;

pub(super) fn laws() -> Vec<Law<Plugin>> {
    fn hard(p: &Plugin) -> bool {
        p.properties().hard_must || p.properties().hard_cannot
    }
    fn promises(p: &Plugin) -> bool {
        hard(p) || p.properties().hard_if_marked
    }
    fn soft(p: &Plugin) -> bool {
        !hard(p)
    }
    let mut laws = vec![
        Law::when(MISSING_SETUP, |p| p.properties().needs_setup, missing_setup_is_named),
        Law::always("ends_in_time", ends_in_time),
        Law::always("one_label_per_object", one_label_per_object),
        Law::always("same_seed_same_bits", same_seed_same_bits),
        Law::when(
            "same_bits_on_several_blocks",
            |p| {
                p.properties().accepts.first().is_none_or(|kind| kind.is_rows())
                    && fixtures::is_linear(|shape| p.memory(shape))
            },
            same_bits_on_several_blocks,
        ),
        Law::always("every_declared_kind_is_taken", every_declared_kind_is_taken),
        Law::always(shown::LAW, |p| {
            shown::by_size(&labels(p, &constrained(p, 3, 20).0, 3)?)?;
            shown::by_size(&labels(p, &noise(p, 3), 3)?)
        }),
        Law::always("illegal_k_is_named", illegal_k_is_named),
        Law::always("extreme_k_is_legal", extreme_k_is_legal),
        Law::always("equal_rows_are_legal", equal_rows_are_legal),
        Law::always("one_feature_is_legal", one_feature_is_legal),
        Law::always("objective_is_the_last_of_its_history", objective),
        Law::always("order_of_constraints_is_nothing", order_of_constraints),
        Law::when(
            "constraints_are_read_only_if_declared",
            |p| !p.properties().reads_constraints,
            constraints_are_not_read,
        ),
        Law::when("hard_promises_hold", hard, hard_promises_hold),
        Law::when("feasible_sets_are_met", promises, feasible_sets_are_met),
        Law::when("contradictions_are_named", hard, contradictions_are_named),
        Law::when(
            "soft_marks_refuse_nothing",
            |p| p.properties().reads_constraints,
            |p| {
                let run = |problem: &Problem| {
                    attempt(p, problem, &fixtures::context(1)).map(|r| r.clustering)
                };
                promises::soft_marks_refuse_nothing(&problem(p, 1).0, run)
            },
        ),
        Law::when(
            "enforced_soft_marks_cause_a_warning",
            |p| p.properties().reads_constraints && !p.properties().soft_weights,
            |p| {
                let run = |problem: &Problem| {
                    let ctx = fixtures::context(1);
                    attempt(p, problem, &ctx).map(|run| (run.clustering, ctx.warnings()))
                };
                promises::enforced_soft_marks_cause_a_warning(&problem(p, 1).0, run)
            },
        ),
        Law::when("contradictions_are_survived", soft, |p| {
            labels(p, &promises::contradictory(problem(p, 1).0), 1).map(drop)
        }),
        Law::when(
            "centres_have_the_declared_shape",
            |p| p.properties().gives_centers,
            centres_have_the_declared_shape,
        ),
        Law::when(
            "learned_weights_are_declared",
            |p| !p.properties().learns_weights,
            learned_weights_are_declared,
        ),
        Law::when(
            "what_was_tried_is_declared",
            |p| p.attempts(&noise(p, 1).shape()).is_empty(),
            what_was_tried_is_declared,
        ),
        Law::when(
            "sparse_equals_dense",
            |p| {
                let accepts = p.properties().accepts;
                accepts.contains(&DataKind::Csr) && accepts.contains(&DataKind::Dense)
            },
            sparse_equals_dense,
        ),
        Law::always("any_unit", magnitudes::any_unit),
        Law::when(
            "any_origin",
            |p| p.properties().accepts.contains(&DataKind::Dense) && !run::origin_matters(p),
            magnitudes::any_origin,
        ),
        Law::when(
            "far_objects_stand_alone",
            |p| p.properties().needs_k && p.properties().accepts.contains(&DataKind::Dense),
            magnitudes::far_objects_stand_alone,
        ),
        Law::when(
            "far_objects_change_no_cluster",
            // A method that tries others may choose another one.
            |p| {
                let facts = p.properties();
                !facts.needs_k
                    && facts.accepts.contains(&DataKind::Dense)
                    && p.attempts(&noise(p, 1).shape()).is_empty()
            },
            magnitudes::far_objects_change_no_cluster,
        ),
        Law::when(
            "equal_rows_are_near",
            |p| !p.properties().needs_k && p.properties().accepts.contains(&DataKind::Dense),
            magnitudes::equal_rows_are_near,
        ),
        Law::always("cancelling_is_never_late", cancelling_is_never_late),
        Law::always("looks_every_sweep", |p| {
            let problem = noise(p, 1);
            looks::cover_the_history(p, |p, ctx| {
                attempt(p, &problem, ctx).map(|run| run.clustering)
            })?;
            looks::grow_with_the_work(p, |p, ctx| {
                attempt(p, &problem, ctx).map(|run| run.clustering)
            })
        }),
        Law::always(choices::LAW, options_count),
        Law::when(
            "must_links_change_something",
            |p| p.properties().reads_constraints,
            |p| changes_something(p, Kind::MustLink),
        ),
        Law::when(
            "cannot_links_change_something",
            |p| p.properties().reads_constraints,
            |p| changes_something(p, Kind::CannotLink),
        ),
        Law::when(
            "groups_are_their_pairs",
            |p| p.properties().reads_constraints,
            groups_are_their_pairs,
        ),
        Law::when(
            "weights_count",
            |p| p.properties().object_weights,
            |p| {
                let some = |seed| constrained(p, seed, 20).0;
                weights::weights_count([some(1), some(2), some(3)], |problem| {
                    attempt(p, problem, &fixtures::context(1)).map(|run| run.clustering)
                })
            },
        ),
        Law::always("hard_problems_have_an_outcome", hard_problems),
        Law::always("memory_covers_the_result", memory_covers),
        memory::law(memory::of_clusterer),
    ];
    laws.extend(runs::laws());
    laws
}

impl Runs for Plugin {
    type Made = run::Run;

    fn run_small(&self, ctx: &Context) -> Result<run::Run, Error> {
        attempt(self, &constrained(self, 1, 20).0, ctx)
    }
}

/// A problem of a kind the plugin takes, with its classes.
fn problem(p: &Plugin, seed: u64) -> (Problem, Vec<u32>) {
    let (dense, classes) = fixtures::dense(seed);
    (of_its_kind(p, dense), classes)
}

/// The same with true constraints.
fn constrained(p: &Plugin, seed: u64, pairs: usize) -> (Problem, Vec<u32>) {
    let (problem, classes) = problem(p, seed);
    let constraints = fixtures::true_constraints(&classes, pairs, seed);
    (problem.with_constraints(constraints), classes)
}

/// A run on a problem that is remembered.
fn attempt(p: &Plugin, problem: &Problem, ctx: &Context) -> Result<run::Run, Error> {
    fixtures::tried(problem);
    run::cluster(p, problem, ctx)
}

fn labels(p: &Plugin, problem: &Problem, seed: u64) -> Result<Clustering, String> {
    attempt(p, problem, &fixtures::context(seed)).map(|r| r.clustering).map_err(|e| e.to_string())
}

fn missing_setup_is_named(p: &Plugin) -> Verdict {
    let result = attempt(p, &problem(p, 1).0, &fixtures::context(1));
    let named = matches!(result, Err(Error::BadParam { .. }));
    ensure!(named, "without its setup it gave {:?}", result.map(|r| r.seconds));
    Ok(())
}

/// A small problem is solved, or refused, in good time.
fn ends_in_time(p: &Plugin) -> Verdict {
    match attempt(p, &problem(p, 1).0, &fixtures::context(1)) {
        Ok(run) if run.seconds > fixtures::PATIENCE => {
            Err(format!("took {} s for {} objects", run.seconds, run.clustering.labels.len()))
        }
        Err(e) if matches!(e.root(), Error::TimedOut { .. }) => Err(e.to_string()),
        // What else may be wrong is the business of other laws.
        _ => Ok(()),
    }
}

fn one_label_per_object(p: &Plugin) -> Verdict {
    for seed in 0..3 {
        for pairs in [0, 30] {
            let (problem, _) = constrained(p, seed, pairs);
            let c = labels(p, &problem, seed)?;
            ensure!(c.labels.len() == problem.n(), "{} labels", c.labels.len());
        }
    }
    Ok(())
}

fn same_seed_same_bits(p: &Plugin) -> Verdict {
    let easy = constrained(p, 1, 30).0;
    runs::same_every_time(|| labels(p, &easy, 7))??;
    // Groups that are easily told apart look the same whatever the start.
    let noise = of_its_kind(p, hard::unstructured_constrained(1).0);
    // A method that promises to keep these constraints may refuse them.
    runs::same_every_time(|| labels(p, &noise, 7)).map(drop)
}

fn same_bits_on_several_blocks(p: &Plugin) -> Verdict {
    let (problem, classes) = fixtures::several_blocks(1);
    let problem = match p.properties().accepts.first() {
        Some(DataKind::Csr) => fixtures::as_sparse(problem),
        _ => problem,
    };
    let problem = problem.with_constraints(fixtures::true_constraints(&classes, 30, 1));
    runs::same_on_threads(7, |ctx| attempt(p, &problem, ctx).map(|run| run.clustering))
}

/// Kinds of data that are not declared are rejected by the framework.
fn every_declared_kind_is_taken(p: &Plugin) -> Verdict {
    let (dense, _) = fixtures::dense(1);
    for kind in p.properties().accepts {
        let problem = match kind {
            DataKind::Dense => dense.clone(),
            DataKind::Csr => fixtures::as_sparse(dense.clone()),
            DataKind::Distances | DataKind::Affinity => fixtures::pairwise(&dense, kind),
            DataKind::Table => continue,
        };
        labels(p, &problem, 1).map_err(|e| format!("{} data: {e}", kind.name()))?;
    }
    Ok(())
}

fn illegal_k_is_named(p: &Plugin) -> Verdict {
    let (mut problem, _) = problem(p, 1);
    let n = problem.n();
    let mut try_k = |k: Option<usize>| {
        problem.k = k;
        attempt(p, &problem, &fixtures::context(1)).err()
    };
    let said = |e: &Option<Error>| e.as_ref().map_or("a result".into(), ToString::to_string);
    let e = try_k(None);
    let named = matches!(e, Some(Error::MissingK { .. }));
    if p.properties().needs_k {
        ensure!(named, "without k it gave: {}; begin with problem.require_k", said(&e));
    } else {
        ensure!(e.is_none(), "without k it gave: {}; declare needs_k, if it needs k", said(&e));
    }
    for (k, legal) in [(0, Error::BadK), (n + 1, Error::TooManyClusters { k: n + 1, n })] {
        let e = try_k(Some(k));
        ensure!(e == Some(legal), "k = {k} gave: {}; begin with problem.require_k", said(&e));
    }
    Ok(())
}

fn extreme_k_is_legal(p: &Plugin) -> Verdict {
    let (mut problem, _) = problem(p, 2);
    for k in [1, problem.n()] {
        problem.k = Some(k);
        let c = labels(p, &problem, 1).map_err(|e| format!("k = {k}: {e}"))?;
        ensure!(c.k <= problem.n(), "k = {k} gave {} clusters", c.k);
        let used = c.sizes().iter().filter(|&&size| size > 0).count();
        ensure!(used <= k || !p.properties().needs_k, "needs k, and k = {k} gave {used} clusters");
    }
    Ok(())
}

fn dense_only(p: &Plugin) -> bool {
    p.properties().accepts.contains(&DataKind::Dense)
}

fn equal_rows_are_legal(p: &Plugin) -> Verdict {
    if dense_only(p) {
        let same = Data::dense(Array2::from_elem((12, 3), 2.5)).map_err(|e| e.to_string())?;
        labels(p, &fixtures::cut(Problem::new(same).with_k(3)), 1)?;
    }
    Ok(())
}

fn one_feature_is_legal(p: &Plugin) -> Verdict {
    if dense_only(p) {
        let x =
            Array2::from_shape_fn((15, 1), |(i, _)| 1.0 + (i % 3) as f64 * 5.0 + i as f64 * 0.01);
        let line = Data::dense(x).map_err(|e| e.to_string())?;
        labels(p, &fixtures::cut(Problem::new(line).with_k(3)), 1)?;
    }
    Ok(())
}

fn objective(p: &Plugin) -> Verdict {
    let (problem, _) = constrained(p, 3, 20);
    let c = labels(p, &problem, 3)?;
    if let (Some(last), Some(value)) = (c.history.last(), c.objective) {
        ensure!(
            last.objective == value,
            "history ends at {}, objective is {value}",
            last.objective
        );
    }
    ensure!(c.objective.is_none_or(f64::is_finite), "objective {:?}", c.objective);
    Ok(())
}

fn order_of_constraints(p: &Plugin) -> Verdict {
    let noise = of_its_kind(p, hard::small_unstructured(4));
    for problem in [constrained(p, 4, 30).0, noise] {
        promises::order_is_nothing(&problem, |problem| {
            labels(p, problem, 5).map(|c| c.labels).ok()
        })?;
    }
    Ok(())
}

/// True constraints change no label if the groups are easy to distinguish. The other constraints contradict the groups,
/// or the objects have no structure.
fn constraints_are_not_read(p: &Plugin) -> Verdict {
    let (easy, classes) = constrained(p, 5, 40);
    // A third of each group is in each of these classes.
    let mixed: Vec<u32> = (0u32..).zip(&classes).map(|(i, &class)| (class + i / 3) % 3).collect();
    let across = fixtures::true_constraints(&mixed, 40, 5);
    let across = easy.clone().with_constraints(across);
    let [first, second] = [1, 2].map(|seed| of_its_kind(p, hard::small_unstructured(seed)));
    let must_links = of_one_kind(&first, Kind::MustLink)?;
    let cannot_links = of_one_kind(&first, Kind::CannotLink)?;
    for problem in [easy, across, must_links, cannot_links, first, second] {
        let without = labels(p, &unconstrained(&problem), 6)?;
        let with = labels(p, &problem, 6)?;
        let same = with.labels == without.labels;
        ensure!(same, "constraints change the labels; declare reads_constraints in properties()");
    }
    Ok(())
}

/// The problem with its constraints of one kind.
fn of_one_kind(problem: &Problem, kind: Kind) -> Result<Problem, String> {
    let kept = problem.constraints.pairs().iter().copied().filter(|c| c.kind == kind);
    let kept = Constraints::new(problem.n(), kept).map_err(|e| e.to_string())?;
    Ok(problem.clone().with_constraints(kept))
}

/// The problem without constraints.
fn unconstrained(problem: &Problem) -> Problem {
    problem.clone().with_constraints(Constraints::default())
}

fn hard_promises_hold(p: &Plugin) -> Verdict {
    for seed in 0..10 {
        let (problem, _) = constrained(p, seed, 10 + 5 * seed as usize);
        let run = |problem: &Problem| {
            attempt(p, problem, &fixtures::context(seed)).map(|run| run.clustering)
        };
        promises::hold(&p.properties(), &problem, run)?;
    }
    Ok(())
}

/// A promise is kept wherever it can be: no set of constraints that k clusters can hold is given up.
fn feasible_sets_are_met(p: &Plugin) -> Verdict {
    let Properties { hard_must, hard_cannot, hard_if_marked, .. } = p.properties();
    for (name, problem) in feasible::sets() {
        let pairs = problem.constraints.pairs().iter();
        let promised = pairs.filter(|c| match c.kind {
            Kind::MustLink => hard_must || hard_if_marked,
            Kind::CannotLink => hard_cannot || hard_if_marked,
        });
        let strength = hard_if_marked.then_some(Strength::Hard);
        let given = promised.map(|c| Constraint { strength, ..*c });
        let given = Constraints::new(problem.n(), given).map_err(|e| e.to_string())?;
        let problem = of_its_kind(p, problem).with_constraints(given);
        attempt(p, &problem, &fixtures::context(1)).map_err(|e| format!("{name}: {e}"))?;
    }
    Ok(())
}

/// A group whose members must be apart is what its pairs are: to the bit, or, where it is taken whole, in
/// what is promised.
fn groups_are_their_pairs(p: &Plugin) -> Verdict {
    for seed in 1..4 {
        let (problem, classes) = constrained(p, seed, 12);
        // Groups of which anything is said, and one of which an object is must-linked to one in none.
        for given in [(*problem.constraints).clone(), fixtures::tied(&classes)] {
            grouped_and_listed(p, &problem, &fixtures::with_groups(&given, &classes), seed)?;
        }
    }
    Ok(())
}

fn grouped_and_listed(p: &Plugin, problem: &Problem, grouped: &Constraints, seed: u64) -> Verdict {
    let listed = grouped.in_pairs("this law").map_err(|e| e.to_string())?;
    let run = |constraints: &Constraints| {
        let problem = problem.clone().with_constraints(constraints.clone());
        attempt(p, &problem, &fixtures::context(seed)).map_err(|e| e.to_string())
    };
    match (run(grouped), run(&listed)) {
        (Ok(one), Ok(other)) if p.properties().reads_groups && p.properties().hard_cannot => {
            let broken = (one.violations.cannot, other.violations.cannot);
            ensure!(broken == (0, 0), "groups and pairs broken: {broken:?}");
        }
        (Ok(one), Ok(other)) => {
            let same = one.clustering.labels == other.clustering.labels
                && one.violations_closed == other.violations_closed;
            ensure!(same, "groups give other labels than their pairs");
        }
        (Err(e), _) | (_, Err(e)) if e.contains("panicked: ") => return Err(e),
        (one, other) => {
            let (one, other) = (one.map(|run| run.seconds), other.map(|run| run.seconds));
            ensure!(one.is_err() && other.is_err(), "groups give {one:?}, pairs {other:?}");
        }
    }
    Ok(())
}

fn contradictions_are_named(p: &Plugin) -> Verdict {
    let run = |problem: &Problem| attempt(p, problem, &fixtures::context(1));
    promises::contradictions_are_named(&problem(p, 1).0, run)
}

fn centres_have_the_declared_shape(p: &Plugin) -> Verdict {
    let (problem, _) = problem(p, 1);
    let c = labels(p, &problem, 1)?;
    let centres = c.extras.centers.ok_or("gives_centers is declared, there are none")?;
    ensure!(centres.dim() == (c.k, problem.d()), "centres are {:?}", centres.dim());
    ensure!(centres.iter().all(|v| v.is_finite()), "a centre is not finite");
    Ok(())
}

fn learned_weights_are_declared(p: &Plugin) -> Verdict {
    let extras = labels(p, &problem(p, 1).0, 1)?.extras;
    let learned = extras.weights.is_some() || extras.metrics.is_some();
    ensure!(!learned, "it learns how much features count, and learns_weights is not declared");
    Ok(())
}

fn what_was_tried_is_declared(p: &Plugin) -> Verdict {
    let tried = labels(p, &problem(p, 1).0, 1)?.extras.tried;
    ensure!(tried.is_empty(), "it tells what it tried, and attempts() is empty");
    Ok(())
}

fn sparse_equals_dense(p: &Plugin) -> Verdict {
    // The word "auto" chooses the distortion by the kind of rows.
    let named = p.to_value().to_string();
    let named = named.replace(r#""distortion":"auto""#, r#""distortion":"squared_euclidean""#);
    let value = serde_json::from_str(&named).map_err(|e| e.to_string())?;
    let p: &Plugin = &*<Plugin as RoleObject>::from_value(value)?;
    let (dense, classes) = fixtures::dense(6);
    let (sparse, _) = fixtures::sparse(6);
    let constraints = fixtures::true_constraints(&classes, 20, 6);
    let a = labels(p, &dense.with_constraints(constraints.clone()), 1)?;
    let b = labels(p, &sparse.with_constraints(constraints), 1)?;
    ensure!(a.labels == b.labels, "sparse rows give other labels than the same rows dense");
    Ok(())
}

/// Whenever the flag is raised, the run ends with it: no attempt is passed over, no sweep goes on.
fn cancelling_is_never_late(p: &Plugin) -> Verdict {
    let (problem, _) = constrained(p, 1, 20);
    for checks in [1, 2, 3, 5, 8, 13, 21, 34, 55, 89] {
        let ctx = Context::builder(SeedPath::new(1)).cancel_after(checks).build();
        match attempt(p, &problem, &ctx).map_err(|e| e.root().clone()) {
            Err(Error::Cancelled) => {}
            // It was done before.
            _ if !ctx.is_cancelled() => return Ok(()),
            other => {
                let seconds = other.map(|r| r.seconds);
                return Err(format!("cancelled at its look no. {checks} it gave {seconds:?}"));
            }
        }
    }
    Ok(())
}

/// A problem of a kind the plugin takes.
fn of_its_kind(p: &Plugin, dense: Problem) -> Problem {
    fixtures::of_first_kind(&p.properties().accepts, dense)
}

/// Objects without structure.
fn noise(p: &Plugin, seed: u64) -> Problem {
    of_its_kind(p, hard::unstructured(seed).0)
}

/// Constraints of one kind change what is found on some problem.
fn changes_something(p: &Plugin, kind: Kind) -> Verdict {
    for seed in 0..3 {
        let small = of_its_kind(p, hard::small_unstructured(seed));
        let free = labels(p, &unconstrained(&small), 1)?;
        match attempt(p, &of_one_kind(&small, kind)?, &fixtures::context(1)) {
            Ok(run) if run.clustering == free => {}
            Err(e) if choices::broken(&e).is_some() => return Err(e.to_string()),
            // To be refused is to be read.
            Ok(_) | Err(_) => return Ok(()),
        }
    }
    Err(format!("declares reads_constraints, and a {} changes nothing", kind.name()))
}

fn options_count(p: &Plugin) -> Verdict {
    let bare = Problem { constraints: Arc::default(), ..hard::small_unstructured(2) };
    let few = hard::small_unstructured(3);
    let few_links = few.constraints.pairs().iter().copied().take(2);
    let few_links = Constraints::new(few.n(), few_links).map_err(|e| e.to_string())?;
    let worlds = [
        hard::small_unstructured(1),
        constrained(p, 1, 20).0,
        fixtures::three_groups_apart(),
        bare,
        few.with_constraints(few_links),
        hard::grid(8).0,
        hard::contested(false),
        hard::contested(true),
    ]
    .map(|world| if world.data.kind() == DataKind::Dense { of_its_kind(p, world) } else { world });
    choices::each_changes_something(p, worlds.len(), |p, world, ctx| {
        attempt(p, &worlds[world], ctx).map(|run| run.clustering)
    })
}

/// Problems that are legal and not easy are solved, or refused for their constraints by a method
/// that promises to keep them.
fn hard_problems(p: &Plugin) -> Verdict {
    let Properties { reads_constraints, hard_must, hard_cannot, .. } = p.properties();
    for (name, problem) in hard::hard(1) {
        let constrained = !problem.constraints.is_empty();
        if constrained && !reads_constraints {
            continue;
        }
        let problem = of_its_kind(p, problem);
        match attempt(p, &problem, &fixtures::context(1)) {
            Ok(run) => {
                let bad = hard::not_finite(&run.clustering);
                ensure!(bad.is_none(), "{name}: {} is not finite", bad.unwrap_or_default());
            }
            Err(Error::InfeasibleConstraints { .. })
                if constrained && (hard_must || hard_cannot) => {}
            Err(e) => return Err(format!("{name}: {}", hard::said(&e))),
        }
    }
    Ok(())
}

fn memory_covers(p: &Plugin) -> Verdict {
    let problem = noise(p, 1);
    let returned = hard::bytes(&labels(p, &problem, 1)?);
    hard::memory_covers(&problem, |shape| p.memory(shape), returned)
}
