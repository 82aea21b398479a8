//! One schema out of the schemas of files and plugins.
//!
//! In the schema of a type a plugin slot is only marked with its role. Here each mark becomes a
//! reference to the plugins of that role, and each plugin's schema gets its `type`. References run
//! through `$defs`, so that plugins may hold plugins without end.

use std::collections::BTreeSet;

use mustlink::config::tree::{visit_tables, visit_tables_mut};
use mustlink::registry::{Catalogue, Descriptor, Role};
use mustlink_experiments::ExperimentFile;
use serde_json::{Map, Value, json};

use crate::method_file::MethodFile;

/// The schema of method files.
pub(crate) fn method(catalogue: &Catalogue) -> Value {
    assemble(catalogue, mustlink::registry::schema_of::<MethodFile>(), Slots::Plain)
}

/// The schema of experiment files.
pub(crate) fn experiment(catalogue: &Catalogue) -> Value {
    let schema = mustlink::registry::schema_of::<ExperimentFile>();
    assemble(catalogue, schema, Slots::Experiment)
}

/// The schema of one plugin, its `type` included.
pub(crate) fn plugin(catalogue: &Catalogue, d: &Descriptor) -> Value {
    let schema = json!({ "$schema": DIALECT, "title": d.tag, "$ref": definition(d) });
    assemble(catalogue, schema, Slots::Plain)
}

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Values that a slot accepts besides a plugin.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Slots {
    /// Nothing.
    Plain,
    /// `"same:<method id>"`, `k = "classes"`, and lists, which make one method per value.
    Experiment,
}

fn definition(d: &Descriptor) -> String {
    format!("#/$defs/plugin.{}", d.tag)
}

fn assemble(catalogue: &Catalogue, mut schema: Value, slots: Slots) -> Value {
    let mut defs = Map::new();
    if let Some(Value::Object(own)) = schema.as_object_mut().and_then(|s| s.remove("$defs")) {
        for (name, mut def) in own {
            // In an experiment only methods have axes.
            let inside = name == "MethodEntry" && slots == Slots::Experiment;
            options(&mut def, inside);
            fill(&mut def, "");
            defs.insert(name, def);
        }
    }
    fill(&mut schema, "");
    for d in catalogue.all() {
        let mut own = d.schema_value().clone();
        let map = own.as_object_mut().expect("options are a table");
        map.remove("$schema");
        let inner = map.remove("$defs");
        let prefix = format!("{}.", d.tag);
        options(&mut own, slots == Slots::Experiment);
        fill(&mut own, &prefix);
        typed(&mut own, d.tag);
        defs.insert(format!("plugin.{}", d.tag), own);
        for (name, mut def) in inner.and_then(|d| d.as_object().cloned()).into_iter().flatten() {
            fill(&mut def, &prefix);
            defs.insert(prefix.clone() + &name, def);
        }
    }
    for role in Role::ALL {
        defs.insert(format!("role.{}", role.key()), alternatives(catalogue, role, slots));
    }
    let needed = reachable(&schema, &defs);
    defs.retain(|name, _| needed.contains(name));
    schema["$defs"] = Value::Object(defs);
    schema
}

/// A plugin of the role by its tag, or as a table.
fn alternatives(catalogue: &Catalogue, role: Role, slots: Slots) -> Value {
    let tags: Vec<&str> = catalogue.role(role).map(|d| d.tag).collect();
    let mut list = vec![json!({ "enum": tags })];
    if slots == Slots::Experiment {
        list.push(json!({ "type": "string", "pattern": "^same:" }));
    }
    list.extend(catalogue.role(role).map(|d| json!({ "$ref": definition(d) })));
    if slots == Slots::Experiment {
        let one = json!({ "oneOf": list });
        return json!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] });
    }
    json!({ "oneOf": list })
}

/// Gives a table its `type`: inside `properties`, or `additionalProperties: false` would refuse it.
fn typed(schema: &mut Value, tag: &str) {
    let Some(map) = schema.as_object_mut() else { return };
    let properties = map.entry("properties").or_insert_with(|| json!({}));
    if let Some(properties) = properties.as_object_mut() {
        properties.insert("type".into(), json!({ "const": tag }));
    }
    let required = map.entry("required").or_insert_with(|| json!([]));
    if let Some(required) = required.as_array_mut() {
        required.insert(0, "type".into());
    }
}

