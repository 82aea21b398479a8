//! The candidates that a method tried, as a table and as files.

use std::collections::BTreeSet;
use std::path::Path;

use mustlink::clustering::Tried;
use mustlink::config::resolve_plugin;
use mustlink::prelude::*;
use mustlink::registry::Catalogue;
use mustlink::text::count;
use mustlink_datasets::{write_rows, write_text};
use serde::Serialize;
use serde_json::{Map, json};

use crate::failure::Failure;
use crate::files::make_folder;
use crate::job::Job;
use crate::term;
use crate::toml_text::as_toml;
use crate::verbs::score::shown;

/// A candidate in a summary.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    name: String,
    k: usize,
    score: Option<f64>,
    error: Option<f64>,
    weight: f64,
    outcome: String,
    seconds: f64,
}

/// The candidates that were tried, the best first.
pub(crate) fn rows(tried: &[Tried]) -> Vec<Row> {
    let row = |t: &&Tried| Row {
        name: t.name.clone(),
        k: t.k,
        score: t.score,
        error: t.error,
        weight: t.weight,
        outcome: t.outcome.clone(),
        seconds: t.seconds,
    };
    in_order(tried).iter().map(row).collect()
}

fn in_order(tried: &[Tried]) -> Vec<&Tried> {
    let mut order: Vec<&Tried> = tried.iter().collect();
    let score = |t: &Tried| t.score.unwrap_or(-1.0);
    order.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(score(b).total_cmp(&score(a))));
    order
}

/// For people: how many were tried, by how many constraints, and which ones made the result.
pub(crate) fn lines(made: &Clustering, constraints: usize) -> Vec<(&'static str, String)> {
    let tried = &made.extras.tried;
    if tried.is_empty() {
        return Vec::new();
    }
    let of = |name: &str| made.extras.diagnostics.get(name).copied();
    let order = in_order(tried);
    let ks: BTreeSet<usize> = tried.iter().map(|t| t.k).collect();
    let names: BTreeSet<&str> = tried.iter().map(|t| &*t.name).collect();
    let mut text = count(names.len(), "method");
    if let (Some(first), Some(last)) = (ks.first(), ks.last())
        && first != last
    {
        text += &format!(", for {first} to {last} clusters");
    }
    let failed = tried.iter().filter(|t| t.outcome.starts_with("failed")).count();
    let late = tried.iter().filter(|t| t.outcome.ends_with("no time left")).count();
    text += &term::counted(&[(failed, "of them failed"), (late, "left out for time")]);
    text += match (order[0].score, constraints) {
        (Some(_), 0) => "; no constraint, so scored by how well they agree with one another",
        (Some(_), _) => "; scored by constraints that were held back from them",
        (None, _) => "; nothing to choose by",
    };
    let mut lines = vec![("tried", text)];
    if constraints > 0
        && let (Some(score), Some(error)) = (of("score"), of("score_error"))
    {
        let part = format!("{} ± {}", shown(Some(score)), shown(Some(error)));
        lines.push((
            "score",
            match of("score_at_least") {
                Some(least) => format!(
                    "at least {} expected on other pairs ({part} with a part of the constraints)",
                    shown(Some(least))
                ),
                None => {
                    format!(
                        "{part} expected on other pairs, after correction for choosing the best"
                    )
                }
            },
        ));
    }
    let score = |(score, error)| format!(" {} ± {}", shown(Some(score)), shown(Some(error)));
    let score = order[0].score.zip(order[0].error).map(score);
    let best = order[0].name.clone() + &score.unwrap_or_default();
    match tried.iter().filter(|t| t.weight > 0.0).count() {
        0 => {}
        1 => lines.push(("chosen", best)),
        n => lines.push(("combined", format!("{}, first {best}", count(n, "method")))),
    }
    lines
}

/// Refuses before the work a method in which nothing tries others.
pub(crate) fn check(job: &Job) -> std::result::Result<(), Failure> {
    let clusterer = job.method.clusterer.as_ref();
    let attempts = clusterer.map(|c| c.attempts(&job.problem.shape()));
    if attempts.is_some_and(|a| !a.is_empty()) { Ok(()) } else { Err(none(job)) }
}

/// The error about a method that tries no other methods.
pub(crate) fn none(job: &Job) -> Failure {
    let text = "tries no other methods; auto does";
    Failure::usage(format!("--out-candidates: {} {text}", job.clusterer()))
}

