//! Problems, data, constraints, ensembles and answers as strategies of `proptest`, which shrink.
//!
//! Values are multiples of 1/8, so that ties and equal rows occur and sums are exact. Shrinking leads to
//! fewer objects, fewer constraints and values nearer to 0.

use std::ops::RangeInclusive;

use ndarray::Array2;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use super::fixtures::{pairwise, to_csr};
use mustlink_core::clustering::NONE;
use mustlink_core::constraints::{Constraint, Constraints, Kind, Strength};
use mustlink_core::data::{Data, DataKind};
use mustlink_core::ensemble::{Ensemble, Member};
use mustlink_core::problem::Problem;
use mustlink_core::roles::Reply;

/// A matrix with so many rows and columns; values in −8..=8.
pub fn matrix(
    rows: RangeInclusive<usize>,
    columns: RangeInclusive<usize>,
) -> impl Strategy<Value = Array2<f64>> {
    (rows, columns).prop_flat_map(|(n, d)| {
        let values = vec((-64i32..=64).prop_map(|v| f64::from(v) / 8.0), n * d);
        values.prop_map(move |x| Array2::from_shape_vec((n, d), x).expect("n · d values"))
    })
}

/// The same with whole values in −3..=3: rows repeat, distances tie, and sums of squares are exact.
pub fn grid(
    rows: RangeInclusive<usize>,
    columns: RangeInclusive<usize>,
) -> impl Strategy<Value = Array2<f64>> {
    (rows, columns).prop_flat_map(|(n, d)| {
        let values = vec((-3i32..=3).prop_map(f64::from), n * d);
        values.prop_map(move |x| Array2::from_shape_vec((n, d), x).expect("n · d values"))
    })
}

/// Objects with features, dense.
pub fn rows(
    objects: RangeInclusive<usize>,
    features: RangeInclusive<usize>,
) -> impl Strategy<Value = Data> {
    matrix(objects, features).prop_map(|x| Data::dense(x).expect("finite"))
}

/// Objects as data of one kind: dense or sparse rows, distances, affinities, or a table.
pub fn data(
    kind: DataKind,
    objects: RangeInclusive<usize>,
    features: RangeInclusive<usize>,
) -> impl Strategy<Value = Data> {
    matrix(objects, features).prop_map(move |x| of_kind(&x, kind))
}

fn of_kind(x: &Array2<f64>, kind: DataKind) -> Data {
    let dense = Data::dense(x.clone()).expect("finite");
    match kind {
        DataKind::Dense => dense,
        DataKind::Csr => Data::csr(to_csr(x)).expect("well formed"),
        DataKind::Distances | DataKind::Affinity => pairwise(&Problem::new(dense), kind).data,
        DataKind::Table => Data::table(x.clone(), vec![None; x.ncols()]).expect("numbers"),
    }
}

/// Data of any kind.
pub fn any_data(
    objects: RangeInclusive<usize>,
    features: RangeInclusive<usize>,
) -> impl Strategy<Value = Data> {
    let kinds =
        [DataKind::Dense, DataKind::Csr, DataKind::Distances, DataKind::Affinity, DataKind::Table];
    (matrix(objects, features), proptest::sample::select(kinds.to_vec()))
        .prop_map(|(x, kind)| of_kind(&x, kind))
}

/// One label in 0..k for each of `n` objects; some labels may be used by none.
pub fn partition(n: usize, k: usize) -> impl Strategy<Value = Vec<u32>> {
    vec(0..k.max(1) as u32, n)
}

/// As [`partition`], for a number of objects in `objects`.
pub fn partitions(objects: RangeInclusive<usize>, k: usize) -> impl Strategy<Value = Vec<u32>> {
    vec(0..k.max(1) as u32, objects)
}

/// Several partitions of the same objects, each into one to `k` clusters.
pub fn labelings<const N: usize>(
    objects: RangeInclusive<usize>,
    k: u32,
) -> impl Strategy<Value = [Vec<u32>; N]> {
    (objects, [(); N].map(|()| 1..=k)).prop_flat_map(|(n, k)| k.map(|k| vec(0..k, n)))
}

/// Pairs of different objects; none of fewer than two.
pub fn pairs(n: usize, most: usize) -> impl Strategy<Value = Vec<(usize, usize)>> {
    let most = if n < 2 { 0 } else { most };
    vec((any::<Index>(), any::<Index>()), 0..=most).prop_map(move |drawn| {
        let pair = |(a, b): (Index, Index)| {
            let (i, step) = (a.index(n), 1 + b.index(n - 1));
            (i, (i + step) % n)
        };
        drawn.into_iter().map(pair).collect()
    })
}

/// At most `most` constraints that agree with `classes`: no two contradict each other, and as many
/// clusters as classes satisfy them.
pub fn consistent(classes: Vec<u32>, most: usize) -> impl Strategy<Value = Constraints> {
    let n = classes.len();
    let kind = move |i: usize, j: usize| {
        if classes[i] == classes[j] { Constraint::must(i, j) } else { Constraint::cannot(i, j) }
    };
    pairs(n, most).prop_map(move |drawn| {
        Constraints::new(n, drawn.into_iter().map(|(i, j)| kind(i, j))).expect("in range")
    })
}

/// Constraints over `n` objects that k clusters satisfy, with labels that do.
pub fn feasible(n: usize, k: usize, most: usize) -> impl Strategy<Value = (Constraints, Vec<u32>)> {
    partition(n, k).prop_flat_map(move |classes| (consistent(classes.clone(), most), Just(classes)))
}

