//! The sections of an experiment file as types.
//!
//! These types are the text form: they decide what a file may hold, its schema and its defaults. Only
//! the sections without plugins that depend on a data set are read into them as they stand; methods
//! and data sets stay plain values until the number of classes is known.

use std::collections::BTreeMap;

use mustlink_core::kind::{self, Described};
use mustlink_core::method::Method;
use mustlink_core::registry;
use mustlink_core::roles::{Metric, Transform};
use mustlink_external::parts::scripts;
use serde::{Deserialize, Serialize};

use super::criterion::Criterion;
use crate::split::Split;
use crate::statistics::Unit;

/// An experiment file.
#[derive(Debug, Serialize, Deserialize, Described)]
#[serde(deny_unknown_fields)]
pub struct ExperimentFile {
    /// Plugins in other languages, used by their own names: `["my_method.py"]`. Paths are relative to this file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plugins: Vec<scripts::Source>,
    /// Name, seed, description.
    pub experiment: Head,
    /// The data sets.
    pub dataset: Vec<DatasetEntry>,
    /// Objects held out for scoring.
    #[serde(default)]
    pub split: Split,
    /// The methods. A list for an option that takes one value gives one method per value.
    #[serde(default)]
    pub method: Vec<MethodEntry>,
    /// Numbers of queries at which the methods are scored.
    #[serde(default)]
    pub curve: Curve,
    /// Options for scoring results.
    #[serde(default)]
    pub scoring: Scoring,
    /// Options for summarising scores.
    #[serde(default)]
    pub stats: Stats,
    /// Options for drawing figures; they change no score.
    #[serde(default)]
    pub plot: Plot,
    /// Options for running the work; they change no score.
    #[serde(default)]
    pub run: RunSection,
    /// Claims that the report checks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub criterion: Vec<Criterion>,
}

/// Name of an experiment and seed of its random numbers.
#[derive(Debug, Clone, Serialize, Deserialize, Described)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// Name, shown in tables and figures.
    pub name: String,
    /// Title of the report. If empty, the name.
    #[serde(default)]
    pub title: String,
    /// Seed of every random number.
    #[serde(default)]
    pub seed: u64,
    /// Purpose of the experiment.
    #[serde(default)]
    pub description: String,
    /// Scope of an ensemble that does not use constraints.
    #[serde(default)]
    pub ensemble_per: EnsemblePer,
}

/// Scope of an ensemble that does not use constraints.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Described)]
#[serde(rename_all = "snake_case")]
pub enum EnsemblePer {
    /// One ensemble for each data set: all repeats and folds share it.
    #[default]
    Dataset,
    /// One ensemble for each repeat.
    Repeat,
}

/// One data set of an experiment.
#[derive(Debug, Clone, Serialize, Deserialize, Described)]
#[serde(deny_unknown_fields)]
pub struct DatasetEntry {
    /// A built-in set, a set in the data directory, or any name if `path` gives the file.
    pub id: String,
    /// A file, relative to the experiment file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Original of this version: a built-in set, or a set in the data directory. If absent, `id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Leave the set out if it cannot be read; the report then lists it as missing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
    /// Column with the true classes. If absent, a last column named `class`. Columns of a CSV are referred to by
    /// name, or as `#1`, `#2` …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Column with ids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id_column: Option<String>,
    /// Column with the known classes of some objects. It gives constraints between all of these objects that are not
    /// held out. It may be the column of the classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<String>,
    /// Columns to cluster on; `["all"]`: every column without another use. If absent, the same, but a column that
    /// looks like ids or classes is an error.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<String>,
    /// Columns to ignore.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<String>,
    /// Read the first row of a CSV as an object; columns are then called `#1`, `#2` …
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_header: bool,
    /// Each column of a CSV is an object, and each row a feature. The first row contains the ids of the objects.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub transpose: bool,
    /// Separator between the cells of a CSV. If absent, the one of `, ; tab |` that fits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sep: Option<char>,
    /// Decimal mark of numbers in a CSV. If absent, a point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decimal: Option<char>,
    /// Cells of a CSV that mean a missing value, in addition to empty ones. If absent, ?, NA, N/A, NaN, null, none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub na: Vec<String>,
    /// Use the number of each row, from 0, as a last feature. This happens when a file with an index column is read
    /// as data.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub row_number: bool,
    /// Number of objects to keep per class, drawn at random: `{ benign = 239 }`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class_sizes: Option<BTreeMap<String, usize>>,
    /// File of constraints `i,j,type,weight`, relative to the experiment file. It contains ids if the data set has
    /// them, otherwise row numbers before `class_sizes` and `transforms`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constraints: Option<String>,
    /// Transforms applied before everything else; those that drop or merge rows are allowed only here.
    // Plain values: `k = "classes"` may stand in them, which is a number once the data set is open.
    #[serde(default = "no_transforms")]
    #[option(kind = <Vec<Box<dyn Transform>> as Described>::KIND)]
    pub transforms: serde_json::Value,
}

