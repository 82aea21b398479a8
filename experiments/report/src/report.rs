//! The page of the report.
//!
//! Everything here is derived from the journal and can be made again at any time: `results.csv`
//! with every row, `summary.csv` with the means at every point, `areas.csv` with the mean heights of
//! curves, the tables for a paper, the figures with their numbers, a page that holds all of it, and a
//! table for the terminal.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use mustlink_core::Result;
use mustlink_experiments::results::{Finished, finished};
use mustlink_experiments::row::{Row, RowStatus};
use mustlink_experiments::{remove, write_whole};

use crate::citation::{self, Used};
use crate::columns::Made;
use crate::curves::CurveSummary;
#[cfg(feature = "parquet")]
use crate::parquet_file;
use crate::sheet::Sheet;
use crate::significance::Significance;
use crate::verdicts::Verdict;
use crate::{
    curves, drawings, figure, headline, labels, moved, page, paragraph, samples, sheet,
    significance,
};
use crate::{statistics_file, supervision, table, tables, uncompared, verdicts};

/// A report: its page, and the numbers on it.
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
    /// Cells whose rows another build made.
    pub stale: usize,
    /// The code of these cells that is another now: plugins by tag, files by path, `mustlink` for the
    /// framework.
    pub changed: BTreeSet<String>,
    /// The table for the terminal.
    pub table: String,
    /// Every summarised curve, in config order.
    pub curves: Vec<CurveSummary>,
    /// Verdicts on the criteria, in config order.
    pub verdicts: Vec<Verdict>,
    /// Differences over all data sets, metric by metric.
    pub significance: Vec<Significance>,
    /// The page.
    pub page: PathBuf,
}

