//! The plugins in a tree of configuration.
//!
//! A configuration as plain values is tables within tables; those that name a plugin under `type` are
//! its options. All code that searches for plugins, or for options at any depth, walks the tree with this module.

use serde_json::Value;

use mustlink_core::registry::{Catalogue, Descriptor};

/// The catalogue's entry for a table of options; `None` where it names no plugin.
pub fn plugin(table: &Value) -> Option<&'static Descriptor> {
    Catalogue::get().ok()?.find(table.get("type")?.as_str()?)
}

/// The name of the plugin of a table: its tag, or the name of the function of Python that runs in its place.
pub fn own_name(table: &Value) -> Option<&str> {
    let tag = table.get("type")?.as_str()?;
    let name = table.get("name").and_then(Value::as_str);
    Some(name.filter(|_| tag.starts_with("python_")).unwrap_or(tag))
}

/// Shows `visit` every plugin in a tree with its table, outer ones before those in them. Where it says
/// false, what is in that plugin is passed over.
pub fn visit_plugins<'a>(
    tree: &'a Value,
    visit: &mut dyn FnMut(&'static Descriptor, &'a Value) -> bool,
) {
    visit_tables(tree, &mut |table| plugin(table).is_none_or(|d| visit(d, table)));
}

/// Shows `visit` every table in a tree, outer ones first, as [`visit_plugins`] does.
pub fn visit_tables<'a>(tree: &'a Value, visit: &mut dyn FnMut(&'a Value) -> bool) {
    match tree {
        Value::Object(table) if visit(tree) => table.values().for_each(|v| visit_tables(v, visit)),
        Value::Array(items) => items.iter().for_each(|v| visit_tables(v, visit)),
        _ => {}
    }
}

/// The same for tables that `visit` may change.
pub fn visit_tables_mut(tree: &mut Value, visit: &mut dyn FnMut(&mut Value) -> bool) {
    if tree.is_object() && !visit(tree) {
        return;
    }
    match tree {
        Value::Object(table) => table.values_mut().for_each(|v| visit_tables_mut(v, visit)),
        Value::Array(items) => items.iter_mut().for_each(|v| visit_tables_mut(v, visit)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn outer_tables_come_first_and_can_be_passed_over() {
        let mut tree = json!([{ "a": 1, "b": [{ "a": 2, "c": { "a": 3 } }] }, { "a": 4 }, 5]);
        let seen = |tree: &Value, without: i64| {
            let mut seen = Vec::new();
            visit_tables(tree, &mut |table| {
                seen.extend(table["a"].as_i64());
                table["a"] != without
            });
            seen
        };
        assert_eq!(seen(&tree, 0), [1, 2, 3, 4]);
        assert_eq!(seen(&tree, 2), [1, 2, 4]);
        visit_tables_mut(&mut tree, &mut |table| {
            table["a"] = (10 * table["a"].as_i64().unwrap_or(0)).into();
            table["a"] != 20
        });
        assert_eq!(seen(&tree, 0), [10, 20, 3, 40]);
    }
}
