//! Labels of noise for methods that label every object.

use mustlink_core::clustering::{Clustering, NONE, compact};
use mustlink_core::prelude::{__mustlink, options};

/// Treatment of objects outside all clusters in ensembles and for metrics. In files, summaries and Python they are
/// noise, -1.
#[options]
pub enum Noise {
    /// Each is a cluster of its own.
    #[default]
    Singletons,
    /// Together they are one more cluster.
    OneCluster,
}

/// A clustering from groups, in which objects of no group are noise. Clusters are numbered in order
/// of first appearance, those of noise after the others; the number of noise objects is among the diagnostics.
pub fn with_noise(groups: &[Option<usize>], noise: Noise) -> Clustering {
    let named: Vec<u32> = groups.iter().map(|g| g.map_or(NONE, |group| group as u32)).collect();
    let (mut labels, mut k) = compact(&named);
    let (first, mut count) = (k, 0);
    for label in labels.iter_mut().filter(|label| **label == NONE) {
        *label = if noise == Noise::Singletons { k as u32 } else { first as u32 };
        k = *label as usize + 1;
        count += 1;
    }
    let mut clustering = Clustering { labels, k, ..Clustering::default() };
    if count > 0 {
        clustering.extras.noise = groups.iter().map(Option::is_none).collect();
    }
    clustering.extras.diagnostics.insert("noise_objects".into(), f64::from(count));
    clustering
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_labelled_as_asked() {
        let groups = [None, Some(1), None, Some(0), Some(1)];
        let single = with_noise(&groups, Noise::Singletons);
        assert_eq!((&single.labels[..], single.k), (&[2, 0, 3, 1, 0][..], 4));
        assert_eq!(single.shown(None).labels, [NONE, 0, NONE, 1, 0]);
        let one = with_noise(&groups, Noise::OneCluster);
        assert_eq!((&one.labels[..], one.k), (&[2, 0, 2, 1, 0][..], 3));
        assert_eq!(one.extras.noise, [true, false, true, false, false]);
        assert_eq!(one.extras.diagnostics["noise_objects"], 2.0);
    }
}
