//! The partition that the members suggest before a graph is cut.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use mustlink_core::clustering::compact;
use mustlink_core::prelude::*;
use mustlink_kernels::agreement::contingency::adjusted_rand;
use mustlink_kernels::agreement::members::{shared, some_of};

use crate::parts::canonical_ensemble::CanonicalEnsemble;
use crate::parts::matching::matched;

/// Members that are compared with each other to find the typical one.
const COMPARED: usize = 10;

/// The member that agrees most with the others, in k parts.
///
/// The members determine the sizes of the parts. Parts of equal weight would contradict members that agree on groups
/// of unequal size; without any bound, the lightest cut would separate single objects.
pub(crate) struct Typical {
    /// Part of each object.
    pub labels: Vec<u32>,
    /// Part that each cluster of each member corresponds to.
    pub clusters: Vec<u32>,
    /// Share of the objects in each part, averaged over the members.
    pub shares: Vec<f64>,
    /// True if all members are this partition.
    pub agreed: bool,
}

impl Typical {
    /// The typical member of `view`.
    ///
    /// # Errors
    /// Cancellation.
    pub fn new(view: &CanonicalEnsemble, ctx: &Context) -> Result<Self> {
        let k = view.k;
        let complete: Vec<usize> =
            (0..view.len()).filter(|&t| !view.labels[t].contains(&NONE)).collect();
        let is_complete = !complete.is_empty();
        let candidates = if is_complete { complete } else { (0..view.len()).collect() };
        let typical = medoid(view, &nearest_k(view, candidates), ctx)?;
        let own = view.columns(typical).len();
        let labels = in_parts(&view.labels[typical], own, k);
        let mut clusters = Vec::with_capacity(view.clusters());
        for t in 0..view.len() {
            ctx.check()?;
            let shape = (view.columns(t).len(), k);
            let parts = matched(&view.labels[t], &labels, shape, ctx)?;
            clusters.extend(parts.into_iter().map(|p| p as u32));
        }
        let agreed = own == k && is_complete && view.labels.windows(2).all(|w| w[0] == w[1]);
        let mut shares = vec![0.0; k];
        if own == k {
            // Only members of k clusters count; others would count some parts twice and others not at all.
            for t in (0..view.len()).filter(|&t| view.columns(t).len() == k) {
                let mut sizes = vec![0.0; k];
                let mut seen = 0.0;
                for &l in view.labels[t].iter().filter(|&&l| l != NONE) {
                    sizes[clusters[view.first[t] + l as usize] as usize] += 1.0;
                    seen += 1.0;
                }
                let add = |(share, size): (&mut f64, f64)| *share += view.weights[t] * size / seen;
                shares.iter_mut().zip(sizes).for_each(add);
            }
        } else {
            labels.iter().for_each(|&p| shares[p as usize] += 1.0);
        }
        let total: f64 = shares.iter().sum();
        shares.iter_mut().for_each(|s| *s /= total);
        Ok(Typical { labels, clusters, shares, agreed })
    }
}

/// The `candidates` whose number of clusters is nearest to k.
fn nearest_k(view: &CanonicalEnsemble, mut candidates: Vec<usize>) -> Vec<usize> {
    let distance = |t: usize| view.columns(t).len().abs_diff(view.k);
    let least = candidates.iter().map(|&t| distance(t)).min().unwrap_or(0);
    candidates.retain(|&t| distance(t) == least);
    candidates
}

/// The candidate with the highest mean adjusted Rand index to other members. If there are many candidates or members,
/// an evenly spaced choice of [`COMPARED`] is used.
fn medoid(view: &CanonicalEnsemble, candidates: &[usize], ctx: &Context) -> Result<usize> {
    let candidates = some_of(candidates, COMPARED);
    let members = some_of(&(0..view.len()).collect::<Vec<usize>>(), COMPARED);
    let score = |&t: &usize| -> Result<f64> {
        ctx.check()?;
        let agreement = members.iter().filter(|&&s| s != t).map(|&s| {
            let (a, b) = shared(&view.labels[t], &view.labels[s]);
            if a.len() > 1 { view.weights[s] * adjusted_rand(&a, &b) } else { 0.0 }
        });
        Ok(agreement.sum())
    };
    let scores: Vec<f64> = reduce::try_map(candidates.len(), |at| score(&candidates[at]))?;
    let best =
        (0..scores.len()).fold(0, |best, at| if scores[at] > scores[best] { at } else { best });
    Ok(candidates[best])
}

