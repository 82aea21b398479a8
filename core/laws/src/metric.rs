//! The laws of [`Metric`](mustlink_core::roles::Metric).

use ndarray::Array2;

use super::law::{Law, Runs, Verdict};
use super::{choices, fixtures, numbers};
use crate::ensure;
use mustlink_core::constraints::{Constraint, Constraints};
use mustlink_core::context::Context;
use mustlink_core::data::Data;
use mustlink_core::ensemble::{Ensemble, Member};
use mustlink_core::error::Error;
use mustlink_core::random::SeedPath;
use mustlink_core::roles::{Metric, MetricInput};

pub(super) fn laws() -> Vec<Law<dyn Metric>> {
    let mut laws = vec![
        Law::always("score_is_in_range", score_is_in_range),
        Law::always("nothing_has_no_score", nothing_has_no_score),
        Law::always("one_object_is_defined", one_object_is_defined),
        Law::always("label_names_do_not_matter", names_do_not_matter),
        Law::always("object_order_does_not_matter", order_does_not_matter),
        Law::when(
            "sides_may_be_exchanged",
            |m| m.properties().symmetric && m.properties().needs_truth,
            sides_may_be_exchanged,
        ),
        Law::when(
            "the_truth_is_perfect",
            |m| m.properties().perfect.is_some(),
            the_truth_is_perfect,
        ),
        Law::always("scope_of_all_is_no_scope", scope_of_all_is_no_scope),
        Law::always("scope_is_all_that_counts", scope_is_all_that_counts),
        Law::when(
            "unknown_class_leaves_the_scope",
            |m| m.properties().needs_truth,
            unknown_class_leaves_the_scope,
        ),
        Law::when(
            "groups_are_their_pairs",
            |m| m.properties().needs_constraints,
            |m| {
                for world in World::several() {
                    let classes: Vec<u32> = world.truth.iter().flatten().copied().collect();
                    let score = |constraints: Constraints| {
                        let world = World { constraints, ..world.clone() };
                        m.score(&world.input()).map_err(|e| e.to_string())
                    };
                    let grouped = fixtures::with_groups(&world.constraints, &classes);
                    let listed = grouped.in_pairs("this law").map_err(|e| e.to_string())?;
                    let (one, other) = (score(grouped)?, score(listed)?);
                    let same = match (one, other) {
                        (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * a.abs().max(1.0),
                        (one, other) => one == other,
                    };
                    ensure!(same, "groups give {one:?}, their pairs {other:?}");
                }
                Ok(())
            },
        ),
        Law::always("needs_are_declared", needs_are_declared),
        Law::always("lengths_must_fit", lengths_must_fit),
        Law::always(choices::LAW, options_count),
    ];
    laws.extend(numbers::laws(|_| true));
    laws
}

impl Runs for dyn Metric {
    type Made = Option<f64>;

    fn run_small(&self, _: &Context) -> Result<Option<f64>, Error> {
        self.score(&World::random(40, 4, 3, 9).input())
    }
}

/// Everything a metric may look at.
#[derive(Clone)]
struct World {
    labels: Vec<u32>,
    truth: Vec<Option<u32>>,
    data: Data,
    constraints: Constraints,
    heldout: Constraints,
    unconstrained: Vec<u32>,
    ensemble: Ensemble,
}

impl World {
    /// `n` objects with the labels and classes given, features and constraints that follow the
    /// classes, and a small ensemble.
    fn new(labels: Vec<u32>, classes: &[u32], seed: u64) -> Self {
        let n = labels.len();
        let (x, _) = fixtures::groups(n.div_ceil(3), 3, 0.8, seed);
        let member = |shift: usize| {
            let shifted: Vec<u32> = (0..n).map(|i| classes[(i + shift) % n]).collect();
            Member::from_labels(&shifted)
        };
        World {
            labels,
            truth: classes.iter().map(|&c| Some(c)).collect(),
            data: Data::dense(x).expect("finite").subset(&(0..n).collect::<Vec<_>>()),
            constraints: fixtures::true_constraints(classes, 2 * n, seed),
            heldout: fixtures::true_constraints(classes, n, seed + 1000),
            unconstrained: (0..n).map(|i| classes[(i + 1) % n]).collect(),
            ensemble: Ensemble::new(n, vec![member(0), member(1), member(2)]).expect("members fit"),
        }
    }

    /// `n` objects in up to `clusters` clusters and `classes` classes, unrelated.
    fn random(n: usize, clusters: usize, classes: usize, seed: u64) -> Self {
        let mut s = SeedPath::new(seed).stream("labels");
        let labels = (0..n).map(|_| s.below(clusters) as u32).collect();
        let truth: Vec<u32> = (0..n).map(|_| s.below(classes) as u32).collect();
        World::new(labels, &truth, seed)
    }

    /// Worlds of several shapes: few and many groups, one group, singletons.
    fn several() -> Vec<Self> {
        let shapes =
            [(40, 4, 3), (40, 3, 4), (24, 2, 2), (12, 1, 3), (12, 3, 1), (9, 30, 3), (2, 2, 2)];
        let mut worlds: Vec<World> = (0..)
            .zip(shapes)
            .map(|(seed, (n, clusters, classes))| World::random(n, clusters, classes, seed))
            .collect();
        worlds.push(World::new((0..12).collect(), &[0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2], 20));
        worlds.push(World::new(vec![0; 6], &[0, 0, 0, 1, 1, 1], 21));
        // Equal rows, and one far object.
        let same = Array2::from_elem((12, 3), 2.5);
        let mut far = same.clone();
        far[[0, 0]] = 1e9;
        for x in [same, far] {
            let data = Data::dense(x).expect("finite");
            worlds.push(World { data, ..World::random(12, 3, 3, 22) });
        }
        worlds
    }

    fn input(&self) -> MetricInput<'_> {
        MetricInput {
            labels: &self.labels,
            truth: Some(&self.truth),
            scope: None,
            data: Some(&self.data),
            constraints: Some(&self.constraints),
            heldout: Some(&self.heldout),
            unconstrained: Some(&self.unconstrained),
            exclude: None,
            ensemble: Some(&self.ensemble),
            ctx: None,
        }
    }

    /// The objects `rows`, in this order.
    fn subset(&self, rows: &[usize]) -> Self {
        let members = self.ensemble.members().iter().map(|member| {
            Member::from_labels(&rows.iter().map(|&r| member.labels[r]).collect::<Vec<_>>())
        });
        World {
            labels: rows.iter().map(|&r| self.labels[r]).collect(),
            truth: rows.iter().map(|&r| self.truth[r]).collect(),
            data: self.data.subset(rows),
            constraints: self.constraints.subset(rows, self.labels.len()),
            heldout: self.heldout.subset(rows, self.labels.len()),
            unconstrained: rows.iter().map(|&r| self.unconstrained[r]).collect(),
            ensemble: Ensemble::new(rows.len(), members.collect()).expect("members fit"),
        }
    }
}

