//! Where do the data sets of an experiment come from?
//!
//! From names, files, or memory; then through the steps under `[[dataset]]`. Everything later
//! (splits, constraints, ids, sizes) refers to the rows after those steps.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mustlink_core::constraints::Constraints;
use mustlink_core::context::Context;
use mustlink_core::{DataKind, Error, Result};
use mustlink_datasets::{Dataset, OpenOptions};
use serde::{Deserialize, Serialize};

use crate::config::{DatasetEntry, Experiment};

/// Where data sets are looked for.
#[derive(Debug, Clone, Default)]
pub struct Source {
    /// The data directories; none: those of the environment.
    pub data_dirs: Vec<PathBuf>,
    /// Data sets in memory, by id; they come before any other.
    pub memory: BTreeMap<String, Dataset>,
}

/// A data set, opened and after its own steps.
pub(crate) struct Prepared {
    pub id: String,
    pub target: Option<String>,
    pub set: Dataset,
    /// Hash of the content before the steps, in hexadecimal.
    pub digest: String,
    /// The constraints that came with it.
    pub given: Arc<Constraints>,
    /// What its steps warned of.
    pub notes: Vec<String>,
}

/// What is written down of a data set.
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
    pub fn facts(&self) -> Facts {
        let (n, d, classes) = (self.set.n(), self.set.d(), self.set.k());
        Facts { dataset: self.id.clone(), n, d, classes, digest: self.digest.clone() }
    }

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
    let digest = raw.digest().iter().map(|b| format!("{b:02x}")).collect();
    let path = experiment.dataset_path(&spec.id);
    let balanced = match &spec.class_sizes {
        Some(sizes) => raw.balance(sizes, &path)?,
        None => raw,
    };
    // Rows are numbered as they stand after `class_sizes`, which leaves ids in place.
    let given = match &spec.constraints {
        Some(file) => {
            let by_id = balanced.ids.is_some();
            mustlink_datasets::read_constraints(
                &relative(experiment.base(), file),
                &balanced,
                by_id,
            )?
        }
        None => Constraints::default(),
    };
    let transforms = spec
        .build_transforms(balanced.k())
        .map_err(|message| Error::Usage(format!("transforms: {message}")))?;
    if !transforms.first().is_some_and(|t| t.properties().accepts.contains(&DataKind::Table)) {
        balanced.require_numbers()?;
    }
    let ctx = Context::builder(path).build();
    let (set, map, _) = balanced.transformed(&transforms, &ctx)?;
    set.require_numbers()?;
    let given = match map {
        Some(rows) if !given.is_empty() => {
            let (moved, dropped) = given.renumbered(set.n(), &rows.map)?;
            if dropped > 0 {
                ctx.warn(format!("{dropped} given constraints lost an object that was dropped"));
            }
            moved
        }
        _ => given,
    };
    let (id, target, notes) = (spec.id.clone(), spec.target.clone(), ctx.warnings());
    Ok(Prepared { id, target, set, digest, given: Arc::new(given), notes })
}

fn open(experiment: &Experiment, spec: &DatasetEntry, source: &Source) -> Result<Dataset> {
    let options = open_options(spec, source);
    match &spec.path {
        Some(path) => mustlink_datasets::open(&relative(experiment.base(), path), &options),
        None => mustlink_datasets::open(spec.source.as_ref().unwrap_or(&spec.id), &options),
    }
}

/// Whether the data sets are there, and their files can be opened, as far as the first megabytes of each
/// tell; optional ones are left alone.
///
/// # Errors
/// `Data` with file, line and column, of the first that cannot; a name that is not known.
pub fn check_heads(experiment: &Experiment, source: &Source) -> Result<()> {
    for spec in experiment.datasets.iter().filter(|spec| !spec.optional) {
        let options = open_options(spec, source);
        let found = match &spec.path {
            Some(path) => {
                mustlink_datasets::check_head(&relative(experiment.base(), path), &options)
            }
            None => {
                let name = spec.source.as_ref().unwrap_or(&spec.id);
                mustlink_datasets::check_name(name, &options)
            }
        };
        found.map_err(|e| e.at(&format!("dataset {}", spec.id)))?;
    }
    Ok(())
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
        id_column: spec.id_column.clone(),
        features: spec.features.clone(),
        ignore: spec.ignore.clone(),
        separator: spec.sep,
        decimal: spec.decimal,
        missing: spec.na.clone(),
        ..OpenOptions::default()
    }
}

/// A path that starts at the experiment file, and looks like a path.
fn relative(base: &Path, path: &str) -> String {
    let joined = base.join(path);
    let text = joined.display().to_string();
    if text.contains(['/', '\\']) { text } else { format!("./{text}") }
}
