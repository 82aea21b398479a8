//! Models that are kept: new objects in the clusters of old ones.

use serde_json::{Value, json};

use super::support::{Bench, rows};

#[test]
fn new_objects_go_to_the_clusters_of_a_model() {
    let old = rows("width,length,class", |_, a, b, c| format!("{a},{b},{c}"));
    let bench = Bench::with("old.csv", &old);
    bench.write("m.toml", "k = 2\ntransforms = [\"z_score\"]\nclusterer = \"kmeans\"\n");
    let line = "cluster --data old.csv --method m.toml --out old_labels.csv --save-model m.json";
    assert_eq!(bench.run(line).status, 0);
    // The same objects, with other columns and in another order of columns.
    let flipped = rows("name,length,width", |i, a, b, _| format!("n{i},{b},{a}"));
    bench.write("new.csv", flipped);
    let done = bench.run("predict --model m.json --data new.csv --id name --out new_labels.csv");
    assert_eq!(done.status, 0, "{}", done.err);
    let labels = |file: &str| -> Vec<String> {
        let text = bench.read(file);
        text.lines().skip(1).map(|l| l.rsplit_once(',').unwrap().1.to_string()).collect()
    };
    assert_eq!(labels("new_labels.csv"), labels("old_labels.csv"));
    assert!(bench.read("new_labels.csv").starts_with("id,label\nn0,"));
    // Missing columns and files that are no model are named.
    bench.write("short.csv", "width\n1\n");
    let done = bench.run("predict --model m.json --data short.csv");
    assert!(done.err.contains("no column \"length\""), "{}", done.err);
    // What the model takes is a feature, however empty; decimal commas lack no transform.
    bench.write("gap.csv", "width,length\n1,\n");
    let done = bench.run("predict --model m.json --data gap.csv");
    assert!(done.err.contains("1 value is missing"), "{}", done.err);
    assert!(!done.err.contains("--labels"), "{}", done.err);
    bench.write("comma.csv", "width;length\n1,5;2,5\n");
    let done = bench.run("predict --model m.json --data comma.csv");
    assert!(done.err.ends_with("a decimal comma is read with --decimal ,\n"), "{}", done.err);
    bench.write("unit.csv", "width,length\n1 cm,2\n3 cm,4\n");
    let done = bench.run("predict --model m.json --data unit.csv");
    assert!(done.err.contains("write 1 cm as 1, in every cell"), "{}", done.err);
    assert!(!done.err.contains("has no transform"), "{}", done.err);
    // Both: what reads the commas, and that nothing in the model fills the gap.
    bench.write("both.csv", "width;length\n1,5;2,5\n;2\n");
    let done = bench.run("predict --model m.json --data both.csv");
    assert!(done.err.contains("read with --decimal ,; the model has no transform"), "{}", done.err);
    assert!(!done.err.contains("--set"), "{}", done.err);
    let done = bench.run("predict --model old.csv --data old.csv");
    assert!(
        done.err.contains("is not a saved model") && done.err.contains("--save-model"),
        "{}",
        done.err
    );
}

/// Regression test: a method without centres placed new objects by the nearest mean if that fitted its own objects.
#[test]
fn a_method_without_centres_places_by_the_nearest_object() {
    let line: String = (0..9).map(|i| format!("{},0.{i}\n", i as f64 / 2.0)).collect();
    let near: String = (0..9).map(|i| format!("{},0.{i}\n", 9.0 + i as f64 / 40.0)).collect();
    let bench = Bench::with("f.csv", format!("x,y\n{line}{near}"));
    bench.write("new.csv", "x,y\n6,0\n8,0\n");
    for clusterer in ["hierarchical", "spectral", "hdbscan", "plscan"] {
        let made =
            format!("cluster --data f.csv --k 2 --save-model m.json -q --clusterer {clusterer}");
        assert_eq!(bench.run(&format!("{made} --out own.csv")).status, 0);
        let own = bench.read("own.csv");
        let of_line = own.lines().nth(5).and_then(|l| l.split(',').nth(1)).map(String::from);
        let found = bench.run("predict --model m.json --data new.csv --quiet").out;
        let labels: Vec<_> = found.lines().skip(1).map(|l| l.split(',').nth(1)).collect();
        assert!(labels[0] == of_line.as_deref() && labels[1] != labels[0], "{clusterer}: {found}");
    }
}

