//! Scores of constraint sets: numbers by hand, invariants, and a slow second road for each.

use super::sparse;
use crate::support::{metric, score};
use mustlink_core::Group;
use mustlink_core::prelude::*;
use mustlink_laws::strategies;
use ndarray::Array2;
use proptest::prelude::*;

fn set(n: usize, pairs: &[(usize, usize, Kind)]) -> Constraints {
    Constraints::new(n, pairs.iter().map(|&(i, j, kind)| Constraint::new(i, j, kind))).unwrap()
}

const MUST: Kind = Kind::MustLink;
const CANNOT: Kind = Kind::CannotLink;

fn of_set(config: &str, n: usize, constraints: &Constraints) -> Option<f64> {
    let labels = vec![0; n];
    let constraints = Some(constraints);
    let input = MetricInput { labels: &labels, constraints, ..MetricInput::default() };
    metric(config).score(&input).unwrap()
}

#[test]
fn by_hand() {
    // 0-1-2 together, 3-4 together, the two apart, 5 apart from 0; 1 and 2 are said to be apart too.
    let given = [(0, 1, MUST), (1, 2, MUST), (3, 4, MUST), (2, 3, CANNOT), (0, 5, CANNOT)];
    let consistent = set(7, &given);
    assert_eq!(of_set("consistency", 7, &consistent), Some(0.0));
    assert_eq!(of_set("must_share", 7, &consistent), Some(0.6));
    // Pairs: 3 + 1 together; 3·2 + 3·1 apart.
    assert_eq!(of_set("closure_gain", 7, &consistent), Some(13.0 / 5.0));
    let broken = set(7, &[&given[..], &[(1, 2, CANNOT)]].concat());
    assert_eq!(of_set("consistency", 7, &broken), Some(1.0));
    assert_eq!(of_set("closure_gain", 7, &broken), Some(14.0 / 6.0));
    for config in ["consistency", "closure_gain", "must_share", "violation_rate"] {
        assert_eq!(of_set(config, 7, &Constraints::default()), None, "{config} of nothing");
    }
}

#[test]
fn pairs_of_very_large_groups_are_not_listed() {
    // 5 · 10⁹ cannot-links, and those of the object that is linked to one of the group.
    let n = 100_001;
    let group = Group::new("all", (0..n as u32 - 1).collect());
    let given = Constraints::new(n, [Constraint::must(7, n - 1)]).unwrap();
    let given = given.with_groups(n, [group]).unwrap();
    let stated = 1.0 + 5e4 * 99_999.0;
    assert_eq!(of_set("must_share", n, &given), Some(1.0 / stated));
    assert_eq!(of_set("closure_gain", n, &given), Some((stated + 99_999.0) / stated));
    assert_eq!(of_set("consistency", n, &given), Some(0.0));
    let data = Data::dense(Array2::from_shape_fn((n, 1), |(i, _)| i as f64)).unwrap();
    let labels = vec![0; n];
    let input = MetricInput {
        labels: &labels,
        data: Some(&data),
        constraints: Some(&given),
        ..MetricInput::default()
    };
    let refused = metric("coherence").score(&input).unwrap_err().to_string();
    assert!(refused.contains("coherence takes groups pair by pair"), "{refused}");
}

#[test]
fn informativeness_looks_at_the_partition_without_constraints() {
    let given = set(5, &[(0, 1, MUST), (2, 3, MUST), (0, 4, CANNOT), (1, 2, CANNOT)]);
    let input = MetricInput {
        labels: &[0, 0, 1, 1, 2],
        unconstrained: Some(&[0, 0, 1, 0, 0]),
        constraints: Some(&given),
        ..MetricInput::default()
    };
    let informativeness = metric("informativeness");
    assert_eq!(informativeness.score(&input).unwrap(), Some(0.5));
    assert_eq!(metric("violation_rate").score(&input).unwrap(), Some(0.0));
    let scope = Some(&[true, true, true, true, false][..]);
    let scoped = informativeness.score(&MetricInput { scope, ..input }).unwrap();
    assert_eq!(scoped, Some(1.0 / 3.0));
    let none = Constraints::default();
    let empty = MetricInput { constraints: Some(&none), ..input };
    assert_eq!(informativeness.score(&empty).unwrap(), None);
    let short = MetricInput { unconstrained: Some(&[0; 4]), ..input };
    let message = informativeness.score(&short).unwrap_err().to_string();
    assert_eq!(message, "unconstrained: must be one label per object (5), got 4 labels");
}

