//! Counts of pairs of components that are apart, each pair once, although groups may share pairs.

use crate::groups::{pairs_among, share};
use crate::lists::Lists;

/// Components that are apart: the pairs of the edges and of each clique, without duplicates.
pub struct Counted<'a> {
    /// The components apart from each, ascending; none of these pairs is inside a clique.
    pub edges: &'a Lists,
    /// Sets of components of which every two are apart.
    pub cliques: &'a [Vec<u32>],
    /// Pairs (p, q), p < q, of several cliques: one less often than they are in these.
    pub twice: &'a [(u32, u32)],
}

/// Cliques that share pairs with each other or with edges, distinguished once.
#[derive(Debug, Clone)]
pub(crate) struct Overlapping {
    edges: Lists,
    cliques: Vec<Vec<u32>>,
    twice: Vec<(u32, u32)>,
}

impl Overlapping {
    /// Cliques are kept whole, large ones first, as far as it takes less to say what they share than to list
    /// their pairs; those of the others are edges. `of`: the cliques that each component is in.
    pub fn new(edges: &Lists, cliques: &[Vec<u32>], of: &Lists) -> Self {
        let mut order: Vec<usize> = (0..cliques.len()).collect();
        order.sort_by_key(|&g| std::cmp::Reverse(cliques[g].len()));
        let mut whole = vec![false; cliques.len()];
        let (mut kept, mut listed, mut twice) = (Vec::new(), Vec::new(), Vec::new());
        for g in order {
            let clique = &cliques[g];
            let pairs = pairs_among(clique.len());
            let around: usize = clique.iter().map(|&p| of.of(p as usize).len()).sum();
            if around as u64 > pairs {
                listed.push(clique);
                continue;
            }
            let others = |&p: &u32| of.of(p as usize).iter().map(move |&h| (h, p));
            let mut met: Vec<(u32, u32)> = clique.iter().flat_map(others).collect();
            met.retain(|&(h, _)| whole[h as usize]);
            met.sort_unstable();
            let shared = || met.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() > 1);
            if shared().any(|same| same.len() == clique.len()) {
                // A clique that is kept says all of it.
            } else if shared().map(|same| pairs_among(same.len())).sum::<u64>() > pairs {
                listed.push(clique);
            } else {
                let begin = twice.len();
                for same in shared() {
                    let after = |at: usize| same[at + 1..].iter().map(move |b| (same[at].1, b.1));
                    twice.extend((0..same.len()).flat_map(after));
                }
                twice[begin..].sort_unstable();
                let mut own = twice.split_off(begin);
                own.dedup();
                twice.append(&mut own);
                whole[g] = true;
                kept.push(clique.clone());
            }
        }
        let kept_of = Lists::sets_of(edges.len(), kept.iter().map(Vec::as_slice));
        let of = |p: u32| kept_of.of(p as usize);
        let within = listed.iter().flat_map(|clique| pairs_of(clique));
        let all = edges.pairs().chain(within).filter(|&(p, q)| !share(of(p), of(q)));
        Overlapping { edges: Lists::distinct(edges.len(), all), cliques: kept, twice }
    }

    /// A view of these components from which each pair can be counted once.
    pub fn counted(&self) -> Counted<'_> {
        Counted { edges: &self.edges, cliques: &self.cliques, twice: &self.twice }
    }
}

/// Every two of a set, either first.
pub(crate) fn pairs_of(set: &[u32]) -> impl Iterator<Item = (u32, u32)> + Clone {
    let others = move |&p: &u32| set.iter().filter(move |&&q| q != p).map(move |&q| (p, q));
    set.iter().flat_map(others)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_pair_is_counted_once(
            edges in prop::collection::vec((0u32..14, 0u32..14), 0..12),
            cliques in prop::collection::vec(prop::collection::btree_set(0u32..14, 2..12), 1..6),
        ) {
            let edges = edges.into_iter().filter(|(p, q)| p != q).flat_map(|(p, q)| [(p, q), (q, p)]);
            let edges = Lists::distinct(14, edges.collect::<Vec<_>>().into_iter());
            let cliques: Vec<Vec<u32>> = cliques.into_iter().map(|set| set.into_iter().collect()).collect();
            let of = Lists::sets_of(14, cliques.iter().map(Vec::as_slice));
            let made = Overlapping::new(&edges, &cliques, &of);
            let Counted { edges: listed, cliques: whole, twice } = made.counted();
            for (p, q) in (0..14).flat_map(|q| (0..q).map(move |p| (p, q))) {
                let inside = |set: &&Vec<u32>| set.contains(&p) && set.contains(&q);
                let apart = edges[p as usize].contains(&q) || cliques.iter().any(|set| inside(&set));
                let edge = listed[p as usize].contains(&q);
                prop_assert_eq!(listed[q as usize].contains(&p), edge);
                let counted = usize::from(edge) + whole.iter().filter(inside).count();
                let again = twice.iter().filter(|&&pair| pair == (p, q)).count();
                prop_assert_eq!(counted - again, usize::from(apart));
            }
        }
    }
}
