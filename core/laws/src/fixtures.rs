//! Small problems on which the laws are tried.
//!
//! Every problem of a law passes through [`cut`], so that a broken law can be tried again on less
//! ([`within`]), and the problem last tried can be shown ([`last_tried`]).

use std::cell::{Cell, RefCell};

use ndarray::Array2;

use mustlink_core::constraints::{Constraint, Constraints, Group};
use mustlink_core::context::Context;
use mustlink_core::data::{Csr, Data, DataKind};
use mustlink_core::problem::{Problem, Shape};
use mustlink_core::random::SeedPath;

/// The most a fixture may hold. What is left of a fixture is its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Limits {
    /// Objects, at least 3: every fixture asks for three clusters.
    pub objects: usize,
    /// Features, at least 1.
    pub features: usize,
    /// Random constraints.
    pub constraints: usize,
}

impl Limits {
    /// No limit.
    pub const NONE: Limits =
        Limits { objects: usize::MAX, features: usize::MAX, constraints: usize::MAX };
}

/// Longest time that a plugin may work on a fixture, in seconds.
pub const PATIENCE: f64 = 60.0;

thread_local! {
    // The checks are plain functions of a plugin; what they are tried on is said beside them.
    static LIMITS: Cell<Limits> = const { Cell::new(Limits::NONE) };
    static TRIED: RefCell<Option<Problem>> = const { RefCell::new(None) };
}

/// Does `work` with fixtures no larger than `limits`, on this thread.
pub fn within<T>(limits: Limits, work: impl FnOnce() -> T) -> T {
    /// Puts the old limits back, after a panic too.
    struct Restore(Limits);
    impl Drop for Restore {
        fn drop(&mut self) {
            LIMITS.set(self.0);
        }
    }
    let _restore = Restore(LIMITS.replace(limits));
    work()
}

/// Remembers `problem` as the one a plugin is tried on.
pub fn tried(problem: &Problem) {
    TRIED.replace(Some(problem.clone()));
}

/// Forgets the problem a plugin was tried on: a law that tries it on none has none to show.
pub(super) fn forget() {
    TRIED.replace(None);
}

/// The problem a plugin was tried on last, on this thread.
pub fn last_tried() -> Option<Problem> {
    TRIED.with_borrow(Clone::clone)
}

/// The beginning of a dense problem, within the limits.
pub fn cut(problem: Problem) -> Problem {
    let Limits { objects, features, .. } = LIMITS.get();
    let (n, d) = (problem.n().min(objects.max(3)), problem.d().min(features.max(1)));
    match problem.data.as_array() {
        Some(x) if (n, d) != x.dim() => {
            let kept = Array2::from_shape_fn((n, d), |at| x[at]);
            let data = Data::dense(kept).expect("finite");
            let k = problem.k.map(|k| k.min(n));
            Problem { data, k, ..problem }
        }
        _ => problem,
    }
}

/// Three groups of `per` objects in `d` dimensions, with their classes, in mixed order.
pub fn groups(per: usize, d: usize, spread: f64, seed: u64) -> (Array2<f64>, Vec<u32>) {
    let mut s = SeedPath::new(seed).stream("fixture");
    let n = 3 * per;
    let classes: Vec<u32> = (0..n).map(|i| (i % 3) as u32).collect();
    let x = Array2::from_shape_fn((n, d), |(i, f)| {
        let centre = if f % 3 == i % 3 { 5.0 } else { 1.0 };
        (centre + spread * s.normal()).abs()
    });
    (x, classes)
}

/// A dense problem of 45 objects in 4 dimensions with k = 3, and its classes.
pub fn dense(seed: u64) -> (Problem, Vec<u32>) {
    three_groups(15, seed)
}

/// Three groups of twenty objects and no k: a method finds out how many there are, or says that it
/// needs it.
pub fn three_groups_apart() -> Problem {
    let (problem, _) = three_groups(20, 9);
    Problem { k: None, ..problem }
}

/// The same with 2499 objects, which fill two blocks of rows and begin a third: with fewer, the
/// order in which threads finish changes nothing.
pub fn several_blocks(seed: u64) -> (Problem, Vec<u32>) {
    three_groups(833, seed)
}

/// True if the declared memory grows like the number of objects, and stays below 4 KiB for each.
/// Plugins that need memory for pairs of objects, or many vectors of all objects, take too long for the laws
/// on [`several_blocks`].
pub fn is_linear(memory: impl Fn(&Shape) -> u64) -> bool {
    let at = |n: usize| memory(&Shape { n, d: 4, k: 3, entries: 4 * n, constraints: 30 });
    at(20_000) <= 9 * at(2500) && at(20_000) <= 4096 * 20_000
}

/// Seconds that a plugin of linear memory may work on [`several_blocks`]; one that takes longer is
/// tried on small fixtures alone.
pub const SHORT: f64 = 5.0;

