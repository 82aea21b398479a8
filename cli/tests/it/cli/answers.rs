//! Answers: those that contradict each other, those that nobody reads, those that nobody has.

use super::support::Bench;

/// Twelve objects of three classes.
fn twelve() -> String {
    let row = |i: usize| {
        let class = i / 4;
        format!("o{i},{}.5,{}.25,c{class}\n", 10 * class + (3 * i) % 4, 5 * class + i % 3)
    };
    "id,a,b,class\n".to_string() + &(0..12).map(row).collect::<String>()
}

const NOISY: &str = "--selector '{type=\"random_pairs\",objects=12}' --budget 66 --seed 1 \
                     --oracle '{type=\"noisy\",flip_rate=0.3}'";

/// Wrong hints were closed like answers, and written as must-links without their marks.
#[test]
fn nothing_follows_from_soft_hints() {
    let bench = Bench::with("s.csv", "x,class\n0,a\n1,a\n10,b\n11,b\n20,c\n21,c\n");
    let hints = "i,j,type,weight,strength\n1,2,must_link,0.5,soft\n3,4,must_link,0.5,soft\n";
    bench.write("hints.csv", hints);
    for selector in ["explore_consolidate", "min_max_selection", "random_pairs", "cobras"] {
        let line = format!("--data s.csv --constraints hints.csv --selector {selector}");
        let done = bench.run(&format!("select {line} --budget 15 --out -"));
        assert_eq!(done.status, 0, "{}", done.err);
        let rows = done.out.lines().skip(1);
        for row in rows {
            let cells: Vec<&str> = row.split(',').collect();
            let class = |at: usize| cells[at].parse::<usize>().unwrap() / 2;
            assert_eq!(cells[2] == "must_link", class(0) == class(1), "{selector}: {}", done.out);
        }
    }
}

#[test]
fn contradicting_answers_are_counted_and_shown_with_a_chain() {
    let bench = Bench::with("d.csv", twelve());
    let cluster = format!("cluster --data d.csv --id id {NOISY}");
    let done = bench.run(&cluster);
    assert_eq!(done.status, 0, "{}", done.err);
    assert!(
        done.err.contains(" of 66 answers contradict what was known before; they are left out")
    );
    assert!(done.err.contains("contradicts must-links o"), "{}", done.err);
    assert!(done.out.contains(" of them contradicting, plus 0 inferred"), "{}", done.out);
    let json = bench.run(&format!("{cluster} --format json")).json();
    let contradicting = json["answers_contradicting"].as_u64().unwrap();
    assert!(contradicting > 0);
    // First come: what is left is consistent, and as many as were not left out.
    assert_eq!(json["constraints"].as_u64().unwrap() + contradicting, 66);
    let selected = bench.run(&format!("select --data d.csv --id id {NOISY} --out pairs.csv"));
    assert!(selected.err.contains(&format!(", {contradicting} contradicting")), "{}", selected.err);
}

#[test]
fn a_method_says_what_becomes_of_contradicting_answers() {
    let bench = Bench::with("d.csv", twelve());
    let count = |rule: &str| {
        let line =
            format!("cluster --data d.csv --id id {NOISY} --set on_conflict={rule} --format json");
        bench.run(&line).json()["constraints"].as_u64().unwrap()
    };
    let (first, all, dropped) =
        (count("keep_first"), count("keep_all"), count("drop_all_involved"));
    assert_eq!(all, 66);
    assert!(dropped < first && first < all, "{dropped} {first} {all}");
    let refused =
        bench.run(&format!("cluster --data d.csv --id id {NOISY} --set on_conflict=error --quiet"));
    assert_eq!((refused.status, refused.out.as_str()), (3, ""), "{}", refused.err);
    assert!(refused.err.contains("contradicts must-links o"), "{}", refused.err);
}

