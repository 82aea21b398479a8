//! Hierarchical clustering that always merges the two nearest clusters.

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

/// The distance of a cluster to two that have become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Linkage {
    /// The largest distance of two objects.
    Complete,
    /// The mean over all pairs (UPGMA).
    Average,
    /// The mean over the two clusters last merged, whatever their sizes (WPGMA).
    Weighted,
    /// The growth of the sum of squares within, doubled; of squared distances.
    Ward,
}

impl Linkage {
    /// The distance to the union, from those to its parts of `a` and `b` objects, which are `height` apart;
    /// the cluster itself has `c` objects. [LanceWilliams1967]
    fn of_union(self, to: (f64, f64), height: f64, (a, b, c): (f64, f64, f64)) -> f64 {
        let mean = match self {
            Linkage::Complete => return to.0.max(to.1),
            Linkage::Average => (a * to.0 + b * to.1) / (a + b),
            Linkage::Weighted => 0.5 * to.0 + 0.5 * to.1,
            Linkage::Ward => ((a + c) * to.0 + (b + c) * to.1 - c * height) / (a + b + c),
        };
        // A union is not nearer than both of its parts, rounded or not: chains rely on it.
        mean.max(to.0.min(to.1))
    }
}

/// All n − 1 merges in order of height; ties merge the pair of smallest names first. `distances` is
/// symmetric and is used up.
///
/// Nearest-neighbour chains, O(n²) time [Mullner2011]. They give the merges of the greedy method since
/// distances with names as tie-breakers are all different, and a merge brings no cluster nearer to another.
///
/// # Errors
/// Cancellation.
pub fn linkage(mut distances: Array2<f64>, linkage: Linkage, ctx: &Context) -> Result<Vec<Merge>> {
    let n = distances.nrows();
    let mut active: Vec<usize> = (0..n).collect();
    let mut sizes = vec![1.0; n];
    let mut merges = Vec::with_capacity(n.saturating_sub(1));
    let mut chain: Vec<usize> = Vec::new();
    while active.len() > 1 {
        ctx.check()?;
        let top = *chain.last().unwrap_or(&active[0]);
        if chain.is_empty() {
            chain.push(top);
        }
        // Among equals the smallest name: it gives the smallest pair of names.
        let row = distances.row(top);
        let row = row.to_slice().expect("standard layout");
        let others = active.iter().copied().filter(|&c| c != top);
        let nearest = others.reduce(|least, c| if row[c] < row[least] { c } else { least });
        let nearest = nearest.expect("two clusters are left");
        if chain.len() < 2 || chain[chain.len() - 2] != nearest {
            // What rounding has made equal can lead a chain back to itself: it begins anew.
            if linkage != Linkage::Complete && chain.contains(&nearest) {
                chain.clear();
            } else {
                chain.push(nearest);
            }
            continue;
        }
        chain.truncate(chain.len() - 2);
        let (into, from) = (top.min(nearest), top.max(nearest));
        let height = distances[[into, from]];
        merges.push(Merge { into, from, height });
        active.retain(|&c| c != from);
        for &c in active.iter().filter(|&&c| c != into) {
            let to = (distances[[into, c]], distances[[from, c]]);
            let farther = linkage.of_union(to, height, (sizes[into], sizes[from], sizes[c]));
            distances[[into, c]] = farther;
            distances[[c, into]] = farther;
        }
        sizes[into] += sizes[from];
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
            let merges = linkage(d.clone(), Linkage::Complete, &Context::new(1)).unwrap();
            prop_assert_eq!(&merges, &greedily(&d));
            prop_assert!(merges.windows(2).all(|w| w[0].height <= w[1].height));
        }

        /// Heights of the other linkages by their definitions, on objects of a line.
        #[test]
        fn heights_are_those_of_the_definition(x in proptest::collection::vec(0u8..60, 1..14)) {
            let x: Vec<f64> = x.iter().enumerate().map(|(i, &v)| f64::from(v) + 0.01 * i as f64).collect();
            let n = x.len();
            let d = Array2::from_shape_fn((n, n), |(i, j)| (x[i] - x[j]).abs());
            let square = d.mapv(|v| v * v);
            let ctx = Context::new(1);
            for (kind, given) in [(Linkage::Average, &d), (Linkage::Ward, &square)] {
                let merges = linkage(given.clone(), kind, &ctx).unwrap();
                prop_assert_eq!(merges.len(), n - 1);
                let mut clusters: Vec<Vec<usize>> = (0..n).map(|i| vec![i]).collect();
                for merge in merges {
                    let from = std::mem::take(&mut clusters[merge.from]);
                    let into = &clusters[merge.into];
                    let mean = |c: &[usize]| c.iter().map(|&i| x[i]).sum::<f64>() / c.len() as f64;
                    let (a, b) = (into.len() as f64, from.len() as f64);
                    let pairs = into.iter().flat_map(|&i| from.iter().map(move |&j| (i, j)));
                    let height = match kind {
                        Linkage::Ward => 2.0 * a * b / (a + b) * (mean(into) - mean(&from)).powi(2),
                        _ => pairs.map(|p| d[p]).sum::<f64>() / (a * b),
                    };
                    prop_assert!((height - merge.height).abs() < 1e-9 * (1.0 + height));
                    clusters[merge.into].extend(from);
                }
            }
        }
    }
}
