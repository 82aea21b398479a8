//! The choice as a whole.

use super::prepared::Prepared;
use super::*;
use mustlink_consensus_functions as _;
use mustlink_constraint_propagators as _;
use mustlink_core::clustering::Tried;
use mustlink_core::run;
use mustlink_kernels::agreement::contingency::adjusted_rand;
use mustlink_transforms as _;
use ndarray::Array2;
use serde_json::json;

/// Groups of `size` objects along the first feature; the second has nothing to do with them and is larger.
fn stripes(groups: usize, size: usize) -> (Data, Vec<u32>) {
    let mut s = SeedPath::new(7).stream("stripes");
    let n = groups * size;
    let classes: Vec<u32> = (0..n).map(|i| (i % groups) as u32).collect();
    let x = Array2::from_shape_fn((n, 2), |(i, c)| match c {
        0 => f64::from(classes[i]) + 0.1 * s.normal(),
        _ => 30.0 * s.unit(),
    });
    (Data::dense(x).unwrap(), classes)
}

fn pairs(classes: &[u32], count: usize) -> Constraints {
    let mut s = SeedPath::new(3).stream("pairs");
    let n = classes.len();
    let pair = |_| {
        let i = s.below(n);
        let j = (i + 1 + s.below(n - 1)) % n;
        if classes[i] == classes[j] { Constraint::must(i, j) } else { Constraint::cannot(i, j) }
    };
    let all: Vec<Constraint> = (0..count).map(pair).collect();
    Constraints::new(n, all).unwrap()
}

fn same(a: &[u32], b: &[u32]) -> f64 {
    let n = a.len();
    let pairs = (0..n).flat_map(|j| (0..j).map(move |i| (i, j)));
    let agree = pairs.filter(|&(i, j)| (a[i] == a[j]) == (b[i] == b[j])).count();
    agree as f64 / (n * (n - 1) / 2) as f64
}

#[test]
fn answers_decide_what_no_default_could() {
    let (data, classes) = stripes(3, 30);
    let problem = Problem::new(data).with_k(3);
    let told = problem.clone().with_constraints(pairs(&classes, 60));
    let ctx = Context::new(1);
    let found = run::cluster(&Auto::default(), &told, &ctx).unwrap();
    assert!(same(&found.clustering.labels, &classes) > 0.95);
    // As it is read, k-means sees the other feature alone.
    let plain = <dyn BaseClusterer as RoleObject>::from_value(json!({ "type": "kmeans" })).unwrap();
    let plain = run::cluster(&*plain, &problem, &ctx).unwrap();
    assert!(same(&plain.clustering.labels, &classes) < 0.7);
    let tried = &found.clustering.extras.tried;
    let best = tried.iter().filter(|t| t.weight > 0.0);
    let scored =
        |t: &&Tried| t.score.unwrap() >= found.clustering.extras.diagnostics["best_score"] - 0.2;
    assert!(best.clone().count() > 0 && best.clone().all(|t| scored(&t) && t.labels.is_some()));
    assert!(tried.iter().any(|t| t.outcome == "below the best"), "k-means as read");
    let names: std::collections::BTreeSet<&str> = tried.iter().map(|t| &*t.name).collect();
    assert_eq!(names.len(), tried.len(), "names tell candidates apart");
}

#[test]
fn without_constraints_those_that_agree_are_combined() {
    let (data, _) = stripes(3, 20);
    let problem = Problem::new(data).with_k(3);
    let found = run::cluster(&Auto::default(), &problem, &Context::new(1)).unwrap().clustering;
    let tried = &found.extras.tried;
    // Those that read constraints have nothing to read.
    assert_eq!(tried.len(), 13);
    for one in tried {
        let others = tried.iter().filter(|t| t.name != one.name);
        let others: Vec<f64> = others
            .map(|t| adjusted_rand(t.labels.as_ref().unwrap(), one.labels.as_ref().unwrap()))
            .collect();
        let mean = others.iter().sum::<f64>() / 12.0;
        assert!((one.score.unwrap() - mean.max(0.0)).abs() < 1e-12, "{}", one.name);
    }
    let best = tried.iter().max_by(|a, b| a.score.unwrap().total_cmp(&b.score.unwrap())).unwrap();
    assert_eq!(best.weight, 1.0);
    let counts = |t: &Tried| {
        let gap = best.score.unwrap() - t.score.unwrap();
        gap <= best.error.unwrap().hypot(t.error.unwrap())
    };
    assert!(tried.iter().all(|t| (t.weight > 0.0) == counts(t)));
    // One alone agrees with nobody: it is the result.
    let alone = Auto { candidates: Some(vec![two().remove(0)]), ..Auto::default() };
    let found = run::cluster(&alone, &problem, &Context::new(1)).unwrap().clustering;
    assert_eq!((found.extras.tried.len(), found.extras.tried[0].weight), (1, 1.0));
}

