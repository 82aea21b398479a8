//! How are objects and the clusters they are in cut together?

use mustlink_core::prelude::*;
use mustlink_partitioners::{CutGraph, GraphBuilder, Partition, Sides};
use ndarray::Array2;
use rayon::prelude::*;

use crate::parts::canonical_ensemble::CanonicalEnsemble;
use crate::parts::cutting::{Cutting, Units, clustering};

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
    let graph = graph(view, units, cluster_vertex_weight, cutting.weight_scale, &fill)?;
    ctx.check()?;
    let (parts, partition) = cutting.cut(&graph, units, view.k, ctx)?;
    Ok(outcome(view, units, &parts, &partition, fill))
}

/// As [`cut`], where `weight(i, c)` gives the weight of the edge between object i and cluster c: a graph
/// of very many objects is then cut without being held.
pub(crate) fn cut_table(
    view: &CanonicalEnsemble,
    units: &Units,
    cutting: &Cutting,
    cluster_vertex_weight: u32,
    weight: impl Fn(usize, usize) -> f64 + Sync,
    ctx: &Context,
) -> Result<Cut> {
    let columns = view.clusters();
    let fill = |i: usize, row: &mut Vec<(u32, f64)>| {
        row.extend((0..columns).map(|c| (c as u32, weight(i, c))));
    };
    if units.merge.is_none() && units.apart.is_none() {
        let mut sizes = units.sizes.clone();
        sizes.resize(units.len() + columns, cluster_vertex_weight);
        // As the graph that is held has it.
        let of_unit = |u: usize, c: usize| {
            (weight(units.first[u] as usize, c) * f64::from(units.sizes[u])) as f32
        };
        let table = Table::new(units.len(), sizes, of_unit, cutting.weight_scale);
        if let Some(partition) = cutting.cut_sides(&table, view.k, ctx)? {
            return Ok(outcome(view, units, &partition.parts, &partition, fill));
        }
    }
    cut(view, units, cutting, cluster_vertex_weight, fill, ctx)
}

/// A bipartite graph whose weights are computed when they are looked at.
struct Table<W> {
    objects: usize,
    sizes: Vec<u32>,
    weight: W,
    directions: usize,
    /// What weights are multiplied by; absent: all are equal and count 1.
    scale: Option<f64>,
}

impl<W: Fn(usize, usize) -> f32 + Sync> Table<W> {
    /// Goes through all weights in the order in which [`CutGraph`] has them, so that their sum has the
    /// same bits.
    fn new(objects: usize, sizes: Vec<u32>, weight: W, scale: f64) -> Self {
        let columns = sizes.len() - objects;
        let (mut sum, mut edges, mut equal) = (0.0, 0, true);
        let mut first = None;
        let mut add = |w: f32| {
            if w > 0.0 {
                equal &= *first.get_or_insert(w) == w;
                sum += f64::from(w);
                edges += 1;
            }
        };
        (0..objects).for_each(|i| (0..columns).for_each(|c| add(weight(i, c))));
        (0..columns).for_each(|c| (0..objects).for_each(|i| add(weight(i, c))));
        let scale = (!equal).then(|| mustlink_partitioners::whole_scale(scale, sum, edges));
        Table { objects, sizes, weight, directions: edges, scale }
    }
}

impl<W: Fn(usize, usize) -> f32 + Sync> Sides for Table<W> {
    fn objects(&self) -> usize {
        self.objects
    }

    fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    fn directions(&self) -> usize {
        self.directions
    }

    fn row(&self, v: usize, out: &mut Vec<(u32, u32)>) {
        let weights = (0..self.clusters()).map(|c| (c as u32, (self.weight)(v, c)));
        let whole = |w| self.scale.map_or(1, |scale| mustlink_partitioners::whole_weight(w, scale));
        out.extend(weights.filter(|(_, w)| *w > 0.0).map(|(c, w)| (c, whole(w))));
    }
}

fn outcome(
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
    rows.par_chunks_mut(k).enumerate().for_each_init(Vec::new, |row, (u, share)| {
        row.clear();
        fill(units.first[u] as usize, row);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::weights::Weights;
    use mustlink_core::random::SeedPath;
    use mustlink_partitioners::Engine;

    #[test]
    fn a_graph_that_is_not_held_is_cut_as_one_that_is() {
        let (n, columns) = (9000, 6);
        let mut s = SeedPath::new(3).stream("members");
        let members: Vec<Member> = (0..2)
            .map(|_| Member::from_labels(&(0..n).map(|_| s.below(3) as u32).collect::<Vec<_>>()))
            .collect();
        let ensemble = Ensemble::new(n, members).unwrap();
        let table = Array2::from_shape_fn((n, columns), |_| s.unit().powi(3) - 0.01);
        let problem = Problem::new(Data::dense(Array2::zeros((n, 1))).unwrap()).with_k(3);
        let view =
            CanonicalEnsemble::new(&ensemble, &problem, &Weights::default(), "wbpa").unwrap();
        let cutting = Cutting {
            partitioner: Engine::default(),
            imbalance: 0.03,
            trials: None,
            weight_scale: 1e6,
            respect_must_link: false,
            respect_cannot_link: false,
        };
        let units = Units::single(&view, &cutting, &problem).unwrap();
        let ctx = Context::new(1);
        let fill = |i: usize, row: &mut Vec<(u32, f64)>| {
            row.extend((0..columns).map(|c| (c as u32, table[[i, c]])));
        };
        let held = cut(&view, &units, &cutting, 1, fill, &ctx).unwrap();
        let computed = cut_table(&view, &units, &cutting, 1, |i, c| table[[i, c]], &ctx).unwrap();
        assert_eq!(held.clustering, computed.clustering);
        assert_eq!(held.clusters, computed.clusters);
        assert_eq!(held.clustering.k, 3);
    }
}
