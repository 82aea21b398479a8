//! Which data set does a name mean?

use std::path::{Path, PathBuf};

use mustlink_core::registry::suggestion;
use mustlink_core::{Error, Result};
use serde::Serialize;

use crate::builtin;
use crate::bytes::{self, bad, place, shown};
use crate::dataset::{Classes, Dataset};
use crate::directory::Directory;
use crate::matrix_market;
use crate::table;

/// How a data set is to be opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// The data directory, where there is one.
    pub data_dir: Option<PathBuf>,
    /// Column of a CSV that holds the classes; absent means a last column named `class`.
    pub class_column: Option<String>,
    /// Column of a CSV that holds the ids; absent means row numbers from 0.
    pub id_column: Option<String>,
    /// Column of a CSV that holds text to show to people.
    pub display_column: Option<String>,
}

impl OpenOptions {
    /// The data directory that the environment names in `MUSTLINK_DATA`, and nothing else.
    pub fn from_env() -> Self {
        let data_dir = std::env::var_os("MUSTLINK_DATA").filter(|v| !v.is_empty());
        OpenOptions { data_dir: data_dir.map(PathBuf::from), ..OpenOptions::default() }
    }

    fn wants_columns(&self) -> Option<&str> {
        [&self.class_column, &self.id_column, &self.display_column]
            .into_iter()
            .find_map(|c| c.as_deref())
    }
}

/// Where a named data set comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Part of this program.
    BuiltIn,
    /// The data directory.
    Directory,
}

/// A data set that can be opened by name, as far as is known without opening it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Listing {
    /// Its name.
    pub name: String,
    /// Where it comes from.
    pub origin: Origin,
    /// `dense`, `sparse`, or what the manifest says.
    pub kind: String,
    /// Objects.
    pub n: Option<usize>,
    /// Features.
    pub d: Option<usize>,
    /// Classes.
    pub k: Option<usize>,
    /// What else there is to know.
    pub notes: String,
}

/// Every data set that has a name, sorted; one per name, that which [`open`] would take.
///
/// # Errors
/// A data directory without a readable manifest.
pub fn available(options: &OpenOptions) -> Result<Vec<Listing>> {
    let mut all = match &options.data_dir {
        Some(dir) => Directory::read(dir)?.listings(),
        None => Vec::new(),
    };
    let known: Vec<String> = all.iter().map(|l| l.name.clone()).collect();
    all.extend(builtin::listings().into_iter().filter(|l| !known.contains(&l.name)));
    all.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(all)
}

/// Opens a data set by name or path. The first of these that fits decides:
///
/// 1. `-` is a CSV on the standard input.
/// 2. `builtin:NAME` is the set of that name built into the program.
/// 3. What holds a `/`, a `\` or a `.` is a path: a `.csv`, a `.mtx` (with `labels.txt` and
///    `terms.txt` beside it, where they exist), either of them with `.gz`, or a folder with
///    `matrix.mtx`.
/// 4. A name in the manifest of the data directory.
/// 5. A built-in name.
///
/// # Errors
/// `Data`, with file, line and column where there are any; `EmptyData`.
pub fn open(name_or_path: &str, options: &OpenOptions) -> Result<Dataset> {
    if name_or_path == "-" {
        return csv(Path::new("-"), "stdin", options);
    }
    if let Some(name) = name_or_path.strip_prefix("builtin:") {
        return built_in(name, options)?.ok_or_else(|| unknown(name_or_path, options));
    }
    if name_or_path.contains(['/', '\\', '.']) {
        return path(Path::new(name_or_path), options);
    }
    if let Some(dir) = &options.data_dir
        && let Some(found) = Directory::read(dir)?.open(name_or_path, options)?
    {
        return Ok(found);
    }
    built_in(name_or_path, options)?.ok_or_else(|| unknown(name_or_path, options))
}

fn built_in(name: &str, options: &OpenOptions) -> Result<Option<Dataset>> {
    let found = builtin::open(name)?;
    match options.wants_columns() {
        Some(column) if found.is_some() => Err(no_columns(name, column)),
        _ => Ok(found),
    }
}

fn no_columns(place: &str, column: &str) -> Error {
    bad(place, format!("no column \"{column}\": only a CSV has columns to choose from"))
}

fn unknown(name: &str, options: &OpenOptions) -> Error {
    let listings = available(options).unwrap_or_default();
    let names: Vec<&str> = listings.iter().map(|l| l.name.as_str()).collect();
    let mut message = format!("no data set \"{name}\"{}", suggestion(name, names.iter().copied()));
    if !message.ends_with('?') {
        message.push(';');
    }
    message.push_str(&format!(" known names: {}", names.join(", ")));
    if options.data_dir.is_none() {
        message.push_str("; a data directory (--data-dir or MUSTLINK_DATA) has names of its own");
    }
    if Path::new(name).exists() {
        message.push_str(&format!("; for the file of that name write ./{name}"));
    } else {
        message.push_str("; a file is named by its path, as ./my.csv");
    }
    bad("data", message)
}

fn path(path: &Path, options: &OpenOptions) -> Result<Dataset> {
    if path.is_dir() {
        let name = path.file_name().map_or_else(|| shown(path), |n| n.to_string_lossy().into());
        if let Some(column) = options.wants_columns() {
            return Err(no_columns(&shown(path), column));
        }
        return folder(path, &name, &|_, _| Ok(()));
    }
    let file = path.file_name().map(|n| n.to_string_lossy().to_string()).unwrap_or_default();
    let plain = file.strip_suffix(".gz").unwrap_or(&file);
    if let Some(stem) = plain.strip_suffix(".csv") {
        return csv(path, stem, options);
    }
    if let Some(stem) = plain.strip_suffix(".mtx") {
        if let Some(column) = options.wants_columns() {
            return Err(no_columns(&shown(path), column));
        }
        return matrix(path, stem, &|_, _| Ok(()));
    }
    if !path.exists() {
        return Err(bad(shown(path), "no such file"));
    }
    Err(bad(
        shown(path),
        "unknown kind of file; accepted are .csv and .mtx, also with .gz, and folders with matrix.mtx",
    ))
}

fn csv(path: &Path, name: &str, options: &OpenOptions) -> Result<Dataset> {
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

fn matrix(path: &Path, name: &str, inspect: Inspect<'_>) -> Result<Dataset> {
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
