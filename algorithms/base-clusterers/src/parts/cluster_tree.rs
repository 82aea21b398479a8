//! The tree of clusters in a hierarchy, the lifetimes of clusters, and the best set of them.
//!
//! A hierarchy is a list of joins. Going down it, a cluster loses objects, and ends where it falls into two
//! or more parts of `min_cluster_size` objects, which are clusters of their own, or into smaller parts alone
//! ([Campello2013] §5). All joins of the same height happen in one step, as in the paper, so the clusters do not
//! depend on the order of joins, nor on which of several least spanning trees they come from.
//!
//! [CampelloFosc2013]: a flat clustering takes one cluster on each path from a leaf to the root; the sum of
//! what the clusters are worth is greatest. Where constraints are counted, an object of a cluster is worth
//! half the weight of each of its constraints that holds, and so is noise, which keeps every cannot-link.
//! Half the weights of all cannot-links of an object thus cancel in every choice, and the value of a cluster is
//! the weight of the must-links within it minus the weight of the cannot-links within it.

use mustlink_core::prelude::*;
use mustlink_core::union_find::UnionFind;
use mustlink_kernels::graph::reachability::{Join, ascending};

/// By how much equal objects count as nearer than the nearest that differ: almost infinitely.
const EQUAL: f64 = 1.0 / 1_048_576.0;

/// Largest level, so that sums stay finite.
const TOP: f64 = 1e280;

/// The clusters of a hierarchy. Each comes before the one around it; the last, if any, holds all objects.
pub(crate) struct ClusterTree {
    /// The smallest cluster around each object; [`NONE`] if the hierarchy has no cluster at all.
    home: Vec<u32>,
    /// The cluster around each cluster; [`NONE`] for the root.
    parent: Vec<u32>,
    /// The height at which each becomes part of its parent; infinite for the root.
    height: Vec<f64>,
    /// The excess of mass of each: over its objects, how far up the levels, 1 / height, they stay in it.
    stability: Vec<f64>,
}

/// State while joins are made.
struct Growing {
    tree: ClusterTree,
    sets: UnionFind,
    /// By root of a set: its smallest object, and its cluster if it is large enough for one.
    first: Vec<u32>,
    cluster: Vec<u32>,
    /// The next object of a set without a cluster, round in a circle.
    next: Vec<u32>,
    /// Objects of each cluster.
    size: Vec<usize>,
    /// Objects that leave a cluster at a level, with their number.
    leave: Vec<(u32, f64, usize)>,
}

impl ClusterTree {
    /// The clusters of at least `min_cluster_size` ≥ 2 objects that `joins` make of `n` objects.
    pub(crate) fn new(n: usize, mut joins: Vec<Join>, min_cluster_size: usize) -> Self {
        ascending(&mut joins);
        let positive = joins.iter().map(|j| j.height).find(|&h| h > 0.0);
        let equal = EQUAL * positive.unwrap_or(1.0);
        let level = |height: f64| (1.0 / if height > 0.0 { height } else { equal }).min(TOP);
        let (home, parent, height, stability) = (vec![NONE; n], vec![], vec![], vec![]);
        let mut growing = Growing {
            tree: ClusterTree { home, parent, height, stability },
            sets: UnionFind::new(n),
            first: (0..n as u32).collect(),
            cluster: vec![NONE; n],
            next: (0..n as u32).collect(),
            size: Vec::new(),
            leave: Vec::new(),
        };
        for at_once in joins.chunk_by(|a, b| a.height == b.height) {
            let height = at_once[0].height;
            growing.join(at_once, height, level(height), min_cluster_size);
        }
        let Growing { mut tree, leave, .. } = growing;
        for (c, leaves_at, count) in leave {
            let born_at = if tree.height[c as usize].is_finite() {
                level(tree.height[c as usize])
            } else {
                0.0
            };
            tree.stability[c as usize] += count as f64 * (leaves_at - born_at);
        }
        tree
    }

    /// Number of clusters, the root among them.
    pub(crate) fn len(&self) -> usize {
        self.parent.len()
    }

    fn add(&mut self) -> u32 {
        self.parent.push(NONE);
        self.height.push(f64::INFINITY);
        self.stability.push(0.0);
        self.len() as u32 - 1
    }

    /// Lifetime of each cluster.
    pub(crate) fn stability(&self) -> &[f64] {
        &self.stability
    }

