//! The objects that concern each other by given or entailed constraints.
//!
//! Where the constraints of a kind have one weight, must-link components and which of them are apart
//! are enough; those of a group that must all be apart are held as one set, and so are the objects of a group
//! where nothing follows from anything. Other weights, and contradicting cannot-links, use lists of partners.
//!
//! Source: [Basu2004] §3 (transitive must-links, entailed cannot-links).

use std::collections::{HashMap, HashSet};

use mustlink_core::closure::{Closure, EntailedWeight, MAX_CLOSURE_PAIRS, OnConflict};
use mustlink_core::clustering::NONE;
use mustlink_core::constraints::{Constraint, Constraints, Group, Kind};
use mustlink_core::lists::Lists;
use mustlink_core::prelude::{__mustlink, options};
use mustlink_core::run::within_memory;
use mustlink_core::{Context, Data, Result};

/// Extension of the constraints before costs are computed.
#[options]
pub enum Entail {
    /// Transitivity and entailment.
    #[default]
    Full,
    /// Transitivity; cannot-links only between components of at least two objects.
    NeighbourhoodsOnly,
    /// Transitivity and entailment, but only within and between the k largest components of at least two objects, as
    /// in the program behind [Eaton2005].
    LargestNeighbourhoods,
    /// Only the given pairs.
    Off,
}

/// A component is a hub for components that have at least this many times fewer neighbours.
const UNEVEN: usize = 16;

/// Bytes for each pair of the closure where pairs are listed: what follows, and both its ends as partners.
pub const LISTED: u64 = 130;

/// Checks that all pairs of the closure fit into the memory limit together with `data`, with `bytes` bytes for each.
/// No pair is listed for this.
///
/// # Errors
/// `Memory`, with both figures. More pairs than [`Closure::pairs`] lists are left to its own error.
pub fn pairs_fit(closure: &Closure, bytes: u64, data: &Data, ctx: &Context) -> Result<()> {
    let (must, cannot) = closure.pair_counts();
    match must + cannot {
        pairs if pairs > MAX_CLOSURE_PAIRS => Ok(()),
        pairs => within_memory(pairs * bytes, data, ctx),
    }
}

/// The given pairs and what follows from them as far as `entail` wants it, must-links first; `k` is the
/// number of clusters, where it matters.
///
/// # Errors
/// `ClosureTooLarge`.
pub fn entailed_pairs(closure: &Closure, entail: Entail, k: usize) -> Result<Vec<Constraint>> {
    if entail == Entail::Off {
        return Ok(closure.constraints().pairs().to_vec());
    }
    let mut all = closure.pairs(EntailedWeight::Bottleneck, MAX_CLOSURE_PAIRS)?;
    if entail == Entail::Full {
        return Ok(all);
    }
    let given: HashSet<(u32, u32, Kind)> =
        closure.constraints().pairs().iter().map(|c| (c.i, c.j, c.kind)).collect();
    let size = |p: usize| closure.members(p).len();
    let mut large: Vec<usize> = (0..closure.components()).filter(|&p| size(p) >= 2).collect();
    if entail == Entail::LargestNeighbourhoods {
        // Components are numbered by their smallest members; the sort is stable.
        large.sort_by_key(|&p| std::cmp::Reverse(size(p)));
        large.truncate(k);
    }
    let mut extended = vec![false; closure.components()];
    large.iter().for_each(|&p| extended[p] = true);
    let inside = |i: u32| extended[closure.component(i as usize)];
    all.retain(|c| (inside(c.i) && inside(c.j)) || given.contains(&(c.i, c.j, c.kind)));
    Ok(all)
}

/// The pairs that no component and no clique stands for, where components stand for must-links and for
/// cannot-links as `implicit` says.
///
/// # Errors
/// Returns the errors of [`entailed_pairs`].
fn explicit_pairs(
    closure: &Closure,
    entail: Entail,
    k: usize,
    implicit: (bool, bool),
) -> Result<Vec<Constraint>> {
    let large = |i: u32| closure.members(closure.component(i as usize)).len() >= 2;
    let same = |c: &Constraint| closure.component(c.i as usize) == closure.component(c.j as usize);
    let given = closure.constraints();
    Ok(match (entail, implicit) {
        (Entail::Off, _) => given.listed().to_vec(),
        (Entail::Full, (_, true)) => closure.contradictions().collect(),
        (_, (true, true)) => {
            let pairs = given.pairs().iter().filter(|c| c.kind == Kind::CannotLink);
            pairs.filter(|c| same(c) || !(large(c.i) && large(c.j))).copied().collect()
        }
        (_, (implicit_must, _)) => {
            let all = entailed_pairs(closure, entail, k)?.into_iter();
            all.filter(|c| c.kind == Kind::CannotLink || !implicit_must).collect()
        }
    })
}

