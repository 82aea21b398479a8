//! Files and answers of users are neither overwritten nor misread without a warning.

use super::support::{Bench, rows};

const FLOWERS: &str = "name,length,width,class\na,1.4,0.2,s\nb,1.3,0.2,s\nc,4.7,1.4,v\nd,4.5,1.5,v\n\
                       e,6.0,2.5,w\nf,5.9,2.1,w\n";

fn flowers() -> Bench {
    Bench::with("flowers.csv", FLOWERS)
}

#[test]
fn a_folder_is_no_place_for_what_others_wrote() {
    let bench = flowers();
    let experiment = "# mine\n[experiment]\nname = \"e\"\n[[dataset]]\nid = \"iris\"\n[[method]]\nid = \"m\"\n\
                      clusterer = \"kmeans\"\n";
    bench.write("config.toml", experiment);
    bench.run("run config.toml --out . --quiet").failed(
        2,
        "error: --out .: holds config.toml, which no run has written and this one would overwrite; name another \
         folder\n",
    );
    assert_eq!(bench.read("config.toml"), experiment);
    for name in ["config.json", "tables.tex"] {
        std::fs::create_dir(bench.path("mine")).unwrap();
        bench.write(&format!("mine/{name}"), "{}\n");
        let refused = bench.run("run config.toml --out mine --quiet");
        let said = format!("error: --out mine: holds {name}, which no run has written");
        assert!(refused.status == 2 && refused.err.starts_with(&said), "{}", refused.err);
        assert_eq!(bench.read(&format!("mine/{name}")), "{}\n");
        std::fs::remove_dir_all(bench.path("mine")).unwrap();
    }
    bench.write("features.csv", FLOWERS);
    bench.run("cluster --data features.csv --id name --k 3 --profile . --quiet").failed(
        2,
        "error: --profile .: would overwrite the input --data features.csv; name another folder\n",
    );
    assert_eq!(bench.read("features.csv"), FLOWERS);
    bench.write("method.toml", "clusterer = \"auto\"\n");
    let line = "cluster --data flowers.csv --id name --k 3 --quiet";
    bench.run(&format!("{line} --method method.toml --out-candidates .")).failed(
        2,
        "error: --out-candidates .: would overwrite the input --method method.toml; name another folder\n",
    );
    bench.write("candidate-scores.csv", FLOWERS);
    let auto = "cluster --data candidate-scores.csv --id name --k 3 --clusterer auto";
    bench.run(&format!("{auto} --plot .")).failed(
        2,
        "error: --plot .: would overwrite the input --data candidate-scores.csv; name another folder\n",
    );
    assert_eq!(bench.read("candidate-scores.csv"), FLOWERS);
    // They go well together: each has names of its own.
    std::fs::create_dir(bench.path("both")).expect("a folder");
    let done = bench.run(&format!("{auto} --plot both --out-candidates both --quiet"));
    assert_eq!(done.status, 0, "{}", done.err);
    // A selector that clusters by itself tries nothing: that is said before it asks.
    let own = "cluster --data iris --clusterer none --selector cobras --budget 9 --k 3 --quiet";
    bench
        .run(&format!("{own} --out own.csv --out-candidates tried"))
        .failed(2, "error: --out-candidates: cobras tries no other methods; auto does\n");
    assert!(!bench.path("own.csv").exists());
    for option in ["--plot", "--profile", "--out-candidates"] {
        bench
            .run(&format!("{line} {option} flowers.csv --out labels.csv"))
            .failed(2, &format!("error: {option} flowers.csv: is a file; name a folder\n"));
    }
    bench.run(&format!("{line} --out labels.csv.gz")).failed(
        2,
        "error: --out labels.csv.gz: would not be compressed; leave .gz out, and run gzip on the file\n",
    );
    let words = ["cluster", "--data", "iris", "--k", "3", "--quiet", "--out", ""];
    let unset = bench.command(&words).output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&unset.stderr), "error: --out : names no file\n");
    bench.run(&format!("{line} --profile . --out clusters.csv")).failed(
        2,
        "error: --profile .: ./clusters.csv is --out clusters.csv; name another folder\n",
    );
    bench.run(&format!("{line} --plot . --out candidate-scores.csv")).failed(
        2,
        "error: --plot .: ./candidate-scores.csv is --out candidate-scores.csv; name another folder\n",
    );
    if cfg!(feature = "figures") {
        bench.run(&format!("{line} --plot . --plot-format png --out projection.png")).failed(
            2,
            "error: --plot .: ./projection.png is --out projection.png; name another folder\n",
        );
    }
    let partitions = "id,p,q\n1,a,x\n2,a,x\n3,b,y\n4,b,y\n";
    bench.write("consensus-members.csv", partitions);
    bench.run("consensus consensus-members.csv --k 2 --plot .").failed(
        2,
        "error: --plot .: would overwrite the input the partitions consensus-members.csv; name another folder\n",
    );
    assert_eq!(bench.read("consensus-members.csv"), partitions);
    bench.run("impute --data flowers.csv --id name --k 3 --plot . --out impute-counts.csv").failed(
        2,
        "error: --plot .: ./impute-counts.csv is --out impute-counts.csv; name another folder\n",
    );
    bench.run(&format!("{line} --out - --save-model -")).failed(
        2,
        "error: --out - and --save-model -: only one of them can go to standard output\n",
    );
}

