//! Warnings and notes about data, and defaults that follow them.

use super::support::Bench;

#[test]
fn sparse_data_is_clustered_by_cosine_and_says_so() {
    let matrix = "%%MatrixMarket matrix coordinate real general\n4 3 6\n1 1 1\n1 2 1\n2 1 5\n2 2 5\n3 3 1\n4 3 2\n";
    let bench = Bench::with("m.mtx", matrix);
    let done = bench.run("cluster --data ./m.mtx --k 2 --format json");
    assert_eq!(done.json()["scores"], serde_json::json!({}));
    assert_eq!(done.json()["method"]["clusterer"]["distortion"], "cosine");
    // The same method by its name and in a file.
    bench.write("m.toml", "clusterer = \"kmeans\"\n");
    let unnamed = bench.run("cluster --data ./m.mtx --k 2 --out -").out;
    for line in ["--clusterer kmeans", "--method m.toml"] {
        assert!(unnamed == bench.run(&format!("cluster --data ./m.mtx --k 2 --out - {line}")).out);
    }
    let plain = "--clusterer {type=\"kmeans\",distortion=\"squared_euclidean\"}";
    let plain = bench.run(&format!("cluster --data ./m.mtx --k 2 --out - {plain}")).out;
    assert_ne!(plain, unnamed);
    let summary = bench.run("cluster --data ./m.mtx --k 2").out;
    assert!(summary.contains("method       kmeans (cosine distances)\n"), "{summary}");
}

#[test]
fn classes_known_of_some_objects_are_not_taken_for_all() {
    let rows =
        |i: usize| format!("{i},{},{}\n", 10 * (i % 4), if i < 4 { ["a", "b"][i % 2] } else { "" });
    let text: String = (0..24).map(rows).collect();
    let bench = Bench::with("n.csv", "id,x,kind\n".to_string() + &text);
    let line =
        "cluster --data n.csv --id id --labels kind --clusterer pck_means --profile p --plot f";
    let done = bench.run(&format!("{line} --format json"));
    let warning = "k = 2, the number of classes of the 4 of 24 objects whose class is known; there may be more: --k sets \
                   their number";
    assert_eq!(done.json()["warnings"][0], warning);
    // What is known of a cluster has its own count, and objects without a class their own mark.
    let clusters = bench.read("p/clusters.csv");
    let known: usize = clusters
        .lines()
        .skip(1)
        .map(|l| l.split(',').nth(2).unwrap().parse::<usize>().unwrap())
        .sum();
    assert!(
        clusters.starts_with("cluster,objects,known,class,share_of_known,typical\n") && known == 4
    );
    assert!(bench.read("f/projection.svg").contains("class unknown"));
    // A block of labels is worth an answer for each object.
    let done = bench.run("recommend --data n.csv --id id --labels kind");
    assert!(done.out.contains("\n4 answers\n"), "{}", done.out);
}

#[test]
fn data_whose_distances_mislead_are_warned_about() {
    let bench = Bench::new();
    let warned = |line: &str| {
        let done = bench.run(&format!("cluster {line} --k 2 --clusterer kmeans --format json"));
        assert_eq!(done.status, 0, "{}", done.err);
        done.json()["warnings"].clone()
    };
    let table = |name: &str, n: usize, header: &str, row: &dyn Fn(usize) -> String| {
        let rows: String = (0..n).map(|i| row(i) + "\n").collect();
        bench.write(name, format!("{header}\n{rows}"));
    };
    let (large, small) =
        (|i: usize| 20_000 + (i * 7919) % 60_000, |i: usize| (i * 31 % 97) as f64 / 97.0);
    table("f.csv", 60, "income,ratio", &|i| format!("{},{}", large(i), small(i)));
    let scale = "100 % of the variance comes from 1 of 2 features (income), which decide nearly all distances. Bring all to one scale with --set \
                 'transforms=[\"z_score\"]'";
    assert_eq!(warned("--data f.csv"), serde_json::json!([scale]));
    assert_eq!(warned("--data f.csv --set transforms=[\"z_score\"]"), serde_json::json!([]));
    assert_eq!(warned("--data iris"), serde_json::json!([]));
    assert_eq!(warned("--data digits"), serde_json::json!([]));
    // Words beside numbers, with the remedy that keeps the words.
    table("w.csv", 60, "income,colour", &|i| format!("{},{}", large(i), ["red", "blue"][i % 2]));
    let said = warned("--data w.csv --set transforms=[\"one_hot\"]").to_string();
    assert!(
        said.contains("1 of 2 features (income)") && said.contains(r#"one_hot\",\"z_score"#),
        "{said}"
    );
    // More features than objects; and genes in rows, which differ in what all cells have in common.
    let names: Vec<String> = (0..60).map(|c| format!("c{c}")).collect();
    let noise = |i: usize, c: usize| ((i * 389 + c * 733) * 7919 % 1009) as f64 + 0.5;
    let cells = |i: usize, base: f64| {
        (0..60).map(|c| (base + noise(i, c)).to_string()).collect::<Vec<_>>().join(",")
    };
    table("wide.csv", 40, &names.join(","), &|i| cells(i, 0.0));
    assert!(warned("--data wide.csv").to_string().contains("60 features for 40 objects"));
    table("genes.csv", 90, &names.join(","), &|i| cells(i, 900.0 * (i % 7) as f64));
    assert!(warned("--data genes.csv").to_string().contains("transpose the table"));
}
