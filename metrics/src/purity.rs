//! Purity: the share of the objects in the most frequent class of their cluster.

use mustlink_core::prelude::*;

/// Share of objects in the largest class of their cluster.
///
/// (1/N) Σ_j max_i c_ij. Perfect for singletons: do not use it to choose k.
#[options]
pub struct Purity {}

#[plugin("purity", cites = ["ZhaoKarypis2004"])]
impl Metric for Purity {
    fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
        crate::parts::agreement::score("purity", input, |t| t.majority() as f64 / t.n() as f64)
    }
}
