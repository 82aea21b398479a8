//! What does a reader get to see?
//!
//! Everything here is derived from the journal and can be made again at any time: `results.csv`
//! with every row, `summary.csv` with every mean, the figures with their numbers, a page that holds
//! all of it, and a table for the terminal.

mod columns;
mod curves;
mod figure;
mod heat_map;
mod page;
mod paper;
mod ranks;
mod significance;
mod table;
mod verdicts;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use mustlink::Result;

pub(crate) use self::curves::CellRows;
pub use self::curves::{CurveSummary, PointSummary};
use self::figure::Figure;
pub use self::significance::{Comparison, Significance};
pub use self::verdicts::{Finding, Judgement, Verdict};
use crate::build::Here;
use crate::cell_file::Wanted;
use crate::config::Experiment;
use crate::config::stored::{self, Stored};
use crate::grid::PlanLine;
use crate::identity;
use crate::journal::{self, io, write_whole};
use crate::row::{self, Row, RowStatus};

/// What a report is made of.
#[derive(Debug, Clone)]
pub struct Report {
    /// The results directory.
    pub dir: PathBuf,
    /// Cells of the experiment.
    pub cells: usize,
    /// Cells that are finished.
    pub finished: usize,
    /// Cells with an error or out of time.
    pub failed: usize,
    /// The files are of an earlier form, which has nothing to check them by.
    pub unchecked: bool,
    /// Cells whose rows another build made.
    pub stale: usize,
    /// The code of these cells that is another now: plugins by tag, files by path, `mustlink` for the
    /// framework.
    pub changed: BTreeSet<String>,
    /// The table for the terminal.
    pub table: String,
    /// Every summarised curve, in config order.
    pub curves: Vec<CurveSummary>,
    /// What became of the criteria, in config order.
    pub verdicts: Vec<Verdict>,
    /// What differs over all data sets, metric by metric.
    pub significance: Vec<Significance>,
    /// The page.
    pub page: PathBuf,
}

/// Makes tables, figures and the page of a results directory anew.
///
/// # Errors
/// `Data` when it is no results directory, a cell file is damaged, or nothing can be written.
pub fn report(dir: &Path) -> Result<Report> {
    let experiment = Experiment::from_directory(dir)?;
    let (stored, plan, cells) = read_cells(dir, &experiment)?;
    let rows: Vec<Row> = cells.iter().flat_map(|c| c.rows.iter().cloned()).collect();
    write_whole(&dir.join("results.csv"), ".part", &row::to_csv(&rows, experiment.columns())?)?;
    let curves = curves::summarise(&experiment, &cells);
    write_whole(&dir.join("summary.csv"), ".part", &curves::to_csv(&curves)?)?;
    let verdicts = verdicts::judge(&experiment, &cells);
    if !verdicts.is_empty() {
        write_whole(&dir.join("verdicts.csv"), ".part", &verdicts::to_csv(&verdicts)?)?;
    }
    let significance = significance::of(&experiment, &curves);
    if !significance.is_empty() {
        let csv = significance::to_csv(&significance)?;
        write_whole(&dir.join("statistics.csv"), ".part", &csv)?;
    }
    let stale = cells.iter().filter(|c| !c.changed.is_empty()).count();
    let changed: BTreeSet<String> = cells.iter().flat_map(|c| c.changed.iter().cloned()).collect();
    let mut names = BTreeSet::new();
    let figures = draw(dir, &experiment, &curves, &mut names)?;
    let weights = draw_weights(dir, &cells, &mut names)?;
    let ranks = draw_ranks(dir, &significance, &mut names)?;
    let tables = [
        ("tables.md", paper::markdown(&experiment, &curves)),
        ("tables.tex", paper::latex(&experiment, &curves)),
    ];
    for (name, text) in tables {
        write_whole(&dir.join(name), ".part", text.as_bytes())?;
    }
    let failed: Vec<&Row> =
        cells.iter().filter_map(|c| c.rows.iter().find(|r| r.status != RowStatus::Ok)).collect();
    let page = page::Contents {
        finished: cells.len(),
        cells: plan.len(),
        stale,
        changed: &changed,
        curves: &curves,
        verdicts: &verdicts,
        significance: &significance,
        figures: &figures,
        weights: &weights,
        ranks: &ranks,
        failed: &failed,
        dir,
    };
    let page = page::page(&experiment, &page);
    let report = Report {
        dir: dir.to_path_buf(),
        cells: plan.len(),
        finished: cells.len(),
        failed: failed.len(),
        unchecked: stored.plan.is_none(),
        stale,
        changed,
        table: table::table(&experiment, &curves, &verdicts),
        verdicts,
        significance,
        page: dir.join("report.html"),
        curves,
    };
    write_whole(&report.page, ".part", page.as_bytes())?;
    Ok(report)
}

