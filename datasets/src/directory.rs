//! Data directories: manifests, and checks of the files that they list.
//!
//! `MANIFEST.csv` names the sets of a directory with their sizes and hashes. Opening one asserts
//! them all, so that a result never rests on another file than the one meant.

use std::path::{Component, Path, PathBuf};

use mustlink_core::registry::suggestion;
use mustlink_core::{Error, Result};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::bytes::{self, Input, bad, shown};
use crate::dataset::Dataset;
use crate::files;
use crate::listing::{Listing, Origin};
use crate::options::OpenOptions;
use crate::table;

/// Name of the manifest in a data directory.
pub(crate) const MANIFEST: &str = "MANIFEST.csv";

/// One line of the manifest. A field left empty is not checked.
#[derive(Debug, Clone, Deserialize)]
struct Entry {
    name: String,
    #[serde(default)]
    kind: String,
    path: String,
    n: Option<usize>,
    d: Option<usize>,
    k: Option<usize>,
    /// `class:size class:size …`
    #[serde(default)]
    class_sizes: String,
    #[serde(default)]
    source: String,
    /// Digest of the file; for a folder `file:hash file:hash …`.
    #[serde(default)]
    sha256: String,
    #[serde(default)]
    notes: String,
}

/// The error about a line of a manifest.
fn wrong(file: &Path, header: &[&str], e: &csv::Error) -> Error {
    let line = e.position().map(|at| format!(", line {}", at.line())).unwrap_or_default();
    let message = match e.kind() {
        csv::ErrorKind::Deserialize { err, .. } => {
            match err.field().and_then(|at| header.get(at as usize)) {
                Some(column) => format!("{column} must be a whole number, or empty"),
                None => format!("the columns name and path are needed, got {}", header.join(", ")),
            }
        }
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("expected {expected_len} fields as in the header, got {len}")
        }
        csv::ErrorKind::Utf8 { .. } => "is not UTF-8 text".into(),
        _ => e.to_string(),
    };
    bad(format!("{}{line}", shown(file)), message)
}

/// The columns that are read. Others are for people.
const COLUMNS: [&str; 10] =
    ["name", "kind", "path", "n", "d", "k", "class_sizes", "source", "sha256", "notes"];

/// A note for each unused column whose name is similar to that of a missing one.
fn mistyped(header: &[&str]) -> Vec<String> {
    let unread = header.iter().filter(|column| !COLUMNS.contains(column));
    let said = |column: &&str| {
        let absent = COLUMNS.into_iter().filter(|known| !header.contains(known));
        let near = suggestion(column, absent);
        (!near.is_empty()).then(|| format!("{MANIFEST}: unknown column \"{column}\"{near}"))
    };
    unread.filter_map(said).collect()
}

/// A folder with a manifest.
pub(crate) struct Directory {
    folder: PathBuf,
    entries: Vec<Entry>,
    /// Notes for a reader of any of its sets.
    notes: Vec<String>,
}

impl Directory {
    /// Reads the manifest. A folder without one names no set; it is not an error.
    pub fn read(folder: &Path) -> Result<Self> {
        if !folder.is_dir() {
            return Err(bad(shown(folder), "the data directory does not exist"));
        }
        let file = folder.join(MANIFEST);
        if !file.is_file() {
            return Ok(Directory { folder: folder.into(), entries: Vec::new(), notes: Vec::new() });
        }
        let content = bytes::read_raw(&file)?;
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(&content[..]);
        let header = reader.headers().map_err(|e| wrong(&file, &[], &e))?.clone();
        let header: Vec<&str> = header.iter().collect();
        let mut entries: Vec<Entry> = Vec::new();
        for entry in reader.deserialize() {
            let entry: Entry = entry.map_err(|e| wrong(&file, &header, &e))?;
            let inside =
                |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
            if !Path::new(&entry.path).components().all(inside) {
                let message =
                    format!("{}: the path {} leaves the directory", entry.name, entry.path);
                return Err(bad(shown(&file), message));
            }
            if entries.iter().any(|known| known.name == entry.name) {
                return Err(bad(shown(&file), format!("the name \"{}\" occurs twice", entry.name)));
            }
            entries.push(entry);
        }
        Ok(Directory { folder: folder.into(), entries, notes: mistyped(&header) })
    }

