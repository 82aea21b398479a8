//! OPTICS: an order in which density leads from object to object, cut where it drops.

use mustlink_core::prelude::*;
use mustlink_kernels::distance::kd_tree::KdTree;
use mustlink_kernels::graph::dense_regions::{DenseRegions, core_distances};
use mustlink_kernels::noise::{Noise, with_noise};

use crate::parts::adapting;

/// OPTICS: orders the objects by the density at which they are reached, and cuts this order into clusters.
///
/// # Method
/// The order starts at the first object. The next object is always the one that the objects before reach at the least
/// distance. This distance is the larger of two: the distance between the objects, and the core distance of the
/// object that reaches it. If no core reaches another object within the radius, the next object is the first one left.
/// A cluster is a stretch of that order in which every object is reached. An object that follows a gap and is not a
/// core is noise.
/// # Input and output
/// n × d, dense, Euclidean distances. The method finds the number of clusters; k is not used. Every object has a label
/// (see `noise`); diagnostics: `radius`, `noise_objects`.
/// # Errors
/// `BadParam`.
/// # Cost and randomness
/// With up to 16 features it searches a k-d tree: about n·log n, and one step for each object within the radius of
/// another. With more features O(n²·d) time at worst. O(n) memory, with more than 16 features O(n · `min_points`).
/// Not random.
/// # References
/// [Ankerst1999], with ε = ε′. Differs: if no radius is given, it is chosen from the data.
#[options]
pub struct Optics {
    /// Number of neighbours, including itself, that make an object a core (MinPts).
    #[option(default = 5, min = 2)]
    pub min_points: usize,
    /// Distance at which the order is cut (ε′, in feature units). If absent, the smallest at which nine in ten
    /// objects are cores.
    #[option(above = 0.0, units = 1)]
    pub radius: Option<f64>,
    /// Treatment of objects outside dense regions in an ensemble and in a study. In files and in Python they are
    /// noise, -1.
    pub noise: Noise,
}

#[plugin("optics", version = 4, cites = ["Ankerst1999"])]
impl BaseClusterer for Optics {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        ctx.check()?;
        let n = problem.n();
        let (data, factor) = adapting::bounded(&problem.data)?;
        let tree = KdTree::new(data.matrix().view());
        // Of fewer objects none is a core.
        let cores = match self.min_points <= n {
            true => core_distances(&data, &tree, self.min_points, ctx)?,
            false => vec![f64::INFINITY; n],
        };
        let limit = match self.radius {
            Some(radius) => (radius / factor).powi(2),
            None if self.min_points <= n => adapting::quantile(cores.clone(), 0.9),
            None => 0.0,
        };
        let order = DenseRegions::new(&tree, limit).order(&cores, ctx)?;
        let mut groups = vec![None; n];
        let (mut current, mut clusters) = (None, 0);
        for reached in order {
            let at = reached.object as usize;
            if reached.distance > limit {
                current = (cores[at] <= limit).then_some(clusters);
                clusters += usize::from(current.is_some());
            }
            groups[at] = current;
        }
        let mut clustering = with_noise(&groups, self.noise);
        let radius = self.radius.unwrap_or(limit.sqrt() * factor);
        clustering.extras.diagnostics.insert("radius".into(), radius);
        Ok(clustering)
    }

    fn properties(&self) -> Properties {
        Properties { needs_k: false, ..Properties::default() }
    }

    fn operations(&self, shape: &Shape) -> Option<f64> {
        let n = shape.n as f64;
        let searched = if shape.d <= 16 { 128.0 * n.log2().max(1.0) } else { 2.0 * n };
        Some(n * searched * shape.d as f64)
    }

    fn memory(&self, shape: &Shape) -> u64 {
        // As `dbscan`, and a queue that holds an object as often as it is reached.
        let near = if shape.d > 16 { 24 * self.min_points.min(shape.n) } else { 0 };
        ((20 * shape.d + 160 + near) * shape.n) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dbscan::Dbscan;
    use ndarray::{Array2, array};
    use proptest::prelude::*;

    fn run(optics: &dyn BaseClusterer, x: &Array2<f64>) -> Clustering {
        let problem = Problem::new(Data::dense(x.clone()).unwrap());
        mustlink_core::run::cluster(optics, &problem, &Context::new(1)).unwrap().clustering
    }

    #[test]
    fn worked_example() {
        let x = array![[0.0], [10.0], [1.0], [11.0], [2.0], [12.0], [50.0]];
        let optics = Optics { min_points: 2, radius: Some(1.5), ..Optics::default() };
        let c = run(&optics, &x);
        assert_eq!((c.labels, c.k), (vec![0, 1, 0, 1, 0, 1, 2], 3));
        assert_eq!(c.extras.diagnostics["noise_objects"], 1.0);
    }

    #[test]
    fn too_few_objects_are_noise_and_equal_rows_one_cluster() {
        let few = run(&Optics::default(), &array![[0.0], [1.0], [2.0]]);
        assert_eq!((few.k, few.extras.diagnostics["noise_objects"]), (3, 3.0));
        assert_eq!(run(&Optics::default(), &Array2::from_elem((40, 2), 1.5)).k, 1);
    }

    #[test]
    fn an_object_at_the_edge_that_comes_first_joins_the_core_that_reaches_it() {
        let x = array![[0.0], [1.0], [2.0], [-1.0]];
        let optics = Optics { min_points: 3, radius: Some(1.5), ..Optics::default() };
        assert_eq!(run(&optics, &x).labels, [0; 4]);
    }

    proptest! {
        /// At one radius the cores are grouped as by DBSCAN.
        #[test]
        fn cores_are_grouped_as_by_dbscan(values in prop::collection::vec(0i32..200, 4..50)) {
            let x = Array2::from_shape_fn((values.len() / 2, 2), |(i, f)| {
                f64::from(values[2 * i + f]) + 0.001 * i as f64
            });
            let (min_points, radius) = (3, Some(20.0));
            let a = run(&Optics { min_points, radius, ..Optics::default() }, &x);
            let b = run(&Dbscan { min_points, radius, ..Dbscan::default() }, &x);
            let near = |i: usize, j: usize| {
                (0..2).map(|f| (x[[i, f]] - x[[j, f]]).powi(2)).sum::<f64>() <= 400.0
            };
            let n = x.nrows();
            let core: Vec<usize> =
                (0..n).filter(|&i| (0..n).filter(|&j| near(i, j)).count() >= 3).collect();
            for &i in &core {
                for &j in &core {
                    prop_assert_eq!(a.labels[i] == a.labels[j], b.labels[i] == b.labels[j]);
                }
            }
        }
    }
}
