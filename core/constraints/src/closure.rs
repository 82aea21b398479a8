//! The closure: everything that follows from a set of constraints, and its contradictions.
//!
//! The closure is held in component form: must-link components and the cannot-link edges between
//! them. It costs O(n + m α(n)); pairs are enumerated only when asked for.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::kind::{self, Described};
use serde::{Deserialize, Serialize};

pub use crate::colours::Feasibility;
use crate::constraints::{Constraint, Constraints, Kind};
use crate::contradictions;
pub use crate::counted::Counted;
use crate::counted::{Overlapping, pairs_of};
use crate::error::{Error, Result};
use crate::groups::{pairs_among, share, shares_two, within_limit};
use crate::lists::Lists;
pub use crate::union_find::UnionFind;
use crate::witness::{Contradictions, Witness};

mod entailed;
mod feasibility;

pub use entailed::EntailedWeight;

/// Treatment of contradictions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, Described)]
#[serde(rename_all = "snake_case")]
pub enum OnConflict {
    /// Return an error with the number of contradictions and chains for the first few.
    #[default]
    Error,
    /// Keep contradicting cannot-links as costs; they are not extended to other pairs.
    Keep,
    /// Remove contradicting cannot-links.
    DropCl,
    /// Remove the weakest constraint of each contradiction, must-link or cannot-link.
    DropWeakest,
}

/// Constraints closed under transitivity and entailment, in component form.
#[derive(Debug, Clone)]
pub struct Closure {
    n: usize,
    constraints: Constraints,
    component: Vec<u32>,
    offsets: Vec<u32>,
    members: Vec<u32>,
    /// Between components, as listed.
    edges: Lists,
    /// The components of each group, ascending.
    cliques: Vec<Vec<u32>>,
    cliques_of: Lists,
    /// Some pair of components is in two groups, or in one and listed.
    tangled: bool,
    /// The groups and edges as counting needs them; made when tangled ones are first counted.
    overlapping: OnceLock<Overlapping>,
    /// All edges, made at the first request.
    all_edges: OnceLock<Lists>,
    conflicts: Vec<usize>,
    dropped: Vec<Constraint>,
}

/// Default of the largest number of pairs that `closure.pairs()` lists.
pub const MAX_CLOSURE_PAIRS: u64 = 50_000_000;

impl Closure {
    /// Closes `constraints` over `n` objects.
    ///
    /// # Errors
    /// `InconsistentConstraints` under `OnConflict::Error`.
    pub fn new(constraints: &Constraints, n: usize, on_conflict: OnConflict) -> Result<Self> {
        let closure = Closure::build(constraints.clone(), n)?;
        if closure.conflicts.is_empty() {
            return Ok(closure);
        }
        match on_conflict {
            OnConflict::Error => {
                let all = closure.contradicting(&closure.conflicts);
                Err(Error::InconsistentConstraints(all))
            }
            OnConflict::Keep => Ok(closure),
            // What is left of a group of which a pair is dropped are pairs.
            OnConflict::DropCl | OnConflict::DropWeakest if !constraints.groups().is_empty() => {
                Closure::new(&constraints.in_pairs("dropping contradictions")?, n, on_conflict)
            }
            OnConflict::DropCl => {
                let mut gone = vec![false; constraints.len()];
                closure.conflicts.iter().for_each(|&at| gone[at] = true);
                Closure::without(constraints, n, &gone)
            }
            OnConflict::DropWeakest => {
                let gone = contradictions::weakest(constraints, n, &closure.conflicts);
                Closure::without(constraints, n, &gone)
            }
        }
    }

    fn without(constraints: &Constraints, n: usize, gone: &[bool]) -> Result<Self> {
        let all = constraints.pairs().iter().zip(gone);
        let (dropped, kept): (Vec<_>, Vec<_>) = all.partition(|(_, gone)| **gone);
        let kept = Constraints::new(n, kept.into_iter().map(|(c, _)| *c))
            .expect("a part of a canonical list is canonical")
            .with_neighbourhoods(constraints.neighbourhoods().to_vec());
        let mut closure = Closure::build(kept, n)?;
        closure.dropped = dropped.into_iter().map(|(c, _)| *c).collect();
        Ok(closure)
    }

