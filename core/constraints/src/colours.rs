//! The check that k clusters can keep components apart.

use std::collections::{HashSet, VecDeque};

use crate::lists::Lists;
use crate::witness::Infeasible;

/// Result of the check whether k clusters can satisfy the cannot-links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Feasibility {
    /// A colouring of the components with at most k colours.
    Feasible(Vec<u32>),
    /// They cannot, and why, in objects.
    Infeasible(Infeasible),
    /// Neither could be shown.
    Unknown,
}

/// At most k colours for components of which `edges` says which are apart; `first_members` gives an object
/// of each.
pub(crate) fn colours(
    k: usize,
    edges: &Lists,
    first_members: &dyn Fn(&[u32]) -> Vec<u32>,
) -> Feasibility {
    let m = edges.len();
    if k == 1 {
        return match (0..m).find(|&p| !edges[p].is_empty()) {
            Some(p) => {
                let pair = [p as u32, edges[p][0]];
                Feasibility::Infeasible(Infeasible::Clique(first_members(&pair)))
            }
            None => Feasibility::Feasible(vec![0; m]),
        };
    }
    if k == 2 {
        return two_colouring(edges, first_members);
    }
    let order = smallest_last(edges);
    let (colour, used) = greedy_colouring(edges, &order);
    if used as usize <= k {
        return Feasibility::Feasible(colour);
    }
    match clique_above(k, edges, &order) {
        Some(clique) => Feasibility::Infeasible(Infeasible::Clique(first_members(&clique))),
        None => Feasibility::Unknown,
    }
}

/// Components in smallest-last order, by a queue of buckets.
fn smallest_last(edges: &Lists) -> Vec<u32> {
    let m = edges.len();
    let mut degree: Vec<usize> = edges.iter().map(<[u32]>::len).collect();
    let largest = degree.iter().copied().max().unwrap_or(0);
    let mut buckets: Vec<Vec<u32>> = vec![Vec::new(); largest + 1];
    degree.iter().enumerate().for_each(|(p, &d)| buckets[d].push(p as u32));
    let mut removed = vec![false; m];
    let mut order = Vec::with_capacity(m);
    let mut low = 0;
    while order.len() < m {
        while buckets[low].is_empty() {
            low += 1;
        }
        let p = buckets[low].pop().expect("not empty") as usize;
        if removed[p] || degree[p] != low {
            continue;
        }
        removed[p] = true;
        order.push(p as u32);
        for &q in &edges[p] {
            let q = q as usize;
            if !removed[q] {
                degree[q] -= 1;
                buckets[degree[q]].push(q as u32);
                low = low.min(degree[q]);
            }
        }
    }
    order.reverse();
    order
}

/// The first colour that is free for each component, in this order, and how many are used.
fn greedy_colouring(edges: &Lists, order: &[u32]) -> (Vec<u32>, u32) {
    let mut colour = vec![u32::MAX; edges.len()];
    let mut used = 0;
    for &p in order {
        let taken: HashSet<u32> = edges[p as usize].iter().map(|&q| colour[q as usize]).collect();
        let c = (0..).find(|c| !taken.contains(c)).expect("some colour is free");
        colour[p as usize] = c;
        used = used.max(c + 1);
    }
    (colour, used)
}

/// A clique of more than k components, grown greedily from each component.
fn clique_above(k: usize, edges: &Lists, order: &[u32]) -> Option<Vec<u32>> {
    for &start in order {
        if edges[start as usize].len() < k {
            continue;
        }
        let mut clique = vec![start];
        let mut candidates: Vec<u32> = edges[start as usize].to_vec();
        candidates.sort_by_key(|&q| (std::cmp::Reverse(edges[q as usize].len()), q));
        for q in candidates {
            let joined = &edges[q as usize];
            if clique.iter().all(|c| joined.binary_search(c).is_ok()) {
                clique.push(q);
            }
        }
        if clique.len() > k {
            clique.sort_unstable();
            return Some(clique);
        }
    }
    None
}

