//! The probability that a method is the best of all on a next data set.
//!
//! Plackett (1975) and Luce (1959): each method has a worth, the worths sum to 1, and a ranking is made from the
//! best down, where each place goes to one of the methods left with a probability proportional to its worth. So
//! the worth is the chance of being first. Rojas-Delgado et al. (2022) compare algorithms by it.

use mustlink_core::random::SeedPath;

use super::draws::{exponential, gamma};
use super::several::rounded;

/// Draws from the posterior.
const DRAWS: usize = 10_000;
/// Draws before them that are forgotten.
const BURN_IN: usize = 500;

/// The chance of a method to be the best, and what is known of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Worth {
    /// Mean of the posterior, which is the probability of being first on a next data set, `0..=1`; those of
    /// all methods sum to 1.
    pub mean: f64,
    /// Ends of the interval that holds the given share of the posterior, with as much below as above it.
    pub interval: (f64, f64),
}

/// Methods of equal score in one ranking.
struct Group {
    members: Vec<usize>,
    /// The share of their worth that is left at each of their choices.
    left: Vec<f64>,
}

/// The worth of each method under the Plackett–Luce model, by `rows` of scores, one per data set with a score per
/// method, more is better; the interval holds `level` of the posterior, `0..1`.
///
/// Every set of worths is equally probable before (a Gamma prior of shape 1), so that methods that were always
/// first keep a finite worth. Draws are those of Gibbs (Caron and Doucet 2012): the waiting time of each choice
/// given the worths, the worths given the waiting times, and their sum again. Of t equal scores each is as
/// likely to be taken already (Efron 1977): at choice l = 0, 1, … the share 1 − l/t of their worth is left; the
/// last place of a ranking does not count as a choice. With two methods a tie is half a win for each.
///
/// The same seed gives the same bits. `None` without rows, with fewer than two methods or rows of different
/// length. O(draws · rows · methods).
pub fn worths(rows: &[Vec<f64>], level: f64, seed: u64) -> Option<Vec<Worth>> {
    let k = rows.first()?.len();
    if k < 2 || rows.iter().any(|row| row.len() != k) {
        return None;
    }
    let rankings: Vec<Vec<Group>> = rows.iter().map(|row| ranking(row)).collect();
    // How often each method was chosen.
    let mut chosen = vec![0.0; k];
    for group in rankings.iter().flatten() {
        let share = group.left.len() as f64 / group.members.len() as f64;
        group.members.iter().for_each(|&i| chosen[i] += share);
    }
    let mut stream = SeedPath::new(seed).stream("plackett_luce");
    let mut worth = vec![1.0 / k as f64; k];
    let mut draws = vec![Vec::with_capacity(DRAWS); k];
    for draw in 0..BURN_IN + DRAWS {
        // The sum of the worths has its prior whatever the rankings are; drawn anew it does not wander.
        let sum = gamma(&mut stream, k as f64);
        worth.iter_mut().for_each(|w| *w *= sum);
        let mut waited = vec![1.0; k];
        for ranking in &rankings {
            // Added up from the last place on: the small worths of the last would drown in a difference.
            let mut left: Vec<(f64, f64)> = Vec::with_capacity(ranking.len());
            let mut behind = 0.0;
            for group in ranking.iter().rev() {
                let mine: f64 = group.members.iter().map(|&i| worth[i]).sum();
                left.push((mine, behind));
                behind += mine;
            }
            let mut total = 0.0;
            for (group, (mine, behind)) in ranking.iter().zip(left.into_iter().rev()) {
                let before = total;
                let mut of_members = 0.0;
                for share in &group.left {
                    let time = exponential(&mut stream) / (behind + share * mine);
                    total += time;
                    of_members += share * time;
                }
                group.members.iter().for_each(|&i| waited[i] += before + of_members);
            }
        }
        for i in 0..k {
            worth[i] = gamma(&mut stream, 1.0 + chosen[i]) / waited[i];
        }
        let sum: f64 = worth.iter().sum();
        worth.iter_mut().for_each(|w| *w /= sum);
        if draw >= BURN_IN {
            draws.iter_mut().zip(&worth).for_each(|(of, w)| of.push(*w));
        }
    }
    Some(draws.into_iter().map(|of| summary(of, level)).collect())
}

/// Groups of equal scores, the best first.
fn ranking(row: &[f64]) -> Vec<Group> {
    let row: Vec<f64> = row.iter().map(|&score| rounded(score)).collect();
    let order = mustlink_core::order::descending(&row);
    let mut placed = 0;
    let groups = order.chunk_by(|&a, &b| row[a] == row[b]).map(|members| {
        placed += members.len();
        let t = members.len();
        let choices = if placed == row.len() { t - 1 } else { t };
        let left = (0..choices).map(|l| 1.0 - l as f64 / t as f64).collect();
        Group { members: members.to_vec(), left }
    });
    groups.collect()
}

