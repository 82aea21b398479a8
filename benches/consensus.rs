//! The time of a consensus, and its growth.
//!
//! `cargo bench --bench consensus`. The ids carry the sizes: objects, members. Every member puts half
//! of the objects of ten classes of equal size right and the others anywhere, so that no two objects
//! are alike. Memory is the most that was allocated at once, as the allocation profiler counts it;
//! that of METIS is its own.

use divan::{AllocProfiler, Bencher};
use mustlink::clustering::Extras;
use mustlink::ensemble::{Ensemble, Member};
use mustlink::random::SeedPath;
use mustlink::roles::{ConsensusFunction, RoleObject};
use mustlink::{Context, Data, Problem};
use ndarray::Array2;
use serde_json::json;

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

const K: usize = 10;

/// Noisy copies of the classes, with distances to the clusters of each member where asked for.
fn ensemble(n: usize, members: usize, distances: bool) -> (Ensemble, Problem) {
    let mut s = SeedPath::new(1).stream("bench");
    let members = (0..members).map(|_| {
        let label = |s: &mut mustlink::random::Stream, i: usize| {
            if s.unit() < 0.5 { (i % K) as u32 } else { s.below(K) as u32 }
        };
        let labels: Vec<u32> = (0..n).map(|i| label(&mut s, i)).collect();
        let mut member = Member::from_labels(&labels);
        if distances {
            let of = |(i, l): (usize, usize)| {
                if member.labels[i] as usize == l { s.unit() } else { 1.0 + 3.0 * s.unit() }
            };
            let distances = Some(Array2::from_shape_fn((n, member.k), of));
            member.extras = Extras { distances, ..Extras::default() };
        }
        member
    });
    let ensemble = Ensemble::new(n, members.collect()).expect("members fit");
    let data = Data::dense(Array2::zeros((n, 1))).expect("finite");
    (ensemble, Problem::new(data).with_k(K))
}

fn run(bencher: Bencher, config: serde_json::Value, n: usize, members: usize) {
    let (ensemble, problem) = ensemble(n, members, config["type"] == "wbpa");
    let consensus = <dyn ConsensusFunction>::from_value(config).expect("a consensus function");
    bencher.bench_local(|| consensus.combine(&ensemble, &problem, &Context::new(1)).expect("runs"));
}

#[divan::bench(sample_count = 5, args = [(10_000, 200), (100_000, 20)])]
fn hbgf(bencher: Bencher, (n, members): (usize, usize)) {
    run(bencher, json!({ "type": "hbgf" }), n, members);
}

#[divan::bench(sample_count = 5, args = [(10_000, 200), (100_000, 20)])]
fn hbgf_metis(bencher: Bencher, (n, members): (usize, usize)) {
    run(bencher, json!({ "type": "hbgf", "partitioner": "metis" }), n, members);
}

#[divan::bench(sample_count = 1, args = [(10_000, 20), (100_000, 20)])]
fn wbpa(bencher: Bencher, (n, members): (usize, usize)) {
    run(bencher, json!({ "type": "wbpa" }), n, members);
}

#[divan::bench(sample_count = 1, args = [(10_000, 20), (100_000, 20)])]
fn wbpa_metis(bencher: Bencher, (n, members): (usize, usize)) {
    run(bencher, json!({ "type": "wbpa", "partitioner": "metis" }), n, members);
}

#[divan::bench(sample_count = 3, args = [(10_000, 200)])]
fn mcla(bencher: Bencher, (n, members): (usize, usize)) {
    run(bencher, json!({ "type": "mcla" }), n, members);
}

#[divan::bench(sample_count = 3, args = [(10_000, 200), (100_000, 20)])]
fn kcc(bencher: Bencher, (n, members): (usize, usize)) {
    run(bencher, json!({ "type": "kcc" }), n, members);
}

#[divan::bench(sample_count = 1, args = [(2_500, 200), (5_000, 200), (10_000, 200)])]
fn cspa(bencher: Bencher, (n, members): (usize, usize)) {
    run(bencher, json!({ "type": "cspa", "max_n": n }), n, members);
}

#[divan::bench(sample_count = 1, args = [(2_500, 200), (5_000, 200)])]
fn average_linkage(bencher: Bencher, (n, members): (usize, usize)) {
    run(bencher, json!({ "type": "evidence_accumulation" }), n, members);
}
