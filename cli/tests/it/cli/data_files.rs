//! Options of a data set in a file next to it, matrices of pairs, and tables with one column per object.

use super::support::Bench;

/// Six objects of two groups, as a German spreadsheet exports them.
const ROWS: &str = "name;plate;x;y;kind\na;1;0,1;5;p\nb;2;0,2;5;p\nc;3;0,15;5,1;\nd;4;9,1;0;q\ne;5;9;0,1;q\nf;6;9,2;0;\n";
const OPTIONS: &str =
    "decimal = \",\"\nid_column = \"name\"\nlabels = \"kind\"\nignore = [\"plate\"]\n";

#[test]
fn options_of_a_data_set_are_said_once() {
    let bench = Bench::with("flowers.csv", ROWS);
    let said = "--decimal , --id name --labels kind --ignore plate";
    let rest = "--clusterer pck_means --k 2 --out - --format json";
    let by_hand = bench.run(&format!("cluster --data flowers.csv {said} {rest}"));
    assert_eq!(by_hand.status, 0, "{}", by_hand.err);
    bench.write("data.toml", OPTIONS);
    let found = bench.run(&format!("cluster --data flowers.csv {rest}"));
    assert_eq!((found.status, &found.out), (0, &by_hand.out), "{}", found.err);
    let note = "note: data.toml sets id_column, labels, ignore, decimal\n";
    assert!(found.err.contains(note) && !by_hand.err.contains("data.toml"), "{}", found.err);
    let shown = bench.run("cluster --data flowers.csv --clusterer pck_means --k 2 --out l.csv -q");
    assert!(
        shown.out.contains("options of data.toml") || shown.err.contains("options of data.toml")
    );
    // The file of this data set alone comes first.
    bench.write("flowers.toml", OPTIONS.replace("plate", "y"));
    let own = bench.run(&format!("cluster --data ./flowers.csv {rest}"));
    assert!(own.err.contains("note: ./flowers.toml sets id_column"), "{}", own.err);
    let own =
        bench.run("cluster --data flowers.csv --clusterer pck_means --k 2 --format json").json();
    assert_eq!(own["data"]["features"], serde_json::json!(["plate", "x"]));
    // A method or a study about these data does not describe them.
    bench.write("flowers.toml", "k = 2\nclusterer = \"kmeans\"\n");
    let found = bench.run(&format!("cluster --data flowers.csv {rest}"));
    assert_eq!((found.status, &found.out), (0, &by_hand.out), "{}", found.err);
}

#[test]
fn the_command_line_wins() {
    let bench = Bench::with("f.csv", ROWS);
    bench.write("data.toml", format!("{OPTIONS}transforms = [\"z_score\"]\n"));
    let json = |options: &str| {
        let line = format!("cluster --data f.csv --clusterer kmeans --k 2 --format json {options}");
        bench.run(&line).json()
    };
    let plain = json("");
    assert_eq!(plain["data"]["features"], serde_json::json!(["x", "y"]));
    assert_eq!(plain["data"]["id"], "name");
    assert_eq!(plain["method"]["transforms"][0]["type"], "z_score");
    let others = json("--set transforms=[\"min_max\"]");
    assert_eq!(others["method"]["transforms"][0]["type"], "min_max");
    assert_eq!(others["method"]["transforms"].as_array().unwrap().len(), 1);
    // A column that an option uses is not ignored, and another id leaves the first one to the other options.
    let id = json("--id plate --ignore name");
    assert_eq!(
        (&id["data"]["id"], &id["data"]["ignored"]),
        (&"plate".into(), &serde_json::json!(["name"]))
    );
    let known = json("--class kind");
    assert_eq!(known["data"]["class"], "kind");
    bench.write("m.toml", "k = 2\ntransforms = [\"l2_rows\"]\nclusterer = \"kmeans\"\n");
    let method = bench.run("cluster --data f.csv --method m.toml --format json").json();
    assert_eq!(method["method"]["transforms"][0]["type"], "l2_rows");
}

