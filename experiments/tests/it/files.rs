//! Experiment files: what they may say, and what is said about mistakes in them.

use mustlink as _;
use std::path::Path;

use mustlink_experiments::{Experiment, Points, RunOptions, Source, Split, plan, run};

const HEAD: &str =
    "[experiment]\nname = \"t\"\n[[dataset]]\nid = \"iris\"\n[curve]\npoints = [0, 5]\n";

fn parse(rest: &str) -> mustlink_core::Result<Experiment> {
    Experiment::parse("t.toml", &format!("{HEAD}{rest}"), Path::new("."), &[])
}

fn good(rest: &str) -> Experiment {
    parse(rest).unwrap_or_else(|e| panic!("{e}"))
}

fn bad(rest: &str) -> String {
    parse(rest).map(|_| ()).unwrap_err().to_string()
}

fn ids(e: &Experiment) -> Vec<&str> {
    e.methods.iter().map(|m| m.id.as_str()).collect()
}

#[test]
fn defaults_are_written_out() {
    let e =
        good("[[method]]\nid = \"m\"\nclusterer = \"pck_means\"\nselector = \"random_pairs\"\n");
    let r = e.resolved();
    assert_eq!(r["method"][0]["k"], "classes");
    assert_eq!(r["method"][0]["oracle"]["type"], "truth");
    assert_eq!(r["method"][0]["view"], "neighbourhood");
    assert_eq!(r["method"][0]["clusterer"]["type"], "pck_means");
    assert!(r["method"][0]["clusterer"]["max_iterations"].is_u64());
    assert_eq!(r["split"]["type"], "all");
    assert_eq!(r["stats"]["level"], 0.95);
    assert_eq!(r["scoring"]["metrics"][0]["type"], "ari");
    assert_eq!(e.split, Split::All { repeats: 1 });
    // What is written out reads back as the same.
    let again = Experiment::parse("r.toml", &e.resolved_toml(), Path::new("."), &[]).unwrap();
    assert_eq!(again.resolved(), r);
}

#[test]
fn metrics_that_leave_pairs_out_are_known() {
    let of = |metrics: &str| {
        good(&format!(
            "[scoring]\nmetrics = [{metrics}]\nexclude_constrained = \"explicit\"\n\
             [[method]]\nid = \"m\"\nclusterer = \"kmeans\"\n"
        ))
    };
    let some = of(
        "\"ari\", \"pair_f\", \"pair_precision\", \"silhouette\", \"pair_recall\", \"jaccard_pairs\"",
    );
    assert_eq!(some.leaving_out(), ["pair_f", "pair_precision", "pair_recall", "jaccard_pairs"]);
    assert!(some.unread().is_empty(), "{:?}", some.unread());
    let none = of("\"ari\", \"nmi_arith\"").unread().concat();
    assert!(none.contains("scoring.exclude_constrained: changes nothing"), "{none}");
}

#[test]
fn files_that_are_not_there_are_named() {
    let of = |file: &str| {
        good(&format!(
            "[[method]]\nid = \"m\"\nclusterer = [\"pck_means\", \"cop_kmeans\"]\n\
             selector = {{ type = \"fixed_list\", file = \"{file}\" }}\n"
        ))
    };
    let said = "m[clusterer=pck_means], m[clusterer=cop_kmeans]: no file no_such.csv, which fixed_list reads: \
                the cells will fail";
    assert_eq!(of("no_such.csv").unread(), [said]);
    assert!(of("Cargo.toml").unread().is_empty());
}

#[test]
fn claims_about_a_point_that_is_none_are_named() {
    let of = |check: &str| {
        good(&format!(
            "[[method]]\nid = \"m\"\nclusterer = \"kmeans\"\n[[criterion]]\nid = \"c\"\n\
             statement = \"s\"\ncheck = \"{check}\"\n"
        ))
    };
    let said = "criterion c: the curve has no point at 4, but at 5: the claim will have no data";
    assert_eq!(of("at(ari('m'), 4) > at(ari('m'), 0)").unread(), [said]);
    assert!(of("at(ari('m'), 5) > at(ari('m'), 0)").unread().is_empty());
}

