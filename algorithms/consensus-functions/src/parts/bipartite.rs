//! Joint cuts of objects and their clusters.

use mustlink_core::prelude::*;
use mustlink_partitioners::{CutGraph, GraphBuilder, Partition};
use ndarray::Array2;

use crate::parts::canonical_ensemble::CanonicalEnsemble;
use crate::parts::cutting::{Cutting, Units, clustering};

/// Objects on one side, the clusters of all members on the other, cut into parts together.
pub(crate) struct Cut {
    /// Resulting clustering.
    pub clustering: Clustering,
    /// Part of each cluster of all members; [`NONE`] where a part holds no object.
    pub clusters: Vec<u32>,
}

/// The graph of the units of objects and all clusters. `fill(i, row)` adds the clusters of object i
/// with the weights of their edges.
pub(crate) fn graph(
    view: &CanonicalEnsemble,
    units: &Units,
    cluster_vertex_weight: u32,
    scale: f64,
    fill: impl Fn(usize, &mut Vec<(u32, f64)>),
) -> Result<CutGraph> {
    let (m, columns) = (units.len(), view.clusters());
    let builder = GraphBuilder::bipartite(m, columns, |u, row| {
        fill(units.first[u] as usize, row);
        let size = f64::from(units.sizes[u]);
        row.iter_mut().for_each(|(_, w)| *w *= size);
    });
    let mut sizes = units.sizes.clone();
    sizes.resize(m + columns, cluster_vertex_weight);
    Ok(builder.build(sizes, scale)?.with_first_side(m))
}

/// Cuts that graph; objects may `follow` their clusters in the end. Memberships are the shares of an object's edges
/// that lead into each part.
pub(crate) fn cut(
    view: &CanonicalEnsemble,
    units: &Units,
    cutting: &Cutting,
    cluster_vertex_weight: u32,
    follow: bool,
    fill: impl Fn(usize, &mut Vec<(u32, f64)>) + Sync,
    ctx: &Context,
) -> Result<Cut> {
    let graph = graph(view, units, cluster_vertex_weight, cutting.weight_scale, &fill)?;
    ctx.check()?;
    let (parts, partition) = cutting.cut(&graph, units, view.k, follow, ctx)?;
    Ok(outcome(view, units, &parts, &partition, fill))
}

/// Result for the `parts` of the units and of all clusters.
pub(crate) fn outcome(
    view: &CanonicalEnsemble,
    units: &Units,
    parts: &[u32],
    partition: &Partition,
    fill: impl Fn(usize, &mut Vec<(u32, f64)>) + Sync,
) -> Cut {
    let k = view.k;
    let clusters = &parts[units.len()..];
    let mut memberships = Array2::zeros((view.n, k));
    let mut rows = vec![0.0; units.len() * k];
    reduce::rows(&mut rows, k, |u, share| {
        let mut row = Vec::new();
        fill(units.first[u] as usize, &mut row);
        row.iter().for_each(|&(c, w)| share[clusters[c as usize] as usize] += w);
        let total: f64 = share.iter().sum();
        if total > 0.0 {
            share.iter_mut().for_each(|s| *s /= total);
        } else {
            share[parts[u] as usize] = 1.0;
        }
    });
    for (mut to, &u) in memberships.rows_mut().into_iter().zip(&units.of) {
        let row = &rows[u as usize * k..][..k];
        to.iter_mut().zip(row).for_each(|(t, s)| *t = *s);
    }
    let extras = Extras { memberships: Some(memberships), ..Extras::default() };
    let clustering = clustering(units, parts, partition, k, extras);
    // Parts are renamed as labels are.
    let mut name = vec![NONE; k];
    for (&u, &l) in units.of.iter().zip(&clustering.labels) {
        name[parts[u as usize] as usize] = l;
    }
    let clusters = clusters.iter().map(|&p| name[p as usize]).collect();
    Cut { clustering, clusters }
}

/// Bytes of the graph of `rows` vertices of degree `degree` on one side, and of cutting it.
pub(crate) fn memory(cutting: &Cutting, shape: &Shape, degree: usize, columns: usize) -> u64 {
    let directions = 2 * shape.n * degree;
    let vertices = shape.n + columns;
    let graph = (8 * directions + 16 * vertices) as u64;
    graph
        + cutting.partitioner.memory(vertices, directions, shape.k)
        + (8 * shape.n * shape.k) as u64
}

/// Operations of cutting it.
pub(crate) fn operations(cutting: &Cutting, shape: &Shape, degree: usize, columns: usize) -> f64 {
    let directions = 2 * shape.n * degree;
    cutting.partitioner.operations(shape.n + columns, directions, shape.k, cutting.trials)
}