fn summary(mut draws: Vec<f64>, level: f64) -> Worth {
    let mean = draws.iter().sum::<f64>() / draws.len() as f64;
    mustlink_core::order::sort_values(&mut draws);
    let outside = ((1.0 - level) / 2.0 * draws.len() as f64) as usize;
    Worth { mean, interval: (draws[outside], draws[draws.len() - 1 - outside]) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use statrs::distribution::{Beta, ContinuousCDF};

    #[test]
    fn of_two_methods_the_worth_is_the_share_of_wins() {
        // Seven wins, two losses and two ties: Beta(7 + 1 + 1, 2 + 1 + 1) in closed form.
        let mut rows = vec![vec![0.9, 0.3]; 7];
        rows.extend(vec![vec![0.2, 0.4]; 2]);
        rows.extend(vec![vec![0.5, 0.5]; 2]);
        let found = worths(&rows, 0.95, 3).unwrap();
        let exact = Beta::new(9.0, 4.0).unwrap();
        assert!((found[0].mean - 9.0 / 13.0).abs() < 0.005, "{found:?}");
        let (low, high) = found[0].interval;
        assert!((low - exact.inverse_cdf(0.025)).abs() < 0.015, "{low}");
        assert!((high - exact.inverse_cdf(0.975)).abs() < 0.015, "{high}");
        assert!((found[0].mean + found[1].mean - 1.0).abs() < 1e-12);
        // Never beaten, and still not certain: (5 + 1) / (5 + 2).
        let found = worths(&vec![vec![1.0, 0.0]; 5], 0.95, 3).unwrap();
        assert!((found[0].mean - 6.0 / 7.0).abs() < 0.005, "{found:?}");
    }

    /// The probability of rankings of three methods without ties, as a product over places.
    fn probability(rows: &[Vec<f64>], worth: [f64; 3]) -> f64 {
        let of = |row: &Vec<f64>| {
            let mut left = vec![0, 1, 2];
            let mut product = 1.0;
            while left.len() > 1 {
                let best = *left.iter().max_by(|a, b| row[**a].total_cmp(&row[**b])).unwrap();
                product *= worth[best] / left.iter().map(|i| worth[*i]).sum::<f64>();
                left.retain(|i| *i != best);
            }
            product
        };
        rows.iter().map(of).product()
    }

    #[test]
    fn three_methods_by_a_sum_over_the_triangle() {
        let rows = [
            vec![0.9, 0.5, 0.1],
            vec![0.8, 0.6, 0.2],
            vec![0.7, 0.8, 0.3],
            vec![0.9, 0.2, 0.4],
            vec![0.5, 0.4, 0.1],
        ];
        let steps = 400;
        let (mut total, mut means) = (0.0, [0.0; 3]);
        for i in 0..steps {
            for j in 0..steps - i {
                // The middle of each small square that has its lower corner in the triangle.
                let a = (i as f64 + 1.0 / 3.0) / steps as f64;
                let b = (j as f64 + 1.0 / 3.0) / steps as f64;
                let worth = [a, b, 1.0 - a - b];
                let p = probability(&rows, worth);
                total += p;
                means.iter_mut().zip(worth).for_each(|(m, w)| *m += p * w);
            }
        }
        let found = worths(&rows, 0.95, 11).unwrap();
        for (found, mean) in found.iter().zip(means) {
            assert!((found.mean - mean / total).abs() < 0.006, "{found:?} {}", mean / total);
        }
    }

    #[test]
    fn ties_count_for_each_of_their_orders() {
        // Three methods, two of them equal everywhere: their worths are, and it is the mean of the two orders.
        let tied = worths(&vec![vec![0.5, 0.5, 0.1]; 6], 0.95, 5).unwrap();
        assert!((tied[0].mean - tied[1].mean).abs() < 0.01, "{tied:?}");
        let mut orders = vec![vec![0.6, 0.5, 0.1]; 3];
        orders.extend(vec![vec![0.5, 0.6, 0.1]; 3]);
        let orders = worths(&orders, 0.95, 5).unwrap();
        assert!((tied[2].mean - orders[2].mean).abs() < 0.01, "{tied:?} {orders:?}");
        // Nothing but ties says nothing.
        for found in worths(&vec![vec![0.0; 5]; 4], 0.95, 5).unwrap() {
            assert!((found.mean - 0.2).abs() < 0.01, "{found:?}");
        }
    }

    #[test]
    fn what_cannot_be_ranked_has_no_worth() {
        assert_eq!(worths(&[], 0.95, 1), None);
        assert_eq!(worths(&[vec![1.0]], 0.95, 1), None);
        assert_eq!(worths(&[vec![1.0, 2.0], vec![1.0]], 0.95, 1), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        /// Only the order within a row counts; methods in another order keep their worths but for the
        /// draws; the same seed gives the same bits.
        #[test]
        fn only_ranks_count(rows in proptest::collection::vec(proptest::collection::vec(0..6u32, 4), 1..8), seed in 0..1000u64) {
            let scores: Vec<Vec<f64>> =
                rows.iter().map(|r| r.iter().map(|s| f64::from(*s)).collect()).collect();
            let found = worths(&scores, 0.95, seed).unwrap();
            let stretched: Vec<Vec<f64>> = scores
                .iter()
                .enumerate()
                .map(|(at, r)| r.iter().map(|s| (s / 2.0).exp() - at as f64).collect())
                .collect();
            prop_assert_eq!(&found, &worths(&stretched, 0.95, seed).unwrap());
            let turned: Vec<Vec<f64>> =
                scores.iter().map(|r| r.iter().rev().copied().collect()).collect();
            for (a, b) in found.iter().zip(worths(&turned, 0.95, seed).unwrap().iter().rev()) {
                // Of ten thousand draws; ten standard errors even if five are worth one.
                prop_assert!((a.mean - b.mean).abs() < 0.08, "{a:?} {b:?}");
                prop_assert!(a.interval.0 <= a.mean && a.mean <= a.interval.1);
            }
            prop_assert!((found.iter().map(|w| w.mean).sum::<f64>() - 1.0).abs() < 1e-9);
        }
    }
}
