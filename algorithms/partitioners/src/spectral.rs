//! Where do the slowest-mixing directions of a random walk on the graph put its vertices?
//!
//! The leading eigenvectors of D^(−1/2) A D^(−1/2) relax the normalised cut. For a bipartite graph
//! they are the singular vectors of its normalised table, rows and columns stacked.

use linfa_linalg::eigh::Eigh;
use mustlink_core::prelude::{Data, Problem};
use mustlink_core::random::Stream;
use mustlink_core::{Context, Error, Result, reduce};
use mustlink_kernels::lloyd::{Empty, Stop, ToleranceKind, best_of, lloyd};
use mustlink_kernels::points::{Distortion, Points};
use mustlink_kernels::seeding::{Init, start};
use ndarray::{Array2, Axis};
use rayon::prelude::*;

use crate::engine::{Partitioner, Task};
use crate::graph::Graph;

/// Co-clustering by eigenvectors [Dhillon2001].
pub(crate) struct Spectral;

/// Up to so many vertices all eigenvectors are computed.
const DENSE_UP_TO: usize = 256;
/// Vectors beyond those wanted, which make the wanted ones converge.
const SPARE: usize = 4;
/// Applications of the graph in one round.
const STEPS: usize = 9;
/// Rounds at most.
const ROUNDS: usize = 8;
/// Residual at which a vector is good enough to tell clusters apart.
const RESIDUAL: f64 = 1e-6;
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
        let stop = Stop::new(300, 0.0, ToleranceKind::Absolute)?;
        let best = best_of(RESTARTS, |r| {
            let ctx = ctx.child("spectral").index(r);
            let centres = start(&points, k, Init::KmeansPlusPlus, &problem, &ctx)?;
            lloyd(&points, centres, stop, Empty::Reseed, &ctx)
        })?;
        Ok(best.labels)
    }
}

/// Leading eigenvectors of a graph.
#[derive(Debug, Clone)]
pub struct Embedding {
    /// Eigenvalues in descending order, the first (1, with the constant walk) left out.
    pub values: Vec<f64>,
    /// Their vectors as columns, of unit length.
    pub vectors: Array2<f64>,
}

fn degree_of(graph: &Graph, v: usize) -> f64 {
    graph.edges(v).map(|(_, w)| f64::from(w)).sum()
}

fn inverse_root_degree(graph: &Graph, v: usize) -> f64 {
    let degree = degree_of(graph, v);
    if degree > 0.0 { 1.0 / degree.sqrt() } else { 0.0 }
}

/// The `count` leading eigenvectors of the normalised graph after the constant one.
///
/// # Errors
/// `NumericalFailure`; cancellation.
pub fn embed(graph: &Graph, count: usize, ctx: &Context) -> Result<Embedding> {
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
    krylov(graph, &scale, &trivial, count, ctx)
}

fn failure(e: impl std::fmt::Display) -> Error {
    Error::NumericalFailure { place: format!("the eigenvectors of the graph: {e}") }
}

/// Eigenpairs of a symmetric matrix, eigenvalues in descending order.
fn eigen(matrix: &Array2<f64>) -> Result<(Vec<f64>, Array2<f64>)> {
    let (values, vectors) = matrix.eigh().map_err(failure)?;
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    Ok((order.iter().map(|&i| values[i]).collect(), vectors.select(Axis(1), &order)))
}

fn dense(graph: &Graph, scale: &[f64], trivial: &[f64], count: usize) -> Result<Embedding> {
    let n = graph.len();
    // The constant walk moves from eigenvalue 1 to −2, out of the way.
    let mut matrix = Array2::from_shape_fn((n, n), |(i, j)| -3.0 * trivial[i] * trivial[j]);
    for v in 0..n {
        for (u, w) in graph.edges(v) {
            matrix[[v, u]] += scale[v] * f64::from(w) * scale[u];
        }
    }
    let (values, vectors) = eigen(&matrix)?;
    let kept: Vec<usize> = (0..count).collect();
    let mut vectors = vectors.select(Axis(1), &kept);
    fix_signs(&mut vectors);
    Ok(Embedding { values: values[..count].to_vec(), vectors })
}

