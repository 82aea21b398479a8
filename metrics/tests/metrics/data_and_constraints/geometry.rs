//! Scores that look at the data: numbers by hand, invariants, and a slow second road for each.

use super::sparse;
use crate::support::metric;
use mustlink_core::prelude::*;
use mustlink_metrics::silhouette::Silhouette;
use ndarray::Array2;
use proptest::prelude::*;

const ALL: [&str; 6] = [
    "sse",
    "mean_cosine",
    "davies_bouldin",
    "calinski_harabasz",
    "silhouette",
    "silhouette distance=cosine",
];

fn dense(rows: &[&[f64]]) -> Data {
    let d = rows[0].len();
    let values = rows.iter().flat_map(|r| r.iter().copied()).collect();
    Data::dense(Array2::from_shape_vec((rows.len(), d), values).unwrap()).unwrap()
}

fn score(config: &str, data: &Data, labels: &[u32]) -> Option<f64> {
    let input = MetricInput { labels, data: Some(data), ..MetricInput::default() };
    metric(config).score(&input).unwrap()
}

fn near(a: Option<f64>, b: Option<f64>, tolerance: f64) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= tolerance * (1.0 + a.abs()),
        (a, b) => a == b,
    }
}

fn line() -> Data {
    dense(&[&[0.0], &[1.0], &[5.0], &[6.0], &[20.0]])
}

const LINE: [u32; 5] = [0, 0, 1, 1, 2];

#[test]
fn silhouette_of_a_line() {
    let data = line();
    let input = MetricInput { labels: &LINE, data: Some(&data), ..MetricInput::default() };
    let values = Silhouette::default().values(&input).unwrap().unwrap();
    let expected = [0.818182, 0.777778, 0.777778, 0.818182, 0.0];
    for ((at, value), (i, expected)) in values.into_iter().zip(expected.into_iter().enumerate()) {
        assert_eq!(at, i);
        assert!((value - expected).abs() < 5e-7, "object {at}: {value}, expected {expected}");
    }
    assert!(near(score("silhouette", &data, &LINE), Some(0.638383838384), 1e-12));
}

#[test]
fn the_others_on_the_line() {
    // Means 0.5, 5.5, 20; squares within 0.5 + 0.5 + 0; mean of all 6.4.
    let data = line();
    assert!(near(score("sse", &data, &LINE), Some(0.2), 1e-12));
    let between = 2.0 * 5.9f64.powi(2) + 2.0 * 0.9f64.powi(2) + 13.6f64.powi(2);
    assert!(near(score("calinski_harabasz", &data, &LINE), Some(between), 1e-12));
    // Spreads 0.5, 0.5, 0; the worst neighbours are 1/5, 1/5 and 0.5/14.5.
    let worst = (0.2 + 0.2 + 0.5 / 14.5) / 3.0;
    assert!(near(score("davies_bouldin", &data, &LINE), Some(worst), 1e-12));
    // Right angles in one cluster meet its centre at 45 degrees; alone the cosine is 1.
    let corners = dense(&[&[3.0, 0.0], &[0.0, 7.0], &[2.0, 2.0]]);
    let expected = (2.0 * 0.5f64.sqrt() + 1.0) / 3.0;
    assert!(near(score("mean_cosine", &corners, &[0, 0, 1]), Some(expected), 1e-12));
}