#[test]
fn parts_are_not_merged_into_one_of_them() {
    let bench = Bench::with(
        "e.toml",
        "[experiment]\nname = \"e\"\n[[dataset]]\nid = \"iris\"\n[[method]]\nid = \"m\"\nclusterer = \"kmeans\"\n",
    );
    assert_eq!(bench.run("run e.toml --out a --quiet").status, 0);
    bench
        .run("merge a --out ./a")
        .failed(2, "error: --out a: is one of the parts; name a new directory\n");
}

/// Regression test: ids that were found, such as 01, were read as numbers of rows.
#[test]
fn constraints_of_partitions_are_by_id_if_there_are_ids() {
    let bench = Bench::with("p.csv", "id,p,q\n01,a,x\n02,a,x\n03,b,y\n04,b,y\n");
    bench.write("c.csv", "i,j,type\n02,03,must_link\n01,02,cannot_link\n");
    let line =
        "consensus p.csv --k 2 --consensus evidence_accumulation --constraints c.csv --out -";
    let by_id = bench.run(&format!("{line} --id id --quiet")).out;
    assert_eq!(by_id, bench.run(&format!("{line} --quiet")).out);
    let label = |id: &str| {
        let line = by_id.lines().find(|line| line.starts_with(id));
        line.and_then(|line| line.split(',').nth(1)).map(String::from)
    };
    assert!(label("02") == label("03") && label("01") != label("02"), "{by_id}");
}

#[test]
fn features_of_a_model_are_named() {
    let bench = flowers();
    let line = "cluster --data flowers.csv --id name --k 3 --save-model m.json --quiet";
    assert_eq!(bench.run(line).status, 0);
    let swapped: String = FLOWERS
        .lines()
        .map(|row| row.split(',').collect::<Vec<_>>())
        .map(|c| format!("{},{},{},{}\n", c[0], c[2], c[1], c[3]))
        .collect();
    bench.write("swapped.csv", swapped);
    let as_read = bench.run("predict --model m.json --data flowers.csv --id name --quiet").out;
    for more in ["", " --features width,length", " --features length,width"] {
        let line = format!("predict --model m.json --data swapped.csv --id name --quiet{more}");
        assert_eq!(bench.run(&line).out, as_read, "{more}");
    }
    // Its distance would be infinite.
    bench.write("far.csv", "length,width\n1.4,1e200\n");
    let far = bench.run("predict --model m.json --data far.csv --quiet");
    let said = "the largest value in size is 1e200, methods accept 1e-100 to 1e100";
    assert!(far.status == 3 && far.err.contains(said), "{}", far.err);
    bench.write("renamed.csv", FLOWERS.replace("length", "l"));
    let done = bench.run("predict --model m.json --data renamed.csv --id name --features l,width");
    let warning = "warning: features are matched by position, not by name: l for length\n";
    assert!(done.status == 0 && done.err.contains(warning), "{}", done.err);
    assert_eq!(done.out, as_read);
}

