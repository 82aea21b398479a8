//! Which k Gaussians explain the objects best?

use linfa::traits::Fit;
use linfa::{DatasetBase, ParamGuard};
use linfa_clustering::{GaussianMixtureModel, GmmError};
use mustlink_core::prelude::*;
use ndarray::{Array1, Array2, Axis};
use rand08::RngCore;

use crate::parts::adapting;

/// A Gaussian mixture with full covariances, from linfa, fitted by expectation–maximisation.
///
/// # Method
/// linfa starts from its own k-means. Features are centred and divided by one common deviation
/// before, which changes nothing but the meaning of `regularisation`. A run that does not settle
/// within the iterations is taken again with ten times the tolerance, until it does: status `max_iter`.
/// # Input and output
/// n × d, dense. The likeliest component of each object, memberships, means, and the inverse
/// covariances as metrics. Never more components than distinct objects.
/// # Errors
/// `MissingK`, `BadParam`; `NumericalFailure` where a component loses its objects, a covariance
/// cannot be inverted or densities leave the range of numbers (many features).
/// # Cost and randomness
/// O(iterations · k · (n·d² + d³)); random in the start.
/// # References
/// [Dempster1977].
#[options]
pub struct GaussianMixture {
    /// Number of components, at most n; absent: that of the problem.
    #[option(min = 1)]
    pub k: Option<usize>,
    /// Iterations; that they are enough is seen from two of them.
    #[option(default = 100, min = 2)]
    pub max_iterations: usize,
    /// Smallest change of the mean log-likelihood worth another iteration.
    #[option(default = 1e-3, above = 0.0)]
    pub tolerance: f64,
    /// Added to every variance, in units of the mean variance of the features.
    #[option(default = 1e-6, above = 0.0)]
    pub regularisation: f64,
}

/// Our stream of random numbers as linfa takes them.
#[derive(Clone)]
struct Numbers(Stream);

impl RngCore for Numbers {
    fn next_u32(&mut self) -> u32 {
        (self.0.next_u64() >> 32) as u32
    }

    fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    fn fill_bytes(&mut self, to: &mut [u8]) {
        for chunk in to.chunks_mut(8) {
            chunk.copy_from_slice(&self.0.next_u64().to_le_bytes()[..chunk.len()]);
        }
    }

    fn try_fill_bytes(&mut self, to: &mut [u8]) -> std::result::Result<(), rand08::Error> {
        self.fill_bytes(to);
        Ok(())
    }
}

/// Times the tolerance is made ten times larger, however small it is.
const LOOSER: usize = 6;
/// Between these it is made ten times larger as well; above, every change is small enough.
const LOOSE: (f64, f64) = (1e-6, 300.0);

/// What is tried after a tolerance that a run has not reached, the n-th of them.
fn looser(tolerance: f64, tried: usize) -> f64 {
    let next = 10.0 * tolerance;
    match tried {
        ..LOOSER => next.min(f64::MAX),
        _ if next < LOOSE.1 => next.max(LOOSE.0),
        _ => f64::MAX,
    }
}

#[plugin("gaussian_mixture", aliases = ["gmm"], cites = ["Dempster1977"], waives = ["far_objects_stand_alone" => "a covariance that holds a far object holds all others"])]
impl BaseClusterer for GaussianMixture {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let wanted = problem.require_k(self.k, "gaussian_mixture")?;
        let (data, options, run) = (problem.data.clone(), self.clone(), ctx.clone());
        adapting::interruptible("gaussian_mixture", ctx, move || options.fit(&data, wanted, &run))
    }

    fn properties(&self) -> Properties {
        Properties {
            needs_k: self.k.is_none(),
            gives_centers: true,
            learns_weights: true,
            ..Properties::default()
        }
    }

    fn operations(&self, shape: &Shape) -> Option<f64> {
        // Some that do not settle are run again with a larger tolerance.
        let k = self.k.unwrap_or(shape.k);
        Some(4.0 * (self.max_iterations * k * shape.d * shape.d) as f64 * shape.n as f64)
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let Shape { n, d, .. } = *shape;
        let k = self.k.unwrap_or(shape.k);
        // The scaled copy and linfa's differences; tables of responsibilities; three of k matrices.
        (8 * (5 * n * d + 6 * n * k + 4 * k * d * d)) as u64
    }
}

