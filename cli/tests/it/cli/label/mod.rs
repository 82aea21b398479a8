//! A person answers: in a terminal, on a page, and by what others send to it.

mod browser;
mod http;
mod page;
#[cfg(unix)]
mod terminal;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};

use super::support::Bench;

/// Says what a test does without, past what is kept of the output of tests that pass.
fn skipped(missing: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {missing}");
}

/// `mustlink label --web` at work; killed where a test ends before it does.
struct Label {
    child: Child,
    /// The page, as it was printed.
    address: String,
    err: BufReader<std::process::ChildStderr>,
}

impl Label {
    fn start(bench: &Bench, arguments: &[&str]) -> Self {
        let all = [&["label", "--web"], arguments].concat();
        let mut command = bench.command(&all);
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let err = BufReader::new(child.stderr.take().unwrap());
        let mut label = Label { child, address: String::new(), err };
        let mut said = String::new();
        while label.address.is_empty() {
            let mut line = String::new();
            assert!(label.err.read_line(&mut line).unwrap() > 0, "ended without a page: {said}");
            if let Some(rest) = line.strip_prefix("answer at ") {
                label.address = rest.split(' ').next().unwrap().to_string();
            }
            said += &line;
        }
        label
    }

    /// Waits for its end; gives the exit status and what it said.
    fn ended(mut self) -> (i32, String) {
        let mut said = String::new();
        while self.err.read_line(&mut said).unwrap() > 0 {}
        (self.child.wait().unwrap().code().unwrap_or(-1), said)
    }

    /// Kills it without warning.
    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Label {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn ledgers_of_several_people_become_constraints() {
    let bench = Bench::new();
    let done = bench.run(
        "select --data iris --selector random_pairs --budget 200 --out ann.csv --ledger ann.jsonl",
    );
    assert_eq!(done.status, 0, "{}", done.err);
    // The same questions; each person errs elsewhere.
    let ann = bench.read("ann.jsonl");
    let turned = |line: &str| {
        if line.contains("must_link") {
            line.replace("must_link", "cannot_link")
        } else {
            line.replace("cannot_link", "must_link")
        }
    };
    for (name, errs) in [("bob", &[3][..]), ("eve", &[1, 4, 6, 9])] {
        let told = |(at, line): (usize, &str)| {
            let is_told = line.contains("\"type\":\"told\"");
            if is_told && errs.contains(&(at / 2 % 10)) { turned(line) } else { line.to_string() }
        };
        let lines: Vec<String> = ann.lines().enumerate().map(told).collect();
        bench.write(&format!("{name}.jsonl"), lines.join("\n") + "\n");
    }
    let merge =
        "ledger merge ann.jsonl bob.jsonl eve.jsonl --data iris --disagreements d.csv --out";
    let majority = bench.run(&format!("{merge} m.csv"));
    assert_eq!(majority.status, 0, "{}", majority.err);
    let weighted = bench.run(&format!("{merge} w.csv --rule weighted"));
    // Ann never errs, as all three together show.
    let error = |name: &str| {
        let row = weighted.err.lines().find(|l| l.trim_start().starts_with(name)).unwrap();
        row.split_whitespace().last().unwrap().parse::<f64>().unwrap()
    };
    assert!(error("ann") < error("bob") && error("bob") < error("eve"), "{}", weighted.err);
    let wrong = |file: &str| {
        let rows = bench.read(file);
        let wrong = |row: &&str| {
            let cells: Vec<&str> = row.split(',').collect();
            let class = |cell: &str| cell.parse::<usize>().unwrap() / 50;
            (class(cells[0]) == class(cells[1])) != (cells[2] == "must_link")
        };
        rows.lines().skip(1).filter(wrong).count()
    };
    assert_eq!((wrong("w.csv"), wrong("m.csv")), (0, 0), "no two err on one pair");
    let disputed = bench.read("d.csv");
    assert!(disputed.starts_with("i,j,\"ann\",\"bob\",\"eve\"\n"), "{disputed}");
    assert!(disputed.lines().count() > 50, "{disputed}");
    let lone = bench.run("ledger merge ann.jsonl --data iris");
    assert_eq!((lone.status, lone.out.lines().count()), (0, 201), "{}", lone.err);
    assert_eq!(bench.run("ledger merge --data iris").status, 2);
}
