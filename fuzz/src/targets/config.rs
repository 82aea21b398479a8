//! Files of configuration, and what stands in the place of one.

use std::path::Path;

use mustlink::config::{Check, Document, build, validate};
use mustlink::roles::{RoleObject, Transform};
use mustlink_cli::MethodFile;
use mustlink_datasets::{OpenOptions, open};
use mustlink_experiments::Experiment;
use mustlink_label::Keys;

use super::harness::Harness;

pub(super) const WORDS: &[&str] = &[
    "type",
    "k",
    "clusterer",
    "selector",
    "oracle",
    "transforms",
    "[[method]]",
    "[[dataset]]",
    "[run]",
    "[curve]",
    "points",
    "from",
    "to",
    "step",
    "[split]",
    "repeats",
    "folds",
    "kfold",
    "all",
    "threads",
    "cell_timeout_s",
    "seed",
    "kmeans",
    "pck_means",
    "ensemble",
    "generator",
    "consensus",
    "classes",
    "same_as",
    "vary",
    "id",
    "metrics",
    "criterion",
    "claim",
    "holds",
    "ari",
    "mean",
    "area(",
    "from_run(",
    "null",
    "fitted",
    "k = \"classes\"",
    "1979-05-27",
    "'''",
    "= [",
    "= {",
    "x.y",
    "==",
    "auto",
    "z_score",
    "pca",
];

/// The key that starts programs: what chance makes of it is not run.
fn starts_programs(text: &str) -> bool {
    text.contains("plugins")
}

pub(super) fn experiment() -> Harness {
    Box::new(|bytes| {
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        if !starts_programs(text) {
            let _ = Experiment::parse("e.toml", text, Path::new("."), &[]);
        }
    })
}

fn read_method(document: &Document) {
    let mut complaints = Vec::new();
    validate::<MethodFile>(document.root(), "", Check::default(), &mut complaints);
    let built = build::<MethodFile>(document.root(), "");
    if let (true, Ok(file)) = (complaints.is_empty(), built) {
        let _ = serde_json::to_string(&file);
    }
    complaints.iter().for_each(|c| drop(c.to_string()));
}

pub(super) fn method() -> Harness {
    Box::new(|bytes| {
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        for name in ["m.toml", "m.json"] {
            if let Ok(document) = Document::parse(name, text) {
                read_method(&document);
            }
        }
    })
}

/// The first line is put into the method of the other lines.
pub(super) fn set() -> Harness {
    Box::new(|bytes| {
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        let (assignment, rest) = text.split_once('\n').unwrap_or((text, ""));
        let Ok(mut document) = Document::parse("m.toml", rest) else { return };
        if document.set(assignment).is_ok() {
            read_method(&document);
        }
    })
}

pub(super) fn keys() -> Harness {
    Box::new(|bytes| {
        if let Ok(text) = std::str::from_utf8(bytes) {
            let _ = Keys::read(text, "keys.toml");
        }
    })
}

/// A step of a model, as `{"transform":…,"fitted":…}`, applied to a data set.
pub(super) fn model() -> Harness {
    let data = open("builtin:iris", &OpenOptions::default()).expect("a built-in set").data;
    Box::new(move |bytes| {
        let Ok(step) = serde_json::from_slice::<serde_json::Value>(bytes) else { return };
        let Ok(transform) = <dyn Transform as RoleObject>::from_value(step["transform"].clone())
        else {
            return;
        };
        if let Ok(fitted) = transform.restore(&step["fitted"]) {
            let _ = fitted.apply(&data);
        }
    })
}
