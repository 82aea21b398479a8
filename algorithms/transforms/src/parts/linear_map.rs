//! Shared code of the transforms that learn a metric.
//!
//! Moments of objects, symmetric eigen-decompositions, and the linear map they end with.

use mustlink_core::prelude::*;
use mustlink_kernels::graph::eigen;
use ndarray::{Array1, Array2, Axis};

use crate::parts::refused::{misfit, no_such_step};

pub(crate) fn values(data: &Data, i: u32) -> &[f64] {
    match data.row(i as usize) {
        Row::Dense(x) | Row::Sparse(_, x) => x,
    }
}

/// Mean of some objects, taken from the first on, so that equal objects have exactly that mean.
pub(crate) fn mean(data: &Data, objects: &[u32]) -> Vec<f64> {
    let first = values(data, objects[0]);
    let shift = reduce::reduce(
        objects.len(),
        |range| {
            let mut sum = vec![0.0; data.d()];
            for &i in &objects[range] {
                for ((to, x), o) in sum.iter_mut().zip(values(data, i)).zip(first) {
                    *to += x - o;
                }
            }
            sum
        },
        |mut a, b| {
            a.iter_mut().zip(&b).for_each(|(a, b)| *a += b);
            a
        },
    )
    .unwrap_or_default();
    first.iter().zip(&shift).map(|(o, s)| o + s / objects.len() as f64).collect()
}

/// Mean of (x − m)(x − m)ᵀ over `count` objects; `pick` gives the object and its m.
pub(crate) fn covariance<'a>(
    tag: &str,
    data: &Data,
    count: usize,
    pick: impl Fn(usize) -> (u32, &'a [f64]) + Sync,
) -> Result<Array2<f64>> {
    let d = data.d();
    let sum = reduce::reduce(
        count,
        |range| {
            let mut z = Array2::zeros((range.len(), d));
            for (at, mut to) in range.zip(z.axis_iter_mut(Axis(0))) {
                let (i, m) = pick(at);
                for ((to, x), m) in to.iter_mut().zip(values(data, i)).zip(m) {
                    *to = x - m;
                }
            }
            z.t().dot(&z)
        },
        |a, b| a + b,
    )
    .unwrap_or_else(|| Array2::zeros((d, d)));
    let c = (&sum + &sum.t()) / (2.0 * count as f64);
    if c.iter().all(|v| v.is_finite()) { Ok(c) } else { Err(too_large(tag)) }
}

/// Eigenvalues in descending order with their vectors as columns, each with its largest entry
/// positive.
///
/// # Errors
/// `NumericalFailure` for entries that are not finite; cancellation.
pub(crate) fn eigen(
    tag: &str,
    c: &Array2<f64>,
    ctx: &Context,
) -> Result<(Array1<f64>, Array2<f64>)> {
    let found = eigen::symmetric_until(c, ctx).map_err(|e| e.at(tag))?;
    let order = order::descending(&found.values);
    let values = Array1::from(found.values).select(Axis(0), &order);
    let mut vectors = found.vectors.select(Axis(1), &order);
    fix_signs(&mut vectors);
    Ok((values, vectors))
}

/// Mean of all objects, variances along the principal directions (descending), and these as columns.
pub(crate) fn spread(
    tag: &str,
    data: &Data,
    ctx: &Context,
) -> Result<(Vec<f64>, Array1<f64>, Array2<f64>)> {
    let objects: Vec<u32> = (0..data.n() as u32).collect();
    let centre = mean(data, &objects);
    let c = covariance(tag, data, objects.len(), |at| (objects[at], &centre))?;
    let (values, vectors) = eigen(tag, &c, ctx)?;
    Ok((centre, values, vectors))
}

/// Makes the largest entry of each column positive, because the sign of a direction is arbitrary.
pub(crate) fn fix_signs(vectors: &mut Array2<f64>) {
    for mut v in vectors.axis_iter_mut(Axis(1)) {
        let largest = v.iter().fold(0.0f64, |m, &x| if x.abs() > m.abs() { x } else { m });
        if largest < 0.0 {
            v.mapv_inplace(|x| -x);
        }
    }
}

