//! How does text become a method, and how are mistakes in it shown?
//!
//! A file is read into a tree of [`Node`]s that remember where they stand. The tree is checked
//! against the JSON Schemas of the types and of the plugins named in it, slot by slot, so that every
//! complaint is found in one go and points at its own line. Only then is anything built.

use std::path::Path;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::{Diagnostic, Error, Result};
use crate::registry::{Catalogue, Role, suggestion};

/// A named text.
#[derive(Debug, PartialEq)]
struct Source {
    name: String,
    text: String,
}

/// A value in a configuration, with where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    source: Arc<Source>,
    span: Option<std::ops::Range<usize>>,
}

/// What a node is.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeKind {
    /// Named values, in the order of the file.
    Table(Vec<Entry>),
    /// A list.
    Array(Vec<Node>),
    /// A string, number, boolean or null.
    Value(Value),
}

/// A named value of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The name.
    pub key: String,
    /// The value.
    pub node: Node,
    span: Option<std::ops::Range<usize>>,
}

impl Node {
    /// A plain value that stands in no file.
    pub fn synthetic(value: &Value) -> Node {
        Node::from_json(value, &Arc::new(Source { name: String::new(), text: String::new() }))
    }

    fn from_json(value: &Value, source: &Arc<Source>) -> Node {
        let kind = match value {
            Value::Object(map) => NodeKind::Table(
                map.iter()
                    .map(|(k, v)| Entry {
                        key: k.clone(),
                        node: Node::from_json(v, source),
                        span: None,
                    })
                    .collect(),
            ),
            Value::Array(items) => {
                NodeKind::Array(items.iter().map(|v| Node::from_json(v, source)).collect())
            }
            other => NodeKind::Value(other.clone()),
        };
        Node { kind, source: source.clone(), span: None }
    }

    fn from_toml(
        value: &toml::de::DeValue<'_>,
        span: std::ops::Range<usize>,
        source: &Arc<Source>,
        out: &mut Vec<Diagnostic>,
    ) -> Node {
        use toml::de::DeValue;
        let mut node =
            Node { kind: NodeKind::Value(Value::Null), source: source.clone(), span: Some(span) };
        node.kind = match value {
            DeValue::String(s) => NodeKind::Value(Value::String(s.to_string())),
            DeValue::Boolean(b) => NodeKind::Value(Value::Bool(*b)),
            DeValue::Integer(i) => {
                match i64::from_str_radix(&i.as_str().replace('_', ""), i.radix()) {
                    Ok(v) => NodeKind::Value(v.into()),
                    Err(_) => {
                        out.push(
                            node.diagnostic("", format!("{} is not a 64-bit integer", i.as_str())),
                        );
                        NodeKind::Value(0.into())
                    }
                }
            }
            DeValue::Float(f) => {
                let parsed = f.as_str().replace('_', "").parse::<f64>().ok();
                match parsed.and_then(serde_json::Number::from_f64) {
                    Some(number) => NodeKind::Value(Value::Number(number)),
                    None => {
                        out.push(node.diagnostic(
                            "",
                            format!("must be a finite number, got {}", f.as_str()),
                        ));
                        NodeKind::Value(0.into())
                    }
                }
            }
            DeValue::Datetime(d) => NodeKind::Value(Value::String(d.to_string())),
            DeValue::Array(items) => NodeKind::Array(
                items.iter().map(|v| Node::from_toml(v.get_ref(), v.span(), source, out)).collect(),
            ),
            DeValue::Table(table) => NodeKind::Table(entries(table, source, out)),
        };
        node
    }