#[test]
fn lists_are_axes() {
    let e = good(
        "[[method]]\nid = \"m\"\nclusterer = { type = \"pck_means\", weight = [0.1, 1, 10.0], max_iterations = [5, 9] }\n\
         [[method]]\nid = \"n\"\nk = [2, \"classes\"]\nclusterer = [\"kmeans\", { type = \"pck_means\", weight = [2, 3] }]\n",
    );
    assert_eq!(
        ids(&e),
        [
            "m[weight=0.1,max_iterations=5]",
            "m[weight=0.1,max_iterations=9]",
            "m[weight=1,max_iterations=5]",
            "m[weight=1,max_iterations=9]",
            "m[weight=10.0,max_iterations=5]",
            "m[weight=10.0,max_iterations=9]",
            "n[k=2,clusterer=kmeans]",
            "n[k=2,clusterer=pck_means,weight=2]",
            "n[k=2,clusterer=pck_means,weight=3]",
            "n[k=classes,clusterer=kmeans]",
            "n[k=classes,clusterer=pck_means,weight=2]",
            "n[k=classes,clusterer=pck_means,weight=3]",
        ]
    );
    assert_eq!(e.methods[1].config["clusterer"]["max_iterations"], 9);
    assert_eq!(e.methods[1].config["clusterer"]["weight"], 0.1);
}

#[test]
fn what_names_a_method_of_several_values_says_so() {
    let method = "[[method]]\nid = \"m\"\nk = [2, 3]\nclusterer = \"kmeans\"\n";
    let way = "; its lists stand for 2 methods, the first of which is \"m[k=2]\"";
    for (rest, said) in [
        ("[stats]\ncontrol = \"m\"\n", "stats.control: no method has the id \"m\""),
        (
            "[[criterion]]\nid = \"c\"\nstatement = \"s\"\ncheck = \"last(ari('m')) > 0\"\n",
            "criterion[0].check: no method 'm'",
        ),
    ] {
        let error = bad(&format!("{method}{rest}"));
        assert!(error.contains(&format!("{said}{way}")), "{error}");
    }
}

#[test]
fn axes_of_one_name_keep_their_slots_apart() {
    let e = good(
        "[[method]]\nid = \"m\"\nclusterer = { type = \"pck_means\", k = [2, 3] }\nk = [2, 3]\n",
    );
    assert_eq!(e.methods.len(), 4);
    assert!(ids(&e).contains(&"m[clusterer.k=2,k=3]"), "{:?}", ids(&e));
}

#[test]
fn sections_are_copied() {
    let e = good(
        "[[method]]\nid = \"a\"\nclusterer = \"same:b\"\nselector = \"same:b\"\n\
         [[method]]\nid = \"b\"\nclusterer = { type = \"pck_means\", weight = 4 }\nselector = \"random_pairs\"\n",
    );
    assert_eq!(e.methods[0].config["clusterer"], e.methods[1].config["clusterer"]);
    assert_eq!(
        bad(
            "[[method]]\nid = \"a\"\nclusterer = \"same:kmean\"\n[[method]]\nid = \"kmeans\"\nclusterer = \"kmeans\"\n"
        ),
        "t.toml:9:13: method[0].clusterer: same:kmean: no method has this id; did you mean \"kmeans\"?"
    );
    let round = bad(
        "[[method]]\nid = \"a\"\nclusterer = \"same:b\"\n[[method]]\nid = \"b\"\nclusterer = \"same:a\"\n",
    );
    assert!(round.contains("same:b leads back to itself"), "{round}");
    let none = bad(
        "[[method]]\nid = \"a\"\nclusterer = \"kmeans\"\n[[method]]\nid = \"b\"\nclusterer = \"kmeans\"\nselector = \"same:a\"\n",
    );
    assert!(none.contains("method[1].selector: same:a: that method has no selector"), "{none}");
}

