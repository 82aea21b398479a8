//! The candidates that cannot be distinguished from the best one.

use mustlink_core::prelude::*;

/// Share of the held-back pairs that are satisfied; without such pairs, the agreement with the other candidates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// Mean of the shares of satisfied must-links and cannot-links, of one kind where there is
    /// no other; or a mean adjusted Rand index.
    pub value: f64,
    /// Its standard error.
    pub error: f64,
}

/// The balanced score of the share `met` of each of `pairs`, by weight; pairs without one do not count.
pub fn balanced(pairs: &[Constraint], met: &[Option<f64>]) -> Option<Score> {
    let shares: Vec<Share> = shares(pairs, met).collect();
    let count = shares.len() as f64;
    let variance: f64 = shares.iter().map(|s| s.smooth() * (1.0 - s.smooth()) / s.count).sum();
    let value = shares.iter().map(|s| s.met).sum::<f64>() / count;
    (count > 0.0).then(|| Score { value, error: variance.sqrt() / count })
}

/// The difference that half a pair more of each outcome makes to the balanced score.
pub fn smoothing(pairs: &[Constraint], met: &[Option<f64>]) -> f64 {
    let shares: Vec<Share> = shares(pairs, met).collect();
    shares.iter().map(|s| s.smooth() - s.met).sum::<f64>() / shares.len().max(1) as f64
}

/// The satisfied share of the pairs of one type.
struct Share {
    /// The share, by weight.
    met: f64,
    /// As many pairs of equal weight.
    count: f64,
}

impl Share {
    /// The share with half a pair more of each outcome: a share of 1 is not known for certain.
    fn smooth(&self) -> f64 {
        (self.met * self.count + 0.5) / (self.count + 1.0)
    }
}

/// The shares of satisfied must-links and cannot-links, if there are any that were tested.
fn shares(pairs: &[Constraint], met: &[Option<f64>]) -> impl Iterator<Item = Share> {
    [Kind::MustLink, Kind::CannotLink].into_iter().filter_map(move |kind| {
        let tests = pairs.iter().zip(met).filter(|(c, _)| c.kind == kind);
        let tests: Vec<(f64, f64)> =
            tests.filter_map(|(c, met)| Some((c.weight, (*met)?))).collect();
        // In units of the largest of this kind, since squares of weights may be no numbers, or 0; a power of
        // two rounds nothing.
        let largest = tests.iter().map(|test| test.0).fold(0.0, f64::max);
        let unit = 2f64.powi(-(largest.log2().floor().clamp(-1000.0, 1000.0) as i32));
        let (mut sum, mut weight, mut squares) = (0.0, 0.0, 0.0);
        for (w, met) in tests {
            let w = unit * w;
            sum += w * met;
            weight += w;
            squares += w * w;
        }
        (weight > 0.0).then(|| Share { met: sum / weight, count: weight * weight / squares })
    })
}

/// The mean of `indices`, at least 0, and its standard error; nothing without any.
pub fn agreement(indices: &[f64]) -> Option<Score> {
    let count = indices.len() as f64;
    let mean = indices.iter().sum::<f64>() / count;
    let squares: f64 = indices.iter().map(|v| (v - mean) * (v - mean)).sum();
    let error = (squares / (count * (count - 1.0).max(1.0))).sqrt();
    (count > 0.0).then(|| Score { value: mean.max(0.0), error })
}

/// The largest score, the first of equal ones.
pub fn best(scores: &[Option<Score>]) -> Option<Score> {
    let larger = |best: Option<Score>, s: &Score| match best {
        Some(best) if best.value >= s.value => Some(best),
        _ => Some(*s),
    };
    scores.iter().flatten().fold(None, larger)
}

/// Standard error of the difference of two scores.
pub fn error_of_difference(a: Score, b: Score) -> f64 {
    a.error.hypot(b.error)
}

/// Weight of each candidate: its share of the best score to the power `sharpness` if it is at most `ties` standard
/// errors of the difference below the best, otherwise 0.
pub fn weights(scores: &[Option<Score>], ties: f64, sharpness: f64) -> Vec<f64> {
    let Some(best) = best(scores) else { return vec![0.0; scores.len()] };
    let weight = |s: &Option<Score>| match s {
        Some(s) if best.value - s.value <= ties * error_of_difference(best, *s) => {
            // A best score of 0 leaves nothing to tell candidates apart by.
            if best.value > 0.0 { (s.value / best.value).powf(sharpness) } else { 1.0 }
        }
        _ => 0.0,
    };
    scores.iter().map(weight).collect()
}

/// The number of clusters for which the weights of the candidates add up to most, the smallest of equal
/// ones.
pub fn best_k(ks: &[usize], weights: &[f64]) -> Option<usize> {
    let mut sorted = ks.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let sum = |k: usize| -> f64 {
        ks.iter().zip(weights).filter(|(of, _)| **of == k).map(|(_, w)| w).sum()
    };
    sorted.into_iter().fold(None, |best: Option<usize>, k| match best {
        Some(best) if sum(best) >= sum(k) => Some(best),
        _ => Some(k),
    })
}

