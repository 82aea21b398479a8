//! The probability that one method is better on a next data set, from cross-validated scores.
//!
//! The hierarchical model of Corani, Benavoli, Demšar, Mangili and Zaffalon (2017): differences of the folds of a
//! set are normal around a mean of its own and correlated, as folds share training objects; the means of the
//! sets come from a Student distribution, so that one strange set does not decide. It sees what tests over the
//! means of sets do not: how exactly each of them is known.

use mustlink_core::random::{SeedPath, Stream};
use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::function::gamma::ln_gamma;

use super::bayes::Probabilities;
use super::draws::gamma;

/// Draws from the posterior.
const DRAWS: usize = 5_000;
/// Draws before them that are forgotten.
const BURN_IN: usize = 500;
/// The spread between sets is at most so often that of their means; the paper's bound.
const WIDEST: f64 = 1000.0;
/// And at least this part of the mean spread within sets, which no data distinguish from 0.
const NARROWEST: f64 = 1e-4;
/// Bounds of the two parameters of the Gamma prior of the degrees of freedom less 1; the paper's.
const SHAPE: (f64, f64) = (0.5, 5.0);
const RATE: (f64, f64) = (0.05, 0.15);
/// Bounds of the degrees of freedom less 1; the prior has next to nothing beyond.
const FREEDOM: (f64, f64) = (1e-3, 1e3);

/// Prediction of the model for a next data set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Next {
    /// The probability that the difference there is above, within and below the region of practical
    /// equivalence.
    pub probabilities: Probabilities,
    /// The share of draws in which each of the three is the most probable: what the paper reports.
    pub decided: Probabilities,
}

impl Next {
    /// The same with the two methods exchanged.
    pub fn swapped(self) -> Next {
        Next { probabilities: self.probabilities.swapped(), decided: self.decided.swapped() }
    }
}

/// A data set: its number of folds in all repeats, the mean of their differences, and the sum of squares around it.
struct Folds {
    n: f64,
    mean: f64,
    squares: f64,
    /// Variance of the mean for a variance of 1 of each fold.
    inflation: f64,
}

/// The hierarchical comparison of paired differences, first less second, per data set and fold, in units of the
/// score. It needs at least two folds in each set, and three sets, because with fewer the spread between
/// sets is unknown. `correlation` of two folds, `0..1`: 1 / folds of a repeat (Nadeau and Bengio 2003). Differences
/// within
/// ±`rope` > 0 are practically equal.
///
/// Priors are those of the paper: uniform for the mean, for the spread between sets and that within each, a Gamma
/// distribution of unknown parameters for the degrees of freedom less 1. One thing differs: a set whose folds do
/// not differ would be known without error, so the sum of squares of differences of a tenth of
/// `rope` is added to each. The authors replace such folds by random ones. Draws are those of Gibbs, with the Student
/// distribution as a mixture of normal ones and slices (Neal 2003) if no closed form exists.
///
/// The same seed gives the same bits, and swapped methods give swapped probabilities. O(draws · sets).
pub fn hierarchical(sets: &[Vec<f64>], correlation: f64, rope: f64, seed: u64) -> Option<Next> {
    if sets.len() < 3 || sets.iter().any(|folds| folds.len() < 2) {
        return None;
    }
    let of = |folds: &Vec<f64>| {
        let n = folds.len() as f64;
        let mean = folds.iter().sum::<f64>() / n;
        let around: f64 = folds.iter().map(|d| (d - mean) * (d - mean)).sum();
        let squares = around + (n - 1.0) * (rope / 10.0).powi(2);
        Folds { n, mean, squares, inflation: (1.0 + (n - 1.0) * correlation) / n }
    };
    let mut sets: Vec<Folds> = sets.iter().map(of).collect();
    // Draws do not turn with the signs of the differences, so these are given one.
    let sum: f64 = sets.iter().map(|s| s.mean).sum();
    let first = sets.iter().map(|s| s.mean).find(|m| *m != 0.0).unwrap_or(0.0);
    let turned = if sum == 0.0 { first < 0.0 } else { sum < 0.0 };
    // In units of the mean spread within sets.
    let spread = |s: &Folds| (s.squares / (s.n - 1.0)).sqrt();
    let unit = sets.iter().map(spread).sum::<f64>() / sets.len() as f64;
    for set in &mut sets {
        set.mean /= if turned { -unit } else { unit };
        set.squares /= unit * unit * (1.0 - correlation);
    }
    let mut stream = SeedPath::new(seed).stream("hierarchical");
    let mut state = State::new(&sets);
    let (mut probabilities, mut decided) = ([0.0; 3], [0.0; 3]);
    for draw in 0..BURN_IN + DRAWS {
        state.step(&sets, &mut stream);
        if draw >= BURN_IN {
            let regions = state.regions(rope / unit)?;
            let most = regions.iter().copied().fold(0.0, f64::max);
            let winners = regions.iter().filter(|r| **r == most).count() as f64;
            for at in 0..3 {
                probabilities[at] += regions[at];
                decided[at] += if regions[at] == most { 1.0 / winners } else { 0.0 };
            }
        }
    }
    let shares = |[above, equal, below]: [f64; 3]| {
        let of = |sum: f64| sum / DRAWS as f64;
        let (first, second) = if turned { (below, above) } else { (above, below) };
        Probabilities { first: of(first), equal: of(equal), second: of(second) }
    };
    Some(Next { probabilities: shares(probabilities), decided: shares(decided) })
}