#[test]
fn the_objects_of_a_model_stay_where_they_are() {
    // Two crescents side by side: not one for whose ends the nearest centre is their own.
    let moon = |i: usize, flip: f64, x: f64, y: f64| {
        let turn = std::f64::consts::PI * i as f64 / 29.0;
        format!("{},{}\n", x + flip * turn.cos(), y + flip * turn.sin())
    };
    let rows: String =
        (0..30).flat_map(|i| [moon(i, 1.0, 0.0, 0.0), moon(i, -1.0, 1.0, 0.3)]).collect();
    let bench = Bench::with("f.csv", format!("width,length\n{rows}"));
    let cluster = "cluster --data f.csv --k 2 --out own.csv --save-model m.json --quiet --clusterer \
                   '{type=\"hierarchical\",linkage=\"single\"}'";
    assert_eq!(bench.run(cluster).status, 0, "{}", bench.run(cluster).err);
    let done = bench.run("predict --model m.json --data f.csv --out new.csv");
    assert!(done.err.contains("the nearest object of the model\n"), "{}", done.err);
    assert!(done.err.contains("clusters     2 (30 and 30 objects)\n"), "{}", done.err);
    assert!(!done.err.contains("warning"), "{}", done.err);
    assert_eq!(bench.read("own.csv"), bench.read("new.csv"));
    // Far objects are said, and how far they are.
    bench.write("far.csv", "width,length\n0,1\n300,400\n");
    let far = bench.run("predict --model m.json --data far.csv --distances");
    assert!(far.err.contains("warning: 1 of 2 objects are farther from"), "{}", far.err);
    let line = far.out.lines().nth(2).unwrap();
    let distance: f64 = line.rsplit_once(',').unwrap().1.parse().unwrap();
    assert!((490.0..500.0).contains(&distance), "{line}");
    // A file that was edited by hand is no model.
    let saved: Value = serde_json::from_str(&bench.read("m.json")).unwrap();
    let few = "60 × 2 values of objects, expected 2 × 2";
    for (labels, said) in
        [(json!([0, 1]), few), (json!(vec![7; 60]), "an object of cluster 7, expected 0 to 1")]
    {
        let mut model = saved.clone();
        model["place"]["neighbours"]["labels"] = labels;
        bench.write("x.json", model.to_string());
        let done = bench.run("predict --model x.json --data f.csv");
        assert!(done.status == 3 && done.err.contains(said), "{}", done.err);
    }
    // The centre decides for k-means, whose objects are at the nearest.
    let kmeans = "cluster --data f.csv --k 2 --clusterer kmeans --out own.csv --save-model m.json";
    assert_eq!(bench.run(kmeans).status, 0);
    let done = bench.run("predict --model m.json --data f.csv --out new.csv");
    assert!(done.err.contains("the nearest centre\n"), "{}", done.err);
    assert_eq!(bench.read("own.csv"), bench.read("new.csv"));
}

/// Three groups of 100 rows, and one row far from all.
fn three_groups() -> Vec<String> {
    let mut state = 1u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1u64 << 31) as f64
    };
    let mut near = |centre: f64| centre + (0..4).map(|_| next()).sum::<f64>();
    let row = |at: usize| format!("r{at},{},{}", near(10.0 * (at / 100) as f64), near(0.0));
    (0..300).map(row).chain(["lone,-90,3".to_string()]).collect()
}

