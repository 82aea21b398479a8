//! The configuration that a results directory holds, and what differs from another one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use mustlink_config::{Document, without_null};
use mustlink_core::options::below;
use mustlink_core::{Error, Result};
use mustlink_datasets::data_error;
use mustlink_external::parts::scripts;
use serde::Serialize;
use serde_json::{Value, json};

use super::experiment::Experiment;
use crate::folder::Folder;
use crate::hash::{canonical, digest};

/// Its name in a results directory.
pub(crate) const FILE: &str = "config.json";
/// Name of the configuration for readers, next to the stored one.
pub(crate) const TOML: &str = "config.toml";
/// Name of the list of cells.
pub(crate) const PLAN: &str = "cells.csv";

/// Content of the stored configuration.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    /// Folder at which relative paths start.
    pub base: PathBuf,
    /// The resolved configuration.
    pub config: Value,
    /// Columns of scores, and what each depended on when they were made: a later version of a metric
    /// leaves a report of finished cells as it is.
    pub metrics: BTreeMap<String, String>,
    /// Paths of the options that the experiment varies.
    pub varied: BTreeSet<String>,
    /// Descriptions that the plugins in other languages gave of themselves.
    pub scripts: Vec<Value>,
    /// Checksum of the list of cells.
    pub plan: String,
}

fn sources(config: &Value) -> Vec<scripts::Source> {
    serde_json::from_value(config["plugins"].clone()).unwrap_or_default()
}

impl Stored {
    /// An error about what the experiment names; with the way out where its folder, at which relative paths
    /// start, no longer exists.
    pub fn at_base(&self, error: Error) -> Error {
        if self.base.is_dir() {
            return error;
        }
        let message = format!(
            "the folder of the experiment file is missing ({error}); mustlink run with the file at its new place, \
             and the same --out, records that place and computes no cell again"
        );
        data_error(self.base.display(), message)
    }

    /// Makes the plugins in other languages known, by what they said once where they are no more.
    pub fn declare_scripts(&self) {
        for (source, hello) in sources(&self.config).iter().zip(&self.scripts) {
            // What is wrong with one is said where the configuration names it.
            scripts::remember(source, &self.base, hello).ok();
        }
    }
}

/// Writes an experiment and the list of its cells, of which each line names a file. The configuration comes last,
/// because it holds the checksum of the list.
pub(crate) fn write<T: Serialize>(
    folder: &Folder,
    experiment: &Experiment,
    metrics: &BTreeMap<String, String>,
    cells: &[T],
) -> Result<()> {
    let cells = folder.table(PLAN, cells)?;
    folder.write(PLAN, &cells)?;
    folder.write(TOML, experiment.resolved_toml().as_bytes())?;
    let Experiment { base, resolved, varied, .. } = experiment;
    let here = if base.as_os_str().is_empty() { Path::new(".") } else { base };
    let base = fs::canonicalize(here).unwrap_or_else(|_| base.clone());
    let sum = digest(canonical(resolved).as_bytes());
    // With these a report can be made after the plugins were removed.
    let hellos: Vec<_> = sources(resolved).iter().map(|s| scripts::hello(s, &base)).collect();
    let mut value = json!({
        "format": 2, "base": base, "config": resolved, "metrics": metrics, "checksum": sum,
        "cells": digest(&cells), "scripts": hellos,
    });
    if !varied.is_empty() {
        value["varied"] = json!(varied);
    }
    folder.write(FILE, format!("{value:#}\n").as_bytes())
}

/// Checks that a directory may take the results of an experiment. It may hold no results yet, or results of this
/// experiment, also with other data sets, methods, metrics, points or numbers of repeats.
///
/// # Errors
/// `Data` when existing rows would change their meaning, or when the configuration cannot be read.
pub(crate) fn check_same(dir: &Path, resolved: &Value) -> Result<()> {
    let there = match read(dir) {
        Ok(there) => there.config,
        Err(_) if !dir.join(FILE).exists() => return Ok(()),
        Err(e) => return Err(e),
    };
    let mut differs = differences(&there, resolved);
    if differs.is_empty() {
        return Ok(());
    }
    let named = differs.iter().any(|d| d.starts_with("method") || d.starts_with("dataset"));
    let way = if named { ", or give what changed an id of its own" } else { ", or remove it" };
    shorten(&mut differs);
    let differs = differs.join("; ");
    let message =
        format!("holds the results of another experiment ({differs}); choose another --out{way}");
    Err(data_error(dir.display(), message))
}

