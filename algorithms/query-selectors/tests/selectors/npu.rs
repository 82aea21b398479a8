use std::collections::HashMap;

use mustlink_base_clusterers::cop_kmeans::CopKMeans;
use mustlink_base_clusterers::pck_means::PckMeans;
use mustlink_core::prelude::*;
use mustlink_core::run;
use mustlink_core::selection::{self, ConstraintView, Selection};
use mustlink_laws::fixtures;
use mustlink_query_selectors::Member;
use mustlink_query_selectors::npu::columns::Columns;
use mustlink_query_selectors::npu::random_forest::RandomForest;
use mustlink_query_selectors::npu::{FeaturesPerSplit, FeaturesRule, Npu};
use proptest::prelude::*;

use crate::support::{
    By, Case, askings, cases, distortions, done, line, questions, select, survives_any_oracle,
    truth,
};

fn small() -> Npu {
    Npu { trees: 5, ..Npu::default() }
}

/// A selection with a clustering that never changes.
fn select_under(
    selector: &dyn QuerySelector,
    problem: &Problem,
    labels: &[u32],
    classes: &[u32],
    seed: u64,
) -> Selection {
    let provide = |_: &Constraints, _: u64| Ok(Clustering::from_labels(labels.to_vec()));
    let (mut oracle, ctx) = (By(truth(classes)), Context::new(seed));
    selection::run(selector, problem, &mut oracle, None, &[], Some(&provide), &ctx).unwrap()
}

fn clustered(selection: &Selection) -> usize {
    selection.events.iter().filter(|e| matches!(e, Event::Clustered { .. })).count()
}

#[test]
fn worked_example() {
    // Every tree parts the two groups or nothing (a bag of one group): each object is as certain
    // of its own group as any other, so they come in the order of their numbers, and its own
    // neighbourhood is asked first.
    let problem = line(&[0.0, 1.0, 2.0, 8.0, 9.0, 10.0]);
    let classes = [0, 0, 0, 1, 1, 1];
    for seed in 0..20 {
        let run = select_under(&Npu::default(), &problem, &classes, &classes, seed);
        let asked = questions(&run);
        assert_eq!((asked.len(), run.counts(5).must, run.counts(5).cannot), (5, 4, 1));
        let apart = asked.iter().position(|q| classes[q.0 as usize] != classes[q.1 as usize]);
        let after: Vec<u32> = asked[apart.unwrap() + 1..].iter().map(|q| q.0).collect();
        assert!(after.is_sorted(), "{asked:?}");
        assert_eq!(clustered(&run), after.len());
        assert_eq!(done(&run), Some(Done::AllAssigned));
    }
}

#[test]
fn the_object_between_two_clusters_comes_first() {
    // 5 is clustered with the higher ones. In the trees that did not draw it, it falls below a
    // threshold between 2 and 8 (at 5: not above it): it is the only object that is not certain.
    let problem = line(&[0.0, 1.0, 2.0, 8.0, 9.0, 10.0, 5.0]);
    let labels = [0, 0, 0, 1, 1, 1, 1];
    let mut seen = 0;
    for seed in 0..20 {
        let run = select_under(&Npu::default(), &problem, &labels, &labels, seed);
        let asked = questions(&run);
        let apart = asked.iter().position(|q| labels[q.0 as usize] != labels[q.1 as usize]);
        let (before, after) = asked.split_at(apart.unwrap() + 1);
        if before.iter().all(|q| q.0 != 6 && q.1 != 6) {
            assert_eq!(after[0].0, 6, "seed {seed}: {asked:?}");
            seen += 1;
        }
    }
    assert!(seen > 0, "5 is always among the random ones");
}

#[test]
fn one_cluster_says_nothing() {
    // A forest of single leaves: equal probabilities, so the lowest index, asked in the order of
    // creation.
    let problem = line(&[0.0, 3.0, 5.0, 8.0, 11.0, 30.0]);
    let classes = [2, 1, 0, 2, 1, 0];
    for seed in 0..20 {
        let selector = Npu { member: Member::First, ..Npu::default() };
        let run = select_under(&selector, &problem, &[0; 6], &classes, seed);
        let asked = questions(&run);
        let mut founders: Vec<u32> = vec![asked[0].1];
        let mut placed = vec![asked[0].1];
        let mut at = 0;
        while placed.len() < 6 {
            let x = asked[at].0;
            if founders.len() > 1 {
                assert_eq!(Some(x), (0..6).find(|i| !placed.contains(i)), "{asked:?}");
            }
            let same = |f: &&u32| classes[**f as usize] == classes[x as usize];
            let home = founders.iter().position(|f| same(&f));
            let put = &founders[..home.map_or(founders.len(), |h| h + 1)];
            let expected: Vec<(u32, u32)> = put.iter().map(|&f| (x, f)).collect();
            assert_eq!(asked[at..at + put.len()], expected);
            at += put.len();
            if home.is_none() {
                founders.push(x);
            }
            placed.push(x);
        }
        assert_eq!(at, asked.len());
    }
}

