//! Problems that are legal and not easy.

use ndarray::Array2;

use super::fixtures::{cut, true_constraints};
use mustlink_core::clustering::{Clustering, Extras};
use mustlink_core::constraints::{Constraint, Constraints, Strength};
use mustlink_core::data::Data;
use mustlink_core::ensemble::Ensemble;
use mustlink_core::error::Error;
use mustlink_core::problem::{Problem, Shape};
use mustlink_core::random::SeedPath;

/// `n` objects in `d` dimensions without structure, with k clusters and random classes.
pub fn noise(n: usize, d: usize, k: usize, seed: u64) -> (Problem, Vec<u32>) {
    let mut s = SeedPath::new(seed).stream("noise");
    let x = Array2::from_shape_fn((n, d), |_| s.normal());
    let problem = cut(Problem::new(Data::dense(x).expect("finite")).with_k(k));
    let classes = (0..problem.n()).map(|_| s.below(k) as u32).collect();
    (problem, classes)
}

/// 300 objects in 5 dimensions without structure and 8 clusters: what is decided by chance shows.
pub fn unstructured(seed: u64) -> (Problem, Vec<u32>) {
    noise(300, 5, 8, seed)
}

/// The same with constraints that agree with random classes.
pub fn unstructured_constrained(seed: u64) -> (Problem, Vec<u32>) {
    let (problem, classes) = unstructured(seed);
    let constraints = true_constraints(&classes, 60, seed);
    (problem.with_constraints(constraints), classes)
}

/// 60 objects in 4 dimensions without structure, four clusters and constraints of random classes:
/// small enough to be tried with every option.
pub fn small_unstructured(seed: u64) -> Problem {
    let (problem, classes) = noise(60, 4, 4, seed);
    let constraints = true_constraints(&classes, 25, seed);
    problem.with_constraints(constraints)
}

/// 24 objects on a small grid, some of them equal, with constraints of several weights: ties,
/// clusters that run empty, matrices without an inverse.
pub fn grid(k: usize) -> (Problem, Vec<u32>) {
    let x = Array2::from_shape_fn((24, 2), |(i, f)| ((i * (2 + 3 * f)) % 5 / 2) as f64);
    let problem = cut(Problem::new(Data::dense(x).expect("finite")).with_k(k));
    let classes: Vec<u32> = (0..problem.n()).map(|i| (i * i % 3) as u32).collect();
    let constraints = true_constraints(&classes, 14, 5);
    let weighing = |(at, c): (usize, &Constraint)| c.weighing(0.5 + at as f64);
    let weighted = constraints.pairs().iter().enumerate().map(weighing);
    let weighted = Constraints::new(problem.n(), weighted).expect("in range");
    (problem.with_constraints(weighted), classes)
}

/// The same objects under constraints that contradict each other, or that are marked hard.
pub fn contested(hard: bool) -> Problem {
    let (problem, _) = grid(3);
    let mark = |c: Constraint| Constraint { strength: hard.then_some(Strength::Hard), ..c };
    let apart = if hard { Constraint::cannot(0, 3) } else { Constraint::cannot(0, 2) };
    let pairs = [Constraint::must(0, 1), Constraint::must(1, 2), apart];
    links(problem, pairs.map(mark))
}

/// Links between objects below n.
fn links(problem: Problem, pairs: impl IntoIterator<Item = Constraint>) -> Problem {
    let n = problem.n() as u32;
    let within = pairs.into_iter().filter(|c| c.j < n);
    let constraints = Constraints::new(problem.n(), within).expect("in range");
    problem.with_constraints(constraints)
}

