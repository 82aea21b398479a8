//! Which k centres explain the objects best?

use mustlink_core::prelude::*;
use mustlink_kernels::lloyd::{Empty, Stop, ToleranceKind, best_of, lloyd};
use mustlink_kernels::points::{Distortion, Points};
use mustlink_kernels::seeding::{Init, start};

/// K-means: each object joins its nearest centre, each centre is the mean of its objects.
///
/// # Method
/// Lloyd's two steps until nothing moves. Cosine: spherical k-means on rows of unit length.
/// # Input and output
/// n × d, dense or sparse. One label per object in `0..k`, k centres. The objective is the total
/// distortion, and never rises.
/// # Errors
/// `MissingK`, `BadK`, `TooManyClusters`; `NumericalFailure` for an empty cluster where asked for.
/// # Cost and randomness
/// O(sweeps · n·k·d), sparse O(sweeps · non-zeros · k); random only in the first centres.
/// # References
/// [Lloyd1982]; starts: [ArthurVassilvitskii2007] (greedy variant); cosine: [DhillonModha2001].
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct KMeans {
    /// Number of clusters, at most n; absent: that of the problem.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<usize>,
    /// How far an object is from a centre.
    pub distortion: Distortion,
    /// How the first centres are chosen.
    pub init: Init,
    /// Starts, of which the best result is kept; a given start is run once.
    #[schemars(range(min = 1))]
    pub restarts: usize,
    /// Sweeps of one start.
    #[schemars(range(min = 1))]
    pub max_iterations: usize,
    /// Smallest change of the objective worth another sweep.
    #[schemars(range(min = 0.0))]
    pub tolerance: f64,
    /// How the change is compared with the tolerance.
    pub tolerance_kind: ToleranceKind,
    /// What happens to a cluster without objects.
    pub empty: Empty,
}

impl Default for KMeans {
    fn default() -> Self {
        KMeans {
            k: None,
            distortion: Distortion::default(),
            init: Init::default(),
            restarts: 10,
            max_iterations: 300,
            tolerance: 1e-6,
            tolerance_kind: ToleranceKind::default(),
            empty: Empty::Reseed,
        }
    }
}

register!(BaseClusterer, KMeans, "kmeans",
    references: ["Lloyd1982", "ArthurVassilvitskii2007", "DhillonModha2001"]);

#[typetag::serde(name = "kmeans")]
impl BaseClusterer for KMeans {
    fn cluster(&self, problem: &Problem, ctx: &Context) -> Result<Clustering> {
        let k = problem.require_k(self.k, "kmeans")?;
        let stop = Stop::new(self.max_iterations, self.tolerance, self.tolerance_kind)?;
        let points = Points::new(&problem.data, self.distortion)?;
        let restarts = if self.init.is_random() { self.restarts } else { 1 };
        let mut best = best_of(restarts, |r| {
            let ctx = ctx.index(r);
            let centres = start(&points, k, self.init, problem, &ctx)?;
            lloyd(&points, centres, stop, self.empty, &ctx)
        })?;
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
            gives_centers: true,
            ..Properties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let copy = if self.distortion == Distortion::Cosine { 12 * shape.entries } else { 0 };
        (copy + 24 * shape.n + self.restarts * (4 * shape.n + 24 * shape.k * shape.d)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::contract::fixtures;
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
        let c = run(&KMeans { distortion: Distortion::Cosine, ..KMeans::default() }, &problem(x, 2));
        assert_eq!(c.extras.diagnostics["zero_rows"], 1.0);
        assert_eq!(c.labels[0], c.labels[1]);
        assert_ne!(c.labels[0], c.labels[2]);
        assert!((c.objective.unwrap() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn every_start_runs() {
        let (p, _) = fixtures::dense(3);
        for init in [Init::KmeansPlusPlus, Init::Random, Init::RandomPartition, Init::FarthestFirst, Init::Perturb] {
            for distortion in [Distortion::SquaredEuclidean, Distortion::Cosine] {
                let c = run(&KMeans { init, distortion, ..KMeans::default() }, &p);
                assert_eq!(c.k, 3, "{init:?}");
            }
        }
        let given = KMeans { init: Init::Given, ..KMeans::default() };
        let missing = given.cluster(&p, &Context::new(1)).unwrap_err();
        assert_eq!(missing.to_string(), "init: must be used with a start, got \"given\" without a start");
        let centres = run(&KMeans::default(), &p).extras.centers.unwrap();
        let again = run(&given, &p.clone().with_start(Start::Centroids(centres.clone())));
        assert_eq!(again.extras.centers, Some(centres));
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
            let kmeans = KMeans { distortion, restarts: 1, tolerance: 0.0, ..KMeans::default() };
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
