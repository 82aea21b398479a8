use std::collections::HashSet;

use mustlink_base_clusterers::kmeans::KMeans;
use mustlink_core::clustering::canonical;
use mustlink_core::knowledge::Knowledge;
use mustlink_core::prelude::*;
use mustlink_core::selection::{ConstraintView, Selection};
use mustlink_kernels::distance::points::{Distortion, Points};
use mustlink_laws::fixtures;
use mustlink_query_selectors::Reference;
use mustlink_query_selectors::cobra::{Cobra, Every, OnDontKnow, OnExhaust, SuperInstances};
use proptest::prelude::*;

use crate::support::{Slices, cases, erratic, line, questions, select, truth};

fn every() -> Cobra {
    Cobra { super_instances: SuperInstances::Every(Every::All), ..Cobra::default() }
}

fn sliced(count: usize) -> Cobra {
    Cobra {
        super_instances: SuperInstances::Count(count),
        clusterer: Some(Box::new(Slices {})),
        ..Cobra::default()
    }
}

fn last(selection: &Selection) -> &Clustering {
    selection.snapshot(usize::MAX).expect("cobra clusters")
}

fn number(clustering: &Clustering, name: &str) -> usize {
    clustering.extras.diagnostics[name] as usize
}

/// Procedure of cobra.md §1.1, word for word, over given representatives.
fn literal(
    problem: &Problem,
    representatives: &[u32],
    reply: impl Fn(u32, u32) -> Reply,
) -> Vec<(u32, u32)> {
    let points = Points::new(&problem.data, Distortion::default()).unwrap();
    let far = |a: usize, b: usize| {
        points.between(representatives[a] as usize, representatives[b] as usize)
    };
    let mut clusters: Vec<Vec<usize>> = (0..representatives.len()).map(|a| vec![a]).collect();
    let mut apart: Vec<(usize, usize)> = Vec::new();
    let mut asked = Vec::new();
    'again: loop {
        let mut pairs: Vec<(f64, usize, usize, usize, usize)> = Vec::new();
        for p in 0..clusters.len() {
            for q in p + 1..clusters.len() {
                let inside = |x: &usize, set: &[usize]| set.contains(x);
                let (one, two) = (&clusters[p], &clusters[q]);
                let separated = apart.iter().any(|(a, b)| {
                    (inside(a, one) && inside(b, two)) || (inside(a, two) && inside(b, one))
                });
                if !separated {
                    let between = one.iter().flat_map(|&a| two.iter().map(move |&b| (a, b)));
                    let closest = between
                        .map(|(a, b)| (far(a, b), a.min(b), a.max(b)))
                        .min_by(|x, y| x.0.total_cmp(&y.0).then((x.1, x.2).cmp(&(y.1, y.2))))
                        .unwrap();
                    pairs.push((closest.0, closest.1, closest.2, p, q));
                }
            }
        }
        pairs.sort_by(|x, y| x.0.total_cmp(&y.0).then((x.1, x.2).cmp(&(y.1, y.2))));
        for (_, a, b, p, q) in pairs {
            asked.push((representatives[a], representatives[b]));
            if reply(representatives[a], representatives[b]) == Reply::MustLink {
                let lost = clusters.remove(q);
                clusters[p].extend(lost);
                continue 'again;
            }
            apart.push((a, b));
        }
        return asked;
    }
}