    /// For each cluster the weight of the must-links within less that of the cannot-links within.
    /// O(constraints and members of groups · depth).
    pub(crate) fn agreement(&self, constraints: &Constraints) -> Vec<f64> {
        let mut within = vec![0.0; self.len()];
        if within.is_empty() {
            return within;
        }
        let mut listed: Vec<&Constraint> = constraints.listed().iter().collect();
        listed.sort_by_key(|c| (c.i, c.j));
        for c in listed {
            let (mut a, mut b) = (self.home[c.i as usize], self.home[c.j as usize]);
            // Parents come later: the smaller of two is below or beside the other.
            while a != b {
                let lower = if a < b { &mut a } else { &mut b };
                *lower = self.parent[*lower as usize];
            }
            within[a as usize] += if c.kind == Kind::MustLink { c.weight } else { -c.weight };
        }
        for c in 0..self.len() - 1 {
            within[self.parent[c] as usize] += within[c];
        }
        let mut count = vec![0u64; self.len()];
        for group in constraints.groups() {
            for &i in &group.members {
                self.around(i).for_each(|c| count[c] += 1);
            }
            for &i in &group.members {
                for c in self.around(i) {
                    let members = std::mem::take(&mut count[c]);
                    within[c] -= group.weight * (members * members.saturating_sub(1) / 2) as f64;
                }
            }
        }
        within
    }

    /// The clusters around an object, from within.
    fn around(&self, object: u32) -> impl Iterator<Item = usize> + '_ {
        self.from(self.home[object as usize])
    }

    /// A cluster and those around it, from within.
    fn from(&self, mut at: u32) -> impl Iterator<Item = usize> + '_ {
        std::iter::from_fn(move || {
            let here = (at != NONE).then_some(at as usize)?;
            at = self.parent[here];
            Some(here)
        })
    }

    /// The clusters without others within.
    pub(crate) fn leaves(&self, whole: bool) -> Vec<bool> {
        let mut leaf = vec![true; self.len()];
        self.parent.iter().filter(|&&p| p != NONE).for_each(|&p| leaf[p as usize] = false);
        self.without_root(leaf, whole)
    }

    fn without_root(&self, mut chosen: Vec<bool>, whole: bool) -> Vec<bool> {
        if let Some(root) = chosen.last_mut() {
            *root &= whole;
        }
        chosen
    }

    /// The clusters, one on each path from a leaf to the root, whose worths have the greatest sum: by the
    /// first number, of equal sums by the second; a cluster before an equal sum of those within. The root
    /// is one of them if it may be the `whole`.
    pub(crate) fn best(&self, worth: impl Fn(usize) -> (f64, f64), whole: bool) -> Vec<bool> {
        let mut within: Vec<Option<(f64, f64)>> = vec![None; self.len()];
        let mut kept = vec![false; self.len()];
        for c in 0..self.len() {
            let own = worth(c);
            kept[c] = within[c].is_none_or(|sum| own >= sum);
            let best = if kept[c] { own } else { within[c].unwrap_or(own) };
            if self.parent[c] != NONE {
                let sum = within[self.parent[c] as usize].get_or_insert((0.0, 0.0));
                *sum = (sum.0 + best.0, sum.1 + best.1);
            }
        }
        self.outermost(&self.without_root(kept, whole))
    }

    /// The chosen clusters that are not inside another chosen one.
    fn outermost(&self, chosen: &[bool]) -> Vec<bool> {
        let mut covered = vec![false; self.len()];
        let mut out = vec![false; self.len()];
        for c in (0..self.len()).rev() {
            let above = self.parent[c] != NONE && covered[self.parent[c] as usize];
            out[c] = chosen[c] && !above;
            covered[c] = chosen[c] || above;
        }
        out
    }

    /// In place of clusters that part from others below a distance, the smallest around them that part at a
    /// larger one ([MalzerBaum2020]), or the largest below the root.
    pub(crate) fn merged_below(&self, epsilon: f64, chosen: &[bool], whole: bool) -> Vec<bool> {
        let mut merged = vec![false; self.len()];
        for c in (0..self.len()).filter(|&c| chosen[c]) {
            let mut at = c;
            if self.height[c] < epsilon {
                // A root that may not be chosen ends the way before it.
                let legal = |&up: &usize| whole || up + 1 < self.len();
                for up in self.from(c as u32).skip(1).take_while(legal) {
                    at = up;
                    if self.height[up] > epsilon {
                        break;
                    }
                }
            }
            merged[at] = true;
        }
        self.outermost(&merged)
    }

    /// The chosen cluster around each object, if any; no two of them are within each other.
    pub(crate) fn groups(&self, chosen: &[bool]) -> Vec<Option<usize>> {
        let mut owner: Vec<Option<usize>> = vec![None; self.len()];
        for c in (0..self.len()).rev() {
            let above = owner.get(self.parent[c] as usize).copied().flatten();
            owner[c] = if chosen[c] { Some(c) } else { above };
        }
        self.home.iter().map(|&c| owner.get(c as usize).copied().flatten()).collect()
    }
}

