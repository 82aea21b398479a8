//! Mahalanobis metrics: their storage, their application, and their estimation from scatter.
//!
//! A metric is a positive definite A with ‖x‖² = xᵀAx, diagonal or full. The A that minimises
//! tr(AB) − c·log det A for a scatter B is c·B⁻¹; where B is not safely positive, [`Floors`] say
//! what happens.
//!
//! Sources: [Bilenko2004] eq. 3–6; [Eaton2005] §2.6 (the metric that minimises the objective).

use ndarray::{Array2, Axis};

use mustlink_core::prelude::{__mustlink, options};
use mustlink_core::{Context, Error, Result};

use crate::distance::points::inner_product;
use crate::symmetric_eigen::symmetric_eigen;

/// Treatment of a scatter that has no inverse.
#[options]
pub enum Singular {
    /// Raise its small entries (diagonal) or eigenvalues (full) to a floor.
    #[default]
    Ridge,
    /// Keep the old weight for entries that are not positive; keep a full metric as a whole.
    KeepPrevious,
    /// Go back to Euclidean distances.
    Identity,
}

/// A positive definite matrix that measures differences.
#[derive(Debug, Clone, PartialEq)]
pub enum Metric {
    /// A weight per feature.
    Diagonal(Vec<f64>),
    /// A whole matrix.
    Full {
        /// A.
        matrix: Array2<f64>,
        /// F with A = F·Fᵀ.
        factor: Array2<f64>,
        /// log det A.
        log_det: f64,
    },
}

impl Metric {
    /// The Euclidean metric in d dimensions.
    pub fn identity(full: bool, d: usize) -> Self {
        if full {
            Metric::Full { matrix: Array2::eye(d), factor: Array2::eye(d), log_det: 0.0 }
        } else {
            Metric::Diagonal(vec![1.0; d])
        }
    }

    /// A whole matrix; `None` where it is not positive definite.
    pub fn from_matrix(matrix: Array2<f64>) -> Option<Self> {
        let (values, vectors) = symmetric_eigen(matrix.clone(), &Context::new(0)).ok()?;
        if values.iter().any(|v| *v <= 0.0 || !v.is_finite()) {
            return None;
        }
        let log_det = values.iter().map(|v| v.ln()).sum();
        let factor = (vectors * values.mapv(f64::sqrt)).as_standard_layout().into_owned();
        Some(Metric::Full { matrix, factor, log_det })
    }

    /// log det A, from its factors.
    pub fn log_det(&self) -> f64 {
        match self {
            Metric::Diagonal(a) => a.iter().map(|v| v.ln()).sum(),
            Metric::Full { log_det, .. } => *log_det,
        }
    }

    /// Rows whose squared Euclidean distances are the distances of `rows` under this metric.
    pub fn image(&self, mut rows: Array2<f64>) -> Array2<f64> {
        match self {
            Metric::Diagonal(a) => {
                let roots: Vec<f64> = a.iter().map(|v| v.sqrt()).collect();
                for mut row in rows.rows_mut() {
                    row.iter_mut().zip(&roots).for_each(|(x, r)| *x *= r);
                }
                rows
            }
            Metric::Full { factor, .. } => rows.dot(factor),
        }
    }

    /// A·x for every row x.
    pub fn applied(&self, rows: &Array2<f64>) -> Array2<f64> {
        match self {
            Metric::Diagonal(a) => {
                let mut out = rows.clone();
                for mut row in out.rows_mut() {
                    row.iter_mut().zip(a).for_each(|(x, w)| *x *= w);
                }
                out
            }
            Metric::Full { matrix, .. } => rows.dot(matrix),
        }
    }

    /// xᵀAx.
    pub fn square(&self, x: &[f64]) -> f64 {
        match self {
            Metric::Diagonal(a) => x.iter().zip(a).map(|(v, w)| v * v * w).sum(),
            Metric::Full { matrix, .. } => {
                let rows = matrix.rows().into_iter();
                let product = |row: ndarray::ArrayView1<f64>| {
                    inner_product(row.to_slice().expect("standard layout"), x)
                };
                rows.zip(x).map(|(row, v)| v * product(row)).sum()
            }
        }
    }

    /// tr(AB).
    pub fn trace_with(&self, scatter: &Scatter) -> f64 {
        match (self, scatter) {
            (Metric::Diagonal(a), Scatter::Diagonal(b)) => {
                a.iter().zip(b).map(|(x, y)| x * y).sum()
            }
            (Metric::Full { matrix, .. }, Scatter::Full(b)) => (matrix * b).sum(),
            _ => unreachable!("metric and scatter of one form"),
        }
    }
}

/// A sum of c·xxᵀ, of which diagonal metrics need the diagonal only.
#[derive(Debug, Clone, PartialEq)]
pub enum Scatter {
    /// The diagonal.
    Diagonal(Vec<f64>),
    /// All of it.
    Full(Array2<f64>),
}

