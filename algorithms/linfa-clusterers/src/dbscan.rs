//! Which objects hang together in dense regions?

use linfa::ParamGuard;
use linfa::traits::Transformer;
use linfa_nn::distance::{Distance, L2Dist};
use linfa_nn::{CommonNearestNeighbour, NearestNeighbour};
use mustlink_core::prelude::*;
use mustlink_kernels::noise::{Noise, with_noise};
use ndarray::{ArrayView2, Axis};

use crate::parts::adapting;

/// DBSCAN, from linfa: clusters are chains of objects that have enough neighbours within a radius.
///
/// # Method
/// An object with `min_points` neighbours (itself among them) is a core; cores within the radius of
/// each other share a cluster, other objects join the first cluster that reaches them, and what
/// nothing reaches is noise.
/// # Input and output
/// n × d, dense, Euclidean distances. As many clusters as there are; k is not used. Every object
/// has a label, see `noise`; diagnostics: `radius`, `noise_objects`.
/// # Errors
/// `BadParam`.
/// # Cost and randomness
/// n searches in a k-d tree, in the worst case O(n²·d); of equal rows only `min_points` are searched for. Nothing is
/// random.
/// # References
/// [Ester1996]. Differs: absent, the radius is chosen from the data.
#[options]
pub struct Dbscan {
    /// Neighbours within the radius that make an object a core, itself among them (MinPts).
    #[option(default = 5, min = 2)]
    pub min_points: usize,
    /// The radius of a neighbourhood (Eps, in feature units); absent: the smallest that makes nine
    /// in ten objects a core.
    #[option(above = 0.0, units = 1)]
    pub radius: Option<f64>,
    /// How objects in no dense region count in an ensemble and in a study; in files and in Python they are
    /// noise, -1.
    pub noise: Noise,
}

#[plugin("dbscan", version = 2, cites = ["Ester1996"])]
impl BaseClusterer for Dbscan {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        // More than all objects are never near: linfa makes room for as many as it is asked for.
        let (min_points, radius) = (self.min_points.min(problem.n() + 1), self.radius);
        let (data, run) = (problem.data.clone(), ctx.clone());
        let (groups, radius) = adapting::interruptible("dbscan", ctx, move || {
            groups(&data, min_points, radius, &run)
        })?;
        let mut clustering = with_noise(&groups, self.noise);
        clustering.extras.diagnostics.insert("radius".into(), radius);
        Ok(clustering)
    }

    fn properties(&self) -> Properties {
        Properties { needs_k: false, index_keyed: false, ..Properties::default() }
    }

    fn operations(&self, shape: &Shape) -> Option<f64> {
        // A radius that holds few objects at the edge of a cluster holds many within it.
        Some(0.6 * (shape.n as f64).powi(2) * shape.d as f64)
    }

    fn memory(&self, shape: &Shape) -> u64 {
        // The matrix where it is a view, without repeats, the k-d tree, and at worst a list of all as neighbours.
        (16 * shape.n * shape.d + 192 * shape.n) as u64
    }
}

/// The cluster of each object, if it has one, and the radius.
fn groups(
    data: &Data,
    min_points: usize,
    radius: Option<f64>,
    ctx: &Context,
) -> Result<(Vec<Option<usize>>, f64)> {
    let (x, factor) = adapting::bounded(data);
    // Equal rows have the same neighbours. `min_points` of them are kept, which is enough to make them cores; if all
    // were kept, each would list all others.
    let (kept, place) = without_repeats(&x.view(), min_points);
    let x = if kept.len() < x.nrows() { x.select(Axis(0), &kept).into() } else { x };
    let radius = match radius {
        Some(radius) => radius / factor,
        None => usual_radius(&x.view(), &place, min_points, ctx)?,
    };
    // Duplicates are neighbours at any radius, and linfa takes none of 0.
    let radius = radius.max(f64::MIN_POSITIVE);
    let params = linfa_clustering::Dbscan::params::<f64>(min_points).tolerance(radius);
    let params = params.check().map_err(|e| Error::bad_param("radius", radius, e.to_string()))?;
    let found = params.transform(&x.view());
    Ok((place.iter().map(|&at| found[at]).collect(), radius * factor))
}

