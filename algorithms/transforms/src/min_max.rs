//! Scaling of every feature to the range [0, 1].

use mustlink_core::prelude::*;

use crate::l2_rows::by_row;
use crate::parts::refused::misfit;

/// Scales every feature linearly to [0, 1]; a constant feature becomes 0.
///
/// # Method
/// (x − smallest) / (largest − smallest), feature by feature, over all rows.
/// # Input and output
/// n × d dense; the same shape. Sparse data are rejected, because shifting would fill their zeros: add `densify`
/// first.
/// # Errors
/// `Feature` when the range of a feature exceeds the largest number.
/// # Cost and randomness
/// O(n·d); not random.
#[options]
pub struct MinMax {}

#[plugin("min_max")]
impl Transform for MinMax {
    fn fit(&self, problem: &Problem, _: &Context) -> Result<Box<dyn Fitted>> {
        let ranges = finite_ranges(&problem.data)?;
        Ok(Box::new(Scale { ranges }))
    }

    fn properties(&self) -> TransformProperties {
        TransformProperties {
            accepts: vec![DataKind::Dense],
            any_magnitude: true,
            ..TransformProperties::default()
        }
    }

    fn restore(&self, saved: &Value) -> Result<Box<dyn Fitted>> {
        restored::<Scale>("min_max", saved)
    }
}

/// Smallest and largest known value of every feature of dense data or a table.
pub(crate) fn ranges(data: &Data) -> Vec<(f64, f64)> {
    let empty = vec![(f64::INFINITY, f64::NEG_INFINITY); data.d()];
    reduce::reduce(
        data.n(),
        |rows| {
            let mut ranges = empty.clone();
            for i in rows {
                if let Row::Dense(x) = data.row(i) {
                    for (range, &v) in ranges.iter_mut().zip(x) {
                        *range = (range.0.min(v), range.1.max(v));
                    }
                }
            }
            ranges
        },
        |a, b| a.iter().zip(&b).map(|(a, b)| (a.0.min(b.0), a.1.max(b.1))).collect(),
    )
    .unwrap_or_default()
}

/// The ranges, unless one exceeds the largest number.
pub(crate) fn finite_ranges(data: &Data) -> Result<Vec<(f64, f64)>> {
    let ranges = ranges(data);
    for (feature, &(low, high)) in ranges.iter().enumerate() {
        if high > low && !(high - low).is_finite() {
            let message = format!(
                "no number is as large as the range from {low:e} to {high:e}; make the values smaller, or \
                 leave the column out (--ignore)"
            );
            return Err(Error::Feature { feature, message });
        }
    }
    Ok(ranges)
}

/// True if a feature of this range is constant: its values differ by less than what rounding leaves of a sum.
pub(crate) fn is_constant(low: f64, high: f64) -> bool {
    high - low <= 4.0 * f64::EPSILON * low.abs().max(high.abs())
}

/// Rewrites dense data feature by feature: `f(feature, value)`.
pub(crate) fn by_feature(
    plugin: &str,
    data: &Data,
    d: usize,
    f: impl Fn(usize, f64) -> f64 + Sync,
) -> Result<Data> {
    if data.kind() != DataKind::Dense || data.d() != d {
        return Err(misfit(plugin, format_args!("{d} dense features"), data.d()));
    }
    by_row(data, |_, _, values| {
        values.iter_mut().enumerate().for_each(|(feature, v)| *v = f(feature, *v));
        Ok(())
    })
}

#[derive(Serialize, Deserialize)]
struct Scale {
    ranges: Vec<(f64, f64)>,
}

impl Fitted for Scale {
    fn apply(&self, data: &Data) -> Result<Data> {
        by_feature("min_max", data, self.ranges.len(), |feature, x| {
            let (low, high) = self.ranges[feature];
            if is_constant(low, high) { 0.0 } else { (x - low) / (high - low) }
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

    fn scaled(x: Array2<f64>) -> Result<Array2<f64>> {
        let problem = Problem::new(Data::dense(x)?);
        let fitted = MinMax {}.fit(&problem, &Context::new(1))?;
        Ok(fitted.apply(&problem.data)?.to_dense())
    }

    #[test]
    fn a_feature_that_differs_by_rounding_is_constant() {
        let x = array![[0.3, 1.0], [0.30000000000000004, 2.0]];
        assert_eq!(scaled(x).unwrap(), array![[0.0, 0.0], [0.0, 1.0]]);
    }

    #[test]
    fn by_hand() {
        let x = array![[1.0, 7.0, -2.0], [3.0, 7.0, 2.0], [2.0, 7.0, -1.0]];
        let y = array![[0.0, 0.0, 0.0], [1.0, 0.0, 1.0], [0.5, 0.0, 0.25]];
        assert_eq!(scaled(x).unwrap(), y);
    }

    #[test]
    fn a_range_beyond_all_numbers_is_an_error() {
        let message = scaled(array![[f64::MAX], [-f64::MAX]]).unwrap_err().to_string();
        assert_eq!(
            message,
            "data: feature 0: no number is as large as the range from -1.7976931348623157e308 to \
             1.7976931348623157e308; make the values smaller, or leave the column out (--ignore)"
        );
    }

    #[test]
    fn other_features_are_refused() {
        let fit = Problem::new(Data::dense(array![[1.0, 2.0]]).unwrap());
        let fitted = MinMax {}.fit(&fit, &Context::new(1)).unwrap();
        let other = Data::dense(array![[1.0]]).unwrap();
        assert_eq!(
            fitted.apply(&other).unwrap_err().to_string(),
            "min_max: fitted to 2 dense features, applied to 1"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Values lie in [0, 1], both ends are met unless the feature is constant, order is kept.
        #[test]
        fn the_range_is_met(x in proptest::collection::vec(-1e3f64..1e3, 2..40)) {
            let n = x.len();
            let y = scaled(Array2::from_shape_vec((n, 1), x.clone()).unwrap()).unwrap();
            let y = y.column(0);
            prop_assert!(y.iter().all(|v| (0.0..=1.0).contains(v)));
            prop_assert!(y.iter().any(|&v| v == 0.0) && y.iter().any(|&v| v == 1.0));
            for i in 0..n {
                for j in 0..n {
                    prop_assert!(x[i] > x[j] || y[i] <= y[j]);
                }
            }
        }
    }
}
