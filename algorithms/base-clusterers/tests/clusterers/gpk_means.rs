//! GPK-means compared with the steps of its description.

use mustlink_base_clusterers::gpk_means::{GpkMeans, RerunEntail};
use mustlink_constraint_propagators as _;
use mustlink_core::clustering::canonical;
use mustlink_core::prelude::*;
use mustlink_core::run;
use mustlink_core::serde_json::{Value, json};
use mustlink_laws::fixtures;

fn clusterer(config: Value) -> Box<dyn BaseClusterer> {
    <dyn BaseClusterer as RoleObject>::from_value(config).unwrap()
}

fn propagator(config: Value) -> Box<dyn ConstraintPropagator> {
    <dyn ConstraintPropagator as RoleObject>::from_value(config).unwrap()
}

fn gpk(base: Value, spread: Value) -> GpkMeans {
    GpkMeans {
        clusterer: Some(clusterer(base)),
        propagator: Some(propagator(spread)),
        ..GpkMeans::default()
    }
}

fn bases() -> [Value; 4] {
    [
        json!({ "type": "pck_means", "weight": 1.0, "order": "index" }),
        json!({ "type": "mpck_means", "order": "index" }),
        json!({ "type": "mpck_means", "order": "index", "metric": "multi_diag" }),
        json!({ "type": "mpck_means", "order": "index", "metric": "single_full" }),
    ]
}

/// The base as configured, then from its own centres, closing the constraints or not.
fn twice(base: &Value, problem: &Problem, closed: bool, ctx: &Context) -> Clustering {
    let ctx = ctx.child("clusterer");
    let first = run::cluster(&*clusterer(base.clone()), problem, &ctx.index(0)).unwrap().clustering;
    let mut again = base.clone();
    again["init"] = "given".into();
    if !closed {
        again["entail"] = "off".into();
    }
    let centres = first.extras.centers.unwrap();
    let problem = problem.clone().with_start(Start::Centroids(centres));
    run::cluster(&*clusterer(again), &problem, &ctx.index(1)).unwrap().clustering
}

#[test]
fn weights_are_refused_whatever_the_clusterer_takes() {
    let (problem, _) = fixtures::dense(1);
    let weights = (0..problem.n()).map(|i| 1.0 + (i % 3) as f64).collect();
    let data = problem.data.clone().with_weights(weights).unwrap();
    let problem = Problem { data, ..problem };
    let gpk = gpk(json!({ "type": "pck_means" }), json!({ "type": "gaussian" }));
    let refused = run::cluster(&gpk, &problem, &Context::new(1)).unwrap_err();
    assert!(matches!(refused, Error::UnsupportedWeights { .. }), "{refused}");
}

#[test]
fn a_clusterer_that_holds_what_contradicts_is_named() {
    let x = [0.0, 0.1, 0.2, 5.0, 5.1, 5.2];
    let x = ndarray::Array2::from_shape_fn((6, 1), |(i, _)| x[i]);
    let given = |pairs: [Constraint; 2]| {
        let constraints = Constraints::new(6, pairs).unwrap();
        Problem::new(Data::dense(x.clone()).unwrap()).with_k(3).with_constraints(constraints)
    };
    // The must-link reaches 2, and the cannot-link 1: nobody has said that they contradict.
    let cop = gpk(json!({ "type": "cop_kmeans" }), json!({ "type": "gaussian" }));
    let problem = given([Constraint::must(0, 1), Constraint::cannot(0, 2)]);
    let refused = run::cluster(&cop, &problem, &Context::new(1)).unwrap_err().to_string();
    let named = "clusterer: must be one that weighs constraints, such as pck_means, for propagated";
    assert!(refused.starts_with(named) && refused.ends_with("got cop_kmeans"), "{refused}");
    // What is wrong before anything is propagated is told as it is.
    let wrong = given([Constraint::must(0, 1), Constraint::cannot(0, 1)]);
    let refused = run::cluster(&cop, &wrong, &Context::new(1)).unwrap_err().to_string();
    assert!(refused.contains("cannot-link 0–1 contradicts must-links 0–1"), "{refused}");
    assert!(!refused.contains("propagated"), "{refused}");
}

