//! Gaussian components: their means and covariances, and their densities at objects.

use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, ArrayView1, Axis};

use mustlink_core::prelude::*;
use mustlink_kernels::symmetric_eigen::symmetric_eigen;

/// Form of the covariances of the components.
#[options]
pub enum Covariance {
    /// Any covariance, one for each component.
    #[default]
    Full,
    /// A diagonal covariance for each component.
    Diag,
    /// A multiple of the identity for each component.
    Spherical,
    /// Any covariance, one for all components.
    Tied,
}

impl Covariance {
    /// True if features are independent within a component.
    pub fn is_diagonal(self) -> bool {
        matches!(self, Covariance::Diag | Covariance::Spherical)
    }
}

/// P with PPᵀ = Σ⁻¹.
#[derive(Debug, Clone)]
enum Root {
    Full(Array2<f64>),
    Diagonal(Array1<f64>),
}

/// k components with means and covariances.
#[derive(Debug, Clone)]
pub struct Gaussians {
    shape: Covariance,
    means: Array2<f64>,
    /// One per component; for `tied` one.
    roots: Vec<Root>,
    /// log |P| of each.
    log_determinants: Vec<f64>,
    /// Sum of the shares of each.
    weights: Vec<f64>,
}

/// Weight below which a component has no objects to learn from.
const WEIGHTLESS: f64 = 1e-9;

impl Gaussians {
    /// The components that fit best objects weighted by `share(i, h)`; no variance is below `floor`
    /// in any direction. Components without weight keep what they are in `before`, or are the
    /// distribution of all objects.
    ///
    /// # Errors
    /// `NumericalFailure` when a covariance is singular (floor 0) or too large to compute; cancellation.
    pub fn fit(
        data: &Data,
        k: usize,
        shape: Covariance,
        floor: f64,
        share: impl Fn(usize, usize) -> f64 + Sync,
        before: Option<&Gaussians>,
        ctx: &Context,
    ) -> Result<Self> {
        let (n, d) = (data.n(), data.d());
        let sums = shared_sums(data, k, &share);
        let weights: Vec<f64> = sums.column(d).to_vec();
        let light = |h: usize| weights[h] <= WEIGHTLESS;
        let all: Array1<f64> = sums.sum_axis(Axis(0));
        let mut means = Array2::zeros((k, d));
        for h in 0..k {
            let mut to = means.row_mut(h);
            match (light(h), before) {
                (false, _) => {
                    to.assign(&(&sums.row(h) / weights[h]).slice_axis(Axis(0), (..d).into()))
                }
                (true, Some(before)) => to.assign(&before.means.row(h)),
                (true, None) => to.assign(&(&all / all[d]).slice_axis(Axis(0), (..d).into())),
            }
        }
        let spreads = scatter(data, &means, shape, &share, ctx)?;
        let mut roots = Vec::with_capacity(k);
        let mut log_determinants = Vec::with_capacity(k);
        let kept = |h: usize| {
            before.filter(|_| light(h)).map(|b| (b.roots[h].clone(), b.log_determinants[h]))
        };
        if shape == Covariance::Tied {
            let total: f64 = (0..k).filter(|&h| !light(h)).map(|h| weights[h]).sum();
            let pooled = spreads.into_iter().enumerate().filter(|(h, _)| !light(*h));
            let pooled = pooled.fold(Array2::zeros((d, d)), |sum, (_, s)| sum + s) / total;
            let (root, log_determinant) = full_root(pooled, floor, ctx)?;
            roots.push(root);
            log_determinants.push(log_determinant);
        } else {
            let mut whole: Option<Array2<f64>> = None;
            for (h, spread) in spreads.into_iter().enumerate() {
                let spread = match (light(h), &whole) {
                    (false, _) => spread / weights[h],
                    (true, Some(whole)) => whole.clone(),
                    // The spread of all objects around their mean.
                    (true, None) => {
                        let centre = (&all / all[d]).slice_axis(Axis(0), (..d).into()).to_owned();
                        let one = centre.insert_axis(Axis(0));
                        let share = |_: usize, _: usize| 1.0 / n as f64;
                        whole.insert(scatter(data, &one, shape, &share, ctx)?.remove(0)).clone()
                    }
                };
                let (root, log_determinant) = match (kept(h), shape) {
                    (Some(kept), _) => kept,
                    (None, Covariance::Full) => full_root(spread, floor, ctx)?,
                    (None, _) => diagonal_root(spread.row(0), shape, floor)?,
                };
                roots.push(root);
                log_determinants.push(log_determinant);
            }
        }
        Ok(Gaussians { shape, means, roots, log_determinants, weights })
    }