/// Which pairs cost something, by component where weights are equal and pair by pair elsewhere.
///
/// This is what no label changes: violation costs count labels or sum positions over it.
pub struct ConstraintGroups {
    /// Component of each object that has any, else `NONE`.
    pub(crate) component: Vec<u32>,
    /// Objects of each component.
    pub(crate) members: Vec<Vec<u32>>,
    /// Components apart from each component, without those that a clique holds with it.
    pub(crate) apart: Vec<Vec<u32>>,
    /// Components with far more neighbours than some of them have, ascending, each with the neighbours that it tells
    /// of its moves. The others ask it: a component of many members next to many others would tell all of them of each.
    hubs: Vec<(u32, Vec<u32>)>,
    /// For each component the places among the hubs of those that it asks.
    asked: Lists,
    /// Sets of components of which every two are apart.
    pub(crate) cliques: Vec<Vec<u32>>,
    /// The factor of the pairs of each clique, as their weight is for pairs of the list.
    pub(crate) clique_weights: Vec<f64>,
    /// The cliques of each component.
    pub(crate) cliques_of: Lists,
    /// Partners of each object by explicit pairs.
    pub(crate) partners: HashMap<u32, Vec<(u32, f64, Kind)>>,
    pub(crate) explicit: Vec<Constraint>,
    pub(crate) implicit_must: bool,
    pub(crate) implicit_cannot: bool,
    /// Factor of counts and explicit weights.
    pub(crate) must: f64,
    pub(crate) cannot: f64,
    constrained: Vec<bool>,
    objects: Vec<u32>,
}

/// The one weight of all constraints of a kind, if there is one.
pub(crate) fn constant(closure: &Closure, kind: Kind) -> Option<f64> {
    let given = closure.constraints();
    let listed = given.listed().iter().filter(|c| c.kind == kind).map(|c| c.weight);
    let groups = given.groups().iter().filter(|_| kind == Kind::CannotLink).map(|g| g.weight);
    let mut weights = listed.chain(groups);
    let first = weights.next().unwrap_or(1.0);
    weights.all(|w| w == first).then_some(first)
}

impl ConstraintGroups {
    /// True if [`ConstraintGroups::new`] lists the pairs that follow, one by one.
    pub fn lists_pairs(closure: &Closure, entail: Entail) -> bool {
        match entail {
            Entail::Off => false,
            Entail::LargestNeighbourhoods => true,
            Entail::Full | Entail::NeighbourhoodsOnly => {
                constant(closure, Kind::MustLink).is_none()
                    || constant(closure, Kind::CannotLink).is_none()
            }
        }
    }

