//! What is too large is refused by name, with the figure, and nothing is killed for it.

use std::process::{Command, Stdio};

use super::support::Bench;

/// Runs the program with this much address space, in KiB.
fn within(bench: &Bench, kib: u64, arguments: &str) -> (i32, String, String) {
    let program = env!("CARGO_BIN_EXE_mustlink");
    let done = Command::new("sh")
        .args(["-c", &format!("ulimit -v {kib} && exec {program} {arguments}")])
        .current_dir(bench.path(""))
        .stdin(Stdio::null())
        .output()
        .expect("a shell");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (done.status.code().unwrap_or(-1), text(&done.stdout), text(&done.stderr))
}

/// So many rows of two values.
fn rows(n: usize) -> String {
    let row = |i: usize| format!("{}.{},{},{}\n", i % 7, i % 1000, (i * i) % 11, i % 3);
    "a,b,class\n".to_string() + &(0..n).map(row).collect::<String>()
}

#[test]
fn a_limit_of_address_space_is_a_limit_of_memory() {
    let bench = Bench::with("many.csv", rows(60_001));
    let (status, _, err) =
        within(&bench, 8_000_000, "cluster --data many.csv --k 3 --clusterer hierarchical");
    assert_eq!(status, 2, "{err}");
    assert!(err.contains("memory: the method needs about 13.4 GiB"), "{err}");
}

#[test]
fn no_number_of_an_option_is_allocated() {
    let bench = Bench::with("few.csv", rows(40));
    for (clusterer, option) in [
        ("kmeans", "restarts=9223372036854775807"),
        ("constrained_em", "restarts=1000000001"),
        ("dbscan", "min_points=4294967295"),
    ] {
        let line = format!(
            "cluster --data few.csv --k 3 --clusterer {clusterer} --set clusterer.{option}"
        );
        let done = bench.run(&line);
        assert_eq!(done.status, 2, "{line}: {}", done.err);
        assert!(done.err.contains("..=1000000000, got"), "{}", done.err);
    }
}

#[test]
fn a_cell_beyond_the_limit_fails_alone() {
    let bench = Bench::with("many.csv", rows(60_001));
    bench.write(
        "e.toml",
        "[experiment]\nname = \"e\"\nseed = 1\n\
         [[dataset]]\nid = \"many\"\npath = \"many.csv\"\n\
         [[method]]\nid = \"tree\"\nclusterer = \"hierarchical\"\n\
         [[method]]\nid = \"means\"\nclusterer = { type = \"kmeans\", restarts = 1 }\n",
    );
    let (status, out, err) = within(&bench, 8_000_000, "run e.toml --out results");
    assert_eq!(status, 1, "{out}{err}");
    let cells = bench.read("results/results.csv");
    let line = |method: &str| {
        cells.lines().find(|l| l.contains(&format!(",{method},"))).expect("a cell").to_string()
    };
    assert!(line("tree").contains("13.4 GiB"), "{cells}");
    assert!(line("means").contains(",ok,"), "{cells}");
}

#[test]
fn a_cell_has_a_limit_of_its_own() {
    let bench = Bench::new();
    bench.write(
        "e.toml",
        "[experiment]\nname = \"e\"\nseed = 1\n[[dataset]]\nid = \"iris\"\n\
         [[method]]\nid = \"means\"\nclusterer = \"kmeans\"\n",
    );
    let small = bench.run("run e.toml --out r --cell-memory 1KiB --quiet");
    assert_eq!(small.status, 1, "{}", small.err);
    let rows = bench.read("r/results.csv");
    assert!(rows.contains("more than the limit 1.0 KiB; raise --cell-memory"), "{rows}");
    let refused = bench.run("run e.toml --out r --cell-memory much");
    assert_eq!(refused.status, 2, "{}", refused.err);
    // With more of it the cell is made after all, by `retry`.
    assert_eq!(bench.run("run e.toml --out r --cell-memory 1GiB --quiet").status, 1);
    let again = bench.run("retry r --quiet");
    assert_eq!(again.status, 0, "{}", again.err);
    assert!(!bench.read("r/results.csv").contains("memory"), "{}", again.err);
    let parquet = std::fs::read(bench.path("r/results.parquet"));
    assert_eq!(parquet.is_ok(), cfg!(feature = "parquet"));
    let whole = |p: Vec<u8>| p.starts_with(b"PAR1") && p.ends_with(b"PAR1");
    assert!(parquet.is_ok_and(whole) == cfg!(feature = "parquet"));
}