#[test]
fn an_oracle_that_is_only_named_says_what_it_does() {
    let bench = Bench::new();
    let select = "select --data iris --selector random_pairs --budget 4 --out p.csv --oracle";
    let never = "note: the oracle dont_know leaves no question unanswered: its rate and its by_object are 0\n";
    for oracle in ["dont_know", "'{type=\"cost\",source=\"dont_know\"}'"] {
        let done = bench.run(&format!("{select} {oracle}"));
        assert!(done.status == 0 && done.err.contains(never), "{}", done.err);
    }
    let done = bench.run(&format!("{select} '{{type=\"dont_know\",rate=0.5}}'"));
    assert!(done.status == 0 && !done.err.contains("note: the oracle"), "{}", done.err);
    let done = bench.run(&format!("{select} scripted"));
    let said = "scripted has no replies, so every question is answered \"don't know\"; give some by replies or file";
    assert!(done.err.contains("4 without an answer") && done.err.contains(said), "{}", done.err);
}

#[test]
fn what_counts_for_nothing_is_counted() {
    let bench = Bench::with("f.csv", "x,count\n0,3\n1,1\n10,1\n7,0\n");
    let line = "cluster --data f.csv --object-weights count --k 2 --clusterer pck_means";
    let done = bench.run(line);
    assert!(done.out.contains("nothing missing; 1 object of weight 0\n"), "{}", done.out);
    bench
        .write("p.csv", "i,j,type,weight\n0,1,must_link,1\n1,2,cannot_link,0\n0,2,cannot_link,0\n");
    let done = bench.run(&format!("{line} --constraints p.csv"));
    let said = "note: p.csv: 2 rows of weight 0 are ignored\n";
    assert!(done.status == 0 && done.err.contains(said), "{}", done.err);
}

#[test]
fn nobody_is_asked_where_nobody_reads() {
    let bench = Bench::new();
    let ask = "cluster --data iris --clusterer kmeans --selector random_pairs --budget 4 --quiet";
    let refused = bench.run(ask);
    assert_eq!((refused.status, refused.out.as_str()), (2, ""));
    assert!(
        refused
            .err
            .starts_with("error: kmeans ignores constraints, so answers would change nothing"),
        "{}",
        refused.err
    );
    let asked = bench.run(&format!("{ask} --selection-only"));
    assert_eq!(asked.status, 0, "{}", asked.err);
    assert!(asked.out.contains("; none was read\n"), "{}", asked.out);
    // Members read them even where what they are in asks for none.
    let members = "{type=\"ensemble\",consensus=\"voting\",generator={type=\"random_k\",\
                   clusterer=\"pck_means\"}}";
    let ensemble = bench.run(&format!(
        "cluster --data iris --clusterer '{members}' --selector random_pairs --budget 4 --quiet"
    ));
    assert_eq!(ensemble.status, 0, "{}", ensemble.err);
    // Given ones are no question: that is said, and the work is done.
    bench.write("pairs.csv", "i,j,type\n0,1,must_link\n");
    let given = bench.run("cluster --data iris --clusterer kmeans --constraints pairs.csv");
    assert_eq!(given.status, 0, "{}", given.err);
    assert!(
        given
            .err
            .contains("warning: kmeans reads no constraints: 1 given constraint changes nothing"),
        "{}",
        given.err
    );
}

