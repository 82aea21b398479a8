//! Which differences between methods hold over the data sets?
//!
//! Methods are ranked on every data set by their mean score; the tests are those of Demšar (2006), García et
//! al. (2010) and Benavoli et al. (2017). Data sets on which a method has no score are left out, and named.

use std::fmt::Write;

use mustlink::{Error, Result};
use serde::Serialize;

use super::columns::find;
use super::curves::CurveSummary;
use crate::config::Experiment;
use crate::statistics::bayes::{self, Probabilities};
use crate::statistics::multiple::{critical_difference, holm};
use crate::statistics::paired::{Null, SignedRank, Zeros, signed_rank};
use crate::statistics::several::{Aligned, AlignedError, Friedman, aligned, friedman};
use crate::svg::escape;

/// Difference of scores up to which two methods count as equal.
const ROPE: f64 = 0.01;
/// Differences beyond this are wins and losses.
const TIE: f64 = 1e-9;

/// How a method compares with the one of best mean rank.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The method.
    pub method: String,
    /// Its mean rank; 1 is the best.
    pub rank: f64,
    /// Its mean aligned rank.
    pub aligned_rank: f64,
    /// z and p of its aligned rank against the best method's, and p after Holm's adjustment; absent for
    /// that method itself.
    pub against_best: Option<(f64, f64, f64)>,
    /// Data sets where it is better, equal and worse than the best method.
    pub record: (usize, usize, usize),
    /// Mean margin where it is better, and where it is worse.
    pub margins: (Option<f64>, Option<f64>),
    /// The signed-rank test of these differences.
    pub signed_rank: SignedRank,
    /// The Bayesian one: it is better, no practical difference, it is worse.
    pub bayes: Option<Probabilities>,
}

/// The methods on all data sets, under one metric.
#[derive(Debug, Clone, PartialEq)]
pub struct Significance {
    /// Column of the metric.
    pub metric: String,
    /// Whether the areas of curves were compared, not scores at the last point.
    pub area: bool,
    /// The data sets that count.
    pub sets: Vec<String>,
    /// Those left out because a method has no score there.
    pub left_out: Vec<String>,
    /// Friedman's test.
    pub friedman: Friedman,
    /// That on aligned ranks.
    pub aligned: Aligned,
    /// Mean ranks farther apart than this differ at 5 % (Nemenyi).
    pub critical_difference: f64,
    /// The methods, best mean rank first.
    pub methods: Vec<Comparison>,
}

/// Every metric of which two methods have scores on two data sets.
pub(super) fn of(experiment: &Experiment, curves: &[CurveSummary]) -> Vec<Significance> {
    let metrics = experiment.columns().iter().zip(&experiment.scoring.metrics);
    metrics
        .filter_map(|(column, metric)| {
            let sign = if metric.properties().higher_is_better { 1.0 } else { -1.0 };
            of_metric(experiment, curves, column, sign)
        })
        .collect()
}

