//! The validation of a tree against the schemas of its types and plugins.

use schemars::JsonSchema;
use serde_json::{Map, Value};

use crate::axis::axis_values;
use crate::document::{Entry, Node, NodeKind};
use crate::schema::{
    alternatives, article, classes_offset, deref, expected, fits, fitting, of_a_plugin,
    one_step_below, out_of_range, plain, property, slot_role, takes_numbers, type_word, words,
};
use mustlink_core::error::Diagnostic;
use mustlink_core::options::below;
use mustlink_core::registry::{Catalogue, suggestion};
use mustlink_core::role::Role;

/// Settings of a check.
#[derive(Debug, Clone, Copy, Default)]
pub struct Check {
    /// `k = "classes"`, `"classes+1"`, … and `k = "unknown"` are legal (experiments).
    pub classes: bool,
    /// A list, or a range of numbers, is legal where a single value is wanted: an axis of methods
    /// (experiments).
    pub axes: bool,
}

/// Checks a tree against the schema of `T` and of every plugin named in it; appends all complaints.
pub fn validate<T: JsonSchema>(node: &Node, path: &str, check: Check, out: &mut Vec<Diagnostic>) {
    let schema = schemars::schema_for!(T).to_value();
    Walk { check, out, axes: Vec::new() }.value(node, &schema, &schema, path, "the configuration");
}

/// Errors of a value against a schema without references to others.
pub fn complaints(value: &Value, schema: &Value) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    let mut walk = Walk { check: Check::default(), out: &mut out, axes: Vec::new() };
    walk.value(&Node::synthetic(value), schema, schema, "", "the configuration");
    out
}

/// The paths of lists and ranges at which the schema of `T` expects a single value.
pub fn axes<T: JsonSchema>(node: &Node) -> Vec<String> {
    let schema = schemars::schema_for!(T).to_value();
    let mut out = Vec::new();
    let check = Check { classes: true, axes: true };
    let mut walk = Walk { check, out: &mut out, axes: Vec::new() };
    walk.value(node, &schema, &schema, "", "");
    walk.axes
}

struct Walk<'a> {
    check: Check,
    out: &'a mut Vec<Diagnostic>,
    axes: Vec<String>,
}

