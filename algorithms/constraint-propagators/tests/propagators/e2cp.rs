//! The low-rank form of E2CP against its formula, and what the formula promises.

use mustlink_constraint_propagators::e2cp::{E2cp, Output};
use mustlink_core::constraints::Origin;
use mustlink_core::prelude::*;
use ndarray::{Array2, array};
use proptest::prelude::*;

fn affinity(plugin: &E2cp, given: &Constraints, w: &Array2<f64>) -> Array2<f64> {
    let problem = Problem::new(Data::affinity(w.clone()).unwrap());
    match plugin.propagate(given, None, &problem, &Context::new(1)).unwrap() {
        Propagated::Affinity(out) => out,
        other => panic!("{other:?}"),
    }
}

fn inverse(a: &Array2<f64>) -> Array2<f64> {
    let n = a.nrows();
    let mut left = a.clone();
    let mut right = Array2::eye(n);
    for p in 0..n {
        let pivot = left[[p, p]];
        left.row_mut(p).mapv_inplace(|v| v / pivot);
        right.row_mut(p).mapv_inplace(|v| v / pivot);
        for i in (0..n).filter(|&i| i != p) {
            let factor = left[[i, p]];
            for j in 0..n {
                let (l, r) = (left[[p, j]], right[[p, j]]);
                left[[i, j]] -= factor * l;
                right[[i, j]] -= factor * r;
            }
        }
    }
    right
}

/// F by the formula.
fn formula(w: &Array2<f64>, given: &Constraints, alpha: f64) -> Array2<f64> {
    let n = w.nrows();
    let degree: Vec<f64> =
        (0..n).map(|i| (0..n).filter(|&j| j != i).map(|j| w[[i, j]]).sum()).collect();
    let mut system = Array2::eye(n);
    for i in 0..n {
        for j in (0..n).filter(|&j| j != i && w[[i, j]] > 0.0) {
            system[[i, j]] -= alpha * w[[i, j]] / (degree[i] * degree[j]).sqrt();
        }
    }
    let mut z = Array2::<f64>::zeros((n, n));
    for c in given.pairs() {
        let sign = if c.kind == Kind::MustLink { 1.0 } else { -1.0 };
        z[[c.i as usize, c.j as usize]] += sign * c.weight;
        z[[c.j as usize, c.i as usize]] += sign * c.weight;
    }
    let solved = inverse(&system);
    // The factor (1 − α)² of the paper cancels.
    let f = solved.dot(&z).dot(&solved) * (1.0 - alpha) * (1.0 - alpha);
    let largest = f.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    if largest > 0.0 { f / largest } else { f }
}

fn changed(w: f64, f: f64) -> f64 {
    if f >= 0.0 { 1.0 - (1.0 - f) * (1.0 - w) } else { (1.0 + f) * w }
}

fn graphs() -> impl Strategy<Value = (Array2<f64>, Constraints)> {
    let n = 10;
    (
        proptest::collection::vec(0.0f64..1.0, n * n),
        proptest::collection::vec((0usize..n, 0usize..n, any::<bool>(), 0.1f64..1.0), 0..6),
    )
        .prop_map(move |(values, pairs)| {
            // Half of the edges are absent.
            let w = Array2::from_shape_fn((n, n), |(i, j)| {
                let v = values[i.min(j) * n + i.max(j)];
                if i == j || v < 0.5 { 0.0 } else { v }
            });
            let pairs = pairs.into_iter().filter(|p| p.0 != p.1).map(|(i, j, must, weight)| {
                let c = if must { Constraint::must(i, j) } else { Constraint::cannot(i, j) };
                c.weighing(weight)
            });
            (w, Constraints::new(n, pairs).unwrap())
        })
}