fn of_metric(
    experiment: &Experiment,
    curves: &[CurveSummary],
    metric: &str,
    sign: f64,
) -> Option<Significance> {
    let of = |set: &str, method: &str| find(curves, set, method, metric);
    let area = curves.iter().any(|c| c.metric == metric && c.area.is_some());
    let score = |set: &str, method: &str| -> Option<f64> {
        let curve = of(set, method)?;
        let whole = curve.points.iter().all(|p| p.failed == 0);
        let summary = match area {
            true => curve.area.as_ref(),
            false => curve.points.last()?.score.as_ref(),
        };
        summary.filter(|_| whole).map(|s| sign * s.mean)
    };
    let methods: Vec<&str> = experiment.methods.iter().map(|m| m.id.as_str()).collect();
    let (mut sets, mut left_out, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for set in &experiment.datasets {
        let row: Option<Vec<f64>> = methods.iter().map(|m| score(&set.id, m)).collect();
        match row {
            Some(row) => {
                sets.push(set.id.clone());
                rows.push(row);
            }
            None => left_out.push(set.id.clone()),
        }
    }
    let (friedman, aligned) = (friedman(&rows)?, aligned(&rows)?);
    let mut order: Vec<usize> = (0..methods.len()).collect();
    order.sort_by(|&a, &b| friedman.ranks[a].total_cmp(&friedman.ranks[b]));
    let best = order[0];
    let z = aligned.against(best, AlignedError::Permutation);
    let others: Vec<usize> = order[1..].to_vec();
    let adjusted = holm(&others.iter().map(|&j| z[j].1).collect::<Vec<_>>());
    let compare = |&j: &usize| {
        let differences: Vec<f64> = rows.iter().map(|row| row[j] - row[best]).collect();
        let mean = |keep: &dyn Fn(f64) -> bool| {
            let kept: Vec<f64> = differences.iter().copied().filter(|d| keep(*d)).collect();
            let mean = kept.iter().sum::<f64>().abs() / kept.len() as f64;
            (kept.len(), (!kept.is_empty()).then_some(mean))
        };
        let (better, worse) = (mean(&|d| d > TIE), mean(&|d| d < -TIE));
        let at = others.iter().position(|&o| o == j);
        Comparison {
            method: methods[j].to_string(),
            rank: friedman.ranks[j],
            aligned_rank: aligned.totals[j] / aligned.sets as f64,
            against_best: at.map(|at| (z[j].0, z[j].1, adjusted[at])),
            record: (better.0, differences.len() - better.0 - worse.0, worse.0),
            margins: (better.1, worse.1),
            signed_rank: signed_rank(&differences, Zeros::Drop, Null::Auto),
            bayes: at.and_then(|_| bayes::signed_rank(&differences, ROPE, experiment.head.seed)),
        }
    };
    let methods: Vec<Comparison> = order.iter().map(compare).collect();
    Some(Significance {
        metric: metric.to_string(),
        area,
        critical_difference: critical_difference(methods.len(), sets.len(), 0.05),
        sets,
        left_out,
        friedman,
        aligned,
        methods,
    })
}

#[derive(Serialize)]
struct Line<'a> {
    metric: &'a str,
    value: &'a str,
    data_sets: usize,
    method: &'a str,
    mean_rank: f64,
    aligned_rank: f64,
    z: Option<f64>,
    p: Option<f64>,
    p_holm: Option<f64>,
    better: usize,
    equal: usize,
    worse: usize,
    margin_better: Option<f64>,
    margin_worse: Option<f64>,
    p_signed_rank: f64,
    probability_better: Option<f64>,
    probability_equal: Option<f64>,
    probability_worse: Option<f64>,
    friedman_chi_squared: f64,
    friedman_p: f64,
    iman_davenport_f: Option<f64>,
    iman_davenport_p: f64,
    aligned_t: f64,
    aligned_p: f64,
    aligned_p_printed: f64,
    nemenyi_critical_difference: f64,
}

/// A line per metric and method.
pub(super) fn to_csv(all: &[Significance]) -> Result<Vec<u8>> {
    let fail = |e: &dyn std::fmt::Display| Error::Data {
        place: "statistics.csv".into(),
        message: e.to_string(),
    };
    let mut writer = csv::Writer::from_writer(Vec::new());
    for s in all {
        for m in &s.methods {
            let line = Line {
                metric: &s.metric,
                value: if s.area { "area" } else { "last point" },
                data_sets: s.sets.len(),
                method: &m.method,
                mean_rank: m.rank,
                aligned_rank: m.aligned_rank,
                z: m.against_best.map(|a| a.0),
                p: m.against_best.map(|a| a.1),
                p_holm: m.against_best.map(|a| a.2),
                better: m.record.0,
                equal: m.record.1,
                worse: m.record.2,
                margin_better: m.margins.0,
                margin_worse: m.margins.1,
                p_signed_rank: m.signed_rank.p,
                probability_better: m.bayes.map(|b| b.first),
                probability_equal: m.bayes.map(|b| b.equal),
                probability_worse: m.bayes.map(|b| b.second),
                friedman_chi_squared: s.friedman.chi_squared,
                friedman_p: s.friedman.p,
                iman_davenport_f: Some(s.friedman.f).filter(|f| f.is_finite()),
                iman_davenport_p: s.friedman.f_p,
                aligned_t: s.aligned.t,
                aligned_p: s.aligned.p,
                aligned_p_printed: s.aligned.p_printed,
                nemenyi_critical_difference: s.critical_difference,
            };
            writer.serialize(line).map_err(|e| fail(&e))?;
        }
    }
    writer.into_inner().map_err(|e| fail(&e))
}

