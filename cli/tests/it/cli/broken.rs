//! Constraints that do not hold, one by one.

use super::support::Bench;

#[test]
fn broken_constraints_are_listed_with_where_they_come_from() {
    let bench = Bench::with(
        "d.csv",
        "id,x,known,photo\na,0,p,\nb,0.1,p,u\nc,0.2,,u\nd,9,q,\ne,9.1,,\nf,9.2,p,\n",
    );
    bench
        .write("p.csv", "i,j,type,weight\na,e,must_link,0.5\nd,e,cannot_link,2\na,b,must_link,1\n");
    let line = "cluster --data d.csv --id id --labels known --apart photo --constraints p.csv --k 2 --clusterer \
                kmeans --quiet --violations v.csv";
    let json = bench.run(&format!("{line} --format json")).json();
    let listed = bench.read("v.csv");
    let expected = "i,j,type,weight,status,source
a,e,must_link,0.5,broken,p.csv
d,e,cannot_link,2,broken,p.csv
a,f,must_link,1,broken,column known
b,f,must_link,1,broken,column known
d,f,cannot_link,1,broken,column known
b,c,cannot_link,1,broken,\"column photo, group u\"
";
    assert_eq!(listed, expected);
    assert_eq!(json["broken"].as_array().unwrap().len(), 6);
    assert_eq!(json["violations"], serde_json::json!({ "must": 3, "cannot": 3 }));
    assert_eq!(
        (&json["broken"][0]["i"], &json["broken"][0]["source"]),
        (&"a".into(), &"p.csv".into())
    );
    // The same pair in the file and in the column.
    bench.write("p.csv", "i,j,type\na,f,must_link\n");
    bench.run(line);
    assert!(bench.read("v.csv").contains("a,f,must_link,1,broken,p.csv; column known\n"));
}

/// The first row of an object was named, whichever row the constraint was about.
#[test]
fn broken_constraints_of_merged_rows_are_about_the_rows_of_their_source() {
    let bench =
        Bench::with("d.csv", "x,known,photo\n0,,\n0,p,u\n0.5,q,u\n9,,\n9,,\n9.5,,\n9.5,,v\n0,,v\n");
    bench.write("p.csv", "i,j,type\n1,4,must_link\n3,2,must_link\n");
    let line = "cluster --data d.csv --labels known --apart photo --constraints p.csv --k 2 --clusterer kmeans \
                --quiet --violations v.csv --set 'transforms=[\"deduplicate\"]'";
    let done = bench.run(line);
    assert_eq!(done.status, 0, "{}", done.err);
    let expected = "i,j,type,weight,status,source
1,4,must_link,1,broken,p.csv
2,3,must_link,1,broken,p.csv
1,2,cannot_link,1,broken,\"column known; column photo, group u\"
";
    assert_eq!(bench.read("v.csv"), expected);
}

#[test]
fn overruled_answers_are_listed() {
    let bench = Bench::with("d.csv", "id,x\na,0\nb,1\nc,9\n");
    bench.write("told.csv", "i,j,reply\n0,1,must_link\n1,2,must_link\n0,2,cannot_link\n");
    let line = "cluster --data d.csv --id id --k 2 --clusterer pck_means --selector random_pairs --budget 3 --oracle \
                {type=\"scripted\",file=\"told.csv\"} --violations v.csv --quiet";
    let done = bench.run(line);
    assert_eq!(done.status, 0, "{}", done.err);
    let listed = bench.read("v.csv");
    let overruled: Vec<&str> =
        listed.lines().filter(|l| l.ends_with(",overruled,answer")).collect();
    assert_eq!(overruled.len(), 1, "{listed}");
}

#[test]
fn a_soft_row_does_not_weaken_a_column() {
    let bench = Bench::with("d.csv", "id,x,known,photo\na,0,p,u\nb,0.1,q,u\nc,9,,\n");
    bench.write("p.csv", "i,j,type,weight,strength\na,b,cannot_link,1,soft\n");
    let line = "cluster --data d.csv --id id --k 2 --clusterer cop_kmeans --constraints p.csv";
    let alone = bench.run(&format!("{line} --ignore known,photo"));
    assert!(alone.err.contains("1 constraint marked soft is enforced as if hard"), "{}", alone.err);
    for columns in ["--ignore known --apart photo", "--ignore photo --labels known"] {
        let done = bench.run(&format!("{line} {columns}"));
        assert!(done.status == 0 && !done.err.contains("soft"), "{columns}: {}", done.err);
    }
}