#[test]
fn methods_stand_in_files_of_their_own() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(
        dir.path().join("m.toml"),
        "seed = 7\nselector = \"random_pairs\"\n[clusterer]\ntype = \"pck_means\"\nweight = 3\nmax_iterations = 4\n",
    )
    .unwrap();
    let load = |entry: &str, sets: &[String]| {
        Experiment::parse("t.toml", &format!("{HEAD}{entry}"), dir.path(), sets)
    };
    let e =
        load("[[method]]\nid = \"m\"\nfile = \"m.toml\"\nclusterer = { weight = [1, 2] }\n", &[])
            .unwrap();
    assert_eq!(ids(&e), ["m[weight=1]", "m[weight=2]"]);
    assert_eq!(e.methods[1].config["clusterer"]["max_iterations"], 4);
    let e =
        load("[[method]]\nid = \"m\"\nfile = \"m.toml\"\nclusterer = \"kmeans\"\n", &[]).unwrap();
    assert_eq!(e.methods[0].config["clusterer"]["type"], "kmeans");
    let set = ["method[0].clusterer.weight=9".to_string(), "experiment.seed=3".into()];
    let e = load("[[method]]\nid = \"m\"\nfile = \"m.toml\"\n", &set).unwrap();
    assert_eq!((e.methods[0].config["clusterer"]["weight"].as_f64(), e.head.seed), (Some(9.0), 3));
    std::fs::write(dir.path().join("m.toml"), "clusterer = { type = \"kmeans\", restart = 3 }\n")
        .unwrap();
    let error = load("[[method]]\nid = \"m\"\nfile = \"m.toml\"\n", &[]).unwrap_err().to_string();
    let file = dir.path().join("m.toml");
    let expected =
        "method[0].clusterer.restart: unknown option of kmeans; did you mean \"restarts\"?";
    assert_eq!(error, format!("{}:1:32: {expected}", file.display()));
    // What is added to a file that cannot be read is no plugin without a type; what is wrong by itself is told.
    let more = "clusterer = { restarts = [1, 2] }\nzip = [[\"clusterer.restarts\", \"k\"]]\nview = \"nothing\"\n";
    let added = format!("[[method]]\nid = \"m\"\nfile = \"x.toml\"\n{more}");
    let added = load(&added, &[]).unwrap_err().to_string();
    assert!(added.lines().count() == 2 && added.contains("method[0].view: "), "{added}");
    let gone = load("[[method]]\nid = \"m\"\nfile = \"x.toml\"\n", &[]).unwrap_err().to_string();
    assert!(gone.contains("x.toml: cannot read the file"), "{gone}");
    assert!(gone.starts_with("t.toml:") && gone.contains(": method[0].file: "), "{gone}");
}

#[test]
fn every_mistake_is_told_at_once() {
    let text = "[[method]]\nid = \"a\"\nclusterer = { type = \"kmean\" }\n\
                [[method]]\nid = \"b\"\nselector = { type = \"random_pairs\", pol = \"x\" }\nclusterer = { type = \"pck_means\", max_iterations = 0 }\n\
                [split]\ntype = \"kfold\"\nfolds = 1\n[plots]\nx = 1\n";
    let error = bad(text);
    for part in [
        "method[0].clusterer: no base clusterer \"kmean\"; did you mean \"kmeans\"?",
        "method[1].selector.pol: unknown option of random_pairs",
        "method[1].clusterer.max_iterations: must be at least 1, got 0",
        "split.folds: must be between 2 and 1000000, got 1",
        "plots: unknown option of the configuration",
    ] {
        assert!(error.contains(part), "{part} is not in\n{error}");
    }
    assert_eq!(error.lines().count(), 5, "{error}");
}

#[test]
fn a_section_that_stands_twice_says_how_lists_are_written() {
    let method = |brackets: [&str; 2]| {
        let head = brackets.join("method");
        format!("{head}\nid = \"m\"\nclusterer = \"kmeans\"\n")
    };
    let twice = method(["[", "]"]) + &method(["[", "]"]);
    let said = bad(&twice);
    let way = "; repeated sections are written [[method]]";
    assert!(said.contains("not TOML: duplicate key") && said.contains(way), "{said}");
    let key = bad(&(method(["[[", "]]"]) + "id = \"n\"\n"));
    assert!(key.contains("not TOML: duplicate key") && !key.contains(way), "{key}");
}

