//! Agglomerative clustering: the two nearest clusters are merged until enough are left.

use kodama::Method;
use mustlink_core::prelude::*;
use mustlink_core::union_find::UnionFind;
use mustlink_kernels::graph::reachability::{Join, ascending, single_linkage};

use crate::parts::adapting;

/// Agglomerative clustering (with the crate kodama): the two nearest clusters are merged until k are left.
///
/// # Method
/// Lance and Williams's scheme with one of seven linkages, on plain Euclidean distances; `single` by a spanning tree of
/// least weight.
/// # Input and output
/// n × d, dense, Euclidean distances, or a matrix of distances. The result has k clusters, or those that remain when
/// no two are nearer than `max_distance`.
/// # Errors
/// `MissingK`, `BadParam`.
/// # Cost and randomness
/// O(n²·d) time and O(n²) memory, `centroid` and `median` O(n² log n + n²·d) time, `single` O(n·d) memory; not random.
/// # References
/// [LanceWilliams1967]; [Mullner2011].
#[options]
pub struct Hierarchical {
    /// Number of clusters, at most n. If absent, the k of the problem.
    #[option(min = 1)]
    pub k: Option<usize>,
    /// Definition of the distance between two clusters.
    pub linkage: Linkage,
    /// Merge only clusters that are nearer than this (in the units of the distances), whatever k is. If absent, until
    /// k clusters are left.
    #[option(above = 0.0, units = 1)]
    pub max_distance: Option<f64>,
}

/// The distance between two clusters, computed from their objects or their centres.
#[options]
pub enum Linkage {
    /// The smallest distance between two objects.
    Single,
    /// The largest.
    Complete,
    /// The mean over all pairs (UPGMA).
    Average,
    /// The mean over the two clusters last merged, whatever their sizes (WPGMA).
    Weighted,
    /// The growth of the within-cluster sum of squares.
    #[default]
    Ward,
    /// The distance between the means (UPGMC).
    Centroid,
    /// The distance between centres that lie halfway between those last merged (WPGMC).
    Median,
}

#[plugin("hierarchical", version = 3, cites = ["LanceWilliams1967", "Mullner2011"])]
impl BaseClusterer for Hierarchical {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let data = &problem.data;
        let n = data.n();
        let k = match self.max_distance {
            Some(_) => None,
            None => Some(problem.require_k(self.k, "hierarchical")?),
        };
        let merges = match self.linkage {
            Linkage::Single => {
                let mut merges = single_linkage(data, ctx)?;
                ascending(&mut merges);
                merges
            }
            Linkage::Complete => by_kodama(data, Method::Complete, ctx)?,
            Linkage::Average => by_kodama(data, Method::Average, ctx)?,
            Linkage::Weighted => by_kodama(data, Method::Weighted, ctx)?,
            Linkage::Ward => by_kodama(data, Method::Ward, ctx)?,
            Linkage::Centroid => by_kodama(data, Method::Centroid, ctx)?,
            Linkage::Median => by_kodama(data, Method::Median, ctx)?,
        };
        let taken = match (k, self.max_distance) {
            (Some(k), _) => n.saturating_sub(k),
            (None, limit) => {
                let limit = limit.unwrap_or(f64::INFINITY);
                merges.iter().position(|m| m.height >= limit).unwrap_or(merges.len())
            }
        };
        let mut joined = UnionFind::new(n);
        for merge in &merges[..taken] {
            joined.union(merge.a, merge.b);
        }
        let tops: Vec<u32> = (0..n as u32).map(|i| joined.find(i)).collect();
        let (labels, k) = mustlink_core::clustering::compact(&tops);
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

    fn operations(&self, shape: &Shape) -> Option<f64> {
        let n = shape.n as f64;
        // A pass over the distances for each merge; those of a spanning tree need less.
        let merging = if matches!(self.linkage, Linkage::Single) { 8.0 } else { 64.0 };
        Some(n * n * merging + n * shape.entries as f64)
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let n = shape.n as u64;
        match self.linkage {
            // The rows, and the lightest edge to each object.
            Linkage::Single => 24 * shape.entries as u64 + 200 * n,
            // The triangle above the diagonal, and kodama's lists.
            _ => 4 * n * n + 240 * n,
        }
    }
}

/// The merges by kodama, each by an object of either cluster.
fn by_kodama(data: &Data, method: Method, ctx: &Context) -> Result<Vec<Join>> {
    let n = data.n();
    let mut distances = condensed(data, ctx)?;
    if distances.iter().any(|d| d.is_infinite()) {
        let place = "distances: their squares are too large; scale the data".into();
        return Err(Error::NumericalFailure { place });
    }
    let merges = adapting::interruptible("hierarchical", ctx, move || {
        Ok(kodama::linkage(&mut distances, n, method))
    })?;
    // Step t makes cluster n + t of two clusters with smaller numbers.
    let mut member: Vec<u32> = (0..n as u32).collect();
    let join = |step: &kodama::Step<f64>| {
        let (a, b) = (member[step.cluster1], member[step.cluster2]);
        member.push(a);
        Join { a, b, height: step.dissimilarity }
    };
    Ok(merges.steps().iter().map(join).collect())
}

/// The distances above the diagonal, row by row.
fn condensed(data: &Data, ctx: &Context) -> Result<Vec<f64>> {
    let n = data.n();
    let mut out = vec![0.0; n * n.saturating_sub(1) / 2];
    let mut rest = out.as_mut_slice();
    let mut rows = Vec::with_capacity(n);
    for i in 0..n {
        let (row, after) = rest.split_at_mut(n - 1 - i);
        rows.push(row);
        rest = after;
    }
    let filled = reduce::over(rows.into_iter(), |i, row| {
        ctx.check()?;
        for (to, j) in row.iter_mut().zip(i + 1..) {
            *to = match data.kind() {
                DataKind::Distances => data.pair(i, j),
                _ => data.row(i).squared_distance(&data.row(j)).sqrt(),
            };
        }
        Ok(())
    });
    filled.into_iter().collect::<Result<()>>()?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::clustering::canonical;
    use mustlink_laws::fixtures;
    use ndarray::{Array2, array};
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

    /// One fill value must not change how the others are merged.
    #[test]
    fn one_value_far_away_is_a_cluster_of_its_own() {
        let near = [0.0, 10.0, 1.0, 10.4, 11.0, 0.3];
        for far in [1e6, 1e18, 1e20, 1e36] {
            let x = Array2::from_shape_fn((7, 1), |(i, _)| near.get(i).copied().unwrap_or(far));
            for linkage in ALL {
                let plugin = Hierarchical { linkage, ..Hierarchical::default() };
                let problem = Problem::new(Data::dense(x.clone()).unwrap()).with_k(3);
                let c = run(&plugin, &problem);
                assert_eq!(c.labels, [0, 1, 0, 1, 1, 0, 2], "{linkage:?} beside {far}");
            }
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

    #[test]
    fn a_spanning_tree_has_the_heights_of_the_matrix() {
        let ctx = Context::new(1);
        for seed in 1..6 {
            let (problem, _) = fixtures::dense(seed);
            let heights = |merges: Vec<Join>| {
                let mut heights: Vec<f64> = merges.iter().map(|m| m.height).collect();
                heights.sort_by(f64::total_cmp);
                heights
            };
            let tree = heights(single_linkage(&problem.data, &ctx).unwrap());
            let matrix = heights(by_kodama(&problem.data, Method::Single, &ctx).unwrap());
            assert!(tree.iter().zip(&matrix).all(|(a, b)| (a - b).abs() <= 1e-9 * b), "{seed}");
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
