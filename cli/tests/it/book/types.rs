//! The page about the types of a plugin is what the sources say.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use mustlink::prelude::{
    MetricProperties, Needs, PropagatorProperties, Properties, SelectorProperties,
    TransformProperties,
};
use mustlink::roles::{GeneratorProperties, OracleProperties};
use serde_json::{Value, to_value};

use super::{read, refreshing, root};

const PAGE: &str = "book/src/reference/plugin-types.md";

const HEAD: &str = "# Types of a plugin

This page lists the fields and methods that you need to write a plugin. It is generated from the sources:
`MUSTLINK_REFRESH=1 cargo test --workspace --locked --test it -- book::types` writes it, and the test checks that it is
current. All names are in `mustlink::prelude`, unless a path is given. [Add a method in one file](../add-a-method.md)
shows how they are used.

`properties()` and `needs()` return facts about a plugin. Set only those that differ from the default:
`Properties { needs_k: false, ..Properties::default() }`. The framework checks the facts before each run, and the laws
test them.
";

/// A type of the page: heading, file, and what a plugin does with it.
const TYPES: [(&str, &str, &str); 20] = [
    (
        "Properties",
        "core/src/roles/base_clusterer.rs",
        "A clusterer returns them from `properties()`.",
    ),
    (
        "GeneratorProperties",
        "core/src/roles/ensemble_generator.rs",
        "A generator (`mustlink::roles`) returns them from `properties()`.",
    ),
    (
        "Needs",
        "core/src/roles/consensus_function.rs",
        "A consensus function returns them from `needs()`.",
    ),
    (
        "PropagatorProperties",
        "core/src/roles/constraint_propagator.rs",
        "A propagator returns them from `properties()`.",
    ),
    (
        "SelectorProperties",
        "core/src/roles/query_selector.rs",
        "A selector returns them from `properties()`. Its method `start()` returns an `Inquiry`: `step()` gives the next \
         `Step`, and `tell()` takes the `Reply`. They are documented in `core/src/roles/query_selector.rs`.",
    ),
    (
        "OracleProperties",
        "core/src/roles/oracle.rs",
        "An oracle (`mustlink::roles`) returns them from `properties()`.",
    ),
    ("MetricProperties", "core/src/roles/metric.rs", "A metric returns them from `properties()`."),
    (
        "TransformProperties",
        "core/src/roles/transform.rs",
        "A transform returns them from `properties()`.",
    ),
    (
        "MetricInput",
        "core/src/roles/metric.rs",
        "A metric gets it in `score()`. Read a part that may be absent only if the facts say that the metric needs it.",
    ),
    (
        "Problem",
        "core/src/problem.rs",
        "Every plugin that computes on objects gets it: the data, the constraints and the number of clusters.",
    ),
    (
        "Data",
        "core/src/data.rs",
        "`problem.data`: the objects. `row(i)` gives a dense or a sparse row, and distances go through these methods, so \
         that one method serves all kinds of data.",
    ),
    (
        "Constraints",
        "core/constraints/src/constraints.rs",
        "`problem.constraints`: the pairs and the groups.",
    ),
    (
        "Constraint",
        "core/constraints/src/constraint.rs",
        "One pair of objects, with `Kind` and weight.",
    ),
    (
        "Clustering",
        "core/src/clustering.rs",
        "A clusterer and a consensus function return it. `NONE` is the label of an object that was not clustered.",
    ),
    (
        "Ensemble",
        "core/src/ensemble.rs",
        "A generator returns it, and a consensus function gets it.",
    ),
    ("Member", "core/src/ensemble.rs", "One partition of an ensemble."),
    (
        "Shape",
        "core/src/problem.rs",
        "`memory()` gets it: the sizes of a problem, before anything is allocated.",
    ),
    (
        "Context",
        "core/src/context.rs",
        "Every run has one: for random numbers, progress, warnings and the end of the run.",
    ),
    (
        "Stream",
        "core/src/random.rs",
        "`ctx.stream(\"purpose\")` makes it: random numbers that depend only on the seed, the place and the purpose.",
    ),
    (
        "Closure",
        "core/constraints/src/closure.rs",
        "What follows from constraints. `problem.closure(…)` computes it once and shares it. Objects that must-links join \
         form a *component*; an object without must-links is a component of its own.",
    ),
];

/// The facts of each role if a plugin says nothing.
fn defaults() -> BTreeMap<&'static str, Value> {
    let facts = [
        ("Properties", to_value(Properties::default())),
        ("GeneratorProperties", to_value(GeneratorProperties::default())),
        ("Needs", to_value(Needs::default())),
        ("PropagatorProperties", to_value(PropagatorProperties::default())),
        ("SelectorProperties", to_value(SelectorProperties::default())),
        ("OracleProperties", to_value(OracleProperties::default())),
        ("MetricProperties", to_value(MetricProperties::default())),
        ("TransformProperties", to_value(TransformProperties::default())),
    ];
    facts.map(|(name, value)| (name, value.expect("plain facts"))).into()
}

/// A field or a method: its code, and the first paragraph of its documentation.
type Row = (String, String);

/// Documentation in the form of a page: no links to items of Rust.
fn plain(doc: &str) -> String {
    let mut out = String::new();
    let mut rest = doc;
    while let Some((before, link)) = rest.split_once("[`") {
        let Some((name, after)) = link.split_once("`]") else { break };
        let target = after.strip_prefix('(').and_then(|t| t.split_once(')'));
        let _ = write!(out, "{before}`{name}`");
        rest = target.map_or(after, |(_, after)| after);
    }
    out + rest
}