fn score(metric: &dyn Metric, input: &MetricInput) -> Result<Option<f64>, String> {
    metric.score(input).map_err(|e| e.to_string())
}

/// Equal up to rounding.
fn near(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * (1.0 + a.abs()),
        (a, b) => a == b,
    }
}

/// Equal to the last bit.
fn same(a: Option<f64>, b: Option<f64>) -> bool {
    a.map(f64::to_bits) == b.map(f64::to_bits)
}

fn score_is_in_range(metric: &dyn Metric) -> Verdict {
    let p = metric.properties();
    let has_room = p.min <= p.max;
    ensure!(has_room, "its range {}..={} is empty", p.min, p.max);
    let mut defined = 0;
    for (at, world) in World::several().iter().enumerate() {
        let Some(value) = score(metric, &world.input())? else { continue };
        defined += 1;
        ensure!(value.is_finite(), "world {at}: {value}");
        ensure!(
            value >= p.min && value <= p.max,
            "world {at}: {value} is not between {} and {}",
            p.min,
            p.max
        );
    }
    ensure!(defined > 0, "it is not defined for any of the trial problems");
    Ok(())
}

/// Without objects, or with none in the scope, there is nothing to score.
fn nothing_has_no_score(metric: &dyn Metric) -> Verdict {
    let world = World::random(12, 3, 3, 1);
    let none = [false; 12];
    let found = score(metric, &MetricInput { scope: Some(&none), ..world.input() })?;
    ensure!(found.is_none(), "an empty scope scores {found:?}");
    if !metric.properties().needs_data {
        let constraints = Constraints::default();
        let empty = MetricInput {
            truth: Some(&[]),
            constraints: Some(&constraints),
            heldout: Some(&constraints),
            unconstrained: Some(&[]),
            ..MetricInput::default()
        };
        let found = score(metric, &empty)?;
        ensure!(found.is_none(), "no objects score {found:?}");
    }
    Ok(())
}

/// One object is undefined or perfect.
fn one_object_is_defined(metric: &dyn Metric) -> Verdict {
    let one = World::new(vec![3], &[5], 1);
    let found = score(metric, &one.input())?;
    ensure!(found.is_none_or(f64::is_finite), "it scores {found:?}");
    if let (Some(found), Some(perfect)) = (found, metric.properties().perfect) {
        ensure!(found == perfect, "it scores {found}, perfect is {perfect}");
    }
    Ok(())
}