/// Number of eigenvalues (descending) above rounding.
pub(crate) fn rank(values: &Array1<f64>) -> usize {
    above(values, values.len())
}

/// The same where a direction of nothing but rounding would do harm: of few features the sums over
/// objects leave more of it than the decomposition.
pub(crate) fn certain_rank(values: &Array1<f64>) -> usize {
    above(values, values.len().max(64))
}

/// Number of eigenvalues (descending) above so many units of rounding of the first.
fn above(values: &Array1<f64>, units: usize) -> usize {
    let floor = values[0].max(0.0) * units as f64 * f64::EPSILON;
    values.iter().take_while(|&&v| v > floor).count()
}

/// The symmetric matrix with these eigenvalues and vectors, each eigenvalue changed by `to`.
pub(crate) fn recompose(
    values: &Array1<f64>,
    vectors: &Array2<f64>,
    to: impl Fn(f64) -> f64,
) -> Array2<f64> {
    let c = (vectors * &values.mapv(to)).dot(&vectors.t());
    (&c + &c.t()) / 2.0
}

/// Error for squares that are not finite.
pub(crate) fn too_large(tag: &str) -> Error {
    Error::NumericalFailure { place: format!("{tag}: the features are too large to square") }
}

/// x becomes T·x; without T it stays. A model keeps T alone.
#[derive(Serialize)]
#[serde(transparent)]
pub(crate) struct LinearMap {
    #[serde(skip)]
    tag: &'static str,
    t: Option<Array2<f64>>,
}

impl LinearMap {
    /// The map x → T·x learned by the transform `tag`.
    pub(crate) fn new(tag: &'static str, t: Array2<f64>) -> Self {
        LinearMap { tag, t: Some(t.as_standard_layout().into_owned()) }
    }

    /// The map that a model keeps.
    pub(crate) fn restored(tag: &'static str, saved: &Value) -> Result<Box<dyn Fitted>> {
        let t = Option::<Array2<f64>>::deserialize(saved).map_err(|e| no_such_step(tag, e))?;
        if let Some((to, from)) = t.as_ref().map(Array2::dim).filter(|d| d.0 == 0 || d.1 == 0) {
            return Err(no_such_step(tag, format_args!("a map of {from} features to {to}")));
        }
        Ok(Box::new(t.map_or(LinearMap::identity(tag), |t| LinearMap::new(tag, t))))
    }

    /// The map that changes nothing.
    pub(crate) fn identity(tag: &'static str) -> Self {
        LinearMap { tag, t: None }
    }
}

impl Fitted for LinearMap {
    fn apply(&self, data: &Data) -> Result<Data> {
        let Some(t) = &self.t else { return Ok(data.clone()) };
        let (to, d) = t.dim();
        if data.kind() != DataKind::Dense || data.d() != d {
            return Err(misfit(self.tag, format_args!("{d} dense features"), data.d()));
        }
        let n = data.n();
        let mut out = vec![0.0; n * to];
        reduce::over(out.chunks_mut(reduce::BLOCK * to), |b, out| {
            let rows = reduce::block(b, n);
            let mut x = Array2::zeros((rows.len(), d));
            for (i, mut row) in rows.zip(x.axis_iter_mut(Axis(0))) {
                row.iter_mut().zip(values(data, i as u32)).for_each(|(to, v)| *to = *v);
            }
            let y = x.dot(&t.t());
            out.iter_mut().zip(y.iter()).for_each(|(to, v)| *to = *v);
        });
        Data::dense(Array2::from_shape_vec((n, to), out).expect("n times dim values"))
    }

    fn features(&self) -> Features {
        // A map that only scales leaves every feature what it is.
        let scales = |t: &Array2<f64>| {
            t.is_square() && t.indexed_iter().all(|((to, from), &v)| to == from || v == 0.0)
        };
        if self.t.as_ref().is_none_or(scales) { Features::Same } else { Features::New }
    }

    fn weights(&self) -> Option<Vec<f64>> {
        // The diagonal of TᵀT.
        self.t.as_ref().map(|t| t.columns().into_iter().map(|c| c.dot(&c)).collect())
    }

    fn saved(&self) -> Option<Value> {
        kept(self)
    }
}
