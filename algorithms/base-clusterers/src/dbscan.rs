//! DBSCAN: objects that dense regions connect.

use mustlink_core::prelude::*;
use mustlink_kernels::distance::kd_tree::KdTree;
use mustlink_kernels::graph::dense_regions::{DenseRegions, core_distances};
use mustlink_kernels::noise::{Noise, with_noise};

use crate::parts::adapting;

/// DBSCAN: clusters are chains of objects that have enough neighbours within a radius.
///
/// # Method
/// An object with `min_points` neighbours (including itself) is a core. Cores within the radius of each other share a
/// cluster. Other objects join the first cluster that reaches them; objects that no cluster reaches are noise.
/// # Input and output
/// n × d, dense, Euclidean distances. The method finds the number of clusters; k is not used. Every object has a label
/// (see `noise`); diagnostics: `radius`, `noise_objects`.
/// # Errors
/// `BadParam`.
/// # Cost and randomness
/// With up to 16 features it searches a k-d tree, in about n·log n time for any radius; with more it takes O(n²·d)
/// time at worst. O(n) memory; without a radius and with more than 16 features O(n · `min_points`). Not random.
/// # References
/// [Ester1996]. Differs: if no radius is given, it is chosen from the data.
#[options]
pub struct Dbscan {
    /// Number of neighbours within the radius, including itself, that make an object a core (MinPts).
    #[option(default = 5, min = 2)]
    pub min_points: usize,
    /// Radius of a neighbourhood (Eps, in feature units). If absent, the smallest radius at which nine in ten objects
    /// are cores.
    #[option(above = 0.0, units = 1)]
    pub radius: Option<f64>,
    /// Treatment of objects outside dense regions in an ensemble and in a study. In files and in Python they are
    /// noise, -1.
    pub noise: Noise,
}

#[plugin("dbscan", version = 2, cites = ["Ester1996"])]
impl BaseClusterer for Dbscan {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let (groups, radius) = self.groups(&problem.data, ctx)?;
        let mut clustering = with_noise(&groups, self.noise);
        clustering.extras.diagnostics.insert("radius".into(), radius);
        Ok(clustering)
    }

    fn properties(&self) -> Properties {
        Properties { needs_k: false, index_keyed: false, ..Properties::default() }
    }

    fn operations(&self, shape: &Shape) -> Option<f64> {
        let n = shape.n as f64;
        let searched = if shape.d <= 16 { 64.0 * n.log2().max(1.0) } else { n };
        Some(n * searched * shape.d as f64)
    }

    fn memory(&self, shape: &Shape) -> u64 {
        // A copy where the magnitude is strange, the rows of the tree and its boxes, and lists over the objects.
        let near = if shape.d > 16 && self.radius.is_none() {
            24 * self.min_points.min(shape.n)
        } else {
            0
        };
        ((20 * shape.d + 64 + near) * shape.n) as u64
    }
}