    fn build(constraints: Constraints, n: usize) -> Result<Self> {
        let mut uf = UnionFind::new(n);
        for c in constraints.listed().iter().filter(|c| c.kind == Kind::MustLink) {
            uf.union(c.i, c.j);
        }
        // Component ids in order of smallest member; members of a component in index order.
        let mut component = vec![0u32; n];
        let mut id_of_root = vec![u32::MAX; n];
        let mut sizes: Vec<u32> = Vec::new();
        for i in 0..n as u32 {
            let root = uf.find(i) as usize;
            if id_of_root[root] == u32::MAX {
                id_of_root[root] = sizes.len() as u32;
                sizes.push(0);
            }
            component[i as usize] = id_of_root[root];
            sizes[id_of_root[root] as usize] += 1;
        }
        drop((uf, id_of_root));
        let parts = sizes.len();
        let mut offsets = Vec::with_capacity(parts + 1);
        offsets.push(0);
        sizes.iter().for_each(|s| offsets.push(offsets[offsets.len() - 1] + s));
        // Where the next member of each goes.
        let mut next = sizes;
        next.copy_from_slice(&offsets[..parts]);
        let mut members = vec![0u32; n];
        for i in 0..n {
            let next = &mut next[component[i] as usize];
            members[*next as usize] = i as u32;
            *next += 1;
        }
        drop(next);
        let between = |c: &Constraint| (component[c.i as usize], component[c.j as usize]);
        let cannot =
            || constraints.listed().iter().filter(|c| c.kind == Kind::CannotLink).map(between);
        let across = cannot().filter(|(p, q)| p != q);
        let edges = Lists::distinct(parts, across.flat_map(|(p, q)| [(p, q), (q, p)]));
        let mut conflicts: Vec<usize> = Vec::new();
        for (at, c) in constraints.listed().iter().enumerate() {
            if c.kind == Kind::CannotLink && component[c.i as usize] == component[c.j as usize] {
                conflicts.push(at);
            }
        }
        let cliques = cliques(&constraints, &component, &mut conflicts)?;
        let held = if cliques.is_empty() { 0 } else { parts };
        let cliques_of = Lists::sets_of(held, cliques.iter().map(Vec::as_slice));
        let mut closure = Closure {
            n,
            constraints,
            component,
            offsets,
            members,
            edges,
            cliques,
            cliques_of,
            tangled: false,
            overlapping: OnceLock::new(),
            all_edges: OnceLock::new(),
            conflicts,
            dropped: Vec::new(),
        };
        closure.tangled = closure.is_tangled();
        Ok(closure)
    }

    fn is_tangled(&self) -> bool {
        if self.cliques.is_empty() {
            return false;
        }
        let of = |p: u32| self.cliques_of.of(p as usize);
        let mut listed = self.edges.pairs().filter(|(p, q)| p < q);
        let twice = |(clique, at): (&Vec<u32>, u32)| {
            let before = |p| &of(p)[..of(p).partition_point(|&g| g < at)];
            shares_two(clique, before, |g| &self.cliques[g as usize]).is_some()
        };
        listed.any(|(p, q)| share(of(p), of(q))) || self.cliques.iter().zip(0..).any(twice)
    }

    /// Number of objects.
    pub fn n(&self) -> usize {
        self.n
    }

    /// The constraints that were closed (after `on_conflict`).
    pub fn constraints(&self) -> &Constraints {
        &self.constraints
    }

    /// Component of object `i`; ids are in order of smallest member, unconstrained objects have their own.
    #[inline]
    pub fn component(&self, i: usize) -> usize {
        self.component[i] as usize
    }