/// Turns a partition of `own` clusters into one of k parts: merges the two smallest clusters, or halves the largest,
/// until there are k. Objects without a label go to the first cluster.
fn in_parts(labels: &[u32], own: usize, k: usize) -> Vec<u32> {
    let mut groups: Vec<Vec<u32>> = vec![Vec::new(); own.max(1)];
    for (i, &l) in labels.iter().enumerate() {
        groups[if l == NONE { 0 } else { l as usize }].push(i as u32);
    }
    let sizes = |groups: &[Vec<u32>]| groups.iter().map(Vec::len).enumerate().collect::<Vec<_>>();
    if own > k {
        let smallest = |(g, size)| Reverse((size, g));
        let mut heap: BinaryHeap<Reverse<(usize, usize)>> =
            sizes(&groups).into_iter().map(smallest).collect();
        while heap.len() > k {
            let (Some(Reverse((_, a))), Some(Reverse((_, b)))) = (heap.pop(), heap.pop()) else {
                break;
            };
            let moved = std::mem::take(&mut groups[a]);
            groups[b].extend(moved);
            heap.push(Reverse((groups[b].len(), b)));
        }
    } else {
        let largest = |(g, size)| (size, Reverse(g));
        let mut heap: BinaryHeap<(usize, Reverse<usize>)> =
            sizes(&groups).into_iter().map(largest).collect();
        while heap.len() < k {
            let Some((size, Reverse(g))) = heap.pop() else { break };
            let half = groups[g].split_off(size.div_ceil(2));
            heap.push((half.len(), Reverse(groups.len())));
            heap.push((groups[g].len(), Reverse(g)));
            groups.push(half);
        }
    }
    let mut out = vec![0; labels.len()];
    for (g, group) in groups.iter().enumerate() {
        group.iter().for_each(|&i| out[i as usize] = g as u32);
    }
    compact(&out).0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::e12::blank;
    use crate::parts::weights::Weights;

    fn typical(members: &[Vec<u32>], k: usize) -> Typical {
        let n = members[0].len();
        let members = members.iter().map(|m| Member::from_labels(m)).collect();
        let (ensemble, ctx) = (Ensemble::new(n, members).unwrap(), Context::new(1));
        let problem = blank(n, k);
        let view =
            CanonicalEnsemble::new(&ensemble, &problem, &Weights::default(), "hbgf", &ctx).unwrap();
        Typical::new(&view, &ctx).unwrap()
    }

    #[test]
    fn equal_members_are_what_they_are() {
        let member = vec![0, 0, 0, 0, 0, 0, 0, 1, 1, 2];
        let found = typical(&vec![member.clone(); 3], 3);
        assert!(found.agreed && found.labels == member);
        assert_eq!(found.clusters, [0, 1, 2, 0, 1, 2, 0, 1, 2]);
        assert!(found.shares.iter().zip([0.7, 0.2, 0.1]).all(|(s, x)| (s - x).abs() < 1e-12));
        // For another number of parts, the smallest are merged or the largest is halved.
        assert_eq!(typical(&vec![member.clone(); 3], 2).labels, [0, 0, 0, 0, 0, 0, 0, 1, 1, 1]);
        assert_eq!(typical(&vec![member; 3], 4).labels, [0, 0, 0, 0, 1, 1, 1, 2, 2, 3]);
    }

    #[test]
    fn the_member_that_most_agree_with_is_typical() {
        let (most, odd) = (vec![0, 0, 0, 0, 1, 1, 1, 2], vec![0, 1, 2, 0, 1, 2, 0, 1]);
        let found = typical(&[odd, most.clone(), most.clone(), most.clone()], 3);
        assert!(!found.agreed);
        assert_eq!(found.labels, most);
    }
}