fn two_colouring(edges: &Lists, first_members: &dyn Fn(&[u32]) -> Vec<u32>) -> Feasibility {
    let m = edges.len();
    let mut colour = vec![u32::MAX; m];
    let mut parent = vec![u32::MAX; m];
    for start in 0..m {
        if colour[start] != u32::MAX {
            continue;
        }
        colour[start] = 0;
        let mut queue = VecDeque::from([start as u32]);
        while let Some(p) = queue.pop_front() {
            for &q in &edges[p as usize] {
                if colour[q as usize] == u32::MAX {
                    colour[q as usize] = 1 - colour[p as usize];
                    parent[q as usize] = p;
                    queue.push_back(q);
                } else if colour[q as usize] == colour[p as usize] {
                    let climb = |mut x: u32| {
                        let mut path = vec![x];
                        while parent[x as usize] != u32::MAX {
                            x = parent[x as usize];
                            path.push(x);
                        }
                        path
                    };
                    let (mut a, mut b) = (climb(p), climb(q));
                    while a.len() > 1 && b.len() > 1 && a[a.len() - 2] == b[b.len() - 2] {
                        a.pop();
                        b.pop();
                    }
                    // From the common ancestor down to p, then from q back up to it.
                    b.pop();
                    a.reverse();
                    a.extend(b);
                    return Feasibility::Infeasible(Infeasible::OddCycle(first_members(&a)));
                }
            }
        }
    }
    Feasibility::Feasible(colour)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lists(n: usize, pairs: &[(usize, usize)]) -> Lists {
        let both = pairs.iter().filter(|(p, q)| p != q);
        let both = both.flat_map(|&(p, q)| [(p as u32, q as u32), (q as u32, p as u32)]);
        Lists::distinct(n, both)
    }

    #[test]
    fn a_cycle_is_told_without_the_way_to_it() {
        let edges = lists(4, &[(0, 1), (1, 2), (1, 3), (2, 3)]);
        let found = two_colouring(&edges, &|p| p.to_vec());
        assert_eq!(found, Feasibility::Infeasible(Infeasible::OddCycle(vec![1, 2, 3])));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn each_of_the_order_has_least_neighbours_before_it(
            pairs in prop::collection::vec((0usize..9, 0usize..9), 0..25),
        ) {
            let edges = lists(9, &pairs);
            let order = smallest_last(&edges);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            prop_assert_eq!(sorted, (0..9).collect::<Vec<u32>>());
            // From the last on, each has the fewest neighbours among those that are left.
            for end in (1..=9).rev() {
                let left = &order[..end];
                let among = |p: u32| edges[p as usize].iter().filter(|q| left.contains(q)).count();
                let least = left.iter().map(|&p| among(p)).min().expect("someone is left");
                prop_assert_eq!(among(order[end - 1]), least);
            }
        }

        #[test]
        fn odd_cycles_are_cycles(pairs in prop::collection::vec((0usize..9, 0usize..9), 0..14)) {
            let edges = lists(9, &pairs);
            match two_colouring(&edges, &|p| p.to_vec()) {
                Feasibility::Infeasible(Infeasible::OddCycle(cycle)) => {
                    prop_assert_eq!(cycle.len() % 2, 1);
                    prop_assert_eq!(cycle.iter().collect::<HashSet<_>>().len(), cycle.len());
                    let next = cycle.iter().cycle().skip(1);
                    prop_assert!(cycle.iter().zip(next).all(|(&p, q)| edges[p as usize].contains(q)));
                }
                Feasibility::Feasible(colour) => {
                    let differ = |(p, q): (u32, u32)| colour[p as usize] != colour[q as usize];
                    prop_assert!(edges.pairs().all(differ));
                    prop_assert!(colour.iter().all(|&c| c < 2));
                }
                other => prop_assert!(false, "{:?}", other),
            }
        }
    }
}
