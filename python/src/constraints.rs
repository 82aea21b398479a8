//! Constraints in files.

use std::path::{Path, PathBuf};

use mustlink::clustering::NONE;
use mustlink::constraints::Constraints;
use mustlink::datasets::{Dataset, read_constraints as read, write_constraints as write};
use mustlink::ndarray::Array2;
use mustlink::{Data, Result};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use crate::data::{Pairs, constraints, table};
use crate::errors::raised;
use crate::interrupt::detached;

/// Objects without any data except their number and ids.
fn objects(path: &Path, n: usize, ids: Option<Vec<String>>) -> Result<Dataset> {
    let data = Data::dense(Array2::zeros((n, 1)))?;
    Ok(Dataset { ids: ids.map(Into::into), ..Dataset::new(path.display().to_string(), data) })
}

/// The constraints in a CSV with the columns i, j, type, weight, strength. Objects are given by row number, or by
/// id if there are `ids`.
#[pyfunction]
#[pyo3(signature = (file, n, ids=None))]
pub(crate) fn read_constraints(
    py: Python<'_>,
    file: PathBuf,
    n: usize,
    ids: Option<Vec<String>>,
) -> PyResult<Bound<'_, PyAny>> {
    let by_id = ids.is_some();
    let found = detached(py, || {
        let objects = objects(&file, n, ids)?;
        read(&file.display().to_string(), &objects, by_id)
    });
    table(py, &found.map_err(|e| raised(py, &e))?)
}

/// The constraints that `labels` violate, pair by pair; −1 is noise.
#[pyfunction]
pub(crate) fn violated<'py>(
    py: Python<'py>,
    pairs: Pairs<'py>,
    labels: PyReadonlyArray1<'py, i64>,
) -> PyResult<Bound<'py, PyAny>> {
    let labels = labels.as_array();
    let labels: Vec<u32> = labels.iter().map(|&l| u32::try_from(l).unwrap_or(NONE)).collect();
    let n = labels.len();
    let found = constraints(Some(&pairs), n);
    let found = found.and_then(|given| Constraints::new(n, given.violated(&labels)));
    table(py, &found.map_err(|e| raised(py, &e))?)
}

/// Writes constraints as such a CSV.
#[pyfunction]
#[pyo3(signature = (file, pairs, n, ids=None))]
pub(crate) fn write_constraints(
    py: Python<'_>,
    file: PathBuf,
    pairs: Pairs<'_>,
    n: usize,
    ids: Option<Vec<String>>,
) -> PyResult<()> {
    let by_id = ids.is_some();
    let written = constraints(Some(&pairs), n).and_then(|all| {
        detached(py, || {
            let objects = objects(&file, n, ids)?;
            write(&file.display().to_string(), &all, &objects, by_id)
        })
    });
    written.map_err(|e| raised(py, &e))
}