/// The rows without those that repeat more than `most` times, and for each row the place of an equal one there.
fn without_repeats(x: &ArrayView2<'_, f64>, most: usize) -> (Vec<usize>, Vec<usize>) {
    let mut order: Vec<usize> = (0..x.nrows()).collect();
    order.sort_unstable_by(|&i, &j| {
        let mut cells = x.row(i).into_iter().zip(x.row(j)).map(|(a, b)| a.total_cmp(b));
        cells.find(|cell| cell.is_ne()).unwrap_or(i.cmp(&j))
    });
    let mut equal: Vec<usize> = (0..x.nrows()).collect();
    for group in order.chunk_by(|&i, &j| x.row(i) == x.row(j)) {
        // If zeros differ in sign, the sorted order is not the order of rows.
        let first = *group.iter().min().expect("a group has a row");
        group.iter().skip(most).for_each(|&i| equal[i] = first);
    }
    let kept: Vec<usize> = (0..x.nrows()).filter(|&i| equal[i] == i).collect();
    let place = equal.iter().map(|i| kept.partition_point(|k| k < i)).collect();
    (kept, place)
}

/// The radius within which nine in ten objects have `min_points` neighbours; `place` says which row each is.
fn usual_radius(
    x: &ArrayView2<'_, f64>,
    place: &[usize],
    min_points: usize,
    ctx: &Context,
) -> Result<f64> {
    let failed = |e: String| Error::NumericalFailure { place: format!("neighbours: {e}") };
    let tree = CommonNearestNeighbour::KdTree.from_batch(x, L2Dist);
    let tree = tree.map_err(|e| failed(e.to_string()))?;
    let mut reach = Vec::with_capacity(x.nrows());
    for (i, object) in x.rows().into_iter().enumerate() {
        if i % 1024 == 0 {
            ctx.check()?;
        }
        let near = tree.k_nearest(object, min_points).map_err(|e| failed(e.to_string()))?;
        reach.push(near.last().map_or(0.0, |(far, _)| L2Dist.distance(object, far.view())));
    }
    let reach = place.iter().map(|&at| reach[at]).collect();
    // One step up: the search compares squares of what is rounded here.
    Ok(adapting::quantile(reach, 0.9) * (1.0 + 1e-12))
}

#[cfg(test)]
mod tests {
    use super::*;
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

    /// Each of 10⁴ equal rows listed all others.
    #[test]
    fn repeated_rows_change_no_label() {
        let values = [0.0, 5.0, 1.0, 5.0, 0.0, 9.0, 5.0, 0.0, 5.0, 0.0, 5.0, -0.0, 2.5, 5.0];
        let x = Array2::from_shape_fn((values.len(), 2), |(i, f)| values[i] * (1.0 + f as f64));
        for min_points in 2..5 {
            let (kept, place) = without_repeats(&x.view(), min_points);
            assert!(kept.len() < x.nrows());
            for (i, &at) in place.iter().enumerate() {
                assert_eq!(x.row(i), x.row(kept[at]));
            }
            for radius in [1e-9, 2.5, 6.0] {
                let plain = linfa_clustering::Dbscan::params::<f64>(min_points).tolerance(radius);
                let plain = plain.check().unwrap().transform(&x.view()).to_vec();
                let data = Data::dense(x.clone()).unwrap();
                let (found, _) = groups(&data, min_points, Some(radius), &Context::new(1)).unwrap();
                assert_eq!(found, plain);
            }
            let all: Vec<usize> = (0..x.nrows()).collect();
            let usual = |x: &Array2<f64>, place: &[usize]| {
                usual_radius(&x.view(), place, min_points, &Context::new(1)).unwrap()
            };
            assert_eq!(usual(&x.select(Axis(0), &kept), &place), usual(&x, &all));
        }
    }

    proptest! {
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
