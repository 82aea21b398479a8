//! Eigenvectors of the smallest eigenvalues of a symmetric matrix.
//!
//! Small matrices are decomposed whole. Large ones are only applied: LOBPCG from a random start drawn
//! from the caller's stream, preconditioned by a polynomial of the matrix itself, restarted until the
//! residuals are small. Laplacians know their null space (one vector per connected component), which
//! is given exactly and never iterated.
//!
//! Source: LOBPCG, Knyazev 2001.

use linfa_linalg::Order;
use linfa_linalg::lobpcg::lobpcg;
use ndarray::{Array2, ArrayView2, Axis, Slice, concatenate};
use rayon::prelude::*;

use mustlink_core::random::Stream;
use mustlink_core::{Context, Error, Result, order};

use crate::graph::adjacency::Graph;
use crate::symmetric_eigen::tridiagonal_form;

/// Matrices up to this size are decomposed whole.
const DENSE: usize = 200;
/// Vectors iterated beyond those asked for: the last of a block converge slowly.
const GUARDS: usize = 3;
/// Residual that counts as zero, relative to the largest eigenvalue possible.
const TOLERANCE: f64 = 1e-8;
/// Residual that is still accepted when iterations end.
const ACCEPTED: f64 = 1e-4;
/// Iterations between two checks of the residuals.
const ROUND: usize = 30;
/// Such rounds at most.
const ROUNDS: usize = 100;
/// Degree of the preconditioner.
const DEGREE: usize = 8;

/// Eigenvalues in order, and their vectors of unit length as columns. The entry of largest
/// magnitude of a vector is positive.
#[derive(Debug, Clone, PartialEq)]
pub struct Eigen {
    /// Eigenvalues: ascending, but for [`crate::graph::krylov`].
    pub values: Vec<f64>,
    /// Eigenvectors as columns.
    pub vectors: Array2<f64>,
}

impl Eigen {
    /// Vector number `at`.
    pub fn vector(&self, at: usize) -> Vec<f64> {
        self.vectors.column(at).to_vec()
    }
}

fn failure(what: impl std::fmt::Display) -> Error {
    Error::NumericalFailure { place: format!("eigen-decomposition: {what}") }
}

pub(crate) fn with_signs(values: Vec<f64>, mut vectors: Array2<f64>) -> Eigen {
    for mut v in vectors.axis_iter_mut(Axis(1)) {
        let largest = v.iter().fold(0.0f64, |m, &x| if x.abs() > m.abs() { x } else { m });
        if largest < 0.0 {
            v.mapv_inplace(|x| -x);
        }
    }
    Eigen { values, vectors }
}

/// All eigenpairs of a dense symmetric matrix. O(n³).
///
/// The tridiagonal form is bitwise that of the linear-algebra crate. Its values are found here by implicit QL:
/// the crate's own last step rotates by a rounding error if a 2 × 2 block is nearly diagonal, and
/// the resulting vector is not an eigenvector.
///
/// # Errors
/// `NumericalFailure` for entries that are not finite.
pub fn symmetric(matrix: &Array2<f64>) -> Result<Eigen> {
    symmetric_until(matrix, &Context::new(0))
}

/// The same, but it can be interrupted: a thousand rows take seconds, four thousand minutes.
///
/// # Errors
/// Returns the errors of [`symmetric`]; cancellation.
pub fn symmetric_until(matrix: &Array2<f64>, ctx: &Context) -> Result<Eigen> {
    let largest = matrix.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    if matrix.iter().any(|v| !v.is_finite()) {
        return Err(failure("the matrix is not finite"));
    }
    let scale = if largest > 0.0 { largest } else { 1.0 };
    if matrix.is_empty() {
        return Err(failure("the matrix is empty"));
    }
    let (d, e, q) = tridiagonal_form(matrix / scale, ctx)?;
    let (values, vectors) = implicit_ql(d.to_vec(), e.to_vec(), &q, ctx)?;
    let order = order::ascending(&values);
    let vectors = vectors.select(Axis(1), &order);
    Ok(with_signs(order.iter().map(|&at| values[at] * scale).collect(), vectors))
}

/// Rows of the matrix of vectors that are rotated together.
const LANES: usize = 8;

