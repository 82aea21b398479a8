//! Small problems on which the laws are tried.

use ndarray::Array2;

use crate::constraints::{Constraint, Constraints};
use crate::context::Context;
use crate::data::{Csr, Data, DataKind};
use crate::problem::Problem;
use crate::random::SeedPath;

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
    let (x, classes) = groups(15, 4, 0.8, seed);
    (Problem::new(Data::dense(x).expect("finite")).with_k(3), classes)
}

/// The same objects as sparse rows.
pub fn sparse(seed: u64) -> (Problem, Vec<u32>) {
    let (problem, classes) = dense(seed);
    let x = problem.data.to_dense();
    (Problem { data: Data::csr(to_csr(&x)).expect("well formed"), ..problem }, classes)
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
    let pairs = (0..count).filter_map(|_| {
        let (i, j) = (s.below(n), s.below(n));
        (i != j).then(|| match classes[i] == classes[j] {
            true => Constraint::must(i, j),
            false => Constraint::cannot(i, j),
        })
    });
    Constraints::new(n, pairs).expect("in range")
}

/// A context with a seed.
pub fn context(seed: u64) -> Context {
    Context::new(seed)
}