proptest! {
    #[test]
    fn low_rank_is_the_formula(
        (w, given) in graphs(), alpha in 0.05f64..0.95, densify: bool, g in 0.0f64..0.5,
    ) {
        // Half of the time every pair counts.
        let least = if g < 0.25 { None } else { Some(g) };
        let out = affinity(&E2cp { alpha, densify, g: least, ..E2cp::default() }, &given, &w);
        let f = formula(&w, &given, alpha);
        for ((i, j), &got) in out.indexed_iter() {
            let f = f[[i, j]];
            // Near the threshold rounding may decide.
            if least.is_some_and(|g| (f - g).abs() < 1e-9) {
                continue;
            }
            let counts = w[[i, j]] > 0.0 || densify && least.is_none_or(|g| f >= g);
            let expected = if i != j && counts { changed(w[[i, j]], f) } else { 0.0 };
            prop_assert!((got - expected).abs() < 1e-8, "({}, {}): {} for {}", i, j, got, expected);
            prop_assert!((0.0..=1.0).contains(&got));
        }
        prop_assert_eq!(&out, &out.t());
    }

    /// Nothing but the largest entry says how strong constraints are.
    #[test]
    fn weights_of_all_constraints_times_the_same_change_nothing((w, given) in graphs(), by in 0.1f64..9.0) {
        let scaled = given.pairs().iter().map(|c| c.weighing(by * c.weight));
        let scaled = Constraints::new(10, scaled).unwrap();
        let (a, b) = (affinity(&E2cp::default(), &given, &w), affinity(&E2cp::default(), &scaled, &w));
        prop_assert!((a - b).iter().all(|d| d.abs() < 1e-8));
    }

    #[test]
    fn pairs_are_the_strong_entries((w, given) in graphs()) {
        let plugin = E2cp { g: Some(0.3), output: Output::Pairs, ..E2cp::default() };
        let problem = Problem::new(Data::affinity(w.clone()).unwrap());
        let made = plugin.propagate(&given, None, &problem, &Context::new(1)).unwrap();
        let Propagated::Constraints(all) = made else { panic!("no pairs") };
        let f = formula(&w, &given, plugin.alpha);
        for i in 0..10u32 {
            for j in i + 1..10 {
                let value = f[[i as usize, j as usize]];
                // Near the threshold rounding may decide.
                if (value.abs() - 0.3).abs() < 1e-9 {
                    continue;
                }
                let kind = if value >= 0.0 { Kind::MustLink } else { Kind::CannotLink };
                let found = all.pairs().iter().find(|c| (c.i, c.j, c.kind) == (i, j, kind));
                let is_given = given.pairs().iter().any(|c| (c.i, c.j, c.kind) == (i, j, kind));
                prop_assert!(is_given || found.is_some() == (value.abs() > 0.3));
                if let (Some(found), false) = (found, is_given) {
                    prop_assert!((found.weight - value.abs()).abs() < 1e-8);
                }
            }
        }
        prop_assert!(given.pairs().iter().all(|g| all.pairs().iter().any(|c| (c.i, c.j, c.kind) == (g.i, g.j, g.kind))));
    }

    #[test]
    fn opposite_constraints_flow_the_opposite_way((w, given) in graphs()) {
        let opposite = given.pairs().iter().map(|c| match c.kind {
            Kind::MustLink => Constraint { kind: Kind::CannotLink, ..*c },
            Kind::CannotLink => Constraint { kind: Kind::MustLink, ..*c },
        });
        let opposite = Constraints::new(10, opposite).unwrap();
        let (a, b) = (affinity(&E2cp::default(), &given, &w), affinity(&E2cp::default(), &opposite, &w));
        for (at, &w) in w.indexed_iter().filter(|(_, w)| **w > 0.0 && **w < 1.0) {
            // F from W̃ and W, both ways.
            let back = |v: f64| if v >= w { 1.0 - (1.0 - v) / (1.0 - w) } else { v / w - 1.0 };
            prop_assert!((back(a[at]) + back(b[at])).abs() < 1e-6);
        }
    }
}

#[test]
fn the_strongest_pair_has_strength_one() {
    // Two objects with one neighbour each, each other: L̄ = [[0, 1], [1, 0]] and F ∝ [[2α, 1 + α²], [1 + α², 2α]], of
    // which 1 + α² is the larger. So F₀₁ = 1 whatever α is, where the formula alone has 0.506 at most.
    let w = array![[0.0, 0.5], [0.5, 0.0]];
    let made = |kind| {
        let given = Constraints::new(2, [Constraint::new(0, 1, kind)]).unwrap();
        affinity(&E2cp::default(), &given, &w)
    };
    assert!((made(Kind::MustLink)[[0, 1]] - 1.0).abs() < 1e-9);
    assert!(made(Kind::CannotLink)[[0, 1]] < 1e-9);
}

