//! The share of the constraints that are must-links.

use mustlink_core::prelude::*;

use crate::parts::constraint_set::{facts, whole};

/// Share of must-links among the constraints.
///
/// Only the constraints are used, not the clusters. Neither end is better. Undefined without constraints. In an
/// experiment, score `scope = "train"` or `"all"`: constraints never touch test objects.
#[options]
pub struct MustShare {}

#[plugin("must_share")]
impl Metric for MustShare {
    fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
        let given = whole(input)?;
        let (must, all) = (given.count(Kind::MustLink), given.len());
        Ok((all > 0).then(|| must as f64 / all as f64))
    }

    fn properties(&self) -> MetricProperties {
        MetricProperties { ranked: false, ..facts() }
    }
}
