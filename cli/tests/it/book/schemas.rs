//! The schemas accept what the program accepts, and find what it finds.

use std::path::PathBuf;
use std::process::Command;

use jsonschema::Validator;
use serde_json::{Value, json};

use super::blocks::blocks;
use super::{mustlink, read, root, written};

/// The experiment and method files of the repository.
pub fn shipped() -> Vec<PathBuf> {
    let mut open = vec![root().join("experiments")];
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().unwrap_or_default();
            if path.is_dir() && name != "src" && name != "tests" {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "toml") && name != "Cargo.toml" {
                found.push(path);
            }
        }
    }
    found.sort();
    assert!(!found.is_empty());
    found
}

fn validator(what: &str) -> Validator {
    let done = Command::new(mustlink()).args(["schema", what]).output().expect("it runs");
    let schema: Value = serde_json::from_slice(&done.stdout).expect("JSON");
    jsonschema::meta::validate(&schema).expect("a schema");
    jsonschema::validator_for(&schema).expect("a schema")
}

fn parsed(text: &str) -> Value {
    toml::from_str(text).expect("TOML")
}

/// All files with where they stand.
fn files() -> Vec<(String, Value)> {
    let mut out: Vec<(String, Value)> =
        shipped().iter().map(|p| (p.display().to_string(), parsed(&read(p)))).collect();
    for page in written() {
        for block in blocks(&read(&page)) {
            if block.language == "toml" && !block.has("fragment") {
                out.push((format!("{}:{}", page.display(), block.first), parsed(&block.text)));
            }
        }
    }
    out
}

#[test]
fn what_ships_is_valid_and_a_slip_in_it_is_not() {
    let (experiment, method) = (validator("experiment"), validator("method"));
    let mut seen = [0, 0];
    for (place, file) in files() {
        let is_experiment = file.get("experiment").is_some();
        let schema = if is_experiment { &experiment } else { &method };
        seen[usize::from(is_experiment)] += 1;
        let complaints: Vec<String> = schema.iter_errors(&file).map(|e| e.to_string()).collect();
        assert!(complaints.is_empty(), "{place}: {complaints:?}");
        for slip in slips(&file) {
            assert!(!schema.is_valid(&slip), "{place}: accepted {slip}");
        }
    }
    assert!(seen.iter().all(|&n| n > 1), "{seen:?}");
}

/// The file with one key misspelt, for every key whose names the schema knows.
fn slips(file: &Value) -> Vec<Value> {
    fn walk(value: &Value, free: bool, out: &mut Vec<Value>) {
        match value {
            Value::Object(map) => {
                for key in map.keys() {
                    if !free {
                        let mut slip = map.clone();
                        let inner = slip.remove(key).expect("it is there");
                        slip.insert(format!("{key}x"), inner);
                        out.push(Value::Object(slip));
                    }
                    // Classes of a data set and data sets with a number are names of the user.
                    let named = ["class_sizes", "printed", "tolerance"].contains(&key.as_str());
                    let mut inner = Vec::new();
                    walk(&map[key], named, &mut inner);
                    out.extend(inner.into_iter().map(|slip| {
                        let mut map = map.clone();
                        map.insert(key.clone(), slip);
                        Value::Object(map)
                    }));
                }
            }
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    let mut inner = Vec::new();
                    walk(item, false, &mut inner);
                    out.extend(inner.into_iter().map(|slip| {
                        let mut items = items.clone();
                        items[at] = slip;
                        Value::Array(items)
                    }));
                }
            }
            _ => {}
        }
    }
    let mut out = Vec::new();
    walk(file, false, &mut out);
    out
}

#[test]
fn methods_are_told_apart() {
    let schema = validator("method");
    for good in [
        json!({}),
        json!({ "clusterer": "kmeans" }),
        json!({ "clusterer": { "type": "kmeans", "k": 3 } }),
        json!({ "clusterer": { "type": "pck_means", "weight": "auto" }, "selector": "cobra" }),
        json!({ "transforms": ["min_max", { "type": "l2_rows" }], "k": 2, "seed": 7 }),
        json!({ "clusterer": { "type": "ensemble", "generator": { "type": "random_init",
            "clusterer": { "type": "kmeans", "restarts": 1 } } } }),
        json!({ "oracle": { "type": "budget", "queries": 5, "source": "truth" } }),
    ] {
        let complaints: Vec<String> = schema.iter_errors(&good).map(|e| e.to_string()).collect();
        assert!(complaints.is_empty(), "{good}: {complaints:?}");
    }
    for bad in [
        json!({ "clusterer": "kmeens" }),
        json!({ "clusterer": "cobra" }),
        json!({ "clusterer": { "k": 3 } }),
        json!({ "clusterer": { "type": "kmeans", "restart": 1 } }),
        json!({ "clusterer": { "type": "kmeans", "restarts": 0 } }),
        json!({ "clusterer": { "type": "kmeans", "init": "kmeans++" } }),
        json!({ "clusterer": { "type": "kmeans", "k": "classes" } }),
        json!({ "clusterer": ["kmeans"] }),
        json!({ "transforms": "min_max" }),
        json!({ "k": 0 }),
    ] {
        assert!(!schema.is_valid(&bad), "{bad}");
    }
}

#[test]
fn a_plugin_is_told_from_its_neighbours() {
    let schema = validator("kmeans");
    assert!(schema.is_valid(&json!({ "type": "kmeans", "k": 3 })));
    assert!(!schema.is_valid(&json!({ "type": "pck_means" })));
    assert!(!schema.is_valid(&json!({ "type": "kmeans", "weight": 1 })));
}