    /// Sum of the shares of the objects in each component.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Adds means and inverse covariances to the report of a clustering, with their geometry.
    ///
    /// # Errors
    /// Cancellation.
    pub fn describe(&self, extras: &mut Extras, ctx: &Context) -> Result<()> {
        extras.centers = Some(self.means.clone());
        if let Some(precisions) = self.precisions(ctx)? {
            (extras.geometry, extras.metrics) = (Geometry::Mahalanobis, Some(precisions));
        } else if let Some(weights) = self.inverse_variances() {
            (extras.geometry, extras.weights) = (Geometry::Weighted, Some(weights));
        }
        Ok(())
    }

    /// Inverse covariances as matrices: k, or one for `tied`. Only for `full` and `tied`.
    ///
    /// # Errors
    /// Cancellation.
    pub fn precisions(&self, ctx: &Context) -> Result<Option<Vec<Array2<f64>>>> {
        let of = |root: &Root| match root {
            Root::Full(p) => Some(ctx.check().map(|()| {
                let m = p.dot(&p.t());
                (&m + &m.t()) / 2.0
            })),
            Root::Diagonal(_) => None,
        };
        self.roots.iter().map(of).collect::<Option<Result<_>>>().transpose()
    }

    /// Inverse variances, k × d. Only for `diag` and `spherical`.
    pub fn inverse_variances(&self) -> Option<Array2<f64>> {
        let mut out = Array2::zeros(self.means.dim());
        for (root, mut to) in self.roots.iter().zip(out.rows_mut()) {
            let Root::Diagonal(p) = root else { return None };
            to.assign(&p.mapv(|v| v * v));
        }
        (self.shape != Covariance::Tied).then_some(out)
    }

    /// Log-density of every object under every component, n × k.
    ///
    /// # Errors
    /// Cancellation.
    pub fn log_densities(&self, data: &Data, ctx: &Context) -> Result<Array2<f64>> {
        let ((k, d), n) = (self.means.dim(), data.n());
        let constant = -0.5 * d as f64 * std::f64::consts::TAU.ln();
        let mean = |h: usize| self.means.row(h).to_slice().expect("standard layout");
        let diagonal = matches!(self.roots[0], Root::Diagonal(_));
        let mut out = Array2::zeros((n, k));
        let flat = out.as_slice_mut().expect("standard layout");
        let filled = reduce::over(flat.chunks_mut(reduce::BLOCK * k), |b, out| {
            let rows = reduce::block(b, n);
            let mut z = Array2::zeros((rows.len(), d));
            let mut product = Array2::zeros(if diagonal { (0, 0) } else { z.dim() });
            for h in 0..k {
                ctx.check()?;
                let at = h.min(self.roots.len() - 1);
                for (i, z) in rows.clone().zip(in_rows(&mut z)) {
                    centred(values(data, i), mean(h), z);
                }
                let y = match &self.roots[at] {
                    Root::Full(p) => {
                        general_mat_mul(1.0, &z, p, 0.0, &mut product);
                        &product
                    }
                    Root::Diagonal(p) => {
                        in_rows(&mut z)
                            .for_each(|z| z.iter_mut().zip(p).for_each(|(z, p)| *z *= p));
                        &z
                    }
                };
                let y = y.as_slice().expect("standard layout");
                let constant = constant + self.log_determinants[at];
                for (y, out) in y.chunks_exact(d).zip(out.chunks_exact_mut(k)) {
                    out[h] = constant - 0.5 * squared_norm(y);
                }
            }
            Ok(())
        });
        filled.into_iter().collect::<Result<()>>()?;
        Ok(out)
    }
}

