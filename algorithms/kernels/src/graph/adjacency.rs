//! A symmetric weighted graph, stored by rows.

use ndarray::{Array2, ArrayView2};

use mustlink_core::data::{Data, DataKind};
use mustlink_core::{Error, Result, reduce};

/// A symmetric graph with positive weights and without loops; every edge is held at both ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph<W = f64> {
    offsets: Vec<usize>,
    targets: Vec<u32>,
    weights: Vec<W>,
}

impl<W> Graph<W> {
    /// The graph with these rows: the edges of vertex i are `offsets[i]..offsets[i + 1]` of the others.
    /// The ends of an edge are not checked.
    pub fn from_rows(offsets: Vec<usize>, targets: Vec<u32>, weights: Vec<W>) -> Self {
        Graph { offsets, targets, weights }
    }

    /// Number of vertices.
    pub fn n(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of edges, each counted once.
    pub fn edge_count(&self) -> usize {
        self.targets.len() / 2
    }

    /// The starts of the rows; one more than vertices.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Neighbours, row by row.
    pub fn targets(&self) -> &[u32] {
        &self.targets
    }

    /// Weights of the edges, row by row.
    pub fn weights(&self) -> &[W] {
        &self.weights
    }

    /// Neighbours of vertex `i` with the weights of the edges to them.
    pub fn neighbours(&self, i: usize) -> (&[u32], &[W]) {
        let span = self.offsets[i]..self.offsets[i + 1];
        (&self.targets[span.clone()], &self.weights[span])
    }
}

impl Graph {
    /// The graph over `n` vertices with these edges. Direction carries no meaning; an edge given
    /// more than once gets `combine` of its weights, taken in the order given. Loops and edges
    /// without weight are left out.
    pub fn from_edges(
        n: usize,
        edges: impl IntoIterator<Item = (u32, u32, f64)>,
        combine: impl Fn(f64, f64) -> f64,
    ) -> Self {
        let mut list: Vec<(u32, u32, f64)> = edges
            .into_iter()
            .filter(|&(i, j, w)| i != j && w != 0.0)
            .map(|(i, j, w)| (i.min(j), i.max(j), w))
            .collect();
        // Stable: equal edges stay in the order given.
        list.sort_by_key(|&(i, j, _)| (i, j));
        list.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            if same {
                kept.2 = combine(kept.2, next.2);
            }
            same
        });
        let mut offsets = vec![0usize; n + 1];
        for &(i, j, _) in &list {
            offsets[i as usize + 1] += 1;
            offsets[j as usize + 1] += 1;
        }
        for i in 0..n {
            offsets[i + 1] += offsets[i];
        }
        let mut next = offsets.clone();
        let (mut targets, mut weights) = (vec![0; offsets[n]], vec![0.0; offsets[n]]);
        // The list is in order of (smaller, larger): first the smaller neighbours of a vertex, then
        // the larger ones, each ascending.
        for (from_larger, (i, j, w)) in
            list.iter().map(|e| (true, *e)).chain(list.iter().map(|e| (false, *e)))
        {
            let (at, other) = if from_larger { (j, i) } else { (i, j) };
            targets[next[at as usize]] = other;
            weights[next[at as usize]] = w;
            next[at as usize] += 1;
        }
        Graph { offsets, targets, weights }
    }

    /// The graph of a matrix of affinities, its diagonal left out.
    ///
    /// # Errors
    /// `BadParam` for a negative affinity, `UnsupportedData` for other data.
    pub fn from_affinity(data: &Data) -> Result<Self> {
        if data.kind() != DataKind::Affinity {
            return Err(Error::UnsupportedData {
                plugin: "graph".into(),
                kind: data.kind().name(),
                accepts: DataKind::Affinity.name().into(),
            });
        }
        let n = data.n();
        let mut edges = Vec::new();
        for i in 0..n {
            for j in i + 1..n {
                let w = data.pair(i, j);
                if w < 0.0 {
                    let legal = "affinities >= 0";
                    return Err(Error::bad_param("data", format!("{w} at ({i}, {j})"), legal));
                }
                edges.push((i as u32, j as u32, w));
            }
        }
        Ok(Graph::from_edges(n, edges, f64::max))
    }

    /// Every edge once, smaller vertex first, in order.
    pub fn edges(&self) -> impl Iterator<Item = (u32, u32, f64)> + '_ {
        (0..self.n()).flat_map(move |i| {
            let (targets, weights) = self.neighbours(i);
            let larger = targets.partition_point(|&j| (j as usize) < i);
            targets[larger..].iter().zip(&weights[larger..]).map(move |(&j, &w)| (i as u32, j, w))
        })
    }

    /// Sum of the weights at each vertex.
    pub fn degrees(&self) -> Vec<f64> {
        (0..self.n()).map(|i| self.neighbours(i).1.iter().sum()).collect()
    }

    /// Connected component of each vertex, numbered by smallest vertex, and how many there are.
    pub fn components(&self) -> (Vec<u32>, usize) {
        let mut component = vec![u32::MAX; self.n()];
        let mut count = 0;
        let mut open = Vec::new();
        for start in 0..self.n() {
            if component[start] != u32::MAX {
                continue;
            }
            component[start] = count;
            open.push(start);
            while let Some(i) = open.pop() {
                for &j in self.neighbours(i).0 {
                    if component[j as usize] == u32::MAX {
                        component[j as usize] = count;
                        open.push(j as usize);
                    }
                }
            }
            count += 1;
        }
        (component, count as usize)
    }

    /// The graph in which all vertices of a class are one vertex: weights between classes are
    /// summed, edges inside a class are gone. `class` holds values in `0..count`.
    pub fn contracted(&self, class: &[u32], count: usize) -> Self {
        let edges = self.edges().map(|(i, j, w)| (class[i as usize], class[j as usize], w));
        Graph::from_edges(count, edges, |a, b| a + b)
    }

    /// The graph on `vertices` (distinct), renumbered by position.
    pub fn induced(&self, vertices: &[u32]) -> Self {
        let mut place = vec![u32::MAX; self.n()];
        vertices.iter().enumerate().for_each(|(at, &v)| place[v as usize] = at as u32);
        let edges = vertices.iter().flat_map(|&v| {
            let (targets, weights) = self.neighbours(v as usize);
            let place = &place;
            targets
                .iter()
                .zip(weights)
                .filter(move |&(&t, _)| t > v && place[t as usize] != u32::MAX)
                .map(move |(&t, &w)| (place[v as usize], place[t as usize], w))
        });
        Graph::from_edges(vertices.len(), edges.collect::<Vec<_>>(), |a, _| a)
    }

    /// Weight of the edges between vertices of different labels.
    pub fn cut(&self, labels: &[u32]) -> f64 {
        self.edges()
            .filter(|&(i, j, _)| labels[i as usize] != labels[j as usize])
            .map(|e| e.2)
            .sum()
    }

    /// W·X for a matrix with one row per vertex.
    pub fn multiply(&self, x: &ArrayView2<f64>) -> Array2<f64> {
        let columns = x.ncols();
        let mut out = Array2::zeros((self.n(), columns));
        let flat = out.as_slice_mut().expect("standard layout");
        let x = x.as_standard_layout();
        let x = x.as_slice().expect("standard layout");
        // A few columns stay in registers while a row is summed.
        match columns {
            1 => self.multiply_few::<1>(x, flat),
            2 => self.multiply_few::<2>(x, flat),
            3 => self.multiply_few::<3>(x, flat),
            4 => self.multiply_few::<4>(x, flat),
            5 => self.multiply_few::<5>(x, flat),
            6 => self.multiply_few::<6>(x, flat),
            7 => self.multiply_few::<7>(x, flat),
            8 => self.multiply_few::<8>(x, flat),
            _ => self.by_rows(columns, flat, |targets, weights, to| {
                for (&j, &w) in targets.iter().zip(weights) {
                    let from = &x[j as usize * columns..][..columns];
                    to.iter_mut().zip(from).for_each(|(t, v)| *t += w * v);
                }
            }),
        }
        out
    }

    fn multiply_few<const COLUMNS: usize>(&self, x: &[f64], out: &mut [f64]) {
        self.by_rows(COLUMNS, out, |targets, weights, to| {
            let mut sums = [0.0; COLUMNS];
            for (&j, &w) in targets.iter().zip(weights) {
                let from = &x[j as usize * COLUMNS..][..COLUMNS];
                for c in 0..COLUMNS {
                    sums[c] += w * from[c];
                }
            }
            to.copy_from_slice(&sums);
        });
    }

    /// Calls `row` with the neighbours of each vertex, their weights and its row of `out`.
    fn by_rows(
        &self,
        columns: usize,
        out: &mut [f64],
        row: impl Fn(&[u32], &[f64], &mut [f64]) + Sync,
    ) {
        reduce::over(out.chunks_mut((256 * columns).max(1)), |b, chunk| {
            for (at, to) in chunk.chunks_mut(columns).enumerate() {
                let (targets, weights) = self.neighbours(b * 256 + at);
                row(targets, weights, to);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;
    use proptest::prelude::*;

    fn graph() -> Graph {
        // A triangle 0–1–2 and a pair 3–4.
        let edges = [(1, 0, 1.0), (2, 1, 2.0), (0, 2, 3.0), (4, 3, 5.0), (2, 2, 9.0), (0, 1, 0.5)];
        Graph::from_edges(5, edges, |a, b| a + b)
    }

    #[test]
    fn worked_example() {
        let g = graph();
        assert_eq!(
            g.edges().collect::<Vec<_>>(),
            [(0, 1, 1.5), (0, 2, 3.0), (1, 2, 2.0), (3, 4, 5.0)]
        );
        assert_eq!(g.edge_count(), 4);
        assert_eq!(g.degrees(), [4.5, 3.5, 5.0, 5.0, 5.0]);
        assert_eq!(g.components(), (vec![0, 0, 0, 1, 1], 2));
        assert_eq!(g.cut(&[0, 1, 1, 1, 0]), 1.5 + 3.0 + 5.0);
        let merged = g.contracted(&[0, 1, 0, 1, 2], 3);
        assert_eq!(merged.edges().collect::<Vec<_>>(), [(0, 1, 3.5), (1, 2, 5.0)]);
        let part = g.induced(&[2, 0, 3]);
        assert_eq!(part.edges().collect::<Vec<_>>(), [(0, 1, 3.0)]);
        let y = g.multiply(&array![[1.0], [0.0], [0.0], [2.0], [0.0]].view());
        assert_eq!(y, array![[0.0], [1.5], [3.0], [0.0], [10.0]]);
    }

    #[test]
    fn affinities_must_not_be_negative() {
        let w = Data::affinity(array![[1.0, 0.5], [0.5, 1.0]]).unwrap();
        assert_eq!(Graph::from_affinity(&w).unwrap().edges().collect::<Vec<_>>(), [(0, 1, 0.5)]);
        let w = Data::affinity(array![[1.0, -0.5], [-0.5, 1.0]]).unwrap();
        assert!(matches!(Graph::from_affinity(&w), Err(Error::BadParam { .. })));
        let x = Data::dense(array![[1.0]]).unwrap();
        assert!(matches!(Graph::from_affinity(&x), Err(Error::UnsupportedData { .. })));
    }

    proptest! {
        #[test]
        fn contraction_keeps_cuts(
            edges in proptest::collection::vec((0u32..9, 0u32..9, 1u8..9), 0..40),
            class in proptest::collection::vec(0u32..4, 9),
            side in proptest::collection::vec(0u32..3, 4),
        ) {
            let g = Graph::from_edges(
                9,
                edges.iter().map(|&(i, j, w)| (i, j, f64::from(w))),
                |a, b| a + b,
            );
            let lifted: Vec<u32> = class.iter().map(|&c| side[c as usize]).collect();
            prop_assert_eq!(g.contracted(&class, 4).cut(&side), g.cut(&lifted));
            for i in 0..9 {
                prop_assert!(g.neighbours(i).0.windows(2).all(|w| w[0] < w[1]));
            }
        }
    }
}
