//! The facts about a bipartite graph that is too large to be stored.

use crate::graph::CutGraph;

/// A graph of objects on one side and clusters on the other, by the edges of its objects. It need not
/// be stored: rows may be computed again whenever they are used.
pub trait Sides: Sync {
    /// Vertices of the first side.
    fn objects(&self) -> usize;
    /// Weights of the objects, then of the clusters.
    fn sizes(&self) -> &[u32];
    /// Ends of edges that the graph would store: twice the number of edges.
    fn directions(&self) -> usize;
    /// Adds the clusters that object `v` has an edge to, ascending, each with the weight of the edge.
    fn row(&self, v: usize, out: &mut Vec<(u32, u32)>);

    /// Vertices of the second side.
    fn clusters(&self) -> usize {
        self.sizes().len() - self.objects()
    }
}

/// A graph that is held, with its first side known.
pub(crate) struct Held<'a> {
    pub graph: &'a CutGraph,
    pub objects: usize,
}

impl Sides for Held<'_> {
    fn objects(&self) -> usize {
        self.objects
    }

    fn sizes(&self) -> &[u32] {
        self.graph.sizes()
    }

    fn directions(&self) -> usize {
        self.graph.directions()
    }

    fn row(&self, v: usize, out: &mut Vec<(u32, u32)>) {
        out.extend(self.graph.edges(v).map(|(u, w)| ((u - self.objects) as u32, w)));
    }
}
