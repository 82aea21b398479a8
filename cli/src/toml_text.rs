//! How is a resolved configuration written as TOML that people read?

use mustlink::config::without_null;
use serde_json::Value;

/// The value as TOML: absent options left out, the `type` of a table first.
pub(crate) fn as_toml(value: &Value) -> String {
    // Tables of plain values always have a TOML form.
    type_first(&toml::to_string(&without_null(value)).unwrap_or_default())
}

/// The same text with `type` as the first line of each table, where people look for it.
fn type_first(text: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    let mut start = 0;
    for line in text.lines() {
        if line.starts_with("type = ") {
            lines.insert(start, line);
            continue;
        }
        lines.push(line);
        if line.starts_with('[') {
            start = lines.len();
        }
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_come_first() {
        let text = "[a]\nk = 3\ntype = \"x\"\n\n[a.b]\nm = 1\ntype = \"y\"\n";
        assert_eq!(type_first(text), "[a]\ntype = \"x\"\nk = 3\n\n[a.b]\ntype = \"y\"\nm = 1\n");
    }

    #[test]
    fn absent_options_are_left_out() {
        let value = serde_json::json!({ "b": [1, { "x": null }], "a": null });
        assert_eq!(as_toml(&value), "b = [1, {}]\n");
    }
}
