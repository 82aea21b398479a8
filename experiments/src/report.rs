//! What does a reader get to see?
//!
//! Everything here is derived from the journal and can be made again at any time: `results.csv`
//! with every row, `summary.csv` with every mean, the figures with their numbers, a page that holds
//! all of it, and a table for the terminal.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};
use mustlink::Result;

use crate::config::Experiment;
use crate::figure::{self, escape, mean_text};
use crate::journal::{self, io, write_whole};
use crate::row::{self, Row, RowStatus};
use crate::stats::{Summary, Unit};
use crate::summary::{self, CellRows, CurveSummary};
use crate::verdict::{self, Verdict};

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
    /// The table for the terminal.
    pub table: String,
    /// Every summarised curve, in config order.
    pub curves: Vec<CurveSummary>,
    /// What became of the criteria, in config order.
    pub verdicts: Vec<Verdict>,
    /// The page.
    pub page: PathBuf,
}

/// At most this many failed cells are listed on the page.
const LISTED: usize = 50;

/// Makes tables, figures and the page of a results directory anew.
///
/// # Errors
/// `Data` when it is no results directory, a cell file is damaged, or nothing can be written.
pub fn report(dir: &Path) -> Result<Report> {
    let experiment = Experiment::from_directory(dir)?;
    let plan = journal::read_plan(dir)?;
    let mut cells = Vec::new();
    for line in &plan {
        let Some(mut rows) = journal::read_cell(dir, &line.identity)? else { continue };
        for row in &mut rows {
            // Cells with equal settings share a file, whatever they are called.
            row.experiment.clone_from(&experiment.head.name);
            row.dataset.clone_from(&line.dataset);
            row.method.clone_from(&line.method);
        }
        let (dataset, method) = (line.dataset.clone(), line.method.clone());
        cells.push(CellRows { dataset, method, repeat: line.repeat, rows });
    }
    let rows: Vec<Row> = cells.iter().flat_map(|c| c.rows.iter().cloned()).collect();
    write_whole(&dir.join("results.csv"), ".part", &row::to_csv(&rows, experiment.columns())?)?;
    let curves = summary::summarise(&experiment, &cells);
    write_whole(&dir.join("summary.csv"), ".part", &summary::to_csv(&curves)?)?;
    let verdicts = verdict::judge(&experiment, &cells);
    if !verdicts.is_empty() {
        write_whole(&dir.join("verdicts.csv"), ".part", &verdict::to_csv(&verdicts)?)?;
    }
    let figures = draw(dir, &experiment, &curves)?;
    let failed: Vec<&Row> =
        cells.iter().filter_map(|c| c.rows.iter().find(|r| r.status != RowStatus::Ok)).collect();
    let report = Report {
        dir: dir.to_path_buf(),
        cells: plan.len(),
        finished: cells.len(),
        failed: failed.len(),
        table: table(&experiment, &curves, &verdicts),
        verdicts,
        page: dir.join("report.html"),
        curves,
    };
    let page = page(&experiment, &report, &figures, &failed);
    write_whole(&report.page, ".part", page.as_bytes())?;
    Ok(report)
}

struct Figure {
    name: String,
    svg: String,
}

/// One figure per data set and metric, with exactly its numbers beside it.
fn draw(dir: &Path, experiment: &Experiment, curves: &[CurveSummary]) -> Result<Vec<Figure>> {
    let folder = dir.join("figures");
    let mut out = Vec::new();
    let mut names = BTreeSet::new();
    for dataset in &experiment.datasets {
        for (metric, direction) in experiment.measured().iter().zip(directions(experiment)) {
            let mine: Vec<&CurveSummary> =
                curves.iter().filter(|c| c.dataset == dataset.id && c.metric == *metric).collect();
            let y_name = match direction {
                None => metric.clone(),
                Some(true) => format!("{metric} (more is better)"),
                Some(false) => format!("{metric} (less is better)"),
            };
            let Some(svg) = figure::learning_curve(&dataset.id, &y_name, &mine) else { continue };
            let mut name = file_name(&format!("{}-{metric}", dataset.id));
            while !names.insert(name.clone()) {
                name.push('_');
            }
            std::fs::create_dir_all(&folder).map_err(io(&folder))?;
            write_whole(&folder.join(format!("{name}.svg")), ".part", svg.as_bytes())?;
            let numbers = summary::to_csv(mine.iter().copied())?;
            write_whole(&folder.join(format!("{name}.csv")), ".part", &numbers)?;
            out.push(Figure { name, svg });
        }
    }
    Ok(out)
}