/// Folder at which relative paths of the experiment file at `path` start: its own folder or, for the unchanged
/// configuration in a results directory, the folder at which those of the run started.
pub(super) fn base_of(path: &Path, document: &Document) -> PathBuf {
    let folder = path.parent().unwrap_or(Path::new(""));
    if path.file_name().is_some_and(|name| name == TOML)
        && let Ok(there) = read(folder)
        && document.root().to_value() == without_null(&there.config)
    {
        return there.base;
    }
    folder.to_path_buf()
}

/// Content of the stored configuration of a directory.
///
/// # Errors
/// `Data` when it is not a results directory, or the file was changed.
pub(crate) fn read(dir: &Path) -> Result<Stored> {
    const AGAIN: &str = "mustlink run with the same file and --out makes it again";
    let path = dir.join(FILE);
    // Where a run has begun there are cells.
    let begun = dir.join("cells").is_dir();
    let bad = |e: &dyn std::fmt::Display| {
        let message = match (begun, path.exists()) {
            (true, true) => format!("damaged: {e}; remove it, and {AGAIN}"),
            (true, false) => format!("{e}; {AGAIN}"),
            (false, _) => format!("{e}; is this a results directory?"),
        };
        data_error(path.display(), message)
    };
    let text = fs::read_to_string(&path).map_err(|e| bad(&e))?;
    let mut value: Value = serde_json::from_str(&text).map_err(|e| bad(&e))?;
    let base = value["base"].as_str().map(PathBuf::from).ok_or_else(|| bad(&"has no base"))?;
    let config = value["config"].take();
    let scripts = value["scripts"].as_array().cloned().unwrap_or_default();
    let varied = serde_json::from_value(value["varied"].take()).unwrap_or_default();
    let plan = value["cells"].as_str().map(str::to_string);
    let metrics = serde_json::from_value(value["metrics"].take()).ok();
    match plan.zip(metrics) {
        Some((plan, metrics)) if value["checksum"] == digest(canonical(&config).as_bytes()) => {
            Ok(Stored { base, config, metrics, varied, scripts, plan })
        }
        _ => Err(bad(&"its checksum does not fit: something in it was changed")),
    }
}

/// Differences between two resolved configurations that alter the meaning of a row.
///
/// Data sets and methods are compared by their ids; those missing from one of the two do not
/// count, nor do paths of data sets, metrics, the points of a curve and the number of repeats.
pub(crate) fn differences(there: &Value, here: &Value) -> Vec<String> {
    let mut out = Vec::new();
    let (mut there, mut here) = (there.clone(), here.clone());
    for kind in ["dataset", "method"] {
        let (old, new) = (take(&mut there, kind), take(&mut here, kind));
        let list = |v: &Value| v.as_array().cloned().unwrap_or_default();
        for mut a in list(&old) {
            let Some(mut b) = list(&new).into_iter().find(|b| b["id"] == a["id"]) else { continue };
            let place = format!("{kind} {}", a["id"]);
            for side in [&mut a, &mut b] {
                take(side, "optional");
                // Cells are called by what a file holds, wherever it is.
                take(side, "path");
            }
            compare(&a, &b, &place, &mut out);
        }
    }
    for side in [&mut there, &mut here] {
        for section in ["run", "stats", "plot", "criterion", "plugins"] {
            take(side, section);
        }
        for (section, keys) in [
            ("experiment", &["title", "description"][..]),
            ("split", &["repeats"]),
            ("scoring", &["metrics"]),
        ] {
            keys.iter().for_each(|key| drop(take(&mut side[section], key)));
        }
        // Numbers are only which rows there are; another method that decides is another row.
        if !side["curve"]["points"].is_string() {
            side["curve"] = json!({ "points": "numbers" });
        }
    }
    compare(&there, &here, "", &mut out);
    out
}

