//! `list`, `describe`, `schema`, `completions`, `--help`.

use std::process::Stdio;

use super::support::Bench;

const VERBS: [&str; 18] = [
    "list",
    "describe",
    "schema",
    "cluster",
    "select",
    "score",
    "check",
    "plan",
    "run",
    "report",
    "retry",
    "merge",
    "diff",
    "verify",
    "verdicts",
    "cite",
    "config",
    "completions",
];

#[test]
fn every_help_starts_with_an_example() {
    let bench = Bench::new();
    for verb in VERBS {
        let help = bench.run(&format!("{verb} --help"));
        assert_eq!(help.status, 0);
        let example = format!("mustlink {verb}");
        assert!(help.out.starts_with("Example") && help.out.contains(&example), "{verb}");
    }
    assert!(bench.run("--help").out.starts_with("Example: mustlink cluster"));
    assert!(bench.run("--version").out.starts_with("mustlink 0."));
}

/// Threads, memory and failures stood there as if they concerned a cluster alone.
#[test]
fn what_concerns_every_run_stands_above_the_cluster() {
    let help = Bench::new().run("run --help").out;
    let (run, cluster) = help.split_once("\nCluster:\n").expect("a part of its own");
    for option in
        ["--threads", "--memory-limit", "--max-fails", "--finish", "--data-dir", "--quiet"]
    {
        assert!(run.contains(option) && !cluster.contains(option), "{option}: {help}");
    }
    for option in ["--executor", "--partition", "--cells-per-task"] {
        assert!(cluster.contains(option), "{option}: {help}");
    }
}

#[test]
fn listings_parse() {
    let bench = Bench::new();
    let all = bench.run("list --format json").json();
    let names: Vec<&str> =
        all.as_array().unwrap().iter().map(|p| p["name"].as_str().unwrap()).collect();
    for name in
        ["kmeans", "pck_means", "ensemble", "random_init", "voting", "cobra", "truth", "ari", "rca"]
    {
        assert!(names.contains(&name), "{name}");
    }
    assert!(all.as_array().unwrap().iter().all(|p| !p["summary"].as_str().unwrap().is_empty()));
    let metrics = bench.run("list metrics --format json").json();
    assert!(metrics.as_array().unwrap().iter().all(|p| p["role"] == "metric"));
    let table = bench.run("list selector");
    assert!(table.out.contains("explore_consolidate") && !table.out.contains("kmeans"));
    let sets = bench.run("list datasets --format json").json();
    assert_eq!(sets[1]["name"], "iris");
    assert_eq!(sets[1]["n"], 150);
}

#[test]
fn unknown_roles_and_names() {
    let bench = Bench::new();
    bench.run("list query-selektors").failed(
        2,
        "error: no role \"query-selektors\"; accepted: \
         base-clusterers, ensemble-generators, consensus-functions, constraint-propagators, \
         query-selectors, oracles, metrics, transforms, datasets; did you mean \"query-selectors\"?\n",
    );
    bench.run("describe pckmean").failed(
        2,
        "error: no plugin or data set \"pckmean\"; run \"mustlink \
         list\" or \"mustlink list datasets\"; did you mean \"pck_means\"?\n",
    );
    let slip = bench.run("clutser");
    assert_eq!(slip.status, 2);
    assert!(slip.err.contains("similar subcommands exist: 'cite', 'cluster'"), "{}", slip.err);
    let slip = bench.run("cluster --date iris");
    assert_eq!(slip.status, 2);
    assert!(slip.err.contains("a similar argument exists: '--data'"), "{}", slip.err);
}

#[test]
fn descriptions() {
    let bench = Bench::new();
    let text = bench.run("describe pck_means").out;
    for part in [
        "Pairwise-constrained",
        "  weight = \"auto\"",
        "a number, at least 0",
        "References: Basu2004",
        "Source: ",
        "[clusterer]\ntype = \"pck_means\"",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json = bench.run("describe ensemble --format json").json();
    assert_eq!(json["role"], "base clusterer");
    let option = &json["options"][0];
    assert!(!option["accepts"].as_str().unwrap().is_empty());
    // The default plugin of a slot is written out in the example.
    assert!(json["example"].as_str().unwrap().contains("type = \"random_init\""), "{json}");
    let iris = bench.run("describe iris").out;
    assert!(
        iris.starts_with("data         iris: 150 objects, 4 features (")
            && iris.contains("\nkind         dense\nclasses      Iris-setosa 50"),
        "{iris}"
    );
}

#[test]
fn a_schema_may_be_that_of_the_plugin_alone() {
    let bench = Bench::new();
    let own = bench.run("schema ensemble --own").json();
    assert!(own["properties"]["consensus"].is_object(), "{own}");
    assert!(!own.to_string().contains("mini_batch_kmeans"), "what slots may hold is left out");
    bench
        .run("schema method --own")
        .failed(2, "error: --own: goes with the name of a plugin, got \"method\"\n");
}

#[test]
fn schemas_parse() {
    let bench = Bench::new();
    for what in ["experiment", "method", "kmeans", "budget"] {
        let schema = bench.run(&format!("schema {what}")).json();
        assert!(schema["$schema"].as_str().unwrap().contains("2020-12"), "{what}");
    }
    bench.run("schema kmean").failed(
        2,
        "error: no schema \"kmean\"; accepted: experiment, method, and \
         the names that \"mustlink list\" shows; did you mean \"kmeans\"?\n",
    );
}

#[test]
fn completion_scripts_ask_the_program() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = Bench::new().run(&format!("completions {shell}"));
        assert_eq!(script.status, 0, "{}", script.err);
        assert!(script.out.contains("MUSTLINK_COMPLETE"), "{shell}");
    }
}

#[test]
fn names_of_plugins_are_offered() {
    let bench = Bench::with("pck_of_mine.toml", "");
    let offered = |words: &[&str]| {
        let mut command = bench.command(&[&["--", "mustlink"][..], words].concat());
        command.env("MUSTLINK_COMPLETE", "bash").env("_CLAP_IFS", " ");
        command.env("_CLAP_COMPLETE_INDEX", words.len().to_string());
        String::from_utf8(command.output().unwrap().stdout).unwrap().trim().to_string()
    };
    assert_eq!(offered(&["cluster", "--clusterer", "mpc"]), "mpck_means");
    assert_eq!(offered(&["impute", "--generator", "random_i"]), "random_init");
    assert_eq!(offered(&["cite", "pck_"]), "pck_means pck_of_mine.toml");
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    // More labels than the buffer of a writer holds.
    let bench = Bench::with("many.csv", format!("x\n{}", "1\n2\n".repeat(5000)));
    let labels =
        ["cluster", "--data", "many.csv", "--k", "2", "--clusterer", "kmeans", "--out", "-"];
    for arguments in [&["schema", "experiment"][..], &["list"], &["--help"], &labels] {
        let mut child =
            bench.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let done = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success() && !said.contains("error"), "{arguments:?}: {said}");
    }
}
