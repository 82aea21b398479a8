//! In which order do clusters merge under single, complete and average linkage?

use std::collections::{BTreeMap, BTreeSet};

use mustlink_core::closure::UnionFind;
use mustlink_core::prelude::*;
use rayon::prelude::*;

use super::leaves::Leaves;

/// How near two clusters are.
#[options]
pub enum Linkage {
    /// As near as their nearest objects.
    Single,
    /// As near as their objects on average.
    #[default]
    Average,
    /// As near as their farthest objects.
    Complete,
}

/// Merges in order, each of two clusters named by their first leaves, and how near they were
/// (similarity, divided by the scale).
pub(super) struct Hierarchy {
    pub(super) merges: Vec<(u32, u32, f64)>,
    leaves: usize,
}

impl Hierarchy {
    /// Heights of all merges of the `n` objects, those of like objects included.
    pub(super) fn heights(&self, n: usize) -> Vec<f64> {
        let alike = n - self.leaves;
        let merges = self.merges.iter().map(|m| (1.0 - m.2).max(0.0));
        std::iter::repeat_n(0.0, alike).chain(merges).collect()
    }

    /// The cluster of each leaf after the first `count` merges.
    pub(super) fn after(&self, count: usize) -> Vec<u32> {
        let mut uf = UnionFind::new(self.leaves);
        self.merges[..count].iter().for_each(|&(a, b, _)| {
            uf.union(a, b);
        });
        (0..self.leaves as u32).map(|u| uf.find(u)).collect()
    }
}

/// Average and complete linkage on a table of all pairs of leaves.
pub(super) fn with_table(leaves: &Leaves, linkage: Linkage, ctx: &Context) -> Result<Hierarchy> {
    let g = leaves.len();
    let at = |a: usize, b: usize| a * g - a * (a + 1) / 2 + b - a - 1;
    let mut table: Vec<f64> = Vec::with_capacity(g * g.saturating_sub(1) / 2);
    for from in (0..g).step_by(64) {
        ctx.check()?;
        for (a, row) in (from..).zip(leaves.rows(from..(from + 64).min(g))) {
            let own = leaves.sizes[a] as f64;
            for b in a + 1..g {
                // Average linkage keeps sums over all pairs of objects.
                let pairs =
                    if linkage == Linkage::Average { own * leaves.sizes[b] as f64 } else { 1.0 };
                table.push(row[b] * pairs);
            }
        }
    }
    let mut sizes: Vec<f64> = leaves.sizes.iter().map(|&s| s as f64).collect();
    let near = |table: &[f64], sizes: &[f64], a: usize, b: usize| {
        let sum = table[at(a.min(b), a.max(b))];
        if linkage == Linkage::Average { sum / (sizes[a] * sizes[b]) } else { sum }
    };
    let mut alive: Vec<usize> = (0..g).collect();
    // The nearest later cluster of each: the best pair is the best of these, ties to the lowest.
    let search = |table: &[f64], sizes: &[f64], alive: &[usize], a: usize| {
        let later = alive.partition_point(|&b| b <= a);
        let mut best = (f64::NEG_INFINITY, usize::MAX);
        for &b in &alive[later..] {
            let s = near(table, sizes, a, b);
            if s > best.0 {
                best = (s, b);
            }
        }
        best
    };
    let mut nearest: Vec<(f64, usize)> =
        (0..g).into_par_iter().map(|a| search(&table, &sizes, &alive, a)).collect();
    let mut merges = Vec::with_capacity(g.saturating_sub(1));
    while alive.len() > 1 {
        if merges.len() % 256 == 0 {
            ctx.check()?;
        }
        let mut best = (f64::NEG_INFINITY, usize::MAX);
        for &a in &alive {
            if nearest[a].0 > best.0 {
                best = (nearest[a].0, a);
            }
        }
        let (similarity, a) = best;
        let b = nearest[a].1;
        merges.push((a as u32, b as u32, similarity / leaves.scale));
        alive.remove(alive.binary_search(&b).expect("clusters that merge are there"));
        for &c in alive.iter().filter(|&&c| c != a) {
            let (one, other) = (table[at(a.min(c), a.max(c))], table[at(b.min(c), b.max(c))]);
            table[at(a.min(c), a.max(c))] = match linkage {
                Linkage::Average => one + other,
                Linkage::Complete => one.min(other),
                Linkage::Single => one.max(other),
            };
        }
        sizes[a] += sizes[b];
        // A cluster before a may have had a or b as its nearest, or may now be nearer to a.
        for &c in alive.iter().take_while(|&&c| c < b) {
            if c == a || nearest[c].1 == a || nearest[c].1 == b {
                nearest[c] = search(&table, &sizes, &alive, c);
            } else if c < a {
                let s = near(&table, &sizes, c, a);
                if s > nearest[c].0 || (s == nearest[c].0 && a < nearest[c].1) {
                    nearest[c] = (s, a);
                }
            }
        }
    }
    Ok(Hierarchy { merges, leaves: g })
}