#[test]
fn degenerate_problems_end_cleanly() {
    let one = select(&small(), &line(&[3.0]).with_k(1), truth(&[0]), None, 1).unwrap();
    assert_eq!((one.asked(), done(&one)), (0, Some(Done::Exhausted)));

    let problem = line(&[0.0, 1.0, 5.0, 5.5]).with_k(1);
    let run = select(&small(), &problem, truth(&[0; 4]), None, 1).unwrap();
    // One neighbourhood: nothing is clustered, objects are random, one question each.
    assert_eq!((run.asked(), clustered(&run), done(&run)), (3, 0, Some(Done::AllAssigned)));
    let free = Npu { last_inference: true, ..small() };
    let run = select(&free, &problem, truth(&[0; 4]), None, 1).unwrap();
    assert_eq!((run.asked(), done(&run)), (0, Some(Done::AllAssigned)));

    let same = line(&[2.0; 7]).with_k(3);
    let classes = [0, 1, 2, 0, 1, 2, 0];
    let run = select(&small(), &same, truth(&classes), None, 1).unwrap();
    assert_eq!(done(&run), Some(Done::AllAssigned));
    assert_eq!(run.at(usize::MAX, ConstraintView::Queried).unwrap().neighbourhoods().len(), 3);

    let none = select(&small(), &same, truth(&classes), Some(0), 1).unwrap();
    assert_eq!((none.asked(), clustered(&none)), (0, 0));
    assert!(none.at(0, ConstraintView::Closure).unwrap().is_empty());

    let run = select(&small(), &same, |_, _| Reply::DontKnow, None, 1).unwrap();
    assert_eq!((run.asked(), clustered(&run), done(&run)), (6, 0, Some(Done::AllAssigned)));
    assert!(run.at(usize::MAX, ConstraintView::Closure).unwrap().pairs().is_empty());
}

#[test]
fn what_it_cannot_use_is_named() {
    let problem = line(&[0.0, 1.0, 5.0, 6.0]).with_k(2);
    let wide = Npu { features_per_split: FeaturesPerSplit::Number(2), ..small() };
    let error = wide.start(&problem, &Context::new(1)).err().unwrap().to_string();
    let text = "features_per_split: must be log2, sqrt or between 1 and 1 (the features), got 2";
    assert_eq!(error, text);
    let k = Npu { k: Some(9), ..small() }.start(&problem, &Context::new(1)).err().unwrap();
    assert_eq!(k.to_string(), "k: must be between 1 and 4 (the eligible objects), got 9");
    let distances = Problem::new(Data::distances(ndarray::array![[0.0, 1.0], [1.0, 0.0]]).unwrap());
    let error = small().start(&distances, &Context::new(1)).err().unwrap();
    assert_eq!(error.to_string(), "npu takes dense or csr data, got distances");
}

#[test]
fn clusterings_come_from_outside_or_inside() {
    let problem = line(&[0.0, 1.0, 5.0, 6.0]).with_k(2);
    let reply = |_, _| Reply::CannotLink;
    let (mut oracle, ctx) = (By(reply), Context::new(1));
    let nobody = selection::run(&small(), &problem, &mut oracle, None, &[], None, &ctx);
    let nobody = nobody.unwrap_err().to_string();
    assert!(nobody.starts_with("npu asks a clusterer between questions"), "{nobody}");
    let wrong = |_: &Constraints, _: u64| Ok(Clustering::from_labels(vec![0; 3]));
    let refused = selection::run(&small(), &problem, &mut oracle, None, &[], Some(&wrong), &ctx);
    assert!(matches!(refused, Err(Error::Contract { .. })), "{refused:?}");
    // What the clusterer inside cannot do is told with its place: 3 objects apart from one
    // another do not fit into 2 clusters.
    let inside = Npu { clusterer: Some(Box::new(CopKMeans::default())), ..small() };
    let failed = selection::run(&inside, &problem, &mut oracle, None, &[], None, &ctx);
    let text = failed.unwrap_err().to_string();
    assert!(text.starts_with("clusterer"), "{text}");
    assert!(!inside.properties().needs_clustering && inside.properties().needs_k);
    assert!(small().properties().needs_clustering && !small().properties().needs_k);
}

