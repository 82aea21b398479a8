//! The row about one curve point of one cell.
//!
//! A [`Row`]. Rows are JSON lines in the journal and lines of `results.csv`; a missing value is null
//! there and empty here, never NaN.

use std::collections::BTreeMap;

use mustlink_datasets::FeatureWeights;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::hash::canonical;

/// Origin of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowStatus {
    /// With a result.
    #[default]
    Ok,
    /// With the error in `message`.
    Error,
    /// Out of time.
    Timeout,
}

/// One curve point of one cell.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Name of the experiment.
    pub experiment: String,
    /// Identity of the cell, 16 hexadecimal digits.
    pub identity: String,
    /// Data set.
    pub dataset: String,
    /// Class column.
    pub target: Option<String>,
    /// Objects.
    pub n: usize,
    /// Features.
    pub d: usize,
    /// Classes.
    pub classes: Option<usize>,
    /// Method.
    pub method: String,
    /// Tag of the clusterer.
    pub clusterer: Option<String>,
    /// Tag of the selector.
    pub selector: Option<String>,
    /// Tag of the oracle.
    pub oracle: Option<String>,
    /// Tag of the first generator in the method.
    pub ensemble: Option<String>,
    /// Repeat, from 0.
    pub repeat: usize,
    /// Fold, from 0.
    pub fold: usize,
    /// Curve point asked for.
    pub p_requested: Option<usize>,
    /// Replies used.
    pub queries: Option<usize>,
    /// Their cost.
    pub cost: Option<f64>,
    /// Conclusions that cost nothing.
    pub inferred: Option<usize>,
    /// Replies "don't know".
    pub dont_know: Option<usize>,
    /// Replies that contradict what was known when they came.
    pub answers_contradicting: Option<usize>,
    /// Replies, must-links and cannot-links, that became constraints of what clusters.
    pub constraints_used: Option<usize>,
    /// True if the method uses constraints; without meaning if none are given.
    pub constraints_read: Option<bool>,
    /// Must-links handed to the clusterer.
    pub constraints_must: Option<usize>,
    /// Cannot-links handed to the clusterer.
    pub constraints_cannot: Option<usize>,
    /// Which constraints of the selection were handed on.
    pub view: Option<String>,
    /// Number of clusters asked for.
    pub k: Option<usize>,
    /// Clusters with an object.
    pub k_found: Option<usize>,
    /// Constraints violated.
    pub violations: Option<u64>,
    /// Objective of the clusterer.
    pub objective: Option<f64>,
    /// Sweeps of the clusterer.
    pub iterations: Option<usize>,
    /// True if the clusterer converged.
    pub converged: Option<bool>,
    /// The selector had fewer questions than the point asks for.
    pub saturated: Option<bool>,
    /// Classes among the objects scored.
    pub test_classes: Option<usize>,
    /// Status of the run.
    pub status: RowStatus,
    /// The error, or what the method warned of.
    pub message: Option<String>,
    /// For an error: true if it follows from data, settings and seed alone, so that it will occur again
    /// (journal only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seeded: Option<bool>,
    /// Version of the program.
    pub version: String,
    /// Diagnostics of the clusterer (journal only).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub diagnostics: BTreeMap<String, f64>,
    /// Labels of all objects, where they are kept (journal only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<Vec<u32>>,
    /// Weight of each feature, in the first fold of the first repeat (journal only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<FeatureWeights>,
    /// Value in the method of each option that the experiment varies, by column. It is not part of the journal,
    /// because cells of equal settings share a file, whichever options were varied.
    #[serde(skip)]
    pub options: BTreeMap<String, Value>,
    /// Seconds for the whole selection, which methods may share.
    pub time_select_s: Option<f64>,
    /// Seconds in the clusterer.
    pub time_cluster_s: Option<f64>,
    /// Seconds for this point, selection included.
    pub time_total_s: Option<f64>,
    /// Scores by column.
    #[serde(flatten)]
    pub scores: BTreeMap<String, Option<f64>>,
}

/// Position of a field of a row in `results.csv`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Before the metrics.
    Before,
    /// After the metrics.
    After,
    /// After everything else: it differs between runs.
    Last,
    /// Nowhere: the journal alone holds it.
    Journal,
}
use Kind::{Flag, Nested, Real, Whole};
use Place::{After, Before, Journal, Last};

/// Type of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A word or a sentence.
    Text,
    /// A whole number.
    Whole,
    /// A number.
    Real,
    /// True or false.
    Flag,
    /// A table or a list.
    Nested,
}

/// A field of a row that is not a score.
pub(crate) struct Field {
    pub name: &'static str,
    pub place: Place,
    pub kind: Kind,
    /// The number that a report can summarise and a formula can name.
    number: Option<fn(&Row) -> Option<f64>>,
}

const fn plain(name: &'static str, place: Place, kind: Kind) -> Field {
    Field { name, place, kind, number: None }
}

const fn text(name: &'static str, place: Place) -> Field {
    plain(name, place, Kind::Text)
}

const fn number(
    name: &'static str,
    place: Place,
    kind: Kind,
    get: fn(&Row) -> Option<f64>,
) -> Field {
    Field { name, place, kind, number: Some(get) }
}

fn count(value: Option<usize>) -> Option<f64> {
    value.map(|v| v as f64)
}

