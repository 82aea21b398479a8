//! The mean cosine between objects and the direction of their cluster.

use mustlink_core::prelude::*;
use mustlink_kernels::distance::points::Distortion;

use crate::parts::agreement::within;
use crate::parts::geometry::{Clusters, finite};

/// Mean cosine between an object and the centre of its cluster.
///
/// The objective of spherical k-means, per object. The centre is the sum of the objects of the scope after each is
/// scaled to length 1. An object of zeros, or a centre of zero length, has cosine 0. It rises as clusters are split:
/// use it only to compare clusterings with the same k. Dense or sparse data.
/// # References
/// [Basu2004].
#[options]
pub struct MeanCosine {}

#[plugin("mean_cosine", cites = ["Basu2004"])]
impl Metric for MeanCosine {
    fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
        let clusters = Clusters::new(self.typetag_name(), input, Distortion::Cosine)?;
        Ok(clusters.and_then(|c| {
            let centres = c.centres();
            let sum = reduce::sum(c.n(), |i| 1.0 - c.distortion(i, &centres));
            finite(within(sum / c.n() as f64, 0.0, 1.0))
        }))
    }

    fn properties(&self) -> MetricProperties {
        MetricProperties {
            needs_truth: false,
            needs_data: true,
            perfect: None,
            ..MetricProperties::default()
        }
    }
}