#[test]
fn contradictions_say_where_each_side_comes_from() {
    let bench = Bench::with("d.csv", "id,x,known\na,0,p\nb,1,p\nc,9,q\n");
    bench.write("p.csv", "i,j,type\na,b,cannot_link\nb,c,must_link\n");
    let line = "cluster --data d.csv --id id --labels known --constraints p.csv --k 2 --clusterer pck_means";
    let done = bench.run(line);
    for said in [
        "cannot-link a–b (p.csv) contradicts must-links a–b (column known); ",
        "cannot-link a–c (column known) contradicts must-links a–b–c (column known, p.csv)",
    ] {
        assert!(done.err.contains(said), "{}", done.err);
    }
}

#[test]
fn one_constraint_is_counted_as_one() {
    let bench = Bench::with("d.csv", "id,x,y\na,9.5,8\nb,0.5,1\nc,9,8.5\nd,0,1.5\n");
    bench.write("p.csv", "i,j,type\na,c,must_link\n");
    let line =
        "cluster --data d.csv --id id --constraints p.csv --k 2 --clusterer pck_means --quiet";
    let done = bench.run(line);
    let said = "constraints  1 must-link (0 violated), 0 cannot-links (0 violated)\n";
    assert!(done.out.contains(said), "{}{}", done.out, done.err);
}

#[test]
fn a_consensus_lists_what_it_breaks() {
    let bench = Bench::with("p.csv", "id,one,two\na,0,0\nb,0,0\nc,1,1\nd,1,1\n");
    bench.write("c.csv", "i,j,type\na,c,must_link\na,b,must_link\n");
    let line = "consensus p.csv --id id --constraints c.csv --violations v.csv --quiet";
    let done = bench.run(line);
    assert!(
        done.out.contains("constraints  2: 1 must-link and 0 cannot-links violated"),
        "{}",
        done.out
    );
    assert_eq!(
        bench.read("v.csv"),
        "i,j,type,weight,status,source\na,c,must_link,1,broken,c.csv\n"
    );
}

#[test]
fn json_counts_what_it_does_not_list() {
    let rows: String = (0..70).map(|i| format!("{}.25,one\n", i * 7 % 70)).collect();
    let bench = Bench::with("d.csv", format!("x,photo\n{rows}"));
    let line = "cluster --data d.csv --apart photo --k 2 --clusterer kmeans --quiet --format json --violations v.csv";
    let json = bench.run(line).json();
    // 70 objects in two clusters: at least twice 35 · 34 / 2.
    let all = json["violations"]["cannot"].as_u64().unwrap();
    assert!(all >= 1190, "{all}");
    assert_eq!(json["broken"].as_array().unwrap().len(), 1000);
    assert_eq!(json["broken_left_out"], all - 1000);
    assert_eq!(bench.read("v.csv").lines().count() as u64, all + 1);
}

#[test]
fn a_session_lists_what_its_labels_break() {
    let bench = Bench::with("d.csv", "id,x\na,0\nb,1\nc,9\n");
    // Three objects in two clusters cannot all be apart.
    bench.write("apart.csv", "i,j,answer\na,b,different\nb,c,different\na,c,different\n");
    let line = "label --data d.csv --id id --k 2 --selector random_pairs --clusterer pck_means --ledger l.jsonl \
                --import apart.csv --out l.csv --violations v.csv";
    let done = bench.run(line);
    let said = "violate 1 of 3 constraints; v.csv lists them\n";
    assert!(done.status == 0 && done.err.contains(said), "{}", done.err);
    let listed = bench.read("v.csv");
    assert!(listed.starts_with("i,j,type,weight,status,source\n"), "{listed}");
    assert!(
        listed.lines().count() == 2 && listed.ends_with(",cannot_link,1,broken,answer\n"),
        "{listed}"
    );
}