#[test]
fn what_is_not_defined() {
    let data = line();
    let of = |config: &str, labels: [u32; 5]| score(config, &data, &labels);
    for config in ["silhouette", "davies_bouldin", "calinski_harabasz"] {
        assert_eq!(of(config, [7; 5]), None, "{config} of one cluster");
    }
    let singletons = [4, 3, 2, 1, 0];
    assert_eq!(of("silhouette", singletons), None);
    assert_eq!(of("calinski_harabasz", singletons), None);
    assert_eq!(of("davies_bouldin", singletons), Some(0.0));
    assert_eq!(of("sse", singletons), Some(0.0));
    // Equal objects: nothing scatters, and means coincide.
    let one: &[f64] = &[0.1, 0.7];
    let equal = dense(&[one; 6]);
    let labels = [0, 0, 0, 1, 1, 1];
    assert_eq!(score("sse", &equal, &labels), Some(0.0));
    assert_eq!(score("silhouette", &equal, &labels), Some(0.0));
    assert_eq!(score("davies_bouldin", &equal, &labels), None);
    assert_eq!(score("calinski_harabasz", &equal, &labels), None);
    // An object of zeros points nowhere; opposite objects have no direction together.
    let odd = dense(&[&[0.0, 0.0], &[1.0, 0.0], &[-1.0, 0.0]]);
    assert_eq!(score("mean_cosine", &odd, &[0, 1, 1]), Some(0.0));
    assert_eq!(score("mean_cosine", &odd, &[0, 0, 1]), Some(2.0 / 3.0));
    // Squares of these are no numbers any more.
    let huge = dense(&[&[1e200], &[-1e200], &[3e200], &[2e200]]);
    for config in ["sse", "silhouette", "davies_bouldin", "calinski_harabasz"] {
        assert_eq!(score(config, &huge, &[0, 0, 1, 1]), None, "{config} of huge values");
    }
}

#[test]
fn data_must_fit() {
    let refused = |config: &str, data: Option<&Data>| {
        let input = MetricInput { labels: &LINE, data, ..MetricInput::default() };
        metric(config).score(&input).unwrap_err().to_string()
    };
    let distances = Data::distances(Array2::zeros((5, 5))).unwrap();
    let short = line().subset(&[0, 1]);
    for config in ["sse", "mean_cosine", "davies_bouldin", "calinski_harabasz", "silhouette"] {
        let none = format!("{config} needs the data, but none were given");
        assert_eq!(refused(config, None), none);
        let message = "data: must be one row per object (5), got 2 rows";
        assert_eq!(refused(config, Some(&short)), message);
        if config != "silhouette" {
            let message = refused(config, Some(&distances));
            assert!(message.contains(config) && message.contains("distances"), "{message}");
        }
    }
    let affinity = Data::affinity(Array2::zeros((5, 5))).unwrap();
    assert!(refused("silhouette", Some(&affinity)).contains("affinity"));
    let message = refused("silhouette max_n=1", Some(&line()));
    assert_eq!(message, "max_n: must be at least 2, got 1");
}

/// Products lose the digits of short distances far from the middle; differences do not.
#[test]
fn silhouette_of_tight_groups_far_apart() {
    let at = |i: usize, f: usize| match i % 2 {
        0 => 1e6 + ((i * (3 + f)) as f64).sin() * 1e-3,
        _ => -1e6 + ((i * (5 + f)) as f64).cos() * 1e-3,
    };
    let n = 150;
    let data = Data::dense(Array2::from_shape_fn((n, 3), |(i, f)| at(i, f))).unwrap();
    // Each group in two by chance, so that short distances decide.
    let labels: Vec<u32> = (0..n).map(|i| (i % 2 + 2 * (i / 7 % 2)) as u32).collect();
    let distance = |i, j| data.row(i).squared_distance(&data.row(j)).sqrt();
    let distances = Array2::from_shape_fn((n, n), |(i, j)| distance(i, j));
    let exact = score("silhouette", &Data::distances(distances).unwrap(), &labels);
    let found = score("silhouette", &data, &labels);
    assert!(near(found, exact, 1e-6), "{found:?}, exactly {exact:?}");
}