/// Whether more is better, per metric; of other numbers nobody can say.
fn directions(experiment: &Experiment) -> impl Iterator<Item = Option<bool>> + '_ {
    let metrics = experiment.scoring.metrics.iter();
    metrics.map(|m| Some(m.properties().higher_is_better)).chain(std::iter::repeat(None))
}

fn file_name(text: &str) -> String {
    let keep = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    text.chars().map(keep).collect()
}

/// A number that stands for a whole curve.
struct Column {
    head: String,
    metric: String,
    higher: Option<bool>,
    pick: Pick,
}

#[derive(Clone, Copy)]
enum Pick {
    /// The point with this number; the last for the largest.
    Point(usize),
    Area,
}

impl Column {
    fn of<'a>(&self, curve: &'a CurveSummary) -> Option<&'a Summary> {
        match self.pick {
            Pick::Area => curve.area.as_ref(),
            Pick::Point(at) => {
                curve.points.get(at.min(curve.points.len().wrapping_sub(1)))?.score.as_ref()
            }
        }
    }
}

fn columns(experiment: &Experiment, curves: &[CurveSummary], with_start: bool) -> Vec<Column> {
    let length = curves.iter().map(|c| c.points.len()).max().unwrap_or(0);
    let longest = curves.iter().find(|c| c.points.len() == length);
    let at = |i: usize| longest.and_then(|c| c.points.get(i)).map_or(0.0, |p| p.p);
    let mut out = Vec::new();
    for (metric, higher) in experiment.measured().iter().zip(directions(experiment)) {
        let mut push = |head: String, pick| {
            out.push(Column { head, metric: metric.clone(), higher, pick });
        };
        if length <= 1 {
            push(metric.clone(), Pick::Point(0));
            continue;
        }
        if with_start {
            push(format!("{metric} at {}", at(0)), Pick::Point(0));
        }
        push(format!("{metric} at {}", at(length - 1)), Pick::Point(length - 1));
        push(format!("{metric} area"), Pick::Area);
    }
    out
}

/// Cells behind a curve: how many ran, how many failed at any point.
fn counts(curve: &CurveSummary) -> (usize, usize) {
    let cells = curve.points.iter().map(|p| p.scored + p.undefined + p.failed).max().unwrap_or(0);
    (cells, curve.points.iter().map(|p| p.failed).max().unwrap_or(0))
}

fn find<'a>(
    curves: &'a [CurveSummary],
    dataset: &str,
    method: &str,
    metric: &str,
) -> Option<&'a CurveSummary> {
    curves.iter().find(|c| c.dataset == dataset && c.method == method && c.metric == metric)
}

