//! Scaling of every feature to mean 0 and standard deviation 1.

use mustlink_core::prelude::*;

use crate::min_max::{by_feature, is_constant, ranges};

/// Standard deviation that features are divided by.
#[options]
pub enum Deviation {
    /// √(Σ(x − mean)² / n).
    #[default]
    Population,
    /// √(Σ(x − mean)² / (n − 1)).
    Sample,
}

/// Shifts and scales every feature to mean 0 and standard deviation 1; a constant feature becomes 0.
///
/// # Method
/// (x − mean) / deviation, feature by feature, over all rows; the mean is computed first, then the squared
/// differences.
/// # Input and output
/// n × d dense; the same shape. Sparse data are rejected, because shifting would fill their zeros: add `densify`
/// first.
/// # Errors
/// `Feature` when the squares of a feature exceed the largest number, or are too small to be distinguished from 0.
/// # Cost and randomness
/// O(n·d); not random.
#[options]
pub struct ZScore {
    /// Standard deviation that features are divided by. The two differ by the factor √(n / (n − 1)), the same for all
    /// features.
    pub deviation: Deviation,
}

/// Sum of `f(feature, value)` over all rows, per feature.
fn sums(data: &Data, f: impl Fn(usize, f64) -> f64 + Sync) -> Vec<f64> {
    let d = data.d();
    reduce::reduce(
        data.n(),
        |rows| {
            let mut sum = vec![0.0; d];
            for i in rows {
                if let Row::Dense(x) = data.row(i) {
                    (0..d).for_each(|s| sum[s] += f(s, x[s]));
                }
            }
            sum
        },
        |mut a, b| {
            a.iter_mut().zip(&b).for_each(|(a, b)| *a += b);
            a
        },
    )
    .unwrap_or_default()
}

#[plugin("z_score")]
impl Transform for ZScore {
    fn fit(&self, problem: &Problem, _: &Context) -> Result<Box<dyn Fitted>> {
        let data = &problem.data;
        let n = data.n() as f64;
        let means: Vec<f64> = sums(data, |_, x| x).iter().map(|s| s / n).collect();
        let squares = sums(data, |s, x| (x - means[s]) * (x - means[s]));
        let divisor = match self.deviation {
            Deviation::Population => n,
            Deviation::Sample => n - 1.0,
        };
        let mut features = Vec::with_capacity(means.len());
        for (s, (low, high)) in ranges(data).into_iter().enumerate() {
            // Asked of the values, not of the deviation: rounding of the mean can leave a constant
            // feature a deviation just above 0.
            if is_constant(low, high) {
                features.push(None);
                continue;
            }
            let deviation = (squares[s] / divisor).sqrt();
            if !means[s].is_finite() || !deviation.is_normal() {
                let message = format!(
                    "z_score cannot divide by its deviation, {deviation:e}; put min_max first among the \
                     transforms"
                );
                return Err(Error::Feature { feature: s, message });
            }
            features.push(Some((means[s], deviation)));
        }
        Ok(Box::new(Standardise { features }))
    }

    fn properties(&self) -> TransformProperties {
        TransformProperties { accepts: vec![DataKind::Dense], ..TransformProperties::default() }
    }

    fn restore(&self, saved: &Value) -> Result<Box<dyn Fitted>> {
        restored::<Standardise>("z_score", saved)
    }
}

#[derive(Serialize, Deserialize)]
struct Standardise {
    /// Mean and deviation; `None` for a constant feature.
    features: Vec<Option<(f64, f64)>>,
}

impl Fitted for Standardise {
    fn apply(&self, data: &Data) -> Result<Data> {
        by_feature("z_score", data, self.features.len(), |s, x| {
            self.features[s].map_or(0.0, |(mean, deviation)| (x - mean) / deviation)
        })
    }

    fn saved(&self) -> Option<Value> {
        kept(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, array};
    use proptest::prelude::*;

    fn scaled(x: Array2<f64>, deviation: Deviation) -> Result<Array2<f64>> {
        let problem = Problem::new(Data::dense(x)?);
        let fitted = ZScore { deviation }.fit(&problem, &Context::new(1))?;
        Ok(fitted.apply(&problem.data)?.to_dense())
    }

    #[test]
    fn a_feature_that_differs_by_rounding_is_constant() {
        let y = scaled(array![[0.3, 1.0], [0.30000000000000004, 2.0]], Deviation::Population);
        assert_eq!(y.unwrap(), array![[0.0, -1.0], [0.0, 1.0]]);
    }

    #[test]
    fn by_hand() {
        // Mean 4; squared differences 9 + 1 + 1 + 9 = 20: deviation √5, or √(20/3).
        let x = array![[1.0, 0.1], [3.0, 0.1], [5.0, 0.1], [7.0, 0.1]];
        let y = scaled(x.clone(), Deviation::Population).unwrap();
        for (i, v) in [-3.0, -1.0, 1.0, 3.0].into_iter().enumerate() {
            assert!((y[[i, 0]] - v / 5f64.sqrt()).abs() < 1e-15);
            assert_eq!(y[[i, 1]], 0.0);
        }
        let y = scaled(x, Deviation::Sample).unwrap();
        assert!((y[[3, 0]] - 3.0 / (20f64 / 3.0).sqrt()).abs() < 1e-15);
    }

    #[test]
    fn a_constant_feature_stays_constant_whatever_the_rounding() {
        let y = scaled(Array2::from_elem((7, 1), 0.1), Deviation::Sample).unwrap();
        assert!(y.iter().all(|&v| v == 0.0));
        let y = scaled(array![[3.0]], Deviation::Sample).unwrap();
        assert_eq!(y, array![[0.0]]);
    }

    #[test]
    fn squares_beyond_all_numbers_are_an_error() {
        let message = scaled(array![[1e200], [-1e200]], Deviation::Population).unwrap_err();
        assert_eq!(
            message.to_string(),
            "data: feature 0: z_score cannot divide by its deviation, inf; put min_max first among the transforms"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Mean 0 and deviation 1, and a shift or a positive scale of the feature changes nothing.
        #[test]
        fn mean_and_deviation(
            x in proptest::collection::vec(-100f64..100.0, 3..40),
            shift in -100f64..100.0,
            scale in 0.1f64..10.0,
        ) {
            let n = x.len();
            let column = |x: Vec<f64>| Array2::from_shape_vec((n, 1), x).unwrap();
            let y = scaled(column(x.clone()), Deviation::Population).unwrap();
            let mean = y.sum() / n as f64;
            let variance = y.mapv(|v| v * v).sum() / n as f64;
            prop_assert!(mean.abs() < 1e-9 && (variance - 1.0).abs() < 1e-9);
            let moved = x.iter().map(|v| scale * v + shift).collect();
            let z = scaled(column(moved), Deviation::Population).unwrap();
            prop_assert!((&y - &z).iter().all(|v| v.abs() < 1e-6));
        }
    }
}
