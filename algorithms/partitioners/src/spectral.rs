//! Where do the slowest-mixing directions of a random walk on the graph put its vertices?
//!
//! The leading eigenvectors of D^(−1/2) A D^(−1/2) relax the normalised cut. For a bipartite graph
//! they are the singular vectors of its normalised table, rows and columns stacked.

use mustlink_core::prelude::{Data, Problem};
use mustlink_core::{Context, Result};
use mustlink_kernels::distance::points::{Distortion, Points};
use mustlink_kernels::graph::eigen::Eigen;
use mustlink_kernels::graph::krylov::{leading, leading_dense, normalise};
use mustlink_kernels::kmeans::lloyd::{Empty, Stop, ToleranceKind, best_of, lloyd};
use mustlink_kernels::kmeans::seeding::{Init, start};
use ndarray::Array2;
use rayon::prelude::*;

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
        for (v, mut row) in rows.rows_mut().into_iter().enumerate() {
            let scale = inverse_root_degree(graph, v);
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

fn inverse_root_degree(graph: &CutGraph, v: usize) -> f64 {
    let degree = degree_of(graph, v);
    if degree > 0.0 { 1.0 / degree.sqrt() } else { 0.0 }
}

/// The `count` leading eigenvectors of the normalised graph after the constant one (of eigenvalue 1), by
/// descending eigenvalue.
///
/// # Errors
/// `NumericalFailure`; cancellation.
pub fn embed(graph: &CutGraph, count: usize, ctx: &Context) -> Result<Eigen> {
    let n = graph.len();
    let count = count.min(n - 1);
    let scale: Vec<f64> = (0..n).map(|v| inverse_root_degree(graph, v)).collect();
    // The walk's own eigenvector, to eigenvalue 1: roots of the degrees.
    let mut trivial: Vec<f64> =
        scale.iter().map(|&s| if s > 0.0 { 1.0 / s } else { 0.0 }).collect();
    normalise(&mut trivial);
    if n <= DENSE_UP_TO {
        return dense(graph, &scale, &trivial, count);
    }
    let apply = |block: &[Vec<f64>]| apply(graph, &scale, block);
    leading(&trivial, count, apply, &mut ctx.stream("eigenvectors"), ctx)
}

fn dense(graph: &CutGraph, scale: &[f64], trivial: &[f64], count: usize) -> Result<Eigen> {
    let n = graph.len();
    // The constant walk moves from eigenvalue 1 to −2, out of the way.
    let mut matrix = Array2::from_shape_fn((n, n), |(i, j)| -3.0 * trivial[i] * trivial[j]);
    for v in 0..n {
        for (u, w) in graph.edges(v) {
            matrix[[v, u]] += scale[v] * f64::from(w) * scale[u];
        }
    }
    leading_dense(&matrix, count)
}

/// The normalised graph times several vectors at once.
fn apply(graph: &CutGraph, scale: &[f64], block: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let (n, b) = (graph.len(), block.len());
    let mut rows = vec![0.0; n * b];
    rows.par_chunks_mut(b).enumerate().for_each(|(v, row)| {
        row.iter_mut().zip(block).for_each(|(r, x)| *r = x[v] * scale[v]);
    });
    let mut out = vec![0.0; n * b];
    out.par_chunks_mut(b).enumerate().for_each(|(v, out)| {
        for (u, w) in graph.edges(v) {
            let w = f64::from(w);
            out.iter_mut().zip(&rows[u * b..(u + 1) * b]).for_each(|(o, r)| *o += w * r);
        }
        out.iter_mut().for_each(|o| *o *= scale[v]);
    });
    (0..b).into_par_iter().map(|c| (0..n).map(|v| out[v * b + c]).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::tests::random;

    #[test]
    fn krylov_finds_what_all_eigenvectors_are() {
        let graph = random(120, 0.1, 3);
        let scale: Vec<f64> = (0..120).map(|v| inverse_root_degree(&graph, v)).collect();
        let mut trivial: Vec<f64> =
            scale.iter().map(|&s| if s > 0.0 { 1.0 / s } else { 0.0 }).collect();
        normalise(&mut trivial);
        let all = dense(&graph, &scale, &trivial, 5).unwrap();
        let ctx = Context::new(1);
        let by = |block: &[Vec<f64>]| apply(&graph, &scale, block);
        let some = leading(&trivial, 5, by, &mut ctx.stream("eigenvectors"), &ctx).unwrap();
        for c in 0..5 {
            assert!((all.values[c] - some.values[c]).abs() < 1e-9);
            let (a, b) = (all.vectors.column(c), some.vectors.column(c));
            assert!((a.dot(&b).abs() - 1.0).abs() < 1e-6, "vector {c}");
        }
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
