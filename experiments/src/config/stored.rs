//! The configuration that a results directory holds, and what differs from another one.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use mustlink::{Error, Result};
use serde_json::{Value, json};

/// Its name in a results directory.
pub(crate) const FILE: &str = "config.json";

/// Its text: where relative paths start, and the resolved configuration.
pub(crate) fn content(base: &Path, resolved: &Value) -> String {
    let here = if base.as_os_str().is_empty() { Path::new(".") } else { base };
    let base = fs::canonicalize(here).unwrap_or_else(|_| base.to_path_buf());
    format!("{:#}\n", json!({ "format": 1, "base": base, "config": resolved }))
}

/// Whether a directory may take the results of an experiment: it holds none yet, or some of this one.
///
/// # Errors
/// `Data` when it holds those of another, or its configuration cannot be read.
pub(crate) fn check_same(dir: &Path, resolved: &Value) -> Result<()> {
    let there = match read(dir) {
        Ok((_, there)) => there,
        Err(_) if !dir.join(FILE).exists() => return Ok(()),
        Err(e) => return Err(e),
    };
    let differs = differences(&there, resolved);
    if differs.is_empty() {
        return Ok(());
    }
    Err(Error::Data {
        place: dir.display().to_string(),
        message: format!(
            "holds the results of another experiment ({}); choose another --out, or remove it",
            differs.join("; ")
        ),
    })
}

/// The base directory and the resolved configuration stored in a directory.
pub(super) fn read(dir: &Path) -> Result<(PathBuf, Value)> {
    let path = dir.join(FILE);
    let bad = |e: &dyn std::fmt::Display| Error::Data {
        place: path.display().to_string(),
        message: format!("{e}; is this a results directory?"),
    };
    let text = fs::read_to_string(&path).map_err(|e| bad(&e))?;
    let mut value: Value = serde_json::from_str(&text).map_err(|e| bad(&e))?;
    let base = value["base"].as_str().map(PathBuf::from).ok_or_else(|| bad(&"has no base"))?;
    Ok((base, value["config"].take()))
}

/// What differs between two resolved configurations, apart from what changes no row.
fn differences(there: &Value, here: &Value) -> Vec<String> {
    let mut out = Vec::new();
    let strip = |v: &Value| {
        let mut v = v.clone();
        if let Some(map) = v.as_object_mut() {
            map.remove("run");
            map.remove("stats");
            map.remove("criterion");
            if let Some(head) = map.get_mut("experiment").and_then(Value::as_object_mut) {
                head.remove("description");
            }
        }
        v
    };
    compare(&strip(there), &strip(here), "", &mut out);
    let more = out.len().saturating_sub(3);
    out.truncate(3);
    if more > 0 {
        out.push(format!("and {more} more differences"));
    }
    out
}

fn compare(there: &Value, here: &Value, path: &str, out: &mut Vec<String>) {
    match (there, here) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            for key in keys {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                let null = Value::Null;
                compare(a.get(key).unwrap_or(&null), b.get(key).unwrap_or(&null), &path, out);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (at, (x, y)) in a.iter().zip(b).enumerate() {
                compare(x, y, &format!("{path}[{at}]"), out);
            }
        }
        (a, b) if a == b => {}
        (a, b) => out.push(format!("{path} is {} there and {} here", brief(a), brief(b))),
    }
}

fn brief(v: &Value) -> String {
    match v {
        Value::Null => "absent".into(),
        Value::Array(items) if !items.iter().all(Value::is_number) => {
            format!("a list of {}", items.len())
        }
        Value::Object(map) => match map.get("type").and_then(Value::as_str) {
            Some(tag) => tag.to_string(),
            None => "a table".into(),
        },
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_named() {
        let a = json!({ "method": [{ "w": 1.0, "c": { "type": "a" } }], "run": { "threads": 1 } });
        let b = json!({ "method": [{ "w": 0.5 }], "run": { "threads": 2 } });
        assert_eq!(
            differences(&a, &b),
            ["method[0].c is a there and absent here", "method[0].w is 1.0 there and 0.5 here"]
        );
        assert!(differences(&a, &a).is_empty());
    }
}
