//! `cluster --pairs`: clusters of objects from judged pairs alone.

use super::support::Bench;

/// Two groups that one doubtful verdict joins.
const SCORED: &str = "id_l,id_r,match_probability\na,b,0.95\nb,c,0.9\na,c,0.9\nc,d,0.6\nd,e,0.99\nb,e,0.1\na,d,0.3\n";

#[test]
fn a_wrong_verdict_is_overruled_and_asked_about() {
    let bench = Bench::with("scored.csv", SCORED);
    let line =
        "cluster --pairs scored.csv --out l.csv --violations v.csv --questions q.csv --budget 1";
    let done = bench.run(line);
    assert_eq!(done.status, 0, "{}", done.err);
    for said in [
        "pairs        scored: 5 objects, 7 pairs judged in 7 rows\n",
        "clusters     2 (3 and 2 objects)\n",
        "objective    0.4055, the optimum\n",
        "overruled    1 verdict for \"same\", 0 verdicts for \"different\"\n",
    ] {
        assert!(done.out.contains(said), "{}", done.out);
    }
    assert_eq!(bench.read("l.csv"), "id,label\na,0\nb,0\nc,0\nd,1\ne,1\n");
    let listed = bench.read("v.csv");
    let (head, row) = listed.split_once('\n').unwrap();
    assert_eq!(head, "i,j,type,weight,chain");
    assert!(row.starts_with("c,d,must_link,0.405") && row.ends_with(",c = b != e = d\n"), "{row}");
    assert_eq!(bench.read("q.csv"), "i,j,answer\nc,d,\n");
    // The answered sheet comes back and wins.
    bench.write("q.csv", "i,j,answer\nc,d,same\n");
    let json = bench.run("cluster --pairs scored.csv --constraints q.csv --format json").json();
    assert_eq!((&json["thresholds"][0]["k"], &json["objects"]), (&1.into(), &5.into()));
    assert_eq!(json["thresholds"][0]["overruled"], serde_json::json!({ "must": 0, "cannot": 2 }));
}

#[test]
fn several_thresholds_are_columns() {
    let bench = Bench::with("scored.csv", SCORED);
    let done = bench.run("cluster --pairs scored.csv --threshold .15,.5,.93,.50 --out l.csv");
    assert_eq!(done.status, 0, "{}", done.err);
    let expected = "id,threshold_0.15,threshold_0.5,threshold_0.93\n\
                    a,0,0,0\nb,0,0,0\nc,0,0,2\nd,0,1,1\ne,0,1,1\n";
    assert_eq!(bench.read("l.csv"), expected);
    assert!(
        done.out.contains("threshold    0.93\nclusters     3 (2, 2 and 1 object)\n"),
        "{}",
        done.out
    );
}

/// Cluster 0 has three objects and five rows; the other one has four objects.
#[test]
fn clusters_are_numbered_by_the_rows_of_the_file() {
    let bench = Bench::with("d.csv", "id,x\na,1\nb,2\nc,3\nd,4\ne,90\nf,91\ng,92\nh,92\ni,92\n");
    let done = bench.run(
        "cluster --data d.csv --id id --clusterer kmeans --k 2 --set transforms=[\"deduplicate\"] --out l.csv",
    );
    assert_eq!(done.status, 0, "{}", done.err);
    assert!(done.out.contains("clusters     2 (5 and 4 objects)\n"), "{}", done.out);
    let labels = bench.read("l.csv");
    assert!(labels.starts_with("id,label\na,1\n") && labels.ends_with("h,0\ni,0\n"), "{labels}");
}

#[test]
fn clusters_keep_their_numbers() {
    let bench = Bench::with("scored.csv", SCORED);
    bench.write("old.csv", "id,label\na,5\nb,5\nc,5\nd,5\nx,2\n");
    let done = bench.run("cluster --pairs scored.csv --previous old.csv --out l.csv");
    assert_eq!(done.status, 0, "{}", done.err);
    assert_eq!(bench.read("l.csv"), "id,label\na,5\nb,5\nc,5\nd,6\ne,6\n");
    let text = "previous     1 kept, 0 split, 0 joined, 1 new (6), 1 gone (2)\n";
    assert!(done.out.contains(text), "{}", done.out);
    // The labels of several thresholds go on column by column.
    let two = "cluster --pairs scored.csv --threshold 0.5,0.93 --out next.csv --previous two.csv";
    bench.write("two.csv", "id,threshold_0.5,threshold_0.93\na,3,1\nb,3,1\nc,3,2\nd,4,8\ne,4,8\n");
    let done = bench.run(two);
    assert_eq!(done.status, 0, "{}", done.err);
    let kept = "id,threshold_0.5,threshold_0.93\na,3,1\nb,3,1\nc,3,2\nd,4,8\ne,4,8\n";
    assert_eq!(bench.read("next.csv"), kept);
    let done = bench.run("cluster --pairs scored.csv --threshold 0.7 --previous two.csv");
    let said = "give one of them the name label: threshold_0.5, threshold_0.93\n";
    assert!(done.status == 3 && done.err.ends_with(said), "{}", done.err);
    let done = bench.run("score --truth old.csv --labels two.csv");
    let said = "name one with --labels-column: threshold_0.5, threshold_0.93\n";
    assert!(done.status == 3 && done.err.ends_with(said), "{}", done.err);
    // The same for clusters of data.
    bench.write("data.csv", "name,x\na,0\nb,1\ne,1\nc,9\nd,8\n");
    bench.write("old.csv", "id,label\na,5\nb,5\nc,5\nd,5\ne,5\n");
    let line = "cluster --data data.csv --id name --clusterer kmeans --k 2 --previous old.csv";
    let done = bench.run(&format!("{line} --out l.csv --format json"));
    assert_eq!(bench.read("l.csv"), "id,label\na,5\nb,5\ne,5\nc,6\nd,6\n");
    assert_eq!(done.json()["previous"]["split"], serde_json::json!([[6, 5]]));
    // A mistake in the file is reported before anything is computed.
    bench.write("words.csv", "id,label\na,x\n");
    let done = bench.run("cluster --data data.csv --id name --k 2 --dry-run --previous words.csv");
    assert!(done.status == 3 && done.err.contains("must be whole numbers"), "{}", done.err);
    let done = bench.run(&format!("{line} --profile p"));
    assert!(done.status == 2 && done.err.contains("cannot be used with"), "{}", done.err);
}

