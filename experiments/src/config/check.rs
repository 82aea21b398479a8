//! Checks of an experiment that no schema can express.

use std::collections::BTreeSet;

use mustlink_config::Node;
use mustlink_core::error::Diagnostic;
use mustlink_core::text::count;

use super::criterion;
use super::experiment::Experiment;
use super::file::{MAX_POINTS, Points, Range};
use super::method::{MethodSpec, SOME_CLASSES};
use crate::hash::canonical;
use crate::verdict::{Names, instead};

/// More cells than this are refused before they are laid out.
const MAX_CELLS: usize = 1_000_000;

/// Every complaint, each with its place, among them those about the methods.
pub(super) fn complaints(
    experiment: &Experiment,
    root: &Node,
    about_methods: Vec<Diagnostic>,
) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    judge_datasets(experiment, root, &mut out);
    if experiment.methods.is_empty() {
        out.push(root.diagnostic("method", "needs at least one method"));
    }
    out.extend(about_methods);
    judge_scores(experiment, root, &mut out);
    judge_size(experiment, root, &mut out);
    judge_curve(experiment, root, &mut out);
    out
}

fn judge_datasets(experiment: &Experiment, root: &Node, out: &mut Vec<Diagnostic>) {
    if experiment.datasets.is_empty() {
        out.push(root.diagnostic("dataset", "needs at least one data set"));
    }
    let entries = root.get("dataset").map_or(&[][..], Node::items);
    let mut seen = BTreeSet::new();
    for (at, (dataset, node)) in experiment.datasets.iter().zip(entries).enumerate() {
        let path = format!("dataset[{at}].id");
        unique(&dataset.id, node, &path, &mut seen, out);
        if dataset.path.is_some() && dataset.source.is_some() {
            let message = "cannot be combined with path, which gives the file itself";
            let at_source = node.get("source").unwrap_or(node);
            out.push(at_source.diagnostic(&format!("dataset[{at}].source"), message));
        }
        // Any number will do here and below: only properties are read.
        match dataset.build_transforms(Some(SOME_CLASSES)) {
            Ok(steps) => {
                for (t, step) in
                    steps.iter().enumerate().filter(|(_, s)| s.properties().reads_constraints)
                {
                    let tag = step.typetag_name();
                    let path = format!("dataset[{at}].transforms[{t}]");
                    let message = format!("{tag} reads constraints; put it under [[method]]");
                    out.push(node.diagnostic(&path, message));
                }
            }
            Err(e) => out.push(node.diagnostic(&format!("dataset[{at}].transforms"), e)),
        }
    }
}

/// Metrics and records, and the names in claims and of methods that others are compared with.
fn judge_scores(experiment: &Experiment, root: &Node, out: &mut Vec<Diagnostic>) {
    if experiment.scoring.metrics.is_empty() {
        let node = root.get("scoring").unwrap_or(root);
        out.push(node.diagnostic("scoring.metrics", "needs at least one metric"));
    }
    judge_metrics(experiment, root, out);
    for (at, name) in experiment.stats.records.iter().enumerate() {
        if experiment.columns.contains(name) || experiment.stats.records[..at].contains(name) {
            let node = root.get("stats").unwrap_or(root);
            out.push(node.diagnostic("stats.records", format!("\"{name}\" comes twice")));
        }
    }
    let ids = || experiment.methods.iter().map(|m| m.id.as_str());
    let named = [
        ("plot", "baseline", &experiment.plot.baseline),
        ("stats", "control", &experiment.stats.control),
    ];
    for (section, key, id) in named {
        let Some(id) = id.as_deref().filter(|id| !ids().any(|m| m == *id)) else { continue };
        let node = root.get(section).unwrap_or(root);
        let node = node.get(key).unwrap_or(node);
        let near = instead(id, ids());
        let message = format!("no method has the id \"{id}\"{near}");
        out.push(node.diagnostic(&format!("{section}.{key}"), message));
    }
    judge_labels(experiment, root, out);
    let columns = experiment.number_columns();
    let names = Names {
        columns: columns.iter().map(String::as_str).collect(),
        methods: experiment.methods.iter().map(|m| m.id.as_str()).collect(),
        datasets: experiment.datasets.iter().map(|d| d.id.as_str()).collect(),
    };
    let criteria = root.get("criterion").map_or(&[][..], Node::items);
    out.extend(criterion::complaints(&experiment.criteria, &names, |at, key, message| {
        let node = criteria.get(at).unwrap_or(root);
        let path = format!("criterion[{at}].{key}");
        node.get(key).unwrap_or(node).diagnostic(&path, message)
    }));
}