impl Scatter {
    /// Nothing yet, in d dimensions.
    pub fn zero(full: bool, d: usize) -> Self {
        if full { Scatter::Full(Array2::zeros((d, d))) } else { Scatter::Diagonal(vec![0.0; d]) }
    }

    /// Adds c·xxᵀ.
    pub fn add_square(&mut self, c: f64, x: &[f64]) {
        self.add_product(c, x, x);
    }

    /// Adds c·(xyᵀ + yxᵀ)/2.
    pub fn add_product(&mut self, c: f64, x: &[f64], y: &[f64]) {
        match self {
            Scatter::Diagonal(b) => {
                b.iter_mut().zip(x).zip(y).for_each(|((b, v), w)| *b += c * v * w);
            }
            Scatter::Full(b) => {
                for (mut row, (v, w)) in b.rows_mut().into_iter().zip(x.iter().zip(y)) {
                    let (v, w) = (0.5 * c * v, 0.5 * c * w);
                    row.iter_mut().zip(x.iter().zip(y)).for_each(|(b, (p, q))| *b += v * q + w * p);
                }
            }
        }
    }

    /// Adds xxᵀ for every row x.
    pub fn add_rows(&mut self, rows: &Array2<f64>) {
        match self {
            Scatter::Diagonal(_) => {
                for row in rows.rows() {
                    self.add_square(1.0, row.to_slice().expect("standard layout"));
                }
            }
            Scatter::Full(b) => *b += &rows.t().dot(rows),
        }
    }

    /// Adds another sum.
    pub fn add(&mut self, other: &Scatter) {
        match (self, other) {
            (Scatter::Diagonal(a), Scatter::Diagonal(b)) => {
                a.iter_mut().zip(b).for_each(|(x, y)| *x += y);
            }
            (Scatter::Full(a), Scatter::Full(b)) => *a += b,
            _ => unreachable!("scatters of one form"),
        }
    }
}

/// When a scatter counts as singular, and what then.
#[derive(Debug, Clone)]
pub struct Floors {
    /// The rule.
    pub singular: Singular,
    /// Smallest entry (of the mean variance) or eigenvalue (of the largest) that stands, relative.
    pub relative: f64,
    /// Mean over features of the variance of the data.
    pub mean_variance: f64,
    /// Largest magnitude of each feature: sums of squares below its rounding error do not count as scatter.
    pub magnitude: Vec<f64>,
}

impl Floors {
    /// The metric `c`·B⁻¹ of a scatter of `count` objects.
    ///
    /// # Errors
    /// `NumericalFailure` when the eigenvalues of a full scatter cannot be found.
    pub fn invert(&self, b: &Scatter, c: f64, count: f64, previous: &Metric) -> Result<Metric> {
        match b {
            _ if self.mean_variance == 0.0 => {
                Ok(Metric::identity(matches!(b, Scatter::Full(_)), self.magnitude.len()))
            }
            Scatter::Diagonal(b) => Ok(self.diagonal(b, c, count, previous)),
            Scatter::Full(b) => self.full(b, c, previous),
        }
    }

    fn diagonal(&self, b: &[f64], c: f64, count: f64, previous: &Metric) -> Metric {
        if self.singular == Singular::Ridge {
            let floor = count * self.relative * self.mean_variance;
            return Metric::Diagonal(b.iter().map(|&b| c / b.max(floor)).collect());
        }
        let is_scatter = |s: usize| {
            let rounding = 4.0 * f64::EPSILON * self.magnitude[s];
            b[s] > count * rounding * rounding && (c / b[s]).is_finite()
        };
        match (self.singular, previous) {
            (Singular::KeepPrevious, Metric::Diagonal(old)) => Metric::Diagonal(
                (0..b.len()).map(|s| if is_scatter(s) { c / b[s] } else { old[s] }).collect(),
            ),
            _ if (0..b.len()).all(is_scatter) => {
                Metric::Diagonal(b.iter().map(|b| c / b).collect())
            }
            _ => Metric::identity(false, b.len()),
        }
    }