    /// The value named `key`, if this is a table that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        match &self.kind {
            NodeKind::Table(entries) => entries.iter().find(|e| e.key == key).map(|e| &e.node),
            _ => None,
        }
    }

    /// The value named `key`, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        match &mut self.kind {
            NodeKind::Table(entries) => {
                entries.iter_mut().find(|e| e.key == key).map(|e| &mut e.node)
            }
            _ => None,
        }
    }

    /// Takes out the value named `key`.
    pub fn remove(&mut self, key: &str) -> Option<Node> {
        match &mut self.kind {
            NodeKind::Table(entries) => {
                let at = entries.iter().position(|e| e.key == key)?;
                Some(entries.remove(at).node)
            }
            _ => None,
        }
    }

    /// Puts `node` under `key`, in place of what stood there.
    pub fn insert(&mut self, key: &str, node: Node) {
        if let Some(there) = self.get_mut(key) {
            *there = node;
        } else if let NodeKind::Table(entries) = &mut self.kind {
            entries.push(Entry { key: key.into(), span: node.span.clone(), node });
        }
    }

    /// The items of a list.
    pub fn items(&self) -> &[Node] {
        match &self.kind {
            NodeKind::Array(items) => items,
            _ => &[],
        }
    }

    /// The items of a list, to be changed.
    pub fn items_mut(&mut self) -> Option<&mut Vec<Node>> {
        match &mut self.kind {
            NodeKind::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The entries of a table.
    pub fn entries(&self) -> &[Entry] {
        match &self.kind {
            NodeKind::Table(entries) => entries,
            _ => &[],
        }
    }

    /// The text of a string.
    pub fn as_str(&self) -> Option<&str> {
        match &self.kind {
            NodeKind::Value(Value::String(s)) => Some(s),
            _ => None,
        }
    }

    /// The plain value.
    pub fn to_value(&self) -> Value {
        match &self.kind {
            NodeKind::Value(v) => v.clone(),
            NodeKind::Array(items) => Value::Array(items.iter().map(Node::to_value).collect()),
            NodeKind::Table(entries) => {
                Value::Object(entries.iter().map(|e| (e.key.clone(), e.node.to_value())).collect())
            }
        }
    }

    /// A complaint about this value.
    pub fn diagnostic(&self, path: &str, message: impl Into<String>) -> Diagnostic {
        complaint(&self.source, self.span.clone(), path, message.into())
    }

    fn describe(&self) -> String {
        match &self.kind {
            NodeKind::Table(_) => "a table".into(),
            NodeKind::Array(_) => "a list".into(),
            NodeKind::Value(Value::String(s)) => format!("string \"{s}\""),
            NodeKind::Value(v) => v.to_string(),
        }
    }
}

fn complaint(
    source: &Source,
    span: Option<std::ops::Range<usize>>,
    path: &str,
    message: String,
) -> Diagnostic {
    let position = span.as_ref().map(|s| {
        let before = &source.text[..s.start.min(source.text.len())];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        (line, column)
    });
    Diagnostic { source: source.name.clone(), position, span, path: path.into(), message }
}

fn entries(
    table: &toml::de::DeTable<'_>,
    source: &Arc<Source>,
    out: &mut Vec<Diagnostic>,
) -> Vec<Entry> {
    let mut entries: Vec<Entry> = table
        .iter()
        .map(|(k, v)| Entry {
            key: k.get_ref().to_string(),
            span: Some(k.span()),
            node: Node::from_toml(v.get_ref(), v.span(), source, out),
        })
        .collect();
    entries.sort_by_key(|e| e.span.as_ref().map(|s| s.start));
    entries
}

/// A parsed configuration file.
#[derive(Debug, Clone)]
pub struct Document {
    root: Node,
    source: Arc<Source>,
}

impl Document {
    /// Parses TOML, or JSON where `name` ends in `.json`.
    ///
    /// # Errors
    /// `Config` with the position of what does not parse.
    pub fn parse(name: &str, text: &str) -> Result<Document> {
        let source = Arc::new(Source { name: name.into(), text: text.into() });
        if Path::new(name).extension().is_some_and(|e| e.eq_ignore_ascii_case("json")) {
            let value: Value = serde_json::from_str(text).map_err(|e| {
                Error::Config(vec![Diagnostic {
                    source: name.into(),
                    position: Some((e.line(), e.column())),
                    span: None,
                    path: String::new(),
                    message: format!("not JSON: {e}"),
                }])
            })?;
            return Ok(Document { root: Node::from_json(&value, &source), source });
        }
        let table = toml::de::DeTable::parse(text).map_err(|e| {
            let message = format!("not TOML: {}", e.message());
            Error::Config(vec![complaint(&source, e.span(), "", message)])
        })?;
        let mut out = Vec::new();
        let kind = NodeKind::Table(entries(table.get_ref(), &source, &mut out));
        if !out.is_empty() {
            return Err(Error::Config(out));
        }
        let root = Node { kind, source: source.clone(), span: Some(0..0) };
        Ok(Document { root, source })
    }

    /// Reads and parses a file.
    ///
    /// # Errors
    /// `Data` when it cannot be read; otherwise as [`Document::parse`].
    pub fn read(path: &Path) -> Result<Document> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|e| {
            Error::Config(vec![Diagnostic {
                source: name.clone(),
                position: None,
                span: None,
                path: String::new(),
                message: format!("cannot read the file: {e}"),
            }])
        })?;
        Document::parse(&name, &text)
    }

    /// The whole tree.
    pub fn root(&self) -> &Node {
        &self.root
    }

    /// The whole tree, to be changed.
    pub fn root_mut(&mut self) -> &mut Node {
        &mut self.root
    }

    /// The text of the file, for showing the line of a complaint.
    pub fn text(&self) -> &str {
        &self.source.text
    }

    /// Carries out `--set a.b[0].c=value`: the value is TOML, or else a string.
    ///
    /// # Errors
    /// `Config` when there is no `=` or the path leads into a value.
    pub fn set(&mut self, assignment: &str) -> Result<()> {
        let name = format!("--set {assignment}");
        let fail = |message: String| {
            Error::Config(vec![Diagnostic {
                source: name.clone(),
                position: None,
                span: None,
                path: String::new(),
                message,
            }])
        };
        let (path, text) = assignment
            .split_once('=')
            .ok_or_else(|| fail("expected path=value, for example experiment.seed=7".into()))?;
        let source = Arc::new(Source { name: name.clone(), text: String::new() });
        let wrapped = format!("x = {text}");
        let value = match toml::from_str::<toml::Table>(&wrapped) {
            Ok(table) => serde_json::to_value(&table["x"]).map_err(|e| fail(e.to_string()))?,
            Err(_) => Value::String(text.into()),
        };
        let mut at = &mut self.root;
        let path = path.trim().replace('[', ".").replace(']', "");
        let steps: Vec<&str> = path.split('.').collect();
        for (depth, step) in steps.iter().enumerate() {
            let last = depth + 1 == steps.len();
            let here = steps[..depth].join(".");
            // A bare name in a plugin slot stands for a table with that type.
            let named = match &at.kind {
                NodeKind::Value(Value::String(tag)) if steps[..depth].last() != Some(&"type") => {
                    Catalogue::get()?.find(tag).is_some()
                }
                _ => false,
            };
            if named {
                let span = at.span.clone();
                let entry = Entry { key: "type".into(), node: at.clone(), span };
                at.kind = NodeKind::Table(vec![entry]);
            }
            let fresh = match last {
                true => Node::from_json(&value, &source),
                false => {
                    Node { kind: NodeKind::Table(Vec::new()), source: source.clone(), span: None }
                }
            };
            at = match (&mut at.kind, step.parse::<usize>()) {
                (NodeKind::Array(items), Ok(index)) => {
                    let n = items.len();
                    let item = items.get_mut(index).ok_or_else(|| {
                        fail(format!("{here} has {n} items, there is no [{index}]"))
                    })?;
                    if last {
                        *item = fresh;
                    }
                    item
                }
                (NodeKind::Table(entries), _) => {
                    let found = entries.iter().position(|e| e.key == **step);
                    let index = match found {
                        Some(index) => {
                            if last {
                                entries[index].node = fresh;
                            }
                            index
                        }
                        None => {
                            entries.push(Entry { key: (*step).into(), node: fresh, span: None });
                            entries.len() - 1
                        }
                    };
                    &mut entries[index].node
                }
                (kind, _) => {
                    let what =
                        if matches!(kind, NodeKind::Array(_)) { "a list" } else { "a value" };
                    return Err(fail(format!("{here} is {what}, it has no \"{step}\"")));
                }
            };
        }
        Ok(())
    }
}

