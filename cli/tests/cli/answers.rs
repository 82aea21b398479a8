//! Answers: those that contradict each other, those that nobody reads, those that nobody has.

use crate::support::Bench;

/// Twelve objects of three classes.
fn twelve() -> String {
    let row = |i: usize| {
        let class = i / 4;
        format!("o{i},{},{},c{class}\n", 10 * class + i % 4, 5 * class + i % 3)
    };
    "id,x,y,class\n".to_string() + &(0..12).map(row).collect::<String>()
}

const NOISY: &str = "--selector '{type=\"random_pairs\",objects=12}' --budget 66 --seed 1 \
                     --oracle '{type=\"noisy\",flip_rate=0.3}'";

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
    assert!(done.out.contains(" of them contradicting, and 0 inferred"), "{}", done.out);
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
    assert_eq!((refused.status, refused.out.as_str()), (2, ""), "{}", refused.err);
    assert!(refused.err.contains("contradicts must-links o"), "{}", refused.err);
}

#[test]
fn nobody_is_asked_where_nobody_reads() {
    let bench = Bench::new();
    let ask = "cluster --data iris --clusterer kmeans --selector random_pairs --budget 4 --quiet";
    let refused = bench.run(ask);
    assert_eq!((refused.status, refused.out.as_str()), (2, ""));
    assert!(
        refused.err.starts_with("error: kmeans reads no constraints: answers would change nothing"),
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
        given.err.contains("warning: kmeans reads no constraints: the 1 given"),
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
    let study = "[experiment]\nname = \"s\"\n[curve]\npoints = [0, 6]\n[[dataset]]\nid = \"d\"\n\
                 path = \"d.csv\"\nid_column = \"id\"\ntarget = \"class\"\n\
                 [scoring]\nmetrics = [\"ari\"]\n\
                 [[method]]\nid = \"asks\"\nk = 3\nclusterer = \"pck_means\"\nselector = \"random_pairs\"\n\
                 [[method]]\nid = \"vain\"\nk = 3\nclusterer = \"kmeans\"\nselector = \"random_pairs\"\n";
    bench.write("s.toml", study);
    let plan = bench.run("plan s.toml");
    assert!(plan.out.contains("note: vain: asks, but reads no constraints"), "{}", plan.out);
    assert!(plan.out.contains("note: d: 4 of 12 objects have no class: 42.4 %"), "{}", plan.out);
    assert!(bench.run("check s.toml").err.contains("note: vain: asks, but reads no constraints"));
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
    assert!(page.contains("vain asks and reads no constraints"));
    assert!(!bench.read("r/supervision.csv").contains("vain"));
}
