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
    // A study takes the number in the same way.
    let study = |k: &str| {
        let set =
            "[[dataset]]\nid = \"n\"\npath = \"n.csv\"\nid_column = \"id\"\ntarget = \"kind\"\n";
        let method = format!("[[method]]\nid = \"m\"\nclusterer = \"kmeans\"\n{k}");
        bench.write("s.toml", format!("[experiment]\nname = \"s\"\n{set}{method}"));
        bench.run("plan s.toml").out
    };
    let note = warning.replace("--k sets", "k under [[method]] sets");
    assert!(study("").contains(&format!("note: n: {note}\n")), "{}", study(""));
    assert!(!study("k = 2\n").contains("there may be more"), "{}", study("k = 2\n"));
    // So does a consensus.
    bench.write("p.csv", "one,two,class\nx,7,p\nx,7,\ny,9,q\ny,9,\n");
    let done = bench.run("consensus p.csv --consensus hbgf --format json");
    let said = warning.replace("4 of 24", "2 of 4");
    assert_eq!(done.json()["warnings"], serde_json::json!([said]), "{}", done.err);
}

#[test]
fn auto_finds_classes_of_which_no_object_is_known() {
    // Three groups; no object of the last one has a known class.
    let row = |i: usize| {
        let (group, at) = (i / 5, i % 5);
        let kind = if at < 3 { ["a", "b", ""][group] } else { "" };
        format!("{i},{}.{at},{}.{},{kind}\n", 10 * group, 7 * (group % 2), at * at % 5)
    };
    let text: String = (0..15).map(row).collect();
    let bench = Bench::with("n.csv", "id,x,y,kind\n".to_string() + &text);
    let line = "cluster --data n.csv --id id --labels kind";
    let done = bench.run(&format!("{line} --format json"));
    let warning = "k = 2, the number of classes of the 6 of 15 objects whose class is known; there may be more: --k sets \
                   their number, --clusterer auto --set clusterer.k_min=3 finds it";
    assert_eq!(done.json()["warnings"][0], warning);
    let (_, options) = warning.split_once("number, ").unwrap();
    let found = bench.run(&format!("{line} {}", options.strip_suffix(" finds it").unwrap())).out;
    let clusters =
        "cluster 0    a 3\ncluster 1    b 3\ncluster 2    no class is known\nconstraints";
    assert!(found.contains(clusters), "{found}");
    // Nine known classes need a larger range.
    let known = |i: usize| "abcdefghi".get(i..=i).unwrap_or_default();
    let rows: String = (0..20).map(|i| format!("{}.5,{}\n", i % 10, known(i))).collect();
    bench.write("m.csv", "x,kind\n".to_string() + &rows);
    let said = bench.run("cluster --data m.csv --labels kind --dry-run").err;
    assert!(said.contains("clusterer.k_min=10 --set clusterer.k_max=13"), "{said}");
}

#[test]
fn classes_beyond_the_shapes_share_one() {
    let rows: String =
        (0..27).map(|i| format!("{}.5,{}.25,c{}\n", 10 * (i % 9), i / 9, i % 9)).collect();
    let bench = Bench::with("n.csv", "x,y,class\n".to_string() + &rows);
    let done = bench.run("cluster --data n.csv --k 3 --clusterer kmeans --plot f");
    assert_eq!(done.status, 0, "{}", done.err);
    // Six shapes: five classes have their own.
    assert!(bench.read("f/projection.svg").contains("4 other classes"));
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
    // In a study, too, with the methods that take the values as they are.
    let method = |id: &str, more: &str| {
        format!("[[method]]\nid = \"{id}\"\nk = 2\nclusterer = \"kmeans\"\n{more}")
    };
    let methods = method("raw", "") + &method("scaled", "transforms = [\"z_score\"]\n");
    let set = "[[dataset]]\nid = \"f\"\npath = \"f.csv\"\n[scoring]\nmetrics = [\"silhouette\"]\n";
    bench.write("s.toml", format!("[experiment]\nname = \"s\"\n{set}{methods}"));
    let note = "note: f: raw: 100 % of the variance comes from 1 of 2 features (income), which decide nearly all \
                distances. Bring all to one scale with transforms = [\"z_score\"]\n";
    let (planned, ran) = (bench.run("plan s.toml").out, bench.run("run s.toml --out o").err);
    assert!(planned.contains(note) && ran.contains(note), "{planned}{ran}");
    assert_eq!(warned("--data iris"), serde_json::json!([]));
    // Principal components, which are not correlated, have one scale.
    table("c.csv", 60, "pc1,pc2", &|i| {
        format!("{},{}", [10_000.5, -10_000.5][i % 2], [0.25, -0.25][i / 2 % 2])
    });
    assert_eq!(warned("--data c.csv"), serde_json::json!([]));
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
    let said = warned("--data wide.csv").to_string();
    assert!(said.contains("60 features are too many") && said.contains("40 objects"), "{said}");
    table("genes.csv", 90, &names.join(","), &|i| cells(i, 900.0 * (i % 7) as f64));
    assert!(warned("--data genes.csv").to_string().contains("transpose the table"));
}