/// How a tree is checked.
#[derive(Debug, Clone, Copy, Default)]
pub struct Check {
    /// `k = "classes"` and `k = "unknown"` are legal (experiments).
    pub classes: bool,
    /// A list is legal where a single value is wanted: an axis of methods (experiments).
    pub axes: bool,
}

/// Checks a tree against the schema of `T` and of every plugin named in it; appends all complaints.
pub fn validate<T: JsonSchema>(node: &Node, path: &str, check: Check, out: &mut Vec<Diagnostic>) {
    let schema = schemars::schema_for!(T).to_value();
    Walk { check, out, axes: Vec::new() }.value(node, &schema, &schema, path, "the configuration");
}

/// Checks one plugin of a role.
pub fn validate_plugin(
    node: &Node,
    role: Role,
    path: &str,
    check: Check,
    out: &mut Vec<Diagnostic>,
) {
    Walk { check, out, axes: Vec::new() }.plugin(node, role, path);
}

/// The paths of lists that stand where the schema of `T` wants a single value.
pub fn axes<T: JsonSchema>(node: &Node) -> Vec<String> {
    let schema = schemars::schema_for!(T).to_value();
    let mut out = Vec::new();
    let check = Check { classes: true, axes: true };
    let mut walk = Walk { check, out: &mut out, axes: Vec::new() };
    walk.value(node, &schema, &schema, "", "");
    walk.axes
}