/// What is stored in a results directory, its list of cells, and the rows of those that have all
/// that the experiment asks for.
///
/// # Errors
/// `Data` with the file that is not as it was written.
pub(crate) fn read_cells(
    dir: &Path,
    experiment: &Experiment,
) -> Result<(Stored, Vec<PlanLine>, Vec<CellRows>)> {
    let stored = stored::read(dir)?;
    let plan = journal::read_plan(dir, &stored)?;
    let wanted = Wanted {
        points: experiment.points.numbers().ok(),
        metrics: stored.metrics.clone(),
        any_build: true,
    };
    let mut here = Here::at(experiment.base());
    let metrics = identity::of_metrics(experiment)?;
    let mut cells = Vec::new();
    for line in &plan {
        let mut changed = BTreeSet::new();
        let mut rows: Vec<Row> = if stored.plan.is_some() {
            let Some(file) = journal::read_cell(dir, &line.identity)? else { continue };
            let (rows, missing) = file.select(&wanted);
            if !missing.is_empty() {
                continue;
            }
            changed = here.changed(&file.build);
            let other = wanted.metrics.keys().filter(|c| file.metrics.get(*c) != metrics.get(*c));
            changed.extend(other.cloned());
            rows.into_iter().cloned().collect()
        } else {
            let file = journal::read_cell_unchecked(dir, &line.identity)?;
            file.map(|f| f.rows).unwrap_or_default()
        };
        for row in &mut rows {
            // Cells with equal settings share a file, whatever they are called.
            row.experiment.clone_from(&experiment.head.name);
            row.dataset.clone_from(&line.dataset);
            row.method.clone_from(&line.method);
        }
        if rows.is_empty() {
            continue;
        }
        let (dataset, method) = (line.dataset.clone(), line.method.clone());
        cells.push(CellRows { dataset, method, repeat: line.repeat, rows, changed });
    }
    Ok((stored, plan, cells))
}

/// One figure per data set and metric, with exactly its numbers beside it.
fn draw(
    dir: &Path,
    experiment: &Experiment,
    curves: &[CurveSummary],
    names: &mut BTreeSet<String>,
) -> Result<Vec<Figure>> {
    let mut out = Vec::new();
    for dataset in &experiment.datasets {
        for (metric, direction) in experiment.measured().iter().zip(columns::directions(experiment))
        {
            let mine: Vec<&CurveSummary> =
                curves.iter().filter(|c| c.dataset == dataset.id && c.metric == *metric).collect();
            let y_name = match direction {
                None => metric.clone(),
                Some(true) => format!("{metric} (more is better)"),
                Some(false) => format!("{metric} (less is better)"),
            };
            let range = columns::range(experiment, metric);
            let drawn = figure::learning_curve(&dataset.id, &y_name, range, &mine);
            let Some(svg) = drawn else { continue };
            let numbers = curves::to_csv(mine.iter().copied())?;
            out.push(save(dir, &format!("{}-{metric}", dataset.id), svg, &numbers, names)?);
        }
    }
    Ok(out)
}

/// One heat map per data set and method that learned weights of features.
fn draw_weights(
    dir: &Path,
    cells: &[CellRows],
    names: &mut BTreeSet<String>,
) -> Result<Vec<Figure>> {
    let drawn = heat_map::learned(cells).into_iter().map(|learned| {
        let name = format!("{}-{}-weights", learned.dataset, learned.method);
        // Of all features, those that are not drawn included.
        let numbers = mustlink_datasets::weights_csv(learned.weights)?;
        save(dir, &name, heat_map::heat_map(&learned), &numbers, names)
    });
    drawn.collect()
}

/// One critical-difference diagram per metric.
fn draw_ranks(
    dir: &Path,
    all: &[Significance],
    names: &mut BTreeSet<String>,
) -> Result<Vec<Figure>> {
    let drawn = all.iter().map(|s| {
        save(dir, &format!("ranks-{}", s.metric), ranks::diagram(s), &ranks::csv(s), names)
    });
    drawn.collect()
}

/// Writes a figure and its numbers under a name of its own.
fn save(
    dir: &Path,
    name: &str,
    svg: String,
    numbers: &[u8],
    names: &mut BTreeSet<String>,
) -> Result<Figure> {
    let folder = dir.join("figures");
    let mut name = file_name(name);
    while !names.insert(name.clone()) {
        name.push('_');
    }
    std::fs::create_dir_all(&folder).map_err(io(&folder))?;
    write_whole(&folder.join(format!("{name}.svg")), ".part", svg.as_bytes())?;
    write_whole(&folder.join(format!("{name}.csv")), ".part", numbers)?;
    Ok(Figure { name, svg })
}

fn file_name(text: &str) -> String {
    let keep = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    text.chars().map(keep).collect()
}