#[test]
fn mistakes_are_shown_with_their_place() {
    let bench = Bench::with("f.csv", ROWS);
    for (text, words) in [
        ("decimal = \",\"\nid_colunm = \"name\"\n", ["data.toml:2", "id_colunm", "did you mean"]),
        ("ignore = \"plate\"\n", ["data.toml:1", "ignore", "list"]),
        ("transforms = [\"z_scor\"]\n", ["data.toml:1", "z_scor", "did you mean"]),
        ("decimal = \"\n", ["data.toml", "1", ""]),
    ] {
        bench.write("data.toml", text);
        let done = bench.run("cluster --data f.csv --k 2");
        assert_ne!(done.status, 0, "{text}");
        assert!(words.iter().all(|word| done.err.contains(word)), "{text}: {}", done.err);
    }
}

#[test]
fn every_command_about_data_finds_the_options() {
    let bench = Bench::with("f.csv", ROWS);
    bench.write("data.toml", format!("{OPTIONS}transforms = [\"z_score\"]\n"));
    let done = bench
        .run("cluster --data f.csv --clusterer pck_means --k 2 --save-model m.json --out l.csv");
    assert_eq!(done.status, 0, "{}", done.err);
    // New rows have no classes.
    std::fs::create_dir(bench.path("new")).unwrap();
    bench.write("new/f.csv", "name;x;y\nz;9,1;0\n");
    bench.write("new/data.toml", OPTIONS);
    let placed = bench.run("predict --model m.json --data new/f.csv --out -");
    let label =
        bench.read("l.csv").lines().find(|l| l.starts_with("d,")).unwrap().replace('d', "z");
    assert_eq!((placed.status, placed.out), (0, format!("id,label\n{label}\n")), "{}", placed.err);
    let pairs = bench
        .run("select --data f.csv --class kind --selector random_pairs --budget 3 --out p.csv");
    assert_eq!(pairs.status, 0, "{}", pairs.err);
    let asked = bench.read("p.csv");
    assert!(
        asked.lines().nth(1).is_some_and(|row| row.starts_with(char::is_alphabetic)),
        "{asked}"
    );
    let done = bench.run("cluster --data f.csv --constraints p.csv --clusterer pck_means --k 2");
    assert_eq!(done.status, 0, "{}", done.err);
    let study = bench.run("init --data f.csv");
    for line in [
        "id_column = \"name\"",
        "decimal = \",\"",
        "ignore = [\"plate\"]",
        "transforms = [\"z_score\"]",
    ] {
        assert!(study.out.lines().any(|l| l == line), "{line}: {}", study.out);
    }
}