fn no_transforms() -> serde_json::Value {
    serde_json::json!([])
}

/// One method of an experiment.
// The text form alone: its schema checks and completes a `[[method]]`; what runs is built once for
// each data set, when the number of classes is known. No doc comment: those are the descriptions of
// the schema.
#[derive(Debug, Clone, Serialize, Deserialize, Described)]
#[serde(deny_unknown_fields)]
pub struct MethodEntry {
    /// Name in tables and figures, unique.
    pub id: String,
    /// A method file, relative to this file.
    // Here for the schema alone: its options are read in before a method is built.
    #[serde(default, skip_serializing)]
    pub file: Option<String>,
    /// Number of clusters; `"classes"`: the number of classes, `"classes+1"`, `"classes-1"`, …: more or
    /// fewer; `"unknown"`: not given.
    #[serde(default)]
    #[option(min = 1)]
    pub k: Option<usize>,
    /// The parts of the method.
    #[serde(flatten)]
    pub method: Method,
    /// Named settings, each a table of options; the method stands once with each of them:
    /// `{ quick = { "clusterer.restarts" = 1 } }`.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    pub presets: serde_json::Map<String, serde_json::Value>,
    /// Options whose lists go together, value by value, instead of in all combinations:
    /// `[["clusterer.h", "selector.rate"]]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub zip: Vec<Vec<String>>,
    /// Combinations that are left out, each a table of options: `[{ "clusterer.h" = 5 }]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<serde_json::Map<String, serde_json::Value>>,
}

/// Numbers of queries at which a method is scored.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, Described)]
#[serde(default, deny_unknown_fields)]
pub struct Curve {
    /// Numbers of questions, including those without an answer, ascending.
    pub points: Points,
}

/// Numbers of questions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Described)]
#[serde(untagged)]
pub enum Points {
    /// A list of numbers.
    List(Vec<usize>),
    /// A range: first number, last number (included if the step reaches it), step.
    Range(Range),
    /// `from_run(<method id>)`: as many as that method asked in the same repeat and fold.
    FromRun(String),
}

/// Evenly spaced numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Described)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// First number.
    #[serde(default)]
    pub from: usize,
    /// Last number, if a step reaches it.
    pub to: usize,
    /// Step between numbers.
    #[option(min = 1)]
    pub step: usize,
}

impl Default for Points {
    fn default() -> Self {
        Points::List(vec![0])
    }
}

/// A curve of more points is taken for a slip, and refused before it is laid out.
pub(super) const MAX_POINTS: usize = 10_000;

impl Points {
    /// The numbers, or the id of the method that decides.
    pub fn numbers(&self) -> Result<Vec<usize>, &str> {
        match self {
            Points::List(list) => Ok(list.clone()),
            Points::Range(r) => {
                Ok((r.from..=r.to).step_by(r.step.max(1)).take(MAX_POINTS + 1).collect())
            }
            Points::FromRun(text) => {
                let id = text.strip_prefix("from_run(").and_then(|t| t.strip_suffix(')'));
                Err(id.unwrap_or(text).trim())
            }
        }
    }
}

/// Objects that are scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, Described)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The objects held out (all, if none is held out).
    #[default]
    Test,
    /// The objects that may be asked about.
    Train,
    /// Every object.
    All,
}

