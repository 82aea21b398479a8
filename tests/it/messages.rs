//! The exact message of each mistake in a configuration.

use mustlink::Error;
use mustlink::config::{self, Document};
use mustlink::method::Method;
use serde_json::{Value, json};

fn complaints(text: &str) -> Vec<String> {
    let document = match Document::parse("m.toml", text) {
        Ok(document) => document,
        Err(Error::Config(all)) => return all.iter().map(ToString::to_string).collect(),
        Err(e) => return vec![e.to_string()],
    };
    match config::build::<Method>(document.root(), "") {
        Ok(_) => vec![],
        Err(Error::Config(all)) => all.iter().map(ToString::to_string).collect(),
        Err(e) => vec![e.to_string()],
    }
}

#[track_caller]
fn says(text: &str, expected: &[&str]) {
    assert_eq!(complaints(text), expected);
}

#[test]
fn good_files_say_nothing() {
    says("clusterer = \"kmeans\"", &[]);
    says(
        "clusterer = { type = \"pck_means\", weight = \"auto\", init = \"random\" }\nview = \"closure\"",
        &[],
    );
    says(
        "[selector]\ntype = \"cobra\"\nsuper_instances = \"all\"\n[selector.clusterer]\ntype = \"kmeans\"\nrestarts = 3",
        &[],
    );
}

#[test]
fn unknown_plugins() {
    says(
        "clusterer = { type = \"pkmeans\" }",
        &[
            "m.toml:1:22: clusterer: no base clusterer \"pkmeans\"; did you mean \"pck_means\"? run \"mustlink list base-clusterers\"",
        ],
    );
    says(
        "selector = \"something\"",
        &[
            "m.toml:1:12: selector: no query selector \"something\"; run \"mustlink list query-selectors\"",
        ],
    );
    says(
        "clusterer = \"truth\"",
        &[
            "m.toml:1:13: clusterer: \"truth\" is an oracle, not a base clusterer; run \"mustlink list base-clusterers\"",
        ],
    );
    says(
        "[clusterer]\nrestarts = 3",
        &[
            "m.toml:1:1: clusterer: needs a type, the name of a base clusterer; run \"mustlink list base-clusterers\"",
        ],
    );
}

#[test]
fn every_mistake_is_reported_at_once_three_levels_deep() {
    says(
        r#"
[clusterer]
type = "ensemble"

[clusterer.generator]
type = "random_init"
members = 0

[clusterer.generator.clusterer]
type = "kmeans"
restart = 5
tolerance = "small"
init = "plus_plus"
max_iterations = 2.5
"#,
        &[
            "m.toml:7:11: clusterer.generator.members: must be between 1 and 65535, got 0",
            "m.toml:11:1: clusterer.generator.clusterer.restart: unknown option of kmeans; did you mean \"restarts\"?",
            "m.toml:12:13: clusterer.generator.clusterer.tolerance: must be a number, at least 0, got string \"small\"",
            "m.toml:13:8: clusterer.generator.clusterer.init: must be \"kmeans_plus_plus\", \"kmeans_parallel\", \"random\", \"random_partition\", \"farthest_first\", \"perturb\" or \"given\", got string \"plus_plus\"",
            "m.toml:14:18: clusterer.generator.clusterer.max_iterations: must be an integer, at least 1, got 2.5",
        ],
    );
}

#[test]
fn shapes_that_do_not_fit() {
    says(
        "clusterer = 3",
        &[
            "m.toml:1:13: clusterer: must be a base clusterer, got 3; run \"mustlink list base-clusterers\"",
        ],
    );
    says(
        "transforms = \"tf_idf\"",
        &["m.toml:1:14: transforms: must be a list, got string \"tf_idf\""],
    );
    says(
        "view = \"neighborhood\"",
        &[
            "m.toml:1:8: view: must be \"queried\", \"neighbourhood\" or \"closure\", got string \"neighborhood\"; did you mean \"neighbourhood\"?",
        ],
    );
    says(
        "clusterer = { type = \"pck_means\", weight = -1 }",
        &["m.toml:1:44: clusterer.weight: must be at least 0, got -1"],
    );
    says(
        "clusterer = { type = \"pck_means\", weight = true }",
        &["m.toml:1:44: clusterer.weight: must be \"auto\" or a number, at least 0, got true"],
    );
    says(
        "clusterers = \"kmeans\"",
        &[
            "m.toml:1:1: clusterers: unknown option of the configuration; did you mean \"clusterer\"?",
        ],
    );
    // A level too high.
    says(
        "clusterer = \"kmeans\"\nrestarts = 3",
        &[
            "m.toml:2:1: restarts: unknown option of the configuration; did you mean \"clusterer.restarts\"?",
        ],
    );
    says(
        "clusterer = { type = \"ensemble\", members = 3 }",
        &[
            "m.toml:1:34: clusterer.members: unknown option of ensemble; did you mean \"generator.members\"?",
        ],
    );
}