impl GaussianMixture {
    fn fit(&self, data: &Data, wanted: usize, ctx: &Context) -> Result<Clustering> {
        let units = Units::of(data.to_dense());
        let k = distinct(&units.x, wanted, ctx)?;
        let records = DatasetBase::from(units.x.view());
        let failed =
            |e: GmmError| Error::NumericalFailure { place: format!("gaussian mixture: {e}") };
        let (mut tolerance, mut tried) = (self.tolerance, 0);
        let mut status = Status::Converged;
        loop {
            ctx.check()?;
            let params = GaussianMixtureModel::params_with_rng(k, Numbers(ctx.stream("start")))
                .max_n_iterations(self.max_iterations as u64)
                .tolerance(tolerance)
                .reg_covariance(self.regularisation)
                .check()
                .map_err(failed)?;
            match params.fit(&records) {
                Ok(model) => return clustering(&model, &units, status),
                Err(GmmError::NotConverged(_)) if tolerance < f64::MAX => {
                    tolerance = looser(tolerance, tried);
                    tried += 1;
                    status = Status::MaxIter;
                }
                // Changes that are not small even then are no numbers.
                Err(GmmError::NotConverged(_)) => {
                    let why = "expectation–maximisation does not settle".into();
                    return Err(failed(GmmError::NotConverged(why)));
                }
                Err(e) => return Err(failed(e)),
            }
        }
    }
}

/// Objects centred and divided by the common deviation of their features.
struct Units {
    x: Array2<f64>,
    mean: Array1<f64>,
    deviation: f64,
}

impl Units {
    fn of(mut x: Array2<f64>) -> Self {
        // Squares of what is at most 1 neither overflow nor, where they matter, vanish.
        let largest = x.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let largest = if largest > 0.0 { largest } else { 1.0 };
        x.mapv_inplace(|v| v / largest);
        let mean = x.mean_axis(Axis(0)).expect("data is not empty");
        x -= &mean;
        let deviation = (x.iter().map(|v| v * v).sum::<f64>() / x.len() as f64).sqrt();
        let deviation = if deviation > 0.0 { deviation } else { 1.0 };
        x.mapv_inplace(|v| v / deviation);
        Units { x, mean: mean.mapv(|m| m * largest), deviation: deviation * largest }
    }
}

/// The number of components that k-means can start from: `k`, or that of distinct objects.
fn distinct(x: &Array2<f64>, k: usize, ctx: &Context) -> Result<usize> {
    let mut nearest = vec![f64::INFINITY; x.nrows()];
    let mut newest = 0;
    for found in 1..k {
        ctx.check()?;
        let from = x.row(newest);
        for (near, object) in nearest.iter_mut().zip(x.rows()) {
            let distance = object.iter().zip(&from).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
            *near = near.min(distance);
        }
        newest = 0;
        for (i, &near) in nearest.iter().enumerate() {
            if near > nearest[newest] {
                newest = i;
            }
        }
        if nearest[newest] <= 0.0 {
            return Ok(found);
        }
    }
    Ok(k)
}

