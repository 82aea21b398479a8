//! Single moves that lower the normalised cut.

use mustlink_core::{Context, Result};

use crate::refine::{State, is_forbidden};
use crate::spectral::Spectral;
use crate::task::{Partitioner, Task};

/// Single moves that lower Σ cut(p)/volume(p), from the spectral parts.
pub(crate) struct GreedyNcut;

/// Sweeps over all vertices.
const SWEEPS: usize = 100;

impl Partitioner for GreedyNcut {
    fn parts(&self, task: &Task, ctx: &Context) -> Result<Vec<u32>> {
        let (graph, k) = (task.graph, task.k);
        let mut parts = Spectral.parts(task, ctx)?;
        let degree: Vec<f64> =
            (0..graph.len()).map(|v| graph.edges(v).map(|(_, w)| f64::from(w)).sum()).collect();
        let mut state = State::new(graph, &mut parts, k);
        // Ends of edges inside each part, and in all.
        let (mut inside, mut volume) = (vec![0.0; k], vec![0.0; k]);
        for v in 0..graph.len() {
            let p = state.parts[v] as usize;
            inside[p] += f64::from(state.towards(v)[p]);
            volume[p] += degree[v];
        }
        // The cut of a part over its volume is 1 − inside/volume; an empty part counts 1.
        let kept = |inside: f64, volume: f64| if volume > 0.0 { inside / volume } else { 0.0 };
        for _ in 0..SWEEPS {
            ctx.check()?;
            let mut moved = false;
            for v in 0..graph.len() {
                let from = state.parts[v] as usize;
                if state.members[from] <= 1 || degree[v] == 0.0 {
                    continue;
                }
                let own = f64::from(state.towards(v)[from]);
                let leave = kept(inside[from] - 2.0 * own, volume[from] - degree[v])
                    - kept(inside[from], volume[from]);
                let mut best: Option<(f64, usize)> = None;
                for p in (0..k).filter(|&p| p != from) {
                    let to = f64::from(state.towards(v)[p]);
                    let join = kept(inside[p] + 2.0 * to, volume[p] + degree[v])
                        - kept(inside[p], volume[p]);
                    let gain = leave + join;
                    if gain > best.map_or(1e-12, |(g, _)| g)
                        && !is_forbidden(task.apart, state.parts, v, p)
                    {
                        best = Some((gain, p));
                    }
                }
                if let Some((_, p)) = best {
                    inside[from] -= 2.0 * own;
                    volume[from] -= degree[v];
                    inside[p] += 2.0 * f64::from(state.towards(v)[p]);
                    volume[p] += degree[v];
                    state.move_to(v, p);
                    moved = true;
                }
            }
            if !moved {
                break;
            }
        }
        Ok(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::CutGraph;
    use crate::graph::tests::random;
    use proptest::prelude::*;

    fn normalised_cut(graph: &CutGraph, parts: &[u32], k: usize) -> f64 {
        let (mut cut, mut volume) = (vec![0.0; k], vec![0.0; k]);
        for v in 0..graph.len() {
            for (u, w) in graph.edges(v) {
                volume[parts[v] as usize] += f64::from(w);
                cut[parts[v] as usize] += if parts[u] == parts[v] { 0.0 } else { f64::from(w) };
            }
        }
        cut.iter().zip(&volume).map(|(c, v)| if *v > 0.0 { c / v } else { 1.0 }).sum()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn the_normalised_cut_falls_to_where_no_single_move_lowers_it(seed: u64, k in 2usize..4) {
            let graph = random(16, 0.4, seed);
            let ctx = Context::new(seed);
            let task = Task::new(&graph, k);
            let start = Spectral.parts(&task, &ctx).unwrap();
            let end = GreedyNcut.parts(&task, &ctx).unwrap();
            let value = normalised_cut(&graph, &end, k);
            prop_assert!(value <= normalised_cut(&graph, &start, k) + 1e-9);
            for v in 0..graph.len() {
                for p in 0..k as u32 {
                    let mut other = end.clone();
                    other[v] = p;
                    let alone = end.iter().filter(|&&q| q == end[v]).count() == 1;
                    prop_assert!(alone || normalised_cut(&graph, &other, k) >= value - 1e-9);
                }
            }
        }
    }
}
