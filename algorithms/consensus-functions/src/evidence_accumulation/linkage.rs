//! The order of merges under single, complete and average linkage.

use std::collections::{BTreeMap, BTreeSet};

use mustlink_core::closure::UnionFind;
use mustlink_core::prelude::*;

use super::leaves::Leaves;
use super::links::Admission;

/// Definition of the similarity of two clusters.
#[options]
pub enum Linkage {
    /// The similarity of their nearest objects.
    Single,
    /// The mean similarity of their objects.
    #[default]
    Average,
    /// The similarity of their farthest objects.
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

/// Requirements of constraints on a hierarchy.
pub(super) struct Bound<'a> {
    /// Leaves that are one cluster from the start, each set ascending.
    pub joined: Vec<Vec<u32>>,
    /// Which others may merge; absent: all.
    pub admission: Option<Admission<'a>>,
    /// Number of clusters at which merging ends.
    pub until: usize,
}

impl Bound<'_> {
    /// Number of merges that must-links make.
    pub fn joins(&self) -> usize {
        self.joined.iter().map(|set| set.len() - 1).sum()
    }
}

/// The similarities of all pairs of clusters, which are named by their first leaves.
struct Table {
    linkage: Linkage,
    leaves: usize,
    /// Value of each pair; with average linkage the sum over all pairs of objects.
    values: Vec<f64>,
    /// Objects of each cluster.
    sizes: Vec<f64>,
    alive: Vec<usize>,
}

impl Table {
    fn new(leaves: &Leaves, linkage: Linkage, ctx: &Context) -> Result<Self> {
        let g = leaves.len();
        let mut values: Vec<f64> = Vec::with_capacity(g * g.saturating_sub(1) / 2);
        for from in (0..g).step_by(64) {
            ctx.check()?;
            for (a, row) in (from..).zip(leaves.rows(from..(from + 64).min(g))) {
                let own = leaves.sizes[a] as f64;
                for b in a + 1..g {
                    // Average linkage keeps sums over all pairs of objects.
                    let pairs = if linkage == Linkage::Average {
                        own * leaves.sizes[b] as f64
                    } else {
                        1.0
                    };
                    values.push(row[b] * pairs);
                }
            }
        }
        let sizes = leaves.sizes.iter().map(|&s| s as f64).collect();
        Ok(Table { linkage, leaves: g, values, sizes, alive: (0..g).collect() })
    }

    fn at(&self, a: usize, b: usize) -> usize {
        let (a, b) = (a.min(b), a.max(b));
        a * self.leaves - a * (a + 1) / 2 + b - a - 1
    }

    fn near(&self, a: usize, b: usize) -> f64 {
        let sum = self.values[self.at(a, b)];
        if self.linkage == Linkage::Average { sum / (self.sizes[a] * self.sizes[b]) } else { sum }
    }

    /// The nearest cluster after `a` that it need not be apart from; the best pair is the best of
    /// these, ties to the lowest.
    fn nearest(&self, a: usize, admission: Option<&Admission>) -> (f64, usize) {
        let later = self.alive.partition_point(|&b| b <= a);
        let mut best = (f64::NEG_INFINITY, usize::MAX);
        for &b in &self.alive[later..] {
            let s = self.near(a, b);
            if s > best.0 && admission.is_none_or(|admission| !admission.is_forbidden(a, b)) {
                best = (s, b);
            }
        }
        best
    }

    /// Makes `b` a part of `a`.
    fn merge(&mut self, a: usize, b: usize) {
        self.alive.remove(self.alive.binary_search(&b).expect("clusters that merge are there"));
        for at in 0..self.alive.len() {
            let c = self.alive[at];
            if c != a {
                let (own, other) = (self.at(a, c), self.at(b, c));
                let (one, other) = (self.values[own], self.values[other]);
                self.values[own] = match self.linkage {
                    Linkage::Average => one + other,
                    Linkage::Complete => one.min(other),
                    Linkage::Single => one.max(other),
                };
            }
        }
        self.sizes[a] += self.sizes[b];
    }
}

