//! The way from an ensemble to a graph, and from parts of the graph to clusters.

use std::sync::Arc;

use mustlink_core::clustering::compact;
use mustlink_core::prelude::*;
use mustlink_kernels::constrained::must_link_units::MustLinkUnits;
use mustlink_kernels::ensemble::signatures::Signatures;
use mustlink_partitioners::{
    Apart, Cut, CutGraph, Engine, Guide, Partition, REPAIR_NODES, Sides, Task, pairs_together,
};

use crate::parts::canonical_ensemble::CanonicalEnsemble;
use crate::parts::typical::Typical;

/// Options for cutting a graph, shared by consensus functions that cut one.
#[options]
pub struct Cutting {
    /// Partitioner that cuts the graph.
    pub partitioner: Engine,
    /// Tolerance for parts of about equal size, as published: no part is heavier than 1 + this times its share; at
    /// most k - 1. If absent, parts are about as large as the clusters of the members.
    #[option(min = 0.0)]
    pub imbalance: Option<f64>,
    /// Number of starts of the partitioner; the best cut is kept. If absent, 10, and fewer on graphs with more than
    /// half a million ends of edges.
    #[option(min = 1)]
    pub trials: Option<usize>,
    /// Factor for edge weights before they are rounded to whole numbers, at least 1. It is lowered if their sum would
    /// exceed 2³¹ - 1.
    #[option(default = 1e6, min = 1.0, max = 1e9)]
    pub weight_scale: f64,
    /// Keep must-linked objects together as one vertex, whatever the weights.
    #[option(default = true)]
    pub respect_must_link: bool,
    /// Put cannot-linked objects into different parts, within the bounds if possible, otherwise outside them. Objects
    /// for which no k parts are found are counted, unless marked hard.
    #[option(default = true)]
    pub respect_cannot_link: bool,
}

impl Cutting {
    /// Refuses options outside their range before any work.
    ///
    /// # Errors
    /// `BadParam`.
    pub(crate) fn check(&self, k: usize) -> Result<()> {
        check_imbalance(self.imbalance, k)
    }

    /// Requirements on an ensemble of a function that cuts a graph.
    pub(crate) fn needs(&self) -> Needs {
        Needs {
            fixed_k: true,
            balanced: self.imbalance.is_some() && self.partitioner.is_balanced(),
            reads_constraints: self.respect_must_link || self.respect_cannot_link,
            hard_must: self.respect_must_link,
            hard_if_marked: self.respect_must_link && self.respect_cannot_link,
            ..Needs::default()
        }
    }

    /// Closure of the constraints, if any are respected. If unmarked constraints contradict each
    /// other, the must-links count.
    ///
    /// # Errors
    /// `InconsistentConstraints` for cannot-links marked hard.
    fn closure(&self, problem: &Problem) -> Result<Option<Arc<Closure>>> {
        let respects = self.respect_must_link || self.respect_cannot_link;
        if !respects || problem.constraints.pairs().is_empty() {
            return Ok(None);
        }
        let closure = problem.closure(OnConflict::Keep)?;
        if self.respect_must_link && self.respect_cannot_link {
            let pairs = closure.constraints().pairs();
            let is_hard = |at: &usize| pairs[*at].strength == Some(Strength::Hard);
            let hard: Vec<usize> = closure.conflicts().iter().copied().filter(is_hard).collect();
            if !hard.is_empty() {
                return Err(Error::InconsistentConstraints(closure.contradicting(&hard)));
            }
        }
        Ok(Some(closure))
    }

    /// Cuts a graph that is not held, where its size allows that.
    pub(crate) fn cut_sides(
        &self,
        sides: &dyn Sides,
        units: &Units,
        k: usize,
        ctx: &Context,
    ) -> Result<Option<Partition>> {
        let k = k.min(sides.sizes().len());
        let known = units.known(sides.sizes(), None, k);
        let guide = known.as_ref().map(|known| known.guide(false));
        let cut = Cut { k, imbalance: self.imbalance.unwrap_or(SLACK), trials: self.trials, guide };
        self.partitioner.partition_sides(sides, cut, &ctx.child("partitioner"))
    }

