//! The claims of an experiment that also hold for a baseline.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use mustlink::{Error, Result};
use mustlink_experiments::{Experiment, Points, RunOptions, run};
use mustlink_report::{Judgement, Verdict, report};
use serde_json::{Value, json};

use crate::markdown::cell;

/// Points of the curve if a file takes them from another method's run.
const POINTS: [usize; 3] = [0, 50, 100];

/// Runs each file with k-means in place of every method and random pairs in place of its questions. Such a claim that
/// holds says nothing about the methods that it names. Results go to folders of `out`.
///
/// Returns the table of these claims, and how many have no reason in their file.
///
/// # Errors
/// Returns the errors of [`Experiment::load`], [`run`] and [`report`].
pub fn null(files: &[PathBuf], sets: &[String], out: &Path) -> Result<(String, usize)> {
    let mut table = String::from(
        "| experiment | claim that holds without the method | on | because |\n|---|---|---|---|\n",
    );
    let mut without_reason = 0;
    for file in files {
        let experiment = Experiment::load(file, sets)?;
        let name = &experiment.head.name;
        let folder = file.file_stem().unwrap_or_default().to_string_lossy().into_owned() + "-null";
        let out = out.join(folder);
        run(&plain(&experiment)?, &RunOptions::to(&out))?;
        let made = report(&out)?;
        let about = about_methods(&experiment);
        let holds = |v: &&Verdict| matches!(v.judgement, Judgement::Reproduced | Judgement::Partly);
        let held =
            made.verdicts.iter().filter(|v| about.contains(&v.criterion.id.as_str())).filter(holds);
        for verdict in held {
            let on = verdict.findings.iter().filter(|f| f.holds == Some(true));
            let on: Vec<&str> = on.map(|f| f.dataset.as_str()).collect();
            let claim = cell(&format!("{}: {}", verdict.criterion.id, verdict.criterion.statement));
            let reason = cell(verdict.criterion.null.as_deref().unwrap_or_default());
            without_reason += usize::from(reason.is_empty());
            let _ = writeln!(table, "| {name} | {claim} | {} | {reason} |", on.join(", "));
        }
    }
    Ok((table, without_reason))
}

/// The experiment with k-means on random pairs as every method. k-means keeps the distance of the clusterer it
/// replaces.
fn plain(experiment: &Experiment) -> Result<Experiment> {
    let mut config = experiment.resolved().clone();
    config["experiment"]["name"] = json!(format!("{}-null", experiment.head.name));
    config["method"].as_array_mut().into_iter().flatten().for_each(plain_method);
    if let Points::FromRun(_) = experiment.points {
        config["curve"] = json!({ "points": POINTS });
    }
    let text = toml::to_string(&mustlink::config::without_null(&config))
        .map_err(|e| Error::Usage(e.to_string()))?;
    Experiment::parse("null", &text, experiment.base(), &[])
}

fn plain_method(method: &mut Value) {
    let Some(map) = method.as_object_mut() else { return };
    let distortion = map.get("clusterer").and_then(|c| c.get("distortion")).cloned();
    let mut kmeans = json!({ "type": "kmeans" });
    if let Some(distortion) = distortion {
        kmeans["distortion"] = distortion;
    }
    map.insert("clusterer".into(), kmeans);
    if map.get("selector").is_some_and(|s| !s.is_null()) {
        map.insert("selector".into(), json!({ "type": "random_pairs" }));
    }
    if map.get("k").is_none_or(|k| k == "unknown") {
        map.insert("k".into(), json!("classes"));
    }
}

/// The criteria about a method, not about the data alone.
fn about_methods(experiment: &Experiment) -> Vec<&str> {
    let names =
        |text: &String| experiment.methods.iter().any(|m| text.contains(&format!("'{}'", m.id)));
    let criteria = experiment.criteria.iter();
    let about = criteria.filter(|c| c.check.iter().chain(&c.value).any(names));
    about.map(|c| c.id.as_str()).collect()
}