#[test]
fn what_is_marked_hard_holds_and_what_contradicts_is_lived_with() {
    let (data, classes) = stripes(2, 20);
    // Objects of different classes, joined all the same.
    let hard = |c: Constraint| Constraint { strength: Some(Strength::Hard), ..c };
    let mut all = pairs(&classes, 30).pairs().to_vec();
    all.retain(|c| (c.i, c.j) != (0, 1));
    all.push(hard(Constraint::must(0, 1)));
    all.push(Constraint::must(2, 4));
    all.push(Constraint::must(4, 6));
    all.push(Constraint::cannot(2, 6));
    let constraints = Constraints::new(40, all).unwrap();
    let problem = Problem::new(data).with_k(2).with_constraints(constraints);
    let found = run::cluster(&Auto::default(), &problem, &Context::new(1)).unwrap();
    assert_eq!(found.clustering.labels[0], found.clustering.labels[1]);
    assert!(same(&found.clustering.labels, &classes) > 0.85);
}

#[test]
fn what_is_marked_hard_and_cannot_hold_is_refused_before_anything_is_tried() {
    let (data, _) = stripes(2, 20);
    let hard = |c: Constraint| Constraint { strength: Some(Strength::Hard), ..c };
    let fails = |pairs: [Constraint; 3]| {
        let constraints = Constraints::new(40, pairs.map(hard)).unwrap();
        let problem = Problem::new(data.clone()).with_k(2).with_constraints(constraints);
        // The candidate would fail, too.
        let one = json!([{ "clusterer": { "type": "kmeans", "k": 999 } }]);
        let auto: Auto = serde_json::from_value(json!({ "candidates": one })).unwrap();
        run::cluster(&auto, &problem, &Context::new(1)).unwrap_err()
    };
    let (a, b) = (Constraint::must(0, 1), Constraint::must(1, 2));
    let error = fails([a, b, Constraint::cannot(0, 2)]);
    assert!(matches!(error, Error::InconsistentConstraints(_)), "{error}");
    let error = fails([(0, 1), (1, 2), (0, 2)].map(|(i, j)| Constraint::cannot(i, j)));
    assert!(matches!(error, Error::InfeasibleConstraints { .. }), "{error}");
}

#[test]
fn what_promises_constraints_is_not_tried_where_they_may_not_hold() {
    let (data, classes) = stripes(2, 20);
    // Four objects that are all apart, and two clusters.
    let mut all = pairs(&classes, 40).pairs().to_vec();
    all.extend(
        [(0, 2), (0, 4), (2, 4), (0, 6), (2, 6), (4, 6)].map(|(i, j)| Constraint::cannot(i, j)),
    );
    let problem = Problem::new(data).with_k(3).with_constraints(Constraints::new(40, all).unwrap());
    let found = run::cluster(&Auto::default(), &problem, &Context::new(1)).unwrap();
    let of = |name: &str| {
        let tried = found.clustering.extras.tried.iter().find(|t| t.name == name).unwrap();
        (tried.outcome.as_str(), tried.seconds)
    };
    let why = "not tried: it promises constraints, and 3 clusters are not known to hold all";
    assert_eq!(of("z_score + cop_kmeans"), (why, 0.0));
    assert_ne!(of("z_score + pck_means").0, why);
}

