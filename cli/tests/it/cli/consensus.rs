//! `consensus`: partitions that somebody already has.

use super::support::Bench;

/// Six objects, three partitions with labels of any kind, one label missing.
const PARTITIONS: &str = "id,one,two,three,class\n\
a,x,7,red,p\nb,x,7,red,p\nc,x,,red,p\nd,y,9,red,q\ne,y,9,blue,q\nf,y,9,blue,q\n";

#[test]
fn partitions_become_one() {
    let bench = Bench::with("p.csv", PARTITIONS);
    let done = bench.run("consensus p.csv --out labels.csv --format json");
    let json = done.json();
    assert_eq!((&json["k"], &json["n"], &json["members"]), (&2.into(), &6.into(), &3.into()));
    assert_eq!((&json["missing"], &json["scores"]["ari"]), (&1.into(), &1.0.into()));
    assert!(json["mean_nmi"].as_f64().unwrap() > 0.7);
    // Object d is with e and f in 4 of 6 comparisons, e and f in 5; the missing label of c is not compared.
    assert_eq!(
        bench.read("labels.csv"),
        "id,label,item_consensus\na,0,1\nb,0,1\nc,0,1\nd,1,0.6666666666666666\n\
         e,1,0.8333333333333334\nf,1,0.8333333333333334\n"
    );
    assert!((json["item_consensus"].as_f64().unwrap() - 16.0 / 18.0).abs() < 1e-12, "{json}");
    let text = bench.run("consensus p.csv").out;
    assert!(text.contains("objects      mean item consensus 0.8889; 0 of 6 below 0.5\n"), "{text}");
    // Other commands read the labels as before.
    let scored = bench.run("score --truth p.csv --labels labels.csv --format json");
    assert_eq!(scored.status, 0, "{}", scored.err);
}

#[test]
fn every_function_of_labels_runs_by_name() {
    let bench = Bench::with("p.csv", PARTITIONS);
    for name in
        ["hbgf", "cspa", "hgpa", "mcla", "evidence_accumulation", "kcc", "best_member", "supra"]
    {
        let done = bench.run(&format!("consensus p.csv --consensus {name} --quiet --out -"));
        assert_eq!(done.status, 0, "{name}: {}", done.err);
        assert_eq!(done.out.lines().count(), 7, "{name}");
    }
}

#[test]
fn a_file_says_how_and_constraints_are_respected() {
    let bench = Bench::with("p.csv", PARTITIONS);
    bench.write("m.toml", "k = 2\n[consensus]\ntype = \"hbgf\"\nrespect_cannot_link = true\n");
    bench.write("pairs.csv", "i,j,type\na,b,cannot_link\n");
    let line = "consensus p.csv --method m.toml --constraints pairs.csv --format json \
                --set consensus.imbalance=0.4";
    let json = bench.run(line).json();
    assert_eq!(json["violations"], serde_json::json!({ "must": 0, "cannot": 0 }));
    assert_eq!(json["constraints"], 1);
    // Its file is checked and shown as others are.
    assert_eq!(bench.run("check m.toml").out, "m.toml: valid; a method of consensus\n");
    let shown = bench.run("config show m.toml").out;
    assert!(shown.contains("\nweight_scale = ") && !shown.contains("clusterer"), "{shown}");
    assert!(bench.run("config show m.toml --origin").out.contains("m.toml:1"));
    let cited = bench.run("cite m.toml");
    assert!(cited.status == 0 && cited.out.contains("hbgf"), "{}{}", cited.out, cited.err);
    bench.run("check m.toml --set consensus.imbalnce=1").failed(
        2,
        "error: --set consensus.imbalnce=1: consensus.imbalnce: unknown option of hbgf; did you mean \"imbalance\"?\n",
    );
}