impl Walk<'_> {
    fn complain(&mut self, node: &Node, path: &str, message: String) {
        self.out.push(node.diagnostic(path, message));
    }

    fn value(&mut self, node: &Node, schema: &Value, root: &Value, path: &str, owner: &str) {
        if let Some(role) = slot_role(schema, root) {
            let optional = schema.get("default").is_some_and(Value::is_null);
            if optional && matches!(node.kind, NodeKind::Value(Value::Null)) {
                return;
            }
            return self.plugin(node, role, path);
        }
        let schema = deref(schema, root);
        if let Some(list) = alternatives(schema) {
            return self.one_of(node, schema, list, root, path, owner);
        }
        if !fits(node, schema, root) {
            let Some(values) = self.axis(node, schema, root, path) else { return };
            return values.iter().for_each(|item| self.value(item, schema, root, path, owner));
        }
        match &node.kind {
            NodeKind::Table(entries) => self.table(node, entries, schema, root, path, owner),
            NodeKind::Array(items) => {
                if schema.get("x-program") == Some(&Value::Bool(true))
                    && let Some(at) =
                        items.iter().position(|i| matches!(i.kind, NodeKind::Array(_)))
                {
                    let message = "must be a word, got a list: a command is one list of words; what \
                                   varies goes into options = { … }, another program into a method \
                                   of its own";
                    return self.complain(&items[at], &format!("{path}[{at}]"), message.into());
                }
                if let Some(each) = schema.get("items") {
                    for (at, item) in items.iter().enumerate() {
                        self.value(item, each, root, &format!("{path}[{at}]"), owner);
                    }
                }
                // As the two objects of a pair.
                if let Some(places) = schema.get("prefixItems").and_then(Value::as_array) {
                    let (wanted, got) = (places.len(), items.len());
                    if got != wanted {
                        let message = format!("must be a list of {wanted} values, got {got}");
                        return self.complain(node, path, message);
                    }
                    for (at, (item, place)) in items.iter().zip(places).enumerate() {
                        self.value(item, place, root, &format!("{path}[{at}]"), owner);
                    }
                }
            }
            NodeKind::Value(v) => {
                if let Some(legal) = out_of_range(v, schema) {
                    self.complain(node, path, format!("must be {legal}, got {}", plain(v)));
                }
            }
        }
    }

    /// The values of a list or range in place of one value, which is then an axis. `None` for any other
    /// value, and for an axis that is not allowed here, which is reported.
    fn axis(&mut self, node: &Node, schema: &Value, root: &Value, path: &str) -> Option<Vec<Node>> {
        let is_range = matches!(node.kind, NodeKind::Table(_));
        let values = axis_values(node).filter(|_| self.check.axes);
        match values.filter(|_| !is_range || takes_numbers(schema, root)) {
            Some(Ok(values)) => {
                self.axes.push(path.into());
                return Some(values);
            }
            Some(Err(message)) => self.complain(node, path, message),
            None => self.mismatch(node, schema, root, path),
        }
        None
    }

    fn mismatch(&mut self, node: &Node, schema: &Value, root: &Value, path: &str) {
        let mut accepted = Vec::new();
        words(schema, root, &mut accepted);
        let near = match &node.kind {
            NodeKind::Value(Value::String(text)) => suggestion(text, accepted),
            _ => String::new(),
        };
        let message = format!("must be {}, got {}{near}", expected(schema, root), node.describe());
        self.complain(node, path, message);
    }

    fn one_of(
        &mut self,
        node: &Node,
        schema: &Value,
        list: &[Value],
        root: &Value,
        path: &str,
        owner: &str,
    ) {
        // Tables told apart by a word: `type = "kfold"`.
        let tags: Vec<&str> = list.iter().filter_map(|s| type_word(s, root)).collect();
        if let (NodeKind::Table(_), false) = (&node.kind, tags.is_empty()) {
            let quoted = tags.iter().map(|t| format!("\"{t}\"")).collect::<Vec<_>>().join(", ");
            match node.get("type") {
                None => self.complain(node, path, format!("needs a type, one of {quoted}")),
                Some(given) => {
                    let word = given.as_str().unwrap_or_default();
                    match list.iter().find(|s| type_word(s, root) == Some(word)) {
                        Some(chosen) => self.value(node, chosen, root, path, word),
                        None => {
                            let near = suggestion(word, tags);
                            let message =
                                format!("must be one of {quoted}, got {}{near}", given.describe());
                            self.complain(given, &below(path, "type"), message);
                        }
                    }
                }
            }
            return;
        }
        match fitting(node, list, root).as_slice() {
            [] => {
                let values = self.axis(node, schema, root, path).unwrap_or_default();
                values.iter().for_each(|i| self.one_of(i, schema, list, root, path, owner));
            }
            [one] => self.value(node, one, root, path, owner),
            several => {
                // The first that has nothing to complain about, else the complaints of the first.
                let mut first: Option<Vec<Diagnostic>> = None;
                for s in several {
                    let mut out = Vec::new();
                    let mut walk = Walk { check: self.check, out: &mut out, axes: Vec::new() };
                    walk.value(node, s, root, path, owner);
                    let found = walk.axes;
                    if out.is_empty() {
                        self.axes.extend(found);
                        return;
                    }
                    first.get_or_insert(out);
                }
                self.out.extend(first.unwrap_or_default());
            }
        }
    }

    fn table(
        &mut self,
        node: &Node,
        entries: &[Entry],
        schema: &Value,
        root: &Value,
        path: &str,
        owner: &str,
    ) {
        let none = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
        for entry in entries {
            let here = below(path, &entry.key);
            match property(properties, &entry.key) {
                Some((own, _)) if own != entry.key && entries.iter().any(|e| e.key == own) => {
                    self.complain(&entry.node, &here, format!("is the same option as {own}"));
                }
                Some((_, option)) => {
                    let word = entry.node.as_str();
                    let classes = entry.key == "k"
                        && word.is_some_and(|w| w == "unknown" || classes_offset(w).is_some());
                    if self.check.classes
                        && entry.key == "k"
                        && let Some(word) = word.filter(|_| !classes)
                        && !fits(&entry.node, option, root)
                    {
                        let near = suggestion(word, ["classes", "unknown"]);
                        let message = format!(
                            "must be an integer, at least 1, \"classes\", \"classes+1\" (or any other \
                             number more or fewer) or \"unknown\", got \"{word}\"{near}"
                        );
                        self.complain(&entry.node, &here, message);
                    } else if !(self.check.classes && classes) {
                        self.value(&entry.node, option, root, &here, owner);
                    }
                }
                None if closed => {
                    let names: Vec<&str> = properties.keys().map(String::as_str).collect();
                    let near = suggestion(&entry.key, names.iter().copied());
                    let mut deeper = one_step_below(properties, &entry.key, root);
                    deeper.extend(of_a_plugin(node, properties, &entry.key, root));
                    let help = match (deeper.as_slice(), near.is_empty(), names.is_empty()) {
                        ([path, ..], _, _) => format!("; did you mean \"{path}\"?"),
                        (_, false, _) => near,
                        (_, true, true) => "; it has no options".into(),
                        (_, true, false) => format!("; accepted: {}", names.join(", ")),
                    };
                    let message = format!("unknown option of {owner}{help}");
                    self.out.push(entry.diagnostic(&here, message));
                }
                None => {
                    if let Some(each @ Value::Object(_)) = schema.get("additionalProperties") {
                        self.value(&entry.node, each, root, &here, owner);
                    }
                }
            }
        }
        let required = schema.get("required").and_then(Value::as_array);
        for key in required.into_iter().flatten().filter_map(Value::as_str) {
            if !entries.iter().any(|e| e.key == key) {
                self.complain(node, &below(path, key), format!("missing option of {owner}"));
            }
        }
    }

    fn plugin(&mut self, node: &Node, role: Role, path: &str) {
        let list = format!("run \"mustlink list {}\"", role.plural());
        let (tag, at) = match &node.kind {
            NodeKind::Value(Value::String(tag)) => (tag.as_str(), node),
            NodeKind::Table(_) => match node.get("type") {
                Some(t) => match t.as_str() {
                    Some(tag) => (tag, t),
                    None => {
                        let message = format!(
                            "must be the name of {}, got {}; {list}",
                            article(role.name()),
                            t.describe()
                        );
                        return self.complain(t, &below(path, "type"), message);
                    }
                },
                None => {
                    let message =
                        format!("needs a type, the name of {}; {list}", article(role.name()));
                    return self.complain(node, path, message);
                }
            },
            NodeKind::Array(items) if self.check.axes && !items.is_empty() => {
                self.axes.push(path.into());
                for item in items {
                    self.plugin(item, role, path);
                }
                return;
            }
            _ => {
                let message =
                    format!("must be {}, got {}; {list}", article(role.name()), node.describe());
                return self.complain(node, path, message);
            }
        };
        let catalogue = match Catalogue::get() {
            Ok(catalogue) => catalogue,
            Err(e) => return self.complain(at, path, e.to_string()),
        };
        match catalogue.find(tag) {
            None => {
                let near = suggestion(tag, catalogue.role(role).map(|d| d.tag));
                let sep = if near.is_empty() { ";" } else { "" };
                self.complain(at, path, format!("no {} \"{tag}\"{near}{sep} {list}", role.name()));
            }
            Some(d) if d.role != role => {
                let message = format!(
                    "\"{tag}\" is {}, not {}; {list}",
                    article(d.role.name()),
                    article(role.name())
                );
                self.complain(at, path, message);
            }
            Some(d) => {
                if let NodeKind::Table(entries) = &node.kind {
                    let schema = d.schema_value();
                    let options: Vec<Entry> =
                        entries.iter().filter(|e| e.key != "type").cloned().collect();
                    self.table(node, &options, schema, schema, path, tag);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use mustlink_core::options::check;
    use mustlink_core::prelude::*;
    use mustlink_core::registry::schema_of;
    use serde_json::json;

    use super::complaints;
    use crate::schema::expected;

    #[options]
    struct Options {
        #[option(default = AutoOr::Auto, above = 0.0, max = 9.0)]
        width: AutoOr<f64>,
        #[option(min = 1)]
        count: Option<AutoOr<usize>>,
    }

    #[test]
    fn the_range_at_the_option_is_that_of_the_value() {
        let schema = schema_of::<Options>();
        let width = &schema["properties"]["width"];
        assert_eq!(width["anyOf"][0]["exclusiveMinimum"], json!(0.0), "{width}");
        assert_eq!(width.get("exclusiveMinimum"), None, "{width}");
        let wrong = [
            (json!({"width": 0.0}), "width: must be above 0 and at most 9, got 0"),
            (json!({"width": 9.5}), "width: must be above 0 and at most 9, got 9.5"),
            (json!({"count": 0}), "count: must be at least 1, got 0"),
        ];
        for (options, said) in wrong {
            let found = complaints(&options, &schema);
            assert_eq!(format!("{}: {}", found[0].path, found[0].message), said);
            // Built in Rust it is refused in the same words.
            let built: Options = serde_json::from_value(options).unwrap();
            assert_eq!(check(&built).unwrap_err().to_string(), said);
        }
        let nan = Options { width: f64::NAN.into(), ..Options::default() };
        let said = check(&nan).unwrap_err().to_string();
        assert!(
            said.starts_with("width: must be \"auto\" or a number above 0 and at most 9, got NaN"),
            "{said}"
        );
        for legal in [json!({"width": "auto", "count": "auto"}), json!({"width": 9.0, "count": 1})]
        {
            assert!(complaints(&legal, &schema).is_empty());
            let built: Options = serde_json::from_value(legal).unwrap();
            assert_eq!(check(&built), Ok(()));
        }
        let count = expected(&schema["properties"]["count"], &schema);
        assert_eq!(count, "\"auto\" or an integer, at least 1");
    }

    #[test]
    fn each_place_of_a_pair_is_looked_at() {
        let object = json!({ "type": "integer", "format": "uint32", "minimum": 0 });
        let pair = json!({ "type": "array", "prefixItems": [object, object], "minItems": 2 });
        let schema = json!({ "properties": { "pairs": { "type": "array", "items": pair } } });
        for (pairs, said) in [
            (json!([[0, 1], [2]]), "pairs[1]: must be a list of 2 values, got 1"),
            (json!([[0, 1, 2]]), "pairs[0]: must be a list of 2 values, got 3"),
            (json!([[0, -1]]), "pairs[0][1]: must be at least 0, got -1"),
            (json!([[0.5, 1]]), "pairs[0][0]: must be an integer, at least 0, got 0.5"),
            (json!([["a", 1]]), "pairs[0][0]: must be an integer, at least 0, got string \"a\""),
        ] {
            let found = complaints(&json!({ "pairs": pairs }), &schema);
            assert_eq!(format!("{}: {}", found[0].path, found[0].message), said);
        }
        assert!(complaints(&json!({ "pairs": [[0, 1], [2, 3]] }), &schema).is_empty());
    }

    #[test]
    fn numbers_that_a_schema_lists_are_all() {
        let schema = json!({ "properties": {
            "size": { "type": "integer", "enum": [1, 2, 50] },
            "rate": { "type": "number", "enum": [0.5, 1.0] },
        }});
        for (options, said) in [
            (json!({ "size": 7 }), "size: must be 1, 2 or 50, got 7"),
            (json!({ "rate": 0.7 }), "rate: must be 0.5 or 1, got 0.7"),
        ] {
            let found = complaints(&options, &schema);
            assert_eq!(format!("{}: {}", found[0].path, found[0].message), said);
        }
        assert!(complaints(&json!({ "size": 50, "rate": 1 }), &schema).is_empty());
    }
}