#[test]
fn questions_are_about_objects_whose_class_is_known() {
    let text: String = twelve()
        .lines()
        .enumerate()
        .map(|(at, line)| match at % 3 {
            2 => format!("{},\n", line.rsplit_once(',').unwrap().0),
            _ => format!("{line}\n"),
        })
        .collect();
    let bench = Bench::with("d.csv", text);
    let select =
        "select --data d.csv --id id --class class --selector random_pairs --out pairs.csv";
    let done = bench.run(&format!("{select} --budget 20"));
    assert_eq!(done.status, 0, "{}", done.err);
    assert!(!done.err.contains("without an answer"), "{}", done.err);
    assert!(
        done.err.contains(
            "4 of 12 objects have no class: 42.4 % of the pairs can be answered, and questions are \
             about the other 8 alone"
        ),
        "{}",
        done.err
    );
    // A single known object answers nothing.
    let known = |(at, line): (usize, &str)| match at {
        0 | 1 => format!("{line}\n"),
        _ => format!("{},\n", line.rsplit_once(',').unwrap().0),
    };
    bench.write("one.csv", twelve().lines().enumerate().map(known).collect::<String>());
    let one = bench.run(&format!("{} --budget 5", select.replace("d.csv", "one.csv")));
    let said = "11 of 12 objects have no class: no question can be answered";
    assert!(one.status == 0 && one.err.contains(said), "{}", one.err);
    let study = "[experiment]\nname = \"s\"\n[curve]\npoints = [0, 6]\n[[dataset]]\nid = \"d\"\n\
                 path = \"d.csv\"\nid_column = \"id\"\ntarget = \"class\"\n\
                 [scoring]\nmetrics = [\"ari\"]\n\
                 [[method]]\nid = \"asks\"\nk = 3\nclusterer = \"pck_means\"\nselector = \"random_pairs\"\n\
                 [[method]]\nid = \"vain\"\nk = 3\nclusterer = \"kmeans\"\nselector = \"random_pairs\"\n";
    bench.write("s.toml", study);
    let plan = bench.run("plan s.toml");
    assert!(
        plan.out.contains("note: vain: asks questions, but ignores constraints"),
        "{}",
        plan.out
    );
    assert!(plan.out.contains("note: d: 4 of 12 objects have no class: 42.4 %"), "{}", plan.out);
    assert!(
        bench
            .run("check s.toml")
            .err
            .contains("note: vain: asks questions, but ignores constraints")
    );
    let run = bench.run("run s.toml --out r");
    assert_eq!(run.status, 0, "{}", run.err);
    assert!(run.err.contains("note: vain: asks"), "{}", run.err);
    let table = bench.read("r/results.csv");
    let mut lines = table.lines().map(|l| l.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let at = |name: &str| head.iter().position(|h| *h == name).unwrap();
    let (method, point) = (at("method"), at("p_requested"));
    let (read, used, unknown) = (at("constraints_read"), at("constraints_used"), at("dont_know"));
    for line in lines {
        assert_eq!(line[unknown], "0");
        assert_eq!(line[read], (line[method] == "asks").to_string());
        let answers = if line[method] == "asks" { line[point] } else { "0" };
        assert_eq!(line[used], answers);
    }
    let page = bench.read("r/report.html");
    assert!(page.contains("vain. A method that asks but reads no constraints"));
    assert!(!bench.read("r/supervision.csv").contains("vain"));
}

#[test]
fn the_constraints_of_select_give_what_the_selector_gives() {
    let bench = Bench::new();
    // Explore & Consolidate ends with neighbourhoods of one object, which no pair tells of.
    let ask = "--data iris --selector explore_consolidate --budget 3 --seed 4";
    let asked = bench.run(&format!("cluster {ask} --clusterer mpck_means --out asked.csv"));
    assert_eq!(asked.status, 0, "{}", asked.err);
    bench.run(&format!("select {ask} --out pairs.csv"));
    assert!(bench.read("pairs.csv").lines().any(|line| {
        let cells: Vec<&str> = line.split(',').collect();
        cells[0] == cells[1]
    }));
    let read = "cluster --data iris --clusterer mpck_means --seed 4 --constraints pairs.csv";
    assert_eq!(bench.run(&format!("{read} --out read.csv")).status, 0);
    assert_eq!(bench.read("asked.csv"), bench.read("read.csv"));
}

#[cfg(unix)]
#[test]
fn an_oracle_of_the_command_line_starts_where_one_stands() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("methods")).unwrap();
    bench.write("methods/m.toml", "selector = \"cobras\"\n");
    bench.write(
        "oracle.sh",
        "read hello; echo '{\"v\":1,\"type\":\"hello\",\"protocol\":\"pairwise-oracle\"}'\n\
         while read q; do id=$(echo \"$q\" | sed 's/.*\"id\":\"\\{0,1\\}\\([^,\"}]*\\).*/\\1/'); \
         echo \"{\\\"v\\\":1,\\\"type\\\":\\\"answer\\\",\\\"id\\\":$id,\\\"reply\\\":\\\"dont_know\\\"}\"; done\n",
    );
    let done = bench.run(
        "cluster --data iris --method methods/m.toml --budget 2 --quiet \
         --oracle '{type=\"subprocess\",command=[\"sh\",\"oracle.sh\"]}'",
    );
    assert!(!done.err.contains("oracle.sh: No such file"), "{}", done.err);
    assert!(!done.err.contains("can't open"), "{}", done.err);
}

