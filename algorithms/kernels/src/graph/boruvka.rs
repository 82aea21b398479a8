//! The minimum spanning tree of objects in few dimensions, without looking at all pairs.
//!
//! Every component takes its lightest edge to another one, all at once, until one component is left
//! (Borůvka 1926). The lightest edge is sought from every object of a component in a k-d tree; boxes that
//! hold objects of that component alone, or that are farther than the lightest edge so far, are passed over.
//! Threads tell each other how light that is, so which of several edges of one weight is found depends on
//! them; the weights, and what is joined up to any of them, do not.
//!
//! Source: March, Ram and Gray 2010, with one tree and a search for each object.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use mustlink_core::clustering::NONE;
use mustlink_core::union_find::UnionFind;
use mustlink_core::{Context, Result};

use crate::distance::kd_tree::{KdTree, gaps};
use crate::distance::points::squared_distance;

/// Objects that one thread searches for before it looks whether the run is to end.
const CHUNK: usize = 256;

/// Two objects that become joined, and the weight of the edge.
pub(crate) type Edge = (u32, u32, f64);

/// Room for the searches of one thread.
struct Room {
    gap: Vec<f64>,
    zero: Vec<f64>,
    /// Boxes to be looked at, each with the least weight there.
    open: Vec<(f64, usize)>,
    /// Smallest distances so far.
    nearest: Vec<f64>,
}

impl Room {
    fn new(d: usize) -> Self {
        Room { gap: vec![0.0; d], zero: vec![0.0; d], open: Vec::new(), nearest: Vec::new() }
    }

    /// No object of the box is nearer, rounding included.
    fn least(&mut self, tree: &KdTree, row: &[f64], node: usize) -> f64 {
        let (low, high) = tree.corners_of(node);
        gaps(row, low, high, &mut self.gap);
        squared_distance(&self.gap, &self.zero)
    }
}

/// Squared distance of each object to the nearest `count` objects, itself among them: to the last of these.
pub(crate) fn core_distances(tree: &KdTree, count: usize, ctx: &Context) -> Result<Vec<f64>> {
    let n = tree.objects.len();
    let mut of_places = vec![0.0; n];
    of_places.par_chunks_mut(CHUNK).enumerate().try_for_each(|(chunk, out)| {
        ctx.check()?;
        let mut room = Room::new(tree.d());
        for (at, out) in out.iter_mut().enumerate() {
            *out = core_distance(tree, tree.row(chunk * CHUNK + at), count, &mut room);
        }
        Ok(())
    })?;
    let mut of_objects = vec![0.0; n];
    tree.objects.iter().zip(of_places).for_each(|(&o, core)| of_objects[o as usize] = core);
    Ok(of_objects)
}

fn core_distance(tree: &KdTree, row: &[f64], count: usize, room: &mut Room) -> f64 {
    room.nearest.clear();
    let mut limit = f64::INFINITY;
    let mut open = std::mem::take(&mut room.open);
    open.push((0.0, 0));
    while let Some((least, node)) = open.pop() {
        if least >= limit {
            continue;
        }
        let node = &tree.nodes[node];
        if let Some((left, right)) = node.halves {
            let (a, b) =
                ((room.least(tree, row, left), left), (room.least(tree, row, right), right));
            open.extend(if a.0 <= b.0 { [b, a] } else { [a, b] });
            continue;
        }
        for at in node.from..node.to {
            let distance = squared_distance(row, tree.row(at));
            if distance < limit {
                let place = room.nearest.partition_point(|&known| known <= distance);
                room.nearest.insert(place, distance);
                room.nearest.truncate(count);
                if room.nearest.len() == count {
                    limit = room.nearest[count - 1];
                }
            }
            if limit == 0.0 {
                break;
            }
        }
    }
    room.open = open;
    limit
}

/// The known edges of an object that leave its component.
#[derive(Clone, Copy)]
struct Lightest {
    /// None is lighter.
    weight: f64,
    /// The place of an object that one of this weight leads to, if that is known.
    to: u32,
}

struct Run<'a> {
    tree: &'a KdTree,
    /// Squared core distances by place.
    core: Vec<f64>,
    /// The least in each node.
    least_core: Vec<f64>,
    /// By place.
    component: Vec<u32>,
    /// The component of all objects of a node, if it is one.
    whole: Vec<u32>,
    /// Bits of the weight of the lightest edge that is known to leave a component; of numbers that are not
    /// negative, bits have the same order.
    best: Vec<AtomicU64>,
}