/// Problems that a user may have, each with what is hard about it. All that have constraints can be
/// solved without breaking one.
pub fn hard(seed: u64) -> Vec<(&'static str, Problem)> {
    let small = |n: usize, k: usize| noise(n, 3, k, seed).0;
    let scaled = |power: i32| {
        let x = noise(60, 3, 4, seed).0.data.to_dense().mapv(|v| v * 2f64.powi(power));
        Problem::new(Data::dense(x).expect("finite")).with_k(4)
    };
    let mut far = noise(40, 3, 3, seed).0.data.to_dense();
    far[[0, 0]] = 1e9;
    let same = Array2::from_elem((12, 3), 2.5);
    let data = |x| cut(Problem::new(Data::dense(x).expect("finite")).with_k(3));
    vec![
        ("no structure", unstructured(seed).0),
        ("no structure, constraints", unstructured_constrained(seed).0),
        (
            "all objects must-linked",
            links(small(20, 3), (1..20).map(|i| Constraint::must(i - 1, i))),
        ),
        (
            "fewer must-linked groups than clusters",
            links(small(20, 3), (2..20).map(|i| Constraint::must(i - 2, i))),
        ),
        (
            "cannot-links that isolate an object",
            links(small(20, 3), (1..20).map(|i| Constraint::cannot(0, i))),
        ),
        (
            "two objects and a cannot-link",
            links(noise(2, 2, 2, seed).0.with_k(2), [Constraint::cannot(0, 1)]),
        ),
        ("one far object", data(far)),
        ("equal rows", data(same.clone())),
        (
            "equal rows, constraints",
            links(data(same), [Constraint::must(0, 1), Constraint::cannot(1, 2)]),
        ),
        ("one object", Problem::new(small(3, 1).data.subset(&[0])).with_k(1)),
        ("as many clusters as objects", {
            let problem = small(20, 3);
            let n = problem.n();
            problem.with_k(n)
        }),
        ("values of a millionth", cut(scaled(-20))),
        ("values of millions", cut(scaled(20))),
    ]
}

/// Name of a value that is not finite in a clustering, apart from its labels.
pub(super) fn not_finite(c: &Clustering) -> Option<&'static str> {
    let Extras { centers, weights, metrics, mixing, memberships, distances, diagnostics, .. } =
        &c.extras;
    let bad = |x: &Option<Array2<f64>>| x.iter().flatten().any(|v| !v.is_finite());
    [
        ("the objective", c.objective.is_some_and(|o| !o.is_finite())),
        ("its history", c.history.iter().any(|h| !h.objective.is_finite())),
        ("a centre", bad(centers)),
        ("a weight of a feature", bad(weights)),
        ("a metric", metrics.iter().flatten().flatten().any(|v| !v.is_finite())),
        ("the share of a component", mixing.iter().flatten().any(|v| !v.is_finite())),
        ("a membership", bad(memberships)),
        ("a distance", bad(distances)),
        ("a diagnostic", diagnostics.values().any(|v| !v.is_finite())),
    ]
    .into_iter()
    .find_map(|(what, bad)| bad.then_some(what))
}

/// The message of an error on data of a law. Those are finite: what is not was made by the plugin.
pub(super) fn said(e: &Error) -> String {
    match e.root() {
        Error::NonFinite { .. } => {
            format!(
                "the data of this law are finite, data that the plugin made of them are not: {e}"
            )
        }
        _ => e.to_string(),
    }
}

/// Bytes of a clustering as it is returned.
pub(super) fn bytes(c: &Clustering) -> u64 {
    4 * c.labels.len() as u64 + extras_bytes(&c.extras)
}

fn extras_bytes(extras: &Extras) -> u64 {
    let Extras { centers, weights, metrics, mixing, memberships, distances, .. } = extras;
    let arrays = [centers, weights, memberships, distances].into_iter().flatten();
    let numbers = arrays.chain(metrics.iter().flatten()).map(Array2::len).sum::<usize>();
    8 * (numbers + mixing.iter().map(Vec::len).sum::<usize>()) as u64
}

/// Bytes of an ensemble as it is returned.
pub(super) fn ensemble_bytes(e: &Ensemble) -> u64 {
    e.members().iter().map(|m| 4 * m.labels.len() as u64 + extras_bytes(&m.extras)).sum()
}

/// The declared memory is at least what is returned, and does not shrink with more objects.
pub(super) fn memory_covers(
    problem: &Problem,
    memory: impl Fn(&Shape) -> u64,
    returned: u64,
) -> super::law::Verdict {
    let shape = problem.shape();
    let declared = memory(&shape);
    crate::ensure!(
        declared >= returned,
        "memory() says {declared} bytes for n = {}, d = {}, and what it returns takes {returned}",
        shape.n,
        shape.d
    );
    let larger = memory(&Shape { n: 10 * shape.n, entries: 10 * shape.entries, ..shape });
    crate::ensure!(
        larger >= declared,
        "memory() says {declared} bytes for n = {} and {larger} for ten times as many",
        shape.n
    );
    Ok(())
}