fn table(experiment: &Experiment, curves: &[CurveSummary], verdicts: &[Verdict]) -> String {
    let columns = columns(experiment, curves, false);
    let mut table = Table::new();
    let rule = LineStyle::none().fill('─').junction('─');
    table
        .load_style(TableStyle::new().header_separator(rule))
        .set_content_arrangement(ContentArrangement::Disabled);
    let mut head = vec!["data set".to_string(), "method".into()];
    // Over two lines, or six numbers and two names fill no terminal.
    head.extend(columns.iter().map(|c| c.head.replacen(' ', "\n", 1)));
    head.push("cells".into());
    table.set_header(head);
    for (at, dataset) in experiment.datasets.iter().enumerate() {
        if at > 0 {
            table.add_row([""]);
        }
        let mut name = dataset.id.clone();
        for method in &experiment.methods {
            let mut line = vec![std::mem::take(&mut name), method.id.clone()];
            let mut cells = (0, 0);
            for column in &columns {
                let curve = find(curves, &dataset.id, &method.id, &column.metric);
                let score = curve.and_then(|c| column.of(c));
                line.push(score.map_or("–".into(), |s| mean_text(s.mean, s.half_width)));
                cells = curve.map_or(cells, counts);
            }
            line.push(match cells {
                (n, 0) => n.to_string(),
                (n, failed) => format!("{n}, {failed} failed"),
            });
            table.add_row(line);
        }
    }
    for (at, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 1));
        if at >= 2 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let lines: Vec<String> = table.lines().map(|l| l.trim_end().to_string()).collect();
    let mut text = format!("{}\n{}\n", lines.join("\n"), legend(experiment));
    if !verdicts.is_empty() {
        let _ = write!(text, "\n{}", verdict::text(verdicts));
    }
    text
}

fn legend(experiment: &Experiment) -> String {
    let unit = match experiment.stats.unit {
        Unit::Repeat => "repeats",
        Unit::Fold => "folds",
    };
    format!("mean ± half width of the {} % interval over {unit}", experiment.stats.level * 100.0)
}

const STYLE: &str = "\
:root{color-scheme:light dark;--line:#d8d8d8;--dim:#666;--bad:#b3261e}\
@media(prefers-color-scheme:dark){:root{--line:#444;--dim:#aaa;--bad:#ff8a80}}\
body{font:15px/1.5 system-ui,sans-serif;max-width:1420px;margin:2rem auto;padding:0 1.2rem}\
h1{margin-bottom:.2rem}h2{margin-top:2.2rem}p.dim,figcaption,td.n{color:var(--dim)}\
.scroll{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}\
th,td{padding:.3rem .8rem;text-align:right;white-space:nowrap}th{border-bottom:2px solid var(--line);text-align:right}\
th.l,td.l{text-align:left}tr.first td{border-top:1px solid var(--line)}td.bad{color:var(--bad)}\
td.w{white-space:normal;text-align:left}\
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,600px),1fr));gap:1.4rem}\
figure{margin:0}svg{max-width:100%;height:auto;border:1px solid var(--line);border-radius:6px}\
pre{overflow-x:auto;border:1px solid var(--line);border-radius:6px;padding:1rem;font-size:13px}";

fn page(experiment: &Experiment, report: &Report, figures: &[Figure], failed: &[&Row]) -> String {
    let mut h = String::new();
    let name = escape(&experiment.head.name);
    let _ = write!(
        h,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>{name}</title><style>{STYLE}</style></head><body>\n<h1>{name}</h1>\n"
    );
    if !experiment.head.description.is_empty() {
        let _ = writeln!(h, "<p>{}</p>", escape(&experiment.head.description));
    }
    let _ = writeln!(
        h,
        "<p class=\"dim\">{} of {} cells finished, {} failed · seed {} · {} × {} · mustlink {}</p>",
        report.finished,
        report.cells,
        report.failed,
        experiment.head.seed,
        count(experiment.split.repeats(), "repeat"),
        count(experiment.split.folds(), "fold"),
        env!("CARGO_PKG_VERSION"),
    );
    if report.finished < report.cells {
        let _ =
            writeln!(h, "<p><b>The run is not complete:</b> the same command goes on with it.</p>");
    }
    score_table(&mut h, experiment, &report.curves);
    verdict::html(&mut h, &report.verdicts);
    if !figures.is_empty() {
        h.push_str("<h2>Learning curves</h2>\n<div class=\"figures\">\n");
        for figure in figures {
            let name = escape(&figure.name);
            let _ = writeln!(
                h,
                "<figure>{}<figcaption>Lines: means; bands: {} % intervals. \
                 <a href=\"figures/{name}.csv\">numbers</a> · <a href=\"figures/{name}.svg\">SVG</a></figcaption></figure>",
                figure.svg,
                experiment.stats.level * 100.0
            );
        }
        h.push_str("</div>\n");
    }
    if !failed.is_empty() {
        let _ = writeln!(
            h,
            "<h2>Failed cells</h2>\n<div class=\"scroll\"><table><tr><th class=\"l\">data set</th>\
             <th class=\"l\">method</th><th>repeat</th><th>fold</th><th>queries</th><th class=\"l\">message</th></tr>"
        );
        for row in failed.iter().take(LISTED) {
            let _ = writeln!(
                h,
                "<tr><td class=\"l\">{}</td><td class=\"l\">{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"w\">{}</td></tr>",
                escape(&row.dataset),
                escape(&row.method),
                row.repeat,
                row.fold,
                row.p_requested.map_or(String::new(), |p| p.to_string()),
                escape(row.message.as_deref().unwrap_or_default())
            );
        }
        h.push_str("</table></div>\n");
        if failed.len() > LISTED {
            let _ = writeln!(
                h,
                "<p class=\"dim\">and {} more in results.csv</p>",
                failed.len() - LISTED
            );
        }
    }
    let _ = write!(
        h,
        "<h2>Data</h2>\n<p><a href=\"results.csv\">results.csv</a>: every row · \
         <a href=\"summary.csv\">summary.csv</a>: every mean</p>\n\
         <details><summary>Configuration, every default written out</summary><pre>{}</pre></details>\n</body></html>\n",
        escape(&experiment.resolved_toml())
    );
    h
}

