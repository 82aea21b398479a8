//! The graph on what must stay together: one vertex per must-link component, or per colour.

use std::collections::BTreeMap;

use mustlink_core::closure::Feasibility;
use mustlink_core::prelude::*;
use mustlink_kernels::graph::adjacency::Graph;

use super::two_way::TwoWay;

/// The graph with weights divided by the largest, and that.
pub(super) fn scaled(graph: &Graph) -> Result<(Graph, f64)> {
    if graph.edges().any(|e| !e.2.is_finite()) {
        let place = "cosc: the weights of the graph are not finite".into();
        return Err(Error::NumericalFailure { place });
    }
    let largest = graph.edges().map(|e| e.2).fold(0.0, f64::max);
    let edges = graph.edges().map(|(i, j, w)| (i, j, w / largest));
    Ok((Graph::from_edges(graph.n(), edges, f64::max), largest))
}

/// The cuts of the parts of a partition, each over its mass, all added.
pub(super) fn multi_cut(graph: &Graph, mass: &[f64], labels: &[u32], k: usize) -> f64 {
    let (mut cut, mut volume) = (vec![0.0; k], vec![0.0; k]);
    for (i, j, w) in graph.edges() {
        let (a, b) = (labels[i as usize] as usize, labels[j as usize] as usize);
        if a != b {
            cut[a] += w;
            cut[b] += w;
        }
    }
    labels.iter().zip(mass).for_each(|(&l, b)| volume[l as usize] += b);
    cut.iter().zip(&volume).map(|(c, v)| c / v).sum()
}

/// For two clusters: which components become one vertex. Components of one colour of a connected set
/// of cannot-links are together in every split that keeps those.
pub(super) fn coloured(closure: &Closure) -> Vec<u32> {
    let Feasibility::Feasible(colour) = closure.feasibility(2) else {
        return (0..closure.components() as u32).collect();
    };
    let mut class = vec![NONE; closure.components()];
    let mut count = 0;
    for start in 0..class.len() {
        if class[start] != NONE {
            continue;
        }
        let mut names = [NONE; 2];
        let mut open = vec![start as u32];
        while let Some(p) = open.pop() {
            let p = p as usize;
            if class[p] != NONE {
                continue;
            }
            let name = &mut names[colour[p] as usize];
            if *name == NONE {
                *name = count;
                count += 1;
            }
            class[p] = *name;
            open.extend(closure.apart(p));
        }
    }
    class
}

/// The problem on what must stay together.
pub(super) struct Reduced {
    pub(super) graph: Graph,
    /// Mass of each vertex.
    pub(super) mass: Vec<f64>,
    /// Vertices that are to be parted, each pair once, with its weight.
    pub(super) apart: Vec<(u32, u32, f64)>,
    /// Vertex of each object.
    pub(super) vertex: Vec<u32>,
}

impl Reduced {
    pub(super) fn new(graph: &Graph, mass: &[f64], closure: &Closure, class: &[u32]) -> Self {
        let count = class.iter().max().map_or(0, |&c| c as usize + 1);
        let vertex: Vec<u32> = (0..closure.n()).map(|i| class[closure.component(i)]).collect();
        let mut total = vec![0.0; count];
        vertex.iter().zip(mass).for_each(|(&v, b)| total[v as usize] += b);
        // Of repeated cannot-links between two vertices the largest weight counts.
        let mut apart: BTreeMap<(u32, u32), f64> = BTreeMap::new();
        for c in closure.constraints().pairs().iter().filter(|c| c.kind == Kind::CannotLink) {
            let (a, b) = (vertex[c.i as usize], vertex[c.j as usize]);
            if a != b {
                let weight = apart.entry((a.min(b), a.max(b))).or_insert(0.0);
                *weight = weight.max(c.weight);
            }
        }
        Reduced {
            graph: graph.contracted(&vertex, count),
            mass: total,
            apart: apart.into_iter().map(|((a, b), w)| (a, b, w)).collect(),
            vertex,
        }
    }

    pub(super) fn n(&self) -> usize {
        self.mass.len()
    }

    /// The problem of splitting some of the vertices in two, and its graph.
    pub(super) fn two_way(&self, vertices: &[u32]) -> (TwoWay, Graph) {
        let graph = self.graph.induced(vertices);
        let mut place = vec![NONE; self.n()];
        vertices.iter().enumerate().for_each(|(at, &v)| place[v as usize] = at as u32);
        let apart = self.apart.iter().filter_map(|&(a, b, w)| {
            let (a, b) = (place[a as usize], place[b as usize]);
            (a != NONE && b != NONE).then_some((a, b, w))
        });
        let mass = vertices.iter().map(|&v| self.mass[v as usize]).collect();
        (TwoWay::new(&graph, mass, apart.collect()), graph)
    }

    /// Cut of a set from everything else, over its mass.
    pub(super) fn cost(&self, inside: &[u32]) -> f64 {
        let mut member = vec![false; self.n()];
        inside.iter().for_each(|&v| member[v as usize] = true);
        let mut cut = 0.0;
        for &v in inside {
            let (targets, weights) = self.graph.neighbours(v as usize);
            for (&t, w) in targets.iter().zip(weights) {
                if !member[t as usize] {
                    cut += w;
                }
            }
        }
        cut / inside.iter().map(|&v| self.mass[v as usize]).sum::<f64>()
    }

    /// Cannot-links with one end in each of two sets.
    pub(super) fn parted(&self, a: &[u32], b: &[u32]) -> usize {
        let mut side = vec![0u8; self.n()];
        a.iter().for_each(|&v| side[v as usize] = 1);
        b.iter().for_each(|&v| side[v as usize] = 2);
        // 1 · 2: one end on each side.
        self.apart.iter().filter(|c| side[c.0 as usize] * side[c.1 as usize] == 2).count()
    }
}