/// Options that the loader accepts in other forms than their type has: in an experiment `k` may be
/// a word, and a list may stand where one value is wanted.
fn options(schema: &mut Value, experiment: bool) {
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (name, option) in properties.into_iter().flatten() {
        if !experiment || name == "id" || name == "file" {
            continue;
        }
        // Slots have their lists in the definition of the role.
        if option.get("x-role").is_some() || is_list(option) {
            continue;
        }
        let description = option.get("description").cloned();
        let mut list = vec![option.take()];
        if name == "k" {
            list.push(json!({ "enum": ["classes", "unknown"] }));
            list.push(json!({ "type": "string", "pattern": "^classes[+-][0-9]+$" }));
        }
        let one = json!({ "anyOf": list });
        *option = json!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] });
        if let Some(description) = description {
            option["description"] = description;
        }
    }
}

fn is_list(schema: &Value) -> bool {
    match schema.get("type") {
        Some(Value::String(t)) => t == "array",
        Some(Value::Array(types)) => types.iter().any(|t| t == "array"),
        _ => false,
    }
}

/// Replaces the marks of plugin slots, and moves references to where definitions will stand.
fn fill(schema: &mut Value, prefix: &str) {
    visit_tables_mut(schema, &mut |table| {
        let Some(map) = table.as_object_mut() else { return true };
        if let Some(Value::String(role)) = map.remove("x-role") {
            map.insert("$ref".into(), format!("#/$defs/role.{role}").into());
        } else if let Some(Value::String(reference)) = map.get_mut("$ref")
            && let Some(name) = reference.strip_prefix("#/$defs/").map(str::to_string)
            && !name.starts_with("plugin.")
        {
            *reference = format!("#/$defs/{prefix}{name}");
        }
        if let Some(default) = map.remove("x-default") {
            map.insert("default".into(), default);
        }
        true
    });
}

/// The definitions that a schema refers to.
fn references(schema: &Value) -> Vec<&str> {
    let mut found = Vec::new();
    visit_tables(schema, &mut |table| {
        found.extend(table.get("$ref").and_then(Value::as_str));
        true
    });
    found
}

/// The definitions that `schema` needs.
fn reachable(schema: &Value, defs: &Map<String, Value>) -> BTreeSet<String> {
    let (mut open, mut found) = (references(schema), BTreeSet::new());
    while let Some(reference) = open.pop() {
        let Some(name) = reference.strip_prefix("#/$defs/") else { continue };
        if found.insert(name.to_string()) {
            open.extend(defs.get(name).map(references).unwrap_or_default());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_leads_somewhere_and_no_mark_is_left() {
        let catalogue = Catalogue::get().unwrap();
        let mut all = vec![method(catalogue), experiment(catalogue)];
        all.extend(catalogue.all().iter().map(|d| plugin(catalogue, d)));
        for schema in &all {
            visit_tables(schema, &mut |table| {
                assert!(table.get("x-role").or(table.get("x-default")).is_none(), "{table}");
                true
            });
            for reference in references(schema) {
                let pointer = reference.strip_prefix('#').unwrap();
                assert!(schema.pointer(pointer).is_some(), "{reference}");
            }
        }
        assert!(all[0].pointer("/$defs/plugin.kmeans").is_some());
    }

    #[test]
    fn a_plugin_has_its_type_among_its_options() {
        let catalogue = Catalogue::get().unwrap();
        let schema = plugin(catalogue, catalogue.find("kmeans").unwrap());
        let kmeans = &schema["$defs"]["plugin.kmeans"];
        assert_eq!(kmeans["properties"]["type"], json!({ "const": "kmeans" }));
        assert_eq!(kmeans["required"][0], "type");
        assert_eq!(kmeans["additionalProperties"], false);
        let names = method(catalogue);
        let tags = names.pointer("/$defs/role.clusterer/oneOf/0/enum").unwrap();
        assert!(tags.as_array().unwrap().contains(&json!("pck_means")), "{tags}");
    }
}
