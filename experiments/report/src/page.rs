//! The page of a results directory: everything in one file, which loses nothing when it is mailed.

use std::collections::BTreeSet;
use std::path::Path;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use mustlink_core::text::count;
use mustlink_datasets::shell_word;
use mustlink_experiments::row::Row;
use mustlink_experiments::{Experiment, Facts};

use crate::columns::{observations, percent};
use crate::figure::{Figure, data_url};
use crate::moved::{self, Move};
use crate::palette::sample;
use crate::section::{Section, with_navigation};
use crate::sheet::{Sheet, breakable};
use crate::supervision::Supervision;
use crate::tables::{OfMetric, few_repeats};
use crate::verdicts::{self, Verdict};

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
    /// What is said of a study that goes on.
    pub unfinished: Option<&'a str>,
    /// Cells whose rows another build made, and what of it is another now.
    pub stale: usize,
    pub changed: &'a BTreeSet<String>,
    /// The tables of scores.
    pub scores: &'a [OfMetric],
    /// Those over all data sets, one for each metric.
    pub across: &'a [Sheet],
    /// Why there is none of some metrics, in a sentence each.
    pub uncompared: &'a [String],
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
    /// Whether there are areas, in a file of their own.
    pub areas: bool,
    /// Whether every cell of some point of a curve failed.
    pub all_failed: bool,
}

/// The page as HTML.
pub(crate) fn page(experiment: &Experiment, contents: &Contents) -> String {
    let sections: Vec<Section> = [
        Some(scores(contents)),
        across(experiment, contents),
        moved::section(contents.moved, experiment),
        contents.supervision.section(experiment),
        verdicts::section(contents.verdicts, contents.unfinished),
        curves(experiment, contents),
        costs(experiment, contents),
        weights(experiment, contents.figures),
        failures(contents),
        Some(paper(contents)),
        Some(data(experiment, contents)),
    ]
    .into_iter()
    .flatten()
    .collect();
    let page = html! {
        (DOCTYPE)
        "\n"
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (experiment.head.name) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                "\n"
                (summary(experiment, contents))
                (with_navigation(&sections, &controls(experiment)))
                script { (PreEscaped(SCRIPT)) }
                "\n"
            }
        }
        "\n"
    };
    page.into_string()
}

/// What ran, and how much of it.
fn summary(experiment: &Experiment, contents: &Contents) -> Markup {
    let split = &experiment.split;
    let changed: Vec<&str> = contents.changed.iter().map(String::as_str).collect();
    html! {
        h1 { (experiment.head.name) }
        "\n"
        @if !experiment.head.description.is_empty() { p { (experiment.head.description) } "\n" }
        p class="dim" {
            (contents.finished) " of " (contents.cells) " cells finished, " (contents.failed.len())
            " failed · seed " (experiment.head.seed) " · " (count(split.repeats(), "repeat")) " × "
            (count(split.folds(), "fold")) " · mustlink " (env!("CARGO_PKG_VERSION"))
        }
        "\n"
        @if contents.finished < contents.cells {
            p { b { "The run is not complete:" } " the same command goes on with it." }
            "\n"
        }
        @if contents.stale > 0 {
            p {
                b { (contents.stale) " of these cells were made by another build" } " (changed: "
                (changed.join(", ")) "); mustlink run makes them again."
            }
            "\n"
        }
    }
}

/// Which methods and rows are shown.
fn controls(experiment: &Experiment) -> Markup {
    html! {
        details class="controls screen" {
            summary { "Methods and rows shown" }
            "\n"
            label { "rows with " input type="search" id="filter" placeholder="iris"; }
            span class="dim" id="filtered" role="status" {}
            br;
            "\n"
            @for (at, method) in experiment.methods.iter().enumerate() {
                label {
                    input type="checkbox" data-toggle=(at) checked;
                    (swatch(at)) (method.id)
                }
                "\n"
            }
            p class="dim" {
                "A method switched off leaves tables and figures. What was computed of all methods stays as \
                 it is: bold, ranks, tests, and the axes of figures."
            }
            "\n"
        }
        "\n"
    }
}

