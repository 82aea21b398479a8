//! What does an experiment file say? Its sections as types.
//!
//! These types are the text form: they decide what a file may hold, its schema and its defaults. Only
//! the sections without plugins that depend on a data set are read into them as they stand; methods
//! and data sets stay plain values until the number of classes is known.

use std::collections::BTreeMap;

use mustlink_core::registry;
use mustlink_core::roles::{BaseClusterer, Metric, Oracle, QuerySelector, Transform};
use mustlink_core::selection::{ConstraintView, Contradicting};
use mustlink_external::parts::scripts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::criterion::Criterion;
use crate::split::Split;
use crate::statistics::Unit;

/// An experiment file.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExperimentFile {
    /// Plugins in other languages, known by their own names: `["my_method.py"]`. Paths start at this
    /// file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plugins: Vec<scripts::Source>,
    /// Name, seed, description.
    pub experiment: Head,
    /// The data sets.
    pub dataset: Vec<DatasetEntry>,
    /// What is held back for scoring.
    #[serde(default)]
    pub split: Split,
    /// The methods. A list where an option wants one value stands for one method per value.
    #[serde(default)]
    pub method: Vec<MethodEntry>,
    /// At which numbers of queries the methods are scored.
    #[serde(default)]
    pub curve: Curve,
    /// How results are scored.
    #[serde(default)]
    pub scoring: Scoring,
    /// How scores are summarised.
    #[serde(default)]
    pub stats: Stats,
    /// How figures are drawn; changes no score.
    #[serde(default)]
    pub plot: Plot,
    /// How the work is done; changes no score.
    #[serde(default)]
    pub run: RunSection,
    /// The claims that the report judges.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub criterion: Vec<Criterion>,
}

/// What an experiment is called and where its random numbers start.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// Name, shown in tables and figures.
    pub name: String,
    /// Seed of every random number.
    #[serde(default)]
    pub seed: u64,
    /// What the experiment is about.
    #[serde(default)]
    pub description: String,
    /// How often an ensemble is made.
    #[serde(default)]
    pub ensemble_per: EnsemblePer,
}

/// How often an ensemble that reads no constraints is made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EnsemblePer {
    /// Once for a data set: all repeats and folds share it.
    #[default]
    Dataset,
    /// Once for each repeat.
    Repeat,
}

/// One data set of an experiment.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DatasetEntry {
    /// A built-in set, a set in the data directory; or any name, when `path` gives the file.
    pub id: String,
    /// A file, relative to the experiment file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The built-in set or the set in the data directory that this is a version of; absent: `id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Leave it out where it cannot be read; the report says that it is missing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
    /// Which column holds the classes that are the truth; absent: a last one named `class`. Columns of a
    /// CSV are called by their names, or `#1`, `#2` …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Which column holds ids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id_column: Option<String>,
    /// Which column holds what is known of the classes of some objects: it makes constraints, of all
    /// objects but those held out; may be that of the classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<String>,
    /// Columns to cluster on; `["all"]`: every column that is named as nothing else. Absent: the same, but
    /// a column that looks like ids or classes is an error.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<String>,
    /// Columns to leave out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<String>,
    /// The first row of a CSV is an object already; columns are then called `#1`, `#2` …
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_header: bool,
    /// What stands between the cells of a CSV; absent: that of `, ; tab |` which fits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sep: Option<char>,
    /// What stands before the decimals of a number in a CSV; absent: a point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decimal: Option<char>,
    /// Cells of a CSV that stand for a missing value beside empty ones; absent: ?, NA, N/A, NaN, null,
    /// none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub na: Vec<String>,
    /// Take the number of each row, from 0, as a last feature: what reading a file with an index column
    /// as data does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub row_number: bool,
    /// Objects to keep per class, drawn at random: `{ benign = 239 }`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class_sizes: Option<BTreeMap<String, usize>>,
    /// A file of constraints `i,j,type,weight`, relative to the experiment file; ids where the data
    /// set has them, else row numbers, those before `class_sizes` and `transforms`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constraints: Option<String>,
    /// Steps before everything else; those that drop or merge rows stand only here.
    // Plain values: `k = "classes"` may stand in them, which is a number once the data set is open.
    #[serde(default = "no_transforms")]
    #[schemars(with = "Vec<Box<dyn Transform>>")]
    pub transforms: serde_json::Value,
}

