//! The variation of information between clusters and classes.

use mustlink_core::prelude::*;

use crate::parts::agreement::score;

/// Variation of information: remaining uncertainty of clusters given classes, plus classes given clusters.
///
/// H(Y) + H(C) − 2 MI = H(Y|C) + H(C|Y), at most 2 ln N nats. A metric on partitions, 0 for equal partitions.
/// # References
/// [Meila2007].
#[options]
pub struct Vi {
    /// Use bits instead of nats.
    pub bits: bool,
}

#[plugin("vi", cites = ["Meila2007"])]
impl Metric for Vi {
    fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
        score(self.typetag_name(), input, |t| {
            let nats = t.class_entropy_given_clusters() + t.cluster_entropy_given_classes();
            if self.bits { nats / std::f64::consts::LN_2 } else { nats }
        })
    }

    fn properties(&self) -> MetricProperties {
        MetricProperties {
            max: f64::INFINITY,
            higher_is_better: false,
            symmetric: true,
            perfect: Some(0.0),
            ..MetricProperties::default()
        }
    }
}
