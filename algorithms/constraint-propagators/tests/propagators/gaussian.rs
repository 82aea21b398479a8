//! Tests of Gaussian propagation: its documented promises, and the fast form against the published one.

use mustlink_constraint_propagators::gaussian::{
    EndpointRule, Gaussian, MetricSource, Mode, ScaleRule, Search,
};
use mustlink_core::constraints::Origin;
use mustlink_core::prelude::*;
use ndarray::{Array2, array};
use proptest::prelude::*;

fn run(
    plugin: &Gaussian,
    given: &Constraints,
    clustering: &Clustering,
    data: &Data,
) -> Result<Constraints> {
    let problem = Problem::new(data.clone());
    match plugin.propagate(given, Some(clustering), &problem, &Context::new(1))? {
        Propagated::Constraints(all) => Ok(all),
        other => panic!("{other:?}"),
    }
}

/// A line of objects in one cluster with unit metric: everything can be done by hand.
fn line(places: &[f64]) -> (Data, Clustering) {
    let x = Array2::from_shape_fn((places.len(), 1), |(i, _)| places[i]);
    let mut clustering = Clustering::from_labels(vec![0; places.len()]);
    clustering.extras.centers = Some(array![[0.0]]);
    clustering.extras.metrics = Some(vec![array![[1.0]]]);
    (Data::dense(x).unwrap(), clustering)
}

#[test]
fn by_hand() {
    // Radius 3, σ = 1: n = 1 under both rules. Ends at 0 (s = 1) and 1 (s = exp(−½)).
    let (data, clustering) = line(&[0.0, 1.0, -3.0, 0.5]);
    let given = Constraints::new(4, [Constraint::must(0, 1).weighing(2.0)]).unwrap();
    let s = (-0.5f64).exp();
    let q_a = |x: f64| x * x / 2.0;
    let q_b = |x: f64| (x - 1.0) * (x - 1.0) / (2.0 * s);
    let factor = |x: f64, y: f64| (-(q_a(x) + q_b(y)).min(q_a(y) + q_b(x))).exp();
    for rule in [ScaleRule::Printed, ScaleRule::Calibrated] {
        let plugin = Gaussian { g: 0.5, scale_rule: rule, ..Gaussian::default() };
        let all = run(&plugin, &given, &clustering, &data).unwrap();
        let found: Vec<_> = all.pairs().iter().map(|c| (c.i, c.j)).collect();
        assert_eq!(found, [(0, 1), (0, 3), (1, 3)]);
        assert_eq!(all.pairs()[0], Constraint::must(0, 1).weighing(2.0));
        for (c, expected) in all.pairs()[1..].iter().zip([factor(0.0, 0.5), factor(1.0, 0.5)]) {
            assert!((c.weight - 2.0 * expected).abs() < 1e-15, "{c:?}");
            assert_eq!((c.kind, c.origin), (Kind::MustLink, Origin::Propagated));
        }
    }
    // Without centrality both ends have the full width; (0, 3) gets exp(−⅛).
    let plugin = Gaussian { centrality: false, ..Gaussian::default() };
    let all = run(&plugin, &given, &clustering, &data).unwrap();
    assert!((all.pairs()[1].weight - 2.0 * (-0.125f64).exp()).abs() < 1e-15);
}

#[test]
fn the_test_is_on_exponents() {
    // q = ½·(1)² at the one end, 0 at the other: e = ½ = −ln g exactly where g = exp(−½).
    let (data, clustering) = line(&[0.0, 1.0, -3.0, 3.0]);
    let plugin = Gaussian { g: (-0.5f64).exp(), centrality: false, ..Gaussian::default() };
    let tau = -plugin.g.ln();
    let given = Constraints::new(4, [Constraint::must(0, 2)]).unwrap();
    let all = run(&plugin, &given, &clustering, &data).unwrap();
    let kept = all.pairs().iter().any(|c| (c.i, c.j) == (1, 2));
    assert_eq!(kept, 0.5 <= tau, "the weight is exp(−½), whatever exp and ln make of it");
}

