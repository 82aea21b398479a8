//! Differences between methods over the data sets, and their significance.
//!
//! Methods are ranked on every data set by their mean score; the tests are those of Demšar (2006), García et
//! al. (2010) and Benavoli et al. (2017). Data sets on which a method has no score are left out, and named.

use crate::columns::{directions, find, percent};
use crate::cross_validation::Folds;
use crate::curves::{CurveSummary, PointSummary};
use crate::learning_curve::mean_text;
use crate::sheet::{Cell, Line, Sheet};
use crate::statistics::bayes::{self, Probabilities};
use crate::statistics::effect::{Effect, effect_in};
use crate::statistics::hierarchical::Next;
use crate::statistics::multiple::{critical_difference, holm};
use crate::statistics::paired::{SignedRank, signed_rank};
use crate::statistics::plackett_luce::{Worth, worths};
use crate::statistics::several::{Aligned, Friedman, aligned, friedman, unit};
use mustlink_core::text::count;
use mustlink_experiments::Experiment;
use mustlink_experiments::verdict::Results;

/// Difference of scores up to which two methods count as equal.
const ROPE: f64 = 0.01;
/// Differences beyond this are wins and losses.
pub(crate) const TIE: f64 = 1e-9;
/// The level of tests.
pub(crate) const LEVEL: f64 = 0.05;

/// Comparison of a method with the control. If the file names no control, it is the method with the best mean
/// rank, and the adjustment is over all pairs.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The method.
    pub method: String,
    /// Its number among the methods of the experiment.
    pub number: usize,
    /// Its mean rank; 1 is the best.
    pub rank: f64,
    /// Probability, with its interval, that it is the best of the methods on a new data set.
    pub best: Worth,
    /// Its mean aligned rank.
    pub aligned_rank: f64,
    /// z and p of its aligned rank against the control's, and p after Holm's adjustment; absent for that
    /// method itself.
    pub against_best: Option<(f64, f64, f64)>,
    /// Data sets where it is better, equal and worse than the control.
    pub record: (usize, usize, usize),
    /// Mean margin where it is better, and where it is worse.
    pub margins: (Option<f64>, Option<f64>),
    /// Size of the difference of its scores from those of the control.
    pub effect: Option<Effect>,
    /// The signed-rank test of these differences.
    pub signed_rank: SignedRank,
    /// Bayesian signed-rank test: probabilities that it is better, practically equal and worse.
    pub bayes: Option<Probabilities>,
    /// These probabilities for a new data set, from the differences of folds; absent without cross-validation.
    pub next: Option<Next>,
}

/// The methods on all data sets, under one metric.
#[derive(Debug, Clone, PartialEq)]
pub struct Significance {
    /// Column of the metric.
    pub metric: String,
    /// True if the areas of curves were compared, not scores at the last point.
    pub area: bool,
    /// The data sets that count.
    pub sets: Vec<String>,
    /// Those left out because a method has no score in some cell there.
    pub left_out: Vec<String>,
    /// Friedman's test.
    pub friedman: Friedman,
    /// That on aligned ranks.
    pub aligned: Aligned,
    /// Mean ranks farther apart than this differ at 5 % (Nemenyi).
    pub critical_difference: f64,
    /// The methods, best mean rank first.
    pub methods: Vec<Comparison>,
    /// The control, where the file names it.
    pub control: Option<String>,
    /// True if a larger score is the better one.
    pub higher_is_better: bool,
    /// The score of each of these methods on each of `sets`.
    pub scores: Vec<Vec<f64>>,
    /// Prediction from the folds of two of these methods for a next data set; empty without cross-validation.
    pub next: Vec<Vec<Option<Next>>>,
    /// Confidence of the intervals, `0..1`.
    pub level: f64,
}

/// Every metric with a better end of which two methods have scores on two data sets. `correlation` is that of
/// two folds, where it was cross-validated.
pub(crate) fn of(
    experiment: &Experiment,
    curves: &[CurveSummary],
    results: &Results,
    correlation: Option<f64>,
) -> Vec<Significance> {
    let metrics = experiment.columns().iter().zip(directions(experiment));
    metrics
        .filter_map(|(column, higher)| {
            let sign = if higher? { 1.0 } else { -1.0 };
            of_metric(experiment, curves, correlation.map(|c| (results, c)), column, sign)
        })
        .collect()
}