#[test]
fn what_no_schema_says() {
    let method = "[[method]]\nid = \"m\"\nclusterer = \"kmeans\"\n";
    for (text, part) in [
        (format!("{method}{method}"), "method[1].id: \"m\" comes twice; ids are unique"),
        (
            format!("{method}fil = \"m.toml\"\n"),
            "method[0].fil: unknown option of the configuration; did you mean \"file\"?",
        ),
        (String::new(), "method: needs at least one method"),
        ("[[method]]\nid = \"m\"\n".into(), "method[0].clusterer: a method needs a clusterer"),
        (
            "[[method]]\nid = \"m\\tn\"\nclusterer = \"kmeans\"\n".into(),
            "method[0].id: must have no line breaks and control characters, got \"m\\tn\"",
        ),
        (
            "[[method]]\nid = \"m\"\nselector = \"random_pairs\"\n".into(),
            "random_pairs only selects; a clusterer is needed",
        ),
        (
            "[[method]]\nid = \"m\"\nclusterer = \"kmeans\"\noracle = \"truth\"\n".into(),
            "truth is never asked: the method has no selector",
        ),
        (
            "[[method]]\nid = \"m\"\nclusterer = [\"pck_means\", \"kmeans\"]\nselector = \"random_pairs\"\n\
             oracle = { type = \"budget\", source = { type = \"noisy\", source = { type = \"cost\" } } }\n"
                .into(),
            "method[0].oracle.source.source: must be an oracle that is further inside than noisy in budget → cost → \
             crowd → dont_know → noise → source, got cost",
        ),
        (
            "[[method]]\nid = \"m\"\nclusterer = \"kmeans\"\ntransforms = [\"deduplicate\"]\n"
                .into(),
            "method[0].transforms: [0] deduplicate drops or merges rows; put it under [[dataset]]",
        ),
        (
            format!("{method}[scoring]\nmetrics = []\n"),
            "scoring.metrics: needs at least one metric",
        ),
        (
            format!("{method}[scoring]\nmetrics = [\"ari\", \"vi\", {{ type = \"ari\" }}]\n"),
            "t.toml:11:25: scoring.metrics[2]: \"ari\" comes twice with the same options; name it once",
        ),
        (
            "[[method]]\nid = \"m\"\nk = [2, 3, 2]\nclusterer = \"kmeans\"\n".into(),
            "t.toml:9:12: method[0].k: 2 comes twice in the list",
        ),
    ] {
        let error = bad(&text);
        assert!(error.contains(part), "{part} is not in\n{error}");
    }
    let curve = |points: &str| {
        let head = HEAD.replace("[0, 5]", points);
        Experiment::parse("t.toml", &format!("{head}{method}"), Path::new("."), &[])
    };
    assert_eq!(curve("{ to = 10, step = 5 }").unwrap().points.numbers(), Ok(vec![0, 5, 10]));
    assert_eq!(curve("[3]").unwrap().points, Points::List(vec![3]));
    for (points, part) in [
        ("[5, 5]", "curve.points: must ascend, each point once, got 5 before 5"),
        ("[0, 9, 4]", "curve.points: must ascend, each point once, got 9 before 4"),
        ("[]", "curve.points: needs at least one point"),
        ("\"from_run(m)\"", "from_run(m): that method asks nothing"),
        ("{ from = 9, to = 5, step = 1 }", "needs at least one point, got from = 9 above to = 5"),
        ("\"from_run(x)\"", "curve.points: from_run(x): no method has the id \"x\""),
        ("\"q\"", "or \"from_run(<method id>)\", got \"q\""),
        ("{ to = 2000000000, step = 1 }", "curve.points: a curve has at most 10000 points"),
    ] {
        let error = curve(points).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(part), "{part} is not in\n{error}");
    }
    let no_curve = "[experiment]\nname = \"t\"\n[[dataset]]\nid = \"iris\"\n[[method]]\nid = \"m\"\nclusterer = \"pck_means\"\nselector = \"random_pairs\"\n";
    let error = Experiment::parse("t.toml", no_curve, Path::new("."), &[]).unwrap_err().to_string();
    assert!(error.contains("curve.points: missing, but methods ask"), "{error}");
}

/// Numbers that would fill the memory or start threads without end are refused before anything begins.
#[test]
fn every_number_has_a_ceiling() {
    let method = "[[method]]\nid = \"m\"\nclusterer = \"kmeans\"\n";
    for (section, part) in [
        ("[run]\nthreads = 100000\n", "run.threads: must be between 1 and 4096, got 100000"),
        ("[run]\ncell_timeout_s = 1e300\n", "run.cell_timeout_s: must be at most 1000000000"),
        (
            "[split]\ntype = \"all\"\nrepeats = 1000000000\n",
            "split.repeats: must be between 1 and 1000000, got 1000000000",
        ),
        (
            "[split]\ntype = \"kfold\"\nfolds = 1000\nrepeats = 1000000\n",
            "1 method × 1000000 repeats × 1000 folds are more than 1000000 cells",
        ),
    ] {
        let error = bad(&format!("{method}{section}"));
        assert!(error.contains(part), "{part} is not in\n{error}");
    }
}