fn names_do_not_matter(metric: &dyn Metric) -> Verdict {
    for world in World::several() {
        let mut renamed = world.clone();
        renamed.labels.iter_mut().for_each(|l| *l = u32::MAX - 1 - 1_000_003 * *l);
        renamed.unconstrained.iter_mut().for_each(|l| *l = 800_000_003 - 211 * *l);
        renamed.truth.iter_mut().for_each(|t| *t = t.map(|c| 900_000_007 - 101 * c));
        let (a, b) = (score(metric, &world.input())?, score(metric, &renamed.input())?);
        ensure!(near(a, b), "{a:?} became {b:?} when labels were renamed");
    }
    Ok(())
}

fn order_does_not_matter(metric: &dyn Metric) -> Verdict {
    for (seed, world) in World::several().into_iter().enumerate() {
        let order = SeedPath::new(seed as u64).stream("order").permutation(world.labels.len());
        let order: Vec<usize> = order.into_iter().map(|i| i as usize).collect();
        let (a, b) =
            (score(metric, &world.input())?, score(metric, &world.subset(&order).input())?);
        ensure!(near(a, b), "{a:?} became {b:?} when objects were reordered");
    }
    Ok(())
}

fn sides_may_be_exchanged(metric: &dyn Metric) -> Verdict {
    for world in World::several() {
        let mut exchanged = world.clone();
        exchanged.labels = world.truth.iter().map(|t| t.expect("all known")).collect();
        exchanged.truth = world.labels.iter().map(|&l| Some(l)).collect();
        let (a, b) = (score(metric, &world.input())?, score(metric, &exchanged.input())?);
        ensure!(near(a, b), "{a:?} became {b:?} when clusters and classes were exchanged");
    }
    Ok(())
}

/// Clusters that are the classes under other names have the perfect value, also where the classes
/// are one group or singletons.
fn the_truth_is_perfect(metric: &dyn Metric) -> Verdict {
    let properties = metric.properties();
    let perfect = properties.perfect;
    let mixed: Vec<u32> = (0..30).map(|i| i * i % 4).collect();
    let cases =
        [("mixed groups", mixed), ("one group", vec![0; 8]), ("singletons", (0..8).collect())];
    for (what, classes) in cases {
        let labels = classes.iter().map(|&c| 90 - 7 * c).collect();
        let world = World::new(labels, &classes, 3);
        let found = score(metric, &world.input())?;
        // Scores that do not ask for classes may have nothing to say about extreme partitions.
        let undefined = found.is_none() && what != "mixed groups" && !properties.needs_truth;
        ensure!(undefined || found == perfect, "{what}: {found:?}, perfect is {perfect:?}");
    }
    Ok(())
}

fn scope_of_all_is_no_scope(metric: &dyn Metric) -> Verdict {
    for world in World::several() {
        let all = vec![true; world.labels.len()];
        let scoped = score(metric, &MetricInput { scope: Some(&all), ..world.input() })?;
        let free = score(metric, &world.input())?;
        ensure!(same(scoped, free), "{scoped:?} with all objects in the scope, {free:?} without");
    }
    Ok(())
}

/// A scope gives what its objects alone give, and what is outside may change at will.
fn scope_is_all_that_counts(metric: &dyn Metric) -> Verdict {
    for (seed, world) in World::several().into_iter().enumerate() {
        let n = world.labels.len();
        let mut s = SeedPath::new(seed as u64).stream("scope");
        let mut scope: Vec<bool> = (0..n).map(|_| s.below(3) > 0).collect();
        scope[0] = true;
        let rows: Vec<usize> = (0..n).filter(|&i| scope[i]).collect();
        let scoped = score(metric, &MetricInput { scope: Some(&scope), ..world.input() })?;
        let alone = score(metric, &world.subset(&rows).input())?;
        ensure!(near(scoped, alone), "{scoped:?} in a scope, {alone:?} for its objects alone");
        let mut changed = world.clone();
        for i in (0..n).filter(|&i| !scope[i]) {
            changed.labels[i] = 77 + s.below(3) as u32;
            changed.unconstrained[i] = s.below(3) as u32;
            changed.truth[i] = Some(s.below(3) as u32);
        }
        let after = score(metric, &MetricInput { scope: Some(&scope), ..changed.input() })?;
        ensure!(same(scoped, after), "{scoped:?} became {after:?} by labels outside the scope");
    }
    Ok(())
}

