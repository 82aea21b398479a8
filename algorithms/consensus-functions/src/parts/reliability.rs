//! The reliability of single clusters: how far the other members agree about the objects of each.

use std::collections::BTreeMap;

use mustlink_core::prelude::*;

use crate::parts::canonical_ensemble::CanonicalEnsemble;

/// The ensemble-driven cluster index of every cluster, these counted through all members [HuangWangLai2018]:
/// exp(−H / (θ·M)), H the sum over the M members of the entropy (in bits) of their labels within the cluster.
///
/// Each member counts as much as it weighs; objects that it misses are left out. 1 for a cluster that no
/// member divides.
///
/// # Errors
/// Cancellation.
pub(crate) fn of_clusters(view: &CanonicalEnsemble, theta: f64, ctx: &Context) -> Result<Vec<f64>> {
    let mut inside = vec![Vec::new(); view.clusters()];
    for i in 0..view.n {
        view.clusters_of(i).for_each(|(_, c)| inside[c].push(i));
    }
    let index = |objects: &Vec<usize>| {
        ctx.check()?;
        let entropies = view.labels.iter().zip(&view.weights);
        let h: f64 = entropies.map(|(labels, w)| w * entropy(objects, labels)).sum();
        Ok((-h / (theta * view.len() as f64)).exp())
    };
    reduce::try_map(inside.len(), |c| index(&inside[c]))
}

/// Entropy of the labels of some objects, in bits.
fn entropy(objects: &[usize], labels: &[u32]) -> f64 {
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    for &i in objects.iter().filter(|&&i| labels[i] != NONE) {
        *counts.entry(labels[i]).or_default() += 1;
    }
    let total: usize = counts.values().sum();
    let share = |count: &usize| *count as f64 / total as f64;
    counts.values().map(share).map(|p| -p * p.log2()).sum()
}

/// Operations of [`of_clusters`].
pub(crate) fn operations(n: usize, members: usize) -> f64 {
    10.0 * n as f64 * (members as f64).powi(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::e12::blank;
    use crate::parts::weights::Weights;

    #[test]
    fn index_by_hand() {
        // {0, 1, 2, 3} {4, 5} and {0, 1, 2} {3, 4, 5}.
        let members = vec![
            Member::from_labels(&[0, 0, 0, 0, 1, 1]),
            Member::from_labels(&[0, 0, 0, 1, 1, 1]),
        ];
        let ensemble = Ensemble::new(6, members).unwrap();
        let ctx = Context::new(1);
        let view = CanonicalEnsemble::new(&ensemble, &blank(6, 2), &Weights::default(), "r", &ctx)
            .unwrap();
        let found = of_clusters(&view, 0.5, &ctx).unwrap();
        // θ·M = 1. The four lie in two clusters of the other member, 3 and 1: −¾ log ¾ − ¼ log ¼ = 0.811278. The
        // last three, 2 and 1: 0.918296. The others are in one.
        let by_hand = [(-0.811278f64).exp(), 1.0, 1.0, (-0.918296f64).exp()];
        // Members in their own order: the one that ends its first cluster earlier has the larger labels.
        assert!(found.iter().zip(by_hand).all(|(f, e)| (f - e).abs() < 1e-6), "{found:?}");
    }

    #[test]
    fn objects_that_a_member_misses_are_left_out() {
        let members = vec![
            Member::from_labels(&[0, 0, 0, 0]),
            Member::from_labels(&[0, NONE, 1, NONE]),
            Member::from_labels(&[NONE; 4]),
        ];
        let ensemble = Ensemble::new(4, members).unwrap();
        let ctx = Context::new(1);
        let view = CanonicalEnsemble::new(&ensemble, &blank(4, 2), &Weights::default(), "r", &ctx)
            .unwrap();
        let found = of_clusters(&view, 1.0, &ctx).unwrap();
        // One bit of three members.
        assert!((found[0] - (-1.0f64 / 3.0).exp()).abs() < 1e-12 && found[1..] == [1.0, 1.0]);
    }
}
