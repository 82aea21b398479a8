//! Which k centres explain the objects best, starting from objects known to belong together?

use mustlink_core::prelude::*;
use mustlink_core::reduce;
use mustlink_kernels::distance::points::{Distortion, Points};
use mustlink_kernels::kmeans::lloyd::{Empty, Stop, ToleranceKind, best_of, lloyd};
use mustlink_kernels::kmeans::seeding::Perturb;

use crate::parts::seeds::{SeedRules, Unseeded, seeds};

/// Seeded k-means: neighbourhoods of the constraints start the clusters, and may move.
///
/// # Method
/// Centres start at the means of the seeds; then plain k-means. Seeds are the labels of a given start
/// (unknown ones left out), else the neighbourhoods: at most the k largest, one for each cluster.
/// # Input and output
/// n × d, dense or sparse, must-links. One label per object in `0..k`, k centres.
/// # Errors
/// `MissingK`, `BadK`, `TooManyClusters`; `BadParam` where a cluster has no seed and that is refused.
/// # Cost and randomness
/// That of k-means; random only where a cluster has no seed.
/// # References
/// [Basu2002] figure 1; [Basu2004] feeds it neighbourhoods.
#[options]
pub struct SeededKMeans {
    /// Number of clusters, at most n; absent: that of the problem.
    #[option(min = 1)]
    pub k: Option<usize>,
    /// How far an object is from a centre.
    pub distortion: Distortion,
    /// Where clusters without a seed start.
    pub unseeded: Unseeded,
    /// How a global mean is perturbed.
    pub perturb: Perturb,
    /// By how much a global mean is perturbed (ρ).
    #[option(default = 0.7, above = 0.0)]
    pub perturb_rho: f64,
    /// Starts, of which the best result is kept; absent: 1 with seeds, 10 without.
    #[option(min = 1)]
    pub restarts: Option<usize>,
    /// Sweeps of one start.
    #[option(default = 100, min = 1)]
    pub max_iterations: usize,
    /// Smallest change of the objective worth another sweep.
    #[option(default = 1e-6, min = 0.0)]
    pub tolerance: f64,
    /// How the change is compared with the tolerance.
    pub tolerance_kind: ToleranceKind,
    /// What happens to a cluster without objects.
    #[option(default = Empty::Reseed)]
    pub empty: Empty,
}

#[plugin("seeded_kmeans", cites = ["Basu2002", "Basu2004"], waives = ["cannot_links_change_something" => "seeds are groups that must-links join"])]
impl BaseClusterer for SeededKMeans {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let k = problem.require_k(self.k, "seeded_kmeans")?;
        let stop = Stop::new(self.max_iterations, self.tolerance, self.tolerance_kind);
        let points = Points::new(&problem.data, self.distortion)?;
        let rules = SeedRules {
            unseeded: self.unseeded,
            perturb: self.perturb,
            rho: self.perturb_rho,
            restarts: self.restarts,
        };
        let seeds = seeds(problem, k)?;
        best_of(rules.restarts(&seeds), |r| {
            let ctx = ctx.index(r);
            let centres = rules.centres(&points, k, &seeds, problem, &ctx)?;
            lloyd(&points, centres, stop, self.empty, &ctx)
        })
    }

    fn properties(&self) -> Properties {
        Properties {
            accepts: vec![DataKind::Dense, DataKind::Csr],
            needs_k: self.k.is_none(),
            reads_constraints: true,
            gives_centers: true,
            ..Properties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let copy = if self.distortion == Distortion::Cosine { 12 * shape.entries } else { 0 };
        let restarts = self.restarts.unwrap_or(10).min(reduce::WAVE);
        (copy + 40 * shape.n + restarts * (8 * shape.n + 24 * shape.k * shape.d)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kmeans::KMeans;
    use mustlink_kernels::kmeans::seeding::Init;
    use mustlink_laws::fixtures;
    use ndarray::array;
    use proptest::prelude::*;

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
        let strict = SeededKMeans { unseeded: Unseeded::Error, ..SeededKMeans::default() };
        assert_eq!(
            strict.cluster(&p, &Context::new(1)).unwrap_err().to_string(),
            "unseeded: must be \"perturb\" or \"farthest_first\" where a cluster has no seed, got \
             \"error\" with 2 of 3 clusters without a seed"
        );
        for unseeded in [Unseeded::Perturb, Unseeded::FarthestFirst] {
            assert_eq!(run(&SeededKMeans { unseeded, ..SeededKMeans::default() }, &p, 1).k, 3);
        }
        let p = p.with_start(Start::Labels(vec![7; 45]));
        let wrong = SeededKMeans::default().cluster(&p, &Context::new(1)).unwrap_err().to_string();
        assert!(wrong.starts_with("start: must be 45 labels, each in 0..3"), "{wrong}");
    }

    proptest! {
        #[test]
        fn without_seeds_it_is_kmeans(seed: u64, far: bool) {
            let (p, _) = fixtures::dense(seed);
            let (unseeded, init) = match far {
                true => (Unseeded::FarthestFirst, Init::FarthestFirst),
                false => (Unseeded::Perturb, Init::Perturb),
            };
            let kmeans = KMeans { init, max_iterations: 100, ..KMeans::default() };
            let seeded = SeededKMeans { unseeded, ..SeededKMeans::default() };
            let (a, b) = (run(&seeded, &p, seed), kmeans.cluster(&p, &Context::new(seed)).unwrap());
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