#[test]
fn keys_of_ones_own_are_kept() {
    let bench = flowers();
    bench.write("keys.toml", "same = \"j\"\n");
    let line = "label --data flowers.csv --id name --k 2 --selector random_pairs --ledger l.jsonl --web \
                --keys keys.toml --out keys.toml";
    bench.run(line).failed(
        2,
        "error: --out keys.toml: would overwrite the input --keys keys.toml; name another file\n",
    );
}

#[test]
fn labels_that_break_answers_say_so() {
    let bench = flowers();
    // Three objects in two clusters cannot all be apart.
    bench.write("apart.csv", "i,j,answer\na,b,different\nb,c,different\na,c,different\n");
    let line = "label --data flowers.csv --id name --k 2 --selector random_pairs --clusterer pck_means \
                --ledger l.jsonl --out l.csv --import apart.csv";
    let done = bench.run(line);
    let warning = "warning: the labels in l.csv violate 1 of 3 constraints";
    assert!(done.status == 0 && done.err.contains(warning), "{}", done.err);
    bench.write("unsure.csv", "i,j,answer\nb,a,unsure\n");
    let done = bench.run(&line.replace("apart.csv", "unsure.csv"));
    let said = "error: unsure.csv, line 2: unsure of a pair that was answered (cannot_link)";
    assert!(done.status == 3 && done.err.contains(said), "{}", done.err);
    // Where the sheet itself is sure of the pair as well it can be imported twice.
    bench.write("both.csv", "i,j,answer\nb,a,unsure\na,b,different\n");
    let done = bench.run(&line.replace("apart.csv", "both.csv"));
    assert_eq!(done.status, 0, "{}", done.err);
}

