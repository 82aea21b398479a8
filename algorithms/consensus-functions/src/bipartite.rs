//! How are objects and the clusters they are in cut together?

use mustlink_core::prelude::*;
use mustlink_partitioners::{CutGraph, GraphBuilder};
use ndarray::Array2;
use rayon::prelude::*;

use crate::cutting::{Cutting, Units, clustering};
use crate::members::CanonicalEnsemble;

/// Objects on one side, the clusters of all members on the other, cut into parts together.
pub(crate) struct Cut {
    /// What comes of it.
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

/// Cuts that graph. Memberships are the shares of an object's edges that lead into each part.
pub(crate) fn cut(
    view: &CanonicalEnsemble,
    units: &Units,
    cutting: &Cutting,
    cluster_vertex_weight: u32,
    fill: impl Fn(usize, &mut Vec<(u32, f64)>) + Sync,
    ctx: &Context,
) -> Result<Cut> {
    let k = view.k;
    let graph = graph(view, units, cluster_vertex_weight, cutting.weight_scale, &fill)?;
    ctx.check()?;
    let (parts, partition) = cutting.cut(&graph, units, k, ctx)?;
    let clusters = &parts[units.len()..];
    let mut memberships = Array2::zeros((view.n, k));
    let rows: Vec<Vec<f64>> = (0..units.len())
        .into_par_iter()
        .map(|u| {
            let mut row = Vec::new();
            fill(units.first[u] as usize, &mut row);
            let mut share = vec![0.0; k];
            row.iter().for_each(|&(c, w)| share[clusters[c as usize] as usize] += w);
            let total: f64 = share.iter().sum();
            if total > 0.0 {
                share.iter_mut().for_each(|s| *s /= total);
            } else {
                share[parts[u] as usize] = 1.0;
            }
            share
        })
        .collect();
    for (mut to, &u) in memberships.rows_mut().into_iter().zip(&units.of) {
        to.iter_mut().zip(&rows[u as usize]).for_each(|(t, s)| *t = *s);
    }
    let extras = Extras { memberships: Some(memberships), ..Extras::default() };
    let clustering = clustering(units, &parts, &partition, k, extras);
    // Parts are renamed as labels are.
    let mut name = vec![NONE; k];
    for (&u, &l) in units.of.iter().zip(&clustering.labels) {
        name[parts[u as usize] as usize] = l;
    }
    let clusters = clusters.iter().map(|&p| name[p as usize]).collect();
    Ok(Cut { clustering, clusters })
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