/// As `cluster` counts them; they were missing from the number of constraints without a note.
#[test]
fn rows_of_weight_0_are_counted() {
    let bench = Bench::with("p.csv", PARTITIONS);
    bench.write("pairs.csv", "i,j,type,weight\na,b,must_link,1\nc,d,cannot_link,0\n");
    let line = "consensus p.csv --k 2 --consensus hbgf --constraints pairs.csv";
    let done = bench.run(line);
    assert_eq!(done.status, 0, "{}", done.err);
    let said = "note: pairs.csv: 1 row of weight 0 is ignored\n";
    assert!(done.err.contains(said), "{}", done.err);
    assert_eq!(bench.run(&format!("{line} --quiet")).err, "");
}

#[test]
fn an_object_in_no_partition_is_named() {
    let bench = Bench::with("p.csv", "id,one,two\na,x,1\nb,x,1\nc,,\nd,y,2\n");
    let done = bench.run("consensus p.csv");
    assert_eq!(done.status, 0, "{}", done.err);
    assert!(
        done.err.contains("warning: object c is in no partition, so its cluster is arbitrary"),
        "{}",
        done.err
    );
}

/// Their file had to be one of numbers alone, and its rows were taken for those of the partitions.
#[test]
fn the_objects_may_have_ids_and_then_they_agree() {
    let bench = Bench::with("p.csv", PARTITIONS);
    let rows = ["a,1,2.5", "b,1.5,2", "c,2,1", "d,8,7.5", "e,9,8", "f,8,9"];
    let data = |head: &str, rows: Vec<&str>| format!("{head}\n{}\n", rows.join("\n"));
    bench.write("d.csv", data("id,u,v", rows.to_vec()));
    let line = "consensus p.csv --k 2 --quiet";
    let done = bench.run(&format!("{line} --data d.csv"));
    assert_eq!(done.status, 0, "{}", done.err);
    bench.write("turned.csv", data("id,u,v", rows.iter().rev().copied().collect()));
    bench.run(&format!("{line} --data turned.csv")).failed(
        3,
        "error: turned: row 0 is f, and a in p.csv; the rows of both must be in the same order\n",
    );
    // What an option names may stand in one of the files alone.
    bench.write("named.csv", data("name,u,v", rows.to_vec()));
    let done = bench.run(&format!("{line} --data named.csv --ignore name"));
    assert_eq!(done.status, 0, "{}", done.err);
    bench.write("bare.csv", "one,two\nx,7\nx,7\nx,\ny,9\ny,9\ny,9\n");
    let line = "consensus bare.csv --k 2 --quiet --out -";
    let done = bench.run(&format!("{line} --data named.csv --id name"));
    assert!(
        done.out.starts_with("id,label,item_consensus\na,0,1\nb,0,1\n"),
        "{}\n{}",
        done.out,
        done.err
    );
    let nobody = bench.run(&format!("{line} --data named.csv --id nope"));
    assert!(nobody.err.starts_with("error: bare.csv: no column \"nope\""), "{}", nobody.err);
}

#[test]
fn what_cannot_be_is_said() {
    let bench = Bench::with("p.csv", "one,two\n1,a\n2,a\n2,b\n");
    bench
        .run("consensus p.csv --consensus hbgf")
        .failed(2, "error: hbgf needs the number of clusters; give --k or the option k\n");
    let near = bench.run("consensus p.csv --consensus hbfg --k 2");
    assert_eq!(near.status, 2);
    assert!(near.err.contains("did you mean \"hbgf\"?"), "{}", near.err);
    let soft = bench.run("consensus p.csv --consensus wbpa --k 2");
    assert_eq!(soft.status, 2);
    assert!(
        soft.err.contains("members that have distances, centres or memberships"),
        "{}",
        soft.err
    );
    let large = bench.run("consensus p.csv --consensus cspa --set consensus.max_n=2 --k 2");
    assert!(large.err.contains("hbgf"), "{}", large.err);
    for error in [&soft.err, &large.err] {
        assert!(error.starts_with("error: consensus: must be used with "), "{error}");
    }
    let memory = bench.run("consensus p.csv --consensus cspa --memory-limit 10 --k 2");
    assert_eq!(memory.status, 2);
    assert!(memory.err.contains("more than the limit"), "{}", memory.err);
}

