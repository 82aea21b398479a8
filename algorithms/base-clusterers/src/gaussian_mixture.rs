//! Mixtures of k Gaussian components, fitted by expectation maximisation.

use mustlink_core::prelude::*;
use mustlink_kernels::distance::points::{Distortion, Points};
use mustlink_kernels::kmeans::lloyd::{Empty, Stop, ToleranceKind, lloyd};
use mustlink_kernels::kmeans::seeding::{Init, start};
use ndarray::Array2;

use crate::parts::gaussians::{Covariance, Gaussians, mean_variance};

/// A Gaussian mixture, fitted by expectation–maximisation.
///
/// # Method
/// Each start takes the clusters of one run of k-means, `kmeans_plus_plus` first. The M step sets the mean and the
/// covariance of every component from its objects, each weighted by its membership. The E step sets the memberships.
/// The likeliest result of several starts is kept.
/// # Input and output
/// n × d, dense. One label per object, the likeliest component; memberships, means, shares of the components, and
/// inverse covariances. The objective is the mean negative log-likelihood of an object, and never rises. A component
/// that loses its objects stays empty.
/// # Errors
/// `MissingK`, `BadK`, `TooManyClusters`; `NumericalFailure` if every start ends in a singular covariance, which only
/// `reg_covar = 0` allows, or if features are too large to square.
/// # Cost and randomness
/// O(iterations · k · (n·d² + d³)) for `full`, O(iterations · k · n·d) for `diag` and `spherical`; O(n·k + k·d²)
/// memory; random only in the first centres.
/// # References
/// [Dempster1977]. Differs: variances have a floor, so that the likelihood has a maximum and cannot fall.
#[options]
pub struct GaussianMixture {
    /// Number of components, at most n. If absent, the k of the problem.
    #[option(min = 1)]
    pub k: Option<usize>,
    /// Form of the covariances of the components.
    #[option(default = Covariance::Full)]
    pub covariance: Covariance,
    /// Smallest variance of a component in any direction, relative to the mean variance of the features.
    #[option(default = 1e-6, min = 0.0, alias = "regularisation")]
    pub reg_covar: f64,
    /// Number of starts; the likeliest result is kept.
    #[option(default = 5, min = 1)]
    pub restarts: usize,
    /// Maximum number of iterations in one start.
    #[option(default = 100, min = 1)]
    pub max_iterations: usize,
    /// Smallest change of the mean log-likelihood for which another iteration is made.
    #[option(default = 1e-3, min = 0.0)]
    pub tolerance: f64,
}

#[plugin("gaussian_mixture", aliases = ["gmm"], cites = ["Dempster1977"], version = 2, waives = ["far_objects_stand_alone" => "a covariance that holds a far object holds all others"])]
impl BaseClusterer for GaussianMixture {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let k = problem.require_k(self.k, "gaussian_mixture")?;
        let data = &problem.data;
        let points = Points::new(data, Distortion::SquaredEuclidean)?;
        let floor = self.reg_covar * mean_variance(data, ctx)?;
        // The starts run one after the other: each shares its blocks of objects out, and only one has its memberships
        // in memory besides the best.
        let (mut best, mut failure): (Option<Clustering>, _) = (None, None);
        for r in 0..self.restarts {
            let ctx = ctx.index(r);
            let centres = start(&points, k, Init::KmeansPlusPlus, problem, &ctx)?;
            let first = lloyd(&points, centres, START, Empty::Reseed, &ctx)?;
            match self.fit(data, k, &first.labels, floor, &ctx) {
                Ok(c) if best.as_ref().is_none_or(|b| c.objective < b.objective) => best = Some(c),
                Ok(_) => {}
                // A start that ends in a component without extent does not end the others.
                Err(e @ Error::NumericalFailure { .. }) => failure = Some(e),
                Err(e) => return Err(e),
            }
        }
        best.ok_or_else(|| failure.expect("a start succeeds or fails"))
    }

    fn properties(&self) -> Properties {
        Properties {
            accepts: vec![DataKind::Dense],
            needs_k: self.k.is_none(),
            gives_centers: true,
            learns_weights: true,
            ..Properties::default()
        }
    }

    fn operations(&self, shape: &Shape) -> Option<f64> {
        let (n, d, k) = (shape.n as f64, shape.d as f64, self.k.unwrap_or(shape.k) as f64);
        let each = if self.covariance.is_diagonal() { 4.0 * d } else { 0.5 * d * d };
        // Products of matrices take a quarter of the time of single steps. Most starts settle long before their last
        // iteration.
        let iterations = (self.restarts * self.max_iterations.min(ITERATIONS)) as f64;
        Some(iterations * k * n * (each + EXPONENTIAL))
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let (n, d) = (shape.n, shape.d);
        let k = self.k.unwrap_or(shape.k);
        // Memberships of the best start so far, of this one, and its densities; labels; blocks of differences.
        (8 * (3 * n * k + 2 * n + 5 * k * d * d + 8 * reduce::BLOCK * d)) as u64
    }
}