    /// The outcome of k = 1 and k = n, for which nothing need be cut. Where must-links are respected, n
    /// clusters are as many as they leave.
    ///
    /// # Errors
    /// Returns the errors of the closure of the constraints.
    pub(crate) fn trivial(
        &self,
        view: &CanonicalEnsemble,
        problem: &Problem,
    ) -> Result<Option<Clustering>> {
        let Some(trivial) = view.trivial() else { return Ok(None) };
        let Some(closure) = self.closure(problem)? else { return Ok(Some(trivial)) };
        if view.k == 1
            && let Some(firm) = self.firm(&closure)?
        {
            firm.require_feasible(1)?;
        }
        if view.k == 1 || !self.respect_must_link {
            return Ok(Some(trivial));
        }
        let component = |i| closure.component(i) as u32;
        let (labels, k) = compact(&(0..view.n).map(component).collect::<Vec<u32>>());
        Ok(Some(Clustering { labels, k, ..Clustering::default() }))
    }

    /// The cannot-links marked hard, together with all must-links; `None` if no cannot-link is respected.
    fn firm(&self, closure: &Closure) -> Result<Option<Closure>> {
        let is_firm =
            |c: &Constraint| c.kind == Kind::CannotLink && c.strength == Some(Strength::Hard);
        let pairs = closure.constraints().pairs();
        if !(self.respect_must_link && self.respect_cannot_link && pairs.iter().any(is_firm)) {
            return Ok(None);
        }
        let kept = pairs.iter().filter(|c| c.kind == Kind::MustLink || is_firm(c)).copied();
        let n = closure.n();
        Closure::new(&Constraints::new(n, kept)?, n, OnConflict::Error).map(Some)
    }

    /// Cuts a graph whose first vertices are the units; gives the part of every unit and of every
    /// other vertex. Where sizes are not given, objects may `follow` their clusters in the end.
    pub(crate) fn cut(
        &self,
        graph: &CutGraph,
        units: &Units,
        k: usize,
        follow: bool,
        ctx: &Context,
    ) -> Result<(Vec<u32>, Partition)> {
        let merged;
        let (graph, map) = match &units.merge {
            None => (graph, None),
            Some(to) => {
                let m = to.iter().max().map_or(0, |&m| m as usize + 1);
                let others = units.sizes.len()..graph.len();
                let mut map = to.clone();
                map.extend(others.map(|v| (v - units.sizes.len() + m) as u32));
                let count = m + graph.len() - units.sizes.len();
                let contracted = graph.contract(&map, count);
                // Units still come first.
                merged = match graph.first_side() {
                    Some(_) => contracted.with_first_side(m),
                    None => contracted,
                };
                (&merged, Some(map))
            }
        };
        let of_all = |apart: &Apart| {
            let mut apart = apart.clone();
            apart.resize(graph.len(), Vec::new());
            apart
        };
        let apart = units.apart.as_ref().map(of_all);
        let firm = units.firm.as_ref().map(|(_, apart)| of_all(apart));
        let k = k.min(graph.len());
        let known = units.known(graph.sizes(), map.as_deref(), k);
        let task = Task {
            imbalance: self.imbalance.unwrap_or(SLACK),
            trials: self.trials,
            guide: known.as_ref().map(|known| known.guide(follow)),
            apart: apart.as_ref(),
            firm: firm.as_ref(),
            ..Task::new(graph, k)
        };
        let partition = self.partitioner.partition(&task, &ctx.child("partitioner"))?;
        if let (Some((closure, _)), Some(apart)) = (&units.firm, &firm)
            && pairs_together(&partition.parts, apart) > 0
        {
            MustLinkUnits::new(closure).any_placement(k, REPAIR_NODES, ctx)?;
            return Err(Error::UndecidedConstraints { k, node_limit: REPAIR_NODES });
        }
        let parts = match map {
            None => partition.parts.clone(),
            Some(map) => map.iter().map(|&v| partition.parts[v as usize]).collect(),
        };
        Ok((parts, partition))
    }
}

