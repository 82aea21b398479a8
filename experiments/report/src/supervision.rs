//! The section about supervision that lowered scores.
//!
//! Every method that asks is compared with its unconstrained twin: itself before the first question, or
//! another method with the same clusterer that asks nothing. Davidson, Wagstaff and Basu (2006) show that
//! constraint sets can lower the score on average, and measure two properties that explain it:
//! informativeness and coherence.

use maud::{Markup, html};
use serde_json::Value;

use crate::figure::{cell, csv};
use crate::samples;
use crate::section::{Section, file_link};
use crate::sheet::{Cell, Line, Sheet, difference, few};
use crate::significance::shown_p;
use crate::statistics::multiple::holm;
use crate::statistics::paired::{Side, paired_t};
use crate::statistics::several::unit;
use mustlink_experiments::verdict::{Results, Sample};
use mustlink_experiments::{Experiment, MethodSpec};

/// Differences this small do not count.
const TIE: f64 = 1e-9;
/// At most this many differences that may be chance are listed unfolded.
const LISTED: usize = 10;

/// A method against its twin on one data set under one metric.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Benefit {
    pub metric: String,
    pub dataset: String,
    pub method: String,
    pub twin: String,
    /// Mean of method less twin, above 0 where supervision helped, whatever the direction of the metric.
    pub mean: f64,
    /// True if that is below 0 by more than rounding.
    pub worse: bool,
    /// Pairs of cells, and p of the paired t test after Holm's adjustment over all pairs of the metric.
    pub pairs: usize,
    pub p: Option<f64>,
    pub informativeness: Option<f64>,
    pub coherence: Option<f64>,
}

impl Benefit {
    fn is_significant(&self) -> bool {
        self.p.is_some_and(|p| p < 0.05)
    }
}

/// Result of the comparison.
#[derive(Debug, Default)]
pub(crate) struct Supervision {
    pub benefits: Vec<Benefit>,
    /// Methods that ask and have no twin.
    pub alone: Vec<String>,
    /// Methods that ask and read no constraints, so that nothing can differ.
    pub unread: Vec<String>,
    /// True if informativeness and coherence are scored.
    pub informativeness: bool,
    pub coherence: bool,
}

/// Parts of a method apart from asking.
fn without_questions(method: &MethodSpec) -> Option<[&Value; 3]> {
    let clusterer = method.config.get("clusterer").filter(|c| !c.is_null())?;
    Some([clusterer, &method.config["k"], &method.config["transforms"]])
}

/// Compares every method that asks with its twin.
pub(crate) fn compare(experiment: &Experiment, results: &Results, correction: f64) -> Supervision {
    let starts_at_0 =
        experiment.points.numbers().is_ok_and(|p| p.first() == Some(&0) && p.len() > 1);
    let scored = || experiment.columns().iter().zip(&experiment.scoring.metrics);
    let column = |tag: &str| {
        let mut found = scored().filter(|(_, m)| m.typetag_name() == tag);
        found.next().map(|(column, _)| column.as_str())
    };
    let (informativeness, coherence) = (column("informativeness"), column("coherence"));
    let mut out = Supervision {
        informativeness: informativeness.is_some(),
        coherence: coherence.is_some(),
        ..Supervision::default()
    };
    let asking = experiment.methods.iter().filter(|m| m.asks());
    let (asking, unread): (Vec<_>, Vec<_>) = asking.partition(|m| m.reads_constraints());
    let twin_of = |method: &MethodSpec| {
        let mut others = experiment.methods.iter().filter(|m| !m.asks());
        others.find(|m| {
            let own = without_questions(method);
            own.is_some() && own == without_questions(m)
        })
    };
    out.unread = unread.into_iter().map(|m| m.id.clone()).collect();
    for method in &asking {
        if !starts_at_0 && twin_of(method).is_none() {
            out.alone.push(method.id.clone());
        }
    }
    for (metric, plugin) in scored() {
        let facts = plugin.properties();
        // Scores of the constraints themselves say nothing about the clusters.
        let unfit = facts.needs_constraints || facts.needs_unconstrained || facts.needs_ensemble;
        if unfit || !facts.ranked {
            continue;
        }
        let sign = if facts.higher_is_better { 1.0 } else { -1.0 };
        let mut mine = Vec::new();
        for dataset in &experiment.datasets {
            // With constraints of its own a data set has no unconstrained point.
            let given = dataset.constraints.is_some() || dataset.labels.is_some();
            let own = starts_at_0 && !given;
            for method in &asking {
                let curve = |method: &str| samples::curve(results, &dataset.id, metric, method);
                let Some((_, with)) = curve(&method.id).and_then(|c| c.last()) else { continue };
                let (twin, without): (String, &Sample) = match (own, twin_of(method)) {
                    (true, _) => match curve(&method.id).and_then(|c| c.first()) {
                        Some((_, without)) => ("itself without questions".into(), without),
                        None => continue,
                    },
                    (false, Some(twin)) if !given => match curve(&twin.id).and_then(|c| c.last()) {
                        Some((_, without)) => (twin.id.clone(), without),
                        None => continue,
                    },
                    _ => continue,
                };
                let differences = samples::differences(with, without);
                let differences: Vec<f64> = differences.iter().map(|d| sign * d).collect();
                if differences.is_empty() {
                    continue;
                }
                let of_set = |column: Option<&str>| {
                    let curve = samples::curve(results, &dataset.id, column?, &method.id)?;
                    samples::mean(&curve.last()?.1)
                };
                let mean = differences.iter().sum::<f64>() / differences.len() as f64;
                let unit = unit(with.values().chain(without.values()).copied());
                mine.push(Benefit {
                    metric: metric.clone(),
                    dataset: dataset.id.clone(),
                    method: method.id.clone(),
                    twin,
                    mean,
                    worse: mean * unit < -TIE,
                    pairs: differences.len(),
                    p: paired_t(&differences, Side::Two, correction)
                        .filter(|t| !t.degenerate)
                        .map(|t| t.p),
                    informativeness: of_set(informativeness),
                    coherence: of_set(coherence),
                });
            }
        }
        let tested: Vec<f64> = mine.iter().filter_map(|b| b.p).collect();
        let mut adjusted = holm(&tested).into_iter();
        for benefit in mine.iter_mut().filter(|b| b.p.is_some()) {
            benefit.p = adjusted.next();
        }
        out.benefits.extend(mine);
    }
    out
}

