use std::collections::HashSet;

use mustlink_core::prelude::*;
use mustlink_query_selectors::random_pairs::RandomPairs;
use proptest::prelude::*;

use crate::support::{cases, line, questions, select, truth};

proptest! {
    #[test]
    fn without_end_every_pair_comes_once(case in cases(20)) {
        let m = case.eligible().len();
        let plain = RandomPairs::default();
        let all = select(&plain, &case.problem, truth(&case.classes), None, case.seed).unwrap();
        let pairs: HashSet<_> = questions(&all).into_iter().collect();
        prop_assert_eq!(pairs.len(), m * (m - 1) / 2);
        prop_assert_eq!(all.asked(), pairs.len());

        let skip = RandomPairs { skip_entailed: true, ..plain };
        let some = select(&skip, &case.problem, truth(&case.classes), None, case.seed).unwrap();
        let counts = some.counts(usize::MAX);
        prop_assert!(counts.queries + counts.inferred <= pairs.len());
        let components = case.k();
        prop_assert_eq!(counts.must, m - components);
        prop_assert!(counts.cannot >= components * (components - 1) / 2);
    }

    #[test]
    fn objects_are_asked_in_lexicographic_order(case in cases(20), share in 0.1f64..1.0) {
        let m = ((case.eligible().len() as f64 * share) as usize).max(1);
        let selector = RandomPairs { objects: Some(m), ..RandomPairs::default() };
        let run = select(&selector, &case.problem, truth(&case.classes), None, case.seed).unwrap();
        let asked = questions(&run);
        prop_assert_eq!(asked.len(), m * (m - 1) / 2);
        prop_assert!(asked.is_sorted() && asked.iter().all(|(i, j)| i < j));
        let objects: HashSet<u32> = asked.iter().flat_map(|&(i, j)| [i, j]).collect();
        prop_assert!(m < 2 || objects.len() == m);
    }
}

#[test]
fn what_is_left_when_all_is_known_is_not_logged() {
    let values: Vec<f64> = (0..300).map(f64::from).collect();
    let classes: Vec<u32> = (0..300).map(|i| i % 2).collect();
    let selector = RandomPairs { skip_entailed: true, ..RandomPairs::default() };
    let run = select(&selector, &line(&values), truth(&classes), None, 1).unwrap();
    // Two groups that are apart: nothing is left to ask.
    assert_eq!(run.counts(usize::MAX).must, 298);
    // There are 44 850 pairs.
    assert!(run.events.len() < 11_000, "{}", run.events.len());
}

#[test]
fn pairs_are_uniform() {
    // 6 pairs of 4 objects as the first question of 1200 seeds: 200 each, standard deviation 13.
    let problem = line(&[0.0, 1.0, 2.0, 3.0]);
    let mut counts = std::collections::BTreeMap::new();
    for seed in 0..1200 {
        let run = select(&RandomPairs::default(), &problem, truth(&[0; 4]), Some(1), seed).unwrap();
        *counts.entry(questions(&run)[0]).or_insert(0) += 1;
    }
    assert_eq!(counts.len(), 6);
    assert!(counts.values().all(|&c| (140..=260).contains(&c)), "{counts:?}");
}

#[test]
fn too_many_objects_are_refused() {
    let problem = line(&[0.0, 1.0, 2.0]);
    for (bad, legal) in [(0, "at least 1"), (4, "between 1 and 3 (the eligible objects)")] {
        let selector = RandomPairs { objects: Some(bad), ..RandomPairs::default() };
        let error = selector.start(&problem, &Context::new(1)).err().unwrap();
        assert_eq!(error.to_string(), format!("objects: must be {legal}, got {bad}"));
    }
}

#[test]
fn contradictions_are_logged_and_the_first_statement_stays() {
    let problem = line(&[0.0, 1.0, 2.0]);
    let mut said = 0;
    // Two must-links, then a cannot-link they contradict.
    let reply = move |_, _| {
        said += 1;
        if said < 3 { Reply::MustLink } else { Reply::CannotLink }
    };
    let run = select(&RandomPairs::default(), &problem, reply, None, 1).unwrap();
    assert_eq!(run.counts(3).conflicts, 1);
    let kept = run.at(3, mustlink_core::selection::ConstraintView::Queried).unwrap();
    assert_eq!((kept.count(Kind::MustLink), kept.count(Kind::CannotLink)), (2, 0));
}

#[test]
fn a_table_is_refused_with_what_is_taken() {
    let table = Data::table(ndarray::array![[1.0], [f64::NAN]], vec![None]).unwrap();
    let never = |_: u32, _: u32| Reply::DontKnow;
    let refused = select(&RandomPairs::default(), &Problem::new(table), never, None, 1);
    let said = refused.unwrap_err().to_string();
    assert!(said.starts_with("random_pairs takes dense or csr data, got table"), "{said}");
}