#[test]
fn lists_go_together_and_combinations_are_left_out() {
    let lac = |more: &str| {
        format!(
            "[[method]]\nid = \"m\"\nclusterer = {{ type = \"lac\", h = [1, 3, 5], max_iterations = [7, 8, 9] }}\n\
             k = [2, 3]\n{more}\n"
        )
    };
    let zipped = good(&lac("zip = [[\"clusterer.h\", \"clusterer.max_iterations\"]]"));
    assert_eq!(zipped.methods.len(), 6);
    let id = "m[h=3,max_iterations=8,k=2]";
    let sorted = |id: &str| {
        let inside = id.split(['[', ']']).nth(1).unwrap();
        let mut parts: Vec<&str> = inside.split(',').collect();
        parts.sort_unstable();
        parts.join(",")
    };
    assert!(ids(&zipped).into_iter().any(|i| sorted(i) == sorted(id)), "{:?}", ids(&zipped));
    // Neither key is part of what a method is.
    assert!(zipped.resolved()["method"][0].get("zip").is_none());
    assert_eq!(good(&lac("")).methods.len(), 18);
    let some = good(&lac("exclude = [{ \"clusterer.h\" = 5 }, { clusterer.h = 1, k = 3 }]"));
    assert_eq!(some.methods.len(), 18 - 6 - 3);
    assert!(ids(&some).iter().all(|i| !i.contains("h=5")), "{:?}", ids(&some));
    // A range of numbers with decimals has 5.0.
    let range = "{ from = 1.0, to = 5, step = 2 }";
    let decimal = lac("exclude = [{ \"clusterer.h\" = 5 }]").replace("[1, 3, 5]", range);
    assert_eq!(good(&decimal).methods.len(), 18 - 6);
    let twice = bad(&lac("").replace("[1, 3, 5]", "[1, 3, 1.0]"));
    assert!(twice.contains("1.0 comes twice in the list"), "{twice}");
    let named = good(
        "[[method]]\nid = \"m\"\nclusterer = [\"kmeans\", \"pck_means\"]\n\
         selector = [\"random_pairs\", \"committee\"]\n\
         exclude = [{ clusterer = \"kmeans\", selector = \"committee\" }]\n",
    );
    assert_eq!(named.methods.len(), 3);
    for (more, part) in [
        ("zip = [\"clusterer.h\"]", "method[0].zip: must be a list of lists of options"),
        (
            "zip = [[\"clusterer.h\", \"k\"]]",
            "k must have a list of 3 values, as clusterer.h has; got 2",
        ),
        ("zip = [[\"view\", \"oracle\"]]", "none of view, oracle has a list here"),
        (
            "exclude = [{ \"clusterer.h\" = 4 }]",
            "method[0].exclude: leaves nothing out; the lists are",
        ),
        ("exclude = [{ k = 2 }, { k = 3 }]", "method[0].exclude: leaves nothing"),
    ] {
        let error = bad(&lac(more));
        assert!(error.contains(part), "{part} is not in\n{error}");
    }
}