#[test]
fn the_metric_is_an_inverse_covariance() {
    // Twice as strict along the second feature: reaches half as far there.
    let x = array![[0.0, 0.0], [3.0, 0.0], [0.0, 0.5], [1.0, 0.0], [0.0, 1.0], [-3.0, 0.0]];
    let mut clustering = Clustering::from_labels(vec![0; 6]);
    clustering.extras.centers = Some(array![[0.0, 0.0]]);
    clustering.extras.metrics = Some(vec![array![[1.0, 0.0], [0.0, 4.0]]]);
    let given = Constraints::new(6, [Constraint::cannot(0, 1)]).unwrap();
    let plugin = Gaussian { g: 0.6, centrality: false, ..Gaussian::default() };
    let all = run(&plugin, &given, &clustering, &Data::dense(x).unwrap()).unwrap();
    let found: Vec<_> = all.pairs().iter().map(|c| (c.i, c.j)).collect();
    // (2, 1) and (3, 1) have e = ½, (4, 1) has e = 2; ln 0.6 = −0.51.
    assert_eq!(found, [(0, 1), (1, 2), (1, 3)]);
}

#[test]
fn endpoint_rules() {
    let (data, clustering) = line(&[0.0, 0.1, 0.2, 0.3, 3.0]);
    let given = Constraints::new(5, [Constraint::must(1, 2)]).unwrap();
    let pairs = |endpoint_rule| {
        let plugin = Gaussian { g: 0.3, endpoint_rule, ..Gaussian::default() };
        let all = run(&plugin, &given, &clustering, &data).unwrap();
        all.pairs().iter().map(|c| (c.i, c.j)).collect::<Vec<_>>()
    };
    let all = [(1, 2), (0, 1), (0, 2), (0, 3), (1, 3), (2, 3)];
    assert_eq!(pairs(EndpointRule::SourcePairOnly), all);
    // i = 1 or j = 2 goes: (0, 2) and (1, 3), but not (0, 1) and (2, 3).
    assert_eq!(pairs(EndpointRule::Printed), [(1, 2), (0, 1), (0, 3), (2, 3)]);
}

#[test]
fn a_source_drawn_backwards_propagates_onto_itself() {
    // Far apart: nothing but the source itself is within reach of a source.
    let n = 40;
    let places: Vec<f64> = (0..n).map(|i| 100.0 * f64::from(i)).collect();
    let (data, clustering) = line(&places);
    let given: Vec<_> = (0..n as usize - 1).map(|i| Constraint::must(i, i + 1)).collect();
    let given = Constraints::new(n as usize, given).unwrap();
    let made = |endpoint_rule, mode| {
        let metric_source = MetricSource::Identity;
        let plugin =
            Gaussian { g: 0.99, endpoint_rule, mode, metric_source, ..Gaussian::default() };
        let all = run(&plugin, &given, &clustering, &data).unwrap();
        all.len() + all.summed() - given.len()
    };
    assert_eq!(made(EndpointRule::Printed, Mode::Full), 0);
    // About half of 39; of two constraints on one pair the reduction leaves the given one.
    let drawn = made(EndpointRule::PrintedAsDrawn, Mode::Full);
    assert!((10..30).contains(&drawn), "{drawn}");
    assert_eq!(made(EndpointRule::PrintedAsDrawn, Mode::Reduced), 0);
}

#[test]
fn clusters_at_one_place_reach_duplicates_only() {
    let x = array![[1.0, 1.0], [1.0, 1.0], [1.0, 1.0], [5.0, 5.0]];
    let clustering = Clustering::from_labels(vec![0, 0, 0, 1]);
    let given = Constraints::new(4, [Constraint::cannot(0, 3)]).unwrap();
    for g in [1.0, 1e-6] {
        let plugin = Gaussian { g, ..Gaussian::default() };
        let all = run(&plugin, &given, &clustering, &Data::dense(x.clone()).unwrap()).unwrap();
        let found: Vec<_> = all.pairs().iter().map(|c| (c.i, c.j, c.weight)).collect();
        assert_eq!(found, [(0, 3, 1.0), (1, 3, 1.0), (2, 3, 1.0)]);
    }
}

