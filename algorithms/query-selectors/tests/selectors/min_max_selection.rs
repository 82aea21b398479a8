use mustlink_core::prelude::*;
use mustlink_core::reduce::squared_distance;
use mustlink_core::selection::ConstraintView;
use mustlink_query_selectors::explore_consolidate::{ExploreOrder, Exploring, First};
use mustlink_query_selectors::min_max_selection::MinMaxSelection;
use mustlink_query_selectors::{Asking, Member};
use proptest::prelude::*;

use crate::support::{
    Case, askings, cases, done, explorings, line, members, questions, questions_for, select,
    survives_any_oracle, truth,
};

fn from_object(start: usize) -> MinMaxSelection {
    let exploring = Exploring { start: First::Object(start), ..Exploring::default() };
    MinMaxSelection { exploring, ..MinMaxSelection::default() }
}

/// The data of the traces of selection.md §4, with MinMax in place of Consolidate.
#[test]
fn traces() {
    // 1, 9 and 21 lie 1 from their neighbourhoods: a tie, the lowest index first.
    let problem = line(&[0.0, 1.0, 9.0, 10.0, 21.0, 22.0]).with_k(3);
    let classes = [0, 0, 1, 1, 2, 2];
    let run = select(&from_object(0), &problem, truth(&classes), None, 1).unwrap();
    assert_eq!(questions(&run), [(5, 0), (3, 0), (3, 5), (1, 0), (2, 3), (4, 5)]);
    assert_eq!(done(&run), Some(Done::AllAssigned));
    // {0}, {21}, {9}. 14 is 5 from 9 and 7 from 21; 6 is 3 from 9; 1 is 1 from 0.
    let problem = line(&[0.0, 1.0, 9.0, 6.0, 21.0, 14.0]).with_k(3);
    let run = select(&from_object(0), &problem, truth(&classes), None, 1).unwrap();
    let expected = [(4, 0), (2, 0), (2, 4), (5, 2), (5, 4), (3, 2), (1, 0)];
    assert_eq!(questions(&run), expected);
    assert_eq!(questions_for(&run, "explore"), expected[..3]);
    assert_eq!(questions_for(&run, "min_max"), expected[3..]);
}

#[test]
fn the_nearest_member_decides_not_the_mean() {
    let problem = line(&[0.0, 60.0, 40.0, 58.0, 50.0]).with_k(2);
    let run = select(&from_object(0), &problem, truth(&[0, 1, 0, 1, 0]), None, 1).unwrap();
    // 40 is 20 from 60 and 40 from 0: it is asked against 60 first, then joins 0 for free. 50 is
    // 10 from 40 and 10 from 60, a tie: the neighbourhood created first, whose mean lies at 20.
    assert_eq!(questions(&run), [(1, 0), (2, 1), (4, 2), (3, 1)]);
    let by_creation = MinMaxSelection { member: Member::First, ..from_object(0) };
    let run = select(&by_creation, &problem, truth(&[0, 1, 0, 1, 0]), None, 1).unwrap();
    assert_eq!(questions(&run), [(1, 0), (2, 1), (4, 0), (3, 1)]);
}

#[test]
fn the_last_neighbourhood_is_free() {
    // 6 lies nearest to the wrong two of three neighbourhoods.
    let problem = line(&[0.0, 10.0, 30.0, 6.0]).with_k(3);
    let classes = [0, 1, 2, 2];
    let run = select(&from_object(0), &problem, truth(&classes), None, 1).unwrap();
    assert_eq!(questions(&run), [(2, 0), (1, 0), (1, 2), (3, 1), (3, 0)]);
    assert_eq!(run.counts(usize::MAX).inferred, 1);
    let mut asking = from_object(0);
    asking.exploring.last_inference = false;
    let run = select(&asking, &problem, truth(&classes), None, 1).unwrap();
    assert_eq!(questions(&run).last(), Some(&(3, 2)));
}

#[test]
fn degenerate_problems_end_cleanly() {
    let selector = MinMaxSelection::default();
    let one = select(&selector, &line(&[3.0]).with_k(1), truth(&[0]), None, 1).unwrap();
    assert_eq!((one.asked(), done(&one)), (0, Some(Done::Exhausted)));

    // With one class nothing needs to be asked; without the rule every object does.
    let problem = line(&[0.0, 1.0, 5.0]).with_k(1);
    let run = select(&selector, &problem, truth(&[0; 3]), None, 1).unwrap();
    assert_eq!((run.asked(), done(&run)), (0, Some(Done::AllAssigned)));
    let mut asking = MinMaxSelection::default();
    asking.exploring.last_inference = false;
    let run = select(&asking, &problem, truth(&[0; 3]), None, 1).unwrap();
    assert_eq!((run.asked(), run.counts(2).must), (2, 2));

    // Rows that are all the same: the lowest index always lies farthest.
    let same = line(&[2.0; 6]).with_k(2);
    let classes = [0, 1, 0, 1, 0, 1];
    let run = select(&from_object(0), &same, truth(&classes), None, 1).unwrap();
    assert_eq!(questions(&run), [(1, 0), (2, 0), (3, 0), (4, 0), (5, 0)]);
    assert_eq!(done(&run), Some(Done::AllAssigned));

    let none = select(&selector, &same, truth(&classes), Some(0), 1).unwrap();
    assert!(none.at(0, ConstraintView::Closure).unwrap().is_empty());

    // As many clusters as objects.
    let all = line(&[0.0, 2.0, 5.0]).with_k(3);
    let run = select(&from_object(0), &all, truth(&[0, 1, 2]), None, 1).unwrap();
    assert_eq!(questions(&run), [(2, 0), (1, 0), (1, 2)]);
}

