//! K-means that keeps objects of known cluster in their cluster.

use mustlink_core::prelude::*;
use mustlink_core::soft_marks::obeying_must_links;
use mustlink_kernels::distance::points::Points;
use mustlink_kernels::kmeans::lloyd::{PenaltyTerm, clustering, lloyd, refill, total_distortion};
use mustlink_kernels::kmeans::means::means;
use mustlink_kernels::kmeans::nearest::assign::assign;
use ndarray::Array2;

use crate::parts::seeds::{SeedOptions, seeds};

/// Constrained k-means: neighbourhoods of the constraints give the first centres; their objects never move.
///
/// # Method
/// Centres start at the means of the seeds. In every sweep, seeds keep their cluster and the other objects take their
/// nearest centre. The seeds are the labels of a given start, without unknown ones. Without a given start, they are
/// the neighbourhoods: at most the k largest, one for each cluster.
/// # Input and output
/// n × d, dense or sparse, must-links; objects may have weights. Must-links marked soft are enforced like the others,
/// or left out if the others cannot be satisfied with them; both with a warning. One label per object in `0..k`, k
/// centres.
/// # Errors
/// `MissingK`, `BadK`, `TooManyClusters`; `BadParam` if a cluster has no seed and `unseeded = "error"`.
/// # Cost and randomness
/// As k-means; random only if a cluster has no seed.
/// # References
/// [Basu2002] figure 2; [Basu2004] uses neighbourhoods as its seeds.
#[options]
pub struct ConstrainedKMeans {
    /// Options shared by methods that start from objects whose cluster is known.
    #[option(flatten)]
    pub options: SeedOptions,
}

#[plugin("constrained_kmeans", cites = ["Basu2002", "Basu2004"], version = 2, waives = ["far_objects_stand_alone" => "without seeds its clusters start about the mean, which a far object moves", "cannot_links_change_something" => "seeds are groups that must-links join"])]
impl BaseClusterer for ConstrainedKMeans {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let o = &self.options;
        let k = problem.require_k(o.k, "constrained_kmeans")?;
        let points = Points::new(&problem.data, o.distortion)?;
        let held = |problem: &Problem| {
            let seeds = seeds(problem, k)?;
            o.best(&points, k, &seeds, problem, ctx, |centres, ctx| {
                self.run(&points, &seeds, centres, ctx)
            })
        };
        match problem.start.as_deref() {
            // A given start replaces the constraints.
            Some(Start::Labels(_)) => held(problem),
            _ => obeying_must_links("constrained_kmeans", problem, ctx, held),
        }
    }

    fn properties(&self) -> Properties {
        self.options.properties()
    }

    fn memory(&self, shape: &Shape) -> u64 {
        self.options.memory(shape)
    }
}

/// Objects that may not move.
struct Held<'a>(&'a [u32]);

impl PenaltyTerm for Held<'_> {
    fn rise(&mut self, i: usize, _: u32, _: &[u32]) -> f64 {
        if self.0[i] == NONE { 0.0 } else { f64::INFINITY }
    }
    fn moved(&mut self, _: usize, _: u32, _: u32) {}
}

