//! The data sets of an experiment.
//!
//! From names, files, or memory; then through the steps under `[[dataset]]`. Everything later
//! (splits, constraints, ids, sizes) refers to the rows after those steps.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mustlink_core::constraints::Constraints;
use mustlink_core::context::Context;
use mustlink_core::random::SeedPath;
use mustlink_core::text::{count, form};
use mustlink_core::{DataKind, Error, Result, Shape};
use mustlink_datasets::{Dataset, OpenOptions};
use serde::{Deserialize, Serialize};

use crate::config::{DatasetEntry, Experiment};

/// Folders in which data sets are searched for.
#[derive(Debug, Clone, Default)]
pub struct Source {
    /// The data directories; none: those of the environment.
    pub data_dirs: Vec<PathBuf>,
    /// Data sets in memory, by id; they come before any other.
    pub memory: BTreeMap<String, Dataset>,
    /// Maximum size in bytes of a data set that is read, and of its constraints. Absent: no limit.
    pub memory_limit: Option<u64>,
}

/// A data set, opened and after its own steps.
pub(crate) struct Prepared {
    pub id: String,
    pub target: Option<String>,
    pub set: Dataset,
    /// Hash of the content before the steps, in hexadecimal.
    pub digest: String,
    /// Start of all its random numbers.
    pub path: SeedPath,
    /// The constraints that came with it.
    pub given: Arc<Constraints>,
    /// Warnings of its steps.
    pub notes: Vec<String>,
    /// The row of the file that each object was, where `class_sizes` or the steps dropped or merged rows.
    kept: Option<Vec<usize>>,
}

/// Most constraints made of known classes one by one.
pub const MOST_OF_CLASSES: usize = 100_000;

/// Recorded properties of a data set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// Name of the data set.
    pub dataset: String,
    /// Objects and features after the steps under `[[dataset]]`.
    pub n: usize,
    /// Features.
    pub d: usize,
    /// Classes, where they are known.
    pub classes: Option<usize>,
    /// BLAKE3 of values, ids and classes before these steps.
    pub digest: String,
}

impl Prepared {
    /// Name, sizes and digest of the data set, as they are recorded.
    pub fn facts(&self) -> Facts {
        let (n, d, classes) = (self.set.n(), self.set.d(), self.set.k());
        Facts { dataset: self.id.clone(), n, d, classes, digest: self.digest.clone() }
    }

    /// The given constraints and those of known classes, among the objects that are `inside`; how many
    /// given ones are not comes second.
    pub fn constraints(&self, inside: impl Fn(usize) -> bool) -> Result<(Arc<Constraints>, usize)> {
        let (within, left_out) = self.given.within(&inside);
        let given = if left_out > 0 { Arc::new(within) } else { self.given.clone() };
        if self.set.known.is_none() {
            return Ok((given, left_out));
        }
        let known = self.set.known_constraints_of(MOST_OF_CLASSES, inside)?;
        Ok((Arc::new(given.union(&known, self.set.n())?), left_out))
    }

    /// The user's name of object `i`: its id, or its row in the file, by which files of constraints call it.
    pub fn object(&self, i: usize) -> String {
        let row =
            self.kept.as_ref().and_then(|kept| kept.get(i)).filter(|_| self.set.ids.is_none());
        row.map_or_else(|| self.set.id(i), usize::to_string)
    }

    /// Its sizes, without k and constraints.
    pub fn shape(&self) -> Shape {
        let entries = self.set.data.entries();
        Shape { n: self.set.n(), d: self.set.d(), k: 1, entries, constraints: 0 }
    }

    /// Bytes of its data and its constraints.
    pub fn bytes(&self) -> u64 {
        self.set.data.bytes().saturating_add(self.given.bytes())
    }

    /// The class of each object, if classes are known. `None` inside: the class is unknown.
    pub fn labels(&self) -> Option<&[Option<u32>]> {
        self.set.classes.as_ref().map(|c| &*c.labels)
    }
}

/// Opens a data set and takes it through its steps.
pub(crate) fn prepare(
    experiment: &Experiment,
    spec: &DatasetEntry,
    source: &Source,
) -> Result<Prepared> {
    steps(experiment, spec, source).map_err(|e| e.at(&format!("dataset {}", spec.id)))
}

