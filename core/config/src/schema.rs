//! The values that a JSON Schema accepts.

use serde_json::{Map, Value};

use crate::document::{Node, NodeKind};
use mustlink_core::options::{self, Range};
use mustlink_core::registry::Catalogue;
use mustlink_core::role::Role;

/// The schema that `schema` stands for, references within `root` followed.
pub fn deref<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let mut schema = schema;
    while let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        match reference.strip_prefix('#').and_then(|p| root.pointer(p)) {
            Some(target) => schema = target,
            None => break,
        }
    }
    schema
}

/// The role of the plugins that a schema accepts, if it is a slot.
pub fn slot_role(schema: &Value, root: &Value) -> Option<Role> {
    let role = |s: &Value| s.get("x-role").and_then(Value::as_str).and_then(Role::from_key);
    role(schema).or_else(|| role(deref(schema, root)))
}

/// The schemas of which a value fits one.
pub fn alternatives(schema: &Value) -> Option<&Vec<Value>> {
    ["oneOf", "anyOf"].iter().find_map(|k| schema.get(*k).and_then(Value::as_array))
}

fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(s)) => vec![s],
        Some(Value::Array(a)) => a.iter().filter_map(Value::as_str).collect(),
        _ => match (schema.get("const"), schema.get("enum")) {
            (Some(Value::String(_)), _) | (_, Some(_)) => vec!["string"],
            _ => vec![],
        },
    }
}

/// The words a schema accepts as strings.
pub(super) fn words<'a>(schema: &'a Value, root: &'a Value, out: &mut Vec<&'a str>) {
    let schema = deref(schema, root);
    if let Some(word) = schema.get("const").and_then(Value::as_str) {
        out.push(word);
    }
    if let Some(list) = listed(schema) {
        out.extend(list.iter().filter_map(Value::as_str));
    }
    if let Some(list) = alternatives(schema) {
        list.iter().for_each(|s| words(s, root, out));
    }
}

/// The values that a schema lists.
fn listed(schema: &Value) -> Option<&Vec<Value>> {
    schema.get("enum").and_then(Value::as_array)
}

/// True if a number is among those that a schema lists, where it lists any.
fn among(v: &Value, schema: &Value) -> bool {
    listed(schema).is_none_or(|all| all.iter().any(|one| one.as_f64() == v.as_f64()))
}

/// The schemas that a value may have, those within alternatives of alternatives included.
fn single<'a>(schema: &'a Value, root: &'a Value, out: &mut Vec<&'a Value>) {
    let schema = deref(schema, root);
    match alternatives(schema) {
        Some(list) => list.iter().for_each(|s| single(s, root, out)),
        None => out.push(schema),
    }
}

/// The options called `key` one step below `properties`, as paths: `split.repeats`.
pub(super) fn one_step_below(
    properties: &Map<String, Value>,
    key: &str,
    root: &Value,
) -> Vec<String> {
    let has = |schema: &&Value| schema.pointer("/properties").is_some_and(|p| p.get(key).is_some());
    let leads = |schema: &Value| {
        let mut list = Vec::new();
        single(schema, root, &mut list);
        key != "type" && slot_role(schema, root).is_none() && list.iter().any(has)
    };
    let found = properties.iter().filter(|(_, schema)| leads(schema));
    found.map(|(name, _)| format!("{name}.{key}")).collect()
}

/// The option called `key` of a plugin in a slot of `table`, as a path: `clusterer.restarts` for an option
/// written a level too high.
pub(super) fn of_a_plugin(
    table: &Node,
    properties: &Map<String, Value>,
    key: &str,
    root: &Value,
) -> Option<String> {
    let is_slot = |schema: &Value| {
        let any = |list: &Vec<Value>| list.iter().any(|s| slot_role(s, root).is_some());
        slot_role(schema, root).is_some() || alternatives(deref(schema, root)).is_some_and(any)
    };
    let options = |tag: &str| -> Option<&'static Map<String, Value>> {
        Catalogue::get().ok()?.find(tag)?.schema_value().get("properties")?.as_object()
    };
    let has = |slot: &str, schema: &Value| -> Option<String> {
        let tag = match table.get(slot) {
            Some(node) => node.as_str().or_else(|| node.get("type")?.as_str())?,
            None => schema.get("x-default")?.as_str()?,
        };
        property(options(tag)?, key).map(|_| format!("{slot}.{key}"))
    };
    let mut slots = properties.iter().filter(|(_, schema)| key != "type" && is_slot(schema));
    slots.find_map(|(slot, schema)| has(slot, schema))
}

/// Description of the values that a schema (inside the schema `root`) accepts.
pub fn expected(schema: &Value, root: &Value) -> String {
    let schema = deref(schema, root);
    if let Some(role) = slot_role(schema, root) {
        return article(role.name());
    }
    let mut accepted_words = Vec::new();
    words(schema, root, &mut accepted_words);
    let mut parts: Vec<String> = accepted_words.iter().map(|w| format!("\"{w}\"")).collect();
    let mut list = Vec::new();
    single(schema, root, &mut list);
    for s in list {
        if s.get("const").is_some() || s.get("enum").is_some() {
            // Words stand there already.
            parts.extend(listed(s).into_iter().flatten().filter(|v| v.is_number()).map(plain));
            continue;
        }
        for t in types(s) {
            let text = match t {
                "integer" => declared(s).number("an integer"),
                "number" => declared(s).number("a number"),
                "string" => "a string".into(),
                "boolean" => "true or false".into(),
                "array" => "a list".into(),
                "object" => "a table".into(),
                _ => continue,
            };
            if !parts.contains(&text) {
                parts.push(text);
            }
        }
    }
    match parts.len() {
        0 => "another value".into(),
        1 => parts.remove(0),
        _ => {
            let last = parts.pop().expect("at least two");
            format!("{} or {last}", parts.join(", "))
        }
    }
}

