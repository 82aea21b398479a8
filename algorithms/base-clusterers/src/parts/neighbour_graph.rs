//! The graph of near neighbours.

use mustlink_core::prelude::*;
use mustlink_kernels::distance::points::{Distortion, Points};
use mustlink_kernels::graph::adjacency::Graph;
use mustlink_kernels::graph::knn::Neighbours;

/// The graph of given affinities; otherwise each object and its `knn` nearest, with locally scaled weights.
///
/// # Errors
/// `BadParam` for a negative affinity; the errors of [`Points::new`]; `Cancelled`, `TimedOut`.
pub(crate) fn neighbour_graph(
    data: &Data,
    distortion: AutoOr<Distortion>,
    knn: usize,
    scale: f64,
    ctx: &Context,
) -> Result<Graph> {
    let neighbours = match data.kind() {
        DataKind::Affinity => return Graph::from_affinity(data),
        DataKind::Distances => Neighbours::among(data, knn, ctx)?,
        _ => Neighbours::search(&Points::new(data, distortion)?, knn, ctx)?,
    };
    Ok(neighbours.local_graph(data.n(), scale))
}