fn no_transforms() -> serde_json::Value {
    serde_json::json!([])
}

/// One method of an experiment.
// The text form alone: its schema checks and completes a `[[method]]`; what runs is built once for
// each data set, when the number of classes is known. No doc comment: those are the descriptions of
// the schema.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
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
    #[schemars(range(min = 1))]
    pub k: Option<usize>,
    /// Steps that change the data, in order.
    #[serde(default)]
    pub transforms: Vec<Box<dyn Transform>>,
    /// What groups the objects. Absent: the selector's own clustering.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clusterer: Option<Box<dyn BaseClusterer>>,
    /// What decides which pairs are asked. Absent: nothing is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<Box<dyn QuerySelector>>,
    /// Who answers; `truth` where a selector asks and nobody is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oracle: Option<Box<dyn Oracle>>,
    /// Which constraints of the selection reach the clusterer.
    #[serde(default)]
    pub view: ConstraintView,
    /// What becomes of answers that contradict what was known when they came.
    #[serde(default)]
    pub on_conflict: Contradicting,
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

/// At which numbers of queries a method is scored.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Curve {
    /// Numbers of questions, those that stay without an answer included, ascending.
    pub points: Points,
}

/// Numbers of questions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Points {
    /// These.
    List(Vec<usize>),
    /// From, to (included where the step meets it), step.
    Range(Range),
    /// `from_run(<method id>)`: as many as that method asked in the same repeat and fold.
    FromRun(String),
}

/// Evenly spaced numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// The first.
    #[serde(default)]
    pub from: usize,
    /// The last, if a step meets it.
    pub to: usize,
    /// The distance.
    #[schemars(range(min = 1))]
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

/// Which objects are scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The objects held back (all, when none are).
    #[default]
    Test,
    /// The objects that may be asked about.
    Train,
    /// Every object.
    All,
}

/// Which pairs are left out of pair counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Exclude {
    /// The pairs given or asked.
    Explicit,
    /// None.
    #[default]
    None,
}

/// How results are scored.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Scoring {
    /// The scores, in the order of the columns.
    pub metrics: Vec<Box<dyn Metric>>,
    /// Which objects are scored.
    pub scope: Scope,
    /// Which pairs are left out of pair counts.
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

/// How scores are summarised.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Stats {
    /// Confidence of all intervals of the report; tests are made at 5 %.
    #[schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 1.0))]
    pub level: f64,
    /// What counts as one observation.
    pub unit: Unit,
    /// Numbers of a row to summarise beside the metrics: what a clusterer reports of itself
    /// (`propagated`), or a column of results.csv (`time_cluster_s`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub records: Vec<String>,
    /// The method that the others are tested against over the data sets; absent: the one of best mean rank,
    /// with the adjustment over all pairs, since the scores chose it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control: Option<String>,
}

impl Default for Stats {
    fn default() -> Self {
        Stats { level: 0.95, unit: Unit::default(), records: Vec::new(), control: None }
    }
}

/// How the work is done. Nothing here changes a score.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RunSection {
    /// Threads; absent: one per core.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4096))]
    pub threads: Option<usize>,
    /// Seconds after which a cell is stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1e9))]
    pub cell_timeout_s: Option<f64>,
    /// Bytes that one cell may take by what its data and its method declare; one that needs more fails
    /// before it begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub cell_memory_bytes: Option<u64>,
    /// Store the labels of every curve point beside its scores.
    pub keep_labels: bool,
}

/// A format of figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

/// How figures are drawn. Nothing here changes a score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Plot {
    /// Formats of the files beside the CSV of each figure's numbers: svg, which is always written, png,
    /// pdf.
    pub formats: Vec<Format>,
    /// The method that the others are compared with: a panel below each learning curve shows how
    /// confident one can be that they differ from it, and times are drawn against its.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
}

impl Default for Plot {
    fn default() -> Self {
        Plot { formats: vec![Format::Svg], baseline: None }
    }
}
