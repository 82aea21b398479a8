//! A graph is cut where it is small: coarsen, cut in two again and again, go back and refine.

use mustlink_core::random::Stream;
use mustlink_core::{Context, Result, reduce};

use crate::coarsen::coarsen;
use crate::graph::CutGraph;
use crate::refine::{State, level_out, refine};
use crate::task::{Bounds, whole};
use crate::task::{Cut, Partitioner, Task};

/// Our own multilevel scheme [KarypisKumar1998].
pub(crate) struct Multilevel;

/// Starts of each bisection.
const SEEDS: usize = 8;

impl Partitioner for Multilevel {
    fn parts(&self, task: &Task, ctx: &Context) -> Result<Vec<u32>> {
        let bounds = task.bounds();
        let start = |t| once(task, &bounds, &ctx.child("multilevel").index(t));
        let mut best: Option<((u64, u64), Vec<u32>)> = None;
        reduce::in_waves(task.starts(), start, |parts| {
            let excess = bounds.excess(&task.graph.part_sizes(&parts, task.k));
            let value = (excess, task.graph.cut(&parts));
            if best.as_ref().is_none_or(|(least, _)| value < *least) {
                best = Some((value, parts));
            }
            Ok(())
        })?;
        Ok(best.expect("at least one start").1)
    }
}

fn once(task: &Task, bounds: &Bounds, ctx: &Context) -> Result<Vec<u32>> {
    let (graph, k) = (task.graph, task.k);
    let mut stream = ctx.stream("coarsen");
    let levels = coarsen(graph, (20 * k).max(200), task.apart, &mut stream, ctx)?;
    let coarsest = levels.last().map_or(graph, |l| &l.graph);
    let mut parts = initial(coarsest, &task.cut(), &mut ctx.stream("initial"), ctx)?;
    for at in (0..=levels.len()).rev() {
        let (graph, apart) = match at {
            0 => (graph, task.apart),
            _ => (&levels[at - 1].graph, levels[at - 1].apart.as_ref()),
        };
        if at < levels.len() {
            parts = levels[at].map.iter().map(|&c| parts[c as usize]).collect();
        }
        refine(graph, &mut parts, bounds, apart, ctx)?;
    }
    Ok(parts)
}

/// Recursive bisection.
fn initial(graph: &CutGraph, cut: &Cut, stream: &mut Stream, ctx: &Context) -> Result<Vec<u32>> {
    let (k, shares) = (cut.k, cut.shares());
    // The slack is used up level by level.
    let depth = (k as f64).log2().ceil().max(1.0);
    let slack = (1.0 + cut.imbalance).powf(1.0 / depth) - 1.0;
    let mut parts = vec![0; graph.len()];
    let mut work = vec![((0..graph.len() as u32).collect::<Vec<u32>>(), 0usize, k)];
    while let Some((vertices, first, k)) = work.pop() {
        if k == 1 || vertices.is_empty() {
            vertices.iter().for_each(|&v| parts[v as usize] = first as u32);
            continue;
        }
        let left = k.div_ceil(2);
        let sub = within(graph, &vertices);
        let weight = |parts: usize| shares[first..first + parts].iter().sum::<f64>();
        let side = bisect(&sub, (left, k), weight(left) / weight(k), slack, stream, ctx)?;
        let of = |wanted: u32| -> Vec<u32> {
            vertices.iter().zip(&side).filter(|(_, s)| **s == wanted).map(|(&v, _)| v).collect()
        };
        work.push((of(1), first + left, k - left));
        work.push((of(0), first, left));
    }
    Ok(parts)
}

