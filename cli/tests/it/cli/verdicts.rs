//! `verdicts`: of finished experiments, and of k-means in place of their methods.

use super::support::Bench;

const CLAIMS: &str = r#"[experiment]
name = "claims"
[[dataset]]
id = "iris"
[curve]
points = [0, 20]
[split]
type = "kfold"
folds = 2
repeats = 2
[[method]]
id = "plain"
clusterer = "kmeans"
[[method]]
id = "asked"
clusterer = "pck_means"
selector = "explore_consolidate"
[[criterion]]
id = "1"
statement = "the method does no harm | much"
check = "last(ari('asked')) >= last(ari('plain'))"
[[criterion]]
id = "2"
statement = "constraints change something"
check = "last(ari('asked')) != last(ari('plain'))"
[[criterion]]
id = "3"
statement = "k-means is no worse than chance"
null = "it is about k-means"
check = "last(ari('plain')) > 0"
[[criterion]]
id = "4"
statement = "there are objects"
check = "n == 150"
"#;

#[test]
fn verdicts_of_finished_experiments_are_one_table() {
    let bench = Bench::with("e.toml", CLAIMS);
    assert_eq!(bench.run("run e.toml --quiet").status, 0);
    let table = bench.run("verdicts mustlink-results/claims");
    assert_eq!(table.status, 0, "{}", table.err);
    assert!(!table.err.contains("cells are finished"), "{}", table.err);
    // Those of a part are told from those of the whole.
    assert_eq!(bench.run("run e.toml --quiet --shard 1/2 --out part").status, 0);
    let part = bench.run("verdicts part");
    assert!(part.err.contains(" of 8 cells are finished, and the verdicts"), "{}", part.err);
    let lines: Vec<&str> = table.out.lines().collect();
    assert_eq!(lines[0], "| experiment | claim | verdict | numbers |");
    assert_eq!(lines.len(), 2 + 4, "{}", table.out);
    // A bar in a statement does not end a cell.
    assert!(
        lines[2].starts_with("| claims | 1: the method does no harm \\| much | "),
        "{}",
        lines[2]
    );
    assert!(lines[4].contains("| 3: k-means is no worse than chance | reproduced | iris: "));
    std::fs::create_dir(bench.path("papers")).unwrap();
    // Why a claim does not hold stands in the file, and in the table beside that verdict alone.
    let why = CLAIMS.replace("\ncheck = ", "\nwhy = \"a | b\"\ncheck = ");
    bench.write("papers/claims.toml", why.replace("repeats = 2", "repeats = 5"));
    let saved = bench.run("verdicts mustlink-results/claims --save papers");
    assert_eq!((saved.status, saved.err.as_str()), (0, "written: papers/README.md\n"));
    let page = bench.read("papers/README.md");
    assert!(page.contains("\n| claims | 4 | 3 | 0 | 0 | 1 | 0 | 0 |\n"), "{page}");
    assert!(
        page.contains("[numbers](verdicts/claims.csv). For this run: split.repeats 5 → 2.\n"),
        "{page}"
    );
    assert!(page.contains("\n| 1: the method does no harm \\| much | "), "{page}");
    let fails = page.lines().filter(|l| l.ends_with(" | not **iris** | not reproduced |"));
    assert_eq!(fails.count(), 1, "{page}");
    assert!(page.contains("meets 1 as well"), "{page}");
    assert!(!page.to_lowercase().contains("checks of our own"), "{page}");
    // A claim in other words waits for a run; a check of our own is not counted.
    let later = CLAIMS.replace("there are objects", "there are many objects");
    let later =
        later.replace("id = \"1\"", "id = \"1\"\nown = true\nshow = \"last(ari('asked')), n\"");
    bench.write("papers/claims.toml", later);
    let saved = bench.run("verdicts mustlink-results/claims --save papers");
    assert_eq!(saved.status, 0, "{}", saved.err);
    let page = bench.read("papers/README.md");
    assert!(page.contains("\n| claims | 3 | 2 | 0 | 0 | 0 | 0 | 1 |\n"), "{page}");
    assert!(page.contains("\nWait for a run: 4.\n"), "{page}");
    assert!(page.contains("\n### Own: claims\n"), "{page}");
    assert!(page.contains(".\n\n## Checks of our own\n\nNo claims of a paper"), "{page}");
    // A page of somebody else's stays, and what cannot be done leaves nothing behind.
    bench.write("README.md", "# My project\n");
    bench.write("claims.toml", CLAIMS);
    let refused = bench.run("verdicts mustlink-results/claims --save .");
    assert!(
        refused.status == 2 && refused.err.contains("a README.md of something else"),
        "{}",
        refused.err
    );
    assert_eq!(bench.read("README.md"), "# My project\n");
    let refused = bench.run("verdicts mustlink-results/claims --save empty");
    assert_eq!(refused.status, 2, "{}", refused.err);
    assert!(!bench.path("empty").exists() && !bench.path("verdicts").exists());
    let none = bench.run("verdicts nowhere");
    assert!(none.status == 3 && none.err.contains("is this a results directory?"), "{}", none.err);
}

#[test]
fn claims_that_hold_without_their_methods_are_named() {
    let bench = Bench::with("e.toml", CLAIMS);
    let table = bench.run("verdicts --null e.toml --set split.repeats=1 --quiet");
    assert_eq!(table.status, 1, "{}", table.err);
    // Claim 2 fails when both methods are k-means, claim 4 speaks about no method.
    let lines: Vec<&str> = table.out.lines().skip(2).collect();
    assert_eq!(
        lines,
        [
            "| claims | 1: the method does no harm \\| much | iris |  |",
            "| claims | 3: k-means is no worse than chance | iris | it is about k-means |"
        ]
    );
    assert!(
        table.err.ends_with("2 claims hold without their methods, 1 of them without a reason\n"),
        "{}",
        table.err
    );
    // Given a reason, it is no failure.
    let reason = "statement = \"the method does no harm | much\"\nnull = \"so it should be\"";
    let argued = CLAIMS.replace("statement = \"the method does no harm | much\"", reason);
    bench.write("e.toml", argued);
    let table = bench.run("verdicts --null e.toml --set split.repeats=1 --quiet");
    assert_eq!(table.status, 0, "{}", table.err);
    assert!(table.out.contains("| so it should be |"), "{}", table.out);
    // Whatever an experiment is called, its results stay in --out.
    let named = "verdicts --null e.toml --set split.repeats=1 --set experiment.name=../a/b --out here/o --quiet";
    assert_eq!(bench.run(named).status, 0);
    assert!(bench.path("here/o/.._a_b-null").is_dir() && !bench.path("here/a").exists());
}

#[test]
fn an_experiment_without_data_is_judged_so() {
    let missing = CLAIMS.replace("id = \"iris\"", "id = \"nowhere\"\noptional = true");
    let bench = Bench::with("e.toml", missing);
    for _ in 0..2 {
        let run = bench.run("run e.toml");
        assert_eq!(run.status, 0, "{}", run.err);
        assert!(run.out.contains("no data"), "{}", run.out);
        let left_out = "nowhere: left out: dataset nowhere: data: no data set \"nowhere\"\n";
        assert!(run.err.contains(left_out), "{}", run.err);
    }
}
