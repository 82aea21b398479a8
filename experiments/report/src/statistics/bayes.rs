//! The probability that one method is better by more than a relevant difference.

use mustlink_core::random::SeedPath;

/// Result of the Bayesian signed-rank test for two methods.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Probabilities {
    /// The first is practically better.
    pub first: f64,
    /// Neither matters.
    pub equal: f64,
    /// The second is practically better.
    pub second: f64,
}

impl Probabilities {
    /// The probabilities with the two methods exchanged.
    pub fn swapped(self) -> Probabilities {
        Probabilities { first: self.second, equal: self.equal, second: self.first }
    }
}

/// Draws from the posterior.
const DRAWS: usize = 50_000;

/// The Bayesian signed-rank test (Benavoli et al. 2014, 2017) of paired `differences`, first less second:
/// a Dirichlet process whose prior is one pseudo-difference of 0 with weight ½. In each draw the share of
/// mean differences (z_i + z_j) / 2 below −`rope`, within it and above it decides; the probabilities are
/// the shares of draws won. The same seed gives the same probabilities; `None` without differences.
pub fn signed_rank(differences: &[f64], rope: f64, seed: u64) -> Option<Probabilities> {
    if differences.is_empty() {
        return None;
    }
    let mut z = vec![0.0];
    z.extend_from_slice(differences);
    let m = z.len();
    // The region of the mean of each pair of differences.
    let region = |i: usize, j: usize| match (z[i] + z[j]) / 2.0 {
        d if d > rope => 0,
        d if d < -rope => 2,
        _ => 1,
    };
    let regions: Vec<usize> =
        (0..m).flat_map(|i| (0..m).map(move |j| (i, j))).map(|(i, j)| region(i, j)).collect();
    let mut stream = SeedPath::new(seed).stream("bayesian_signed_rank");
    let mut won = [0.0f64; 3];
    let mut weights = vec![0.0; m];
    for _ in 0..DRAWS {
        // Gamma numbers of shape ½ and 1; divided by their sum they would be a Dirichlet draw.
        let normal = stream.normal();
        weights[0] = normal * normal / 2.0;
        weights[1..].iter_mut().for_each(|w| *w = -(1.0 - stream.unit()).ln());
        let mut shares = [0.0f64; 3];
        for i in 0..m {
            for j in 0..m {
                shares[regions[i * m + j]] += weights[i] * weights[j];
            }
        }
        let most = shares.iter().copied().fold(0.0, f64::max);
        let winners = shares.iter().filter(|s| **s == most).count() as f64;
        for (won, share) in won.iter_mut().zip(shares) {
            if share == most {
                *won += 1.0 / winners;
            }
        }
    }
    let [first, equal, second] = won.map(|w| w / DRAWS as f64);
    Some(Probabilities { first, equal, second })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clear_cases_are_clear_and_sides_swap() {
        let better: Vec<f64> = (0..12).map(|i| 0.05 + 0.005 * f64::from(i)).collect();
        let p = signed_rank(&better, 0.01, 1).unwrap();
        assert!(p.first > 0.99 && (p.first + p.equal + p.second - 1.0).abs() < 1e-12);
        let worse: Vec<f64> = better.iter().map(|d| -d).collect();
        let q = signed_rank(&worse, 0.01, 1).unwrap();
        assert_eq!((p.first, p.equal, p.second), (q.second, q.equal, q.first));
        let none = signed_rank(&[0.001, -0.002, 0.0, 0.003], 0.01, 1).unwrap();
        assert!(none.equal > 0.95);
        assert_eq!(signed_rank(&[], 0.01, 1), None);
        assert_eq!(signed_rank(&better, 0.01, 7), signed_rank(&better, 0.01, 7));
    }

    #[test]
    fn a_single_difference_is_believed_as_far_as_the_prior_lets() {
        // Weights Gamma(½) and Gamma(1) of 0 and .1: the pairs (1, 1) and both mixed ones are above, so the
        // first wins unless w0² exceeds w1² + 2 w0 w1, that is unless w1 < (√2 − 1) w0.
        let p = signed_rank(&[0.1], 0.01, 3).unwrap();
        // P(w1 < c w0) = 1 − (1 + c)^(−½) for shapes ½ and 1.
        let c = 2.0f64.sqrt() - 1.0;
        let equal = 1.0 - (1.0 + c).powf(-0.5);
        assert!((p.equal - equal).abs() < 0.01 && p.second == 0.0, "{p:?} {equal}");
    }
}