/// cobra.md §1.4, 1–6, for a finished run without unknowns.
fn check_counts(problem: &Problem, run: &Selection) -> std::result::Result<(), TestCaseError> {
    let clustering = last(run);
    let counts = run.counts(usize::MAX);
    let r = number(clustering, "super_instances");
    let found = clustering.k;
    let separations = found * (found - 1) / 2;
    prop_assert_eq!(counts.must, r - found);
    prop_assert!(counts.cannot >= separations);
    prop_assert_eq!(number(clustering, "lower_bound"), r - found + separations);
    prop_assert!(counts.queries >= r - found + separations);
    prop_assert!(counts.queries <= r * (r - 1) / 2);
    prop_assert_eq!(number(clustering, "open_pairs"), 0);
    prop_assert_eq!(clustering.status, Status::Converged);
    // The replies, in order: none entailed by earlier ones; their closure is the clustering.
    let mut knowledge = Knowledge::new(problem.n(), &Constraints::default());
    let mut between = HashSet::new();
    let mut repeated = 0;
    let labels = &clustering.labels;
    let queried = run.at(usize::MAX, ConstraintView::Queried).unwrap();
    for c in queried.pairs() {
        prop_assert!(knowledge.relation(c.i, c.j).is_none());
        match c.kind {
            Kind::MustLink => drop(knowledge.must(c.i, c.j)),
            Kind::CannotLink => {
                let (p, q) = (labels[c.i as usize], labels[c.j as usize]);
                repeated += usize::from(!between.insert((p.min(q), p.max(q))));
                knowledge.cannot(c.i, c.j);
            }
        }
        prop_assert!(!c.is_violated(labels));
    }
    prop_assert_eq!(counts.queries == r - found + separations, repeated == 0);
    prop_assert_eq!(between.len(), separations);
    // Sufficient for the lower bound: every "yes" comes before (is closer than) every "no".
    let kinds: Vec<Kind> = queried.pairs().iter().map(|c| c.kind).collect();
    if kinds.is_sorted_by_key(|kind| *kind == Kind::CannotLink) {
        prop_assert_eq!(repeated, 0);
    }
    // All pairs are asked where every answer is "no".
    if counts.must == 0 {
        prop_assert_eq!(counts.queries, r * (r - 1) / 2);
    }
    // The must-link components among the representatives are the clusters.
    let asked: Vec<u32> = questions(run).iter().flat_map(|&(i, j)| [i, j]).collect();
    for &i in &asked {
        prop_assert!(problem.is_eligible(i as usize));
        for &j in &asked {
            let together = knowledge.component(i) == knowledge.component(j);
            prop_assert_eq!(together, labels[i as usize] == labels[j as usize]);
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn one_pass_asks_what_the_procedure_asks(case in cases(16)) {
        let run = select(&every(), &case.problem, truth(&case.classes), None, 1).unwrap();
        let expected = literal(&case.problem, &case.eligible(), truth(&case.classes));
        prop_assert_eq!(questions(&run), expected);
        check_counts(&case.problem, &run)?;
    }

    #[test]
    fn replies_without_a_partition_change_nothing(case in cases(14)) {
        // Consistent by construction: an inconsistent reply is never asked for.
        let reply = |i: u32, j: u32| match erratic(case.seed)(i, j) {
            Reply::MustLink => Reply::MustLink,
            _ => Reply::CannotLink,
        };
        let run = select(&every(), &case.problem, reply, None, 1).unwrap();
        prop_assert_eq!(questions(&run), literal(&case.problem, &case.eligible(), reply));
        check_counts(&case.problem, &run)?;
    }

    #[test]
    fn all_objects_and_truth_give_the_target(case in cases(25)) {
        let problem = Problem { eligible: None, ..case.problem.clone() };
        let run = select(&every(), &problem, truth(&case.classes), None, 1).unwrap();
        prop_assert_eq!(&last(&run).labels, &canonical(&case.classes));
        // `super_instances = n` says the same.
        let n = Cobra { super_instances: SuperInstances::Count(problem.n()), ..Cobra::default() };
        let same = select(&n, &problem, truth(&case.classes), None, 1).unwrap();
        prop_assert_eq!(questions(&same), questions(&run));
    }

    #[test]
    fn counts_hold_for_any_over_clustering(case in cases(30), count in 1usize..12) {
        let selector = sliced(count.min(case.problem.n()));
        let run = select(&selector, &case.problem, truth(&case.classes), None, 1).unwrap();
        check_counts(&case.problem, &run)?;
        let asked: HashSet<u32> = questions(&run).iter().flat_map(|&(i, j)| [i, j]).collect();
        prop_assert!(asked.len() <= number(last(&run), "super_instances"));
    }

    #[test]
    fn a_homogeneous_over_clustering_gives_the_target(
        sizes in prop::collection::vec(1usize..4, 2..8),
        shift in 0u32..3,
    ) {
        // Slices of width 1, each of one class; classes alternate along the line.
        let count = sizes.len();
        let mut x = Vec::new();
        let mut classes = Vec::new();
        for (slice, &size) in sizes.iter().enumerate() {
            (0..size).for_each(|m| x.push(slice as f64 + 0.2 * m as f64 + 0.1));
            classes.extend(std::iter::repeat_n((slice as u32 + shift) % 3, size));
        }
        // The ends of the line, so that the slices fall where they should.
        x.extend([0.0, count as f64 - 1e-6]);
        classes.extend([classes[0], classes[classes.len() - 1]]);
        let run = select(&sliced(count), &line(&x), truth(&classes), None, 1).unwrap();
        prop_assert_eq!(&last(&run).labels, &canonical(&classes));
    }

    #[test]
    fn scale_and_names_do_not_matter(case in cases(20), turn in 1usize..20) {
        let problem = Problem { eligible: None, ..case.problem.clone() };
        let run = select(&every(), &problem, truth(&case.classes), None, 1).unwrap();
        let scaled = Problem::new(Data::dense(problem.data.to_dense() * 4.0).unwrap());
        let same = select(&every(), &scaled, truth(&case.classes), None, 1).unwrap();
        prop_assert_eq!(questions(&run), questions(&same));
        // Renamed rows, with distances that differ.
        let n = problem.n();
        let distinct = problem.data.to_dense() + &ndarray::Array2::from_shape_fn(
            (n, problem.d()),
            |(i, f)| 1e-3 * ((i * 7919 + f * 104_729 + 1) as f64).sin(),
        );
        let rows: Vec<usize> = (0..n).map(|i| (i + turn) % n).collect();
        let one = Problem::new(Data::dense(distinct).unwrap());
        let two = one.subset(&rows);
        let classes: Vec<u32> = rows.iter().map(|&r| case.classes[r]).collect();
        let unordered = |run: &Selection, name: &dyn Fn(u32) -> usize| {
            let key = |&(i, j): &(u32, u32)| {
                let (i, j) = (name(i), name(j));
                (i.min(j), i.max(j))
            };
            questions(run).iter().map(key).collect::<Vec<_>>()
        };
        let one = select(&every(), &one, truth(&case.classes), None, 1).unwrap();
        let two = select(&every(), &two, truth(&classes), None, 1).unwrap();
        prop_assert_eq!(unordered(&one, &|i| i as usize), unordered(&two, &|i| rows[i as usize]));
    }

    /// Whatever keeps the order of the distances keeps the questions.
    #[test]
    fn a_monotone_transform_of_the_distances_changes_nothing(case in cases(16), shift in 1u32..5) {
        // A feature of its own for each object adds the same to all squared distances; on whole numbers
        // exactly, so that ties stay.
        let x = case.problem.data.to_dense().mapv(f64::floor);
        let (n, d) = x.dim();
        let own = f64::from(shift);
        let wide = ndarray::Array2::from_shape_fn((n, d + n), |(i, f)| if f < d {
x[[i, f]]
} else {
if f - d == i { own } else { 0.0 }
});
        let with = |x| Problem { data: Data::dense(x).unwrap(), ..case.problem.clone() };
        let one = select(&every(), &with(x.clone()), truth(&case.classes), None, 1).unwrap();
        let two = select(&every(), &with(wide), truth(&case.classes), None, 1).unwrap();
        prop_assert_eq!(questions(&one), questions(&two));
    }

    /// Clusters farther apart than wide: every "yes" is closer than every "no".
    #[test]
    fn separated_clusters_take_the_fewest_questions(
        members in prop::collection::vec((0u32..5, 0.0f64..1.0), 2..30),
    ) {
        let x: Vec<f64> = members.iter().map(|&(c, v)| 3.0 * f64::from(c) + v).collect();
        let classes: Vec<u32> = members.iter().map(|&(c, _)| c).collect();
        let problem = line(&x);
        let run = select(&every(), &problem, truth(&classes), None, 1).unwrap();
        check_counts(&problem, &run)?;
        prop_assert_eq!(run.asked(), number(last(&run), "lower_bound"));
        prop_assert_eq!(&last(&run).labels, &canonical(&classes));
    }

    #[test]
    fn stopped_anywhere_it_stands_at_the_replies_so_far(case in cases(20), k in 1usize..5) {
        let whole = select(&every(), &case.problem, truth(&case.classes), None, 1).unwrap();
        let cut = Cobra { on_exhaust: OnExhaust::Cut(k), ..every() };
        let r = case.eligible().len();
        for p in 0..=whole.asked() {
            let at = whole.snapshot(p).unwrap();
            let counts = whole.counts(p);
            prop_assert_eq!(at.k, r - counts.must);
            let pairs = at.k * (at.k - 1) / 2;
            prop_assert!(number(at, "open_pairs") <= pairs);
            prop_assert!(number(at, "open_pairs") + counts.cannot >= pairs);
            let queried = whole.at(p, ConstraintView::Queried).unwrap();
            prop_assert_eq!(queried.violations(&at.labels).total(), 0);
            let part = select(&cut, &case.problem, truth(&case.classes), Some(p), 1).unwrap();
            let merged = last(&part);
            prop_assert_eq!(queried.violations(&merged.labels).total(), 0);
            prop_assert_eq!(merged.k + number(merged, "assumed"), at.k);
            prop_assert!(merged.k == at.k.min(k).max(merged.k));
            prop_assert!(merged.k <= k || number(merged, "open_pairs") == 0);
        }
    }

    #[test]
    fn unknown_replies_end_in_a_defined_way(case in cases(14)) {
        let reply = erratic(case.seed);
        for on_dont_know in [OnDontKnow::SkipPair, OnDontKnow::AsCannotLink, OnDontKnow::Stop] {
            let selector = Cobra { on_dont_know, ..every() };
            let run = select(&selector, &case.problem, reply.clone(), None, 1).unwrap();
            let (at, counts) = (last(&run), run.counts(usize::MAX));
            match on_dont_know {
                OnDontKnow::SkipPair => prop_assert_eq!(number(at, "assumed"), 0),
                OnDontKnow::AsCannotLink => {
                    prop_assert_eq!(number(at, "assumed"), counts.dont_know);
                    prop_assert_eq!(number(at, "open_pairs"), 0);
                    let kept = run.at(usize::MAX, ConstraintView::Closure).unwrap();
                    prop_assert!(counts.must > 0 || kept.count(Kind::CannotLink) == counts.cannot);
                }
                OnDontKnow::Stop => {
                    prop_assert!(counts.dont_know <= 1);
                    let stopped = at.status == Status::Stopped;
                    prop_assert_eq!(stopped, counts.dont_know == 1);
                }
            }
        }
    }
}

/// The default clusterer of super-instances, up to the size of the sample.
#[test]
fn without_a_clusterer_it_is_kmeans() {
    let (problem, classes) = fixtures::dense(3);
    for seed in 0..5 {
        let with = |clusterer: Option<Box<dyn BaseClusterer>>| {
            let cobra =
                Cobra { super_instances: SuperInstances::Count(9), clusterer, ..Cobra::default() };
            select(&cobra, &problem, truth(&classes), None, seed).unwrap()
        };
        let (own, named) = (with(None), with(Some(Box::new(KMeans::default()))));
        assert_eq!(questions(&own), questions(&named));
        assert_eq!(last(&own).labels, last(&named).labels);
    }
}

#[test]
fn super_instances_without_an_eligible_object_join_the_nearest() {
    // Slices {0, 1}, {2}, {3, 4} of which {2} cannot be asked and lies nearer to the last.
    let problem =
        line(&[0.0, 1.0, 4.6, 6.0, 6.9]).with_eligible(vec![true, true, false, true, true]);
    let run = select(&sliced(3), &problem, truth(&[0, 0, 1, 1, 1]), None, 1).unwrap();
    assert_eq!(questions(&run), [(0, 3)]);
    assert_eq!(last(&run).labels, [0, 0, 1, 1, 1]);
    assert_eq!(number(last(&run), "super_instances"), 2);
    // With every object a super-instance, objects of the test fold follow their neighbour.
    let run = select(&every(), &problem, truth(&[0, 0, 1, 1, 1]), None, 1).unwrap();
    assert_eq!(last(&run).labels, [0, 0, 1, 1, 1]);
}

#[test]
fn the_representative_is_central_to_what_it_may_refer_to() {
    let problem = line(&[0.0, 1.0, 2.0, 9.0, 9.5, 9.6, 30.0])
        .with_eligible(vec![true, true, true, false, false, false, true]);
    let mut selector = sliced(2);
    let run = select(&selector, &problem, truth(&[0; 7]), None, 1).unwrap();
    assert_eq!(questions(&run), [(1, 6)]);
    selector.reference = Reference::All;
    let run = select(&selector, &problem, truth(&[0; 7]), None, 1).unwrap();
    assert_eq!(questions(&run), [(2, 6)]);
}

#[test]
fn given_constraints_are_taken_over() {
    let given = [Constraint::must(0, 1), Constraint::cannot(1, 2), Constraint::must(3, 4)];
    let given = Constraints::new(5, given).unwrap();
    let problem = line(&[0.0, 1.0, 2.5, 4.5, 7.0]).with_constraints(given.clone());
    let run = select(&every(), &problem, truth(&[0, 0, 1, 1, 1]), None, 1).unwrap();
    // 0–1 and 3–4 are merged and 1–2 apart from the start; 1–3 follows from the first reply.
    assert_eq!(questions(&run), [(2, 3)]);
    assert_eq!(last(&run).labels, [0, 0, 1, 1, 1]);
    // A super-instance that holds a given cannot-link is counted, not split.
    let run = select(&sliced(1), &problem, truth(&[0, 0, 1, 1, 1]), None, 1).unwrap();
    assert_eq!(number(last(&run), "impure"), 1);
    assert_eq!(last(&run).k, 1);
}

#[test]
fn options_out_of_range_are_named() {
    let problem = line(&[0.0, 1.0, 2.0]);
    let refuse = |selector: &Cobra, problem: &Problem| {
        selector.start(problem, &Context::new(1)).err().unwrap().to_string()
    };
    let text = "super_instances: must be between 1 and 3 (the objects) or \"all\", got 4";
    assert_eq!(refuse(&sliced(4), &problem), text);
    assert_eq!(refuse(&sliced(0), &problem), "super_instances: must be at least 1, got 0");
    let cut = Cobra { on_exhaust: OnExhaust::Cut(0), ..every() };
    assert_eq!(refuse(&cut, &problem), "on_exhaust.cut: must be at least 1, got 0");
    let none = problem.with_eligible(vec![false; 3]);
    let text = "queryable: must be at least one eligible object, got no object";
    assert_eq!(refuse(&every(), &none), text);
}

#[test]
fn memory_grows_with_the_pairs_up_to_a_bound() {
    let shape = |n| Shape { n, d: 10, k: 3, entries: 10 * n, constraints: 0 };
    assert!(every().memory(&shape(4000)) > 8 * 4000 * 4000);
    assert!(every().memory(&shape(100_000)) < 100_000 * 1000);
}