#[test]
fn ranges_and_presets_are_axes() {
    let kmeans = |more: &str| {
        format!(
            "[[method]]\nid = \"m\"\nclusterer = {{ type = \"kmeans\", restarts = {{ from = 1, to = 9, step = 4 }} }}\n{more}\n"
        )
    };
    let ids = |e: &Experiment| -> Vec<String> { e.methods.iter().map(|m| m.id.clone()).collect() };
    assert_eq!(ids(&good(&kmeans(""))), ["m[restarts=1]", "m[restarts=5]", "m[restarts=9]"]);
    let presets = "[method.presets]\nquick = { \"clusterer.max_iterations\" = 3, clusterer.restarts = 2 }\n\
                   long = { k = [2, 3], \"transforms\" = [\"z_score\"] }\n";
    let named = good(&kmeans(presets));
    let expected =
        ["m[quick]", "m[long,restarts=1,k=2]", "m[long,restarts=1,k=3]", "m[long,restarts=5,k=2]"];
    assert_eq!(ids(&named)[..4], expected);
    assert_eq!(named.methods.len(), 7);
    let method = |at: usize| &named.resolved()["method"][at];
    assert!(method(0).get("presets").is_none());
    assert_eq!(method(0)["clusterer"]["max_iterations"], 3);
    assert_eq!(method(1)["transforms"][0]["type"], "z_score");
    assert_eq!(method(1)["clusterer"]["max_iterations"], 300);
    // A range is the list of its numbers, bit for bit.
    let listed = kmeans("").replace("{ from = 1, to = 9, step = 4 }", "[1, 5, 9]");
    assert_eq!(good(&kmeans("")).resolved(), good(&listed).resolved());
    for (more, part) in [
        ("presets = { quick = 3 }", "method[0].presets.quick: must be a table of options"),
        ("presets = 3", "method[0].presets: must be a table of named tables of options"),
        (
            "presets = { a = { id = \"x\" } }",
            "method[0].presets.a.id: is not an option of a preset",
        ),
        ("presets = { a = { \"clusterer.restrats\" = 3 } }", "did you mean \"restarts\"?"),
        ("presets = { a = { \"k.x\" = 3 } }\nk = 3", "k is a value, it has no \"x\""),
    ] {
        let error = bad(&kmeans(more));
        assert!(error.contains(part), "{part} is not in\n{error}");
    }
    // All mistakes at once, in the order of the file.
    let presets = "presets = { a = { id = \"x\", \"clusterer.restrats\" = 3 }, b = 3, c = { \"clusterer.inti\" = 3 } }";
    let error = bad(&kmeans(presets));
    let parts = ["presets.a.id: is no", "presets.b: must be", "\"restarts\"?", "\"init\"?"];
    let places: Vec<Option<usize>> = parts.iter().map(|part| error.find(part)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{error}");
    let error = bad(&kmeans("").replace("step = 4", "step = -4"));
    assert!(
        error.contains("clusterer.restarts: the step of a range must be above 0, got -4"),
        "{error}"
    );
}

#[test]
fn overrides_reach_what_is_not_written() {
    let text = "[[dataset]]\nid = \"iris\"\n[[method]]\nid = \"greene\"\nclusterer = \"pck_means\"\nselector = { type = \"committee\", generator = \"subsample\" }\n";
    let set = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|s| s.to_string()).collect();
        let text = format!("[experiment]\nname = \"x\"\n[curve]\npoints = [0, 10]\n{text}");
        Experiment::parse("t.toml", &text, Path::new("."), &sets).map_err(|e| e.to_string())
    };
    let generator = |e: &Experiment| e.resolved()["method"][0]["selector"]["generator"].clone();
    let plain = set(&[]).unwrap();
    // The slot holds its default; one option of it is changed.
    for path in ["method[0]", "method.greene"] {
        let made = set(&[&format!("{path}.selector.generator.clusterer.restarts=7")]).unwrap();
        let mut expected = generator(&plain);
        assert_ne!(expected["clusterer"]["restarts"], 7);
        expected["clusterer"]["restarts"] = 7.into();
        assert_eq!(generator(&made), expected);
    }
    for (sets, part) in [
        ("method.greeen.k=3", "it has no \"greeen\"; did you mean \"greene\"?"),
        ("method.greene.selector.generator.memebers=3", "did you mean \"members\"?"),
        ("dataset.wine.target=\"x\"", "it has no \"wine\"; it has iris"),
        ("method[3].k=3", "method has no item [3]; its length is 1"),
        ("experiment.sed=3", "did you mean \"seed\"?"),
    ] {
        let error = set(&[sets]).map(|_| ()).unwrap_err();
        assert!(error.contains(part), "{part} is not in\n{error}");
    }
}

#[test]
fn every_value_has_an_origin() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("study.toml");
    let method = dir.path().join("m.toml");
    std::fs::write(&method, "k = 3\nclusterer = \"kmeans\"\n").unwrap();
    let text = "[experiment]\nname = \"x\"\n[[dataset]]\nid = \"iris\"\n[[method]]\nid = \"m\"\nfile = \"m.toml\"\n";
    std::fs::write(&file, text).unwrap();
    let sets = ["method.m.clusterer.restarts=3".to_string()];
    let origins = Experiment::origins(&file, &sets).unwrap();
    let of = |path: &str| {
        let origin = origins.iter().find(|o| o.path == path).unwrap_or_else(|| panic!("{path}"));
        let place = origin.place.clone().unwrap_or_else(|| "default".into());
        place.replace(&dir.path().display().to_string(), "")
    };
    assert_eq!(of("experiment.name"), "/study.toml:2");
    assert_eq!(of("experiment.seed"), "default");
    assert_eq!(of("method[0].k"), "/m.toml:1");
    assert_eq!(of("method[0].clusterer.type"), "/m.toml:2");
    assert_eq!(of("method[0].clusterer.restarts"), "--set method.m.clusterer.restarts=3");
    assert_eq!(of("method[0].clusterer.max_iterations"), "default");
    // Together they are the resolved configuration.
    let resolved = Experiment::load(&file, &sets).unwrap();
    for origin in &origins {
        let pointer =
            format!("/{}", origin.path.replace('[', "/").replace(']', "").replace('.', "/"));
        assert_eq!(resolved.resolved().pointer(&pointer), Some(&origin.value), "{pointer}");
    }
}