/// The section of the page.
pub(super) fn html(h: &mut String, all: &[Significance]) {
    if all.is_empty() {
        return;
    }
    h.push_str("<h2>Over all data sets</h2>\n");
    for s in all {
        let what = if s.area { "area" } else { "last point" };
        let _ = write!(h, "<h3>{}, {what}</h3>\n<p>{} data sets", escape(&s.metric), s.sets.len());
        if !s.left_out.is_empty() {
            let _ = write!(
                h,
                " (left out, as a method has no score there: {})",
                escape(&s.left_out.join(", "))
            );
        }
        let _ = writeln!(
            h,
            ". Friedman: χ² {:.2}, p {}; Iman–Davenport: p {}; aligned ranks: p {}. Mean ranks {:.2} apart \
             differ at 5 % (Nemenyi).</p>",
            s.friedman.chi_squared,
            shown_p(s.friedman.p),
            shown_p(s.friedman.f_p),
            shown_p(s.aligned.p),
            s.critical_difference
        );
        h.push_str(
            "<div class=\"scroll\"><table><tr><th class=\"l\">method</th><th>mean rank</th><th>p (Holm)</th>\
             <th>better (by)</th><th>equal</th><th>worse (by)</th><th>signed rank p</th>\
             <th>P(better)</th><th>P(equal)</th><th>P(worse)</th></tr>\n",
        );
        for m in &s.methods {
            let best = m.against_best.is_none();
            let cell = |text: String| if best { "–".to_string() } else { text };
            let by = |count: usize, margin: Option<f64>| match margin {
                Some(margin) => format!("{count} ({margin:.3})"),
                None => count.to_string(),
            };
            let probability = |of: fn(&Probabilities) -> f64| {
                m.bayes.as_ref().map_or("–".to_string(), |b| format!("{:.2}", of(b)))
            };
            let _ = writeln!(
                h,
                "<tr><td class=\"l\">{}</td><td>{:.2}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>\
                 <td>{}</td><td>{}</td><td>{}</td></tr>",
                escape(&m.method),
                m.rank,
                m.against_best.map_or("–".to_string(), |a| shown_p(a.2)),
                cell(by(m.record.0, m.margins.0)),
                cell(m.record.1.to_string()),
                cell(by(m.record.2, m.margins.1)),
                cell(shown_p(m.signed_rank.p)),
                probability(|b| b.first),
                probability(|b| b.equal),
                probability(|b| b.second),
            );
        }
        h.push_str("</table></div>\n");
    }
    let _ = writeln!(
        h,
        "<p class=\"dim\">All against the method of best mean rank: z of aligned ranks with Holm's adjustment, \
         data sets won and lost with mean margins, Wilcoxon's signed-rank test, and its Bayesian form with \
         differences up to {ROPE} as equal. <a href=\"statistics.csv\">numbers</a></p>"
    );
}

fn shown_p(p: f64) -> String {
    match p < 0.001 {
        true => "&lt; .001".into(),
        false => format!("{p:.3}"),
    }
}