#[test]
fn a_selector_that_clusters_needs_no_clusterer_and_no_k() {
    let bench = Bench::new();
    let done = bench.run("cluster --data iris --selector cobras --budget 30 --format json");
    let json = done.json();
    assert!(json["method"]["clusterer"].is_null(), "{json}");
    assert!(done.err.contains("note: cobras makes the clusters itself"), "{}", done.err);
    bench.write("m.toml", "clusterer = \"pck_means\"\nselector = \"cobras\"\n");
    let own =
        bench.run("cluster --data iris --method m.toml --clusterer none --budget 30 --format json");
    assert_eq!(own.json()["k"], json["k"]);
    // Who names one gets it.
    let named =
        "cluster --data iris --selector cobras --clusterer pck_means --budget 9 --format json";
    assert_eq!(bench.run(named).json()["method"]["clusterer"]["type"], "pck_means");
}

/// Its warning comes after the first answers, which a person has given in vain by then.
#[test]
fn a_selector_without_its_candidates_says_so_before_it_asks() {
    let bench = Bench::new();
    let select =
        "select --data iris --selector candidate_disagreement --k 3 --budget 2 --out p.csv";
    let said = "asks about random pairs, because the clusterer below";
    assert!(bench.run(select).err.contains(said));
    let chosen = bench.run(&format!("{select} --clusterer pck_means"));
    assert!(chosen.status == 0 && !chosen.err.contains(said), "{}", chosen.err);
}

#[test]
fn other_numbers_of_clusters_than_asked_for_are_said() {
    let bench = Bench::with("two.csv", "a,b\n1,1\n1,1\n2,2\n2,2\n1,1\n");
    let few = bench.run("cluster --data two.csv --k 4");
    assert!(
        few.err.contains("warning: k = 4 was requested, and kmeans leaves 2 clusters empty"),
        "{}",
        few.err
    );
    let apart = r#"read l; echo '{"v":1,"type":"hello"}'; read l; echo '{"type":"clustering","labels":[0,1,2,3,4]}'"#;
    let command = serde_json::json!(["sh", "-c", apart]);
    let method = format!("clusterer = {{ type = \"external_clusterer\", command = {command} }}\n");
    bench.write("m.toml", method);
    let many = bench.run("cluster --data two.csv --k 2 --method m.toml");
    let said = "warning: k = 2 was requested, and external_clusterer made 5 clusters";
    assert!(many.err.contains(said), "{}", many.err);
    let own = bench.run("cluster --data iris --clusterer kmeans --set clusterer.k=5 --k 3");
    let said = "k = 3 was requested, and kmeans made 5 clusters: its option k = 5 comes first\n";
    assert!(own.err.ends_with(said), "{}", own.err);
    let found = bench.run("cluster --data iris --clusterer dbscan --k 3");
    assert!(
        found
            .err
            .contains("warning: k = 3 was requested, but dbscan chooses the number of clusters itself and made"),
        "{}",
        found.err
    );
}

/// Thirty objects, the class of half of them is known.
fn half_known() -> String {
    let mut text = "id,a,b,known,class\n".to_string();
    for i in 0..30 {
        let class = i / 10;
        let known = if i % 2 == 0 { format!("c{class}") } else { String::new() };
        text +=
            &format!("o{i},{}.5,{}.25,{known},c{class}\n", 10 * class + i % 4, 5 * class + i % 3);
    }
    text
}

