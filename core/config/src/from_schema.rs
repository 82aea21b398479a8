//! Options of a plugin in another language, from the JSON Schemas by which it describes them.

use mustlink_core::kind::{Choice, Content, Kind, Opt, Variant};
use mustlink_core::options::Range;
use serde_json::Value;

/// An option of this name. Its table lives as long as the program.
pub fn from_schema(name: &str, schema: &Value) -> Opt {
    let bound = |key: &str| schema[key].as_f64();
    let range = Range {
        min: bound("minimum"),
        max: bound("maximum"),
        above: bound("exclusiveMinimum"),
        below: bound("exclusiveMaximum"),
        ..Range::ANY
    };
    let text = |text: &str| -> &'static str { text.to_string().leak() };
    let doc = text(schema["description"].as_str().unwrap_or_default());
    Opt { name: text(name), doc, kind: Box::leak(Box::new(kind(schema))), range, ..Opt::PLAIN }
}

fn kind(schema: &Value) -> Kind {
    let listed = schema["enum"].as_array().map_or(&[][..], Vec::as_slice);
    let numbers: Vec<f64> = listed.iter().filter_map(Value::as_f64).collect();
    let words: Vec<&str> = listed.iter().filter_map(Value::as_str).collect();
    match schema["type"].as_str() {
        Some(number @ ("integer" | "number")) if !numbers.is_empty() => {
            Kind::Listed { whole: number == "integer", numbers: numbers.leak() }
        }
        Some("integer") => Kind::Whole("int64"),
        Some("number") => Kind::Real,
        Some("string") if !words.is_empty() => {
            let word = |name: &&str| Variant { name: name.to_string().leak(), ..Variant::PLAIN };
            choice(words.iter().map(word).collect())
        }
        Some("string") => Kind::Text,
        Some("boolean") => Kind::Flag,
        Some("array") if schema["items"].is_object() => {
            // As a choice of one, because an item may have a range.
            let content = Content::One(from_schema("", &schema["items"]));
            let item = Variant { untagged: true, content, ..Variant::PLAIN };
            Kind::List(Box::leak(Box::new(choice(vec![item]))))
        }
        Some("array") => Kind::List(&Kind::Any),
        Some("object") => Kind::Map(&Kind::Any),
        _ => Kind::Any,
    }
}

fn choice(variants: Vec<Variant>) -> Kind {
    let variants = variants.leak();
    Kind::Choice(Choice { id: "", name: "", doc: "", tag: None, closed: false, variants })
}
