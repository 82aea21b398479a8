//! The numbers of all comparisons over data sets as a table: `statistics.csv`.

use mustlink_core::Result;
use mustlink_datasets::csv_text;
use serde::Serialize;

use crate::significance::Significance;

#[derive(Serialize)]
struct Numbers<'a> {
    metric: &'a str,
    value: &'a str,
    data_sets: usize,
    method: &'a str,
    mean_rank: f64,
    chance_best: f64,
    chance_best_low: f64,
    chance_best_high: f64,
    aligned_rank: f64,
    z: Option<f64>,
    p: Option<f64>,
    p_holm: Option<f64>,
    better: usize,
    equal: usize,
    worse: usize,
    margin_better: Option<f64>,
    margin_worse: Option<f64>,
    shift: Option<f64>,
    shift_low: Option<f64>,
    shift_high: Option<f64>,
    rank_biserial: Option<f64>,
    p_signed_rank: f64,
    probability_better: Option<f64>,
    probability_equal: Option<f64>,
    probability_worse: Option<f64>,
    next_better: Option<f64>,
    next_equal: Option<f64>,
    next_worse: Option<f64>,
    next_decided_better: Option<f64>,
    next_decided_equal: Option<f64>,
    next_decided_worse: Option<f64>,
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
pub(crate) fn to_csv(all: &[Significance]) -> Result<Vec<u8>> {
    csv_text("statistics.csv", |out| {
        for s in all {
            for m in &s.methods {
                let line = Numbers {
                    metric: &s.metric,
                    value: if s.area { "area" } else { "last point" },
                    data_sets: s.sets.len(),
                    method: &m.method,
                    mean_rank: m.rank,
                    chance_best: m.best.mean,
                    chance_best_low: m.best.interval.0,
                    chance_best_high: m.best.interval.1,
                    aligned_rank: m.aligned_rank,
                    z: m.against_best.map(|a| a.0),
                    p: m.against_best.map(|a| a.1),
                    p_holm: m.against_best.map(|a| a.2),
                    better: m.record.0,
                    equal: m.record.1,
                    worse: m.record.2,
                    margin_better: m.margins.0,
                    margin_worse: m.margins.1,
                    shift: m.effect.map(|e| e.shift),
                    shift_low: m.effect.and_then(|e| e.interval).map(|i| i.0),
                    shift_high: m.effect.and_then(|e| e.interval).map(|i| i.1),
                    rank_biserial: m.effect.and_then(|e| e.rank_biserial),
                    p_signed_rank: m.signed_rank.p,
                    probability_better: m.bayes.map(|b| b.first),
                    probability_equal: m.bayes.map(|b| b.equal),
                    probability_worse: m.bayes.map(|b| b.second),
                    next_better: m.next.map(|n| n.probabilities.first),
                    next_equal: m.next.map(|n| n.probabilities.equal),
                    next_worse: m.next.map(|n| n.probabilities.second),
                    next_decided_better: m.next.map(|n| n.decided.first),
                    next_decided_equal: m.next.map(|n| n.decided.equal),
                    next_decided_worse: m.next.map(|n| n.decided.second),
                    friedman_chi_squared: s.friedman.chi_squared,
                    friedman_p: s.friedman.p,
                    iman_davenport_f: Some(s.friedman.f).filter(|f| f.is_finite()),
                    iman_davenport_p: s.friedman.f_p,
                    aligned_t: s.aligned.t,
                    aligned_p: s.aligned.p,
                    aligned_p_printed: s.aligned.p_printed,
                    nemenyi_critical_difference: s.critical_difference,
                };
                out.serialize(line)?;
            }
        }
        Ok(())
    })
}
