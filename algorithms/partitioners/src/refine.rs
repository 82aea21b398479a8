//! Single moves that lower the cut.
//!
//! Fiduccia and Mattheyses for k parts: the vertex with the largest gain moves to its best part and
//! is locked; moves that raise the cut are accepted for a while, and the pass ends at its best
//! moment. In small graphs one part may be too heavy for a moment, so that vertices can be swapped.

use std::collections::BinaryHeap;

use mustlink_core::{Context, Result};

use crate::graph::{Apart, CutGraph};
use crate::task::Bounds;

/// Passes over all vertices.
const PASSES: usize = 10;
/// Moves in a row that may end worse than the best moment of the pass.
const PATIENCE: usize = 50;
/// Above so many vertices nothing is swapped: single moves have room enough.
const SWAPS_UP_TO: usize = 5000;

/// The weights of the edges of each vertex, part by part.
pub(crate) struct State<'a> {
    pub graph: &'a CutGraph,
    pub parts: &'a mut [u32],
    pub sizes: Vec<u64>,
    pub members: Vec<usize>,
    to: Vec<u32>,
    k: usize,
}

impl<'a> State<'a> {
    /// The state of `parts`, one part below `k` for each vertex of `graph`.
    pub fn new(graph: &'a CutGraph, parts: &'a mut [u32], k: usize) -> Self {
        let sizes = graph.part_sizes(parts, k);
        let mut members = vec![0; k];
        parts.iter().for_each(|&p| members[p as usize] += 1);
        let mut to = vec![0u32; graph.len() * k];
        for v in 0..graph.len() {
            for (u, w) in graph.edges(v) {
                to[v * k + parts[u] as usize] += w;
            }
        }
        State { graph, parts, sizes, members, to, k }
    }

    /// Weight of the edges from each part to `v`.
    pub fn towards(&self, v: usize) -> &[u32] {
        &self.to[v * self.k..(v + 1) * self.k]
    }

    /// How much the cut falls when `v` moves to part `p`.
    pub fn gain(&self, v: usize, p: usize) -> i64 {
        let to = self.towards(v);
        i64::from(to[p]) - i64::from(to[self.parts[v] as usize])
    }

    /// Moves vertex `v` to part `p`, and updates the sizes and the edge weights.
    pub fn move_to(&mut self, v: usize, p: usize) {
        let from = self.parts[v] as usize;
        let size = u64::from(self.graph.size(v));
        self.sizes[from] -= size;
        self.sizes[p] += size;
        self.members[from] -= 1;
        self.members[p] += 1;
        self.parts[v] = p as u32;
        for (u, w) in self.graph.edges(v) {
            self.to[u * self.k + from] -= w;
            self.to[u * self.k + p] += w;
        }
    }
}

/// True if part `p` contains a vertex that must be apart from `v`.
pub(crate) fn is_forbidden(apart: Option<&Apart>, parts: &[u32], v: usize, p: usize) -> bool {
    apart.is_some_and(|apart| apart[v].iter().any(|&u| parts[u as usize] as usize == p))
}

/// Lowers the cut while it can. The excess over the bounds never grows, and for equal excess the cut
/// never does.
///
/// # Errors
/// Cancellation.
pub(crate) fn refine(
    graph: &CutGraph,
    parts: &mut [u32],
    bounds: &Bounds,
    apart: Option<&Apart>,
    ctx: &Context,
) -> Result<()> {
    let mut state = State::new(graph, parts, bounds.0.len());
    level_out(&mut state, bounds, apart);
    for _ in 0..PASSES {
        ctx.check()?;
        if !pass(&mut state, bounds, apart) {
            break;
        }
    }
    Ok(())
}

/// The best part for `v`: largest gain, then the lighter part, then the lower number.
fn best_target(
    state: &State,
    v: usize,
    bounds: &Bounds,
    slack: u64,
    apart: Option<&Apart>,
) -> Option<(i64, usize)> {
    let from = state.parts[v] as usize;
    if state.members[from] <= 1 {
        return None;
    }
    let size = u64::from(state.graph.size(v));
    let mut best: Option<(i64, usize)> = None;
    for p in (0..state.k).filter(|&p| p != from) {
        if state.sizes[p] + size > bounds.0[p] + slack {
            continue;
        }
        let gain = state.gain(v, p);
        let better =
            best.is_none_or(|(g, q)| gain > g || (gain == g && state.sizes[p] < state.sizes[q]));
        if better && !is_forbidden(apart, state.parts, v, p) {
            best = Some((gain, p));
        }
    }
    best
}

/// Moves the vertices that lose least out of parts that are too heavy.
pub(crate) fn level_out(state: &mut State, bounds: &Bounds, apart: Option<&Apart>) {
    for p in 0..state.k {
        if state.sizes[p] <= bounds.0[p] {
            continue;
        }
        let mut heap: BinaryHeap<(i64, std::cmp::Reverse<usize>)> = (0..state.graph.len())
            .filter(|&v| state.parts[v] as usize == p && state.graph.size(v) > 0)
            .filter_map(|v| {
                best_target(state, v, bounds, 0, apart).map(|(g, _)| (g, std::cmp::Reverse(v)))
            })
            .collect();
        while state.sizes[p] > bounds.0[p] {
            let Some((gain, std::cmp::Reverse(v))) = heap.pop() else { break };
            match best_target(state, v, bounds, 0, apart) {
                // The world changed since: back in the queue under its new value.
                Some((now, _)) if now < gain => heap.push((now, std::cmp::Reverse(v))),
                Some((_, to)) => state.move_to(v, to),
                None => {}
            }
        }
        while state.sizes[p] > bounds.0[p] && state.graph.len() <= SWAPS_UP_TO {
            if !exchange(state, p, bounds, apart) {
                break;
            }
        }
    }
}

