//! Published and recomputed numbers of queries on real data, where the files are at hand.

use std::collections::HashSet;
use std::path::PathBuf;

use mustlink_core::prelude::*;
use mustlink_query_selectors::cobra::{Cobra, Every, SuperInstances};
use ndarray::Array2;

use crate::support::{select, truth};

fn folder() -> PathBuf {
    match std::env::var_os("MUSTLINK_DATA") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
    }
}

#[expect(clippy::print_stdout, reason = "whoever runs the tests sees what was not tested")]
fn skipped(name: &str) {
    println!("skipped: the data set {name} is not here");
}

/// Min–max scaled rows without duplicates, and their classes.
fn read(name: &str) -> Option<(Problem, Vec<u32>)> {
    let path = folder().join("dense").join(format!("{name}.csv"));
    let Ok(text) = std::fs::read_to_string(path) else {
        skipped(name);
        return None;
    };
    let mut names: Vec<&str> = Vec::new();
    let mut seen = HashSet::new();
    let (mut rows, mut classes): (Vec<Vec<f64>>, Vec<u32>) = (Vec::new(), Vec::new());
    for line in text.lines().skip(1) {
        let (features, class) = line.rsplit_once(',').unwrap();
        let row: Vec<f64> = features.split(',').map(|v| v.trim().parse().unwrap()).collect();
        let key: Vec<u64> = row.iter().map(|v| v.to_bits()).collect();
        if seen.insert(key) {
            let at = names.iter().position(|c| *c == class).unwrap_or_else(|| {
                names.push(class);
                names.len() - 1
            });
            classes.push(at as u32);
            rows.push(row);
        }
    }
    let (n, d) = (rows.len(), rows[0].len());
    let mut x = Array2::from_shape_fn((n, d), |(i, f)| rows[i][f]);
    for mut column in x.columns_mut() {
        let low = column.iter().copied().fold(f64::INFINITY, f64::min);
        let high = column.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        column.mapv_inplace(|v| if high > low { (v - low) / (high - low) } else { 0.0 });
    }
    Some((Problem::new(Data::dense(x).unwrap()), classes))
}

/// Objects, queries, yes and no of the closest-first order over all objects.
fn closest_first(name: &str) -> Option<(usize, usize, usize, usize)> {
    let (problem, classes) = read(name)?;
    let all = SuperInstances::Every(Every::All);
    let cobra = Cobra { super_instances: all, ..Cobra::default() };
    let run = select(&cobra, &problem, truth(&classes), None, 1).unwrap();
    let counts = run.counts(usize::MAX);
    Some((problem.n(), counts.queries, counts.must, counts.cannot))
}

#[test]
fn closest_pairs_first() {
    let published = [
        ("iris", (147, 155, 144, 11)),
        ("wine", (178, 187, 175, 12)),
        ("dermatology", (358, 379, 352, 27)),
        ("hepatitis", (112, 140, 110, 30)),
        ("optdigits389", (1151, 1163, 1148, 15)),
    ];
    for (name, expected) in published {
        if let Some(found) = closest_first(name) {
            assert_eq!(found, expected, "{name}: objects, queries, yes, no");
        }
    }
}

/// With 25 super-instances the paper's mean over 5 runs is an upper bound here.
#[test]
fn twenty_five_super_instances() {
    let published = [("iris", 34), ("wine", 35), ("dermatology", 42), ("hepatitis", 39)];
    for (name, bound) in published {
        let Some((problem, classes)) = read(name) else { continue };
        let mut total = 0;
        for seed in 0..5 {
            let run = select(&Cobra::default(), &problem, truth(&classes), None, seed).unwrap();
            let counts = run.counts(usize::MAX);
            let clustering = run.snapshot(usize::MAX).unwrap();
            let (r, found) =
                (clustering.extras.diagnostics["super_instances"] as usize, clustering.k);
            assert_eq!(counts.must, r - found);
            assert!(counts.queries >= r - found + found * (found - 1) / 2);
            total += counts.queries;
        }
        assert!(total <= 5 * bound, "{name}: {total} queries in 5 runs, at most {bound} a run");
    }
}