/// Refuses parts that may be heavier than the whole.
///
/// # Errors
/// `BadParam`.
pub(crate) fn check_imbalance(imbalance: Option<f64>, k: usize) -> Result<()> {
    let most = k.max(2) - 1;
    if let Some(imbalance) = imbalance
        && imbalance > most as f64
    {
        return Err(Error::bad_param(
            "imbalance",
            imbalance,
            format!("between 0 and {most} (k - 1)"),
        ));
    }
    Ok(())
}

/// The share by which parts may be heavier than the members suggest.
pub(crate) const SLACK: f64 = 0.03;

/// The sizes and parts that the typical member suggests for a graph.
struct Known {
    shares: Vec<f64>,
    parts: Vec<u32>,
    settled: bool,
}

impl Known {
    fn guide(&self, follow: bool) -> Guide<'_> {
        Guide { shares: &self.shares, parts: &self.parts, settled: self.settled, follow }
    }
}

/// Objects that stay together while a graph is cut: those that all members treat alike, up to a
/// twentieth of a part, and where asked for those joined by must-links.
pub(crate) struct Units {
    /// Unit of each object.
    pub of: Vec<u32>,
    /// An object of each unit.
    pub first: Vec<u32>,
    /// Number of objects of each unit.
    pub sizes: Vec<u32>,
    /// Vertex of each unit once must-links are contracted.
    pub merge: Option<Vec<u32>>,
    /// Forbidden pairs, of those vertices.
    pub apart: Option<Apart>,
    /// Those marked hard, with their closure.
    pub firm: Option<(Closure, Apart)>,
    /// The partition that the members suggest; absent if the options determine the weights of parts.
    pub typical: Option<Typical>,
}

/// A unit of like objects holds at most this share of a part, so that balance stays in reach.
const GRAIN: usize = 20;

impl Units {
    /// The units of an ensemble under the constraints that `cutting` respects.
    pub fn new(
        view: &CanonicalEnsemble,
        cutting: &Cutting,
        problem: &Problem,
        ctx: &Context,
    ) -> Result<Self> {
        let signatures = Signatures::new(&view.ensemble());
        Units::within(view, cutting, problem, ctx, |i| signatures.group_of(i) as u32)
    }

    /// One unit per object, where no two are alike.
    pub fn single(
        view: &CanonicalEnsemble,
        cutting: &Cutting,
        problem: &Problem,
        ctx: &Context,
    ) -> Result<Self> {
        Units::within(view, cutting, problem, ctx, |i| i as u32)
    }

    fn within(
        view: &CanonicalEnsemble,
        cutting: &Cutting,
        problem: &Problem,
        ctx: &Context,
        group_of: impl Fn(usize) -> u32,
    ) -> Result<Self> {
        let n = view.n;
        let closure = cutting.closure(problem)?;
        // Objects with constraints are units of their own: what binds one does not bind its like.
        let bound = |i: usize| {
            closure.as_ref().is_some_and(|c| {
                let p = c.component(i);
                c.members(p).len() > 1 || !c.apart(p).is_empty()
            })
        };
        let most =
            if cutting.partitioner.is_balanced() { (n / (GRAIN * view.k)).max(1) } else { n };
        let guided = cutting.imbalance.is_none() && cutting.partitioner.is_balanced();
        let mut open: Vec<u32> = vec![NONE; n];
        let mut units = Units {
            of: vec![0; n],
            first: vec![],
            sizes: vec![],
            merge: None,
            apart: None,
            firm: None,
            typical: guided.then(|| Typical::new(view, ctx)).transpose()?,
        };
        for i in 0..n {
            let group = group_of(i) as usize;
            let is_bound = bound(i);
            let unit = open[group];
            if !is_bound && unit != NONE && (units.sizes[unit as usize] as usize) < most {
                units.of[i] = unit;
                units.sizes[unit as usize] += 1;
                continue;
            }
            let new = units.sizes.len() as u32;
            units.of[i] = new;
            units.first.push(i as u32);
            units.sizes.push(1);
            if !is_bound {
                open[group] = new;
            }
        }
        if let Some(closure) = &closure {
            units.constrain(closure, cutting)?;
        }
        Ok(units)
    }