impl Dbscan {
    /// The cluster of each object, if it has one, and the radius.
    fn groups(&self, data: &Data, ctx: &Context) -> Result<(Vec<Option<usize>>, f64)> {
        ctx.check()?;
        let (data, factor) = adapting::bounded(data)?;
        let tree = KdTree::new(data.matrix().view());
        let (limit, is_core) = match self.radius {
            Some(radius) => ((radius / factor).powi(2), None),
            None => {
                let cores = core_distances(&data, &tree, self.min_points, ctx)?;
                // One step up, so that rounding does not decide about the object that gives the radius.
                let usual = adapting::quantile(cores.clone(), 0.9).sqrt() * (1.0 + 1e-12);
                let limit = usual.powi(2);
                let enough = self.min_points <= data.n();
                (limit, Some(cores.iter().map(|&core| enough && core <= limit).collect()))
            }
        };
        let regions = DenseRegions::new(&tree, limit);
        let is_core: Vec<bool> = match is_core {
            Some(is_core) => is_core,
            None => regions.cores(self.min_points, ctx)?,
        };
        let radius = self.radius.unwrap_or(limit.sqrt() * factor);
        Ok((regions.clusters(&is_core, ctx)?, radius))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linfa::ParamGuard;
    use linfa::traits::Transformer;
    use mustlink_laws::fixtures;
    use ndarray::{Array2, array};
    use proptest::prelude::*;

    fn run(dbscan: &Dbscan, x: Array2<f64>) -> Clustering {
        let problem = Problem::new(Data::dense(x).unwrap());
        mustlink_core::run::cluster(dbscan, &problem, &Context::new(1)).unwrap().clustering
    }

    #[test]
    fn worked_example() {
        // Two runs of objects one apart, and one far from all.
        let x = array![[0.0], [1.0], [2.0], [10.0], [11.0], [12.0], [50.0]];
        let dbscan = Dbscan { min_points: 2, radius: Some(1.5), ..Dbscan::default() };
        let c = run(&dbscan, x.clone());
        assert_eq!((c.labels, c.k), (vec![0, 0, 0, 1, 1, 1, 2], 3));
        assert_eq!(c.extras.diagnostics["noise_objects"], 1.0);
        let all_noise = Dbscan { radius: Some(0.5), noise: Noise::OneCluster, ..dbscan };
        assert_eq!(run(&all_noise, x).labels, [0; 7]);
    }

    #[test]
    fn absent_radius_finds_the_groups_of_the_fixture() {
        let (x, classes) = fixtures::groups(60, 3, 0.3, 1);
        let c = run(&Dbscan { noise: Noise::OneCluster, ..Dbscan::default() }, x);
        let clustered = |i: &usize| c.sizes()[c.labels[*i] as usize] > 30;
        let objects: Vec<usize> = (0..classes.len()).filter(clustered).collect();
        assert!(objects.len() >= 140, "{}", objects.len());
        for &i in &objects {
            for &j in &objects {
                assert_eq!(classes[i] == classes[j], c.labels[i] == c.labels[j]);
            }
        }
    }

    #[test]
    fn equal_rows_are_one_cluster_and_magnitudes_do_not_matter() {
        assert_eq!(run(&Dbscan::default(), Array2::from_elem((100, 3), 2.5)).k, 1);
        let x = array![[0.0], [1.0], [2.0], [10.0], [11.0], [12.0], [50.0]];
        for scale in [1e-100, 1e97] {
            let dbscan = Dbscan { min_points: 2, radius: Some(1.5 * scale), ..Dbscan::default() };
            assert_eq!(run(&dbscan, x.mapv(|v| v * scale)).k, 3, "{scale}");
        }
    }

    proptest! {
        /// Every label is that of linfa, with many equal rows and objects just at the radius.
        #[test]
        fn labels_are_those_of_linfa(
            values in prop::collection::vec(0i32..30, 3..240),
            d in 1usize..4,
            min_points in 2usize..6,
            radius in prop_oneof![Just(0.1), Just(1.0), 0.5f64..9.0],
        ) {
            let n = values.len() / d;
            let x = Array2::from_shape_fn((n, d), |(i, f)| f64::from(values[d * i + f]) / 10.0);
            let linfa = linfa_clustering::Dbscan::params::<f64>(min_points).tolerance(radius);
            let theirs = linfa.check().unwrap().transform(&x.view()).to_vec();
            let dbscan = Dbscan { min_points, radius: Some(radius), ..Dbscan::default() };
            let data = Data::dense(x).unwrap();
            prop_assert_eq!(dbscan.groups(&data, &Context::new(1)).unwrap().0, theirs);
        }

        /// The plain definition: cores within the radius share a cluster, noise is near no core.
        #[test]
        fn clusters_are_those_of_the_definition(
            values in prop::collection::vec(0i32..25, 4..60),
            min_points in 2usize..5,
        ) {
            let n = values.len() / 2;
            let x = Array2::from_shape_fn((n, 2), |(i, f)| f64::from(values[2 * i + f]));
            let radius = 2.5;
            let near = |i: usize, j: usize| {
                (0..2).map(|f| (x[[i, f]] - x[[j, f]]).powi(2)).sum::<f64>() <= radius * radius
            };
            let core: Vec<bool> =
                (0..n).map(|i| (0..n).filter(|&j| near(i, j)).count() >= min_points).collect();
            let dbscan = Dbscan { min_points, radius: Some(radius), ..Dbscan::default() };
            let c = run(&dbscan, x.clone());
            for i in 0..n {
                for j in 0..n {
                    if core[i] && core[j] && near(i, j) {
                        prop_assert_eq!(c.labels[i], c.labels[j]);
                    }
                }
                let cores: Vec<usize> = (0..n).filter(|&j| core[j] && near(i, j)).collect();
                match cores.is_empty() {
                    true => prop_assert_eq!(c.sizes()[c.labels[i] as usize], 1),
                    false => prop_assert!(cores.iter().any(|&j| c.labels[j] == c.labels[i])),
                }
            }
        }
    }
}
