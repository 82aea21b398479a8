//! Results of several machines, put together.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mustlink_core::{Error, Result};
use mustlink_datasets::data_error;
use serde_json::Value;

use crate::cell_file::{CellFile, has_failed, is_cut_off};
use crate::config::Experiment;
use crate::config::stored::{self, Stored};
use crate::data::Facts;
use crate::grid::PlanLine;
use crate::journal::{self, Journal, Who};
use crate::results::finished;
use crate::row::{Row, RowStatus, differences};

/// Number of differing cells that are listed.
const NAMED: usize = 5;

/// Result of a merge.
#[derive(Debug)]
pub struct Merged {
    /// Cells written.
    pub cells: usize,
    /// Cells that more than one directory had, each time with the same bits, or cut off by time or memory.
    pub shared: usize,
    /// Cells that failed in one directory and did not in another, whose rows were taken.
    pub mended: usize,
    /// Report settings of a part that differ from those of the first part: a line for each such part. The settings
    /// of the first part are used.
    pub not_taken: Vec<String>,
}

/// Merges the results of shards, or of parts of a study, into the new directory `out`.
///
/// The parts may differ in data sets, methods and numbers of repeats. Cells that several of them
/// have must agree bit for bit, except for times; a successful cell replaces a failed one. A merge that
/// was interrupted, by a full disk for example, is completed by the same call.
///
/// # Errors
/// `Data` with a name for parts that do not belong to one study, cells that differ, files that
/// were changed, an `out` that already holds other results.
pub fn merge(parts: &[PathBuf], out: &Path) -> Result<Merged> {
    let studies: Vec<Stored> = parts.iter().map(|p| stored::read(p)).collect::<Result<_>>()?;
    let Some(first) = studies.first() else {
        return Err(Error::Usage("nothing to merge: give result directories".into()));
    };
    let config = joined(&studies, parts)?;
    let name = out.join(stored::FILE).display().to_string();
    let mut experiment = Experiment::parse(&name, &config.to_string(), &first.base, &[])?;
    experiment.varied = studies.iter().flat_map(|s| s.varied.clone()).collect();
    let lines = cells_of(&experiment, &studies, parts)?;
    let Gathered { cells, shared, mended, wrong } = gathered(&lines, parts)?;
    if !wrong.is_empty() {
        let more = wrong.len().saturating_sub(NAMED);
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        let message = format!(
            "cells that should agree bit for bit do not: {}{more}; mustlink diff shows the rest; leave out \
             the part that is wrong",
            wrong[..wrong.len().min(NAMED)].join("; ")
        );
        return Err(data_error(out.display(), message));
    }
    if holds_other(out, &experiment, &first.metrics, &cells)? {
        return Err(data_error(out.display(), "holds results already; choose another --out"));
    }
    let journal = Journal::open(out, &experiment, Who::Alone)?;
    for (identity, file) in &cells {
        journal.put(identity, file)?;
    }
    stored::write(&journal.folder, &experiment, &first.metrics, &lines)?;
    let mut data: Vec<Facts> = Vec::new();
    for facts in parts.iter().flat_map(|dir| journal::read_data(dir)) {
        // Cells of other data have other identities, and were refused above.
        if data.iter().all(|f| f.dataset != facts.dataset) {
            data.push(facts);
        }
    }
    journal.write_data(&data)?;
    finished(out)?.write_csv(out)?;
    Ok(Merged { cells: cells.len(), shared, mended, not_taken: not_taken(&studies, parts) })
}

/// The configuration of all parts together; there is one at least.
///
/// # Errors
/// `Data` for a part of another study.
fn joined(studies: &[Stored], parts: &[PathBuf]) -> Result<Value> {
    let (first, first_dir) = (&studies[0], &parts[0]);
    let mut config = first.config.clone();
    for (study, dir) in studies.iter().zip(parts).skip(1) {
        let mut differs = stored::differences(&config, &study.config);
        for (section, key) in [("curve", "points"), ("scoring", "metrics")] {
            if config[section][key] != study.config[section][key] {
                differs.push(format!("{section}.{key}"));
            }
        }
        if differs.is_empty() && first.metrics != study.metrics {
            differs.push("versions or code of metrics".into());
        }
        if !differs.is_empty() {
            stored::shorten(&mut differs);
            let message = format!(
                "is not a part of the study in {} ({}); parts may differ in data sets, methods and repeats",
                first_dir.display(),
                differs.join("; ")
            );
            return Err(data_error(dir.display(), message));
        }
        join(&mut config, &study.config);
    }
    Ok(config)
}

/// Report settings of parts that differ from the first.
fn not_taken(studies: &[Stored], parts: &[PathBuf]) -> Vec<String> {
    let (first, first_dir) = (&studies[0], parts[0].display());
    let others = studies.iter().zip(parts).skip(1);
    let lines = others.filter_map(|(study, dir)| {
        let mut differs = stored::report_differences(&first.config, &study.config);
        stored::shorten(&mut differs);
        let dir = dir.display();
        (!differs.is_empty())
            .then(|| format!("{dir}: {}; what {first_dir} has there is taken", differs.join("; ")))
    });
    lines.collect()
}