/// The tree as plain values: bare strings in plugin slots written out, empty slots filled with
/// their default plugin, every other default filled in.
///
/// # Errors
/// `NotLinked` for a default plugin that is not in the program.
pub fn resolve<T: JsonSchema>(node: &Node) -> Result<Value> {
    let schema = schemars::schema_for!(T).to_value();
    resolved(&node.to_value(), &schema, &schema)
}

/// The configuration of one plugin as plain values, every default filled in.
///
/// # Errors
/// As [`resolve`].
pub fn resolve_plugin(value: &Value) -> Result<Value> {
    resolved_plugin(value)
}

/// Checks, fills in defaults, and builds.
///
/// # Errors
/// `Config` with every complaint.
pub fn build<T: DeserializeOwned + JsonSchema>(node: &Node, path: &str) -> Result<T> {
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
pub fn instantiate<T: DeserializeOwned>(value: Value) -> std::result::Result<T, String> {
    serde_json::from_value(value).map_err(|e| e.to_string().trim().to_string())
}

/// The value without entries that are null, which TOML cannot write.
pub fn without_null(value: &Value) -> Value {
    match value {
        Value::Object(map) => Value::Object(
            map.iter()
                .filter(|(_, v)| !v.is_null())
                .map(|(k, v)| (k.clone(), without_null(v)))
                .collect(),
        ),
        Value::Array(items) => Value::Array(items.iter().map(without_null).collect()),
        other => other.clone(),
    }
}

/// Replaces `k = "classes"` by the number and removes `k = "unknown"`, at any depth.
pub fn substitute_k(value: &mut Value, classes: Option<usize>) {
    match value {
        Value::Object(map) => {
            match map.get("k").and_then(Value::as_str) {
                Some("classes") => {
                    match classes {
                        Some(k) => map.insert("k".into(), k.into()),
                        None => map.remove("k"),
                    };
                }
                Some("unknown") => {
                    map.remove("k");
                }
                _ => {}
            }
            map.values_mut().for_each(|v| substitute_k(v, classes));
        }
        Value::Array(items) => items.iter_mut().for_each(|v| substitute_k(v, classes)),
        _ => {}
    }
}

fn deref<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let mut schema = schema;
    while let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        match reference.strip_prefix('#').and_then(|p| root.pointer(p)) {
            Some(target) => schema = target,
            None => break,
        }
    }
    schema
}

fn slot_role(schema: &Value, root: &Value) -> Option<Role> {
    let role = |s: &Value| s.get("x-role").and_then(Value::as_str).and_then(Role::from_key);
    role(schema).or_else(|| role(deref(schema, root)))
}

fn alternatives(schema: &Value) -> Option<&Vec<Value>> {
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
fn words<'a>(schema: &'a Value, root: &'a Value, out: &mut Vec<&'a str>) {
    let schema = deref(schema, root);
    if let Some(word) = schema.get("const").and_then(Value::as_str) {
        out.push(word);
    }
    if let Some(list) = schema.get("enum").and_then(Value::as_array) {
        out.extend(list.iter().filter_map(Value::as_str));
    }
    if let Some(list) = alternatives(schema) {
        list.iter().for_each(|s| words(s, root, out));
    }
}

