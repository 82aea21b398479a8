//! PCK-means: k-means with costs of broken constraints.

use std::sync::Arc;

use mustlink_core::prelude::*;
use mustlink_kernels::constrained::constraint_groups::{ConstraintGroups, Entail};
use mustlink_kernels::constrained::icm::{PairwiseTerm, visit};
use mustlink_kernels::constrained::penalised_kmeans::{
    PenalisedKMeans, PenaltyOptions, SoftOptions, SoftRules, distances, fitted_weight,
};
use mustlink_kernels::constrained::violation_costs::Penalties;
use mustlink_kernels::distance::points::{Distortion, DistortionOption, Points};
use mustlink_kernels::kmeans::lloyd::{clustering, lloyd, refill, total_distortion};
use mustlink_kernels::kmeans::means::means;
use mustlink_kernels::kmeans::nearest::assign::assign;
use ndarray::Array2;

/// Pairwise-constrained k-means: each violated constraint costs its weight; neighbourhoods give the first centres.
///
/// # Method
/// Minimises Σ D(x, µ) + Σ w [must-link broken] + Σ w̄ [cannot-link broken] over closed constraints. Each sweep
/// visits the constrained objects one by one, in order, with the current labels; the others choose their nearest
/// centre. The objective never rises after the first sweep.
/// # Input and output
/// n × d, dense or sparse, objects and constraints of any weight. One label per object in `0..k`, k centres.
/// # Errors
/// `MissingK`, `BadK`, `TooManyClusters`; `InconsistentConstraints` only if `on_conflict = "error"`;
/// `HardNotSupported` for constraints marked hard; `ClosureTooLarge` for unequal weights whose closure must be
/// expanded, `Memory` if that exceeds the memory limit.
/// # Cost and randomness
/// O(sweeps · (n·k·d + constrained objects · k + moves · separated components)). The closure is never expanded as
/// long as all constraints of a kind weigh the same; neither are groups whose members must be apart. Otherwise each
/// pair of the closure takes 130 bytes, and every visit looks at all partners of an object. Random: the order of
/// visits, and the start if neighbourhoods do not determine it. With `weight = "auto"` the start is the best of many
/// runs on the constrained objects alone, if there are at least five of them for each cluster.
/// # References
/// [Basu2004] §3–4; [Greene2007] Eq. 1. Differs: more than k neighbourhoods start by weighted farthest-first, the
/// later rule; `largest` is the rule of the paper, as is `init = "neighbourhood"` with a fitted weight.
#[options]
pub struct PckMeans {
    /// Number of clusters, at most n. If absent, the k of the problem.
    #[option(min = 1)]
    pub k: Option<usize>,
    /// Distance from an object to a centre. "auto": cosine for sparse rows, otherwise squared Euclidean.
    pub distortion: AutoOr<Distortion>,
    /// Cost of a broken must-link of weight 1 (w). "auto": the geometric mean of two mean costs of an object, in
    /// clusters found without constraints and around the common centre. Penalties then have the scale of the data.
    #[option(default = AutoOr::Auto, min = 0.0, units = 2)]
    pub weight: AutoOr<f64>,
    /// Cost of a broken cannot-link of weight 1 (w̄). If absent, the same as `weight`.
    #[option(min = 0.0, units = 2)]
    pub weight_cannot: Option<AutoOr<f64>>,
    /// Options for the cost of constraints and the start of clusters.
    #[option(flatten)]
    pub rules: SoftRules,
    /// Options shared by all methods that penalise broken constraints.
    #[option(flatten)]
    pub shared: PenaltyOptions,
    /// Halve the squared Euclidean distortion, as in the objective of the SDM paper.
    pub half_distortion: bool,
}

