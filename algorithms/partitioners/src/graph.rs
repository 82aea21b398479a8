//! The undirected graph in CSR, with whole-number weights, that is cut into parts.

use mustlink_core::{Error, Result, reduce};
use mustlink_kernels::graph::adjacency::Graph;
use rayon::prelude::*;

/// The largest sum of the edge weights of a graph, both directions counted: what METIS can add up.
const MAX_TOTAL: u64 = i32::MAX as u64;

/// The factor that makes whole numbers of `count` weights with this sum, at most `scale`.
pub fn whole_scale(scale: f64, sum: f64, count: usize) -> f64 {
    // Half a unit for each weight that is rounded up.
    let room = (MAX_TOTAL as f64 - count as f64).max(1.0);
    scale.min(room / sum)
}

/// A weight as a whole number.
pub fn whole_weight(weight: f32, scale: f64) -> u32 {
    (f64::from(weight) * scale).round().max(1.0) as u32
}

/// An undirected graph: every edge is stored at both ends. Eight bytes per direction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CutGraph {
    rows: Graph<u32>,
    sizes: Vec<u32>,
    first_side: Option<usize>,
}

/// For every vertex the vertices that may not share its part; empty where nothing is forbidden.
pub type Apart = Vec<Vec<u32>>;

/// Collects the rows of a graph whose weights are not whole numbers yet.
#[derive(Debug, Clone)]
pub struct GraphBuilder {
    offsets: Vec<usize>,
    neighbours: Vec<u32>,
    weights: Vec<f32>,
}

impl Default for GraphBuilder {
    fn default() -> Self {
        GraphBuilder { offsets: vec![0], neighbours: Vec::new(), weights: Vec::new() }
    }
}

impl GraphBuilder {
    /// Room for `vertices` vertices and `directions` stored ends of edges.
    pub fn with_capacity(vertices: usize, directions: usize) -> Self {
        let mut offsets = Vec::with_capacity(vertices + 1);
        offsets.push(0);
        GraphBuilder {
            offsets,
            neighbours: Vec::with_capacity(directions),
            weights: Vec::with_capacity(directions),
        }
    }

    /// Adds an edge end to the vertex under construction. Weights that are not positive are left out.
    pub fn edge(&mut self, to: u32, weight: f64) {
        if weight > 0.0 {
            self.neighbours.push(to);
            self.weights.push(weight as f32);
        }
    }

    /// Ends the vertex under construction.
    pub fn end_vertex(&mut self) {
        self.offsets.push(self.neighbours.len());
    }

    /// A bipartite graph: `fill(i, row)` adds the (column, weight) of row vertex i, and is asked twice;
    /// column vertices follow the rows.
    pub fn bipartite(
        rows: usize,
        columns: usize,
        fill: impl Fn(usize, &mut Vec<(u32, f64)>),
    ) -> Self {
        let mut degree = vec![0usize; columns];
        let mut row = Vec::new();
        let mut offsets = Vec::with_capacity(rows + columns + 1);
        offsets.push(0);
        let (mut neighbours, mut weights) = (Vec::new(), Vec::new());
        for i in 0..rows {
            row.clear();
            fill(i, &mut row);
            if i == 0 {
                // Rows are mostly of one length.
                neighbours.reserve_exact(2 * rows * row.len());
                weights.reserve_exact(2 * rows * row.len());
            }
            for &(c, w) in row.iter().filter(|(_, w)| *w > 0.0) {
                degree[c as usize] += 1;
                neighbours.push(rows as u32 + c);
                weights.push(w as f32);
            }
            offsets.push(neighbours.len());
        }
        let mut end = offsets[rows];
        let mut next: Vec<usize> = Vec::with_capacity(columns);
        for d in degree {
            next.push(end);
            end += d;
            offsets.push(end);
        }
        neighbours.resize(end, 0);
        weights.resize(end, 0.0);
        for i in 0..rows {
            for at in offsets[i]..offsets[i + 1] {
                let back = &mut next[neighbours[at] as usize - rows];
                (neighbours[*back], weights[*back]) = (i as u32, weights[at]);
                *back += 1;
            }
        }
        GraphBuilder { offsets, neighbours, weights }
    }

