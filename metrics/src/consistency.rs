//! The number of cannot-links that contradict must-links.

use mustlink_core::prelude::*;

use crate::parts::constraint_set::{closure, facts};

/// Number of cannot-links whose ends are joined by must-links; 0 means the constraints are consistent.
///
/// Only the constraints are used, not the clusters. Undefined without constraints. In an experiment, score
/// `scope = "train"` or `"all"`: constraints never touch test objects.
#[options]
pub struct Consistency {}

#[plugin("consistency")]
impl Metric for Consistency {
    fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
        Ok(closure(input)?.map(|(closure, _)| closure.conflicts().len() as f64))
    }

    fn properties(&self) -> MetricProperties {
        MetricProperties { max: f64::INFINITY, higher_is_better: false, ..facts() }
    }
}