/// Only what a transform mends is no longer warned about.
#[test]
fn distances_that_transforms_do_not_mend_are_warned_about() {
    let bench = Bench::new();
    let table = |name: &str, n: usize, header: &str, row: &dyn Fn(usize) -> String| {
        let rows: String = (0..n).map(|i| row(i) + "\n").collect();
        bench.write(name, format!("{header}\n{rows}"));
    };
    let warned = |line: &str, steps: &str| {
        let steps = format!("--set transforms=[{steps}]");
        let line = format!("cluster --data {line} --k 2 --clusterer kmeans {steps} --format json");
        let done = bench.run(&line);
        assert_eq!(done.status, 0, "{}", done.err);
        done.json()["warnings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|w| format!("{w}\n"))
            .collect::<String>()
    };
    let noise = |i: usize, c: usize| ((i * 389 + c * 733) * 7919 % 1009) as f64 / 291.0 - 1.7;
    // Penguins in millimetres and grams.
    let sizes = [(40.0, 5.0), (17.0, 2.0), (200.0, 14.0), (4200.0, 800.0)];
    table("p.csv", 90, "bill_length,bill_depth,flipper_length,body_mass", &|i| {
        let cells =
            sizes.iter().enumerate().map(|(c, (m, s))| format!("{:.1}", m + s * noise(i, c)));
        cells.collect::<Vec<_>>().join(",")
    });
    let said = "100 % of the variance comes from 1 of 4 features (body_mass)";
    assert!(warned("p.csv", "").contains(said));
    let with_pca = warned("p.csv", "\"pca\"");
    assert!(with_pca.contains(said) && with_pca.contains(r#"[\"z_score\",\"pca\"]"#), "{with_pca}");
    for steps in ["\"z_score\"", "\"pca\",\"z_score\"", "\"min_max\",\"l2_rows\""] {
        assert_eq!(warned("p.csv", steps), "", "{steps}");
    }
    for set in ["iris", "digits"] {
        assert_eq!(warned(set, "\"pca\"") + &warned(set, "\"l2_rows\""), "", "{set}");
    }
    // One scale does not make features fewer; components are.
    let names: Vec<String> = (0..30).map(|c| format!("c{c}")).collect();
    table("wide.csv", 20, &names.join(","), &|i| {
        (0..30).map(|c| noise(i, c).to_string()).collect::<Vec<_>>().join(",")
    });
    let said =
        "30 features are too many for meaningful distances between 20 objects. Reduce them with ";
    let pca = r#"{type=\"pca\",components=10}"#;
    for steps in ["", "\"z_score\""] {
        let warning = warned("wide.csv", steps);
        let remedy = format!(r#"[\"z_score\",{pca}]"#);
        assert!(warning.contains(said) && warning.contains(&remedy), "{steps}: {warning}");
    }
    assert_eq!(warned("wide.csv", "\"z_score\",{type=\"pca\",components=5}"), "");
    // Words next to several numbers of one scale.
    let mixed = |scale: f64| {
        move |i: usize| {
            let numbers = (0..3).map(|c| (scale * noise(i, c)).to_string()).collect::<Vec<_>>();
            format!("{},{},{}", numbers.join(","), ["red", "blue"][i % 2], ["x", "y", "z"][i % 3])
        }
    };
    let names = "height,weight,age,colour,shape";
    table("large.csv", 60, names, &mixed(900.0));
    let said = "less than 1 % of the variance comes from the words (shape, colour), which hardly count next to the \
                numbers. Bring all to one scale with --set 'transforms=[\\\"one_hot\\\",\\\"z_score\\\"]'";
    let warning = warned("large.csv", "\"one_hot\"");
    assert!(warning.contains(said), "{warning}");
    table("small.csv", 60, names, &mixed(0.01));
    let warning = warned("small.csv", "\"one_hot\"");
    assert!(warning.contains("comes from the numbers ("), "{warning}");
    table("even.csv", 60, names, &mixed(0.7));
    for (set, steps) in [("even.csv", "\"one_hot\""), ("large.csv", "\"one_hot\",\"z_score\"")] {
        assert_eq!(warned(set, steps), "", "{set}");
    }
}
