use super::*;
use crate::kmeans::KMeans;
use mustlink_core::clustering::canonical;
use mustlink_kernels::kmeans::seeding::Init;
use mustlink_laws::fixtures;
use ndarray::array;
use proptest::prelude::*;

/// Numbers, then a column for each of `of` words.
fn table(rows: &[(f64, &[usize])], of: &[usize]) -> Array2<f64> {
    let starts: Vec<usize> = (0..of.len()).map(|g| 1 + of[..g].iter().sum::<usize>()).collect();
    let mut x = Array2::zeros((rows.len(), 1 + of.iter().sum::<usize>()));
    for (i, (number, words)) in rows.iter().enumerate() {
        x[[i, 0]] = *number;
        starts.iter().zip(*words).for_each(|(start, word)| x[[i, start + word]] = 1.0);
    }
    x
}

fn problem(x: Array2<f64>, k: usize) -> Problem {
    Problem::new(Data::dense(x).unwrap()).with_k(k)
}

fn run(gamma: AutoOr<f64>, problem: &Problem) -> Clustering {
    let method = KPrototypes { gamma, ..KPrototypes::default() };
    mustlink_core::run::cluster(&method, problem, &Context::new(3)).unwrap().clustering
}

/// The objective by its definition, from the words themselves.
fn cost(rows: &[(f64, &[usize])], labels: &[u32], gamma: f64) -> f64 {
    let clusters = labels.iter().max().map_or(0, |&label| label + 1);
    let of_cluster = |h: u32| {
        let own: Vec<_> =
            rows.iter().zip(labels).filter(|(_, l)| **l == h).map(|(r, _)| r).collect();
        let mean = own.iter().map(|r| r.0).sum::<f64>() / own.len() as f64;
        let squares: f64 = own.iter().map(|r| (r.0 - mean).powi(2)).sum();
        let others = |g: usize| {
            let with = |word: usize| own.iter().filter(|r| r.1[g] == word).count();
            own.len() - (0..9).map(with).max().unwrap_or(0)
        };
        let differ: usize = (0..rows[0].1.len()).map(others).sum();
        if own.is_empty() { 0.0 } else { squares + gamma * differ as f64 }
    };
    (0..clusters).map(of_cluster).sum()
}

#[test]
fn worked_example() {
    // At gamma = 4, the object at 10 is alone: 0, 2 and 2 have the mean 4/3, 24/9, and one other word, 4. At gamma =
    // 100, words decide: 1 + 1 for 0 and 2, 16 + 16 for 2 and 10.
    let x = table(&[(0.0, &[0]), (2.0, &[0]), (2.0, &[1]), (10.0, &[1])], &[2]);
    let c = run(4.0.into(), &problem(x.clone(), 2));
    assert_eq!(canonical(&c.labels), [0, 0, 0, 1]);
    assert!((c.objective.unwrap() - (24.0 / 9.0 + 4.0)).abs() < 1e-12, "{:?}", c.objective);
    let centres = c.extras.centers.unwrap();
    let first = centres.row(c.labels[0] as usize);
    assert!(
        (first[0] - 4.0 / 3.0).abs() < 1e-12 && (first[1], first[2]) == (1.0, 0.0),
        "{centres}"
    );
    assert_eq!(c.extras.weights.unwrap().row(0).to_vec(), [1.0, 2.0, 2.0]);
    let c = run(100.0.into(), &problem(x.clone(), 2));
    assert_eq!(canonical(&c.labels), [0, 0, 1, 1]);
    assert!((c.objective.unwrap() - 34.0).abs() < 1e-9);
    // "auto": the mean is 3.5, the variance (3.5² + 1.5² + 1.5² + 6.5²) / 4 = 14.75.
    let c = run(AutoOr::Auto, &problem(x, 2));
    let near = |name: &str, value: f64| (c.extras.diagnostics[name] - value).abs() < 1e-12;
    assert!(near("gamma", 0.5 * 14.75f64.sqrt()) && near("word_columns", 1.0));
}

#[test]
fn the_scale_of_columns_of_words_is_replaced() {
    let rows: [(f64, &[usize]); 5] =
        [(0.0, &[0, 1]), (1.0, &[0, 1]), (2.0, &[1, 0]), (7.0, &[2, 0]), (8.0, &[2, 1])];
    let x = table(&rows, &[3, 2]);
    let plain = run(3.0.into(), &problem(x.clone(), 2));
    let mut other = x;
    for (s, (factor, shift)) in
        [(0.1, 5.0), (7.0, -3.0), (2.0, 0.0), (1e-3, 1.0), (4.0, 4.0)].into_iter().enumerate()
    {
        other.column_mut(s + 1).mapv_inplace(|v| v * factor + shift);
    }
    let scaled = run(3.0.into(), &problem(other.clone(), 2));
    assert_eq!((&scaled.labels, scaled.objective), (&plain.labels, plain.objective));
    // New objects go by the same distances.
    let centres = mustlink_kernels::kmeans::nearest::centres::Centres::of(
        &Data::dense(other.clone()).unwrap(),
        &scaled.labels,
        2,
        &scaled.extras,
    );
    let centres = centres.unwrap();
    let total: f64 = (0..5)
        .map(|i| centres.distance(&other.row(i).to_vec(), scaled.labels[i] as usize).powi(2))
        .sum();
    assert!((total - scaled.objective.unwrap()).abs() < 1e-9);
}

