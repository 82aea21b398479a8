//! What are the columns of the metrics called?

use mustlink::registry::Catalogue;
use mustlink::roles::Metric;
use serde_json::Value;

use crate::row::is_fixed_column;

/// Column names of metrics: the tag; with the options that differ where a tag comes twice.
pub(super) fn metric_columns(metrics: &[Box<dyn Metric>]) -> Vec<String> {
    let configs: Vec<Value> =
        metrics.iter().map(|m| serde_json::to_value(m).unwrap_or_default()).collect();
    let mut names: Vec<String> = Vec::new();
    for (at, metric) in metrics.iter().enumerate() {
        let tag = metric.typetag_name();
        let twice = metrics.iter().filter(|m| m.typetag_name() == tag).count() > 1;
        let default = Catalogue::get().ok().and_then(|c| c.find(tag)).map(|d| d.default_config());
        let mut name = if is_fixed_column(tag) { format!("score_{tag}") } else { tag.into() };
        if let (true, Some(default), Some(map)) = (twice, default, configs[at].as_object()) {
            let differs = map.iter().filter(|(k, v)| default.get(*k) != Some(v));
            let parts: Vec<String> = differs
                .map(|(k, v)| {
                    format!("{k}={}", v.as_str().map_or_else(|| v.to_string(), Into::into))
                })
                .collect();
            if !parts.is_empty() {
                name = format!("{name}[{}]", parts.join(","));
            }
        }
        let before = names.iter().filter(|n| **n == name).count();
        names.push(if before > 0 { format!("{name}#{}", before + 1) } else { name });
    }
    names
}
