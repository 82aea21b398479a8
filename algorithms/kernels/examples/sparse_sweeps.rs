//! The time of sweeps of k-means over sparse rows.
//!
//! `benches/peers/sparse_kmeans.py` writes the rows and the start, runs this and scikit-learn in
//! turn, and compares. One line on the standard input names a folder, the shape, the distortion and
//! how often to run how many sweeps: `DIR ROWS COLUMNS K cosine|squared_euclidean RUNS SWEEPS`. The
//! reply is one line of JSON: seconds of the fastest run, its sweeps and its objective.

use std::io::{BufRead, Write};
use std::path::Path;
use std::time::Instant;

use mustlink_core::clustering::Clustering;
use mustlink_core::data::{Csr, Data};
use mustlink_core::{Context, Error, Result};
use mustlink_kernels::distance::points::{Distortion, Points};
use mustlink_kernels::kmeans::lloyd::{Empty, Stop, ToleranceKind, lloyd};
use ndarray::Array2;

fn bad(place: &Path, message: impl ToString) -> Error {
    Error::Data { place: place.display().to_string(), message: message.to_string() }
}

fn numbers<T>(folder: &str, file: &str, from: impl Fn([u8; 8]) -> T) -> Result<Vec<T>> {
    let path = Path::new(folder).join(file);
    let bytes = std::fs::read(&path).map_err(|e| bad(&path, e))?;
    Ok(bytes.chunks_exact(8).map(|b| from(b.try_into().expect("eight bytes"))).collect())
}

fn reply(request: &str) -> Result<String> {
    let wrong = || {
        Error::Usage(format!("expected DIR ROWS COLUMNS K DISTORTION RUNS SWEEPS, got {request}"))
    };
    let words: Vec<&str> = request.split_whitespace().collect();
    let &[folder, rows, columns, k, distortion, runs, sweeps] = &words[..] else {
        return Err(wrong());
    };
    let number = |word: &str| word.parse::<usize>().map_err(|_| wrong());
    let (rows, columns, k) = (number(rows)?, number(columns)?, number(k)?);
    let (runs, sweeps) = (number(runs)?, number(sweeps)?);
    let distortion = match distortion {
        "cosine" => Distortion::Cosine,
        "squared_euclidean" => Distortion::SquaredEuclidean,
        _ => return Err(wrong()),
    };
    let indptr = numbers(folder, "indptr", |b| u64::from_le_bytes(b) as usize)?;
    let indices = numbers(folder, "indices", |b| u64::from_le_bytes(b) as u32)?;
    let values = numbers(folder, "values", f64::from_le_bytes)?;
    let start = numbers(folder, "start", f64::from_le_bytes)?;
    let start = Array2::from_shape_vec((k, columns), start)
        .map_err(|e| bad(&Path::new(folder).join("start"), e))?;
    let data = Data::csr(Csr { indptr, indices, values, columns })?;
    if data.n() != rows {
        return Err(wrong());
    }
    let points = Points::new(&data, distortion)?;
    let stop = Stop { max_iterations: sweeps, tolerance: 0.0, kind: ToleranceKind::Absolute };
    let mut fastest: Option<(f64, Clustering)> = None;
    for _ in 0..runs {
        let begun = Instant::now();
        let done = lloyd(&points, start.clone(), stop, Empty::Keep, &Context::new(0))?;
        let seconds = begun.elapsed().as_secs_f64();
        if fastest.as_ref().is_none_or(|(least, _)| seconds < *least) {
            fastest = Some((seconds, done));
        }
    }
    let (seconds, done) = fastest.ok_or_else(wrong)?;
    let objective = done.objective.unwrap_or(f64::NAN);
    Ok(format!(
        "{{\"seconds\": {seconds:e}, \"sweeps\": {}, \"objective\": {objective:e}}}",
        done.history.len()
    ))
}

fn main() -> std::io::Result<()> {
    for request in std::io::stdin().lock().lines() {
        let line = reply(&request?).unwrap_or_else(|e| format!("{{\"error\": \"{e}\"}}"));
        writeln!(std::io::stdout(), "{line}")?;
    }
    Ok(())
}
