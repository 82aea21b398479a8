//! Resolved configurations as TOML for readers.

use mustlink::config::tree::visit_tables_mut;
use mustlink::config::without_null;
use serde_json::Value;

/// Key that replaces `type` while a table is written: it sorts before all options and occurs in no other text.
const FIRST: &str = "-0-type-0-";

/// The value as TOML: absent options left out, the `type` of a table first, where people look for it.
pub(crate) fn as_toml(value: &Value) -> String {
    let mut value = without_null(value);
    visit_tables_mut(&mut value, &mut |table| {
        let map = table.as_object_mut().expect("a table");
        if let Some(tag) = map.remove("type") {
            map.insert(FIRST.into(), tag);
        }
        true
    });
    // Tables of plain values always have a TOML form.
    let text = toml::to_string(&value).unwrap_or_default().replace(FIRST, "type");
    if text.ends_with('\n') { text } else { text + "\n" }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_come_first() {
        let value =
            serde_json::json!({ "a": { "k": 3, "type": "x", "b": { "m": 1, "type": "y" } } });
        let text = "[a]\ntype = \"x\"\nk = 3\n\n[a.b]\ntype = \"y\"\nm = 1\n";
        assert_eq!(as_toml(&value), text);
    }

    #[test]
    fn texts_of_several_lines_stay_as_they_are() {
        let script = "[a]\ntype = 5\n[b] = [1]\n'''\n\"\"\"\\";
        let value = serde_json::json!({ "clusterer": { "command": ["sh", script], "type": "x" } });
        let read: toml::Table = as_toml(&value).parse().expect("TOML");
        assert_eq!(serde_json::to_value(read).expect("plain"), value);
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