/// When the k-means of a start ends: its labels are only a beginning.
const START: Stop = Stop { max_iterations: 300, tolerance: 1e-4, kind: ToleranceKind::Relative };
/// Iterations that `operations` counts on.
const ITERATIONS: usize = 30;
/// Cost of an exponential, in the unit of `operations`.
const EXPONENTIAL: f64 = 16.0;
/// Memberships below are 0: they change no sum by as much as rounding, and their objects are passed over.
const LEAST: f64 = f64::EPSILON / 16.0;

impl GaussianMixture {
    /// The components that expectation–maximisation reaches from these labels.
    fn fit(
        &self,
        data: &Data,
        k: usize,
        start: &[u32],
        floor: f64,
        ctx: &Context,
    ) -> Result<Clustering> {
        let n = data.n();
        let stop = Stop::new(self.max_iterations, self.tolerance, ToleranceKind::Absolute);
        let mut labels = start.to_vec();
        let mut shares = Array2::zeros((n, k));
        start.iter().enumerate().for_each(|(i, &h)| shares[[i, h as usize]] = 1.0);
        let mut components: Option<Gaussians> = None;
        let mut mixing = Vec::new();
        let mut history: Vec<IterStat> = Vec::new();
        let mut status = Status::MaxIter;
        for _ in 0..stop.max_iterations {
            ctx.check()?;
            let fitted = Gaussians::fit(
                data,
                k,
                self.covariance,
                floor,
                |i, h| shares[[i, h]],
                components.as_ref(),
                ctx,
            )?;
            mixing = fitted.weights().iter().map(|w| w / n as f64).collect();
            // The old memberships are not needed any more: only one table is held besides the densities.
            shares = fitted.log_densities(data, ctx)?;
            components = Some(fitted);
            let (objective, moved) = memberships(&mut shares, &mixing, &mut labels)?;
            let before = history.last().map(|s| s.objective);
            history.push(IterStat { objective, moved, violations: None });
            if before.is_some_and(|b| stop.is_over(b, objective)) {
                status = Status::Converged;
                break;
            }
        }
        let components = components.expect("at least one iteration");
        let mut extras =
            Extras { mixing: Some(mixing), memberships: Some(shares), ..Extras::default() };
        components.describe(&mut extras, ctx)?;
        let objective = history.last().map(|s| s.objective);
        Ok(Clustering { labels, k, objective, history, status, extras })
    }
}

