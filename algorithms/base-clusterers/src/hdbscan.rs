//! HDBSCAN: the dense regions that persist over the longest range of densities.

use mustlink_core::prelude::*;
use mustlink_kernels::graph::reachability::mutual_reachability;

use crate::parts::extraction::Extraction;

/// HDBSCAN*: the clusters of a density hierarchy that are most stable or keep most constraints.
///
/// # Method
/// The reachability distance of two objects is the largest of their distance and their distances to their
/// `min_samples`-th nearest objects. Objects joined up to some distance form a dense region at that distance. As the
/// distance decreases, a cluster lives until it splits into parts of at least `min_cluster_size` objects, which are
/// clusters of their own. Objects in smaller parts fall out. Of nested clusters, those with the largest sum of
/// stabilities are taken. The stability of a cluster is a sum over its objects: 1 / distance from the start of the
/// cluster to the place where the object falls out. If constraints are given, the clusters that keep most of their
/// weight are taken, ties by stability. Objects outside all clusters are noise; such an object keeps its cannot-links
/// and breaks its must-links.
/// # Input and output
/// n × d, dense or sparse, Euclidean distances, or a matrix of distances. The method finds the number of clusters; k is
/// not used. Every object has a label (see `noise`); diagnostics: `noise_objects`, `stability`, and with constraints
/// `satisfaction`, the share of their weight that is kept. Every pair of members of a group counts.
/// # Errors
/// `BadParam`; `HardNotSupported` for constraints marked hard.
/// # Cost and randomness
/// With up to 16 features a k-d tree and Borůvka's method, about n·log²n; otherwise O(n²·d) time. O(n) memory, with
/// more features O(n · (`min_samples` + d)). Constraints and members of groups: O(depth of the hierarchy) each. Not
/// random.
/// # References
/// [Campello2013], [Campello2015]; constraints: [CampelloFosc2013] §3; `epsilon`: [MalzerBaum2020]; tree: [March2010].
/// Edges of equal length are cut together, as in the paper. Packages that cut such edges one after the other give an
/// object between two clusters to either of them. They also end a cluster when a part with a lifetime of 0 splits off;
/// this makes more and smaller clusters if `min_cluster_size` is not above `min_samples`. Differs: equal objects are
/// not infinitely near, and objects that are all equal are one cluster.
#[options]
pub struct Hdbscan {
    /// Number of neighbours, including itself, that make an object a core (m_pts). If absent, `min_cluster_size`.
    #[option(min = 1)]
    pub min_samples: Option<usize>,
    /// Selection of clusters from the hierarchy.
    #[option(flatten)]
    pub extraction: Extraction,
}

