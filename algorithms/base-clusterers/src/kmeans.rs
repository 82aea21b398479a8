//! K-means in several forms.

use mustlink_core::prelude::*;
use mustlink_kernels::distance::points::{Distortion, DistortionOption, Points};
use mustlink_kernels::distance::precision::Precision;
use mustlink_kernels::kmeans::lloyd::{
    Algorithm, Empty, Stop, ToleranceKind, best_in_turn, best_of, lloyd_by,
};
use mustlink_kernels::kmeans::seeding::{Init, start};
use mustlink_kernels::kmeans::single_moves;

/// Refinement after the sweeps, when no object is nearer to another centre.
#[options]
pub enum Refine {
    /// No refinement.
    #[default]
    None,
    /// Single objects are moved, and their two centres updated, as long as that lowers the objective.
    Incremental,
}

/// K-means: each object joins its nearest centre, each centre is the mean of its objects.
///
/// # Method
/// Lloyd's two steps until nothing moves; then moves of single objects, if `refine` asks for them. Cosine: spherical
/// k-means on rows of unit length. Neither `algorithm` nor `precision` changes a label: fast forms pre-select
/// centres, and exact distances decide.
/// # Input and output
/// n × d, dense or sparse; objects may have weights, unless single objects are moved. One label per object in `0..k`,
/// k centres. The objective is the total distortion, and never rises.
/// # Errors
/// `MissingK`, `BadK`, `TooManyClusters`; `NumericalFailure` for an empty cluster if `empty = "error"`.
/// # Cost and randomness
/// O(sweeps · n·k·d), less with bounds, sparse O(sweeps · non-zeros · k); memory O(n + k·d), with group bounds
/// O(n·k/16); random only in the first centres.
/// # References
/// [Lloyd1982]; starts: [ArthurVassilvitskii2007] (greedy variant), [Bahmani2012]; cosine: [DhillonModha2001];
/// bounds: [Hamerly2010], [Ding2015].
#[options]
pub struct KMeans {
    /// Number of clusters, at most n. If absent, the k of the problem.
    #[option(min = 1)]
    pub k: Option<usize>,
    /// Distance from an object to a centre. "auto": cosine for sparse rows, otherwise squared Euclidean.
    pub distortion: AutoOr<Distortion>,
    /// Method of choosing the first centres.
    pub init: Init,
    /// Number of starts; the best result is kept. A given start is run once.
    #[option(default = 10, min = 1)]
    pub restarts: usize,
    /// Maximum number of sweeps in one start.
    #[option(default = 300, min = 1)]
    pub max_iterations: usize,
    /// Smallest change of the objective for which another sweep is made.
    #[option(default = 1e-6, min = 0.0)]
    pub tolerance: f64,
    /// Unit of the tolerance: relative to the objective, or absolute.
    pub tolerance_kind: ToleranceKind,
    /// Treatment of a cluster that has no objects.
    #[option(default = Empty::Reseed)]
    pub empty: Empty,
    /// Method of finding nearest centres; the labels are the same.
    #[option(default = Algorithm::Auto, inert = "all algorithms give the same labels")]
    pub algorithm: Algorithm,
    /// Number format for pre-selecting nearest centres of dense data; the labels are the same.
    #[option(default = Precision::F64, inert = "scores of either precision give the same labels")]
    pub precision: Precision,
    /// Refinement after the sweeps, when no object is nearer to another centre.
    pub refine: Refine,
    /// Maximum number of sweeps of the refinement. If absent, the same as for a start.
    #[option(min = 1)]
    pub refine_iterations: Option<usize>,
}

/// Products in a sweep from which on one restart fills all threads.
const LARGE: usize = 1 << 22;

impl KMeans {
    /// Restarts run one after the other where each of them fills all threads by itself.
    fn in_turn(&self, n: usize, d: usize, k: usize) -> bool {
        n.saturating_mul(d).saturating_mul(k) >= LARGE
    }
}

#[plugin(
    "kmeans",
    aliases = ["k_means"],
    cites = [
        "Lloyd1982",
        "ArthurVassilvitskii2007" if init = "kmeans_plus_plus",
        "Bahmani2012" if init = "kmeans_parallel",
        "DhillonModha2001" if distortion = "cosine",
        "Hamerly2010" if algorithm = "hamerly",
        "Ding2015" if algorithm = "yinyang"
    ])]
