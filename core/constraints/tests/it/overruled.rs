//! Overruled constraints and questions, against enumeration and step by step.

use mustlink_core::closure::{Closure, OnConflict};
use mustlink_core::constraints::{Constraint, Constraints, Group, Kind};
use mustlink_core::overruled::{
    Overruled, doubts, joined_unjudged, least_violated, overruled, settled,
};
use proptest::prelude::*;

use super::closure::given;

const N: usize = 6;

fn violated(constraints: &Constraints, labels: &[u32]) -> f64 {
    let all = constraints.pairs().iter().filter(|c| c.is_violated(labels));
    all.map(|c| c.weight).sum()
}

/// The least violated weight of all partitions that continue `labels`, by enumeration.
fn least(constraints: &Constraints, labels: &mut Vec<u32>) -> f64 {
    if labels.len() == N {
        return violated(constraints, labels);
    }
    let open = labels.iter().max().map_or(0, |most| most + 1);
    let mut found = f64::INFINITY;
    for label in 0..=open {
        labels.push(label);
        found = found.min(least(constraints, labels));
        labels.pop();
    }
    found
}

/// Checks that each step of a chain is a satisfied constraint of its kind.
fn check(case: &Overruled, constraints: &Constraints, labels: &[u32]) {
    let Overruled { constraint: c, path, apart, .. } = case;
    assert!(c.is_violated(labels), "{case:?}");
    assert_eq!((path.first(), path.last()), (Some(&c.i), Some(&c.j)), "{case:?}");
    assert_eq!(apart.is_some(), c.kind == Kind::MustLink, "{case:?}");
    for (at, step) in path.windows(2).enumerate() {
        let kind = if *apart == Some(at) { Kind::CannotLink } else { Kind::MustLink };
        let (i, j) = (step[0].min(step[1]), step[0].max(step[1]));
        let is_step = |c: &&Constraint| (c.i, c.j, c.kind) == (i, j, kind);
        let step = constraints.pairs().iter().find(is_step).expect("a constraint");
        assert!(!step.is_violated(labels), "{case:?}");
    }
}

proptest! {
    #[test]
    fn chains_are_paths_of_satisfied_constraints(
        pairs in given(N),
        group in prop::collection::vec(0..N as u32, 0..4),
        labels in prop::collection::vec(0..3u32, N),
    ) {
        let group = Group { weight: 0.5, ..Group::new("g", group) };
        let all = Constraints::new(N, pairs).unwrap().with_groups(N, [group]).unwrap();
        let labels_before = violated(&all, &labels);
        let labels = settled(&all, &labels, 0.0);
        prop_assert!(violated(&all, &labels) <= labels_before + 1e-9);
        let cases: Vec<Overruled> = overruled(&all, &labels).collect();
        prop_assert_eq!(cases.len() as u64, all.violations(&labels).total());
        cases.iter().for_each(|case| check(case, &all, &labels));
    }

    #[test]
    fn the_bound_is_below_every_partition(pairs in given(N)) {
        let all = Constraints::new(N, pairs).unwrap();
        let closure = Closure::new(&all, N, OnConflict::Keep).unwrap();
        let (bound, least) = (least_violated(&closure, |_| true), least(&all, &mut Vec::new()));
        prop_assert!(bound <= least + 1e-9, "{bound} {least}");
        prop_assert_eq!(bound > 0.0, least > 0.0);
        prop_assert_eq!(least_violated(&closure, |_| false), 0.0);
    }
}

#[test]
fn two_groups_and_a_wrong_must_link() {
    // 0, 1, 2 and 3, 4 belong together. 2–3 is wrong; 1–4 and 0–3 are against it.
    let weights = [(0, 1, 2.0), (1, 2, 2.0), (3, 4, 2.0), (2, 3, 1.0)];
    let musts = weights.map(|(i, j, w)| Constraint::must(i, j).weighing(w));
    let cannots = [Constraint::cannot(1, 4).weighing(0.7), Constraint::cannot(0, 3).weighing(0.8)];
    let all = Constraints::new(5, musts.into_iter().chain(cannots)).unwrap();
    let labels = settled(&all, &[0, 0, 0, 1, 1], 0.0);
    let cases: Vec<Overruled> = overruled(&all, &labels).collect();
    let [case] = &cases[..] else { panic!("one case") };
    assert_eq!((case.constraint.i, case.constraint.j), (2, 3));
    assert_eq!((&case.path[..], case.apart), (&[2, 1, 0, 3][..], Some(2)));
    // The two groups are joined with odds of e^(1 − 1.5) : 1, which would join 6 pairs of objects.
    let about =
        |unsure: &[(u32, u32)]| doubts(&all, &labels, 0.0, &unsure.iter().copied().collect());
    let first = about(&[])[0];
    assert_eq!(first.pair, (2, 3));
    assert!((first.expected - 6.0 / (1.0 + 0.5f64.exp())).abs() < 1e-12, "{}", first.expected);
    // After "unsure" about 2–3, the same question is asked about the next pair between the two groups.
    let next = about(&[(2, 3)])[0];
    assert_eq!((next.pair, next.expected), ((1, 4), first.expected));
    assert!(about(&[(2, 3), (1, 4), (0, 3), (0, 1)]).iter().all(|doubt| doubt.pair != (0, 1)));
    // In one cluster, both cannot-links are overruled by must-links alone.
    let together: Vec<Overruled> = overruled(&all, &[0; 5]).collect();
    let paths: Vec<&[u32]> = together.iter().map(|case| &case.path[..]).collect();
    assert_eq!(paths, [&[1, 2, 3, 4][..], &[0, 1, 2, 3]]);
    assert!(together.iter().all(|case| case.apart.is_none()));
}

#[test]
fn clusters_are_split_and_joined() {
    let musts = [Constraint::must(0, 1), Constraint::must(1, 2)];
    let all = Constraints::new(5, musts).unwrap();
    // 3 and 4 have nothing to do with 0, and 2 is alone for no reason.
    let labels = settled(&all, &[0, 0, 1, 0, 0], 0.0);
    assert!(labels[0] == labels[1] && labels[1] == labels[2]);
    assert!(labels[3] != labels[0] && labels[3] != labels[4]);
    // Joining 2 costs the pair 0, 2 more than its must-link weighs.
    let labels = settled(&all, &[0, 0, 1, 2, 3], 1.5);
    assert!(labels[0] == labels[1] && labels[1] != labels[2]);
    assert_eq!([[0; 5], [0, 0, 0, 1, u32::MAX]].map(|l| joined_unjudged(&all, &l)), [8, 1]);
}
