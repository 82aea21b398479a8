//! The number of entailed pairs per given pair.

use mustlink_core::prelude::*;

use crate::parts::constraint_set::{closure, facts};

/// Number of pairs that follow from the constraints, including given ones, per given constraint.
///
/// 1: nothing follows. A cannot-link that must-links contradict counts as given; nothing follows from it. Only the
/// constraints are used, not the clusters. Neither end is better. Undefined without constraints. In an experiment,
/// score `scope = "train"` or `"all"`: constraints never touch test objects.
#[options]
pub struct ClosureGain {}

#[plugin("closure_gain")]
impl Metric for ClosureGain {
    fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
        Ok(closure(input)?.map(|(closure, stated)| {
            let (must, cannot) = closure.pair_counts();
            (must + cannot + closure.conflicts().len() as u64) as f64 / stated as f64
        }))
    }

    fn properties(&self) -> MetricProperties {
        MetricProperties { min: 1.0, max: f64::INFINITY, ranked: false, ..facts() }
    }
}
