//! Every mistake with its exact message and exit status.

use super::support::Bench;

const CSV: &str = "name,x,y,class\na,0,1,p\nb,1,1,p\nc,9,9,q\n";

#[test]
fn an_unknown_plugin() {
    let bench = Bench::with("m.toml", "k = 2\nclusterer = \"pckmean\"\n");
    bench.run("cluster --data iris --method m.toml").failed(
        2,
        "error: m.toml:2:13: clusterer: no base clusterer \"pckmean\"; did you mean \
         \"pck_means\"? run \"mustlink list base-clusterers\"\n",
    );
    bench.run("cluster --data iris --selector minmax_").failed(
        2,
        "error: --selector minmax_: selector: no query selector \"minmax_\"; run \
         \"mustlink list query-selectors\"\n",
    );
    bench.run("cluster --data iris --clusterer ari --quiet").failed(
        2,
        "error: --clusterer ari: clusterer: \"ari\" is a metric, not a base clusterer; run \
         \"mustlink list base-clusterers\"\n",
    );
}

/// An unknown name was taken for the widest set without a warning.
#[test]
fn an_instruction_set_that_is_not_there() {
    let bench = Bench::new();
    let run = bench.command(&["list", "metrics"]).env("MUSTLINK_SIMD", "foo").output().unwrap();
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(said.starts_with("error: MUSTLINK_SIMD: must be one of scalar"), "{said}");
    assert!(said.trim_end().ends_with("got foo"), "{said}");
    assert_eq!(run.status.code(), Some(2));
}

#[test]
fn slips_three_levels_deep_all_at_once() {
    let text = "[clusterer]\ntype = \"ensemble\"\n\n[clusterer.generator]\ntype = \"random_init\"\n\
                members = \"ten\"\n\n[clusterer.generator.clusterer]\ntype = \"kmeans\"\nrestart = 3\n\
                tolerance = -1\n";
    let bench = Bench::with("m.toml", text);
    let messages = "error: m.toml:6:11: clusterer.generator.members: must be an integer between 1 and 65535, got \
                    string \"ten\"\n\
                    error: m.toml:10:1: clusterer.generator.clusterer.restart: unknown option of \
                    kmeans; did you mean \"restarts\"?\n\
                    error: m.toml:11:13: clusterer.generator.clusterer.tolerance: must be at least 0, got -1\n";
    bench.run("cluster --data iris --method m.toml").failed(2, messages);
    bench.run("check m.toml").failed(2, messages);
}

#[test]
fn k_outside_its_range() {
    let bench = Bench::new();
    bench
        .run("cluster --data iris --k 151 --quiet")
        .failed(2, "error: k: must be between 1 and 150 (the number of objects), got 151\n");
    bench
        .run("cluster --data iris --k 0 --quiet")
        .failed(2, "error: k: must be at least 1, got 0\n");
    bench.write("x.csv", "x\n1\n2\n");
    bench.run("cluster --data x.csv --quiet").failed(
        2,
        "error: clusterer: kmeans needs the number of clusters; give --k or the option k; mustlink select-k compares \
         numbers of clusters\n",
    );
}

#[test]
fn a_cell_that_is_no_number() {
    for (cell, what) in [
        (
            "nan",
            ": 1 value is missing: line 3, column \"y\"; fill in with --set 'transforms=[\"impute_missing\"]', or \
             drop the rows",
        ),
        ("inf", ", line 3, column \"y\": inf is not a finite number; --na inf reads it as missing"),
        (
            "abc",
            ": 1 cell is not a number: line 3, column \"y\" (\"abc\"); correct the cells, or give the text of \
             missing values with --na, or leave the column out with --ignore y",
        ),
    ] {
        let bench = Bench::with("d.csv", CSV.replace("b,1,1", &format!("b,1,{cell}")));
        bench
            .run("cluster --data d.csv --id name --k 2 --out l.csv")
            .failed(3, &format!("error: d.csv{what}\n"));
        assert_eq!(bench.files(), ["d.csv"]);
    }
}

