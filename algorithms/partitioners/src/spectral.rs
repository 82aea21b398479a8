//! Spectral coordinates: the slowest-mixing directions of a random walk on the graph.
//!
//! The leading eigenvectors of D^(−1/2) A D^(−1/2) relax the normalised cut. For a bipartite graph
//! they are the singular vectors of its normalised table, rows and columns stacked.

use mustlink_core::prelude::{Data, Problem};
use mustlink_core::{Context, Result, reduce};
use mustlink_kernels::distance::points::{Distortion, Points};
use mustlink_kernels::graph::eigen::Eigen;
use mustlink_kernels::graph::krylov::{leading, leading_dense, normalise};
use mustlink_kernels::kmeans::lloyd::{Empty, Stop, ToleranceKind, best_of, lloyd};
use mustlink_kernels::kmeans::seeding::{Init, start};
use ndarray::Array2;

use crate::graph::CutGraph;
use crate::task::{Partitioner, Task};

/// Co-clustering by eigenvectors [Dhillon2001].
pub(crate) struct Spectral;

/// Up to so many vertices all eigenvectors are computed.
const DENSE_UP_TO: usize = 256;
/// Starts of k-means.
const RESTARTS: usize = 10;

impl Partitioner for Spectral {
    fn parts(&self, task: &Task, ctx: &Context) -> Result<Vec<u32>> {
        let (graph, k) = (task.graph, task.k);
        let embedding = embed(graph, k - 1, ctx)?;
        let mut rows = embedding.vectors;
        for (mut row, scale) in rows.rows_mut().into_iter().zip(inverse_root_degrees(graph)) {
            row.mapv_inplace(|x| x * scale);
        }
        let data = Data::dense(rows)?;
        let points = Points::new(&data, Distortion::SquaredEuclidean)?;
        let problem = Problem::new(data);
        // Entries are of the order 1/√volume: an absolute tolerance would stop at once.
        let stop = Stop::new(300, 0.0, ToleranceKind::Absolute);
        let best = best_of(RESTARTS, |r| {
            let ctx = ctx.child("spectral").index(r);
            let centres = start(&points, k, Init::KmeansPlusPlus, &problem, &ctx)?;
            lloyd(&points, centres, stop, Empty::Reseed, &ctx)
        })?;
        Ok(best.labels)
    }
}

fn degree_of(graph: &CutGraph, v: usize) -> f64 {
    graph.edges(v).map(|(_, w)| f64::from(w)).sum()
}

fn is_isolated(graph: &CutGraph, v: usize) -> bool {
    graph.edges(v).next().is_none()
}

/// One over the root of each degree. A vertex without edges has one to itself, of the mean degree of the
/// others: so it is a part that nothing leaves, as any other.
fn inverse_root_degrees(graph: &CutGraph) -> Vec<f64> {
    let degrees: Vec<f64> = (0..graph.len()).map(|v| degree_of(graph, v)).collect();
    let with_edges = degrees.iter().filter(|d| **d > 0.0).count();
    let mean = if with_edges > 0 { degrees.iter().sum::<f64>() / with_edges as f64 } else { 1.0 };
    degrees.into_iter().map(|d| 1.0 / if d > 0.0 { d } else { mean }.sqrt()).collect()
}

/// The `count` leading eigenvectors of the normalised graph after the constant one (of eigenvalue 1), by
/// descending eigenvalue.
///
/// # Errors
/// `NumericalFailure`; cancellation.
pub fn embed(graph: &CutGraph, count: usize, ctx: &Context) -> Result<Eigen> {
    let n = graph.len();
    let count = count.min(n - 1);
    let scale = inverse_root_degrees(graph);
    // The walk's own eigenvector, to eigenvalue 1: roots of the degrees.
    let mut trivial: Vec<f64> = scale.iter().map(|&s| 1.0 / s).collect();
    normalise(&mut trivial);
    if n <= DENSE_UP_TO {
        return dense(graph, &scale, &trivial, count, ctx);
    }
    let apply = |block: &[Vec<f64>]| apply(graph, &scale, block);
    leading(&trivial, count, apply, &mut ctx.stream("eigenvectors"), ctx)
}

fn dense(
    graph: &CutGraph,
    scale: &[f64],
    trivial: &[f64],
    count: usize,
    ctx: &Context,
) -> Result<Eigen> {
    let n = graph.len();
    // The constant walk moves from eigenvalue 1 to −2, out of the way.
    let mut matrix = Array2::from_shape_fn((n, n), |(i, j)| -3.0 * trivial[i] * trivial[j]);
    for v in 0..n {
        for (u, w) in graph.edges(v) {
            matrix[[v, u]] += scale[v] * f64::from(w) * scale[u];
        }
        if is_isolated(graph, v) {
            matrix[[v, v]] += 1.0;
        }
    }
    leading_dense(matrix, count, ctx)
}

