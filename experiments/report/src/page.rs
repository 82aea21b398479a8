//! The page of a results directory: everything in one file, which loses nothing when it is mailed.

use std::collections::BTreeSet;
use std::path::Path;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use mustlink_core::text::count;
use mustlink_datasets::shell_word;
use mustlink_experiments::row::Row;
use mustlink_experiments::{Experiment, Facts};

use crate::columns::{observations, percent};
use crate::figure::Figure;
use crate::headline::Fact;
use crate::heat_map;
use crate::learning_curve::{FEWEST, MOST_BANDS};
use crate::moved::{self, Move};
use crate::palette::sample;
use crate::section::{Section, file, file_link, with_navigation};
use crate::sheet::{Sheet, breakable, explanations};
use crate::supervision::Supervision;
use crate::tables::{OfMetric, few_repeats};
use crate::verdicts::{self, Verdict};

/// At most this many failed cells are listed.
const LISTED: usize = 50;
/// More figures of weights than these are folded.
const UNFOLDED: usize = 6;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The learning curves of one metric.
pub(crate) struct CurveFigures {
    pub metric: String,
    /// One for each data set, at full size.
    pub large: Vec<Figure>,
    /// The same, small, without legends, for the page alone.
    pub small: Vec<String>,
    /// Confidence in differences from the baseline, as small figures for the page alone; empty without a baseline.
    pub differences: Vec<String>,
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

/// Content of the page.
pub(crate) struct Contents<'a> {
    /// The directory, as it was named.
    pub dir: &'a Path,
    pub headline: &'a [Fact],
    /// Cells that are finished.
    pub finished: usize,
    /// Cells of the experiment.
    pub cells: usize,
    /// Note about a study that is not finished.
    pub unfinished: Option<&'a str>,
    /// Number of cells whose rows were computed by another build, and the parts of the code that have changed.
    pub stale: usize,
    pub changed: &'a BTreeSet<String>,
    /// The tables of scores.
    pub scores: &'a [OfMetric],
    /// The tables over all data sets, one for each metric.
    pub across: &'a [Sheet],
    /// Reasons for missing comparisons of some metrics, in a sentence each.
    pub uncompared: &'a [String],
    /// The tables of time, questions and violated constraints.
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
    /// Files of numbers: the name, a description, the text.
    pub files: &'a [(&'static str, &'static str, Vec<u8>)],
    /// True if every cell of some point of a curve failed.
    pub all_failed: bool,
}

/// The page as HTML.
pub(crate) fn page(experiment: &Experiment, contents: &Contents) -> String {
    let sections: Vec<Section> = [
        curves(experiment, contents),
        across(experiment, contents),
        Some(scores(contents)),
        contents.supervision.section(experiment),
        verdicts::section(contents.verdicts, contents.unfinished),
        moved::section(contents.moved, experiment),
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
                title { (title(experiment)) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                "\n"
                main {
                    (summary(experiment, contents))
                    (with_navigation(&sections, &controls(experiment)))
                }
                script { (PreEscaped(SCRIPT)) }
                "\n"
            }
        }
        "\n"
    };
    // Thousands of marks: shorter, they are a twentieth of the page.
    // An element with a title inside does not end with an attribute.
    let shorter = [("\"></path>", "\"/>"), ("\"></rect>", "\"/>"), ("\"></circle>", "\"/>")];
    shorter.iter().fold(page.into_string(), |page, (long, short)| page.replace(long, short))
}

fn title(experiment: &Experiment) -> &str {
    let head = &experiment.head;
    if head.title.is_empty() { &head.name } else { &head.title }
}

/// The answer of the study, then the run and its progress.
fn summary(experiment: &Experiment, contents: &Contents) -> Markup {
    let split = &experiment.split;
    let changed: Vec<&str> = contents.changed.iter().map(String::as_str).collect();
    html! {
        h1 { (title(experiment)) }
        "\n"
        @if !experiment.head.description.is_empty() { p { (experiment.head.description) } "\n" }
        div class="answer" {
            @for (name, text, target) in contents.headline {
                @let named = html! { @if let Some(id) = target { a href={ "#" (id) } { (name) } } @else { (name) } };
                p class=[name.is_empty().then_some("lead")] {
                    @if !name.is_empty() { b { (named) ":" } " " }
                    (text)
                }
                "\n"
            }
            @if contents.finished < contents.cells {
                p {
                    b { "Not complete:" } " " (contents.finished) " of " (count(contents.cells, "cell"))
                    " are finished. Run the same command again for the others."
                }
                "\n"
            }
            @if contents.stale > 0 {
                p {
                    b { (contents.stale) " of these cells were made by another build" } " (changed: "
                    (changed.join(", ")) "). mustlink run computes them again."
                }
                "\n"
            }
        }
        "\n"
        p class="dim" {
            "seed " (experiment.head.seed) " · " (count(split.repeats(), "repeat")) " × "
            (count(split.folds(), "fold")) " · mustlink " (env!("CARGO_PKG_VERSION"))
        }
        "\n"
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
                "Hidden methods disappear from tables and figures. Bold marks, ranks, tests and the axes of \
                 figures still include them."
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
    let sheets = || contents.scores.iter().flat_map(|s| &s.sheets);
    let wide = sheets().any(Sheet::is_wide);
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
        (explanations(sheets()))
    };
    Section::new("Scores", body)
}

