//! `cluster`, `select`, `score`, `check`, `config show` where all is well.

use serde_json::Value;

use super::support::Bench;

/// Two groups on a line.
const LINE: &str = "name,x,class\na,0,p\nb,1,p\nc,2,p\nd,20,q\ne,21,q\nf,22,q\n";

fn keys(json: &Value) -> Vec<&str> {
    json.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn the_summary_has_exactly_its_keys() {
    let bench = Bench::new();
    let done =
        bench.run("cluster --data iris --selector explore_consolidate --budget 30 --format json");
    let json = done.json();
    let mut expected = [
        "data",
        "method",
        "seed",
        "k",
        "n",
        "d",
        "noise",
        "objective",
        "status",
        "iterations",
        "queries",
        "unanswered",
        "answers_contradicting",
        "answers_corrected",
        "inferred",
        "constraints",
        "constraints_read",
        "violations",
        "broken",
        "broken_left_out",
        "scores",
        "scored",
        "crosstab",
        "seconds",
        "diagnostics",
        "candidates",
        "warnings",
    ];
    // In the file they stand in this order; a parsed map is sorted.
    let places: Vec<usize> =
        expected.iter().map(|k| done.out.find(&format!("\n  \"{k}\"")).unwrap()).collect();
    assert!(places.is_sorted());
    expected.sort_unstable();
    assert_eq!(keys(&json), expected);
    assert_eq!((&json["k"], &json["n"], &json["d"]), (&3.into(), &150.into(), &4.into()));
    assert_eq!(json["queries"], 30);
    assert_eq!(json["violations"], serde_json::json!({ "must": 0, "cannot": 0 }));
    assert!(json["scores"]["ari"].as_f64().unwrap() > 0.5);
    assert!(done.err.contains("note: k = 3, the number of classes; --k chooses another\n"));
    assert!(done.err.contains("note: clusterer = { type = \"auto\" }; "), "{}", done.err);
}

#[test]
fn the_same_seed_gives_the_same_labels_on_any_number_of_threads() {
    let bench = Bench::new();
    for (threads, out) in [(1, "one.csv"), (2, "two.csv"), (7, "seven.csv")] {
        let line =
            format!("cluster --data digits --seed 5 --quiet --threads {threads} --out {out}");
        assert_eq!(bench.run(&line).status, 0);
    }
    assert_eq!(bench.read("one.csv"), bench.read("two.csv"));
    assert_eq!(bench.read("one.csv"), bench.read("seven.csv"));
    assert_eq!(bench.files(), ["one.csv", "seven.csv", "two.csv"]);
}

#[test]
fn the_name_of_a_file_draws_nothing() {
    let bench = Bench::new();
    // Points without clusters: what k-means with one start makes of them depends on its start.
    let mut rows = String::from("x,y\n");
    (0..60_u32).for_each(|i| rows += &format!("{},{}\n", (i * 37) % 61, (i * i * 11) % 59));
    bench.write("one.csv", &rows);
    bench.write("other.csv", &rows);
    let cluster = |data: &str, more: &str| {
        let line = format!(
            "cluster --data {data} --clusterer kmeans --set clusterer.restarts=1 --k 7 --features all --quiet --out - {more}"
        );
        let done = bench.run_with(&line, &rows);
        assert_eq!(done.status, 0, "{}", done.err);
        done.out
    };
    let one = cluster("one.csv", "");
    assert_eq!([cluster("other.csv", ""), cluster("-", "")], [one.clone(), one.clone()]);
    assert_ne!(cluster("one.csv", "--seed 1"), one, "the seed decides");
    bench.write(
        "study.toml",
        "[experiment]\nname = \"copies\"\n[[dataset]]\nid = \"a\"\npath = \"one.csv\"\nfeatures = [\"x\", \"y\"]\n[[dataset]]\n\
         id = \"b\"\npath = \"other.csv\"\nfeatures = [\"x\", \"y\"]\n[[method]]\nid = \"m\"\nk = 7\n\
         clusterer = { type = \"kmeans\", restarts = 1 }\n[scoring]\nmetrics = [\"sse\"]\n\
         [split]\ntype = \"all\"\nrepeats = 3\n",
    );
    let done = bench.run("run study.toml --quiet --out r");
    assert_eq!(done.status, 0, "{}", done.err);
    let results = bench.read("r/results.csv");
    let column = results.lines().next().unwrap().split(',').position(|c| c == "sse").unwrap();
    let scores: Vec<&str> =
        results.lines().skip(1).map(|l| l.split(',').nth(column).unwrap()).collect();
    assert_eq!((scores.len(), &scores[..3]), (6, &scores[3..]));
}

#[test]
fn what_was_tried_is_shown_and_written() {
    let bench = Bench::new();
    let line = "cluster --data iris --selector random_pairs --budget 60 --k 3";
    let done = bench.run(&format!("{line} --out labels.csv --out-candidates tried --plot figures"));
    assert_eq!(done.status, 0, "{}", done.err);
    let svg = bench.read("figures/candidate-scores.svg");
    assert!(
        svg.starts_with("<svg") && svg.contains("in the result") && !svg.contains("NaN"),
        "{svg}"
    );
    let scores = bench.read("figures/candidate-scores.csv");
    assert!(scores.starts_with("name,k,score,error,weight,outcome\n"), "{scores}");
    assert!(bench.path("figures/projection.svg").exists());
    assert!(
        done.out.contains("methods; scored by constraints that were held back from them"),
        "{}",
        done.out
    );
    let alone = bench.run("cluster --data iris --clusterer auto --k 3");
    assert!(
        alone.out.contains("13 methods; no constraint, so scored by how well they agree"),
        "{}",
        alone.out
    );
    assert_eq!(bench.run("consensus tried/labels.csv --k 3 --consensus kcc").status, 0);
    let table = bench.read("tried/candidates.csv");
    let rows: Vec<Vec<&str>> = table.lines().skip(1).map(|l| l.split(',').collect()).collect();
    assert!(table.starts_with("candidate,name,k,score,error,weight,seconds,outcome\n"));
    assert!(rows.len() > 30);
    let score = |row: &[&str]| row[3].parse::<f64>().unwrap();
    assert!(score(&rows[0]) >= score(&rows[5]), "the best first");
    let labels = bench.read("tried/labels.csv");
    assert_eq!(labels.lines().count(), 151);
    assert!(labels.lines().next().unwrap().starts_with("id,0,"));
    let score = done.out.lines().find(|l| l.starts_with("score "));
    let said = " expected on other pairs, after correction for choosing the best";
    assert!(score.is_some_and(|l| l.ends_with(said)), "{}", done.out);
    // The chosen ones alone give a method that can be edited and run.
    let again = format!("{line} --method tried/method.toml --out again.csv --format json");
    let again = bench.run(&again);
    assert_eq!(again.status, 0, "{}", again.err);
    assert!(again.json()["scores"]["ari"].as_f64().unwrap() > 0.85);
    let one = format!("{line} --clusterer kmeans --selection-only --out k.csv --out-candidates t");
    let said = "error: --out-candidates: kmeans tries no other methods; auto does\n";
    bench.run(&one).failed(2, said);
    assert!(!bench.path("k.csv").exists());
}

#[test]
fn the_chosen_ones_keep_the_steps_and_options_around_them() {
    let bench = Bench::new();
    let candidate = "{ transforms = [{ type = \"z_score\" }], clusterer = { type = \"kmeans\" } }";
    let method = |candidates: &str| {
        format!(
            "transforms = [{{ type = \"min_max\" }}]\n[clusterer]\ntype = \"auto\"\nties = 100.0\n\
             candidates = [{candidates}]\n"
        )
    };
    let chosen = |candidates: &str| {
        bench.write("m.toml", method(candidates));
        let done =
            bench.run("cluster --data iris --k 3 --quiet --method m.toml --out-candidates tried");
        assert_eq!(done.status, 0, "{}", done.err);
        bench.read("tried/method.toml")
    };
    let one = chosen(candidate);
    let steps = "[[transforms]]\ntype = \"min_max\"\n\n[[transforms]]\ntype = \"z_score\"\n";
    assert!(one.contains(steps), "{one}");
    let two = chosen(&format!("{candidate}, {{ clusterer = {{ type = \"lac\" }} }}"));
    assert!(two.contains("\n[[transforms]]\ntype = \"min_max\"\n"), "{two}");
    assert!(two.contains("ties = 100.0\n"), "{two}");
    assert_eq!(two.matches("[[clusterer.candidates]]").count(), 2, "{two}");
}

#[test]
fn labels_of_candidates_are_those_of_the_rows_that_were_read() {
    let bench = Bench::with("d.csv", "x,y\n1.5,1.5\n1.5,1.5\n1.6,1.4\n9.5,9.5\n9.6,9.4\n5.5,0.5\n");
    bench.write(
        "m.toml",
        "transforms = [\"deduplicate\"]\n[clusterer]\ntype = \"auto\"\n\
         candidates = [{ clusterer = { type = \"kmeans\" } }]\n",
    );
    let line = "cluster --data d.csv --features all --k 3 --method m.toml --quiet";
    let done = bench.run(&format!("{line} --out labels.csv --out-candidates tried"));
    assert_eq!(done.status, 0, "{}", done.err);
    let labels = bench.read("labels.csv");
    assert_eq!(labels.lines().count(), 7);
    assert_eq!(bench.read("tried/labels.csv"), labels.replace("id,label", "id,0"));
    // So are figures and profiles.
    let done = bench.run(&format!("{line} --plot figures --profile profile"));
    assert_eq!(done.status, 0, "{}", done.err);
    let figure = bench.read("figures/projection.csv");
    let drawn: Vec<&str> =
        figure.lines().skip(1).map(|line| line.split(',').nth(1).unwrap()).collect();
    assert_eq!(drawn, ["0", "2", "3", "4", "5"]);
    let profile = bench.read("profile/clusters.csv");
    assert!(profile.contains(",1,,,,5\n"), "{profile}");
}

#[test]
fn labels_and_constraints_by_id() {
    let bench = Bench::with("line.csv", LINE);
    bench.write("pairs.csv", "i,j,type\nc,d,must_link\n");
    let line = "cluster --data line.csv --id name --constraints pairs.csv --out labels.csv --format json \
                --clusterer pck_means --set clusterer.weight=1000 --quiet";
    let done = bench.run(line);
    assert_eq!(done.json()["violations"]["must"], 0);
    assert_eq!(done.err, "");
    let labels = bench.read("labels.csv");
    let label = |id: &str| {
        let line = labels.lines().find(|l| l.starts_with(&format!("{id},"))).unwrap();
        line.split(',').nth(1).unwrap().to_string()
    };
    assert!(labels.starts_with("id,label\n"));
    assert_eq!(label("c"), label("d"));
}

#[test]
fn standard_input_and_output() {
    let bench = Bench::new();
    let done = bench.run_with("cluster --data - --id name --out - --quiet", LINE);
    assert_eq!(done.status, 0, "{}", done.err);
    assert_eq!(done.out.lines().count(), 7);
    assert!(done.err.contains("clusters     2 (3 and 3 objects)\n"), "{}", done.err);
    bench.write("labels.csv", &done.out);
    let score = bench.run_with(
        "score --truth - --labels labels.csv --metric ari",
        LINE.replace("name", "id").as_str(),
    );
    assert_eq!((score.out.as_str(), score.status), ("ari 1\n", 0), "{}", score.err);
}

#[test]
fn a_method_file_with_its_own_k_and_seed() {
    let bench = Bench::with("line.csv", LINE);
    bench.write("m.toml", "k = 3\nseed = 7\nclusterer = \"kmeans\"\ntransforms = [\"min_max\"]\n");
    let run = |more: &str| {
        bench
            .run(&format!("cluster --data line.csv --id name --format json --method m.toml {more}"))
    };
    assert_eq!(run("").json()["k"], 3);
    assert_eq!(run("--k 2").json()["k"], 2);
    assert_eq!(run("--set k=4").json()["k"], 4);
    assert_eq!(run("").err, "");
}

#[test]
fn rows_that_were_merged_get_their_labels_back() {
    let bench = Bench::with("twice.csv", "name,x,class\na,0,p\nb,0,p\nc,1,p\nd,9,q\ne,9,q\n");
    bench.write("m.toml", "transforms = [\"min_max\", \"deduplicate\"]\nclusterer = \"kmeans\"\n");
    let line = "cluster --data twice.csv --id name --method m.toml --out l.csv --format json";
    let done = bench.run(line);
    assert_eq!(done.json()["n"], 3);
    assert!(done.err.contains("note: the first transforms made 3 rows of 5\n"), "{}", done.err);
    let labels: Vec<String> = bench.read("l.csv").lines().map(str::to_string).collect();
    assert_eq!(labels.len(), 6);
    let label = |at: usize| labels[at].split(',').nth(1).unwrap();
    assert_eq!((label(1), label(4)), (label(2), label(5)));
    // Questions are about the rows as they were read.
    let select =
        "select --data twice.csv --id name --method m.toml --selector random_pairs --quiet";
    let pairs = bench.run(select).out;
    assert_eq!(pairs.lines().count(), 4, "{pairs}");
    assert!(
        pairs.contains("cannot_link")
            && pairs.lines().skip(1).all(|l| !l.contains('b') && !l.contains('e'))
    );
    // Constraints may become one, too.
    bench.write(
        "pairs.csv",
        "i,j,type\na,c,must_link\nb,c,must_link\nd,e,must_link\nc,d,cannot_link\n",
    );
    let done = bench.run(&format!("{line} --constraints pairs.csv"));
    let said = "note: the first transforms made 3 rows of 5, and 2 constraints of 4\n";
    assert!(done.err.contains(said) && done.json()["constraints"] == 2, "{}", done.err);
    // A cannot-link between rows that became one names both.
    bench.write("pairs.csv", "i,j,type\na,b,cannot_link\n");
    bench
        .run(&format!("{line} --constraints pairs.csv --quiet"))
        .failed(3, "error: constraints: cannot-link a–b: its rows are equal, and a transform made one object of them\n");
}

#[test]
fn selected_constraints_serve_as_given_ones() {
    let bench = Bench::new();
    let select = bench
        .run("select --data iris --selector random_pairs --budget 40 --seed 3 --out pairs.csv");
    assert_eq!((select.status, select.out.as_str()), (0, ""), "{}", select.err);
    assert!(select.err.contains("\n40 queries: "), "{}", select.err);
    let pairs = bench.read("pairs.csv");
    assert!(pairs.starts_with("i,j,type,weight\n"));
    assert_eq!(pairs.lines().count(), 41);
    let json = bench.run("cluster --data iris --constraints pairs.csv --format json").json();
    assert_eq!((&json["constraints"], &json["queries"]), (&40.into(), &0.into()));
}

#[test]
fn a_budget_of_0_asks_nothing() {
    let bench = Bench::new();
    let done =
        bench.run("cluster --data iris --selector explore_consolidate --budget 0 --format json");
    let json = done.json();
    assert_eq!((&json["queries"], &json["constraints"]), (&0.into(), &0.into()));
    assert_eq!(json["warnings"], serde_json::json!(["--budget 0: nothing is asked"]));
    assert!(done.err.ends_with("warning: --budget 0: nothing is asked\n"), "{}", done.err);
    let select = bench.run("select --data iris --selector random_pairs --budget 0");
    assert_eq!((select.status, select.out.as_str()), (0, "i,j,type,weight\n"));
}

#[test]
fn a_selector_that_clusters_by_itself() {
    let bench = Bench::with("m.toml", "selector = \"cobra\"\n");
    let json = bench.run("cluster --data iris --method m.toml --budget 60 --format json").json();
    assert!(json["queries"].as_u64().unwrap() <= 60);
    assert!(json["scores"]["ari"].as_f64().unwrap() > 0.5, "{json}");
    // Its constraints feed another clusterer.
    let line =
        "cluster --data iris --method m.toml --clusterer pck_means --k 3 --format json --quiet";
    assert_eq!(bench.run(line).json()["k"], 3);
}

#[test]
fn contradictions_are_shown_and_lived_with() {
    let bench = Bench::with("line.csv", LINE);
    bench.write("pairs.csv", "i,j,type\na,b,must_link\nb,c,must_link\na,c,cannot_link\n");
    let line = "cluster --data line.csv --id name --constraints pairs.csv --format json";
    let json = bench.run(line).json();
    let chain = "constraints: cannot-link a–c contradicts must-links a–b–c";
    assert_eq!(json["warnings"][0], chain);
    bench
        .run(&format!("{line} --quiet --clusterer pck_means --set clusterer.on_conflict=error"))
        .failed(3, &format!("error: clusterer: {chain}\n"));
}

#[test]
fn infeasible_constraints_are_shown_and_lived_with() {
    let bench = Bench::with("line.csv", LINE);
    bench.write("pairs.csv", "i,j,type\na,b,cannot_link\nb,c,cannot_link\na,c,cannot_link\n");
    let done =
        bench.run("cluster --data line.csv --id name --constraints pairs.csv --k 2 --format json");
    let warning = "constraints: 2 clusters cannot satisfy the odd cycle of cannot-links a–b–c";
    assert_eq!(done.json()["warnings"][0], warning);
}

#[test]
fn scores_come_in_order() {
    let bench = Bench::with("t.csv", "id,label\n1,a\n2,a\n3,b\n4,\n");
    bench.write("l.csv", "id,label\n4,0\n3,1\n2,0\n1,0\n");
    let done = bench.run("score --truth t.csv --labels l.csv");
    let names: Vec<&str> = done.out.lines().map(|l| l.split_whitespace().next().unwrap()).collect();
    assert_eq!(
        names.join(" "),
        "ari nmi_arith nmi_geo nmi_min nmi_max nmi_joint ami rand pair_precision pair_recall pair_f \
         error_rate purity homogeneity completeness v_measure vi"
    );
    assert!(done.out.starts_with("ari            1\n"), "{}", done.out);
    let json = bench
        .run("score --truth t.csv --labels l.csv --metric ari,vi --metric mi --format json")
        .json();
    assert_eq!(keys(&json), ["ari", "mi", "vi", "warnings"]);
    assert_eq!(json["warnings"], serde_json::json!([]));
    // One object known, nothing to compare.
    bench.write("one.csv", "id,label\n1,a\n");
    bench.write("o.csv", "id,label\n1,5\n");
    let done = bench.run("score --truth one.csv --labels o.csv --metric rand");
    assert_eq!(done.out, "rand undefined\n", "{}", done.err);
    assert_eq!(
        bench.run("score --truth one.csv --labels o.csv --metric rand --format json").json()["rand"],
        Value::Null
    );
    bench.run("cluster --data iris --k 3 --out iris.csv --quiet");
    assert_eq!(bench.run("score --truth iris --labels iris.csv --metric error_rate").status, 0);
}

#[test]
fn files_are_checked_and_resolved() {
    let bench = Bench::with("m.toml", "clusterer = \"pck_means\"\n");
    assert_eq!(bench.run("check m.toml").out, "m.toml: valid; a method\n");
    let shown = bench.run("config show m.toml --set clusterer.weight=0.5").out;
    assert!(
        shown.contains("max_iterations = 100\n") && shown.contains("weight = 0.5\n"),
        "{shown}"
    );
    bench.write("shown.toml", &shown);
    assert_eq!(bench.run("config show shown.toml").out, shown);
}

#[test]
fn options_of_a_method_named_by_a_bare_word() {
    let bench = Bench::with("m.toml", "clusterer = \"kmeans\"\ntransforms = [\"z_score\"]\n");
    let shown = bench.run("config show m.toml --set clusterer.restarts=3").out;
    assert!(shown.contains("type = \"kmeans\"") && shown.contains("restarts = 3\n"), "{shown}");
    let line = "cluster --data iris --clusterer kmeans --set clusterer.max_iterations=1 --quiet --format json";
    assert_eq!(bench.run(line).json()["status"], "max_iter");
}

#[test]
fn the_objects_are_drawn_in_two_dimensions() {
    let bench = Bench::with(
        "pairs.csv",
        "i,j,type\n0,1,must_link\n0,2,cannot_link\n0,60,must_link\n0,120,cannot_link\n",
    );
    let line = "cluster --data iris --k 3 --clusterer kmeans --constraints pairs.csv --plot figures --out l.csv";
    let pictures = if cfg!(feature = "figures") { " --plot-format pdf" } else { "" };
    let done = bench.run(&format!("{line}{pictures}"));
    assert_eq!(done.status, 0, "{}", done.err);
    assert!(done.out.contains("figure       figures/projection.svg"), "{}", done.out);
    if cfg!(feature = "figures") {
        assert!(std::fs::read(bench.path("figures/projection.pdf")).unwrap().starts_with(b"%PDF-"));
    }
    let svg = bench.read("figures/projection.svg");
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n") && !svg.contains("NaN"));
    assert!(svg.contains(">150 of 150 objects, 4 of 4 constraints</text>"), "{svg}");
    // Two of each, and two samples of each in the legend.
    assert_eq!(svg.matches("stroke=\"#0b5fa5\"").count(), 4);
    assert_eq!(svg.matches("stroke=\"#a83214\"").count(), 4);
    assert_eq!(svg.matches("stroke-dasharray").count(), 4);
    // A cluster is called by its most frequent class.
    assert!(svg.contains(": Iris-setosa</text>"), "{svg}");
    // k-means reads no constraints: objects 0, 1, 2 are together, 60 and 120 are not with them.
    let numbers = bench.read("figures/projection.csv");
    let rows: Vec<Vec<&str>> = numbers.lines().skip(1).map(|l| l.split(',').collect()).collect();
    let broken: Vec<(&str, &str)> =
        rows.iter().filter(|r| r[7] == "true").map(|r| (r[0], r[2])).collect();
    assert_eq!(broken, [("cannot_link", "2"), ("must_link", "60")]);
    assert_eq!(svg.matches("stroke-width=\"2.6\"").count(), 4);
    // Principal components are centred, and the labels are those of --out.
    let labels = bench.read("l.csv");
    let mut mean = 0.0;
    for (row, line) in rows.iter().filter(|r| r[0] == "object").zip(labels.lines().skip(1)) {
        assert_eq!(format!("{},{}", row[1], row[5]), line);
        mean += row[3].parse::<f64>().unwrap() / 150.0;
    }
    assert!(mean.abs() < 1e-9, "{mean}");
}

#[test]
fn options_set_the_look_of_the_figure() {
    let bench = Bench::with("pairs.csv", "i,j,type\n0,1,must_link\n0,120,cannot_link\n");
    let line = "cluster --data iris --k 3 --clusterer kmeans --constraints pairs.csv --plot f";
    let look = "--plot-title Species --plot-size 300 --plot-names one,two,three,four";
    let done = bench.run(&format!("{line} {look} --plot-no-constraints"));
    assert_eq!(done.status, 0, "{}", done.err);
    assert!(done.err.contains("warning: --plot-names: 4 names for 3 clusters"), "{}", done.err);
    let svg = bench.read("f/projection.svg");
    assert!(svg.contains("<title>Species</title>") && svg.contains(">three</text>"), "{svg}");
    assert!(!svg.contains("annot-link"), "{svg}");
    let axes = svg.split("<path d=\"M").find(|p| p.contains("fill=\"none\" stroke=\"#555\""));
    let axes = axes.unwrap();
    let (left, right) = (axes.split(' ').next(), axes.split(['H', '"']).nth(1));
    let [left, right] = [left, right].map(|at| at.unwrap().parse::<f64>().unwrap());
    assert!((right - left - 300.0).abs() < 0.2, "{axes}");
    let refused = bench.run(&format!("{line} --plot-size 20"));
    assert_eq!(refused.status, 2);
    let said = "must be a whole number between 100 and 4000, got 20";
    assert!(refused.err.contains(said), "{}", refused.err);
}

#[test]
fn numbers_of_clusters_are_compared() {
    // Four groups in the corners of a square.
    let mut rows = String::from("x,y\n");
    for i in 0..80 {
        let (a, b) = ((i * 7) % 11, (i * 5) % 13);
        let corner = (10.0 * f64::from(i % 2), 10.0 * f64::from(i / 2 % 2));
        rows += &format!("{},{}\n", corner.0 + f64::from(a) / 10.0, corner.1 + f64::from(b) / 10.0);
    }
    let bench = Bench::with("f.csv", rows);
    let done = bench.run("select-k --data f.csv --to 6 --out table.csv");
    assert_eq!(done.status, 0, "{}", done.err);
    for criterion in ["silhouette", "gap", "stability", "consensus"] {
        assert!(done.out.contains(&format!("{criterion:<12} 4\n")), "{}", done.out);
    }
    let said = "result       4 of 4 criteria choose 4 clusters.\n\n\
                next         mustlink cluster --data f.csv --k 4\n";
    assert!(done.out.ends_with(said), "{}", done.out);
    let table = bench.read("table.csv");
    assert!(
        table.starts_with("k,within,silhouette,gap,gap_error,stability,ambiguous\n1,"),
        "{table}"
    );
    assert_eq!(table.lines().count(), 1 + 6);
    let done = bench.run("select-k --data f.csv --to 4 --objects 40");
    let said = "a sample of 40 of 80 objects; clusters of fewer than 20 objects have on average fewer than 10 in it";
    assert!(done.out.contains(said), "{}", done.out);
    // The same numbers on any number of threads.
    let json = |threads: usize| {
        let line = format!("select-k --data f.csv --to 4 --threads {threads} --format json");
        bench.run(&line).json()["found"].clone()
    };
    assert_eq!(json(1), json(3));
    // What it does not read is refused, as is a method that finds the number itself.
    let done = bench.run("select-k --data f.csv --k 3");
    assert!(done.status == 2 && done.err.contains("from --from to --to"), "{}", done.err);
    let done = bench.run("select-k --data f.csv --labels #2");
    let said = "error: --labels: select-k looks at the data alone";
    assert!(done.status == 2 && done.err.starts_with(said), "{}", done.err);
    let done = bench.run("select-k --data f.csv --clusterer dbscan");
    assert!(
        done.status == 2 && done.err.contains("dbscan finds the number of clusters itself"),
        "{}",
        done.err
    );
    // Of few objects the range ends where a subsample does.
    bench.write("few.csv", "x\n0\n1\n10\n11\n20\n");
    let done = bench.run("select-k --data few.csv --out few-table.csv");
    assert_eq!(done.status, 0, "{}", done.err);
    assert_eq!(bench.read("few-table.csv").lines().count(), 1 + 4);
    bench.write("same.csv", "x\n1\n1\n1\n1\n");
    let done = bench.run("select-k --data same.csv --quiet");
    done.failed(3, "error: data: all 4 objects are identical, so they are 1 cluster\n");
    bench.write("one.csv", "x,y\n1.5,2.5\n");
    let done = bench.run("select-k --data one.csv --features all --quiet");
    assert_eq!(done.status, 2, "{}", done.err);
    assert!(done.err.starts_with("error: objects: must be at least 2, "), "{}", done.err);
    let done = bench.run("select-k --data f.csv --from 5000 --quiet");
    assert!(done.err.starts_with("error: --from: must be from 2 to "), "{}", done.err);
    let done = bench.run("select-k --data f.csv --to 70");
    assert!(
        done.status != 0 && done.err.contains("from 2 to 64, the objects of a subsample"),
        "{}",
        done.err
    );
}

#[test]
fn members_of_a_group_are_apart() {
    let rows = "x,y,photo\n0,0,a\n0.1,0,a\n0.2,0.1,a\n5,5,b\n5.1,5,\n9,0,b\n";
    let bench = Bench::with("f.csv", rows);
    std::fs::write(bench.path("p.csv"), "i,j,type\n1,4,must_link\n").unwrap();
    // Whoever takes groups whole, and whoever takes their pairs; an object of one is tied to another, too.
    for method in ["cop_kmeans", "constrained_complete_link"] {
        for more in ["", "--constraints p.csv"] {
            let line = format!(
                "cluster --data f.csv --apart photo --k 3 --clusterer {method} {more} --format json"
            );
            let summary = bench.run(&line).json();
            assert_eq!(summary["violations"]["cannot"], 0, "{line}: {summary}");
            assert!(!summary["warnings"].to_string().contains("--apart"), "{summary}");
        }
    }
    // Three groups of near objects: all pairs of "a" are together. The remedy is tried above.
    let line =
        "cluster --data f.csv --apart photo --k 3 --clusterer kmeans --set clusterer.restarts=20";
    let done = bench.run(&format!("{line} --format json"));
    let warning = "3 of 4 cannot-links of --apart photo are broken; --clusterer cop_kmeans --k 3 keeps all of them, or \
                   reports why it cannot";
    let summary = done.json();
    assert!(done.err.contains(&format!("warning: {warning}\n")), "{}", done.err);
    assert!(summary["warnings"].as_array().unwrap().contains(&warning.into()), "{summary}");
    assert_eq!(summary["violations"]["cannot"], 3);
    let done = bench.run("cluster --data f.csv --apart photo --k 2 --clusterer cop_kmeans");
    assert!(done.err.contains("the 3 members of the group \"a\""), "{}", done.err);
    let done = bench.run("cluster --data f.csv --apart foto --k 3");
    assert!(done.status == 3 && done.err.contains("did you mean \"photo\""), "{}", done.err);
    // Verbs that read no constraints have no such column.
    for verb in ["select-k --data f.csv", "init --data f.csv"] {
        let done = bench.run(&format!("{verb} --apart photo"));
        assert!(done.status == 2 && done.err.contains("--apart"), "{verb}: {}", done.err);
    }
}

#[test]
fn objects_count_by_their_weights() {
    // 0 counts three times, 7 not at all: means .25 and 10; without weights 7 and 10 share the mean 8.5.
    let bench = Bench::with("f.csv", "x,count,photo\n0,3,a\n1,1,a\n10,1,b\n7,0,b\n");
    let line = "cluster --data f.csv --object-weights count --features x --k 2 --format json";
    for method in ["kmeans", "pck_means", "cop_kmeans", "seeded_kmeans", "constrained_kmeans"] {
        let line = format!("{line} --clusterer {method} --set clusterer.restarts=10");
        let summary = bench.run(&line).json();
        assert_eq!(summary["objective"], 0.75, "{line}: {summary}");
    }
    let line = "cluster --data f.csv --object-weights count --features x --k 2 --clusterer kmeans --profile profile";
    let done = bench.run(&format!("{line} --set clusterer.restarts=10"));
    assert_eq!(done.status, 0, "{}", done.err);
    let (clusters, features) =
        (bench.read("profile/clusters.csv"), bench.read("profile/features.csv"));
    // The third row is typical of its cluster, the row of weight 0 is not.
    assert!(clusters.contains(",2,,,,0; 1\n") && clusters.contains(",2,,,,2\n"), "{clusters}");
    let means = [",x,0.25,0.5,10,", ",x,10,,0.25,"];
    assert!(means.iter().all(|mean| features.contains(mean)), "{features}");
    let line = "cluster --data f.csv --object-weights count --features x --k 2 --format json";
    // Where nobody names a method, one that takes weights.
    bench.write("p.csv", "i,j,type\n0,1,must_link\n1,2,cannot_link\n");
    let done = bench.run(&format!("{line} --constraints p.csv"));
    assert_eq!(done.status, 0, "{}", done.err);
    assert!(done.err.contains("note: clusterer = { type = \"pck_means\""), "{}", done.err);
    let done = bench.run(&format!("{line} --clusterer lac"));
    assert!(done.status == 2 && done.err.contains("lac counts every object once"), "{}", done.err);
    assert!(done.err.contains("pck_means") && !done.err.contains("mpck_means"), "{}", done.err);
    // Members on other features would forget them.
    let line = "impute --data f.csv --object-weights count --features x --k 2";
    let done = bench.run(&format!("{line} --generator feature_subspace"));
    assert!(done.status == 2 && done.err.contains("counts every object once"), "{}", done.err);
    let done = bench.run("cluster --data f.csv --object-weights photo --features x --k 2");
    let says = "line 2, column \"photo\": \"a\" is not a weight, which is a number of at least 0";
    assert!(done.status == 3 && done.err.contains(says), "{}", done.err);
    let done = bench.run("cluster --data f.csv --object-weights cuont --k 2");
    assert!(done.status == 3 && done.err.contains("did you mean \"count\""), "{}", done.err);
    let done = bench.run("cluster --data f.csv --object-weights count --features count --k 2");
    assert!(done.err.contains("cannot be both a weight and a feature"), "{}", done.err);
    let done = bench.run("select-k --data f.csv --object-weights count");
    assert!(done.status == 2 && done.err.contains("--object-weights"), "{}", done.err);
    // Equal rows that are merged count together.
    std::fs::write(bench.path("g.csv"), "x,count\n0,1\n0,2\n1,1\n10,1\n").unwrap();
    std::fs::write(
        bench.path("m.toml"),
        "transforms = [\"deduplicate\"]\nclusterer = \"kmeans\"\nk = 2\n",
    )
    .unwrap();
    let line = "cluster --data g.csv --object-weights count --method m.toml --format json";
    assert_eq!(bench.run(line).json()["objective"], 0.75);
}

/// Rows that a transform merged are scored as the file of labels has them.
#[test]
fn scores_are_those_of_the_labels_that_are_written() {
    let rows = "a,b,class\n0,0,x\n0,0,x\n1,1,x\n5,5,y\n0,0,y\n6,6,y\n5,5,y\n";
    let bench = Bench::with("f.csv", rows);
    bench.write("m.toml", "transforms = [\"deduplicate\"]\nclusterer = \"kmeans\"\n");
    let made =
        bench.run("cluster --data f.csv --method m.toml --k 2 --out l.csv --format json").json();
    let line =
        "score --truth f.csv --truth-column class --labels l.csv --metric ari,purity --format json";
    let scores = bench.run(line).json();
    for metric in ["ari", "purity"] {
        assert!(made["scores"][metric].as_f64().is_some_and(|v| v < 1.0), "{made}");
        assert!(
            scores.to_string().contains(&made["scores"][metric].to_string()),
            "{scores} {made}"
        );
    }
}
