//! `verdicts`: of finished experiments.

use super::support::Bench;

const CLAIMS: &str = include_str!("claims.toml");

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
    let none = bench.run("verdicts nowhere");
    assert!(none.status == 3 && none.err.contains("is this a results directory?"), "{}", none.err);
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