#[test]
fn nobody_knows() {
    let problem = line(&[0.0, 1.0, 7.0, 9.0, 30.0]).with_k(2);
    let run = select(&from_object(0), &problem, |_, _| Reply::DontKnow, None, 1).unwrap();
    // No second neighbourhood is ever found: each object is asked once, and set aside.
    assert_eq!(questions(&run), [(4, 0), (3, 0), (2, 0), (1, 0)]);
    assert_eq!(done(&run), Some(Done::Exhausted));
    assert!(run.at(usize::MAX, ConstraintView::Closure).unwrap().pairs().is_empty());
}

#[test]
fn dont_know_tries_the_next_nearest_member() {
    // 112 is 12 from 100 and 18 from 130, its class.
    let problem = line(&[0.0, 100.0, 130.0, 112.0]).with_k(2);
    let reply = |i: u32, j: u32| match (i, j) {
        (1, 3) => Reply::DontKnow,
        _ => truth(&[0, 1, 1, 1])(i, j),
    };
    let asked = |dont_know_retries| {
        let asking = Asking { dont_know_retries, ..Asking::default() };
        let selector = MinMaxSelection { asking, ..from_object(0) };
        let run = select(&selector, &problem, reply, None, 1).unwrap();
        let all = run.at(usize::MAX, ConstraintView::Neighbourhood).unwrap();
        assert_eq!(all.neighbourhoods(), [vec![0], vec![1, 2, 3]]);
        questions(&run)
    };
    assert_eq!(asked(1), [(2, 0), (1, 2), (3, 1), (3, 2)]);
    // Without another try the neighbourhood is open, and in the end the only one left.
    assert_eq!(asked(0), [(2, 0), (1, 2), (3, 1), (3, 0)]);
}

#[test]
fn only_the_start_is_random() {
    let (problem, classes) = mustlink_laws::fixtures::dense(4);
    let questions_of =
        |seed| questions(&select(&from_object(7), &problem, truth(&classes), None, seed).unwrap());
    assert_eq!(questions_of(1), questions_of(2));
}

#[test]
fn options_out_of_range_are_named() {
    let problem = line(&[0.0, 1.0, 2.0]).with_k(2).with_eligible(vec![true, false, true]);
    let refuse = |selector: MinMaxSelection| {
        selector.start(&problem, &Context::new(1)).err().unwrap().to_string()
    };
    assert_eq!(refuse(from_object(1)), "start: must be an eligible object, got 1");
    let of = |k| MinMaxSelection {
        exploring: Exploring { k: Some(k), ..Exploring::default() },
        ..MinMaxSelection::default()
    };
    assert_eq!(refuse(of(3)), "k: must be between 1 and 2 (the eligible objects), got 3");
    let asking = Asking { dont_know_retries: 6, ..Asking::default() };
    let retries = MinMaxSelection { asking, ..MinMaxSelection::default() };
    assert_eq!(refuse(retries), "dont_know_retries: must be between 0 and 5, got 6");
    let distances = Problem::new(Data::distances(ndarray::array![[0.0, 1.0], [1.0, 0.0]]).unwrap());
    let error = MinMaxSelection::default().start(&distances, &Context::new(1)).err().unwrap();
    assert_eq!(error.to_string(), "min_max_selection takes dense or csr data, got distances");
}

/// The kernel width, the 20th percentile of the distances of all eligible pairs interpolated
/// linearly, and the largest of them.
fn width(case: &Case) -> (f64, f64) {
    let (data, eligible) = (case.problem.data.to_dense(), case.eligible());
    let row = |i: u32| data.row(i as usize).to_vec();
    let mut all: Vec<f64> = Vec::new();
    for (a, &i) in eligible.iter().enumerate() {
        all.extend(eligible[..a].iter().map(|&j| squared_distance(&row(i), &row(j)).sqrt()));
    }
    all.sort_by(f64::total_cmp);
    let at = 0.2 * (all.len() - 1) as f64;
    let (low, high) = (all[at.floor() as usize], all[at.ceil() as usize]);
    (low + at.fract() * (high - low), all[all.len() - 1])
}

