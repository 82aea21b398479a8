//! The page of a results directory: everything in one file, which loses nothing when it is mailed.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use crate::figure::Figure;
use crate::moved::{self, Move};
use crate::palette::sample;
use crate::sheet::{Sheet, escape};
use crate::supervision::Supervision;
use crate::tables::{OfMetric, few_repeats};
use crate::verdicts::{self, Verdict};
use mustlink_experiments::Facts;
use mustlink_experiments::row::Row;
use mustlink_experiments::{Experiment, Format};

/// At most this many failed cells are listed.
const LISTED: usize = 50;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The learning curves of one metric.
pub(crate) struct CurveFigures {
    pub metric: String,
    /// One for each data set, at full size.
    pub large: Vec<Figure>,
    /// The same, small, without legends, for the page alone.
    pub small: Vec<String>,
    /// The small ones under one legend.
    pub grid: Option<Figure>,
}

/// Every figure.
#[derive(Default)]
pub(crate) struct Figures {
    pub curves: Vec<CurveFigures>,
    /// Mean ranks and pairs of methods, metric by metric.
    pub ranks: Vec<Figure>,
    /// Times, bounds, propagated constraints.
    pub costs: Vec<Figure>,
    /// Weights of features.
    pub weights: Vec<Figure>,
}

impl Figures {
    /// All that have files.
    pub fn all_mut(&mut self) -> Vec<&mut Figure> {
        let curves = self.curves.iter_mut().flat_map(|c| c.large.iter_mut().chain(&mut c.grid));
        curves.chain(&mut self.ranks).chain(&mut self.costs).chain(&mut self.weights).collect()
    }
}

/// What the page shows.
pub(crate) struct Contents<'a> {
    /// The directory, as it was named.
    pub dir: &'a Path,
    /// Cells that are finished.
    pub finished: usize,
    /// Cells of the experiment.
    pub cells: usize,
    /// Cells whose rows another build made, and what of it is another now.
    pub stale: usize,
    pub changed: &'a BTreeSet<String>,
    /// The tables of scores.
    pub scores: &'a [OfMetric],
    /// Those over all data sets, one for each metric.
    pub across: &'a [Sheet],
    /// Those of time, questions, constraints broken.
    pub costs: &'a [Sheet],
    pub moved: &'a [Move],
    pub supervision: &'a Supervision,
    /// Every criterion, judged.
    pub verdicts: &'a [Verdict],
    pub figures: &'a Figures,
    /// The first row of each cell with an error or out of time, with the cell's identity.
    pub failed: &'a [(&'a str, &'a Row)],
    /// The data sets as they were read.
    pub data: &'a [Facts],
    /// The paragraph for a paper.
    pub paragraph: &'a str,
    /// BibTeX, and the keys without an entry.
    pub bibtex: &'a str,
    pub without_entry: &'a [&'static str],
    pub latex: &'a str,
    pub markdown: &'a str,
    pub summary: &'a [u8],
}

/// The page as HTML.
pub(crate) fn page(experiment: &Experiment, contents: &Contents) -> String {
    let mut body = String::new();
    scores(&mut body, contents);
    across(&mut body, experiment, contents);
    moved::html(&mut body, contents.moved);
    contents.supervision.html(&mut body, experiment);
    verdicts::html(&mut body, contents.verdicts);
    curves(&mut body, experiment, contents.figures);
    costs(&mut body, experiment, contents);
    if !contents.figures.weights.is_empty() {
        body.push_str("<h2>Which features make which cluster</h2>\n<div class=\"figures\">\n");
        contents.figures.weights.iter().for_each(|f| figure(&mut body, experiment, f, true));
        body.push_str("</div>\n");
    }
    failures(&mut body, contents);
    paper(&mut body, contents);
    data(&mut body, experiment, contents);

    let mut h = String::new();
    head(&mut h, experiment, contents);
    let mut numbered = String::new();
    h.push_str("<nav aria-label=\"Sections\">");
    for (at, part) in body.split("<h2").enumerate() {
        if at == 0 {
            numbered.push_str(part);
            continue;
        }
        let (attributes, rest) = part.split_once('>').unwrap_or(("", part));
        let title = rest.split("</h2>").next().unwrap_or_default();
        let _ = write!(h, "<a href=\"#section-{at}\">{title}</a>");
        let _ = write!(numbered, "<a id=\"section-{at}\"></a><h2{attributes}>{rest}");
    }
    h.push_str("</nav>\n");
    controls(&mut h, experiment);
    let _ = write!(h, "{numbered}<script>{SCRIPT}</script>\n</body></html>\n");
    h
}

