//! What is written down about one curve point of one cell?
//!
//! A [`Row`]. Rows are JSON lines in the journal and lines of `results.csv`; a missing value is null
//! there and empty here, never NaN.

use std::collections::BTreeMap;

use mustlink::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How a row came about.
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
    /// Whether the clusterer came to rest.
    pub converged: Option<bool>,
    /// The selector had fewer questions than the point asks for.
    pub saturated: Option<bool>,
    /// Classes among the objects scored.
    pub test_classes: Option<usize>,
    /// How it went.
    pub status: RowStatus,
    /// The error, or what the method warned of.
    pub message: Option<String>,
    /// Version of the program.
    pub version: String,
    /// What the clusterer tells of itself (journal only).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub diagnostics: BTreeMap<String, f64>,
    /// Labels of all objects, where they are kept (journal only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<Vec<u32>>,
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

/// The numbers of a row that a report can summarise, beside scores and diagnostics.
pub(crate) const COUNTED: [&str; 14] = [
    "queries",
    "cost",
    "inferred",
    "dont_know",
    "constraints_must",
    "constraints_cannot",
    "k",
    "k_found",
    "violations",
    "objective",
    "iterations",
    "time_select_s",
    "time_cluster_s",
    "time_total_s",
];

impl Row {
    /// The number in a column: a score, one of [`COUNTED`], or what the clusterer tells.
    pub(crate) fn number(&self, column: &str) -> Option<f64> {
        if let Some(score) = self.scores.get(column) {
            return *score;
        }
        let count = |c: Option<usize>| c.map(|c| c as f64);
        match column {
            "queries" => count(self.queries),
            "cost" => self.cost,
            "inferred" => count(self.inferred),
            "dont_know" => count(self.dont_know),
            "constraints_must" => count(self.constraints_must),
            "constraints_cannot" => count(self.constraints_cannot),
            "k" => count(self.k),
            "k_found" => count(self.k_found),
            "violations" => self.violations.map(|v| v as f64),
            "objective" => self.objective,
            "iterations" => count(self.iterations),
            "time_select_s" => self.time_select_s,
            "time_cluster_s" => self.time_cluster_s,
            "time_total_s" => self.time_total_s,
            other => self.diagnostics.get(other).copied(),
        }
    }
}

/// The columns before the metrics.
const BEFORE: [&str; 24] = [
    "experiment",
    "identity",
    "dataset",
    "target",
    "n",
    "d",
    "classes",
    "method",
    "clusterer",
    "selector",
    "oracle",
    "ensemble",
    "repeat",
    "fold",
    "p_requested",
    "queries",
    "cost",
    "inferred",
    "dont_know",
    "constraints_must",
    "constraints_cannot",
    "view",
    "k",
    "k_found",
];
/// The columns after the metrics.
const AFTER: [&str; 9] = [
    "violations",
    "objective",
    "iterations",
    "converged",
    "saturated",
    "test_classes",
    "status",
    "message",
    "version",
];
/// The columns that differ between runs, last.
pub(crate) const TIMES: [&str; 3] = ["time_select_s", "time_cluster_s", "time_total_s"];

/// Every name a metric column cannot have.
pub(crate) const FIXED: [&str; 38] = [
    "experiment",
    "identity",
    "dataset",
    "target",
    "n",
    "d",
    "classes",
    "method",
    "clusterer",
    "selector",
    "oracle",
    "ensemble",
    "repeat",
    "fold",
    "p_requested",
    "queries",
    "cost",
    "inferred",
    "dont_know",
    "constraints_must",
    "constraints_cannot",
    "view",
    "k",
    "k_found",
    "violations",
    "objective",
    "iterations",
    "converged",
    "saturated",
    "test_classes",
    "status",
    "message",
    "version",
    "diagnostics",
    "labels",
    "time_select_s",
    "time_cluster_s",
    "time_total_s",
];

/// Rows as CSV, in the order given, time columns last.
pub(crate) fn to_csv(rows: &[Row], metrics: &[String]) -> Result<Vec<u8>> {
    let fail = |e: &dyn std::fmt::Display| Error::Data {
        place: "results.csv".into(),
        message: e.to_string(),
    };
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut columns: Vec<&str> = BEFORE.to_vec();
    columns.extend(metrics.iter().map(String::as_str));
    columns.extend(AFTER);
    columns.extend(TIMES);
    writer.write_record(&columns).map_err(|e| fail(&e))?;
    for row in rows {
        let value = serde_json::to_value(row).map_err(|e| fail(&e))?;
        let cells = columns.iter().map(|c| match value.get(*c) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(s)) => s.clone(),
            Some(other) => other.to_string(),
        });
        writer.write_record(cells).map_err(|e| fail(&e))?;
    }
    writer.into_inner().map_err(|e| fail(&e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_cover_the_row() {
        let diagnostics = BTreeMap::from([("rounds".to_string(), 2.0)]);
        let row = Row { labels: Some(vec![1]), diagnostics, ..Row::default() };
        assert_eq!(row.number("rounds"), Some(2.0));
        assert!(COUNTED.iter().all(|c| FIXED.contains(c)));
        let value = serde_json::to_value(&row).unwrap();
        let mut fields: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
        fields.sort_unstable();
        let mut fixed = FIXED.to_vec();
        fixed.sort_unstable();
        assert_eq!(fields, fixed);
        let mut columns: Vec<&str> =
            [&BEFORE[..], &AFTER, &TIMES, &["diagnostics", "labels"]].concat();
        columns.sort_unstable();
        assert_eq!(columns, fixed);
    }

    #[test]
    fn json_and_csv_keep_every_digit() {
        let scores =
            BTreeMap::from([("ari".to_string(), Some(0.1 + 0.2)), ("vi".to_string(), None)]);
        let row = Row {
            dataset: "a, \"b\"".into(),
            cost: Some(3.0),
            scores,
            labels: Some(vec![0, 1]),
            ..Row::default()
        };
        let line = serde_json::to_string(&row).unwrap();
        assert_eq!(serde_json::from_str::<Row>(&line).unwrap(), row);
        let csv = to_csv(&[row], &["ari".into(), "vi".into()]).unwrap();
        let mut reader = csv::Reader::from_reader(&csv[..]);
        let names = reader.headers().unwrap().clone();
        let record = reader.records().next().unwrap().unwrap();
        let get = |name: &str| &record[names.iter().position(|n| n == name).unwrap()];
        assert_eq!((get("ari"), get("vi"), get("cost")), ("0.30000000000000004", "", "3.0"));
        assert_eq!(get("dataset"), "a, \"b\"");
    }
}
