//! Pairs placed alike, adjusted for chance.

use mustlink_core::prelude::*;

use crate::parts::agreement::{score, within};

/// Adjusted Rand index: pairs placed alike, 0 on average for unrelated partitions, 1 for equal ones.
///
/// (Σ C(c_ij,2) − E) / (½(Σ C(a_i,2) + Σ C(b_j,2)) − E) with E = Σ C(a_i,2) · Σ C(b_j,2) / C(N,2). Below 0 when
/// clusters agree less than by chance, never below −½. Excluded pairs count, because the model of chance is about all
/// pairs.
/// # References
/// [HubertArabie1985]; [Eaton2005] eq. 2.15.
#[options]
pub struct Ari {}

#[plugin("ari", aliases = ["adjusted_rand", "adjusted_rand_index"], cites = ["HubertArabie1985", "Eaton2005"])]
impl Metric for Ari {
    fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
        score(self.typetag_name(), input, |t| within(t.adjusted_rand(), -0.5, 1.0))
    }

    fn properties(&self) -> MetricProperties {
        MetricProperties { min: -0.5, symmetric: true, ..MetricProperties::default() }
    }
}