/// Beyond 10 000 objects the default cut parts of equal size, for example 3357, 3324 and 3320.
#[test]
fn members_that_agree_are_returned_at_any_size() {
    let rows = |n: usize| -> String {
        let group = |i: usize| usize::from(i >= n - 1000) + usize::from(i >= n - 300);
        (0..n).map(|i| format!("{0},{1},{1}\n", group(i), (group(i) + 1) % 3)).collect()
    };
    let bench = Bench::with("p.csv", format!("a,b,c\n{}", rows(20_001)));
    bench.write("pairs.csv", "i,j,type\n0,1,must_link\n");
    for constraints in ["", " --constraints pairs.csv"] {
        let done = bench.run(&format!("consensus p.csv --k 3 --format json{constraints}"));
        let json = done.json();
        assert_eq!((&json["k"], &json["mean_nmi"]), (&3.into(), &1.0.into()), "{}", done.err);
        assert!(!done.err.contains("agrees less"), "{}", done.err);
        let said = "note: consensus = \"voting\", since all partitions have k clusters; --consensus chooses another\n";
        assert!(done.err.contains(said), "{}", done.err);
    }
    let done = bench.run("consensus p.csv --k 2 --constraints pairs.csv");
    let unused = "note: consensus = \"mcla\", since k is given; it does not use the constraints, but --consensus hbgf does\n";
    assert!(done.status == 0 && done.err.contains(unused), "{}", done.err);
    let done = bench.run("consensus p.csv --k 2");
    let said = "note: consensus = \"mcla\", since k is given; it can lose small groups; --consensus chooses another\n";
    assert!(done.status == 0 && done.err.contains(said), "{}", done.err);
    // A function that does not read them cannot promise that one holds.
    bench.write("pairs.csv", "i,j,type,strength\n0,1,must_link,hard\n");
    let done = bench.run("consensus p.csv --k 3 --constraints pairs.csv");
    assert!(done.status == 0 && done.err.contains("note: consensus = \"hbgf\""), "{}", done.err);
    // A function that an option makes cut equal parts contradicts them, and that is said.
    let done = bench.run("consensus p.csv --k 3 --consensus hbgf --set consensus.imbalance=0.03");
    let said = "warning: the result agrees less with the partitions than they do with each other";
    assert!(done.err.contains(said), "{}", done.err);
}

/// Only `consensus` and Python warned of it.
#[test]
fn clusterers_that_contradict_their_members_are_warned_of() {
    let row = |i: usize| format!("{}.5,{}.25\n", if i < 90 { i } else { 10_000 + i }, i % 7);
    let bench = Bench::with("f.csv", format!("x,y\n{}", (0..100).map(row).collect::<String>()));
    let said = "the result agrees less with the partitions than they do with each other";
    let equal = |name: &str| format!("consensus={{type=\"{name}\",imbalance=0.03}}");
    let generator = "generator={type=\"random_init\",members=5}";
    let ensemble = format!("{{type=\"ensemble\",{generator},{}}}", equal("hbgf"));
    let penta = format!("{{type=\"penta_training\",{}}}", equal("wbpa"));
    for clusterer in [&ensemble, &penta] {
        let done = bench.run(&format!("cluster --data f.csv --k 2 --clusterer {clusterer}"));
        assert!(done.status == 0 && done.err.contains(said), "{clusterer}: {}", done.err);
    }
    // Members with more clusters are finer on purpose.
    let finer = "{type=\"ensemble\",generator={type=\"random_k\",members=5},consensus=\"hbgf\"}";
    let done = bench.run(&format!("cluster --data f.csv --k 2 --clusterer {finer}"));
    assert!(done.status == 0 && !done.err.contains(said), "{}", done.err);
    // In the command as in the clusterer.
    bench.write("finer.csv", "one,two\nw,d\nw,d\nx,e\nx,e\ny,f\ny,f\nz,g\nz,g\n");
    let done = bench.run("consensus finer.csv --k 2");
    assert!(done.status == 0 && !done.err.contains(said), "{}", done.err);
    // In a study the row says it.
    let set = "[[dataset]]\nid = \"f\"\npath = \"f.csv\"\n[scoring]\nmetrics = [\"silhouette\"]\n";
    let method = format!("[[method]]\nid = \"m\"\nk = 2\nclusterer = {ensemble}\n");
    bench.write("s.toml", format!("[experiment]\nname = \"s\"\n{set}{method}"));
    assert_eq!(bench.run("run s.toml --out o --quiet").status, 0);
    assert!(bench.read("o/results.csv").contains(said), "{}", bench.read("o/results.csv"));
}

