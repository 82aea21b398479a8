//! Plugins with words and the smallest and largest legal numbers: they may only take long.

use serde_json::Value;

use super::choices::{REMEDY, broken};
use super::law::Verdict;
use mustlink_config as config;
use mustlink_core::context::Context;
use mustlink_core::error::Error;
use mustlink_core::random::SeedPath;
use mustlink_core::registry::Catalogue;
use mustlink_core::roles::RoleObject;
use mustlink_core::run::guarded;

/// Seconds after which a run with such a number is ended.
const SHORT: f64 = 0.2;

/// Address space of the laws: an allocation by the number of an option does not fit.
const ADDRESS_SPACE: u64 = 16 << 30;

/// Sets the limit of address space for this process, so that what is allocated by a number fails on
/// any machine.
pub(super) fn limit_address_space() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit, setrlimit};
        let mut limit = getrlimit(Resource::As);
        limit.current = Some(limit.current.map_or(ADDRESS_SPACE, |l| l.min(ADDRESS_SPACE)));
        // Without a limit the law says less, and nothing wrong.
        let _ = setrlimit(Resource::As, limit);
    }
}

/// Values of an option: all words, the smallest number, and the largest if it is a whole number.
fn ends(option: &Value, root: &Value) -> Vec<Value> {
    let option = config::deref(option, root);
    if let Some(list) = config::alternatives(option) {
        return list.iter().flat_map(|each| ends(each, root)).collect();
    }
    if let Some(words) = option.get("enum").and_then(Value::as_array) {
        return words.clone();
    }
    let kind = option.get("type").map(Value::to_string).unwrap_or_default();
    if kind.contains("boolean") {
        return vec![false.into(), true.into()];
    }
    let keys: &[&str] = match (kind.contains("integer"), kind.contains("number")) {
        (true, _) => &["minimum", "maximum"],
        (_, true) => &["minimum"],
        _ => &["const"],
    };
    keys.iter().filter_map(|key| option.get(*key).cloned()).collect()
}

/// Runs `p` with each word of its options, each number at its smallest and each whole number at its largest:
/// it may take too long, or say no, but neither panic nor allocate by the number.
pub(super) fn are_harmless<R: RoleObject + ?Sized, T>(
    p: &R,
    run: impl Fn(&R, &Context) -> Result<T, Error>,
) -> Verdict {
    let catalogue = Catalogue::get().map_err(|e| e.to_string())?;
    let schema = catalogue.find(p.tag()).ok_or("not in the catalogue")?.schema_value();
    let options = schema.get("properties").and_then(Value::as_object);
    // What a program in another language promises is not in the hands of this plugin.
    let promises = |name: &str| name.starts_with("hard_");
    for (name, option) in options.into_iter().flatten().filter(|(name, _)| !promises(name)) {
        for value in ends(option, schema) {
            let mut config = p.to_value();
            config[name] = value.clone();
            let plugin = R::from_value(config).map_err(|e| format!("{name} = {value}: {e}"))?;
            let ctx = Context::builder(SeedPath::new(1)).time_limit(Some(SHORT)).build();
            if let Err(e) = guarded(p.tag(), || run(&plugin, &ctx))
                && let Some(broken) = broken(&e)
            {
                return Err(format!("{name} = {value}: {broken}; {REMEDY}"));
            }
        }
    }
    Ok(())
}

/// The places of numbers of these kinds that have none of these bounds. Those in lists are names of
/// objects, or one choice of many: nothing is made so many times.
pub(super) fn without(schema: &Value, kinds: &[&str], bounds: &[&str]) -> Vec<String> {
    type Out<'a> = &'a mut dyn FnMut(&Value, &str);
    fn walk(schema: &Value, root: &Value, path: &str, out: Out<'_>) {
        if config::slot_role(schema, root).is_some() {
            return;
        }
        let schema = config::deref(schema, root);
        for part in config::alternatives(schema).into_iter().flatten() {
            walk(part, root, path, out);
        }
        out(schema, path);
        if let Some(options) = schema.get("properties").and_then(Value::as_object) {
            for (name, option) in options {
                walk(option, root, &format!("{path}.{name}"), out);
            }
        }
    }
    let mut open = Vec::new();
    walk(schema, schema, "", &mut |schema: &Value, path: &str| {
        let of_kind = schema.get("type").map(Value::to_string);
        let of_kind = of_kind.is_some_and(|t| kinds.iter().any(|kind| t.contains(kind)));
        if of_kind && bounds.iter().all(|bound| schema.get(*bound).is_none()) {
            open.push(path.into());
        }
    });
    open
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_without_a_ceiling_are_found() {
        let schema = json!({"properties": {
            "a": {"type": "integer", "maximum": 3},
            "b": {"anyOf": [{"type": "string"}, {"type": ["integer", "null"]}]},
            "c": {"type": "array", "items": {"$ref": "#/$defs/n"}},
            "d": {"type": "number"},
        }, "$defs": {"n": {"type": "integer"}}});
        assert_eq!(without(&schema, &["integer"], &["maximum"]), [".b"]);
        assert_eq!(without(&schema, &["integer", "number"], &["minimum"]), [".a", ".b", ".d"]);
        assert_eq!(ends(&schema["properties"]["a"], &schema), [3]);
        let either = json!({"anyOf": [{"type": "string"}, {"type": "number", "minimum": 0.5}]});
        assert_eq!(ends(&either, &schema), [0.5]);
        let words = json!({"oneOf": [{"const": "a"}, {"enum": ["b", "c"]}, {"type": "boolean"}]});
        let all = [json!("a"), json!("b"), json!("c"), json!(false), json!(true)];
        assert_eq!(ends(&words, &schema), all);
    }
}