impl BaseClusterer for KMeans {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let k = problem.require_k(self.k, "kmeans")?;
        let stop = Stop::new(self.max_iterations, self.tolerance, self.tolerance_kind);
        let sweeps = self.refine_iterations.unwrap_or(self.max_iterations);
        let refining = Stop { max_iterations: sweeps, ..stop };
        let points = Points::new(&problem.data, self.distortion)?.with_precision(self.precision, k);
        let restarts = if self.init.is_random() { self.restarts } else { 1 };
        let run = |r: usize| {
            let ctx = ctx.index(r);
            let centres = start(&points, k, self.init, problem, &ctx)?;
            let found = lloyd_by(self.algorithm, &points, centres, stop, self.empty, &ctx)?;
            match self.refine {
                Refine::None => Ok(found),
                Refine::Incremental => single_moves::refine(&points, found, refining, &ctx),
            }
        };
        let mut best = if self.in_turn(problem.n(), problem.d(), k) {
            best_in_turn(restarts, run)?
        } else {
            best_of(restarts, run)?
        };
        if points.zero_rows() > 0 {
            let zero = points.zero_rows() as f64;
            best.extras.diagnostics.insert("zero_rows".into(), zero);
        }
        Ok(best)
    }

    fn properties(&self) -> Properties {
        Properties {
            accepts: vec![DataKind::Dense, DataKind::Csr],
            needs_k: self.k.is_none(),
            object_weights: self.refine == Refine::None,
            gives_centers: true,
            ..Properties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let Shape { n, d, entries, .. } = *shape;
        let k = self.k.unwrap_or(shape.k);
        let dense = entries == n * d;
        let copy = self.distortion.copy_bytes(shape);
        let precision = if dense { self.precision } else { Precision::F64 };
        let run = self.algorithm.memory(n, d, k, dense);
        // What stays of a run is its result.
        let result = (4 * n + 8 * k * d) as u64;
        let runs = if self.restarts == 1 {
            run
        } else if self.in_turn(n, d, k) {
            run + result
        } else {
            let held = self.restarts.min(reduce::WAVE);
            let at_once = held.min(rayon::current_num_threads());
            at_once as u64 * run + (held - at_once) as u64 * result
        };
        copy as u64 + precision.memory(n, d, k) + runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_laws::fixtures;
    use ndarray::{Array2, array};
    use proptest::prelude::*;

    fn problem(x: Array2<f64>, k: usize) -> Problem {
        Problem::new(Data::dense(x).unwrap()).with_k(k)
    }

    fn run(kmeans: &KMeans, problem: &Problem) -> Clustering {
        kmeans.cluster(problem, &Context::new(5)).unwrap()
    }

    #[test]
    fn worked_example() {
        // Two pairs on a line: means 0.5 and 10.5, each object half away: J = 4 · 0.25.
        let p = problem(array![[0.0], [1.0], [10.0], [11.0]], 2);
        let c = run(&KMeans::default(), &p);
        assert_eq!(mustlink_core::clustering::canonical(&c.labels), [0, 0, 1, 1]);
        assert_eq!(c.objective, Some(1.0));
        assert_eq!(c.status, Status::Converged);
    }

    #[test]
    fn worked_example_with_weights() {
        // 0 counts three times: means 1/4 and 10, J = 3 · 1/16 + 9/16; 7 counts nothing.
        let x = Data::dense(array![[0.0], [1.0], [10.0], [7.0]]).unwrap();
        let p = Problem::new(x.with_weights(vec![3.0, 1.0, 1.0, 0.0]).unwrap()).with_k(2);
        let c = run(&KMeans::default(), &p);
        assert_eq!(mustlink_core::clustering::canonical(&c.labels), [0, 0, 1, 1]);
        assert_eq!(c.objective, Some(0.75));
        let moving = KMeans { refine: Refine::Incremental, ..KMeans::default() };
        let refused = mustlink_core::run::cluster(&moving, &p, &Context::new(1)).unwrap_err();
        assert!(matches!(&refused, Error::UnsupportedWeights { plugin, .. } if plugin == "kmeans"));
        let says = "kmeans counts every object once";
        assert!(refused.to_string().contains(says), "{refused}");
    }

    #[test]
    fn degenerate_input_has_its_defined_outcome() {
        let x = array![[0.0, 1.0], [2.0, 1.0], [5.0, 1.0]];
        let all = run(&KMeans::default(), &problem(x.clone(), 3));
        assert_eq!((all.objective, all.empty_clusters()), (Some(0.0), 0));
        let one = run(&KMeans::default(), &problem(x.clone(), 1));
        assert_eq!(one.labels, [0, 0, 0]);
        let four = KMeans::default().cluster(&problem(x.clone(), 4), &Context::new(1));
        assert_eq!(four.unwrap_err(), Error::TooManyClusters { k: 4, n: 3 });
        let none = KMeans::default().cluster(&problem(x, 0), &Context::new(1));
        assert_eq!(none.unwrap_err(), Error::BadK);
        // More clusters than distinct rows: some stay empty, duplicates share a label.
        let same = run(&KMeans::default(), &problem(array![[1.0], [1.0], [1.0], [2.0]], 3));
        assert_eq!(same.objective, Some(0.0));
        assert_eq!((same.labels[0], same.labels[1]), (same.labels[1], same.labels[2]));
        assert_eq!(same.empty_clusters(), 1);
    }

    #[test]
    fn a_zero_row_under_cosine_is_legal_and_counted() {
        let x = array![[1.0, 0.0], [2.0, 0.0], [0.0, 3.0], [0.0, 0.0]];
        let c = run(
            &KMeans { distortion: Distortion::Cosine.into(), ..KMeans::default() },
            &problem(x, 2),
        );
        assert_eq!(c.extras.diagnostics["zero_rows"], 1.0);
        assert_eq!(c.labels[0], c.labels[1]);
        assert_ne!(c.labels[0], c.labels[2]);
        assert!((c.objective.unwrap() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn every_start_runs() {
        let (p, _) = fixtures::dense(3);
        for init in [
            Init::KmeansPlusPlus,
            Init::KmeansParallel,
            Init::Random,
            Init::RandomPartition,
            Init::FarthestFirst,
            Init::Perturb,
        ] {
            for distortion in [Distortion::SquaredEuclidean, Distortion::Cosine] {
                let c =
                    run(&KMeans { init, distortion: distortion.into(), ..KMeans::default() }, &p);
                assert_eq!(c.k, 3, "{init:?}");
            }
        }
        let given = KMeans { init: Init::Given, ..KMeans::default() };
        let missing = given.cluster(&p, &Context::new(1)).unwrap_err();
        assert_eq!(
            missing.to_string(),
            "init: must be used with a start, got \"given\" without a start"
        );
        let centres = run(&KMeans::default(), &p).extras.centers.unwrap();
        let again = run(&given, &p.clone().with_start(Start::Centroids(centres.clone())));
        assert_eq!(again.extras.centers, Some(centres));
    }

    #[test]
    fn every_form_has_the_defined_outcome_of_degenerate_input() {
        let mut s = SeedPath::new(1).stream("degenerate");
        let line =
            Array2::from_shape_fn((40, 1), |(i, _)| (i / 20) as f64 * 100.0 + (i % 20) as f64);
        let long = Array2::from_shape_fn((12, 10_000), |(i, _)| (i / 6) as f64 + 0.1 * s.unit());
        for algorithm in [Algorithm::Auto, Algorithm::Lloyd, Algorithm::Hamerly, Algorithm::Yinyang]
        {
            for precision in [Precision::F64, Precision::F32] {
                let kmeans = KMeans { algorithm, precision, ..KMeans::default() };
                let case = format!("{kmeans:?}");
                // k = n.
                let all = run(&kmeans, &problem(line.clone(), 40));
                assert_eq!((all.objective, all.empty_clusters()), (Some(0.0), 0), "{case}");
                // All rows equal: they share a cluster, the others stay empty.
                let equal = run(&kmeans, &problem(Array2::from_elem((30, 3), 7.0), 6));
                assert_eq!((equal.objective, equal.empty_clusters()), (Some(0.0), 5), "{case}");
                // More clusters than distinct rows.
                let few = run(&kmeans, &problem(line.mapv(|v| (v / 50.0).floor()), 9));
                assert_eq!((few.objective, few.empty_clusters()), (Some(0.0), 7), "{case}");
                // One feature, and ten thousand.
                let two = run(&kmeans, &problem(line.clone(), 2));
                assert_eq!(two.objective, Some(2.0 * 665.0), "{case}");
                let wide = run(&kmeans, &problem(long.clone(), 2));
                assert_eq!(wide.sizes(), [6, 6], "{case}");
                // Squares too large, or too small, for a number.
                for scale in [1e90, 1e-90] {
                    let c = run(&kmeans, &problem(line.mapv(|v| v * scale), 5));
                    assert!(c.labels.iter().all(|&h| h < 5), "{case}");
                }
            }
        }
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bits() {
        let (small, _) = fixtures::groups(40, 5, 2.0, 1);
        let (large, _) = fixtures::groups(900, 5, 2.0, 2);
        // Restarts side by side, and one after the other.
        for (x, k, in_turn) in [(small, 7, false), (large, 320, true)] {
            let kmeans =
                KMeans { restarts: 3, max_iterations: 4, init: Init::Random, ..KMeans::default() };
            assert_eq!(kmeans.in_turn(x.nrows(), x.ncols(), k), in_turn);
            let p = problem(x, k);
            let at = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| run(&kmeans, &p))
            };
            assert_eq!(at(1), at(2));
            assert_eq!(at(1), at(7));
        }
    }

    proptest! {
        #[test]
        fn objective_falls_and_is_what_it_says(
            values in prop::collection::vec(-5i32..5, 24..90),
            k in 1usize..6,
            cosine: bool,
            seed: u64,
        ) {
            let n = values.len() / 3;
            let x = Array2::from_shape_fn((n, 3), |(i, s)| f64::from(values[3 * i + s]));
            let distortion = if cosine { Distortion::Cosine } else { Distortion::SquaredEuclidean };
            let p = problem(x.clone(), k);
            let kmeans = KMeans { distortion: distortion.into(), restarts: 1, tolerance: 0.0, ..KMeans::default() };
            let c = kmeans.cluster(&p, &Context::new(seed)).unwrap();
            for w in c.history.windows(2) {
                prop_assert!(w[1].objective <= w[0].objective * (1.0 + 1e-12) + 1e-12);
            }
            let centres = c.extras.centers.clone().unwrap();
            let unit = |row: ndarray::ArrayView1<f64>| {
                let norm = row.dot(&row).sqrt();
                if cosine && norm > 0.0 { &row / norm } else { row.to_owned() }
            };
            let slow: f64 = (0..n).map(|i| {
                let (a, m) = (unit(x.row(i)), centres.row(c.labels[i] as usize));
                if cosine { 1.0 - a.dot(&m) } else { (&a - &m).mapv(|v| v * v).sum() }
            }).sum();
            prop_assert!((slow - c.objective.unwrap()).abs() <= 1e-9 * slow.max(1.0));
            if c.status == Status::Converged {
                // Duplicates share a label; every object is with a nearest centre.
                for i in 0..n {
                    for j in 0..i {
                        if x.row(i) == x.row(j) {
                            prop_assert_eq!(c.labels[i], c.labels[j]);
                        }
                    }
                }
            }
        }

        /// From one start, by every algorithm, dense and sparse, over one block of rows and over two.
        #[test]
        fn a_weight_is_so_many_objects(seed: u64, cosine: bool, sparse: bool, large: bool) {
            let size = if large { 300 } else { 12 };
            let (x, _) = fixtures::groups(size, 4, 1.5, seed);
            let mut stream = SeedPath::new(seed).stream("weights");
            let weights: Vec<usize> = (0..x.nrows()).map(|_| 1 + stream.below(3)).collect();
            let counted = weights.iter().enumerate();
            let copies: Vec<usize> = counted.flat_map(|(i, &w)| vec![i; w]).collect();
            let start = x.select(ndarray::Axis(0), &[0, size, 2 * size]);
            let distortion = if cosine { Distortion::Cosine } else { Distortion::SquaredEuclidean };
            for algorithm in [Algorithm::Lloyd, Algorithm::Hamerly, Algorithm::Yinyang] {
                let (init, empty) = (Init::Given, Empty::Keep);
                let kmeans = KMeans { init, empty, distortion: distortion.into(), algorithm, ..KMeans::default() };
                let rows = |x: Array2<f64>| {
                    let data =
                        if sparse { Data::csr(fixtures::to_csr(&x)) } else { Data::dense(x) };
                    data.unwrap()
                };
                let on = |data: Data| {
                    let p = Problem::new(data).with_k(3);
                    run(&kmeans, &p.with_start(Start::Centroids(start.clone())))
                };
                let counts = weights.iter().map(|&w| w as f64).collect();
                let once = on(rows(x.clone()).with_weights(counts).unwrap());
                let often = on(rows(x.select(ndarray::Axis(0), &copies)));
                let labels: Vec<u32> = copies.iter().map(|&i| once.labels[i]).collect();
                prop_assert_eq!(labels, often.labels);
                let (a, b) = (once.objective.unwrap(), often.objective.unwrap());
                prop_assert!((a - b).abs() <= 1e-9 * b.max(1.0), "{} {}", a, b);
            }
        }

        #[test]
        fn scaling_the_data_scales_the_objective(seed: u64) {
            let (x, _) = fixtures::groups(10, 3, 1.0, seed);
            let kmeans = KMeans { tolerance: 0.0, ..KMeans::default() };
            let one = kmeans.cluster(&problem(x.clone(), 3), &Context::new(seed)).unwrap();
            let two = kmeans.cluster(&problem(x.mapv(|v| 4.0 * v), 3), &Context::new(seed)).unwrap();
            prop_assert_eq!(&one.labels, &two.labels);
            prop_assert_eq!(one.objective.unwrap() * 16.0, two.objective.unwrap());
        }
    }
}
