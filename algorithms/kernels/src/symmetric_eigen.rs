//! Eigenvalues and eigenvectors of a dense symmetric matrix, in a run that can be cancelled.
//!
//! The steps of `linfa_linalg::eigh`, which takes more than a minute for 2000 rows and cannot be cancelled; here the
//! flag is checked on the way. Results agree to the bit, except in the last step of blocks that are nearly diagonal:
//! there `eigh` turns by a rounding error, so one in a thousand covariances of eight features gets wrong vectors.
//!
//! Source: Golub and Van Loan, Matrix Computations, ch. 8 (Householder reflections, then implicit
//! symmetric QR steps with Wilkinson's shift).

use linfa_linalg::reflection::Reflection;
use ndarray::linalg::{general_mat_mul, general_mat_vec_mul};
use ndarray::{Array1, Array2, ArrayViewMut1, Axis};

use mustlink_core::{Context, Error, Result};

/// Eigenvalues of a symmetric matrix, and eigenvectors as columns. O(n³).
///
/// # Errors
/// `NumericalFailure` for entries that are not finite; `Cancelled`, `TimedOut`.
pub fn symmetric_eigen(
    mut matrix: Array2<f64>,
    ctx: &Context,
) -> Result<(Array1<f64>, Array2<f64>)> {
    let n = matrix.nrows();
    if n == 0 {
        return Ok((Array1::zeros(0), matrix));
    }
    // On what is no number the steps come to no end.
    if matrix.iter().any(|v| !v.is_finite()) {
        let place = "eigenvectors: the matrix is not finite".into();
        return Err(Error::NumericalFailure { place });
    }
    let largest = matrix.iter().map(|v| v.abs()).fold(f64::NEG_INFINITY, f64::max);
    if largest != 0.0 {
        matrix /= largest;
    }
    let (diagonal, off, vectors) = tridiagonal_form(matrix, ctx)?;
    let mut tridiagonal = Tridiagonal {
        diagonal,
        off,
        // The vectors lie in rows: a rotation of two of them reads them one after the other.
        vectors: vectors.t().as_standard_layout().into_owned(),
    };
    if n > 1 {
        tridiagonal.diagonalise(ctx)?;
    }
    let Tridiagonal { diagonal, vectors, .. } = tridiagonal;
    Ok((diagonal * largest, vectors.t().as_standard_layout().into_owned()))
}

/// The diagonal and the off-diagonal of T, and Q, where Q·T·Qᵀ is a symmetric matrix that is not empty.
///
/// # Errors
/// `Cancelled`, `TimedOut`.
pub(crate) fn tridiagonal_form(
    mut matrix: Array2<f64>,
    ctx: &Context,
) -> Result<(Array1<f64>, Array1<f64>, Array2<f64>)> {
    let off_diagonal = tridiagonal(&mut matrix, ctx)?;
    let q = assembled(&matrix, &off_diagonal, ctx)?;
    Ok((matrix.diag().to_owned(), off_diagonal.mapv_into(f64::abs), q))
}

/// Makes a matrix tridiagonal: its diagonal holds that of the result, its columns below the axes of the
/// reflections. Gives the other diagonal, with signs.
fn tridiagonal(matrix: &mut Array2<f64>, ctx: &Context) -> Result<Array1<f64>> {
    let n = matrix.nrows();
    let mut off_diagonal = Array1::zeros(n - 1);
    let mut product = Array1::zeros(n - 1);
    for i in 0..n - 1 {
        ctx.check()?;
        let (_, below) = matrix.view_mut().split_at(Axis(0), i + 1);
        let (mut left, mut rest) = below.split_at(Axis(1), i + 1);
        let mut axis = left.column_mut(i);
        let Some(norm) = reflection(&mut axis) else { continue };
        off_diagonal[i] = norm;
        let mut p = product.slice_axis_mut(Axis(0), (i..).into());
        general_mat_vec_mul(2.0, &rest, &axis, 0.0, &mut p);
        let dot = axis.dot(&p);
        let (p_row, p_column) = (p.view().insert_axis(Axis(0)), p.view().insert_axis(Axis(1)));
        let (row, column) = (axis.view().insert_axis(Axis(0)), axis.view().insert_axis(Axis(1)));
        general_mat_mul(-1.0, &p_column, &row, 1.0, &mut rest);
        general_mat_mul(-1.0, &column, &p_row, 1.0, &mut rest);
        general_mat_mul(dot + dot, &column, &row, 1.0, &mut rest);
    }
    Ok(off_diagonal)
}

/// Turns a vector into the axis of the reflection that leaves its first entry alone; gives that entry.
fn reflection(column: &mut ArrayViewMut1<f64>) -> Option<f64> {
    let square = column.dot(column);
    let norm = square.sqrt();
    let first = column[0];
    let signed = first.signum() * norm;
    column[0] += signed;
    // The square of the norm of what is in the column now.
    let now = (square + first.abs() * norm) * 2.0;
    (now != 0.0).then(|| {
        *column /= now.sqrt();
        -signed
    })
}