#[test]
fn a_class_that_the_model_has_not_seen_founds_a_cluster() {
    let rows = three_groups();
    let bench = Bench::with("old.csv", format!("id,x,y\n{}\n", rows[..200].join("\n")));
    bench.write("new.csv", format!("id,x,y\n{}\n", rows.join("\n")));
    let labels = |text: &str| -> Vec<String> {
        text.lines().skip(1).map(|l| l.split(',').nth(1).unwrap().to_string()).collect()
    };
    let cosine = "{type=\"kmeans\",distortion=\"cosine\"}";
    for (clusterer, least) in [("kmeans", 100), ("hierarchical", 85), ("hdbscan", 85), (cosine, 0)]
    {
        let cluster = format!(
            "cluster --data old.csv --id id --k 2 --clusterer {clusterer} --save-model m.json"
        );
        assert_eq!(bench.run(&cluster).status, 0, "{}", bench.run(&cluster).err);
        let predict = "predict --model m.json --data new.csv --id id --quiet";
        let (plain, open) = (bench.run(predict), bench.run(&format!("{predict} --open")));
        assert_eq!(open.status, 0, "{}", open.err);
        let (plain, open) = (labels(&plain.out), labels(&open.out));
        let is_new = |at: &usize| open[*at] == "2";
        assert!((200..300).filter(is_new).count() >= least, "{clusterer}: {open:?}");
        // The others keep their clusters, the lone one too: it is too few to found one.
        let moved = (0..301).filter(|at| open[*at] != plain[*at]);
        assert!(moved.into_iter().all(|at| is_new(&at) && (200..300).contains(&at)), "{clusterer}");
    }
    let made = "cluster --data old.csv --id id --k 2 --save-model m.json --clusterer";
    bench.run(&format!("{made} kmeans"));
    let predict = "predict --model m.json --data new.csv --id id --open";
    let done = bench.run(&format!("{predict} --out l.csv"));
    assert!(done.err.contains("and 100 objects), 1 new\n"), "{}", done.err);
    let json = bench.run(&format!("{predict} --format json")).json();
    assert_eq!((&json["new_clusters"], &json["sizes"][2]), (&json!(1), &json!(100)));
    // Nothing is new among the rows of the model.
    let json =
        bench.run("predict --model m.json --data old.csv --id id --open --format json").json();
    assert_eq!(json["new_clusters"], 0);
    // An older model, and models without one distance for all clusters.
    let mut model: Value = serde_json::from_str(&bench.read("m.json")).unwrap();
    model["place"].as_object_mut().unwrap().remove("limits");
    bench.write("m.json", model.to_string());
    let done = bench.run(predict);
    assert!(
        done.status == 2 && done.err.contains("cluster --save-model writes them"),
        "{}",
        done.err
    );
    model["place"]["limits"] = json!([1.0]);
    bench.write("m.json", model.to_string());
    let done = bench.run(predict);
    assert!(done.err.contains("1 limit of clusters, expected 2"), "{}", done.err);
    for (clusterer, said) in [("lac", "each cluster measures"), ("auto", "each method measures")] {
        assert_eq!(bench.run(&format!("{made} {clusterer}")).status, 0);
        let done = bench.run(predict);
        let way = format!("{said} distances in its own way; cluster again with --clusterer kmeans");
        assert!(done.status == 2 && done.err.contains(&way), "{}", done.err);
    }
}

#[test]
fn a_mixture_puts_new_objects_by_its_posterior() {
    // A narrow group beside a wide one: between them the nearer mean is not the likelier component.
    let row = |i: usize| match i % 2 {
        0 => format!("{},{},narrow\n", 0.01 * (i % 13) as f64, 0.01 * (i % 11) as f64),
        _ => format!("{},{},wide\n", 3.0 + 0.2 * (i % 17) as f64, 0.3 * (i % 19) as f64),
    };
    let rows: String = (0..200).map(row).collect();
    let bench = Bench::with("f.csv", format!("x,y,kind\n{rows}"));
    let cluster = "cluster --data f.csv --class kind --clusterer gaussian_mixture --out own.csv --save-model \
                   m.json --profile profile";
    let done = bench.run(cluster);
    assert_eq!(done.status, 0, "{}", done.err);
    assert!(done.out.contains("narrow 100\n") && done.out.contains("wide 100\n"), "{}", done.out);
    assert_eq!(
        bench.run(&format!("{cluster} --format json")).json()["crosstab"]["classes"][1],
        "wide"
    );
    let predict = "predict --model m.json --features x,y --probabilities --classes";
    let done = bench.run(&format!("{predict} --data f.csv --out new.csv"));
    assert!(done.err.contains("the largest posterior probability\n"), "{}", done.err);
    assert!(done.err.contains("100 (narrow)"), "{}", done.err);
    let new = bench.read("new.csv");
    let cut = |text: &str| -> Vec<String> {
        text.lines().map(|l| l.split(',').take(2).collect::<Vec<_>>().join(",")).collect()
    };
    assert_eq!(cut(&new), cut(&bench.read("own.csv")));
    assert!(new.starts_with("id,label,class,probability\n"), "{new}");
    // Nearer to the narrow mean, but some hundred of its standard deviations off.
    bench.write("between.csv", "x,y\n1.2,0.5\n");
    let done = bench.run(&format!("{predict} --data between.csv"));
    let cells: Vec<&str> = done.out.lines().nth(1).unwrap().split(',').collect();
    assert_eq!(cells[2], "wide", "{}", done.out);
    assert!(cells[3].parse::<f64>().unwrap() > 0.99, "{}", done.out);
    // The profile: x tells them apart, and the typical objects are of the cluster.
    let features = bench.read("profile/features.csv");
    assert!(
        features
            .starts_with("cluster,feature,mean,deviation,others,most_frequent,share,f_ratio\n0,x,")
    );
    assert_eq!(features.lines().count(), 1 + 3 * 2, "{features}");
    let clusters = bench.read("profile/clusters.csv");
    let own = bench.read("own.csv");
    for line in clusters.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!((cells[1], cells[2], cells[4]), ("100", "100", "1"), "{line}");
        for id in cells[5].split("; ") {
            assert!(own.contains(&format!("\n{id},{}\n", cells[0])), "{id} in {line}");
        }
    }
    // Other models have neither.
    let kmeans = "cluster --data f.csv --features x,y --k 2 --clusterer kmeans --out o.csv --save-model k.json";
    assert_eq!(bench.run(kmeans).status, 0);
    let refused = bench.run("predict --model k.json --data f.csv --features x,y --probabilities");
    assert!(
        refused.status == 2
            && refused.err.contains("gaussian_mixture and constrained_em give them"),
        "{}",
        refused.err
    );
    let refused = bench.run("predict --model k.json --data f.csv --features x,y --classes");
    assert!(
        refused.status == 2 && refused.err.contains("cluster again with --class"),
        "{}",
        refused.err
    );
}