#[test]
fn answers_in_a_ledger_win() {
    let bench = Bench::with("scored.csv", SCORED);
    bench.write("records.csv", "name,x\na,1\nb,2\nc,3\nd,4\ne,5\n");
    bench.write("sheet.csv", "i,j,answer\nc,d,same\n");
    let done = bench.run(
        "label --data records.csv --id name --k 2 --selector random_pairs --clusterer pck_means --ledger l.jsonl \
         --import sheet.csv",
    );
    assert_eq!(done.status, 0, "{}", done.err);
    let json = bench.run("cluster --pairs scored.csv --ledger l.jsonl --format json").json();
    assert_eq!(json["thresholds"][0]["k"], 1);
    // Two answers that contradict each other cannot both win.
    bench.write("pairs.csv", "i,j,type\nc,d,cannot_link\n");
    bench
        .run("cluster --pairs scored.csv --ledger l.jsonl --constraints pairs.csv")
        .failed(3, "error: constraints: cannot-link c–d contradicts must-links c–d\n");
}

#[test]
fn answers_about_other_records_are_ignored() {
    let bench = Bench::with("scored.csv", SCORED);
    bench.write("old.csv", "i,j,answer\nc,d,same\nc,x,same\ny,z,different\n");
    let done = bench.run("cluster --pairs scored.csv --constraints old.csv --format json");
    assert!(
        done.err.contains(
            "warning: old.csv: ignored 2 answers about ids that no pair has, such as \"x\"\n"
        ),
        "{}",
        done.err
    );
    assert_eq!(done.json()["thresholds"][0]["k"], 1);
    let rows =
        "i,j,type\na,b,cannot_link\nx,b,must_link\nx,g,cannot_link_group\nd,g,cannot_link_group\n";
    bench.write("old.csv", rows);
    let done = bench.run("cluster --pairs scored.csv --constraints old.csv --format json");
    let said = "old.csv: ignored 2 constraints about ids that no pair has, such as \"x\"\n";
    assert!(done.err.contains(said), "{}", done.err);
    // The same in a ledger, which must refer to the ids.
    bench.write("records.csv", "name,x\nc,1\nd,2\nx,3\ny,4\nz,5\n");
    bench.write("sheet.csv", "i,j,answer\nc,d,same\nd,x,different\n");
    let label = "label --data records.csv --k 2 --selector random_pairs --clusterer pck_means";
    let done = bench.run(&format!("{label} --id name --ledger l.jsonl --import sheet.csv"));
    assert_eq!(done.status, 0, "{}", done.err);
    let done = bench.run("cluster --pairs scored.csv --ledger l.jsonl --format json");
    let said = "l.jsonl: ignored 1 answer about ids that no pair has, such as \"x\"\n";
    assert!(done.err.contains(said), "{}", done.err);
    assert_eq!(done.json()["thresholds"][0]["k"], 1);
    bench.write("sheet.csv", "i,j,answer\n0,1,same\n");
    let done = bench.run(&format!("{label} --ignore name --ledger r.jsonl --import sheet.csv"));
    assert_eq!(done.status, 0, "{}", done.err);
    let done = bench.run("cluster --pairs scored.csv --ledger r.jsonl");
    assert_eq!(done.status, 3, "{}", done.err);
    assert!(done.err.contains("refers to rows by number, but ids are needed"), "{}", done.err);
}

#[test]
fn sources_stay_apart() {
    let bench = Bench::with(
        "scored.csv",
        "left,right,source_left,source_right,verdict\na,b,x,y,same\nb,c,y,x,same\n",
    );
    let line = "cluster --pairs scored.csv --apart source --violations v.csv --format json";
    assert_eq!(bench.run(line).json()["thresholds"][0]["k"], 2);
    assert!(bench.read("v.csv").ends_with(" (both x)\n"), "{}", bench.read("v.csv"));
}

#[test]
fn options_about_data_have_no_meaning_without_data() {
    let bench = Bench::with("scored.csv", SCORED);
    for other in ["--data iris", "--k 3", "--clusterer kmeans", "--profile p", "--id x"] {
        let done = bench.run(&format!("cluster --pairs scored.csv {other}"));
        assert!(done.status == 2 && done.err.contains("cannot be used with"), "{}", done.err);
    }
    let done = bench.run("cluster --k 3");
    assert!(done.status == 2 && done.err.contains("--data <DATA>"), "{}", done.err);
    let done = bench.run("cluster --data iris --threshold 0.5");
    assert!(done.status == 2 && done.err.contains("cannot be used with"), "{}", done.err);
    bench
        .run("cluster --pairs scored.csv --threshold 1")
        .failed(2, "error: threshold: must be above 0 and below 1, got 1\n");
    bench.run("cluster --pairs scored.csv --out scored.csv").failed(
        2,
        "error: --out scored.csv: would overwrite the input --pairs scored.csv; name another file\n",
    );
}