#[test]
fn pairs_come_from_half_of_the_largest_on_unless_told_otherwise() {
    let x = array![[0.0], [1.0], [2.0], [3.0], [20.0], [21.0], [22.0], [23.0]];
    let problem = Problem::new(Data::dense(x).unwrap());
    let given = Constraints::new(8, [Constraint::must(0, 1), Constraint::cannot(0, 4)]).unwrap();
    let made = |g| {
        let plugin = E2cp { knn: 3, g, output: Output::Pairs, ..E2cp::default() };
        match plugin.propagate(&given, None, &problem, &Context::new(1)).unwrap() {
            Propagated::Constraints(all) => all,
            other => panic!("{other:?}"),
        }
    };
    let weakest = |all: &Constraints| {
        let made = all.pairs().iter().filter(|c| c.origin == Origin::Propagated);
        made.map(|c| c.weight).fold(1.0, f64::min)
    };
    let (half, more) = (made(None), made(Some(0.1)));
    assert!(half.len() > given.len() && more.len() > half.len(), "{} {}", half.len(), more.len());
    assert!(weakest(&half) >= 0.5 && (0.1..0.5).contains(&weakest(&more)));
}

#[test]
fn without_constraints_the_graph_stays() {
    let w = array![[0.0, 0.5, 0.0], [0.5, 0.0, 1.0], [0.0, 1.0, 0.0]];
    assert_eq!(affinity(&E2cp::default(), &Constraints::default(), &w), w);
}

#[test]
fn little_flow_leaves_the_constraints() {
    let w = array![[0.0, 0.5, 0.5], [0.5, 0.0, 0.5], [0.5, 0.5, 0.0]];
    let given = Constraints::new(3, [Constraint::must(0, 1), Constraint::cannot(1, 2)]).unwrap();
    let out = affinity(&E2cp { alpha: 1e-9, ..E2cp::default() }, &given, &w);
    assert!((out[[0, 1]] - 1.0).abs() < 1e-8 && out[[1, 2]].abs() < 1e-8);
    assert!((out[[0, 2]] - 0.5).abs() < 1e-8);
}

#[test]
fn objects_get_a_graph_and_missing_edges_where_asked() {
    // Two groups; the far ends of one are no neighbours of each other.
    let x = array![[0.0], [1.0], [2.0], [3.0], [20.0], [21.0], [22.0], [23.0]];
    let problem = Problem::new(Data::dense(x).unwrap());
    let given = Constraints::new(8, [Constraint::must(0, 3), Constraint::cannot(1, 2)]).unwrap();
    let out = |densify: bool| {
        let plugin = E2cp { alpha: 0.3, knn: 2, densify, ..E2cp::default() };
        let made = plugin.propagate(&given, None, &problem, &Context::new(1)).unwrap();
        let Propagated::Affinity(out) = made else { panic!("no affinities") };
        out
    };
    let sparse = out(false);
    assert_eq!(sparse[[0, 3]], 0.0);
    assert!(out(true)[[0, 3]] >= 0.5);
    assert!((0..4).all(|i| (4..8).all(|j| sparse[[i, j]] == 0.0)));
    assert!(sparse[[1, 2]] < sparse[[5, 6]], "the cannot-link weakens its edge");
}

#[test]
fn it_looks_at_the_flag_for_every_step_and_row() {
    // A ring: a step for every object or two of it until a column is solved.
    let n = 30;
    let follows = |i: usize, j: usize| (i + 1) % n == j;
    let edge = |(i, j)| f64::from(u8::from(follows(i, j) || follows(j, i)));
    let w = Array2::from_shape_fn((n, n), edge);
    let problem = Problem::new(Data::affinity(w).unwrap());
    let given = Constraints::new(n, [Constraint::must(0, 10)]).unwrap();
    let ctx = Context::builder(SeedPath::new(1)).count_looks().build();
    E2cp::default().propagate(&given, None, &problem, &ctx).unwrap();
    assert!(ctx.looks() > n as u64 + 12, "{}", ctx.looks());
}
