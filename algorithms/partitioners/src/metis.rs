//! The METIS library behind our face.

use std::sync::Mutex;

use ::metis::option::{NCuts, NIter, Seed, UFactor};
use ::metis::{Graph as MetisGraph, Idx};
use mustlink_core::{Context, Error, Result};
use pulp::bytemuck::cast_slice;

use crate::multilevel::Multilevel;
use crate::task::{Partitioner, Task};

/// The METIS library [KarypisKumar1998].
pub(crate) struct Metis;

/// METIS draws from the C library's global generator: one call at a time, or the same seed gives
/// different parts.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Up to so many parts METIS' manual advises recursive bisection. On graphs of many almost equal weights
/// that leaves parts up to 15 % above the best cut and without a cluster, and k-way partitioning may
/// give a single part: starts take turns, and the balanced cut of least weight is kept.
const BISECT_UP_TO: usize = 8;

/// METIS leaves parts empty, or worse, when a part has only a few vertices.
const VERTICES_PER_PART: usize = 5;

impl Partitioner for Metis {
    fn parts(&self, task: &Task, ctx: &Context) -> Result<Vec<u32>> {
        let (graph, k) = (task.graph, task.k);
        if graph.len() < VERTICES_PER_PART * k || graph.directions() == 0 {
            let few = format!("fewer than {VERTICES_PER_PART} vertices for a part or no edge");
            ctx.warn(format!("{few}: the multilevel partitioner is used instead of METIS"));
            return Multilevel.parts(task, ctx);
        }
        let index = |x: usize| Idx::try_from(x).ok();
        let offsets: Option<Vec<Idx>> = graph.offsets().iter().map(|&o| index(o)).collect();
        let offsets = offsets.ok_or_else(|| {
            let legal = "at most 2^31 - 1 ends of edges; partitioner = \"multilevel\" takes more";
            Error::bad_param("partitioner", "metis", legal)
        })?;
        let [neighbours, sizes, weights]: [&[Idx]; 3] =
            [graph.neighbours(), graph.sizes(), graph.weights()].map(cast_slice);
        let bounds = task.bounds();
        let shares: Vec<f32> = task.cut().shares().into_iter().map(|s| s as f32).collect();
        let mut stream = ctx.stream("metis");
        let mut best: Option<((u64, u64), Vec<u32>)> = None;
        for at in 0..task.starts() {
            ctx.check()?;
            let seed = stream.below(1 << 30) as Idx;
            let mut parts: Vec<Idx> = vec![0; graph.len()];
            let fail = |e: &dyn std::fmt::Display| Error::NumericalFailure {
                place: format!("METIS ({e})"),
            };
            {
                let _one = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
                // Thousandths; 1 is the least METIS takes.
                let factor = ((task.imbalance * 1000.0).round() as Idx).max(1);
                let call = MetisGraph::new(1, k as Idx, &offsets, neighbours)
                    .map_err(|e| fail(&e))?
                    .set_vwgt(sizes)
                    .set_adjwgt(weights)
                    .set_option(Seed(seed))
                    .set_option(UFactor(factor))
                    .set_option(NIter(10))
                    .set_option(NCuts(1));
                let call = if task.guide.is_some() { call.set_tpwgts(&shares) } else { call };
                let done = if k <= BISECT_UP_TO && at % 2 == 0 {
                    call.part_recursive(&mut parts)
                } else {
                    call.part_kway(&mut parts)
                };
                done.map_err(|e| fail(&e))?;
            }
            let parts: Vec<u32> = parts.into_iter().map(|p| p as u32).collect();
            let excess = bounds.excess(&graph.part_sizes(&parts, k));
            let value = (excess, graph.cut(&parts));
            if best.as_ref().is_none_or(|(least, _)| value < *least) {
                best = Some((value, parts));
            }
        }
        Ok(best.expect("at least one start").1)
    }
}