/// At most `most` constraints of any kind and weights in 1/8..=8: they may contradict each other.
pub fn constraints(n: usize, most: usize) -> impl Strategy<Value = Constraints> {
    let kinds = vec((any::<bool>(), 1u32..=64), most);
    (pairs(n, most), kinds).prop_map(move |(drawn, kinds)| {
        let each = drawn.into_iter().zip(kinds).map(|((i, j), (must, weight))| {
            let kind = if must { Kind::MustLink } else { Kind::CannotLink };
            Constraint::new(i, j, kind).weighing(f64::from(weight) / 8.0)
        });
        Constraints::new(n, each).expect("in range")
    })
}

/// Constraints over `n ≥ 3` objects that contradict each other: two must-links that share an object, a
/// cannot-link between the ends, and at most `more` others.
///
/// # Panics
/// With fewer than three objects.
pub fn contradictory(n: usize, more: usize) -> impl Strategy<Value = Constraints> {
    assert!(n >= 3, "a contradiction takes three objects");
    let chain = proptest::sample::subsequence((0..n).collect::<Vec<_>>(), 3);
    (chain, constraints(n, more)).prop_map(move |(ends, others)| {
        let [a, b, c] = ends[..] else { unreachable!("three objects") };
        let chain = [Constraint::must(a, b), Constraint::must(b, c), Constraint::cannot(a, c)];
        let own = |o: &&Constraint| chain.iter().all(|c| (c.i, c.j, c.kind) != (o.i, o.j, o.kind));
        let others: Vec<Constraint> = others.pairs().iter().filter(own).copied().collect();
        Constraints::new(n, chain.into_iter().chain(others)).expect("in range")
    })
}

/// The same constraints, each marked hard, soft or not at all.
pub fn marked(given: Constraints, n: usize) -> impl Strategy<Value = Constraints> {
    let strengths = [None, Some(Strength::Soft), Some(Strength::Hard)];
    let marks = vec(proptest::sample::select(strengths.to_vec()), given.len());
    marks.prop_map(move |marks| {
        let each = given.pairs().iter().zip(marks);
        let each = each.map(|(c, strength)| Constraint { strength, ..*c });
        Constraints::new(n, each).expect("in range")
    })
}

/// Dense objects with k in 1..=4 and constraints that k clusters satisfy, with labels that do.
pub fn problem(
    objects: RangeInclusive<usize>,
    features: RangeInclusive<usize>,
    most: usize,
) -> impl Strategy<Value = (Problem, Vec<u32>)> {
    (rows(objects, features), 1usize..=4).prop_flat_map(move |(data, k)| {
        let (n, k) = (data.n(), k.min(data.n()));
        feasible(n, k, most).prop_map(move |(constraints, classes)| {
            (Problem::new(data.clone()).with_k(k).with_constraints(constraints), classes)
        })
    })
}

/// Members over `n` objects with up to k clusters each; with `missing`, some labels are missing, none
/// of them in the first member.
pub fn ensemble(
    n: usize,
    members: RangeInclusive<usize>,
    k: usize,
    missing: bool,
) -> impl Strategy<Value = Ensemble> {
    let label = move || (0..k.max(1) as u32, 0u8..4);
    vec(vec(label(), n), members).prop_map(move |members| {
        let member = |(t, labels): (usize, Vec<(u32, u8)>)| {
            let gap = |hidden: u8| missing && t > 0 && hidden == 3;
            let shown = labels.into_iter().map(|(l, hidden)| if gap(hidden) { NONE } else { l });
            Member::from_labels(&shown.collect::<Vec<u32>>())
        };
        let members = members.into_iter().enumerate().map(member).collect();
        Ensemble::new(n, members).expect("members fit")
    })
}

/// Answers to at most `most` questions, "don't know" among them, that need not agree.
pub fn replies(most: usize) -> impl Strategy<Value = Vec<Reply>> {
    let any = vec![Reply::MustLink, Reply::CannotLink, Reply::DontKnow];
    vec(proptest::sample::select(any), 0..=most)
}

#[cfg(test)]
mod tests {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    use super::*;
    use mustlink_core::closure::{Closure, OnConflict};

    proptest! {
        #[test]
        fn satisfied_or_not_as_they_say(
            (given, classes) in (2usize..20).prop_flat_map(|n| feasible(n, 3, 30)),
            contested in (3usize..12).prop_flat_map(|n| (Just(n), contradictory(n, 8))),
        ) {
            prop_assert_eq!(given.violations(&classes).total(), 0);
            prop_assert!(Closure::new(&given, classes.len(), OnConflict::Error).is_ok());
            let (n, contested) = contested;
            prop_assert!(Closure::new(&contested, n, OnConflict::Error).is_err());
        }

        #[test]
        fn problems_and_ensembles_are_well_formed(
            (problem, classes) in problem(1..=12, 1..=3, 10),
            data in any_data(1..=8, 1..=3),
            ensemble in ensemble(9, 1..=4, 3, true),
            answers in replies(5),
        ) {
            prop_assert!(problem.require_k(None, "test").is_ok());
            prop_assert_eq!(problem.constraints.violations(&classes).total(), 0);
            prop_assert!((1..=8).contains(&data.n()));
            prop_assert!(!ensemble.members()[0].labels.contains(&NONE));
            prop_assert!(ensemble.members().iter().all(|m| m.labels.len() == 9));
            prop_assert!(answers.len() <= 5);
        }
    }

    #[test]
    fn they_shrink() {
        let mut runner = TestRunner::deterministic();
        let mut tree = problem(2..=12, 1..=3, 10).new_tree(&mut runner).unwrap();
        while tree.simplify() {}
        let (smallest, _) = tree.current();
        assert_eq!((smallest.n(), smallest.d(), smallest.constraints.len()), (2, 1, 0));
        assert!(smallest.data.to_dense().iter().all(|v| v.abs() <= 8.0));
    }
}