#[test]
fn the_number_of_clusters_is_found() {
    let (data, classes) = stripes(4, 25);
    let problem = Problem::new(data).with_constraints(pairs(&classes, 120));
    let candidate = |transforms: Value, clusterer: &str| json!({ "transforms": transforms, "clusterer": { "type": clusterer } });
    let candidates = json!([
        candidate(json!([]), "kmeans"),
        candidate(json!([{ "type": "z_score" }, { "type": "itml" }]), "kmeans"),
        candidate(json!([{ "type": "z_score" }]), "mpck_means"),
    ]);
    let few = json!({ "type": "auto", "candidates": candidates });
    let few = <dyn BaseClusterer as RoleObject>::from_value(few).unwrap();
    let found = run::cluster(&*few, &problem, &Context::new(1)).unwrap();
    assert_eq!(found.clustering.k, 4);
    let auto = Auto { k_min: 5, k_max: 4, ..Auto::default() };
    let message = run::cluster(&auto, &problem, &Context::new(1)).unwrap_err().to_string();
    assert_eq!(message, "k_min: must be at most k_max = 4, got 5");
}

#[test]
fn a_sample_speaks_for_all() {
    let (data, classes) = stripes(3, 100);
    let told = pairs(&classes, 60);
    let problem = Problem::new(data).with_k(3).with_constraints(told);
    let auto = Auto { sample: 90, ..Auto::default() };
    let of = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run::cluster(&auto, &problem, &Context::new(1)).unwrap().clustering)
    };
    let found = of(1);
    assert_eq!(found.labels.len(), 300);
    assert!(same(&found.labels, &classes) > 0.95);
    assert!(found == of(3), "the same bits on any number of threads");
}

#[test]
fn candidates_of_ones_own() {
    let (data, classes) = stripes(3, 20);
    let problem = Problem::new(data).with_k(3).with_constraints(pairs(&classes, 40));
    let auto = |candidates: Value| {
        let config = json!({ "type": "auto", "candidates": candidates });
        <dyn BaseClusterer as RoleObject>::from_value(config).unwrap()
    };
    let both = auto(json!([
        { "clusterer": { "type": "kmeans" } },
        { "transforms": [{ "type": "z_score" }], "clusterer": { "type": "mpck_means" } },
    ]));
    let found = run::cluster(&*both, &problem, &Context::new(1)).unwrap().clustering;
    let names: Vec<&str> = found.extras.tried.iter().map(|t| &*t.name).collect();
    assert_eq!(names, ["kmeans", "z_score + mpck_means"]);
    let fails = |candidates: Value| {
        run::cluster(&*auto(candidates), &problem, &Context::new(1)).unwrap_err().to_string()
    };
    assert_eq!(fails(json!([])), "candidates: must be at least one candidate, got an empty list");
    assert!(
        fails(json!([{ "transforms": [{ "type": "deduplicate" }] }]))
            .starts_with("candidates[0].transforms: must be without those that drop or merge rows"),
    );
}

#[test]
fn a_consensus_that_needs_more_than_labels_is_refused_by_name() {
    let (data, _) = stripes(3, 20);
    let problem = Problem::new(data).with_k(3);
    let fails = |consensus: Value| {
        let auto: Auto = serde_json::from_value(json!({ "consensus": consensus })).unwrap();
        run::cluster(&auto, &problem, &Context::new(1)).unwrap_err().to_string()
    };
    let why = fails(json!({ "type": "wspa" }));
    assert!(why.starts_with("consensus: must be one that reads labels alone"), "{why}");
    let why = fails(json!({ "type": "cspa", "max_n": 10 }));
    assert!(why.starts_with("consensus: must be used with at most 10 objects (60 given)"), "{why}");
}

/// Two methods to choose from: one by all pairs, one by those held back.
fn two() -> Vec<Candidate> {
    let config = json!({ "candidates": [
        { "clusterer": { "type": "kmeans" } },
        { "transforms": [{ "type": "z_score" }], "clusterer": { "type": "pck_means" } },
    ] });
    serde_json::from_value::<Auto>(config).unwrap().candidates.unwrap()
}

