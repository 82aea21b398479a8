//! Can forbidden pairs be taken apart after the fact?

use crate::graph::{Apart, CutGraph};
use crate::refine::{Bounds, State, is_forbidden};

/// Moves vertices that share a part with a forbidden one to the part where they lose least, bounds
/// kept first, then without them. What cannot be parted stays.
pub(crate) fn separate(graph: &CutGraph, parts: &mut [u32], bounds: &Bounds, apart: &Apart) {
    let k = bounds.0.len();
    let mut state = State::new(graph, parts, k);
    // Moving one vertex can only lower the number of pairs, so that this ends.
    for bound in [true, false] {
        for v in 0..graph.len() {
            let own = state.parts[v] as usize;
            if apart[v].is_empty() || !is_forbidden(Some(apart), state.parts, v, own) {
                continue;
            }
            let size = u64::from(graph.size(v));
            let target = (0..k)
                .filter(|&p| p != own && (!bound || state.sizes[p] + size <= bounds.0[p]))
                .filter(|&p| !is_forbidden(Some(apart), state.parts, v, p))
                .max_by_key(|&p| (state.gain(v, p), std::cmp::Reverse(p)));
            if let Some(p) = target {
                state.move_to(v, p);
            }
        }
    }
}
