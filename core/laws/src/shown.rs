//! The law about the numbers that clusters have for people.

use std::cmp::Reverse;

use mustlink_core::clustering::{Clustering, Extras, NONE, canonical};

use super::law::Verdict;
use crate::ensure;

pub(super) const LAW: &str = "clusters_are_shown_by_size";

/// Sizes fall, clusters of equal size are in the order of their first objects, the partition is the same, and every
/// part of the result follows its cluster.
pub(super) fn by_size(found: &Clustering) -> Verdict {
    let shown = found.clone().shown(None);
    let first = |h: u32| shown.labels.iter().position(|&l| l == h).unwrap_or(usize::MAX);
    let sizes = shown.sizes();
    let places: Vec<_> =
        sizes.iter().zip(0..).map(|(&size, h)| (Reverse(size), first(h))).collect();
    ensure!(places.is_sorted(), "the clusters that are shown have the sizes {sizes:?}");
    let noise = &found.extras.noise;
    let is_noise = |i: usize| noise.get(i) == Some(&true);
    let own = found.labels.iter().enumerate();
    let own: Vec<u32> = own.map(|(i, &l)| if is_noise(i) { NONE } else { l }).collect();
    ensure!(canonical(&own) == canonical(&shown.labels), "another partition is shown");
    for (i, (&own, &shown_as)) in own.iter().zip(&shown.labels).enumerate() {
        if own != NONE {
            let (own, shown_as) = (own as usize, shown_as as usize);
            let same = parts(&found.extras, i, own, noise.contains(&true))
                == parts(&shown.extras, i, shown_as, noise.contains(&true));
            ensure!(same, "cluster {own} is shown as {shown_as}, with numbers of another one");
        }
    }
    Ok(())
}

/// The numbers of object `i` and its cluster `h`. Shares in clusters of noise alone are spread over the others, so they
/// are left out with noise.
fn parts(extras: &Extras, i: usize, h: usize, has_noise: bool) -> Vec<f64> {
    let tables = [&extras.centers, &extras.weights].into_iter().flatten();
    let mut all: Vec<f64> = tables.flat_map(|x| x.row(h).to_vec()).collect();
    let metrics = extras.metrics.iter().filter(|all| all.len() > 1);
    all.extend(metrics.flat_map(|metrics| metrics[h].iter().copied()));
    all.extend(extras.distances.iter().map(|x| x[[i, h]]));
    if !has_noise {
        all.extend(extras.memberships.iter().map(|x| x[[i, h]]));
        all.extend(extras.mixing.iter().map(|shares| shares[h]));
    }
    all
}