#[test]
fn features_without_names_are_taken_by_place_with_a_word() {
    let matrix = "%%MatrixMarket matrix array real general\n4 2\n1\n1\n8\n9\n2\n3\n9\n9\n";
    let bench = Bench::with("a.mtx", matrix);
    bench.write("p.csv", "u,v\n1.5,2\n1,3\n8,9.5\n9,9\n");
    for (of, to, nameless) in [("a.mtx", "p.csv", "the model"), ("p.csv", "a.mtx", "a")] {
        let cluster = format!("cluster --data {of} --k 2 --clusterer kmeans --save-model m.json");
        assert_eq!(bench.run(&cluster).status, 0);
        let predict = "predict --model m.json --out labels.csv --data";
        let done = bench.run(&format!("{predict} {to}"));
        let said = format!("by position, because {nameless} has no names of features\n");
        assert!(done.status == 0 && done.err.contains(&said), "{}", done.err);
        let same = bench.run(&format!("{predict} {of}"));
        assert!(!same.err.contains("by their places"), "{}", same.err);
    }
}

#[test]
fn words_that_the_model_has_never_seen_are_named() {
    let bench = Bench::with("old.csv", "size,colour\n1.5,red\n1,red\n8,blue\n9.5,blue\n2,\n");
    let cluster = "cluster --data old.csv --k 2 --set transforms=[\"impute_missing\",\"one_hot\"] --clusterer kmeans \
                   --save-model m.json";
    let done = bench.run(cluster);
    assert_eq!(done.status, 0, "{}", done.err);
    bench.write("new.csv", "size,colour\n1.5,red\n2,green\n8,\n");
    let done = bench.run("predict --model m.json --data new.csv");
    let said = "warning: words that the model has never seen are ignored: colour green\n\
                warning: 1 missing value of 6 was filled in\n";
    assert!(done.status == 0 && done.err.contains(said), "{}", done.err);
    let same = bench.run("predict --model m.json --data old.csv");
    assert!(!same.err.contains("never seen"), "{}", same.err);
    // Words that are numbers, of rows in which there is no other word.
    bench.write("rooms.csv", "size,rooms\n1.5,2\n1,2\n8,3\n9.5,3\n2,many\n");
    let cluster = cluster.replace("old.csv", "rooms.csv").replace("\"impute_missing\",", "");
    assert_eq!(bench.run(&cluster).status, 0);
    bench.write("new.csv", "size,rooms\n1.5,2\n2,7\n8,7\n");
    let done = bench.run("predict --model m.json --data new.csv");
    let said = "warning: words that the model has never seen are ignored: rooms 7\n";
    assert!(done.status == 0 && done.err.contains(said), "{}", done.err);
}