#[test]
fn values_of_a_size_that_transforms_do_not_take() {
    let bench = Bench::with("c.csv", "i,j,type\n0,1,must_link\n1,2,cannot_link\n");
    for (size, shown) in [("e160", "9e160"), ("e-159", "9e-159")] {
        bench.write("d.csv", format!("x,y\n0,1{size}\n1{size},1{size}\n9{size},8{size}\n"));
        for transform in ["z_score", "pca", "rca", "mmc"] {
            let run = format!(
                "cluster --data d.csv --k 2 --constraints c.csv --quiet --set 'transforms=[\"{transform}\"]'"
            );
            bench.run(&run).failed(
                3,
                &format!(
                    "error: transforms[0]: data: column \"x\": the largest value in size is {shown}, \
                     methods accept 1e-100 to 1e100; put min_max first among the transforms\n"
                ),
            );
        }
    }
}

/// One of the two was ignored.
#[test]
fn an_option_and_set_cannot_both_give_a_value() {
    let bench = Bench::with("p.csv", "one,two\n0,0\n0,1\n1,1\n");
    bench.write("e.toml", "[experiment]\nname = \"e\"\n");
    for (verb, option, set, part) in [
        ("cluster --data iris", "--clusterer kmeans", "clusterer=pck_means", "clusterer"),
        ("cluster --data iris", "--clusterer kmeans", "clusterer.type=pck_means", "clusterer"),
        ("select --data iris", "--selector random_pairs", "selector=min_max_selection", "selector"),
        ("select --data iris", "--oracle truth", "oracle=none", "oracle"),
        ("cluster --data iris", "--k 3", "k=4", "k"),
        ("cluster --data iris", "--seed 3", "seed=4", "seed"),
        ("consensus p.csv", "--consensus voting", "consensus=mcla", "consensus"),
        ("consensus p.csv", "--k 2", "k=3", "k"),
        ("run e.toml", "--threads 1", "run.threads=2", "run.threads"),
        ("run e.toml", "--cell-timeout 1", "run.cell_timeout_s=2", "run.cell_timeout_s"),
    ] {
        let name = option.split(' ').next().unwrap();
        let said =
            format!("error: {name} and --set {set} both set {part}; leave one of them out\n");
        bench.run(&format!("{verb} {option} --set {set}")).failed(2, &said);
    }
    let done = bench.run("cluster --data iris --k 3 --clusterer kmeans --set clusterer.restarts=2");
    assert_eq!(done.status, 0, "{}", done.err);
    let done = bench.run("select-k --data iris --set k=4");
    assert!(done.err.starts_with("error: --k: select-k looks at the data alone"), "{}", done.err);
}

#[test]
fn constraints_about_nobody() {
    let bench = Bench::with("d.csv", CSV);
    bench.write("p.csv", "i,j,type\na,xyz,must_link\n");
    bench
        .run("cluster --data d.csv --id name --constraints p.csv")
        .failed(3, "error: p.csv, line 2: no object has the id \"xyz\"\n");
    bench.write("p.csv", "i,j,type\n0,3,must_link\n");
    bench.write("d.csv", "x,class\n0,p\n1,p\n9,q\n");
    bench.run("cluster --data d.csv --constraints p.csv").failed(
        3,
        "error: p.csv, line 2: object 3 does not exist; row numbers are 0 to 2; if they are counted from 1, subtract \
         1 from each; or are these ids? (--id)\n",
    );
}

#[test]
fn a_manifest_names_nothing_outside_its_folder() {
    let bench = Bench::with("secret.csv", CSV);
    std::fs::create_dir(bench.path("sets")).unwrap();
    let secret = bench.path("secret.csv").display().to_string();
    for path in ["../secret.csv", "./a/../../secret.csv", &secret] {
        bench.write("sets/MANIFEST.csv", format!("name,path\nmine,{path}\n"));
        let done = bench.run("cluster --data mine --data-dir sets --k 2 --quiet");
        assert_eq!(done.status, 3, "{path}: {}", done.err);
        assert!(done.err.contains(&format!("mine: the path {path} leaves the directory")));
    }
}