/// Turns log-densities into memberships, row by row, and relabels the objects. Returns the mean negative
/// log-likelihood and the number of new labels.
///
/// # Errors
/// `NumericalFailure` if an object has density 0 everywhere.
fn memberships(
    table: &mut Array2<f64>,
    mixing: &[f64],
    labels: &mut [u32],
) -> Result<(f64, usize)> {
    let (n, k) = table.dim();
    let log_mixing: Vec<f64> = mixing.iter().map(|m| m.ln()).collect();
    let mut likelihoods = vec![(0.0, false); n];
    let flat = table.as_slice_mut().expect("standard layout");
    let blocks = flat
        .chunks_mut(reduce::BLOCK * k)
        .zip(labels.chunks_mut(reduce::BLOCK))
        .zip(likelihoods.chunks_mut(reduce::BLOCK));
    reduce::over(blocks, |_, ((rows, labels), likelihoods)| {
        for ((row, label), out) in rows.chunks_exact_mut(k).zip(labels).zip(likelihoods) {
            row.iter_mut().zip(&log_mixing).for_each(|(v, m)| *v += m);
            let mut best = 0;
            for (h, &v) in row.iter().enumerate() {
                if v > row[best] {
                    best = h;
                }
            }
            let largest = row[best];
            row.iter_mut().for_each(|v| *v = (*v - largest).exp());
            let sum: f64 = row.iter().sum();
            row.iter_mut().for_each(|v| *v = if *v < LEAST * sum { 0.0 } else { *v / sum });
            *out = (largest + sum.ln(), *label != best as u32);
            *label = best as u32;
        }
    });
    if let Some(i) = likelihoods.iter().position(|(l, _)| !l.is_finite()) {
        let place = format!("gaussian_mixture: the density of object {i} is 0 in every component");
        return Err(Error::NumericalFailure { place });
    }
    let moved = likelihoods.iter().filter(|(_, moved)| *moved).count();
    Ok((-reduce::sum(n, |i| likelihoods[i].0) / n as f64, moved))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constrained_em::ConstrainedEm;
    use crate::kmeans::KMeans;
    use mustlink_core::clustering::canonical;
    use mustlink_laws::fixtures;
    use ndarray::array;
    use proptest::prelude::*;

    const SHAPES: [Covariance; 4] =
        [Covariance::Full, Covariance::Diag, Covariance::Spherical, Covariance::Tied];

    fn run_of(mixture: &GaussianMixture, x: Array2<f64>, k: usize) -> Result<Clustering> {
        let problem = Problem::new(Data::dense(x).unwrap()).with_k(k);
        mustlink_core::run::cluster(mixture, &problem, &Context::new(1)).map(|r| r.clustering)
    }

    fn run(x: Array2<f64>, k: usize) -> Result<Clustering> {
        run_of(&GaussianMixture::default(), x, k)
    }

    #[test]
    fn worked_example() {
        // Two groups far apart: their means, and each object surely of its own.
        let x = array![
            [0.0, 0.0],
            [0.0, 2.0],
            [2.0, 0.0],
            [2.0, 2.0],
            [50.0, 50.0],
            [50.0, 52.0],
            [52.0, 50.0],
            [52.0, 52.0]
        ];
        let c = run(x, 2).unwrap();
        assert_eq!(canonical(&c.labels), [0, 0, 0, 0, 1, 1, 1, 1]);
        let centres = c.extras.centers.unwrap();
        let first = centres.row(c.labels[0] as usize);
        assert!((first[0] - 1.0).abs() < 1e-9 && (first[1] - 1.0).abs() < 1e-9, "{first}");
        // Variance 1 each and no covariance, so log N = −ln 2π − (1 + 1)/2, and half of the objects in each component.
        let metric = &c.extras.metrics.unwrap()[c.labels[0] as usize];
        assert!((metric[[0, 0]] - 1.0).abs() < 1e-9 && metric[[0, 1]].abs() < 1e-9, "{metric}");
        let expected = std::f64::consts::TAU.ln() + 1.0 + 2f64.ln();
        assert!((c.objective.unwrap() - expected).abs() < 1e-9, "{:?} {expected}", c.objective);
        assert_eq!(c.extras.mixing.unwrap(), [0.5, 0.5]);
        assert_eq!((c.status, c.history.len()), (Status::Converged, 2));
        let memberships = c.extras.memberships.unwrap();
        assert!(memberships.rows().into_iter().all(|r| (r.sum() - 1.0).abs() < 1e-9));
    }

    #[test]
    fn finds_the_groups_of_the_fixture() {
        let (x, classes) = fixtures::groups(40, 3, 0.5, 2);
        for covariance in SHAPES {
            let mixture = GaussianMixture { covariance, ..GaussianMixture::default() };
            let c = run_of(&mixture, x.clone(), 3).unwrap();
            assert_eq!(canonical(&c.labels), canonical(&classes), "{covariance:?}");
        }
    }

    #[test]
    fn without_constraints_constrained_em_finds_the_same() {
        let (x, _) = fixtures::groups(50, 3, 0.8, 7);
        for covariance in SHAPES {
            let tolerance = 1e-12;
            let mixture = GaussianMixture { covariance, tolerance, ..GaussianMixture::default() };
            let found = run_of(&mixture, x.clone(), 3).unwrap();
            let start: Box<dyn BaseClusterer> = Box::new(KMeans::default());
            let (start, floor) = (Some(start), mixture.reg_covar);
            let other = ConstrainedEm { covariance, start, tolerance, ..ConstrainedEm::default() };
            assert_eq!(floor, other.reg_covar);
            let problem = Problem::new(Data::dense(x.clone()).unwrap()).with_k(3);
            let theirs = other.cluster(&problem, &Context::new(3)).unwrap();
            let (a, b) = (found.objective.unwrap(), theirs.objective.unwrap());
            assert!((a - b).abs() < 1e-9 * b.abs(), "{covariance:?}: {a} {b}");
            assert_eq!(canonical(&found.labels), canonical(&theirs.labels));
        }
    }

    #[test]
    fn status_and_iterations_are_what_happened() {
        let (x, _) = fixtures::groups(40, 3, 1.6, 2);
        let of = |max_iterations, tolerance| {
            let few = GaussianMixture { max_iterations, tolerance, ..GaussianMixture::default() };
            let c = run_of(&few, x.clone(), 3).unwrap();
            (c.status, c.history.len())
        };
        for few in [1, 2, 9] {
            assert_eq!(of(few, 0.0), (Status::MaxIter, few));
        }
        let (status, iterations) = of(100, 1e-3);
        assert_eq!(status, Status::Converged);
        assert!((2..100).contains(&iterations), "{iterations}");
    }

    #[test]
    fn more_starts_are_never_less_likely() {
        let (x, _) = fixtures::groups(30, 6, 2.5, 4);
        let of = |restarts| {
            let mixture = GaussianMixture { restarts, ..GaussianMixture::default() };
            run_of(&mixture, x.clone(), 8).unwrap().objective.unwrap()
        };
        let found: Vec<f64> = [1, 3, 9].map(of).to_vec();
        assert!(found.windows(2).all(|w| w[1] <= w[0]), "{found:?}");
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bits() {
        // Several blocks of objects.
        let (x, _) = fixtures::groups(600, 4, 2.0, 2);
        for covariance in SHAPES {
            let (restarts, max_iterations) = (2, 6);
            let mixture = GaussianMixture {
                covariance,
                restarts,
                max_iterations,
                ..GaussianMixture::default()
            };
            let at = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| run_of(&mixture, x.clone(), 5).unwrap())
            };
            assert_eq!(at(1), at(2));
            assert_eq!(at(1), at(7));
        }
    }

    #[test]
    fn hostile_data_has_an_answer_or_an_error() {
        assert_eq!(run(Array2::from_elem((12, 3), 2.5), 3).unwrap().empty_clusters(), 2);
        let c = run(array![[1.0], [1.0], [2.0], [2.0]], 4).unwrap();
        assert_eq!(canonical(&c.labels), [0, 0, 1, 1]);
        let far = array![[1e100, -1e100], [-1e100, 1e100], [1e99, 0.0], [0.0, 0.0]];
        assert!(run(far, 2).is_ok());
        let near = array![[1e-100], [2e-100], [3e-100], [9e-100]];
        assert!(run(near, 2).is_ok());
        // More features than objects: the floor is all that some directions have.
        let mut s = SeedPath::new(1).stream("x");
        let wide = Array2::from_shape_fn((30, 200), |_| s.normal());
        assert!(run(wide.clone(), 3).is_ok());
        let bare = GaussianMixture { reg_covar: 0.0, ..GaussianMixture::default() };
        assert!(matches!(run_of(&bare, wide, 3), Err(Error::NumericalFailure { .. })));
    }

    proptest! {
        #[test]
        fn likelihood_never_falls_and_is_that_of_the_result(
            values in prop::collection::vec(prop_oneof![-3.0f64..3.0, Just(0.0), Just(1e3)], 2..80),
            k in 1usize..6,
            shape in 0usize..4,
        ) {
            let n = values.len() / 2;
            let x = Array2::from_shape_fn((n, 2), |(i, f)| values[2 * i + f]);
            let (covariance, tolerance) = (SHAPES[shape], 0.0);
            let mixture = GaussianMixture { covariance, tolerance, ..GaussianMixture::default() };
            let c = run_of(&mixture, x, k.min(n)).unwrap();
            for w in c.history.windows(2) {
                let slack = 1e-9 * w[0].objective.abs().max(1.0);
                prop_assert!(w[1].objective <= w[0].objective + slack, "{:?}", c.history);
            }
            let memberships = c.extras.memberships.unwrap();
            for (i, row) in memberships.rows().into_iter().enumerate() {
                prop_assert!((row.sum() - 1.0).abs() < 1e-9);
                prop_assert!(row.iter().all(|&m| m <= row[c.labels[i] as usize]));
            }
        }
    }
}