/// Labels of ids that do not exist, and labels that would give two methods, metrics or data sets one name.
fn judge_labels(experiment: &Experiment, root: &Node, out: &mut Vec<Diagnostic>) {
    let labels = &experiment.plot.labels;
    let lists: [Vec<&str>; 3] = [
        experiment.methods.iter().map(|m| m.id.as_str()).collect(),
        experiment.columns.iter().map(String::as_str).collect(),
        experiment.datasets.iter().map(|d| d.id.as_str()).collect(),
    ];
    let shown = |id: &str| labels.get(id).map_or(id, String::as_str).to_string();
    for (id, label) in labels {
        let all = || lists.iter().flatten().copied();
        let is_name_of_another = |other: &str| other != id && shown(other) == *label;
        let message = if !all().any(|other| other == id) {
            let near = instead(id, all());
            format!("no method, metric or data set has the id \"{id}\"{near}")
        } else if lists.iter().any(|list| {
            list.contains(&id.as_str()) && list.iter().any(|other| is_name_of_another(other))
        }) {
            format!("\"{label}\" would stand for two; choose another label")
        } else {
            continue;
        };
        let node = root.get("plot").unwrap_or(root);
        let node = node.get("labels").unwrap_or(node);
        out.push(node.get(id).unwrap_or(node).diagnostic(&format!("plot.labels.{id}"), message));
    }
}

/// A score that is named twice, with the same options, is the same column twice.
fn judge_metrics(experiment: &Experiment, root: &Node, out: &mut Vec<Diagnostic>) {
    let node = root.get("scoring").and_then(|scoring| scoring.get("metrics")).unwrap_or(root);
    let mut seen = BTreeSet::new();
    for (at, metric) in experiment.scoring.metrics.iter().enumerate() {
        let config = serde_json::to_value(metric).unwrap_or_default();
        if !seen.insert(canonical(&config)) {
            let message = format!(
                "\"{}\" comes twice with the same options; name it once",
                metric.typetag_name()
            );
            let item = node.items().get(at).unwrap_or(node);
            out.push(item.diagnostic(&format!("scoring.metrics[{at}]"), message));
        }
    }
}

fn judge_size(experiment: &Experiment, root: &Node, out: &mut Vec<Diagnostic>) {
    let split = &experiment.split;
    let counts =
        [experiment.datasets.len(), experiment.methods.len(), split.repeats(), split.folds()];
    if counts.iter().map(|c| *c as f64).product::<f64>() > MAX_CELLS as f64 {
        let [sets, methods, repeats, folds] = counts;
        let (sets, methods) = (count(sets, "data set"), count(methods, "method"));
        let message = format!(
            "{sets} × {methods} × {repeats} repeats × {folds} folds are more than \
             {MAX_CELLS} cells; make a study of each part"
        );
        out.push(root.get("split").unwrap_or(root).diagnostic("split", message));
    }
}

fn judge_curve(experiment: &Experiment, root: &Node, out: &mut Vec<Diagnostic>) {
    let curve = root.get("curve").unwrap_or(root);
    let complain = |message: String| curve.diagnostic("curve.points", message);
    match experiment.points.numbers() {
        Ok(points) if points.len() > MAX_POINTS => {
            out.push(complain(format!("a curve has at most {MAX_POINTS} points")));
        }
        Ok(points) if points.is_empty() => out.push(complain(match &experiment.points {
            Points::Range(Range { from, to, .. }) => {
                format!("needs at least one point, got from = {from} above to = {to}")
            }
            _ => "needs at least one point".into(),
        })),
        Ok(points) if points.windows(2).any(|w| w[0] >= w[1]) => {
            let falls = points.windows(2).filter(|w| w[0] >= w[1]).take(1);
            let said: String = falls.map(|w| format!("{} before {}", w[0], w[1])).collect();
            out.push(complain(format!("must ascend, each point once, got {said}")));
        }
        Ok(_) if root.get("curve").is_none() && experiment.methods.iter().any(MethodSpec::asks) => {
            out.push(complain("missing, but methods ask; for example points = [0, 10, 20]".into()));
        }
        Ok(_) => {}
        Err(id) => match experiment.methods.iter().find(|m| m.id == id) {
            Some(m) if m.config.get("selector").is_none() => {
                out.push(complain(format!("from_run({id}): that method asks nothing")));
            }
            Some(_) => {}
            None => {
                let near = instead(id, experiment.methods.iter().map(|m| m.id.as_str()));
                let whole =
                    matches!(&experiment.points, Points::FromRun(text) if text.trim() == id);
                out.push(complain(if whole {
                    format!(
                        "must be a list, a table {{ from, to, step }} or \"from_run(<method id>)\", got \"{id}\"{near}"
                    )
                } else {
                    format!("from_run({id}): no method has the id \"{id}\"{near}")
                }));
            }
        },
    }
}

/// Complains of an id that is empty, has control characters, or comes twice.
pub(super) fn unique(
    id: &str,
    node: &Node,
    path: &str,
    seen: &mut BTreeSet<String>,
    out: &mut Vec<Diagnostic>,
) {
    if id.trim().is_empty() {
        out.push(node.diagnostic(path, "must not be empty"));
    } else if id.chars().any(char::is_control) {
        // In tables of a line a row, of a terminal, of LaTeX and of Markdown.
        let message = format!("must have no line breaks and control characters, got {id:?}");
        out.push(node.diagnostic(path, message));
    } else if !seen.insert(id.to_string()) {
        out.push(node.diagnostic(path, format!("\"{id}\" comes twice; ids are unique")));
    }
}