#[test]
fn what_cannot_be_is_named() {
    let (data, mut clustering) = line(&[0.0, 1.0, 2.0]);
    let given = Constraints::new(3, [Constraint::must(0, 1)]).unwrap();
    let bad = |g: f64| {
        let plugin = Gaussian { g, ..Gaussian::default() };
        run(&plugin, &given, &clustering, &data).unwrap_err()
    };
    for g in [0.0, -1.0, 1.5] {
        assert_eq!(bad(g), Error::bad_param("g", g, "above 0 and at most 1"));
    }
    assert_eq!(bad(f64::NAN), Error::bad_param("g", "NaN or an infinity", "above 0 and at most 1"));
    let few = Gaussian { g: 1e-9, max_pairs: 1, ..Gaussian::default() };
    let refused = run(&few, &given, &clustering, &data).unwrap_err();
    assert!(matches!(refused, Error::TooManyPropagated { limit: 1, .. }), "{refused:?}");
    clustering.extras.metrics = Some(vec![array![[0.0]]]);
    let refused = run(&Gaussian::default(), &given, &clustering, &data).unwrap_err();
    assert!(matches!(refused, Error::NumericalFailure { .. }), "{refused:?}");
    let x = array![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]];
    clustering.extras.centers = None;
    clustering.extras.metrics = Some(vec![array![[1.0, 2.0], [2.0, 1.0]]]);
    let refused = run(&Gaussian::default(), &given, &clustering, &Data::dense(x).unwrap());
    assert!(matches!(refused, Err(Error::NumericalFailure { .. })), "{refused:?}");
    let problem = Problem::new(data);
    let refused = Gaussian::default().propagate(&given, None, &problem, &Context::new(1));
    assert!(matches!(refused, Err(Error::BadParam { .. })));
}

/// Objects on a coarse grid, so that rows repeat and exponents tie; labels, metrics, constraints.
#[derive(Debug, Clone)]
struct Setting {
    x: Array2<f64>,
    clustering: Clustering,
    given: Constraints,
}

fn settings() -> impl Strategy<Value = Setting> {
    let n = 24;
    (
        proptest::collection::vec(-6i8..7, 2 * n),
        proptest::collection::vec(0u32..3, n),
        proptest::collection::vec((0usize..n, 0usize..n, any::<bool>(), 1u8..4), 1..8),
        0usize..4,
        proptest::collection::vec(0.1f64..4.0, 6),
    )
        .prop_map(move |(values, labels, pairs, kind, a)| {
            let x = Array2::from_shape_fn((n, 2), |(i, s)| f64::from(values[2 * i + s]) * 0.37);
            let mut clustering = Clustering::from_labels(labels);
            clustering.k = 3;
            let full = |h: usize| {
                let c = 0.5 * (a[2 * h] * a[2 * h + 1]).sqrt();
                array![[a[2 * h], c], [c, a[2 * h + 1]]]
            };
            match kind {
                0 => {}
                1 => {
                    let weights = Array2::from_shape_fn((3, 2), |(h, s)| a[2 * h + s]);
                    clustering.extras.weights = Some(weights);
                }
                2 => clustering.extras.metrics = Some((0..3).map(full).collect()),
                _ => clustering.extras.metrics = Some(vec![full(0)]),
            }
            let pairs = pairs.into_iter().filter(|p| p.0 != p.1).map(|(i, j, must, w)| {
                let c = if must { Constraint::must(i, j) } else { Constraint::cannot(i, j) };
                c.weighing(f64::from(w) / 2.0)
            });
            Setting { x, clustering, given: Constraints::new(n, pairs).unwrap() }
        })
}

fn plugins() -> impl Strategy<Value = Gaussian> {
    (
        prop_oneof![Just(1.0), Just(0.99), Just(0.5), Just(0.05), Just(1e-6)],
        any::<[bool; 6]>(),
        0usize..4,
    )
        .prop_map(|(g, flags, source)| Gaussian {
            g,
            mode: if flags[0] { Mode::Full } else { Mode::Reduced },
            scale_rule: if flags[1] { ScaleRule::Printed } else { ScaleRule::Calibrated },
            centrality: flags[2],
            endpoint_rule: match (flags[3], flags[5]) {
                (true, true) => EndpointRule::PrintedAsDrawn,
                (true, false) => EndpointRule::Printed,
                (false, _) => EndpointRule::SourcePairOnly,
            },
            propagate_closure: flags[4],
            metric_source: [
                MetricSource::Base,
                MetricSource::ClusterCov,
                MetricSource::PooledCov,
                MetricSource::Identity,
            ][source],
            ..Gaussian::default()
        })
}

fn keys(c: &Constraints) -> Vec<(u32, u32, Kind)> {
    let mut all: Vec<_> = c.pairs().iter().map(|c| (c.i, c.j, c.kind)).collect();
    all.sort_unstable();
    all
}

fn weight(c: &Constraints, key: (u32, u32, Kind)) -> Option<f64> {
    c.pairs().iter().find(|c| (c.i, c.j, c.kind) == key).map(|c| c.weight)
}

