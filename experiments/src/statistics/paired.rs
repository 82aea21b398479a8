//! Tests of two methods by pairs of scores.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use super::Summary;
use super::ranks::{average_ranks, rounded, ties};

/// Which difference counts against the null hypothesis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Side {
    /// Either.
    #[default]
    Two,
    /// The first is larger.
    Greater,
    /// The first is smaller.
    Less,
}

/// A paired t test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedT {
    /// Mean difference over its standard error; infinite where all differences are the same.
    pub t: f64,
    /// Probability of a t at least as far out.
    pub p: f64,
    /// Number of pairs.
    pub pairs: usize,
    /// All differences are the same.
    pub degenerate: bool,
}

/// Student's t test of the mean of paired `differences`; `None` for fewer than two.
///
/// `correction` (test objects per training object, else 0) is added to the variance factor 1/m: training
/// sets that overlap make differences depend on each other (Nadeau and Bengio 2003).
pub fn paired_t(differences: &[f64], side: Side, correction: f64) -> Option<PairedT> {
    let pairs = differences.len();
    let summary = Summary::of(differences, 0.95).filter(|_| pairs >= 2)?;
    let sd = summary.sd?;
    if sd == 0.0 {
        let t = if summary.mean == 0.0 { 0.0 } else { f64::INFINITY.copysign(summary.mean) };
        let p = match side {
            Side::Two => f64::from(summary.mean == 0.0),
            Side::Greater => f64::from(summary.mean <= 0.0),
            Side::Less => f64::from(summary.mean >= 0.0),
        };
        return Some(PairedT { t, p, pairs, degenerate: true });
    }
    let t = summary.mean / (sd * (1.0 / pairs as f64 + correction).sqrt());
    let student = StudentsT::new(0.0, 1.0, (pairs - 1) as f64).ok()?;
    let p = match side {
        Side::Two => 2.0 * student.sf(t.abs()),
        Side::Greater => student.sf(t),
        Side::Less => student.cdf(t),
    };
    Some(PairedT { t, p, pairs, degenerate: false })
}

/// A Wilcoxon signed-rank test, two-sided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignedRank {
    /// Sum of the ranks of positive differences.
    pub plus: f64,
    /// Sum of the ranks of negative differences.
    pub minus: f64,
    /// Differences that are not 0.
    pub pairs: usize,
    /// P(min(W⁺, W⁻) ≤ the one observed).
    pub p: f64,
    /// True if p is exact.
    pub exact: bool,
}

/// Most pairs of which the exact distribution is made.
pub(super) const EXACT: usize = 50;

/// Wilcoxon's signed-rank test of paired `differences`, two-sided: zeros are dropped, ties have average
/// ranks, more than 50 pairs are compared with the normal distribution. Differences are rounded to 1e-12
/// first, so that rounding errors do not break ties. Without a difference p is 1.
pub fn signed_rank(differences: &[f64]) -> SignedRank {
    let kept: Vec<f64> = differences.iter().map(|d| rounded(*d)).filter(|d| *d != 0.0).collect();
    let sizes: Vec<f64> = kept.iter().map(|d| d.abs()).collect();
    let ranks = average_ranks(&sizes);
    let sum = |positive: bool| -> f64 {
        let mine = kept.iter().zip(&ranks).filter(|(d, _)| (**d > 0.0) == positive);
        mine.map(|(_, r)| r).sum()
    };
    let (plus, minus) = (sum(true), sum(false));
    let pairs = kept.len();
    let exact = pairs <= EXACT;
    let p = if pairs == 0 {
        1.0
    } else if exact {
        exact_p(&ranks, plus.min(minus))
    } else {
        let m = pairs as f64;
        let mean = m * (m + 1.0) / 4.0;
        let variance = m * (m + 1.0) * (2.0 * m + 1.0) / 24.0 - ties(&sizes) / 48.0;
        2.0 * standard().sf((plus - mean).abs() / variance.sqrt())
    };
    SignedRank { plus, minus, pairs, p: p.min(1.0), exact }
}

/// The standard normal distribution.
pub(super) fn standard() -> Normal {
    Normal::new(0.0, 1.0).expect("a deviation above 0")
}

/// P(min(W⁺, W⁻) ≤ least) when every rank is positive with probability ½. Twice a rank is an integer, so
/// that ties are exact too.
fn exact_p(ranks: &[f64], least: f64) -> f64 {
    let doubled: Vec<usize> = ranks.iter().map(|r| (2.0 * r).round() as usize).collect();
    let ways = ways(doubled);
    let least = (2.0 * least).round() as usize;
    let below: f64 = ways[..=least].iter().sum();
    let all: f64 = ways.iter().sum();
    if 2 * least >= ways.len() - 1 { 1.0 } else { 2.0 * below / all }
}

