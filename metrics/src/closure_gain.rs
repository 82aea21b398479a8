//! How much more do the constraints say than was stated?

use mustlink_core::prelude::*;

use crate::parts::constraint_set::{closure, facts};

/// Pairs that follow from the constraints, those stated included, per constraint stated.
///
/// 1: nothing follows. A cannot-link that must-links contradict counts as stated; nothing follows from
/// it. Looks at the constraints alone, never at the clusters. Neither end is better. Undefined without
/// constraints. In an experiment, score `scope = "train"` or `"all"`: constraints never touch test
/// objects.
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