#[test]
fn a_sample_keeps_the_shares_and_its_seed() {
    let n = 400;
    let labels: Vec<u32> = (0..n).map(|i| u32::from(i % 4 == 0)).collect();
    let at = |i: usize| 10.0 * f64::from(labels[i]) + (i as f64 * 0.37).sin();
    let data = Data::dense(Array2::from_shape_fn((n, 1), |(i, _)| at(i))).unwrap();
    let input = MetricInput { labels: &labels, data: Some(&data), ..MetricInput::default() };
    let sampled = |seed: u64| {
        Silhouette { max_n: 80, seed, ..Silhouette::default() }.values(&input).unwrap().unwrap()
    };
    let sample = sampled(0);
    assert_eq!(sample.len(), 80);
    assert_eq!(sample.iter().filter(|(i, _)| labels[*i] == 1).count(), 20);
    assert!(sample.windows(2).all(|w| w[0].0 < w[1].0));
    assert_eq!(sample, sampled(0));
    assert_ne!(sample, sampled(1));
    // The sample is scored among itself.
    let rows: Vec<usize> = sample.iter().map(|(i, _)| *i).collect();
    let own: Vec<u32> = rows.iter().map(|&i| labels[i]).collect();
    let alone = score("silhouette", &data.subset(&rows), &own);
    assert!(near(score("silhouette max_n=80", &data, &labels), alone, 1e-12));
    let exact = score("silhouette", &data, &labels).unwrap();
    assert!((exact - alone.unwrap()).abs() < 0.02);
}

#[test]
fn a_sample_has_two_of_each_cluster() {
    let near_exact = |at: &dyn Fn(usize) -> f64, labels: &[u32], tolerance: f64| {
        let x = Array2::from_shape_fn((labels.len(), 1), |(i, _)| at(i));
        let data = Data::dense(x).unwrap();
        let exact = score("silhouette", &data, labels);
        let found = score("silhouette max_n=60", &data, labels);
        assert!(exact.is_some() && near(found, exact, tolerance), "{found:?}, exactly {exact:?}");
    };
    // A pair far off that has no share, and counts as much as it is.
    let labels: Vec<u32> = (0..400).map(|i| u32::from(i >= 398)).collect();
    near_exact(&|i| if i < 398 { (i as f64).sin() } else { 1000.0 + i as f64 }, &labels, 0.01);
    // Room for two of each of the thirty, then for two of some of a hundred.
    for k in [30, 100] {
        let labels: Vec<u32> = (0..4 * k).map(|i| i / 4).collect();
        near_exact(&|i| 100.0 * (i / 4) as f64 + (i % 4) as f64 * 0.01, &labels, 0.01);
    }
}

#[test]
fn far_from_the_origin_differences_are_no_rounding() {
    // Times in microseconds.
    let at = [0.0, 100.0, 500.0, 640.0, 50.0, 570.0];
    let labels = [0, 0, 1, 1, 0, 1];
    for name in ["sse", "silhouette", "davies_bouldin", "calinski_harabasz"] {
        let of = |shift: f64| {
            let x = Array2::from_shape_fn((6, 1), |(i, _)| at[i] + shift);
            score(name, &Data::dense(x).unwrap(), &labels)
        };
        let (far, here) = (of(1.7e15), of(0.0));
        assert!(here.is_some() && near(far, here, 1e-3), "{name}: {far:?}, at 0 {here:?}");
    }
}

/// Squared distances between all objects, and cosines (0 with an object of zeros).
struct Pairwise {
    squared: Vec<Vec<f64>>,
    cosine: Vec<Vec<f64>>,
    clusters: Vec<Vec<usize>>,
}

impl Pairwise {
    fn new(data: &Data, labels: &[u32]) -> Self {
        let x = data.to_dense();
        let n = x.nrows();
        let norm = |i: usize| x.row(i).dot(&x.row(i)).sqrt();
        let cosine = |i: usize, j: usize| match norm(i) * norm(j) {
            0.0 => 0.0,
            scale => x.row(i).dot(&x.row(j)) / scale,
        };
        let squared = |i: usize, j: usize| (&x.row(i) - &x.row(j)).mapv(|v| v * v).sum();
        let table = |f: &dyn Fn(usize, usize) -> f64| -> Vec<Vec<f64>> {
            (0..n).map(|i| (0..n).map(|j| f(i, j)).collect()).collect()
        };
        let mut names: Vec<u32> = labels.to_vec();
        names.sort_unstable();
        names.dedup();
        let members = |h: &u32| (0..n).filter(|&i| labels[i] == *h).collect();
        Pairwise {
            squared: table(&squared),
            cosine: table(&cosine),
            clusters: names.iter().map(members).collect(),
        }
    }