impl Supervision {
    /// Every comparison, one per line.
    pub fn to_csv(&self) -> Vec<u8> {
        let head = "metric,dataset,method,twin,mean_benefit,pairs,p_holm,informativeness,coherence";
        let lines = self.benefits.iter().map(|b| {
            vec![
                b.metric.clone(),
                b.dataset.clone(),
                b.method.clone(),
                b.twin.clone(),
                b.mean.to_string(),
                b.pairs.to_string(),
                cell(b.p),
                cell(b.informativeness),
                cell(b.coherence),
            ]
        });
        csv(head, lines)
    }

    /// Table of means below 0, the worst first; `None` if no mean is below 0.
    pub fn sheet(&self, experiment: &Experiment) -> Option<Sheet> {
        let mut hurt: Vec<&Benefit> = self.benefits.iter().filter(|b| b.worse).collect();
        hurt.sort_by(|a, b| {
            b.is_significant().cmp(&a.is_significant()).then(a.mean.total_cmp(&b.mean))
        });
        let three = |v: f64| format!("{v:.3}");
        let line = |b: &&Benefit| {
            let lower =
                Cell { bold: b.is_significant(), ..Cell::number(Some(-b.mean), difference) };
            let mut cells = vec![
                Cell::text(&b.dataset),
                Cell::text(&b.method),
                Cell::text(&b.metric),
                lower,
                Cell::number(b.p, shown_p),
                Cell::text(&b.twin),
            ];
            if self.informativeness {
                cells.push(Cell::number(b.informativeness, three));
            }
            if self.coherence {
                cells.push(Cell::number(b.coherence, three));
            }
            let method = experiment.methods.iter().position(|m| m.id == b.method);
            Line { method, cells }
        };
        let mut head = vec!["data set", "method", "metric", "worse by", "p (Holm)", "twin"];
        head.extend(self.informativeness.then_some("informativeness"));
        head.extend(self.coherence.then_some("coherence"));
        let sheet = Sheet {
            caption: "Where supervision hurt".into(),
            note: "Mean at the last point, compared with the unconstrained twin. Bold: significant (paired t test \
                   at 5 %, with Holm's adjustment over all pairs of the metric)."
                .into(),
            head: head.into_iter().map(|h| (h.to_string(), None)).collect(),
            lines: hurt.iter().map(line).collect(),
            words: vec![1, 2, 5],
            ..Sheet::default()
        };
        (!hurt.is_empty()).then_some(sheet)
    }

    /// The cases in which answers hurt, in one sentence; `None` if nothing was compared.
    pub fn finding(&self) -> Option<String> {
        let mut worse: Vec<&Benefit> = self.benefits.iter().filter(|b| b.worse).collect();
        worse.sort_by(|a, b| a.mean.total_cmp(&b.mean));
        let surely: Vec<String> = worse
            .iter()
            .filter(|b| b.is_significant())
            .map(|b| format!("{} on {} ({})", b.method, b.dataset, b.metric))
            .collect();
        let (all, below) = (self.benefits.len(), worse.len());
        let rest = below - surely.len();
        let more = match rest {
            0 => String::new(),
            _ => format!(" In {rest} more it is worse, which may be chance."),
        };
        let text = match (surely.is_empty(), rest) {
            (true, 0) => {
                format!("in none of {all} comparisons with the same method without answers.")
            }
            (true, _) => format!(
                "nowhere significantly. In {rest} of {all} comparisons the score is worse than that of the same method \
                 without answers, which may be chance."
            ),
            (false, _) => format!(
                "in {} of {all} comparisons the score is significantly worse than that of the same method without \
                 answers: {}.{more}",
                surely.len(),
                few(&surely)
            ),
        };
        (all > 0).then_some(text)
    }