fn swatch(at: usize) -> Markup {
    html! {
        svg viewBox="0 0 46 14" width="46" height="14" aria-hidden="true" { (sample(at, 46.0, 7.0)) }
    }
}

fn scores(contents: &Contents) -> Section {
    let wide = contents.scores.iter().flat_map(|s| &s.sheets).any(Sheet::is_wide);
    let body = html! {
        div class="tables" {
            @for OfMetric { metric, sheets } in contents.scores {
                div class=[wide.then_some("all")] {
                    h3 { (metric) }
                    "\n"
                    @for (at, sheet) in sheets.iter().enumerate() {
                        @if at == 0 {
                            (sheet.html())
                        } @else {
                            details { summary { (sheet.caption) } "\n" (sheet.html()) }
                            "\n"
                        }
                    }
                }
            }
        }
    };
    Section::new("Scores", body)
}

fn across(experiment: &Experiment, contents: &Contents) -> Option<Section> {
    let body = html! {
        @for sheet in contents.across { (sheet.html()) }
        @for why in contents.uncompared { p { (why) } "\n" }
        @if !contents.across.is_empty() {
            p class="screen" { a href="statistics.csv" { "statistics.csv" } ": all of these numbers" }
            "\n"
        }
        @for figure in &contents.figures.ranks { (figure.html(experiment, true)) }
    };
    let any = !contents.across.is_empty() || !contents.uncompared.is_empty();
    any.then(|| Section::new("Over all data sets", body))
}

fn curves(experiment: &Experiment, contents: &Contents) -> Option<Section> {
    let figures = contents.figures;
    let body = html! {
        p class="dim" {
            "Lines: means"
            @if observations(experiment) > 1 {
                "; bands: " (percent(experiment.stats.level)) " % intervals, as far as the metric reaches"
            }
            ". A bar across a line: the selector had no further question; what follows is the same \
             clustering. A hollow point: some of its cells failed, and it is the mean of the others."
            @if contents.all_failed { " Where all of its cells failed a line has no point." }
            (few_repeats(experiment))
        }
        "\n"
        @for of in &figures.curves {
            @let large = html! {
                div class="figures" {
                    "\n"
                    @for figure in &of.large { (figure.html(experiment, false)) }
                }
            };
            @if let Some(grid) = &of.grid {
                div class="together" {
                    h3 { (of.metric) }
                    "\n"
                    div class="legend" {
                        @for (at, method) in experiment.methods.iter().enumerate() {
                            span data-m=(at) { (swatch(at)) " " (method.id) }
                        }
                    }
                    "\n"
                    div class="small" {
                        "\n"
                        @for (svg, large) in of.small.iter().zip(&of.large) {
                            figure { (PreEscaped(svg)) figcaption { (large.numbers_link()) } }
                            "\n"
                        }
                    }
                }
                "\n"
                p { (grid.caption) " All in one figure: " (grid.file_links(experiment)) }
                "\n"
                details class="screen" { summary { "One by one, large" } (large) }
            } @else {
                div class="together" { h3 { (of.metric) } "\n" (large) }
            }
            "\n"
        }
    };
    (!figures.curves.is_empty()).then(|| Section::new("Learning curves", body))
}

fn costs(experiment: &Experiment, contents: &Contents) -> Option<Section> {
    let body = html! {
        div class="tables" { @for sheet in contents.costs { (sheet.html()) } }
        @for figure in &contents.figures.costs { (figure.html(experiment, true)) }
    };
    let any = !contents.costs.is_empty() || !contents.figures.costs.is_empty();
    any.then(|| Section::new("Time, questions, violations", body))
}

fn weights(experiment: &Experiment, figures: &Figures) -> Option<Section> {
    let body = html! {
        div class="figures" {
            "\n"
            @for figure in &figures.weights { (figure.html(experiment, true)) }
        }
    };
    let title = "Which features make which cluster";
    (!figures.weights.is_empty()).then(|| Section::new(title, body))
}

