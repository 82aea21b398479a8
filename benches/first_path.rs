//! The time of closure and penalised k-means at sizes where pairwise forms stop working.
//!
//! `cargo bench --bench first_path`. The ids carry the sizes. Memory is the most that was allocated
//! at once during a run, as the allocation profiler counts it.

use divan::{AllocProfiler, Bencher};
use mustlink::closure::{Closure, OnConflict};
use mustlink::random::SeedPath;
use mustlink::roles::BaseClusterer;
use mustlink::{Constraint, Constraints, Context, Data, Problem, registry, run};
use ndarray::Array2;

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

/// `pairs` random pairs over `n` objects in `classes` classes, with the class of each object.
fn random_pairs(n: usize, classes: usize, pairs: usize) -> (Constraints, Vec<usize>) {
    let mut s = SeedPath::new(1).stream("bench");
    let class: Vec<usize> = (0..n).map(|_| s.below(classes)).collect();
    let drawn: Vec<Constraint> = (0..pairs)
        .filter_map(|_| {
            let (i, j) = (s.below(n), s.below(n));
            (i != j).then(|| {
                if class[i] == class[j] { Constraint::must(i, j) } else { Constraint::cannot(i, j) }
            })
        })
        .collect();
    (Constraints::new(n, drawn).expect("in range"), class)
}

#[divan::bench(sample_count = 10)]
fn closure_of_100_000_random_pairs_over_20_000_objects(bencher: Bencher) {
    let (constraints, _) = random_pairs(20_000, 10, 100_000);
    bencher.bench(|| {
        Closure::new(&constraints, 20_000, OnConflict::Error)
            .map(|c| c.pair_counts())
            .expect("true pairs")
    });
}

#[divan::bench(sample_count = 5)]
fn closure_of_a_chain_of_1_000_000_objects(bencher: Bencher) {
    let n = 1_000_000;
    let chain = Constraints::new(n, (1..n).map(|i| Constraint::must(i - 1, i))).expect("in range");
    bencher.bench(|| {
        Closure::new(&chain, n, OnConflict::Error).map(|c| c.pair_counts()).expect("no conflict")
    });
}

/// n × d around `classes` centres.
fn problem(n: usize, d: usize, classes: usize, pairs: usize) -> Problem {
    let (constraints, class) = random_pairs(n, classes, pairs);
    let mut s = SeedPath::new(2).stream("bench");
    let centres = Array2::from_shape_fn((classes, d), |_| 3.0 * s.normal());
    let x = Array2::from_shape_fn((n, d), |(i, f)| centres[[class[i], f]] + s.normal());
    Problem::new(Data::dense(x).expect("finite")).with_k(classes).with_constraints(constraints)
}

#[divan::bench(sample_count = 10, args = [5_000, 20_000, 100_000])]
fn pck_means_16_features_10_clusters_2_000_pairs(bencher: Bencher, n: usize) {
    let problem = problem(n, 16, 10, 2_000);
    let pck_means = registry::build_default::<dyn BaseClusterer>("pck_means").expect("linked");
    bencher.bench(|| run::cluster(&*pck_means, &problem, &Context::new(1)).expect("runs"));
}