/// Each column gets its largest entry positive.
fn fix_signs(vectors: &mut Array2<f64>) {
    for mut v in vectors.axis_iter_mut(Axis(1)) {
        let largest = v.iter().fold(0.0f64, |m, &x| if x.abs() > m.abs() { x } else { m });
        if largest < 0.0 {
            v.mapv_inplace(|x| -x);
        }
    }
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    reduce::reduce(
        x.len(),
        |r| {
            let mut lanes = [0.0f64; 4];
            let (a, b) = (&x[r.clone()], &y[r]);
            let (xs, ys) = (a.chunks_exact(4), b.chunks_exact(4));
            let (rx, ry) = (xs.remainder(), ys.remainder());
            for (p, q) in xs.zip(ys) {
                for l in 0..4 {
                    lanes[l] += p[l] * q[l];
                }
            }
            rx.iter().zip(ry).for_each(|(p, q)| lanes[0] += p * q);
            (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
        },
        |a, b| a + b,
    )
    .unwrap_or(0.0)
}

fn normalise(x: &mut [f64]) -> bool {
    let norm = dot(x, x).sqrt();
    if norm > 1e-12 {
        x.iter_mut().for_each(|v| *v /= norm);
    }
    norm > 1e-12
}

/// x − q⟨q, x⟩ for every q, twice, then to unit length; false when nothing is left.
fn orthogonalise(x: &mut [f64], trivial: &[f64], basis: &[Vec<f64>]) -> bool {
    if !normalise(x) {
        return false;
    }
    for _ in 0..2 {
        for q in std::iter::once(trivial).chain(basis.iter().map(Vec::as_slice)) {
            let along = dot(q, x);
            x.iter_mut().zip(q).for_each(|(v, q)| *v -= along * q);
        }
    }
    // A remainder far below unit length is rounding, not a new direction.
    let norm = dot(x, x).sqrt();
    norm > 1e-9 && normalise(x)
}

/// The normalised graph times several vectors at once.
fn apply(graph: &Graph, scale: &[f64], block: &[Vec<f64>]) -> Vec<Vec<f64>> {
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

/// Block Krylov spaces with restarts.
fn krylov(
    graph: &Graph,
    scale: &[f64],
    trivial: &[f64],
    count: usize,
    ctx: &Context,
) -> Result<Embedding> {
    let n = graph.len();
    let width = (count + SPARE).min(n - 1);
    let mut stream: Stream = ctx.stream("eigenvectors");
    let mut block: Vec<Vec<f64>> =
        (0..width).map(|_| (0..n).map(|_| stream.normal()).collect()).collect();
    let mut values = vec![0.0; count];
    for round in 0..ROUNDS {
        ctx.check()?;
        let mut basis: Vec<Vec<f64>> = Vec::new();
        let mut images: Vec<Vec<f64>> = Vec::new();
        for _ in 0..=STEPS {
            let from = basis.len();
            for mut x in block {
                if basis.len() < n - 1 && orthogonalise(&mut x, trivial, &basis) {
                    basis.push(x);
                }
            }
            if basis.len() == from {
                break;
            }
            let image = apply(graph, scale, &basis[from..]);
            block = image.clone();
            images.extend(image);
        }
        let m = basis.len();
        let pairs: Vec<(usize, usize)> =
            (0..m).flat_map(|i| (0..=i).map(move |j| (i, j))).collect();
        let products: Vec<f64> =
            pairs.par_iter().map(|&(i, j)| dot(&basis[i], &images[j])).collect();
        let mut small = Array2::zeros((m, m));
        for (&(i, j), p) in pairs.iter().zip(products) {
            small[[i, j]] = p;
            small[[j, i]] = p;
        }
        let (ritz, coefficients) = eigen(&small)?;
        let combine = |from: &[Vec<f64>], c: usize| {
            let mut out = vec![0.0; n];
            for (q, &a) in from.iter().zip(coefficients.column(c)) {
                out.iter_mut().zip(q).for_each(|(o, x)| *o += a * x);
            }
            out
        };
        let kept = width.min(m);
        block = (0..kept).into_par_iter().map(|c| combine(&basis, c)).collect();
        values = ritz[..count.min(kept)].to_vec();
        let worst = (0..values.len())
            .into_par_iter()
            .map(|c| {
                let image = combine(&images, c);
                let along = dot(trivial, &image);
                let square = (0..n)
                    .map(|v| image[v] - along * trivial[v] - ritz[c] * block[c][v])
                    .map(|r| r * r);
                square.sum::<f64>().sqrt()
            })
            .collect::<Vec<f64>>();
        let worst = worst.into_iter().fold(0.0, f64::max);
        if worst <= RESIDUAL {
            break;
        }
        if round + 1 == ROUNDS {
            ctx.warn(format!("the eigenvectors of the graph are good to {worst:.1e} only"));
        }
    }
    let count = values.len();
    let mut vectors = Array2::from_shape_fn((n, count), |(v, c)| block[c][v]);
    fix_signs(&mut vectors);
    Ok(Embedding { values, vectors })
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
        let some = krylov(&graph, &scale, &trivial, 5, &Context::new(1)).unwrap();
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
            Graph::new((0..=9).map(|v| 2 * v).collect(), neighbours, vec![1; 18], vec![1; 9])
                .unwrap();
        let e = embed(&graph, 3, &Context::new(1)).unwrap();
        assert!((e.values[0] - 1.0).abs() < 1e-12 && (e.values[1] - 1.0).abs() < 1e-12);
        assert!((e.values[2] + 0.5).abs() < 1e-12);
        let parts = Spectral.parts(&Task::new(&graph, 3), &Context::new(1)).unwrap();
        assert_eq!(mustlink_core::clustering::canonical(&parts), [0, 0, 0, 1, 1, 1, 2, 2, 2]);
    }
}