/// Mean variance of the features; 1 where no feature varies.
pub fn mean_variance(data: &Data, ctx: &Context) -> Result<f64> {
    let n = data.n();
    let one = |_: usize, _: usize| 1.0;
    let spread = Gaussians::fit(data, 1, Covariance::Spherical, f64::MIN_POSITIVE, one, None, ctx)?;
    let precision = spread.inverse_variances().expect("spherical")[[0, 0]];
    let variance = 1.0 / precision;
    Ok(if n > 1 && variance > 1e-290 { variance } else { 1.0 })
}

#[inline]
fn values(data: &Data, i: usize) -> &[f64] {
    match data.row(i) {
        Row::Dense(x) | Row::Sparse(_, x) => x,
    }
}

/// The rows of a matrix in standard layout, each as a slice, over which loops are fast.
fn in_rows(z: &mut Array2<f64>) -> impl Iterator<Item = &mut [f64]> {
    let d = z.ncols();
    z.as_slice_mut().expect("standard layout").chunks_exact_mut(d)
}

/// x − m.
#[inline]
fn centred(x: &[f64], m: &[f64], to: &mut [f64]) {
    let (x, m) = (&x[..to.len()], &m[..to.len()]);
    for at in 0..to.len() {
        to[at] = x[at] - m[at];
    }
}

/// Σ y², to the bit that of `dot` of an array with itself.
#[inline]
fn squared_norm(y: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let eights = y.chunks_exact(8);
    let rest = eights.remainder();
    for y in eights {
        for lane in 0..8 {
            lanes[lane] += y[lane] * y[lane];
        }
    }
    let sum = (0..4).fold(0.0, |sum, lane| sum + (lanes[lane] + lanes[lane + 4]));
    rest.iter().fold(sum, |sum, y| sum + y * y)
}

/// Σ share x for each component, and Σ share in the last column.
fn shared_sums(
    data: &Data,
    k: usize,
    share: &(impl Fn(usize, usize) -> f64 + Sync),
) -> Array2<f64> {
    let d = data.d();
    let of_block = |rows: std::ops::Range<usize>| {
        let mut sums = Array2::<f64>::zeros((k, d + 1));
        let flat = sums.as_slice_mut().expect("standard layout");
        for i in rows {
            let x = values(data, i);
            for (h, to) in flat.chunks_exact_mut(d + 1).enumerate() {
                let r = share(i, h);
                if r != 0.0 {
                    to[d] += r;
                    let (to, x) = (&mut to[..d], &x[..d]);
                    for at in 0..d {
                        to[at] += r * x[at];
                    }
                }
            }
        }
        sums
    };
    let sums = reduce::reduce(data.n(), of_block, |a, b| a + b);
    sums.unwrap_or_else(|| Array2::zeros((k, d + 1)))
}

/// Rows whose products are summed at a time.
const PANEL: usize = 256;