impl ConstrainedKMeans {
    fn run(
        &self,
        points: &Points,
        seeds: &[u32],
        mut centres: Array2<f64>,
        ctx: &Context,
    ) -> Result<Clustering> {
        let held: Vec<bool> = seeds.iter().map(|&l| l != NONE).collect();
        let (stop, empty) = (self.options.stop(), self.options.empty);
        if !held.contains(&true) {
            return lloyd(points, centres, stop, empty, ctx);
        }
        let mut labels = seeds.to_vec();
        let mut history: Vec<IterStat> = Vec::new();
        let mut status = Status::MaxIter;
        for _ in 0..stop.max_iterations {
            ctx.check()?;
            let mut moved = assign(points, &centres, &mut labels, Some(&held));
            let sizes;
            (centres, sizes) = means(points, &labels, centres);
            if sizes.contains(&0) {
                moved += refill(points, &mut labels, &mut centres, empty, &mut Held(seeds))?;
            }
            let objective = total_distortion(points, &labels, &centres);
            let before = history.last().map(|s| s.objective);
            history.push(IterStat { objective, moved, violations: None });
            if moved == 0 || before.is_some_and(|b| stop.is_over(b, objective)) {
                status = Status::Converged;
                break;
            }
        }
        Ok(clustering(labels, centres, history, status, points.distortion()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kmeans::KMeans;
    use mustlink_kernels::distance::points::Distortion;
    use mustlink_kernels::kmeans::seeding::Init;
    use mustlink_laws::fixtures;
    use ndarray::array;
    use proptest::prelude::*;

    fn run(method: &ConstrainedKMeans, problem: &Problem, seed: u64) -> Clustering {
        method.cluster(problem, &Context::new(seed)).unwrap()
    }

    #[test]
    fn worked_example() {
        // 0 and 10 are held together, so 10 stays although the other centre is nearer.
        let x = array![[0.0], [10.0], [12.0], [12.0], [1.0]];
        let pairs = [Constraint::must(0, 1), Constraint::must(2, 3)];
        let p = Problem::new(Data::dense(x).unwrap()).with_k(2);
        let p = p.with_constraints(Constraints::new(5, pairs).unwrap());
        let c = run(&ConstrainedKMeans::default(), &p, 1);
        assert_eq!(c.labels, [0, 0, 1, 1, 0]);
        // {0, 10, 1} about 11/3.
        assert!((c.objective.unwrap() - (101.0 - 121.0 / 3.0)).abs() < 1e-9);
    }

    /// They were seeds that never move, without a warning, even against the other constraints.
    #[test]
    fn must_links_marked_soft_are_warned_of_or_give_way() {
        let x = array![[0.0], [10.0], [12.0], [12.0], [1.0]];
        let soft = Constraint { strength: Some(Strength::Soft), ..Constraint::must(0, 1) };
        let found = |pairs: &[Constraint]| {
            let p = Problem::new(Data::dense(x.clone()).unwrap()).with_k(2);
            let given = Constraints::new(5, pairs.iter().copied()).unwrap();
            let ctx = Context::new(1);
            let c = ConstrainedKMeans::default().cluster(&p.with_constraints(given), &ctx).unwrap();
            (c.labels, ctx.warnings().join("; "))
        };
        let (labels, said) = found(&[soft, Constraint::must(2, 3)]);
        assert_eq!(labels, [0, 0, 1, 1, 0]);
        assert_eq!(said, "constrained_kmeans: 1 constraint marked soft is enforced as if hard");
        let others = [Constraint::must(0, 4), Constraint::cannot(1, 4), Constraint::must(2, 3)];
        let (labels, said) = found(&[&others[..], &[soft]].concat());
        assert_eq!((labels, found(&others).0), (vec![0, 1, 1, 1, 0], vec![0, 1, 1, 1, 0]));
        assert!(
            said.starts_with("constrained_kmeans: 1 constraint marked soft is left out"),
            "{said}"
        );
        // Cannot-links are not used, whatever their mark.
        let apart = Constraint { strength: Some(Strength::Soft), ..Constraint::cannot(0, 2) };
        assert_eq!(found(&[Constraint::must(2, 3), apart]).1, "");
    }

    proptest! {
        #[test]
        fn seeds_keep_their_class(seed: u64, known in 0usize..45, cosine: bool) {
            let (p, mut classes) = fixtures::dense(seed);
            // Not the nearest clusters on purpose.
            classes.rotate_left(1);
            let labels: Vec<u32> =
                classes.iter().enumerate().map(|(i, &c)| if i < known { c } else { NONE }).collect();
            let distortion = if cosine { Distortion::Cosine } else { Distortion::SquaredEuclidean };
            let method = ConstrainedKMeans { options: SeedOptions { distortion: distortion.into(), ..SeedOptions::default() } };
            let c = run(&method, &p.with_start(Start::Labels(labels)), seed);
            prop_assert_eq!(&c.labels[..known], &classes[..known]);
            for w in c.history.windows(2) {
                prop_assert!(w[1].objective <= w[0].objective * (1.0 + 1e-12));
            }
        }

        #[test]
        fn all_seeded_is_the_scatter_inside_classes(seed: u64) {
            let (p, classes) = fixtures::dense(seed);
            let x = p.data.to_dense();
            let mut scatter = 0.0;
            for h in 0..3u32 {
                let of: Vec<usize> = (0..45).filter(|&i| classes[i] == h).collect();
                let rows = x.select(ndarray::Axis(0), &of);
                let mean = rows.mean_axis(ndarray::Axis(0)).unwrap();
                scatter += (&rows - &mean).mapv(|v| v * v).sum();
            }
            let c = run(&ConstrainedKMeans::default(), &p.with_start(Start::Labels(classes.clone())), seed);
            prop_assert_eq!(c.labels, classes);
            prop_assert!((c.objective.unwrap() - scatter).abs() <= 1e-9 * scatter);
        }

        #[test]
        fn without_seeds_it_is_kmeans(seed: u64) {
            let (p, _) = fixtures::dense(seed);
            let kmeans = KMeans { init: Init::Perturb, max_iterations: 100, ..KMeans::default() };
            let a = run(&ConstrainedKMeans::default(), &p, seed);
            let b = kmeans.cluster(&p, &Context::new(seed)).unwrap();
            prop_assert_eq!(a.labels, b.labels);
            prop_assert_eq!(a.objective, b.objective);
        }
    }
}