/// A table of the page that is not sorted: its headings, each with whether its column holds words.
fn plain_table(caption: &str, heads: &[(&str, bool)], rows: &Markup) -> Markup {
    html! {
        div class="table" { div class="scroll" {
            table class="sheet" {
                caption { (caption) }
                "\n"
                thead {
                    tr {
                        @for (head, words) in heads {
                            th scope="col" class=[words.then_some("l")] { (head) }
                        }
                    }
                }
                "\n"
                tbody { (rows) }
            }
        } }
        "\n"
    }
}

fn failures(contents: &Contents) -> Option<Section> {
    let failed = contents.failed;
    let dir = shell_word(&contents.dir.display().to_string());
    let rows = html! {
        @for (identity, row) in failed.iter().take(LISTED) {
            tr {
                th scope="row" class="l" { (row.dataset) }
                td class="l name" { (breakable(&row.method)) }
                td { (row.repeat) }
                td { (row.fold) }
                td { @if let Some(p) = row.p_requested { (p) } }
                td class="w" {
                    (row.message.as_deref().unwrap_or_default())
                    code { "mustlink retry " (dir) " --cell " (identity) }
                }
            }
            "\n"
        }
    };
    let heads = [
        ("data set", true),
        ("method", true),
        ("repeat", false),
        ("fold", false),
        ("queries", false),
        ("message, and the command that repeats the cell", true),
    ];
    let body = html! {
        p { code { "mustlink retry " (dir) } " runs all of them again; --data-dir as for the run." }
        "\n"
        (plain_table("Failed cells", &heads, &rows))
        @if failed.len() > LISTED {
            p class="dim" { "and " (failed.len() - LISTED) " more in results.csv" }
        }
    };
    (!failed.is_empty()).then(|| Section::new("Failed cells", body))
}

/// What an author copies.
fn paper(contents: &Contents) -> Section {
    let tables = [
        ("Tables for LaTeX (booktabs)", "tables.tex", contents.latex),
        ("Tables for Markdown", "tables.md", contents.markdown),
    ];
    let body = html! {
        p class="about" { (contents.paragraph) }
        "\n"
        details { summary { "BibTeX of exactly these methods" } pre { (contents.bibtex) } }
        "\n"
        @if !contents.without_entry.is_empty() {
            p class="dim" {
                "No entry is known for " (contents.without_entry.join(", "))
                "; mustlink cite --bib FILE takes one from your own bibliography."
            }
            "\n"
        }
        @for (name, file, text) in tables {
            details class="screen" {
                summary { (name) }
                p { a download=(file) href=(data_url("text/plain", text.as_bytes())) { (file) } }
                pre { (text) }
            }
            "\n"
        }
    };
    Section::new("For a paper", body)
}

fn data(experiment: &Experiment, contents: &Contents) -> Section {
    let rows = html! {
        @for f in contents.data {
            tr {
                th scope="row" class="l" { (f.dataset) }
                td { (f.n) }
                td { (f.d) }
                td { @if let Some(classes) = f.classes { (classes) } @else { "–" } }
                td class="l" { code { (f.digest) } }
            }
            "\n"
        }
    };
    let heads = [
        ("data set", true),
        ("objects", false),
        ("features", false),
        ("classes", false),
        ("hash", true),
    ];
    let caption = "The data sets as they were clustered, with the BLAKE3 hash of values, ids and classes as \
                   they were read";
    let body = html! {
        p {
            a download="summary.csv" href=(data_url("text/csv", contents.summary)) { "summary.csv" }
            ": the means at every point · beside this page: " a href="results.csv" { "results.csv" } ", every row"
            @if contents.areas { "; " a href="areas.csv" { "areas.csv" } ", the mean heights of curves" }
        }
        "\n"
        @if contents.data.is_empty() {
            p class="dim" { "Hashes of the data are not stored here; mustlink run stores them." }
        } @else {
            (plain_table(caption, &heads, &rows))
        }
        // Printed, it would take more paper than all the rest; config.toml has it.
        details class="fold" {
            summary { "Configuration, every default written out (config.toml)" }
            pre { (experiment.resolved_toml()) }
        }
    };
    Section::new("Data", body)
}