fn steps(experiment: &Experiment, spec: &DatasetEntry, source: &Source) -> Result<Prepared> {
    let raw = match source.memory.get(&spec.id) {
        Some(set) => set.clone(),
        None => open(experiment, spec, source)?,
    };
    let raw = if spec.row_number { raw.with_row_number()? } else { raw };
    let digest = raw.digest();
    let path = raw.seed_path(experiment.head.seed, &spec.id);
    let ctx = Context::builder(path.clone()).build();
    let given = match &spec.constraints {
        Some(file) => {
            let file = relative(experiment.base(), file);
            let (by_id, limit) = (raw.ids.is_some(), source.memory_limit);
            let read = mustlink_datasets::read_constraints_and_unused(&file, &raw, by_id, limit);
            read.map_err(of_file)?.0
        }
        None => Constraints::default(),
    };
    // With the row of the file that each object is, where some are left out.
    let (balanced, given, rows) = match &spec.class_sizes {
        None => (raw, given, None),
        Some(sizes) => {
            let rows = raw.balanced_rows(sizes, &path)?;
            let given = if given.is_empty() { given } else { left(given, &rows, raw.n(), &ctx)? };
            (raw.with_rows(&rows)?, given, Some(rows))
        }
    };
    let transforms = spec
        .build_transforms(balanced.k())
        .map_err(|message| Error::Usage(format!("transforms: {message}")))?;
    if !transforms.first().is_some_and(|t| t.properties().accepts.contains(&DataKind::Table)) {
        balanced.require_numbers().map_err(of_file)?;
    } else if let Some(found) = balanced.not_numbers() {
        found.refuse_as_words().map_err(of_file)?;
    }
    let (set, map, _) = balanced.transformed(&transforms, &ctx).map_err(of_file)?;
    set.require_numbers().map_err(of_file)?;
    let given = match &map {
        Some(map) if !given.is_empty() => {
            // Objects are called as in the file of constraints.
            let called = |i: usize| match (&rows, &balanced.ids) {
                (Some(rows), None) => rows[i].to_string(),
                _ => balanced.id(i),
            };
            let named = |e: Error| {
                let said = e.render(&called);
                let (place, message) =
                    said.split_once(": ").unwrap_or(("constraints", said.as_str()));
                Error::Data { place: place.into(), message: message.into() }
            };
            let (moved, dropped) = given.renumbered(set.n(), &map.map).map_err(named)?;
            if dropped > 0 {
                let dropped = count(dropped, "given constraint");
                ctx.warn(format!("{dropped} lost an object that was dropped"));
            }
            moved
        }
        _ => given,
    };
    let (id, target, notes) = (spec.id.clone(), spec.target.clone(), ctx.warnings());
    let kept = match (map, rows) {
        (None, rows) => rows,
        (Some(map), None) => Some(map.kept),
        (Some(map), Some(rows)) => Some(map.kept.iter().map(|&row| rows[row]).collect()),
    };
    Ok(Prepared { id, target, set, digest, path, given: Arc::new(given), notes, kept })
}

/// The constraints among the `rows` that are left of `n`, by their new numbers.
fn left(given: Constraints, rows: &[usize], n: usize, ctx: &Context) -> Result<Constraints> {
    let mut map = vec![None; n];
    rows.iter().enumerate().for_each(|(new, &old)| map[old] = Some(new as u32));
    let (left, dropped) = given.renumbered(rows.len(), &map)?;
    if dropped > 0 {
        ctx.warn(format!(
            "{} {} about objects that class_sizes leaves out",
            count(dropped, "given constraint"),
            form(dropped, "is", "are")
        ));
    }
    Ok(left)
}

fn open(experiment: &Experiment, spec: &DatasetEntry, source: &Source) -> Result<Dataset> {
    let options = open_options(spec, source);
    let opened = match &spec.path {
        Some(path) => mustlink_datasets::open(&relative(experiment.base(), path), &options),
        None => mustlink_datasets::open(spec.source.as_ref().unwrap_or(&spec.id), &options),
    };
    opened.map_err(of_file)
}

/// An error whose ways out are those of an experiment file.
fn of_file(error: Error) -> Error {
    match error {
        Error::Data { place, message } => Error::Data { place, message: in_file_words(&message) },
        Error::Feature { feature, message } => {
            Error::Feature { feature, message: in_file_words(&message) }
        }
        Error::Named { message, source } => {
            Error::Named { message: in_file_words(&message), source }
        }
        Error::At { place, source } if matches!(*source, Error::Memory { .. }) => {
            Error::Named { message: format!("{place}: {source}"), source }
        }
        Error::At { place, source } => Error::At { place, source: Box::new(of_file(*source)) },
        other => other,
    }
}