    /// The pairs of `closure`, with what follows from them; `weight` and `weight_cannot` multiply the constraints'
    /// own weights.
    ///
    /// # Errors
    /// `ClosureTooLarge` when the closure is needed pair by pair and is too large; `TooManyGroupPairs` where
    /// that needs the pairs of groups.
    pub fn new(
        closure: &Closure,
        weight: f64,
        weight_cannot: f64,
        entail: Entail,
        k: usize,
    ) -> Result<Self> {
        if entail == Entail::LargestNeighbourhoods {
            let n = closure.n();
            let listed = Constraints::new(n, entailed_pairs(closure, entail, k)?)?;
            let listed = Closure::new(&listed, n, OnConflict::Keep)?;
            return ConstraintGroups::new(&listed, weight, weight_cannot, Entail::Off, k);
        }
        let must = constant(closure, Kind::MustLink);
        let cannot = constant(closure, Kind::CannotLink);
        let off = entail == Entail::Off;
        let implicit_must = must.is_some() && !off;
        // Entailed weights of cannot-links depend on those of must-links too.
        let implicit_cannot = must.is_some() && cannot.is_some() && !off;
        // Groups stay whole where all follows from components, whatever their size, and where nothing follows.
        let whole = implicit_cannot && entail == Entail::Full;
        if whole {
            closure.check_tangled_pairs(
                "a method that weighs pairs, where must-links make groups share some,",
            )?;
        } else if !off {
            closure.constraints().check_group_pairs("a method that weighs pairs one by one")?;
        }
        let mut explicit = explicit_pairs(closure, entail, k, (implicit_must, implicit_cannot))?;
        // What is summed in this order does not depend on the order in which pairs are given.
        explicit.sort_by_key(|c| (c.i, c.j, c.kind));
        // Equal weights become a count times the weight; unequal ones a sum of multipliers.
        let must_factor = must;
        let cannot_factor = cannot.filter(|_| implicit_cannot || off);
        for c in &mut explicit {
            let factor = if c.kind == Kind::MustLink { must_factor } else { cannot_factor };
            if factor.is_some() {
                c.weight = 1.0;
            }
        }
        let mut component = vec![NONE; closure.n()];
        let mut members: Vec<Vec<u32>> = Vec::new();
        let mut apart: Vec<Vec<u32>> = Vec::new();
        let mut place = vec![NONE; closure.components()];
        let groups = if off { closure.constraints().groups() } else { &[] };
        let mut cliques: Vec<Vec<u32>> = Vec::with_capacity(groups.len());
        for group in groups {
            // Each object by itself: must-links join nothing here.
            let alone = |&i: &u32| {
                let own = &mut component[i as usize];
                if *own == NONE {
                    *own = apart.len() as u32;
                    apart.push(Vec::new());
                    members.push(vec![i]);
                }
                *own
            };
            cliques.push(group.members.iter().map(alone).collect());
        }
        for p in 0..closure.components() {
            let has_edges = implicit_cannot && closure.is_apart(p);
            if (implicit_must && closure.members(p).len() >= 2) || has_edges {
                place[p] = apart.len() as u32;
                apart.push(Vec::new());
                members.push(closure.members(p).to_vec());
                closure.members(p).iter().for_each(|&i| component[i as usize] = place[p]);
            }
        }
        let placed = |set: &[u32]| -> Vec<u32> { set.iter().map(|&q| place[q as usize]).collect() };
        for p in (0..closure.components()).filter(|&p| place[p] != NONE && implicit_cannot) {
            apart[place[p] as usize] = if whole {
                placed(&closure.countable_edges()[p])
            } else if closure.members(p).len() >= 2 {
                let other = |q: &&u32| closure.members(**q as usize).len() >= 2;
                closure.apart(p).iter().filter(other).map(|&q| place[q as usize]).collect()
            } else {
                Vec::new()
            };
        }
        if whole {
            cliques.extend(closure.countable_cliques().iter().map(|clique| placed(clique)));
        }
        let (mut hubs, mut asking) = (Vec::new(), Vec::new());
        for (p, near) in apart.iter().enumerate().filter(|(_, near)| near.len() > UNEVEN) {
            let is_told = |q: &u32| apart[*q as usize].len() * UNEVEN >= near.len();
            let (told, ask): (Vec<u32>, Vec<u32>) = near.iter().copied().partition(is_told);
            if !ask.is_empty() {
                hubs.push((p as u32, told));
                asking.push(ask);
            }
        }
        let held = if hubs.is_empty() { 0 } else { apart.len() };
        let asked = Lists::sets_of(held, asking.iter().map(Vec::as_slice));
        let of_group = |g: &Group| if cannot_factor.is_some() { 1.0 } else { g.weight };
        let mut clique_weights: Vec<f64> = groups.iter().map(of_group).collect();
        clique_weights.resize(cliques.len(), 1.0);
        let held = if cliques.is_empty() { 0 } else { apart.len() };
        let cliques_of = Lists::sets_of(held, cliques.iter().map(Vec::as_slice));
        let mut partners: HashMap<u32, Vec<(u32, f64, Kind)>> = HashMap::new();
        for c in &explicit {
            partners.entry(c.i).or_default().push((c.j, c.weight, c.kind));
            partners.entry(c.j).or_default().push((c.i, c.weight, c.kind));
        }
        let constrained: Vec<bool> = (0..closure.n())
            .map(|i| component[i] != NONE || partners.contains_key(&(i as u32)))
            .collect();
        let objects = (0..closure.n() as u32).filter(|&i| constrained[i as usize]).collect();
        Ok(ConstraintGroups {
            component,
            members,
            apart,
            hubs,
            asked,
            cliques,
            clique_weights,
            cliques_of,
            partners,
            explicit,
            implicit_must,
            implicit_cannot,
            must: weight * must_factor.unwrap_or(1.0),
            cannot: weight_cannot * cannot_factor.unwrap_or(1.0),
            constrained,
            objects,
        })
    }

    /// The components apart from `p` that count a move of its members at once.
    pub(crate) fn told_by(&self, p: usize) -> &[u32] {
        match self.hubs.binary_search_by_key(&(p as u32), |(hub, _)| *hub) {
            Ok(at) => &self.hubs[at].1,
            Err(_) => &self.apart[p],
        }
    }

    /// The components apart from `p` that do not report their moves to it.
    pub(crate) fn asked_by(&self, p: usize) -> impl Iterator<Item = usize> + '_ {
        self.asked.of(p).iter().map(|&at| self.hubs[at as usize].0 as usize)
    }

    /// For every object, true if its choice depends on other objects.
    pub fn constrained(&self) -> &[bool] {
        &self.constrained
    }

    /// The pairs listed one by one, i < j, in order.
    pub fn explicit(&self) -> &[Constraint] {
        &self.explicit
    }

    /// The cost of a broken must-link and of a broken cannot-link of the list, times its weight there.
    pub fn factors(&self) -> (f64, f64) {
        (self.must, self.cannot)
    }

    /// The objects whose choice depends on others, ascending.
    pub fn objects(&self) -> &[u32] {
        &self.objects
    }
}
