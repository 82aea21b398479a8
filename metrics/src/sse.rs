//! How far are objects from the mean of their cluster?

use mustlink_core::prelude::*;
use mustlink_kernels::points::Distortion;

use crate::geometry::{Clusters, finite};

/// Mean squared distance of the objects to the mean of their cluster: Σ‖x − µ‖² / N.
///
/// What k-means minimises, per object. Means are those of the objects in the scope. Falls as clusters
/// are split: it compares clusterings of one k. Dense or sparse data.
/// # References
/// [Basu2004].
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Sse {}

register!(Metric, Sse, "sse", references: ["Basu2004"]);

#[typetag::serde(name = "sse")]
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
