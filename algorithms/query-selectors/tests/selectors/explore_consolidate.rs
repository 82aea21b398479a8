use std::collections::HashMap;

use mustlink_core::knowledge::LAST_NEIGHBOURHOOD;
use mustlink_core::prelude::*;
use mustlink_core::selection::{ConstraintView, Selection};
use mustlink_query_selectors::explore_consolidate::{
    ExploreConsolidate, ExploreOrder, Exploring, First,
};
use mustlink_query_selectors::{Asking, Member};
use proptest::prelude::*;

use crate::support::{
    Case, askings, cases, explorings, line, members, questions, questions_for, select,
    survives_any_oracle, truth,
};

fn from_object(start: usize) -> ExploreConsolidate {
    let exploring = Exploring { start: First::Object(start), ..Exploring::default() };
    ExploreConsolidate { exploring, ..ExploreConsolidate::default() }
}

fn inferred(selection: &Selection) -> usize {
    let by_rule =
        |e: &&Event| matches!(e, Event::Inferred { rule, .. } if rule == LAST_NEIGHBOURHOOD);
    selection.events.iter().filter(by_rule).count()
}

/// selection.md §4, first trace. The order of Consolidate is random: a seed that draws 1, 2, 4.
#[test]
fn trace_of_six_queries() {
    let problem = line(&[0.0, 1.0, 9.0, 10.0, 21.0, 22.0]).with_k(3);
    let classes = [0, 0, 1, 1, 2, 2];
    let mut exact = 0;
    for seed in 0..40 {
        let run = select(&from_object(0), &problem, truth(&classes), None, seed).unwrap();
        let asked = questions(&run);
        assert_eq!(asked[..3], [(5, 0), (3, 0), (3, 5)]);
        assert_eq!(run.at(3, ConstraintView::Queried).unwrap().neighbourhoods(), [[0], [5], [3]]);
        assert_eq!(run.counts(3).cannot, 3);
        let mut rest = asked[3..].to_vec();
        exact += usize::from(rest == [(1, 0), (2, 3), (4, 5)]);
        rest.sort_unstable();
        assert_eq!(rest, [(1, 0), (2, 3), (4, 5)]);
        assert_eq!((run.asked(), run.counts(6).must, inferred(&run)), (6, 3, 0));
        assert_eq!(run.events.last(), Some(&Event::Done { reason: Done::AllAssigned }));
    }
    assert!(exact > 0, "no seed draws the objects 1, 2, 4 in this order");
}

/// selection.md §4, second trace.
#[test]
fn trace_of_seven_queries() {
    let problem = line(&[0.0, 1.0, 9.0, 6.0, 21.0, 14.0]).with_k(3);
    let classes = [0, 0, 1, 1, 2, 2];
    let selector = ExploreConsolidate { consolidate_member: Member::First, ..from_object(0) };
    let expected = [(4, 0), (2, 0), (2, 4), (1, 0), (3, 2), (5, 2), (5, 4)];
    let mut exact = 0;
    for seed in 0..40 {
        for recompute_centroids in [false, true] {
            let selector = ExploreConsolidate { recompute_centroids, ..selector.clone() };
            let run = select(&selector, &problem, truth(&classes), None, seed).unwrap();
            let asked = questions(&run);
            assert_eq!(asked[..3], expected[..3]);
            if questions_for(&run, "consolidate").iter().map(|q| q.0).eq([1, 3, 5, 5]) {
                assert_eq!(asked, expected);
                assert_eq!((run.counts(7).must, run.counts(7).cannot), (3, 4));
                assert_eq!(inferred(&run), 0);
                exact += 1;
            }
        }
    }
    assert!(exact > 0, "no seed draws the objects 1, 3, 5 in this order");
}

