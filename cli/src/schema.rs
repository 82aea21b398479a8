//! JSON Schemas of files and plugins, for editors, written from the tables of options.
//!
//! References run through `$defs`, so that plugins may hold plugins without end.

use std::mem;

use mustlink::kind::{
    Choice, Content, Described, Kind, Opt, Range, Table, Variant, defaults, flat,
};
use mustlink::registry::{Catalogue, Descriptor, Role};
use mustlink_experiments::ExperimentFile;
use serde_json::{Map, Value, json};

use crate::method_file::MethodFile;

/// The schema of method files.
pub(crate) fn method(catalogue: &Catalogue) -> Value {
    Writer::new(catalogue, Slots::Plain).whole(MethodFile::KIND)
}

/// The schema of experiment files.
pub(crate) fn experiment(catalogue: &Catalogue) -> Value {
    Writer::new(catalogue, Slots::Experiment).whole(ExperimentFile::KIND)
}

/// The schema of one plugin, its `type` included.
pub(crate) fn plugin(catalogue: &Catalogue, d: &Descriptor) -> Value {
    let mut writer = Writer::new(catalogue, Slots::Plain);
    let mut schema = writer.plugin(d);
    schema["$schema"] = DIALECT.into();
    schema["title"] = d.tag.into();
    schema["$defs"] = writer.definitions.into();
    schema
}

/// The schema of the options of a plugin, in which slots are only marked with their roles.
pub(crate) fn own(catalogue: &Catalogue, d: &Descriptor) -> Value {
    match &d.script {
        Some(script) => script.schema.clone(),
        None => Writer::new(catalogue, Slots::Marked).whole(d.kind),
    }
}

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Values that a slot accepts.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Slots {
    /// A plugin, of which only the role is written.
    Marked,
    /// A plugin.
    Plain,
    /// A plugin, `"same:<method id>"`, `k = "classes"`, and lists, which make one method per value.
    Experiment,
}

/// Writes a schema and the definitions to which it refers.
struct Writer<'a> {
    catalogue: &'a Catalogue,
    slots: Slots,
    /// Part of the names of definitions: the plugin whose options are written.
    prefix: String,
    /// Names of types by their paths.
    names: Vec<(&'static str, String)>,
    definitions: Map<String, Value>,
}

/// Path and name of a type that has a definition.
fn named(kind: &Kind) -> Option<(&'static str, &'static str)> {
    match kind {
        Kind::Table(table) => Some((table.id, table.name)),
        Kind::Choice(choice) => Some((choice.id, choice.name)),
        _ => None,
    }
}

impl<'a> Writer<'a> {
    fn new(catalogue: &'a Catalogue, slots: Slots) -> Self {
        let (prefix, names, definitions) = (String::new(), Vec::new(), Map::new());
        Writer { catalogue, slots, prefix, names, definitions }
    }

    /// The schema of a type with its definitions.
    fn whole(mut self, kind: &Kind) -> Value {
        let mut schema = self.content(kind);
        schema["$schema"] = DIALECT.into();
        schema["title"] = named(kind).map_or("", |(_, name)| name).into();
        if !self.definitions.is_empty() {
            schema["$defs"] = self.definitions.into();
        }
        schema
    }

    /// A reference to the options of a plugin.
    fn plugin(&mut self, d: &Descriptor) -> Value {
        let key = format!("plugin.{}", d.tag);
        if !self.definitions.contains_key(&key) {
            // It may hold itself.
            self.definitions.insert(key.clone(), Value::Null);
            let prefix = mem::replace(&mut self.prefix, format!("{}.", d.tag));
            let names = mem::take(&mut self.names);
            let mut schema = match &d.script {
                Some(script) => script.schema.clone(),
                None => self.content(d.kind),
            };
            schema["title"] = named(d.kind).map_or("", |(_, name)| name).into();
            if self.slots == Slots::Experiment {
                with_lists(&mut schema);
            }
            typed(&mut schema, d.tag);
            (self.prefix, self.names) = (prefix, names);
            self.definitions.insert(key.clone(), schema);
        }
        json!({ "$ref": format!("#/$defs/{key}") })
    }

