//! The share of the objects in a wrong cluster.

use mustlink_core::prelude::*;

use crate::parts::agreement::score;

/// Share of objects outside their class under the best one-to-one matching of clusters and classes.
///
/// 1 − (1/N) · max Σ c_{i,σ(i)}; clusters or classes without a partner have no correct object.
/// # Cost and randomness
/// O(cells · min(classes, clusters)) at worst, in the cells of the table that are not empty; not random.
/// # References
/// [DomeniconiAlRazgan2008] Table 2.
#[options]
pub struct ErrorRate {}

#[plugin("error_rate", cites = ["DomeniconiAlRazgan2008"])]
impl Metric for ErrorRate {
    fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
        score(self.typetag_name(), input, |t| (t.n() - t.matching()) as f64 / t.n() as f64)
    }

    fn properties(&self) -> MetricProperties {
        MetricProperties {
            higher_is_better: false,
            symmetric: true,
            perfect: Some(0.0),
            ..MetricProperties::default()
        }
    }
}

/// Share of objects inside their class under the best one-to-one matching of clusters and classes.
///
/// 1 − `error_rate`, under its common name.
/// # Cost and randomness
/// As `error_rate`.
/// # References
/// [DomeniconiAlRazgan2008] Table 2 prints 1 minus this value.
#[options]
pub struct Accuracy {}

#[plugin("accuracy", aliases = ["acc"], cites = ["DomeniconiAlRazgan2008"])]
impl Metric for Accuracy {
    fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
        score(self.typetag_name(), input, |t| t.matching() as f64 / t.n() as f64)
    }

    fn properties(&self) -> MetricProperties {
        MetricProperties { symmetric: true, ..MetricProperties::default() }
    }
}

/// Share of objects outside the largest class of their cluster: 1 − purity.
///
/// Several clusters may match the same class, so many clusters score well.
/// # References
/// [ZhaoKarypis2004].
#[options]
pub struct ErrorRateMajority {}

#[plugin("error_rate_majority", cites = ["ZhaoKarypis2004"])]
impl Metric for ErrorRateMajority {
    fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
        score(self.typetag_name(), input, |t| (t.n() - t.majority()) as f64 / t.n() as f64)
    }

    fn properties(&self) -> MetricProperties {
        MetricProperties {
            higher_is_better: false,
            perfect: Some(0.0),
            ..MetricProperties::default()
        }
    }
}