    /// Number of components, single objects included.
    #[inline]
    pub fn components(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Objects of component `p`, ascending.
    #[inline]
    pub fn members(&self, p: usize) -> &[u32] {
        &self.members[self.offsets[p] as usize..self.offsets[p + 1] as usize]
    }

    /// Components that must be apart from `p`, ascending. The first call lists those of groups.
    pub fn apart(&self, p: usize) -> &[u32] {
        &self.all_edges()[p]
    }

    /// True if a component must be apart from `p`.
    pub fn is_apart(&self, p: usize) -> bool {
        !self.edges[p].is_empty() || !self.cliques_of.of(p).is_empty()
    }

    /// The components of each group that has two or more, ascending.
    pub fn cliques(&self) -> &[Vec<u32>] {
        &self.cliques
    }

    /// True if no other constraint touches the objects of clique `g`.
    pub fn is_alone(&self, g: usize) -> bool {
        let alone = |&p: &u32| {
            let p = p as usize;
            let apart = self.edges[p].is_empty() && self.cliques_of.of(p).len() == 1;
            apart && self.members(p).len() == 1
        };
        self.cliques[g].iter().all(alone)
    }

    /// Components that must be apart from each component, without those of groups that are alone.
    pub fn apart_beside_lone_groups(&self) -> Lists {
        self.edges_with(|g| !self.is_alone(g))
    }

    fn all_edges(&self) -> &Lists {
        if self.cliques.is_empty() {
            return &self.edges;
        }
        self.all_edges.get_or_init(|| self.edges_with(|_| true))
    }

    /// The listed edges and those of some cliques.
    fn edges_with(&self, wanted: impl Fn(usize) -> bool) -> Lists {
        let wanted: Vec<&[u32]> =
            (0..self.cliques.len()).filter(|&g| wanted(g)).map(|g| &self.cliques[g][..]).collect();
        let within = wanted.iter().flat_map(|clique| pairs_of(clique));
        Lists::distinct(self.components(), self.edges.pairs().chain(within))
    }

    /// Indexes (into [`Closure::constraints`]) of cannot-links inside a component, ascending.
    pub fn conflicts(&self) -> &[usize] {
        &self.conflicts
    }

    /// The cannot-links inside a component, including those of groups.
    pub fn contradictions(&self) -> impl Iterator<Item = Constraint> + '_ {
        let (listed, groups) = (self.constraints.listed(), self.constraints.groups());
        // Contradictions ascend, and so do the groups that they are of.
        let (mut group, mut first) = (0, listed.len());
        self.conflicts.iter().map(move |&at| {
            if let Some(c) = listed.get(at) {
                return *c;
            }
            while at - first >= groups[group].pair_count() as usize {
                first += groups[group].pair_count() as usize;
                group += 1;
            }
            groups[group].at_rank(at - first)
        })
    }

    /// Constraints removed by `on_conflict`.
    pub fn dropped(&self) -> &[Constraint] {
        &self.dropped
    }

    /// Relation of the pair that is known or follows.
    pub fn relation(&self, i: usize, j: usize) -> Option<Kind> {
        let (p, q) = (self.component[i], self.component[j]);
        if p == q {
            Some(Kind::MustLink)
        } else {
            let listed = self.edges[p as usize].binary_search(&q).is_ok();
            let of = |p: u32| self.cliques_of.of(p as usize);
            (listed || share(of(p), of(q))).then_some(Kind::CannotLink)
        }
    }

    /// Components of at least two objects, and the sets the caller named (singletons included),
    /// united if they overlap; members sorted, sets in order of smallest member.
    ///
    /// Named sets start clusters. They add no must-links of their own: a selection hands those on
    /// as pairs, as its view determines.
    pub fn neighbourhoods(&self) -> Vec<Vec<u32>> {
        let named = self.constraints.neighbourhoods();
        let mut sets: Vec<Vec<u32>> = Vec::new();
        if named.is_empty() {
            let large = (0..self.components()).filter(|&p| self.members(p).len() >= 2);
            sets.extend(large.map(|p| self.members(p).to_vec()));
            return sets;
        }
        let mut uf = UnionFind::new(self.n);
        let mut taken = vec![false; self.n];
        for p in (0..self.components()).filter(|&p| self.members(p).len() >= 2) {
            self.members(p).windows(2).for_each(|w| {
                uf.union(w[0], w[1]);
            });
            self.members(p).iter().for_each(|&i| taken[i as usize] = true);
        }
        for set in named {
            set.windows(2).for_each(|w| {
                uf.union(w[0], w[1]);
            });
            set.iter().for_each(|&i| taken[i as usize] = true);
        }
        let mut place = vec![usize::MAX; self.n];
        for i in (0..self.n as u32).filter(|&i| taken[i as usize]) {
            let root = uf.find(i) as usize;
            if place[root] == usize::MAX {
                place[root] = sets.len();
                sets.push(Vec::new());
            }
            sets[place[root]].push(i);
        }
        sets
    }