fn clustering(
    model: &GaussianMixtureModel<f64>,
    units: &Units,
    status: Status,
) -> Result<Clustering> {
    let memberships = model.predict_proba(&units.x);
    if memberships.iter().any(|m| !m.is_finite()) {
        let place = "gaussian mixture: a density leaves the range of numbers; use fewer features";
        return Err(Error::NumericalFailure { place: place.into() });
    }
    let likeliest = |row: ndarray::ArrayView1<f64>| {
        let mut best = 0;
        for (h, &m) in row.iter().enumerate() {
            if m > row[best] {
                best = h;
            }
        }
        best as u32
    };
    let labels = memberships.rows().into_iter().map(likeliest).collect();
    let centers = model.means() * units.deviation + &units.mean;
    let precision = |p: ndarray::ArrayView2<f64>| p.mapv(|v| v / units.deviation / units.deviation);
    let metrics: Vec<Array2<f64>> = model.precisions().outer_iter().map(precision).collect();
    let whole = metrics.iter().all(|m| m.iter().all(|v| v.is_finite()));
    let geometry = if whole { Geometry::Mahalanobis } else { Geometry::SquaredEuclidean };
    Ok(Clustering {
        labels,
        k: centers.nrows(),
        status,
        extras: Extras {
            centers: Some(centers),
            geometry,
            metrics: whole.then_some(metrics),
            mixing: whole.then(|| model.weights().to_vec()),
            memberships: Some(memberships),
            ..Extras::default()
        },
        ..Clustering::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_laws::fixtures;
    use ndarray::array;
    use proptest::prelude::*;

    fn run(x: Array2<f64>, k: usize) -> Result<Clustering> {
        let problem = Problem::new(Data::dense(x).unwrap()).with_k(k);
        let run =
            mustlink_core::run::cluster(&GaussianMixture::default(), &problem, &Context::new(1));
        run.map(|r| r.clustering)
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
        assert_eq!(mustlink_core::clustering::canonical(&c.labels), [0, 0, 0, 0, 1, 1, 1, 1]);
        let centres = c.extras.centers.unwrap();
        let first = centres.row(c.labels[0] as usize);
        assert!((first[0] - 1.0).abs() < 1e-9 && (first[1] - 1.0).abs() < 1e-9, "{first}");
        // Variance 1 each, no covariance, regularised by 1e-6 of the mean variance of 626.
        let metric = &c.extras.metrics.unwrap()[c.labels[0] as usize];
        assert!((metric[[0, 0]] - 1.0).abs() < 1e-2 && metric[[0, 1]].abs() < 1e-6, "{metric}");
        let memberships = c.extras.memberships.unwrap();
        assert!(memberships.rows().into_iter().all(|r| (r.sum() - 1.0).abs() < 1e-9));
    }

    #[test]
    fn finds_the_groups_of_the_fixture() {
        let (x, classes) = fixtures::groups(40, 3, 0.5, 2);
        let c = run(x, 3).unwrap();
        let canonical = mustlink_core::clustering::canonical;
        assert_eq!(canonical(&c.labels), canonical(&classes));
    }

    #[test]
    fn iterations_that_are_used_up_are_no_failure() {
        let (x, _) = fixtures::groups(40, 3, 1.6, 2);
        let problem = Problem::new(Data::dense(x).unwrap()).with_k(3);
        let run = |max_iterations, tolerance| {
            let few = GaussianMixture { max_iterations, tolerance, ..GaussianMixture::default() };
            few.cluster(&problem, &Context::new(1))
        };
        for (iterations, tolerance) in [(2, 1e-12), (3, 1e-300), (9, 1e-12)] {
            assert_eq!(run(iterations, tolerance).unwrap().status, Status::MaxIter);
        }
        // linfa compares an iteration with the one before it.
        assert!(matches!(run(1, 1e-3), Err(Error::BadParam { .. })));
    }

    #[test]
    fn a_tolerance_is_loosened_step_by_step() {
        let all = |first: f64| {
            let next = |(at, t): &(usize, f64)| (*t < f64::MAX).then(|| (at + 1, looser(*t, *at)));
            std::iter::successors(Some((0, first)), next).map(|(_, t)| t).collect::<Vec<f64>>()
        };
        let decades = |at: std::ops::RangeInclusive<i32>| at.map(|e| 10f64.powi(e));
        let near = |found: Vec<f64>, expected: Vec<f64>| {
            let close = |(a, b): (&f64, &f64)| (a / b - 1.0).abs() < 1e-9;
            found.len() == expected.len() && found.iter().zip(&expected).all(close)
        };
        let end = || std::iter::once(f64::MAX);
        assert!(near(all(1e-3), decades(-3..=3).chain(end()).collect()));
        assert!(near(all(1e-12), decades(-12..=2).chain(end()).collect()));
        let jump = decades(-300..=-294).chain(decades(-6..=2)).chain(end());
        assert!(near(all(1e-300), jump.collect()));
        assert!(near(all(f64::MAX), vec![f64::MAX]));
    }

    #[test]
    fn hostile_data_has_an_answer_or_an_error() {
        assert_eq!(run(Array2::from_elem((12, 3), 2.5), 3).unwrap().k, 1);
        assert_eq!(run(array![[1.0], [1.0], [2.0], [2.0]], 4).unwrap().k, 2);
        let far = array![[1e100, -1e100], [-1e100, 1e100], [1e99, 0.0], [0.0, 0.0]];
        assert!(run(far, 2).is_ok());
        let near = array![[1e-100], [2e-100], [3e-100], [9e-100]];
        assert!(run(near, 2).is_ok());
        // Densities of so many features are no numbers.
        let mut s = SeedPath::new(1).stream("x");
        let wide = Array2::from_shape_fn((30, 200), |_| s.normal());
        assert!(matches!(run(wide, 3), Err(Error::NumericalFailure { .. })));
    }

    proptest! {
        #[test]
        fn nothing_panics(
            values in prop::collection::vec(prop_oneof![-3.0f64..3.0, Just(0.0), Just(1e9)], 2..40),
            k in 1usize..6,
        ) {
            let n = values.len() / 2;
            let x = Array2::from_shape_fn((n, 2), |(i, f)| values[2 * i + f]);
            match run(x, k.min(n)) {
                Ok(_) | Err(Error::NumericalFailure { .. }) => {}
                Err(e) => prop_assert!(false, "{e}"),
            }
        }
    }
}