#[test]
fn columns_of_words_have_one_larger_value_in_each_row() {
    let groups = |x: Array2<f64>| WordColumns::of(&Data::dense(x).unwrap(), AutoOr::Auto).len();
    // These are numbers: a row without a 1, a row with two, a third value, and a single column of 0 and 1.
    assert_eq!(groups(array![[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]), 0);
    assert_eq!(groups(array![[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), 0);
    assert_eq!(groups(array![[1.0, 0.0], [0.0, 1.0], [0.5, 0.0]]), 0);
    assert_eq!(groups(array![[1.0], [0.0], [1.0]]), 0);
    // A number of two values in front of two columns of words.
    let x = array![[1.0, 1.0, 0.0, 0.0, 1.0], [1.0, 0.0, 1.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0, 0.0]];
    assert_eq!(groups(x), 2);
}

/// On columns of words, k-means and k-prototypes differ: the best two clusters of these five objects are not the same.
#[test]
fn it_is_not_kmeans_on_the_same_columns() {
    let words: [&[usize]; 5] = [&[0, 2, 0], &[1, 0, 1], &[1, 0, 1], &[2, 0, 1], &[1, 1, 2]];
    let rows: Vec<(f64, &[usize])> = words.iter().map(|w| (0.0, *w)).collect();
    let x = table(&rows, &[3, 3, 3]);
    let own = run(1.0.into(), &problem(x.clone(), 2));
    // With 1, the first object is alone; three of the others have the most frequent words but for one.
    assert_eq!(canonical(&own.labels), [0, 1, 1, 1, 1]);
    assert!((own.objective.unwrap() - 3.0).abs() < 1e-9);
    let kmeans = KMeans::default().cluster(&problem(x * 0.5f64.sqrt(), 2), &Context::new(3));
    let kmeans = kmeans.unwrap();
    assert_eq!(canonical(&kmeans.labels), [0, 1, 1, 1, 0]);
    assert!((kmeans.objective.unwrap() - 13.0 / 6.0).abs() < 1e-9);
    assert_eq!(cost(&rows, &kmeans.labels, 1.0), 4.0);
}

#[test]
fn a_given_start_is_on_the_given_columns() {
    let x = table(&[(0.0, &[0]), (1.0, &[1]), (8.0, &[1]), (9.0, &[0])], &[2]);
    let starts = Starts { init: Init::Given, max_iterations: 1, ..Starts::default() };
    let method = KPrototypes { gamma: 100.0.into(), starts, ..KPrototypes::default() };
    let start = array![[0.0, 1.0, 0.0], [9.0, 0.0, 1.0]];
    for start in [Start::Centroids(start), Start::Labels(vec![0, 1, 1, 0])] {
        let c = method.cluster(&problem(x.clone(), 2).with_start(start), &Context::new(1)).unwrap();
        assert_eq!(c.labels, [0, 1, 1, 0]);
    }
}

proptest! {
    #[test]
    fn without_words_it_is_kmeans(seed: u64) {
        let (p, _) = fixtures::dense(seed);
        let p = p.with_constraints(Constraints::new(45, []).unwrap());
        let kmeans = KMeans { max_iterations: 100, ..KMeans::default() };
        let plain = kmeans.cluster(&p, &Context::new(seed)).unwrap();
        let found = KPrototypes::default().cluster(&p, &Context::new(seed)).unwrap();
        let (found, plain) = (found.objective.unwrap(), plain.objective.unwrap());
        prop_assert!((found - plain).abs() <= plain * 1e-5, "{} and {}", found, plain);
    }

    /// The objective never rises, is that of its definition, and lies between one and two times that of k-means.
    #[test]
    fn the_objective_is_that_of_its_definition(
        rows in proptest::collection::vec((-3f64..3.0, 0usize..3, 0usize..4), 6..40),
        k in 1usize..5,
        gamma in 0.1f64..5.0,
    ) {
        let words: Vec<[usize; 2]> = rows.iter().map(|r| [r.1, r.2]).collect();
        let all: Vec<(f64, &[usize])> = rows.iter().zip(&words).map(|(r, w)| (r.0, &w[..])).collect();
        let x = table(&all, &[3, 4]);
        // Like `one_hot`, without columns for words that do not occur.
        let used: Vec<usize> = (0..8).filter(|&s| s == 0 || x.column(s).sum() > 0.0).collect();
        let x = x.select(ndarray::Axis(1), &used);
        let p = problem(x.clone(), k);
        let c = run(gamma.into(), &p);
        let objective = c.objective.unwrap();
        let falls = c.history.windows(2).all(|h| h[1].objective <= h[0].objective * (1.0 + 1e-12));
        prop_assert!(falls, "{:?}", c.history);
        if c.extras.diagnostics["word_columns"] == 2.0 {
            prop_assert!((objective - cost(&all, &c.labels, gamma)).abs() < 1e-9 * (1.0 + objective));
            let mut x = x;
            (1..used.len()).for_each(|s| x.column_mut(s).mapv_inplace(|v| v * (gamma / 2.0).sqrt()));
            let points = Points::new(&Data::dense(x.clone()).unwrap(), Distortion::SquaredEuclidean).unwrap();
            let centres = means(&points, &c.labels, Array2::zeros((k, x.ncols()))).0;
            let of_kmeans = total_distortion(&points, &c.labels, &centres);
            prop_assert!(of_kmeans <= objective + 1e-9 && objective <= 2.0 * of_kmeans + 1e-9);
        }
    }
}