    /// Number of pairs in the closure: (must-linked, cannot-linked). Nothing is enumerated.
    pub fn pair_counts(&self) -> (u64, u64) {
        let size = |p: usize| u64::from(self.offsets[p + 1] - self.offsets[p]);
        let must = (0..self.components()).map(|p| size(p) * (size(p) - 1) / 2).sum();
        let Counted { edges, cliques, twice } = self.counted();
        let product = |(p, q): (u32, u32)| size(p as usize) * size(q as usize);
        let listed: u64 = edges.pairs().filter(|(p, q)| p < q).map(product).sum();
        let across = |clique: &Vec<u32>| {
            let sizes = || clique.iter().map(|&p| size(p as usize));
            (sizes().sum::<u64>().pow(2) - sizes().map(|s| s * s).sum::<u64>()) / 2
        };
        let grouped: u64 = cliques.iter().map(across).sum();
        (must, listed + grouped - twice.iter().copied().map(product).sum::<u64>())
    }

    /// The pairs of components that are apart, each counted once.
    pub fn counted(&self) -> Counted<'_> {
        if self.tangled {
            let made = || Overlapping::new(&self.edges, &self.cliques, &self.cliques_of);
            return self.overlapping.get_or_init(made).counted();
        }
        Counted { edges: &self.edges, cliques: &self.cliques, twice: &[] }
    }

    /// An error if [`Closure::countable_edges`] would list too many pairs of groups.
    ///
    /// # Errors
    /// `TooManyGroupPairs` for more than [`MAX_GROUP_PAIRS`](crate::constraints::MAX_GROUP_PAIRS).
    pub fn check_tangled_pairs(&self, what: &str) -> Result<()> {
        let tangled = self.cliques.iter().filter(|_| self.tangled);
        within_limit(what, tangled.map(|clique| pairs_among(clique.len())).sum())
    }

    /// For each component, those apart from it, except the pairs in [`Closure::countable_cliques`]. Both together
    /// contain every such pair once.
    pub fn countable_edges(&self) -> &Lists {
        if self.tangled { self.all_edges() } else { &self.edges }
    }

    /// The cliques, if they share no pair of components with each other or with the listed edges; otherwise none, and
    /// all their pairs are edges.
    pub fn countable_cliques(&self) -> &[Vec<u32>] {
        if self.tangled { &[] } else { &self.cliques }
    }

    /// Violations of the closed set by `labels`, without enumerating pairs. Conflicting
    /// cannot-links count by themselves. Every pair counts 1.
    pub fn violation_counts(&self, labels: &[u32]) -> (u64, u64) {
        let mut must = 0u64;
        // Of components that anything is said of: most objects are in none.
        let mut counts: HashMap<u32, HashMap<u32, u64>> = HashMap::new();
        for p in 0..self.components() {
            if self.members(p).len() == 1 && !self.is_apart(p) {
                continue;
            }
            let mut by_label: HashMap<u32, u64> = HashMap::new();
            for &i in self.members(p) {
                *by_label.entry(labels[i as usize]).or_insert(0) += 1;
            }
            let size = self.members(p).len() as u64;
            must += (size * size - by_label.values().map(|c| c * c).sum::<u64>()) / 2;
            if self.is_apart(p) {
                counts.insert(p as u32, by_label);
            }
        }
        let Counted { edges, cliques, twice } = self.counted();
        let mut cannot = 0u64;
        for clique in cliques {
            let mut labels: Vec<(u32, u64)> =
                clique.iter().flat_map(|p| counts[p].iter().map(|(&l, &c)| (l, c))).collect();
            labels.sort_unstable();
            for same in labels.chunk_by(|a, b| a.0 == b.0) {
                let own = || same.iter().map(|s| s.1);
                cannot += (own().sum::<u64>().pow(2) - own().map(|c| c * c).sum::<u64>()) / 2;
            }
        }
        let together = |(p, q): (u32, u32)| {
            let other = &counts[&q];
            counts[&p].iter().map(|(l, c)| c * other.get(l).unwrap_or(&0)).sum::<u64>()
        };
        cannot += edges.pairs().filter(|(p, q)| p < q).map(together).sum::<u64>();
        cannot -= twice.iter().copied().map(together).sum::<u64>();
        (must, cannot + self.violated_contradictions(labels))
    }

    /// Number of cannot-links inside components that `labels` violate; those of groups are not listed.
    fn violated_contradictions(&self, labels: &[u32]) -> u64 {
        let listed = self.constraints.listed();
        let inside = self.conflicts.partition_point(|&at| at < listed.len());
        let violated = |at: &&usize| listed[**at].is_violated(labels);
        let mut count = self.conflicts[..inside].iter().filter(violated).count() as u64;
        if inside == self.conflicts.len() {
            return count;
        }
        for group in self.constraints.groups() {
            let of = |&i: &u32| (self.component[i as usize], labels[i as usize]);
            let mut own: Vec<(u32, u32)> = group.members.iter().map(of).collect();
            own.sort_unstable();
            count += own.chunk_by(|a, b| a == b).map(|same| pairs_among(same.len())).sum::<u64>();
        }
        count
    }

    /// A shortest must-link chain for each contradiction, in order of the cannot-links. Each requires a search; for a
    /// message, use [`Closure::contradicting`].
    pub fn witnesses(&self) -> Vec<Witness> {
        self.witnesses_of(self.conflicts.iter().copied()).collect()
    }

    /// The same for some of [`Closure::conflicts`], each searched when the iterator reaches it.
    pub fn witnesses_of(
        &self,
        conflicts: impl IntoIterator<Item = usize>,
    ) -> impl Iterator<Item = Witness> {
        let mut chains = contradictions::ShortestChains::new(&self.constraints, self.n);
        let witness = move |at| chains.witness(at, |_| false).expect("inside a component");
        conflicts.into_iter().map(witness)
    }

    /// Report on some of [`Closure::conflicts`] for an error: their number, and a chain for the first few.
    pub fn contradicting(&self, conflicts: &[usize]) -> Contradictions {
        let shown = conflicts.iter().copied().take(Contradictions::SHOWN);
        Contradictions { shown: self.witnesses_of(shown).collect(), count: conflicts.len() }
    }
}