/// Eigenpairs of Q·T·Qᵀ, T tridiagonal with diagonal `d` and off-diagonal `e`.
fn implicit_ql(
    mut d: Vec<f64>,
    mut e: Vec<f64>,
    q: &Array2<f64>,
    ctx: &Context,
) -> Result<(Vec<f64>, Array2<f64>)> {
    let n = d.len();
    e.push(0.0);
    let norm = d.iter().zip(&e).fold(0.0f64, |m, (d, e)| m.max(d.abs() + e.abs()));
    let mut rows: Vec<Vec<[f64; LANES]>> = (0..n.div_ceil(LANES))
        .map(|b| {
            let lane = |j: usize, l: usize| q.get((b * LANES + l, j)).copied().unwrap_or(0.0);
            (0..n).map(|j| std::array::from_fn(|l| lane(j, l))).collect()
        })
        .collect();
    let mut rotations: Vec<(usize, f64, f64)> = Vec::new();
    for l in 0..n {
        ctx.check()?;
        for step in 0.. {
            let m = (l..n).find(|&m| e[m].abs() <= f64::EPSILON * norm).unwrap_or(n - 1);
            if m == l {
                break;
            }
            if step == 100 {
                return Err(failure("the iteration does not converge"));
            }
            let g = (d[l + 1] - d[l]) / (2.0 * e[l]);
            let mut g = d[m] - d[l] + e[l] / (g + g.hypot(1.0).copysign(g));
            let (mut s, mut c, mut p) = (1.0, 1.0, 0.0);
            let mut broken = false;
            for i in (l..m).rev() {
                let (f, b) = (s * e[i], c * e[i]);
                let r = f.hypot(g);
                e[i + 1] = r;
                if r == 0.0 {
                    d[i + 1] -= p;
                    e[m] = 0.0;
                    broken = true;
                    break;
                }
                (s, c) = (f / r, g / r);
                g = d[i + 1] - p;
                let r = (d[i] - g) * s + 2.0 * c * b;
                p = s * r;
                d[i + 1] = g + p;
                g = c * r - b;
                rotations.push((i, c, s));
            }
            if !broken {
                d[l] -= p;
                e[l] = g;
                e[m] = 0.0;
            }
            if rotations.len() > 16 * n {
                rotate(&mut rows, &rotations);
                rotations.clear();
            }
        }
    }
    rotate(&mut rows, &rotations);
    let vectors = Array2::from_shape_fn((n, n), |(i, j)| rows[i / LANES][j][i % LANES]);
    Ok((d, vectors))
}

/// Applies rotations of neighbouring columns, in order, to all rows.
fn rotate(rows: &mut [Vec<[f64; LANES]>], rotations: &[(usize, f64, f64)]) {
    rows.par_iter_mut().for_each(|row| {
        for &(i, c, s) in rotations {
            let (a, b) = (row[i], row[i + 1]);
            for l in 0..LANES {
                row[i][l] = c * a[l] - s * b[l];
                row[i + 1][l] = s * a[l] + c * b[l];
            }
        }
    });
}