/// The files that [`write`] writes.
pub(crate) const FILES: [&str; 3] = ["candidates.csv", "labels.csv", "method.toml"];

/// Writes what `job` tried into `folder`: `candidates.csv` with scores, `labels.csv` with the clustering of each
/// that was run to the end, row by row of the data as they were read, and `method.toml`, which clusters with
/// those that made the result alone.
///
/// # Errors
/// `Data` for what cannot be written.
pub(crate) fn write(folder: &Path, tried: &[Tried], job: &Job, k: usize) -> Result<()> {
    make_folder(folder)?;
    let path = |name: &str| folder.join(name).display().to_string();
    let order = in_order(tried);
    let number = |x: Option<f64>| x.map(|x| x.to_string()).unwrap_or_default();
    let mut table = vec![
        ["candidate", "name", "k", "score", "error", "weight", "seconds", "outcome"]
            .map(String::from)
            .to_vec(),
    ];
    table.extend(order.iter().enumerate().map(|(at, t)| {
        vec![
            at.to_string(),
            t.name.clone(),
            t.k.to_string(),
            number(t.score),
            number(t.error),
            t.weight.to_string(),
            format!("{:.3}", t.seconds),
            t.outcome.clone(),
        ]
    }));
    write_rows(&path(FILES[0]), &table)?;
    // Rows that were merged or dropped first stand in it, too.
    let finished = order
        .iter()
        .enumerate()
        .filter_map(|(at, t)| Some((at, t.labels.as_ref().filter(|l| l.len() == job.set.n())?)));
    let finished: Vec<(usize, Vec<u32>)> = finished
        .map(|(at, labels)| (at, job.shown(Clustering::from_labels(labels.clone())).labels))
        .collect();
    let head = finished.iter().map(|(at, _)| at.to_string());
    let head: Vec<String> = std::iter::once("id".to_string()).chain(head).collect();
    let row = |i: usize| -> Vec<String> {
        let label = |labels: &[u32]| {
            let label = job.object(i).map(|object| labels[object as usize]);
            label.filter(|&l| l != NONE).map_or(String::new(), |l| l.to_string())
        };
        let labels = finished.iter().map(|(_, labels)| label(labels));
        std::iter::once(job.original.id(i)).chain(labels).collect()
    };
    write_rows(&path(FILES[1]), std::iter::once(head).chain((0..job.original.n()).map(row)))?;
    write_text(&path(FILES[2]), &method(&order, &job.config, k))
}

/// A method file with what made the result: one method, or `auto` with these alone and its own options. What
/// `config` does to the data before anything is tried comes first.
fn method(order: &[&Tried], config: &Value, k: usize) -> String {
    let made: Vec<Value> =
        order.iter().filter(|t| t.weight > 0.0).map(|t| brief(&t.method)).collect();
    let mut file = match &made[..] {
        [one] => one.clone(),
        _ => {
            let mut auto = match &config["clusterer"] {
                own if own["type"] == "auto" => brief(own),
                _ => json!({ "type": "auto" }),
            };
            auto["candidates"] = json!(made);
            json!({ "clusterer": auto })
        }
    };
    let before = brief(&config["transforms"]);
    let steps = [&before, &file["transforms"]].into_iter().filter_map(Value::as_array);
    let steps: Vec<Value> = steps.flatten().cloned().collect();
    if !steps.is_empty() {
        file["transforms"] = json!(steps);
    }
    file["k"] = k.into();
    as_toml(&file)
}

/// A configuration without options that are at their defaults.
fn brief(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(brief).collect(),
        Value::Object(table) => {
            let tag = table.get("type").and_then(Value::as_str);
            let descriptor = tag.and_then(|t| Catalogue::get().ok()?.find(t));
            let default = descriptor
                .and_then(|d| resolve_plugin(&d.default_config()).ok())
                .unwrap_or_default();
            let kept = |(key, value): &(&String, &Value)| {
                *key == "type" || default.get(key.as_str()) != Some(value) && !value.is_null()
            };
            let entries = table.iter().filter(kept).map(|(key, value)| (key.clone(), brief(value)));
            Value::Object(entries.filter(|(_, v)| *v != json!([])).collect::<Map<_, _>>())
        }
        plain => plain.clone(),
    }
}