    fn n(&self) -> f64 {
        self.squared.len() as f64
    }

    fn mean(&self, of: &[Vec<f64>], a: &[usize], b: &[usize]) -> f64 {
        let sum: f64 = a.iter().flat_map(|&i| b.iter().map(move |&j| of[i][j])).sum();
        sum / (a.len() * b.len()) as f64
    }

    /// Σ‖x − µ‖² of a set, over its size: half the mean squared distance.
    fn variance(&self, set: &[usize]) -> f64 {
        self.mean(&self.squared, set, set) / 2.0
    }

    fn scatter(&self) -> f64 {
        self.clusters.iter().map(|c| c.len() as f64 * self.variance(c)).sum()
    }

    fn score(&self, config: &str) -> Option<f64> {
        let k = self.clusters.len();
        let everyone: Vec<usize> = (0..self.squared.len()).collect();
        match config {
            "sse" => Some(self.scatter() / self.n()),
            "mean_cosine" => {
                // Σ cos(x, Σu) of a cluster is the length of Σu.
                let length =
                    |c: &Vec<usize>| c.len() as f64 * self.mean(&self.cosine, c, c).max(0.0).sqrt();
                Some(self.clusters.iter().map(length).sum::<f64>() / self.n())
            }
            "calinski_harabasz" => {
                let inside = self.scatter();
                let between = self.n() * self.variance(&everyone) - inside;
                let freedom = (self.n() - k as f64) / (k as f64 - 1.0);
                Some(between / inside * freedom)
            }
            "davies_bouldin" => {
                let spread = |c: &Vec<usize>| {
                    let to_mean = |&i: &usize| {
                        (self.mean(&self.squared, &[i], c) - self.variance(c)).max(0.0).sqrt()
                    };
                    c.iter().map(to_mean).sum::<f64>() / c.len() as f64
                };
                let apart = |a: &Vec<usize>, b: &Vec<usize>| {
                    let mean = self.mean(&self.squared, a, b);
                    (mean - self.variance(a) - self.variance(b)).sqrt()
                };
                let worst = |a: usize| {
                    let others = (0..k).filter(|&b| b != a).map(|b| &self.clusters[b]);
                    let own = &self.clusters[a];
                    others.map(|b| (spread(own) + spread(b)) / apart(own, b)).fold(0.0, f64::max)
                };
                Some((0..k).map(worst).sum::<f64>() / k as f64)
            }
            _ => {
                let distance = |i: usize, j: usize| match config {
                    "silhouette" => self.squared[i][j].sqrt(),
                    _ if self.cosine[i][j] > 1.0 - 1e-14 => 0.0,
                    _ => 1.0 - self.cosine[i][j],
                };
                let one = |i: usize| {
                    let own = self.clusters.iter().find(|c| c.contains(&i)).unwrap();
                    if own.len() == 1 {
                        return 0.0;
                    }
                    let sum = |c: &Vec<usize>| {
                        c.iter().filter(|&&j| j != i).map(|&j| distance(i, j)).sum::<f64>()
                    };
                    let a = sum(own) / (own.len() - 1) as f64;
                    let others = self.clusters.iter().filter(|c| !c.contains(&i));
                    let b = others.map(|c| sum(c) / c.len() as f64).fold(f64::INFINITY, f64::min);
                    if a.max(b) == 0.0 { 0.0 } else { (b - a) / a.max(b) }
                };
                Some(everyone.iter().map(|&i| one(i)).sum::<f64>() / self.n())
            }
        }
    }
}