#[test]
fn metric_columns_have_names_of_their_own() {
    let e = good(
        "[[method]]\nid = \"m\"\nclusterer = \"kmeans\"\n[scoring]\nmetrics = [\"ari\", \"k_found\", \"ami\", { type = \"ami\", average = \"max\" }]\n",
    );
    assert_eq!(e.columns(), ["ari", "score_k_found", "ami", "ami[average=max]"]);
}

#[test]
fn quickstart_is_a_good_file() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("quickstart.toml");
    let experiment =
        Experiment::load(&path, &["split.repeats=1".into()]).unwrap_or_else(|e| panic!("{e}"));
    let plan = plan(&experiment, &Source::default(), None).unwrap();
    assert_eq!((plan.cells, plan.missing().count()), (8, 0));
    // Every sentence under its figure is a claim about this study.
    assert!(!experiment.criteria.is_empty() && experiment.criteria.iter().all(|c| c.own));
}

#[test]
fn an_oracle_without_classes_names_the_ways_out() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("x.csv"), "a,b\n0,1\n1,0\n9,8\n").unwrap();
    let text = "[experiment]\nname = \"t\"\n[[dataset]]\nid = \"x\"\npath = \"x.csv\"\n\
                [curve]\npoints = [1]\n[[method]]\nid = \"m\"\nk = 2\nclusterer = \"pck_means\"\n\
                selector = \"random_pairs\"\n";
    let experiment = Experiment::parse("t.toml", text, dir.path(), &[]).unwrap();
    let error = run(&experiment, &RunOptions::to(dir.path().join("out"))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "method \"m\" on data set \"x\": the oracle truth needs a class column; name it with target under \
         [[dataset]], or take an oracle that needs none (replay, scripted)"
    );
}

#[test]
fn methods_that_are_one_under_several_names_are_told() {
    let said = |restarts: usize| {
        let text = format!(
            "{HEAD}[[method]]\nid = \"one\"\nclusterer = \"kmeans\"\n[[method]]\nid = \"two\"\n\
             clusterer = {{ type = \"kmeans\", restarts = {restarts} }}\n"
        );
        Experiment::parse("t.toml", &text, Path::new("."), &[]).unwrap().unread().join("\n")
    };
    // Ten are the default.
    assert_eq!(said(10), "one, two: the same settings, so their rows are the same");
    assert_eq!(said(2), "");
}

#[test]
fn messages_about_a_data_set_name_its_keys() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("x.csv"), "name,a\nu,0\nv,1\nw,9\n").unwrap();
    std::fs::write(dir.path().join("pairs.csv"), "i,j,type\nu,v,must_link\n").unwrap();
    let said = |keys: &str| {
        let text = format!(
            "[experiment]\nname = \"t\"\n[[dataset]]\nid = \"x\"\npath = \"x.csv\"\n{keys}\n\
             [[method]]\nid = \"m\"\nclusterer = \"kmeans\"\n"
        );
        let experiment = match Experiment::parse("t.toml", &text, dir.path(), &[]) {
            Ok(experiment) => experiment,
            Err(e) => return e.to_string(),
        };
        match plan(&experiment, &Source::default(), None) {
            Ok(plan) => plan.to_string(),
            Err(e) => e.to_string(),
        }
    };
    for (keys, part) in [
        (
            "source = \"iris\"",
            "dataset[0].source: cannot be combined with path, which gives the file itself",
        ),
        ("ignore = [\"name\"]\nconstraints = \"pairs.csv\"", "are these ids? (id_column)"),
        (
            "id_column = \"name\"",
            "needs a class column; name it with target under [[dataset]], or give",
        ),
    ] {
        let said = said(keys);
        assert!(said.contains(part), "{part:?} is not in {said}");
    }
}