fn of_metric(
    experiment: &Experiment,
    curves: &[CurveSummary],
    folds: Option<(&Results, f64)>,
    metric: &str,
    sign: f64,
) -> Option<Significance> {
    let of = |set: &str, method: &str| find(curves, set, method, metric);
    let area = curves.iter().any(|c| c.metric == metric && c.area.is_some());
    let cells = |set: &str| {
        let of_set = curves.iter().filter(|c| c.dataset == set && c.metric == metric);
        of_set.flat_map(|c| &c.points).map(|p| p.scored + p.undefined).max()
    };
    let score = |set: &str, method: &str, cells: Option<usize>| -> Option<f64> {
        let curve = of(set, method)?;
        // Means over other cells than those of the rivals are no pair.
        let has_all = |p: &PointSummary| Some(p.scored + p.undefined) == cells && p.failed == 0;
        let whole = curve.points.iter().all(has_all);
        let defined = if area {
            curve.points.iter().all(|p| p.undefined == 0)
        } else {
            curve.points.last()?.undefined == 0
        };
        let summary = if area { curve.area.as_ref() } else { curve.points.last()?.score.as_ref() };
        summary.filter(|_| whole && defined).map(|s| sign * s.mean)
    };
    let methods: Vec<&str> = experiment.methods.iter().map(|m| m.id.as_str()).collect();
    let (mut sets, mut left_out, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for set in &experiment.datasets {
        let cells = cells(&set.id);
        let row: Option<Vec<f64>> = methods.iter().map(|m| score(&set.id, m, cells)).collect();
        match row {
            Some(row) => {
                sets.push(set.id.clone());
                rows.push(row);
            }
            None => left_out.push(set.id.clone()),
        }
    }
    let times = |row: &[f64], unit: f64| row.iter().map(|v| v * unit).collect::<Vec<f64>>();
    // Of one data set, and of all of them.
    let of_sets: Vec<_> = rows.iter().map(|r| times(r, unit(r.iter().copied()))).collect();
    let of_all = unit(rows.iter().flatten().copied());
    let alike: Vec<_> = rows.iter().map(|row| times(row, of_all)).collect();
    let (friedman, aligned) = (friedman(&of_sets)?, aligned(&alike)?);
    let level = experiment.stats.level;
    let chances = worths(&of_sets, level, experiment.head.seed)?;
    let order = mustlink_core::order::ascending(&friedman.ranks);
    let control = experiment.stats.control.as_deref();
    let best = control.and_then(|id| methods.iter().position(|m| *m == id)).unwrap_or(order[0]);
    let z = aligned.against(best);
    let others: Vec<usize> = order.iter().copied().filter(|&j| j != best).collect();
    let adjusted = match control {
        Some(_) => holm(&others.iter().map(|&j| z[j].1).collect::<Vec<_>>()),
        None => over_all_pairs(&aligned, best, &others),
    };
    let place = order.iter().position(|&j| j == best)?;
    let next = folds.map_or(Vec::new(), |(results, correlation)| {
        let ordered: Vec<&str> = order.iter().map(|&j| methods[j]).collect();
        let folds = Folds::of(results, metric, area, &ordered, &sets);
        folds.compared(place, (sign, ROPE), correlation, experiment.head.seed)
    });
    let compare = |(at, &j): (usize, &usize)| {
        let differences: Vec<f64> = rows.iter().map(|row| row[j] - row[best]).collect();
        let apart = of_sets.iter().map(|row| row[j] - row[best]);
        let apart: Vec<(f64, f64)> = differences.iter().copied().zip(apart).collect();
        let mean = |keep: &dyn Fn(f64) -> bool| {
            let kept = apart.iter().filter(|(_, in_unit)| keep(*in_unit));
            let kept: Vec<f64> = kept.map(|(difference, _)| *difference).collect();
            let mean = kept.iter().sum::<f64>().abs() / kept.len() as f64;
            (kept.len(), (!kept.is_empty()).then_some(mean))
        };
        let (better, worse) = (mean(&|d| d > TIE), mean(&|d| d < -TIE));
        let other = others.iter().position(|&o| o == j);
        Comparison {
            method: methods[j].to_string(),
            number: j,
            rank: friedman.ranks[j],
            best: chances[j],
            aligned_rank: aligned.totals[j] / aligned.sets as f64,
            against_best: other.map(|other| (z[j].0, z[j].1, adjusted[other])),
            record: (better.0, differences.len() - better.0 - worse.0, worse.0),
            margins: (better.1, worse.1),
            effect: other.and_then(|_| {
                // No difference is 0, not −0, whichever end is the better.
                let own: Vec<f64> = differences.iter().map(|d| sign * d + 0.0).collect();
                effect_in(of_all, &own, level)
            }),
            signed_rank: signed_rank(&times(&differences, of_all)),
            bayes: other.and_then(|_| bayes::signed_rank(&differences, ROPE, experiment.head.seed)),
            next: next.get(at).and_then(|of| of[place]),
        }
    };
    let methods: Vec<Comparison> = order.iter().enumerate().map(compare).collect();
    let scores = order.iter().map(|&j| rows.iter().map(|row| sign * row[j]).collect()).collect();
    Some(Significance {
        higher_is_better: sign > 0.0,
        scores,
        next,
        metric: metric.to_string(),
        area,
        critical_difference: critical_difference(methods.len(), sets.len(), 0.05),
        control: control.map(str::to_string),
        sets,
        left_out,
        friedman,
        aligned,
        methods,
        level,
    })
}

/// p of each of `others` against `control` by aligned ranks, after Holm's adjustment over every two methods: a
/// control that the scores chose might have been any of them.
fn over_all_pairs(aligned: &Aligned, control: usize, others: &[usize]) -> Vec<f64> {
    let k = aligned.totals.len();
    let (mut pairs, mut p) = (Vec::new(), Vec::new());
    for first in 0..k {
        for (second, (_, of_pair)) in aligned.against(first).into_iter().enumerate().skip(first + 1)
        {
            pairs.push((first, second));
            p.push(of_pair);
        }
    }
    let adjusted = holm(&p);
    let of = |other: usize| {
        let pair = (control.min(other), control.max(other));
        pairs.iter().position(|p| *p == pair).map_or(1.0, |at| adjusted[at])
    };
    others.iter().map(|&other| of(other)).collect()
}

impl Significance {
    /// Title of the comparison.
    pub(crate) fn title(&self) -> String {
        format!("{}, {}", self.metric, if self.area { "area" } else { "last point" })
    }

    /// Data sets where method number `a` of [`methods`](Self::methods) is better than, equal to and worse
    /// than number `b`.
    pub(crate) fn record(&self, a: usize, b: usize) -> (usize, usize, usize) {
        let sign = if self.higher_is_better { 1.0 } else { -1.0 };
        let pairs = self.scores[a].iter().zip(&self.scores[b]).enumerate();
        let of_set = |set: usize| unit(self.scores.iter().map(|of| of[set]));
        let differences: Vec<f64> =
            pairs.map(|(set, (x, y))| sign * (x - y) * of_set(set)).collect();
        let better = differences.iter().filter(|d| **d > TIE).count();
        let worse = differences.iter().filter(|d| **d < -TIE).count();
        (better, differences.len() - better - worse, worse)
    }

    /// The unit in which scores of all data sets are compared.
    pub(crate) fn unit(&self) -> f64 {
        unit(self.scores.iter().flatten().copied())
    }

    /// Smallest possible p of the pairs, if it cannot reject: each pair by itself, and after
    /// Holm's adjustment over all of them.
    pub(crate) fn powerless(&self) -> Option<String> {
        let (sets, k) = (self.sets.len(), self.methods.len());
        let (one, pairs) = (least_p(sets), k * (k - 1) / 2);
        let all = (one * pairs as f64).min(1.0);
        let adjusted = match pairs {
            1 => String::new(),
            _ => format!(" × {pairs} pairs = {}", plain(all)),
        };
        (all >= LEVEL).then(|| {
            format!(
                "with {sets} data sets no pair can be below p = {}{adjusted}: nothing can be significant",
                plain(one)
            )
        })
    }

    /// True if folds were compared.
    pub(crate) fn has_next(&self) -> bool {
        self.methods.iter().any(|m| m.next.is_some())
    }

    /// Mean score of method number `at` over the data sets.
    pub(crate) fn mean(&self, at: usize) -> f64 {
        self.scores[at].iter().sum::<f64>() / self.scores[at].len() as f64
    }

    /// A row per method: mean, mean rank, data sets won and lost, tests. All other numbers are in statistics.csv.
    pub(crate) fn sheet(&self) -> Sheet {
        let level = percent(self.level);
        let (chance, shift) = (format!("P(best) ({level} %)"), format!("shift ({level} %)"));
        let next = self.has_next();
        let last = if next { "next set: better / equal / worse" } else { &shift };
        let heads =
            ["method", "mean", "mean rank", &chance, "wins / ties / losses", "p (Holm)", last];
        let k = self.methods.len();
        let lines = self.methods.iter().enumerate().map(|(at, m)| {
            let all = (0..k).filter(|b| *b != at).map(|b| self.record(at, b));
            let record = all.fold((0, 0, 0), |s, r| (s.0 + r.0, s.1 + r.1, s.2 + r.2));
            let cells = vec![
                Cell::text(&m.method),
                Cell::number(Some(self.mean(at)), |v| mean_text(v, None)),
                Cell::number(Some(m.rank), |v| format!("{v:.2}")),
                chance_cell(&m.best),
                Cell {
                    value: Some(record.0 as f64),
                    ..Cell::text(format!("{} / {} / {}", record.0, record.1, record.2))
                },
                Cell::number(m.against_best.map(|a| a.2), shown_p),
                if next { next_cell(m.next.as_ref()) } else { shift_cell(m.effect) },
            ];
            Line { method: Some(m.number), cells }
        });
        let against = match &self.control {
            Some(control) => format!("the control, {control}"),
            None => "the method with the best mean rank".into(),
        };
        let adjusted = match self.control {
            Some(_) => "these comparisons",
            None => "all pairs of methods, because the experiment file names no control",
        };
        let mut how = vec![
            "Methods are compared by their ranks within data sets, because scores of different data sets are not a \
             sample of one normal distribution. Rank 1 is the best."
                .to_string(),
            "P(best): the probability that the method is the best of these on a new data set, estimated from the ranks \
             (Plackett and Luce)."
                .into(),
            "Wins, ties and losses: comparisons with all other methods on all data sets.".into(),
            format!(
                "p: the probability of a difference at least this large between the aligned ranks of the method and those \
                 of {against}, if the two methods do not differ. Below .05, the difference is significant. Holm's adjustment \
                 is over {adjusted}."
            ),
        ];
        how.push(if next {
            format!(
                "Next set: the probabilities that, on a new data set, the method is better than {against} by more than \
                 {ROPE}, equal, or worse by more than {ROPE} (hierarchical Bayesian model of the differences of folds, \
                 which share training objects)."
            )
        } else {
            format!(
                "Shift: the typical difference, scores of the method less those of {against} (Hodges and Lehmann)."
            )
        });
        let [found, tests] = self.finding();
        let mut note = format!(
            "{found} Tests: {tests} The tests use {}{}. Friedman: χ² {:.2}, p {}; Iman–Davenport: p {}; aligned ranks: p {}. \
             Mean ranks {:.2} apart differ at 5 % (Nemenyi).",
            count(self.sets.len(), "data set"),
            if self.left_out.is_empty() {
                String::new()
            } else {
                format!(
                    " (left out, because a method has no score on them: {})",
                    self.left_out.join(", ")
                )
            },
            self.friedman.chi_squared,
            shown_p(self.friedman.p),
            shown_p(self.friedman.f_p),
            shown_p(self.aligned.p),
            self.critical_difference,
        );
        let one = least_p(self.sets.len());
        if one >= LEVEL {
            note += &format!(" No signed-rank p can be below {}.", plain(one));
        }
        if self.sets.len() < 5 {
            note += " With so few data sets these tests see only large differences.";
        }
        Sheet {
            caption: format!("{} over all data sets", self.title()),
            lead: "Tests: ",
            how,
            note,
            head: heads.map(|h| (h.to_string(), None)).into(),
            lines: lines.collect(),
            words: Vec::new(),
        }
    }
}

/// Probabilities of better, equal and worse, as 0.90 / 0.08 / 0.02.
fn next_cell(next: Option<&Next>) -> Cell {
    let Some(p) = next.map(|n| n.probabilities) else { return Cell::text("–") };
    let text = format!("{:.2} / {:.2} / {:.2}", p.first, p.equal, p.second);
    Cell { value: Some(p.first), ..Cell::text(text) }
}

/// A chance with its interval, as 0.42 [0.10, 0.75].
fn chance_cell(best: &Worth) -> Cell {
    let (low, high) = best.interval;
    let text = format!("{:.2} [{low:.2}, {high:.2}]", best.mean);
    Cell { value: Some(best.mean), ..Cell::text(text) }
}

/// A shift with its interval, as +.031 [.002, .060].
fn shift_cell(effect: Option<Effect>) -> Cell {
    let Some(e) = effect else { return Cell::text("–") };
    let interval = e.interval.map(|(low, high)| format!(" [{low:+.3}, {high:+.3}]"));
    let text = format!("{:+.3}{}", e.shift, interval.unwrap_or_default());
    Cell { value: Some(e.shift), ..Cell::text(text) }
}

/// The smallest p of a two-sided signed-rank test: all of `sets` differences have one sign.
fn least_p(sets: usize) -> f64 {
    signed_rank(&(1..=sets).map(|at| at as f64).collect::<Vec<_>>()).p
}

/// A probability without its zeros: .0625, .5, 1.
fn plain(p: f64) -> String {
    let text = format!("{p:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "1" { text.into() } else { text.trim_start_matches('0').into() }
}

/// A p value for readers.
pub(crate) fn shown_p(p: f64) -> String {
    match p {
        p if p < 0.001 => "< .001".into(),
        // Rounded to 0.050, a significant p would look as if it were not significant.
        p if p < LEVEL && format!("{p:.3}") == "0.050" => "< .050".into(),
        p => format!("{p:.3}"),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::curves::PointSummary;
    use mustlink_experiments::statistics::Summary;
    use std::path::Path;

    /// Methods with these scores on six data sets, a little more on each next one.
    pub(crate) fn significance(metric: &str, methods: &[&str], scores: &[f64]) -> Significance {
        significance_with("", metric, methods, scores)
    }

    /// The same with sections of the file.
    fn significance_with(
        sections: &str,
        metric: &str,
        methods: &[&str],
        scores: &[f64],
    ) -> Significance {
        significance_of(sections, metric, methods, scores, 1.0)
    }

    /// The same with scores that are so many times as large.
    fn significance_of(
        sections: &str,
        metric: &str,
        methods: &[&str],
        scores: &[f64],
        times: f64,
    ) -> Significance {
        let mut text =
            format!("[experiment]\nname = \"t\"\n[scoring]\nmetrics = [\"{metric}\"]\n{sections}");
        let sets: Vec<String> = (0..6).map(|at| format!("set{at}")).collect();
        sets.iter().for_each(|s| text += &format!("[[dataset]]\nid = \"{s}\"\n"));
        methods
            .iter()
            .for_each(|m| text += &format!("[[method]]\nid = \"{m}\"\nclusterer = \"kmeans\"\n"));
        let experiment = Experiment::parse("t.toml", &text, Path::new("."), &[]).unwrap();
        let mut curves = Vec::new();
        for (number, dataset) in sets.iter().enumerate() {
            for (method, score) in methods.iter().zip(scores) {
                let score = Summary::of(&[times * (score + 0.01 * number as f64)], 0.95);
                curves.push(CurveSummary {
                    dataset: dataset.clone(),
                    method: method.to_string(),
                    metric: metric.into(),
                    points: vec![PointSummary {
                        p: 0.0,
                        score,
                        scored: 1,
                        undefined: 0,
                        failed: 0,
                    }],
                    area: None,
                    area_failed: 0,
                    area_undefined: 0,
                    end: None,
                });
            }
        }
        let results = crate::samples::results(&experiment, &[]);
        of(&experiment, &curves, &results, None).remove(0)
    }

    #[test]
    fn tiny_scores_are_compared_as_others_are() {
        let of = |times: f64| significance_of("", "sse", &["a", "b", "c"], &[0.1, 0.2, 0.3], times);
        let (usual, tiny) = (of(1.0), of(2f64.powi(-60)));
        for (one, other) in usual.methods.iter().zip(&tiny.methods) {
            assert_eq!((&one.method, one.rank, one.best), (&other.method, other.rank, other.best));
            assert_eq!((one.record, one.against_best), (other.record, other.against_best));
            assert_eq!(one.signed_rank.p, other.signed_rank.p);
            let size = |m: &Comparison| m.effect.and_then(|e| e.rank_biserial);
            assert_eq!(size(one), size(other));
        }
        assert_eq!((usual.record(0, 2), tiny.record(0, 2)), ((6, 0, 0), (6, 0, 0)));
    }

    #[test]
    fn tests_that_cannot_reject_are_named() {
        let mut found = significance("ari", &["a", "b", "c"], &[0.1, 0.2, 0.3]);
        // Six data sets: .03125 for a pair, three pairs.
        let said = found.powerless().unwrap();
        assert!(
            said.starts_with("with 6 data sets no pair can be below p = .0312 × 3 pairs = .0938:"),
            "{said}"
        );
        assert!(!found.sheet().note.contains("No signed-rank p"));
        found.sets.truncate(5);
        found.methods.truncate(2);
        let said = found.powerless().unwrap();
        assert!(said.starts_with("with 5 data sets no pair can be below p = .0625: "), "{said}");
        assert!(found.sheet().note.contains("No signed-rank p can be below .0625."));
        found.sets.resize(7, "more".into());
        assert_eq!(found.powerless(), None);
        found.sets.truncate(1);
        assert!(found.powerless().unwrap().contains("below p = 1:"));
    }

    #[test]
    fn the_finding_claims_no_more_than_the_tests() {
        let said = |sections: &str, methods: &[&str], scores: &[f64]| {
            significance_with(sections, "ari", methods, scores).finding()
        };
        let (abc, scores) = (["a", "b", "c"], [0.1, 0.2, 0.3]);
        let [lead, tests] = said("", &abc, &scores);
        assert_eq!(lead, "c has the best mean rank, but its lead over b may be chance.");
        let shown = "). Compared with c, significantly worse: a; not significantly different: b.";
        assert!(tests.ends_with(shown), "{tests}");
        let [lead, _] = said("", &["a", "b"], &[0.1, 0.3]);
        assert_eq!(lead, "b is the best method: significantly better than a.");
        let [lead, tests] = said("", &abc, &[0.2, 0.2, 0.2]);
        assert_eq!(lead, "a, b, c share the best mean rank, but this may be chance.");
        assert!(
            tests.starts_with("by aligned ranks the methods do not differ significantly (p "),
            "{tests}"
        );
        let [lead, tests] = said("[stats]\ncontrol = \"b\"\n", &abc, &[0.1, 0.5, 0.52]);
        assert_eq!(
            lead,
            "c has the best mean rank, but its lead over the control, b, may be chance."
        );
        let [lead, _] = said("[stats]\ncontrol = \"a\"\n", &abc, &scores);
        assert_eq!(
            lead,
            "c has the best mean rank and is significantly better than the control, a."
        );
        assert!(
            tests.ends_with("). Compared with b, not significantly different: c, a."),
            "{tests}"
        );
        let found = significance("ari", &abc, &scores);
        assert_eq!(
            found.lead(),
            "c is typically 0.100 ahead of the next, b (95 % interval 0.100 to 0.100): mean ari 0.325 and 0.225; \
             better on 6 and worse on 0 of 6 data sets."
        );
        assert_eq!(found.sheet().head.len(), 7);
    }

    #[test]
    fn p_below_the_level_is_shown_below_it() {
        let shown = [0.0004, 0.0494, 0.04953, 0.05, 0.0504].map(shown_p);
        assert_eq!(shown, ["< .001", "0.049", "< .050", "0.050", "0.050"]);
    }

    #[test]
    fn a_control_that_the_scores_chose_is_adjusted_over_all_pairs() {
        let (methods, scores) = (["a", "b", "c"], [0.1, 0.2, 0.3]);
        let of = |found: &Significance, method: &str| {
            let found = found.methods.iter().find(|m| m.method == method).unwrap();
            let (_, p, adjusted) = found.against_best.unwrap();
            adjusted / p
        };
        // The last is best everywhere; the others are as far from each other as from their neighbour.
        let chosen = significance("ari", &methods, &scores);
        assert!((of(&chosen, "a") - 3.0).abs() < 1e-9 && (of(&chosen, "b") - 2.0).abs() < 1e-9);
        let said = chosen.sheet().how.join(" ");
        assert!(said.contains("with the best mean rank, if the two methods"), "{said}");
        assert!(
            said.contains("Holm's adjustment is over all pairs of methods, because the"),
            "{said}"
        );
        let named = significance_with("[stats]\ncontrol = \"c\"\n", "ari", &methods, &scores);
        assert!((of(&named, "a") - 2.0).abs() < 1e-9 && (of(&named, "b") - 1.0).abs() < 1e-9);
        let said = named.sheet().how.join(" ");
        assert!(said.contains("and those of the control, c, if"), "{said}");
        assert!(said.contains("Holm's adjustment is over these comparisons."), "{said}");
    }

    #[test]
    fn intervals_have_the_level_of_the_file() {
        let shown = |sections| {
            let found = significance_with(sections, "ari", &["a", "b"], &[0.1, 0.2]);
            let sheet = found.sheet();
            let heads: Vec<String> = sheet.head.into_iter().map(|h| h.0).collect();
            let best = found.methods[0].best.interval;
            (heads.join(","), best.1 - best.0)
        };
        let (usual, half) = (shown(""), shown("[stats]\nlevel = 0.5\n"));
        assert!(usual.0.contains("P(best) (95 %)") && usual.0.contains("shift (95 %)"));
        assert!(half.0.contains("P(best) (50 %)") && half.0.contains("shift (50 %)"));
        assert!(half.1 < usual.1, "{half:?} {usual:?}");
    }

    #[test]
    fn wins_and_losses_know_the_direction() {
        for (metric, expected) in [("ari", (0, 0, 6)), ("vi", (6, 0, 0))] {
            let found = significance(metric, &["low", "high"], &[0.1, 0.2]);
            let at = |m: &str| found.methods.iter().position(|c| c.method == m).unwrap();
            assert_eq!(found.record(at("low"), at("high")), expected, "{metric}");
            assert_eq!(found.scores[at("low")][0], 0.1);
            // Against the better one the shift is that of the scores, whichever end is the better.
            let (other, shift) = if metric == "ari" { ("low", -0.1) } else { ("high", 0.1) };
            let effect = found.methods[at(other)].effect.unwrap();
            assert!((effect.shift - shift).abs() < 1e-12, "{effect:?}");
            assert_eq!(effect.rank_biserial, Some(shift.signum()));
            let equal = significance(metric, &["a", "b"], &[0.2, 0.2]);
            let effect = equal.methods.iter().find_map(|m| m.effect).unwrap();
            assert_eq!(effect.shift.to_bits(), 0.0f64.to_bits());
        }
    }
}