/// Differences between two resolved configurations that alter only the report, not the rows.
pub(crate) fn report_differences(there: &Value, here: &Value) -> Vec<String> {
    let mut out = Vec::new();
    for section in ["stats", "plot", "criterion"] {
        compare(&there[section], &here[section], section, &mut out);
    }
    for key in ["title", "description"] {
        let text = |config: &Value| config["experiment"][key].as_str().unwrap_or_default().into();
        compare(&text(there), &text(here), &format!("experiment.{key}"), &mut out);
    }
    out
}

fn take(value: &mut Value, key: &str) -> Value {
    value.as_object_mut().and_then(|map| map.remove(key)).unwrap_or_default()
}

impl Experiment {
    /// The settings that alter the meaning of rows and are others in `there`.
    pub fn differences(&self, there: &Experiment) -> Vec<String> {
        differences(self.resolved(), there.resolved())
    }
}

/// Leaves the first three.
pub(crate) fn shorten(differences: &mut Vec<String>) {
    let more = differences.len().saturating_sub(3);
    differences.truncate(3);
    if more > 0 {
        differences.push(format!("and {more} more differences"));
    }
}

fn compare(there: &Value, here: &Value, path: &str, out: &mut Vec<String>) {
    match (there, here) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            for key in keys {
                let null = Value::Null;
                let (a, b) = (a.get(key).unwrap_or(&null), b.get(key).unwrap_or(&null));
                compare(a, b, &below(path, key), out);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (at, (x, y)) in a.iter().zip(b).enumerate() {
                compare(x, y, &format!("{path}[{at}]"), out);
            }
        }
        (a, b) if a == b => {}
        (a, b) => out.push(format!("{path} is {} there and {} here", brief(a), brief(b))),
    }
}

fn brief(v: &Value) -> String {
    match v {
        Value::Null => "absent".into(),
        Value::Array(items) if !items.iter().all(Value::is_number) => {
            format!("a list of {}", items.len())
        }
        Value::Object(map) => match map.get("type").and_then(Value::as_str) {
            Some(tag) => tag.to_string(),
            None => "a table".into(),
        },
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_named() {
        let method = json!({ "id": "m", "w": 1.0, "c": { "type": "a" } });
        let a = json!({ "method": [method], "run": { "threads": 1 }, "experiment": { "seed": 1 } });
        let b = json!({
            "method": [{ "id": "n" }, { "id": "m", "w": 0.5 }],
            "run": { "threads": 2 },
            "experiment": { "seed": 2 },
        });
        assert_eq!(
            differences(&a, &b),
            [
                "method \"m\".c is a there and absent here",
                "method \"m\".w is 1.0 there and 0.5 here",
                "experiment.seed is 1 there and 2 here",
            ]
        );
        assert!(differences(&a, &a).is_empty());
    }

    #[test]
    fn where_data_lie_is_no_difference() {
        let at =
            |path: &str| json!({ "dataset": [{ "id": "a", "path": path, "target": "class" }] });
        assert!(differences(&at("a.csv"), &at("data/a.csv")).is_empty());
        assert_eq!(differences(&at("a.csv"), &json!({ "dataset": [{ "id": "a" }] })).len(), 1);
    }

    #[test]
    fn what_a_study_grows_by_is_no_difference() {
        let study = |ids: &[&str], repeats: usize, points: &[usize], metrics: &[&str]| {
            let list: Vec<Value> = ids.iter().map(|id| json!({ "id": id })).collect();
            json!({
                "dataset": list, "method": list,
                "split": { "type": "kfold", "folds": 2, "repeats": repeats },
                "curve": { "points": points }, "scoring": { "metrics": metrics, "scope": "test" },
            })
        };
        let small = study(&["a", "b"], 2, &[0], &["ari"]);
        let large = study(&["c", "b", "a"], 10, &[0, 5], &["nmi", "ari"]);
        assert!(differences(&small, &large).is_empty() && differences(&large, &small).is_empty());
        let mut other = large.clone();
        other["curve"]["points"] = json!("from_run(a)");
        other["split"]["folds"] = json!(3);
        assert_eq!(
            differences(&small, &other),
            [
                "curve.points is \"numbers\" there and \"from_run(a)\" here",
                "split.folds is 2 there and 3 here",
            ]
        );
    }
}
