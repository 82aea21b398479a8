//! Declared memory of k-means and ensembles, compared with the growth of a process that runs them.
#![cfg(target_os = "linux")]

use std::process::Command;

use mustlink_base_clusterers::kmeans::KMeans;
use mustlink_core::data::Csr;
use mustlink_core::prelude::*;
use mustlink_ensemble_generators::Recipe;
use mustlink_ensemble_generators::random_init::RandomInit;
use mustlink_kernels::distance::points::Distortion;
use mustlink_kernels::distance::precision::Precision;
use mustlink_kernels::kmeans::lloyd::Algorithm;
use mustlink_kernels::kmeans::seeding::Init;
use ndarray::Array2;

const CASES: usize = 8;
/// Names the case in the process that runs it.
const CASE: &str = "MUSTLINK_MEMORY_CASE";

/// Estimates must be within this factor of what was measured.
const FACTOR: f64 = 1.5;

fn dense(n: usize, d: usize, k: usize) -> Problem {
    let mut s = SeedPath::new(1).stream("memory");
    Problem::new(Data::dense(Array2::from_shape_fn((n, d), |_| s.unit())).unwrap()).with_k(k)
}

/// n rows with 20 entries each.
fn sparse(n: usize, columns: usize, k: usize) -> Problem {
    let mut s = SeedPath::new(1).stream("memory");
    let mut x = Csr { indptr: vec![0], indices: vec![], values: vec![], columns };
    for _ in 0..n {
        let mut row = s.sample(columns, 20);
        row.sort_unstable();
        x.indices.extend(row.iter().map(|&c| c as u32));
        x.values.extend(row.iter().map(|_| 1.0 + s.unit()));
        x.indptr.push(x.indices.len());
    }
    Problem::new(Data::csr(x).unwrap()).with_k(k)
}

/// KiB, from the status of this process.
fn kib(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(name))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Estimated bytes, and the largest resident memory during `run`, if the system
/// reports it.
fn measured(estimate: u64, run: impl FnOnce()) -> Option<(u64, u64)> {
    let (before, file) = (kib("VmRSS:")?, kib("RssFile:")?);
    // The largest resident size counts from here.
    std::fs::write("/proc/self/clear_refs", "5").ok()?;
    run();
    // Code that runs for the first time becomes resident too.
    let code = kib("RssFile:")?.saturating_sub(file);
    Some((estimate, 1024 * kib("VmHWM:")?.saturating_sub(before + code)))
}

fn clustered(kmeans: KMeans, problem: Problem) -> Option<(u64, u64)> {
    let kmeans = KMeans { restarts: 1, max_iterations: 2, init: Init::Random, ..kmeans };
    measured(kmeans.memory(&problem.shape()), || {
        kmeans.cluster(&problem, &Context::new(1)).unwrap();
    })
}

fn case(number: usize) -> Option<(u64, u64)> {
    let plain = KMeans::default;
    let cosine = KMeans { distortion: Distortion::Cosine.into(), ..plain() };
    let lloyd = || KMeans { algorithm: Algorithm::Lloyd, ..plain() };
    match number {
        0 => clustered(plain(), dense(1_000_000, 2, 4)),
        1 => clustered(cosine, dense(500_000, 4, 4)),
        2 => clustered(lloyd(), dense(500_000, 2, 150)),
        3 => clustered(KMeans { algorithm: Algorithm::Yinyang, ..plain() }, dense(200_000, 2, 160)),
        4 => clustered(KMeans { precision: Precision::F32, ..lloyd() }, dense(200_000, 16, 160)),
        5 => clustered(plain(), sparse(500_000, 1000, 5)),
        6 => clustered(cosine, sparse(200_000, 1000, 5)),
        _ => {
            let problem = dense(200_000, 2, 4);
            let kmeans = KMeans { restarts: 1, max_iterations: 2, init: Init::Random, ..plain() };
            let clusterer: Option<Box<dyn BaseClusterer>> = Some(Box::new(kmeans));
            let recipe = Recipe { members: 100, clusterer, ..Recipe::default() };
            let ensemble = RandomInit { recipe };
            measured(ensemble.memory(&problem.shape(), false), || {
                ensemble.generate(&problem, &Context::new(1)).unwrap();
            })
        }
    }
}

/// A process of its own for each case: what one has freed would count for the next.
#[test]
fn estimates_are_within_a_factor_of_what_was_measured() {
    let this = std::env::current_exe().unwrap();
    for number in 0..CASES {
        let child = Command::new(&this)
            .args(["--exact", "memory::one_case", "--ignored", "--nocapture"])
            .env(CASE, number.to_string())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&child.stdout);
        assert!(child.status.success(), "case {number}: {text}");
        let Some((_, rest)) = text.split_once("bytes: ") else { continue };
        let values: Vec<f64> =
            rest.split_whitespace().take(2).map(|word| word.parse().unwrap()).collect();
        let ratio = values[0] / values[1];
        let case = format!("case {number}: {} estimated, {} measured", values[0], values[1]);
        assert!((1.0 / FACTOR..=FACTOR).contains(&ratio), "{case}");
    }
}

#[test]
#[ignore = "run by the other test, in a process of its own"]
#[allow(clippy::print_stdout)]
fn one_case() {
    let Some(number) = std::env::var(CASE).ok().and_then(|number| number.parse().ok()) else {
        return;
    };
    if let Some((estimate, measured)) = case(number) {
        println!("bytes: {estimate} {measured}");
    }
}
