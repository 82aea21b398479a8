//! The verdicts on claims.
//!
//! Criteria are judged data set by data set, and the numbers that decided are written down. A
//! missing data set is reported as missing and never replaced.

use std::fmt::Write;

use maud::{Markup, html};
use mustlink_core::Result;
use mustlink_datasets::csv_text;
use serde::Serialize;

use crate::section::{Section, file_link};
use mustlink_experiments::verdict::{EvalError, Formula, Results, shown};
use mustlink_experiments::{Criterion, Experiment};

/// Result of a criterion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Judgement {
    /// It holds wherever it was to hold.
    Reproduced,
    /// It holds on some data sets, or on all that exist while others are missing.
    Partly,
    /// It does not hold.
    NotReproduced,
    /// None of its numbers exists.
    NoData,
}

impl Judgement {
    /// The words used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Judgement::Reproduced => "reproduced",
            Judgement::Partly => "partly",
            Judgement::NotReproduced => "not reproduced",
            Judgement::NoData => "no data",
        }
    }
}

/// One data set of a verdict.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The data set; empty where the claim is about all together.
    pub dataset: String,
    /// True if it holds; absent without results.
    pub holds: Option<bool>,
    /// The numbers that decided, or what is missing.
    pub numbers: String,
    /// Those that the criterion shows, three digits each; empty where it names none.
    pub shown: String,
}

/// A criterion, judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The criterion.
    pub criterion: Criterion,
    /// Result of the criterion.
    pub judgement: Judgement,
    /// Data set by data set.
    pub findings: Vec<Finding>,
}

impl Verdict {
    /// Reason why it does not hold, if the file gives one.
    pub fn why(&self) -> Option<&str> {
        let why = self.criterion.why.as_deref();
        why.filter(|_| self.judgement == Judgement::NotReproduced)
    }

    /// Summary in a few words: sets on which it holds, on which it does not, and without a result.
    pub fn note(&self) -> String {
        let list = |holds: Option<bool>| {
            let mine = self.findings.iter().filter(|f| f.holds == holds);
            mine.map(|f| f.dataset.as_str())
                .filter(|d| !d.is_empty())
                .collect::<Vec<_>>()
                .join(", ")
        };
        let mut parts = Vec::new();
        let (yes, no, absent) = (list(Some(true)), list(Some(false)), list(None));
        if !yes.is_empty() && (!no.is_empty() || !absent.is_empty()) {
            parts.push(format!("holds on {yes}"));
        }
        if !no.is_empty() {
            parts.push(format!("not on {no}"));
        }
        if !absent.is_empty() {
            parts.push(format!("no data: {absent}"));
        }
        parts.join("; ")
    }
}

/// Judges the criteria of an experiment on its results.
pub(crate) fn judge(experiment: &Experiment, results: &Results) -> Vec<Verdict> {
    experiment.criteria.iter().map(|c| verdict(c, experiment, results)).collect()
}

fn verdict(criterion: &Criterion, experiment: &Experiment, results: &Results) -> Verdict {
    let text = criterion.check.as_ref().or(criterion.value.as_ref());
    // The file was checked when it was read.
    let formula = text.ok_or_else(String::new).and_then(|t| Formula::parse(t));
    let named: Vec<&str> = match (&criterion.datasets, &criterion.printed) {
        (Some(list), _) => list.iter().map(String::as_str).collect(),
        (None, Some(printed)) => {
            let all = experiment.datasets.iter().map(|d| d.id.as_str());
            all.filter(|id| printed.contains_key(*id)).collect()
        }
        (None, None) => experiment.datasets.iter().map(|d| d.id.as_str()).collect(),
    };
    let findings = match formula {
        Err(message) => vec![finding("", Err(EvalError::Wrong(message)), String::new())],
        Ok(formula) if formula.is_about_sets() => {
            let sets = results.sets.iter().filter(|s| named.contains(&s.id.as_str()));
            let some = Results { sets: sets.cloned().collect(), ..results.clone() };
            let missing = named.len() - some.sets.len();
            let judged = match missing {
                m if m > 0 && criterion.all_sets => {
                    Err(EvalError::NoData(format!("{m} of {} data sets are not here", named.len())))
                }
                _ if criterion.all_sets => formula.judge_all(&some),
                _ => formula.judge(&some, None),
            };
            let judged = judged.map(|j| (j.holds, j.numbers.join("; ")));
            vec![finding("", judged, shows(criterion, &some, None))]
        }
        Ok(formula) => named
            .iter()
            .map(|id| {
                let at = results.sets.iter().position(|s| s.id == *id);
                let judged = match at {
                    None => Err(EvalError::NoData("not here".into())),
                    Some(_) if criterion.check.is_some() => {
                        formula.judge(results, at).map(|j| (j.holds, j.numbers.join("; ")))
                    }
                    Some(_) => formula.number(results, at).and_then(|n| compare(criterion, id, n)),
                };
                let shown = at.map_or(String::new(), |_| shows(criterion, results, at));
                finding(id, judged, shown)
            })
            .collect(),
    };
    let count = |holds: Option<bool>| findings.iter().filter(|f| f.holds == holds).count();
    let (yes, no, absent) = (count(Some(true)), count(Some(false)), count(None));
    let needed = criterion.at_least.unwrap_or(findings.len());
    // "At least 4" is not half true of 2; "on all" is, of some.
    let open = criterion.at_least.is_none() || yes + absent >= needed;
    let judgement = match yes + no {
        0 => Judgement::NoData,
        _ if yes >= needed => Judgement::Reproduced,
        _ if yes > 0 && open => Judgement::Partly,
        _ => Judgement::NotReproduced,
    };
    Verdict { criterion: criterion.clone(), judgement, findings }
}

