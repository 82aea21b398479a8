//! The source of each value of a resolved configuration.

use serde_json::Value;

use crate::document::Node;
use mustlink_core::options::below;
use mustlink_core::registry::Catalogue;

/// A value of a resolved configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Origin {
    /// Its path: `method[0].clusterer.k`.
    pub path: String,
    /// The value itself.
    pub value: Value,
    /// File and line, `--set …`, or `None` for a default.
    pub place: Option<String>,
}

/// Every value below `resolved`, with its place in the tree that it was resolved from; `path` is theirs.
pub fn origins(resolved: &Value, tree: Option<&Node>, path: &str, out: &mut Vec<Origin>) {
    let tables = |items: &[Value]| items.iter().any(Value::is_object);
    match resolved {
        Value::Object(map) if !map.is_empty() => {
            for (key, value) in map {
                origins(value, tree.and_then(|t| written(t, key)), &below(path, key), out);
            }
        }
        Value::Array(items) if tables(items) => {
            for (at, item) in items.iter().enumerate() {
                let node = tree.and_then(|t| t.items().get(at));
                origins(item, node, &format!("{path}[{at}]"), out);
            }
        }
        value => {
            let place = tree.and_then(Node::place);
            out.push(Origin { path: path.into(), value: value.clone(), place });
        }
    }
}

/// The value written for an option: under its name or an alias; for the type of a plugin also its bare
/// name.
fn written<'a>(table: &'a Node, key: &str) -> Option<&'a Node> {
    if key == "type" && table.as_str().is_some() {
        return Some(table);
    }
    let aliased = || {
        let d = Catalogue::get().ok()?.find(table.get("type")?.as_str()?)?;
        table.get(d.option(key)?.alias?)
    };
    table.get(key).or_else(aliased)
}
