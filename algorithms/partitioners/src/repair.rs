//! The separation of forbidden pairs after a cut.

use mustlink_core::{Context, Result};
use mustlink_kernels::constrained::colouring::{
    Colouring, colour, connected_parts, induced, lower_cost,
};

use crate::graph::{Apart, CutGraph};
use crate::refine::{State, is_forbidden};
use crate::task::Bounds;

/// Nodes that a search for parts may visit among the vertices that chains of forbidden pairs connect.
pub const REPAIR_NODES: u64 = 100_000;

/// Moves vertices that share a part with a forbidden one to the part where they lose least, first
/// within the bounds, then without them. Vertices that cannot be separated stay.
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

/// True if no forbidden pair shares a part at the end. If some do, all vertices that chains of
/// forbidden pairs connect with them get new parts, whatever their weights: by a complete search for
/// colours, cheap ones first, whose cost is then lowered. If no colouring exists, or the search ends at
/// [`REPAIR_NODES`], the parts stay.
///
/// # Errors
/// Cancellation.
pub(crate) fn separate_all(
    graph: &CutGraph,
    parts: &mut [u32],
    k: usize,
    apart: &Apart,
    ctx: &Context,
) -> Result<bool> {
    let together = |parts: &[u32], v: u32| {
        is_forbidden(Some(apart), parts, v as usize, parts[v as usize] as usize)
    };
    let mut all = true;
    let mut state = State::new(graph, parts, k);
    for connected in connected_parts(apart) {
        if !connected.iter().any(|&v| together(state.parts, v)) {
            continue;
        }
        // What is lost in a part: the edges to all others, as those stand now.
        let rows: Vec<Vec<f64>> = connected
            .iter()
            .map(|&v| {
                let towards = state.towards(v as usize);
                let total: f64 = towards.iter().map(|&w| f64::from(w)).sum();
                towards.iter().map(|&w| total - f64::from(w)).collect()
            })
            .collect();
        let cost = |at: u32, p: u32| rows[at as usize][p as usize];
        let edges = induced(apart, &connected);
        match colour(&edges, k, &cost, REPAIR_NODES, ctx)? {
            Colouring::Found(mut found) => {
                lower_cost(&edges, k, &cost, &mut found, ctx)?;
                for (&v, p) in connected.iter().zip(found) {
                    state.move_to(v as usize, p as usize);
                }
            }
            Colouring::Impossible(_) | Colouring::Undecided => all = false,
        }
    }
    Ok(all)
}