proptest! {
    #[test]
    fn fast_is_published_to_the_bit(s in settings(), plugin in plugins()) {
        let data = Data::dense(s.x.clone()).unwrap();
        let published = Gaussian { search: Search::Published, ..plugin.clone() };
        let fast = run(&plugin, &s.given, &s.clustering, &data).unwrap();
        let slow = run(&published, &s.given, &s.clustering, &data).unwrap();
        prop_assert_eq!(fast.summed(), slow.summed());
        prop_assert_eq!(&fast, &slow);
        // Sparse rows are the same objects.
        let csr = Data::csr(mustlink_laws::fixtures::to_csr(&s.x)).unwrap();
        prop_assert_eq!(run(&plugin, &s.given, &s.clustering, &csr).unwrap(), fast);
    }

    #[test]
    fn given_constraints_and_bounds(s in settings(), plugin in plugins()) {
        let data = Data::dense(s.x.clone()).unwrap();
        let all = run(&plugin, &s.given, &s.clustering, &data).unwrap();
        prop_assert!(keys(&s.given).iter().all(|k| keys(&all).binary_search(k).is_ok()));
        let heaviest = s.given.pairs().iter().map(|c| c.weight).fold(0.0, f64::max);
        let reduced = Gaussian { mode: Mode::Reduced, ..plugin.clone() };
        let full = Gaussian { mode: Mode::Full, ..plugin };
        let reduced = run(&reduced, &s.given, &s.clustering, &data).unwrap();
        let full = run(&full, &s.given, &s.clustering, &data).unwrap();
        prop_assert!(reduced.pairs().iter().all(|c| c.weight > 0.0 && c.weight <= heaviest));
        // Reduced and full agree on which pairs, not on how often.
        prop_assert_eq!(keys(&reduced), keys(&full));
        prop_assert!(reduced.len() <= 24 * 23);
        prop_assert_eq!(reduced.summed(), 0);
    }

    #[test]
    fn raising_g_only_removes(s in settings(), plugin in plugins()) {
        // With sources of unequal weight a wider reach can make a pair heavier: a heavy source from
        // afar wins over a light one nearby. Each source by itself keeps its weights.
        let data = Data::dense(s.x.clone()).unwrap();
        let equal = s.given.pairs().iter().map(|c| c.weighing(1.0));
        let given = Constraints::new(24, equal).unwrap();
        let at = |g: f64| {
            let plugin = Gaussian { g, mode: Mode::Reduced, ..plugin.clone() };
            run(&plugin, &given, &s.clustering, &data).unwrap()
        };
        let mut wider = at(1e-6);
        for g in [0.05, 0.5, 0.99, 1.0] {
            let narrower = at(g);
            for key in keys(&narrower) {
                prop_assert_eq!(weight(&narrower, key), weight(&wider, key));
            }
            wider = narrower;
        }
    }

    #[test]
    fn order_of_objects_and_of_ends_makes_no_difference(s in settings(), turn in 1usize..24) {
        // Object i becomes (i·5 + turn) mod 24: ends change places, ties stay ties.
        let n = 24;
        let to: Vec<usize> = (0..n).map(|i| (i * 5 + turn) % n).collect();
        let mut x = s.x.clone();
        let mut clustering = s.clustering.clone();
        (0..n).for_each(|i| {
            x.row_mut(to[i]).assign(&s.x.row(i));
            clustering.labels[to[i]] = s.clustering.labels[i];
        });
        // Means of members depend on the order in their last bits; centres are given.
        let centres = array![[0.1, 0.2], [-0.3, 0.4], [0.5, -0.6]];
        clustering.extras.centers = Some(centres.clone());
        let moved = s.given.pairs().iter().map(|c| {
            let (i, j) = (to[c.i as usize], to[c.j as usize]);
            Constraint::new(i, j, c.kind).weighing(c.weight)
        });
        let moved = Constraints::new(n, moved).unwrap();
        let mut own = s.clustering.clone();
        own.extras.centers = Some(centres);
        let plugin = Gaussian {
            g: 0.3, mode: Mode::Reduced, metric_source: MetricSource::Identity, ..Gaussian::default()
        };
        let a = run(&plugin, &s.given, &own, &Data::dense(s.x.clone()).unwrap()).unwrap();
        let b = run(&plugin, &moved, &clustering, &Data::dense(x).unwrap()).unwrap();
        prop_assert_eq!(a.len(), b.len());
        for c in a.pairs() {
            let (i, j) = (to[c.i as usize] as u32, to[c.j as usize] as u32);
            prop_assert_eq!(weight(&b, (i.min(j), i.max(j), c.kind)), Some(c.weight));
        }
    }

    #[test]
    fn units(s in settings(), power in -3i32..4) {
        // Powers of four scale exactly, roots included.
        let unit = 4f64.powi(power);
        let data = Data::dense(s.x.clone()).unwrap();
        let plugin = Gaussian { g: 0.3, ..Gaussian::default() };
        let before = run(&plugin, &s.given, &s.clustering, &data).unwrap();
        // A metric is known up to a factor only.
        let mut scaled = s.clustering.clone();
        if let Some(all) = &mut scaled.extras.metrics {
            all.iter_mut().for_each(|a| a.mapv_inplace(|v| v * unit));
        }
        if let Some(w) = &mut scaled.extras.weights {
            w.mapv_inplace(|v| v * unit);
        }
        let after = run(&plugin, &s.given, &scaled, &data).unwrap();
        prop_assert_eq!(keys(&before), keys(&after));
        // Data in another unit (with the metric that goes with it) needs the calibrated rule.
        let plugin = Gaussian { scale_rule: ScaleRule::Calibrated, ..plugin };
        let before = run(&plugin, &s.given, &s.clustering, &data).unwrap();
        let mut scaled = s.clustering.clone();
        if let Some(all) = &mut scaled.extras.metrics {
            all.iter_mut().for_each(|a| a.mapv_inplace(|v| v / (unit * unit)));
        }
        if let Some(w) = &mut scaled.extras.weights {
            w.mapv_inplace(|v| v / (unit * unit));
        }
        let data = Data::dense(&s.x * unit).unwrap();
        let after = run(&plugin, &s.given, &scaled, &data).unwrap();
        prop_assert_eq!(keys(&before), keys(&after));
    }
}