#[test]
fn a_ledger_of_other_data_is_refused() {
    let bench = flowers();
    bench.write("pairs.csv", "i,j,answer\n0,1,same\n");
    let line = "label --data flowers.csv --ignore name --k 2 --selector random_pairs --ledger l.jsonl --import pairs.csv";
    assert_eq!(bench.run(line).status, 0);
    let done = bench.run("ledger merge l.jsonl --data iris --out p.csv");
    let said = "error: l.jsonl: is about 6 objects (data set flowers), not 150, and the first 6 rows had other values then; \
         if its session dropped";
    assert!(done.status == 3 && done.err.starts_with(said), "{}", done.err);
    // Ids of now do not help where the ledger has none.
    bench.write("fewer.csv", FLOWERS.replace("a,1.4,0.2,s\n", ""));
    bench
        .run("ledger merge l.jsonl --data fewer.csv --id name --out p.csv")
        .failed(3, "error: l.jsonl: is about 6 objects (data set flowers), not 5\n");
    bench
        .run("ledger merge l.jsonl ./l.jsonl --data flowers.csv --ignore name --out p.csv")
        .failed(
            2,
            "error: ./l.jsonl is given twice, so its answers would count twice; leave one out\n",
        );
    bench.run("ledger merge pairs.csv --data flowers.csv --ignore name --out p.csv").failed(
        3,
        "error: pairs.csv: is not a ledger; answers of a spreadsheet become one by \"mustlink label --import\"\n",
    );
    // By ids rows may stand in any order; without them they are those of other objects.
    bench.write("by-id.csv", "i,j,answer\na,b,same\n");
    let line = "label --data flowers.csv --id name --k 2 --selector random_pairs --ledger m.jsonl --import by-id.csv";
    assert_eq!(bench.run(line).status, 0);
    let (head, rows) = FLOWERS.split_once('\n').unwrap();
    let turned: String =
        [head].into_iter().chain(rows.lines().rev()).map(|l| format!("{l}\n")).collect();
    bench.write("turned.csv", turned);
    assert_eq!(bench.run("ledger merge m.jsonl --data turned.csv --id name --out p.csv").status, 0);
    assert_eq!(bench.read("p.csv"), "i,j,type,weight\nb,a,must_link,1\n");
    // An editor may have put its mark in front.
    bench.write("marked.jsonl", format!("\u{feff}{}", bench.read("m.jsonl")));
    let merge = "ledger merge marked.jsonl --data turned.csv --id name --out p.csv";
    assert_eq!(bench.run(merge).status, 0);
    let session =
        "label --data flowers.csv --id name --k 2 --selector random_pairs --ledger o.jsonl";
    let done = bench.run(&format!("{session} --import marked.jsonl"));
    assert!(done.status == 0 && done.err.contains("1 answer in o.jsonl"), "{}", done.err);
    // The answer in a last line that was cut off is missed, and nothing else would say so.
    let whole = bench.read("m.jsonl");
    bench.write("torn.jsonl", format!("{whole}{{\"v\":1,\"type\":\"stat"));
    let said = "torn.jsonl: the last line was cut off and is left out (19 bytes)";
    let merge = "ledger merge torn.jsonl --data turned.csv --id name --out p.csv";
    let done = bench.run(merge);
    assert!(done.status == 0 && done.err.contains(said), "{}", done.err);
    let done = bench.run(&format!("{session} --import torn.jsonl").replace("o.jsonl", "u.jsonl"));
    assert!(done.status == 0 && done.err.contains(said), "{}", done.err);
    // Of an object that is gone the answer is named.
    bench.write("without.csv", FLOWERS.replace("a,1.4,0.2,s\n", ""));
    let done = bench.run("ledger merge m.jsonl --data without.csv --id name --out p.csv");
    let said = "error: m.jsonl, line 2: no object has the id \"a\"; \"mustlink ledger merge\" with the earlier data";
    assert!(done.status == 3 && done.err.starts_with(said), "{}", done.err);
    // So they may where a session goes on with other rows in another ledger.
    let line = line.replace("flowers.csv", "turned.csv");
    let done = bench.run(&line.replace("by-id.csv", "by-id.csv --quiet"));
    let hint = "\"mustlink label --import\" takes these answers there";
    assert!(done.status == 3 && done.err.contains(hint), "{}", done.err);
    let done = bench.run(&line.replace("m.jsonl", "n.jsonl").replace("by-id.csv", "m.jsonl"));
    assert!(done.status == 0 && done.err.contains("1 answer in n.jsonl"), "{}", done.err);
    assert_eq!(bench.run("ledger merge n.jsonl --data turned.csv --id name --out p.csv").status, 0);
    assert_eq!(bench.read("p.csv"), "i,j,type,weight\nb,a,must_link,1\n");
    bench.run("ledger merge m.jsonl --data turned.csv --ignore name --out p.csv").failed(
        3,
        "error: m.jsonl: refers to objects by ids, such as \"a\", but these data have no ids; name the column of ids \
         (--id)\n",
    );
}