#[plugin("pck_means", aliases = ["pck", "pckmeans"], cites = ["Basu2004", "Greene2007"], version = 2)]
impl BaseClusterer for PckMeans {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let k = problem.require_k(self.k, "pck_means")?;
        let soft = PenalisedKMeans::new(self.soft(), problem, sweeps, ctx)?;
        let points = Points::new(&problem.data, self.distortion)?;
        let scale = self.scale(points.distortion());
        let links = soft.links(k, || {
            let weight = scale * fitted_weight(&points, k, ctx)?;
            Ok((weight, weight))
        })?;
        let start = |ctx: &Context| soft.start(&points, k, problem, ctx);
        soft.best(|ctx| sweeps(&soft, &points, &links, scale, start(ctx)?, ctx), ctx)
    }

    fn properties(&self) -> Properties {
        Properties {
            accepts: vec![DataKind::Dense, DataKind::Csr],
            needs_k: self.k.is_none(),
            reads_constraints: true,
            reads_groups: matches!(self.rules.entail, Entail::Full | Entail::Off),
            soft_weights: true,
            object_weights: true,
            hard_as_soft: self.shared.hard_as_soft.is_some(),
            gives_centers: true,
            ..Properties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let shape = &Shape { k: self.k.unwrap_or(shape.k), ..*shape };
        let copy = self.distortion.copy_bytes(shape);
        let Shape { n, d, k, constraints, .. } = *shape;
        let constrained = (2 * constraints).min(n);
        // Labels and centres; distances and counts of the constrained objects, centres and their sums.
        let (result, working) = (4 * n + 8 * k * d, 24 * constrained * k + 24 * k * d);
        let starts = self.soft().memory_of_starts((constrained, k, d), result, working);
        (copy + 60 * n + 100 * constraints + starts) as u64
    }
}

/// PCK-means from one start, [Basu2004] Fig. 1. Distortions count `scale` times. Without any constraint it is
/// Lloyd's loop.
///
/// # Errors
/// `NumericalFailure` for an empty cluster under `Empty::Error`; cancellation.
pub(crate) fn sweeps(
    soft: &PenalisedKMeans,
    points: &Points,
    links: &Arc<ConstraintGroups>,
    scale: f64,
    start: (Array2<f64>, Vec<u32>),
    ctx: &Context,
) -> Result<Clustering> {
    let SoftOptions { rules, shared, .. } = soft.options;
    let (stop, order, empty) = (shared.stop(), shared.order, rules.empty);
    // 1: centres from the neighbourhoods, whose objects have their labels.
    let (mut centres, mut labels) = start;
    if links.objects().is_empty() && scale == 1.0 {
        return lloyd(points, centres, stop, empty, ctx);
    }
    let k = centres.nrows();
    let mut penalties = Penalties::new(links, k, &labels);
    let mut history: Vec<IterStat> = Vec::new();
    let mut status = Status::MaxIter;
    // 2: until convergence.
    for sweep in 0..stop.max_iterations {
        ctx.check()?;
        // 2a, assign_cluster: who is in no constraint goes to the nearest centre, the others one by one to
        // where distance and broken constraints, with all labels as they are now, cost least.
        let mut moved = assign(points, &centres, &mut labels, Some(links.constrained()));
        let own = distances(points, &centres, links.objects(), scale);
        moved += visit(&mut penalties, &own, k, &mut labels, order, sweep, ctx);
        // 2b, estimate_means.
        let sizes;
        (centres, sizes) = means(points, &labels, centres);
        if sizes.contains(&0) {
            let mut rest = PairwiseTerm::new(&mut penalties, k, scale);
            moved += refill(points, &mut labels, &mut centres, empty, &mut rest)?;
        }
        // The objective: distortion and the costs of broken constraints.
        let (cost, violations) = penalties.total(&labels);
        let objective = scale * total_distortion(points, &labels, &centres) + cost;
        let before = history.last().map(|s| s.objective);
        history.push(IterStat { objective, moved, violations: Some(violations) });
        if moved == 0 || before.is_some_and(|b| stop.is_over(b, objective)) {
            status = Status::Converged;
            break;
        }
    }
    Ok(clustering(labels, centres, history, status, points.distortion()))
}

impl PckMeans {
    fn soft(&self) -> SoftOptions {
        SoftOptions {
            weight: self.weight,
            weight_cannot: self.weight_cannot,
            rules: self.rules,
            shared: self.shared,
        }
    }

