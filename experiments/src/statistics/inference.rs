//! Tests of means above 0 and of slopes of curves.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::sample::Summary;

/// Highest of 90, 95, 97.5 and 99, in percent, at which the mean of `values` is above 0 by a
/// one-sided t test; 0 if the mean is not above 0 at any of them. `correction` (test objects per training object) is
/// added
/// to the variance factor 1/m: training sets that overlap make observations depend on each other
/// (Nadeau and Bengio 2003).
pub fn one_sided_confidence(values: &[f64], correction: f64) -> f64 {
    let Some(s) = Summary::of(values, 0.95) else { return 0.0 };
    let Some(sd) = s.sd else { return 0.0 };
    if sd == 0.0 {
        return if s.mean > 0.0 { 99.0 } else { 0.0 };
    }
    let t = s.mean / (sd * (1.0 / s.n as f64 + correction).sqrt());
    let Ok(student) = StudentsT::new(0.0, 1.0, (s.n - 1) as f64) else { return 0.0 };
    let reached = |level: &f64| t >= student.inverse_cdf(level / 100.0);
    [99.0, 97.5, 95.0, 90.0].into_iter().find(reached).unwrap_or(0.0)
}

/// Slope of the least-squares line through (ln x, ln y) of the points above 0; `None` without two
/// different x.
pub fn log_log_slope(points: &[(f64, f64)]) -> Option<f64> {
    let logs: Vec<(f64, f64)> = points
        .iter()
        .filter(|(x, y)| *x > 0.0 && *y > 0.0)
        .map(|(x, y)| (x.ln(), y.ln()))
        .collect();
    let count = logs.len() as f64;
    let mean_x = logs.iter().map(|p| p.0).sum::<f64>() / count;
    let mean_y = logs.iter().map(|p| p.1).sum::<f64>() / count;
    let across: f64 = logs.iter().map(|p| (p.0 - mean_x) * (p.0 - mean_x)).sum();
    let both: f64 = logs.iter().map(|p| (p.0 - mean_x) * (p.1 - mean_y)).sum();
    (logs.len() >= 2 && across > 0.0).then(|| both / across)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_level_is_the_highest_that_the_t_value_reaches() {
        // Nine degrees: 2.687 lies between 1.833 (95 %) and 2.821 (99 %), above 2.262 (97.5 %).
        let a = [0.71, 0.65, 0.80, 0.55, 0.90, 0.62, 0.77, 0.58, 0.69, 0.84];
        let b = [0.68, 0.66, 0.74, 0.55, 0.85, 0.60, 0.70, 0.61, 0.60, 0.80];
        let values: Vec<f64> = (0..10).map(|i| a[i] - b[i]).collect();
        assert_eq!(one_sided_confidence(&values, 0.0), 97.5);
        // t = 1.8497 with the correction.
        assert_eq!(one_sided_confidence(&values, 1.0 / 9.0), 95.0);
        let negated: Vec<f64> = values.iter().map(|v| -v).collect();
        assert_eq!(one_sided_confidence(&negated, 0.0), 0.0);
        assert_eq!(one_sided_confidence(&[1.0; 3], 0.0), 99.0);
        assert_eq!(one_sided_confidence(&[0.0; 3], 0.0), 0.0);
    }
}