    fn constrain(&mut self, closure: &Closure, cutting: &Cutting) -> Result<()> {
        let mut vertex_of = vec![NONE; closure.components()];
        let mut merge = Vec::with_capacity(self.sizes.len());
        let mut next = 0;
        for &i in &self.first {
            let p = closure.component(i as usize);
            let known = vertex_of[p];
            if cutting.respect_must_link && known != NONE {
                merge.push(known);
            } else {
                vertex_of[p] = next;
                merge.push(next);
                next += 1;
            }
        }
        if cutting.respect_cannot_link {
            let apart = |closure: &Closure| {
                let mut apart: Apart = vec![Vec::new(); next as usize];
                let cannot = closure.constraints().pairs().iter();
                for c in cannot.filter(|c| c.kind == Kind::CannotLink) {
                    let of = |i: u32| merge[self.of[i as usize] as usize];
                    let (a, b) = (of(c.i), of(c.j));
                    if a != b {
                        apart[a as usize].push(b);
                        apart[b as usize].push(a);
                    }
                }
                apart.iter_mut().for_each(|list| {
                    list.sort_unstable();
                    list.dedup();
                });
                apart
            };
            let firm = cutting.firm(closure)?.map(|closure| {
                let apart = apart(&closure);
                (closure, apart)
            });
            (self.apart, self.firm) = (Some(apart(closure)), firm);
        }
        if (next as usize) < merge.len() {
            self.merge = Some(merge);
        }
        Ok(())
    }

    /// Knowledge about k parts of vertices of these weights: first the units, `map`ped to fewer if must-links
    /// join some, then the clusters of all members if they are vertices too.
    fn known(&self, weights: &[u32], map: Option<&[u32]>, k: usize) -> Option<Known> {
        let typical = self.typical.as_ref().filter(|typical| typical.shares.len() == k)?;
        let vertex = |u: usize| map.map_or(u, |map| map[u] as usize);
        let objects = (0..self.len()).map(vertex).max().map_or(0, |v| v + 1);
        let mut parts = vec![0; objects];
        for (u, &i) in self.first.iter().enumerate().rev() {
            parts[vertex(u)] = typical.labels[i as usize];
        }
        parts.extend(&typical.clusters[..weights.len() - objects]);
        let weigh = |weights: &[u32]| weights.iter().map(|&w| f64::from(w)).sum::<f64>();
        let (own, others) = (weigh(&weights[..objects]), weigh(&weights[objects..]));
        let share = |s: &f64| (s * own + others / k as f64) / (own + others);
        let shares = typical.shares.iter().map(share).collect();
        Some(Known { shares, parts, settled: typical.agreed })
    }

    /// Number of units.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }
}

/// The clustering that gives every object the part of its unit; `extras` have a row or column per
/// part.
pub(crate) fn clustering(
    units: &Units,
    parts: &[u32],
    partition: &Partition,
    k: usize,
    extras: Extras,
) -> Clustering {
    let labels: Vec<u32> = units.of.iter().map(|&u| parts[u as usize]).collect();
    let extras = mustlink_core::ensemble::without_empty(extras, &labels, k);
    let (labels, k) = compact(&labels);
    let mut clustering = Clustering { labels, k, extras, ..Clustering::default() };
    clustering.objective = Some(partition.cut as f64);
    let diagnostics = &mut clustering.extras.diagnostics;
    diagnostics.insert("cut".into(), partition.cut as f64);
    diagnostics.insert("heaviest_part".into(), partition.heaviest as f64);
    diagnostics.insert("bound_of_parts".into(), partition.bound as f64);
    diagnostics.insert("vertices".into(), partition.parts.len() as f64);
    if units.apart.is_some() {
        diagnostics.insert("cannot_links_together".into(), partition.together as f64);
    }
    clustering
}