#[test]
fn scores_say_what_they_rest_on() {
    let bench = Bench::with("d.csv", half_known());
    let line = "cluster --data d.csv --id id --class known --labels known --ignore class --quiet";
    let told = bench.run(line);
    assert!(
        told.out.contains(
            "scored       15 of 30 objects, 15 of them constrained: the scores only show whether the \
             method obeyed its constraints\n"
        ),
        "{}",
        told.out
    );
    let part = bench.run("cluster --data d.csv --id id --class class --labels known --quiet");
    assert!(
        part.out.contains("ARI          1 (1 on the 15 rows without an answer)\n"),
        "{}",
        part.out
    );
    assert_eq!(bench.run(&format!("{line} --out l.csv")).status, 0);
    let score = bench.run("score --truth d.csv --truth-column known --labels l.csv --id id");
    assert!(
        score.err.contains("15 of 30 objects have a class; the others are left out"),
        "{}",
        score.err
    );
}

#[test]
fn known_classes_are_held_out_and_judge_themselves() {
    let bench = Bench::with("d.csv", half_known());
    let line = "cluster --data d.csv --id id --labels known --ignore class --k 3 --validate \
                --clusterer pck_means";
    let done = bench.run(&format!("{line} --quiet"));
    assert!(
        done.out.contains(
            "validation   15 objects of known class held out in 5 folds, 5 times: ARI of the held-out objects 1.000 \
             with the known classes, 1.000 without them; difference +0.000, 95 % interval +0.000 to +0.000: not shown \
             to help or to harm\n"
        ),
        "{}{}",
        done.out,
        done.err
    );
    let json = bench.run(&format!("{line} --quiet --format json")).json();
    assert_eq!(json["validation"]["folds"], 25);
    // Validation also clusters without the classes; itml warned about this five times.
    let learned = bench.run(&format!("{line} --set transforms=[\"itml\"]"));
    assert!(learned.out.contains("ARI of the held-out objects"), "{}{}", learned.out, learned.err);
    assert!(!learned.err.contains("the metric is the prior"), "{}", learned.err);
    // Of a class of one nobody is left where that one is held out.
    let class = |i: usize| if i == 7 { 3 } else { i % 3 };
    let rows: String = (0..640).map(|i| format!("{},w{}\n", i % 3 * 5, class(i))).collect();
    bench.write("many.csv", format!("x,known\n{rows}"));
    let line =
        "cluster --data many.csv --labels known --k 3 --clusterer pck_means --validate --quiet";
    let many = bench.run(line);
    assert!(many.out.contains("640 objects of known class held out"), "{}{}", many.out, many.err);
    // Too few to hold out are told before the work.
    let rows: String =
        (0..30).map(|i| format!("{i}.5,{}\n", if i < 9 { "a" } else { "" })).collect();
    bench.write("few.csv", format!("x,known\n{rows}"));
    let line = "cluster --data few.csv --labels known --k 3 --validate --quiet --out l.csv";
    let unread = bench
        .run("cluster --data many.csv --labels known --k 3 --clusterer kmeans --validate --quiet");
    let said = "error: --validate: kmeans ignores constraints, so they change nothing; ";
    assert!(unread.status == 2 && unread.err.starts_with(said), "{}", unread.err);
    let refused =
        "error: --validate: the class is known for 9 objects, but at least 10 are needed\n";
    bench.run(line).failed(2, refused);
    bench.write("few.csv", format!("x,known\n{}", rows.replace(",\n", ",a\n")));
    let refused =
        "error: --validate: all known objects have the same class, so nothing can be compared\n";
    bench.run(line).failed(2, refused);
    assert!(!bench.path("l.csv").exists());
}

