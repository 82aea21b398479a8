//! An option that is a value, or the word "auto".

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::kind::{Described, Kind};
use crate::options::{Found, Options, Range};

/// A value of the user's, or "auto": then the method finds one.
///
/// In configurations it is the value itself or the word `"auto"`. Ranges are declared at the option and apply
/// to the value: `#[option(default = AutoOr::Auto, above = 0.0)]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AutoOr<T> {
    /// The method finds a value.
    #[default]
    Auto,
    /// This value.
    Value(T),
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

impl<T: Options> Options for AutoOr<T> {
    fn look(&self, path: &str, declared: &Range, found: &mut Found) {
        if let AutoOr::Value(value) = self {
            value.look(path, &Range { auto: true, ..*declared }, found);
        }
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
            AutoOr::Auto => to.serialize_str("auto"),
            AutoOr::Value(value) => value.serialize(to),
        }
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for AutoOr<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let given = Value::deserialize(from)?;
        if given == "auto" {
            return Ok(AutoOr::Auto);
        }
        T::deserialize(given).map(AutoOr::Value).map_err(D::Error::custom)
    }
}

impl<T: Described> Described for AutoOr<T> {
    const KIND: &'static Kind = &Kind::Auto(T::KIND);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    struct Options {
        width: AutoOr<f64>,
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
}
