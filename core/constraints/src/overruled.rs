//! Constraints that may be wrong: those that a partition overrules, those that every partition must, and those to ask
//! about.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::closure::{Closure, OnConflict};
use crate::constraints::{Constraint, Constraints, Kind};
use crate::contradictions::{ShortestChains, unavoidable};
use crate::groups::pairs_among;
use crate::union_find::UnionFind;
use crate::widest_paths::{Cut, WidestPaths};

/// A violated constraint, and the satisfied constraints that overrule it.
#[derive(Debug, Clone, PartialEq)]
pub struct Overruled {
    /// The violated constraint.
    pub constraint: Constraint,
    /// Objects from its end i to its end j. Satisfied must-links join each to the next, except at `apart`. The path is
    /// empty if no such chain exists. [`settled`] partitions always have one, unless unjudged pairs cost something.
    pub path: Vec<u32>,
    /// Place in `path` of the object that a satisfied cannot-link separates from the next one, if the violated
    /// constraint is a must-link.
    pub apart: Option<usize>,
    /// Name of the group of that cannot-link, if it is not listed by itself.
    pub group: Option<String>,
}

/// A question about a pair whose answer may change a partition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Doubt {
    /// The pair.
    pub pair: (u32, u32),
    /// The expected number of pairs of objects that the answer joins or separates.
    pub expected: f64,
}

/// Smallest expected number of changed pairs for which a question is worth asking.
const LEAST_CHANGE: f64 = 1e-9;

fn ordered(a: u32, b: u32) -> (u32, u32) {
    (a.min(b), a.max(b))
}

/// The weight of a must-link, or minus that of a cannot-link.
fn signed(c: &Constraint) -> f64 {
    if c.kind == Kind::MustLink { c.weight } else { -c.weight }
}

/// The sets of objects that satisfied must-links join.
fn linked(constraints: &Constraints, labels: &[u32]) -> UnionFind {
    let mut sets = UnionFind::new(labels.len());
    for c in constraints.listed() {
        if c.kind == Kind::MustLink && !c.is_violated(labels) {
            sets.union(c.i, c.j);
        }
    }
    sets
}

/// Number of pairs of one cluster about which no constraint says anything. An object without a label (`u32::MAX`) is
/// in no cluster.
pub fn joined_unjudged(constraints: &Constraints, labels: &[u32]) -> u64 {
    let mut sizes: HashMap<u32, usize> = HashMap::new();
    for label in labels.iter().filter(|label| **label != u32::MAX) {
        *sizes.entry(*label).or_insert(0) += 1;
    }
    let is_together = |c: &&Constraint| {
        let label = labels[c.i as usize];
        label == labels[c.j as usize] && label != u32::MAX
    };
    let judged = constraints.pairs().iter().filter(is_together);
    let mut judged: Vec<(u32, u32)> = judged.map(|c| (c.i, c.j)).collect();
    judged.sort_unstable();
    judged.dedup();
    sizes.into_values().map(pairs_among).sum::<u64>() - judged.len() as u64
}

/// The partition after two repairs that never violate more weight. First, clusters are split into the parts that
/// must-links join. Then two clusters are joined as long as the constraints between them weigh more for than against
/// it. `unjudged` is the cost of joining a pair without a constraint. Labels are objects of the clusters.
pub fn settled(constraints: &Constraints, labels: &[u32], unjudged: f64) -> Vec<u32> {
    let mut sets = linked(constraints, labels);
    loop {
        let must = constraints.listed().iter().filter(|c| c.kind == Kind::MustLink);
        let mut between: BTreeMap<(u32, u32), f64> =
            must.map(|c| (ordered(sets.find(c.i), sets.find(c.j)), 0.0)).collect();
        between.retain(|(p, q), _| p != q);
        for c in constraints.pairs() {
            if let Some(sum) = between.get_mut(&ordered(sets.find(c.i), sets.find(c.j))) {
                *sum += signed(c) + unjudged;
            }
        }
        let mut all_pairs = |(p, q): (u32, u32)| (sets.size(p) * sets.size(q)) as f64;
        between.iter_mut().for_each(|(pair, sum)| *sum -= unjudged * all_pairs(*pair));
        let mut gains: Vec<_> = between.into_iter().filter(|(_, sum)| *sum > 0.0).collect();
        gains.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        // The sums of a cluster that has grown are out of date until the next round.
        let mut grown = HashSet::new();
        for ((p, q), _) in gains {
            if !grown.contains(&p) && !grown.contains(&q) {
                sets.union(p, q);
                grown.extend([p, q]);
            }
        }
        if grown.is_empty() {
            return (0..labels.len() as u32).map(|i| sets.find(i)).collect();
        }
    }
}

