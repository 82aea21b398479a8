//! The page of a results directory.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use super::columns::{columns, counts, find, legend};
use super::curves::CurveSummary;
use super::figure::Figure;
use super::paper;
use super::significance::{self, Significance};
use super::verdicts::{self, Verdict};
use crate::config::Experiment;
use crate::row::Row;
use crate::svg::escape;

/// At most this many failed cells are listed.
const LISTED: usize = 50;

const STYLE: &str = "\
:root{color-scheme:light dark;--line:#d8d8d8;--dim:#666;--bad:#b3261e}\
@media(prefers-color-scheme:dark){:root{--line:#444;--dim:#aaa;--bad:#ff8a80}}\
body{font:15px/1.5 system-ui,sans-serif;max-width:1420px;margin:2rem auto;padding:0 1.2rem}\
h1{margin-bottom:.2rem}h2{margin-top:2.2rem}p.dim,figcaption,td.n{color:var(--dim)}\
.scroll{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}\
@media(prefers-color-scheme:dark){svg{filter:invert(.9) hue-rotate(180deg)}}\
th,td{padding:.3rem .8rem;text-align:right;white-space:nowrap}th{border-bottom:2px solid var(--line);text-align:right}\
th.l,td.l{text-align:left}table.scores td:nth-child(2),table.scores th:nth-child(2){position:sticky;left:0;background:Canvas}\
@media(max-width:600px){body{margin:1rem auto;padding:0 .6rem}th,td{padding:.3rem .4rem}table.scores td:nth-child(2){max-width:9rem;overflow:hidden;text-overflow:ellipsis}}\
@media print{body{max-width:none;margin:0}.scroll{overflow:visible}details{display:none}svg{filter:none}figure{break-inside:avoid}}\
tr.first td{border-top:1px solid var(--line)}td.bad{color:var(--bad)}\
td.w{white-space:normal;text-align:left}\
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,600px),1fr));gap:1.4rem}\
figure{margin:0}svg{max-width:100%;height:auto;border:1px solid var(--line);border-radius:6px}\
pre{overflow-x:auto;border:1px solid var(--line);border-radius:6px;padding:1rem;font-size:13px}";

/// What the page shows.
pub(super) struct Contents<'a> {
    /// Cells that are finished.
    pub finished: usize,
    /// Cells of the experiment.
    pub cells: usize,
    /// Cells whose rows another build made, and what of it is another now.
    pub stale: usize,
    pub changed: &'a BTreeSet<String>,
    /// Every summarised curve.
    pub curves: &'a [CurveSummary],
    /// Every criterion, judged.
    pub verdicts: &'a [Verdict],
    /// What differs over all data sets.
    pub significance: &'a [Significance],
    /// Every figure.
    pub figures: &'a [Figure],
    /// Every heat map of weights.
    pub weights: &'a [Figure],
    /// Every critical-difference diagram.
    pub ranks: &'a [Figure],
    /// The results directory, for commands.
    pub dir: &'a Path,
    /// The first row of each cell with an error or out of time.
    pub failed: &'a [&'a Row],
}

/// The page as HTML.
pub(super) fn page(experiment: &Experiment, contents: &Contents) -> String {
    let Contents {
        finished,
        cells,
        stale,
        changed,
        curves,
        verdicts,
        significance,
        figures,
        weights,
        ranks,
        failed,
        dir,
    } = *contents;
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
        finished,
        cells,
        failed.len(),
        experiment.head.seed,
        count(experiment.split.repeats(), "repeat"),
        count(experiment.split.folds(), "fold"),
        env!("CARGO_PKG_VERSION"),
    );
    if finished < cells {
        let _ =
            writeln!(h, "<p><b>The run is not complete:</b> the same command goes on with it.</p>");
    }
    if stale > 0 {
        let changed: Vec<&str> = changed.iter().map(String::as_str).collect();
        let _ = writeln!(
            h,
            "<p><b>{stale} of these cells were made by another build</b> (changed: {}); mustlink run makes \
             them again.</p>",
            escape(&changed.join(", "))
        );
    }
    score_table(&mut h, experiment, curves);
    significance::html(&mut h, significance);
    if !ranks.is_empty() {
        h.push_str("<div class=\"figures\">\n");
        for figure in ranks {
            let name = escape(&figure.name);
            let _ = writeln!(
                h,
                "<figure>{}<figcaption>Mean ranks, best at the left; a bar joins methods that Nemenyi's test \
                 does not tell apart at 5 %. <a href=\"figures/{name}.csv\">numbers</a> · \
                 <a href=\"figures/{name}.svg\">SVG</a></figcaption></figure>",
                figure.svg
            );
        }
        h.push_str("</div>\n");
    }
    verdicts::html(&mut h, verdicts);
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
    if !weights.is_empty() {
        h.push_str("<h2>Which features make which cluster</h2>\n<div class=\"figures\">\n");
        for figure in weights {
            let name = escape(&figure.name);
            let _ = writeln!(
                h,
                "<figure>{}<figcaption>Darker: a larger share of the weights of the cluster; first repeat \
                 and fold, last point. \
                 <a href=\"figures/{name}.csv\">numbers</a> · <a href=\"figures/{name}.svg\">SVG</a></figcaption></figure>",
                figure.svg,
            );
        }
        h.push_str("</div>\n");
    }
    if !failed.is_empty() {
        let _ = writeln!(
            h,
            "<h2>Failed cells</h2>\n<p><code>mustlink retry {}</code> runs them again.</p>\n<div class=\"scroll\"><table><tr><th class=\"l\">data set</th>\
             <th class=\"l\">method</th><th>repeat</th><th>fold</th><th>queries</th><th class=\"l\">message</th></tr>",
            escape(&dir.display().to_string())
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
        "<h2>For a paper</h2>\n<p>{}</p>\n<p><a href=\"tables.tex\">tables.tex</a>: LaTeX · \
         <a href=\"tables.md\">tables.md</a>: Markdown · <code>mustlink cite {}</code>: BibTeX of exactly \
         these methods</p>\n<h2>Data</h2>\n<p><a href=\"results.csv\">results.csv</a>: every row · \
         <a href=\"summary.csv\">summary.csv</a>: every mean</p>\n\
         <details><summary>Configuration, every default written out</summary><pre>{}</pre></details>\n</body></html>\n",
        escape(&paper::methods_paragraph(experiment, significance)),
        escape(&dir.display().to_string()),
        escape(&experiment.resolved_toml())
    );
    h
}

fn count(n: usize, word: &str) -> String {
    if n == 1 { format!("1 {word}") } else { format!("{n} {word}s") }
}

fn score_table(h: &mut String, experiment: &Experiment, curves: &[CurveSummary]) {
    let columns = columns(experiment, curves, true);
    h.push_str("<h2>Scores</h2>\n<div class=\"scroll\"><table class=\"scores\"><tr><th class=\"l\">data set</th><th class=\"l\">method</th>");
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
        let best: Vec<Option<f64>> =
            columns.iter().map(|column| column.best(curves, &dataset.id)).collect();
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
                let mut text = escape(&column.text(curve));
                let mean = curve.and_then(|c| column.of(c)).map(|s| s.mean);
                if best.is_some() && mean == *best && cells.1 == 0 {
                    text = format!("<b>{text}</b>");
                }
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
        escape(&legend(experiment, curves))
    );
}
