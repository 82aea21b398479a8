//! Scores by id, as a configuration asks for them.

use mustlink_core::prelude::*;
use mustlink_metrics as _;

/// The metric with this configuration; a bare id stands for its defaults.
pub fn metric(config: &str) -> Box<dyn Metric> {
    let mut fields = config.split(' ');
    let mut value = mustlink_core::serde_json::json!({ "type": fields.next() });
    for field in fields {
        let (name, text) = field.split_once('=').expect("name=value");
        value[name] = mustlink_core::serde_json::from_str(text).unwrap_or_else(|_| text.into());
    }
    <dyn Metric as RoleObject>::from_value(value).expect("a metric")
}

/// Score of clusters `c` against classes `y`.
pub fn score(config: &str, y: &[u32], c: &[u32]) -> Option<f64> {
    let truth: Vec<Option<u32>> = y.iter().map(|&l| Some(l)).collect();
    let input = MetricInput { labels: c, truth: Some(&truth), ..MetricInput::default() };
    metric(config).score(&input).expect("lengths fit")
}