/// With mcla the adjusted Rand index is .28, since noise decides which small clusters are merged.
#[test]
fn small_groups_next_to_a_large_one_survive_noise() {
    let mut state = 7u32;
    let mut draw = |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % below
    };
    let mut row = |i: usize| {
        let class = (i % 100).saturating_sub(94) as u32;
        let mut label = || if draw(5) == 0 { draw(6) } else { class };
        let labels: Vec<String> = (0..6).map(|_| label().to_string()).collect();
        format!("{},{class}\n", labels.join(","))
    };
    let rows: String = (0..1000).map(&mut row).collect();
    let bench = Bench::with("p.csv", format!("a,b,c,d,e,f,class\n{rows}"));
    let json = bench.run("consensus p.csv --k 6 --format json").json();
    assert!(json["scores"]["ari"].as_f64().unwrap() > 0.8, "{json}");
}

/// Functions that only prefer the constraints reported nothing.
#[test]
fn constraints_that_contradict_each_other_are_warned_of() {
    let bench = Bench::with("p.csv", PARTITIONS);
    bench.write("pairs.csv", "i,j,type\na,b,must_link\nb,c,must_link\na,c,cannot_link\n");
    let line = "consensus p.csv --id id --k 2 --constraints pairs.csv --consensus";
    for name in ["hbgf", "cspa", "lwgp", "hgpa"] {
        let done = bench.run(&format!("{line} {name}"));
        let said = "warning: constraints: cannot-link a–c contradicts must-links a–b–c\n";
        assert!(done.status == 0 && done.err.contains(said), "{name}: {}", done.err);
    }
}

#[test]
fn fewer_clusters_than_asked_for_are_said() {
    let bench = Bench::with("p.csv", "one,two\nx,7\nx,7\nx,7\ny,9\ny,9\ny,9\n");
    let done = bench.run("consensus p.csv --k 3 --consensus kcc");
    let said = "warning: consensus: k = 3 was requested, but kcc found only 2 of them\n";
    assert!(done.err.contains(said), "{}", done.err);
    // All partitions have three clusters, and no object is in the third of two of them.
    bench.write("votes.csv", "one,two,three\na,a,a\na,a,a\na,c,a\nc,a,a\nb,b,b\nb,b,b\nb,b,c\n");
    for consensus in ["", " --consensus voting"] {
        let done = bench.run(&format!("consensus votes.csv --k 3{consensus}"));
        let said = "warning: consensus: k = 3 was requested, but voting found only 2 of them\n";
        assert!(done.status == 0 && done.err.contains(said), "{}", done.err);
    }
}