fn head(h: &mut String, experiment: &Experiment, contents: &Contents) {
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
        contents.finished,
        contents.cells,
        contents.failed.len(),
        experiment.head.seed,
        count(experiment.split.repeats(), "repeat"),
        count(experiment.split.folds(), "fold"),
        env!("CARGO_PKG_VERSION"),
    );
    if contents.finished < contents.cells {
        let _ =
            writeln!(h, "<p><b>The run is not complete:</b> the same command goes on with it.</p>");
    }
    if contents.stale > 0 {
        let changed: Vec<&str> = contents.changed.iter().map(String::as_str).collect();
        let _ = writeln!(
            h,
            "<p><b>{} of these cells were made by another build</b> (changed: {}); mustlink run makes \
             them again.</p>",
            contents.stale,
            escape(&changed.join(", "))
        );
    }
}

/// Which methods and rows are shown.
fn controls(h: &mut String, experiment: &Experiment) {
    h.push_str(
        "<details class=\"controls screen\"><summary>Methods and rows shown</summary>\n\
         <label>rows with <input type=\"search\" id=\"filter\" placeholder=\"iris\"></label><br>\n",
    );
    for (at, method) in experiment.methods.iter().enumerate() {
        let _ = writeln!(
            h,
            "<label><input type=\"checkbox\" data-toggle=\"{at}\" checked>{}{}</label>",
            swatch(at),
            escape(&method.id)
        );
    }
    h.push_str("</details>\n");
}

fn swatch(at: usize) -> String {
    format!(
        "<svg viewBox=\"0 0 46 14\" width=\"46\" height=\"14\" aria-hidden=\"true\">\
         {}</svg>",
        sample(at, 46.0, 7.0).0
    )
}

fn count(n: usize, word: &str) -> String {
    if n == 1 { format!("1 {word}") } else { format!("{n} {word}s") }
}

fn scores(h: &mut String, contents: &Contents) {
    h.push_str("<h2>Scores</h2>\n");
    for OfMetric { metric, sheets } in contents.scores {
        let _ = writeln!(h, "<h3>{}</h3>", escape(metric));
        for (at, sheet) in sheets.iter().enumerate() {
            if at == 0 {
                sheet.html(h);
                continue;
            }
            let _ = writeln!(h, "<details><summary>{}</summary>", escape(&sheet.caption));
            sheet.html(h);
            h.push_str("</details>\n");
        }
    }
}

fn across(h: &mut String, experiment: &Experiment, contents: &Contents) {
    if contents.across.is_empty() {
        return;
    }
    h.push_str("<h2>Over all data sets</h2>\n");
    contents.across.iter().for_each(|sheet| sheet.html(h));
    h.push_str("<p><a href=\"statistics.csv\">statistics.csv</a>: all of these numbers</p>\n");
    contents.figures.ranks.iter().for_each(|f| figure(h, experiment, f, true));
}

fn curves(h: &mut String, experiment: &Experiment, figures: &Figures) {
    if figures.curves.is_empty() {
        return;
    }
    h.push_str("<h2>Learning curves</h2>\n");
    let _ = writeln!(
        h,
        "<p class=\"dim\">Lines: means; bands: {} % intervals, as far as the metric reaches. A bar across a \
         line: the selector had no further question; what follows is the same clustering.{}</p>",
        experiment.stats.level * 100.0,
        few_repeats(experiment)
    );
    for of in &figures.curves {
        let _ = writeln!(h, "<h3>{}</h3>", escape(&of.metric));
        let Some(grid) = &of.grid else {
            h.push_str("<div class=\"figures\">\n");
            of.large.iter().for_each(|f| figure(h, experiment, f, false));
            h.push_str("</div>\n");
            continue;
        };
        h.push_str("<div class=\"legend\">");
        for (at, method) in experiment.methods.iter().enumerate() {
            let _ = write!(h, "<span data-m=\"{at}\">{} {}</span>", swatch(at), escape(&method.id));
        }
        h.push_str("</div>\n<div class=\"small\">\n");
        for (svg, large) in of.small.iter().zip(&of.large) {
            let _ = writeln!(
                h,
                "<figure>{svg}<figcaption>{}</figcaption></figure>",
                numbers_link(large)
            );
        }
        let _ = writeln!(
            h,
            "</div>\n<p>{} All in one figure: {}</p>\n<details class=\"screen\"><summary>One by one, large</summary>\
             <div class=\"figures\">",
            escape(&grid.caption),
            file_links(experiment, grid)
        );
        of.large.iter().for_each(|f| figure(h, experiment, f, false));
        h.push_str("</div></details>\n");
    }
}