fn finding(dataset: &str, judged: Result<(bool, String), EvalError>, shown: String) -> Finding {
    let (holds, numbers) = match judged {
        Ok((holds, numbers)) => (Some(holds), numbers),
        Err(EvalError::NoData(what) | EvalError::Wrong(what)) => (None, what),
    };
    Finding { dataset: dataset.into(), holds, numbers, shown }
}

/// The numbers that a criterion shows.
fn shows(criterion: &Criterion, results: &Results, set: Option<usize>) -> String {
    let number = |text: &str| {
        let found = Formula::parse(text).ok().and_then(|f| f.number(results, set).ok());
        found.map_or("–".to_string(), |(x, _)| three_digits(x))
    };
    criterion.shows().into_iter().map(number).collect::<Vec<_>>().join(" ")
}

/// A number with three digits, or as many as it has before the point.
pub fn three_digits(v: f64) -> String {
    let decimals = match v.abs() {
        _ if v.fract() == 0.0 => 0,
        a => (2.0 - a.log10().floor()).clamp(0.0, 4.0) as usize,
    };
    let text = format!("{v:.decimals$}");
    let is_zero = text.trim_start_matches('-').chars().all(|c| c == '0' || c == '.');
    if is_zero { "0".into() } else { text }
}

/// Our number next to the printed one.
fn compare(
    criterion: &Criterion,
    set: &str,
    (ours, interval): (f64, Option<(f64, f64)>),
) -> Result<(bool, String), EvalError> {
    let printed = criterion.printed.as_ref().and_then(|p| p.get(set)).copied();
    let Some(printed) = printed else { return Err(EvalError::NoData("nothing printed".into())) };
    let inside = interval.is_some_and(|(low, high)| (low..=high).contains(&printed));
    let (holds, rule) = match (criterion.factor, &criterion.tolerance) {
        (Some(factor), _) => {
            // Of numbers below 0 the larger multiple is the smaller number.
            let (a, b) = (printed / factor, printed * factor);
            let near = (a.min(b)..=a.max(b)).contains(&ours);
            (near, format!("within a factor {}", shown(factor)))
        }
        (None, tolerance) => match tolerance.as_ref().and_then(|t| t.on(set)) {
            // Decimals as printed: 0.85 is within 0.05 of 0.8.
            Some(x) => ((ours - printed).abs() <= x * (1.0 + 1e-12), format!("± {}", shown(x))),
            None => (false, "in our interval".into()),
        },
    };
    // What is to be equal is not near enough for being uncertain.
    let tolerance = criterion.tolerance.as_ref().and_then(|t| t.on(set));
    let exact = criterion.factor.is_none() && tolerance == Some(0.0);
    // Then it is not the rule that holds.
    let ruled = criterion.factor.is_some() || tolerance.is_some();
    let held_by = if ruled && !exact && inside && !holds { ", in our interval" } else { "" };
    let range = interval.map_or(String::new(), |(a, b)| format!(" [{}, {}]", shown(a), shown(b)));
    Ok((
        holds || inside && !exact,
        format!("ours {}{range}, printed {} {rule}{held_by}", shown(ours), shown(printed)),
    ))
}

/// The formula of a claim, as it was written.
fn formula(criterion: &Criterion) -> &str {
    criterion.check.as_deref().or(criterion.value.as_deref()).unwrap_or_default()
}

/// A line per criterion and data set.
pub(crate) fn to_csv(verdicts: &[Verdict]) -> Result<Vec<u8>> {
    let head = ["criterion", "verdict", "dataset", "holds", "numbers", "formula", "statement"];
    csv_text("verdicts.csv", |out| {
        out.write_record(head)?;
        for Verdict { criterion: c, judgement, findings } in verdicts {
            for f in findings {
                let holds = f.holds.map_or("", |h| if h { "yes" } else { "no" });
                let (formula, judgement) = (formula(c), judgement.name());
                let line = [&c.id, judgement, &f.dataset, holds, &f.numbers, formula, &c.statement];
                out.write_record(line)?;
            }
        }
        Ok(())
    })
}

