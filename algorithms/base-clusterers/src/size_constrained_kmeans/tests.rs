use mustlink_core::clustering::canonical;
use mustlink_kernels::kmeans::seeding::Init;
use mustlink_laws::fixtures;
use ndarray::array;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::*;
use crate::kmeans::KMeans;

fn sized(min_size: Option<f64>, max_size: Option<f64>) -> SizeConstrainedKMeans {
    SizeConstrainedKMeans { min_size, max_size, ..SizeConstrainedKMeans::default() }
}

fn given(problem: &Problem, pairs: &[Constraint]) -> Problem {
    let constraints = Constraints::new(problem.n(), pairs.iter().copied()).unwrap();
    problem.clone().with_constraints(constraints)
}

/// The clusters, numbered by their first objects, and the objective.
fn run(method: &SizeConstrainedKMeans, problem: &Problem) -> Result<(Vec<u32>, f64)> {
    let c = method.cluster(problem, &Context::new(1))?;
    Ok((canonical(&c.labels), c.objective.unwrap()))
}

/// 0 1 2 | 10 in two clusters.
fn line() -> Problem {
    Problem::new(Data::dense(array![[0.0], [1.0], [2.0], [10.0]]).unwrap()).with_k(2)
}

#[test]
fn worked_example() {
    // With two objects each, 2 goes to the other one: (0 − ½)² · 2 + (2 − 6)² · 2 = 32.5.
    let p = line();
    assert_eq!(run(&sized(None, None), &p).unwrap(), (vec![0, 0, 0, 1], 2.0));
    for (least, most) in [(Some(2.0), None), (Some(0.0), Some(2.0)), (Some(2.0), Some(2.0))] {
        assert_eq!(run(&sized(least, most), &p).unwrap(), (vec![0, 0, 1, 1], 32.5));
    }
    let refused = |least, most| run(&sized(least, most), &p).unwrap_err().to_string();
    assert_eq!(
        refused(Some(3.0), None),
        "min_size: must be at most 2 (4 objects in 2 clusters), got 3"
    );
    assert_eq!(
        refused(None, Some(1.0)),
        "max_size: must be at least 2 (4 objects in 2 clusters), got 1"
    );
}

#[test]
fn worked_example_with_pairs() {
    // 0 and 1 apart, two objects each: 0 2 | 1 10 costs 1 · 2 + 4.5² · 2 = 42.5, and 0 10 | 1 2 costs 50.5.
    let pairs = given(&line(), &[Constraint::cannot(0, 1)]);
    let two = sized(Some(2.0), Some(2.0));
    assert_eq!(run(&two, &pairs).unwrap(), (vec![0, 1, 0, 1], 42.5));
    // Must-links that join three objects leave one for the other cluster.
    let joined = given(&line(), &[Constraint::must(0, 1), Constraint::must(1, 3)]);
    assert_eq!(run(&sized(None, Some(3.0)), &joined).unwrap().0, [0, 0, 1, 0]);
    assert_eq!(
        run(&two, &joined).unwrap_err().to_string(),
        "min_size = 2, max_size = 2: must-links join more objects than a cluster may hold: 0, 1, 3; \
         raise max_size or remove a must-link"
    );
    assert_eq!(
        run(&sized(Some(2.0), None), &joined).unwrap_err().to_string(),
        "min_size = 2: no clustering into 2 clusters satisfies this and the constraints, as a complete search \
         shows; relax the limit or change k"
    );
    // Without a limit, a cluster may be empty if must-links leave too few groups.
    let all = given(&line(), &[0, 1, 2].map(|i| Constraint::must(i, i + 1)));
    assert_eq!(run(&sized(None, None), &all).unwrap().0, [0; 4]);
    assert!(run(&sized(Some(1.0), None), &all).is_err());
}