    /// The graph. Weights become `max(1, round(scale · w))`; where all are equal they become 1; the
    /// scale is lowered where the sum of all would pass 2³¹ − 1, so that every engine cuts the same
    /// graph.
    pub fn build(self, sizes: Vec<u32>, scale: f64) -> Result<CutGraph> {
        let GraphBuilder { offsets, neighbours, weights } = self;
        let first = weights.first().copied().unwrap_or(1.0);
        if weights.iter().all(|&w| w == first) {
            let weights = vec![1; weights.len()];
            return CutGraph::new(offsets, neighbours, weights, sizes);
        }
        let scale = {
            let sum = weights.iter().map(|&w| f64::from(w)).sum::<f64>();
            whole_scale(scale, sum, weights.len())
        };
        let weights = weights.into_iter().map(|w| whole_weight(w, scale)).collect();
        CutGraph::new(offsets, neighbours, weights, sizes)
    }
}

impl CutGraph {
    /// A graph from its parts.
    ///
    /// # Errors
    /// `BadParam` for arrays that do not fit together, an edge from a vertex to itself, a neighbour
    /// that does not exist, or weights that add up to more than 2³¹ − 1.
    pub fn new(
        offsets: Vec<usize>,
        neighbours: Vec<u32>,
        weights: Vec<u32>,
        sizes: Vec<u32>,
    ) -> Result<Self> {
        let bad = |what: &str| Err(Error::bad_param("graph", what, "a graph in CSR"));
        let n = sizes.len();
        if offsets.len() != n + 1 || offsets[0] != 0 || offsets[n] != neighbours.len() {
            return bad("offsets of another length");
        }
        if weights.len() != neighbours.len() {
            return bad("as many weights as neighbours");
        }
        if offsets.windows(2).any(|w| w[0] > w[1]) {
            return bad("offsets that fall");
        }
        let nowhere = |v: usize| {
            let row = &neighbours[offsets[v]..offsets[v + 1]];
            row.iter().any(|&u| u as usize >= n || u as usize == v)
        };
        if (0..n).any(nowhere) {
            return bad("an edge to itself or to nowhere");
        }
        if weights.iter().map(|&w| u64::from(w)).sum::<u64>() > MAX_TOTAL {
            let legal = "a sum of at most 2^31 - 1; fewer edges, for example by fewer members";
            return Err(Error::bad_param("weights", "a larger sum", legal));
        }
        let rows = Graph::from_rows(offsets, neighbours, weights);
        Ok(CutGraph { rows, sizes, first_side: None })
    }

    /// The same, known to be bipartite with the first `vertices` on one side.
    pub fn with_first_side(mut self, vertices: usize) -> Self {
        self.first_side = Some(vertices);
        self
    }

    /// Number of vertices on the first side of a bipartite graph.
    pub fn first_side(&self) -> Option<usize> {
        self.first_side
    }

    /// Number of vertices.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// No vertex.
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// Stored ends of edges: twice their number.
    pub fn directions(&self) -> usize {
        self.rows.targets().len()
    }

