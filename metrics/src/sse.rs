//! The squared distances of objects to the mean of their cluster.

use mustlink_core::prelude::*;
use mustlink_kernels::distance::points::Distortion;

use crate::parts::geometry::{Clusters, finite};

/// Mean squared distance of the objects to the mean of their cluster: Σ‖x − µ‖² / N.
///
/// The objective of k-means, per object. Means are those of the objects in the scope. It falls as clusters are split:
/// use it only to compare clusterings with the same k. Dense or sparse data.
/// # References
/// [Basu2004].
#[options]
pub struct Sse {}

#[plugin("sse", cites = ["Basu2004"])]
impl Metric for Sse {
    fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
        let clusters = Clusters::new(self.typetag_name(), input, Distortion::SquaredEuclidean)?;
        Ok(clusters.and_then(|c| finite(c.within(&c.centres()) / c.n() as f64)))
    }

    fn properties(&self) -> MetricProperties {
        MetricProperties {
            max: f64::INFINITY,
            higher_is_better: false,
            needs_truth: false,
            needs_data: true,
            perfect: None,
            ..MetricProperties::default()
        }
    }
}