#[test]
fn a_clusterer_inside_asks_what_the_same_outside_asks() {
    let (problem, classes) = fixtures::dense(2);
    let clusterer: Box<dyn BaseClusterer> = Box::new(PckMeans::default());
    let ctx = Context::new(3);
    let provide = |so_far: &Constraints, _: u64| {
        let under = problem.clone().with_constraints(so_far.clone());
        Ok(run::cluster(&*clusterer, &under, &ctx.child("clusterer"))?.clustering)
    };
    let asked = |selector: &Npu| {
        let mut oracle = By(truth(&classes));
        let provide = Some(&provide as &selection::ClusteringProvider<'_>);
        let run = selection::run(selector, &problem, &mut oracle, Some(40), &[], provide, &ctx);
        questions(&run.unwrap())
    };
    let inside = Npu { clusterer: Some(clusterer.clone()), ..Npu::default() };
    assert_eq!(asked(&inside), asked(&Npu::default()));
}

#[test]
fn sparse_rows_are_asked_as_dense_ones() {
    let (problem, classes) = fixtures::dense(3);
    let sparse = fixtures::as_sparse(problem.clone());
    // Without distances, which are summed in another order.
    let selector = Npu { member: Member::First, ..Npu::default() };
    let [dense, sparse] =
        [problem, sparse].map(|p| select(&selector, &p, truth(&classes), Some(60), 1).unwrap());
    assert_eq!(questions(&dense), questions(&sparse));
}

/// Each question as the formulas of the paper say, step by step and from scratch.
fn follows_the_formulas(case: &Case, k: Option<usize>, selector: &Npu) {
    let problem = Problem { k, ..case.problem.clone() };
    let (n, ctx) = (problem.n(), Context::new(case.seed));
    let columns = Columns::new(&problem.data);
    let reply = truth(&case.classes);
    let mut inquiry = selector.start(&problem, &ctx).unwrap();
    let mut sets: Vec<Vec<u32>> = Vec::new();
    let mut forest = None;
    let mut on_its_way: Option<(u32, Vec<f64>)> = None;
    loop {
        match inquiry.step().unwrap() {
            Step::Done(_) => break,
            Step::NeedClustering { request, constraints } => {
                assert!(sets.len() >= 2);
                let mut named = sets.clone();
                named.iter_mut().for_each(|set| set.sort_unstable());
                assert_eq!(constraints.neighbourhoods(), named);
                let clustering =
                    Clustering::from_labels((0..n as u32).map(|i| i * i % 3).collect());
                let ctx = ctx.child("forest").index(request as usize);
                let (labels, members) = (&clustering.labels, sets.concat());
                let near = Some(members.as_slice());
                let grown = RandomForest::grow(&columns, labels, selector.trees, 1, near, &ctx);
                forest = Some(grown.unwrap());
                inquiry.provide(request, &clustering).unwrap();
            }
            Step::Ask { id, subject, reference, .. } => {
                if sets.is_empty() {
                    sets.push(vec![reference]);
                }
                let p_of = |x: u32| -> Vec<f64> {
                    let forest = forest.as_ref().unwrap();
                    let m = |j: u32| {
                        forest.shared_leaves(x as usize, j as usize) as f64 / forest.trees() as f64
                    };
                    let a: Vec<f64> = sets
                        .iter()
                        .map(|set| set.iter().map(|&j| m(j)).sum::<f64>() / set.len() as f64)
                        .collect();
                    let total: f64 = a.iter().sum();
                    let equal = 1.0 / sets.len() as f64;
                    a.iter().map(|v| if total > 0.0 { v / total } else { equal }).collect()
                };
                if on_its_way.as_ref().is_none_or(|(x, _)| *x != subject) {
                    let mut p = vec![1.0];
                    if sets.len() > 1 {
                        let score = |x: u32| {
                            let mut p = p_of(x);
                            let h: f64 =
                                p.iter().map(|&v| if v > 0.0 { -v * v.log2() } else { 0.0 }).sum();
                            p.sort_by(|a, b| b.total_cmp(a));
                            let free = selector.last_inference && k == Some(p.len());
                            let last = p.len() - 1;
                            let cost = |r: usize| if free && r == last { r } else { r + 1 };
                            let e: f64 =
                                p.iter().enumerate().map(|(r, v)| cost(r) as f64 * v).sum();
                            h / e
                        };
                        let placed = sets.concat();
                        let free = case.eligible().into_iter().filter(|i| !placed.contains(i));
                        let scores: HashMap<u32, f64> = free.map(|x| (x, score(x))).collect();
                        let most = scores.values().copied().fold(f64::NEG_INFINITY, f64::max);
                        assert!(scores[&subject] >= most - 1e-12, "{subject} of {scores:?}");
                        p = p_of(subject);
                    }
                    on_its_way = Some((subject, p));
                }
                // Of the neighbourhoods not put yet the most probable one.
                let (_, p) = on_its_way.as_mut().unwrap();
                let at = sets.iter().position(|set| set.contains(&reference)).unwrap();
                assert!(p.iter().all(|v| p[at] >= v - 1e-12), "{at} of {p:?}");
                let left = p.iter().filter(|v| **v > f64::NEG_INFINITY).count();
                p[at] = f64::NEG_INFINITY;
                let said = reply(subject, reference);
                let infers = selector.last_inference && k.is_some_and(|k| sets.len() >= k);
                match said {
                    Reply::MustLink => sets[at].push(subject),
                    _ if left == 1 => sets.push(vec![subject]),
                    _ if left == 2 && infers => {
                        let last = p.iter().position(|v| *v > f64::NEG_INFINITY).unwrap();
                        sets[last].push(subject);
                    }
                    _ => {}
                }
                inquiry.tell(id, said).unwrap();
            }
        }
    }
    // With a single cluster nothing is asked.
    assert!(!sets.is_empty() || k == Some(1));
    let mut placed = sets.concat();
    placed.sort_unstable();
    assert!(placed.is_empty() || placed == case.eligible());
}

fn options() -> impl Strategy<Value = Npu> {
    let member = prop_oneof![Just(Member::Random), Just(Member::Nearest), Just(Member::Medoid)];
    let features = prop_oneof![
        Just(FeaturesPerSplit::Rule(FeaturesRule::Log2)),
        Just(FeaturesPerSplit::Rule(FeaturesRule::Sqrt)),
        Just(FeaturesPerSplit::Number(1))
    ];
    (member, features, distortions(), askings(), 1usize..4).prop_map(
        |(member, features_per_split, distortion, asking, recluster_every)| Npu {
            trees: 4,
            features_per_split,
            recluster_every,
            distortion: distortion.into(),
            member,
            asking,
            ..Npu::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn questions_follow_the_formulas(case in cases(16), last_inference: bool, trees in 1usize..8) {
        let features_per_split = FeaturesPerSplit::Number(1);
        let selector = Npu { trees, features_per_split, last_inference, ..Npu::default() };
        follows_the_formulas(&case, last_inference.then_some(case.k()), &selector);
    }

    #[test]
    fn truth_places_every_object(case in cases(20), options in options(), last_inference: bool) {
        let k = case.k();
        let selector = Npu { last_inference, ..options };
        let problem = case.problem.clone().with_k(k);
        let run = select(&selector, &problem, truth(&case.classes), None, case.seed).unwrap();
        prop_assert_eq!(done(&run), Some(Done::AllAssigned));
        for view in [ConstraintView::Queried, ConstraintView::Neighbourhood, ConstraintView::Closure] {
            prop_assert_eq!(run.at(usize::MAX, view).unwrap().violations(&case.classes).total(), 0);
        }
        let found = run.at(usize::MAX, ConstraintView::Neighbourhood).unwrap();
        prop_assert_eq!(found.neighbourhoods().len(), k);
        let mut placed = found.neighbourhoods().concat();
        placed.sort_unstable();
        prop_assert_eq!(placed, case.eligible());
        let mut of_object: HashMap<u32, usize> = HashMap::new();
        questions(&run).iter().for_each(|q| *of_object.entry(q.0).or_default() += 1);
        prop_assert!(of_object.values().all(|&asked| asked <= k));
        // Objects placed from the second neighbourhood on, by so many a clustering.
        let second = run.events.iter().position(|e| matches!(e, Event::Joined { neighbourhood: 1, .. }));
        let joined = |e: &&Event| matches!(e, Event::Joined { .. });
        let after = second.map_or(0, |at| run.events[at + 1..].iter().filter(joined).count());
        prop_assert_eq!(clustered(&run), after.div_ceil(selector.recluster_every));
    }

    #[test]
    fn any_oracle_is_survived(case in cases(15), options in options(), last_inference: bool, k in 1usize..5) {
        let selector = Npu { last_inference, ..options };
        survives_any_oracle(&selector, &case, k, selector.asking.skip_entailed)?;
    }
}
