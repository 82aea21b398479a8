//! Digests of values and checksums of files.

use std::collections::BTreeMap;

use serde_json::Value;

/// A hash of bytes, 16 hexadecimal digits.
pub(crate) fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..16].to_string()
}

/// JSON with sorted keys and no spaces; integers as integers, floats by shortest round trip.
pub(crate) fn canonical(value: &Value) -> String {
    fn write(value: &Value, out: &mut String) {
        match value {
            Value::Object(map) => {
                let sorted: BTreeMap<&String, &Value> = map.iter().collect();
                out.push('{');
                for (at, (key, v)) in sorted.into_iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    out.push_str(&Value::from(key.as_str()).to_string());
                    out.push(':');
                    write(v, out);
                }
                out.push('}');
            }
            Value::Array(items) => {
                out.push('[');
                for (at, v) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    write(v, out);
                }
                out.push(']');
            }
            other => out.push_str(&other.to_string()),
        }
    }
    let mut out = String::new();
    write(value, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn canonical_json_sorts_and_keeps_kinds() {
        let value = json!({ "b": [1, 1.0, 0.1, null, true], "a": { "z": "\"q\"", "y": {} } });
        assert_eq!(canonical(&value), r#"{"a":{"y":{},"z":"\"q\""},"b":[1,1.0,0.1,null,true]}"#);
    }
}