/// The cells of all parts, in the order of the experiment.
///
/// # Errors
/// `Data` for a part in which a cell is another than in those before.
fn cells_of(
    experiment: &Experiment,
    studies: &[Stored],
    parts: &[PathBuf],
) -> Result<Vec<PlanLine>> {
    let mut lines: BTreeMap<(usize, usize, usize, usize), PlanLine> = BTreeMap::new();
    for (study, dir) in studies.iter().zip(parts) {
        for line in journal::read_plan(dir, study)? {
            let at =
                |id: &str, ids: Vec<&str>| ids.iter().position(|i| *i == id).unwrap_or(ids.len());
            let key = (
                at(&line.dataset, experiment.datasets.iter().map(|d| &*d.id).collect()),
                at(&line.method, experiment.methods.iter().map(|m| &*m.id).collect()),
                line.repeat,
                line.fold,
            );
            match lines.get(&key) {
                Some(other) if other.identity != line.identity => {
                    let what = "is another cell here than in the parts before: its data, the files it \
                                names, or the versions or the code of its plugins differ";
                    return Err(data_error(dir.display(), format!("{line} {what}")));
                }
                _ => drop(lines.insert(key, line)),
            }
        }
    }
    Ok(lines.into_values().collect())
}

/// The files of the cells, one of each.
struct Gathered<'a> {
    cells: BTreeMap<&'a str, CellFile>,
    shared: usize,
    mended: usize,
    /// Places at which parts do not agree.
    wrong: Vec<String>,
}

/// Reads the cells of all parts; of several files of one cell that without an error.
///
/// # Errors
/// `Data` for a file that is not as it was written.
fn gathered<'a>(lines: &'a [PlanLine], parts: &[PathBuf]) -> Result<Gathered<'a>> {
    let mut cells: BTreeMap<&str, CellFile> = BTreeMap::new();
    let (mut shared, mut mended) = (0, 0);
    let mut wrong = Vec::new();
    for line in lines {
        if cells.contains_key(&*line.identity) {
            continue;
        }
        let mut found: Option<(CellFile, &Path)> = None;
        for dir in parts {
            let Some(file) = journal::read_cell(dir, &line.identity)? else { continue };
            let Some((mine, from)) = &mut found else {
                found = Some((file, dir));
                continue;
            };
            match (has_failed(&mine.rows), has_failed(&file.rows)) {
                (true, false) => {
                    (*mine, *from) = (file, dir);
                    mended += 1;
                }
                (false, true) => mended += 1,
                _ => match first_difference(mine, &file) {
                    None => {
                        shared += 1;
                        let mut other = file;
                        // Of two that failed, that which went further.
                        if failures(&other) < failures(mine) {
                            std::mem::swap(mine, &mut other);
                            *from = dir;
                        }
                        take_labels(mine, &other);
                        mine.keep(other);
                    }
                    Some(what) => wrong.push(format!(
                        "{line}: {what} in {} and {}",
                        from.display(),
                        dir.display()
                    )),
                },
            }
        }
        if let Some((file, _)) = found {
            cells.insert(&line.identity, file);
        }
    }
    Ok(Gathered { cells, shared, mended, wrong })
}

/// Gives the rows of a cell the labels that another part kept of them.
fn take_labels(mine: &mut CellFile, other: &CellFile) {
    let without = |row: &&mut Row| row.status == RowStatus::Ok && row.labels.is_none();
    for row in mine.rows.iter_mut().filter(without) {
        let same = other.rows.iter().find(|o| o.p_requested == row.p_requested);
        row.labels = same.and_then(|o| o.labels.clone());
    }
}

/// True if `out` holds anything but what this merge writes into it.
fn holds_other(
    out: &Path,
    experiment: &Experiment,
    metrics: &BTreeMap<String, String>,
    cells: &BTreeMap<&str, CellFile>,
) -> Result<bool> {
    for identity in journal::files(out)? {
        match journal::read_cell(out, &identity) {
            Ok(Some(there)) if cells.get(&*identity) == Some(&there) => {}
            _ => return Ok(true),
        }
    }
    if !out.join(stored::FILE).exists() {
        return Ok(false);
    }
    let same = |there: Stored| there.config == *experiment.resolved() && there.metrics == *metrics;
    Ok(!stored::read(out).is_ok_and(same))
}

/// Adds what another part has.
fn join(config: &mut Value, other: &Value) {
    for kind in ["dataset", "method"] {
        let theirs = other[kind].as_array().cloned().unwrap_or_default();
        if let Some(ours) = config[kind].as_array_mut() {
            for entry in theirs {
                if ours.iter().all(|o| o["id"] != entry["id"]) {
                    ours.push(entry);
                }
            }
        }
    }
    for plugin in other["plugins"].as_array().into_iter().flatten() {
        match config["plugins"].as_array_mut() {
            Some(ours) if ours.contains(plugin) => {}
            Some(ours) => ours.push(plugin.clone()),
            None => config["plugins"] = Value::Array(vec![plugin.clone()]),
        }
    }
    let repeats = |v: &Value| v["split"]["repeats"].as_u64().unwrap_or(1);
    if repeats(other) > repeats(config) {
        config["split"]["repeats"] = repeats(other).into();
    }
}

/// Rows that failed with an error or ran out of time.
fn failures(file: &CellFile) -> usize {
    file.rows.iter().filter(|row| row.status != RowStatus::Ok).count()
}

/// First difference of two files of a cell, apart from rows that were cut off in one of them.
fn first_difference(a: &CellFile, b: &CellFile) -> Option<String> {
    a.rows.iter().find_map(|x| {
        let y = b.rows.iter().find(|y| y.p_requested == x.p_requested)?;
        if is_cut_off(x) || is_cut_off(y) {
            return None;
        }
        let (column, here, there) = differences(x, y).into_iter().next()?;
        let at = x.p_requested.map_or(String::new(), |p| format!(" at {p} queries"));
        Some(format!("{column}{at} is {here} and {there}"))
    })
}