impl Growing {
    /// Makes all joins of one height.
    fn join(&mut self, at_once: &[Join], height: f64, level: f64, min_cluster_size: usize) {
        let mut roots: Vec<u32> =
            at_once.iter().flat_map(|j| [self.sets.find(j.a), self.sets.find(j.b)]).collect();
        roots.sort_unstable();
        roots.dedup();
        for j in at_once {
            self.sets.union(j.a, j.b);
        }
        // Sets are named by their smallest objects: roots depend on the order of joins.
        let mut parts: Vec<(u32, u32, u32)> =
            roots.iter().map(|&r| (self.sets.find(r), self.first[r as usize], r)).collect();
        parts.sort_unstable();
        let mut unions: Vec<&[(u32, u32, u32)]> = parts.chunk_by(|a, b| a.0 == b.0).collect();
        unions.sort_unstable_by_key(|parts| parts[0].1);
        for parts in unions {
            self.unite(parts, height, level, min_cluster_size);
        }
    }

    /// Makes one set of the cluster or the objects of several: those of (new root, first object, old root).
    fn unite(&mut self, parts: &[(u32, u32, u32)], height: f64, level: f64, least: usize) {
        let (root, first, _) = parts[0];
        let old = || parts.iter().map(|&(_, _, r)| r as usize);
        let clusters: Vec<u32> = old().map(|r| self.cluster[r]).filter(|&c| c != NONE).collect();
        let small: Vec<usize> = old().filter(|&r| self.cluster[r] == NONE).collect();
        let size = self.sets.size(root);
        let cluster = match clusters[..] {
            [] if size < least => NONE,
            [one] => one,
            _ => self.tree.add(),
        };
        if clusters.len() > 1 {
            for &c in &clusters {
                self.tree.parent[c as usize] = cluster;
                self.tree.height[c as usize] = height;
                self.leave.push((cluster, level, self.size[c as usize]));
            }
        }
        self.size.resize(self.tree.len(), 0);
        if cluster == NONE {
            small[1..].iter().for_each(|&r| self.next.swap(small[0], r));
        } else {
            let mut count = 0;
            for &start in &small {
                let mut at = start;
                loop {
                    self.tree.home[at] = cluster;
                    count += 1;
                    at = self.next[at] as usize;
                    if at == start {
                        break;
                    }
                }
            }
            self.leave.push((cluster, level, count));
            self.size[cluster as usize] = size;
        }
        self.first[root as usize] = first;
        self.cluster[root as usize] = cluster;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::constraints::Group;
    use mustlink_laws::fixtures;
    use proptest::prelude::*;

    fn join(a: u32, b: u32, height: f64) -> Join {
        Join { a, b, height }
    }

    /// Objects on a line that merge at the gaps between them.
    fn line(gaps: &[f64]) -> Vec<Join> {
        (0..).zip(gaps).map(|(i, &gap)| join(i, i + 1, gap)).collect()
    }

    #[test]
    fn worked_example() {
        // Two triples with gaps 1, 1 and ½, ½, two apart, and an object four away.
        let tree = ClusterTree::new(7, line(&[1.0, 1.0, 2.0, 0.5, 0.5, 4.0]), 3);
        assert_eq!(tree.home, [1, 1, 1, 0, 0, 0, 2]);
        assert_eq!(
            (tree.parent.clone(), tree.height[0], tree.height[1]),
            (vec![2, 2, NONE], 2.0, 2.0)
        );
        // Three objects from level ½ to 2 and to 1; the root from 0: six to ½, one to ¼.
        assert_eq!(tree.stability, [4.5, 1.5, 3.25]);
        let best = tree.best(|c| (tree.stability[c], 0.0), true);
        assert_eq!(tree.groups(&best), [1, 1, 1, 0, 0, 0, 9].map(|g| (g < 9).then_some(g)));
        // A must-link between the two, and a cannot-link to the last that breaks in the root.
        let must = Constraints::new(7, [Constraint::must(0, 5), Constraint::cannot(1, 6)]).unwrap();
        assert_eq!(tree.agreement(&must), [0.0, 0.0, 0.0]);
        let two = Constraints::new(7, [Constraint::must(0, 5), Constraint::must(1, 2)]).unwrap();
        assert_eq!(tree.agreement(&two), [0.0, 1.0, 2.0]);
        let agreement = tree.agreement(&two);
        assert_eq!(tree.best(|c| (agreement[c], tree.stability[c]), true), [false, false, true]);
        assert_eq!(tree.best(|c| (agreement[c], tree.stability[c]), false), [true, true, false]);
    }

    #[test]
    fn what_meets_at_one_height_meets_at_once() {
        // One after the other, objects 3 and 4 would join the first pair, or the last.
        let joins = vec![
            join(0, 1, 1.0),
            join(5, 6, 1.0),
            join(1, 3, 2.0),
            join(3, 4, 2.0),
            join(4, 5, 2.0),
        ];
        let mut other = vec![
            join(4, 6, 2.0),
            join(6, 5, 1.0),
            join(0, 4, 2.0),
            join(3, 6, 2.0),
            join(1, 0, 1.0),
        ];
        other.push(join(6, 2, 3.0));
        let mut joins = joins;
        joins.push(join(2, 0, 3.0));
        for joins in [joins, other] {
            let tree = ClusterTree::new(7, joins, 2);
            assert_eq!(tree.home, [0, 0, 2, 2, 2, 1, 1]);
            assert_eq!(tree.stability, [1.0, 1.0, 4.0 * 0.5 + 2.0 * 0.5 + 1.0 / 3.0]);
        }
    }

    #[test]
    fn clusters_that_part_at_small_distances_are_merged() {
        let tree = ClusterTree::new(8, line(&[1.0, 2.0, 1.0, 9.0, 1.0, 3.0, 1.0]), 2);
        let leaves = tree.leaves(false);
        let k = |chosen: &[bool]| chosen.iter().filter(|&&c| c).count();
        let merged = |epsilon, whole| k(&tree.merged_below(epsilon, &leaves, whole));
        assert_eq!([0.0, 2.0, 2.5, 3.5].map(|e| merged(e, false)), [4, 4, 3, 2]);
        assert_eq!((merged(10.0, false), merged(10.0, true)), (2, 1));
    }

    /// A random tree: joins of random sets at random heights.
    fn tree(n: usize, draws: &[u16], least: usize) -> ClusterTree {
        let joins = (1..n).map(|i| {
            let draw = usize::from(draws[i]);
            join(i as u32, (draw % i) as u32, 1.0 + (draw / 64 % 6) as f64)
        });
        ClusterTree::new(n, joins.collect(), least)
    }

    /// All choices of one cluster on each path below `c`, by their worths.
    fn choices(tree: &ClusterTree, c: usize, worth: &dyn Fn(usize) -> f64) -> Vec<f64> {
        let children = (0..tree.len()).filter(|&q| tree.parent[q] as usize == c);
        let mut sums = vec![0.0];
        let mut leaf = true;
        for child in children {
            leaf = false;
            let below = choices(tree, child, worth);
            sums = sums.iter().flat_map(|a| below.iter().map(move |b| a + b)).collect();
        }
        if leaf { vec![worth(c)] } else { sums.into_iter().chain([worth(c)]).collect() }
    }

    fn is_met(c: &Constraint, groups: &[Option<usize>]) -> bool {
        let (a, b) = (groups[c.i as usize], groups[c.j as usize]);
        let together = a.is_some() && a == b;
        together == (c.kind == Kind::MustLink)
    }

    proptest! {
        /// The best of all choices, and as many constraints satisfied as the sum says; groups are their pairs.
        #[test]
        fn the_best_of_all_choices(
            draws in prop::collection::vec(0u16.., 24), n in 6usize..24, least in 2usize..4, seed in 0u64..1000,
        ) {
            let tree = tree(n, &draws, least);
            let classes: Vec<u32> = (0..n as u32).map(|i| (i + u32::from(draws[i as usize]) % 2) % 3).collect();
            let listed = fixtures::true_constraints(&classes, 12, seed);
            let group = Group::new("g", (0..n as u32).filter(|i| i % 4 == 1).collect());
            let mixed = listed.clone().with_groups(n, [group]).unwrap();
            let agreement = tree.agreement(&mixed);
            prop_assert_eq!(&agreement, &tree.agreement(&mixed.in_pairs("this").unwrap()));
            let best = tree.best(|c| (agreement[c], 0.0), true);
            let sum = |worth: &[f64]| (0..tree.len()).filter(|&c| best[c]).map(|c| worth[c]).sum::<f64>();
            let greatest = |worth: &[f64]| {
                let all = choices(&tree, tree.len() - 1, &|c| worth[c]);
                all.into_iter().fold(f64::NEG_INFINITY, f64::max)
            };
            prop_assert_eq!(sum(&agreement), greatest(&agreement));
            let groups = tree.groups(&best);
            let met = mixed.pairs().iter().filter(|c| is_met(c, &groups)).count();
            prop_assert_eq!(met as f64, mixed.count(Kind::CannotLink) as f64 + sum(&agreement));
            let stable = tree.best(|c| (tree.stability[c], 0.0), true);
            let total: f64 = (0..tree.len()).filter(|&c| stable[c]).map(|c| tree.stability[c]).sum();
            prop_assert!((total - greatest(&tree.stability)).abs() < 1e-9);
        }
    }
}