/// Pairs left out of pair counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, Described)]
#[serde(rename_all = "snake_case")]
pub enum Exclude {
    /// The pairs given or asked.
    Explicit,
    /// No pairs.
    #[default]
    None,
}

/// Options for scoring results.
#[derive(Debug, Clone, Serialize, Deserialize, Described)]
#[serde(default, deny_unknown_fields)]
pub struct Scoring {
    /// Metrics, in the order of the columns.
    pub metrics: Vec<Box<dyn Metric>>,
    /// Objects that are scored.
    pub scope: Scope,
    /// Pairs left out of pair counts.
    pub exclude_constrained: Exclude,
}

impl Default for Scoring {
    /// `ari` and `nmi_arith`, where they are linked.
    fn default() -> Self {
        let build = |tag| registry::build_default::<dyn Metric>(tag).ok();
        let metrics = ["ari", "nmi_arith"].into_iter().filter_map(build).collect();
        Scoring { metrics, scope: Scope::default(), exclude_constrained: Exclude::default() }
    }
}

/// Options for summarising scores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Described)]
#[serde(default, deny_unknown_fields)]
pub struct Stats {
    /// Confidence level of all intervals in the report; tests use 5 %.
    #[option(above = 0.0, below = 1.0)]
    pub level: f64,
    /// Unit that counts as one observation.
    pub unit: Unit,
    /// Numbers of a row to summarise in addition to the metrics: a diagnostic of the clusterer (`propagated`), or a
    /// column of results.csv (`time_cluster_s`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub records: Vec<String>,
    /// Method against which the others are tested over the data sets. If absent, the one of best mean rank, with the
    /// adjustment over all pairs, because the scores chose it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control: Option<String>,
}

impl Default for Stats {
    fn default() -> Self {
        Stats { level: 0.95, unit: Unit::default(), records: Vec::new(), control: None }
    }
}

/// Options for running the work; they change no score.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Described)]
#[serde(default, deny_unknown_fields)]
pub struct RunSection {
    /// Number of threads. If absent, one per core.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[option(min = 1, max = 4096)]
    pub threads: Option<usize>,
    /// Seconds after which a cell is stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[option(above = 0.0, max = 1e9)]
    pub cell_timeout_s: Option<f64>,
    /// Largest memory of one cell in bytes, as declared by its data and its method. A cell that needs more fails
    /// before it starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[option(min = 1)]
    pub cell_memory_bytes: Option<u64>,
    /// Store the labels of every curve point together with its scores.
    pub keep_labels: bool,
}

/// A format of figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Described)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Lines and text, for pages; always written.
    Svg,
    /// Pixels, 288 to the inch, for slides.
    Png,
    /// For papers.
    Pdf,
}

impl Format {
    /// The ending of its files.
    pub fn ending(self) -> &'static str {
        match self {
            Format::Svg => "svg",
            Format::Png => "png",
            Format::Pdf => "pdf",
        }
    }
}

/// Options for drawing figures; they change no score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Described)]
#[serde(default, deny_unknown_fields)]
pub struct Plot {
    /// File formats of figures, in addition to the CSV with the numbers of each figure: svg (always written), png,
    /// pdf.
    pub formats: Vec<Format>,
    /// Method with which the others are compared. A panel below each learning curve shows the confidence that they
    /// differ from it, and times are drawn relative to its time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// Width of a learning curve in pixels; the text keeps its size. If absent, 568.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[option(min = 100, max = 4000)]
    pub size: Option<u32>,
    /// Names that the report shows instead of the ids of methods, metrics and data sets:
    /// `{ kmeans = "k-means", ari = "adjusted Rand index" }`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

impl Plot {
    /// Replaces an id by its label, if it has one.
    pub fn label(&self, id: &mut String) {
        if let Some(label) = self.labels.get(id.as_str()) {
            id.clone_from(label);
        }
    }

    /// The id that has a label; the same text if none has it.
    pub fn id_of<'a>(&'a self, label: &'a str) -> &'a str {
        self.labels.iter().find(|(_, l)| *l == label).map_or(label, |(id, _)| id.as_str())
    }
}

impl Default for Plot {
    fn default() -> Self {
        Plot { formats: vec![Format::Svg], baseline: None, size: None, labels: BTreeMap::new() }
    }
}
