//! Which two clusters are merged next, until enough are left?

use linfa::ParamGuard;
use linfa::traits::Transformer;
use linfa_hierarchical::{HierarchicalCluster, Method};
use linfa_kernel::{Kernel, KernelInner, KernelMethod};
use mustlink_core::prelude::*;
use ndarray::Array2;
use rayon::prelude::*;

use crate::parts::adapting;

/// Agglomerative clustering, from linfa: the two nearest clusters are merged until k are left.
///
/// # Method
/// Lance and Williams's scheme with one of seven linkages. linfa takes similarities and their
/// negative logarithms as distances, cut off at 10⁻⁶; it is handed exp(−13 d / d_max), which gives
/// it back all distances in proportion.
/// # Input and output
/// n × d, dense, Euclidean distances, or a matrix of distances. k clusters, or those that remain
/// when none is nearer than `max_distance`.
/// # Errors
/// `MissingK`, `BadParam`.
/// # Cost and randomness
/// O(n²) time and memory, `centroid` and `median` O(n² log n) time; nothing is random.
/// # References
/// [LanceWilliams1967]; [Mullner2011].
#[options]
pub struct Hierarchical {
    /// Number of clusters, at most n; absent: that of the problem.
    #[option(min = 1)]
    pub k: Option<usize>,
    /// How far apart two clusters are.
    pub linkage: Linkage,
    /// Merge only clusters that are nearer than this (in the units of the distances), whatever k is;
    /// absent: until k are left.
    #[option(above = 0.0, units = 1)]
    pub max_distance: Option<f64>,
}

/// The distance of two clusters, from those of their objects or their centres.
#[options]
pub enum Linkage {
    /// The smallest distance of two objects.
    Single,
    /// The largest.
    Complete,
    /// The mean over all pairs (UPGMA).
    Average,
    /// The mean over the two clusters last merged, whatever their sizes (WPGMA).
    Weighted,
    /// The growth of the sum of squares within.
    #[default]
    Ward,
    /// The distance of the means (UPGMC).
    Centroid,
    /// The distance of centres that lie halfway between those last merged (WPGMC).
    Median,
}

/// −ln of the smallest similarity handed to linfa, which cuts off at 13.8.
const SPAN: f64 = 13.0;

#[plugin("hierarchical", cites = ["LanceWilliams1967", "Mullner2011"])]
impl BaseClusterer for Hierarchical {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let data = &problem.data;
        let n = data.n();
        let k = match self.max_distance {
            Some(_) => None,
            None => Some(problem.require_k(self.k, "hierarchical")?),
        };
        let distances = distances(data, ctx)?;
        let largest = distances.iter().fold(0.0f64, |m, &v| m.max(v));
        if largest.is_infinite() {
            let place = "distances: their squares are too large; scale the data".into();
            return Err(Error::NumericalFailure { place });
        }
        if largest == 0.0 && k.is_none() {
            // Nothing separates them, and no distance in proportion is below another.
            return Ok(Clustering { labels: vec![0; n], k: 1, ..Clustering::default() });
        }
        let scale = if largest > 0.0 { SPAN / largest } else { 0.0 };
        let method = match self.linkage {
            Linkage::Single => Method::Single,
            Linkage::Complete => Method::Complete,
            Linkage::Average => Method::Average,
            Linkage::Weighted => Method::Weighted,
            Linkage::Ward => Method::Ward,
            Linkage::Centroid => Method::Centroid,
            Linkage::Median => Method::Median,
        };
        let merging = HierarchicalCluster::<f64>::default().with_method(method);
        let merging = match (k, self.max_distance) {
            (None, Some(m)) => merging.max_distance((m * scale).min(f64::MAX)),
            (k, _) => merging.num_clusters(k.unwrap_or(1)),
        };
        let merging = merging
            .check()
            .map_err(|e| Error::NumericalFailure { place: format!("hierarchical: {e}") })?;
        let similarities = distances.mapv_into(|d| (-d * scale).exp());
        let names: Vec<u32> = adapting::interruptible("hierarchical", ctx, move || {
            let inner = KernelInner::Dense(similarities);
            let kernel: Kernel<f64> = Kernel { inner, method: KernelMethod::Gaussian(1.0) };
            // linfa numbers clusters as a hash map gives them.
            Ok(merging.transform(kernel).targets().iter().map(|&g| g as u32).collect())
        })?;
        let (labels, k) = mustlink_core::clustering::compact(&names);
        debug_assert_eq!(labels.len(), n);
        Ok(Clustering { labels, k, ..Clustering::default() })
    }

    fn properties(&self) -> Properties {
        Properties {
            accepts: vec![DataKind::Dense, DataKind::Distances],
            needs_k: self.k.is_none() && self.max_distance.is_none(),
            index_keyed: false,
            ..Properties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        // Similarities, the triangle above the diagonal twice, and kodama's lists.
        let n = shape.n as u64;
        16 * n * n + 200 * n
    }
}

