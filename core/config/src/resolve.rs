//! Plain values with every default filled in, and what is built from them.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::accepted::{Accepted, Form, Options, classes_offset};
use crate::document::Node;
use crate::tree::{plugin, visit_tables_mut};
use crate::validate::{Check, validate};
use mustlink_core::error::{Error, Result};
use mustlink_core::kind::{Described, Kind};
use mustlink_core::registry::{Catalogue, Script};

/// The tree as plain values: bare strings in plugin slots written out, empty slots filled with
/// their default plugin, every other default filled in.
///
/// # Errors
/// `NotLinked` for a default plugin that is not in the program.
pub fn resolve<T: Described>(node: &Node) -> Result<Value> {
    resolved(&node.to_value(), Accepted::from(T::KIND))
}

/// Checks, fills in defaults, and builds.
///
/// # Errors
/// `Config` with every complaint.
pub fn build<T: DeserializeOwned + Described>(node: &Node, path: &str) -> Result<T> {
    let mut out = Vec::new();
    validate::<T>(node, path, Check::default(), &mut out);
    if !out.is_empty() {
        return Err(Error::Config(out));
    }
    instantiate(resolve::<T>(node)?).map_err(|e| Error::Config(vec![node.diagnostic(path, e)]))
}

/// Builds from resolved values.
///
/// # Errors
/// The message of the deserialiser.
pub fn instantiate<T: DeserializeOwned>(mut value: Value) -> std::result::Result<T, String> {
    expand_scripts(&mut value);
    serde_json::from_value(value).map_err(|e| e.to_string().trim().to_string())
}

/// Plugins in other languages by the form in which they run: a command with options.
fn expand_scripts(value: &mut Value) {
    visit_tables_mut(value, &mut |table| {
        let Some((d, script)) = plugin(table).and_then(|d| Some((d, d.script.as_ref()?))) else {
            return true;
        };
        let map = table.as_object_mut().expect("a table");
        let mut options = std::mem::take(map);
        options.remove("type");
        map.extend(script.facts.clone());
        map.extend(options.remove_entry("timeout_seconds"));
        map.insert("type".into(), format!("external_{}", d.role.key()).into());
        map.insert("name".into(), d.tag.into());
        let words = script.command.iter().enumerate().map(|(at, word)| {
            // A program named alone is looked for along PATH.
            let here = at > 0 || Path::new(word).components().count() > 1;
            let path = script.base.join(word);
            if here && path.is_file() { path.display().to_string() } else { word.clone() }
        });
        map.insert("command".into(), words.collect());
        map.insert("options".into(), options.into());
        false
    });
}

/// Plugins in other languages by their own names and options, as [`resolve`] writes them.
pub fn own_names(value: &mut Value) {
    visit_tables_mut(value, &mut |table| {
        let name = table.get("name").and_then(Value::as_str);
        let found = name.and_then(|name| Catalogue::get().ok()?.find(name));
        let Some(d) = found.filter(|d| d.script.is_some()) else { return true };
        let map = table.as_object_mut().expect("a table");
        let mut own = Map::from_iter([("type".to_string(), d.tag.into())]);
        own.extend(map.remove_entry("timeout_seconds"));
        if let Some(Value::Object(options)) = map.remove("options") {
            own.extend(options);
        }
        *map = own;
        false
    });
}

/// The value without entries that are null, which TOML cannot write.
pub fn without_null(value: &Value) -> Value {
    let mut value = value.clone();
    visit_tables_mut(&mut value, &mut |table| {
        table.as_object_mut().expect("a table").retain(|_, v| !v.is_null());
        true
    });
    value
}

/// Replaces `k = "classes"` (or `"classes+1"`, …) by the number and removes `k = "unknown"`, at any
/// depth.
pub fn substitute_k(value: &mut Value, classes: Option<usize>) {
    visit_tables_mut(value, &mut |table| {
        let map = table.as_object_mut().expect("a table");
        let word = map.get("k").and_then(Value::as_str);
        match (word.and_then(classes_offset), classes) {
            // Below 1 the option itself refuses it.
            (Some(offset), Some(k)) => drop(map.insert("k".into(), (k as i64 + offset).into())),
            (Some(_), None) => drop(map.remove("k")),
            (None, _) if word == Some("unknown") => drop(map.remove("k")),
            (None, _) => {}
        }
        true
    });
}

fn resolved(value: &Value, accepted: Accepted) -> Result<Value> {
    if accepted.role().is_some() {
        return resolve_plugin(value);
    }
    let Some(form) = accepted.chosen(value) else { return Ok(value.clone()) };
    match (value, form) {
        (_, Form::Value(slot)) if slot.role().is_some() => resolve_plugin(value),
        (Value::Array(items), Form::Value(Accepted { kind: Kind::List(each), .. })) => {
            let items = items.iter().map(|item| resolved(item, Accepted::from(*each)));
            Ok(Value::Array(items.collect::<Result<_>>()?))
        }
        (Value::Object(map), form) => match form.options() {
            Some(options) => resolved_table(map, &options, &options.defaults()),
            None => Ok(value.clone()),
        },
        _ => Ok(value.clone()),
    }
}

fn resolved_table(
    map: &Map<String, Value>,
    options: &Options,
    defaults: &Map<String, Value>,
) -> Result<Value> {
    // Options under their own names, whatever alias they were given by.
    let renamed = map.iter().map(|(key, value)| {
        let own = options.find(key).map_or(key.as_str(), |option| option.name);
        (own.to_string(), value.clone())
    });
    let mut out: Map<String, Value> = renamed.collect();
    for option in &options.all {
        let given = out.get(option.name).filter(|v| !v.is_null());
        let default = defaults.get(option.name).filter(|default| !default.is_null());
        let value = match (given, option.slot, default) {
            (Some(v), _, _) => resolved(v, Accepted::from(*option))?,
            (None, Some(tag), _) => resolve_plugin(&Value::from(tag))?,
            (None, None, Some(default)) => resolved(default, Accepted::from(*option))?,
            _ => continue,
        };
        out.insert(option.name.into(), value);
    }
    Ok(Value::Object(out))
}

/// The configuration of one plugin as plain values, every default filled in.
///
/// # Errors
/// Returns the errors of [`resolve`].
pub fn resolve_plugin(value: &Value) -> Result<Value> {
    let map = match value {
        Value::String(tag) => Map::from_iter([("type".to_string(), Value::String(tag.clone()))]),
        Value::Object(map) => map.clone(),
        other => return Ok(other.clone()),
    };
    let tag = map.get("type").and_then(Value::as_str).unwrap_or_default();
    let d = Catalogue::get()?
        .find(tag)
        .ok_or_else(|| Error::NotLinked { role: None, tag: tag.into() })?;
    let Kind::Table(table) = d.kind else { return Ok(Value::Object(map)) };
    let options = Options::of_table(table);
    let mut out = match &d.script {
        Some(Script { default: Value::Object(defaults), .. }) => {
            resolved_table(&map, &options, defaults)?
        }
        _ => resolved_table(&map, &options, &options.defaults())?,
    };
    // Whatever alias it was given by.
    out["type"] = d.tag.into();
    Ok(out)
}