/// A context that stops after [`SHORT`].
pub fn short_context(seed: u64) -> Context {
    Context::builder(SeedPath::new(seed)).time_limit(Some(SHORT)).build()
}

fn three_groups(per: usize, seed: u64) -> (Problem, Vec<u32>) {
    let (x, mut classes) = groups(per, 4, 0.8, seed);
    let problem = cut(Problem::new(Data::dense(x).expect("finite")).with_k(3));
    classes.truncate(problem.n());
    (problem, classes)
}

/// The same objects as sparse rows.
pub fn sparse(seed: u64) -> (Problem, Vec<u32>) {
    let (problem, classes) = dense(seed);
    (as_sparse(problem), classes)
}

/// The objects of a problem as sparse rows.
pub fn as_sparse(problem: Problem) -> Problem {
    let x = problem.data.to_dense();
    Problem { data: Data::csr(to_csr(&x)).expect("well formed"), ..problem }
}

/// The objects of `dense` as distances, or as affinities exp(−distance²).
pub fn pairwise(dense: &Problem, kind: DataKind) -> Problem {
    let n = dense.n();
    let distance = |i: usize, j: usize| dense.data.row(i).squared_distance(&dense.data.row(j));
    let data = match kind {
        DataKind::Affinity => {
            Data::affinity(Array2::from_shape_fn((n, n), |(i, j)| (-0.1 * distance(i, j)).exp()))
        }
        _ => Data::distances(Array2::from_shape_fn((n, n), |(i, j)| distance(i, j).sqrt())),
    };
    Problem { data: data.expect("symmetric"), ..dense.clone() }
}

/// The objects of `dense` as the first kind of data that is accepted.
pub fn of_first_kind(accepts: &[DataKind], dense: Problem) -> Problem {
    match accepts.first() {
        Some(DataKind::Csr) => as_sparse(dense),
        Some(kind @ (DataKind::Distances | DataKind::Affinity)) => pairwise(&dense, *kind),
        _ => dense,
    }
}

/// Sparse rows of a dense matrix, zeros left out.
pub fn to_csr(x: &Array2<f64>) -> Csr {
    let mut csr = Csr { indptr: vec![0], indices: vec![], values: vec![], columns: x.ncols() };
    for row in x.rows() {
        for (c, &v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            csr.indices.push(c as u32);
            csr.values.push(v);
        }
        csr.indptr.push(csr.indices.len());
    }
    csr
}

/// `count` random pairs labelled by the classes.
pub fn true_constraints(classes: &[u32], count: usize, seed: u64) -> Constraints {
    let n = classes.len();
    let mut s = SeedPath::new(seed).stream("constraints");
    let pairs = (0..count.min(LIMITS.get().constraints)).filter_map(|_| {
        let (i, j) = (s.below(n), s.below(n));
        (i != j).then(|| {
            if classes[i] == classes[j] { Constraint::must(i, j) } else { Constraint::cannot(i, j) }
        })
    });
    Constraints::new(n, pairs).expect("in range")
}

/// One must-link: of an object that [`with_groups`] puts into a group and one of its class that is in none. None if the
/// class is too small.
pub fn tied(classes: &[u32]) -> Constraints {
    let mut of_the_first = (0..classes.len()).filter(|&i| classes[i] == 0);
    let ends = of_the_first.next().zip(of_the_first.nth(3));
    let link = ends.map(|(i, j)| Constraint::must(i, j));
    Constraints::new(classes.len(), link).expect("in range")
}

/// `given`, and groups with one object of each class, as many as the smallest class allows up to four.
pub fn with_groups(given: &Constraints, classes: &[u32]) -> Constraints {
    let k = classes.iter().max().map_or(0, |&c| c + 1);
    let of = |class: u32| (0..classes.len() as u32).filter(move |&i| classes[i as usize] == class);
    let group = |at: usize| {
        let members: Vec<u32> = (0..k).filter_map(|class| of(class).nth(at)).collect();
        Group::new(format!("group {at}"), members)
    };
    let groups = (0..4).map(group);
    given.clone().with_groups(classes.len(), groups).expect("in range")
}

/// A context with a seed, and a limit so that nothing hangs for ever.
pub fn context(seed: u64) -> Context {
    Context::builder(SeedPath::new(seed)).time_limit(Some(PATIENCE)).build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_class_is_not_tied() {
        let tied_objects = |classes: &[u32]| {
            let constraints = tied(classes);
            constraints.pairs().iter().map(|c| (c.i, c.j)).collect::<Vec<_>>()
        };
        assert_eq!(tied_objects(&[0, 0, 1, 0, 0, 0]), [(0, 5)]);
        assert!(tied_objects(&[0, 0, 1, 0, 0]).is_empty());
        assert!(tied_objects(&[1, 2]).is_empty());
    }
}
