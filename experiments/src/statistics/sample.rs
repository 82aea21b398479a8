//! Summary statistics of one sample.
//!
//! Mean, spread and a t-interval. Folds of one repeat share their training objects, so the unit of
//! an interval is the repeat (the mean over its folds) unless configured otherwise.

use mustlink_core::kind::{self, Described};
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Unit that counts as one independent observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, Described)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// The mean over the folds of a repeat.
    #[default]
    Repeat,
    /// Every fold, as if folds were independent.
    Fold,
}

/// A sample in a few numbers. Absent fields need more observations.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Summary {
    /// Number of observations.
    pub n: usize,
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation with n − 1.
    pub sd: Option<f64>,
    /// Standard error of the mean.
    pub se: Option<f64>,
    /// Middle value.
    pub median: f64,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Half width of the t-interval at the level asked for.
    pub half_width: Option<f64>,
}

impl Summary {
    /// The summary of a sample; `None` when it is empty.
    pub fn of(values: &[f64], level: f64) -> Option<Summary> {
        let n = values.len();
        if n == 0 {
            return None;
        }
        let mut sorted = values.to_vec();
        mustlink_core::order::sort_values(&mut sorted);
        // Rounding would make a spread of equal values, and a tiny one is certainty to a t test.
        let equal = sorted[0] == sorted[n - 1];
        let mean = if equal { sorted[0] } else { values.iter().sum::<f64>() / n as f64 };
        let median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0;
        let sd = (n > 1).then(|| {
            let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
            (squares / (n - 1) as f64).sqrt()
        });
        // Squares of what are sums of squares of large values may be beyond all numbers, which no file holds.
        let sd = sd.filter(|s| s.is_finite());
        let se = sd.map(|s| s / (n as f64).sqrt());
        let half_width = se.and_then(|s| Some(s * critical_t(level, n - 1)?));
        Some(Summary { n, mean, sd, se, median, min: sorted[0], max: sorted[n - 1], half_width })
    }

    /// Ends of the interval.
    pub fn interval(&self) -> Option<(f64, f64)> {
        self.half_width.map(|h| (self.mean - h, self.mean + h))
    }
}

/// Two-sided critical value of Student's t.
pub fn critical_t(level: f64, degrees: usize) -> Option<f64> {
    let t = StudentsT::new(0.0, 1.0, degrees as f64).ok()?;
    Some(t.inverse_cdf(0.5 + level / 2.0))
}

/// Mean height of a curve between its first and last point, by the trapezoid rule.
pub fn mean_height(points: &[(f64, f64)]) -> Option<f64> {
    let (first, last) = (points.first()?, points.last()?);
    if last.0 <= first.0 {
        return None;
    }
    let area: f64 = points.windows(2).map(|w| (w[1].0 - w[0].0) * (w[0].1 + w[1].1) / 2.0).sum();
    Some(area / (last.0 - first.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_no_spread() {
        // The sum of ten of these, divided by ten, is another number.
        let s = Summary::of(&[0.7591987071071522; 10], 0.95).unwrap();
        assert_eq!((s.mean, s.sd, s.half_width), (s.min, Some(0.0), Some(0.0)));
    }

    #[test]
    fn a_spread_that_is_no_number_is_absent() {
        let s = Summary::of(&[1e180, 3e180], 0.95).unwrap();
        assert_eq!((s.sd, s.se, s.half_width), (None, None, None));
    }

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-10, "{a} is not {b}");
    }

    #[test]
    fn a_summary_has_the_published_values() {
        let a = [0.71, 0.65, 0.80, 0.55, 0.90, 0.62, 0.77, 0.58, 0.69, 0.84];
        let s = Summary::of(&a, 0.95).unwrap();
        near(s.mean, 0.711);
        near(s.sd.unwrap(), 0.115127948147);
        near(s.se.unwrap(), 0.036406653848);
        near(s.half_width.unwrap(), 0.082357572777);
        near(s.median, 0.70);
        for (level, t) in [(0.90, 1.833113), (0.95, 2.262157), (0.975, 2.685011), (0.99, 3.249836)]
        {
            assert!((critical_t(level, 9).unwrap() - t).abs() < 1e-6);
        }
    }

    #[test]
    fn small_samples_have_no_spread() {
        assert_eq!(Summary::of(&[], 0.95), None);
        let one = Summary::of(&[2.0], 0.95).unwrap();
        assert_eq!((one.sd, one.half_width, one.interval()), (None, None, None));
        let same = Summary::of(&[2.0, 2.0], 0.95).unwrap();
        assert_eq!(same.half_width, Some(0.0));
    }

    #[test]
    fn the_area_is_a_mean_height() {
        assert_eq!(mean_height(&[(0.0, 1.0), (10.0, 3.0), (30.0, 3.0)]), Some(80.0 / 30.0));
        assert_eq!(mean_height(&[(5.0, 1.0)]), None);
    }
}
