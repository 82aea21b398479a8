//! The range of an option in a JSON Schema.

use serde_json::{Map, Value};

/// The keys that bound a number.
const BOUNDS: [&str; 4] = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];

/// Moves ranges declared next to alternatives ("auto" or a number) into the alternatives that are numbers, where
/// readers of a schema expect them. The range of the option takes precedence over that of its type.
pub(crate) fn to_numbers(schema: &mut Value) {
    let bounds: Map<String, Value> = BOUNDS
        .iter()
        .filter_map(|key| Some((key.to_string(), schema.get(*key)?.clone())))
        .collect();
    if !bounds.is_empty()
        && let Some(list) = alternatives(schema)
        && place(list, &bounds)
    {
        schema.as_object_mut().expect("a table").retain(|key, _| !bounds.contains_key(key));
    }
    match schema {
        Value::Object(map) => map.values_mut().for_each(to_numbers),
        Value::Array(items) => items.iter_mut().for_each(to_numbers),
        _ => {}
    }
}

fn alternatives(schema: &mut Value) -> Option<&mut Vec<Value>> {
    let key = ["oneOf", "anyOf"].into_iter().find(|key| schema.get(*key).is_some())?;
    schema.get_mut(key)?.as_array_mut()
}

/// True if any of them, or of their own alternatives, took the range.
fn place(list: &mut [Value], bounds: &Map<String, Value>) -> bool {
    let mut taken = false;
    for schema in list {
        if let Some(list) = alternatives(schema) {
            taken |= place(list, bounds);
            continue;
        }
        let number = ["number", "integer"].iter().any(|t| schema["type"] == *t);
        if let (Value::Object(map), true) = (schema, number) {
            map.extend(bounds.clone());
            taken = true;
        }
    }
    taken
}