#[test]
fn at_g_1_it_is_two_runs_of_the_base() {
    for base in bases() {
        for seed in 0..4 {
            let (problem, classes) = fixtures::dense(seed);
            let given = fixtures::true_constraints(&classes, 15, seed);
            for given in [given, Constraints::default()] {
                let problem = problem.clone().with_constraints(given);
                for rerun_entail in [RerunEntail::Sources, RerunEntail::Off] {
                    let closed = rerun_entail == RerunEntail::Sources;
                    // Its largest difference is that of a given cannot-link, and here of an entailed
                    // one too, since all are given.
                    if closed && base["metric"] == "single_full" {
                        continue;
                    }
                    let spread = json!({ "type": "gaussian", "g": 1.0 });
                    let method =
                        GpkMeans { max_rounds: 1, rerun_entail, ..gpk(base.clone(), spread) };
                    let ctx = Context::new(seed);
                    let made = run::cluster(&method, &problem, &ctx).unwrap().clustering;
                    let expected = twice(&base, &problem, closed, &ctx);
                    assert_eq!(made.labels, expected.labels, "{base}, seed {seed}");
                    let (a, b) = (made.objective.unwrap(), expected.objective.unwrap());
                    assert!((a - b).abs() <= 1e-9 * b.abs(), "{base}: {a} is not {b}");
                    assert_eq!(made.extras.diagnostics["propagated"], 0.0);
                }
            }
        }
    }
}

#[test]
fn rounds_end_and_say_what_they_made() {
    for base in bases() {
        for mode in ["full", "reduced"] {
            let (problem, classes) = fixtures::dense(7);
            let problem = problem.with_constraints(fixtures::true_constraints(&classes, 12, 7));
            let spread =
                json!({ "type": "gaussian", "g": 0.3, "mode": mode, "scale_rule": "calibrated" });
            let method = gpk(base.clone(), spread);
            let made = run::cluster(&method, &problem, &Context::new(3)).unwrap().clustering;
            let found = &made.extras.diagnostics;
            let rounds = found["rounds"] as usize;
            assert!((1..=20).contains(&rounds));
            assert!(found["propagated"] > 0.0, "{base}: {found:?}");
            assert!((1..=rounds).all(|t| found.contains_key(&format!("propagated_{t}"))));
            if made.status == Status::Converged {
                assert_eq!(found["propagated"], found[&format!("propagated_{rounds}")]);
            }
        }
    }
}

#[test]
fn constraints_reach_their_surroundings() {
    // Two stripes along x that k-means cuts across; few constraints near their ends.
    let n = 60;
    let x = ndarray::Array2::from_shape_fn((n, 2), |(i, s)| {
        let (stripe, at) = (i % 2, (i / 2) as f64);
        if s == 0 { at } else { stripe as f64 * 5.0 + (i % 3) as f64 * 0.3 }
    });
    let classes: Vec<u32> = (0..n as u32).map(|i| i % 2).collect();
    let pairs = [
        Constraint::must(0, 58),
        Constraint::must(1, 59),
        Constraint::cannot(0, 1),
        Constraint::cannot(58, 59),
        Constraint::cannot(28, 29),
        Constraint::must(28, 0),
    ];
    let problem = Problem::new(Data::dense(x).unwrap()).with_k(2);
    let problem = problem.with_constraints(Constraints::new(n, pairs).unwrap());
    let base = json!({ "type": "mpck_means", "order": "index" });
    let spread = json!({ "type": "gaussian", "g": 0.1 });
    let made = run::cluster(&gpk(base, spread), &problem, &Context::new(1)).unwrap();
    assert_eq!(canonical(&made.clustering.labels), canonical(&classes));
}

#[test]
fn propagators_that_need_no_clustering_run_once() {
    let (problem, classes) = fixtures::dense(2);
    let problem = problem.with_constraints(fixtures::true_constraints(&classes, 12, 2));
    let method = gpk(json!({ "type": "pck_means", "weight": 1.0 }), json!({ "type": "closure" }));
    let made = run::cluster(&method, &problem, &Context::new(1)).unwrap().clustering;
    assert_eq!(made.extras.diagnostics["rounds"], 1.0);
    // Closing first and then not at all is what pck_means does by itself.
    let alone = clusterer(json!({ "type": "pck_means", "weight": 1.0 }));
    let ctx = Context::new(1).child("clusterer").index(0);
    let expected = run::cluster(&*alone, &problem, &ctx).unwrap().clustering;
    assert_eq!(made.labels, expected.labels);
}

