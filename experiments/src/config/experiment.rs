//! A checked experiment: what a run, a plan and a report work on.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use mustlink::config::without_null;
use mustlink::random::SeedPath;
use serde_json::Value;

use super::criterion::Criterion;
use super::file::{Head, Points, RunSection, Scoring, Stats};
use super::plot::Plot;
use super::resolved::{DatasetSpec, MethodSpec};
use crate::row;
use crate::split::Split;

/// A checked experiment.
#[derive(Debug, Clone)]
pub struct Experiment {
    /// Name, seed, description.
    pub head: Head,
    /// The data sets, in order; their transforms are built per data set.
    pub datasets: Vec<DatasetSpec>,
    /// The methods, in order, axes expanded.
    pub methods: Vec<MethodSpec>,
    /// What is held back.
    pub split: Split,
    /// At which numbers of queries the methods are scored.
    pub points: Points,
    /// How results are scored.
    pub scoring: Scoring,
    /// How scores are summarised.
    pub stats: Stats,
    /// How figures are drawn.
    pub plot: Plot,
    /// How the work is done.
    pub run: RunSection,
    /// The claims that the report judges.
    pub criteria: Vec<Criterion>,
    pub(super) columns: Vec<String>,
    /// Paths of the options that lists, ranges and presets vary.
    pub(crate) varied: BTreeSet<String>,
    pub(super) resolved: Value,
    pub(super) base: PathBuf,
}

impl Experiment {
    /// The experiment as plain values with every default written out.
    pub fn resolved(&self) -> &Value {
        &self.resolved
    }

    /// The experiment as TOML with every default written out.
    pub fn resolved_toml(&self) -> String {
        toml::to_string(&without_null(&self.resolved)).unwrap_or_default()
    }

    /// Where relative paths start.
    pub fn base(&self) -> &Path {
        &self.base
    }

    /// Column names of the metrics, in order: the tag; with an option where a tag comes twice.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// What a method has for each option that the experiment varies, by column: null where it has none.
    pub(crate) fn varied_options(&self, method: &str) -> BTreeMap<String, Value> {
        let method = self.methods.iter().find(|m| m.id == method);
        let value = |path: &String| match method.and_then(|m| m.option(path)) {
            Some((_, Value::Object(table))) if table.contains_key("type") => table["type"].clone(),
            Some((_, nested @ (Value::Object(_) | Value::Array(_)))) => nested.to_string().into(),
            Some((_, plain)) => plain.clone(),
            None => Value::Null,
        };
        self.varied.iter().map(|path| (format!("option.{path}"), value(path))).collect()
    }

    /// Columns of the metrics, then the numbers summarised beside them.
    pub fn measured(&self) -> Vec<String> {
        self.columns.iter().chain(&self.stats.records).cloned().collect()
    }

    /// Every column that a formula may name: those measured, and the counts of a row.
    pub(crate) fn number_columns(&self) -> Vec<String> {
        self.measured().into_iter().chain(row::counted().map(str::to_string)).collect()
    }

    /// The seed path of a data set: all that is random about it starts here.
    pub(crate) fn dataset_path(&self, dataset: &str) -> SeedPath {
        SeedPath::new(self.head.seed).child(dataset)
    }
}