    /// A reference to the plugins of a role, each by its tag or as a table.
    fn role(&mut self, role: Role) -> Value {
        let key = format!("role.{}", role.key());
        if !self.definitions.contains_key(&key) {
            self.definitions.insert(key.clone(), Value::Null);
            let plugins: Vec<_> = self.catalogue.role(role).collect();
            let tags: Vec<&str> = plugins.iter().map(|d| d.tag).collect();
            let mut list = vec![json!({ "enum": tags })];
            if self.slots == Slots::Experiment {
                list.push(json!({ "type": "string", "pattern": "^same:" }));
            }
            list.extend(plugins.into_iter().map(|d| self.plugin(d)));
            let mut schema = json!({ "oneOf": list });
            if self.slots == Slots::Experiment {
                let list = json!({ "type": "array", "items": schema, "minItems": 1 });
                schema = json!({ "anyOf": [schema, list] });
            }
            self.definitions.insert(key.clone(), schema);
        }
        json!({ "$ref": format!("#/$defs/{key}") })
    }

    /// The schema of a kind, in place or as a reference to its definition.
    fn schema(&mut self, kind: &Kind) -> Value {
        let Some((id, base)) = named(kind) else { return self.content(kind) };
        let known = self.names.iter().find(|(known, _)| *known == id).map(|(_, name)| name.clone());
        let name = known.unwrap_or_else(|| {
            // Types of one name are numbered.
            let taken = |name: &str| self.names.iter().any(|(_, other)| other == name);
            let numbered = (2..).map(|i| format!("{base}{i}"));
            let mut names = std::iter::once(base.to_string()).chain(numbered);
            let name = names.find(|name| !taken(name)).expect("numbers do not end");
            self.names.push((id, name.clone()));
            let mut schema = self.content(kind);
            // In an experiment only methods have axes.
            if self.slots == Slots::Experiment && self.prefix.is_empty() && name == "MethodEntry" {
                with_lists(&mut schema);
            }
            self.definitions.insert(format!("{}{name}", self.prefix), schema);
            name
        });
        json!({ "$ref": format!("#/$defs/{}{name}", self.prefix) })
    }

    fn content(&mut self, kind: &Kind) -> Value {
        match kind {
            Kind::Flag => json!({ "type": "boolean" }),
            Kind::Whole(format) => {
                let mut schema = json!({ "type": "integer", "format": format });
                if format.starts_with('u') {
                    schema["minimum"] = 0.into();
                }
                let small = [("uint8", u16::from(u8::MAX)), ("uint16", u16::MAX)];
                if let Some((_, most)) = small.iter().find(|(name, _)| name == format) {
                    schema["maximum"] = (*most).into();
                }
                schema
            }
            Kind::Listed { numbers, .. } => json!({ "type": "number", "enum": numbers }),
            Kind::Real => json!({ "type": "number", "format": "double" }),
            Kind::Text => json!({ "type": "string" }),
            Kind::Character => json!({ "type": "string", "minLength": 1, "maxLength": 1 }),
            Kind::Any => Value::Bool(true),
            Kind::Auto(value) => {
                json!({ "anyOf": [self.schema(value), { "type": "string", "const": "auto" }] })
            }
            Kind::Maybe(slot @ Kind::Slot(_)) => self.content(slot),
            Kind::Maybe(value) => or_null(self.schema(value)),
            Kind::List(item) => json!({ "type": "array", "items": self.schema(item) }),
            Kind::Tuple(places) => {
                let items: Vec<Value> = places.iter().map(|place| self.schema(place)).collect();
                let n = places.len();
                json!({ "type": "array", "prefixItems": items, "minItems": n, "maxItems": n })
            }
            Kind::Map(value) => {
                json!({ "type": "object", "additionalProperties": self.schema(value) })
            }
            Kind::Slot(role) if self.slots == Slots::Marked => json!({ "x-role": role.key() }),
            Kind::Slot(role) => self.role(*role),
            Kind::Table(table) => self.table(table),
            Kind::Choice(choice) => self.choice(choice),
        }
    }

    fn table(&mut self, table: &Table) -> Value {
        let mut schema = self.options(table.options, table.closed, table.default);
        describe(&mut schema, table.doc);
        let options = flat(table.options);
        if table.ordered {
            let names: Vec<&str> = options.iter().map(|option| option.name).collect();
            schema.insert("x-order".into(), names.into());
        }
        let laws = options.iter().filter_map(|o| Some((o.name.to_string(), o.laws?())));
        let laws: Map<String, Value> = laws.collect();
        if !laws.is_empty() {
            schema.insert("x-laws".into(), laws.into());
        }
        schema.into()
    }

