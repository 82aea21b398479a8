//! The cut of a graph that joins every object to every cluster and is too large to be stored.

use mustlink_core::prelude::*;
use mustlink_partitioners::Sides;

use crate::parts::bipartite::{self, Cut};
use crate::parts::canonical_ensemble::CanonicalEnsemble;
use crate::parts::cutting::{Cutting, Units};

/// As [`bipartite::cut`], where `weight(i, c)` gives the weight of the edge between object i and cluster c:
/// a graph of very many objects is then cut without being held.
pub(super) fn cut(
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
        if let Some(partition) = cutting.cut_sides(&table, units, view.k, ctx)? {
            return Ok(bipartite::outcome(view, units, &partition.parts, &partition, fill));
        }
    }
    bipartite::cut(view, units, cutting, cluster_vertex_weight, false, fill, ctx)
}

/// A bipartite graph whose weights are computed when they are looked at.
struct Table<W> {
    objects: usize,
    sizes: Vec<u32>,
    weight: W,
    directions: usize,
    /// Factor for weights. If absent, all are equal and count 1.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::weights::Weights;
    use ndarray::Array2;

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
        let view = CanonicalEnsemble::new(
            &ensemble,
            &problem,
            &Weights::default(),
            "wbpa",
            &Context::new(1),
        )
        .unwrap();
        let cutting = Cutting::default();
        let ctx = Context::new(1);
        let units = Units::single(&view, &cutting, &problem, &ctx).unwrap();
        let fill = |i: usize, row: &mut Vec<(u32, f64)>| {
            row.extend((0..columns).map(|c| (c as u32, table[[i, c]])));
        };
        let held = bipartite::cut(&view, &units, &cutting, 1, false, fill, &ctx).unwrap();
        let computed = cut(&view, &units, &cutting, 1, |i, c| table[[i, c]], &ctx).unwrap();
        assert_eq!(held.clustering, computed.clustering);
        assert_eq!(held.clusters, computed.clusters);
        assert_eq!(held.clustering.k, 3);
    }
}
