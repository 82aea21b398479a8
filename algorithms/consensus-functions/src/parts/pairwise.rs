//! Cuts of a table of similarities between all pairs.

use mustlink_core::prelude::*;
use mustlink_partitioners::GraphBuilder;

use crate::parts::canonical_ensemble::CanonicalEnsemble;
use crate::parts::cutting::{Cutting, Units, clustering};
use crate::parts::weights::Weights;

/// Rows of the table that are held before they go into the graph.
const BATCH: usize = 64;

/// A function for more objects than a table of pairs can hold: the best ones in `benches/consensus_sizes.py`.
/// `mcla` can lose small groups next to a large one, and `voting` keeps them.
pub(crate) const INSTEAD: &str = "consensus = \"voting\" if every partition has k clusters, otherwise \"mcla\" \
                                  (\"hbgf\" with constraints)";

/// Refuses what would need a table beyond the limit, and names what does without one.
///
/// # Errors
/// `BadParam`.
pub(crate) fn limit(n: usize, max_n: usize, instead: &str) -> Result<()> {
    if n > max_n {
        let legal = format!("at least {n} for {n} objects (a table of all pairs), or {instead}");
        return Err(Error::bad_param("max_n", max_n, legal));
    }
    Ok(())
}

/// Cuts the complete graph of the units. `row(u)` gives the similarity of an object of unit u to one
/// of every unit; pairs without similarity have no edge.
pub(crate) fn cut(
    view: &CanonicalEnsemble,
    units: &Units,
    cutting: &Cutting,
    row: impl Fn(usize) -> Vec<f64> + Sync,
    ctx: &Context,
) -> Result<Clustering> {
    let m = units.len();
    let mut builder = GraphBuilder::with_capacity(m, m * m.saturating_sub(1));
    for from in (0..m).step_by(BATCH) {
        ctx.check()?;
        let batch: Vec<Vec<f64>> = reduce::map(BATCH.min(m - from), |at| row(from + at));
        for (at, similarities) in batch.into_iter().enumerate() {
            let u = from + at;
            let size = f64::from(units.sizes[u]);
            for (v, s) in similarities.into_iter().enumerate().filter(|(v, _)| *v != u) {
                builder.edge(v as u32, s * size * f64::from(units.sizes[v]));
            }
            builder.end_vertex();
        }
    }
    let graph = builder.build(units.sizes.clone(), cutting.weight_scale)?;
    let (parts, partition) = cutting.cut(&graph, units, view.k, false, ctx)?;
    Ok(clustering(units, &parts, &partition, view.k, Extras::default()))
}

/// Operations of comparing the labels of all pairs of objects: many at once where members count the same.
pub(crate) fn label_pairs(n: usize, members: usize, weights: &Weights) -> f64 {
    let each = if *weights == Weights::default() { 0.3 } else { 4.0 };
    each * members as f64 * (n as f64).powi(2)
}

/// Bytes of that graph over `n` objects, and of cutting it.
pub(crate) fn memory(cutting: &Cutting, shape: &Shape) -> u64 {
    let directions = shape.n * shape.n.saturating_sub(1);
    let graph = 8 * directions as u64;
    graph + cutting.partitioner.memory(shape.n, directions, shape.k)
}

/// Operations of cutting it.
pub(crate) fn operations(cutting: &Cutting, shape: &Shape) -> f64 {
    let directions = shape.n.saturating_mul(shape.n.saturating_sub(1));
    cutting.partitioner.operations(shape.n, directions, shape.k, cutting.trials)
}
