//! How is a file or a folder of files read into a data set?

use std::path::{Path, PathBuf};

use mustlink_core::Result;

use crate::bytes::{self, bad, place, shown};
use crate::dataset::{Classes, Dataset};
use crate::matrix_market;
use crate::options::OpenOptions;
use crate::table;

pub(crate) fn csv(path: &Path, name: &str, options: &OpenOptions) -> Result<Dataset> {
    csv_of(bytes::read(path)?, &place(path), name, options)
}

pub(crate) fn csv_of(
    content: Vec<u8>,
    place: &str,
    name: &str,
    options: &OpenOptions,
) -> Result<Dataset> {
    let table = table::read(&content, place, options)?;
    Ok(Dataset {
        name: name.into(),
        data: table.data,
        ids: table.ids,
        display: table.display,
        classes: table.classes,
        feature_names: table.feature_names,
        provenance: place.into(),
    })
}

/// A check of the bytes of a file, by its name, before they are read as anything.
pub(crate) type Inspect<'a> = &'a dyn Fn(&Path, &[u8]) -> Result<()>;

/// The first of `names` that exists in `folder`.
fn one_of(folder: &Path, names: [&str; 2]) -> Option<PathBuf> {
    names.into_iter().map(|n| folder.join(n)).find(|p| p.is_file())
}

pub(crate) fn folder(folder: &Path, name: &str, inspect: Inspect<'_>) -> Result<Dataset> {
    let found = one_of(folder, ["matrix.mtx.gz", "matrix.mtx"]);
    let matrix_file = found.ok_or_else(|| {
        bad(shown(folder), "the folder holds neither matrix.mtx nor matrix.mtx.gz")
    })?;
    matrix(&matrix_file, name, inspect)
}

fn inspected(path: &Path, inspect: Inspect<'_>) -> Result<Vec<u8>> {
    let raw = bytes::read_raw(path)?;
    inspect(path, &raw)?;
    bytes::unpack(raw, &shown(path))
}

pub(crate) fn matrix(path: &Path, name: &str, inspect: Inspect<'_>) -> Result<Dataset> {
    let data = matrix_market::read(&inspected(path, inspect)?, &shown(path))?;
    let beside = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut dataset = Dataset { provenance: shown(path), ..Dataset::new(name, data) };
    if let Some(file) = one_of(beside, ["labels.txt", "labels.txt.gz"]) {
        let content = inspected(&file, inspect)?;
        let labels = one_per(&content, dataset.n(), "labels", "rows of the matrix", &file)?;
        let values = labels.iter().map(|l| Some(l.trim()).filter(|l| !table::unknown(l)));
        dataset.classes = Some(Classes::from_values(values));
    }
    if let Some(file) = one_of(beside, ["terms.txt.gz", "terms.txt"]) {
        let content = inspected(&file, inspect)?;
        let terms = one_per(&content, dataset.d(), "terms", "columns of the matrix", &file)?;
        dataset.feature_names = terms.iter().map(|t| t.to_string()).collect();
    }
    Ok(dataset)
}

fn one_per<'a>(
    content: &'a [u8],
    expected: usize,
    what: &str,
    of: &str,
    file: &Path,
) -> Result<Vec<&'a str>> {
    let lines = bytes::lines(content, &shown(file))?;
    if lines.len() != expected {
        let message = format!("{} {what} for {expected} {of}", lines.len());
        return Err(bad(shown(file), message));
    }
    Ok(lines)
}
