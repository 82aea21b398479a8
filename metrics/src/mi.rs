//! Mutual information of clusters and classes.

use mustlink_core::prelude::*;

use crate::parts::agreement::{score, within};

/// Mutual information of clusters and classes, in nats.
///
/// Σ (c_ij/N) · ln(N c_ij / (a_i b_j)); 0 for unrelated partitions, the entropy of the classes for a
/// perfect one, so that its best value depends on the data.
/// # References
/// [VinhEppsBailey2010] §2.
#[options]
pub struct Mi {}

#[plugin("mi", cites = ["VinhEppsBailey2010"])]
impl Metric for Mi {
    fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
        score(self.typetag_name(), input, |t| within(t.mutual_information(), 0.0, f64::INFINITY))
    }

    fn properties(&self) -> MetricProperties {
        MetricProperties {
            max: f64::INFINITY,
            symmetric: true,
            perfect: None,
            ..MetricProperties::default()
        }
    }
}
