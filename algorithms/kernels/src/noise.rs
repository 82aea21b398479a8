//! What becomes of objects that belong to no cluster, where every object has a label?

use mustlink_core::clustering::{Clustering, compact};
use mustlink_core::prelude::{__mustlink, options};

/// What becomes of objects that belong to no cluster.
#[options]
pub enum Noise {
    /// Each is a cluster of its own.
    #[default]
    Singletons,
    /// Together they are one more cluster.
    OneCluster,
}

/// A clustering from groups, in which objects of no group are noise. Clusters are numbered in order
/// of first appearance; the number of noise objects is among the diagnostics.
pub fn with_noise(groups: &[Option<usize>], noise: Noise) -> Clustering {
    let base = groups.iter().flatten().max().map_or(0, |&g| g + 1);
    let named: Vec<u32> = groups
        .iter()
        .enumerate()
        .map(|(i, group)| match (group, noise) {
            (Some(group), _) => *group as u32,
            (None, Noise::Singletons) => (base + i) as u32,
            (None, Noise::OneCluster) => base as u32,
        })
        .collect();
    let (labels, k) = compact(&named);
    let mut clustering = Clustering { labels, k, ..Clustering::default() };
    let count = groups.iter().filter(|g| g.is_none()).count();
    clustering.extras.diagnostics.insert("noise_objects".into(), count as f64);
    clustering
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_labelled_as_asked() {
        let groups = [None, Some(1), None, Some(0), Some(1)];
        let single = with_noise(&groups, Noise::Singletons);
        assert_eq!((single.labels, single.k), (vec![0, 1, 2, 3, 1], 4));
        let one = with_noise(&groups, Noise::OneCluster);
        assert_eq!((one.labels, one.k), (vec![0, 1, 0, 2, 1], 3));
        assert_eq!(one.extras.diagnostics["noise_objects"], 2.0);
    }
}
