//! In which order do clusters merge when always the two nearest do?

use ndarray::Array2;

use mustlink_core::{Context, Result};

/// Two clusters that become one. A cluster is named by its smallest member.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Merge {
    /// The cluster that keeps its name.
    pub into: usize,
    /// The cluster that joins it, of larger name.
    pub from: usize,
    /// Their distance.
    pub height: f64,
}

/// Complete linkage: all n − 1 merges in order. The distance of two clusters is the largest of
/// their members; ties merge the pair of smallest names first. `distances` is symmetric and is used
/// up.
///
/// Nearest-neighbour chains, O(n²) time. They give the merges of the greedy method since distances
/// with names as tie-breakers are all different, and a merge brings no cluster nearer to another.
///
/// # Errors
/// Cancellation.
pub fn complete_link(mut distances: Array2<f64>, ctx: &Context) -> Result<Vec<Merge>> {
    let n = distances.nrows();
    let mut active: Vec<usize> = (0..n).collect();
    let mut merges = Vec::with_capacity(n.saturating_sub(1));
    let mut chain: Vec<usize> = Vec::new();
    while active.len() > 1 {
        ctx.check()?;
        let top = *chain.last().unwrap_or(&active[0]);
        if chain.is_empty() {
            chain.push(top);
        }
        // Among equals the smallest name: it gives the smallest pair of names.
        let mut nearest = usize::MAX;
        for &c in active.iter().filter(|&&c| c != top) {
            if nearest == usize::MAX || distances[[top, c]] < distances[[top, nearest]] {
                nearest = c;
            }
        }
        if chain.len() < 2 || chain[chain.len() - 2] != nearest {
            chain.push(nearest);
            continue;
        }
        chain.truncate(chain.len() - 2);
        let (into, from) = (top.min(nearest), top.max(nearest));
        merges.push(Merge { into, from, height: distances[[into, from]] });
        active.retain(|&c| c != from);
        for &c in &active {
            let farthest = distances[[into, c]].max(distances[[from, c]]);
            distances[[into, c]] = farthest;
            distances[[c, into]] = farthest;
        }
    }
    merges.sort_by(|a, b| {
        a.height.total_cmp(&b.height).then((a.into, a.from).cmp(&(b.into, b.from)))
    });
    Ok(merges)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Always the two nearest, found by looking at all.
    fn greedily(d: &Array2<f64>) -> Vec<Merge> {
        let mut clusters: Vec<Vec<usize>> = (0..d.nrows()).map(|i| vec![i]).collect();
        let mut merges = Vec::new();
        while clusters.len() > 1 {
            let mut best: Option<(f64, usize, usize)> = None;
            for a in 0..clusters.len() {
                for b in a + 1..clusters.len() {
                    let pairs =
                        clusters[a].iter().flat_map(|&i| clusters[b].iter().map(move |&j| (i, j)));
                    let height = pairs.map(|p| d[p]).fold(0.0, f64::max);
                    if best.is_none_or(|(least, ..)| height < least) {
                        best = Some((height, a, b));
                    }
                }
            }
            let (height, a, b) = best.unwrap();
            merges.push(Merge { into: clusters[a][0], from: clusters[b][0], height });
            let moved = clusters.remove(b);
            clusters[a].extend(moved);
        }
        merges
    }

    proptest! {
        /// With many ties too, chains give what looking at all pairs gives.
        #[test]
        fn chains_are_greedy(values in proptest::collection::vec(0u8..6, 66), n in 1usize..12) {
            let d = Array2::from_shape_fn((n, n), |(i, j)| match i.cmp(&j) {
                std::cmp::Ordering::Equal => 0.0,
                _ => f64::from(values[i.max(j) * (i.max(j) - 1) / 2 + i.min(j)]),
            });
            let merges = complete_link(d.clone(), &Context::new(1)).unwrap();
            prop_assert_eq!(&merges, &greedily(&d));
            prop_assert!(merges.windows(2).all(|w| w[0].height <= w[1].height));
        }
    }
}