/// All distances, n × n.
fn distances(data: &Data, ctx: &Context) -> Result<Array2<f64>> {
    let n = data.n();
    ctx.check()?;
    let mut out = vec![0.0; n * n];
    out.par_chunks_mut(n).enumerate().try_for_each(|(i, row)| {
        ctx.check()?;
        for (j, to) in row.iter_mut().enumerate() {
            *to = match data.kind() {
                DataKind::Distances => data.pair(i, j),
                _ => data.row(i).squared_distance(&data.row(j)).sqrt(),
            };
        }
        Ok::<(), Error>(())
    })?;
    Ok(Array2::from_shape_vec((n, n), out).expect("n × n values"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::clustering::canonical;
    use mustlink_laws::fixtures;
    use ndarray::array;
    use proptest::prelude::*;

    fn run(plugin: &Hierarchical, problem: &Problem) -> Clustering {
        mustlink_core::run::cluster(plugin, problem, &Context::new(1)).unwrap().clustering
    }

    const ALL: [Linkage; 7] = [
        Linkage::Single,
        Linkage::Complete,
        Linkage::Average,
        Linkage::Weighted,
        Linkage::Ward,
        Linkage::Centroid,
        Linkage::Median,
    ];

    #[test]
    fn worked_example() {
        // Gaps 1, 2, 1: two pairs at every linkage; up to a distance of 1.5 as well.
        let data = Data::dense(array![[0.0], [1.0], [3.0], [4.0]]).unwrap();
        for linkage in ALL {
            let two = Hierarchical { linkage, ..Hierarchical::default() };
            let c = run(&two, &Problem::new(data.clone()).with_k(2));
            assert_eq!((c.labels, c.k), (vec![0, 0, 1, 1], 2), "{linkage:?}");
            let near = Hierarchical { linkage, max_distance: Some(1.5), ..Hierarchical::default() };
            assert_eq!(run(&near, &Problem::new(data.clone())).labels, [0, 0, 1, 1], "{linkage:?}");
        }
    }

    #[test]
    fn distances_are_taken_as_they_are() {
        let (dense, _) = fixtures::dense(4);
        let matrix = fixtures::pairwise(&dense, DataKind::Distances);
        for linkage in ALL {
            let plugin = Hierarchical { linkage, ..Hierarchical::default() };
            assert_eq!(run(&plugin, &dense).labels, run(&plugin, &matrix).labels, "{linkage:?}");
        }
    }

    proptest! {
        /// Single linkage by its definition: components of the graph of distances below a limit.
        #[test]
        fn single_linkage_joins_what_a_chain_joins(values in prop::collection::vec(0i32..400, 2..40)) {
            let n = values.len();
            let x = Array2::from_shape_fn((n, 1), |(i, _)| f64::from(values[i]));
            let plugin = Hierarchical {
                linkage: Linkage::Single,
                max_distance: Some(10.5),
                ..Hierarchical::default()
            };
            let c = run(&plugin, &Problem::new(Data::dense(x).unwrap()));
            let mut order: Vec<usize> = (0..n).collect();
            order.sort_by_key(|&i| values[i]);
            let mut expected = vec![0u32; n];
            for w in order.windows(2) {
                let gap = u32::from(values[w[1]] - values[w[0]] > 10);
                expected[w[1]] = expected[w[0]] + gap;
            }
            prop_assert_eq!(canonical(&c.labels), canonical(&expected));
        }
    }
}