#[test]
fn pairs_are_held_out_and_judge_the_others() {
    // The classes differ in x, and the variance is in y.
    let row = |i: usize| format!("{},{}\n", i % 2 * 3 + i * 7 % 2, i * 37 % 101);
    let bench = Bench::with("d.csv", format!("x,y\n{}", (0..60).map(row).collect::<String>()));
    let pair = |i: usize| {
        let j = (i * 13 + 5) % 60;
        let answer = if i % 2 == j % 2 { "must_link" } else { "cannot_link" };
        (i != j).then(|| format!("{i},{j},{answer}\n"))
    };
    let more = |i: usize| format!("{i},{},must_link\n", (i + 4) % 60);
    let pairs: String = (0..60).filter_map(pair).chain((0..30).map(more)).collect();
    bench.write("p.csv", format!("i,j,type\n{pairs}"));
    bench.write("m.toml", "transforms = [\"itml\"]\nclusterer = \"kmeans\"\n");
    let line = "cluster --data d.csv --k 2 --method m.toml --validate --quiet --constraints";
    let done = bench.run(&format!("{line} p.csv"));
    assert!(done.out.contains(" pairs held out in 5 folds"), "{}{}", done.out, done.err);
    assert!(done.out.contains(": the pairs help\n"), "{}", done.out);
    let json = bench.run(&format!("{line} p.csv --format json")).json()["validation"].clone();
    assert_eq!(json["held_out"], "pairs");
    let number = |name: &str| json[name].as_f64().unwrap();
    assert!((number("with") - number("without") - number("difference")).abs() < 1e-12, "{json}");
    // One type alone, or few pairs, are refused before the work.
    bench.write("few.csv", "i,j,type\n0,1,cannot_link\n2,4,must_link\n");
    let refused = "error: --validate: at least 5 must-links and 5 cannot-links are needed, but there are 1 and 1\n";
    bench.run(&format!("{line} few.csv --out l.csv")).failed(2, refused);
    assert!(!bench.path("l.csv").exists());
    // After questions, the clusters are there.
    let done = bench.run(
        "cluster --data iris --k 3 --clusterer pck_means --selector random_pairs --budget 3 --validate --out l.csv",
    );
    assert!(done.status == 0 && bench.path("l.csv").exists(), "{}", done.err);
    assert!(done.err.contains("warning: --validate: at least 5 must-links"), "{}", done.err);
}

#[test]
fn a_first_file_for_known_classes_runs() {
    let bench = Bench::with("d.csv", half_known());
    let init = bench.run("init --data d.csv --id id --labels known --ignore class --out s.toml");
    assert_eq!(init.status, 0, "{}", init.err);
    assert!(bench.read("s.toml").contains("labels = \"known\"\n"));
    let run = bench.run("run s.toml --out r");
    assert_eq!(run.status, 0, "{}", run.err);
    let table = bench.read("r/results.csv");
    let head: Vec<&str> = table.lines().next().unwrap().split(',').collect();
    let at = |name: &str| head.iter().position(|h| *h == name).unwrap();
    let (must, read) = (at("constraints_must"), at("constraints_read"));
    // Commas stand in names of methods within quotes: the columns are counted from behind.
    let rows = table.lines().skip(1).filter(|l| l.contains("pck_means"));
    for row in rows {
        let cells: Vec<&str> = row.split(',').collect();
        let more = cells.len() - head.len();
        assert!(cells[must + more].parse::<usize>().unwrap() > 0, "{row}");
        assert_eq!(cells[read + more], "true");
    }
    assert!(table.contains("k-means"));
}

