//! Plugins that do not agree with what the catalogue says about them.

use std::collections::BTreeMap;

use mustlink_core::prelude::*;
use mustlink_laws::cases_for;

use crate::shared::Caught;

macro_rules! metric {
    ($type:ident, $name:literal, $tag:literal) => {
        metric!($type, $name, $tag, references: []);
    };
    ($type:ident, $name:literal, $tag:literal, $($rest:tt)*) => {
        #[typetag::serde(name = $name)]
        impl Metric for $type {
            fn score(&self, _: &MetricInput) -> Result<Option<f64>> {
                Ok(None)
            }
        }
        impl mustlink_core::options::Options for $type {}
        register!(Metric, $type, $tag, $($rest)*);
    };
}

/// A metric that differs from a sound one in what it registers.
macro_rules! registers {
    ($type:ident, $tag:literal, $summary:literal, $($rest:tt)*) => {
        #[doc = $summary]
        #[derive(Debug, Clone, Default, Serialize, Deserialize, Described)]
        #[serde(default, deny_unknown_fields)]
        pub struct $type {
            /// Rule for counting pairs.
            pub form: Form,
        }
        metric!($type, $tag, $tag, $($rest)*);
    };
}

/// Two ways.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, Described)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// The one.
    #[default]
    Old,
    /// The other.
    New,
}

/// Its registered tag is not the one it is built by.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Described)]
#[serde(default, deny_unknown_fields)]
pub struct RegisteredApart {}
metric!(RegisteredApart, "built_apart", "registered_apart");

/// Takes any option.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Described)]
#[serde(default)]
pub struct TakesAnything {}
metric!(TakesAnything, "takes_anything", "takes_anything");

/// Its type has another name.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Described)]
#[serde(default, deny_unknown_fields)]
pub struct AnotherName {}
metric!(AnotherName, "no_such_type", "no_such_type");

mod silent {
    #![allow(missing_docs)]
    use super::*;

    /// Has an option without a description.
    #[derive(Debug, Clone, Default, Serialize, Deserialize, Described)]
    #[serde(default, deny_unknown_fields)]
    pub struct SaysNothing {
        pub option: bool,
    }
    metric!(SaysNothing, "says_nothing", "says_nothing");
}

/// A number or a word.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Described)]
#[serde(untagged)]
pub enum Either {
    /// A number without a range.
    Number(f64),
}

/// Has a number of any size behind an alternative.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Described)]
#[serde(default, deny_unknown_fields)]
pub struct AnyNumber {
    /// Some number.
    pub number: Option<Either>,
}
metric!(AnyNumber, "any_number", "any_number");

/// Has a count of any size.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Described)]
#[serde(default, deny_unknown_fields)]
pub struct AnyCount {
    /// Some count.
    #[option(min = 1)]
    pub count: Option<usize>,
}
metric!(AnyCount, "any_count", "any_count");

registers!(WaivesNothing, "waives_nothing", "Waives a law that does not exist.", references: [],
    waives: ["label_names_do_not_mater" => "it is a slip"]);
registers!(WaivesElsewhere, "waives_elsewhere", "Waives a law of another role.", references: [],
    waives: ["any_origin" => "clusterers have it"]);
registers!(WaivesTwice, "waives_twice", "Waives a law twice.", references: [],
    waives: ["names_agree" => "once, and", "names_agree" => "again"]);
registers!(WaivesAnOption, "waives_an_option", "Excuses an option as a law.", references: [],
    waives: ["every_option_changes_something.form" => "it did so formerly"]);
registers!(WaivesWaivers, "waives_waivers", "Waives the law about waivers.", references: [],
    waives: ["waivers_are_of_use" => "it would be convenient"]);
registers!(WaivesTheAbsent, "waives_the_absent", "Waives a law that is not about it.", references: [],
    waives: ["groups_are_their_pairs" => "it reads no groups"]);
registers!(CitesNothing, "cites_nothing", "Cites a work without an entry.", references: ["Nobody1900"]);
registers!(CitesASlip, "cites_a_slip", "Cites a key with a slip.", references: ["basu2004"]);
registers!(CitesNever, "cites_never", "Cites for a value that an option cannot have.",
    references: ["Basu2004" if form = "newer"]);
registers!(CitesByNoOption, "cites_by_no_option", "Cites for an option that it does not have.",
    references: ["Basu2004" if shape = "new"]);

/// Report of the laws on a flawed registration.
#[test]
fn a_flawed_registration_is_answered_with_the_cure() {
    for (tag, law, words) in [
        (
            "waives_nothing",
            WAIVERS,
            "waives \"label_names_do_not_mater\", which is not a law of metrics; did you mean \"label_names_do_not_matter\"?",
        ),
        ("waives_elsewhere", WAIVERS, "waives \"any_origin\", which is not a law of metrics"),
        ("waives_twice", WAIVERS, "waives names_agree twice; remove one"),
        ("waives_an_option", WAIVERS, "#[option(inert = \"reason\")]"),
        ("waives_waivers", WAIVERS, "which cannot be waived"),
        (
            "cites_nothing",
            CITATIONS,
            "cites \"Nobody1900\", which has no entry; add @article{Nobody1900, …} to",
        ),
        (
            "no_such_type",
            "names_agree",
            "tag no_such_type of type AnotherName; rename the type to NoSuchType",
        ),
        ("cites_a_slip", CITATIONS, "did you mean \"Basu2004\"?"),
        ("cites_never", CITATIONS, "which is never the case: "),
        ("cites_by_no_option", CITATIONS, "which is never the case: "),
    ] {
        let cases = cases_for(|d| d.tag == tag);
        let case = cases.iter().find(|case| case.name.ends_with(law)).expect("a law of all");
        let complaint = case.run().expect_err(tag);
        assert!(complaint.contains(words), "{tag}: {complaint}");
        assert!(case.place.contains("undescribed.rs:"), "{}", case.place);
    }
}

const WAIVERS: &str = "waivers_are_of_use";
const CITATIONS: &str = "citations_are_known";

const FLAWS: [(&str, &str, &str); 16] = [
    ("registered_apart", "is registered by another tag than it is built by", "default_parses_back"),
    ("takes_anything", "takes options that it does not have", "unknown_option_is_refused"),
    ("no_such_type", "has a tag that is not the name of its type", "names_agree"),
    ("says_nothing", "does not describe an option", "everything_is_described"),
    ("any_number", "has a number without a range behind an alternative", "numbers_have_ranges"),
    ("any_count", "has a count without a largest value", "counts_have_ceilings"),
    ("waives_nothing", "waives a law that does not exist", WAIVERS),
    ("waives_elsewhere", "waives a law of another role", WAIVERS),
    ("waives_twice", "waives a law twice", WAIVERS),
    ("waives_an_option", "excuses an option as if it were a law", WAIVERS),
    ("waives_waivers", "waives the law about waivers", WAIVERS),
    ("waives_the_absent", "waives a law that does not apply to it", WAIVERS),
    ("cites_nothing", "cites a work that has no entry", CITATIONS),
    ("cites_a_slip", "cites a work by a wrong key", CITATIONS),
    ("cites_never", "cites a work for a value that an option cannot have", CITATIONS),
    ("cites_by_no_option", "cites a work for an option that it does not have", CITATIONS),
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