/// The product of the reflections that [`tridiagonal`] left in a matrix.
fn assembled(
    reflected: &Array2<f64>,
    off_diagonal: &Array1<f64>,
    ctx: &Context,
) -> Result<Array2<f64>> {
    let n = reflected.nrows();
    let mut q = Array2::eye(n);
    for i in (0..n - 1).rev() {
        ctx.check()?;
        let mut rows = q.slice_axis_mut(Axis(0), (i + 1..).into());
        rows.slice_axis_inplace(Axis(1), (i..).into());
        let column = reflected.column(i);
        let axis = column.slice_axis(Axis(0), (i + 1..).into());
        Reflection::new(axis, 0.0).reflect_cols(&mut rows);
        rows *= off_diagonal[i].signum();
    }
    Ok(q)
}

/// A symmetric tridiagonal matrix, and the vectors in whose basis it is one, in rows.
struct Tridiagonal {
    diagonal: Array1<f64>,
    off: Array1<f64>,
    vectors: Array2<f64>,
}

impl Tridiagonal {
    fn diagonalise(&mut self, ctx: &Context) -> Result<()> {
        let (mut start, mut end) = self.block(self.diagonal.len() - 1);
        while end != start {
            ctx.check()?;
            if end - start == 1 {
                self.solve_two(start);
                end -= 1;
            } else {
                self.sweep(start, end);
                let (m, n) = (end - 1, end);
                let scale = self.diagonal[m].abs() + self.diagonal[n].abs();
                if self.off[m].abs() <= f64::EPSILON * scale {
                    end -= 1;
                }
            }
            (start, end) = self.block(end);
        }
        Ok(())
    }

    /// One implicit QR step with Wilkinson's shift on the rows `start..=end`.
    fn sweep(&mut self, start: usize, end: usize) {
        let Tridiagonal { diagonal, off, .. } = self;
        let mut x = diagonal[start] - shift(diagonal[end - 1], diagonal[end], off[end - 1]);
        let mut y = off[start];
        for i in start..end {
            if y == 0.0 {
                break;
            }
            let norm = x.hypot(y);
            let (c, s) = (x / norm, -y / norm);
            let Tridiagonal { diagonal, off, .. } = self;
            if i > start {
                off[i - 1] = norm;
            }
            let (cc, ss, cs) = (c * c, s * s, c * s);
            let (mii, mjj, mij) = (diagonal[i], diagonal[i + 1], off[i]);
            let b = cs * mij * 2.0;
            diagonal[i] = cc * mii + ss * mjj - b;
            diagonal[i + 1] = ss * mii + cc * mjj + b;
            off[i] = cs * (mii - mjj) + mij * (cc - ss);
            if i != end - 1 {
                x = off[i];
                y = -s * off[i + 1];
                off[i + 1] *= c;
            }
            self.rotate(i, c, -s);
        }
    }

    /// The rows `start` and `start + 1` alone.
    fn solve_two(&mut self, start: usize) {
        let (a, b, d) = (self.diagonal[start], self.off[start], self.diagonal[start + 1]);
        let half = (a - d) * 0.5;
        let root = (b * b + half * half).sqrt();
        let mean = (a + d) * 0.5;
        (self.diagonal[start], self.diagonal[start + 1]) = (mean + root, mean - root);
        let (mut x, mut y) = (self.diagonal[start] - d, b);
        // The larger value is that of the second row, up to rounding: the other row tells its vector.
        if half < 0.0 && b.abs() < NEARLY_DIAGONAL * a.abs().max(d.abs()) {
            (x, y) = (b.abs(), (root - half).copysign(b));
        }
        let norm = x.hypot(y);
        if norm > f64::EPSILON {
            self.rotate(start, x / norm, y / norm);
        }
    }

    /// Rotates the vectors `i` and `i + 1`.
    fn rotate(&mut self, i: usize, c: f64, s: f64) {
        let n = self.diagonal.len();
        let rows = &mut self.vectors.as_slice_mut().expect("standard layout")[i * n..][..2 * n];
        let (a, b) = rows.split_at_mut(n);
        for (a, b) in a.iter_mut().zip(b) {
            (*a, *b) = (*a * c + s * *b, -s * *a + *b * c);
        }
    }

