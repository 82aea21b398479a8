//! Which objects hang together when the members that put two together are their nearness?

use std::ops::Range;

use mustlink_core::ensemble::check_needs;
use mustlink_core::prelude::*;
use mustlink_kernels::co_association::Normalise;
use mustlink_kernels::signatures::Signatures;
use rayon::prelude::*;

use crate::members::{View, Weights, compact};
use crate::memberships::Memberships;
use crate::pairwise;

/// Evidence accumulation: hierarchical clustering of the co-associations of all pairs.
///
/// # Method
/// The distance of two objects is 1 minus the share of members that put them together, or minus the
/// mean over the members of what their memberships have in common. Of equally near pairs of clusters
/// the one with the smallest objects merges first. Objects that all members label alike are one from
/// the start.
/// # Input and output
/// Any ensemble; with `association = "memberships"` one whose members all have some. k clusters, or as
/// many as the threshold or the longest lifetime says. The diagnostics hold the height of the first
/// merge not made, and the lifetime of the partition.
/// # Errors
/// `MissingK`, `BadK`, `TooManyClusters` with `cut = "k"`; `BadParam`, also above `max_n` unless the
/// linkage is `single`, which needs no table.
/// # Cost and randomness
/// g rows of labels are different: O(g²τ) time; O(n) memory for `single`, 8 g² bytes otherwise. With
/// memberships in K clusters of all members: O(n²K) time, 8 n K bytes more. Nothing random.
/// # References
/// [FredJain2005].
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EvidenceAccumulation {
    /// How near two clusters are.
    pub linkage: Linkage,
    /// Where the hierarchy is cut.
    pub cut: CutAt,
    /// With `cut = "threshold"`: objects stay joined at co-associations above this.
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1.0))]
    pub t: f64,
    /// What puts two objects together.
    pub association: Association,
    /// What co-associations are divided by.
    pub normalise: Normalise,
    /// More objects than this are refused, except with `linkage = "single"`.
    #[schemars(range(min = 1))]
    pub max_n: usize,
    /// How much each member counts.
    pub weights: Weights,
}

/// What puts two objects together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Association {
    /// Their labels: a member counts in full or not at all.
    #[default]
    Labels,
    /// Their memberships: a member counts by their inner product.
    Memberships,
}

/// How near two clusters are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Linkage {
    /// As near as their nearest objects.
    Single,
    /// As near as their objects on average.
    #[default]
    Average,
    /// As near as their farthest objects.
    Complete,
}

/// Where the hierarchy is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CutAt {
    /// At k clusters.
    #[default]
    K,
    /// Where co-associations fall to `t`.
    Threshold,
    /// In the longest interval between two merges.
    Lifetime,
}

impl Default for EvidenceAccumulation {
    fn default() -> Self {
        EvidenceAccumulation {
            linkage: Linkage::Average,
            cut: CutAt::K,
            t: 0.5,
            association: Association::default(),
            normalise: Normalise::Members,
            max_n: 20_000,
            weights: Weights::default(),
        }
    }
}

register!(ConsensusFunction, EvidenceAccumulation, "evidence_accumulation",
    references: ["FredJain2005"]);

const INSTEAD: &str = "linkage = \"single\", which needs no table of pairs";

/// Similarities of units: objects, or groups of like objects.
struct Units<'a> {
    view: &'a View<'a>,
    signatures: Option<Signatures>,
    memberships: Option<Memberships>,
    first: Vec<u32>,
    sizes: Vec<usize>,
    of: Vec<u32>,
    normalise: Normalise,
    /// What a similarity is divided by at the end.
    scale: f64,
}

