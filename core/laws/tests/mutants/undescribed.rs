//! Plugins that do not agree with what the catalogue says about them.

use std::collections::BTreeMap;

use mustlink_core::prelude::*;
use mustlink_laws::cases_for;
use schemars::JsonSchema;

use crate::shared::Caught;

macro_rules! metric {
    ($type:ident, $name:literal, $tag:literal) => {
        #[typetag::serde(name = $name)]
        impl Metric for $type {
            fn score(&self, _: &MetricInput) -> Result<Option<f64>> {
                Ok(None)
            }
        }
        impl mustlink_core::options::Options for $type {}
        register!(Metric, $type, $tag, references: []);
    };
}

/// Its registered tag is not the one it is built by.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RegisteredApart {}
metric!(RegisteredApart, "built_apart", "registered_apart");

/// Takes any option.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TakesAnything {}
metric!(TakesAnything, "takes_anything", "takes_anything");

/// Its type has another name.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AnotherName {}
metric!(AnotherName, "no_such_type", "no_such_type");

mod silent {
    #![allow(missing_docs)]
    use super::*;

    /// Has an option that nobody describes.
    #[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    pub struct SaysNothing {
        pub option: bool,
    }
    metric!(SaysNothing, "says_nothing", "says_nothing");
}

/// A number or a word.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Either {
    /// A number without a range.
    Number(f64),
}

/// Has a number of any size behind an alternative.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AnyNumber {
    /// Some number.
    pub number: Option<Either>,
}
metric!(AnyNumber, "any_number", "any_number");

/// Has a count of any size.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AnyCount {
    /// Some count.
    #[schemars(range(min = 1))]
    pub count: Option<usize>,
}
metric!(AnyCount, "any_count", "any_count");

const FLAWS: [(&str, &str, &str); 6] = [
    ("registered_apart", "is registered by another tag than it is built by", "default_parses_back"),
    ("takes_anything", "takes options that it does not have", "unknown_option_is_refused"),
    ("no_such_type", "has a tag that is not the name of its type", "names_agree"),
    ("says_nothing", "does not describe an option", "everything_is_described"),
    ("any_number", "has a number without a range behind an alternative", "numbers_have_ranges"),
    ("any_count", "has a count without a largest value", "counts_have_ceilings"),
];

/// The laws that every role has.
pub fn caught(complaints: &mut Vec<String>) -> Caught {
    let mut caught: Caught = BTreeMap::new();
    for (tag, flaw, law) in FLAWS {
        let mut broken = Vec::new();
        for case in cases_for(|d| d.tag == tag) {
            let name = case.name.rsplit('/').next().unwrap_or_default().to_string();
            let Some((_, _, known)) = FLAWS.iter().find(|(.., law)| *law == name) else { continue };
            caught.entry(known).or_default();
            if case.run().is_err() {
                caught.entry(known).or_default().insert(flaw.to_string());
                broken.push(name);
            }
        }
        if !broken.iter().any(|name| name == law) {
            complaints.push(format!("{tag}: not caught by {law}, but by {broken:?}"));
        }
    }
    caught
}