/// The constraints that `labels` violate, each with the chain that overrules it: the shortest one through the strongest
/// cannot-link between two clusters, or of must-links alone. A chain is searched when the iterator reaches it.
pub fn overruled(constraints: &Constraints, labels: &[u32]) -> impl Iterator<Item = Overruled> {
    let pairs = constraints.pairs();
    let is_violated = |at: usize| pairs[at].is_violated(labels);
    let clusters = |c: &Constraint| ordered(labels[c.i as usize], labels[c.j as usize]);
    let violated: Vec<usize> = (0..pairs.len()).filter(|&at| is_violated(at)).collect();
    let mut strongest: HashMap<(u32, u32), Option<usize>> =
        violated.iter().map(|&at| (clusters(&pairs[at]), None)).collect();
    for (at, c) in pairs.iter().enumerate() {
        if c.kind == Kind::CannotLink
            && !is_violated(at)
            && let Some(best) = strongest.get_mut(&clusters(c))
            && best.is_none_or(|best: usize| pairs[best].weight < c.weight)
        {
            *best = Some(at);
        }
    }
    let mut chains = ShortestChains::new(constraints, labels.len());
    let mut chain_of = move |c: &Constraint| -> Option<(Vec<u32>, Option<usize>, Option<String>)> {
        if c.kind == Kind::CannotLink {
            return Some((chains.chain(c.i, c.j, is_violated)?.0, None, None));
        }
        let (cannot, group) = constraints.pair_at(strongest[&clusters(c)]?);
        let is_near = labels[cannot.i as usize] == labels[c.i as usize];
        let (near, far) = if is_near { (cannot.i, cannot.j) } else { (cannot.j, cannot.i) };
        let (mut path, _) = chains.chain(c.i, near, is_violated)?;
        let apart = path.len() - 1;
        path.extend(chains.chain(far, c.j, is_violated)?.0);
        Some((path, Some(apart), group.map(|group| group.name.clone())))
    };
    violated.into_iter().map(move |at| {
        let constraint = pairs[at];
        let (path, apart, group) = chain_of(&constraint).unwrap_or_default();
        Overruled { constraint, path, apart, group }
    })
}

/// A lower bound on the weight of the constraints that every partition violates in the components of `closure` for
/// which `counts` is true.
pub fn least_violated(closure: &Closure, counts: impl Fn(usize) -> bool) -> f64 {
    let constraints = closure.constraints();
    let component = |at: usize| closure.component(constraints.pair(at).i as usize);
    let conflicts = closure.conflicts().iter().copied().filter(|&at| counts(component(at)));
    unavoidable(constraints, closure.n(), conflicts)
}

/// Questions about the partition, the one with the largest expected change first. Weights are read as log-odds.
///
/// Each question decides whether two sets of objects belong together: two clusters, or the two sides of a link
/// without which a cluster is in two parts. All constraints between the two sets together give the probability that
/// the partition is wrong. The question is about the pair that speaks most for joining them, except pairs in `unsure`,
/// which were answered "unsure". `unjudged` is the cost of joining a pair without a constraint.
pub fn doubts(
    constraints: &Constraints,
    labels: &[u32],
    unjudged: f64,
    unsure: &HashSet<(u32, u32)>,
) -> Vec<Doubt> {
    let n = labels.len();
    let is_kept = |c: &Constraint| c.kind == Kind::MustLink && !c.is_violated(labels);
    let kept = Constraints::new(n, constraints.listed().iter().copied().filter(is_kept));
    let kept = kept.expect("a part of a canonical list is canonical");
    let clusters = Closure::new(&kept, n, OnConflict::Keep).expect("must-links never contradict");
    let mut place = vec![0; n];
    for p in 0..clusters.components() {
        clusters.members(p).iter().zip(0..).for_each(|(&i, at)| place[i as usize] = at);
    }
    let mut inside: Vec<Vec<(u32, u32, f64)>> = vec![Vec::new(); clusters.components()];
    let mut between: BTreeMap<(usize, usize), (f64, Option<Constraint>)> = BTreeMap::new();
    for c in constraints.pairs() {
        let (i, j) = (c.i as usize, c.j as usize);
        let (p, q) = (clusters.component(i), clusters.component(j));
        if p == q {
            inside[p].push((place[i], place[j], signed(c) + unjudged));
            continue;
        }
        let (sum, best) = between.entry((p.min(q), p.max(q))).or_insert((0.0, None));
        *sum += signed(c) + unjudged;
        if best.is_none_or(|best| signed(&best) < signed(c)) && !unsure.contains(&(c.i, c.j)) {
            *best = Some(*c);
        }
    }
    let probability = |log_odds: f64| 1.0 / (1.0 + (-log_odds).exp());
    let size = |p: usize| clusters.members(p).len() as f64;
    let doubt = |((p, q), (sum, best)): ((usize, usize), (f64, Option<Constraint>))| {
        let (changed, pair) = (size(p) * size(q), best.map(|c| (c.i, c.j))?);
        Some(Doubt { pair, expected: changed * probability(sum - unjudged * changed) })
    };
    let mut all: Vec<Doubt> = between.into_iter().filter_map(doubt).collect();
    let links = kept.listed().iter().map(|c| (c.weight, c.i, c.j)).collect();
    let sets = (0..clusters.components()).map(|p| clusters.members(p));
    let trees = WidestPaths::new(n, links, sets);
    for (p, pairs) in inside.iter().enumerate() {
        let members = clusters.members(p);
        let doubt = |cut: Cut| {
            let (a, b) = (members[cut.link.0 as usize], members[cut.link.1 as usize]);
            let changed = (cut.size * (members.len() - cut.size)) as f64;
            let expected = changed * probability(unjudged * changed - cut.sum);
            Doubt { pair: ordered(a, b), expected }
        };
        let cuts = trees.cuts(p, pairs).into_iter().map(doubt);
        all.extend(cuts.filter(|doubt| !unsure.contains(&doubt.pair)));
    }
    all.retain(|doubt| doubt.expected > LEAST_CHANGE);
    all.sort_by(|a, b| b.expected.total_cmp(&a.expected).then(a.pair.cmp(&b.pair)));
    all
}