#[test]
fn scores_of_data_without_classes_are_named_beforehand() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("x.csv"), "a,b\n0,1\n1,0\n9,8\n").unwrap();
    let notes = |metrics: &str| {
        let text = format!(
            "[experiment]\nname = \"t\"\n[[dataset]]\nid = \"x\"\npath = \"x.csv\"\n[scoring]\n\
             metrics = {metrics}\n[[method]]\nid = \"m\"\nk = 2\nclusterer = \"kmeans\"\n"
        );
        let experiment = Experiment::parse("t.toml", &text, dir.path(), &[]).unwrap();
        plan(&experiment, &Source::default(), None).unwrap().notes.join("\n")
    };
    let said = notes("[\"ari\", \"sse\", \"vi\"]");
    assert!(said.contains("x: no classes, without which ari, vi never has a value"), "{said}");
    assert!(!notes("[\"sse\"]").contains("no classes"));
}

#[test]
fn more_clusters_than_objects_are_named_beforehand() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("x.csv"), "a,class\n0,u\n1,u\n9,v\n").unwrap();
    let text = "[experiment]\nname = \"t\"\n[[dataset]]\nid = \"x\"\npath = \"x.csv\"\n\
                [[method]]\nid = \"m\"\nk = [3, 4]\nclusterer = \"kmeans\"\n\
                [[method]]\nid = \"own\"\nclusterer = { type = \"kmeans\", k = 9 }\n";
    let experiment = Experiment::parse("t.toml", text, dir.path(), &[]).unwrap();
    let notes = plan(&experiment, &Source::default(), None).unwrap().notes;
    let said = "x: m[k=4], own: more clusters than the 3 objects, so that every cell of them fails: choose another k";
    assert_eq!(notes, [said]);
    // Its memory was no number any more.
    let text = text.replace("[3, 4]", "18446744073709551615");
    let experiment = Experiment::parse("t.toml", &text, dir.path(), &[]).unwrap();
    let notes = plan(&experiment, &Source::default(), None).unwrap().notes;
    assert!(notes[0].contains("more clusters than the 3 objects"), "{notes:?}");
}

/// Their memory was no longer a number.
#[test]
fn more_questions_than_pairs_are_named_beforehand() {
    let method = "[[method]]\nid = \"m\"\nclusterer = \"pck_means\"\nselector = \"random_pairs\"\n";
    let text = format!("{HEAD}{method}").replace("[0, 5]", "[0, 18446744073709551615]");
    let experiment = Experiment::parse("t.toml", &text, Path::new("."), &[]).unwrap();
    let notes = plan(&experiment, &Source::default(), None).unwrap().notes;
    assert!(
        notes[0].contains("the curve continues to 18446744073709551615 questions"),
        "{notes:?}"
    );
}

#[test]
fn a_selector_that_asks_by_batches_clusters_once_for_each() {
    let seconds = |batch: usize| {
        let method = format!(
            "[[method]]\nid = \"m\"\nclusterer = \"pck_means\"\n\
             selector = {{ type = \"candidate_disagreement\", batch = {batch} }}\n"
        );
        let text = format!("{HEAD}{method}").replace("[0, 5]", "[100]");
        let experiment = Experiment::parse("t.toml", &text, Path::new("."), &[]).unwrap();
        plan(&experiment, &Source::default(), None).unwrap().seconds
    };
    assert!(seconds(1) > 3.0 * seconds(10), "{} {}", seconds(1), seconds(10));
}

#[test]
fn paths_of_a_configuration_in_results_start_where_the_file_stood() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("line.csv"), "x,class\n0,a\n1,a\n9,b\n10,b\n").unwrap();
    let file = dir.path().join("t.toml");
    let text = "[experiment]\nname = \"t\"\n[[dataset]]\nid = \"line\"\npath = \"line.csv\"\n\
                [[method]]\nid = \"m\"\nclusterer = \"kmeans\"\n";
    std::fs::write(&file, text).unwrap();
    let out = dir.path().join("out");
    run(&Experiment::load(&file, &[]).unwrap(), &RunOptions::to(out.clone())).unwrap();
    let again = Experiment::load(&out.join("config.toml"), &[]).unwrap();
    assert_eq!(again.base(), dir.path().canonicalize().unwrap());
    let outcome = run(&again, &RunOptions::to(dir.path().join("again"))).unwrap();
    assert!(outcome.failed.is_empty());
}
