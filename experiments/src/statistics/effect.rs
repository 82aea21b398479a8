//! Sizes of differences between paired samples; tests show whether there is a difference.

use statrs::distribution::ContinuousCDF;

use super::paired::{EXACT, signed_rank, standard, ways};

/// A difference, in the unit of the samples and without one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effect {
    /// Hodges and Lehmann's estimate: the median of the means of every two differences, each with itself too.
    pub shift: f64,
    /// Its confidence interval, by the distribution of the signed ranks; absent where there are too few
    /// pairs for the level: fewer than six for 95 %.
    pub interval: Option<(f64, f64)>,
    /// Matched-pairs rank-biserial correlation (Kerby 2014): ranks for the first less ranks against it, over
    /// all ranks; 1 where every difference is positive, absent where none is other than 0.
    pub rank_biserial: Option<f64>,
}

/// The size of paired `differences`, with an interval at `level`; `None` without any. O(pairs²) memory.
pub fn effect(differences: &[f64], level: f64) -> Option<Effect> {
    let n = differences.len();
    if n == 0 {
        return None;
    }
    let mut means: Vec<f64> = Vec::with_capacity(n * (n + 1) / 2);
    for i in 0..n {
        means.extend(differences[i..].iter().map(|d| (differences[i] + d) / 2.0));
    }
    mustlink_core::order::sort_values(&mut means);
    let all = means.len();
    let shift = (means[(all - 1) / 2] + means[all / 2]) / 2.0;
    let interval = largest_unlikely(n, (1.0 - level) / 2.0).map(|k| (means[k], means[all - 1 - k]));
    let ranks = signed_rank(differences);
    let total = ranks.plus + ranks.minus;
    let rank_biserial = (total > 0.0).then(|| (ranks.plus - ranks.minus) / total);
    Some(Effect { shift, interval, rank_biserial })
}

/// The same of differences of scores that are compared in this [`unit`](super::several::unit).
pub fn effect_in(unit: f64, differences: &[f64], level: f64) -> Option<Effect> {
    let scaled: Vec<f64> = differences.iter().map(|d| d * unit).collect();
    let e = effect(&scaled, level)?;
    let interval = e.interval.map(|(low, high)| (low / unit, high / unit));
    Some(Effect { shift: e.shift / unit, interval, ..e })
}

/// The largest sum of positive ranks of `n` pairs that, or a smaller one, has at most this probability.
fn largest_unlikely(n: usize, probability: f64) -> Option<usize> {
    let total = n * (n + 1) / 2;
    if n > EXACT {
        let (mean, variance) = (total as f64 / 2.0, total as f64 * (2 * n + 1) as f64 / 12.0);
        let z = standard().inverse_cdf(probability);
        return Some((mean + z * variance.sqrt() - 0.5).floor().max(0.0) as usize);
    }
    let ways = ways(1..=n);
    let all = 2f64.powi(n as i32);
    let mut below = 0.0;
    let unlikely = ways.iter().take_while(|w| {
        below += **w;
        below <= probability * all
    });
    unlikely.count().checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn stored_values() {
        // By enumeration of all 2^10 signs, and as R's wilcox.test(conf.int = TRUE) takes its quantiles.
        let differences = [0.03, -0.01, 0.06, 0.0, 0.05, 0.02, 0.07, -0.03, 0.09, 0.04];
        let e = effect(&differences, 0.95).unwrap();
        assert!((e.shift - 0.03).abs() < 1e-12);
        let (low, high) = e.interval.unwrap();
        assert!((low - 0.005).abs() < 1e-12 && (high - 0.06).abs() < 1e-12, "{low} {high}");
        assert!((e.rank_biserial.unwrap() - 0.8).abs() < 1e-12);
        // Six pairs are the fewest for 95 %: all of them.
        let six = effect(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 0.95).unwrap();
        assert_eq!((six.interval, six.rank_biserial), (Some((1.0, 6.0)), Some(1.0)));
        assert_eq!(effect(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.95).unwrap().interval, None);
        assert_eq!(effect(&[0.0, 0.0], 0.95).unwrap().rank_biserial, None);
        assert_eq!(effect(&[], 0.95), None);
    }

    proptest! {
        /// Turned around, everything turns; moved, the shift moves; the interval holds the shift, and the
        /// normal form is near the exact one.
        #[test]
        fn it_turns_and_moves(differences in proptest::collection::vec(-1.0..1.0f64, 1..60), by in -2.0..2.0f64) {
            let e = effect(&differences, 0.95).unwrap();
            let turned = effect(&differences.iter().map(|d| -d).collect::<Vec<_>>(), 0.95).unwrap();
            prop_assert!((e.shift + turned.shift).abs() < 1e-12);
            let moved = effect(&differences.iter().map(|d| d + by).collect::<Vec<_>>(), 0.95).unwrap();
            prop_assert!((e.shift + by - moved.shift).abs() < 1e-9);
            if let (Some((low, high)), Some((a, b))) = (e.interval, turned.interval) {
                prop_assert!(low <= e.shift && e.shift <= high);
                prop_assert!((low + b).abs() < 1e-12 && (high + a).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn the_normal_form_continues_the_exact_one() {
        let (mean, sd) = (50.0 * 51.0 / 4.0, (50.0 * 51.0 * 101.0 / 24.0f64).sqrt());
        let exact = largest_unlikely(50, 0.025).unwrap() as f64;
        assert!((exact - (mean - 1.959964 * sd - 0.5)).abs() <= 2.0, "{exact}");
        let (fifty, next) = (exact, largest_unlikely(51, 0.025).unwrap() as f64);
        assert!(next > fifty && next - fifty < 25.0, "{next}");
    }
}