/// Single linkage without a table: the levels from a spanning tree (Prim), the order inside a level by
/// merging the first cluster with its neighbours, lowest first, then the next.
pub(super) fn without_table(leaves: &Leaves, ctx: &Context) -> Result<Hierarchy> {
    let g = leaves.len();
    let mut best = vec![(f64::NEG_INFINITY, 0usize); g];
    let mut inside = vec![false; g];
    let mut levels = Vec::with_capacity(g.saturating_sub(1));
    let mut tree = Vec::with_capacity(g.saturating_sub(1));
    let mut last = 0;
    inside[0] = g > 0;
    for step in 1..g {
        if step % 64 == 0 {
            ctx.check()?;
        }
        for (b, s) in leaves.row(last).into_iter().enumerate() {
            if !inside[b] && s > best[b].0 {
                best[b] = (s, last);
            }
        }
        let mut next = (f64::NEG_INFINITY, usize::MAX);
        for b in (0..g).filter(|&b| !inside[b]) {
            if best[b].0 > next.0 {
                next = (best[b].0, b);
            }
        }
        last = next.1;
        inside[last] = true;
        levels.push(next.0);
        tree.push((next.0, best[last].1 as u32, last as u32));
    }
    levels.sort_by(|a, b| b.total_cmp(a));
    levels.dedup();
    tree.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut uf = UnionFind::new(g);
    let mut merges = Vec::with_capacity(g.saturating_sub(1));
    let mut from = 0;
    for level in levels {
        let to = from + tree[from..].partition_point(|e| e.0 >= level);
        order_of_level(leaves, &tree[from..to], level, &mut uf, &mut merges, ctx)?;
        from = to;
    }
    Ok(Hierarchy { merges, leaves: g })
}

/// The merges of one level in order. Components that the tree joins at this level are known; inside
/// one, the cluster with the lowest leaf merges with the lowest of its neighbours, again and again.
fn order_of_level(
    leaves: &Leaves,
    edges: &[(f64, u32, u32)],
    level: f64,
    uf: &mut UnionFind,
    merges: &mut Vec<(u32, u32, f64)>,
    ctx: &Context,
) -> Result<()> {
    let g = leaves.len();
    let similarity = level / leaves.scale;
    if let [(_, a, b)] = edges {
        // One merge has no order; clusters are named by their lowest leaves.
        let lowest = |uf: &mut UnionFind, u: u32| {
            let root = uf.find(u);
            (0..g as u32).find(|&v| uf.find(v) == root).unwrap_or(u)
        };
        let (x, y) = (lowest(uf, *a), lowest(uf, *b));
        uf.union(*a, *b);
        merges.push((x.min(y), x.max(y), similarity));
        return Ok(());
    }
    // Clusters before this level, named by their lowest leaves, and the joins they take part in.
    let mut before = vec![0u32; g];
    let mut name = vec![u32::MAX; g];
    for u in 0..g as u32 {
        let root = uf.find(u) as usize;
        if name[root] == u32::MAX {
            name[root] = u;
        }
        before[u as usize] = name[root];
    }
    let mut members: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for u in 0..g as u32 {
        members.entry(before[u as usize]).or_default().push(u);
    }
    edges.iter().for_each(|&(_, a, b)| {
        uf.union(a, b);
    });
    let mut after: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for &cluster in members.keys() {
        after.entry(uf.find(cluster)).or_default().push(cluster);
    }
    let mut joined: Vec<Vec<u32>> = after.into_values().filter(|c| c.len() > 1).collect();
    joined.sort();
    for clusters in joined {
        ctx.check()?;
        let first = clusters[0];
        let mut waiting: BTreeSet<u32> = clusters[1..].iter().copied().collect();
        let mut reach: BTreeSet<u32> = BTreeSet::new();
        let mut newest = first;
        while !waiting.is_empty() {
            for &u in &members[&newest] {
                // All neighbours are known once every cluster that waits is in reach.
                if reach.len() == waiting.len() {
                    break;
                }
                let row = leaves.row(u as usize);
                reach.extend(
                    row.iter()
                        .enumerate()
                        .filter(|(_, s)| **s >= level)
                        .map(|(v, _)| before[v])
                        .filter(|c| waiting.contains(c)),
                );
            }
            let next = reach.pop_first().expect("clusters of one component are in reach");
            waiting.remove(&next);
            merges.push((first, next, similarity));
            newest = next;
        }
    }
    Ok(())
}

/// The number of merges before the longest interval between two; at least two clusters stay, ties to
/// fewer clusters.
pub(super) fn longest(heights: &[f64]) -> usize {
    let n = heights.len() + 1;
    let mut best = (f64::NEG_INFINITY, 0);
    // From two clusters up: n - 2 merges, then fewer.
    for merges in (0..n.saturating_sub(1)).rev() {
        let before = if merges > 0 { heights[merges - 1] } else { 0.0 };
        let lifetime = heights[merges] - before;
        if lifetime > best.0 {
            best = (lifetime, merges);
        }
    }
    best.1
}

/// More clusters than there are different objects: the first `merges` of the pairs of like objects
/// are joined, lowest first.
pub(super) fn unlike(of: &[u32], merges: usize) -> Vec<u32> {
    let mut labels: Vec<u32> = (0..of.len() as u32).collect();
    let mut first = vec![u32::MAX; of.len()];
    let mut left = merges;
    // By the tie rule the pair with the lowest first object merges first: group by group.
    let mut groups: Vec<Vec<u32>> = Vec::new();
    for (i, &u) in of.iter().enumerate() {
        if first[u as usize] == u32::MAX {
            first[u as usize] = groups.len() as u32;
            groups.push(Vec::new());
        }
        groups[first[u as usize] as usize].push(i as u32);
    }
    for group in groups {
        for &i in &group[1..] {
            if left == 0 {
                return labels;
            }
            labels[i as usize] = group[0];
            left -= 1;
        }
    }
    labels
}
