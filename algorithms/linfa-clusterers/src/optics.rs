//! In which order does density lead from object to object, and where does it break off?

use linfa::ParamGuard;
use linfa::traits::Transformer;
use mustlink_core::prelude::*;
use mustlink_kernels::noise::{Noise, with_noise};

use crate::parts::adapting;

/// OPTICS, from linfa: objects in the order in which density reaches them, cut into clusters.
///
/// # Method
/// linfa orders the objects, each with the distance at which its predecessors reach it. A cluster is
/// a stretch of that order in which every object is reached within the radius; what follows a gap
/// and is no core is noise.
/// # Input and output
/// n × d, dense, Euclidean distances. As many clusters as there are; k is not used. Every object
/// has a label, see `noise`; diagnostics: `radius`, `noise_objects`.
/// # Errors
/// `BadParam`.
/// # Cost and randomness
/// O(n² log n): linfa marks the beginnings of clusters only where every object may reach every
/// other. Nothing is random.
/// # References
/// [Ankerst1999]. Differs: absent, the radius is chosen from the data.
#[options]
pub struct Optics {
    /// Neighbours that make an object a core, itself among them (MinPts).
    #[option(default = 5, min = 2)]
    pub min_points: usize,
    /// Distance at which the order is cut (ε′, in feature units); absent: the smallest at which nine
    /// in ten objects are cores.
    #[option(above = 0.0, units = 1)]
    pub radius: Option<f64>,
    /// How objects in no dense region count in an ensemble and in a study; in files and in Python they are
    /// noise, -1.
    pub noise: Noise,
}

#[plugin("optics", version = 3, cites = ["Ankerst1999"])]
impl BaseClusterer for Optics {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        // More than all objects are never near: linfa makes room for as many as it is asked for.
        let min_points = self.min_points.min(problem.n() + 1);
        let data = problem.data.clone();
        let (order, factor) = adapting::interruptible("optics", ctx, move || {
            let (x, factor) = adapting::bounded(&data);
            let params = linfa_clustering::Optics::params::<f64>(min_points);
            let params = params
                .check()
                .map_err(|e| Error::bad_param("min_points", min_points, e.to_string()))?;
            Ok((params.transform(x.view()), factor))
        })?;
        let cores = order.iter().filter_map(|s| *s.core_distance());
        let radius = match self.radius {
            Some(radius) => radius / factor,
            None => adapting::quantile(cores.collect(), 0.9),
        };
        let mut groups = vec![None; problem.n()];
        let (mut current, mut clusters) = (None, 0);
        for (at, object) in order.iter().enumerate() {
            let within = |distance: &Option<f64>| distance.is_some_and(|d| d <= radius);
            let reached = within(object.reachability_distance());
            // linfa reaches the very first from object 0, which may come later: of a cluster if 0 is a core.
            if !reached || at == 0 {
                current = (reached || within(object.core_distance())).then_some(clusters);
                clusters += usize::from(current.is_some());
            }
            groups[object.index()] = current;
        }
        let mut clustering = with_noise(&groups, self.noise);
        clustering.extras.diagnostics.insert("radius".into(), radius * factor);
        Ok(clustering)
    }

    fn properties(&self) -> Properties {
        Properties { needs_k: false, ..Properties::default() }
    }

    fn operations(&self, shape: &Shape) -> Option<f64> {
        // Every object's neighbours are all objects, in order of their distance.
        let n = shape.n as f64;
        Some(n * n * (16.0 * n.log2().max(1.0) + shape.d as f64))
    }

    fn memory(&self, shape: &Shape) -> u64 {
        // The matrix where it is a view, the k-d tree, and a list of all as neighbours.
        (8 * shape.n * shape.d + 320 * shape.n) as u64
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
        // Of three objects within 1 of object 0 linfa takes the last first, which is no core.
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
