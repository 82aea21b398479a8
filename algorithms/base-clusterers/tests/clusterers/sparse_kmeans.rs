//! K-means on sparse rows: any number of threads, dense or sparse, whole or a view, and every
//! degenerate input.

use mustlink_base_clusterers::kmeans::KMeans;
use mustlink_core::clustering::canonical;
use mustlink_core::prelude::*;
use mustlink_core::run;
use mustlink_kernels::distance::points::Distortion;
use mustlink_kernels::kmeans::seeding::Init;
use mustlink_laws::fixtures;
use ndarray::{Array2, array};

const BOTH: [Distortion; 2] = [Distortion::SquaredEuclidean, Distortion::Cosine];

/// Documents of a few topics: a word of its topic is likelier by far.
fn documents(n: usize, words: usize, topics: usize, seed: u64) -> Array2<f64> {
    let mut s = SeedPath::new(seed).stream("documents");
    Array2::from_shape_fn((n, words), |(i, w)| {
        let likely = w % topics == i % topics;
        if s.below(if likely { 3 } else { 30 }) == 0 { 1.0 + s.below(3) as f64 } else { 0.0 }
    })
}

fn sparse(x: &Array2<f64>) -> Data {
    Data::csr(fixtures::to_csr(x)).unwrap()
}

fn cluster(kmeans: &KMeans, data: Data, k: usize) -> Clustering {
    let problem = Problem::new(data).with_k(k);
    run::cluster(kmeans, &problem, &Context::new(11)).unwrap().clustering
}

fn in_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let data = sparse(&documents(2300, 60, 5, 1));
    for distortion in BOTH {
        for init in [Init::KmeansPlusPlus, Init::KmeansParallel, Init::Random] {
            let kmeans =
                KMeans { distortion: distortion.into(), init, restarts: 2, ..KMeans::default() };
            let made = |threads| in_threads(threads, || cluster(&kmeans, data.clone(), 5));
            let one = made(1);
            assert_eq!(one, made(2), "{distortion:?} {init:?}");
            assert_eq!(one, made(7), "{distortion:?} {init:?}");
        }
    }
}

#[test]
fn sparse_and_dense_rows_get_the_same_labels() {
    for seed in 0..4 {
        let x = documents(300, 40, 4, seed);
        for distortion in BOTH {
            for init in [Init::KmeansPlusPlus, Init::KmeansParallel, Init::FarthestFirst] {
                let kmeans = KMeans {
                    distortion: distortion.into(),
                    init,
                    restarts: 1,
                    ..KMeans::default()
                };
                let a = cluster(&kmeans, Data::dense(x.clone()).unwrap(), 4);
                let b = cluster(&kmeans, sparse(&x), 4);
                assert_eq!(a.labels, b.labels, "{seed} {distortion:?} {init:?}");
                let (a, b) = (a.objective.unwrap(), b.objective.unwrap());
                assert!((a - b).abs() <= 1e-9 * a.max(1.0));
            }
        }
    }
}

#[test]
fn a_view_of_rows_is_clustered_as_a_copy_of_them() {
    let x = documents(400, 50, 5, 2);
    let rows: Vec<usize> = (0..400).filter(|i| i % 5 != 0).collect();
    for distortion in BOTH {
        let kmeans = KMeans { distortion: distortion.into(), ..KMeans::default() };
        let view = cluster(&kmeans, sparse(&x).subset(&rows), 5);
        let copy = cluster(&kmeans, sparse(&x.select(ndarray::Axis(0), &rows)), 5);
        assert_eq!(view, copy);
    }
}

#[test]
fn zero_rows_under_cosine_are_legal_and_counted() {
    let mut x = documents(60, 20, 3, 3);
    for i in [0, 17, 40] {
        x.row_mut(i).fill(0.0);
    }
    let kmeans = KMeans { distortion: Distortion::Cosine.into(), ..KMeans::default() };
    let c = cluster(&kmeans, sparse(&x), 3);
    let zero = (0..60).filter(|&i| x.row(i).iter().all(|&v| v == 0.0)).count();
    assert_eq!(c.extras.diagnostics["zero_rows"], zero as f64);
    // Nothing is similar to them: distortion 1, and the same cluster by the rule for ties.
    assert_eq!((c.labels[0], c.labels[17]), (c.labels[17], c.labels[40]));
    assert!(c.objective.unwrap() >= 3.0);
    let only = cluster(&kmeans, sparse(&Array2::zeros((5, 4))), 2);
    assert_eq!((only.objective, only.labels), (Some(5.0), vec![0; 5]));
}

#[test]
fn as_many_clusters_as_objects_or_more_than_distinct_rows() {
    for distortion in BOTH {
        let kmeans = KMeans { distortion: distortion.into(), ..KMeans::default() };
        let x =
            Array2::from_shape_fn(
                (9, 9),
                |(i, f)| {
                    if i == f { 2.0 } else { f64::from(u8::from(f == 0)) }
                },
            );
        let all = cluster(&kmeans, sparse(&x), 9);
        assert_eq!(canonical(&all.labels), (0..9).collect::<Vec<u32>>(), "{distortion:?}");
        assert!(all.objective.unwrap().abs() < 1e-12);
        let twice = array![[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]];
        let few = cluster(&kmeans, sparse(&twice), 4);
        assert_eq!(canonical(&few.labels), [0, 1, 0, 1, 0], "{distortion:?}");
        assert!(few.objective.unwrap().abs() < 1e-12);
        assert_eq!(few.empty_clusters(), 2);
    }
}

#[test]
fn equal_rows_and_one_feature() {
    for distortion in BOTH {
        let kmeans = KMeans { distortion: distortion.into(), ..KMeans::default() };
        let same = cluster(&kmeans, sparse(&Array2::from_elem((12, 3), 2.5)), 3);
        assert_eq!(same.labels, [same.labels[0]; 12], "{distortion:?}");
        assert!(same.objective.unwrap().abs() < 1e-12);
    }
    let line = array![[0.0], [1.0], [10.0], [11.0]];
    let squared = Distortion::SquaredEuclidean.into();
    let c = cluster(&KMeans { distortion: squared, ..KMeans::default() }, sparse(&line), 2);
    assert_eq!((canonical(&c.labels), c.objective), (vec![0, 0, 1, 1], Some(1.0)));
    // Under cosine one feature leaves the sign.
    let signs = array![[1.0], [-2.0], [3.0], [-4.0]];
    let kmeans = KMeans { distortion: Distortion::Cosine.into(), ..KMeans::default() };
    let c = cluster(&kmeans, sparse(&signs), 2);
    assert_eq!((canonical(&c.labels), c.objective), (vec![0, 1, 0, 1], Some(0.0)));
}

#[test]
fn ten_thousand_features() {
    let x = Array2::from_shape_fn((40, 10_000), |(i, f)| {
        f64::from(u8::from(f % 40 == i || f % 4 == i % 4 && f < 2000))
    });
    for distortion in BOTH {
        let c =
            cluster(&KMeans { distortion: distortion.into(), ..KMeans::default() }, sparse(&x), 4);
        let expected: Vec<u32> = (0..40).map(|i| i % 4).collect();
        assert_eq!(canonical(&c.labels), expected, "{distortion:?}");
    }
}