#[test]
fn the_last_neighbourhood_is_free() {
    // 3 lies nearest to the wrong two of three neighbourhoods.
    let problem = line(&[0.0, 10.0, 30.0, 6.0]).with_k(3);
    let classes = [0, 1, 2, 2];
    let run = select(&from_object(0), &problem, truth(&classes), None, 1).unwrap();
    assert_eq!(questions(&run), [(2, 0), (1, 0), (1, 2), (3, 1), (3, 0)]);
    assert_eq!(inferred(&run), 1);
    let sizes = |view| {
        let c = run.at(5, view).unwrap();
        (c.count(Kind::MustLink), c.count(Kind::CannotLink), c.neighbourhoods().to_vec())
    };
    // "Queried" lacks what was inferred, in the pairs and in the names.
    assert_eq!(sizes(ConstraintView::Queried), (0, 5, vec![vec![0], vec![2], vec![1]]));
    assert_eq!(sizes(ConstraintView::Neighbourhood), (1, 5, vec![vec![0], vec![2, 3], vec![1]]));
    let mut asking = from_object(0);
    asking.exploring.last_inference = false;
    let run = select(&asking, &problem, truth(&classes), None, 1).unwrap();
    assert_eq!(questions(&run).last(), Some(&(3, 2)));
    assert_eq!((run.asked(), inferred(&run)), (6, 0));
}

#[test]
fn a_run_stopped_inside_an_object_infers_nothing_for_it() {
    let problem = line(&[0.0, 10.0, 30.0, 6.0]).with_k(3);
    let run = select(&from_object(0), &problem, truth(&[0, 1, 2, 2]), Some(4), 1).unwrap();
    let at = run.at(4, ConstraintView::Neighbourhood).unwrap();
    assert_eq!((at.count(Kind::MustLink), at.count(Kind::CannotLink)), (0, 4));
    assert!(at.neighbourhoods().iter().all(|set| !set.contains(&3)));
}

#[test]
fn dont_know_tries_another_member_then_leaves_it_open() {
    // Neighbourhoods {0, 1}, {5, 6} far apart; 3 in the middle is never answered against {0, 1}.
    let problem = line(&[0.0, 0.1, 90.0, 3.0, 200.0, 100.0, 100.1]).with_k(2);
    let classes = [0, 0, 1, 0, 1, 1, 1];
    let reply = |i: u32, j: u32| match (i, j) {
        (0 | 1, 3) => Reply::DontKnow,
        _ => truth(&classes)(i, j),
    };
    for retries in 0..4 {
        let asking = Asking { dont_know_retries: retries, ..Asking::default() };
        let selector = ExploreConsolidate { asking, ..from_object(0) };
        for seed in 0..6 {
            let run = select(&selector, &problem, reply, None, seed).unwrap();
            let tried = questions(&run).iter().filter(|q| q.0 == 3 && q.1 < 2).count();
            assert!(tried <= 1 + retries as usize, "{tried} members tried");
            // One open and k − 1 cannot-links: it joins the open one for free.
            let all = run.at(usize::MAX, ConstraintView::Neighbourhood).unwrap();
            let of_three = all.neighbourhoods().iter().find(|set| set.contains(&3)).unwrap();
            assert!(of_three.contains(&0), "{all:?}");
        }
    }
}

#[test]
fn two_open_neighbourhoods_park_the_object() {
    let problem = line(&[0.0, 100.0, 49.0]).with_k(2);
    let reply = |i: u32, j: u32| match (i, j) {
        (0, 1) => Reply::CannotLink,
        _ => Reply::DontKnow,
    };
    let run = select(&from_object(0), &problem, reply, None, 1).unwrap();
    assert_eq!(questions(&run), [(1, 0), (2, 0), (2, 1)]);
    let all = run.at(usize::MAX, ConstraintView::Neighbourhood).unwrap();
    assert_eq!(all.neighbourhoods(), [[0], [1]]);
}

#[test]
fn given_constraints_are_not_asked() {
    let given = Constraints::new(4, [Constraint::must(0, 1), Constraint::cannot(1, 2)]).unwrap();
    let problem = line(&[0.0, 50.0, 100.0, 70.0]).with_k(2).with_constraints(given);
    let run = select(&from_object(0), &problem, truth(&[0, 0, 1, 1]), None, 1).unwrap();
    // 2 is apart from 0 and 1 is with 0, both entailed; only 3 is open.
    assert_eq!(questions(&run), [(3, 2)]);
    let entailed = run.events.iter().filter(|e| matches!(e, Event::Inferred { .. })).count();
    assert_eq!(entailed, 2);
    let told = run.events.iter().position(|e| matches!(e, Event::Told { .. })).unwrap();
    let early = &run.events[..told];
    assert!(early.iter().all(|e| !matches!(e, Event::Joined { .. })), "named before a reply");
}

