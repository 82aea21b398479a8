//! An option that is a value, or the word "auto".

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A value of the user's, or "auto": then the method finds one.
///
/// In configurations it is the value itself or the word `"auto"`. Ranges stand at the option and hold
/// for the value: `#[option(default = AutoOr::Auto, above = 0.0)]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AutoOr<T> {
    /// The method finds a value.
    #[default]
    Auto,
    /// This value.
    Value(T),
}

/// The word.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Word {
    Auto,
}

impl<T> AutoOr<T> {
    /// The value, if the user gave one.
    pub fn value(self) -> Option<T> {
        match self {
            AutoOr::Auto => None,
            AutoOr::Value(value) => Some(value),
        }
    }

    /// The value of the user, or what `find` finds.
    pub fn or_find(self, find: impl FnOnce() -> T) -> T {
        self.value().unwrap_or_else(find)
    }
}

impl<T> From<T> for AutoOr<T> {
    fn from(value: T) -> Self {
        AutoOr::Value(value)
    }
}

impl<T: Serialize> Serialize for AutoOr<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            AutoOr::Auto => Word::Auto.serialize(to),
            AutoOr::Value(value) => value.serialize(to),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for AutoOr<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either<T> {
            Word(Word),
            Value(T),
        }
        Ok(match Either::deserialize(from)? {
            Either::Word(Word::Auto) => AutoOr::Auto,
            Either::Value(value) => AutoOr::Value(value),
        })
    }
}

impl<T: JsonSchema> JsonSchema for AutoOr<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("AutoOr_{}", T::schema_name()).into()
    }

    // In place, so that the range at an option reaches the value.
    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let value = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [value, { "type": "string", "const": "auto" }] })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::options::check_value;
    use crate::registry::schema_of;

    #[derive(Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(default)]
    struct Options {
        #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 9.0))]
        width: AutoOr<f64>,
        #[schemars(extend("minimum" = 1))]
        #[serde(skip_serializing_if = "Option::is_none")]
        count: Option<AutoOr<usize>>,
    }

    #[test]
    fn it_is_the_word_or_the_value() {
        for (text, options) in [
            (r#"{"width":"auto"}"#, Options::default()),
            (r#"{"width":2.5}"#, Options { width: 2.5.into(), count: None }),
            (
                r#"{"width":3.0,"count":"auto"}"#,
                Options { width: AutoOr::Value(3.0), count: Some(AutoOr::Auto) },
            ),
        ] {
            assert_eq!(serde_json::from_str::<Options>(text).unwrap(), options);
            assert_eq!(serde_json::to_string(&options).unwrap(), text);
        }
        for wrong in [r#"{"width":"aut"}"#, r#"{"width":[1]}"#, r#"{"count":-1}"#] {
            assert!(serde_json::from_str::<Options>(wrong).is_err(), "{wrong}");
        }
        assert_eq!(AutoOr::Value(2).or_find(|| 7), 2);
        assert_eq!(AutoOr::Auto.or_find(|| 7), 7);
    }

    #[test]
    fn the_range_at_the_option_is_that_of_the_value() {
        let schema = schema_of::<Options>();
        let width = &schema["properties"]["width"];
        assert_eq!(width["anyOf"][0]["exclusiveMinimum"], json!(0.0), "{width}");
        assert_eq!(width.get("exclusiveMinimum"), None, "{width}");
        let complaint = |options: Value| check_value(&options, &schema).unwrap_err().to_string();
        assert_eq!(complaint(json!({"width": 0.0})), "width: must be in (0, 9], got 0");
        assert_eq!(complaint(json!({"width": 9.5})), "width: must be in (0, 9], got 9.5");
        assert_eq!(complaint(json!({"count": 0})), "count: must be >= 1, got 0");
        let number = complaint(json!({"width": f64::NAN}));
        assert!(number.starts_with("width: must be \"auto\" or a number in (0, 9], got NaN"));
        for legal in [json!({"width": "auto", "count": "auto"}), json!({"width": 9.0, "count": 1})]
        {
            assert_eq!(check_value(&legal, &schema).map_err(|e| e.to_string()), Ok(()));
        }
        let count = crate::config::expected(&schema["properties"]["count"], &schema);
        assert_eq!(count, "\"auto\" or an integer >= 1");
    }
}