#[test]
fn hints_lead_to_what_helps() {
    let row = |i: usize| format!("{},{}.5,{}.25,{}\n", 90 + (7 * i) % 40, i % 7, i % 5, i % 2);
    let features = (0..40).map(row).collect::<String>();
    let bench = Bench::with("pima.csv", format!("age,a,b,Outcome\n{features}"));
    let done = bench.run("cluster --data pima.csv --k 2");
    assert!(
        done.err.contains(
            "note: feature Outcome has 2 values: a class? --class Outcome, or --ignore Outcome"
        ),
        "{}",
        done.err
    );
    bench.write(
        "s.toml",
        "[experiment]\nname = \"s\"\n[[dataset]]\nid = \"d\"\npath = \"pima.csv\"\n\
         [scoring]\nmetrics = [\"silhouette\"]\n[[method]]\nid = \"m\"\nk = 2\nclusterer = \"kmeans\"\n",
    );
    let plan = bench.run("plan s.toml");
    assert!(
        plan.out.contains("note: d: feature Outcome has 2 values: a class? target = \"Outcome\"")
    );
    // The last features are shown, however many there are.
    let wide = (0..9).map(|i| format!("f{i}")).collect::<Vec<_>>().join(",");
    let cells = (0..9).map(|i| format!("{i}.5")).collect::<Vec<_>>().join(",");
    bench.write("wide.csv", format!("{wide}\n{cells}\n{cells}\n{cells}\n"));
    let done = bench.run("cluster --data wide.csv --k 1");
    assert!(done.out.contains("9 features (f0, f1, f2, f3, …, f7, f8)"), "{}", done.out);
    // A decimal comma comes before columns of 0 and 1, whatever else is no number.
    bench.write("excel.csv", "day;warm;cold\nmon;20,24;1,5\ntue;21,5;2,5\nwed;1,24;3,5\n");
    let excel = bench.run("cluster --data excel.csv --k 2");
    assert!(excel.err.contains("a decimal comma is read with --decimal ,; "), "{}", excel.err);
    // Classes of some objects are not filled in.
    let known: String = (0..20)
        .map(|i| format!("{i}.5,{}.25,{}\n", i % 3, if i < 4 { "left" } else { "" }))
        .collect();
    bench.write("known.csv", format!("a,b,side\n{known}"));
    let known = bench.run("cluster --data known.csv --k 2");
    assert!(known.err.contains("give --labels side"), "{}", known.err);
    assert!(!known.err.contains("one_hot"), "{}", known.err);
    bench.write("latin.csv", b"a,b\n1,2\n\xe4,3\n");
    let latin = bench.run("cluster --data latin.csv --k 2");
    assert!(latin.err.contains("iconv -f WINDOWS-1252 -t UTF-8"), "{}", latin.err);
    // What experiment files say is said in their words.
    bench.write("c.csv", "a,species\n1,2\n3,4\n");
    bench.write("e.toml", bench.read("s.toml").replace("pima", "c"));
    let check = bench.run("check e.toml");
    assert!(
        check.err.contains("target = \"species\"") && !check.err.contains("--class"),
        "{}",
        check.err
    );
    // A column without a name is called by its place.
    bench.write("parts.csv", ",one,two\n0,a,x\n1,a,x\n2,b,y\n");
    let index = bench.run("consensus parts.csv --id '#1' --quiet --format json").json();
    assert_eq!((&index["members"], &index["k"]), (&2.into(), &2.into()));
    let ignored = bench.run("consensus parts.csv --ignore '#1' --quiet --format json").json();
    assert_eq!(ignored["members"], 2);
    // A file without names is read when that is said.
    bench.write("bare.csv", "1.5,2,a\n1.25,2.5,a\n9,8.5,b\n");
    let bare = bench.run("cluster --data bare.csv --k 2");
    assert!(bare.err.contains("--no-header reads a file without names"), "{}", bare.err);
    let read = bench.run("cluster --data bare.csv --no-header --class '#3'");
    assert!(
        read.out
            .contains("data         bare: 3 objects, 2 features (#1, #2); no ids; classes #3 (2)")
    );
    // A number of decimals names no class.
    let many: String = (0..6).map(|i| format!("{i}.5,{i}.25\n")).collect();
    bench.write("real.csv", format!("a,b\n{many}"));
    let real = bench.run("cluster --data real.csv --class b");
    assert!(real.err.contains("is the column a measurement?"), "{}", real.err);
}
