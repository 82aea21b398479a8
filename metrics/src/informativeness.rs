//! The share of the constraints that the clusterer breaks when it does not get any.

use mustlink_core::prelude::*;

use crate::parts::constraint_set::facts;
use crate::violations::tally;

/// Informativeness: share of the constraints that the clusterer violates if it does not get any.
///
/// The partition without constraints comes from the same seed. 0: the constraints add nothing new for the clusterer.
/// Undefined without constraints, and for methods without a clusterer to run again. Costs one more run of the
/// clusterer. In an experiment, score `scope = "train"` or `"all"`: constraints never touch test objects.
/// # References
/// [Davidson2006].
#[options]
pub struct Informativeness {}

#[plugin("informativeness", cites = ["Davidson2006"])]
impl Metric for Informativeness {
    fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
        let n = input.labels.len();
        let labels = match input.unconstrained {
            None => return Ok(None),
            Some(labels) if labels.len() == n => labels,
            Some(labels) => {
                let found = format!("{} labels", labels.len());
                let legal = format!("one label per object ({n})");
                return Err(Error::bad_param("unconstrained", found, legal));
            }
        };
        let tally = tally(input, input.constraints, labels, None, false)?;
        Ok(tally.map(|(violated, all)| violated / all))
    }

    fn properties(&self) -> MetricProperties {
        MetricProperties { needs_unconstrained: true, ..facts() }
    }
}
