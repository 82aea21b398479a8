//! How many of the constraints are must-links?

use mustlink_core::prelude::*;

use crate::parts::constraint_set::{facts, inside};

/// Share of must-links among the constraints.
///
/// Looks at the constraints alone, never at the clusters. Neither end is better. Undefined without
/// constraints. In an experiment, score `scope = "train"` or `"all"`: constraints never touch test
/// objects.
#[options]
pub struct MustShare {}

#[plugin("must_share")]
impl Metric for MustShare {
    fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
        let given = inside(input, input.constraints)?;
        let must = given.iter().filter(|c| c.kind == Kind::MustLink).count();
        Ok((!given.is_empty()).then(|| must as f64 / given.len() as f64))
    }

    fn properties(&self) -> MetricProperties {
        MetricProperties { ranked: false, ..facts() }
    }
}