fn costs(h: &mut String, experiment: &Experiment, contents: &Contents) {
    if contents.costs.is_empty() && contents.figures.costs.is_empty() {
        return;
    }
    h.push_str("<h2>Time, questions, violations</h2>\n");
    contents.costs.iter().for_each(|sheet| sheet.html(h));
    contents.figures.costs.iter().for_each(|f| figure(h, experiment, f, true));
}

/// A figure with its links; `wide` ones are moved sideways where there is no room.
fn figure(h: &mut String, experiment: &Experiment, f: &Figure, wide: bool) {
    let _ = writeln!(
        h,
        "<figure{}>{}<figcaption>{} {} · <a class=\"svg\" download=\"{name}.svg\" href=\"figures/{name}.svg\">SVG</a>{}\
         </figcaption></figure>",
        if wide { " class=\"wide\"" } else { "" },
        f.svg,
        escape(&f.caption),
        numbers_link(f),
        pictures(experiment, f),
        name = escape(&f.name),
    );
}

/// The numbers of a figure, within the page.
fn numbers_link(f: &Figure) -> String {
    format!(
        "<a download=\"{}.csv\" href=\"{}\">numbers</a>",
        escape(&f.name),
        data_url("text/csv", &f.numbers)
    )
}

/// Links to the files of a figure that is not on the page itself.
fn file_links(experiment: &Experiment, f: &Figure) -> String {
    let name = escape(&f.name);
    format!(
        "<a href=\"figures/{name}.svg\">SVG</a>{} · {}",
        pictures(experiment, f),
        numbers_link(f)
    )
}

fn pictures(experiment: &Experiment, f: &Figure) -> String {
    let formats = experiment.plot.formats.iter().filter(|format| **format != Format::Svg);
    let link = |format: &Format| {
        let end = format.ending();
        format!(" · <a href=\"figures/{}.{end}\">{}</a>", escape(&f.name), end.to_uppercase())
    };
    formats.map(link).collect()
}

fn failures(h: &mut String, contents: &Contents) {
    let failed = contents.failed;
    if failed.is_empty() {
        return;
    }
    let dir = shell_word(&contents.dir.display().to_string());
    let _ = writeln!(
        h,
        "<h2>Failed cells</h2>\n<p><code>mustlink retry {}</code> runs all of them again.</p>\n\
         <div class=\"scroll\"><table class=\"sheet\"><caption>Failed cells, each with the command that repeats \
         it</caption>\n<thead><tr><th scope=\"col\" class=\"l\">data set</th><th scope=\"col\" class=\"l\">method</th>\
         <th scope=\"col\">repeat</th><th scope=\"col\">fold</th><th scope=\"col\">queries</th>\
         <th scope=\"col\" class=\"l\">message</th><th scope=\"col\" class=\"l\">again</th></tr></thead>\n<tbody>",
        escape(&dir)
    );
    for (identity, row) in failed.iter().take(LISTED) {
        let _ = writeln!(
            h,
            "<tr><th scope=\"row\" class=\"l\">{}</th><td class=\"l\">{}</td><td>{}</td><td>{}</td><td>{}</td>\
             <td class=\"w\">{}</td><td class=\"l\"><code>mustlink retry {} --cell {identity}</code></td></tr>",
            escape(&row.dataset),
            escape(&row.method),
            row.repeat,
            row.fold,
            row.p_requested.map_or(String::new(), |p| p.to_string()),
            escape(row.message.as_deref().unwrap_or_default()),
            escape(&dir),
        );
    }
    h.push_str("</tbody></table></div>\n");
    if failed.len() > LISTED {
        let _ =
            writeln!(h, "<p class=\"dim\">and {} more in results.csv</p>", failed.len() - LISTED);
    }
}