/// Hard constraints are refused for methods that read no constraints or do not promise to hold this kind.
#[test]
fn hard_constraints_for_a_method_that_does_not_promise_them() {
    let bench =
        Bench::with("c.csv", "i,j,type,strength\n0,1,must_link,soft\n2,60,must_link,hard\n");
    for (method, name) in [
        ("clusterer = \"kmeans\"", "kmeans"),
        ("clusterer = \"pck_means\"", "pck_means"),
        ("selector = \"cobra\"\noracle = \"truth\"", "cobra"),
    ] {
        bench.write("m.toml", format!("{method}\n"));
        bench.run("cluster --data iris --method m.toml --constraints c.csv --quiet").failed(
            3,
            &format!(
                "error: constraints: the must-link (2, 60) is marked hard, and {name} does not \
                 promise to hold a must-link; use a method that does (`mustlink list \
                 base-clusterers`), mark it soft, or give hard_as_soft = WEIGHT if the method has that option\n"
            ),
        );
    }
    let run = |clusterer: &str| {
        bench.write("m.toml", format!("clusterer = {clusterer}\n"));
        let done = bench.run("cluster --data iris --method m.toml --constraints c.csv --quiet");
        assert_eq!(done.status, 0, "{}", done.err);
    };
    run("{ type = \"pck_means\", hard_as_soft = 2.0 }");
    run("\"cop_kmeans\"");
    run("\"scop_kmeans\"");
}

#[test]
fn a_file_without_an_option() {
    let bench = Bench::with("d.csv", CSV);
    let done = bench.run("cluster d.csv");
    assert_eq!(done.status, 2);
    let tip = "data are named by an option: --data d.csv";
    assert!(done.err.contains(tip), "{}", done.err);
    for other in ["list d.csv e.csv", "cluster --dat d.csv"] {
        let done = bench.run(other);
        assert!(done.status == 2 && !done.err.contains("named by an option"), "{}", done.err);
    }
    let done = bench.run("cluster --data d.csv --clusterer {type=\"kmeans\",");
    let torn = "error: --clusterer {type=\"kmeans\",: not TOML: ";
    assert!(done.status == 2 && done.err.starts_with(torn), "{}", done.err);
}

#[test]
fn a_class_column_that_is_not_there() {
    let bench = Bench::with("d.csv", CSV);
    bench.run("cluster --data d.csv --id name --class klass").failed(
        3,
        "error: d.csv: no column \"klass\"; columns: name, x, y, class; did you mean \"class\"?\n",
    );
    bench.write("x.csv", "x\n1\n2\n3\n");
    bench.run("cluster --data x.csv --k 2 --selector random_pairs --budget 2 --quiet").failed(
        2,
        "error: the selector random_pairs needs answers, and no classes are known; name their column with --class, \
         or answer yourself with \"mustlink label\"\n",
    );
    bench.write("told.csv", "x,known\n0,a\n1,a\n8,b\n9,b\n");
    let told = bench
        .run("cluster --data told.csv --labels known --k 2 --selector random_pairs --budget 2");
    let said = "needs answers, and the classes of --labels are given to the method; name another column of classes \
                with --class";
    assert!(told.status == 2 && told.err.contains(said), "{}", told.err);
    let made = bench.run("impute --data iris --k 3 --selector committee");
    let said = "name one, in place of --selector, for example --generator subsample";
    assert!(made.status == 2 && made.err.contains(said), "{}", made.err);
    bench.run("select --data iris --selector npu --budget 2 --clusterer none").failed(
        2,
        "error: selector: npu asks a clusterer between questions, and the method has none; add one, for example \
         pck_means\n",
    );
}

