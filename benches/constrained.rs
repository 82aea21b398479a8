//! The time of the constrained relatives of k-means, and its growth.
//!
//! `cargo bench --bench constrained`. The ids carry the sizes.

use divan::Bencher;
use mustlink::random::SeedPath;
use mustlink::roles::{BaseClusterer, RoleObject};
use mustlink::{Constraint, Constraints, Context, Data, Problem, run};
use ndarray::Array2;

fn main() {
    divan::main();
}

/// n × d around `classes` centres, with `pairs` random true constraints.
fn problem(n: usize, d: usize, classes: usize, pairs: usize) -> Problem {
    let mut s = SeedPath::new(2).stream("bench");
    let class: Vec<usize> = (0..n).map(|_| s.below(classes)).collect();
    let centres = Array2::from_shape_fn((classes, d), |_| 3.0 * s.normal());
    let x = Array2::from_shape_fn((n, d), |(i, f)| centres[[class[i], f]] + s.normal());
    let drawn: Vec<Constraint> = (0..pairs)
        .filter_map(|_| {
            let (i, j) = (s.below(n), s.below(n));
            (i != j).then(|| {
                if class[i] == class[j] { Constraint::must(i, j) } else { Constraint::cannot(i, j) }
            })
        })
        .collect();
    let constraints = Constraints::new(n, drawn).expect("in range");
    Problem::new(Data::dense(x).expect("finite")).with_k(classes).with_constraints(constraints)
}

fn runs(bencher: Bencher, method: &str, problem: &Problem) {
    let config = serde_json::from_str(method).expect("a config");
    let clusterer = <dyn BaseClusterer>::from_value(config).expect("linked");
    bencher.bench(|| run::cluster(&*clusterer, problem, &Context::new(1)).expect("runs"));
}

#[divan::bench(sample_count = 5, args = ["single_diag", "multi_diag", "single_full", "multi_full"])]
fn mpck_means_1_797_objects_64_features_10_clusters_500_pairs(bencher: Bencher, metric: &str) {
    let method = format!(r#"{{ "type": "mpck_means", "weight": 1.0, "metric": "{metric}" }}"#);
    runs(bencher, &method, &problem(1_797, 64, 10, 500));
}

#[divan::bench(sample_count = 3, args = [25_000, 50_000, 100_000])]
fn mpck_means_16_features_10_clusters_10_000_pairs(bencher: Bencher, n: usize) {
    runs(bencher, r#"{ "type": "mpck_means", "weight": 1.0 }"#, &problem(n, 16, 10, 10_000));
}

#[divan::bench(sample_count = 3, args = [5_000, 10_000, 20_000])]
fn cop_kmeans_16_features_10_clusters_2_000_pairs(bencher: Bencher, n: usize) {
    runs(bencher, r#"{ "type": "cop_kmeans" }"#, &problem(n, 16, 10, 2_000));
}
