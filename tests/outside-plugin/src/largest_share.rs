//! The share of the objects that are in the largest cluster.

use std::collections::BTreeMap;

use mustlink::prelude::*;

/// Share of objects in the largest cluster.
///
/// No classes are needed or looked at. 1 says that everything is in one cluster.
#[options]
pub struct LargestShare {}

#[plugin("largest_share")]
impl Metric for LargestShare {
    fn score(&self, input: &MetricInput) -> Result<Option<f64>> {
        let n = input.labels.len();
        if let Some(scope) = input.scope.filter(|scope| scope.len() != n) {
            let legal = format!("one flag per object ({n})");
            return Err(Error::bad_param("scope", format!("{} flags", scope.len()), legal));
        }
        let counts = |i: usize| input.scope.is_none_or(|scope| scope[i]);
        let mut sizes: BTreeMap<u32, usize> = BTreeMap::new();
        for (_, &label) in input.labels.iter().enumerate().filter(|(i, _)| counts(*i)) {
            *sizes.entry(label).or_default() += 1;
        }
        let all: usize = sizes.values().sum();
        Ok(sizes.values().max().map(|&largest| largest as f64 / all as f64))
    }

    fn properties(&self) -> MetricProperties {
        MetricProperties {
            higher_is_better: false,
            needs_truth: false,
            perfect: None,
            ..MetricProperties::default()
        }
    }
}