/// One draw.
struct State {
    /// Mean and spread of the distribution of the means of sets, and its degrees of freedom less 1.
    centre: f64,
    between: f64,
    freedom: f64,
    /// Shape and rate of the Gamma distribution of the last.
    shape: f64,
    rate: f64,
    /// For each set: its mean, its precision in the mixture, the variance of its folds.
    means: Vec<f64>,
    precisions: Vec<f64>,
    variances: Vec<f64>,
    /// Largest spread between sets.
    widest: f64,
}

impl State {
    fn new(sets: &[Folds]) -> State {
        let q = sets.len() as f64;
        let centre = sets.iter().map(|s| s.mean).sum::<f64>() / q;
        let around: f64 = sets.iter().map(|s| (s.mean - centre).powi(2)).sum();
        let between = (around / (q - 1.0)).sqrt().max(0.01);
        State {
            centre,
            between,
            freedom: 10.0,
            shape: 2.0,
            rate: 0.1,
            means: sets.iter().map(|s| s.mean).collect(),
            precisions: vec![1.0; sets.len()],
            variances: sets.iter().map(|s| s.squares / (s.n - 1.0)).collect(),
            widest: WIDEST * between,
        }
    }

    fn step(&mut self, sets: &[Folds], stream: &mut Stream) {
        // Spread and centre between sets, with the means of the sets integrated out: given them, a small spread
        // would keep itself small.
        let weights = |between: f64| {
            let of = sets.iter().zip(&self.variances).zip(&self.precisions);
            of.map(move |((set, v), p)| 1.0 / (set.inflation * v + between * between / p))
        };
        let sums = |between: f64| {
            weights(between).zip(sets).fold((0.0, 0.0, 0.0, 0.0), |sum, (w, s)| {
                (sum.0 + w.ln(), sum.1 + w, sum.2 + w * s.mean, sum.3 + w * s.mean * s.mean)
            })
        };
        let log_density = |log: f64| {
            let (logs, w, wx, wxx) = sums(log.exp());
            0.5 * (logs - w.ln() - (wxx - wx * wx / w)) + log
        };
        let bounds = (NARROWEST.ln(), self.widest.ln());
        let between = slice(self.between.ln(), bounds, log_density, stream).exp();
        let (_, w, wx, _) = sums(between);
        self.between = between;
        self.centre = wx / w + stream.normal() / w.sqrt();
        for (at, set) in sets.iter().enumerate() {
            let own = 1.0 / (set.inflation * self.variances[at]);
            let others = self.precisions[at] / (between * between);
            let mean = (own * set.mean + others * self.centre) / (own + others);
            self.means[at] = mean + stream.normal() / (own + others).sqrt();
        }
        self.step_freedom(stream);
        for (at, set) in sets.iter().enumerate() {
            let z = (self.means[at] - self.centre) / between;
            let degrees = 1.0 + self.freedom;
            self.precisions[at] = gamma(stream, (degrees + 1.0) / 2.0) / ((degrees + z * z) / 2.0);
            let off = set.mean - self.means[at];
            let squares = set.squares + off * off / set.inflation;
            // Uniform for the standard deviation.
            self.variances[at] = squares / 2.0 / gamma(stream, (set.n - 1.0) / 2.0);
        }
    }