/// The paper word for word, as similarities: the questions asked.
fn by_similarity(case: &Case, k: usize, start: u32, width: f64) -> Vec<(u32, u32)> {
    let data = case.problem.data.to_dense();
    let row = |i: u32| data.row(i as usize).to_vec();
    let alike =
        |i: u32, j: u32| (-squared_distance(&row(i), &row(j)) / (2.0 * width * width)).exp();
    let mut sets = vec![vec![start]];
    let mut asked = Vec::new();
    loop {
        let free = case.eligible().into_iter().filter(|x| !sets.iter().flatten().any(|m| m == x));
        let most = |x: u32| sets.iter().flatten().map(|&m| alike(x, m)).fold(0.0, f64::max);
        let Some(x) = free.min_by(|&a, &b| most(a).total_cmp(&most(b))) else { return asked };
        let exploring = sets.len() < k;
        let mut order: Vec<usize> = (0..sets.len()).collect();
        if !exploring {
            let key = |p: usize| sets[p].iter().map(|&m| alike(x, m)).fold(0.0, f64::max);
            order.sort_by(|&a, &b| key(b).total_cmp(&key(a)));
        }
        let mut home = None;
        for (t, &p) in order.iter().enumerate() {
            if !exploring && t == k - 1 {
                home = Some(p);
                break;
            }
            asked.push((x, sets[p][0]));
            if case.classes[x as usize] == case.classes[sets[p][0] as usize] {
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

fn options() -> impl Strategy<Value = MinMaxSelection> {
    (members(), explorings(), askings()).prop_map(|(member, exploring, asking)| MinMaxSelection {
        exploring,
        member,
        asking,
    })
}

proptest! {
    #[test]
    fn distances_say_what_similarities_say(case in cases(25)) {
        let (k, start) = (case.k(), case.eligible()[0]);
        let (width, largest) = width(&case);
        // Where exp(·) underflows the similarities tie and say nothing.
        prop_assume!(largest * largest / (2.0 * width * width) < 700.0);
        let problem = case.problem.clone().with_k(k);
        let mut selector = from_object(start as usize);
        selector.member = Member::First;
        selector.exploring.explore_order = ExploreOrder::Creation;
        let run = select(&selector, &problem, truth(&case.classes), None, case.seed).unwrap();
        prop_assert_eq!(questions(&run), by_similarity(&case, k, start, width));
    }

    #[test]
    fn truth_places_every_object(case in cases(30), options in options()) {
        let (k, eligible) = (case.k(), case.eligible());
        let problem = case.problem.clone().with_k(k);
        let run = select(&options, &problem, truth(&case.classes), None, case.seed).unwrap();
        prop_assert_eq!(done(&run), Some(Done::AllAssigned));
        for view in [ConstraintView::Queried, ConstraintView::Neighbourhood, ConstraintView::Closure] {
            let c = run.at(usize::MAX, view).unwrap();
            prop_assert_eq!(c.violations(&case.classes).total(), 0);
        }
        let found = run.at(usize::MAX, ConstraintView::Neighbourhood).unwrap();
        prop_assert_eq!(found.neighbourhoods().len(), k);
        let mut placed = found.neighbourhoods().concat();
        placed.sort_unstable();
        prop_assert_eq!(placed, eligible);
        let explored = questions_for(&run, "explore").len();
        if options.exploring.last_inference {
            prop_assert!(run.asked() <= (case.eligible().len() - k) * (k - 1) + explored);
        }
    }

    #[test]
    fn without_k_it_explores(case in cases(25), options in options()) {
        let run = select(&options, &case.problem, truth(&case.classes), None, case.seed).unwrap();
        prop_assert_eq!(done(&run), Some(Done::AllAssigned));
        prop_assert_eq!(questions_for(&run, "min_max"), []);
        let found = run.at(usize::MAX, ConstraintView::Queried).unwrap();
        prop_assert_eq!(found.neighbourhoods().len(), case.k());
    }

    #[test]
    fn any_oracle_is_survived(case in cases(20), options in options(), k in 1usize..5) {
        survives_any_oracle(&options, &case, k, options.asking.skip_entailed)?;
    }

    #[test]
    fn renaming_objects_renames_the_questions(case in cases(25), shift in 1usize..25) {
        // Distinct rows, so that no distance ties.
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
        let k = classes.iter().collect::<std::collections::BTreeSet<_>>().len();
        let asked = |x: ndarray::Array2<f64>, start: usize, classes: &[u32]| {
            let problem = Problem::new(Data::dense(x).unwrap()).with_k(k);
            questions(&select(&from_object(start), &problem, truth(classes), None, 1).unwrap())
        };
        let renamed: Vec<(u32, u32)> = asked(x, 0, &case.classes)
            .into_iter()
            .map(|(i, j)| (to(i) as u32, to(j) as u32))
            .collect();
        prop_assert_eq!(renamed, asked(moved, to(0), &classes));
    }
}