#[test]
fn no_time_leaves_what_stands_in_and_enough_changes_nothing() {
    let (data, classes) = stripes(3, 20);
    let problem = Problem::new(data).with_k(3).with_constraints(pairs(&classes, 40));
    let found = |time_budget_seconds: Option<f64>| {
        let auto = Auto { candidates: Some(two()), time_budget_seconds, ..Auto::default() };
        run::cluster(&auto, &problem, &Context::new(1)).unwrap()
    };
    let (all, enough, none) = (found(None), found(Some(1e9)), found(Some(0.0)));
    let outcomes = |found: &run::Run| -> Vec<(String, Option<f64>)> {
        let tried = found.clustering.extras.tried.iter();
        tried.map(|t| (t.outcome.clone(), t.score)).collect()
    };
    assert_eq!(all.clustering.labels, enough.clustering.labels);
    assert_eq!(outcomes(&all), outcomes(&enough));
    let late =
        |found: &run::Run| found.clustering.extras.diagnostics.get("left_out_for_time").copied();
    // k-means stands in where nothing was tried.
    assert_eq!((late(&all), late(&enough), late(&none)), (None, Some(0.0), Some(1.0)));
    let said = outcomes(&none);
    assert_eq!(said[0], ("the result".to_string(), None));
    assert_eq!(said[1], ("not tried: no time left".to_string(), None));
    assert!(same(&none.clustering.labels, &classes) < 0.7);
}

/// The clock stops after the first folds: the best is fitted for all that, and scores are those of two folds.
#[test]
fn the_best_so_far_is_fitted_when_time_is_over() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    let (data, classes) = stripes(3, 20);
    let problem = Problem::new(data).with_k(3).with_constraints(pairs(&classes, 40));
    let candidates = two();
    let count = problem.constraints.len();
    let mut trials: Vec<Trial> =
        (0..2).map(|c| Trial::new((&candidates[c], ["plain", "told"][c]), c, 3, count)).collect();
    let ctx = Context::new(1);
    let pairs = problem.constraints.pairs();
    let folds = folds(pairs, &[], 60, Some(3), 5, &mut ctx.stream("folds")).unwrap();
    // One run without folds and two folds of the other.
    let looks = AtomicUsize::new(0);
    let clock = Clock::by(move || looks.fetch_add(1, Ordering::Relaxed) >= 3);
    let prepared = prepared(&candidates, &problem, &ctx).unwrap();
    let tests = Tests { problem: &problem, prepared: &prepared, folds: &folds };
    race(&mut trials, &tests, 1.0, &clock, &ctx).unwrap();
    assert!(trials[0].labels.is_some() && !trials[0].late);
    let told = &trials[1];
    assert!(told.labels.is_some() && told.folds == Some(2) && told.late && told.seconds > 0.0);
    assert!(!told.is_left_out_for_time());
    let own = Prepared::unchanged(problem.clone());
    let fitted = trial::fit(&candidates[1], &own, &problem, &prepared::place(&ctx, 1)).unwrap();
    assert_eq!(told.labels, Some(fitted.0));
}

/// As a file of chosen candidates may have it, that clusters without the constraints they were chosen by.
#[test]
fn without_constraints_those_that_read_them_do_where_there_are_no_others() {
    let (data, _) = stripes(3, 20);
    let problem = Problem::new(data).with_k(3);
    let of = |candidates: Value| {
        let auto: Auto = serde_json::from_value(json!({ "candidates": candidates })).unwrap();
        run::cluster(&auto, &problem, &Context::new(1)).unwrap().clustering.extras.tried
    };
    let reads =
        |tag: &str| json!({ "transforms": [{ "type": "z_score" }], "clusterer": { "type": tag } });
    let tried = of(json!([reads("pck_means"), reads("cop_kmeans")]));
    assert!(tried.iter().all(|t| t.score.is_some() && t.labels.is_some()), "{tried:?}");
    assert_eq!(tried.len(), 2);
    assert_eq!(of(json!([reads("pck_means")]))[0].outcome, "the result");
    // Beside one that reads none they are no other method.
    let tried = of(json!([reads("pck_means"), { "clusterer": { "type": "kmeans" } }]));
    assert_eq!(tried.iter().map(|t| &*t.name).collect::<Vec<_>>(), ["kmeans"]);
}