    fn options(
        &mut self,
        options: &'static [Opt],
        closed: bool,
        default: Option<fn() -> Value>,
    ) -> Map<String, Value> {
        let mut schema = Map::from_iter([("type".to_string(), "object".into())]);
        if closed {
            schema.insert("additionalProperties".into(), false.into());
        }
        let mut defaults = defaults(options, default);
        for option in flat(options) {
            let value = self.option(option, defaults.remove(option.name));
            let properties = schema.entry("properties").or_insert_with(|| json!({}));
            properties[option.name] = value;
            if option.required {
                let required = schema.entry("required").or_insert_with(|| json!([]));
                required.as_array_mut().expect("a list").push(option.name.into());
            }
        }
        schema
    }

    /// The schema of an option, with its documentation, its range and its marks.
    fn option(&mut self, option: &Opt, default: Option<Value>) -> Value {
        let mut schema = self.schema(option.kind);
        let map = object(&mut schema);
        describe(map, option.doc);
        limit(map, &option.range);
        let mark = |set: bool| set.then_some(Value::Bool(true));
        let slot = if self.slots == Slots::Marked { "x-default" } else { "default" };
        let keys = [
            ("default", default),
            ("minItems", option.nonempty.then(|| 1.into())),
            (slot, option.slot.map(Value::from)),
            ("x-alias", option.alias.map(Value::from)),
            ("x-units", option.units.map(Value::from)),
            ("x-program", mark(option.program)),
            ("x-file", mark(option.file)),
            ("x-inert", option.inert.map(Value::from)),
            ("x-absent", option.absent.map(|absent| absent())),
        ];
        for (key, value) in keys {
            map.extend(value.map(|value| (key.to_string(), value)));
        }
        schema
    }

    fn choice(&mut self, choice: &Choice) -> Value {
        let word = |v: &&Variant| matches!(v.content, Content::Nothing) && !v.untagged;
        // Words without documentation are one alternative.
        let bare = |v: &&Variant| word(v) && choice.tag.is_none() && v.doc.is_empty();
        let bare_words: Vec<&str> = choice.variants.iter().filter(bare).map(|v| v.name).collect();
        let bare_words =
            (!bare_words.is_empty()).then(|| json!({ "type": "string", "enum": bare_words }));
        let others = choice.variants.iter().filter(|v| !bare(v));
        let others: Vec<Value> = others.map(|v| self.variant(choice, v)).collect();
        let mut schema = match bare_words {
            Some(words) if others.is_empty() => words,
            words => {
                let all: Vec<Value> = words.into_iter().chain(others).collect();
                // Values without a word may fit several alternatives.
                let loose = choice.variants.iter().any(|v| v.untagged);
                json!({ (if loose { "anyOf" } else { "oneOf" }): all })
            }
        };
        describe(object(&mut schema), choice.doc);
        schema
    }

    fn variant(&mut self, choice: &Choice, variant: &Variant) -> Value {
        let name = variant.name;
        let mut schema = match &variant.content {
            Content::Nothing if variant.untagged => json!({ "type": "null" }),
            Content::Nothing if choice.tag.is_none() => json!({ "type": "string", "const": name }),
            Content::Nothing => json!({}),
            Content::One(value) => self.option(value, None),
            Content::Options(options) => self.options(options, choice.closed, None).into(),
        };
        let word = matches!(variant.content, Content::Nothing);
        if let Some(tag) = choice.tag {
            let map = object(&mut schema);
            map.insert("type".into(), "object".into());
            let properties = map.entry("properties").or_insert_with(|| json!({}));
            properties[tag] = json!({ "type": "string", "const": name });
            let required = map.entry("required").or_insert_with(|| json!([]));
            required.as_array_mut().expect("a list").insert(0, tag.into());
            if choice.closed {
                map.insert("additionalProperties".into(), false.into());
            }
        } else if !variant.untagged && !word {
            schema = json!({
                "type": "object", "properties": { name: schema }, "required": [name],
                "additionalProperties": false,
            });
        }
        describe(object(&mut schema), variant.doc);
        schema
    }
}

/// The entries of a schema; the one that accepts everything has none.
fn object(schema: &mut Value) -> &mut Map<String, Value> {
    if !schema.is_object() {
        *schema = json!({});
    }
    schema.as_object_mut().expect("an object")
}

