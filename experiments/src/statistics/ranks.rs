//! The ranks of several values.

/// Scores are rounded to this before they are ranked: decimals that tie stay tied.
const ROUNDED: f64 = 1e12;

/// A score as it is ranked: those that differ by rounding alone are equal.
pub fn rounded(score: f64) -> f64 {
    (score * ROUNDED).round() / ROUNDED
}

/// Factor that brings tiny scores to about 1, a power of two so that no bit is lost. Scores are compared at fixed
/// decimals, so sums of squares of small values would all be equal. 1 if a score is not below 0.001.
pub fn unit(scores: impl IntoIterator<Item = f64>) -> f64 {
    let largest = scores.into_iter().map(f64::abs).fold(0.0, f64::max);
    let tiny = largest > 0.0 && largest < 1e-3;
    if tiny { 2f64.powi((-largest.log2().ceil()).min(1000.0) as i32) } else { 1.0 }
}

/// Ranks from 1 on for the smallest; equal values share the mean of theirs.
pub fn average_ranks(values: &[f64]) -> Vec<f64> {
    let order = mustlink_core::order::ascending(values);
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    for group in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let mean = first as f64 + (group.len() + 1) as f64 / 2.0;
        group.iter().for_each(|&i| ranks[i] = mean);
        first += group.len();
    }
    ranks
}

/// Σ (t³ − t) over groups of t equal values.
pub(super) fn ties(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    mustlink_core::order::sort_values(&mut sorted);
    let size = |group: &[f64]| group.len() as f64;
    sorted.chunk_by(|a, b| a == b).map(|g| size(g).powi(3) - size(g)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiny_scores_have_a_unit() {
        assert_eq!((unit([3e-4, -6e-4]), unit([3e-4, 0.001])), (1024.0, 1.0));
        assert_eq!((unit([]), unit([0.0]), unit([f64::INFINITY])), (1.0, 1.0, 1.0));
        assert!(unit([f64::from_bits(1)]).is_finite());
    }

    #[test]
    fn equal_values_share_their_ranks() {
        assert_eq!(average_ranks(&[0.3, 0.1, 0.3, 0.2]), [3.5, 1.0, 3.5, 2.0]);
        assert_eq!(average_ranks(&[5.0; 3]), [2.0; 3]);
        assert_eq!((ties(&[1.0, 2.0, 2.0, 2.0, 3.0, 3.0]), ties(&[])), (24.0 + 6.0, 0.0));
    }
}