fn unknown_class_leaves_the_scope(metric: &dyn Metric) -> Verdict {
    for (seed, world) in World::several().into_iter().enumerate() {
        let mut s = SeedPath::new(seed as u64).stream("unknown");
        let known: Vec<bool> = world.labels.iter().map(|_| s.below(3) > 0).collect();
        let mut partly = world.clone();
        partly.truth.iter_mut().zip(&known).filter(|(_, k)| !**k).for_each(|(t, _)| *t = None);
        let (a, b) = (
            score(metric, &partly.input())?,
            score(metric, &MetricInput { scope: Some(&known), ..world.input() })?,
        );
        ensure!(near(a, b), "{a:?} with unknown classes, {b:?} with those objects out of scope");
    }
    Ok(())
}

/// Input that is not declared as needed is not used; if needed input is missing, the score is absent.
fn needs_are_declared(metric: &dyn Metric) -> Verdict {
    let p = metric.properties();
    let world = World::random(40, 4, 3, 9);
    let full = world.input();
    let free = score(metric, &full)?;
    let without = [
        ("classes", p.needs_truth, MetricInput { truth: None, ..full }),
        ("data", p.needs_data, MetricInput { data: None, ..full }),
        ("constraints", p.needs_constraints, MetricInput { constraints: None, ..full }),
        ("held-out constraints", p.needs_heldout, MetricInput { heldout: None, ..full }),
        (
            "the partition without constraints",
            p.needs_unconstrained,
            MetricInput { unconstrained: None, ..full },
        ),
        ("the ensemble", p.needs_ensemble, MetricInput { ensemble: None, ..full }),
    ];
    for (what, needed, input) in without {
        match (needed, metric.score(&input)) {
            (true, Ok(Some(value))) => {
                return Err(format!("needs {what} and scores {value} without"));
            }
            (true, _) => {}
            (false, Ok(value)) => {
                ensure!(
                    same(value, free),
                    "{what} are not declared and change {free:?} to {value:?}"
                );
            }
            (false, Err(e)) => return Err(format!("does not declare that it needs {what}: {e}")),
        }
    }
    Ok(())
}

fn options_count(metric: &(dyn Metric + 'static)) -> Verdict {
    let mut worlds = World::several();
    for World { constraints, heldout, labels, .. } in &mut worlds {
        for set in [constraints, heldout] {
            let pairs = set.pairs().iter().enumerate();
            let weighted = pairs.map(|(at, c)| c.weighing(1.0 + (at % 3) as f64));
            *set = Constraints::new(labels.len(), weighted).map_err(|e| e.to_string())?;
        }
    }
    choices::each_changes_something(metric, worlds.len(), |metric, world, _| {
        metric.score(&worlds[world].input())
    })
}

/// Anything of another number of objects is an error.
fn lengths_must_fit(metric: &dyn Metric) -> Verdict {
    let world = World::random(12, 3, 3, 9);
    let full = world.input();
    let scope = [true; 13];
    let scoped = MetricInput { scope: Some(&scope), ..full };
    ensure!(metric.score(&scoped).is_err(), "a scope of 13 flags for 12 objects was accepted");
    if metric.properties().needs_truth {
        let short = MetricInput { truth: Some(&world.truth[..11]), ..full };
        ensure!(metric.score(&short).is_err(), "11 classes for 12 objects were accepted");
    }
    if metric.properties().needs_data {
        let short = world.data.subset(&[0, 1, 2]);
        let short = MetricInput { data: Some(&short), ..full };
        ensure!(metric.score(&short).is_err(), "3 rows of data for 12 objects were accepted");
    }
    if metric.properties().needs_unconstrained {
        let short = MetricInput { unconstrained: Some(&world.unconstrained[..11]), ..full };
        ensure!(metric.score(&short).is_err(), "11 unconstrained labels for 12 were accepted");
    }
    if metric.properties().needs_ensemble {
        let member = |m: &Member| Member::from_labels(&m.labels[..11]);
        let short = world.ensemble.members().iter().map(member).collect();
        let short = Ensemble::new(11, short).expect("members fit");
        let short = MetricInput { ensemble: Some(&short), ..full };
        ensure!(metric.score(&short).is_err(), "an ensemble of 11 objects for 12 was accepted");
    }
    let beyond = Constraints::new(20, [Constraint::must(0, 19)]).expect("in range");
    for (needed, beyond) in [
        (metric.properties().needs_constraints, MetricInput { constraints: Some(&beyond), ..full }),
        (metric.properties().needs_heldout, MetricInput { heldout: Some(&beyond), ..full }),
    ] {
        ensure!(
            !needed || metric.score(&beyond).is_err(),
            "a constraint on object 19 of 12 was accepted"
        );
    }
    Ok(())
}
