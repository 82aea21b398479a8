//! Data sets read from a file or from a folder of files.

use std::path::{Path, PathBuf};

use mustlink_core::text::count;
use mustlink_core::{Data, Error, Result};
use mustlink_kernels::npy::NpyRows;

use crate::bytes::{self, Input, bad, shown};
use crate::dataset::Dataset;
use crate::matrix_market;
use crate::options::{OpenOptions, within};
use crate::table;

/// A CSV; `-` is the standard input.
pub(crate) fn csv(path: &Path, name: &str, options: &OpenOptions) -> Result<Dataset> {
    table::read(Input::open(path)?, name, options, false)
}

/// A check of the bytes of a file, by its name, before they are read as anything.
pub(crate) type Inspect<'a> = &'a dyn Fn(&Path, &[u8]) -> Result<()>;

/// The first of `names` that exists in `folder`.
fn one_of(folder: &Path, names: [&str; 2]) -> Option<PathBuf> {
    names.into_iter().map(|n| folder.join(n)).find(|p| p.is_file())
}

pub(crate) fn folder(
    folder: &Path,
    name: &str,
    inspect: Inspect<'_>,
    limit: Option<u64>,
) -> Result<Dataset> {
    let found = one_of(folder, ["matrix.mtx.gz", "matrix.mtx"]);
    let matrix_file = found.ok_or_else(|| {
        bad(shown(folder), "the folder holds neither matrix.mtx nor matrix.mtx.gz")
    })?;
    matrix(&matrix_file, name, inspect, limit)
}

fn inspected(path: &Path, inspect: Inspect<'_>) -> Result<Vec<u8>> {
    let raw = bytes::read_raw(path)?;
    inspect(path, &raw)?;
    bytes::unpack(&raw, &shown(path))
}

pub(crate) fn matrix(
    path: &Path,
    name: &str,
    inspect: Inspect<'_>,
    limit: Option<u64>,
) -> Result<Dataset> {
    // The text is held while it is read.
    let text = std::fs::metadata(path).map_or(0, |facts| facts.len());
    within(limit, text, &shown(path))?;
    let data = matrix_market::read(&inspected(path, inspect)?, &shown(path), limit);
    let data = data.map_err(|e| named(e, path))?;
    let beside = bytes::folder_of(path);
    let mut dataset = Dataset { provenance: shown(path), ..Dataset::new(name, data) };
    if let Some(file) = one_of(beside, ["labels.txt", "labels.txt.gz"]) {
        let content = inspected(&file, inspect)?;
        let labels = one_per(&content, dataset.n(), "label", "rows of the matrix", &file)?;
        let labels: Vec<&str> = labels.into_iter().map(str::trim).collect();
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        dataset.classes = Some(table::classes_of(&labels, &name, &shown(&file))?);
        dataset.reading.class = Some(name.into());
    }
    if let Some(file) = one_of(beside, ["terms.txt.gz", "terms.txt"]) {
        let content = inspected(&file, inspect)?;
        let terms = one_per(&content, dataset.d(), "term", "columns of the matrix", &file)?;
        dataset.feature_names = terms.iter().map(|t| t.to_string()).collect();
    }
    Ok(dataset)
}

/// A matrix as `numpy.save` writes it.
pub(crate) fn npy(path: &Path, name: &str, limit: Option<u64>) -> Result<Dataset> {
    let data = NpyRows::open(path).and_then(|mut rows| {
        within(limit, 8 * rows.n() as u64 * rows.d() as u64, &shown(path))?;
        Data::dense(rows.all()?)
    });
    let data = data.map_err(|e| named(e, path))?;
    Ok(Dataset { provenance: shown(path), ..Dataset::new(name, data) })
}

/// An error about nothing, with the file that holds it.
fn named(error: Error, path: &Path) -> Error {
    match error {
        Error::EmptyData => bad(shown(path), "holds no rows or no columns"),
        other => other,
    }
}

fn one_per<'a>(
    content: &'a [u8],
    expected: usize,
    what: &str,
    places: &str,
    file: &Path,
) -> Result<Vec<&'a str>> {
    let lines = bytes::lines(content, &shown(file))?;
    if lines.len() != expected {
        let message = format!("{} for {expected} {places}", count(lines.len(), what));
        return Err(bad(shown(file), message));
    }
    Ok(lines)
}
