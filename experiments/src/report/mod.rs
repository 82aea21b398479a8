//! What does a reader get to see?
//!
//! Everything here is derived from the journal and can be made again at any time: `results.csv`
//! with every row, `summary.csv` with every mean, the tables for a paper, the figures with their
//! numbers, a page that holds all of it, and a table for the terminal.

mod columns;
mod curves;
mod drawings;
mod figure;
mod heat_map;
mod learning_curve;
mod moved;
mod page;
mod paragraph;
mod ranks;
mod samples;
mod scatter;
mod sheet;
mod significance;
mod supervision;
mod table;
mod tables;
mod verdicts;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use mustlink::Result;

use self::columns::Made;
pub(crate) use self::curves::CellRows;
pub use self::curves::{CurveSummary, PointSummary};
use self::sheet::Sheet;
pub use self::significance::{Comparison, Significance};
pub use self::verdicts::{Finding, Judgement, Verdict};
use crate::cell_file::Wanted;
use crate::citation::{self, Used};
use crate::config::Experiment;
use crate::config::stored::{self, Stored};
use crate::grid::PlanLine;
use crate::identity;
use crate::identity::Here;
use crate::journal::{self, write_whole};
#[cfg(feature = "parquet")]
use crate::parquet_file;
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
    let write = |name: &str, content: &[u8]| write_whole(&dir.join(name), ".part", content);
    let rows: Vec<Row> = cells.iter().flat_map(|c| c.rows.iter().cloned()).collect();
    write("results.csv", &row::to_csv(&rows, experiment.columns())?)?;
    #[cfg(feature = "parquet")]
    write(parquet_file::FILE, &parquet_file::to_parquet(&rows, experiment.columns())?)?;
    let curves = curves::summarise(&experiment, &cells);
    let results = samples::results(&experiment, &cells);
    let correction = samples::correction(&experiment, &results);
    let verdicts = verdicts::judge(&experiment, &results);
    if !verdicts.is_empty() {
        write("verdicts.csv", &verdicts::to_csv(&verdicts)?)?;
    }
    let significance = significance::of(&experiment, &curves);
    let summary = curves::to_csv(&curves)?;
    let statistics =
        if significance.is_empty() { Vec::new() } else { significance::to_csv(&significance)? };
    // Before what it compares with is overwritten.
    let moved = moved::since_last(dir, &summary, &statistics)?;
    write("summary.csv", &summary)?;
    if !significance.is_empty() {
        write("statistics.csv", &statistics)?;
    }
    let supervision = supervision::compare(&experiment, &results, correction);
    if !supervision.benefits.is_empty() {
        write("supervision.csv", &supervision.to_csv())?;
    }
    let made = Made { curves: &curves, results: &results, correction };
    let scores = tables::scores(&experiment, &made);
    let across: Vec<Sheet> = significance.iter().map(|s| s.sheet(&experiment)).collect();
    let costs = tables::costs(&experiment, &made);
    let hurt = supervision.sheet(&experiment);
    let sheets = || {
        let scores = scores.iter().flat_map(|s| &s.sheets);
        scores.chain(&across).chain(&costs).chain(&hurt)
    };
    let (latex, markdown) = (sheet::latex(sheets()), sheet::markdown(sheets()));
    write("tables.tex", latex.as_bytes())?;
    write("tables.md", markdown.as_bytes())?;
    let mut figures = drawings::draw(&experiment, &made, &significance, &cells)?;
    figure::save(dir, &mut figures.all_mut(), &experiment.plot.formats)?;
    let stale = cells.iter().filter(|c| !c.changed.is_empty()).count();
    let changed: BTreeSet<String> = cells.iter().flat_map(|c| c.changed.iter().cloned()).collect();
    let failed: Vec<(&str, &Row)> = cells
        .iter()
        .filter_map(|c| {
            let row = c.rows.iter().find(|r| r.status != RowStatus::Ok)?;
            Some((c.identity.as_str(), row))
        })
        .collect();
    let data = journal::read_data(dir);
    let (bibtex, without_entry) = citation::bibtex(&Used::of(&experiment)?);
    let page = page::Contents {
        dir,
        finished: cells.len(),
        cells: plan.len(),
        stale,
        changed: &changed,
        scores: &scores,
        across: &across,
        costs: &costs,
        moved: &moved,
        supervision: &supervision,
        verdicts: &verdicts,
        figures: &figures,
        failed: &failed,
        data: &data,
        paragraph: &paragraph::paragraph(
            &experiment,
            &data,
            &significance,
            (cells.len(), plan.len()),
        ),
        bibtex: &bibtex,
        without_entry: &without_entry,
        latex: &latex,
        markdown: &markdown,
        summary: &summary,
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
            row.options = experiment.varied_options(&line.method);
        }
        if rows.is_empty() {
            continue;
        }
        let (dataset, method) = (line.dataset.clone(), line.method.clone());
        let identity = line.identity.clone();
        cells.push(CellRows { dataset, method, identity, repeat: line.repeat, rows, changed });
    }
    Ok((stored, plan, cells))
}