#[plugin("hdbscan", version = 2, cites = ["Campello2013", "Campello2015", "CampelloFosc2013", "MalzerBaum2020", "March2010"])]
impl BaseClusterer for Hdbscan {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let min_samples = self.min_samples.unwrap_or(self.extraction.min_cluster_size);
        let joins = mutual_reachability(&problem.data, min_samples, ctx)?;
        ctx.check()?;
        Ok(self.extraction.extract(joins, &problem.constraints))
    }

    fn properties(&self) -> Properties {
        self.extraction.properties()
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let min_samples = self.min_samples.unwrap_or(self.extraction.min_cluster_size);
        // In many features a list of neighbours, and the rows of objects that are not yet reached.
        let (neighbours, rows) = match shape.d <= 16 {
            true => (16 * shape.d, 0),
            false => (24 * min_samples.min(shape.n), 8 * shape.entries),
        };
        ((240 + neighbours) * shape.n + rows + 48 * shape.constraints) as u64
    }

    fn operations(&self, shape: &Shape) -> Option<f64> {
        let n = shape.n as f64;
        // Borůvka's rounds are about log n, each with a search of as many steps for every object.
        let searched = if shape.d <= 16 { 16.0 * n.log2().max(1.0).powi(2) } else { 2.0 * n };
        Some(n * searched * shape.d as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::constraints::Group;
    use mustlink_kernels::noise::Noise;
    use ndarray::Array2;

    fn on_a_line(x: &[f64], constraints: Constraints) -> Problem {
        let data = Array2::from_shape_vec((x.len(), 1), x.to_vec()).unwrap();
        Problem::new(Data::dense(data).unwrap()).with_constraints(constraints)
    }

    fn run(hdbscan: &Hdbscan, problem: &Problem) -> Clustering {
        mustlink_core::run::cluster(hdbscan, problem, &Context::new(1)).unwrap().clustering
    }

    /// Three triples, the first two near each other.
    const TRIPLES: [f64; 10] = [0.0, 1.0, 2.0, 4.0, 4.5, 5.0, 20.0, 21.0, 22.0, 60.0];

    fn triples() -> Hdbscan {
        let extraction =
            Extraction { min_cluster_size: 3, noise: Noise::OneCluster, ..Extraction::default() };
        Hdbscan { min_samples: Some(1), extraction }
    }

    #[test]
    fn worked_example() {
        // Levels 1 / height. The first two triples part at ½ and last to 1 and 2: 3 · ½ + 3 · 1½ = 6; what they
        // make together lasts from 1/15 to ½, 6 · 0.43 = 2.6. The third: 3 · (1 − 1/15) = 2.8.
        let free = run(&triples(), &on_a_line(&TRIPLES, Constraints::default()));
        assert_eq!((free.labels, free.k), (vec![0, 0, 0, 1, 1, 1, 2, 2, 2, 3], 4));
        let said = &free.extras.diagnostics;
        assert!((said["stability"] - 8.8).abs() < 1e-12 && said["noise_objects"] == 1.0);
        assert!(!said.contains_key("satisfaction"));
    }

    #[test]
    fn constraints_choose_among_nested_clusters() {
        let must =
            Constraints::new(10, [Constraint::must(1, 4), Constraint::cannot(0, 9)]).unwrap();
        let c = run(&triples(), &on_a_line(&TRIPLES, must.clone()));
        assert_eq!(c.labels, [0, 0, 0, 0, 0, 0, 1, 1, 1, 2]);
        assert_eq!(c.extras.diagnostics["satisfaction"], 1.0);
        // Two cannot-links against it, one of them of a group.
        let group = Group::new("photo", vec![0, 3, 7]);
        let both = must.clone().with_groups(10, [group.clone()]).unwrap();
        // One each: stability decides.
        assert_eq!(run(&triples(), &on_a_line(&TRIPLES, both)).k, 4);
        // At more than ½ of the greatest stability lost, what is gained by the link is less.
        let mut hdbscan = triples();
        hdbscan.extraction.stability_weight = 0.9;
        assert_eq!(run(&hdbscan, &on_a_line(&TRIPLES, must)).k, 4);
    }

    #[test]
    fn too_few_objects_are_noise_and_equal_rows_one_cluster() {
        let few = run(&triples(), &on_a_line(&[0.0, 1.0], Constraints::default()));
        assert_eq!((few.k, few.extras.diagnostics["noise_objects"]), (1, 2.0));
        let same = run(&triples(), &on_a_line(&[2.5; 9], Constraints::default()));
        assert_eq!((same.k, same.extras.diagnostics["noise_objects"]), (1, 0.0));
        assert_eq!(same.extras.diagnostics["stability"], 0.0);
        // One cluster keeps every must-link, and no cannot-link: of weight 3, 1 is kept.
        let pairs = [Constraint::must(0, 1), Constraint::cannot(2, 3).weighing(2.0)];
        let same = on_a_line(&[2.5; 9], Constraints::new(9, pairs).unwrap());
        let kept = run(&triples(), &same).extras.diagnostics["satisfaction"];
        assert!((kept - 1.0 / 3.0).abs() < 1e-12, "{kept}");
        // Nothing parts into two clusters: all are noise, or one.
        let mut hdbscan = triples();
        let line = on_a_line(&[0.0, 1.0, 2.0, 4.0], Constraints::default());
        assert_eq!(run(&hdbscan, &line).extras.diagnostics["noise_objects"], 4.0);
        hdbscan.extraction.allow_single_cluster = true;
        assert_eq!(run(&hdbscan, &line).extras.diagnostics["noise_objects"], 0.0);
    }
}
