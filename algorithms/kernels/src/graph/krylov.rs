//! Eigenvectors of the largest eigenvalues of a symmetric matrix.
//!
//! Partitioners need these; the vectors of Laplacians come from [`crate::graph::eigen`]. The two solvers
//! round differently and stop at different residuals, so neither can replace the other without a
//! change of labels.
//!
//! Source: Golub and Van Loan, Matrix Computations, ch. 10 (block Krylov spaces, restarted).

use ndarray::{Array2, Axis};

use mustlink_core::random::Stream;
use mustlink_core::{Context, Result, order, reduce};

use crate::graph::eigen::{Eigen, with_signs};
use crate::symmetric_eigen::symmetric_eigen;

/// Vectors beyond those wanted, which make the wanted ones converge.
const SPARE: usize = 4;
/// Products with the matrix in one round.
const STEPS: usize = 9;
/// Rounds at most.
const ROUNDS: usize = 8;
/// Residual at which a vector is good enough to distinguish clusters.
const RESIDUAL: f64 = 1e-6;

/// Eigenpairs of a symmetric matrix, eigenvalues in descending order.
fn descending(matrix: Array2<f64>, ctx: &Context) -> Result<(Vec<f64>, Array2<f64>)> {
    let (values, vectors) = symmetric_eigen(matrix, ctx)?;
    let order = order::descending(&values.to_vec());
    Ok((order.iter().map(|&i| values[i]).collect(), vectors.select(Axis(1), &order)))
}

/// The `count` leading eigenpairs of a dense symmetric matrix, in descending order. O(n³).
///
/// # Errors
/// `NumericalFailure`; cancellation.
pub fn leading_dense(matrix: Array2<f64>, count: usize, ctx: &Context) -> Result<Eigen> {
    let (values, vectors) = descending(matrix, ctx)?;
    let kept: Vec<usize> = (0..count).collect();
    Ok(with_signs(values[..count].to_vec(), vectors.select(Axis(1), &kept)))
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    reduce::reduce(
        x.len(),
        |r| {
            let mut lanes = [0.0f64; 4];
            let (a, b) = (&x[r.clone()], &y[r]);
            let (xs, ys) = (a.chunks_exact(4), b.chunks_exact(4));
            let (rx, ry) = (xs.remainder(), ys.remainder());
            for (p, q) in xs.zip(ys) {
                for l in 0..4 {
                    lanes[l] += p[l] * q[l];
                }
            }
            rx.iter().zip(ry).for_each(|(p, q)| lanes[0] += p * q);
            (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
        },
        |a, b| a + b,
    )
    .unwrap_or(0.0)
}

/// Scales to unit length; false for a vector of length 1e-12 or less.
pub fn normalise(x: &mut [f64]) -> bool {
    let norm = dot(x, x).sqrt();
    if norm > 1e-12 {
        x.iter_mut().for_each(|v| *v /= norm);
    }
    norm > 1e-12
}

/// x − q⟨q, x⟩ for every q, twice, then to unit length; false when nothing is left.
fn orthogonalise(x: &mut [f64], known: &[f64], basis: &[Vec<f64>]) -> bool {
    if !normalise(x) {
        return false;
    }
    for _ in 0..2 {
        for q in std::iter::once(known).chain(basis.iter().map(Vec::as_slice)) {
            let along = dot(q, x);
            x.iter_mut().zip(q).for_each(|(v, q)| *v -= along * q);
        }
    }
    // A remainder far below unit length is rounding, not a new direction.
    let norm = dot(x, x).sqrt();
    norm > 1e-9 && normalise(x)
}

/// The `count` leading eigenpairs of a symmetric matrix, apart from the `known` eigenvector (of unit length),
/// in descending order. The matrix is given by its products with several vectors at a time.
///
/// Block Krylov spaces with restarts, from random vectors drawn from `stream`. Warns if the vectors
/// are not accurate to 1e-6 at the end.
///
/// # Errors
/// `NumericalFailure`; cancellation.
pub fn leading(
    known: &[f64],
    count: usize,
    apply: impl Fn(&[Vec<f64>]) -> Vec<Vec<f64>>,
    stream: &mut Stream,
    ctx: &Context,
) -> Result<Eigen> {
    let n = known.len();
    let width = (count + SPARE).min(n - 1);
    let mut block: Vec<Vec<f64>> =
        (0..width).map(|_| (0..n).map(|_| stream.normal()).collect()).collect();
    let mut values = vec![0.0; count];
    for round in 0..ROUNDS {
        ctx.check()?;
        let mut basis: Vec<Vec<f64>> = Vec::new();
        let mut images: Vec<Vec<f64>> = Vec::new();
        for _ in 0..=STEPS {
            let from = basis.len();
            for mut x in block {
                if basis.len() < n - 1 && orthogonalise(&mut x, known, &basis) {
                    basis.push(x);
                }
            }
            if basis.len() == from {
                break;
            }
            let image = apply(&basis[from..]);
            block = image.clone();
            images.extend(image);
        }
        let m = basis.len();
        let pairs: Vec<(usize, usize)> =
            (0..m).flat_map(|i| (0..=i).map(move |j| (i, j))).collect();
        let products: Vec<f64> =
            reduce::map(pairs.len(), |at| dot(&basis[pairs[at].0], &images[pairs[at].1]));
        let mut small = Array2::zeros((m, m));
        for (&(i, j), p) in pairs.iter().zip(products) {
            small[[i, j]] = p;
            small[[j, i]] = p;
        }
        let (ritz, coefficients) = descending(small, ctx)?;
        let combine = |from: &[Vec<f64>], c: usize| {
            let mut out = vec![0.0; n];
            for (q, &a) in from.iter().zip(coefficients.column(c)) {
                out.iter_mut().zip(q).for_each(|(o, x)| *o += a * x);
            }
            out
        };
        let kept = width.min(m);
        block = reduce::map(kept, |c| combine(&basis, c));
        values = ritz[..count.min(kept)].to_vec();
        let worst = reduce::map(values.len(), |c| {
            let image = combine(&images, c);
            let along = dot(known, &image);
            let square =
                (0..n).map(|v| image[v] - along * known[v] - ritz[c] * block[c][v]).map(|r| r * r);
            square.sum::<f64>().sqrt()
        });
        let worst = worst.into_iter().fold(0.0, f64::max);
        if worst <= RESIDUAL {
            break;
        }
        if round + 1 == ROUNDS {
            ctx.warn(format!("the eigenvectors of the graph are accurate to {worst:.1e} only"));
        }
    }
    let count = values.len();
    Ok(with_signs(values, Array2::from_shape_fn((n, count), |(v, c)| block[c][v])))
}