/// A text that names options of the command line, with the keys of `[[dataset]]` in their place.
pub(crate) fn in_file_words(text: &str) -> String {
    // An option, its key, and whether its value is a list.
    const KEYS: [(&str, &str, bool); 8] = [
        ("class", "target", false),
        ("id", "id_column", false),
        ("labels", "labels", false),
        ("decimal", "decimal", false),
        ("sep", "sep", false),
        ("ignore", "ignore", true),
        ("features", "features", true),
        ("na", "na", true),
    ];
    let text = text
        .replace("--no-header", "no_header = true")
        .replace("--set 'transforms=[", "transforms = [")
        .replace("]'", "]");
    let mut parts = text.split("--");
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let Some((option, key, is_list)) = KEYS.into_iter().find(|k| part.starts_with(k.0)) else {
            out += "--";
            out += part;
            continue;
        };
        out += key;
        let after = &part[option.len()..];
        let Some(after) = after.strip_prefix(' ') else {
            out += after;
            continue;
        };
        let quoted = after.strip_prefix('\'').and_then(|quoted| quoted.split_once('\''));
        let (value, left) = quoted.unwrap_or_else(|| {
            let word = &after[..after.find([' ', ';']).unwrap_or(after.len())];
            // A comma behind a word is the sentence's; alone it is the decimal mark.
            let word = if word == "," { word } else { word.trim_end_matches(',') };
            after.split_at(word.len())
        });
        let names: Vec<String> = value.split(',').map(|name| format!("\"{name}\"")).collect();
        out +=
            &if is_list { format!(" = [{}]", names.join(", ")) } else { format!(" = \"{value}\"") };
        out += left;
    }
    out
}

/// The errors of the data sets of an experiment file: unknown names, and files that cannot be opened, as far as the
/// first megabytes of each show. Optional data sets are skipped. The rest of the file may have mistakes.
pub fn check_heads(file: &Path, sets: &[String], source: &Source) -> Vec<Error> {
    let Ok((entries, base)) = Experiment::datasets_of(file, sets) else { return Vec::new() };
    let check = |spec: &DatasetEntry| {
        let options = open_options(spec, source);
        let found = match &spec.path {
            Some(path) => mustlink_datasets::check_head(&relative(&base, path), &options),
            None => {
                let name = spec.source.as_ref().unwrap_or(&spec.id);
                mustlink_datasets::check_name(name, &options)
            }
        };
        found.map_err(of_file).map_err(|e| e.at(&format!("dataset {}", spec.id))).err()
    };
    entries.iter().filter(|spec| !spec.optional).filter_map(check).collect()
}

fn open_options(spec: &DatasetEntry, source: &Source) -> OpenOptions {
    let data_dirs = if source.data_dirs.is_empty() {
        OpenOptions::from_env().data_dirs
    } else {
        source.data_dirs.clone()
    };
    OpenOptions {
        data_dirs,
        class_column: spec.target.clone(),
        known_column: spec.labels.clone(),
        id_column: spec.id_column.clone(),
        features: spec.features.clone(),
        ignore: spec.ignore.clone(),
        categories: OpenOptions::declared_categories(&spec.transforms),
        no_header: spec.no_header,
        transpose: spec.transpose,
        separator: spec.sep,
        decimal: spec.decimal,
        missing: spec.na.clone(),
        memory_limit: source.memory_limit,
        ..OpenOptions::default()
    }
}

/// A path that starts at the experiment file, and looks like a path.
fn relative(base: &Path, path: &str) -> String {
    let joined = base.join(path);
    let text = joined.display().to_string();
    if text.contains(['/', '\\']) { text } else { format!("./{text}") }
}

#[cfg(test)]
mod tests {
    use super::in_file_words;

    #[test]
    fn options_become_keys() {
        let said = "looks like classes; declare this with --class species; or leave out with \
                    --ignore a,b; or cluster on every column with --features all";
        let keys = "looks like classes; declare this with target = \"species\"; or leave out with \
                    ignore = [\"a\", \"b\"]; or cluster on every column with features = [\"all\"]";
        assert_eq!(in_file_words(said), keys);
        assert_eq!(
            in_file_words(
                "so: --class 'Class Label'; or leave out with --ignore 'Class Label,#2'; or"
            ),
            "so: target = \"Class Label\"; or leave out with ignore = [\"Class Label\", \"#2\"]; or"
        );
        assert_eq!(in_file_words("read with --decimal ,"), "read with decimal = \",\"");
        assert_eq!(in_file_words("out with --ignore y, or"), "out with ignore = [\"y\"], or");
        assert_eq!(in_file_words("out with --ignore a,b"), "out with ignore = [\"a\", \"b\"]");
        assert_eq!(
            in_file_words("by its position: --id '#1' or --ignore '#1'"),
            "by its position: id_column = \"#1\" or ignore = [\"#1\"]"
        );
        assert_eq!(
            in_file_words("fill in with --set 'transforms=[\"impute_missing\"]', or"),
            "fill in with transforms = [\"impute_missing\"], or"
        );
        assert_eq!(
            in_file_words("read them as missing with --na '#N/A,#DIV/0!'"),
            "read them as missing with na = [\"#N/A\", \"#DIV/0!\"]"
        );
        assert_eq!(in_file_words("a missing value by --na, or"), "a missing value by na, or");
        assert_eq!(in_file_words("a -- b"), "a -- b");
    }
}