fn count(n: usize, word: &str) -> String {
    if n == 1 { format!("1 {word}") } else { format!("{n} {word}s") }
}

fn score_table(h: &mut String, experiment: &Experiment, curves: &[CurveSummary]) {
    let columns = columns(experiment, curves, true);
    h.push_str("<h2>Scores</h2>\n<div class=\"scroll\"><table><tr><th class=\"l\">data set</th><th class=\"l\">method</th>");
    for column in &columns {
        let _ = write!(
            h,
            "<th>{} {}</th>",
            escape(&column.head),
            match column.higher {
                Some(true) => "↑",
                Some(false) => "↓",
                None => "",
            }
        );
    }
    h.push_str("<th>cells</th><th>failed</th></tr>\n");
    for dataset in &experiment.datasets {
        // The best of each column, where there is something to choose from.
        let best: Vec<Option<f64>> = columns
            .iter()
            .map(|column| {
                let mine =
                    curves.iter().filter(|c| c.dataset == dataset.id && c.metric == column.metric);
                let means: Vec<f64> = mine.filter_map(|c| column.of(c)).map(|s| s.mean).collect();
                let pick = if column.higher? { f64::max } else { f64::min };
                (means.len() > 1).then(|| means.iter().copied().reduce(pick)).flatten()
            })
            .collect();
        for (at, method) in experiment.methods.iter().enumerate() {
            let _ = write!(
                h,
                "<tr{}><td class=\"l\">{}</td><td class=\"l\">{}</td>",
                if at == 0 { " class=\"first\"" } else { "" },
                if at == 0 { escape(&dataset.id) } else { String::new() },
                escape(&method.id)
            );
            let mut cells = (0, 0);
            for (column, best) in columns.iter().zip(&best) {
                let curve = find(curves, &dataset.id, &method.id, &column.metric);
                cells = curve.map_or(cells, counts);
                let text = match curve.and_then(|c| column.of(c)) {
                    None => "–".to_string(),
                    Some(s) => {
                        let text = mean_text(s.mean, s.half_width);
                        if *best == Some(s.mean) { format!("<b>{text}</b>") } else { text }
                    }
                };
                let _ = write!(h, "<td>{text}</td>");
            }
            let _ = writeln!(
                h,
                "<td class=\"n\">{}</td><td class=\"{}\">{}</td></tr>",
                cells.0,
                if cells.1 > 0 { "bad" } else { "n" },
                cells.1
            );
        }
    }
    let _ = writeln!(
        h,
        "</table></div>\n<p class=\"dim\">{}; area: mean height of the curve.</p>",
        escape(&legend(experiment))
    );
}