/// Objects in general position, a third of the entries 0, with labels; some objects are zero.
fn worlds() -> impl Strategy<Value = (Data, Vec<u32>)> {
    (4usize..24, 1usize..12, 2u32..5).prop_flat_map(|(n, d, k)| {
        let value = prop_oneof![1 => Just(0.0), 2 => -5.0..5.0f64];
        let x = prop::collection::vec(value, n * d);
        let labels = prop::collection::vec(0..k, n);
        (x, labels).prop_map(move |(x, labels)| {
            (Data::dense(Array2::from_shape_vec((n, d), x).unwrap()).unwrap(), labels)
        })
    })
}

/// Rows in one direction lie in one place under the cosine, whatever rounding says of them.
#[test]
fn parallel_rows_are_no_distance_apart() {
    let rows =
        ndarray::array![[-1.7203722758313813], [-3.2425009289895934], [0.0], [-4.3642149329]];
    let data = Data::dense(rows).unwrap();
    assert_eq!(score("silhouette distance=cosine", &data, &[1, 0, 2, 0]), Some(0.0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn two_roads((data, labels) in worlds()) {
        let slow = Pairwise::new(&data, &labels);
        for config in ALL {
            if let Some(fast) = score(config, &data, &labels) {
                let slow = slow.score(config).unwrap();
                // The slow road subtracts squares: close centres cost it digits.
                prop_assert!(near(Some(fast), Some(slow), 1e-6), "{config}: {fast}, slowly {slow}");
            }
        }
    }

    #[test]
    fn dense_and_sparse_agree((data, labels) in worlds()) {
        let sparse = sparse(&data);
        for config in ALL {
            let (a, b) = (score(config, &data, &labels), score(config, &sparse, &labels));
            prop_assert!(near(a, b, 1e-9), "{config}: {a:?} dense, {b:?} sparse");
        }
    }

    #[test]
    fn silhouette_takes_distances((data, labels) in worlds()) {
        let n = data.n();
        let distance = |i, j| data.row(i).squared_distance(&data.row(j)).sqrt();
        let d = Array2::from_shape_fn((n, n), |(i, j)| distance(i, j));
        let distances = Data::distances(d).unwrap();
        let (a, b) = (score("silhouette", &data, &labels), score("silhouette", &distances, &labels));
        prop_assert!(near(a, b, 1e-11), "{a:?} from rows, {b:?} from distances");
    }

    #[test]
    fn shifts_and_scales((data, labels) in worlds()) {
        let moved = Data::dense(data.to_dense().mapv(|v| 3.0 * v + 7.0)).unwrap();
        for (config, factor) in
            [("sse", 9.0), ("davies_bouldin", 1.0), ("calinski_harabasz", 1.0), ("silhouette", 1.0)]
        {
            let expected = score(config, &data, &labels).map(|v| factor * v);
            let found = score(config, &moved, &labels);
            // Means that coincide but for rounding make any ratio.
            if expected.is_none_or(|v| v < 1e6) {
                prop_assert!(near(expected, found, 1e-6), "{config}: {expected:?} moved to {found:?}");
            }
        }
        let scaled = Data::dense(data.to_dense().mapv(|v| 3.0 * v)).unwrap();
        let (a, b) = (score("mean_cosine", &data, &labels), score("mean_cosine", &scaled, &labels));
        prop_assert!(near(a, b, 1e-12), "mean_cosine: {a:?} scaled to {b:?}");
    }

    #[test]
    fn splitting_never_raises_sse((data, labels) in worlds(), halves in prop::collection::vec(0u32..2, 24)) {
        let split: Vec<u32> = labels.iter().zip(halves).map(|(l, h)| 2 * l + h).collect();
        let (whole, parts) = (score("sse", &data, &labels), score("sse", &data, &split));
        prop_assert!(parts <= whole.map(|v| v + 1e-9), "{whole:?} split to {parts:?}");
        let of = |labels: &[u32]| score("mean_cosine", &data, labels).unwrap();
        prop_assert!(of(&split) >= of(&labels) - 1e-9);
    }
}
