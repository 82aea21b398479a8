//! What every plugin's options have in common: declared ranges, and slots with a default.
//!
//! A range is declared once, at the option. The loader checks it in a configuration, with the line
//! it stands in; [`check`] checks the same declaration of a plugin built in Rust, before it runs.
//! Both give one message.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::config;
use crate::declared::Declared;
use crate::error::{Diagnostic, Error, Result};
use crate::registry::{Catalogue, build_default};
use crate::roles::RoleObject;

/// Whether every number of a plugin lies in its declared range, those of the plugins it holds
/// included. `#[plugin]` puts this before the required method of every role.
///
/// # Errors
/// `BadParam` for one number out of range, `Config` with all of them for more; NaN and infinities
/// are out of every range.
pub fn check<P: Declared + Serialize>(plugin: &P) -> Result<()> {
    check_value(
        &serde_json::to_value(plugin).expect("plugins serialise to plain tables"),
        P::schema(),
    )
}

/// As [`check`], for options as JSON with their schema.
///
/// # Errors
/// As [`check`].
pub fn check_value(options: &Value, schema: &Value) -> Result<()> {
    let mut found = Vec::new();
    walk(options, schema, schema, "", &mut found);
    if found.len() == 1 {
        return Err(found.remove(0));
    }
    let diagnostic = |e: Error| match e {
        Error::BadParam { name, value, legal } => Diagnostic {
            source: String::new(),
            position: None,
            span: None,
            path: name,
            message: format!("must be {legal}, got {value}"),
        },
        _ => unreachable!("only numbers out of range are collected"),
    };
    match found.is_empty() {
        true => Ok(()),
        false => Err(Error::Config(found.into_iter().map(diagnostic).collect())),
    }
}

fn walk(value: &Value, schema: &Value, root: &Value, path: &str, found: &mut Vec<Error>) {
    // JSON has no NaN and no infinities: they are written as null.
    if value.is_null() && config::is_number(schema, root) && !config::writes_null(schema, root) {
        let legal = config::range(schema).unwrap_or_else(|| config::expected(schema, root));
        found.push(Error::bad_param(path, "NaN or an infinity", legal));
        return;
    }
    if config::slot_role(schema, root).is_some() {
        let tag = value.get("type").and_then(Value::as_str);
        let held = tag.and_then(|tag| Catalogue::get().ok()?.find(tag));
        if let (Value::Object(options), Some(plugin)) = (value, held) {
            table(options, plugin.schema_value(), plugin.schema_value(), path, found);
        }
        return;
    }
    let schema = config::deref(schema, root);
    if let Some(list) = config::alternatives(schema) {
        if let Some(chosen) = config::chosen(value, list, root) {
            walk(value, chosen, root, path, found);
        }
        return;
    }
    match value {
        Value::Object(options) => table(options, schema, root, path, found),
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                let each = schema.get("items").unwrap_or(&Value::Null);
                walk(item, each, root, &format!("{path}[{at}]"), found);
            }
        }
        number => {
            if let Some(legal) = config::out_of_range(number, schema) {
                found.push(Error::bad_param(path, config::plain(number), legal));
            }
        }
    }
}

fn table(
    options: &Map<String, Value>,
    schema: &Value,
    root: &Value,
    path: &str,
    found: &mut Vec<Error>,
) {
    let declared = schema.get("properties").and_then(Value::as_object);
    for (name, value) in options {
        let Some(option) = declared.and_then(|all| all.get(name)) else { continue };
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        walk(value, option, root, &path, found);
    }
}

/// The plugin in a slot, or the default of the slot, which is named by its tag.
///
/// # Errors
/// `NotLinked` when the default is not in the program.
pub fn slot<'a, R: RoleObject + ?Sized>(
    filled: &'a Option<Box<R>>,
    default: &str,
) -> Result<Cow<'a, Box<R>>>
where
    Box<R>: Clone,
{
    match filled {
        Some(plugin) => Ok(Cow::Borrowed(plugin)),
        None => Ok(Cow::Owned(build_default(default)?)),
    }
}