    /// The section of the page; `None` without anything to say.
    pub fn section(&self, experiment: &Experiment) -> Option<Section> {
        if self.benefits.is_empty() && self.alone.is_empty() && self.unread.is_empty() {
            return None;
        }
        let surely = self.benefits.iter().filter(|b| b.worse && b.is_significant()).count();
        let mut sheet = self.sheet(experiment).unwrap_or_default();
        let listed = sheet.lines.len().min(surely.max(LISTED));
        let rest = sheet.lines.split_off(listed);
        let rest = Sheet { lines: rest, note: String::new(), ..sheet.clone() };
        let body = html! {
            @if !sheet.lines.is_empty() { (sheet.html()) }
            @if !rest.lines.is_empty() {
                details class="fold" {
                    summary { (rest.lines.len()) " more, which may be chance" }
                    "\n"
                    (rest.html())
                }
                "\n"
            }
            @if let Some(first) = self.alone.first() {
                p {
                    b { "No twin:" } " " (self.alone.join(", ")) ". Put 0 first among the points under "
                    code { "[curve]" } ", or add a " code { "[[method]]" } " with "
                    code { "clusterer = \"same:" (first) "\"" } " and no selector."
                }
                "\n"
            }
            @if !self.unread.is_empty() {
                p {
                    b { "Not compared:" } " " (self.unread.join(", ")) ". A method that asks but reads no \
                     constraints has the same result with and without answers."
                }
                "\n"
            }
            (self.reasons())
            @if !self.benefits.is_empty() { p { (file_link("supervision.csv")) ": every comparison" } }
        };
        Some(Section { id: Some("supervision"), ..Section::new("Where supervision hurt", body) })
    }

    /// Possible reasons, or how to have them scored.
    fn reasons(&self) -> Markup {
        let scored = [("informativeness", self.informativeness), ("coherence", self.coherence)];
        let absent: Vec<&str> = scored.iter().filter(|s| !s.1).map(|s| s.0).collect();
        html! {
            p class="dim" {
                @if absent.is_empty() {
                    "Informativeness: share of the constraints that the clustering without them violates. \
                     Coherence: share of must-link and cannot-link pairs that do not contradict each other \
                     in their directions. If either is low, constraints are more likely to hurt \
                     (Davidson, Wagstaff and Basu 2006)."
                } @else {
                    "Why constraints hurt is not shown: " (absent.join(" and ")) " of the constraint sets \
                     (Davidson, Wagstaff and Basu 2006) " (if absent.len() == 1 { "is" } else { "are" })
                    " not scored. Add "
                    @for (at, name) in absent.iter().enumerate() {
                        @if at > 0 { " and " }
                        code { "\"" (name) "\"" }
                    }
                    " to " code { "metrics" } " under " code { "[scoring]" } ", with "
                    code { "scope = \"train\"" } " or " code { "\"all\"" } "."
                }
            }
            "\n"
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use mustlink_experiments::results::CellRows;
    use mustlink_experiments::row::Row;

    use super::*;

    #[test]
    fn tiny_scores_are_worse_as_others_are() {
        let text = "[experiment]\nname = \"t\"\n[[dataset]]\nid = \"iris\"\n[split]\ntype = \"all\"\nrepeats = 3\n\
                    [curve]\npoints = [0, 5]\n[scoring]\nmetrics = [\"sse\"]\n\
                    [[method]]\nid = \"a\"\nclusterer = \"pck_means\"\nselector = \"random_pairs\"\n";
        let experiment = Experiment::parse("t.toml", text, Path::new("."), &[]).unwrap();
        let worse = |first: f64, last: f64| {
            let row = |p: usize, repeat: usize, score: f64| Row {
                p_requested: Some(p),
                repeat,
                scores: [("sse".to_string(), Some(score))].into_iter().collect(),
                ..Row::default()
            };
            let cell = |repeat: usize| CellRows {
                dataset: "iris".into(),
                method: "a".into(),
                identity: String::new(),
                repeat,
                rows: vec![row(0, repeat, first), row(5, repeat, last)],
                changed: BTreeSet::new(),
            };
            let cells: Vec<CellRows> = (0..3).map(cell).collect();
            let results = samples::results(&experiment, &cells);
            compare(&experiment, &results, 0.0).benefits[0].worse
        };
        assert!(worse(1.0, 2.0) && worse(1e-12, 2e-12));
        assert!(!worse(2e-12, 1e-12) && !worse(1.0, 1.0 + 1e-12) && !worse(0.0, 0.0));
    }
}
