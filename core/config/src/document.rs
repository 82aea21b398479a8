//! A configuration file as a tree of values that remember where they stand.

use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use mustlink_core::error::{Diagnostic, Error, Result};

/// A named text.
#[derive(Debug, PartialEq)]
struct Source {
    name: String,
    text: String,
}

/// A value in a configuration, with its position in the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Kind of the node.
    pub kind: NodeKind,
    source: Arc<Source>,
    span: Option<Range<usize>>,
}

/// Kinds of nodes.
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
    span: Option<Range<usize>>,
}

impl Entry {
    /// A complaint about the name.
    pub(super) fn diagnostic(&self, path: &str, message: String) -> Diagnostic {
        let at = self.span.clone().or_else(|| self.node.span.clone());
        complaint(&self.node.source, at, path, message)
    }
}

impl Node {
    /// A plain value that does not come from a file.
    pub fn synthetic(value: &Value) -> Node {
        Node::from_json(value, &Arc::new(Source { name: String::new(), text: String::new() }))
    }

    /// A value that was given under this name, as by `--set`.
    pub(super) fn given(value: &Value, name: &str) -> Node {
        Node::from_json(value, &Arc::new(Source { name: name.into(), text: String::new() }))
    }

    /// Another value at the same place.
    pub(super) fn replaced(&self, kind: NodeKind) -> Node {
        Node { kind, source: self.source.clone(), span: self.span.clone() }
    }

    /// Place of the node: file and line, or the argument that gave it; `None` without a place.
    pub fn place(&self) -> Option<String> {
        let Diagnostic { source, position, .. } = self.diagnostic("", "");
        match position {
            Some((line, _)) => Some(format!("{source}:{line}")),
            None => Some(source).filter(|s| !s.is_empty()),
        }
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
        span: Range<usize>,
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
                let digits = i.as_str().replace('_', "");
                // JSON and the command line have seeds that only an unsigned number holds, and what was read is
                // written as TOML.
                let unsigned = || u64::from_str_radix(&digits, i.radix()).map(Value::from);
                match i64::from_str_radix(&digits, i.radix())
                    .map(Value::from)
                    .or_else(|_| unsigned())
                {
                    Ok(v) => NodeKind::Value(v),
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

    pub(super) fn describe(&self) -> String {
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
    span: Option<Range<usize>>,
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

/// The name of a section of its own, `[name]`, in whose header `at` is.
fn section_at(text: &str, at: usize) -> Option<&str> {
    let before = text.get(..at)?;
    let line = text[before.rfind('\n').map_or(0, |end| end + 1)..].lines().next()?.trim_start();
    let name = line.strip_prefix('[')?.split(']').next()?.trim();
    (!name.starts_with('[')).then_some(name)
}

impl Document {
    /// Parses TOML, or JSON where `name` ends in `.json`.
    ///
    /// # Errors
    /// `Config` with the position of what does not parse.
    pub fn parse(name: &str, text: &str) -> Result<Document> {
        let source = Arc::new(Source { name: name.into(), text: text.into() });
        if Path::new(name).extension().is_some_and(|e| e.eq_ignore_ascii_case("json")) {
            // Some editors put a mark of the encoding in front.
            let text = text.strip_prefix('\u{feff}').unwrap_or(text);
            let Unambiguous(value) = serde_json::from_str(text).map_err(|e| {
                let position = Some((e.line(), e.column()));
                let nowhere = Diagnostic::new(name, "", format!("not JSON: {e}"));
                Error::Config(vec![Diagnostic { position, ..nowhere }])
            })?;
            return Ok(Document { root: Node::from_json(&value, &source), source });
        }
        let table = toml::de::DeTable::parse(text).map_err(|e| {
            let twice = e.span().filter(|_| e.message().contains("duplicate key"));
            let again = twice.and_then(|span| section_at(text, span.start));
            let way = again.map_or(String::new(), |name| {
                format!("; repeated sections are written [[{name}]]")
            });
            let message = format!("not TOML: {}{way}", e.message());
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
    /// `Config` when it cannot be read; otherwise the errors of [`Document::parse`].
    pub fn read(path: &Path) -> Result<Document> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|e| {
            Error::Config(vec![Diagnostic::new(&name, "", format!("cannot read the file: {e}"))])
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
}

/// A JSON value no object of which has a key twice.
struct Unambiguous(Value);

impl<'de> Deserialize<'de> for Unambiguous {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(Builder).map(Unambiguous)
    }
}

struct Builder;

impl<'de> Visitor<'de> for Builder {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> std::result::Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> std::result::Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> std::result::Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> std::result::Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> std::result::Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> std::result::Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(Unambiguous(item)) = list.next_element()? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> std::result::Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = object.next_key::<String>()? {
            if map.contains_key(&key) {
                return Err(de::Error::custom(format!("the key \"{key}\" occurs twice")));
            }
            let Unambiguous(value) = object.next_value()?;
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}