/// The components of each group that holds at least two; pairs inside one component go to `conflicts`.
fn cliques(
    constraints: &Constraints,
    component: &[u32],
    conflicts: &mut Vec<usize>,
) -> Result<Vec<Vec<u32>>> {
    let mut cliques = Vec::with_capacity(constraints.groups().len());
    let (mut first, mut inside) = (constraints.listed().len(), 0);
    for group in constraints.groups() {
        let mut own: Vec<(u32, usize)> =
            group.members.iter().map(|&i| component[i as usize]).zip(0..).collect();
        own.sort_unstable();
        for same in own.chunk_by(|a, b| a.0 == b.0) {
            inside += pairs_among(same.len());
            if inside > MAX_CLOSURE_PAIRS {
                let limit = MAX_CLOSURE_PAIRS;
                return Err(Error::ClosureTooLarge { pairs: inside, limit });
            }
            for (at, a) in same.iter().enumerate() {
                conflicts.extend(same[at + 1..].iter().map(|b| first + group.rank(a.1, b.1)));
            }
        }
        first += group.pair_count() as usize;
        own.dedup_by_key(|x| x.0);
        if own.len() > 1 {
            cliques.push(own.into_iter().map(|x| x.0).collect());
        }
    }
    conflicts.sort_unstable();
    Ok(cliques)
}