/// Exchanges a vertex of the too heavy part `p` for a lighter one, where the other part has room.
fn exchange(state: &mut State, p: usize, bounds: &Bounds, apart: Option<&Apart>) -> bool {
    let n = state.graph.len();
    let size = |v: usize| u64::from(state.graph.size(v));
    let mut best: Option<(i64, usize, usize)> = None;
    for v in (0..n).filter(|&v| state.parts[v] as usize == p) {
        for u in (0..n).filter(|&u| state.parts[u] as usize != p && size(u) < size(v)) {
            let q = state.parts[u] as usize;
            if state.sizes[q] + size(v) - size(u) > bounds.0[q]
                || is_forbidden(apart, state.parts, v, q)
                || is_forbidden(apart, state.parts, u, p)
            {
                continue;
            }
            // An edge between the two is counted twice: close enough to choose by.
            let gain = state.gain(v, q) + state.gain(u, p);
            if best.is_none_or(|(g, ..)| gain > g) {
                best = Some((gain, v, u));
            }
        }
    }
    let Some((_, v, u)) = best else { return false };
    let q = state.parts[u] as usize;
    state.move_to(v, q);
    state.move_to(u, p);
    true
}

/// One pass; whether it improved anything.
fn pass(state: &mut State, bounds: &Bounds, apart: Option<&Apart>) -> bool {
    let n = state.graph.len();
    let largest = state.graph.sizes().iter().copied().max().unwrap_or(0);
    let slack = if n <= SWAPS_UP_TO { u64::from(largest) } else { 0 };
    let mut stamp = vec![0u32; n];
    let mut locked = vec![false; n];
    let mut heap = BinaryHeap::with_capacity(n);
    let queue = |state: &State, heap: &mut BinaryHeap<_>, stamp: &[u32], v: usize| {
        let of = |p: usize| state.gain(v, p);
        let own = state.parts[v] as usize;
        let gain = (0..state.k).filter(|&p| p != own).map(of).max();
        if let Some(gain) = gain {
            heap.push((gain, std::cmp::Reverse(v as u32), stamp[v]));
        }
    };
    for v in 0..n {
        let own = state.parts[v] as usize;
        if state.towards(v).iter().enumerate().any(|(p, &w)| p != own && w > 0)
            || state.graph.degree(v) == 0
        {
            queue(state, &mut heap, &stamp, v);
        }
    }
    let mut moves: Vec<(u32, u32)> = Vec::new();
    let start = bounds.excess(&state.sizes);
    let (mut gained, mut best, mut kept) = (0i64, (start, 0i64), 0usize);
    let mut held: Vec<u32> = Vec::new();
    while let Some((queued, std::cmp::Reverse(v), mark)) = heap.pop() {
        let v = v as usize;
        if locked[v] || mark != stamp[v] {
            continue;
        }
        let excess = bounds.excess(&state.sizes);
        let own = state.parts[v] as usize;
        // While a part is too heavy, only it gives vertices away.
        if excess > 0 && state.sizes[own] <= bounds.0[own] {
            held.push(v as u32);
            continue;
        }
        let room = if excess > 0 { 0 } else { slack };
        let Some((gain, to)) = best_target(state, v, bounds, room, apart) else {
            held.push(v as u32);
            continue;
        };
        if gain < queued {
            // Its best part has no room: it waits for its turn at what it can gain.
            if heap.peek().is_some_and(|next| next.0 > gain) {
                heap.push((gain, std::cmp::Reverse(v as u32), mark));
                continue;
            }
        }
        state.move_to(v, to);
        locked[v] = true;
        gained += gain;
        moves.push((v as u32, own as u32));
        let now = bounds.excess(&state.sizes);
        if (now, -gained) < (best.0, -best.1) {
            best = (now, gained);
            kept = moves.len();
        } else if moves.len() - kept >= PATIENCE {
            break;
        }
        for (u, _) in state.graph.edges(v) {
            if !locked[u] {
                stamp[u] += 1;
                queue(state, &mut heap, &stamp, u);
            }
        }
        for u in held.drain(..) {
            if !locked[u as usize] {
                queue(state, &mut heap, &stamp, u as usize);
            }
        }
    }
    for &(v, from) in moves[kept..].iter().rev() {
        state.move_to(v as usize, from as usize);
    }
    best != (start, 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::tests::random;
    use crate::task::Cut;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn never_worse_than_what_it_was_given(seed: u64, n in 4usize..40, k in 2usize..5) {
            let graph = random(n, 0.3, seed);
            let mut parts: Vec<u32> = (0..n).map(|v| (v % k) as u32).collect();
            let cut = Cut { k, imbalance: 0.1, trials: None, guide: None };
            let bounds = Bounds::new(graph.sizes(), &cut);
            let before = (bounds.excess(&graph.part_sizes(&parts, k)), graph.cut(&parts));
            refine(&graph, &mut parts, &bounds, None, &Context::new(1)).unwrap();
            let after = (bounds.excess(&graph.part_sizes(&parts, k)), graph.cut(&parts));
            prop_assert!(after.0 <= before.0);
            prop_assert!(after.0 < before.0 || after.1 <= before.1, "{after:?} after {before:?}");
            // Once more from there: a pass without gain changes nothing.
            let mut again = parts.clone();
            refine(&graph, &mut again, &bounds, None, &Context::new(1)).unwrap();
            prop_assert!(graph.cut(&again) <= graph.cut(&parts));
        }
    }
}