/// All fields of a row that are not scores, in the order of the columns.
pub(crate) const FIELDS: [Field; 43] = [
    text("experiment", Before),
    text("identity", Before),
    text("dataset", Before),
    text("target", Before),
    plain("n", Before, Whole),
    plain("d", Before, Whole),
    plain("classes", Before, Whole),
    text("method", Before),
    text("clusterer", Before),
    text("selector", Before),
    text("oracle", Before),
    text("ensemble", Before),
    plain("repeat", Before, Whole),
    plain("fold", Before, Whole),
    plain("p_requested", Before, Whole),
    number("queries", Before, Whole, |row| count(row.queries)),
    number("cost", Before, Real, |row| row.cost),
    number("inferred", Before, Whole, |row| count(row.inferred)),
    number("dont_know", Before, Whole, |row| count(row.dont_know)),
    number("answers_contradicting", Before, Whole, |row| count(row.answers_contradicting)),
    number("constraints_used", Before, Whole, |row| count(row.constraints_used)),
    plain("constraints_read", Before, Flag),
    number("constraints_must", Before, Whole, |row| count(row.constraints_must)),
    number("constraints_cannot", Before, Whole, |row| count(row.constraints_cannot)),
    text("view", Before),
    number("k", Before, Whole, |row| count(row.k)),
    number("k_found", Before, Whole, |row| count(row.k_found)),
    number("violations", After, Whole, |row| row.violations.map(|v| v as f64)),
    number("objective", After, Real, |row| row.objective),
    number("iterations", After, Whole, |row| count(row.iterations)),
    plain("converged", After, Flag),
    plain("saturated", After, Flag),
    plain("test_classes", After, Whole),
    text("status", After),
    text("message", After),
    plain("seeded", Journal, Flag),
    text("version", After),
    plain("diagnostics", Journal, Nested),
    plain("labels", Journal, Nested),
    plain("weights", Journal, Nested),
    number("time_select_s", Last, Real, |row| row.time_select_s),
    number("time_cluster_s", Last, Real, |row| row.time_cluster_s),
    number("time_total_s", Last, Real, |row| row.time_total_s),
];

/// True if a name belongs to every row, so that no metric's column can have it.
pub(crate) fn is_fixed_column(name: &str) -> bool {
    FIELDS.iter().any(|f| f.name == name)
}

/// The numbers of a row that a report can summarise, in addition to scores and diagnostics.
pub fn counted() -> impl Iterator<Item = &'static str> {
    FIELDS.iter().filter(|f| f.number.is_some()).map(|f| f.name)
}

impl Row {
    /// The number in a column: a score, one of [`counted`], or what the clusterer reports of itself.
    pub fn number(&self, column: &str) -> Option<f64> {
        if let Some(score) = self.scores.get(column) {
            return *score;
        }
        match FIELDS.iter().find(|f| f.name == column).and_then(|f| f.number) {
            Some(get) => get(self),
            None => self.diagnostics.get(column).copied(),
        }
    }
}

/// Columns with the origin of a row, not its content.
const PLACE: [&str; 5] = ["experiment", "identity", "dataset", "method", "version"];

/// A column in which two rows differ, with both values.
pub(crate) type Difference = (String, Value, Value);

/// The columns in which two rows of one cell differ; times aside, and what only one of them holds
/// (labels that were kept, a metric that was added) as well.
pub(crate) fn differences(a: &Row, b: &Row) -> Vec<Difference> {
    let (mut a, b) = (fields(a), fields(b));
    let mut out = Vec::new();
    for (column, there) in b {
        let Some(here) = a.remove(&column) else { continue };
        if PLACE.contains(&column.as_str()) || column.starts_with("time_") {
            continue;
        }
        // As text: -0 is not 0 here.
        if canonical(&here) != canonical(&there) {
            out.push((column, here, there));
        }
    }
    out
}

fn fields(row: &Row) -> Map<String, Value> {
    match serde_json::to_value(row) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_fields_covers_the_row() {
        let diagnostics = BTreeMap::from([("rounds".to_string(), 2.0)]);
        let weights = Some(FeatureWeights { features: Vec::new(), rows: Vec::new() });
        let labels = Some(vec![1]);
        let row = Row { labels, diagnostics, weights, seeded: Some(true), ..Row::default() };
        assert_eq!(row.number("rounds"), Some(2.0));
        assert!(is_fixed_column("labels") && !is_fixed_column("rounds"));
        let value = serde_json::to_value(&row).unwrap();
        let mut fields: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
        fields.sort_unstable();
        let mut listed: Vec<&str> = FIELDS.iter().map(|f| f.name).collect();
        listed.sort_unstable();
        assert_eq!(fields, listed);
    }

    #[test]
    fn every_number_of_a_row_is_the_one_in_its_column() {
        let row = Row {
            queries: Some(1),
            cost: Some(2.0),
            inferred: Some(3),
            dont_know: Some(4),
            answers_contradicting: Some(15),
            constraints_used: Some(16),
            constraints_must: Some(5),
            constraints_cannot: Some(6),
            k: Some(7),
            k_found: Some(8),
            violations: Some(9),
            objective: Some(10.0),
            iterations: Some(11),
            time_select_s: Some(12.0),
            time_cluster_s: Some(13.0),
            time_total_s: Some(14.0),
            ..Row::default()
        };
        let value = serde_json::to_value(&row).unwrap();
        for name in counted() {
            assert_eq!(row.number(name), value[name].as_f64(), "{name}");
        }
        assert_eq!(counted().count(), 16);
    }
}
