//! How is a resolved configuration written as TOML that people read?

use mustlink::config::without_null;
use serde_json::Value;

/// The value as TOML: absent options left out, the `type` of a table first.
pub(crate) fn as_toml(value: &Value) -> String {
    // Tables of plain values always have a TOML form.
    type_first(&toml::to_string(&without_null(value)).unwrap_or_default())
}

/// The value within one line, absent options left out. A plugin without options is its name.
fn inline(value: &Value) -> String {
    match value {
        Value::Object(table) => {
            let is_type = |key: &str| key == "type";
            let (tag, options): (Vec<_>, Vec<_>) =
                table.iter().filter(|(_, v)| !v.is_null()).partition(|(key, _)| is_type(key));
            if let ([(_, tag)], []) = (&tag[..], &options[..]) {
                return inline(tag);
            }
            let entry = |(key, v): (&String, &Value)| format!("{key} = {}", inline(v));
            let entries: Vec<String> = tag.into_iter().chain(options).map(entry).collect();
            format!("{{ {} }}", entries.join(", "))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", "))
        }
        plain => toml::Value::try_from(plain).map_or_else(|_| String::new(), |v| v.to_string()),
    }
}

/// A list with each item in a line of its own.
pub(crate) fn by_lines(items: &[Value]) -> String {
    let line = |item: &Value| format!("    {},\n", inline(item));
    format!("[\n{}]", items.iter().map(line).collect::<String>())
}

/// The text with `type` as the first line of each table, where people look for it.
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
    fn what_stands_in_one_line() {
        let value = serde_json::json!([
            { "clusterer": { "type": "a" }, "transforms": [{ "type": "b" }, { "k": 1, "type": "c", "l": null }] },
            { "x": "\"", "y": 0.5, "z": [] },
        ]);
        assert_eq!(
            by_lines(value.as_array().unwrap()),
            "[\n    { clusterer = \"a\", transforms = [\"b\", { type = \"c\", k = 1 }] },\n    \
             { x = '\"', y = 0.5, z = [] },\n]"
        );
        assert_eq!(inline(&value[0]["clusterer"]), "\"a\"");
    }

    #[test]
    fn absent_options_are_left_out() {
        let value = serde_json::json!({ "b": [1, { "x": null }], "a": null });
        assert_eq!(as_toml(&value), "b = [1, {}]\n");
    }
}