/// Row numbers of a ledger are those after transforms, which `ledger merge` does not know.
#[test]
fn answers_about_merged_rows_become_constraints_of_rows() {
    let bench = flowers();
    bench.write("twice.csv", FLOWERS.replace("b,1.3", "again,1.4,0.2,s\nb,1.3"));
    bench.write("pairs.csv", "i,j,answer\n2,3,same\n");
    let session = "--data twice.csv --ignore name,class --k 2 --selector random_pairs --ledger l.jsonl \
                   --set 'transforms=[\"deduplicate\"]'";
    let done = bench.run(&format!("label {session} --import pairs.csv"));
    assert_eq!(done.status, 0, "{}", done.err);
    let merged = bench.run("ledger merge l.jsonl --data twice.csv --ignore name,class --out p.csv");
    let way =
        "\"mustlink select\" with the options of that session, --oracle none and --ledger l.jsonl";
    assert!(merged.status == 3 && merged.err.contains(way), "{}", merged.err);
    let done = bench.run(&format!("select {session} --oracle none --out p.csv"));
    assert_eq!(done.status, 0, "{}", done.err);
    assert_eq!(bench.read("p.csv"), "i,j,type,weight\n2,3,must_link,1\n");
}

#[test]
fn unlabelled_objects_are_no_class() {
    for word in ["None", "nan", "NaN", "N/A", "null", "NA", "?"] {
        let text = format!("x,z,kind\n1,1,a\n1,2,{word}\n8,8,b\n8,9,{word}\n9,9,b\n2,1,a\n");
        let bench = Bench::with("k.csv", text);
        let done = bench.run("cluster --data k.csv --labels kind --k 2 --clusterer cop_kmeans");
        let said = "note: 4 objects of 2 known classes; 6 constraints follow";
        assert!(done.err.contains(said), "{word}: {}", done.err);
    }
}

#[test]
fn impute_refuses_what_it_would_not_read() {
    let bench = Bench::new();
    let line = "impute --data iris --k 3 --generator {type=\"random_init\",members=5}";
    let refused = |option: &str| {
        format!(
            "error: {option} has no effect: impute asks no questions, and makes its ensemble with --generator, or \
             otherwise with the first generator of the method; leave it out\n"
        )
    };
    bench.run(&format!("{line} --clusterer dbscan")).failed(2, &refused("--clusterer"));
    bench.run(&format!("{line} --budget 10")).failed(2, &refused("--budget"));
    bench.write("c.csv", "i,j,type\n0,1,must_link\n");
    let done = bench.run(&format!("{line} --constraints c.csv"));
    let warning = "warning: random_init ignores constraints, so the given ones change nothing\n";
    assert!(done.status == 0 && done.err == warning, "{}", done.err);
}

#[test]
fn what_is_called_missing_is_no_class() {
    let text = "x,z,kind\n1,1,a\n1,2,unknown\n8,8,b\n8,9,unknown\n9,9,unknown\n2,1,a\n";
    let bench = Bench::with("k.csv", text);
    let line = "cluster --data k.csv --labels kind --k 2 --clusterer cop_kmeans --na unknown";
    let done = bench.run(line);
    assert!(
        done.err.contains("3 objects of 2 known classes; 3 constraints follow"),
        "{}",
        done.err
    );
    bench.write("labels.csv", "a\nb\nb\na\n");
    bench.write("found.csv", "label\n0\n1\n1\n0\n");
    bench.run("score --truth labels.csv --labels found.csv").failed(
        3,
        "error: labels.csv, line 1: the first row must name the columns, and \"a\" is a label below; write label above it\n",
    );
    bench.write("partitions.csv", "a,x\na,x\nb,y\nb,x\n");
    bench.run("consensus partitions.csv --k 2 --quiet").failed(
        3,
        "error: partitions.csv, line 1: the first row must name the columns, and \"a\" is a label below; write a row of \
         names above\n",
    );
}