/// Three groups of 700 objects in d features.
fn many(d: usize) -> (Array2<f64>, Clustering, Constraints) {
    let n = 2100;
    let mut s = SeedPath::new(5).stream("test");
    let x = Array2::from_shape_fn((n, d), |(i, _)| (i % 3) as f64 * 4.0 + s.normal());
    let clustering = Clustering::from_labels((0..n as u32).map(|i| i % 3).collect());
    let pairs = (0..3).filter_map(|_| {
        let (i, j) = (s.below(n), s.below(n));
        (i != j)
            .then(|| if i % 3 == j % 3 { Constraint::must(i, j) } else { Constraint::cannot(i, j) })
    });
    (x, clustering, Constraints::new(n, pairs.collect::<Vec<_>>()).unwrap())
}

#[test]
fn the_tree_changes_nothing() {
    for d in [2, 3] {
        let (x, mut clustering, given) = many(d);
        if d == 2 {
            clustering.extras.metrics = Some(vec![array![[2.0, 0.7], [0.7, 1.0]]]);
        }
        let data = Data::dense(x).unwrap();
        let plugin = Gaussian { g: 0.5, ..Gaussian::default() };
        let published = Gaussian { search: Search::Published, ..plugin.clone() };
        let fast = run(&plugin, &given, &clustering, &data).unwrap();
        assert!(fast.len() > 2 * given.len(), "{} pairs", fast.len());
        assert_eq!(fast, run(&published, &given, &clustering, &data).unwrap());
        // A copy under row numbers goes the same way.
        let rows: Vec<usize> = (0..data.n()).collect();
        assert_eq!(fast, run(&plugin, &given, &clustering, &data.subset(&rows)).unwrap());
    }
}

#[test]
fn pairs_that_do_not_fit_are_refused_before_they_are_made() {
    // 300 objects at one place: every pair of them is near every source.
    let (data, clustering) = line(&[1.0; 300]);
    let given = Constraints::new(300, (0..20).map(|i| Constraint::must(i, i + 100))).unwrap();
    let problem = Problem::new(data);
    let limited = |bytes: u64| {
        let ctx = Context::builder(SeedPath::new(1)).memory_limit(Some(bytes)).build();
        Gaussian::default().propagate(&given, Some(&clustering), &problem, &ctx)
    };
    // 20 · 300 · 299 / 2 pairs, and the sources: some 86 MB.
    assert!(limited(200_000_000).is_ok());
    let refused = limited(50_000_000);
    assert!(matches!(refused, Err(Error::Memory { limit: 50_000_000, .. })), "{refused:?}");
    // Not even what is near each end.
    let refused = limited(100_000);
    assert!(matches!(refused, Err(Error::Memory { limit: 100_000, .. })), "{refused:?}");
}