    /// The degrees of freedom, given the means but no mixture, and the parameters of their prior.
    fn step_freedom(&mut self, stream: &mut Stream) {
        let z: Vec<f64> =
            self.means.iter().map(|m| ((m - self.centre) / self.between).powi(2)).collect();
        let (q, shape, rate) = (z.len() as f64, self.shape, self.rate);
        let log_density = |log: f64| {
            let freedom = log.exp();
            let degrees = 1.0 + freedom;
            let half = (degrees + 1.0) / 2.0;
            let constant = ln_gamma(half) - ln_gamma(degrees / 2.0) - 0.5 * degrees.ln();
            let far: f64 = z.iter().map(|z| (z / degrees).ln_1p()).sum();
            q * constant - half * far + shape * log - rate * freedom
        };
        let bounds = (FREEDOM.0.ln(), FREEDOM.1.ln());
        let log = slice(self.freedom.ln(), bounds, log_density, stream);
        let freedom = log.exp();
        let of_shape = |shape: f64| shape * (rate.ln() + log) - ln_gamma(shape);
        let shape = slice(shape, SHAPE, of_shape, stream);
        let rate = slice(rate, RATE, |rate| shape * rate.ln() - rate * freedom, stream);
        (self.freedom, self.shape, self.rate) = (freedom, shape, rate);
    }

    /// Probability of a difference above, within and below ±`rope` on a next set.
    fn regions(&self, rope: f64) -> Option<[f64; 3]> {
        let student = StudentsT::new(0.0, 1.0, 1.0 + self.freedom).ok()?;
        let above = student.cdf((self.centre - rope) / self.between);
        let below = student.cdf((-rope - self.centre) / self.between);
        Some([above, (1.0 - above - below).max(0.0), below])
    }
}