fn describe(schema: &mut Map<String, Value>, doc: &str) {
    if !doc.trim().is_empty() {
        schema.insert("description".into(), doc.trim().into());
    }
}

fn or_null(mut schema: Value) -> Value {
    let Some(map) = schema.as_object_mut() else { return schema };
    if ["anyOf", "oneOf", "$ref"].iter().any(|key| map.contains_key(*key)) {
        return json!({ "anyOf": [schema, { "type": "null" }] });
    }
    if let Some(Value::String(one)) = map.get("type").cloned() {
        map.insert("type".into(), json!([one, "null"]));
    }
    schema
}

/// Puts a range to the numbers that a schema accepts, those among its alternatives included. It takes precedence
/// over the range of their type.
fn limit(schema: &mut Map<String, Value>, range: &Range) {
    for key in ["oneOf", "anyOf"] {
        for one in schema.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten() {
            one.as_object_mut().into_iter().for_each(|one| limit(one, range));
        }
    }
    let of_type = |name: &str| match schema.get("type") {
        Some(Value::Array(all)) => all.iter().any(|one| one == name),
        one => one.is_some_and(|one| one == name),
    };
    let whole = of_type("integer");
    if !whole && !of_type("number") {
        return;
    }
    let bounds = [
        ("minimum", range.min),
        ("maximum", range.max),
        ("exclusiveMinimum", range.above),
        ("exclusiveMaximum", range.below),
    ];
    for (key, bound) in bounds {
        let number = |b: f64| if whole { Value::from(b as i64) } else { Value::from(b) };
        schema.extend(bound.map(|b| (key.to_string(), number(b))));
    }
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
fn with_lists(schema: &mut Value) {
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (name, option) in properties.into_iter().flatten() {
        if name == "id" || name == "file" {
            continue;
        }
        // Slots have their lists in the definition of the role.
        let role = option["$ref"].as_str().is_some_and(|to| to.starts_with("#/$defs/role."));
        if role || is_list(option) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink::config::tree::{visit_tables, visit_tables_mut};

    #[test]
    fn every_reference_leads_somewhere_and_no_mark_is_left() {
        let catalogue = Catalogue::get().unwrap();
        let mut all = vec![method(catalogue), experiment(catalogue)];
        all.extend(catalogue.all().iter().map(|d| plugin(catalogue, d)));
        for schema in &all {
            visit_tables(schema, &mut |table| {
                assert!(table.get("x-role").or(table.get("x-default")).is_none(), "{table}");
                if let Some(reference) = table.get("$ref").and_then(Value::as_str) {
                    let pointer = reference.strip_prefix('#').unwrap();
                    assert!(schema.pointer(pointer).is_some(), "{reference}");
                }
                true
            });
        }
        assert!(all[0].pointer("/$defs/plugin.kmeans").is_some());
    }

    /// Digests of names, kinds, ranges and defaults of all options. Stored configurations and results depend on them.
    #[test]
    fn options_are_what_they_were() {
        let catalogue = Catalogue::get().unwrap();
        let without_plugins = |mut schema: Value| {
            let definitions = schema["$defs"].as_object_mut().unwrap();
            definitions.retain(|name, _| !name.starts_with("plugin."));
            schema
        };
        let plugins = catalogue.all().iter().map(|d| (d.tag, own(catalogue, d)));
        let files = [
            ("method", without_plugins(method(catalogue))),
            ("experiment", without_plugins(experiment(catalogue))),
        ];
        let line = |(name, mut schema): (&str, Value)| {
            visit_tables_mut(&mut schema, &mut |table| {
                if table["description"].is_string() {
                    table.as_object_mut().expect("a table").remove("description");
                }
                true
            });
            let digest = blake3::hash(schema.to_string().as_bytes()).to_hex();
            format!("{name} {}\n", &digest[..16])
        };
        let here: String = plugins.chain(files).map(line).collect();
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/it/options.txt");
        if std::env::var_os("MUSTLINK_REFRESH").is_some_and(|v| v == "1") {
            std::fs::write(file, &here).unwrap();
        }
        let there = std::fs::read_to_string(file).unwrap();
        let changed = |line: &&str| !there.lines().any(|other| other == *line);
        let changed: Vec<&str> = here.lines().filter(changed).collect();
        let same = changed.is_empty() && here.lines().count() == there.lines().count();
        assert!(
            same,
            "options changed: {changed:?}; MUSTLINK_REFRESH=1 writes tests/it/options.txt"
        );
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