#[test]
fn what_was_inferred_is_known_from_then_on() {
    // 3 and 4 are given as one; whichever comes first is inferred, the other follows for free.
    let given = Constraints::new(5, [Constraint::must(3, 4)]).unwrap();
    let problem = line(&[0.0, 10.0, 30.0, 6.0, 5.9]).with_k(3).with_constraints(given);
    for seed in 0..6 {
        let run = select(&from_object(0), &problem, truth(&[0, 1, 2, 2, 2]), None, seed).unwrap();
        assert_eq!((run.asked(), inferred(&run)), (5, 1));
        let all = run.at(5, ConstraintView::Neighbourhood).unwrap();
        assert!(all.neighbourhoods().contains(&vec![2, 3, 4]), "{all:?}");
    }
}

#[test]
fn options_out_of_range_are_named() {
    let problem = line(&[0.0, 1.0, 2.0]).with_k(2).with_eligible(vec![true, false, true]);
    let refuse = |selector: ExploreConsolidate| {
        selector.start(&problem, &Context::new(1)).err().unwrap().to_string()
    };
    assert_eq!(refuse(from_object(1)), "start: must be an eligible object, got 1");
    assert_eq!(refuse(from_object(3)), "start: must be an eligible object, got 3");
    let of = |k| ExploreConsolidate {
        exploring: Exploring { k: Some(k), ..Exploring::default() },
        ..ExploreConsolidate::default()
    };
    assert_eq!(refuse(of(3)), "k: must be between 1 and 2 (the eligible objects), got 3");
    assert_eq!(refuse(of(0)), "k: must be at least 1, got 0");
    let asking = Asking { dont_know_retries: 6, ..Asking::default() };
    let retries = ExploreConsolidate { asking, ..ExploreConsolidate::default() };
    assert_eq!(refuse(retries), "dont_know_retries: must be between 0 and 5, got 6");
}

#[test]
fn distances_have_no_means() {
    let x = ndarray::array![[0.0, 1.0], [1.0, 0.0]];
    let problem = Problem::new(Data::distances(x).unwrap());
    let error = ExploreConsolidate::default().start(&problem, &Context::new(1)).err().unwrap();
    let text = "explore_consolidate takes dense or csr data, got distances";
    assert_eq!(error.to_string(), text);
}