/// Σ share (x − m)(x − m)ᵀ for each mean; only the diagonal, as one row, for diagonal shapes. Rows
/// without a share are left out: once components are apart that is nearly all of them.
fn scatter(
    data: &Data,
    means: &Array2<f64>,
    shape: Covariance,
    share: &(impl Fn(usize, usize) -> f64 + Sync),
    ctx: &Context,
) -> Result<Vec<Array2<f64>>> {
    let (k, d) = means.dim();
    let diagonal = shape.is_diagonal();
    let mean = |h: usize| means.row(h).to_slice().expect("standard layout");
    let of_block = |rows: std::ops::Range<usize>, h: usize, z: &mut Array2<f64>| {
        let mut sums = Array2::<f64>::zeros((if diagonal { 1 } else { d }, d));
        for from in rows.clone().step_by(PANEL) {
            let panel = from..rows.end.min(from + PANEL);
            let shared = panel.map(|i| (i, share(i, h))).filter(|(_, r)| *r != 0.0);
            let mut filled = 0;
            for (z, (i, r)) in in_rows(z).zip(shared) {
                centred(values(data, i), mean(h), z);
                // The root in both factors, so that the product is exactly symmetric.
                let root = r.sqrt();
                z.iter_mut().for_each(|z| *z *= root);
                filled += 1;
            }
            if diagonal {
                let sums = sums.as_slice_mut().expect("standard layout");
                for z in in_rows(z).take(filled) {
                    sums.iter_mut().zip(z).for_each(|(s, v)| *s += *v * *v);
                }
            } else if filled > 0 {
                let z = z.slice_axis(Axis(0), (..filled).into());
                general_mat_mul(1.0, &z.t(), &z, 1.0, &mut sums);
            }
        }
        sums
    };
    let sums = reduce::reduce(
        data.n(),
        |rows| {
            let mut z = Array2::zeros((PANEL.min(rows.len()), d));
            let of = |h| ctx.check().map(|()| of_block(rows.clone(), h, &mut z));
            (0..k).map(of).collect::<Result<Vec<_>>>()
        },
        |a, b| {
            let mut a = a?;
            a.iter_mut().zip(b?).for_each(|(a, b)| *a += &b);
            Ok(a)
        },
    );
    sums.unwrap_or_else(|| Ok(Vec::new()))
}

fn singular() -> Error {
    Error::NumericalFailure {
        place: "the covariance of a component is singular; raise reg_covar".into(),
    }
}

fn too_large() -> Error {
    Error::NumericalFailure { place: "a covariance: the features are too large to square".into() }
}

fn full_root(c: Array2<f64>, floor: f64, ctx: &Context) -> Result<(Root, f64)> {
    let c = (&c + &c.t()) / 2.0;
    if !c.iter().all(|v| v.is_finite()) {
        return Err(too_large());
    }
    let d = c.nrows();
    let (values, vectors) = symmetric_eigen(c, ctx)?;
    let noise = values.iter().fold(0.0f64, |m, v| m.max(*v)) * d as f64 * f64::EPSILON;
    let values = values.mapv(|v| v.max(floor));
    if values.iter().any(|&v| v <= 0.0 || (floor == 0.0 && v <= noise)) {
        return Err(singular());
    }
    let log_determinant = -0.5 * values.iter().map(|v| v.ln()).sum::<f64>();
    Ok((Root::Full(&vectors * &values.mapv(|v| 1.0 / v.sqrt())), log_determinant))
}