/// As everywhere: the first example of the help ended with an error.
#[test]
fn an_imputation_takes_the_number_of_classes() {
    let bench = Bench::new();
    let line = "impute --data iris --generator {type=\"random_init\",members=5} --format json";
    let done = bench.run(line);
    assert_eq!(done.status, 0, "{}", done.err);
    assert_eq!(done.err, "note: k = 3, the number of classes; --k chooses another\n");
    let given = bench.run(&format!("{line} --k 3"));
    assert_eq!(done.json()["must_link"], given.json()["must_link"]);
    // It says what it is of.
    let json = given.json();
    assert_eq!((&json["data"]["name"], &json["k"]), (&"iris".into(), &3.into()));
    assert_eq!((&json["generator"]["members"], &json["seed"]), (&5.into(), &0.into()));
    // What is wrong is told by the option that was given, and before the members are made.
    bench.run("impute --data iris --generator {type=\"bootstrap\",member=3}").failed(
        2,
        "error: --generator {type=\"bootstrap\",member=3}: generator.member: unknown option of bootstrap; did \
         you mean \"members\"?\n",
    );
    bench.write("m.toml", "selector = \"committee\"\n");
    let none = bench.run("impute --data iris --method m.toml");
    assert!(
        none.status == 2 && none.err.contains("for example --generator subsample"),
        "{}",
        none.err
    );
    bench.run(&format!("{line} --kappa-must 0.2 --kappa-cannot 0.5")).failed(
        2,
        "error: --kappa-must 0.2 and --kappa-cannot 0.5: must be 0 <= kappa-cannot < kappa-must <= 1\n",
    );
    // Named as it was given, once the pairs are counted.
    let most = bench
        .run("impute --data iris --k 3 --generator random_init --max-pairs 10 --out pairs.csv");
    assert_eq!(most.status, 2, "{}", most.err);
    assert!(
        most.err.starts_with("error: --max-pairs: must be at least ")
            && most.err.ends_with(", the number of imputed pairs, got 10\n"),
        "{}",
        most.err
    );
    assert!(!bench.path("pairs.csv").exists());
    // Without the file they had no effect, and nothing said so.
    for option in ["--max-pairs 10", "--kinds both"] {
        let ignored = bench.run(&format!("{line} --k 3 {option}"));
        assert!(ignored.status == 2 && ignored.err.contains("--out <FILE>"), "{}", ignored.err);
    }
    // One that needs no number is given none.
    let free = bench.run("impute --data iris --generator {type=\"random_k\",members=5}");
    assert!(free.status == 0 && free.err.is_empty(), "{}", free.err);
}

/// Members that leave objects out have no agreement with the classes of all.
#[test]
fn members_may_leave_objects_out_of_an_imputation() {
    let bench = Bench::new();
    let generator = "{type=\"subsample\",members=5,out_of_sample=\"leave_out\"}";
    let line = format!("impute --data iris --k 3 --generator {generator} --out pairs.csv");
    let done = bench.run(&line);
    assert_eq!(done.status, 0, "{}", done.err);
    assert!(bench.read("pairs.csv").lines().count() > 100, "{}", done.out);
    // Nobody counts who saw a pair without --co-presence.
    let done = bench.run(&format!("{line} --min-presence 3"));
    assert!(done.status == 2 && done.err.contains("--co-presence"), "{}", done.err);
    assert_eq!(bench.run(&format!("{line} --min-presence 3 --co-presence")).status, 0);
}

#[test]
fn figures_come_with_their_numbers() {
    let bench = Bench::with("p.csv", PARTITIONS);
    let pictures = if cfg!(feature = "figures") { " --plot-format png,pdf" } else { "" };
    let done = bench.run(&format!("consensus p.csv --plot figures --quiet{pictures}"));
    assert_eq!(done.status, 0, "{}", done.err);
    let starts = |file: &str, with: &[u8]| {
        std::fs::read(bench.path(&format!("figures/consensus-{file}"))).unwrap().starts_with(with)
    };
    for name in ["co-association", "counts", "members"] {
        let svg = bench.read(&format!("figures/consensus-{name}.svg"));
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"), "{name}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name}");
        if cfg!(feature = "figures") {
            assert!(starts(&format!("{name}.png"), b"\x89PNG"), "{name}");
            assert!(starts(&format!("{name}.pdf"), b"%PDF-"), "{name}");
        }
    }
    let map = bench.read("figures/consensus-co-association.svg");
    assert!(map.contains(">1: together in all members</text>"), "{map}");
    // Objects a and b are together in all 3; d, red as a is, comes last in its group.
    let map = bench.read("figures/consensus-co-association.csv");
    assert_eq!(map.lines().count(), 1 + 6 * 6);
    assert!(
        map.contains("\n0,1,1,1,1\n") && map.contains("\n0,5,1,1,0.3333333333333333\n"),
        "{map}"
    );
    let counts = bench.read("figures/consensus-counts.csv");
    let row = |line: &str| line.split(',').map(|v| v.parse().unwrap()).collect::<Vec<u64>>();
    let rows: Vec<Vec<u64>> = counts.lines().skip(1).map(row).collect();
    assert_eq!(rows.iter().map(|r| r[2]).sum::<u64>(), 15);
    assert_eq!(rows.iter().map(|r| r[3]).sum::<u64>(), 6);
    let members = bench.read("figures/consensus-members.csv");
    assert!(members.starts_with("member,name,diversity,quality\n0,one,"), "{members}");
    assert_eq!(members.lines().count(), 4);
    // Imputed constraints look at figures of their own, in the same folder.
    let line = "impute --data iris --generator {type=\"random_init\",members=20} --k 3 --plot figures --quiet";
    let done = bench.run(line);
    assert_eq!(done.status, 0, "{}", done.err);
    assert_eq!(bench.read("figures/impute-members.csv").lines().count(), 21);
    assert!(!bench.path("figures/impute-members.png").exists());
    assert_eq!(bench.read("figures/consensus-members.csv").lines().count(), 4);
    let gif = bench.run("consensus p.csv --plot figures --plot-format gif");
    assert!(gif.status == 2 && gif.err.contains("[possible values: svg, png, pdf]"), "{}", gif.err);
    if !cfg!(feature = "figures") {
        let refused = bench.run("consensus p.csv --plot more --plot-format pdf");
        let builds = "--package mustlink-cli --features figures makes them";
        assert!(refused.status == 2 && refused.err.contains(builds), "{}", refused.err);
    }
    let nowhere = bench.run("consensus p.csv --plot-format svg");
    assert!(nowhere.status == 2 && nowhere.err.contains("--plot <FOLDER>"), "{}", nowhere.err);
}