/// A word of a command, quoted where it has to be.
fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./+=:,@".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_string()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// What an author copies.
fn paper(h: &mut String, contents: &Contents) {
    let _ = writeln!(
        h,
        "<h2>For a paper</h2>\n<p class=\"about\">{}</p>\n\
         <details><summary>BibTeX of exactly these methods</summary><pre>{}</pre></details>",
        escape(contents.paragraph),
        escape(contents.bibtex)
    );
    if !contents.without_entry.is_empty() {
        let _ = writeln!(
            h,
            "<p class=\"dim\">No entry is known for {}; mustlink cite --bib FILE takes one from your own \
             bibliography.</p>",
            escape(&contents.without_entry.join(", "))
        );
    }
    for (name, file, text) in [
        ("Tables for LaTeX (booktabs)", "tables.tex", contents.latex),
        ("Tables for Markdown", "tables.md", contents.markdown),
    ] {
        let _ = writeln!(
            h,
            "<details class=\"screen\"><summary>{name}</summary><p><a download=\"{file}\" href=\"{}\">{file}</a></p>\
             <pre>{}</pre></details>",
            data_url("text/plain", text.as_bytes()),
            escape(text)
        );
    }
}

fn data(h: &mut String, experiment: &Experiment, contents: &Contents) {
    let _ = writeln!(
        h,
        "<h2>Data</h2>\n<p><a download=\"summary.csv\" href=\"{}\">summary.csv</a>: every mean · beside this page: \
         <a href=\"results.csv\">results.csv</a>, every row</p>",
        data_url("text/csv", contents.summary)
    );
    if contents.data.is_empty() {
        h.push_str("<p class=\"dim\">Hashes of the data are not stored here; mustlink run stores them.</p>\n");
    } else {
        h.push_str(
            "<div class=\"scroll\"><table class=\"sheet\"><caption>The data sets as they were clustered, with \
             the BLAKE3 hash of values, ids and classes as they were read</caption>\n<thead><tr>\
             <th scope=\"col\" class=\"l\">data set</th><th scope=\"col\">objects</th><th scope=\"col\">features</th>\
             <th scope=\"col\">classes</th><th scope=\"col\" class=\"l\">hash</th></tr></thead>\n<tbody>",
        );
        for f in contents.data {
            let _ = writeln!(
                h,
                "<tr><th scope=\"row\" class=\"l\">{}</th><td>{}</td><td>{}</td><td>{}</td>\
                 <td class=\"l\"><code>{}</code></td></tr>",
                escape(&f.dataset),
                f.n,
                f.d,
                f.classes.map_or("–".to_string(), |c| c.to_string()),
                escape(&f.digest)
            );
        }
        h.push_str("</tbody></table></div>\n");
    }
    let _ = writeln!(
        h,
        "<details><summary>Configuration, every default written out</summary><pre>{}</pre></details>",
        escape(&experiment.resolved_toml())
    );
}

/// Bytes as a link that needs no file.
fn data_url(kind: &str, bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = format!("data:{kind};charset=utf-8;base64,");
    for three in bytes.chunks(3) {
        let part = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
        let bits = part(0) << 16 | part(1) << 8 | part(2);
        for at in 0..4 {
            out.push(if at <= three.len() {
                LETTERS[(bits >> (18 - 6 * at) & 63) as usize] as char
            } else {
                '='
            });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_hold_their_bytes() {
        // The examples of RFC 4648.
        for (text, expected) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            let url = data_url("text/csv", text.as_bytes());
            assert_eq!(url, format!("data:text/csv;charset=utf-8;base64,{expected}"));
        }
    }

    #[test]
    fn words_of_commands_are_quoted() {
        assert_eq!(shell_word("results/a-b_1"), "results/a-b_1");
        assert_eq!(shell_word("it's a dir"), "'it'\\''s a dir'");
    }
}