fn diagonal_root(variances: ArrayView1<f64>, shape: Covariance, floor: f64) -> Result<(Root, f64)> {
    let mean = variances.sum() / variances.len() as f64;
    let variances = match shape {
        Covariance::Spherical => Array1::from_elem(variances.len(), mean),
        _ => variances.to_owned(),
    };
    if !variances.iter().all(|v| v.is_finite()) {
        return Err(too_large());
    }
    let variances = variances.mapv(|v| v.max(floor));
    if variances.iter().any(|&v| v <= 0.0) {
        return Err(singular());
    }
    let log_determinant = -0.5 * variances.iter().map(|v| v.ln()).sum::<f64>();
    Ok((Root::Diagonal(variances.mapv(|v| 1.0 / v.sqrt())), log_determinant))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn closed_form_of_one_component() {
        let x = array![[0.0, 0.0], [2.0, 0.0], [0.0, 4.0], [2.0, 4.0], [1.0, 2.0]];
        let data = Data::dense(x).unwrap();
        let at = |shape| {
            let g =
                Gaussians::fit(&data, 1, shape, 0.0, |_, _| 1.0, None, &Context::new(1)).unwrap();
            assert_eq!(g.means, array![[1.0, 2.0]]);
            // Variances 4/5 and 16/5, uncorrelated.
            let logs = g.log_densities(&data, &Context::new(1)).unwrap();
            (logs[[4, 0]], logs[[0, 0]])
        };
        let tau = std::f64::consts::TAU;
        let full = (-tau.ln() - 0.5 * (0.8f64 * 3.2).ln(), 0.5 * (1.0 / 0.8 + 4.0 / 3.2));
        let round = (-tau.ln() - 2f64.ln(), 0.5 * 5.0 / 2.0);
        for (shape, (centre, fall)) in [
            (Covariance::Full, full),
            (Covariance::Tied, full),
            (Covariance::Diag, full),
            (Covariance::Spherical, round),
        ] {
            let (a, b) = at(shape);
            assert!((a - centre).abs() < 1e-12, "{shape:?}: {a} {centre}");
            assert!((b - (centre - fall)).abs() < 1e-12, "{shape:?}");
        }
    }

    #[test]
    fn squared_norms_have_the_bits_of_a_dot_product() {
        let mut s = SeedPath::new(3).stream("y");
        for d in 1..40 {
            let y: Vec<f64> = (0..d).map(|_| s.normal()).collect();
            let view = ArrayView1::from(&y);
            assert_eq!(squared_norm(&y).to_bits(), view.dot(&view).to_bits(), "{d}");
        }
    }

    #[test]
    fn singular_and_too_large_are_named() {
        let flat = Data::dense(array![[0.0, 1.0], [1.0, 1.0], [3.0, 1.0]]).unwrap();
        let large = Data::dense(array![[0.0, 1e200], [1.0, -1e200]]).unwrap();
        for shape in [Covariance::Full, Covariance::Tied, Covariance::Diag] {
            let fit = |data: &Data, floor| {
                Gaussians::fit(data, 1, shape, floor, |_, _| 1.0, None, &Context::new(1))
            };
            assert_eq!(fit(&flat, 0.0).unwrap_err(), singular());
            assert!(fit(&flat, 1e-6).is_ok());
            assert_eq!(fit(&large, 1e-6).unwrap_err(), too_large());
        }
    }

    #[test]
    fn a_component_without_weight_stays() {
        let data = Data::dense(array![[0.0], [1.0], [5.0], [7.0]]).unwrap();
        for shape in [Covariance::Full, Covariance::Tied, Covariance::Diag, Covariance::Spherical] {
            let one = |i: usize, h: usize| f64::from(u8::from(h == usize::from(i >= 2)));
            let before =
                Gaussians::fit(&data, 2, shape, 1e-6, one, None, &Context::new(1)).unwrap();
            let first = |_: usize, h: usize| f64::from(u8::from(h == 0));
            let after =
                Gaussians::fit(&data, 2, shape, 1e-6, first, Some(&before), &Context::new(1))
                    .unwrap();
            assert_eq!(after.means.row(1), before.means.row(1));
            let fresh =
                Gaussians::fit(&data, 2, shape, 1e-6, first, None, &Context::new(1)).unwrap();
            assert_eq!(fresh.means.row(0), fresh.means.row(1));
        }
    }

    #[test]
    fn many_features_hear_cancelling() {
        let mut s = SeedPath::new(1).stream("data");
        let data = Data::dense(Array2::from_shape_fn((20, 90), |_| s.normal())).unwrap();
        let share = |i: usize, h: usize| f64::from(u8::from(i % 2 == h));
        let fit = |ctx: &Context| {
            let fitted = Gaussians::fit(&data, 2, Covariance::Full, 1e-6, share, None, ctx)?;
            fitted.log_densities(&data, ctx)?;
            fitted.precisions(ctx)
        };
        // A covariance is a thousand times a row of it: each is looked at row by row, in every part of
        // its decomposition.
        let counted = Context::builder(SeedPath::new(1)).count_looks().build();
        fit(&counted).unwrap();
        assert!(counted.looks() > 2 * 3 * 80, "{}", counted.looks());
        for looks in 0..counted.looks() {
            let ctx = Context::builder(SeedPath::new(1)).cancel_after(looks).build();
            assert_eq!(fit(&ctx).unwrap_err(), Error::Cancelled, "{looks}");
        }
    }
}