    /// The factor of the distortion in the objective.
    fn scale(&self, distortion: Distortion) -> f64 {
        if self.half_distortion && distortion == Distortion::SquaredEuclidean { 0.5 } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kmeans::KMeans;
    use mustlink_core::closure::EntailedWeight;
    use mustlink_kernels::constrained::icm::Order;
    use mustlink_kernels::constrained::neighbourhood_seeding::{FewerThanK, MoreThanK};
    use mustlink_kernels::constrained::penalised_kmeans::SoftInit;
    use mustlink_kernels::distance::points::squared_distance;
    use mustlink_kernels::kmeans::lloyd::Empty;
    use mustlink_kernels::kmeans::seeding::Init;
    use mustlink_laws::fixtures;
    use ndarray::{Array2, array};
    use proptest::prelude::*;

    /// With the weight of the paper's examples, 1.
    fn plain() -> PckMeans {
        PckMeans { weight: AutoOr::Value(1.0), ..PckMeans::default() }
    }

    fn run(method: &PckMeans, problem: &Problem, seed: u64) -> Clustering {
        method.cluster(problem, &Context::new(seed)).unwrap()
    }

    /// The same problem with every entailed pair written out.
    fn from(init: SoftInit) -> SoftRules {
        SoftRules { init: Some(init), ..SoftRules::default() }
    }

    fn expanded(problem: &Problem, entail: Entail) -> Problem {
        let n = problem.n();
        let closure = Closure::new(&problem.constraints, n, OnConflict::Keep).unwrap();
        let pairs = closure.pairs(EntailedWeight::Bottleneck, 1_000_000).unwrap();
        let large = |i: u32| closure.members(closure.component(i as usize)).len() >= 2;
        let given: Vec<(u32, u32)> =
            problem.constraints.pairs().iter().map(|c| (c.i, c.j)).collect();
        let kept = pairs.into_iter().filter(|c| {
            entail == Entail::Full
                || c.kind == Kind::MustLink
                || (large(c.i) && large(c.j))
                || given.contains(&(c.i, c.j))
        });
        problem.clone().with_constraints(Constraints::new(n, kept).unwrap())
    }

    fn slow_objective(method: &PckMeans, problem: &Problem, c: &Clustering) -> f64 {
        let (w, scale) = match method.weight {
            AutoOr::Value(w) => (w, method.scale(Distortion::SquaredEuclidean)),
            AutoOr::Auto => panic!("tests name their weight"),
        };
        let centres = c.extras.centers.as_ref().unwrap();
        let x = problem.data.to_dense();
        let distortion: f64 = (0..problem.n())
            .map(|i| {
                let m = centres.row(c.labels[i] as usize);
                let weight = problem.data.weights().map_or(1.0, |weights| weights[i]);
                weight * squared_distance(x.row(i).as_slice().unwrap(), &m.to_vec())
            })
            .sum();
        let v = expanded(problem, method.rules.entail).constraints.violations(&c.labels);
        scale * distortion + w * (v.must_weight + v.cannot_weight)
    }

    /// Nothing is left to pay by distance, and 1 − cos may be a rounding error below 0.
    #[test]
    fn as_many_clusters_as_objects() {
        for n in 2..13 {
            let x = Array2::from_shape_fn((n, 2), |(i, c)| (1 + i + c * (i * i % 7)) as f64 * 0.3);
            let links = Constraints::new(n, [Constraint::must(0, 1)]).unwrap();
            for distortion in [Distortion::SquaredEuclidean, Distortion::Cosine] {
                let p = Problem::new(Data::dense(x.clone()).unwrap()).with_k(n);
                let method = PckMeans { distortion: distortion.into(), ..PckMeans::default() };
                let c = run(&method, &p.with_constraints(links.clone()), 1);
                assert!(c.labels.iter().all(|&l| (l as usize) < n), "{n}, {distortion:?}");
                assert!(c.objective.unwrap().is_finite(), "{n}, {distortion:?}");
            }
        }
    }

    #[test]
    fn worked_example() {
        // On a line, 0 and 10 must be together and 1 apart from both: two clusters, {0, 10} pay
        // distortion 50 unless breaking the link is cheaper.
        let x = array![[0.0], [10.0], [1.0]];
        let constraints =
            Constraints::new(3, [Constraint::must(0, 1), Constraint::cannot(0, 2)]).unwrap();
        let p = Problem::new(Data::dense(x).unwrap()).with_k(2).with_constraints(constraints);
        let strong = run(&PckMeans { weight: AutoOr::Value(1000.0), ..plain() }, &p, 1);
        assert_eq!(strong.labels[0], strong.labels[1]);
        assert_ne!(strong.labels[0], strong.labels[2]);
        assert_eq!(strong.objective, Some(50.0));
        let weak = PckMeans {
            weight: AutoOr::Value(0.1),
            rules: from(SoftInit::Plain(Init::FarthestFirst)),
            ..plain()
        };
        let weak = run(&weak, &p, 1);
        assert_eq!(weak.labels[0], weak.labels[2]);
        assert!(
            (weak.objective.unwrap() - 0.7).abs() < 1e-12,
            "two broken cannot-links would be .2, one must-link .1"
        );
    }

    #[test]
    fn hard_constraints_need_an_opt_in() {
        let (p, _) = fixtures::dense(1);
        let hard = Constraint { strength: Some(Strength::Hard), ..Constraint::must(0, 1) };
        let p = p.with_constraints(Constraints::new(45, [hard]).unwrap());
        let refused = mustlink_core::run::cluster(&plain(), &p, &Context::new(1)).unwrap_err();
        let (plugin, kind) = ("pck_means".into(), "must-link");
        let role = mustlink_core::role::Role::BaseClusterer;
        assert_eq!(refused, Error::HardNotSupported { plugin, role, kind, i: 0, j: 1 });
        run(
            &PckMeans {
                shared: PenaltyOptions { hard_as_soft: Some(5.0), ..PenaltyOptions::default() },
                ..plain()
            },
            &p,
            1,
        );
    }

    #[test]
    fn pairs_of_unequal_weights_must_fit() {
        // A chain of 200 entails 19 900 pairs.
        let (x, _) = fixtures::groups(70, 2, 1.0, 1);
        let p = Problem::new(Data::dense(x).unwrap()).with_k(3);
        let chain = |more: f64| {
            let weight = |i: usize| 1.0 + more * i as f64;
            let links = (0..199).map(|i| Constraint::must(i, i + 1).weighing(weight(i)));
            p.clone().with_constraints(Constraints::new(210, links).unwrap())
        };
        let limited = |bytes| Context::builder(SeedPath::new(1)).memory_limit(Some(bytes)).build();
        assert!(plain().cluster(&chain(0.0), &limited(1_000_000)).is_ok());
        let refused = plain().cluster(&chain(0.1), &limited(1_000_000)).unwrap_err();
        assert!(matches!(refused, Error::Memory { needed: 2_500_000.., .. }), "{refused}");
        assert!(plain().cluster(&chain(0.1), &limited(3_000_000)).is_ok());
        let rules = SoftRules { entail: Entail::Off, ..SoftRules::default() };
        assert!(PckMeans { rules, ..plain() }.cluster(&chain(0.1), &limited(1_000_000)).is_ok());
        let rules = SoftRules { entail: Entail::LargestNeighbourhoods, ..SoftRules::default() };
        assert!(PckMeans { rules, ..plain() }.cluster(&chain(0.0), &limited(1_000_000)).is_err());
    }

    #[test]
    fn a_clustering_of_other_objects_is_no_start() {
        let (p, _) = fixtures::dense(1);
        let method = PckMeans { rules: from(SoftInit::Plain(Init::Given)), ..plain() };
        let first = run(&plain(), &p, 1);
        let from = |change: &dyn Fn(&mut Vec<u32>)| {
            let mut start = first.clone();
            change(&mut start.labels);
            let p = p.clone().with_start(Start::Clustering(Arc::new(start)));
            method.cluster(&p, &Context::new(1)).map(|c| c.labels)
        };
        assert!(from(&|_| {}).is_ok());
        assert!(from(&|labels| labels.fill(NONE)).is_ok());
        let few = from(&|labels| labels.truncate(7)).unwrap_err().to_string();
        assert_eq!(few, "start: must be a clustering of these 45 objects, got 7 labels");
        let many = from(&|labels| labels[3] = 9).unwrap_err().to_string();
        assert!(many.ends_with("got the label 9"), "{many}");
    }

    #[test]
    fn a_start_that_is_not_given_is_told_of_the_option_that_wants_it() {
        let (p, _) = fixtures::dense(1);
        let p = p.with_constraints(Constraints::default());
        let shared =
            PenaltyOptions { init_without_constraints: Init::Given, ..PenaltyOptions::default() };
        let told = |method: PckMeans| method.cluster(&p, &Context::new(1)).unwrap_err().to_string();
        let told_of = told(PckMeans { shared, ..plain() });
        assert!(told_of.starts_with("init_without_constraints: must be used with"), "{told_of}");
        let told_of = told(PckMeans { rules: from(SoftInit::Plain(Init::Given)), ..plain() });
        assert!(told_of.starts_with("init: must be used with"), "{told_of}");
    }

    #[test]
    fn options_are_read_and_written() {
        let text =
            r#"{"type":"pck_means","weight":"auto","init":"farthest_first","weight_cannot":2}"#;
        let plugin: Box<dyn BaseClusterer> = serde_json_from(text);
        assert!(format!("{plugin:?}").contains("Plain(FarthestFirst)"));
        fn serde_json_from(text: &str) -> Box<dyn BaseClusterer> {
            serde_json::from_str(text).unwrap()
        }
    }

    #[test]
    fn renamed_options_keep_their_old_names() {
        use mustlink_config::{Node, build, resolve};
        use mustlink_core::serde_json::json;
        let old = Node::synthetic(&json!({ "lambda_gt_k": "largest" }));
        let built: PckMeans = build(&old, "clusterer").unwrap();
        assert_eq!(built.shared.when_more_neighbourhoods, MoreThanK::Largest);
        let resolved = resolve::<PckMeans>(&old).unwrap();
        assert_eq!(resolved["when_more_neighbourhoods"], "largest");
        assert!(resolved.get("lambda_gt_k").is_none());
        let twice = json!({ "lambda_gt_k": "largest", "when_more_neighbourhoods": "largest" });
        assert!(build::<PckMeans>(&Node::synthetic(&twice), "clusterer").is_err());
        let wrong = Node::synthetic(&json!({ "lambda_gt_k": "smallest" }));
        assert!(build::<PckMeans>(&wrong, "clusterer").is_err());
    }

    #[test]
    fn what_the_papers_set_are_options() {
        for preset in [
            r#"{"type":"pck_means","half_distortion":true,"entail":"neighbourhoods_only","lambda_gt_k":"largest",
                "lambda_lt_k":"cl_point_then_perturb","perturb":"multiplicative","perturb_rho":0.7,
                "init_without_constraints":"perturb","order":"random","distortion":"cosine"}"#,
            r#"{"type":"pck_means","distortion":"cosine","weight":0.001,"weight_cannot":0.001,
                "lambda_gt_k":"weighted_farthest_first","init_without_constraints":"farthest_first"}"#,
            r#"{"type":"mpck_means","metric":"multi_diag","weight":1,"perturb":"multiplicative","order":"index",
                "max_pair":"box","box_includes_origin":true,"singular":"keep_previous","tolerance":1e-5,
                "tolerance_kind":"absolute","entail":"neighbourhoods_only"}"#,
            r#"{"type":"cop_kmeans","unit":"object","order":"index","init":"neighbourhood"}"#,
        ] {
            let plugin: Box<dyn BaseClusterer> = serde_json::from_str(preset).unwrap();
            let p = random_problem(1, 20, 0);
            plugin.cluster(&p, &Context::new(1)).unwrap();
        }
    }

    const AUTO: AutoOr<f64> = AutoOr::Auto;

    #[test]
    fn auto_goes_where_constraints_point() {
        // Four groups at the corners of a rectangle: k-means parts left from right, the classes are
        // above and below. Few of the objects are constrained.
        let mut s = SeedPath::new(3).stream("corners");
        let x = Array2::from_shape_fn((200, 2), |(i, f)| {
            let side = if f == 0 { (i % 2) as f64 * 8.8 } else { (i / 2 % 2) as f64 * 8.0 };
            side + s.normal()
        });
        let classes: Vec<u32> = (0..200).map(|i| i / 2 % 2).collect();
        let p = Problem::new(Data::dense(x).unwrap()).with_k(2);
        let p = p.with_constraints(fixtures::true_constraints(&classes, 30, 3));
        let same = mustlink_core::clustering::canonical;
        let auto = run(&PckMeans { weight: AUTO, ..plain() }, &p, 1);
        assert_eq!(same(&auto.labels), same(&classes));
        let free = KMeans::default().cluster(&p, &Context::new(1)).unwrap();
        let halves: Vec<u32> = (0..200).map(|i| i % 2).collect();
        assert_eq!(same(&free.labels), halves);
    }

    #[test]
    fn auto_takes_any_number_of_constraints() {
        let (p, _) = fixtures::dense(1);
        let auto = PckMeans { weight: AUTO, ..plain() };
        for pairs in [vec![], vec![Constraint::cannot(0, 1)], vec![Constraint::must(0, 3)]] {
            let p = p.clone().with_constraints(Constraints::new(45, pairs).unwrap());
            assert_eq!(run(&auto, &p, 1).k, 3);
        }
    }

    /// A problem with true constraints, and a part of them turned round so that some conflict.
    fn random_problem(seed: u64, pairs: usize, wrong: usize) -> Problem {
        let (p, classes) = fixtures::dense(seed);
        let mut all = fixtures::true_constraints(&classes, pairs, seed).pairs().to_vec();
        for c in all.iter_mut().take(wrong) {
            c.kind = if c.kind == Kind::MustLink { Kind::CannotLink } else { Kind::MustLink };
        }
        p.with_constraints(Constraints::new(45, all).unwrap())
    }

    fn methods() -> impl Strategy<Value = PckMeans> {
        (
            prop_oneof![Just(0.0), Just(0.3), Just(2.0), Just(50.0)],
            prop_oneof![Just(Entail::Full), Just(Entail::NeighbourhoodsOnly)],
            prop_oneof![
                Just(Order::Random),
                Just(Order::RandomFixed),
                Just(Order::Index),
                Just(Order::Sorted)
            ],
            prop_oneof![Just(MoreThanK::WeightedFarthestFirst), Just(MoreThanK::Largest)],
            prop_oneof![
                Just(FewerThanK::ClPointThenPerturb),
                Just(FewerThanK::Perturb),
                Just(FewerThanK::FarthestFirst),
                Just(FewerThanK::Random)
            ],
            prop_oneof![Just(Empty::Keep), Just(Empty::Reseed)],
            any::<bool>(),
        )
            .prop_map(
                |(
                    w,
                    entail,
                    order,
                    when_more_neighbourhoods,
                    when_fewer_neighbourhoods,
                    empty,
                    half_distortion,
                )| PckMeans {
                    weight: AutoOr::Value(w),
                    rules: SoftRules { entail, empty, ..SoftRules::default() },
                    half_distortion,
                    shared: PenaltyOptions {
                        order,
                        when_more_neighbourhoods,
                        when_fewer_neighbourhoods,
                        tolerance: 0.0,
                        ..PenaltyOptions::default()
                    },
                    ..plain()
                },
            )
    }

    #[test]
    fn clusters_start_from_representatives_where_asked() {
        let x = array![[0.0], [1.0], [5.0], [20.0], [22.0], [30.0], [31.0]];
        // A pair, and three objects asked against object 5.
        let links = [(0, 2), (3, 5), (4, 5), (5, 6)].map(|(i, j)| Constraint::must(i, j));
        let p = Problem::new(Data::dense(x).unwrap())
            .with_k(2)
            .with_constraints(Constraints::new(7, links).unwrap());
        let start = |init, p: &Problem| {
            let pck = PckMeans { rules: SoftRules { init, ..SoftRules::default() }, ..plain() };
            let ctx = Context::new(1);
            let soft = PenalisedKMeans::new(pck.soft(), p, sweeps, &ctx).unwrap();
            let points = Points::new(&p.data, Distortion::SquaredEuclidean).unwrap();
            let (centres, labels) = soft.start(&points, 2, p, &ctx).unwrap();
            (centres.column(0).to_vec(), labels)
        };
        let one = Some(SoftInit::Representatives);
        assert_eq!(start(one, &p), (vec![0.0, 30.0], vec![0, NONE, NONE, NONE, NONE, 1, NONE]));
        assert_eq!(start(None, &p), (vec![2.5, 25.75], vec![0, NONE, 0, 1, 1, 1, 1]));
        let free = Problem { constraints: Default::default(), ..p };
        assert_eq!(start(one, &free), start(None, &free));
    }

    /// Without their labels, the member of a must-link group that is visited first could exchange two classes.
    #[test]
    fn constrained_objects_start_with_their_labels() {
        // Two groups that overlap, each tied together, and an object without constraints at either end.
        let place = |i: usize| i as f64 + 9.0 * (i % 2) as f64;
        let x = Array2::from_shape_fn((22, 1), |(i, _)| place(i));
        let must = (0..18).map(|i| Constraint::must(i, i + 2));
        let links = Constraints::new(22, must.chain([Constraint::cannot(0, 1)])).unwrap();
        let p = Problem::new(Data::dense(x).unwrap()).with_k(2).with_constraints(links);
        let (method, ctx) = (PckMeans::default(), Context::new(3));
        let soft = PenalisedKMeans::new(method.soft(), &p, sweeps, &ctx).unwrap();
        let points = Points::new(&p.data, Distortion::SquaredEuclidean).unwrap();
        let (_, labels) = soft.start(&points, 2, &p, &ctx).unwrap();
        let expected: Vec<u32> = (0..20).map(|i| labels[i % 2]).chain([NONE; 2]).collect();
        assert!(labels == expected && labels[0] != labels[1], "{labels:?}");
    }

    proptest! {
        #[test]
        fn objective_falls_and_is_what_it_says(method in methods(), seed in 0u64..500, pairs in 1usize..60, wrong in 0usize..4, weighted: bool) {
            let mut p = random_problem(seed, pairs, wrong);
            if weighted {
                let weights = (0..p.n()).map(|i| [1.0, 0.5, 3.0, 0.0][i * i % 4]).collect();
                p.data = p.data.with_weights(weights).unwrap();
            }
            let c = run(&method, &p, seed);
            for w in c.history.windows(2) {
                prop_assert!(w[1].objective <= w[0].objective * (1.0 + 1e-12) + 1e-12, "{:?}", c.history);
            }
            let slow = slow_objective(&method, &p, &c);
            prop_assert!((slow - c.objective.unwrap()).abs() <= 1e-9 * slow.max(1.0), "{slow} {:?}", c.objective);
        }

        #[test]
        fn implicit_and_expanded_closure_give_the_same_bits(method in methods(), seed in 0u64..500, pairs in 1usize..60, wrong in 0usize..4, weight in prop_oneof![Just(1.0), Just(0.1)]) {
            let p = random_problem(seed, pairs, wrong);
            let weighted = p.constraints.pairs().iter().map(|c| c.weighing(weight));
            let p = p.clone().with_constraints(Constraints::new(45, weighted).unwrap());
            let rules = SoftRules { entail: Entail::Off, ..method.rules };
            let slow = PckMeans { rules, ..method.clone() };
            let a = run(&method, &p, seed);
            let b = run(&slow, &expanded(&p, method.rules.entail), seed);
            prop_assert_eq!(a.labels, b.labels);
            prop_assert_eq!(a.objective.unwrap().to_bits(), b.objective.unwrap().to_bits());
        }

        #[test]
        fn unequal_weights_follow_the_same_objective(seed in 0u64..500, pairs in 1usize..60) {
            let p = random_problem(seed, pairs, 0);
            let weighted: Vec<Constraint> = p.constraints.pairs().iter().enumerate()
                .map(|(at, c)| c.weighing(1.0 + (at % 4) as f64)).collect();
            let p = p.clone().with_constraints(Constraints::new(45, weighted).unwrap());
            let method = PckMeans { shared: PenaltyOptions { tolerance: 0.0, ..PenaltyOptions::default() }, ..plain() };
            let c = run(&method, &p, seed);
            let slow = slow_objective(&method, &p, &c);
            prop_assert!((slow - c.objective.unwrap()).abs() <= 1e-9 * slow.max(1.0));
        }

        #[test]
        fn without_constraints_it_is_kmeans(seed: u64, cosine: bool) {
            let (p, _) = fixtures::dense(seed);
            let distortion = if cosine { Distortion::Cosine } else { Distortion::SquaredEuclidean };
            let pck = PckMeans { distortion: distortion.into(), ..plain() };
            let kmeans = KMeans { distortion: distortion.into(), max_iterations: 100, empty: Empty::Keep, ..KMeans::default() };
            let (a, b) = (run(&pck, &p, seed), kmeans.cluster(&p, &Context::new(seed)).unwrap());
            prop_assert_eq!(a.labels, b.labels);
            prop_assert_eq!(a.objective, b.objective);
        }

        #[test]
        fn weight_zero_from_given_centres_is_kmeans(seed: u64) {
            let p = random_problem(seed, 30, 0);
            let centres = p.data.to_dense().select(ndarray::Axis(0), &[0, 1, 2]);
            let p = p.with_start(Start::Centroids(centres));
            let init = Init::Given;
            let pck = PckMeans { weight: AutoOr::Value(0.0), rules: from(SoftInit::Plain(init)), ..plain() };
            let kmeans = KMeans { init, max_iterations: 100, empty: Empty::Keep, ..KMeans::default() };
            let (a, b) = (run(&pck, &p, seed), kmeans.cluster(&p, &Context::new(seed)).unwrap());
            prop_assert_eq!(a.labels, b.labels);
            prop_assert_eq!(a.objective, b.objective);
        }

        #[test]
        fn great_weight_breaks_nothing_that_neighbourhoods_cover(seed: u64) {
            // A spanning set of true must-links per class and one cannot-link between each two.
            let (p, classes) = fixtures::dense(seed);
            let mut pairs: Vec<Constraint> = (3..45).map(|i| Constraint::must(i, classes[i] as usize)).collect();
            pairs.extend([Constraint::cannot(0, 1), Constraint::cannot(0, 2), Constraint::cannot(1, 2)]);
            let p = p.with_constraints(Constraints::new(45, pairs).unwrap());
            let c = run(&PckMeans { weight: AutoOr::Value(1e9), ..plain() }, &p, seed);
            prop_assert_eq!(p.constraints.violations(&c.labels).total(), 0);
        }

        #[test]
        fn what_is_implied_changes_nothing(seed in 0u64..500, pairs in 1usize..40) {
            let p = random_problem(seed, pairs, 0);
            let full = expanded(&p, Entail::Full);
            let (a, b) = (run(&plain(), &p, seed), run(&plain(), &full, seed));
            prop_assert_eq!(&a.labels, &b.labels);
            let doubled = p.constraints.pairs().iter().chain(p.constraints.pairs()).copied();
            let twice = p.clone().with_constraints(Constraints::new(45, doubled).unwrap());
            prop_assert_eq!(&a.labels, &run(&plain(), &twice, seed).labels);
        }

        #[test]
        fn scaling_data_and_weight_keeps_labels(seed in 0u64..500, pairs in 1usize..40) {
            let p = random_problem(seed, pairs, 1);
            let larger = Problem { data: Data::dense(p.data.to_dense().mapv(|v| 2.0 * v)).unwrap(), ..p.clone() };
            let method = |w: f64| PckMeans { weight: AutoOr::Value(w), shared: PenaltyOptions { tolerance: 0.0, ..PenaltyOptions::default() }, ..plain() };
            prop_assert_eq!(run(&method(1.5), &p, seed).labels, run(&method(6.0), &larger, seed).labels);
        }

        #[test]
        fn auto_does_not_depend_on_units(seed in 0u64..500, pairs in 0usize..40, cosine: bool) {
            let p = random_problem(seed, pairs, 1);
            let larger = Problem { data: Data::dense(p.data.to_dense().mapv(|v| 1024.0 * v)).unwrap(), ..p.clone() };
            let distortion = if cosine { Distortion::Cosine } else { Distortion::SquaredEuclidean };
            let auto = PckMeans { weight: AUTO, distortion: distortion.into(), shared: PenaltyOptions { tolerance: 0.0, ..PenaltyOptions::default() }, ..plain() };
            prop_assert_eq!(run(&auto, &p, seed).labels, run(&auto, &larger, seed).labels);
        }

        #[test]
        fn auto_without_constraints_is_kmeans(seed: u64) {
            let (p, _) = fixtures::dense(seed);
            let auto = PckMeans { weight: AUTO, ..plain() };
            let kmeans = KMeans { max_iterations: 100, empty: Empty::Keep, ..KMeans::default() };
            prop_assert_eq!(run(&auto, &p, seed).labels, kmeans.cluster(&p, &Context::new(seed)).unwrap().labels);
        }

        #[test]
        fn sparse_gives_the_labels_of_dense(seed in 0u64..500, pairs in 0usize..40) {
            let p = random_problem(seed, pairs, 0);
            let csr = Data::csr(fixtures::to_csr(&p.data.to_dense())).unwrap();
            let sparse = Problem { data: csr, ..p.clone() };
            let method = PckMeans { distortion: Distortion::SquaredEuclidean.into(), ..plain() };
            prop_assert_eq!(run(&method, &p, seed).labels, run(&method, &sparse, seed).labels);
        }
    }
}