#[test]
fn start_reads_a_rule_or_a_number() {
    let read = |text: &str| {
        mustlink_core::serde_json::from_str::<Box<dyn QuerySelector>>(text)
            .map(|s| format!("{s:?}"))
    };
    let rule = read(r#"{"type": "explore_consolidate", "start": "nearest_mean"}"#).unwrap();
    assert!(rule.contains("start: Rule(NearestMean)"), "{rule}");
    let object = read(r#"{"type": "explore_consolidate", "start": 4}"#).unwrap();
    assert!(object.contains("start: Object(4)"), "{object}");
}

fn options() -> impl Strategy<Value = ExploreConsolidate> {
    (members(), members(), explorings(), any::<bool>(), askings()).prop_map(
        |(explore_member, consolidate_member, exploring, recompute_centroids, asking)| {
            ExploreConsolidate {
                exploring,
                explore_member,
                consolidate_member,
                recompute_centroids,
                asking,
            }
        },
    )
}

/// Members of each neighbourhood, in order of joining.
fn neighbourhoods(selection: &Selection) -> Vec<Vec<u32>> {
    let mut found: Vec<Vec<u32>> = Vec::new();
    for event in &selection.events {
        if let Event::Joined { object, neighbourhood, representative } = event {
            let p = *neighbourhood as usize;
            found.resize(found.len().max(p + 1), Vec::new());
            found[p].push(*object);
            assert_eq!(found[p][0], *representative);
        }
    }
    found
}

/// Fig. 2 word for word: all distances are computed again for every object, members asked in order of joining.
fn slow_explore(case: &Case, start: u32) -> Vec<(u32, u32)> {
    let data = &case.problem.data;
    let far = |i: u32, j: u32| data.row(i as usize).squared_distance(&data.row(j as usize));
    let mut sets = vec![vec![start]];
    let mut asked = Vec::new();
    loop {
        let mut best: Option<(f64, u32)> = None;
        for x in case.eligible() {
            if sets.iter().flatten().any(|&m| m == x) {
                continue;
            }
            let nearest = sets.iter().flatten().map(|&m| far(x, m)).fold(f64::INFINITY, f64::min);
            if best.is_none_or(|(d, _)| nearest > d) {
                best = Some((nearest, x));
            }
        }
        let Some((_, x)) = best else { return asked };
        let mut home = None;
        for (p, set) in sets.iter().enumerate() {
            asked.push((x, set[0]));
            if case.classes[x as usize] == case.classes[set[0] as usize] {
                home = Some(p);
                break;
            }
        }
        match home {
            Some(p) => sets[p].push(x),
            None => sets.push(vec![x]),
        }
    }
}

proptest! {
    #[test]
    fn explore_equals_the_figure(case in cases(25)) {
        let start = case.eligible()[0];
        let mut selector = from_object(start as usize);
        selector.explore_member = Member::First;
        selector.exploring.explore_order = ExploreOrder::Creation;
        let run = select(&selector, &case.problem, truth(&case.classes), None, case.seed).unwrap();
        prop_assert_eq!(questions(&run), slow_explore(&case, start));
    }

    #[test]
    fn truth_places_every_object(case in cases(30), options in options()) {
        let (k, eligible) = (case.k(), case.eligible());
        let problem = case.problem.clone().with_k(k);
        let run = select(&options, &problem, truth(&case.classes), None, case.seed).unwrap();
        let found = neighbourhoods(&run);
        prop_assert_eq!(found.len(), k);
        let mut placed: Vec<u32> = found.concat();
        placed.sort_unstable();
        prop_assert_eq!(&placed, &eligible);
        for set in &found {
            let class = case.classes[set[0] as usize];
            prop_assert!(set.iter().all(|&i| case.classes[i as usize] == class));
        }
        for view in [ConstraintView::Queried, ConstraintView::Neighbourhood, ConstraintView::Closure] {
            let c = run.at(usize::MAX, view).unwrap();
            prop_assert_eq!(c.violations(&case.classes).total(), 0);
        }
        let explored = questions_for(&run, "explore").len();
        let consolidated = questions_for(&run, "consolidate");
        if options.exploring.last_inference {
            prop_assert!(run.asked() <= (eligible.len() - k) * (k - 1) + explored);
            let mut per_object: HashMap<u32, usize> = HashMap::new();
            consolidated.iter().for_each(|q| *per_object.entry(q.0).or_default() += 1);
            prop_assert!(per_object.values().all(|&count| count < k));
        }
        prop_assert!(explored >= k * (k - 1) / 2);
    }

    #[test]
    fn exploring_finds_pure_neighbourhoods_without_k(case in cases(30), options in options()) {
        let run = select(&options, &case.problem, truth(&case.classes), None, case.seed).unwrap();
        let found = neighbourhoods(&run);
        prop_assert_eq!(found.len(), case.k());
        prop_assert_eq!(found.concat().len(), case.eligible().len());
        prop_assert_eq!(inferred(&run), 0);
        for p in 0..=run.asked() {
            prop_assert!(run.at(p, ConstraintView::Queried).unwrap().neighbourhoods().len() <= case.k());
        }
    }

    #[test]
    fn any_oracle_is_survived(case in cases(20), options in options(), k in 1usize..5) {
        survives_any_oracle(&options, &case, k, options.asking.skip_entailed)?;
    }

    #[test]
    fn renaming_objects_renames_the_questions(case in cases(25), shift in 1usize..25) {
        // Distinct rows, so that no distance ties; members and order without draws.
        let n = case.problem.n();
        let x = case.problem.data.to_dense() + &ndarray::Array2::from_shape_fn(
            (n, case.problem.d()),
            |(i, f)| 1e-3 * ((i * 7919 + f * 104_729) as f64).sin(),
        );
        let to = |i: u32| (i as usize + shift) % n;
        let mut moved = x.clone();
        (0..n).for_each(|i| moved.row_mut(to(i as u32)).assign(&x.row(i)));
        let mut classes = case.classes.clone();
        (0..n).for_each(|i| classes[to(i as u32)] = case.classes[i]);
        let selector = |start| ExploreConsolidate {
            explore_member: Member::Nearest,
            ..from_object(start)
        };
        let one = Problem::new(Data::dense(x).unwrap());
        let two = Problem::new(Data::dense(moved).unwrap());
        let one = select(&selector(0), &one, truth(&case.classes), None, 1).unwrap();
        let two = select(&selector(to(0)), &two, truth(&classes), None, 1).unwrap();
        let renamed: Vec<(u32, u32)> =
            questions(&one).iter().map(|&(i, j)| (to(i) as u32, to(j) as u32)).collect();
        prop_assert_eq!(renamed, questions(&two));
    }
}
