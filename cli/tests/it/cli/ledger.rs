//! `--ledger`: a selection that stops and goes on.

use super::support::Bench;

fn told(bench: &Bench) -> usize {
    bench.read("asked.jsonl").lines().filter(|l| l.contains("\"type\":\"told\"")).count()
}

#[test]
fn a_selection_goes_on_where_it_stopped() {
    let bench = Bench::new();
    let select = "select --data iris --selector explore_consolidate --seed 2 --ledger asked.jsonl";
    let first = bench.run(&format!("{select} --budget 20 --out few.csv"));
    assert!(first.err.contains("\n20 queries: "), "{}", first.err);
    assert_eq!(told(&bench), 20);
    // As if the program had been killed in the middle of a line, and an editor had put its mark in front.
    let text = bench.read("asked.jsonl");
    bench.write("asked.jsonl", format!("\u{feff}{}", &text[..text.len() - 30]));
    let second = bench.run(&format!("{select} --budget 50 --out many.csv"));
    assert_eq!(second.status, 0, "{}", second.err);
    assert!(second.err.contains("the last line was cut off and is removed"), "{}", second.err);
    assert_eq!(told(&bench), 50);
    bench.run(
        "select --data iris --selector explore_consolidate --seed 2 --budget 50 --out all.csv",
    );
    assert_eq!(bench.read("many.csv"), bench.read("all.csv"));
    // Nothing is left to ask: the oracle is not even needed.
    let again = bench.run(&format!("{select} --budget 50 --oracle none --out many.csv"));
    assert!(again.err.contains("\n50 queries: "), "{}", again.err);
    // What the ledger knows counts, whatever the budget is now.
    let fewer = bench.run(&format!("{select} --budget 30 --out many.csv"));
    assert!(fewer.err.contains("\n50 queries: "), "{}", fewer.err);
    assert!(fewer.err.ends_with("more than --budget: the ledger had them\n"), "{}", fewer.err);
    let cluster = select.replace("select --data", "cluster --clusterer pck_means --data");
    let fewer = bench.run(&format!("{cluster} --budget 30"));
    assert!(fewer.out.contains("50 (more than --budget 30: the ledger had them)"), "{}", fewer.out);
    // Another k is another course: that is said, and nothing is dropped silently.
    let other = bench.run(&format!("{select} --budget 50 --k 4"));
    assert_eq!((other.status, other.out.as_str()), (3, ""), "{}", other.err);
    assert!(other.err.contains("the selection differs from the recorded one"), "{}", other.err);
    assert!(other.err.contains("\"mustlink label --import\" takes these"), "{}", other.err);
    assert_eq!(bench.files(), ["all.csv", "asked.jsonl", "few.csv", "many.csv"]);
}

#[test]
fn an_answer_that_was_undone_is_not_a_query() {
    let bench = Bench::new();
    let of_data = "--data iris --k 3 --selector random_pairs --ledger asked.jsonl --budget 5";
    bench.run(&format!("select {of_data} --out a.csv"));
    let undone = "{\"v\":1,\"type\":\"retracted\",\"id\":\"q000004\"}\n";
    bench.write("asked.jsonl", bench.read("asked.jsonl") + undone);
    let line = format!("cluster {of_data} --clusterer pck_means");
    let done = bench.run(&format!("{line} --oracle none"));
    assert!(done.out.contains("\nqueries      4 of at most 5, plus"), "{}{}", done.out, done.err);
    // There is room for another answer.
    assert_eq!(bench.run(&format!("{line} --format json")).json()["queries"], 5);
}

#[test]
fn a_ledger_of_another_selection_is_refused() {
    let bench = Bench::new();
    bench.run(
        "select --data iris --selector random_pairs --budget 3 --ledger asked.jsonl --out a.csv",
    );
    let before = bench.read("asked.jsonl");
    for other in ["--selector cobra", "--selector random_pairs --seed 9"] {
        let done =
            bench.run(&format!("select --data iris --budget 3 --ledger asked.jsonl {other}"));
        assert_eq!((done.status, done.out.as_str()), (3, ""), "{}", done.err);
        assert!(
            done.err.contains("asked.jsonl, line 1: belongs to another selection"),
            "{}",
            done.err
        );
    }
    assert_eq!(bench.read("asked.jsonl"), before);
    // Its answers can still be used.
    let done = bench.run(
        "select --data iris --selector random_pairs --out b.csv \
         --oracle {type=\"replay\",ledger=\"asked.jsonl\"}",
    );
    assert!(done.err.ends_with("3 constraints; the oracle answers no more\n"), "{}", done.err);
}

#[test]
fn a_ledger_is_a_file() {
    let bench = Bench::new();
    let select = "select --data iris --selector random_pairs --budget 3";
    let said = "error: --ledger -: a ledger is read and written; name a file\n";
    bench.run(&format!("{select} --ledger -")).failed(2, said);
    assert!(bench.files().is_empty());
}

#[cfg(unix)]
#[test]
fn a_lock_is_taken_over_from_the_dead_alone() {
    let bench = Bench::new();
    // Says who it is and answers nothing, for as long as its owner lives.
    bench.write(
        "oracle.sh",
        "read hello; echo '{\"v\":1,\"type\":\"hello\",\"protocol\":\"pairwise-oracle\"}'\n\
         read question; touch waits; cat > /dev/null\n",
    );
    let select = "select --data iris --k 3 --selector random_pairs --budget 3 --ledger asked.jsonl";
    let silent = "{type=\"subprocess\",command=[\"sh\",\"oracle.sh\"]}";
    let mut arguments: Vec<&str> = select.split(' ').collect();
    arguments.extend(["--oracle", silent]);
    let mut command = bench.command(&arguments);
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut owner = command.spawn().expect("it starts");
    while !bench.path("waits").exists() {
        assert_eq!(owner.try_wait().expect("a state"), None, "it is over too soon");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let process = owner.id();
    let before = bench.read("asked.jsonl");
    bench.run(select).failed(
        3,
        &format!(
            "error: asked.jsonl: is being written by process {process}; wait for it, or end it\n"
        ),
    );
    assert_eq!(bench.read("asked.jsonl"), before);
    owner.kill().expect("SIGKILL");
    owner.wait().expect("is gone");
    let next = bench.run(&format!("{select} --out pairs.csv"));
    assert_eq!((next.status, told(&bench)), (0, 3), "{}", next.err);
    let said = format!("taken over from process {process}, which ended without closing it");
    assert!(next.err.contains(&said), "{}", next.err);
}

/// It was read without end.
#[cfg(unix)]
#[test]
fn a_pipe_is_not_a_ledger() {
    let bench = Bench::new();
    let made = std::process::Command::new("mkfifo").arg(bench.path("pipe")).status();
    assert!(made.unwrap().success());
    let done = bench.run("select --data iris --selector random_pairs --budget 3 --ledger pipe");
    let said =
        "error: pipe: is not a regular file; a ledger is read and written again, so name another\n";
    assert!(done.status == 3 && done.err.ends_with(said), "{}", done.err);
    assert!(!bench.path("pipe.lock").exists());
}
