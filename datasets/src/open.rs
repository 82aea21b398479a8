//! The data set that a name refers to.

use std::path::Path;

use mustlink_core::registry::suggestion;
use mustlink_core::{Error, Result};

use crate::builtin;
use crate::bytes::{Input, bad, shown};
use crate::dataset::Dataset;
use crate::directory::{Directory, MANIFEST};
use crate::files::{csv, folder, matrix, npy};
use crate::listing::Listing;
use crate::options::OpenOptions;
use crate::sheet::Sheet;
use crate::{pairwise, table};

/// Every data set that has a name, sorted; one per name, that which [`open`] would take.
///
/// # Errors
/// A data directory without a readable manifest.
pub fn available(options: &OpenOptions) -> Result<Vec<Listing>> {
    let mut all: Vec<Listing> = Vec::new();
    let directories = options.data_dirs.iter().map(|dir| Ok(Directory::read(dir)?.listings()));
    for listings in directories.chain([Ok(builtin::listings())]) {
        let listings: Vec<Listing> = listings?;
        let new = |l: &Listing| all.iter().all(|known| known.name != l.name);
        let new: Vec<Listing> = listings.into_iter().filter(new).collect();
        all.extend(new);
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(all)
}

/// Opens a data set by name or path. The first of these that fits decides:
///
/// 1. `-` is a CSV on the standard input; so is what a pipe gives.
/// 2. `builtin:NAME` is the set of that name built into the program.
/// 3. Text with a `/`, a `\` or a `.` is a path: a `.csv`, a `.tsv`, a `.txt` with such a table, a `.mtx`
///    (with `labels.txt` and `terms.txt` in its folder, if they exist), any of them with `.gz`, a `.npy`
///    of numpy, or a folder with `matrix.mtx`. With the feature `parquet` also a `.parquet`, with the feature
///    `xlsx` the first sheet of a workbook.
/// 4. A name in the manifest of a data directory, the first that has it.
/// 5. A built-in name.
///
/// A CSV may hold missing values and words: its data is then a table, which only transforms take;
/// [`Dataset::require_numbers`] says where they are. Numbers are features unless [`OpenOptions::pairs`] is set: that
/// they may be distances or affinities is one of the notes of [`Dataset::reading`].
///
/// # Errors
/// `Data`, with file, line and column where there are any; `EmptyData`.
pub fn open(name_or_path: &str, options: &OpenOptions) -> Result<Dataset> {
    let mut found = found(name_or_path, options)?;
    if let Some(kind) = options.pairs {
        return pairwise::of_pairs(found, kind, options.memory_limit);
    }
    found.reading.notes.extend(pairwise::note(&found.data));
    Ok(found)
}

fn found(name_or_path: &str, options: &OpenOptions) -> Result<Dataset> {
    if name_or_path == "-" {
        return csv(Path::new("-"), "stdin", options);
    }
    if let Some(name) = name_or_path.strip_prefix("builtin:") {
        return built_in(name, options)?.ok_or_else(|| unknown(name_or_path, options));
    }
    if is_path(name_or_path) {
        return path(Path::new(name_or_path), options);
    }
    for dir in &options.data_dirs {
        if let Some(found) = Directory::read(dir)?.open(name_or_path, options)? {
            return Ok(found);
        }
    }
    built_in(name_or_path, options)?.ok_or_else(|| unknown(name_or_path, options))
}

/// Checks that a CSV file can be opened, as far as its header and its first megabytes show. Other paths only have to
/// exist; names are not checked.
///
/// # Errors
/// Returns the errors of [`open`].
pub fn check_head(name_or_path: &str, options: &OpenOptions) -> Result<()> {
    if name_or_path != "-" && is_table(name_or_path) {
        table::check(Input::open(Path::new(name_or_path))?, options)
    } else if is_path(name_or_path) && !Path::new(name_or_path).exists() {
        Err(bad(name_or_path, "no such file"))
    } else {
        Ok(())
    }
}

/// The names of the columns of a CSV file; none of what can be read once alone, as a pipe.
///
/// # Errors
/// `Data` for a file without a header.
pub fn column_names(file: &str) -> Result<Option<Vec<String>>> {
    let path = Path::new(file);
    if !path.is_file() {
        return Ok(None);
    }
    let sheet = Sheet::open(Input::open(path)?, None, "a header row")?;
    Ok(Some(sheet.header().to_vec()))
}

/// True for a path, as opposed to the name of a data set; the standard input is neither.
pub fn is_path(name: &str) -> bool {
    name.contains(['/', '\\', '.'])
}

/// True if this is read as a CSV, which has columns to choose from.
pub fn is_table(name_or_path: &str) -> bool {
    name_or_path == "-" || stem_of_table(name_or_path).is_some()
}

/// Endings of tables that are not text.
const TYPED: [&str; 5] = [".parquet", ".xlsx", ".xlsm", ".xls", ".ods"];

/// The name of a CSV, or of a similar table with tabs or with typed cells, without the ending.
fn stem_of_table(file: &str) -> Option<&str> {
    let plain = file.strip_suffix(".gz").unwrap_or(file);
    let text = [".csv", ".tsv", ".txt"].iter().find_map(|ending| plain.strip_suffix(ending));
    // Windows shows file names in capitals now and then.
    let start = |ending: &&str| {
        file.len().checked_sub(ending.len()).filter(|&at| file.is_char_boundary(at))
    };
    let typed = TYPED.iter().find_map(|ending| {
        let (stem, own) = file.split_at(start(ending)?);
        own.eq_ignore_ascii_case(ending).then_some(stem)
    });
    text.or(typed)
}

/// Checks that a name is that of a data set; paths pass.
///
/// # Errors
/// `Data` with the nearest name.
pub fn check_name(name: &str, options: &OpenOptions) -> Result<()> {
    let own = name.strip_prefix("builtin:").unwrap_or(name);
    if own == "-" || is_path(own) || available(options)?.iter().any(|l| l.name == own) {
        Ok(())
    } else {
        Err(unknown(name, options))
    }
}

fn built_in(name: &str, options: &OpenOptions) -> Result<Option<Dataset>> {
    let found = builtin::open(name)?;
    if found.is_some() {
        options.refuse_of_csv(name)?;
    }
    Ok(found)
}

fn unknown(name: &str, options: &OpenOptions) -> Error {
    let listings = available(options).unwrap_or_default();
    let names: Vec<&str> = listings.iter().map(|l| l.name.as_str()).collect();
    let mut message = format!("no data set \"{name}\"{}", suggestion(name, names.iter().copied()));
    if !message.ends_with('?') {
        message.push(';');
    }
    message.push_str(&format!(" known names: {}", names.join(", ")));
    for dir in options.data_dirs.iter().filter(|dir| !dir.join(MANIFEST).is_file()) {
        message.push_str(&format!(
            "; {} has no {MANIFEST}, which names the sets of a data directory: columns name, path and, to be \
             checked, n, d, k, class_sizes, sha256",
            shown(dir)
        ));
    }
    if options.data_dirs.is_empty() {
        message.push_str("; a data directory (--data-dir or MUSTLINK_DATA) adds names");
    }
    message.push_str(&format!("; write a file as a path, such as ./{name}"));
    bad("data", message)
}

fn path(path: &Path, options: &OpenOptions) -> Result<Dataset> {
    if path.is_dir() {
        let name = path.file_name().map_or_else(|| shown(path), |n| n.to_string_lossy().into());
        options.refuse_of_csv(&shown(path))?;
        return folder(path, &name, &|_, _| Ok(()), options.memory_limit);
    }
    let file = path.file_name().map(|n| n.to_string_lossy().to_string()).unwrap_or_default();
    if let Some(stem) = stem_of_table(&file) {
        return csv(path, stem, options);
    }
    let plain = file.strip_suffix(".gz").unwrap_or(&file);
    if let Some(stem) = plain.strip_suffix(".mtx") {
        options.refuse_of_csv(&shown(path))?;
        return matrix(path, stem, &|_, _| Ok(()), options.memory_limit);
    }
    if !path.exists() {
        return Err(bad(shown(path), "no such file"));
    }
    // What a shell hands over, by /dev/stdin or <(…), has no ending that says what it is.
    if path.starts_with("/dev") || !path.is_file() {
        return csv(path, &file, options);
    }
    if let Some(stem) = file.strip_suffix(".npy") {
        options.refuse_of_csv(&shown(path))?;
        return npy(path, stem, options.memory_limit);
    }
    Err(bad(
        shown(path),
        "unknown kind of file; accepted are .csv, .tsv, .txt and .mtx, also with .gz; .npy, .parquet, .xlsx, .ods; \
         folders with matrix.mtx",
    ))
}
