//! K-means that starts from objects of known cluster.

use mustlink_core::prelude::*;
use mustlink_kernels::distance::points::Points;
use mustlink_kernels::kmeans::lloyd::lloyd;

use crate::parts::seeds::{SeedOptions, seeds};

/// Seeded k-means: neighbourhoods of the constraints give the first centres; their objects may change clusters.
///
/// # Method
/// Centres start at the means of the seeds; then plain k-means runs. The seeds are the labels of a given start,
/// without unknown ones. Without a given start, they are the neighbourhoods: at most the k largest, one for each
/// cluster.
/// # Input and output
/// n × d, dense or sparse, must-links; objects may have weights. One label per object in `0..k`, k centres.
/// # Errors
/// `MissingK`, `BadK`, `TooManyClusters`; `BadParam` if a cluster has no seed and `unseeded = "error"`.
/// # Cost and randomness
/// As k-means; random only if a cluster has no seed.
/// # References
/// [Basu2002] figure 1; [Basu2004] uses neighbourhoods as its seeds.
#[options]
pub struct SeededKMeans {
    /// Options shared by methods that start from objects whose cluster is known.
    #[option(flatten)]
    pub options: SeedOptions,
}

#[plugin("seeded_kmeans", cites = ["Basu2002", "Basu2004"], waives = ["far_objects_stand_alone" => "without seeds its clusters start about the mean, which a far object moves", "cannot_links_change_something" => "seeds are groups that must-links join"])]
impl BaseClusterer for SeededKMeans {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let o = &self.options;
        let k = problem.require_k(o.k, "seeded_kmeans")?;
        let points = Points::new(&problem.data, o.distortion)?;
        let seeds = seeds(problem, k)?;
        o.best(&points, k, &seeds, problem, ctx, |centres, ctx| {
            lloyd(&points, centres, o.stop(), o.empty, ctx)
        })
    }

    fn properties(&self) -> Properties {
        self.options.properties()
    }

    fn memory(&self, shape: &Shape) -> u64 {
        self.options.memory(shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kmeans::KMeans;
    use crate::parts::seeds::Unseeded;
    use mustlink_kernels::kmeans::seeding::Init;
    use mustlink_laws::fixtures;
    use ndarray::array;
    use proptest::prelude::*;

    fn with(unseeded: Unseeded) -> SeededKMeans {
        SeededKMeans { options: SeedOptions { unseeded, ..SeedOptions::default() } }
    }

    fn run(method: &SeededKMeans, problem: &Problem, seed: u64) -> Clustering {
        method.cluster(problem, &Context::new(seed)).unwrap()
    }

    #[test]
    fn worked_example() {
        // The seeds start the clusters at 5 and 20; 10 then moves to the cluster it is nearest to.
        let x = array![[0.0], [10.0], [20.0], [20.0], [9.0], [21.0]];
        let pairs = [Constraint::must(0, 1), Constraint::must(2, 3)];
        let p = Problem::new(Data::dense(x).unwrap()).with_k(2);
        let p = p.with_constraints(Constraints::new(6, pairs).unwrap());
        let c = run(&SeededKMeans::default(), &p, 1);
        assert_eq!(c.labels, [0, 0, 1, 1, 0, 1]);
        let more = [Constraint::must(0, 1), Constraint::must(2, 3), Constraint::must(3, 5)];
        let p = p.clone().with_constraints(Constraints::new(6, more).unwrap());
        // A seed may leave: both neighbourhoods start one cluster each, the larger is the second.
        assert_eq!(run(&SeededKMeans::default(), &p, 1).labels, [0, 0, 1, 1, 0, 1]);
    }

    #[test]
    fn cannot_links_that_nothing_reads_are_told() {
        let (p, _) = fixtures::dense(1);
        let warned = |pairs: &[Constraint]| {
            let constraints = Constraints::new(45, pairs.iter().copied()).unwrap();
            let ctx = Context::new(1);
            let p = p.clone().with_constraints(constraints);
            SeededKMeans::default().cluster(&p, &ctx).unwrap();
            ctx.warnings()
        };
        let (apart, together) = (Constraint::cannot(0, 1), Constraint::must(0, 3));
        let told = warned(&[apart]);
        assert!(told.len() == 1 && told[0].contains("they change nothing"), "{told:?}");
        assert!(warned(&[apart, together]).is_empty() && warned(&[]).is_empty());
    }

    #[test]
    fn the_largest_neighbourhoods_are_seeds() {
        let (p, _) = fixtures::dense(1);
        let pairs = [(0, 3), (1, 4), (4, 7), (2, 5)].map(|(i, j)| Constraint::must(i, j));
        let p = p.with_k(2).with_constraints(Constraints::new(45, pairs).unwrap());
        let known = seeds(&p, 2).unwrap();
        // {1, 4, 7}, then {0, 3} before {2, 5}.
        assert_eq!((known[1], known[0], known[2]), (0, 1, NONE));
    }

    #[test]
    fn a_cluster_without_a_seed_may_be_refused() {
        let (p, _) = fixtures::dense(1);
        let p = p.with_constraints(Constraints::new(45, [Constraint::must(0, 3)]).unwrap());
        let strict = with(Unseeded::Error);
        assert_eq!(
            strict.cluster(&p, &Context::new(1)).unwrap_err().to_string(),
            "unseeded: must be \"perturb\" or \"farthest_first\" where a cluster has no seed, got \
             \"error\" with 2 of 3 clusters without a seed"
        );
        for unseeded in [Unseeded::Perturb, Unseeded::FarthestFirst] {
            assert_eq!(run(&with(unseeded), &p, 1).k, 3);
        }
        let p = p.with_start(Start::Labels(vec![7; 45]));
        let wrong = SeededKMeans::default().cluster(&p, &Context::new(1)).unwrap_err().to_string();
        assert!(wrong.starts_with("start: must be 45 labels, each below k = 3"), "{wrong}");
    }

    proptest! {
        #[test]
        fn without_seeds_it_is_kmeans(seed: u64, far: bool) {
            let (p, _) = fixtures::dense(seed);
            let (unseeded, init) = if far {
                (Unseeded::FarthestFirst, Init::FarthestFirst)
            } else {
                (Unseeded::Perturb, Init::Perturb)
            };
            let kmeans = KMeans { init, max_iterations: 100, ..KMeans::default() };
            let (a, b) = (run(&with(unseeded), &p, seed), kmeans.cluster(&p, &Context::new(seed)).unwrap());
            prop_assert_eq!(a.labels, b.labels);
            prop_assert_eq!(a.objective, b.objective);
        }

        #[test]
        fn renaming_the_classes_of_seeds_renames_clusters(seed: u64) {
            let (p, classes) = fixtures::dense(seed);
            let some = |name: [u32; 3]| {
                let known = classes.iter().enumerate();
                let labels = known.map(|(i, &c)| if i < 12 { name[c as usize] } else { NONE });
                p.clone().with_start(Start::Labels(labels.collect()))
            };
            let a = run(&SeededKMeans::default(), &some([0, 1, 2]), seed);
            let b = run(&SeededKMeans::default(), &some([2, 0, 1]), seed);
            let renamed: Vec<u32> = a.labels.iter().map(|&l| [2, 0, 1][l as usize]).collect();
            prop_assert_eq!(renamed, b.labels);
            for w in a.history.windows(2) {
                prop_assert!(w[1].objective <= w[0].objective * (1.0 + 1e-12));
            }
        }
    }
}