    /// Neighbours of `v` with the weights of the edges.
    pub fn edges(&self, v: usize) -> impl Iterator<Item = (usize, u32)> + '_ {
        let (neighbours, weights) = self.rows.neighbours(v);
        neighbours.iter().zip(weights).map(|(&u, &w)| (u as usize, w))
    }

    /// Number of neighbours of `v`.
    pub fn degree(&self, v: usize) -> usize {
        self.rows.neighbours(v).0.len()
    }

    /// Weight of vertex `v`.
    pub fn size(&self, v: usize) -> u32 {
        self.sizes[v]
    }

    /// Weights of all vertices.
    pub fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// Sum of the vertex weights.
    pub fn total_size(&self) -> u64 {
        self.sizes.iter().map(|&s| u64::from(s)).sum()
    }

    /// The starts of the rows.
    pub fn offsets(&self) -> &[usize] {
        self.rows.offsets()
    }

    /// Neighbours, row by row.
    pub fn neighbours(&self) -> &[u32] {
        self.rows.targets()
    }

    /// Edge weights, row by row.
    pub fn weights(&self) -> &[u32] {
        self.rows.weights()
    }

    /// Total weight of the edges between different parts.
    pub fn cut(&self, parts: &[u32]) -> u64 {
        let of = |v: usize| -> u64 {
            let outside = self.edges(v).filter(|&(u, _)| parts[u] != parts[v]);
            outside.map(|(_, w)| u64::from(w)).sum()
        };
        reduce::reduce(self.len(), |rows| rows.map(of).sum::<u64>(), |a, b| a + b).unwrap_or(0) / 2
    }

    /// Vertex weight of every part.
    pub fn part_sizes(&self, parts: &[u32], k: usize) -> Vec<u64> {
        let mut out = vec![0; k];
        parts.iter().zip(&self.sizes).for_each(|(&p, &s)| out[p as usize] += u64::from(s));
        out
    }

    /// The graph in which the vertices with one value of `map` (in `0..m`) are one; parallel edges
    /// are added up, edges inside vanish.
    pub fn contract(&self, map: &[u32], m: usize) -> CutGraph {
        const NEW: u32 = u32::MAX;
        let mut start = vec![0usize; m + 1];
        map.iter().for_each(|&c| start[c as usize + 1] += 1);
        (0..m).for_each(|c| start[c + 1] += start[c]);
        let mut next = start.clone();
        let mut order = vec![0u32; map.len()];
        let mut sizes = vec![0u32; m];
        for (v, &c) in map.iter().enumerate() {
            order[next[c as usize]] = v as u32;
            next[c as usize] += 1;
            sizes[c as usize] += self.sizes[v];
        }
        // Blocks of coarse vertices have marks of their own: any number of threads gives the same.
        const BLOCK: usize = 256;
        let blocks: Vec<(Vec<usize>, Vec<u32>, Vec<u32>)> = (0..m.div_ceil(BLOCK))
            .into_par_iter()
            .map_init(
                || vec![NEW; m],
                |place, b| {
                    let (mut ends, mut neighbours, mut weights) =
                        (Vec::new(), Vec::<u32>::new(), Vec::<u32>::new());
                    for c in b * BLOCK..((b + 1) * BLOCK).min(m) {
                        let from = neighbours.len();
                        for &v in &order[start[c]..start[c + 1]] {
                            for (u, w) in self.edges(v as usize) {
                                let d = map[u];
                                if d as usize == c {
                                    continue;
                                }
                                if place[d as usize] == NEW {
                                    place[d as usize] = neighbours.len() as u32;
                                    neighbours.push(d);
                                    weights.push(w);
                                } else {
                                    weights[place[d as usize] as usize] += w;
                                }
                            }
                        }
                        neighbours[from..].iter().for_each(|&d| place[d as usize] = NEW);
                        ends.push(neighbours.len());
                    }
                    (ends, neighbours, weights)
                },
            )
            .collect();
        let total = blocks.iter().map(|(_, n, _)| n.len()).sum();
        let mut offsets = Vec::with_capacity(m + 1);
        offsets.push(0);
        let (mut neighbours, mut weights) = (Vec::with_capacity(total), Vec::with_capacity(total));
        for (ends, block_neighbours, block_weights) in blocks {
            let base = neighbours.len();
            offsets.extend(ends.into_iter().map(|e| base + e));
            neighbours.extend(block_neighbours);
            weights.extend(block_weights);
        }
        // Sides stay sides when no coarse vertex holds vertices of both and the first come first.
        let first_side = self.first_side.and_then(|side| {
            let first = map[..side].iter().max().map_or(0, |&c| c as usize + 1);
            map[side..].iter().all(|&c| c as usize >= first).then_some(first)
        });
        CutGraph { rows: Graph::from_rows(offsets, neighbours, weights), sizes, first_side }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use mustlink_core::random::SeedPath;
    use proptest::prelude::*;

    /// A random graph with random weights, sizes and density.
    pub fn random(n: usize, density: f64, seed: u64) -> CutGraph {
        let mut s = SeedPath::new(seed).stream("graph");
        let mut rows = vec![Vec::new(); n];
        for i in 0..n {
            for j in 0..i {
                if s.unit() < density {
                    let w = 1.0 + s.below(9) as f64;
                    rows[i].push((j as u32, w));
                    rows[j].push((i as u32, w));
                }
            }
        }
        let mut builder = GraphBuilder::default();
        for row in rows {
            row.into_iter().for_each(|(u, w)| builder.edge(u, w));
            builder.end_vertex();
        }
        let sizes = (0..n).map(|_| 1 + s.below(3) as u32).collect();
        builder.build(sizes, 1.0).unwrap()
    }

    #[test]
    fn weights_become_whole_numbers() {
        let bipartite = |rows: Vec<Vec<(u32, f64)>>, columns| {
            GraphBuilder::bipartite(rows.len(), columns, |i, row| row.extend(&rows[i]))
        };
        let rows = vec![vec![(0, 0.25), (1, 1e-9)], vec![(0, 0.5), (1, 0.0)]];
        let g = bipartite(rows, 2).build(vec![1; 4], 1000.0).unwrap();
        assert_eq!(g.weights(), [250, 1, 500, 250, 500, 1]);
        assert_eq!(g.neighbours(), [2, 3, 2, 0, 1, 0]);
        let equal = vec![vec![(0, 0.3)], vec![(0, 0.3)]];
        let g = bipartite(equal, 1).build(vec![1; 3], 1e9).unwrap();
        assert_eq!(g.weights(), [1, 1, 1, 1]);
        // The sum of all stays within 31 bits, and no edge is lost.
        let large = vec![vec![(0, 1.0), (1, 1e-7)]; 1000];
        let g = bipartite(large, 2).build(vec![1; 1002], 1e9).unwrap();
        assert!(g.weights().iter().map(|&w| u64::from(w)).sum::<u64>() <= i32::MAX as u64);
        assert_eq!(g.directions(), 4000);
        assert!(g.weights().iter().all(|&w| w >= 1));
    }

    #[test]
    fn broken_graphs_are_refused() {
        assert!(CutGraph::new(vec![0, 1, 2], vec![1, 0], vec![1, 1], vec![1, 1]).is_ok());
        assert!(CutGraph::new(vec![0, 1, 2], vec![0, 1], vec![1, 1], vec![1, 1]).is_err());
        assert!(CutGraph::new(vec![0, 1], vec![1, 0], vec![1, 1], vec![1, 1]).is_err());
        assert!(CutGraph::new(vec![0, 1, 2], vec![1, 2], vec![1, 1], vec![1, 1]).is_err());
        assert!(CutGraph::new(vec![0, 1, 2], vec![1, 0], vec![1 << 31, 1], vec![1, 1]).is_err());
    }

    proptest! {
        #[test]
        fn contracting_keeps_cuts(seed: u64, n in 2usize..20, m in 1usize..6, k in 2u32..4) {
            let g = random(n, 0.5, seed);
            let map: Vec<u32> = (0..n).map(|v| (v % m.min(n)) as u32).collect();
            let coarse = g.contract(&map, m.min(n));
            let parts: Vec<u32> = (0..m.min(n) as u32).map(|c| c % k).collect();
            let fine: Vec<u32> = map.iter().map(|&c| parts[c as usize]).collect();
            prop_assert_eq!(coarse.cut(&parts), g.cut(&fine));
            prop_assert_eq!(
                coarse.part_sizes(&parts, k as usize),
                g.part_sizes(&fine, k as usize)
            );
        }
    }
}