/// Goes through the lines of an item, up to the brace that ends it.
fn rows(lines: &[&str], begins: impl Fn(&str) -> bool, ends: char) -> Vec<Row> {
    let (mut out, mut doc, mut whole) = (Vec::new(), String::new(), false);
    let mut at = 0;
    while at < lines.len() && lines[at] != "}" {
        let line = lines[at].trim();
        at += 1;
        if let Some(text) = line.strip_prefix("///") {
            whole |= text.trim().is_empty();
            if !whole {
                doc = format!("{doc} {}", text.trim());
            }
        } else if line.starts_with("#[doc(hidden)]") {
            doc = "hidden".into();
        } else if begins(line) && lines[at - 1].starts_with("    pub ") {
            let mut code = line.to_string();
            while !code.ends_with(ends) {
                code = format!("{code} {}", lines[at].trim());
                at += 1;
            }
            let code = code.trim_start_matches("pub ").trim_start_matches("fn ");
            let code = code.trim_end_matches([ends, ' ']).replace("( ", "(").replace(", )", ")");
            if doc != "hidden" {
                out.push((code, plain(doc.trim())));
            }
            (doc, whole) = (String::new(), false);
        } else if !line.starts_with("#[") {
            (doc, whole) = (String::new(), false);
        }
    }
    out
}

/// Fields and methods of a type, in the order of the source.
fn members(name: &str, file: &str) -> [Vec<Row>; 2] {
    let text = read(&root().join(file));
    let lines: Vec<&str> = text.lines().collect();
    let opens = |line: &str, item: &str| {
        let rest = line.strip_prefix(item).and_then(|rest| rest.strip_prefix(name));
        rest.is_some_and(|rest| rest.ends_with('{') && rest.starts_with([' ', '<']))
    };
    let is_field = |line: &str| line.starts_with("pub ") && line.ends_with(',');
    let is_method = |line: &str| line.starts_with("pub fn ");
    let (mut fields, mut methods) = (Vec::new(), Vec::new());
    for at in 0..lines.len() {
        if opens(lines[at], "pub struct ") {
            fields.extend(rows(&lines[at + 1..], is_field, ','));
        }
        if opens(lines[at], "impl ") {
            methods.extend(rows(&lines[at + 1..], is_method, '{'));
        }
    }
    [fields, methods]
}

fn page() -> String {
    let defaults = defaults();
    let mut page = String::from(HEAD);
    for (name, file, use_of_it) in TYPES {
        let [fields, methods] = members(name, file);
        assert!(fields.len() + methods.len() > 1, "{name} is not in {file}");
        let _ = write!(page, "\n## {name}\n\n{use_of_it}\n");
        let facts = defaults.get(name);
        if !fields.is_empty() {
            let head = facts.map_or("|", |_| "| default |");
            let line = facts.map_or("|", |_| "|---|");
            let _ = write!(page, "\n| field | meaning {head}\n|---|---{line}\n");
        }
        let mut known = 0;
        for (code, doc) in &fields {
            assert!(!doc.is_empty(), "{name}: {code} is not described");
            let _ = write!(page, "| `{code}` | {doc} |");
            if let Some(facts) = facts {
                let field = code.split(':').next().unwrap_or_default();
                let value = facts.get(field).unwrap_or_else(|| panic!("{name} has no {field}"));
                known += 1;
                let _ = write!(page, " `{}` |", value.to_string().replace('"', ""));
            }
            page.push('\n');
        }
        let all = facts.and_then(Value::as_object).map_or(0, |facts| facts.len());
        assert_eq!(known, all, "{name}: a field was not found in {file}");
        if !methods.is_empty() {
            page += "\n| method | what it gives |\n|---|---|\n";
        }
        for (code, doc) in &methods {
            assert!(!doc.is_empty(), "{name}: {code} is not described");
            let _ = writeln!(page, "| `{code}` | {doc} |");
        }
    }
    page
}

#[test]
fn the_page_of_types_is_what_the_sources_say() {
    let (page, path) = (page(), root().join(PAGE));
    if refreshing() {
        std::fs::write(&path, &page).expect("the page can be written");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "{PAGE} is not what the sources say; MUSTLINK_REFRESH=1 writes it");
}

#[test]
fn links_to_items_are_names() {
    let text = "Of [`Closure::conflicts`]; see [`MAX`](crate::MAX) and [1].";
    assert_eq!(plain(text), "Of `Closure::conflicts`; see `MAX` and [1].");
}

#[test]
fn fields_and_methods_are_found() {
    let [fields, methods] = members("MetricInput", "core/src/roles/metric.rs");
    assert_eq!(fields[0], ("labels: &'a [u32]".into(), "Cluster of each object.".into()));
    assert_eq!(methods.len(), 2);
    let [fields, methods] = members("Stream", "core/src/random.rs");
    let weighted = ("weighted(&mut self, weights: &[f64]) -> usize", "An index with probability");
    let found = methods.iter().find(|(code, _)| code == weighted.0);
    assert!(fields.is_empty() && found.is_some_and(|(_, doc)| doc.starts_with(weighted.1)));
    let [fields, methods] = members("Closure", "core/constraints/src/closure.rs");
    assert!(fields.is_empty(), "its fields are private: {fields:?}");
    let apart = methods.iter().find(|(code, _)| code == "apart(&self, p: usize) -> &[u32]");
    assert!(apart.is_some_and(|(_, doc)| doc.starts_with("Components that must be apart")));
}