/// What a schema (inside the schema `root`) accepts, in words.
pub fn expected(schema: &Value, root: &Value) -> String {
    let schema = deref(schema, root);
    if let Some(role) = slot_role(schema, root) {
        return article(role.name());
    }
    let mut accepted_words = Vec::new();
    words(schema, root, &mut accepted_words);
    let mut parts: Vec<String> = accepted_words.iter().map(|w| format!("\"{w}\"")).collect();
    let list = alternatives(schema).map_or_else(|| vec![schema], |l| l.iter().collect());
    for s in list {
        let s = deref(s, root);
        if s.get("const").is_some() || s.get("enum").is_some() {
            continue;
        }
        for t in types(s) {
            let text = match t {
                "integer" => {
                    "an integer".to_string()
                        + &range(s).map(|r| format!(" {r}")).unwrap_or_default()
                }
                "number" => {
                    "a number".to_string() + &range(s).map(|r| format!(" {r}")).unwrap_or_default()
                }
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

fn range(schema: &Value) -> Option<String> {
    let number = |key: &str| schema.get(key).filter(|v| v.is_number()).map(plain);
    let low = number("minimum");
    let low_open = number("exclusiveMinimum");
    let high = number("maximum");
    let high_open = number("exclusiveMaximum");
    match (low, low_open, high, high_open) {
        (Some(a), None, Some(b), None) => Some(format!("in {a}..={b}")),
        (Some(a), None, None, Some(b)) => Some(format!("in [{a}, {b})")),
        (None, Some(a), Some(b), None) => Some(format!("in ({a}, {b}]")),
        (None, Some(a), None, Some(b)) => Some(format!("in ({a}, {b})")),
        (Some(a), None, None, None) => Some(format!(">= {a}")),
        (None, Some(a), None, None) => Some(format!("> {a}")),
        (None, None, Some(b), None) => Some(format!("<= {b}")),
        (None, None, None, Some(b)) => Some(format!("< {b}")),
        _ => None,
    }
}

fn plain(v: &Value) -> String {
    match v.as_f64() {
        Some(f) if f.fract() == 0.0 && f.abs() < 1e15 => format!("{f:.0}"),
        _ => v.to_string(),
    }
}

fn article(name: &str) -> String {
    let vowel = name.starts_with(['a', 'e', 'i', 'o', 'u']);
    format!("{} {name}", if vowel { "an" } else { "a" })
}

fn fits(node: &Node, schema: &Value, root: &Value) -> bool {
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
        (NodeKind::Value(v), "integer") => v.is_i64() || v.is_u64(),
        (NodeKind::Value(v), "number") => v.is_number(),
        (NodeKind::Value(v), "boolean") => v.is_boolean(),
        (NodeKind::Value(v), "null") => v.is_null(),
        _ => false,
    })
}

struct Walk<'a> {
    check: Check,
    out: &'a mut Vec<Diagnostic>,
    axes: Vec<String>,
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.into() } else { format!("{path}.{key}") }
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
            if self.check.axes && !node.items().is_empty() {
                self.axes.push(path.into());
                for item in node.items() {
                    self.value(item, schema, root, path, owner);
                }
                return;
            }
            return self.mismatch(node, schema, root, path);
        }
        match &node.kind {
            NodeKind::Table(entries) => self.table(node, entries, schema, root, path, owner),
            NodeKind::Array(items) => {
                if let Some(each) = schema.get("items") {
                    for (at, item) in items.iter().enumerate() {
                        self.value(item, each, root, &format!("{path}[{at}]"), owner);
                    }
                }
            }
            NodeKind::Value(v) => {
                if let (Some(x), Some(legal)) = (v.as_f64(), range(schema)) {
                    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
                    let holds = bound("minimum").is_none_or(|b| x >= b)
                        && bound("maximum").is_none_or(|b| x <= b)
                        && bound("exclusiveMinimum").is_none_or(|b| x > b)
                        && bound("exclusiveMaximum").is_none_or(|b| x < b);
                    if !holds {
                        self.complain(node, path, format!("must be {legal}, got {v}"));
                    }
                }
            }
        }
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
        let tag = |s: &Value| {
            deref(s, root)
                .pointer("/properties/type/const")
                .and_then(Value::as_str)
                .map(str::to_string)
        };
        let tags: Vec<String> = list.iter().filter_map(tag).collect();
        if let (NodeKind::Table(_), false) = (&node.kind, tags.is_empty()) {
            let quoted = tags.iter().map(|t| format!("\"{t}\"")).collect::<Vec<_>>().join(", ");
            match node.get("type") {
                None => self.complain(node, path, format!("needs a type, one of {quoted}")),
                Some(given) => {
                    let word = given.as_str().unwrap_or_default();
                    match list.iter().find(|s| tag(s).as_deref() == Some(word)) {
                        Some(chosen) => self.value(node, chosen, root, path, word),
                        None => {
                            let near = suggestion(word, tags.iter().map(String::as_str));
                            let message =
                                format!("must be one of {quoted}, got {}{near}", given.describe());
                            self.complain(given, &join(path, "type"), message);
                        }
                    }
                }
            }
            return;
        }
        let fitting: Vec<&Value> = list.iter().filter(|s| fits(node, s, root)).collect();
        match fitting.as_slice() {
            [] if self.check.axes && !node.items().is_empty() => {
                self.axes.push(path.into());
                for item in node.items() {
                    self.one_of(item, schema, list, root, path, owner);
                }
            }
            [] => self.mismatch(node, schema, root, path),
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
            let here = join(path, &entry.key);
            match properties.get(&entry.key) {
                Some(option) => {
                    let word = entry.node.as_str();
                    let classes = entry.key == "k" && matches!(word, Some("classes" | "unknown"));
                    if !(self.check.classes && classes) {
                        self.value(&entry.node, option, root, &here, owner);
                    }
                }
                None if closed => {
                    let names: Vec<&str> = properties.keys().map(String::as_str).collect();
                    let near = suggestion(&entry.key, names.iter().copied());
                    let help = match (near.is_empty(), names.is_empty()) {
                        (false, _) => near,
                        (true, true) => "; it has no options".into(),
                        (true, false) => format!("; accepted: {}", names.join(", ")),
                    };
                    let message = format!("unknown option of {owner}{help}");
                    let at = entry.span.clone().or_else(|| entry.node.span.clone());
                    self.out.push(complaint(&entry.node.source, at, &here, message));
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
                self.complain(node, &join(path, key), format!("missing option of {owner}"));
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
                        return self.complain(t, &join(path, "type"), message);
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

fn resolved(value: &Value, schema: &Value, root: &Value) -> Result<Value> {
    if slot_role(schema, root).is_some() {
        return resolved_plugin(value);
    }
    let schema = deref(schema, root);
    if let Some(list) = alternatives(schema) {
        let node = Node::synthetic(value);
        let tag = |s: &Value| {
            deref(s, root)
                .pointer("/properties/type/const")
                .and_then(Value::as_str)
                .map(str::to_string)
        };
        let given = value.get("type").and_then(Value::as_str);
        let chosen = list
            .iter()
            .find(|s| given.is_some() && tag(s).as_deref() == given)
            .or_else(|| list.iter().find(|s| fits(&node, s, root)));
        return chosen.map_or_else(|| Ok(value.clone()), |s| resolved(value, s, root));
    }
    match value {
        Value::Object(map) if schema.get("properties").is_some() => {
            resolved_table(map, schema, root)
        }
        Value::Array(items) => {
            let each = schema.get("items");
            let items =
                items.iter().map(|v| each.map_or_else(|| Ok(v.clone()), |s| resolved(v, s, root)));
            Ok(Value::Array(items.collect::<Result<_>>()?))
        }
        other => Ok(other.clone()),
    }
}

fn resolved_table(map: &Map<String, Value>, schema: &Value, root: &Value) -> Result<Value> {
    let mut out = map.clone();
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, option) in properties.into_iter().flatten() {
        let given = map.get(name).filter(|v| !v.is_null());
        let value = match (given, option.get("x-default"), option.get("default")) {
            (Some(v), _, _) => resolved(v, option, root)?,
            (None, Some(tag), _) => resolved_plugin(tag)?,
            (None, None, Some(default)) if !default.is_null() => resolved(default, option, root)?,
            _ => continue,
        };
        out.insert(name.clone(), value);
    }
    Ok(Value::Object(out))
}

fn resolved_plugin(value: &Value) -> Result<Value> {
    let map = match value {
        Value::String(tag) => Map::from_iter([("type".to_string(), Value::String(tag.clone()))]),
        Value::Object(map) => map.clone(),
        other => return Ok(other.clone()),
    };
    let tag = map.get("type").and_then(Value::as_str).unwrap_or_default();
    let d = Catalogue::get()?
        .find(tag)
        .ok_or_else(|| Error::NotLinked { role: "plugin", tag: tag.into() })?;
    let schema = d.schema_value();
    resolved_table(&map, schema, schema)
}
