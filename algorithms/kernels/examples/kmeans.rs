//! K-means on a matrix in a file, asked for on standard input: what `benches/peers/kmeans.py` times.
//!
//! `kmeans X.npy CENTRES.npy` reads both (double precision, C order) and then answers each line
//!
//! - `lloyd ALGORITHM PRECISION SWEEPS`: from the data in memory to labels and centres,
//! - `linfa SWEEPS`: the same with the k-means of linfa-clustering,
//! - `product`: the inner products of all rows and centres, as a plain blocked matrix product,
//! - `stream`: a ← b + 3 c on vectors that fit no cache,
//!
//! with one line of JSON. Memory is the most that was resident beyond what was before the call, so
//! it means something for the first call only.

use std::error::Error;
use std::io::{BufRead, Write};
use std::time::Instant;

use linfa::DatasetBase;
use linfa::traits::Fit;
use linfa_clustering::{KMeans, KMeansInit};
use linfa_nn::distance::L2Dist;
use mustlink_core::{Context, Data};
use mustlink_kernels::distance::points::{Distortion, Points};
use mustlink_kernels::distance::precision::Precision;
use mustlink_kernels::kmeans::lloyd::{Algorithm, Empty, Stop, ToleranceKind, lloyd_by};
use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, Axis};
use rand08::SeedableRng;
use rand08::rngs::StdRng;
use rayon::prelude::*;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let [x, centres] = files.as_slice() else {
        return Err("usage: kmeans X.npy CENTRES.npy".into());
    };
    let (x, centres) = (read(x)?, read(centres)?);
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let answer = match line.split_whitespace().collect::<Vec<_>>().as_slice() {
            ["lloyd", algorithm, precision, sweeps] => {
                let stop = Stop::new(sweeps.parse()?, 0.0, ToleranceKind::Relative);
                run(&x, &centres, word(algorithm)?, word(precision)?, stop)?
            }
            ["linfa", sweeps] => linfa(&x, &centres, sweeps.parse()?)?,
            ["product"] => product(&x, &centres),
            ["stream"] => stream(),
            _ => return Err(format!("no such request: {line}").into()),
        };
        writeln!(std::io::stdout(), "{answer}")?;
    }
    Ok(())
}

/// An option from the word that stands for it in configs.
fn word<T: DeserializeOwned>(text: &str) -> Result<T> {
    Ok(serde_json::from_value(Value::from(text))?)
}

/// A matrix in the format of numpy, version 1.
fn read(path: &str) -> Result<Array2<f64>> {
    let bytes = std::fs::read(path)?;
    let length = u16::from_le_bytes(bytes.get(8..10).ok_or("too short")?.try_into()?) as usize;
    let header = std::str::from_utf8(bytes.get(10..10 + length).ok_or("too short")?)?;
    if !header.contains("'<f8'") || !header.contains("'fortran_order': False") {
        return Err(format!("{path}: not double precision in C order: {header}").into());
    }
    let shape = header.split_once("'shape': (").and_then(|(_, rest)| rest.split_once(')'));
    let shape: Vec<usize> = shape
        .ok_or("no shape")?
        .0
        .split(',')
        .map(|part| part.trim().parse())
        .collect::<std::result::Result<_, _>>()?;
    let [n, d] = shape.as_slice() else { return Err("not a matrix".into()) };
    let values = bytes[10 + length..].chunks_exact(8);
    let values = values.map(|v| f64::from_le_bytes(v.try_into().expect("8 bytes"))).collect();
    Ok(Array2::from_shape_vec((*n, *d), values)?)
}

fn run(
    x: &Array2<f64>,
    centres: &Array2<f64>,
    algorithm: Algorithm,
    precision: Precision,
    stop: Stop,
) -> Result<Value> {
    let (x, centres) = (x.clone(), centres.clone());
    let ((n, d), k) = (x.dim(), centres.nrows());
    let estimate = precision.memory(n, d, k) + algorithm.memory(n, d, k, true);
    // The largest resident size counts from here.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let before = memory("VmRSS:");
    let (start, busy) = (Instant::now(), processor_seconds());
    let points = Points::new(&Data::dense(x)?, Distortion::SquaredEuclidean)?;
    let points = points.with_precision(precision, k);
    let found = lloyd_by(algorithm, &points, centres, stop, Empty::Reseed, &Context::new(1))?;
    let seconds = start.elapsed().as_secs_f64();
    let busy = processor_seconds().zip(busy).map(|(after, before)| after - before);
    let memory = memory("VmHWM:").zip(before).map(|(most, before)| most.saturating_sub(before));
    Ok(json!({
        "seconds": seconds,
        "processor_seconds": busy,
        "sweeps": found.history.len(),
        "objective": found.objective,
        "mebibytes": memory.map(|kib| kib as f64 / 1024.0),
        "estimate": estimate as f64 / f64::from(1 << 20),
    }))
}

fn linfa(x: &Array2<f64>, centres: &Array2<f64>, sweeps: u64) -> Result<Value> {
    let data = DatasetBase::from(x.clone());
    let start = Instant::now();
    let kmeans = KMeans::params_with(centres.nrows(), StdRng::seed_from_u64(1), L2Dist)
        .init_method(KMeansInit::Precomputed(centres.clone()))
        .n_runs(1)
        .max_n_iterations(sweeps)
        .tolerance(f64::MIN_POSITIVE)
        .fit(&data)?;
    // Its inertia is a mean, to the centres before the last step.
    let seconds = start.elapsed().as_secs_f64();
    Ok(json!({ "seconds": seconds, "sweeps": sweeps, "inertia": kmeans.inertia() }))
}

/// A line of the memory table of this process, in KiB, where there is one.
fn memory(name: &str) -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Computing time of all threads of this process so far, in seconds, if the system reports it. It is more reliable
/// than
/// elapsed time if other work runs.
fn processor_seconds() -> Option<f64> {
    let tasks = std::fs::read_dir("/proc/self/task").ok()?;
    let nanoseconds = tasks.filter_map(|task| {
        let text = std::fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<u64>().ok()
    });
    Some(nanoseconds.sum::<u64>() as f64 / 1e9)
}

fn product(x: &Array2<f64>, centres: &Array2<f64>) -> Value {
    let k = centres.nrows();
    let start = Instant::now();
    let least: f64 = x
        .axis_chunks_iter(Axis(0), 256)
        .into_par_iter()
        .map_init(
            || Array2::zeros((256, k)),
            |to, rows| {
                let mut to = to.slice_axis_mut(Axis(0), (0..rows.nrows()).into());
                general_mat_mul(1.0, &rows, &centres.t(), 0.0, &mut to);
                to[[0, 0]]
            },
        )
        .sum();
    let seconds = start.elapsed().as_secs_f64();
    json!({ "seconds": seconds, "one": least })
}

fn stream() -> Value {
    let n = 1 << 24;
    let (b, c) = (vec![1.0f64; n], vec![2.0f64; n]);
    let mut a = vec![0.0f64; n];
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let start = Instant::now();
        a.par_chunks_mut(1 << 16).zip(b.par_chunks(1 << 16)).zip(c.par_chunks(1 << 16)).for_each(
            |((a, b), c)| a.iter_mut().zip(b).zip(c).for_each(|((a, b), c)| *a = b + 3.0 * c),
        );
        best = best.min(start.elapsed().as_secs_f64());
    }
    json!({ "bytes": 24 * n, "seconds": best, "one": a[n / 2] })
}