/// The `count` smallest eigenpairs of a symmetric n × n matrix with eigenvalues in `0..=bound`, which
/// is given by what it does to a block of columns. `known` holds orthonormal eigenvectors as columns;
/// what is found is orthogonal to them. Fewer are given when n − known has no more.
///
/// # Errors
/// `NumericalFailure` when it does not converge; cancellation.
pub fn smallest(
    n: usize,
    count: usize,
    bound: f64,
    apply: impl Fn(ArrayView2<f64>) -> Array2<f64>,
    known: Option<&Array2<f64>>,
    stream: &mut Stream,
    ctx: &Context,
) -> Result<Eigen> {
    let free = n - known.map_or(0, |y| y.ncols());
    let count = count.min(free);
    if count == 0 {
        return Ok(Eigen { values: Vec::new(), vectors: Array2::zeros((n, 0)) });
    }
    ctx.check()?;
    let block = count + GUARDS;
    if n <= DENSE || 5 * block >= free {
        return whole(n, count, bound, apply, known, ctx);
    }
    // Σ_t (I − A/bound)^t, an approximate inverse: positive definite, and largest where A is small.
    let precondition = |mut r: ndarray::ArrayViewMut2<f64>| {
        let mut y = r.to_owned();
        for _ in 0..DEGREE {
            let ay = apply(y.view());
            y.zip_mut_with(&ay, |y, a| *y -= a / bound);
            y += &r;
        }
        r.assign(&y);
    };
    let tolerance = TOLERANCE * bound;
    let mut x = Array2::from_shape_simple_fn((n, block), || stream.normal());
    let mut reached = f64::INFINITY;
    for _ in 0..ROUNDS {
        ctx.check()?;
        let y = known.map(Array2::view);
        let run = lobpcg(&apply, x, precondition, y, tolerance as f32, ROUND, Order::Smallest);
        let (failed, best) = match run {
            Ok(best) => (false, best),
            // Columns that became dependent: the best so far is as good as it gets.
            Err((_, Some(best))) => (true, best),
            Err((e, None)) => return Err(failure(e)),
        };
        let worst = best.rnorm[..count].iter().fold(0.0f64, |m, &r| m.max(r));
        // NaN, from a matrix that is not finite, is an error too.
        let good = worst <= tolerance;
        let stuck = failed || worst.is_nan();
        let hopeless = stuck && (worst >= 0.5 * reached || worst.is_nan());
        if good || hopeless {
            if good || worst <= ACCEPTED * bound {
                let vectors = best.eigvecs.slice_axis(Axis(1), Slice::from(..count));
                return Ok(with_signs(best.eigvals.to_vec()[..count].to_vec(), vectors.to_owned()));
            }
            break;
        }
        reached = worst;
        x = best.eigvecs;
        if stuck {
            // Fresh guards part the columns again.
            for mut column in x.axis_iter_mut(Axis(1)).skip(count) {
                column.mapv_inplace(|_| stream.normal());
            }
        }
    }
    Err(failure("the iteration does not converge"))
}

/// By the whole spectrum: known vectors are moved above all others.
fn whole(
    n: usize,
    count: usize,
    bound: f64,
    apply: impl Fn(ArrayView2<f64>) -> Array2<f64>,
    known: Option<&Array2<f64>>,
    ctx: &Context,
) -> Result<Eigen> {
    let mut a = apply(Array2::eye(n).view());
    if let Some(y) = known {
        a = a + y.dot(&y.t()) * (2.0 * bound + 1.0);
    }
    let a = (&a + &a.t()) / 2.0;
    let all = symmetric_until(&a, ctx)?;
    let vectors = all.vectors.slice_axis(Axis(1), Slice::from(..count)).to_owned();
    Ok(Eigen { values: all.values[..count].to_vec(), vectors })
}