/// A warning if other numbers of clusters fit as well as `k`: their best candidate is at least as good, and the weights
/// of their candidates add up to at least half as much.
pub fn undecided(k: usize, ks: &[usize], weights: &[f64]) -> Option<String> {
    let support = |k: usize| {
        let of_k = ks.iter().zip(weights).filter(|(of, _)| **of == k).map(|(_, w)| *w);
        of_k.fold((0.0f64, 0.0), |(best, sum), w| (best.max(w), sum + w))
    };
    let (best, sum) = support(k);
    let mut level: Vec<usize> = ks.to_vec();
    level.sort_unstable();
    level.dedup();
    level.retain(|&other| support(other).0 >= best && support(other).1 >= sum / 2.0);
    let last = level.pop().filter(|_| !level.is_empty())?;
    let others: Vec<String> = level.iter().map(usize::to_string).collect();
    Some(format!(
        "{} and {last} clusters fit equally well, and the result has {k}. Give the number of clusters with --k or the \
         option k",
        others.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_count_the_same() {
        let pairs = [
            Constraint::must(0, 1),
            Constraint::cannot(0, 2),
            Constraint::cannot(0, 3),
            Constraint::cannot(0, 4),
        ];
        let score = |met: [Option<f64>; 4]| balanced(&pairs, &met);
        // One must-link of one, two cannot-links of three.
        let s = score([Some(1.0), Some(1.0), Some(0.0), Some(1.0)]).unwrap();
        assert!((s.value - (1.0 + 2.0 / 3.0) / 2.0).abs() < 1e-15);
        // (1.5/2)(.5/2)/1 and (2.5/4)(1.5/4)/3.
        assert!((s.error - (0.1875f64 + 0.078125).sqrt() / 2.0).abs() < 1e-15);
        assert_eq!(score([None, Some(1.0), None, Some(0.0)]).unwrap().value, 0.5);
        assert_eq!(score([None; 4]), None);
        // A common factor of the weights changes nothing, however large.
        let met = [Some(1.0), Some(1.0), Some(0.0), Some(1.0)];
        for factor in [5e-324, 2f64.powi(-1000), 1.0, 2f64.powi(10), 2f64.powi(1023)] {
            let weighed = pairs.map(|c| c.weighing(factor));
            assert_eq!(balanced(&weighed, &met), Some(s), "{factor:e}");
            // Nor does one of the weights of one kind alone.
            let other =
                |c: Constraint| if c.kind == Kind::MustLink { c } else { c.weighing(factor) };
            assert_eq!(balanced(&pairs.map(other), &met), Some(s), "{factor:e} of one kind");
        }
    }

    #[test]
    fn agreement_is_a_mean_with_its_error() {
        let found = agreement(&[0.2, 0.4, 0.9]).unwrap();
        // Deviations −.3, −.1, .4: √(.26 / (3 · 2)).
        assert!((found.value - 0.5).abs() < 1e-15);
        assert!((found.error - (0.26f64 / 6.0).sqrt()).abs() < 1e-15);
        assert_eq!(agreement(&[-0.1]), Some(Score { value: 0.0, error: 0.0 }));
        assert_eq!(agreement(&[]), None);
    }

    #[test]
    fn what_cannot_be_told_from_the_best_counts() {
        let s = |value| Some(Score { value, error: 0.04 });
        let scores = [s(0.9), None, s(0.85), s(0.8)];
        // The error of a difference is .04 · √2: .05 is within one of it, .1 is not.
        let w = weights(&scores, 1.0, 2.0);
        assert_eq!((w[0], w[1], w[3]), (1.0, 0.0, 0.0));
        assert!((w[2] - (0.85f64 / 0.9).powi(2)).abs() < 1e-15);
        assert_eq!(weights(&scores, 0.0, 2.0), [1.0, 0.0, 0.0, 0.0]);
        // A share of 1 over four pairs is not known to a hair: what lies .125 below it still counts.
        let few =
            [Some(Score { value: 1.0, error: 0.078 }), Some(Score { value: 0.875, error: 0.116 })];
        assert!(weights(&few, 1.0, 8.0)[1] > 0.0);
        assert_eq!(weights(&[None], 1.5, 2.0), [0.0]);
    }

    #[test]
    fn the_number_of_clusters_with_most_weight_behind_it() {
        assert_eq!(best_k(&[2, 3, 2, 3], &[1.0, 0.9, 0.0, 0.2]), Some(3));
        assert_eq!(best_k(&[4, 3], &[1.0, 1.0]), Some(3));
        assert_eq!(best_k(&[], &[]), None);
    }

    #[test]
    fn numbers_that_fit_as_well_are_named() {
        let numbers = |k, ks: &[usize], weights: &[f64]| {
            Some(undecided(k, ks, weights)?.split(" clusters").next()?.to_string())
        };
        let ks = [2, 3, 4, 2, 3, 4];
        let named = |weights: [f64; 6]| numbers(2, &ks, &weights);
        assert_eq!(named([1.0; 6]).as_deref(), Some("2, 3 and 4"));
        // One of two candidates is enough if it is as good as the best.
        assert_eq!(named([1.0, 1.0, 0.9, 1.0, 0.0, 0.9]).as_deref(), Some("2 and 3"));
        assert_eq!(named([1.0, 0.4, 0.9, 0.9, 0.5, 0.9]), None);
        // Few of many candidates are luck.
        assert_eq!(numbers(2, &[2, 2, 2, 3], &[1.0; 4]), None);
        // A better candidate counts for another number, although more of them count for this one.
        assert_eq!(numbers(2, &[2, 2, 3], &[0.9, 0.8, 1.0]).as_deref(), Some("2 and 3"));
        assert_eq!(numbers(3, &[3, 3], &[1.0, 1.0]), None);
    }
}