fn across(experiment: &Experiment, contents: &Contents) -> Option<Section> {
    let body = html! {
        @for sheet in contents.across { (sheet.html()) }
        (explanations(contents.across))
        @for why in contents.uncompared { p { (why) } "\n" }
        @if !contents.across.is_empty() {
            p class="screen" { (file_link("statistics.csv")) ": all of these numbers, and more tests" }
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
        @for of in &figures.curves {
            @if let Some(grid) = &of.grid {
                div class="together" data-files=(grid.files(experiment)) {
                    h3 { (of.metric) }
                    "\n"
                    (legend(experiment))
                    div class="small" {
                        "\n"
                        @for (svg, large) in of.small.iter().zip(&of.large) {
                            figure data-files=(large.files(experiment)) { (PreEscaped(svg)) }
                            "\n"
                        }
                    }
                }
                "\n"
                @if let Some(baseline) = &experiment.plot.baseline {
                    details class="screen" {
                        summary { "Confidence in differences from " (baseline) }
                        p class="dim" { "In percent; above 0: higher than " (baseline) ", below 0: lower." }
                        (legend(experiment))
                        div class="small" { @for svg in &of.differences { figure { (PreEscaped(svg)) } "\n" } }
                    }
                }
            } @else {
                div class="together" {
                    h3 { (of.metric) }
                    "\n"
                    div class="figures" {
                        "\n"
                        @for figure in &of.large { (figure.html(experiment, false)) }
                    }
                }
            }
            "\n"
        }
        details class="how" {
            summary { "How to read the curves" }
            p {
                "Lines: means"
                @if experiment.methods.len() > MOST_BANDS {
                    "; no bands, because those of more than " (MOST_BANDS) " methods cover each other; the number at a \
                     point has its interval"
                } @else if observations(experiment) >= FEWEST {
                    "; bands: " (percent(experiment.stats.level)) " % intervals, cut at the limits of the metric"
                } @else {
                    "; no bands, because an interval needs at least " (FEWEST) " repeats"
                }
                ". Two strokes at the foot of an axis: it does not begin at 0. A bar across a line: the selector had no more questions, and the clustering stays the same after \
                 it. A hollow point: some cells failed, and the point is the mean of the others. "
                @if contents.all_failed { "If all cells of a point failed, the line has no point there. " }
                "Each data set has its own axes. Point at a curve, or focus it and press the arrow keys, to see \
                 its numbers; click it, or press Enter, to enlarge it. "
                (file_link("summary.csv")) " has all numbers."
                @if let Some(few) = few_repeats(experiment) { " " (few) }
            }
        }
    };
    (!figures.curves.is_empty()).then(|| Section::new("Learning curves", body))
}

/// The methods with their lines.
fn legend(experiment: &Experiment) -> Markup {
    html! {
        div class="legend" {
            @for (at, method) in experiment.methods.iter().enumerate() {
                span data-m=(at) { (swatch(at)) " " (method.id) }
            }
        }
        "\n"
    }
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
    let all = html! {
        div class="figures" {
            "\n"
            @for figure in &figures.weights { (figure.html(experiment, true)) }
        }
    };
    let body = html! {
        p class="dim" { (heat_map::HOW) }
        "\n"
        @if figures.weights.len() > UNFOLDED {
            details { summary { (count(figures.weights.len(), "figure")) } (all) }
        } @else {
            (all)
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
        p { code { "mustlink retry " (dir) } " runs all of them again. If you ran the study with --data-dir, add it here, too." }
        "\n"
        (plain_table("Failed cells", &heads, &rows))
        @if failed.len() > LISTED {
            p class="dim" { "and " (failed.len() - LISTED) " more in results.csv" }
        }
    };
    let section = Section { id: Some("failed"), ..Section::new("Failed cells", body) };
    (!failed.is_empty()).then_some(section)
}

/// Texts for an author to copy.
fn paper(contents: &Contents) -> Section {
    let body = html! {
        p class="about" { (contents.paragraph) }
        "\n"
        details { summary { "BibTeX of exactly these methods" } pre tabindex="0" { (contents.bibtex) } }
        "\n"
        @if !contents.without_entry.is_empty() {
            p class="dim" {
                "mustlink has no BibTeX entry for " (contents.without_entry.join(", "))
                ". mustlink cite --bib FILE takes entries from your own bibliography."
            }
            "\n"
        }
        (file("tables.tex", "tables for LaTeX (booktabs)", contents.latex))
        (file("tables.md", "tables for Markdown", contents.markdown))
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
        @for (name, about, text) in contents.files { (file(name, about, &String::from_utf8_lossy(text))) }
        p {
            "Numbers here have six digits. The files next to this page have all digits; results.csv has every row, and \
             the folder figures has the figures."
        }
        "\n"
        @if contents.data.is_empty() {
            p class="dim" { "Hashes of the data are not stored here; mustlink run stores them." }
        } @else {
            (plain_table(caption, &heads, &rows))
        }
        // Printed, it would take more paper than all the rest; config.toml has it.
        (file("config.toml", "the configuration, with all defaults", &experiment.resolved_toml()))
    };
    Section::new("Data", body)
}