fn coherence(config: &str, data: &Data, constraints: &Constraints) -> Option<f64> {
    let labels = vec![0; data.n()];
    let input = MetricInput {
        labels: &labels,
        data: Some(data),
        constraints: Some(constraints),
        ..MetricInput::default()
    };
    metric(config).score(&input).unwrap()
}

#[test]
fn coherence_by_hand() {
    let rows: [[f64; 2]; 8] = [
        [0.0, 0.0], // 0-1: along x
        [4.0, 0.0],
        [1.0, 1.0], // 2-3: along x, above 0-1
        [3.0, 1.0],
        [9.0, 1.0], // 4-5: along y, beside everything
        [9.0, 4.0],
        [9.0, 1.0], // equal to 4
        [0.0, 2.0], // 0-7: along y, from the end of 0-1
    ];
    let data = Data::dense(Array2::from(rows.to_vec())).unwrap();
    let of = |pairs: &[(usize, usize, Kind)]| coherence("coherence", &data, &set(8, pairs));
    assert_eq!(of(&[(0, 1, MUST), (2, 3, CANNOT)]), Some(0.0));
    assert_eq!(of(&[(0, 1, MUST), (4, 5, CANNOT)]), Some(1.0));
    assert_eq!(of(&[(0, 1, MUST), (4, 5, CANNOT), (2, 3, CANNOT)]), Some(0.5));
    // A right angle at a shared end: projections touch, they do not overlap.
    assert_eq!(of(&[(0, 1, MUST), (0, 7, CANNOT)]), Some(1.0));
    // Equal ends have no direction.
    assert_eq!(of(&[(0, 1, MUST), (4, 6, CANNOT)]), None);
    assert_eq!(of(&[(0, 1, MUST), (4, 6, CANNOT), (4, 5, CANNOT)]), Some(1.0));
    assert_eq!(of(&[(0, 1, MUST)]), None);
    assert_eq!(of(&[(0, 1, CANNOT)]), None);
}

#[test]
fn a_sample_of_pairs_is_near_and_keeps_its_seed() {
    let n = 120;
    let x = Array2::from_shape_fn((n, 3), |(i, f)| ((i * (7 + 4 * f)) as f64 * 0.61).sin());
    let data = Data::dense(x).unwrap();
    let pairs: Vec<_> =
        (0..n).map(|i| (i, (i + 17) % n, if i % 2 == 0 { MUST } else { CANNOT })).collect();
    let constraints = set(n, &pairs);
    let exact = coherence("coherence", &data, &constraints).unwrap();
    let sampled = |seed| {
        let config = format!("coherence max_pairs=2000 seed={seed}");
        coherence(&config, &data, &constraints).unwrap()
    };
    assert!((sampled(0) - exact).abs() < 0.06, "{} sampled, {exact} exact", sampled(0));
    assert_eq!(sampled(0), sampled(0));
    assert_ne!(sampled(0), sampled(1));
}

/// The overlaps of [`coherence_slowly`] come from squared distances alone, by the law of cosines.
fn is_clear(d: &dyn Fn(usize, usize) -> f64, a: (usize, usize), b: (usize, usize)) -> bool {
    let length = d(b.0, b.1).sqrt();
    let at = |x: usize| (d(x, b.0) + length * length - d(x, b.1)) / (2.0 * length);
    let (t1, t2) = (at(a.0), at(a.1));
    (t1.max(t2).min(length) - t1.min(t2).max(0.0)) <= 1e-9 * (1.0 + length)
}

fn coherence_slowly(data: &Data, constraints: &Constraints) -> Option<f64> {
    let d = |i: usize, j: usize| data.row(i).squared_distance(&data.row(j));
    let of = |kind: Kind| -> Vec<(usize, usize)> {
        let pairs = constraints.pairs().iter().filter(|c| c.kind == kind);
        pairs.map(|c| (c.i as usize, c.j as usize)).filter(|&(i, j)| d(i, j) > 0.0).collect()
    };
    let (must, cannot) = (of(MUST), of(CANNOT));
    let clear = must.iter().flat_map(|&m| cannot.iter().map(move |&c| (m, c)));
    let clear = clear.filter(|&(m, c)| is_clear(&d, m, c) && is_clear(&d, c, m)).count();
    let pairs = must.len() * cannot.len();
    (pairs > 0).then(|| clear as f64 / pairs as f64)
}