    /// One listing for each entry of the manifest, in its order.
    pub fn listings(&self) -> Vec<Listing> {
        let kind = |kind: &str| match kind {
            "text" => "sparse".to_string(),
            "dense-large" => "dense".to_string(),
            other => other.to_string(),
        };
        let listing = |e: &Entry| Listing {
            name: e.name.clone(),
            origin: Origin::Directory,
            kind: kind(&e.kind),
            n: e.n,
            d: e.d,
            k: e.k,
            notes: e.notes.clone(),
        };
        self.entries.iter().map(listing).collect()
    }

    /// The set of that name, every promise of the manifest asserted.
    pub fn open(&self, name: &str, options: &OpenOptions) -> Result<Option<Dataset>> {
        let Some(entry) = self.entries.iter().find(|e| e.name == name) else { return Ok(None) };
        let path = self.folder.join(&entry.path);
        let inspect = |file: &Path, raw: &[u8]| entry.assert_hash(file, raw);
        let mut dataset = if path.is_dir() {
            options.refuse_of_csv(name)?;
            files::folder(&path, name, &inspect, options.memory_limit)?
        } else {
            let raw = bytes::read_raw(&path)?;
            inspect(&path, &raw)?;
            let place = shown(&path);
            table::read(Input::new(&raw[..], &place)?, name, options, true)?
        };
        let as_listed = options.named_columns().next().is_none();
        entry.assert_sizes(&dataset, &self.folder.join(MANIFEST), as_listed)?;
        dataset.reading.listed = true;
        dataset.reading.notes.extend(self.notes.iter().cloned());
        dataset.provenance = [&entry.source, &entry.notes]
            .into_iter()
            .filter(|t| !t.is_empty())
            .cloned()
            .collect::<Vec<_>>()
            .join("; ");
        Ok(Some(dataset))
    }
}

impl Entry {
    /// The hash the manifest has for a file, if it has one.
    fn hash_of(&self, file: &Path) -> Option<&str> {
        if !self.sha256.contains(':') {
            return Some(self.sha256.as_str()).filter(|h| !h.is_empty());
        }
        let name = file.file_name()?.to_str()?;
        let mut listed = self.sha256.split_whitespace().filter_map(|l| l.rsplit_once(':'));
        listed.find(|(file, _)| *file == name).map(|(_, hash)| hash)
    }

    fn assert_hash(&self, file: &Path, raw: &[u8]) -> Result<()> {
        let Some(expected) = self.hash_of(file) else { return Ok(()) };
        let found: String = Sha256::digest(raw).iter().map(|b| format!("{b:02x}")).collect();
        if found.eq_ignore_ascii_case(expected) {
            return Ok(());
        }
        Err(bad(
            shown(file),
            format!(
                "the content differs from the manifest for {}: sha256 {expected} \
                 expected, {found} found",
                self.name
            ),
        ))
    }

    /// `as_listed`: the columns are those the manifest means, so d and classes are comparable.
    fn assert_sizes(&self, dataset: &Dataset, manifest: &Path, as_listed: bool) -> Result<()> {
        let place = format!("{}, {}", shown(manifest), self.name);
        let differs = |what: &str, expected: &str, found: &str| {
            bad(&place, format!("{what}: {expected} expected, {found} found"))
        };
        let mut sizes = vec![("n", self.n, dataset.n())];
        if as_listed {
            sizes.push(("d", self.d, dataset.d()));
            sizes.push(("k", self.k, dataset.k().unwrap_or(0)));
        }
        for (what, expected, found) in sizes {
            if let Some(expected) = expected.filter(|&e| e != found) {
                return Err(differs(what, &expected.to_string(), &found.to_string()));
            }
        }
        if !as_listed || self.class_sizes.is_empty() {
            return Ok(());
        }
        let found: Vec<String> =
            dataset.class_sizes().iter().map(|(name, size)| format!("{name}:{size}")).collect();
        let found = found.join(" ");
        // Names of classes may hold spaces: what is between spaces is compared, in any order.
        let sorted = |text: &str| {
            let mut words: Vec<String> = text.split_whitespace().map(String::from).collect();
            words.sort();
            words
        };
        if sorted(&self.class_sizes) != sorted(&found) {
            return Err(differs("class_sizes", &self.class_sizes, &found));
        }
        Ok(())
    }
}
