//! In what do two rows differ?

use serde_json::{Map, Value};

use crate::hash::canonical;
use crate::row::Row;

/// Columns that say where a row comes from, not what it says.
const PLACE: [&str; 5] = ["experiment", "identity", "dataset", "method", "version"];

/// A column in which two rows differ, with what each says.
pub(crate) type Difference = (String, Value, Value);

/// The columns in which two rows of one cell differ; times aside, and what only one of them holds
/// (labels that were kept, a metric that was added) as well.
pub(crate) fn differences(a: &Row, b: &Row) -> Vec<Difference> {
    let (mut a, b) = (fields(a), fields(b));
    let mut out = Vec::new();
    for (column, there) in b {
        let Some(here) = a.remove(&column) else { continue };
        if PLACE.contains(&column.as_str()) || column.starts_with("time_") {
            continue;
        }
        // As text: -0 is not 0 here.
        if canonical(&here) != canonical(&there) {
            out.push((column, here, there));
        }
    }
    out
}

fn fields(row: &Row) -> Map<String, Value> {
    match serde_json::to_value(row) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    }
}
