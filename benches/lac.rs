//! The time of a round of LAC compared with two sweeps of k-means, and of Penta-Training at n = 20 000.
//!
//! `cargo bench --bench lac`. A round assigns twice and sets weights and centres; a sweep assigns once.
//! Both start at the same centres and stop after a fixed number of rounds. Memory is the most that was
//! allocated at once during a run, as the allocation profiler counts it; the data are outside of it.

use divan::{AllocProfiler, Bencher};
use mustlink::random::SeedPath;
use mustlink::roles::{BaseClusterer, RoleObject};
use mustlink::{Context, Data, Problem, Start, run};
use ndarray::Array2;
use serde_json::json;

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

/// n × d around k centres that overlap, begun at k of the objects.
fn problem(n: usize, d: usize, k: usize) -> Problem {
    let mut s = SeedPath::new(2).stream("bench");
    let centres = Array2::from_shape_fn((k, d), |_| s.normal());
    let class: Vec<usize> = (0..n).map(|_| s.below(k)).collect();
    let x = Array2::from_shape_fn((n, d), |(i, f)| centres[[class[i], f]] + s.normal());
    let start = Start::Centroids(x.select(ndarray::Axis(0), &(0..k).collect::<Vec<_>>()));
    Problem::new(Data::dense(x).expect("finite")).with_k(k).with_start(start)
}

fn run(bencher: Bencher, problem: &Problem, clusterer: serde_json::Value) {
    let clusterer = <dyn BaseClusterer as RoleObject>::from_value(clusterer).expect("valid");
    bencher.bench(|| run::cluster(&*clusterer, problem, &Context::new(1)).expect("runs"));
}

#[divan::bench(sample_count = 10, args = [2, 12])]
fn lac_rounds_of_100_000_x_64_k_10(bencher: Bencher, rounds: usize) {
    let lac = json!({ "type": "lac", "h": 1.0, "init": "given", "max_iterations": rounds });
    run(bencher, &problem(100_000, 64, 10), lac);
}

#[divan::bench(sample_count = 10, args = [4, 24])]
fn kmeans_sweeps_of_100_000_x_64_k_10(bencher: Bencher, sweeps: usize) {
    let kmeans = json!({
        "type": "kmeans", "init": "given", "restarts": 1, "max_iterations": sweeps,
        "tolerance": 0.0, "algorithm": "lloyd",
    });
    run(bencher, &problem(100_000, 64, 10), kmeans);
}

#[divan::bench(sample_count = 2, args = [20_000])]
fn penta_training_16_features_5_clusters(bencher: Bencher, n: usize) {
    run(bencher, &problem(n, 16, 5), json!({ "type": "penta_training", "max_rounds": 3 }));
}