/// A spanning tree of least weight, where an edge weighs the largest of its squared length and the squared
/// core distances of its ends. Fewer than n − 1 edges where weights are infinite.
pub(crate) fn spanning_tree(tree: &KdTree, cores: &[f64], ctx: &Context) -> Result<Vec<Edge>> {
    let n = tree.objects.len();
    let core: Vec<f64> = tree.objects.iter().map(|&o| cores[o as usize]).collect();
    let mut least_core = vec![f64::INFINITY; tree.nodes.len()];
    for (at, node) in tree.nodes.iter().enumerate().rev() {
        least_core[at] = match node.halves {
            Some((left, right)) => least_core[left].min(least_core[right]),
            None => core[node.from..node.to].iter().copied().fold(f64::INFINITY, f64::min),
        };
    }
    let mut run = Run {
        tree,
        core,
        least_core,
        component: (0..n as u32).collect(),
        whole: vec![NONE; tree.nodes.len()],
        best: (0..n).map(|_| AtomicU64::new(0)).collect(),
    };
    let mut lightest = vec![Lightest { weight: 0.0, to: NONE }; n];
    let mut sets = UnionFind::new(n);
    let mut edges: Vec<Edge> = Vec::with_capacity(n.saturating_sub(1));
    while edges.len() + 1 < n {
        run.search_all(&mut lightest, ctx)?;
        let before = edges.len();
        for (p, q) in run.chosen(&lightest) {
            if sets.union(p, q).is_some() {
                let ends = (tree.objects[p as usize], tree.objects[q as usize]);
                edges.push((ends.0, ends.1, lightest[p as usize].weight));
            }
        }
        if edges.len() == before {
            break;
        }
        (0..n).for_each(|p| run.component[p] = sets.find(p as u32));
        ctx.progress(edges.len() as u64, Some(n as u64 - 1));
    }
    Ok(edges)
}

impl Run<'_> {
    /// True if the edge that is known of place `p` still leaves its component.
    fn leaves(&self, p: usize, known: &Lightest) -> bool {
        known.to != NONE && self.component[known.to as usize] != self.component[p]
    }

    /// Finds a lightest edge of each component.
    fn search_all(&mut self, lightest: &mut [Lightest], ctx: &Context) -> Result<()> {
        for (at, node) in self.tree.nodes.iter().enumerate().rev() {
            let (first, all) = match node.halves {
                Some((left, right)) => (self.whole[left], self.whole[left] == self.whole[right]),
                None => {
                    let own = &self.component[node.from..node.to];
                    (own[0], own.iter().all(|c| *c == own[0]))
                }
            };
            self.whole[at] = if all { first } else { NONE };
        }
        self.best.iter_mut().for_each(|b| *b.get_mut() = f64::INFINITY.to_bits());
        for (p, known) in lightest.iter().enumerate().filter(|(p, known)| self.leaves(*p, known)) {
            self.tell(p, known.weight);
        }
        let run = &*self;
        lightest.par_chunks_mut(CHUNK).enumerate().try_for_each(|(chunk, known)| {
            ctx.check()?;
            let mut room = Room::new(run.tree.d());
            for (at, known) in known.iter_mut().enumerate() {
                let p = chunk * CHUNK + at;
                // An edge that still leaves is still the lightest: others have only become fewer.
                if !run.leaves(p, known) && known.weight < run.heard(p) {
                    *known = run.search(p, &mut room);
                }
            }
            Ok(())
        })
    }

    /// Weight of the lightest edge known of the component of place `p`.
    fn heard(&self, p: usize) -> f64 {
        f64::from_bits(self.best[self.component[p] as usize].load(Ordering::Relaxed))
    }

    fn tell(&self, p: usize, weight: f64) {
        let best = &self.best[self.component[p] as usize];
        best.fetch_min(weight.to_bits(), Ordering::Relaxed);
    }

    /// The lightest edge of place `p` to another component, or a weight that one known of its own is not
    /// heavier than.
    fn search(&self, p: usize, room: &mut Room) -> Lightest {
        let (tree, row, own, core) = (self.tree, self.tree.row(p), self.component[p], self.core[p]);
        let mut found = Lightest { weight: f64::INFINITY, to: NONE };
        let mut limit = self.heard(p);
        let mut open = std::mem::take(&mut room.open);
        open.push((core, 0));
        while let Some((least, node)) = open.pop() {
            limit = limit.min(self.heard(p));
            if least >= limit || self.whole[node] == own {
                continue;
            }
            let node = &tree.nodes[node];
            if let Some((left, right)) = node.halves {
                let mut bound =
                    |half: usize| room.least(tree, row, half).max(core).max(self.least_core[half]);
                let (a, b) = ((bound(left), left), (bound(right), right));
                open.extend(if a.0 <= b.0 { [b, a] } else { [a, b] });
                continue;
            }
            for at in node.from..node.to {
                if self.component[at] == own {
                    continue;
                }
                let weight = squared_distance(row, tree.row(at)).max(core).max(self.core[at]);
                if weight < limit {
                    (limit, found) = (weight, Lightest { weight, to: at as u32 });
                    self.tell(p, weight);
                    if weight <= core {
                        break;
                    }
                }
            }
        }
        room.open = open;
        // Others of the component know a lighter one: what was found may not be the lightest of this object.
        if found.weight > limit { Lightest { weight: limit, to: NONE } } else { found }
    }

    /// A lightest edge of each component.
    fn chosen(&self, lightest: &[Lightest]) -> Vec<(u32, u32)> {
        let mut of = vec![NONE; lightest.len()];
        for (p, known) in lightest.iter().enumerate().filter(|(p, known)| self.leaves(*p, known)) {
            let best = &mut of[self.component[p] as usize];
            if *best == NONE || known.weight < lightest[*best as usize].weight {
                *best = p as u32;
            }
        }
        let chosen = of.into_iter().filter(|&p| p != NONE);
        chosen.map(|p| (p, lightest[p as usize].to)).collect()
    }
}