#[test]
fn worked_example_with_capacity() {
    // Weights 1 1 3 1 and room for 4: 0 2 | 1 10 costs 1.5² + 3 · 0.5² + 4.5² · 2 = 43.5.
    let data = line().data.with_weights(vec![1.0, 1.0, 3.0, 1.0]).unwrap();
    let p = Problem { data, ..line() };
    assert_eq!(run(&sized(None, Some(4.0)), &p).unwrap(), (vec![0, 1, 0, 1], 43.5));
    assert_eq!(
        run(&sized(None, Some(2.0)), &p).unwrap_err().to_string(),
        "max_size: must be at least 3 (a total weight of 6 in 2 clusters), got 2"
    );
    let heavy = line().data.with_weights(vec![1.0, 1.0, 5.0, 1.0]).unwrap();
    assert_eq!(
        run(&sized(None, Some(4.5)), &Problem { data: heavy, ..line() }).unwrap_err().to_string(),
        "max_size = 4.5: object 2 alone is larger than a cluster may be; raise max_size"
    );
    // Room for 0.3: 0.1 + 0.2 is above it only by rounding.
    let data = line().data.with_weights(vec![0.3, 0.0, 0.1, 0.2]).unwrap();
    let c = run(&sized(None, Some(0.3)), &Problem { data, ..line() }).unwrap();
    assert_eq!((c.0[2], c.0[3]), (1, 1));
}

#[test]
fn a_search_that_ends_is_undecided() {
    // Seven groups of three objects do not fit into three clusters of seven.
    let n = 21;
    let x = Array2::from_shape_fn((n, 1), |(i, _)| i as f64);
    let p = Problem::new(Data::dense(x).unwrap()).with_k(3);
    let joined = (0..n).filter(|i| i % 3 != 2).map(|i| Constraint::must(i, i + 1));
    let p = given(&p, &joined.collect::<Vec<_>>());
    let seven = sized(Some(7.0), Some(7.0));
    let refused = run(&seven, &p).unwrap_err();
    assert!(matches!(refused, Error::InfeasibleConstraints { .. }), "{refused}");
    let few = SizeConstrainedKMeans { node_limit: 2, ..seven };
    assert_eq!(
        run(&few, &p).unwrap_err().to_string(),
        "min_size = 7, max_size = 7: constraints: whether 3 clusters can satisfy them is not known after \
         node_limit = 2 nodes; raise node_limit or choose a method that weighs constraints"
    );
}

/// A few objects with limits and constraints.
#[derive(Debug)]
struct World {
    problem: Problem,
    method: SizeConstrainedKMeans,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut s = SeedPath::new(seed).stream("sizes");
        let n = 1 + s.below(7);
        let k = 1 + s.below(n.min(3));
        let x = Array2::from_shape_fn((n, 2), |_| s.below(7) as f64);
        let mut data = Data::dense(x).unwrap();
        if s.below(2) == 0 {
            let weights: Vec<f64> = (0..n).map(|_| s.below(5) as f64 / 2.0).collect();
            data = data.clone().with_weights(weights).unwrap_or(data);
        }
        let hidden: Vec<usize> = (0..n).map(|_| s.below(k)).collect();
        let agrees = s.below(2) == 0;
        let pairs = (0..s.below(n + 1)).filter_map(|_| {
            let (i, j) = (s.below(n), s.below(n));
            let must = if agrees { hidden[i] == hidden[j] } else { s.below(2) == 0 };
            let kind = if must { Kind::MustLink } else { Kind::CannotLink };
            (i != j).then(|| Constraint::new(i, j, kind))
        });
        let pairs: Vec<Constraint> = pairs.collect();
        let mut limit = |most: usize| (s.below(3) > 0).then(|| s.below(2 * most) as f64 / 2.0);
        let (min_size, max_size) = (limit(3), limit(n + 2));
        let method = sized(min_size, max_size.map(|most| most.max(0.5)));
        World { problem: given(&Problem::new(data).with_k(k), &pairs), method }
    }

    fn size(&self, labels: &[u32], h: u32) -> (usize, f64) {
        let own = (0..labels.len()).filter(|&i| labels[i] == h);
        let weight = |i: usize| self.problem.data.weights().map_or(1.0, |w| w[i]);
        (own.clone().count(), own.map(weight).sum())
    }

    fn joined(&self) -> usize {
        Closure::new(&self.problem.constraints, self.problem.n(), OnConflict::Keep)
            .unwrap()
            .components()
    }

    fn is_legal(&self, labels: &[u32]) -> bool {
        let k = self.problem.k.unwrap();
        let SizeConstrainedKMeans { min_size, max_size, .. } = self.method;
        let some = min_size.is_none() && self.joined() >= k;
        let within = |h: u32| {
            let (count, size) = self.size(labels, h);
            size >= min_size.unwrap_or(0.0)
                && size <= max_size.unwrap_or(f64::INFINITY)
                && (count > 0 || !some)
        };
        self.problem.constraints.violations(labels).total() == 0 && (0..k as u32).all(within)
    }

    fn all(&self) -> impl Iterator<Item = Vec<u32>> {
        let (n, k) = (self.problem.n() as u32, self.problem.k.unwrap() as u32);
        let labels = move |code: u32| (0..n).map(|i| code / k.pow(i) % k).collect::<Vec<u32>>();
        (0..k.pow(n)).map(labels).filter(|labels| self.is_legal(labels))
    }
}