/// Makes tables, figures and the page of a results directory again.
///
/// # Errors
/// `Data` when it is not a results directory, a cell file is damaged, or nothing can be written.
pub fn report(dir: &Path) -> Result<Report> {
    let finished = finished(dir)?;
    let write = |name: &str, content: &[u8]| write_whole(&dir.join(name), ".part", content);
    // What is left of an earlier report would speak of methods and claims that are in the file no more.
    let write_if = |any: bool, name: &str, content: &[u8]| {
        if any { write(name, content) } else { remove(&dir.join(name)) }
    };
    finished.write_csv(dir)?;
    #[cfg(feature = "parquet")]
    parquet_file::write(dir, &finished)?;
    let Finished { experiment, planned, mut cells, mut data } = finished;
    let mut curves = curves::summarise(&experiment, &cells);
    let mut results = samples::results(&experiment, &cells);
    let correction = samples::correction(&results);
    let verdicts = verdicts::judge(&experiment, &results);
    let verdict_file = verdicts::to_csv(&verdicts)?;
    write_if(!verdicts.is_empty(), "verdicts.csv", &verdict_file)?;
    let correlation = samples::correlation_of_folds(&experiment);
    let mut significance = significance::of(&experiment, &curves, &results, correlation);
    let summary = curves::to_csv(&curves)?;
    let statistics =
        if significance.is_empty() { Vec::new() } else { statistics_file::to_csv(&significance)? };
    // Before what it compares with is overwritten.
    let mut moved = moved::since_last(dir, &summary, &statistics, cells.len() >= planned)?;
    write("summary.csv", &summary)?;
    let areas = curves.iter().any(|curve| curve.points.len() > 1);
    let area_file = curves::areas_to_csv(&curves);
    write_if(areas, "areas.csv", &area_file)?;
    write_if(!significance.is_empty(), "statistics.csv", &statistics)?;
    let mut supervision = supervision::compare(&experiment, &results, correction);
    let compared = !supervision.benefits.is_empty();
    let supervision_file = supervision.to_csv();
    write_if(compared, "supervision.csv", &supervision_file)?;
    let unlabelled = (experiment.clone(), curves.clone(), significance.clone());
    labels::apply(
        &experiment.plot,
        &mut curves,
        &mut results,
        &mut significance,
        &mut supervision,
        &mut moved,
        (&mut cells[..], &mut data[..]),
    );
    let experiment = experiment.labelled();
    let made = Made { curves: &curves, results: &results, correction };
    let mut scores = tables::scores(&experiment, &made);
    let mut across: Vec<Sheet> = significance.iter().map(Significance::sheet).collect();
    let mut costs = tables::costs(&experiment, &made);
    let mut hurt = supervision.sheet(&experiment);
    let unknown = tables::unknown_records(&experiment, &cells);
    for (record, why) in &unknown {
        let sheets = scores.iter_mut().filter(|s| s.metric == *record).flat_map(|s| &mut s.sheets);
        sheets.for_each(|sheet| sheet.note += why);
    }
    let unfinished = (cells.len() < planned).then(|| tables::unfinished(cells.len(), planned));
    if let Some(note) = &unfinished {
        let sheets = scores.iter_mut().flat_map(|s| &mut s.sheets).chain(&mut across);
        sheets.chain(&mut costs).chain(&mut hurt).for_each(|sheet| sheet.note += note);
    }
    let sheets = || {
        let scores = scores.iter().flat_map(|s| &s.sheets);
        scores.chain(&across).chain(&costs).chain(&hurt)
    };
    let (latex, markdown) = (sheet::latex(sheets()), sheet::markdown(sheets()));
    write("tables.tex", latex.as_bytes())?;
    write("tables.md", markdown.as_bytes())?;
    let mut figures = drawings::draw(&experiment, &made, &significance, &cells)?;
    figure::save(dir, &mut figures.all_mut(), &experiment.plot)?;
    let stale = cells.iter().filter(|c| !c.changed.is_empty()).count();
    let changed: BTreeSet<String> = cells.iter().flat_map(|c| c.changed.iter().cloned()).collect();
    let failed: Vec<(&str, &Row)> = cells
        .iter()
        .filter_map(|c| {
            let row = c.rows.iter().find(|r| r.status != RowStatus::Ok)?;
            Some((c.identity.as_str(), row))
        })
        .collect();
    let paragraph = paragraph::paragraph(&experiment, &data, &significance, (cells.len(), planned));
    let (bibtex, without_entry) = citation::bibtex(&Used::of(&experiment)?, &paragraph);
    let uncompared = uncompared::sentences(&experiment, &curves, &significance);
    let headline =
        headline::headline(&experiment, &made, &significance, &supervision, &failed, cells.len());
    let files = [
        (true, "summary.csv", "the means at every point", summary),
        (areas, "areas.csv", "the mean heights of curves", area_file),
        (!significance.is_empty(), "statistics.csv", "all tests over data sets", statistics),
        (
            compared,
            "supervision.csv",
            "scores with answers compared with scores without",
            supervision_file,
        ),
        (!verdicts.is_empty(), "verdicts.csv", "the claims", verdict_file),
    ];
    let files = files.into_iter().filter(|f| f.0).map(|(_, name, about, text)| (name, about, text));
    let files: Vec<_> = files.collect();
    let page = page::Contents {
        dir,
        headline: &headline,
        finished: cells.len(),
        cells: planned,
        unfinished: unfinished.as_deref(),
        stale,
        changed: &changed,
        scores: &scores,
        across: &across,
        uncompared: &uncompared,
        costs: &costs,
        moved: &moved,
        supervision: &supervision,
        verdicts: &verdicts,
        figures: &figures,
        failed: &failed,
        data: &data,
        paragraph: &paragraph,
        bibtex: &bibtex,
        without_entry: &without_entry,
        latex: &latex,
        markdown: &markdown,
        files: &files,
        all_failed: curves.iter().flat_map(|c| &c.points).any(|p| p.failed > 0 && p.scored == 0),
    };
    let page = page::page(&experiment, &page);
    let (experiment, curves, significance) = unlabelled;
    let notes: Vec<&str> = unknown.iter().map(|u| &*u.1).chain(unfinished.as_deref()).collect();
    let report = Report {
        dir: dir.to_path_buf(),
        cells: planned,
        finished: cells.len(),
        failed: failed.len(),
        stale,
        changed,
        table: table::table(&experiment, &curves, &verdicts, &notes),
        verdicts,
        significance,
        page: dir.join("report.html"),
        curves,
    };
    figure::remove_others(dir, &report.page, &page)?;
    write_whole(&report.page, ".part", page.as_bytes())?;
    Ok(report)
}