/// The verdicts for the terminal, one line each.
pub(crate) fn text(verdicts: &[Verdict]) -> String {
    let mut out = String::new();
    let widest = verdicts.iter().map(|v| v.criterion.id.chars().count()).max().unwrap_or(0);
    for v in verdicts {
        let _ = write!(
            out,
            "{:widest$}  {:14}  {}",
            v.criterion.id,
            v.judgement.name(),
            v.criterion.statement
        );
        let note = v.note();
        let _ = if note.is_empty() { writeln!(out) } else { writeln!(out, " ({note})") };
    }
    if !verdicts.is_empty() {
        let count = |s: Judgement| verdicts.iter().filter(|v| v.judgement == s).count();
        let _ = writeln!(
            out,
            "{} criteria: {} reproduced, {} partly, {} not reproduced, {} without data",
            verdicts.len(),
            count(Judgement::Reproduced),
            count(Judgement::Partly),
            count(Judgement::NotReproduced),
            count(Judgement::NoData)
        );
    }
    out
}

/// The section of the page, with a note about an unfinished study.
pub(crate) fn section(verdicts: &[Verdict], unfinished: Option<&str>) -> Option<Section> {
    let heads = ["criterion", "claim", "verdict", "data set", "holds", "numbers"];
    let body = html! {
        div class="scroll" {
            table {
                caption { "Claims, judged" }
                "\n"
                tr { @for head in heads { th scope="col" class="l" { (head) } } }
                "\n"
                @for verdict in verdicts {
                    @for (at, finding) in verdict.findings.iter().enumerate() {
                        (row(verdict, finding, at == 0))
                        "\n"
                    }
                }
            }
        }
        @if let Some(note) = unfinished { p class="dim" { (note.trim_start()) } }
        p { (file_link("verdicts.csv")) ": the same as a table" }
    };
    (!verdicts.is_empty()).then(|| Section::new("Criteria", body))
}

/// One data set of a verdict; the first row also contains the text about all sets.
fn row(verdict: &Verdict, finding: &Finding, first: bool) -> Markup {
    let c = &verdict.criterion;
    let rows = verdict.findings.len();
    let class = match verdict.judgement {
        Judgement::NotReproduced => "l bad",
        _ => "l",
    };
    html! {
        tr class=[first.then_some("first")] {
            @if first {
                td class="l" rowspan=(rows) { (c.id) }
                td class="w" rowspan=(rows) {
                    (c.statement) br; code { (formula(c)) }
                    @if let Some(why) = verdict.why() { br; "Why not: " (why) }
                }
                td class=(class) rowspan=(rows) { b { (verdict.judgement.name()) } }
            }
            td class="l" { (finding.dataset) }
            td class="l" { (finding.holds.map_or("–", |holds| if holds { "yes" } else { "no" })) }
            td class="w" { (finding.numbers) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_experiments::Tolerance;
    use std::collections::BTreeMap;

    fn criterion(printed: f64, tolerance: Option<f64>, factor: Option<f64>) -> Criterion {
        Criterion {
            id: "1".into(),
            statement: "s".into(),
            null: None,
            own: false,
            chosen: None,
            show: None,
            all_sets: false,
            why: None,
            datasets: None,
            check: None,
            at_least: None,
            value: Some("last(ari('a'))".into()),
            printed: Some(BTreeMap::from([("iris".to_string(), printed)])),
            tolerance: tolerance.map(Tolerance::Same),
            factor,
        }
    }

    #[test]
    fn a_printed_number_agrees_within_its_tolerance_or_our_interval() {
        let near =
            |c: Criterion, ours: f64, interval| compare(&c, "iris", (ours, interval)).unwrap().0;
        assert!(near(criterion(0.8, Some(0.05), None), 0.85, None));
        assert!(!near(criterion(0.8, Some(0.05), None), 0.8501, None));
        assert!(near(criterion(0.8, Some(0.01), None), 0.9, Some((0.79, 1.01))));
        assert!(!near(criterion(0.8, None, None), 0.9, Some((0.81, 1.0))));
        assert!(near(criterion(10731.0, Some(0.0), None), 10731.0, None));
        assert!(!near(criterion(10731.0, Some(0.0), None), 10732.0, None));
        assert!(!near(criterion(0.7, Some(0.0), None), 0.676, Some((0.64, 0.71))));
        assert!(near(criterion(3000.0, None, Some(1.5)), 2000.0, None));
        assert!(!near(criterion(3000.0, None, Some(1.5)), 1999.0, None));
        let (_, said) =
            compare(&criterion(0.8, Some(0.05), None), "iris", (0.84, Some((0.8, 0.88)))).unwrap();
        assert_eq!(said, "ours 0.8400 [0.8000, 0.8800], printed 0.8000 ± 0.0500");
        let (_, said) =
            compare(&criterion(0.8, Some(0.01), None), "iris", (0.9, Some((0.79, 1.01)))).unwrap();
        assert_eq!(said, "ours 0.9000 [0.7900, 1.0100], printed 0.8000 ± 0.0100, in our interval");
        assert!(near(criterion(-2.0, None, Some(2.0)), -3.9, None));
        assert!(!near(criterion(-2.0, None, Some(2.0)), -0.9, None));
    }
}
