//! Links that share a cycle.

use crate::parts::relations::Link;

/// The blocks (2-connected components) of a graph of links with at least one link, each with its links in
/// ascending order: two links are in one block if some cycle holds both. [HopcroftTarjan1973]
pub fn blocks(nodes: usize, links: &[Link]) -> Vec<Vec<usize>> {
    let mut around: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    for (at, link) in links.iter().enumerate() {
        around[link.a].push(at);
        around[link.b].push(at);
    }
    // The number of a node in the order of visits, and the least number reachable from below it.
    let (mut number, mut low) = (vec![0usize; nodes], vec![0usize; nodes]);
    let mut visits = 0;
    let mut taken = vec![false; links.len()];
    let mut stack: Vec<usize> = Vec::new();
    let mut found: Vec<Vec<usize>> = Vec::new();
    for root in 0..nodes {
        if number[root] != 0 {
            continue;
        }
        visits += 1;
        (number[root], low[root]) = (visits, visits);
        // A node, the link to it, and how many of its links are behind us.
        let mut path: Vec<(usize, Option<usize>, usize)> = vec![(root, None, 0)];
        while let Some(&mut (node, by, ref mut next)) = path.last_mut() {
            if let Some(&at) = around[node].get(*next) {
                *next += 1;
                if std::mem::replace(&mut taken[at], true) {
                    continue;
                }
                stack.push(at);
                let other = links[at].a + links[at].b - node;
                if number[other] == 0 {
                    visits += 1;
                    (number[other], low[other]) = (visits, visits);
                    path.push((other, Some(at), 0));
                } else {
                    low[node] = low[node].min(number[other]);
                }
                continue;
            }
            path.pop();
            let (Some(by), Some(&(parent, ..))) = (by, path.last()) else { continue };
            low[parent] = low[parent].min(low[node]);
            if low[node] >= number[parent] {
                let from = stack.iter().rposition(|&at| at == by).unwrap_or(0);
                let mut block = stack.split_off(from);
                block.sort_unstable();
                found.push(block);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::prelude::*;
    use proptest::prelude::*;

    fn links(pairs: &[(usize, usize)]) -> Vec<Link> {
        let link = |&(a, b): &(usize, usize)| Link { a, b, kind: Kind::MustLink, told: None };
        pairs.iter().map(link).collect()
    }

    #[test]
    fn two_triangles_at_one_node_are_two_blocks() {
        let found = blocks(6, &links(&[(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 2), (4, 5)]));
        let mut found = found;
        found.sort();
        assert_eq!(found, [vec![0, 1, 2], vec![3, 4, 5], vec![6]]);
    }

    /// True if two links are on one cycle: without any node but their ends, the graph still joins them; here by
    /// every simple path from one end of a link to the other.
    fn share(nodes: usize, links: &[Link], e: usize, f: usize) -> bool {
        fn paths(
            links: &[Link],
            node: usize,
            end: usize,
            f: usize,
            seen: &mut Vec<bool>,
            used: &mut Vec<bool>,
        ) -> bool {
            if node == end {
                return used[f];
            }
            (0..links.len()).any(|at| {
                let link = &links[at];
                if used[at] || (link.a != node && link.b != node) {
                    return false;
                }
                let other = link.a + link.b - node;
                if seen[other] {
                    return false;
                }
                (seen[other], used[at]) = (true, true);
                let found = paths(links, other, end, f, seen, used);
                (seen[other], used[at]) = (false, false);
                found
            })
        }
        let (mut seen, mut used) = (vec![false; nodes], vec![false; links.len()]);
        seen[links[e].a] = true;
        used[e] = true;
        paths(links, links[e].a, links[e].b, f, &mut seen, &mut used)
    }

    proptest! {
        #[test]
        fn blocks_are_the_links_that_share_a_cycle(pairs in prop::collection::vec((0usize..6, 0usize..6), 1..10)) {
            let pairs: Vec<_> = pairs.into_iter().filter(|(a, b)| a != b).collect();
            let links = links(&pairs);
            let found = blocks(6, &links);
            let mut block = vec![usize::MAX; links.len()];
            for (number, of) in found.iter().enumerate() {
                of.iter().for_each(|&at| block[at] = number);
            }
            for e in 0..links.len() {
                for f in 0..e {
                    prop_assert_eq!(block[e] == block[f], share(6, &links, e, f), "{} {}", e, f);
                }
            }
        }
    }
}