/// Candidates cannot make more clusters than they see objects.
#[test]
fn a_sample_of_fewer_objects_than_clusters_is_named() {
    let (data, classes) = stripes(3, 20);
    let problem = Problem::new(data).with_constraints(pairs(&classes, 10));
    let of = |k: usize| {
        let auto = Auto { sample: 10, candidates: Some(two()), ..Auto::default() };
        run::cluster(&auto, &problem.clone().with_k(k), &Context::new(1))
            .map(|run| run.clustering.k)
    };
    let named = "sample: must be at least the number of clusters, 11, got 10";
    assert_eq!(of(11).unwrap_err().to_string(), named);
    assert!(of(3).is_ok());
}

/// After `lsi` methods see ten features, not ten thousand words.
#[test]
fn term_vectors_cost_what_their_components_do() {
    let words = Shape { n: 475, d: 10_000, k: 4, entries: 38_000, constraints: 100 };
    let few = Shape { d: 1000, ..words };
    let auto = Auto::default();
    let (bytes, operations) = (auto.memory(&words), auto.operations(&words).unwrap());
    assert!(bytes < 1 << 28, "{bytes}");
    // Ten times as many words; `lsi` looks at each, what comes after it at none.
    assert!(operations < 4.0 * auto.operations(&few).unwrap(), "{operations}");
}

#[test]
fn memory_is_that_of_all_that_run_at_a_time_and_of_what_combines_them() {
    let shape = Shape { n: 2000, d: 4, k: 3, entries: 8000, constraints: 50 };
    let auto = Auto::default();
    let of = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| auto.memory(&shape))
    };
    // More than six have a table of 16 n² bytes.
    assert!(of(6) - of(2) >= 4 * 64_000_000, "{} {}", of(6), of(2));
    let large = Shape { n: 5000, entries: 20_000, ..shape };
    let few = |consensus: Option<Box<dyn ConsensusFunction>>| {
        Auto { candidates: Some(two()), consensus, ..Auto::default() }.memory(&large)
    };
    assert!(few(None) >= 4 * 5000 * 5000);
    let cspa =
        <dyn ConsensusFunction as RoleObject>::from_value(json!({ "type": "cspa" })).unwrap();
    let own = cspa.memory(&large, 2);
    assert!(own > 10_000_000 && few(Some(cspa)) >= own);
}

#[test]
fn the_portfolio_is_written_out() {
    let written = portfolio::written_out();
    let all = [
        ("dense data", For::Dense),
        ("dense data of more than 100 features", For::Wide),
        ("sparse data", For::Sparse),
    ];
    for (data, own) in all {
        let candidates: Vec<Candidate> = serde_json::from_value(written[data].clone()).unwrap();
        let own = serde_json::to_value(portfolio(own).unwrap()).unwrap();
        assert_eq!(serde_json::to_value(candidates).unwrap(), own);
    }
}

