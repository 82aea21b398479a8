//! Scores of pairs of objects that are rightly together.
//!
//! Pairs named in `exclude` (those with explicit constraints in [Basu2004]) are in none of the counts.

use mustlink_core::prelude::*;
use mustlink_kernels::agreement::contingency::PairCounts;

use crate::parts::agreement::pairs;

/// True positives among `pairs`; 1 when there is nothing to find on either side, undefined when
/// only `pairs` is empty.
fn share(counts: &PairCounts, pairs: u64) -> Option<f64> {
    match pairs {
        0 => (counts.together() + counts.same_class() == 0).then_some(1.0),
        _ => Some(counts.true_positives as f64 / pairs as f64),
    }
}

/// Share of the pairs in one cluster that are in one class.
///
/// TP / (TP + FP), without excluded pairs. Undefined when no pair is in one cluster and some pair is in
/// one class; 1 when no pair is in either.
/// # References
/// [Eaton2005] eq. 2.11; [Basu2004] §5.2.
#[options]
pub struct PairPrecision {}

#[plugin("pair_precision", cites = ["Eaton2005", "Basu2004"])]
impl Metric for PairPrecision {
    fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
        let counts = pairs(self.typetag_name(), input)?;
        Ok(counts.and_then(|p| share(&p, p.together())))
    }
}

/// Share of the pairs in one class that are in one cluster.
///
/// TP / (TP + FN), without excluded pairs. Undefined when no pair is in one class and some pair is in
/// one cluster; 1 when no pair is in either.
/// # References
/// [Eaton2005] eq. 2.12; [Basu2004] §5.2.
#[options]
pub struct PairRecall {}

#[plugin("pair_recall", cites = ["Eaton2005", "Basu2004"])]
impl Metric for PairRecall {
    fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
        let counts = pairs(self.typetag_name(), input)?;
        Ok(counts.and_then(|p| share(&p, p.same_class())))
    }
}

/// Harmonic mean of pair precision and pair recall.
///
/// 2 TP / (2 TP + FP + FN), without excluded pairs. Undefined without any pairs; 1 when no pair is in one cluster and
/// no pair in one class, 0 when only one of the two holds.
/// # References
/// [Eaton2005] eq. 2.13; [Basu2004] §5.2.
#[options]
pub struct PairF {}

#[plugin("pair_f", cites = ["Eaton2005", "Basu2004"])]
impl Metric for PairF {
    fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
        let counts = pairs(self.typetag_name(), input)?;
        Ok(counts.map(|p| match p.together() + p.same_class() {
            0 => 1.0,
            both => (2 * p.true_positives) as f64 / both as f64,
        }))
    }

    fn properties(&self) -> MetricProperties {
        MetricProperties { symmetric: true, ..MetricProperties::default() }
    }
}

/// Pairs in one cluster and one class among the pairs in one cluster or one class.
///
/// TP / (TP + FP + FN), without excluded pairs. Undefined without any pairs; 1 when no pair is in one cluster or one
/// class.
/// # References
/// [HubertArabie1985].
#[options]
pub struct JaccardPairs {}

#[plugin("jaccard_pairs", cites = ["HubertArabie1985"])]
impl Metric for JaccardPairs {
    fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
        let counts = pairs(self.typetag_name(), input)?;
        Ok(counts.map(|p| match p.together() + p.false_negatives {
            0 => 1.0,
            either => p.true_positives as f64 / either as f64,
        }))
    }

    fn properties(&self) -> MetricProperties {
        MetricProperties { symmetric: true, ..MetricProperties::default() }
    }
}