#[test]
fn distances_are_clustered_by_methods_that_take_them() {
    let bench = Bench::with(
        "d.csv",
        ",ann,bob,cid,dan\nann,0,1,8,9\nbob,1,0,9,8\ncid,8,9,0,2\ndan,9,8,2,0\n",
    );
    let done = bench.run("cluster --distances d.csv --k 2 --out -");
    assert_eq!(
        (done.status, done.out.as_str()),
        (0, "id,label\nann,0\nbob,0\ncid,1\ndan,1\n"),
        "{}",
        done.err
    );
    assert!(
        done.err.contains("hierarchical")
            && done.err.contains("4 objects, distances of all pairs; ids column 1;"),
        "{}",
        done.err
    );
    bench.write("p.csv", "i,j,type\nann,cid,must_link\nbob,dan,cannot_link\n");
    let done = bench.run("cluster --distances d.csv --k 2 --constraints p.csv --out -");
    let label = |id: &str| {
        done.out
            .lines()
            .find(|l| l.starts_with(id))
            .map(|l| l.rsplit(',').next().unwrap().to_string())
    };
    assert!(
        label("ann").is_some() && label("ann") == label("cid") && label("bob") != label("dan"),
        "{}{}",
        done.out,
        done.err
    );
    let refused = bench.run("cluster --distances d.csv --k 2 --clusterer kmeans");
    assert!(refused.status != 0 && refused.err.contains("distances"), "{}", refused.err);
    let twice = bench.run("cluster --data iris --distances d.csv --k 2");
    assert!(twice.status == 2 && twice.err.contains("--distances"), "{}", twice.err);
    let none = bench.run("cluster --k 2");
    assert!(none.status == 2 && none.err.contains("--data <DATA>"), "{}", none.err);
    assert_eq!(bench.run("select-k --distances d.csv --to 3").status, 0);
    assert!(!done.err.contains("--profile"), "{}", done.err);
    // Objects without features have no place among the features.
    for option in ["--profile p", "--plot p", "--save-model m.json"] {
        let refused = bench.run(&format!("cluster --distances d.csv --k 2 {option}"));
        assert!(
            refused.status == 2 && refused.err.contains("cannot be used with"),
            "{}",
            refused.err
        );
    }
    // A graph of neighbours: two triangles with one bridge.
    let edges = "2 1 1\n3 1 1\n3 2 1\n5 4 1\n6 4 1\n6 5 1\n4 3 0.1\n";
    bench
        .write("g.mtx", format!("%%MatrixMarket matrix coordinate real symmetric\n6 6 7\n{edges}"));
    let done = bench.run("cluster --affinities g.mtx --k 2 --out -");
    assert_eq!(done.status, 0, "{}", done.err);
    let labels: Vec<&str> =
        done.out.lines().skip(1).map(|l| l.rsplit(',').next().unwrap()).collect();
    assert!(
        labels[..3].iter().all(|l| *l == labels[0]) && labels[3..].iter().all(|l| *l == labels[5]),
        "{labels:?}"
    );
    assert_ne!(labels[0], labels[5]);
}

#[test]
fn columns_can_be_objects() {
    let bench =
        Bench::with("genes.csv", "gene,c1,c2,c3,c4\nCD3D,9,8,0,1\nMS4A1,0,1,9,8\ntype,T,T,B,B\n");
    let done = bench.run("cluster --data genes.csv --transpose --class type --k 2 --out -");
    assert_eq!(
        (done.status, done.out.as_str()),
        (0, "id,label\nc1,0\nc2,0\nc3,1\nc4,1\n"),
        "{}",
        done.err
    );
    assert!(done.err.contains("4 objects, 2 features (CD3D, MS4A1)"), "{}", done.err);
    // In a study, too.
    let of = "[[dataset]]\nid = \"g\"\npath = \"genes.csv\"\ntranspose = true\ntarget = \"type\"\n";
    let method = "[[method]]\nid = \"m\"\nclusterer = \"kmeans\"\n";
    bench.write("e.toml", format!("[experiment]\nname = \"e\"\n{of}{method}"));
    let run = bench.run("run e.toml --out out --quiet");
    assert_eq!(run.status, 0, "{}", run.err);
}

/// Each of them is read if the feature is built in; otherwise there is one way out.
#[test]
fn typed_files_are_read_or_refused() {
    let bench = Bench::new();
    for (name, feature, is_built) in [
        ("flowers.parquet", "parquet", cfg!(feature = "parquet")),
        ("flowers.xlsx", "xlsx", cfg!(feature = "xlsx")),
    ] {
        let content =
            std::fs::read(format!("{}/../datasets/tests/data/{name}", env!("CARGO_MANIFEST_DIR")));
        bench.write(name, content.unwrap());
        let done = bench.run(&format!(
            "cluster --data {name} --id id --features 'petal length' --class class --k 2"
        ));
        match is_built {
            true => assert_eq!(done.status, 0, "{}", done.err),
            false => {
                let way = format!("built without {feature}; save the ");
                assert!(
                    done.status == 3 && done.err.contains(&way) && done.err.ends_with("as CSV\n"),
                    "{}",
                    done.err
                );
            }
        }
    }
}