    /// The last block of rows up to `end` that is not diagonal yet; what is small in between becomes 0.
    fn block(&mut self, end: usize) -> (usize, usize) {
        let Tridiagonal { diagonal, off, .. } = self;
        let scale = |i: usize| f64::EPSILON * (diagonal[i + 1].abs() + diagonal[i].abs());
        let mut n = end;
        while n > 0 && off[n - 1].abs() <= scale(n - 1) {
            n -= 1;
        }
        if n == 0 {
            return (0, 0);
        }
        let mut start = n - 1;
        while start > 0 {
            let m = start - 1;
            if off[m] == 0.0 || off[m].abs() <= scale(m) {
                off[m] = 0.0;
                break;
            }
            start -= 1;
        }
        (start, n)
    }
}

/// Off its diagonal, relative to that: what is smaller leaves too few digits of the difference of an eigenvalue and
/// a diagonal entry.
const NEARLY_DIAGONAL: f64 = 1e-8;

/// The eigenvalue of [[a, b], [b, d]] that is nearer to d.
fn shift(a: f64, d: f64, b: f64) -> f64 {
    if b == 0.0 {
        return d;
    }
    let (square, half) = (b * b, (a - d) * 0.5);
    d - square / (half + half.signum() * (half * half + square).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use linfa_linalg::eigh::Eigh;
    use linfa_linalg::tridiagonal::SymmetricTridiagonal;
    use mustlink_core::random::SeedPath;
    use proptest::prelude::*;

    /// How far matrix · vectors is from vectors · values.
    fn error(matrix: &Array2<f64>, (values, vectors): &(Array1<f64>, Array2<f64>)) -> f64 {
        let largest = matrix.iter().fold(f64::MIN_POSITIVE, |m, v| m.max(v.abs()));
        let difference = matrix.dot(vectors) - vectors * values;
        difference.iter().fold(0.0f64, |m, v| m.max(v.abs())) / largest
    }

    fn same(matrix: Array2<f64>) {
        let form = matrix.clone().sym_tridiagonal().unwrap();
        let q = form.generate_q();
        let (diagonal, off) = form.into_diagonals();
        let found = tridiagonal_form(matrix.clone(), &Context::new(1)).unwrap();
        assert_eq!(found, (diagonal, off, q));
        let theirs = matrix.eigh().unwrap();
        let ours = symmetric_eigen(matrix.clone(), &Context::new(1)).unwrap();
        assert!(ours == theirs || error(&matrix, &ours) <= error(&matrix, &theirs) + 1e-13);
        assert!(error(&matrix, &ours) < 1e-6, "{matrix}");
    }

    #[test]
    fn a_block_that_is_nearly_diagonal_keeps_its_vectors() {
        // In the one 1e-16 is below, in the other above what counts as nothing beside 1.
        for b in [1e-16, -1e-16, 4e-16, 1e-12] {
            let matrix = ndarray::array![[0.1, b, 0.0], [b, 0.2, 0.0], [0.0, 0.0, 1.0]];
            let found = symmetric_eigen(matrix.clone(), &Context::new(1)).unwrap();
            assert!(error(&matrix, &found) < 1e-14, "{b}: {found:?}");
        }
    }

    #[test]
    fn special_matrices_are_those_of_linfa() {
        for n in [1, 2, 3, 7] {
            same(Array2::zeros((n, n)));
            same(Array2::eye(n));
            same(Array2::from_elem((n, n), 2.5));
            same(Array2::from_diag(&Array1::from_shape_fn(n, |i| (i % 3) as f64 - 1.0)));
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for bad in [f64::NAN, f64::INFINITY] {
            let matrix = ndarray::array![[1.0, bad], [bad, 1.0]];
            let refused = symmetric_eigen(matrix, &Context::new(1));
            assert!(matches!(refused, Err(Error::NumericalFailure { .. })), "{refused:?}");
        }
    }

    #[test]
    fn cancelling_is_heard_on_the_way() {
        let matrix = Array2::from_shape_fn((30, 30), |(i, j)| ((i * j) as f64).sin());
        let matrix = &matrix + &matrix.t();
        let counted = Context::builder(SeedPath::new(1)).count_looks().build();
        symmetric_eigen(matrix.clone(), &counted).unwrap();
        // In each of the three parts.
        assert!(counted.looks() > 80, "{}", counted.looks());
        for looks in [0, 40, 70] {
            let ctx = Context::builder(SeedPath::new(1)).cancel_after(looks).build();
            assert_eq!(symmetric_eigen(matrix.clone(), &ctx), Err(Error::Cancelled));
        }
    }

    proptest! {
        /// The bits of `linfa_linalg` where it finds eigenvectors, for matrices of full rank and below, and with a
        /// constant part.
        #[test]
        fn the_bits_are_those_of_linfa(seed: u64, n in 1usize..25, rank in 1usize..30, whole: bool) {
            let mut s = SeedPath::new(seed).stream("matrix");
            let x = Array2::from_shape_fn((rank, n), |_| {
                if whole { s.below(3) as f64 } else { s.normal() }
            });
            same(x.t().dot(&x));
        }
    }
}
