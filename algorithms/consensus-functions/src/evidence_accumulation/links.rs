//! The constraints that merges obey, and the constraints that count as evidence.

use std::collections::BTreeSet;

use mustlink_core::prelude::*;
use mustlink_kernels::constrained::colouring::is_colourable;
use mustlink_kernels::constrained::must_link_units::MustLinkUnits;

use super::leaves::Leaves;

/// Use of constraints.
#[options]
pub enum Constrain {
    /// Constraints not marked soft are obeyed; those marked soft are evidence.
    #[default]
    Obey,
    /// Constraints marked hard are obeyed; all others are evidence.
    Weigh,
    /// Constraints are ignored.
    Ignore,
}

/// Time at which obeyed cannot-links separate clusters.
#[options]
pub enum Part {
    /// During merging: clusters that hold a cannot-link never merge.
    WhileMerging,
    /// After merging, with `cut = "k"`: objects move to another cluster if theirs holds something they must be apart
    /// from, must-linked objects as one. All objects that chains of cannot-links connect with them are placed together,
    /// so that the mean co-association with their clusters stays large. With other cuts, during merging.
    Afterwards,
}

/// The constraints of a problem by kind.
#[derive(Default)]
pub(super) struct Links {
    /// Those that are obeyed, with what follows from them; absent where none is.
    pub obeyed: Option<Closure>,
    /// Those that are evidence.
    pub evidence: Vec<Constraint>,
}

impl Links {
    /// The links of `problem`.
    ///
    /// # Errors
    /// `InconsistentConstraints`, of those that are obeyed.
    pub fn new(constrain: Constrain, problem: &Problem) -> Result<Self> {
        let obeys = |c: &Constraint| match constrain {
            Constrain::Obey => c.strength != Some(Strength::Soft),
            _ => c.strength == Some(Strength::Hard),
        };
        let pairs = problem.constraints.pairs().iter().copied();
        let (obeyed, evidence): (Vec<Constraint>, Vec<Constraint>) = match constrain {
            Constrain::Ignore => return Ok(Links::default()),
            _ => pairs.partition(obeys),
        };
        if obeyed.is_empty() {
            return Ok(Links { obeyed: None, evidence });
        }
        let n = problem.n();
        let closure = Closure::new(&Constraints::new(n, obeyed)?, n, OnConflict::Error)?;
        Ok(Links { obeyed: Some(closure), evidence })
    }

    /// For every object whether it has a constraint, given or entailed.
    pub fn bound(&self, n: usize) -> Vec<bool> {
        let mut bound = vec![false; n];
        if let Some(closure) = &self.obeyed {
            let held = MustLinkUnits::new(closure);
            bound.copy_from_slice(held.held());
        }
        for c in &self.evidence {
            (bound[c.i as usize], bound[c.j as usize]) = (true, true);
        }
        bound
    }
}

/// Which clusters may merge. Clusters are named by their first leaves.
pub(super) struct Admission<'a> {
    /// For each cluster those that it must be apart from.
    apart: Vec<BTreeSet<u32>>,
    /// Clusters that have to do in the end; absent: merging ends where it must.
    k: Option<usize>,
    node_limit: u64,
    undecided: bool,
    ctx: &'a Context,
}

impl<'a> Admission<'a> {
    /// Before anything merged: all `leaves` are clusters of their own.
    pub fn new(
        closure: &Closure,
        leaves: &Leaves,
        k: Option<usize>,
        node_limit: u64,
        ctx: &'a Context,
    ) -> Self {
        let mut apart = vec![BTreeSet::new(); leaves.len()];
        for c in closure.constraints().pairs().iter().filter(|c| c.kind == Kind::CannotLink) {
            let (a, b) = (leaves.of[c.i as usize], leaves.of[c.j as usize]);
            apart[a as usize].insert(b);
            apart[b as usize].insert(a);
        }
        Admission { apart, k, node_limit, undecided: false, ctx }
    }

    /// True if the two are known to be apart.
    pub fn is_forbidden(&self, a: usize, b: usize) -> bool {
        self.apart[a].contains(&(b as u32))
    }

    /// True if two clusters that are not known to be apart may merge: the cannot-links must still fit into
    /// k clusters after it. If they do not, they never will, and the two are apart from now on.
    ///
    /// # Errors
    /// `Cancelled`, `TimedOut`.
    pub fn may_merge(&mut self, a: usize, b: usize) -> Result<bool> {
        let Some(k) = self.k else { return Ok(true) };
        if self.apart[a].is_empty() || self.apart[b].is_empty() {
            return Ok(true);
        }
        // Of clusters that no chain of cannot-links connects any colours may be made one.
        let part = self.connected_to(a);
        if !part.contains(&(b as u32)) {
            return Ok(true);
        }
        let vertices: Vec<u32> = part.into_iter().filter(|&v| v != b as u32).collect();
        let place = |v: u32| {
            let v = if v == b as u32 { a as u32 } else { v };
            vertices.binary_search(&v).expect("of one part") as u32
        };
        let edges: Vec<Vec<u32>> = vertices
            .iter()
            .map(|&v| {
                let own = self.apart[v as usize].iter();
                let merged = self.apart[b].iter().filter(|_| v == a as u32);
                let around: BTreeSet<u32> = own.chain(merged).map(|&w| place(w)).collect();
                around.into_iter().collect()
            })
            .collect();
        let enough = is_colourable(&edges, k, self.node_limit, self.ctx)?;
        self.undecided |= enough.is_none();
        if enough != Some(true) {
            self.apart[a].insert(b as u32);
            self.apart[b].insert(a as u32);
        }
        Ok(enough == Some(true))
    }

    /// Cluster `b` became part of cluster `a`.
    pub fn merge(&mut self, a: usize, b: usize) {
        for c in std::mem::take(&mut self.apart[b]) {
            self.apart[c as usize].remove(&(b as u32));
            self.apart[c as usize].insert(a as u32);
            self.apart[a].insert(c);
        }
    }

    /// The error of merging that ended before there were k clusters. As long as k clusters can hold the
    /// cannot-links, two of more than k clusters share one of them, so that they may merge; only a
    /// search that ended at its limit can hide them.
    pub fn undecided(&self) -> Option<Error> {
        let k = self.k.filter(|_| self.undecided)?;
        Some(Error::UndecidedConstraints { k, node_limit: self.node_limit })
    }

    /// Cluster `a` and all that chains of cannot-links lead to.
    fn connected_to(&self, a: usize) -> BTreeSet<u32> {
        let mut part = BTreeSet::from([a as u32]);
        let mut waiting = vec![a];
        while let Some(v) = waiting.pop() {
            for &w in &self.apart[v] {
                if part.insert(w) {
                    waiting.push(w as usize);
                }
            }
        }
        part
    }
}