impl<'a> Units<'a> {
    fn new(
        view: &'a View<'a>,
        association: Association,
        normalise: Normalise,
        tag: &str,
    ) -> Result<Self> {
        let n = view.n;
        let complete = view.is_complete();
        // Where every member sees everything, both are the same.
        let normalise = if complete { Normalise::Members } else { normalise };
        let scale = match normalise {
            Normalise::Members => view.given.iter().sum(),
            Normalise::CoPresence => 1.0,
        };
        let memberships = match association {
            Association::Labels => None,
            Association::Memberships => Some(Memberships::new(view, tag)?),
        };
        // Like objects are at distance 0 only where labels decide and none is missing.
        if !complete || memberships.is_some() {
            return Ok(Units {
                view,
                signatures: None,
                memberships,
                first: (0..n as u32).collect(),
                sizes: vec![1; n],
                of: (0..n as u32).collect(),
                normalise,
                scale,
            });
        }
        let signatures = Signatures::new(&view.ensemble());
        let groups = 0..signatures.len();
        Ok(Units {
            view,
            memberships,
            first: groups.clone().map(|a| signatures.objects(a)[0]).collect(),
            sizes: groups.map(|a| signatures.size(a)).collect(),
            of: (0..n).map(|i| signatures.group_of(i) as u32).collect(),
            signatures: Some(signatures),
            normalise,
            scale,
        })
    }

    fn len(&self) -> usize {
        self.first.len()
    }

    /// Similarity of each of some units to every unit, not yet divided by the scale. Whole numbers
    /// when all members count the same and see everything: sums of them are exact.
    fn rows(&self, units: Range<usize>) -> Vec<Vec<f64>> {
        let mut rows: Vec<Vec<f64>> = match (&self.memberships, &self.signatures) {
            (Some(memberships), _) => memberships.products(units.clone()),
            (None, Some(signatures)) if self.view.is_uniform() => {
                let row = |a| signatures.row(a).into_iter().map(f64::from).collect();
                units.clone().into_par_iter().map(row).collect()
            }
            (None, _) => units.clone().into_par_iter().map(|a| self.together(a)).collect(),
        };
        if self.normalise == Normalise::CoPresence {
            rows.par_iter_mut().zip(units).for_each(|(row, a)| {
                row.iter_mut().zip(self.seen(a)).for_each(|(c, p)| {
                    *c = if p > 0.0 { *c / p } else { 0.0 };
                });
            });
        }
        rows
    }

    /// As [`Units::rows`], of one unit.
    fn row(&self, a: usize) -> Vec<f64> {
        self.rows(a..a + 1).swap_remove(0)
    }

    /// Weight of the members that put unit `a` and each other together.
    fn together(&self, a: usize) -> Vec<f64> {
        self.weigh(a, |own, other| other == own)
    }

    /// Weight of the members that saw unit `a` and each other.
    fn seen(&self, a: usize) -> Vec<f64> {
        self.weigh(a, |_, other| other != MISSING)
    }

    /// Weight of the members in which the labels of unit `a`, if it has one, and of each other do.
    fn weigh(&self, a: usize, counts: impl Fn(u32, u32) -> bool) -> Vec<f64> {
        let mut out = vec![0.0; self.len()];
        for (labels, weight) in self.view.labels.iter().zip(&self.view.given) {
            let own = labels[self.first[a] as usize];
            if own == MISSING {
                continue;
            }
            for (sum, &j) in out.iter_mut().zip(&self.first) {
                *sum += if counts(own, labels[j as usize]) { *weight } else { 0.0 };
            }
        }
        out
    }
}

/// Merges in order, each of two clusters named by their first units, and how near they were
/// (similarity, divided by the scale).
struct Hierarchy {
    merges: Vec<(u32, u32, f64)>,
    units: usize,
}

impl Hierarchy {
    /// Heights of all merges of the `n` objects, those of like objects included.
    fn heights(&self, n: usize) -> Vec<f64> {
        let alike = n - self.units;
        let merges = self.merges.iter().map(|m| (1.0 - m.2).max(0.0));
        std::iter::repeat_n(0.0, alike).chain(merges).collect()
    }

    /// The cluster of each unit after the first `count` merges.
    fn after(&self, count: usize) -> Vec<u32> {
        let mut uf = mustlink_core::closure::UnionFind::new(self.units);
        self.merges[..count].iter().for_each(|&(a, b, _)| {
            uf.union(a, b);
        });
        (0..self.units as u32).map(|u| uf.find(u)).collect()
    }
}