/// 2 000 cases; 100 000 with `MUSTLINK_NIGHTLY=1`.
#[test]
fn limits_and_pairs_hold_or_no_labels_keep_them() {
    let nightly = std::env::var("MUSTLINK_NIGHTLY").is_ok_and(|v| v == "1");
    let cases = if nightly { 100_000 } else { 2_000 };
    let mut runner = TestRunner::new(Config { cases, ..Config::default() });
    runner
        .run(&any::<u64>(), |seed| {
            let world = World::new(seed);
            match world.method.cluster(&world.problem, &Context::new(seed)) {
                Ok(c) => {
                    prop_assert!(world.is_legal(&c.labels), "{:?} {world:?}", c.labels);
                    for w in c.history.windows(2) {
                        prop_assert!(w[1].objective <= w[0].objective * (1.0 + 1e-12) + 1e-12);
                    }
                }
                Err(e) => {
                    let known = matches!(
                        e,
                        Error::BadParam { .. }
                            | Error::InfeasibleConstraints { .. }
                            | Error::InconsistentConstraints(_)
                    );
                    prop_assert!(known && world.all().next().is_none(), "{e} {world:?}");
                }
            }
            Ok(())
        })
        .unwrap();
}

/// As cheap as the cheapest of all labels that keep limits and constraints, whatever the costs are.
#[test]
fn a_step_is_the_cheapest_of_all() {
    let mut runner = TestRunner::new(Config { cases: 500, ..Config::default() });
    runner
        .run(&any::<u64>(), |seed| {
            let world = World::new(seed);
            let (problem, k) = (&world.problem, world.problem.k.unwrap());
            let closure =
                Closure::new(&problem.constraints, problem.n(), OnConflict::Keep).unwrap();
            prop_assume!(world.all().next().is_some());
            let SizeConstrainedKMeans { min_size, max_size, .. } = world.method;
            let limits = Limits::new(min_size, max_size, closure.components(), k, &problem.data);
            let weighted = problem.data.weights().is_some();
            let units = Units::new(&closure, limits.unwrap(), k, weighted);
            let mut s = SeedPath::new(seed).stream("costs");
            let costs: Vec<f64> = (0..problem.n() * k).map(|_| s.below(50) as f64 / 4.0).collect();
            let total = |labels: &[u32]| -> f64 {
                labels.iter().enumerate().map(|(i, &h)| costs[i * k + h as usize]).sum()
            };
            let ctx = Context::new(1);
            let any = units.any(1_000_000, &ctx).unwrap();
            let of_units = units.costs(costs.clone());
            let known = any.as_deref().filter(|_| seed % 2 == 0);
            let found = units.assign(&of_units, known, any.as_deref(), &ctx).unwrap();
            let found = units.objects(&found);
            let least = world.all().map(|labels| total(&labels)).fold(f64::INFINITY, f64::min);
            prop_assert!(world.is_legal(&found), "{found:?} {world:?}");
            prop_assert!((total(&found) - least).abs() < 1e-9, "{} {least}", total(&found));
            Ok(())
        })
        .unwrap();
}

