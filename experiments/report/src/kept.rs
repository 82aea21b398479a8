//! Which claims held when the experiments of a folder were run? Verdicts that are kept beside their files.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use mustlink_core::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::report::report;
use crate::verdicts::Judgement;
use mustlink_experiments::Experiment;
use mustlink_experiments::io;

/// One claim on one data set, as it is kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Line {
    criterion: String,
    verdict: String,
    /// Empty where the claim is about all together.
    dataset: String,
    /// yes, no, or empty without results.
    holds: String,
    numbers: String,
    statement: String,
    /// What the run changed of its file.
    changed: String,
}

fn fail(place: &Path) -> impl Fn(csv::Error) -> Error + '_ {
    |e| Error::Data { place: place.display().to_string(), message: e.to_string() }
}

/// The verdicts of a results directory as CSV, with what its run changed of the file of the same name in
/// `folder`.
///
/// # Errors
/// As [`report`]; the file is not there or cannot be read.
pub fn kept_verdicts(dir: &Path, folder: &Path) -> Result<Vec<u8>> {
    let report = report(dir)?;
    let ran = Experiment::from_directory(dir)?;
    let file = Experiment::load(&folder.join(format!("{}.toml", ran.head.name)), &[])?;
    let mut changed = file.differences(&ran);
    let repeats = (file.split.repeats(), ran.split.repeats());
    if repeats.0 != repeats.1 {
        changed.push(format!("split.repeats {} → {}", repeats.0, repeats.1));
    }
    if let Some(limit) = ran.run.cell_timeout_s {
        changed.push(format!("cells end after {limit} s"));
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    for verdict in &report.verdicts {
        for f in &verdict.findings {
            let line = Line {
                criterion: verdict.criterion.id.clone(),
                verdict: verdict.judgement.name().into(),
                dataset: f.dataset.clone(),
                holds: f.holds.map_or("", |h| if h { "yes" } else { "no" }).into(),
                numbers: f.numbers.clone(),
                statement: verdict.criterion.statement.clone(),
                changed: changed.join("; "),
            };
            writer.serialize(line).map_err(fail(dir))?;
        }
    }
    writer
        .into_inner()
        .map_err(|e| Error::Data { place: dir.display().to_string(), message: e.to_string() })
}

/// The page of a folder of experiments: a line for each, then its claims, from the verdicts kept in its
/// folder `verdicts`.
///
/// # Errors
/// `Data` for a file that cannot be read.
pub fn verdicts_page(folder: &Path) -> Result<String> {
    let names = |dir: &Path, ending: &str| -> Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(dir).map_err(io(dir))? {
            let name = entry.map_err(io(dir))?.file_name().to_string_lossy().into_owned();
            names.extend(name.strip_suffix(ending).map(str::to_string));
        }
        names.sort();
        Ok(names)
    };
    let kept = folder.join("verdicts");
    let mut text = String::from(
        "# Verdicts\n\nEach experiment of this folder runs with `mustlink run NAME.toml`; its claims are in the \
         file. This page is written by `mustlink verdicts RESULTS... --save FOLDER` from the results of runs, \
         kept under `verdicts/`.\n\n\
         | experiment | claims | reproduced | partly | not reproduced | no data | changed for this run |\n\
         |---|---|---|---|---|---|---|\n",
    );
    let mut claims = String::new();
    let with_verdicts = names(&kept, ".csv")?;
    for name in names(folder, ".toml")? {
        if !with_verdicts.contains(&name) {
            let _ = writeln!(
                text,
                "| [{name}]({name}.toml) | – | – | – | – | – | not run in full yet |"
            );
            continue;
        }
        let file = Experiment::load(&folder.join(format!("{name}.toml")), &[])?;
        let why = |id: &str| {
            let criterion = file.criteria.iter().find(|c| c.id == id);
            criterion.and_then(|c| c.why.as_deref()).unwrap_or_default()
        };
        let path = kept.join(format!("{name}.csv"));
        let mut reader = csv::Reader::from_path(&path).map_err(fail(&path))?;
        let lines: Vec<Line> =
            reader.deserialize().collect::<std::result::Result<_, _>>().map_err(fail(&path))?;
        let mut order: Vec<&str> = Vec::new();
        let mut by: BTreeMap<&str, Vec<&Line>> = BTreeMap::new();
        for line in &lines {
            if !by.contains_key(&*line.criterion) {
                order.push(&line.criterion);
            }
            by.entry(&line.criterion).or_default().push(line);
        }
        let count = |j: Judgement| by.values().filter(|l| l[0].verdict == j.name()).count();
        let changed = lines.first().map_or("", |l| &*l.changed);
        let _ = writeln!(
            text,
            "| [{name}](#{name}) | {} | {} | {} | {} | {} | {} |",
            order.len(),
            count(Judgement::Reproduced),
            count(Judgement::Partly),
            count(Judgement::NotReproduced),
            count(Judgement::NoData),
            cell(changed)
        );
        let _ = writeln!(
            claims,
            "\n## {name}\n\n| claim | verdict | numbers | why not |\n|---|---|---|---|"
        );
        for id in order {
            let numbers: Vec<String> = by[id]
                .iter()
                .map(|l| match (&*l.dataset, &*l.holds) {
                    ("", _) => l.numbers.clone(),
                    (set, "") => format!("{set}: {}", l.numbers),
                    (set, holds) => format!("{set} ({holds}): {}", l.numbers),
                })
                .collect();
            let first = by[id][0];
            let fails = first.verdict == Judgement::NotReproduced.name();
            let _ = writeln!(
                claims,
                "| {}: {} | {} | {} | {} |",
                cell(id),
                cell(&first.statement),
                first.verdict,
                cell(&numbers.join("; ")),
                cell(if fails { why(id) } else { "" })
            );
        }
    }
    Ok(text + &claims)
}

/// A cell of a table of Markdown.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