#[test]
fn columns_are_named_that_are_not_as_they_were() {
    let bench = Bench::with("old.csv", "size,colour\n6,red\n1,blue\n7,red\n");
    for steps in [r#"["impute_missing","one_hot"]"#, r#"["one_hot","z_score"]"#] {
        let cluster = "cluster --data old.csv --k 2 --clusterer kmeans --save-model m.json --set";
        let done = bench.run(&format!("{cluster} transforms={steps}"));
        assert_eq!(done.status, 0, "{}", done.err);
        for (rows, said) in [
            ("1,1\n2,2\n", "column \"colour\" holds numbers, and words in the data that the model"),
            ("big,red\n2,blue\n", "column \"size\" holds words, and numbers in the data that the"),
        ] {
            bench.write("new.csv", format!("size,colour\n{rows}"));
            let done = bench.run("predict --model m.json --data new.csv");
            assert!(done.status == 3 && done.err.contains(said), "{}", done.err);
        }
    }
    // The last of these models has nothing that fills in a number; the words are none of its troubles.
    bench.write("new.csv", "size,colour\n,red\n2,blue\n");
    let done = bench.run("predict --model m.json --data new.csv");
    let said =
        "error: new.csv: 1 value is missing: line 2, column \"size\"; the model has no transform";
    assert!(done.status == 3 && done.err.starts_with(said), "{}", done.err);
}

/// Rows that a transform merged count one by one where clusters are named after classes, as in the scores.
#[test]
fn merged_rows_count_in_the_class_of_their_cluster() {
    let many = "0,0,p\n".repeat(5) + &"9,9,q\n".repeat(4);
    let bench = Bench::with("f.csv", format!("a,b,kind\n{many}0,1,q\n1,0,q\n9,8,p\n8,9,p\n"));
    let line = "cluster --data f.csv --class kind --k 2 --save-model m.json --profile profile \
                --set 'transforms=[\"min_max\",\"deduplicate\"]' --clusterer kmeans";
    let done = bench.run(line);
    assert_eq!(done.status, 0, "{}", done.err);
    assert!(done.out.contains("p 5, q 2\n") && done.out.contains("q 4, p 2\n"), "{}", done.out);
    let clusters = bench.read("profile/clusters.csv");
    assert!(clusters.contains(&format!(",7,p,{}", 5.0 / 7.0)), "{clusters}");
    // Features are as they stand in the file, all its rows.
    let features = bench.read("profile/features.csv");
    assert!(features.contains(&format!(",a,{},", 1.0 / 7.0)), "{features}");
    bench.write("new.csv", "a,b\n0,0\n9,9\n");
    let done = bench.run("predict --model m.json --data new.csv --classes --quiet");
    let class = |line: &str| line.split(',').nth(2).unwrap_or_default().to_string();
    assert_eq!(done.out.lines().map(class).collect::<Vec<_>>(), ["class", "p", "q"]);
}

#[test]
fn predictions_can_be_read_by_machines() {
    let bench = Bench::with("old.csv", "x,y\n1.5,2\n1,3\n8,9.5\n9,9\n");
    let cluster = "cluster --data old.csv --k 2 --clusterer kmeans --save-model m.json";
    assert_eq!(bench.run(cluster).status, 0);
    bench.write("new.csv", "id,x,y\na,1,2\nb,NA,9\nc,8,9\nd,8,n.a.\ne,800,900\n");
    let predict = "predict --model m.json --data new.csv --id id";
    assert_eq!(bench.run(predict).status, 3);
    let skip = format!("{predict} --skip-bad bad.csv");
    let done = bench.run(&skip);
    assert_eq!(done.status, 0, "{}", done.err);
    let labels: Vec<&str> = done.out.lines().skip(1).collect();
    let [a, c, e] = labels[..] else { panic!("{}", done.out) };
    assert!(c[2..] == e[2..] && a[2..] != c[2..] && a.starts_with("a,"), "{}", done.out);
    assert_eq!(bench.read("bad.csv"), "id,x,y\nb,,9\nd,8,n.a.\n");
    assert!(done.err.contains("warning: 2 rows left out, see bad.csv\n"), "{}", done.err);
    // Far objects have a status of their own, and the labels are there all the same.
    for (most, status) in [("0.2", 5), ("0.5", 0), ("1", 0)] {
        let done = bench.run(&format!("{skip} --max-far {most} --out labels.csv --quiet"));
        assert_eq!(done.status, status, "{most}: {}", done.err);
        assert!(bench.read("labels.csv").ends_with(&format!("{e}\n")));
    }
    assert_eq!(bench.run(&format!("{skip} --max-far 1.5")).status, 2);
    let json = bench.run(&format!("{skip} --format json --distances --quiet")).json();
    let facts = ["n", "noise", "far", "bad"].map(|fact| json[fact].as_u64().unwrap());
    assert_eq!(facts, [3, 0, 1, 2]);
    assert_eq!(
        (&json["objects"][1]["id"], json["objects"][1]["label"].to_string()),
        (&"c".into(), c[2..].into())
    );
    assert!(json["objects"][2]["distance"].as_f64().unwrap() > 1000.0);
    let json = bench.run(&format!("{skip} --format json --out labels.csv --quiet")).json();
    assert!(
        json["objects"].is_null()
            && json["warnings"][0].as_str().unwrap().starts_with("1 of 3 objects")
    );
}

