//! Corrections for many tests.

use statrs::distribution::{Continuous, ContinuousCDF};

use mustlink_core::order;

use super::paired::standard;

/// Holm's adjustment of p values: the smallest counts as often as there are tests, the next once less.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let order = order::ascending(p);
    let mut adjusted = vec![0.0; p.len()];
    let mut so_far = 0.0f64;
    for (at, &i) in order.iter().enumerate() {
        so_far = so_far.max(((p.len() - at) as f64 * p[i]).min(1.0));
        adjusted[i] = so_far;
    }
    adjusted
}

/// Nemenyi's critical difference: mean ranks of k methods on N data sets that are farther apart differ at
/// level `alpha`.
pub fn critical_difference(k: usize, sets: usize, alpha: f64) -> f64 {
    let methods = k as f64;
    range_quantile(k, alpha) * (methods * (methods + 1.0) / (6.0 * sets as f64)).sqrt()
}

/// Upper quantile of the range of k standard normal numbers, over √2.
fn range_quantile(k: usize, alpha: f64) -> f64 {
    let (mut low, mut high) = (0.0, 20.0);
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if range_below(k, middle) < 1.0 - alpha { low = middle } else { high = middle }
    }
    low / 2.0f64.sqrt()
}

/// P(range of k standard normal numbers ≤ q) = k ∫ φ(z) (Φ(z) − Φ(z − q))^(k − 1) dz, by Simpson's rule.
fn range_below(k: usize, q: f64) -> f64 {
    const STEPS: usize = 2000;
    const REACH: f64 = 9.0;
    let normal = standard();
    let h = (2.0 * REACH + q) / STEPS as f64;
    let value = |at: usize| {
        let z = -REACH + h * at as f64;
        let between = (normal.cdf(z) - normal.cdf(z - q)).max(0.0);
        normal.pdf(z) * between.powi(k as i32 - 1)
    };
    let weight = |at: usize| match at {
        0 | STEPS => 1.0,
        at if at % 2 == 1 => 4.0,
        _ => 2.0,
    };
    let sum: f64 = (0..=STEPS).map(|at| weight(at) * value(at)).sum();
    k as f64 * sum * h / 3.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        let five = [1.960, 2.344, 2.569, 2.728, 2.850, 2.948, 3.031, 3.102, 3.164];
        let ten = [1.645, 2.052, 2.291, 2.460, 2.589, 2.693, 2.780, 2.855, 2.920];
        for (at, k) in (2..=10).enumerate() {
            // Printed with three decimals, some of them cut off.
            assert!((range_quantile(k, 0.05) - five[at]).abs() < 1.5e-3, "{k}");
            assert!((range_quantile(k, 0.10) - ten[at]).abs() < 1.5e-3, "{k}");
        }
        let cd = critical_difference(4, 10, 0.05);
        assert!((cd - 2.569 * (20.0f64 / 60.0).sqrt()).abs() < 1e-3);
    }

    #[test]
    fn worked_adjustments() {
        let p = [0.04, 0.01, 0.03];
        assert_eq!(holm(&p), [0.06, 0.03, 0.06]);
        assert!(holm(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn adjusted_values_are_ordered(p in prop::collection::vec(0.0f64..=1.0, 1..12)) {
            let h = holm(&p);
            for i in 0..p.len() {
                prop_assert!(p[i] <= h[i] + 1e-15 && h[i] <= 1.0);
                for j in 0..p.len() {
                    prop_assert!(p[i] > p[j] || h[i] <= h[j]);
                }
            }
        }
    }
}