/// A draw after `x` from a density between `bounds` (Neal 2003): a height below that of `x`, then a point at
/// which the density is as high, from an interval that shrinks towards `x`.
fn slice(x: f64, bounds: (f64, f64), log_density: impl Fn(f64) -> f64, stream: &mut Stream) -> f64 {
    let x = x.clamp(bounds.0, bounds.1);
    let height = log_density(x) + (1.0 - stream.unit()).ln();
    let (mut low, mut high) = bounds;
    loop {
        let next = low + (high - low) * stream.unit();
        // The interval has shrunk to the point itself.
        if log_density(next) >= height || high - low <= f64::EPSILON * x.abs().max(1.0) {
            return next;
        }
        if next < x { low = next } else { high = next }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Differences of `n` folds with this mean and spread: at even distances, which sums of squares do not see.
    fn folds(n: usize, mean: f64, spread: f64) -> Vec<f64> {
        let middle = (n as f64 - 1.0) / 2.0;
        let squares: f64 = (0..n).map(|i| (i as f64 - middle).powi(2)).sum();
        let scale = spread * ((n as f64 - 1.0) / squares).sqrt();
        (0..n).map(|i| mean + scale * (i as f64 - middle)).collect()
    }

    /// The same probabilities as sums over a grid of centre, spread and degrees of freedom: the variance of each
    /// set integrates to a power in closed form, its mean is summed over quantiles of the Student distribution.
    fn by_sums(sets: &[Vec<f64>], correlation: f64, rope: f64) -> [[f64; 3]; 2] {
        const NODES: usize = 160;
        let likelihood = |folds: &Vec<f64>, m: f64| {
            let n = folds.len() as f64;
            let mean = folds.iter().sum::<f64>() / n;
            let squares: f64 = folds.iter().map(|d| (d - mean).powi(2)).sum();
            let (c, s) = ((1.0 + (n - 1.0) * correlation) / n, squares / (1.0 - correlation));
            (1.0 + (mean - m).powi(2) / c / s).powf(-(n - 1.0) / 2.0)
        };
        let (mut total, mut shares, mut decided) = (0.0, [0.0; 3], [0.0; 3]);
        for nu in 0..14 {
            let log = -2.5 + nu as f64 * 0.55;
            let freedom = f64::exp(log);
            let student = StudentsT::new(0.0, 1.0, 1.0 + freedom).unwrap();
            let nodes: Vec<f64> =
                (0..NODES).map(|i| student.inverse_cdf((i as f64 + 0.5) / NODES as f64)).collect();
            // The prior with its two parameters summed out, for steps of the logarithm.
            let mut prior = 0.0;
            for i in 0..40 {
                for j in 0..10 {
                    let shape = 0.5 + 4.5 * (i as f64 + 0.5) / 40.0;
                    let rate = 0.05 + 0.1 * (j as f64 + 0.5) / 10.0;
                    prior += (shape * (rate.ln() + log) - ln_gamma(shape) - rate * freedom).exp();
                }
            }
            for at in 0..32 {
                let log = -7.5 + at as f64 * 0.25;
                let between = f64::exp(log);
                for centre in 0..80 {
                    // Finer than the region, and off its ends: what is decided there hangs on it.
                    let centre = 0.03 + (centre as f64 - 39.5) * 0.005;
                    let set = |folds: &Vec<f64>| {
                        let of = nodes.iter().map(|t| likelihood(folds, centre + between * t));
                        of.sum::<f64>()
                    };
                    let p = prior * between * sets.iter().map(set).product::<f64>();
                    let above = student.cdf((centre - rope) / between);
                    let below = student.cdf((-rope - centre) / between);
                    let regions = [above, 1.0 - above - below, below];
                    let most = (0..3).max_by(|a, b| regions[*a].total_cmp(&regions[*b])).unwrap();
                    total += p;
                    (0..3).for_each(|r| shares[r] += p * regions[r]);
                    decided[most] += p;
                }
            }
        }
        [shares.map(|s| s / total), decided.map(|d| d / total)]
    }

    #[test]
    fn the_draws_agree_with_sums() {
        let many = [
            folds(10, 0.06, 0.03),
            folds(10, 0.02, 0.02),
            folds(10, 0.05, 0.06),
            folds(10, -0.01, 0.03),
            folds(10, 0.03, 0.02),
            folds(10, 0.08, 0.05),
        ];
        let few = [
            folds(4, 0.03, 0.05),
            folds(4, 0.02, 0.02),
            folds(4, 0.0, 0.06),
            folds(4, -0.01, 0.03),
            folds(4, 0.03, 0.02),
        ];
        for (sets, correlation) in [(&many[..], 0.1), (&few[..], 0.5)] {
            let found = hierarchical(sets, correlation, 0.01, 2).unwrap();
            let [shares, decided] = by_sums(sets, correlation, 0.01);
            for (found, sums) in [(found.probabilities, shares), (found.decided, decided)] {
                let found = [found.first, found.equal, found.second];
                let off = found.iter().zip(sums).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(off < 0.02, "{found:?} and {sums:?}");
            }
        }
    }

    #[test]
    fn clear_cases_are_clear() {
        let better: Vec<Vec<f64>> =
            (0..10).map(|i| folds(10, 0.08 + 0.004 * f64::from(i), 0.02)).collect();
        let found = hierarchical(&better, 0.1, 0.01, 1).unwrap();
        assert!(found.probabilities.first > 0.95 && found.decided.first > 0.99, "{found:?}");
        // Equal in every fold, in all sets but for one.
        let mut same = vec![vec![0.0; 10]; 8];
        same.push(folds(10, 0.001, 0.002));
        let found = hierarchical(&same, 0.1, 0.01, 1).unwrap();
        assert!(found.probabilities.equal > 0.95 && found.decided.equal > 0.99, "{found:?}");
        let sum = found.decided.first + found.decided.equal + found.decided.second;
        assert!((sum - 1.0).abs() < 1e-9);
    }

    /// A difference that a test over means misses: the same means, once known well, once hardly.
    #[test]
    fn folds_that_scatter_say_less() {
        let sets = |spread: f64| -> Vec<Vec<f64>> {
            (0..6).map(|i| folds(5, 0.04 + 0.002 * f64::from(i), spread)).collect()
        };
        let exact = hierarchical(&sets(0.01), 0.2, 0.01, 1).unwrap();
        let vague = hierarchical(&sets(0.3), 0.2, 0.01, 1).unwrap();
        assert!(exact.decided.first > 0.99 && vague.decided.first < 0.9, "{exact:?} {vague:?}");
    }

    #[test]
    fn too_little_says_nothing() {
        assert_eq!(hierarchical(&vec![vec![0.1, 0.2]; 2], 0.5, 0.01, 1), None);
        assert_eq!(hierarchical(&[vec![0.1, 0.2], vec![0.1], vec![0.2, 0.3]], 0.5, 0.01, 1), None);
        let found = hierarchical(&vec![vec![0.0; 5]; 3], 0.2, 0.01, 1).unwrap();
        assert!(found.probabilities.equal > 0.5, "{found:?}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        /// Swapped methods swap the probabilities, another unit of the scores changes none, and all of it is bit
        /// for bit.
        #[test]
        fn sides_swap_and_units_do_not_matter(
            sets in proptest::collection::vec(proptest::collection::vec(-0.2..0.2f64, 4), 3..7),
            seed in 0..100u64,
        ) {
            let of = |factor: f64| -> Vec<Vec<f64>> {
                sets.iter().map(|s| s.iter().map(|d| factor * d).collect()).collect()
            };
            let found = hierarchical(&sets, 0.25, 0.01, seed).unwrap();
            let turned = hierarchical(&of(-1.0), 0.25, 0.01, seed).unwrap();
            prop_assert_eq!(found, turned.swapped());
            prop_assert_eq!(found, hierarchical(&of(4.0), 0.25, 0.04, seed).unwrap());
            let p = found.probabilities;
            prop_assert!((p.first + p.equal + p.second - 1.0).abs() < 1e-9);
        }
    }
}