#[test]
fn the_next_command_is_one_that_works() {
    let bench = flowers();
    let init = "init --data flowers.csv --id name --class class --method --out m.toml";
    let done = bench.run(init);
    let next = "cluster --data flowers.csv --id name --class class --method m.toml";
    assert!(done.err.ends_with(&format!("next: mustlink {next}\n")), "{}", done.err);
    assert_eq!(bench.run(next).status, 0);
    bench.run("init --data flowers.csv --out e.toml").failed(
        2,
        "error: flowers: column \"name\" looks like ids, because every row has a different word; give --id name, or \
         --features all to use it as a feature\n",
    );
    bench.write("four.csv", "x,y,class\n0,0,a\n1,0,b\n2,9,a\n1,8,b\n");
    bench.run("init --data four.csv --class class --out four.toml");
    assert!(
        bench.read("four.toml").contains("Each of 4 folds")
            && bench.run("check four.toml").status == 0
    );
    bench.run("init --data - --out e.toml").failed(
        2,
        "error: --data -: an experiment file contains the name of its data, but standard input has no name; give a \
         file\n",
    );
}

#[test]
fn a_file_that_constrains_nothing_is_named() {
    let bench = flowers();
    let said = |file: &str| {
        format!(
            "warning: {file} contains no constraints (it is empty, or has only weights of 0 or one-member groups)\n"
        )
    };
    let line = "cluster --data flowers.csv --id name --k 3 --clusterer pck_means --format json";
    for rows in ["", "a,b,must_link,0\n", "a,p1,cannot_link_group,1\nb,p2,cannot_link_group,1\n"] {
        bench.write("c.csv", format!("i,j,type,weight\n{rows}"));
        let done = bench.run(&format!("{line} --constraints c.csv"));
        assert_eq!(done.err, said("c.csv"), "{rows}");
        assert!(
            done.json()["warnings"][0].as_str().is_some_and(|w| w.starts_with("c.csv contains no"))
        );
    }
    bench.write("p.csv", "id,p,q\na,1,x\nb,1,x\nc,2,y\n");
    let done = bench.run("consensus p.csv --id id --constraints c.csv");
    assert_eq!((done.status, done.err), (0, said("c.csv")));
}

#[test]
fn outputs_never_overwrite_inputs() {
    let bench = Bench::with("f.csv", rows("width,length", |_, a, b, _| format!("{a},{b}")));
    bench.write("pairs.csv", "i,j,type\n0,1,must_link\n");
    let before = (bench.read("f.csv"), bench.read("pairs.csv"));
    for out in ["f.csv", "./f.csv", "pairs.csv"] {
        let line = format!("cluster --data f.csv --constraints pairs.csv --k 2 --out {out}");
        let done = bench.run(&line);
        assert_eq!(done.status, 2, "{}", done.err);
        assert!(done.err.contains("would overwrite the input"), "{}", done.err);
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(bench.path("f.csv"), bench.path("link.csv")).unwrap();
        assert_eq!(bench.run("cluster --data link.csv --k 2 --out f.csv").status, 2);
        // Links to a file that does not exist yet, one of them through the other.
        std::os::unix::fs::symlink("later.csv", bench.path("early.csv")).unwrap();
        std::os::unix::fs::symlink(bench.path("early.csv"), bench.path("chain.csv")).unwrap();
        for link in ["early.csv", "chain.csv"] {
            let line = format!("cluster --data f.csv --k 2 --out {link}");
            let done = bench.run(&format!("{line} --ledger later.csv"));
            let said = "would overwrite the input --ledger later.csv";
            assert!(done.status == 2 && done.err.contains(said), "{}", done.err);
            let done = bench.run(&format!("{line} --violations ./later.csv"));
            assert!(done.status == 2 && done.err.contains("name the same file"), "{}", done.err);
        }
    }
    let twice = bench.run("cluster --data f.csv --k 2 --out l.csv --save-model ./l.csv");
    assert!(twice.err.contains("name the same file"), "{}", twice.err);
    let nowhere = bench.run("cluster --data f.csv --k 2 --out no/l.csv");
    assert!(nowhere.err.contains("its folder does not exist"), "{}", nowhere.err);
    assert_eq!((bench.read("f.csv"), bench.read("pairs.csv")), before);
}