/// The declared range of a number.
fn declared(schema: &Value) -> Range {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    Range {
        min: bound("minimum"),
        max: bound("maximum"),
        above: bound("exclusiveMinimum"),
        below: bound("exclusiveMaximum"),
        ..Range::ANY
    }
}

/// The range that `schema` declares, where the number `v` is outside of it.
pub(crate) fn out_of_range(v: &Value, schema: &Value) -> Option<String> {
    declared(schema).refusal(v.as_f64()?)
}

/// True if a schema takes numbers, whole ones or others.
pub(super) fn takes_numbers(schema: &Value, root: &Value) -> bool {
    let schema = deref(schema, root);
    let any = alternatives(schema).is_some_and(|list| list.iter().any(|s| takes_numbers(s, root)));
    any || types(schema).iter().any(|t| ["number", "integer"].contains(t))
}

/// The property of this name, or the one that has it as an alias, with its own name.
pub(super) fn property<'a>(
    properties: &'a Map<String, Value>,
    key: &str,
) -> Option<(&'a str, &'a Value)> {
    let named = properties.get_key_value(key);
    let aliased = || properties.iter().find(|(_, p)| p.get("x-alias") == Some(&key.into()));
    named.or_else(aliased).map(|(name, schema)| (name.as_str(), schema))
}

/// The alternatives of the kind that a value has; of several tables, those that know all its keys.
pub(super) fn fitting<'a>(node: &Node, list: &'a [Value], root: &Value) -> Vec<&'a Value> {
    let fitting: Vec<&Value> = list.iter().filter(|s| fits(node, s, root)).collect();
    let knows = |s: &&&Value| {
        let known = deref(s, root).get("properties").and_then(Value::as_object);
        let all = |known: &Map<String, Value>| {
            node.entries().iter().all(|e| property(known, &e.key).is_some())
        };
        matches!(node.kind, NodeKind::Table(_)) && known.is_some_and(all)
    };
    let knowing: Vec<&Value> = fitting.iter().filter(knows).copied().collect();
    if knowing.is_empty() { fitting } else { knowing }
}

/// The word that distinguishes the tables of a schema: `type = "kfold"`.
pub(super) fn type_word<'a>(schema: &'a Value, root: &'a Value) -> Option<&'a str> {
    deref(schema, root).pointer("/properties/type/const").and_then(Value::as_str)
}

/// The alternative that a value means: that of its `type`, else the first it fits.
pub fn chosen<'a>(value: &Value, list: &'a [Value], root: &Value) -> Option<&'a Value> {
    let given = value.get("type").and_then(Value::as_str);
    let of_type = list.iter().find(|s| given.is_some() && type_word(s, root) == given);
    of_type.or_else(|| fitting(&Node::synthetic(value), list, root).into_iter().next())
}

/// A number as people write it: 3 for 3.0.
pub(crate) fn plain(v: &Value) -> String {
    v.as_f64().map_or_else(|| v.to_string(), options::plain)
}

pub(super) fn article(name: &str) -> String {
    let vowel = name.starts_with(['a', 'e', 'i', 'o', 'u']);
    format!("{} {name}", if vowel { "an" } else { "a" })
}

pub(super) fn fits(node: &Node, schema: &Value, root: &Value) -> bool {
    let schema = deref(schema, root);
    if slot_role(schema, root).is_some() {
        return matches!(&node.kind, NodeKind::Table(_) | NodeKind::Value(Value::String(_)));
    }
    if let Some(list) = alternatives(schema) {
        return list.iter().any(|s| fits(node, s, root));
    }
    let types = types(schema);
    if types.is_empty() {
        return true;
    }
    types.iter().any(|t| match (&node.kind, *t) {
        (NodeKind::Table(_), "object") | (NodeKind::Array(_), "array") => true,
        (NodeKind::Value(v), "string") => v.as_str().is_some_and(|text| {
            let mut accepted = Vec::new();
            words(schema, root, &mut accepted);
            accepted.is_empty() || accepted.contains(&text)
        }),
        (NodeKind::Value(v), "integer") => (v.is_i64() || v.is_u64()) && among(v, schema),
        (NodeKind::Value(v), "number") => v.is_number() && among(v, schema),
        (NodeKind::Value(v), "boolean") => v.is_boolean(),
        (NodeKind::Value(v), "null") => v.is_null(),
        _ => false,
    })
}

/// Distance of `k = "classes"`, `"classes+1"`, `"classes-2"`, … from the number of classes; `None` for
/// other words, and for a distance larger than any number of clusters.
pub fn classes_offset(word: &str) -> Option<i64> {
    let rest = word.strip_prefix("classes")?;
    match rest.as_bytes() {
        [] => Some(0),
        [b'+' | b'-', digits @ ..] if digits.iter().all(u8::is_ascii_digit) => {
            rest.parse::<i32>().ok().map(i64::from)
        }
        _ => None,
    }
}