/// The normalised graph times several vectors at once.
fn apply(graph: &CutGraph, scale: &[f64], block: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let (n, b) = (graph.len(), block.len());
    let mut rows = vec![0.0; n * b];
    reduce::rows(&mut rows, b, |v, row| {
        row.iter_mut().zip(block).for_each(|(r, x)| *r = x[v] * scale[v]);
    });
    let mut out = vec![0.0; n * b];
    reduce::rows(&mut out, b, |v, out| {
        for (u, w) in graph.edges(v) {
            let w = f64::from(w);
            out.iter_mut().zip(&rows[u * b..(u + 1) * b]).for_each(|(o, r)| *o += w * r);
        }
        out.iter_mut().for_each(|o| *o *= scale[v]);
        if is_isolated(graph, v) {
            out.iter_mut().zip(block).for_each(|(o, x)| *o += x[v]);
        }
    });
    reduce::map(b, |c| (0..n).map(|v| out[v * b + c]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::tests::random;

    #[test]
    fn krylov_finds_what_all_eigenvectors_are() {
        let graph = random(120, 0.1, 3);
        let scale = inverse_root_degrees(&graph);
        let mut trivial: Vec<f64> = scale.iter().map(|&s| 1.0 / s).collect();
        normalise(&mut trivial);
        let ctx = Context::new(1);
        let all = dense(&graph, &scale, &trivial, 5, &ctx).unwrap();
        let by = |block: &[Vec<f64>]| apply(&graph, &scale, block);
        let some = leading(&trivial, 5, by, &mut ctx.stream("eigenvectors"), &ctx).unwrap();
        for c in 0..5 {
            assert!((all.values[c] - some.values[c]).abs() < 1e-9);
            let (a, b) = (all.vectors.column(c), some.vectors.column(c));
            assert!((a.dot(&b).abs() - 1.0).abs() < 1e-6, "vector {c}");
        }
    }

    #[test]
    fn eigenvectors_of_small_graphs_are_ones() {
        let ctx = Context::new(1);
        for seed in 0..2000 {
            let graph = random(10, 0.25, seed);
            let scale = inverse_root_degrees(&graph);
            let all = embed(&graph, 9, &ctx).unwrap();
            for (vector, value) in all.vectors.columns().into_iter().zip(&all.values) {
                let image = &apply(&graph, &scale, &[vector.to_vec()])[0];
                let off = image.iter().zip(vector).map(|(i, v)| (i - value * v).abs());
                let off = off.fold(0.0, f64::max);
                assert!(off < 1e-7, "seed {seed}: {value} is off by {off}");
            }
        }
    }

    #[test]
    fn vertices_without_edges_are_parts_of_their_own() {
        // Vertices 2 and 3 alone are joined.
        let graph =
            CutGraph::new(vec![0, 0, 0, 1, 2, 2], vec![3, 2], vec![7; 2], vec![1; 5]).unwrap();
        let labels = Spectral.parts(&Task::new(&graph, 4), &Context::new(1)).unwrap();
        assert_eq!(labels[2], labels[3]);
        let mut parts = labels.clone();
        parts.sort_unstable();
        parts.dedup();
        assert_eq!(parts.len(), 4, "{labels:?}");
        // Both ways to the eigenvectors see the same.
        let scale = inverse_root_degrees(&graph);
        let mut trivial: Vec<f64> = scale.iter().map(|&s| 1.0 / s).collect();
        normalise(&mut trivial);
        let image = apply(&graph, &scale, &[trivial.clone()]);
        assert!(image[0].iter().zip(&trivial).all(|(a, b)| (a - b).abs() < 1e-12), "{image:?}");
    }

    #[test]
    fn separate_parts_of_a_graph_are_eigenvalues_of_one() {
        // Three triangles.
        let neighbours: Vec<u32> = (0..9u32)
            .flat_map(|v| (0..3).map(move |o| v / 3 * 3 + o).filter(move |&u| u != v))
            .collect();
        let graph =
            CutGraph::new((0..=9).map(|v| 2 * v).collect(), neighbours, vec![1; 18], vec![1; 9])
                .unwrap();
        let e = embed(&graph, 3, &Context::new(1)).unwrap();
        assert!((e.values[0] - 1.0).abs() < 1e-12 && (e.values[1] - 1.0).abs() < 1e-12);
        assert!((e.values[2] + 0.5).abs() < 1e-12);
        let parts = Spectral.parts(&Task::new(&graph, 3), &Context::new(1)).unwrap();
        assert_eq!(mustlink_core::clustering::canonical(&parts), [0, 0, 0, 1, 1, 1, 2, 2, 2]);
    }
}