proptest! {
    #[test]
    fn sizes_hold_and_the_objective_falls(
        seed: u64, cosine: bool, pairs in 0usize..30, least in 0usize..12, more in 0usize..8, weighted: bool,
    ) {
        let (p, classes) = fixtures::dense(seed % 50);
        let (n, k) = (p.n(), 3);
        let pairs = fixtures::true_constraints(&classes, pairs, seed);
        let mut p = p.with_k(k).with_constraints(pairs);
        if weighted {
            p.data = p.data.with_weights((0..n).map(|i| 0.5 + (i % 4) as f64 / 2.0).collect()).unwrap();
        }
        let weight = |i: usize| p.data.weights().map_or(1.0, |w| w[i]);
        let total: f64 = (0..n).map(weight).sum();
        let most = (total / k as f64).ceil() + 2.0 + more as f64;
        let distortion = if cosine { Distortion::Cosine } else { Distortion::SquaredEuclidean };
        let method = SizeConstrainedKMeans {
            distortion: distortion.into(),
            starts: Starts { tolerance: 0.0, restarts: 2, ..Starts::default() },
            ..sized(Some(least as f64), Some(most))
        };
        let c = method.cluster(&p, &Context::new(seed)).unwrap();
        for h in 0..k as u32 {
            let size: f64 = (0..n).filter(|&i| c.labels[i] == h).map(weight).sum();
            prop_assert!((least as f64..=most).contains(&size), "{size}");
        }
        prop_assert_eq!(p.constraints.violations(&c.labels).total(), 0);
        for w in c.history.windows(2) {
            prop_assert!(w[1].objective <= w[0].objective * (1.0 + 1e-12) + 1e-12);
        }
    }

    /// Without limits it is k-means from the same starts.
    #[test]
    fn without_limits_it_is_k_means(seed in 0u64..200) {
        let (p, _) = fixtures::dense(seed % 50);
        let p = p.with_k(3);
        let starts = Starts { restarts: 3, ..Starts::default() };
        let free = SizeConstrainedKMeans { starts, ..sized(Some(0.0), None) };
        let kmeans = KMeans { restarts: 3, ..KMeans::default() };
        let ctx = Context::new(seed);
        let (a, b) = (free.cluster(&p, &ctx).unwrap(), kmeans.cluster(&p, &ctx).unwrap());
        prop_assert_eq!(a.labels, b.labels);
    }

    /// An object of weight m is m objects that must-links hold together.
    #[test]
    fn a_weight_is_so_many_objects_that_stay_together(seed: u64) {
        let (x, _) = fixtures::groups(2, 3, 1.5, seed);
        let mut s = SeedPath::new(seed).stream("weights");
        let weights: Vec<usize> = (0..x.nrows()).map(|_| 1 + s.below(3)).collect();
        let copies: Vec<usize> = (0..x.nrows()).flat_map(|i| vec![i; weights[i]]).collect();
        let tied = (1..copies.len()).filter(|&c| copies[c] == copies[c - 1]);
        let tied: Vec<Constraint> = tied.map(|c| Constraint::must(c - 1, c)).collect();
        let start = Start::Centroids(x.select(ndarray::Axis(0), &[0, 1, 2]));
        let once = Data::dense(x.clone()).unwrap();
        let once = once.with_weights(weights.iter().map(|&w| w as f64).collect()).unwrap();
        let often = Data::dense(x.select(ndarray::Axis(0), &copies)).unwrap();
        let starts = Starts { init: Init::Given, ..Starts::default() };
        let most = (copies.len().div_ceil(3) + 2) as f64;
        let method = SizeConstrainedKMeans { starts, ..sized(None, Some(most)) };
        let on = |data: Data, pairs: &[Constraint]| {
            let p = given(&Problem::new(data).with_k(3), pairs).with_start(start.clone());
            method.cluster(&p, &Context::new(1)).unwrap().labels
        };
        let labels = on(once, &[]);
        let expected: Vec<u32> = copies.iter().map(|&i| labels[i]).collect();
        prop_assert_eq!(on(often, &tied), expected);
    }
}