/// The `count` smallest eigenpairs of B^(−1/2) (D − W) B^(−1/2), B the diagonal matrix of `mass`: the
/// degrees for the normalised Laplacian, 1 for the plain one. First one vector of eigenvalue 0 per
/// connected component, in the order of their smallest vertices.
///
/// # Errors
/// `NumericalFailure` for a mass that is not positive, weights that are not finite, or no
/// convergence; cancellation.
pub fn laplacian(
    graph: &Graph,
    mass: &[f64],
    count: usize,
    stream: &mut Stream,
    ctx: &Context,
) -> Result<Eigen> {
    let n = graph.n();
    let degrees = graph.degrees();
    if let Some(i) = mass.iter().position(|&b| !(b > 0.0 && b.is_finite())) {
        return Err(failure(format!("vertex {i} has mass {}", mass[i])));
    }
    let (component, components) = graph.components();
    let wanted = components.min(count);
    let mut null = Array2::zeros((n, components.min(count)));
    let mut totals = vec![0.0; components];
    component.iter().zip(mass).for_each(|(&c, b)| totals[c as usize] += b);
    for (i, &c) in component.iter().enumerate() {
        if (c as usize) < wanted {
            null[[i, c as usize]] = (mass[i] / totals[c as usize]).sqrt();
        }
    }
    // By Gershgorin on B⁻¹(D − W).
    let bound = degrees.iter().zip(mass).map(|(d, b)| 2.0 * d / b).fold(0.0, f64::max);
    if !bound.is_finite() {
        return Err(failure("the weights are not finite"));
    }
    if wanted == count || bound == 0.0 {
        return Ok(Eigen { values: vec![0.0; null.ncols()], vectors: null });
    }
    let root: Vec<f64> = mass.iter().map(|b| 1.0 / b.sqrt()).collect();
    let apply = |x: ArrayView2<f64>| {
        let mut y = x.to_owned();
        y.axis_iter_mut(Axis(0)).zip(&root).for_each(|(mut row, r)| row.mapv_inplace(|v| v * r));
        let wy = graph.multiply(&y.view());
        for ((mut to, from), (d, r)) in
            y.axis_iter_mut(Axis(0)).zip(wy.axis_iter(Axis(0))).zip(degrees.iter().zip(&root))
        {
            to.zip_mut_with(&from, |t, w| *t = r * (d * *t - w));
        }
        y
    };
    let rest = smallest(n, count - wanted, bound, apply, Some(&null), stream, ctx)?;
    let mut values = vec![0.0; wanted];
    values.extend(rest.values.iter().map(|v| v.max(0.0)));
    let vectors = concatenate(Axis(1), &[null.view(), rest.vectors.view()])
        .expect("both have one row per vertex");
    Ok(Eigen { values, vectors })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::random::SeedPath;
    use ndarray::array;
    use proptest::prelude::*;

    fn stream() -> Stream {
        SeedPath::new(3).stream("eigen")
    }

    fn path(n: usize) -> Graph {
        Graph::from_edges(n, (1..n as u32).map(|i| (i - 1, i, 1.0)), |a, _| a)
    }

    fn residual(graph: &Graph, mass: &[f64], pairs: &Eigen) -> f64 {
        let degrees = graph.degrees();
        let mut worst = 0.0f64;
        for (at, &value) in pairs.values.iter().enumerate() {
            let v = pairs.vector(at);
            for i in 0..graph.n() {
                let (targets, weights) = graph.neighbours(i);
                let mut sum = degrees[i] * v[i] / mass[i];
                for (&j, w) in targets.iter().zip(weights) {
                    sum -= w * v[j as usize] / (mass[i] * mass[j as usize]).sqrt();
                }
                worst = worst.max((sum - value * v[i]).abs());
            }
        }
        worst
    }

    #[test]
    fn worked_example() {
        // [[2, 1], [1, 2]]: 1 along (1, −1), 3 along (1, 1).
        let e = symmetric(&array![[2.0, 1.0], [1.0, 2.0]]).unwrap();
        assert!((e.values[0] - 1.0).abs() < 1e-12 && (e.values[1] - 3.0).abs() < 1e-12);
        let v = e.vector(1);
        assert!(v.iter().all(|x| (x - 0.5f64.sqrt()).abs() < 1e-12), "{v:?}");
        assert!(symmetric(&array![[f64::NAN]]).is_err());
    }

    #[test]
    fn decomposing_hears_cancelling() {
        let matrix = Array2::from_shape_fn((30, 30), |(i, j)| ((i * j) as f64).sin());
        let matrix = &matrix + &matrix.t();
        let counted = Context::builder(SeedPath::new(1)).count_looks().build();
        let found = symmetric_until(&matrix, &counted).unwrap();
        assert_eq!(found, symmetric(&matrix).unwrap());
        // In each of the three parts.
        assert!(counted.looks() > 80, "{}", counted.looks());
        for looks in [0, 40, 70] {
            let ctx = Context::builder(SeedPath::new(1)).cancel_after(looks).build();
            assert_eq!(symmetric_until(&matrix, &ctx), Err(Error::Cancelled));
        }
    }

    #[test]
    fn nearly_diagonal_blocks_keep_their_vectors() {
        // The rotation by (rounding error, 1e-14) is what the crate's own solver would make of this.
        let e = symmetric(&array![[0.1, 1e-14], [1e-14, 0.7]]).unwrap();
        assert!(e.vectors[[1, 0]].abs() < 1e-13 && e.vectors[[0, 1]].abs() < 1e-13, "{e:?}");
    }

    #[test]
    fn plain_laplacian_of_a_path_has_known_values() {
        // 2 − 2 cos(π j / n); below and above the size that is decomposed whole.
        for n in [30, 260] {
            let e = laplacian(&path(n), &vec![1.0; n], 4, &mut stream(), &Context::new(1)).unwrap();
            for (j, value) in e.values.iter().enumerate() {
                let known = 2.0 - 2.0 * (std::f64::consts::PI * j as f64 / n as f64).cos();
                assert!((value - known).abs() < 1e-9, "n {n}: {value} {known}");
            }
            assert!(residual(&path(n), &vec![1.0; n], &e) < 1e-6);
        }
    }

    #[test]
    fn iterated_equals_decomposed() {
        let mut s = SeedPath::new(5).stream("graph");
        let n = 400;
        let edges: Vec<(u32, u32, f64)> = (0..2400)
            .map(|_| {
                let i = s.below(n);
                let j = (i + 1 + s.below(20)) % n;
                (i as u32, j as u32, 0.1 + s.unit())
            })
            .chain((0..n as u32).map(|i| (i, (i + 1) % n as u32, 0.5)))
            .collect();
        let graph = Graph::from_edges(n, edges, f64::max);
        let mass = graph.degrees();
        let e = laplacian(&graph, &mass, 6, &mut stream(), &Context::new(1)).unwrap();
        assert!(residual(&graph, &mass, &e) < 1e-6);
        let dense = Array2::from_shape_fn((n, n), |(i, j)| {
            let (targets, weights) = graph.neighbours(i);
            let w = targets.binary_search(&(j as u32)).map_or(0.0, |at| weights[at]);
            f64::from(u8::from(i == j)) - w / (mass[i] * mass[j]).sqrt()
        });
        let all = symmetric(&dense).unwrap();
        for (a, b) in e.values.iter().zip(&all.values) {
            assert!((a - b).abs() < 1e-9, "{a} {b}");
        }
        let gram = e.vectors.t().dot(&e.vectors);
        assert!((gram - Array2::<f64>::eye(6)).iter().all(|v| v.abs() < 1e-7));
        let again = laplacian(&graph, &mass, 6, &mut stream(), &Context::new(9)).unwrap();
        assert_eq!(e, again);
    }

    #[test]
    fn components_give_the_null_space() {
        // Three paths of 100: value 0 three times, whatever `count` is.
        let edges = (0..300u32).filter(|i| i % 100 != 0).map(|i| (i - 1, i, 1.0));
        let graph = Graph::from_edges(300, edges, |a, _| a);
        let ones = vec![1.0; 300];
        let e = laplacian(&graph, &ones, 2, &mut stream(), &Context::new(1)).unwrap();
        assert_eq!(e.values, [0.0, 0.0]);
        assert!((e.vectors[[0, 0]] - 0.1).abs() < 1e-12 && e.vectors[[0, 1]] == 0.0);
        let e = laplacian(&graph, &ones, 6, &mut stream(), &Context::new(1)).unwrap();
        assert_eq!(e.values[..3], [0.0; 3]);
        let first = 2.0 - 2.0 * (std::f64::consts::PI / 100.0).cos();
        assert!(e.values[3..].iter().all(|v| (v - first).abs() < 1e-9), "{:?}", e.values);
        assert!(residual(&graph, &ones, &e) < 1e-6);
    }

    #[test]
    fn what_has_no_answer_is_an_error() {
        let isolated = Graph::from_edges(3, [(0, 1, 1.0)], |a, _| a);
        let degrees = isolated.degrees();
        let e = laplacian(&isolated, &degrees, 2, &mut stream(), &Context::new(1));
        assert!(matches!(e, Err(Error::NumericalFailure { .. })));
        let huge = Graph::from_edges(3, [(0, 1, 1e308), (0, 2, 1e308)], |a, _| a);
        let e = laplacian(&huge, &[1.0; 3], 2, &mut stream(), &Context::new(1));
        assert!(matches!(e, Err(Error::NumericalFailure { .. })));
    }

    proptest! {
        #[test]
        fn pairs_are_pairs(
            edges in proptest::collection::vec((0u32..12, 0u32..12, 1u8..9), 0..40),
            count in 1usize..14,
        ) {
            let graph = Graph::from_edges(
                12,
                edges.iter().map(|&(i, j, w)| (i, j, f64::from(w))),
                |a, b| a + b,
            );
            let mass: Vec<f64> = (1..13).map(f64::from).collect();
            let e = laplacian(&graph, &mass, count, &mut stream(), &Context::new(1)).unwrap();
            prop_assert!(e.values.windows(2).all(|w| w[0] <= w[1] + 1e-12));
            let off = residual(&graph, &mass, &e);
            prop_assert!(off < 1e-9, "{off}, {:?}", e.values);
            let found = e.values.len();
            if graph.edge_count() > 0 {
                prop_assert_eq!(found, count.min(12));
            }
            let gram = e.vectors.t().dot(&e.vectors);
            prop_assert!((gram - Array2::<f64>::eye(found)).iter().all(|v| v.abs() < 1e-9));
        }
    }
}
