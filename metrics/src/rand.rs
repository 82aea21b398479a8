//! Pairs placed alike.

use mustlink_core::prelude::*;

use crate::parts::agreement::pairs;

/// Rand index: the share of pairs that clusters and classes place alike.
///
/// (TP + TN) / C(N,2). High for any clustering when there are many classes. Undefined without any pairs.
/// # References
/// [Rand1971].
#[options]
pub struct Rand {}

#[plugin("rand", aliases = ["rand_index"], cites = ["Rand1971"])]
impl Metric for Rand {
    fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
        let counts = pairs(self.typetag_name(), input)?;
        Ok(counts.map(|p| (p.true_positives + p.true_negatives) as f64 / p.total() as f64))
    }

    fn properties(&self) -> MetricProperties {
        MetricProperties { symmetric: true, ..MetricProperties::default() }
    }
}