/// The message once proposed `--set 'transforms=…'`, which consensus refuses.
#[test]
fn objects_that_are_no_numbers_are_refused_with_a_way_that_is_one() {
    let bench = Bench::with("p.csv", "one,two\na,1\na,1\nb,2\nb,2\n");
    bench.write("d.csv", "x,word\n1,u\n2,v\n3,u\n4,\n");
    let done = bench.run("consensus p.csv --data d.csv");
    assert_eq!(done.status, 3, "{}", done.err);
    let way = "does not apply transforms; leave the columns out with --ignore";
    assert!(done.err.contains(way) && !done.err.contains("--set"), "{}", done.err);
    let done = bench.run("consensus p.csv --data d.csv --ignore word");
    assert_eq!(done.status, 0, "{}", done.err);
}

/// Precision is of the pairs whose classes are known, which nothing said; the NMI of members was left out.
#[test]
fn an_imputation_is_judged_by_the_classes_that_are_known() {
    let class = |i: usize| if i < 3 { "a" } else { "b" };
    let known = |i: usize| if i.is_multiple_of(3) { class(i) } else { "" };
    let rows: String = (0..6).map(|i| format!("{},{}\n", i / 3 * 9 + i % 3, known(i))).collect();
    let bench = Bench::with("f.csv", format!("x,class\n{rows}"));
    let line = "impute --data f.csv --k 2 --generator {type=\"random_init\",members=5}";
    let done = bench.run(&format!("{line} --format json"));
    let json = done.json();
    // Of 0 and 3 alone: no must-link can be judged, one cannot-link is right.
    let counts = |kind: &str| {
        let row = &json[kind];
        ["imputed", "judged", "correct"].map(|count| row[count].as_u64().unwrap())
    };
    assert_eq!((counts("must_link"), counts("cannot_link")), ([6, 0, 0], [9, 1, 1]));
    assert!((json["base_nmi"].as_f64().unwrap() - 1.0).abs() < 1e-9, "{json}");
    let text = bench.run(line).out;
    assert!(text.contains("; the classes of 1 are known\n"), "{text}");
}

/// The file that `cluster --out-candidates` writes has partitions 0, 1 and 2, which were taken for labels.
#[test]
fn a_column_of_ids_shows_that_the_first_row_has_names() {
    let bench = Bench::with("p.csv", "id,0,1\na,0,1\nb,0,1\nc,1,0\nd,1,0\n");
    let done = bench.run("consensus p.csv --k 2 --format json");
    assert_eq!((done.status, done.json()["n"].as_u64()), (0, Some(4)), "{}", done.err);
}