#[test]
fn damaged_files() {
    let bench = Bench::with("empty.csv", "");
    bench.run("cluster --data empty.csv").failed(
        3,
        "error: empty.csv: the file is empty; expected a header row and one row per object\n",
    );
    bench.write("ragged.csv", "x,y\n1,2\n3\n");
    bench
        .run("cluster --data ragged.csv")
        .failed(3, "error: ragged.csv, line 3: expected 2 fields as in the header, got 1\n");
    // The first 10 of the 32 bytes of a gzip file.
    bench.write("cut.csv.gz", [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);
    bench.run("cluster --data cut.csv.gz").failed(
        3,
        "error: cut.csv.gz: the gzip file is cut off (0 bytes unpacked); copy or download \
         it again\n",
    );
    bench.run("cluster --data nothing.csv").failed(3, "error: nothing.csv: no such file\n");
    bench.run("cluster --data irsi").failed(
        3,
        "error: data: no data set \"irsi\"; did you mean \"iris\"? known names: digits, iris, wdbc; a data directory \
         (--data-dir or MUSTLINK_DATA) adds names; write a file as a path, such as ./irsi\n",
    );
}

#[test]
fn combinations_that_mean_nothing() {
    let bench = Bench::with("m.toml", "clusterer = \"kmeans\"\n");
    bench.run("cluster --data iris --method m.toml --budget 5").failed(
        2,
        "error: the method has no selector and asks no questions; name one with --selector (run \"mustlink \
         list query-selectors\")\n",
    );
    bench.write("none.toml", "k = 3\n");
    bench.run("cluster --data iris --method none.toml").failed(
        2,
        "error: the method has neither a clusterer nor a selector; add one, for example \
         --clusterer pck_means\n",
    );
    bench.write("s.toml", "selector = \"random_pairs\"\n");
    bench.run("cluster --data iris --method s.toml").failed(
        2,
        "error: the method has no clusterer, and the selector random_pairs does not cluster by \
         itself; add one, for example --clusterer pck_means\n",
    );
    bench.write("order.toml", "clusterer = \"kmeans\"\ntransforms = [\"rca\", \"deduplicate\"]\n");
    bench.run("cluster --data iris --method order.toml").failed(
        2,
        "error: transforms[1]: deduplicate changes rows and must come before rca, which reads \
         constraints\n",
    );
    bench
        .run("cluster --data - --constraints -")
        .failed(2, "error: --data and --constraints cannot both be -\n");
    bench
        .run("cluster --data iris --out no/where.csv")
        .failed(2, "error: --out no/where.csv: its folder does not exist\n");
    let done = bench.run("cluster --data iris --k 3 --memory-limit 1kB --quiet --clusterer kmeans");
    assert_eq!(done.status, 2);
    let (start, end) = done.err.split_at(done.err.find("about").unwrap());
    assert_eq!(start, "error: clusterer: memory: ");
    assert!(end.ends_with(
        "KiB is needed, more than the limit 1000 B; raise --memory-limit, or choose a method that takes less \
         (`mustlink describe` shows what each needs)\n"
    ));
    bench.run("check missing.toml").failed(
        2,
        "error: missing.toml: cannot read the file: No such file or directory (os error 2)\n",
    );
}

#[test]
fn values_clap_refuses() {
    let bench = Bench::new();
    for (line, part) in [
        ("cluster --data iris --budget -1", "must be a whole number of at least 0, got -1"),
        ("cluster --data iris --threads 0", "must be between 1 and 4096, got 0"),
        ("cluster --data iris --memory-limit much", "must be a size such as 4GiB"),
        ("run x.toml --shard 3/2", "must be i/N with 1 <= i <= N, for example 2/5, got 3/2"),
        ("cluster", "--data <DATA>"),
    ] {
        let done = bench.run(line);
        assert_eq!(done.status, 2, "{line}");
        assert!(done.err.contains(part), "{line}: {}", done.err);
    }
}

#[test]
fn labels_that_do_not_fit() {
    let bench = Bench::with("t.csv", "id,label\n1,a\n2,b\n");
    bench.write("l.csv", "id,label\n1,a\n3,b\n");
    bench
        .run("score --truth t.csv --labels l.csv")
        .failed(3, "error: l.csv: no object has the id \"2\", which t.csv has\n");
    bench.write("s.csv", "label\na\n");
    bench
        .run("score --truth t.csv --labels s.csv")
        .failed(3, "error: s.csv: 1 object, but t.csv has 2\n");
    bench.run("score --truth t.csv --labels l.csv --metric arri").failed(
        2,
        "error: no metric \"arri\"; run \"mustlink list metrics\"; did you mean \"ari\"?\n",
    );
    bench
        .run("score --truth t.csv --labels l.csv --metric violations")
        .failed(2, "error: the metric violations needs constraints, and score has only labels\n");
}

#[test]
fn many_objects_are_refused_before_anything_is_made() {
    let rows: String = (0..200_000).map(|i| format!("{},{}\n", i % 7, i % 2)).collect();
    let bench = Bench::with("big.csv", format!("x,class\n{rows}"));
    let method = |consensus: &str| {
        format!("clusterer = {{ type = \"ensemble\", consensus = {{ {consensus} }} }}\n")
    };
    bench.write("cspa.toml", method("type = \"cspa\""));
    bench.write("wide.toml", method("type = \"cspa\", max_n = 2000000"));
    bench.write("linkage.toml", method("type = \"evidence_accumulation\""));
    bench.write(
        "dense.toml",
        "selector = { type = \"committee\", max_matrix_bytes = 4000000000000 }\n",
    );
    let cluster = "cluster --data big.csv --k 2 --quiet --method";
    for (line, number, instead) in [
        (format!("{cluster} cspa.toml"), "at most 5000 objects (200000 given)", "\"hbgf\""),
        (
            format!("{cluster} linkage.toml"),
            "at most 20000 objects",
            "take consensus = \"voting\" if every partition has k clusters, otherwise \"mcla\" (\"hbgf\"",
        ),
        (
            format!("{cluster} wide.toml --memory-limit 4GiB"),
            "GiB is needed, more than the limit",
            "takes less",
        ),
        (
            "select --data big.csv --k 2 --oracle truth --budget 5 --quiet --method dense.toml \
             --memory-limit 4GiB"
                .into(),
            "GiB is needed, more than the limit",
            "takes less",
        ),
    ] {
        let done = bench.run(&line);
        assert_eq!(done.status, 2, "{line}: {}", done.err);
        assert!(done.err.contains(number) && done.err.contains(instead), "{line}: {}", done.err);
    }
    let experiment = |method: &str| {
        format!(
            "[experiment]\nname = \"big\"\n[[dataset]]\nid = \"big\"\npath = \"big.csv\"\n[[method]]\nid = \"m\"\n{method}"
        )
    };
    bench.write("e.toml", experiment(&bench.read("cspa.toml")));
    for line in ["plan e.toml", "check e.toml --memory-limit 4GiB"] {
        let done = bench.run(line);
        assert_eq!(done.status, 2, "{line}: {}", done.err);
        let named = done.err.contains("method \"m\"") && done.err.contains("\"hbgf\"");
        assert!(named, "{line}: {}", done.err);
    }
    bench.write("e.toml", experiment(&bench.read("wide.toml")));
    let refused = ["plan", "check"].map(|verb| {
        let done = bench.run(&format!("{verb} e.toml --memory-limit 4GiB"));
        assert_eq!(done.status, 2, "{verb}: {}", done.err);
        done.err
    });
    let [plan, check] = &refused;
    assert!(plan.contains("method \"m\" on data set \"big\": memory"), "{plan}");
    assert_eq!(plan, check);
}

#[test]
fn a_check_within_a_memory_limit_reads_the_data_sets() {
    let experiment = "[experiment]\nname = \"small\"\n[[dataset]]\nid = \"iris\"\n[[method]]\n\
                      id = \"m\"\nclusterer = \"kmeans\"\n";
    let bench = Bench::with("e.toml", experiment);
    let done = bench.run("check e.toml --memory-limit 1GiB");
    assert_eq!(done.status, 0, "{}", done.err);
    let said = "e.toml: valid; experiment \"small\" with 1 data set and 1 method; up to ";
    assert!(done.out.starts_with(said) && done.out.ends_with("KiB per cell\n"), "{}", done.out);
    let done = bench.run("check e.toml --memory-limit 1kB");
    assert_eq!(done.status, 2, "{}", done.err);
    assert!(
        done.err.starts_with("error: method \"m\" on data set \"iris\": memory: about "),
        "{}",
        done.err
    );
    bench.write("e.toml", experiment.replace("\"iris\"", "\"iriss\""));
    assert_eq!(bench.run("check e.toml").status, 3);
    let done = bench.run("check e.toml --memory-limit 1GiB");
    assert_eq!(done.status, 3, "{}", done.err);
    let said = "error: dataset iriss: data: no data set \"iriss\"; did you mean \"iris\"?";
    assert!(done.err.starts_with(said), "{}", done.err);
    bench.write("m.toml", "k = 2\nclusterer = \"kmeans\"\n");
    bench.run("check m.toml --memory-limit 1GiB").failed(
        2,
        "error: --memory-limit is for experiment files: without data the memory of a method is unknown; \
         give it to cluster or select\n",
    );
}

#[test]
fn an_option_is_set_under_the_name_that_the_file_has() {
    let start = "clusterer = { type = \"pck_means\", lambda_gt_k = \"largest\" }\n";
    let bench = Bench::with("m.toml", start);
    let set = "--set clusterer.when_more_neighbourhoods=weighted_farthest_first";
    let shown = bench.run(&format!("config show m.toml {set}"));
    let said = "when_more_neighbourhoods = \"weighted_farthest_first\"\n";
    assert!(shown.out.contains(said), "{}{}", shown.out, shown.err);
}

#[test]
fn a_key_twice_in_json_is_refused() {
    let text = "\u{feff}{\"k\": 3,\n \"clusterer\": { \"type\": \"kmeans\", \"restarts\": 2, \"restarts\": 20 } }";
    let bench = Bench::with("m.json", text);
    let done = bench.run("check m.json");
    assert_eq!(done.status, 2, "{}", done.err);
    assert!(done.err.contains("m.json:2:"), "{}", done.err);
    assert!(done.err.contains("not JSON: the key \"restarts\" occurs twice"), "{}", done.err);
    bench.write("m.json", text.replace("\"restarts\": 2, ", ""));
    assert_eq!(bench.run("check m.json").out, "m.json: valid; a method\n");
}

/// Only a terminal itself was spared them, not what shows a pipe or a log there.
#[test]
fn signs_that_steer_a_terminal_are_replaced_in_text() {
    let name = "p\u{1b}[2J\u{202e}";
    let bench = Bench::new();
    std::fs::create_dir(bench.path("sets")).unwrap();
    bench.write("sets/MANIFEST.csv", "name,kind,path\nfew,csv,few.csv\n");
    bench.write("sets/few.csv", format!("x,y,class\n1,1,{name}\n1,2,{name}\n8,8,q\n9,8,q\n"));
    for verb in ["describe few", "cluster --k 2 --clusterer kmeans --data few"] {
        let done = bench.run(&format!("{verb} --data-dir sets"));
        assert!(done.status == 0 && done.out.contains("[2J?"), "{verb}: {}", done.out);
        assert!(!done.out.contains(['\u{1b}', '\u{202e}']), "{verb}: {}", done.out);
    }
    // JSON is data, and escapes them itself.
    let json = bench.run("describe few --data-dir sets --format json").json();
    assert_eq!(json["class_sizes"][name], 2);
}
