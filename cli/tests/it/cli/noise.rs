//! Objects in no cluster.

use super::support::Bench;

/// Two dense groups, and two objects far from all; the first of them comes first.
fn bench() -> Bench {
    let mut text = String::from("id,u,v,kind\nfar,50,50,p\n");
    for i in 0..8 {
        text += &format!("a{i},{},{},p\nb{i},{},{},q\n", i % 3, i / 3, 20 + i % 3, i / 3);
    }
    Bench::with("d.csv", text + "off,-40,30,q\n")
}

#[test]
fn noise_is_minus_one_in_files_and_counted_in_summaries() {
    let bench = bench();
    for clusterer in [
        "hdbscan",
        "fosc",
        "{type=\"hdbscan\",noise=\"one_cluster\"}",
        "{type=\"dbscan\",radius=2.5}",
        "{type=\"optics\",radius=2.5}",
    ] {
        let line = "cluster --data d.csv --id id --class kind --out l.csv --quiet --clusterer";
        let done = bench.run(&format!("{line} {clusterer}"));
        assert_eq!(done.status, 0, "{clusterer}: {}", done.err);
        let labels = bench.read("l.csv");
        assert!(labels.starts_with("id,label\nfar,-1\na0,0\nb0,1\n"), "{clusterer}: {labels}");
        assert!(labels.ends_with("off,-1\n"), "{clusterer}: {labels}");
        assert!(done.out.contains("clusters     2 (8 and 8 objects)\nnoise        2 objects, -1"));
        assert!(done.out.contains("; noise is left out, 2 objects"), "{}", done.out);
        let json = bench.run(&format!("{line} {clusterer} --format json")).json();
        assert_eq!((&json["k"], &json["noise"]), (&2.into(), &2.into()));
        // As the file of labels is scored.
        let score = bench
            .run("score --truth d.csv --truth-column kind --id id --labels l.csv --metric ari");
        assert!(score.err.contains("left out: 2 objects without a label"), "{}", score.err);
        assert!(score.out == "ari 1\n" && json["scores"]["ari"] == 1.0, "{}", score.out);
    }
}

/// A must-link between two objects of noise is broken, even where they share a label within the program.
#[test]
fn objects_of_noise_are_apart() {
    let bench = bench();
    bench.write("p.csv", "i,j,type\nfar,off,must_link\na0,far,cannot_link\n");
    let line = "cluster --data d.csv --id id --class kind --constraints p.csv --violations v.csv --clusterer \
                {type=\"dbscan\",radius=2.5,noise=\"one_cluster\"} --format json";
    let json = bench.run(line).json();
    assert_eq!(json["violations"], serde_json::json!({ "must": 1, "cannot": 0 }));
    let listed = "i,j,type,weight,status,source\nfar,off,must_link,1,broken,p.csv\n";
    assert_eq!(bench.read("v.csv"), listed);
}

#[test]
fn new_objects_near_noise_are_noise() {
    let bench = bench();
    let line = "cluster --data d.csv --id id --ignore kind --clusterer hdbscan --save-model m.json --profile \
                profile --plot plot";
    let done = bench.run(line);
    assert_eq!(done.status, 0, "{}", done.err);
    assert_eq!(bench.read("profile/clusters.csv").lines().count(), 3);
    bench.write("new.csv", "id,u,v\nu,49,50\nv,1,0\nw,20,1\n");
    let predict = "predict --model m.json --data new.csv --id id";
    let done = bench.run(predict);
    assert_eq!(done.out, "id,label\nu,-1\nv,0\nw,1\n", "{}", done.err);
    assert!(done.err.contains("2 (1 and 1 object)\nnoise        1 object, -1 in"), "{}", done.err);
    assert_eq!(bench.run(&format!("{predict} --assign-noise")).out, "id,label\nu,1\nv,0\nw,1\n");
    let line_of_classes =
        "cluster --data d.csv --id id --class kind --clusterer hdbscan --save-model c.json";
    assert_eq!(bench.run(line_of_classes).status, 0);
    let predict = "predict --model c.json --data new.csv --id id --classes";
    assert_eq!(bench.run(predict).out, "id,label,class\nu,-1,noise\nv,0,p\nw,1,q\n");
    let json = bench.run(&format!("{predict} --format json")).json();
    assert_eq!((&json["noise"], &json["objects"][0]["class"]), (&1.into(), &"noise".into()));
    // A model needs a cluster.
    let all = bench.run(&line.replace("hdbscan", "{type=\"dbscan\",radius=0.1}"));
    assert!(all.status == 2 && all.err.contains("every object is noise"), "{}", all.err);
    let all = bench
        .run("cluster --data d.csv --id id --class kind --clusterer {type=\"dbscan\",radius=0.1}");
    assert!(all.out.contains("clusters     0"), "{} {}", all.out, all.err);
}
