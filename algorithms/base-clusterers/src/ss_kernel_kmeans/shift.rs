//! The shift of the diagonal that makes a kernel positive semidefinite.

use mustlink_core::prelude::*;
use mustlink_kernels::graph::eigen::symmetric_until;
use mustlink_kernels::graph::krylov::normalise;
use ndarray::Array2;

/// Most steps towards the smallest eigenvalue.
pub(super) const STEPS: usize = 200;
/// Steps between two estimates of that eigenvalue.
const CHECK: usize = 20;
/// Relative error at which the eigenvalue is accepted, and relative margin of the shift.
const ACCEPTED: f64 = 1e-3;
/// Relative size of rounding errors.
const ROUNDING: f64 = 1e-12;

/// The smallest shift that makes a kernel positive semidefinite on vectors whose entries sum to 0, up to 1 %.
///
/// Lanczos steps find the smallest eigenvalue on these vectors. They come near it from above, so the bound of the
/// error is added to the shift, and a margin. The bound holds for some eigenvalue, which need not be the smallest, so
/// two estimates must agree as well. `times` is an entry of the product of the n × n kernel and a vector.
///
/// # Errors
/// `Cancelled`, `TimedOut`.
pub(super) fn least_shift(
    n: usize,
    times: impl Fn(usize, &[f64]) -> f64 + Sync,
    ctx: &Context,
) -> Result<f64> {
    let mut stream = ctx.stream("shift");
    let mut vector: Vec<f64> = (0..n).map(|_| stream.normal()).collect();
    centre(&mut vector);
    if n < 2 || !normalise(&mut vector) {
        return Ok(0.0);
    }
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let mut diagonal: Vec<f64> = Vec::new();
    let mut off: Vec<f64> = Vec::new();
    let mut before = f64::INFINITY;
    loop {
        ctx.check()?;
        let mut image = vec![0.0; n];
        reduce::fill(&mut image, |i| times(i, &vector));
        centre(&mut image);
        diagonal.push(reduce::inner_product(&vector, &image));
        basis.push(vector);
        // After one pass, rounding leaves parts of the known vectors in the image.
        for known in basis.iter().chain(&basis) {
            let along = reduce::inner_product(known, &image);
            image.iter_mut().zip(known).for_each(|(x, q)| *x -= along * q);
        }
        let rest = reduce::inner_product(&image, &image).sqrt();
        let steps = diagonal.len();
        let size = diagonal.iter().chain(&off).fold(0.0f64, |most, v| most.max(v.abs()));
        let is_last = steps == STEPS.min(n - 1) || rest <= ROUNDING * size;
        if is_last || steps.is_multiple_of(CHECK) {
            let tridiagonal = Array2::from_shape_fn((steps, steps), |(a, b)| match a.abs_diff(b) {
                0 => diagonal[a],
                1 => off[a.min(b)],
                _ => 0.0,
            });
            let found = symmetric_until(&tridiagonal, ctx)?;
            let (least, most) = (found.values[0], found.values[steps - 1]);
            let error = rest * found.vectors[[steps - 1, 0]].abs();
            let doubt = error.max(before - least);
            if is_last || doubt <= ACCEPTED * least.abs() || doubt <= ROUNDING * most.abs() {
                return Ok((1.0 + ACCEPTED) * (error - least).max(0.0));
            }
            before = least;
        }
        off.push(rest);
        image.iter_mut().for_each(|x| *x /= rest);
        vector = image;
    }
}

/// Makes the entries sum to 0.
fn centre(vector: &mut [f64]) {
    let mean = vector.iter().sum::<f64>() / vector.len() as f64;
    vector.iter_mut().for_each(|x| *x -= mean);
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_kernels::distance::points::row;
    use mustlink_kernels::graph::eigen::symmetric;
    use proptest::prelude::*;

    fn shift_of(kernel: &Array2<f64>, seed: u64) -> f64 {
        let times = |i: usize, x: &[f64]| reduce::inner_product(row(kernel, i), x);
        least_shift(kernel.nrows(), times, &Context::new(seed)).unwrap()
    }

    /// The smallest eigenvalue on vectors whose entries sum to 0, from a whole decomposition.
    fn least_eigenvalue(kernel: &Array2<f64>) -> f64 {
        let n = kernel.nrows();
        let means: Vec<f64> = kernel.rows().into_iter().map(|r| r.sum() / n as f64).collect();
        let mean = means.iter().sum::<f64>() / n as f64;
        let centred = |(i, j): (usize, usize)| kernel[[i, j]] - means[i] - means[j] + mean;
        // The constant vector has the eigenvalue 0 and is moved out of the way.
        let most = kernel.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let apart = Array2::from_shape_fn((n, n), |at| centred(at) + most);
        symmetric(&apart).unwrap().values[0]
    }

    #[test]
    fn worked_example() {
        // On (1, −1)/√2 the matrix is −3; with the margin of a thousandth the shift is 3.003. If it is 3 there, no
        // shift is needed.
        let pair = ndarray::array![[0.0, 3.0], [3.0, 0.0]];
        assert!((shift_of(&pair, 1) - 3.003).abs() < 1e-9);
        assert_eq!(shift_of(&-pair, 1), 0.0);
        assert_eq!(shift_of(&ndarray::array![[-1.0]], 1), 0.0);
        // A constant matrix is 0 on these vectors.
        assert!(shift_of(&Array2::from_elem((5, 5), -7.0), 1) < 1e-9);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn it_is_as_large_as_needed_and_hardly_larger(seed: u64, n in 2usize..90) {
            let mut s = SeedPath::new(seed).stream("case");
            let mut kernel = Array2::zeros((n, n));
            for i in 0..n {
                for j in 0..=i {
                    let v = if s.unit() < 0.2 { s.normal() } else { 0.0 };
                    kernel[[i, j]] = v;
                    kernel[[j, i]] = v;
                }
            }
            let needed = (-least_eigenvalue(&kernel)).max(0.0);
            let found = shift_of(&kernel, seed);
            prop_assert!(found >= needed - 1e-9, "{found} {needed}");
            prop_assert!(found <= 1.01 * needed + 1e-6, "{found} {needed}");
        }
    }
}