/// Average and complete linkage on a table of all pairs of units.
fn with_table(units: &Units, linkage: Linkage, ctx: &Context) -> Result<Hierarchy> {
    let g = units.len();
    let at = |a: usize, b: usize| a * g - a * (a + 1) / 2 + b - a - 1;
    let mut table: Vec<f64> = Vec::with_capacity(g * g.saturating_sub(1) / 2);
    for from in (0..g).step_by(64) {
        ctx.check()?;
        for (a, row) in (from..).zip(units.rows(from..(from + 64).min(g))) {
            let own = units.sizes[a] as f64;
            for b in a + 1..g {
                // Average linkage keeps sums over all pairs of objects.
                let pairs =
                    if linkage == Linkage::Average { own * units.sizes[b] as f64 } else { 1.0 };
                table.push(row[b] * pairs);
            }
        }
    }
    let mut sizes: Vec<f64> = units.sizes.iter().map(|&s| s as f64).collect();
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
        merges.push((a as u32, b as u32, similarity / units.scale));
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
    Ok(Hierarchy { merges, units: g })
}

/// Single linkage without a table: the levels from a spanning tree (Prim), the order inside a level by
/// letting the first cluster swallow its neighbours, lowest first, then the next.
fn without_table(units: &Units, ctx: &Context) -> Result<Hierarchy> {
    let g = units.len();
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
        for (b, s) in units.row(last).into_iter().enumerate() {
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
    let mut uf = mustlink_core::closure::UnionFind::new(g);
    let mut merges = Vec::with_capacity(g.saturating_sub(1));
    let mut from = 0;
    for level in levels {
        let to = from + tree[from..].partition_point(|e| e.0 >= level);
        order_of_level(units, &tree[from..to], level, &mut uf, &mut merges, ctx)?;
        from = to;
    }
    Ok(Hierarchy { merges, units: g })
}

/// The merges of one level in order. Components that the tree joins at this level are known; inside
/// one, the cluster with the lowest unit swallows the lowest of its neighbours, again and again.
fn order_of_level(
    units: &Units,
    edges: &[(f64, u32, u32)],
    level: f64,
    uf: &mut mustlink_core::closure::UnionFind,
    merges: &mut Vec<(u32, u32, f64)>,
    ctx: &Context,
) -> Result<()> {
    let g = units.len();
    let similarity = level / units.scale;
    if let [(_, a, b)] = edges {
        // One merge has no order; clusters are named by their lowest units.
        let lowest = |uf: &mut mustlink_core::closure::UnionFind, u: u32| {
            let root = uf.find(u);
            (0..g as u32).find(|&v| uf.find(v) == root).unwrap_or(u)
        };
        let (x, y) = (lowest(uf, *a), lowest(uf, *b));
        uf.union(*a, *b);
        merges.push((x.min(y), x.max(y), similarity));
        return Ok(());
    }
    // Clusters before this level, named by their lowest units, and the joins they take part in.
    let mut before = vec![0u32; g];
    let mut name = vec![u32::MAX; g];
    for u in 0..g as u32 {
        let root = uf.find(u) as usize;
        if name[root] == u32::MAX {
            name[root] = u;
        }
        before[u as usize] = name[root];
    }
    let mut members: std::collections::BTreeMap<u32, Vec<u32>> = std::collections::BTreeMap::new();
    for u in 0..g as u32 {
        members.entry(before[u as usize]).or_default().push(u);
    }
    edges.iter().for_each(|&(_, a, b)| {
        uf.union(a, b);
    });
    let mut after: std::collections::BTreeMap<u32, Vec<u32>> = std::collections::BTreeMap::new();
    for &cluster in members.keys() {
        after.entry(uf.find(cluster)).or_default().push(cluster);
    }
    let mut joined: Vec<Vec<u32>> = after.into_values().filter(|c| c.len() > 1).collect();
    joined.sort();
    for clusters in joined {
        ctx.check()?;
        let first = clusters[0];
        let mut waiting: std::collections::BTreeSet<u32> = clusters[1..].iter().copied().collect();
        let mut reach: std::collections::BTreeSet<u32> = std::collections::BTreeSet::new();
        let mut newest = first;
        while !waiting.is_empty() {
            for &u in &members[&newest] {
                // All neighbours are known once every cluster that waits is in reach.
                if reach.len() == waiting.len() {
                    break;
                }
                let row = units.row(u as usize);
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

#[typetag::serde(name = "evidence_accumulation")]
impl ConsensusFunction for EvidenceAccumulation {
    fn combine(&self, ensemble: &Ensemble, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        if !(0.0..1.0).contains(&self.t) {
            return Err(Error::bad_param("t", self.t, "in [0, 1)"));
        }
        let n = ensemble.n();
        if self.linkage != Linkage::Single {
            pairwise::limit(n, self.max_n, INSTEAD)?;
        }
        let wanted = match self.cut {
            CutAt::K => problem.clone(),
            // k is not asked for; any legal one lets the ensemble be read.
            _ => Problem { k: Some(1), ..problem.clone() },
        };
        if self.association == Association::Memberships {
            check_needs(ensemble, self)?;
        }
        let tag = "evidence_accumulation";
        let view = View::new(ensemble, &wanted, &self.weights, tag)?;
        if self.cut == CutAt::K
            && let Some(trivial) = view.trivial()
        {
            return Ok(trivial);
        }
        let units = Units::new(&view, self.association, self.normalise, tag)?;
        let hierarchy = match self.linkage {
            Linkage::Single => without_table(&units, ctx)?,
            linkage => with_table(&units, linkage, ctx)?,
        };
        let heights = hierarchy.heights(n);
        let alike = n - units.len();
        let merges = match self.cut {
            CutAt::K => n - view.k,
            // Joined where the co-association is above t.
            CutAt::Threshold => {
                alike + hierarchy.merges.iter().take_while(|m| m.2 > self.t).count()
            }
            CutAt::Lifetime => longest(&heights),
        };
        let labels: Vec<u32> = if merges >= alike {
            let of_unit = hierarchy.after(merges - alike);
            units.of.iter().map(|&u| of_unit[u as usize]).collect()
        } else {
            unlike(&units.of, merges)
        };
        let (labels, k) = compact(&labels);
        let mut c = Clustering { labels, k, ..Clustering::default() };
        let next = heights.get(merges).copied();
        let last = if merges > 0 { heights[merges - 1] } else { 0.0 };
        if let Some(next) = next {
            c.extras.diagnostics.insert("next_height".into(), next);
            c.extras.diagnostics.insert("lifetime".into(), next - last);
        }
        Ok(c)
    }

    fn needs(&self) -> Needs {
        Needs {
            fixed_k: self.cut == CutAt::K,
            max_n: (self.linkage != Linkage::Single).then_some(self.max_n),
            instead: INSTEAD,
            memberships: self.association == Association::Memberships,
            labels_only: self.association == Association::Labels,
            ..Needs::default()
        }
    }

    fn memory(&self, shape: &Shape, members: usize) -> u64 {
        let labels = (12 * shape.n * members + 64 * shape.n) as u64;
        let table = match self.linkage {
            Linkage::Single => 0,
            _ => 4 * (shape.n * shape.n) as u64,
        };
        let memberships = match self.association {
            Association::Labels => 0,
            Association::Memberships => (8 * shape.n * members * shape.k) as u64,
        };
        labels + table + memberships
    }
}

/// The number of merges before the longest interval between two; at least two clusters stay, ties to
/// fewer clusters.
fn longest(heights: &[f64]) -> usize {
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
fn unlike(of: &[u32], merges: usize) -> Vec<u32> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::members::tests::{blank, e12};
    use mustlink_core::random::SeedPath;
    use ndarray::Array2;
    use proptest::prelude::*;

    fn groups(c: &Clustering) -> Vec<usize> {
        // Sizes of the clusters, which are intervals of objects in E12.
        assert!(c.labels.windows(2).all(|w| w[0] <= w[1]), "{:?}", c.labels);
        c.sizes()
    }

    fn run(ea: &EvidenceAccumulation, k: usize) -> Clustering {
        let (ensemble, _) = e12();
        ea.combine(&ensemble, &blank(12, k), &Context::new(1)).unwrap()
    }

    #[test]
    fn printed_partitions_of_e12() {
        let single = EvidenceAccumulation { linkage: Linkage::Single, ..Default::default() };
        let half = EvidenceAccumulation { cut: CutAt::Threshold, ..single.clone() };
        assert_eq!(groups(&run(&half, 3)), [5, 7]);
        assert_eq!(groups(&run(&single, 3)), [5, 4, 3]);
        let average = EvidenceAccumulation::default();
        assert_eq!(groups(&run(&average, 3)), [5, 4, 3]);
        assert_eq!(groups(&run(&average, 4)), [4, 1, 4, 3]);
        // The longest interval is from 0.333333 to 0.55: four clusters.
        let lifetime = EvidenceAccumulation { cut: CutAt::Lifetime, ..average };
        let c = run(&lifetime, 3);
        assert_eq!(c.k, 3);
        assert!((c.extras.diagnostics["lifetime"] - (0.783333 - 0.55)).abs() < 1e-6);
    }

    #[test]
    fn printed_merge_heights() {
        let (ensemble, problem) = e12();
        let view = View::new(&ensemble, &problem, &Weights::default(), "ea").unwrap();
        let units = Units::new(&view, Association::Labels, Normalise::Members, "ea").unwrap();
        assert_eq!(units.len(), 8);
        let h = with_table(&units, Linkage::Average, &Context::new(1)).unwrap().heights(12);
        let printed = [0.0, 0.0, 0.0, 0.0, 0.2, 0.2, 0.2, 0.333333, 0.55, 0.783333, 0.942857];
        assert!(h.iter().zip(printed).all(|(a, b)| (a - b).abs() < 1e-6), "{h:?}");
    }

    #[test]
    fn single_linkage_at_a_threshold_is_the_components_of_the_graph() {
        let (ensemble, problem) = e12();
        let count = |i: usize, j: usize| {
            ensemble.members().iter().filter(|m| m.labels[i] == m.labels[j]).count()
        };
        for t in [0.0, 0.2, 0.4, 0.6, 0.8] {
            let ea = EvidenceAccumulation {
                linkage: Linkage::Single,
                cut: CutAt::Threshold,
                t,
                ..Default::default()
            };
            let c = ea.combine(&ensemble, &problem, &Context::new(1)).unwrap();
            let mut uf = mustlink_core::closure::UnionFind::new(12);
            for i in 0..12 {
                for j in 0..i {
                    if count(i, j) as f64 / 5.0 > t {
                        uf.union(i as u32, j as u32);
                    }
                }
            }
            let slow: Vec<u32> = (0..12).map(|i| uf.find(i)).collect();
            assert_eq!(c.labels, mustlink_core::clustering::canonical(&slow), "t = {t}");
        }
    }

    /// Members whose memberships are these rows; labels by the largest.
    fn soft(members: &[&[[f64; 2]]]) -> Ensemble {
        let member = |rows: &&[[f64; 2]]| {
            let labels: Vec<u32> = rows.iter().map(|u| u32::from(u[1] > u[0])).collect();
            let memberships = Array2::from_shape_fn((rows.len(), 2), |(i, l)| rows[i][l]);
            let extras = Extras { memberships: Some(memberships), ..Extras::default() };
            Member { labels, k: 2, extras, ..Member::default() }
        };
        Ensemble::new(members[0].len(), members.iter().map(member).collect()).unwrap()
    }

    #[test]
    fn memberships_by_hand() {
        let ensemble = soft(&[
            &[[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]],
            &[[1.0, 0.0], [0.75, 0.25], [0.25, 0.75]],
        ]);
        // A₀₁ = (.5 + .75)/2 = .625, A₁₂ = (.5 + .375)/2 = .4375, A₀₂ = (0 + .25)/2 = .125.
        let average =
            EvidenceAccumulation { association: Association::Memberships, ..Default::default() };
        let of = |ea: &EvidenceAccumulation| {
            ea.combine(&ensemble, &blank(3, 2), &Context::new(1)).unwrap()
        };
        let c = of(&average);
        assert_eq!(c.labels, [0, 0, 1]);
        assert_eq!(c.extras.diagnostics["next_height"], 1.0 - (0.4375 + 0.125) / 2.0);
        assert_eq!(c.extras.diagnostics["lifetime"], 0.71875 - 0.375);
        // Joined above a threshold, not at it.
        let cut = |t| of(&EvidenceAccumulation { cut: CutAt::Threshold, t, ..average.clone() }).k;
        assert_eq!((cut(0.62), cut(0.625)), (2, 3));
        // By labels the first two are one, whatever the doubt.
        let by_labels = of(&EvidenceAccumulation::default());
        assert_eq!(by_labels.extras.diagnostics["next_height"], 1.0);
    }

    #[test]
    fn members_that_lack_memberships_are_named() {
        let (ensemble, problem) = e12();
        let ea =
            EvidenceAccumulation { association: Association::Memberships, ..Default::default() };
        assert!(ea.needs().memberships && !ea.needs().labels_only);
        let refused = ea.combine(&ensemble, &problem, &Context::new(1)).unwrap_err().to_string();
        assert!(refused.contains("have memberships; members 0, 1, 2, 3, 4 have none"), "{refused}");
        let bad = |u: f64| {
            let ensemble = soft(&[&[[1.0, 0.0], [u, 0.5], [0.0, 1.0]]]);
            ea.combine(&ensemble, &blank(3, 2), &Context::new(1)).unwrap_err().to_string()
        };
        assert!(bad(-0.5).ends_with("a member has -0.5, got evidence_accumulation"), "{}", bad(-0.5));
        assert!(bad(f64::NAN).contains("a member has NaN"));
        let mut members = soft(&[&[[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]]).members().to_vec();
        members[0].extras.memberships = Some(Array2::zeros((2, 2)));
        let short = Ensemble::new(3, members).unwrap();
        let refused = ea.combine(&short, &blank(3, 2), &Context::new(1)).unwrap_err().to_string();
        assert!(refused.contains("a member has 2 × 2 for 3 objects in 2"), "{refused}");
    }

    #[test]
    fn memberships_give_the_same_bits_on_any_number_of_threads() {
        let mut s = SeedPath::new(1).stream("memberships");
        let members: Vec<Vec<[f64; 2]>> = (0..5)
            .map(|_| {
                let row = |_| {
                    let u = s.unit();
                    [u, 1.0 - u]
                };
                (0..150).map(row).collect()
            })
            .collect();
        let ensemble = soft(&members.iter().map(|m| &m[..]).collect::<Vec<_>>());
        for linkage in [Linkage::Single, Linkage::Average] {
            let ea = EvidenceAccumulation {
                linkage,
                association: Association::Memberships,
                ..Default::default()
            };
            let of = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let problem = blank(150, 4);
                pool.install(|| ea.combine(&ensemble, &problem, &Context::new(1)).unwrap())
            };
            assert!(of(1) == of(2) && of(2) == of(7));
        }
    }

    /// Merge after merge over a full table of objects, by the words of the rule.
    fn naive(ensemble: &Ensemble, linkage: Linkage, k: usize) -> Vec<u32> {
        let n = ensemble.n();
        let count = |i: usize, j: usize| {
            let both = |m: &&Member| m.labels[i] == m.labels[j] && m.labels[i] != MISSING;
            ensemble.members().iter().filter(both).count() as f64
        };
        let mut clusters: Vec<Vec<usize>> = (0..n).map(|i| vec![i]).collect();
        while clusters.len() > k {
            let mut best: Option<(f64, usize, usize)> = None;
            for a in 0..clusters.len() {
                for b in a + 1..clusters.len() {
                    let pairs =
                        clusters[a].iter().flat_map(|&i| clusters[b].iter().map(move |&j| (i, j)));
                    let all: Vec<f64> = pairs.map(|(i, j)| count(i, j)).collect();
                    let s = match linkage {
                        Linkage::Single => all.iter().copied().fold(0.0, f64::max),
                        Linkage::Complete => all.iter().copied().fold(f64::INFINITY, f64::min),
                        Linkage::Average => all.iter().sum::<f64>() / all.len() as f64,
                    };
                    if best.is_none_or(|(t, ..)| s > t) {
                        best = Some((s, a, b));
                    }
                }
            }
            let (_, a, b) = best.unwrap();
            let moved = clusters.remove(b);
            clusters[a].extend(moved);
            clusters[a].sort_unstable();
        }
        let mut labels = vec![0; n];
        clusters.iter().enumerate().for_each(|(c, set)| {
            set.iter().for_each(|&i| labels[i] = c as u32);
        });
        mustlink_core::clustering::canonical(&labels)
    }

    proptest! {
        #[test]
        fn certain_memberships_are_labels(
            seed: u64, n in 3usize..80, tau in 1usize..6, missing: bool, weighted: bool,
            co_presence: bool,
        ) {
            let mut s = SeedPath::new(seed).stream("members");
            let members = (0..tau).map(|_| {
                let labels: Vec<u32> = (0..n).map(|_| {
                    if missing && s.unit() < 0.2 { MISSING } else { s.below(3) as u32 }
                }).collect();
                let member = Member::from_labels(&labels);
                // What a member says of an object it misses does not count.
                let certain = |(i, l): (usize, usize)| match member.labels[i] {
                    MISSING => 0.5,
                    own => f64::from(u8::from(own as usize == l)),
                };
                let memberships = Array2::from_shape_fn((n, member.k), certain);
                let extras = Extras { memberships: Some(memberships), ..Extras::default() };
                let weight = if weighted { (1 + s.below(3)) as f64 } else { 1.0 };
                Member { extras, weight, ..member }
            }).collect();
            let ensemble = Ensemble::new(n, members).unwrap();
            let normalise = if co_presence { Normalise::CoPresence } else { Normalise::Members };
            for linkage in [Linkage::Single, Linkage::Average, Linkage::Complete] {
                for cut in [CutAt::K, CutAt::Threshold, CutAt::Lifetime] {
                    let hard = EvidenceAccumulation { linkage, cut, normalise, ..Default::default() };
                    let association = Association::Memberships;
                    let soft = EvidenceAccumulation { association, ..hard.clone() };
                    let of = |ea: &EvidenceAccumulation| {
                        ea.combine(&ensemble, &blank(n, 3), &Context::new(1)).unwrap()
                    };
                    prop_assert_eq!(of(&soft), of(&hard), "{:?} {:?}", linkage, cut);
                }
            }
        }

        #[test]
        fn ties_included_it_is_the_naive_hierarchy(
            seed: u64, n in 3usize..14, tau in 1usize..6, k in 1usize..14, missing: bool,
        ) {
            prop_assume!(k <= n);
            let mut s = SeedPath::new(seed).stream("members");
            let members = (0..tau).map(|_| {
                let labels: Vec<u32> = (0..n).map(|_| {
                    if missing && s.unit() < 0.2 { MISSING } else { s.below(3) as u32 }
                }).collect();
                Member::from_labels(&labels)
            }).collect();
            let ensemble = Ensemble::new(n, members).unwrap();
            for linkage in [Linkage::Single, Linkage::Average, Linkage::Complete] {
                let ea = EvidenceAccumulation { linkage, ..Default::default() };
                let c = ea.combine(&ensemble, &blank(n, k), &Context::new(1)).unwrap();
                prop_assert_eq!(&c.labels, &naive(&ensemble, linkage, k), "{:?}", linkage);
            }
        }
    }
}