/// The part of the graph on `vertices`.
pub(crate) fn within(graph: &CutGraph, vertices: &[u32]) -> CutGraph {
    if vertices.len() == graph.len() {
        return graph.clone();
    }
    let mut place = vec![u32::MAX; graph.len()];
    vertices.iter().enumerate().for_each(|(at, &v)| place[v as usize] = at as u32);
    let (mut offsets, mut neighbours, mut weights) = (vec![0], Vec::new(), Vec::new());
    for &v in vertices {
        for (u, w) in graph.edges(v as usize).filter(|&(u, _)| place[u] != u32::MAX) {
            neighbours.push(place[u]);
            weights.push(w);
        }
        offsets.push(neighbours.len());
    }
    let sizes = vertices.iter().map(|&v| graph.size(v as usize)).collect();
    CutGraph::new(offsets, neighbours, weights, sizes).expect("a part of a graph is a graph")
}

/// Two sides of which the first holds this share of the weight, and `parts.0` of `parts.1` parts: the best of
/// several growths.
fn bisect(
    graph: &CutGraph,
    parts: (usize, usize),
    share: f64,
    slack: f64,
    stream: &mut Stream,
    ctx: &Context,
) -> Result<Vec<u32>> {
    let n = graph.len();
    let total = graph.total_size();
    let want = whole(total as f64 * share) as u64;
    let bound = |weight: u64| (weight as f64 * (1.0 + slack) + 1e-9).floor() as u64;
    let rest = whole(total as f64 * (1.0 - share)) as u64;
    let bounds = Bounds(vec![bound(want), bound(rest)]);
    let mut best: Option<((u64, u64), Vec<u32>)> = None;
    for _ in 0..SEEDS {
        let mut side = grow(graph, stream.below(n), want);
        refine(graph, &mut side, &bounds, None, ctx)?;
        let excess = bounds.excess(&graph.part_sizes(&side, 2));
        let value = (excess, graph.cut(&side));
        if best.as_ref().is_none_or(|(least, _)| value < *least) {
            best = Some((value, side));
        }
    }
    let mut side = best.expect("at least one start").1;
    // Each side needs a vertex for each of its parts, which weights alone do not see to.
    let mut state = State::new(graph, &mut side, 2);
    level_out(&mut state, &bounds, None);
    for (s, needed) in [(0, parts.0), (1, parts.1 - parts.0)] {
        let have = state.members[s];
        if have < needed && n >= parts.1 {
            let others: Vec<usize> = (0..n).filter(|&v| state.parts[v] as usize != s).collect();
            let mut by_gain = others;
            by_gain.sort_by_key(|&v| (std::cmp::Reverse(state.gain(v, s)), v));
            by_gain.into_iter().take(needed - have).for_each(|v| state.move_to(v, s));
        }
    }
    Ok(side)
}

/// Side 0 grows from `seed` by the vertex that cuts least, until it weighs `want`.
fn grow(graph: &CutGraph, seed: usize, want: u64) -> Vec<u32> {
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;
    let n = graph.len();
    let mut side = vec![1u32; n];
    let mut gain: Vec<i64> =
        (0..n).map(|v| -graph.edges(v).map(|(_, w)| i64::from(w)).sum::<i64>()).collect();
    let mut heap: BinaryHeap<(i64, Reverse<usize>)> =
        (0..n).map(|v| (gain[v], Reverse(v))).collect();
    let mut next = Some(seed);
    let mut weight = 0;
    while weight < want {
        let v = match next.take() {
            Some(v) => v,
            None => match heap.pop() {
                Some((g, Reverse(v))) if side[v] == 1 && g == gain[v] => v,
                Some(_) => continue,
                None => break,
            },
        };
        let size = u64::from(graph.size(v));
        // A vertex that overshoots more than it would lack stays outside.
        if weight > 0 && weight + size > want && weight + size - want > want - weight {
            side[v] = 2;
            continue;
        }
        side[v] = 0;
        weight += size;
        for (u, w) in graph.edges(v) {
            if side[u] == 1 {
                gain[u] += 2 * i64::from(w);
                heap.push((gain[u], Reverse(u)));
            }
        }
    }
    side.iter_mut().for_each(|s| *s = (*s).min(1));
    side
}