#[test]
fn data_that_the_clusterer_does_not_take_is_named() {
    let (problem, _) = fixtures::dense(2);
    let method =
        gpk(json!({ "type": "pck_means", "weight": 1.0 }), json!({ "type": "shortest_path" }));
    let refused = run::cluster(&method, &problem, &Context::new(1)).unwrap_err();
    let legal = "a clusterer of distances, which shortest_path gives";
    assert_eq!(refused, Error::bad_param("clusterer", "pck_means", legal));
}

#[test]
fn a_clusterer_without_constraints_is_warned_of() {
    let (problem, classes) = fixtures::dense(2);
    let problem = problem.with_constraints(fixtures::true_constraints(&classes, 12, 2));
    let ctx = Context::new(1);
    let method = gpk(json!({ "type": "kmeans" }), json!({ "type": "gaussian" }));
    run::cluster(&method, &problem, &ctx).unwrap();
    assert_eq!(ctx.warnings(), ["kmeans does not look at constraints"]);
}

#[test]
fn weights_pass_to_those_that_use_them_only() {
    let config = gpk(json!({ "type": "pck_means", "weight": 1.0 }), json!({ "type": "gaussian" }))
        .properties();
    assert!(config.soft_weights && config.gives_centers && config.reads_constraints);
    assert_eq!(config.accepts, [DataKind::Dense, DataKind::Csr]);
    let diag = gpk(json!({ "type": "mpck_means" }), json!({ "type": "gaussian" })).properties();
    assert_eq!(diag.accepts, [DataKind::Dense]);
    let path =
        gpk(json!({ "type": "pck_means", "weight": 1.0 }), json!({ "type": "shortest_path" }))
            .properties();
    assert_eq!(path.accepts, [DataKind::Dense, DataKind::Csr, DataKind::Distances]);
}

/// A run gets from the run before: only centres, or also labels, metrics or both.
#[test]
fn a_run_may_start_from_labels_and_metrics_too() {
    let (problem, classes) = fixtures::dense(5);
    let problem = problem.with_constraints(fixtures::true_constraints(&classes, 15, 5));
    for metric in ["single_diag", "multi_diag", "single_full", "multi_full"] {
        let base = json!({ "type": "mpck_means", "order": "index", "metric": metric });
        let spread = json!({ "type": "gaussian", "g": 0.5, "scale_rule": "calibrated" });
        for (carry_labels, warm_metric) in [(true, false), (false, true), (true, true)] {
            let method = GpkMeans {
                carry_labels,
                warm_metric,
                rerun_entail: RerunEntail::Off,
                max_rounds: 1,
                ..gpk(base.clone(), spread.clone())
            };
            let ctx = Context::new(1);
            // The same by hand, as an earlier clustering that is the start.
            let clusters = ctx.child("clusterer");
            let first = run::cluster(&*clusterer(base.clone()), &problem, &clusters.index(0));
            let mut from = first.unwrap().clustering;
            let propagator = propagator(spread.clone());
            let around = ctx.child("propagator").index(1);
            let spread_out =
                propagator.propagate(&problem.constraints, Some(&from), &problem, &around).unwrap();
            let Propagated::Constraints(wide) = spread_out else { panic!("constraints") };
            if !carry_labels {
                from.labels.fill(u32::MAX);
            }
            if !warm_metric {
                (from.extras.weights, from.extras.metrics) = (None, None);
            }
            let again = json!({
                "type": "mpck_means", "order": "index", "metric": metric, "init": "given",
                "entail": "off",
            });
            let wide = problem.clone().with_constraints(wide);
            let wide = wide.with_start(Start::Clustering(std::sync::Arc::new(from)));
            let made = run::cluster(&method, &problem, &ctx).unwrap().clustering;
            let expected = run::cluster(&*clusterer(again), &wide, &clusters.index(1)).unwrap();
            assert_eq!(made.labels, expected.clustering.labels, "{metric}");
        }
    }
}