/// Objects on a grid, so that projections of shared ends are exact, and constraints.
fn worlds() -> impl Strategy<Value = (Data, Constraints)> {
    strategies::grid(3..=11, 1..=4).prop_flat_map(|x| {
        let n = x.nrows();
        strategies::constraints(n, 15).prop_map(move |given| {
            let of_one = given.pairs().iter().map(|c| c.weighing(1.0));
            (Data::dense(x.clone()).unwrap(), Constraints::new(n, of_one).unwrap())
        })
    })
}

/// Conclusions from the constraints, by repeating the two rules on a table until nothing changes;
/// then the number of pairs known, of cannot-links inside, and of constraints.
fn closed_slowly(n: usize, constraints: &Constraints) -> (usize, usize) {
    let mut must = vec![vec![false; n]; n];
    let mut cannot = vec![vec![false; n]; n];
    (0..n).for_each(|i| must[i][i] = true);
    for c in constraints.pairs() {
        let table = if c.kind == MUST { &mut must } else { &mut cannot };
        table[c.i as usize][c.j as usize] = true;
        table[c.j as usize][c.i as usize] = true;
    }
    for via in 0..n {
        for i in 0..n {
            for j in 0..n {
                must[i][j] |= must[i][via] && must[via][j];
            }
        }
    }
    let stated = constraints.pairs().iter().filter(|c| c.kind == CANNOT);
    let inside = stated.filter(|c| must[c.i as usize][c.j as usize]).count();
    let mut known = inside;
    for i in 0..n {
        for j in i + 1..n {
            let apart = (0..n).any(|a| must[i][a] && (0..n).any(|b| must[j][b] && cannot[a][b]));
            known += usize::from(must[i][j] || apart);
        }
    }
    (known, inside)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn two_roads_to_coherence((data, constraints) in worlds()) {
        let fast = coherence("coherence", &data, &constraints);
        prop_assert_eq!(fast, coherence_slowly(&data, &constraints));
        prop_assert_eq!(fast, coherence("coherence", &sparse(&data), &constraints));
    }

    #[test]
    fn two_roads_to_the_closure((data, constraints) in worlds()) {
        let n = data.n();
        let (known, inside) = closed_slowly(n, &constraints);
        let count = constraints.len() as f64;
        let defined = (count > 0.0).then_some(());
        let consistency = of_set("consistency", n, &constraints);
        prop_assert_eq!(consistency, defined.map(|()| inside as f64));
        let gain = of_set("closure_gain", n, &constraints);
        prop_assert_eq!(gain, defined.map(|()| known as f64 / count));
        let share = of_set("must_share", n, &constraints);
        let must = constraints.count(MUST) as f64;
        prop_assert_eq!(share, defined.map(|()| must / count));
    }

    #[test]
    fn heldout_pairs_of_all_classes_are_one_minus_rand(
        (y, c) in (2usize..15).prop_flat_map(|n| {
            (prop::collection::vec(0u32..3, n), prop::collection::vec(0u32..4, n))
        })
    ) {
        let n = y.len();
        let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
        let pairs: Vec<_> =
            pairs.map(|(i, j)| (i, j, if y[i] == y[j] { MUST } else { CANNOT })).collect();
        let heldout = set(n, &pairs);
        let input = MetricInput { labels: &c, heldout: Some(&heldout), ..MetricInput::default() };
        let rate = metric("violation_rate_heldout").score(&input).unwrap().unwrap();
        prop_assert!((rate - (1.0 - score("rand", &y, &c).unwrap())).abs() < 1e-12);
    }
}

#[test]
fn long_scores_hear_that_the_run_is_cancelled() {
    let data = Data::dense(Array2::from_shape_fn((4, 2), |(i, s)| (i * (s + 1)) as f64)).unwrap();
    let constraints = set(4, &[(0, 1, MUST), (1, 2, CANNOT)]);
    for config in ["coherence", "davies_bouldin", "silhouette"] {
        let ctx = Context::builder(SeedPath::new(1)).cancel_after(0).build();
        let input = MetricInput {
            labels: &[0, 0, 1, 1],
            data: Some(&data),
            constraints: Some(&constraints),
            ctx: Some(&ctx),
            ..MetricInput::default()
        };
        assert_eq!(metric(config).score(&input), Err(Error::Cancelled), "{config}");
    }
}