#[test]
fn a_candidate_that_finds_k_is_tried_once() {
    let (data, classes) = stripes(4, 25);
    // The feature that has to do with them.
    let x = data.to_dense();
    let one = Data::dense(Array2::from_shape_fn((100, 1), |(i, _)| x[[i, 0]])).unwrap();
    let problem = Problem::new(one).with_constraints(pairs(&classes, 60));
    let of = |clusterer: &str| json!({ "clusterer": { "type": clusterer } });
    let candidates = json!([of("hdbscan"), of("kmeans")]);
    let auto: Auto = serde_json::from_value(json!({ "candidates": candidates })).unwrap();
    let found = run::cluster(&auto, &problem, &Context::new(1)).unwrap().clustering;
    let tried = |name: &str| {
        let of = found.extras.tried.iter().filter(|t| t.name == name);
        of.map(|t| t.k).collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(tried("hdbscan").len(), 1);
    assert!(tried("hdbscan").iter().all(|&k| k >= 4), "noise is in clusters of its own");
    assert_eq!(tried("kmeans").into_iter().collect::<Vec<_>>(), [2, 3, 4, 5, 6, 7, 8]);
    assert_eq!((found.k, same(&found.labels, &classes)), (4, 1.0));
}

/// It does not look for the smallest number that is tried, nor is it left out as that cannot hold what it promises.
#[test]
fn a_candidate_that_finds_k_is_asked_for_none() {
    let (data, classes) = stripes(4, 25);
    let x = data.to_dense();
    let one = Data::dense(Array2::from_shape_fn((100, 1), |(i, _)| x[[i, 0]])).unwrap();
    let mut all = pairs(&classes, 60).pairs().to_vec();
    // Two clusters cannot hold these.
    all.extend([(0, 1), (1, 2), (0, 2)].map(|(i, j)| Constraint::cannot(i, j)));
    let problem = Problem::new(one).with_constraints(Constraints::new(100, all).unwrap());
    let candidates = json!([
        { "clusterer": { "type": "constrained_complete_link", "stop": 0.8 } },
        { "clusterer": { "type": "auto", "candidates": [{ "clusterer": { "type": "kmeans" } }] } },
    ]);
    let auto: Auto = serde_json::from_value(json!({ "candidates": candidates })).unwrap();
    let found = run::cluster(&auto, &problem, &Context::new(1)).unwrap().clustering;
    let told: Vec<(&str, usize)> =
        found.extras.tried.iter().map(|t| (t.outcome.as_str(), t.k)).collect();
    assert!(told.iter().all(|(outcome, k)| !outcome.starts_with("failed") && *k == 4), "{told:?}");
    assert_eq!((told.len(), found.k, same(&found.labels, &classes)), (2, 4, 1.0));
}

/// The clock has nothing to do with it: the same candidates are left out on any machine.
#[test]
fn expensive_candidates_are_left_out_by_name() {
    let (data, classes) = stripes(3, 20);
    let problem = Problem::new(data).with_k(3).with_constraints(pairs(&classes, 40));
    let auto = Auto { effort: 0.0, ..Auto::default() };
    let ctx = Context::new(1);
    let found = run::cluster(&auto, &problem, &ctx).unwrap().clustering;
    let tried = found.extras.tried.iter();
    let runs = tried.clone().filter(|t| !t.outcome.starts_with("not tried: estimated to take"));
    assert_eq!(runs.count(), 4);
    let warnings = ctx.warnings();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    let said = "34 methods were not tried because of the estimated processor time, ";
    assert!(warnings[0].starts_with(said), "{warnings:?}");
    // By default all of them are tried on as few objects.
    let ctx = Context::new(1);
    let found = run::cluster(&Auto::default(), &problem, &ctx).unwrap().clustering;
    assert!(found.extras.tried.iter().all(|t| !t.outcome.starts_with("not tried")));
}

/// A user who stops the run gets the best of the runs that have ended, or nothing.
#[test]
fn a_stopped_run_ends_with_the_best_so_far() {
    let (data, classes) = stripes(3, 20);
    let problem = Problem::new(data).with_k(3).with_constraints(pairs(&classes, 40));
    let auto = Auto { candidates: Some(two()), ..Auto::default() };
    let of = |ctx: &Context| run::cluster(&auto, &problem, ctx).map(|found| found.clustering);
    let counted = Context::builder(SeedPath::new(1)).count_looks().build();
    let all = of(&counted).unwrap();
    let (mut stopped, mut nothing) = (0, 0);
    let step = usize::try_from(counted.looks() / 20).unwrap().max(1);
    for looks in (0..counted.looks()).step_by(step) {
        let builder = || Context::builder(SeedPath::new(1)).cancel_after(looks);
        match of(&builder().keep_best().build()) {
            Ok(found) => {
                assert_eq!((found.status, found.labels.len()), (Status::Stopped, 60));
                stopped += 1;
            }
            Err(error) => {
                assert_eq!(error, Error::Cancelled);
                nothing += 1;
            }
        }
        // Elsewhere a part of the work is not taken for the whole.
        assert_eq!(of(&builder().build()).unwrap_err(), Error::Cancelled);
    }
    assert!(stopped > 0 && nothing > 0 && all.status != Status::Stopped, "{stopped} {nothing}");
}

#[test]
fn the_largest_number_tried_is_named_if_it_fits_best() {
    let (data, classes) = stripes(4, 25);
    let problem = Problem::new(data).with_constraints(pairs(&classes, 120));
    let warnings = |k_max: usize| {
        let ctx = Context::new(1);
        let auto = Auto { k_max, candidates: Some(learned()), ..Auto::default() };
        run::cluster(&auto, &problem, &ctx).unwrap();
        ctx.warnings()
    };
    let said = "the largest number of clusters tried, 4, fits best; set k_max = 8 to try more";
    assert_eq!(warnings(4), [said]);
    assert_eq!(warnings(6), Vec::<String>::new());
}

/// Answers about two of three groups do not decide whether the third is a cluster of its own.
#[test]
fn numbers_of_clusters_that_answers_leave_open_are_warned_of() {
    let place = |i: usize| [0.0, 10.0, 12.0][i % 3] + 0.01 * (i / 3) as f64;
    let data = Data::dense(Array2::from_shape_fn((60, 1), |(i, _)| place(i))).unwrap();
    let candidates = json!([{ "clusterer": { "type": "kmeans" } }]);
    let auto: Auto =
        serde_json::from_value(json!({ "k_max": 3, "candidates": candidates })).unwrap();
    let found = |objects: &[usize]| {
        let pairs = objects.iter().flat_map(|&j| objects.iter().map(move |&i| (i, j)));
        let pair = |(i, j): (usize, usize)| {
            if i % 3 == j % 3 { Constraint::must(i, j) } else { Constraint::cannot(i, j) }
        };
        let answers = Constraints::new(60, pairs.filter(|(i, j)| i < j).map(pair)).unwrap();
        let ctx = Context::new(1);
        let problem = Problem::new(data.clone()).with_constraints(answers);
        (run::cluster(&auto, &problem, &ctx).unwrap().clustering.k, ctx.warnings())
    };
    let said = "2 and 3 clusters fit equally well, and the result has 2. Give the number of clusters with --k or the \
                option k";
    assert_eq!(found(&[0, 1, 3, 4, 6, 7]), (2, vec![said.to_string()]));
    let (k, warnings) = found(&[0, 1, 2, 3, 4, 5]);
    assert!(k == 3 && warnings.iter().all(|w| !w.contains("equally well")), "{warnings:?}");
}

/// Methods that find groups along one feature among others.
fn learned() -> Vec<Candidate> {
    let config = json!({ "candidates": [
        { "transforms": [{ "type": "z_score" }, { "type": "itml" }], "clusterer": { "type": "kmeans" } },
        { "transforms": [{ "type": "z_score" }], "clusterer": { "type": "mpck_means" } },
    ] });
    serde_json::from_value::<Auto>(config).unwrap().candidates.unwrap()
}

/// Thirty clusterings of twenty answers are wrong where the best scores highest by luck: what is shown is lower.
#[test]
fn the_score_shown_is_corrected_for_having_been_chosen() {
    let (data, classes) = stripes(3, 20);
    let problem = Problem::new(data).with_k(3).with_constraints(pairs(&classes, 20));
    let found = run::cluster(&Auto::default(), &problem, &Context::new(1)).unwrap().clustering;
    let of = |name: &str| found.extras.diagnostics[name];
    assert!(of("score") <= of("best_score") && of("score_error") > 0.0);
}

/// As many constraints as objects: most pairs are settled by those that a fold leaves out.
#[test]
fn many_constraints_bound_the_score() {
    let (data, classes) = stripes(3, 20);
    let of = |count| {
        let told = pairs(&classes, count);
        let problem = Problem::new(data.clone()).with_k(3).with_constraints(told);
        let config = Auto { candidates: Some(learned()), ..Auto::default() };
        run::cluster(&config, &problem, &Context::new(1)).unwrap().clustering.extras.diagnostics
    };
    let few = of(20);
    assert!(few.contains_key("score") && !few.contains_key("score_at_least"), "{few:?}");
    let many = of(60);
    let least = many["score"] - 2.0 * many["score_error"];
    assert!((many["score_at_least"] - least).abs() < 1e-12, "{many:?}");
}