    fn full(&self, b: &Array2<f64>, c: f64, previous: &Metric) -> Result<Metric> {
        let symmetric = (b + &b.t()) * 0.5;
        let failed = || Error::NumericalFailure { place: "eigenvalues of a scatter matrix".into() };
        if symmetric.iter().any(|v| !v.is_finite()) {
            return Err(failed());
        }
        let (values, vectors) =
            symmetric_eigen(symmetric, &Context::new(0)).map_err(|_| failed())?;
        let largest = values.iter().copied().fold(f64::MIN, f64::max);
        let smallest = values.iter().copied().fold(f64::MAX, f64::min);
        let identity = || Metric::identity(true, b.nrows());
        if largest <= 0.0 {
            return Ok(if self.singular == Singular::KeepPrevious {
                previous.clone()
            } else {
                identity()
            });
        }
        match self.singular {
            // Beyond this condition an inverse has no correct digit.
            Singular::KeepPrevious if smallest <= 1e-14 * largest => return Ok(previous.clone()),
            Singular::Identity if smallest <= 1e-14 * largest => return Ok(identity()),
            _ => {}
        }
        let floor = if self.singular == Singular::Ridge { self.relative * largest } else { 0.0 };
        let weights: Vec<f64> = values.iter().map(|v| c / v.max(floor)).collect();
        let mut factor = vectors;
        for (mut column, w) in factor.axis_iter_mut(Axis(1)).zip(&weights) {
            column.mapv_inplace(|v| v * w.sqrt());
        }
        let factor = factor.as_standard_layout().into_owned();
        let matrix = factor.dot(&factor.t()).as_standard_layout().into_owned();
        Ok(Metric::Full { matrix, factor, log_det: weights.iter().map(|w| w.ln()).sum() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    fn floors(singular: Singular) -> Floors {
        Floors { singular, relative: 1e-9, mean_variance: 1.0, magnitude: vec![1.0; 2] }
    }

    #[test]
    fn a_safe_scatter_is_inverted() {
        let old = Metric::identity(false, 2);
        let b = Scatter::Diagonal(vec![2.0, 8.0]);
        for rule in [Singular::Ridge, Singular::KeepPrevious, Singular::Identity] {
            let a = floors(rule).invert(&b, 4.0, 4.0, &old).unwrap();
            assert_eq!(a, Metric::Diagonal(vec![2.0, 0.5]));
        }
        let b = array![[2.0, 1.0], [1.0, 2.0]];
        let old = Metric::identity(true, 2);
        let a = floors(Singular::Ridge).invert(&Scatter::Full(b.clone()), 3.0, 3.0, &old).unwrap();
        let Metric::Full { matrix, factor, log_det } = &a else { panic!("full") };
        assert!((matrix.dot(&b) - Array2::<f64>::eye(2) * 3.0).iter().all(|v| v.abs() < 1e-12));
        assert!((factor.dot(&factor.t()) - matrix).iter().all(|v| v.abs() < 1e-12));
        // det A = 3² / det B = 9 / 3.
        assert!((log_det - 3.0f64.ln()).abs() < 1e-12);
        let x = [1.0, -2.0];
        let image = a.image(array![[1.0, -2.0]]);
        assert!((a.square(&x) - image.row(0).dot(&image.row(0))).abs() < 1e-12);
        assert!((a.trace_with(&Scatter::Full(b)) - 6.0).abs() < 1e-12);
    }

    #[test]
    fn a_scatter_with_a_nearly_diagonal_block_is_inverted() {
        let b = array![[0.1, 1e-16, 0.0], [1e-16, 0.2, 0.0], [0.0, 0.0, 1.0]];
        let (old, floors) = (Metric::identity(true, 3), floors(Singular::Ridge));
        let a = floors.invert(&Scatter::Full(b.clone()), 1.0, 1.0, &old).unwrap();
        let Metric::Full { matrix, .. } = &a else { panic!("full") };
        assert!((matrix.dot(&b) - Array2::<f64>::eye(3)).iter().all(|v| v.abs() < 1e-12), "{a:?}");
    }

    #[test]
    fn a_singular_scatter_follows_the_rule() {
        let old = Metric::Diagonal(vec![3.0, 5.0]);
        let b = Scatter::Diagonal(vec![2.0, 0.0]);
        let by = |rule, b: &Scatter, old: &Metric| floors(rule).invert(b, 4.0, 4.0, old).unwrap();
        let Metric::Diagonal(a) = by(Singular::Ridge, &b, &old) else { panic!("full") };
        assert!(a[0] == 2.0 && (a[1] - 1e9).abs() < 1.0, "{a:?}");
        assert_eq!(by(Singular::KeepPrevious, &b, &old), Metric::Diagonal(vec![2.0, 5.0]));
        assert_eq!(by(Singular::Identity, &b, &old), Metric::Diagonal(vec![1.0, 1.0]));
        // One direction without spread, and an indefinite scatter.
        for b in [array![[1.0, 1.0], [1.0, 1.0]], array![[1.0, 0.0], [0.0, -1.0]]] {
            let (b, old) = (Scatter::Full(b), Metric::identity(true, 2));
            assert_eq!(by(Singular::KeepPrevious, &b, &old), old);
            assert_eq!(by(Singular::Identity, &b, &old), old);
            let a = by(Singular::Ridge, &b, &old);
            assert!(a.log_det().is_finite() && a.square(&[1.0, 0.3]) > 0.0);
        }
    }

    #[test]
    fn log_det_does_not_underflow() {
        // det = 1e-1200: a product of the entries would be 0.
        let a = Metric::Diagonal(vec![1e-3; 400]);
        assert!((a.log_det() + 400.0 * 1000.0f64.ln()).abs() < 1e-9);
    }
}
