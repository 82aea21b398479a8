//! The growth of the time of Gaussian propagation, as published and by nearness.
//!
//! `cargo bench --bench propagation`. One thread, the best of several runs. Both ways give the same
//! constraints, which is checked on the way; exponents are slopes of logarithms between two sizes.
#![allow(clippy::print_stdout)] // what a bench is for

use std::time::Instant;

use mustlink::random::SeedPath;
use mustlink::registry;
use mustlink::roles::{ConstraintPropagator, Propagated, RoleObject};
use mustlink::{Clustering, Constraint, Constraints, Context, Data, Problem};
use ndarray::Array2;

/// n objects of `classes` Gaussian groups in 4 features, their grouping, and `pairs` true pairs.
fn setting(n: usize, classes: usize, pairs: usize) -> (Problem, Clustering, Constraints) {
    let mut s = SeedPath::new(3).stream("bench");
    let class: Vec<u32> = (0..n).map(|_| s.below(classes) as u32).collect();
    let centres = Array2::from_shape_fn((classes, 4), |_| 12.0 * s.normal());
    let x = Array2::from_shape_fn((n, 4), |(i, f)| centres[[class[i] as usize, f]] + s.normal());
    let mut drawn = Vec::new();
    while drawn.len() < pairs {
        let (i, j) = (s.below(n), s.below(n));
        if i != j {
            drawn.push(if class[i] == class[j] {
                Constraint::must(i, j)
            } else {
                Constraint::cannot(i, j)
            });
        }
    }
    let given = Constraints::new(n, drawn).expect("in range");
    let problem = Problem::new(Data::dense(x).expect("finite")).with_k(classes);
    (problem, Clustering::from_labels(class), given)
}

/// The constraints made, and the least seconds of `runs`.
fn time(
    search: &str,
    setting: &(Problem, Clustering, Constraints),
    runs: usize,
) -> (Constraints, f64) {
    let (problem, clustering, given) = setting;
    let descriptor = registry::Catalogue::get().expect("linked").find("gaussian").expect("linked");
    let mut config = descriptor.default_config();
    config["search"] = search.into();
    let plugin = <dyn ConstraintPropagator as RoleObject>::from_value(config).expect("legal");
    let mut least = f64::INFINITY;
    let mut made = Constraints::default();
    for _ in 0..runs {
        let start = Instant::now();
        let out = plugin.propagate(given, Some(clustering), problem, &Context::new(1));
        least = least.min(start.elapsed().as_secs_f64());
        if let Propagated::Constraints(all) = out.expect("propagates") {
            made = all;
        }
    }
    (made, least)
}

/// Slopes between neighbouring sizes.
fn exponents(sizes: &[usize], seconds: &[f64]) -> String {
    let slope = |at: usize| {
        (seconds[at + 1] / seconds[at]).ln() / (sizes[at + 1] as f64 / sizes[at] as f64).ln()
    };
    (0..sizes.len() - 1).map(|at| format!("{:.2}", slope(at))).collect::<Vec<_>>().join(", ")
}

fn main() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread");
    pool.install(|| {
        println!(
            "{:>8} {:>6} {:>12} {:>14} {:>12}",
            "n", "pairs", "published s", "by nearness s", "made"
        );
        let sizes = [2_000, 4_000, 8_000];
        let (mut published, mut near) = (Vec::new(), Vec::new());
        for n in sizes {
            let setting = setting(n, 5, 8);
            let (slow, a) = time("published", &setting, 2);
            let (fast, b) = time("output_sensitive", &setting, 5);
            assert!(slow == fast, "both ways give the same constraints");
            println!("{n:>8} {:>6} {a:>12.3} {b:>14.5} {:>12}", 8, fast.len() + fast.summed() - 8);
            published.push(a);
            near.push(b);
        }
        println!(
            "growth with n: published {}, by nearness {}",
            exponents(&sizes, &published),
            exponents(&sizes, &near)
        );
        let counts = [4, 8, 16];
        let (mut published, mut near) = (Vec::new(), Vec::new());
        for pairs in counts {
            let setting = setting(3_000, 5, pairs);
            published.push(time("published", &setting, 2).1);
            near.push(time("output_sensitive", &setting, 5).1);
        }
        println!(
            "growth with pairs (4, 8, 16 at n = 3000): published {}, by nearness {}",
            exponents(&counts, &published),
            exponents(&counts, &near)
        );
        let setting = setting(100_000, 20, 200);
        let (made, seconds) = time("output_sensitive", &setting, 3);
        println!(
            "n = 100000, d = 4, 200 pairs, g = 0.5: {} propagated pairs in {seconds:.3} s",
            made.len() + made.summed() - 200
        );
    });
}