#[test]
fn a_table_without_rows_has_no_labels() {
    let bench = Bench::with("old.csv", "x,y\n1.5,2\n1,3\n8,9.5\n9,9\n");
    let cluster = "cluster --data old.csv --k 2 --clusterer kmeans --save-model m.json";
    assert_eq!(bench.run(cluster).status, 0);
    bench.write("none.csv", "id,x,y\n");
    let predict = "predict --model m.json --data none.csv --id id";
    let done = bench.run(&format!("{predict} --distances --max-far 0"));
    assert_eq!((done.status, &*done.out), (0, "id,label,distance\n"), "{}", done.err);
    let json = bench.run(&format!("{predict} --format json --skip-bad bad.csv")).json();
    assert_eq!((&json["n"], &json["objects"]), (&0.into(), &serde_json::json!([])));
    // Other columns are other data, empty or not.
    bench.write("none.csv", "id,x,z\n");
    assert_eq!(bench.run(predict).status, 3);
    // Every row may be a bad one.
    bench.write("bad.csv", "id,x,y\na,NA,1\n");
    let done = bench.run(&format!("{predict} --skip-bad out.csv").replace("none", "bad"));
    assert_eq!((done.status, &*done.out), (0, "id,label\n"), "{}", done.err);
}

#[test]
fn words_in_columns_of_numbers_are_bad_rows_of_a_model_with_words() {
    let bench = Bench::with("old.csv", "size,colour\n1.5,red\n1,red\n8,blue\n9.5,blue\n2,\n");
    let cluster = "cluster --data old.csv --k 2 --set transforms=[\"impute_missing\",\"one_hot\"] --clusterer kmeans \
                   --save-model m.json";
    assert_eq!(bench.run(cluster).status, 0);
    bench.write("new.csv", "size,colour\n1.5,red\n2o,red\n,blue\n9,blue\n8.5,blue\n");
    let predict = "predict --model m.json --data new.csv";
    let done = bench.run(predict);
    assert!(
        done.status == 3 && done.err.contains("line 3, column \"size\" (\"2o\")"),
        "{}",
        done.err
    );
    let done = bench.run(&format!("{predict} --skip-bad bad.csv"));
    assert_eq!(done.status, 0, "{}", done.err);
    // Rows keep their numbers, whatever is left out before them.
    let ids: Vec<&str> = done.out.lines().map(|l| l.split(',').next().unwrap()).collect();
    assert_eq!(ids, ["id", "0", "2", "3", "4"]);
    assert_eq!(bench.read("bad.csv"), "id,size,colour\n1,2o,red\n");
}

#[test]
fn columns_that_the_model_uses_are_not_proposed_for_others() {
    let bench = Bench::with("old.csv", "size1,size2\n1.5,2\n1,3\n8,9.5\n9,9\n");
    let cluster = "cluster --data old.csv --k 2 --clusterer kmeans --save-model m.json";
    assert_eq!(bench.run(cluster).status, 0);
    bench.write("new.csv", "id,size1\na,1\n");
    let done = bench.run("predict --model m.json --data new.csv --id id");
    let said = "error: new.csv: no column \"size2\"; columns: id, size1\n";
    assert_eq!((done.status, &*done.err), (3, said));
}
