//! The number of clusters.

use std::collections::HashSet;

use mustlink_core::prelude::*;

use crate::parts::agreement::{check_scope, in_scope, score};

/// Number of clusters with an object in the scope.
///
/// Classes are not needed and not used. Neither end is better.
#[options]
pub struct KFound {}

#[plugin("k_found")]
impl Metric for KFound {
    fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
        check_scope(input)?;
        let labels = input.labels.iter().enumerate();
        let found: HashSet<u32> =
            labels.filter(|(i, _)| in_scope(input, *i)).map(|(_, &l)| l).collect();
        Ok((!found.is_empty()).then_some(found.len() as f64))
    }

    fn properties(&self) -> MetricProperties {
        MetricProperties {
            max: f64::INFINITY,
            ranked: false,
            needs_truth: false,
            perfect: None,
            ..MetricProperties::default()
        }
    }
}

/// Number of clusters minus number of classes, among the objects of known class.
///
/// 0 is best; negative when classes are merged. Methods are not ranked by it, because neither end is better.
#[options]
pub struct KError {}

#[plugin("k_error")]
impl Metric for KError {
    fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
        score(self.typetag_name(), input, |t| t.clusters().len() as f64 - t.classes().len() as f64)
    }

    fn properties(&self) -> MetricProperties {
        MetricProperties {
            min: f64::NEG_INFINITY,
            max: f64::INFINITY,
            ranked: false,
            perfect: Some(0.0),
            ..MetricProperties::default()
        }
    }
}