/// In how many ways some of the `ranks` add up to each sum.
pub(super) fn ways(ranks: impl IntoIterator<Item = usize>) -> Vec<f64> {
    let mut ways = vec![1.0];
    for rank in ranks {
        ways.resize(ways.len() + rank, 0.0);
        for sum in (rank..ways.len()).rev() {
            ways[sum] += ways[sum - rank];
        }
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const A: [f64; 10] = [0.71, 0.65, 0.80, 0.55, 0.90, 0.62, 0.77, 0.58, 0.69, 0.84];
    const B: [f64; 10] = [0.68, 0.66, 0.74, 0.55, 0.85, 0.60, 0.70, 0.61, 0.60, 0.80];

    fn differences() -> Vec<f64> {
        A.iter().zip(&B).map(|(a, b)| a - b).collect()
    }

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9, "{a} is not {b}");
    }

    #[test]
    fn published_values_of_the_t_test() {
        let t = paired_t(&differences(), Side::Two, 0.0).unwrap();
        near(t.t, 2.687484052588);
        near(t.p, 0.024898920007);
        let resampled = paired_t(&differences(), Side::Two, 1.0 / 9.0).unwrap();
        near(resampled.t, 1.849653378570);
        near(resampled.p, 0.097404674203);
        near(paired_t(&differences(), Side::Greater, 0.0).unwrap().p, t.p / 2.0);
        near(paired_t(&differences(), Side::Less, 0.0).unwrap().p, 1.0 - t.p / 2.0);
        assert_eq!(paired_t(&[1.0], Side::Two, 0.0), None);
        let same = paired_t(&[0.5; 4], Side::Two, 0.0).unwrap();
        assert!(same.degenerate && same.p == 0.0 && same.t == f64::INFINITY);
        assert_eq!(paired_t(&[0.0; 4], Side::Two, 0.0).unwrap().p, 1.0);
    }

    #[test]
    fn published_values_of_the_signed_rank_test() {
        let exact = signed_rank(&differences());
        assert_eq!((exact.plus, exact.minus, exact.pairs, exact.exact), (40.5, 4.5, 9, true));
        near(exact.p, 0.03125);
        assert_eq!(signed_rank(&[0.0, 0.0]).p, 1.0);
    }

    #[test]
    fn many_pairs_are_compared_with_the_normal_distribution() {
        // Five of each of 13 values, one of which is 0: ties of five and ten.
        let many: Vec<f64> = (0..65).map(|i| f64::from(i * 7 % 13 - 5)).collect();
        let found = signed_rank(&many);
        assert_eq!((found.plus, found.minus, found.pairs, found.exact), (1192.5, 637.5, 60, false));
        near(found.p, 0.040476155628);
    }

    proptest! {
        /// All 2^m signs, ties included.
        #[test]
        fn the_exact_distribution_is_that_of_all_signs(
            sizes in prop::collection::vec((1i32..6, prop::bool::ANY), 1..=12),
        ) {
            let signed: Vec<f64> = sizes.iter().map(|&(d, up)| f64::from(if up { d } else { -d })).collect();
            let found = signed_rank(&signed);
            let ranks = average_ranks(&signed.iter().map(|d| d.abs()).collect::<Vec<_>>());
            let total: f64 = ranks.iter().sum();
            let least = found.plus.min(found.minus);
            let out = (0u32..1 << signed.len()).filter(|signs| {
                let plus: f64 = ranks.iter().enumerate().filter(|(i, _)| signs >> i & 1 == 1).map(|(_, r)| r).sum();
                plus.min(total - plus) <= least + 1e-9
            });
            prop_assert!((found.p - out.count() as f64 / f64::from(1u32 << signed.len())).abs() < 1e-12);
        }

        #[test]
        fn swapping_the_methods_changes_the_sign_alone(d in prop::collection::vec(-1.0f64..1.0, 2..20)) {
            let swapped: Vec<f64> = d.iter().map(|v| -v).collect();
            let (a, b) = (paired_t(&d, Side::Two, 0.1).unwrap(), paired_t(&swapped, Side::Two, 0.1).unwrap());
            prop_assert!((a.t + b.t).abs() < 1e-9 && (a.p - b.p).abs() < 1e-12);
            let (a, b) = (signed_rank(&d), signed_rank(&swapped));
            prop_assert!(a.plus == b.minus && a.p == b.p && (0.0..=1.0).contains(&a.p));
        }
    }
}