/// Any linkage on a table of all pairs of leaves, under constraints if some are given. The nearest pair
/// of clusters that may merge does, until no such pair is left.
///
/// # Errors
/// `UndecidedConstraints`; `Cancelled`, `TimedOut`.
pub(super) fn with_table(
    leaves: &Leaves,
    linkage: Linkage,
    bound: Option<Bound>,
    ctx: &Context,
) -> Result<Hierarchy> {
    let g = leaves.len();
    let mut table = Table::new(leaves, linkage, ctx)?;
    let mut merges = Vec::with_capacity(g.saturating_sub(1));
    let (mut admission, mut until) = (None, 1);
    if let Some(bound) = bound {
        admission = bound.admission;
        for set in &bound.joined {
            for &b in &set[1..] {
                table.merge(set[0] as usize, b as usize);
                if let Some(admission) = &mut admission {
                    admission.merge(set[0] as usize, b as usize);
                }
                merges.push((set[0], b, 1.0));
            }
        }
        until = bound.until;
    }
    let mut nearest: Vec<(f64, usize)> = reduce::map(g, |a| table.nearest(a, admission.as_ref()));
    let mut looks = 0;
    while table.alive.len() > until {
        if looks % 256 == 0 {
            ctx.check()?;
        }
        looks += 1;
        let mut best = (f64::NEG_INFINITY, usize::MAX);
        for &a in &table.alive {
            if nearest[a].0 > best.0 {
                best = (nearest[a].0, a);
            }
        }
        let (similarity, a) = best;
        if a == usize::MAX {
            break;
        }
        let b = nearest[a].1;
        if let Some(admission) = &mut admission {
            if !admission.may_merge(a, b)? {
                nearest[a] = table.nearest(a, Some(admission));
                continue;
            }
            admission.merge(a, b);
        }
        merges.push((a as u32, b as u32, similarity / leaves.scale));
        table.merge(a, b);
        // A cluster before a may have had a or b as its nearest, or may now be nearer to a.
        let admission = admission.as_ref();
        for at in 0..table.alive.partition_point(|&c| c < b) {
            let c = table.alive[at];
            if c == a || nearest[c].1 == a || nearest[c].1 == b {
                nearest[c] = table.nearest(c, admission);
            } else if c < a && admission.is_none_or(|admission| !admission.is_forbidden(c, a)) {
                let s = table.near(c, a);
                if s > nearest[c].0 || (s == nearest[c].0 && a < nearest[c].1) {
                    nearest[c] = (s, a);
                }
            }
        }
    }
    match admission.as_ref().and_then(Admission::undecided) {
        Some(undecided) if table.alive.len() > until => Err(undecided),
        _ => Ok(Hierarchy { merges, leaves: g }),
    }
}

/// Single linkage without a table: the levels from a spanning tree (Prim), the order inside a level by
/// merging the first cluster with its neighbours, lowest first, then the next.
pub(super) fn without_table(leaves: &Leaves, ctx: &Context) -> Result<Hierarchy> {
    let g = leaves.len();
    let mut best = vec![(f64::NEG_INFINITY, 0usize); g];
    let mut inside = vec![false; g];
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
        tree.push((next.0, best[last].1 as u32, last as u32));
    }
    tree.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut uf = UnionFind::new(g);
    let mut merges = Vec::with_capacity(g.saturating_sub(1));
    for level in tree.chunk_by(|a, b| a.0 == b.0) {
        order_of_level(leaves, level, &mut uf, &mut merges, ctx)?;
    }
    Ok(Hierarchy { merges, leaves: g })
}

/// The merges of one level in order. Components that the tree joins at this level are known; inside
/// one, the cluster with the lowest leaf merges with the lowest of its neighbours, again and again.
fn order_of_level(
    leaves: &Leaves,
    edges: &[(f64, u32, u32)],
    uf: &mut UnionFind,
    merges: &mut Vec<(u32, u32, f64)>,
    ctx: &Context,
) -> Result<()> {
    let g = leaves.len();
    let level = edges[0].0;
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
    let mut name = vec![u32::MAX; g];
    let mut before = Vec::with_capacity(g);
    let mut members: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for u in 0..g as u32 {
        let name = &mut name[uf.find(u) as usize];
        *name = u.min(*name);
        before.push(*name);
        members.entry(*name).or_default().push(u);
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

/// The number of merges before the longest interval between two, at least `least`; at least two clusters
/// stay, ties to fewer clusters. Where merging stopped before all were one, the last interval is up to `end`.
pub(super) fn longest(heights: &[f64], least: usize, end: Option<f64>) -> usize {
    let mut best = (f64::NEG_INFINITY, least);
    let last = heights.len() + usize::from(end.is_some());
    // From two clusters up: all merges but the last, then fewer.
    for merges in (least..last).rev() {
        let before = if merges > 0 { heights[merges - 1] } else { 0.0 };
        let after = heights.get(merges).copied().or(end).unwrap_or(before);
        let lifetime = after - before;
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
    let mut groups: Vec<Vec<u32>> = vec![Vec::new(); of.len()];
    (0..).zip(of).for_each(|(i, &leaf)| groups[leaf as usize].push(i));
    // By the tie rule the pair with the lowest first object merges first: group by group, as leaves are
    // numbered by their first objects.
    let like = groups.iter().flat_map(|group| group.iter().skip(1).map(|&i| (i, group[0])));
    like.take(merges).for_each(|(i, first)| labels[i as usize] = first);
    labels
}
