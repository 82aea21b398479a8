//! The numbers of all comparisons over data sets as a table: `statistics.csv`.

use mustlink_core::Result;

use crate::figure::Value::{self, Count, Number, Text};
use crate::figure::named_csv;
use crate::significance::{Comparison, Significance};

/// The numbers of a method under a metric, with the names of their columns.
fn row<'a>(s: &'a Significance, m: &'a Comparison) -> Vec<(&'static str, Value<'a>)> {
    vec![
        ("metric", Text(&s.metric)),
        ("value", Text(if s.area { "area" } else { "last point" })),
        ("data_sets", Count(s.sets.len())),
        ("method", Text(&m.method)),
        ("mean_rank", Number(Some(m.rank))),
        ("chance_best", Number(Some(m.best.mean))),
        ("chance_best_low", Number(Some(m.best.interval.0))),
        ("chance_best_high", Number(Some(m.best.interval.1))),
        ("aligned_rank", Number(Some(m.aligned_rank))),
        ("z", Number(m.against_best.map(|a| a.0))),
        ("p", Number(m.against_best.map(|a| a.1))),
        ("p_holm", Number(m.against_best.map(|a| a.2))),
        ("better", Count(m.record.0)),
        ("equal", Count(m.record.1)),
        ("worse", Count(m.record.2)),
        ("margin_better", Number(m.margins.0)),
        ("margin_worse", Number(m.margins.1)),
        ("shift", Number(m.effect.map(|e| e.shift))),
        ("shift_low", Number(m.effect.and_then(|e| e.interval).map(|i| i.0))),
        ("shift_high", Number(m.effect.and_then(|e| e.interval).map(|i| i.1))),
        ("rank_biserial", Number(m.effect.and_then(|e| e.rank_biserial))),
        ("p_signed_rank", Number(Some(m.signed_rank.p))),
        ("probability_better", Number(m.bayes.map(|b| b.first))),
        ("probability_equal", Number(m.bayes.map(|b| b.equal))),
        ("probability_worse", Number(m.bayes.map(|b| b.second))),
        ("next_better", Number(m.next.map(|n| n.probabilities.first))),
        ("next_equal", Number(m.next.map(|n| n.probabilities.equal))),
        ("next_worse", Number(m.next.map(|n| n.probabilities.second))),
        ("next_decided_better", Number(m.next.map(|n| n.decided.first))),
        ("next_decided_equal", Number(m.next.map(|n| n.decided.equal))),
        ("next_decided_worse", Number(m.next.map(|n| n.decided.second))),
        ("friedman_chi_squared", Number(Some(s.friedman.chi_squared))),
        ("friedman_p", Number(Some(s.friedman.p))),
        ("iman_davenport_f", Number(Some(s.friedman.f).filter(|f| f.is_finite()))),
        ("iman_davenport_p", Number(Some(s.friedman.f_p))),
        ("aligned_t", Number(Some(s.aligned.t))),
        ("aligned_p", Number(Some(s.aligned.p))),
        ("aligned_p_printed", Number(Some(s.aligned.p_printed))),
        ("nemenyi_critical_difference", Number(Some(s.critical_difference))),
    ]
}

/// A line per metric and method.
pub(crate) fn to_csv(all: &[Significance]) -> Result<Vec<u8>> {
    let rows = all.iter().flat_map(|s| s.methods.iter().map(move |m| row(s, m)));
    named_csv("statistics.csv", rows)
}