#[test]
fn text_that_is_no_toml() {
    says(
        "clusterer = ",
        &["m.toml:1:13: not TOML: string values must be quoted, expected literal string"],
    );
    says("tolerance = nan", &["m.toml:1:13: must be a finite number, got nan"]);
}

#[test]
fn assignments_from_the_command_line() {
    let mut document = Document::parse("m.toml", "clusterer = { type = \"kmeans\" }").unwrap();
    document.set("clusterer.restarts=0").unwrap();
    document.set("transforms=[\"l2_rows\"]").unwrap();
    document.set("transforms[0]=tf_idf").unwrap();
    let Err(Error::Config(all)) = config::build::<Method>(document.root(), "") else {
        panic!("0 restarts must be refused");
    };
    let said: Vec<String> = all.iter().map(ToString::to_string).collect();
    assert_eq!(said, ["--set clusterer.restarts=0: clusterer.restarts: must be at least 1, got 0"]);
    let missing = document.set("clusterer").unwrap_err();
    assert_eq!(
        missing.to_string(),
        "--set clusterer: expected path=value, for example experiment.seed=7"
    );
    let torn = document.set("clusterer={type=\"kmeans\" k=3}").unwrap_err();
    assert_eq!(
        torn.to_string(),
        "--set clusterer={type=\"kmeans\" k=3}: not TOML: missing comma between key-value pairs, \
         expected `,`"
    );
    let deep = document.set("clusterer.type.x=1").unwrap_err();
    assert_eq!(
        deep.to_string(),
        "--set clusterer.type.x=1: clusterer.type is a value, it has no \"x\""
    );
}

#[test]
fn defaults_are_written_out() {
    let text =
        "selector = \"explore_consolidate\"\nclusterer = { type = \"ensemble\", k = \"classes\" }";
    let document = Document::parse("m.toml", text).unwrap();
    let mut value = config::resolve::<Method>(document.root()).unwrap();
    config::substitute_k(&mut value, Some(4));
    assert_eq!(value["clusterer"]["k"], 4);
    assert_eq!(value["clusterer"]["generator"]["type"], "random_init");
    assert_eq!(value["clusterer"]["generator"]["clusterer"]["type"], "kmeans");
    assert_eq!(value["clusterer"]["generator"]["clusterer"]["restarts"], 10);
    assert_eq!(value["view"], "neighbourhood");
}

#[test]
fn k_may_be_off_the_number_of_classes() {
    let of = |word: &str, classes| {
        let mut value = json!({ "k": word });
        config::substitute_k(&mut value, classes);
        value["k"].clone()
    };
    assert_eq!(of("classes", Some(4)), 4);
    assert_eq!(of("classes+2", Some(4)), 6);
    assert_eq!(of("classes-1", Some(4)), 3);
    assert_eq!(of("classes-1", None), Value::Null);
    assert_eq!(of("unknown", Some(4)), Value::Null);
    let far = "classes+9223372036854775807";
    for other in ["classes+", "classes-x", "classes++1", "classes 1", "class", far] {
        assert_eq!(of(other, Some(4)), other);
    }
}

#[test]
fn values_that_a_plugin_made_are_not_those_that_were_given() {
    let made = mustlink::ndarray::array![[1.0], [f64::NAN]];
    let error = mustlink::run::guarded("spectral", || mustlink::Data::dense(made)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "data that spectral made: data: row 1, column 0: NaN or infinite; fill or drop missing values first"
    );
}
