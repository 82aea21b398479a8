//! A person answers: in a terminal, on a page, and by what others send to it.

mod annotators;
mod browser;
mod http;
mod page;
#[cfg(unix)]
mod terminal;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};

use serde_json::json;

use super::support::Bench;
use http::{parts, send};

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
        Label::from(bench.command(&all))
    }

    /// The same with at most so many open files.
    #[cfg(unix)]
    fn start_within(bench: &Bench, files: usize, arguments: &[&str]) -> Self {
        let limited = bench.command(&[]);
        let mut command = std::process::Command::new("sh");
        command.arg("-c").arg(format!("ulimit -n {files} && exec \"$0\" label --web \"$@\""));
        command.arg(limited.get_program()).args(arguments).current_dir(bench.path(""));
        Label::from(command)
    }

    fn from(mut command: std::process::Command) -> Self {
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let err = BufReader::new(child.stderr.take().unwrap());
        let mut label = Label { child, address: String::new(), err };
        label.address = label.next_address();
        label
    }

    /// The address of the next page, once it is printed.
    fn next_address(&mut self) -> String {
        let mut said = String::new();
        loop {
            let mut line = String::new();
            assert!(self.err.read_line(&mut line).unwrap() > 0, "ended without a page: {said}");
            if let Some(rest) = line.strip_prefix("answer at ") {
                return rest.split(' ').next().unwrap().to_string();
            }
            said += &line;
        }
    }

    /// Waits for its end; gives the exit status and what it said.
    fn ended(mut self) -> (i32, String) {
        let mut said = String::new();
        while self.err.read_line(&mut said).unwrap() > 0 {}
        (self.child.wait().unwrap().code().unwrap_or(-1), said)
    }

    /// Ends it as Ctrl-C does; gives the exit status and what it said.
    #[cfg(unix)]
    fn interrupted(self) -> (i32, String) {
        let pid = self.child.id().to_string();
        assert!(
            std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success()
        );
        self.ended()
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
    let said = "ann and bob agree on 180 of 200 pairs that both answered; Cohen's κ is 0.";
    assert!(majority.err.contains(said), "{}", majority.err);
    let weighted = bench.run(&format!("{merge} w.csv --rule weighted"));
    // Ann never errs, as all three together show.
    let error = |name: &str| {
        let mut rows = weighted.err.lines().map(|l| l.split_whitespace().collect::<Vec<_>>());
        let row = rows.find(|row| row.first() == Some(&name)).unwrap();
        row.last().unwrap().parse::<f64>().unwrap()
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
    assert!(disputed.starts_with("i,j,ann,bob,eve\n"), "{disputed}");
    // Nothing follows from answers that may be wrong: pairs with different answers, and all estimated ones.
    for (file, of_disputed) in [("m.csv", true), ("w.csv", false)] {
        let rows = bench.read(file);
        assert!(rows.starts_with("i,j,type,weight,strength\n"), "{rows}");
        for row in rows.lines().skip(1) {
            let cells: Vec<&str> = row.split(',').collect();
            let pair = format!("{},{}", cells[0], cells[1]);
            let differ = disputed.lines().any(|line| line.starts_with(&format!("{pair},")));
            assert_eq!(cells[4] == "soft", differ || !of_disputed, "{file}: {row}");
        }
    }
    assert!(disputed.lines().count() > 50, "{disputed}");
    let lone = bench.run("ledger merge ann.jsonl --data iris");
    assert_eq!((lone.status, lone.out.lines().count()), (0, 201), "{}", lone.err);
    assert_eq!(lone.err, "200 constraints written to standard output\n");
    assert_eq!(bench.run("ledger merge --data iris").status, 2);
}

/// Rows without ids, of which two have one name.
const CARS: &str = "model,x,y\nfiat,1,1\nford,9,9\nfiat,2,1\nopel,8,9\nseat,1,2\ndodge,9,8\n";
const OF_CARS: &str = "--name model --k 2 --selector random_pairs";

#[test]
fn objects_are_named_by_what_people_saw() {
    let bench = Bench::with("cars.csv", CARS);
    let session = |data: &str, ledger: &str, import: &str| {
        bench.run(&format!("label --data {data} {OF_CARS} --ledger {ledger} --import {import}"))
    };
    bench.write("ann.csv", "i,j,answer\n0,1,different\n1,3,same\n");
    assert_eq!(session("cars.csv", "ann.jsonl", "ann.csv").status, 0);
    bench.write("clash.csv", "i,j,answer\n0,3,same\n");
    let done = session("cars.csv", "ann.jsonl", "clash.csv");
    assert!(done.status == 3 && done.err.contains("0 (fiat) ≠ 1 (ford) (q0)"), "{}", done.err);
    bench.write("bob.csv", "i,j,answer\n0,1,same\n");
    assert_eq!(session("cars.csv", "bob.jsonl", "bob.csv").status, 0);
    let merge = "ledger merge ann.jsonl bob.jsonl --data cars.csv --name model --out p.csv";
    assert_eq!(bench.run(&format!("{merge} --disagreements d.csv")).status, 0);
    let differing = "i,j,ann,bob,text of i,text of j\n0,1,different,same,fiat,ford\n";
    assert_eq!(bench.read("d.csv"), differing);
    // Answers are about the same rows where some were appended.
    bench.write("more.csv", format!("{CARS}vw,5,5\n"));
    let done = session("more.csv", "more.jsonl", "ann.jsonl");
    assert!(done.status == 0 && done.err.contains("2 answers in more.jsonl"), "{}", done.err);
    bench.write("other.csv", format!("{CARS}vw,5,5\n").replace("ford,9", "ford,7"));
    let done = session("other.csv", "other.jsonl", "ann.jsonl");
    assert!(done.status == 3 && done.err.contains("is about 6 objects"), "{}", done.err);
    let done =
        bench.run("cluster --data cars.csv --name model --k 2 --clusterer kmeans --profile p");
    let profile = bench.read("p/clusters.csv");
    assert!(done.status == 0 && profile.contains("1 (ford); "), "{} {profile}", done.err);
    bench.run("cluster --data cars.csv --id model --k 2").failed(
        3,
        "error: cars.csv, line 4: the id \"fiat\" is also on line 2; 1 row repeats an id in all. Use a column \
         without duplicates, or --name instead of --id: rows are then numbered from 0, and the column says what they \
         are called\n",
    );
}

#[test]
fn an_answer_that_another_ledger_imported_counts_once() {
    let bench = Bench::with("cars.csv", CARS);
    let session = |name: &str, import: &str| {
        let line = format!("label --data cars.csv {OF_CARS} --ledger {name} --import {import}");
        let done = bench.run(&line);
        assert_eq!(done.status, 0, "{}", done.err);
    };
    for (name, answer) in [("ann", "different"), ("bob", "same"), ("eve", "different")] {
        bench.write(&format!("{name}.csv"), format!("i,j,answer\n0,1,{answer}\n"));
        session(&format!("{name}.jsonl"), &format!("{name}.csv"));
    }
    session("all.jsonl", "ann.jsonl");
    session("more.jsonl", "all.jsonl");
    let merged = |ledgers: &str| {
        let done = bench.run(&format!("ledger merge {ledgers} --data cars.csv --name model"));
        assert_eq!(done.status, 0, "{}", done.err);
        done.out
    };
    let left_out = "i,j,type,weight\n";
    for ledgers in ["ann.jsonl bob.jsonl all.jsonl more.jsonl", "more.jsonl bob.jsonl all.jsonl"] {
        assert_eq!(merged(ledgers), left_out, "{ledgers}: one answer of each of two people");
    }
    // The same answer of another person is another answer.
    assert!(merged("ann.jsonl bob.jsonl eve.jsonl").contains("\n0,1,cannot_link,0.333"));
}

#[test]
fn a_copy_of_a_ledger_is_not_another_person() {
    let bench = Bench::new();
    let select =
        "select --data iris --selector random_pairs --budget 3 --ledger l.jsonl --out p.csv";
    assert_eq!(bench.run(select).status, 0);
    // As a person answers, at some moment and in some time.
    let told = |second: usize| {
        let of_person =
            format!("\"at\":\"2026-01-01T00:00:0{second}Z\",\"elapsed_ms\":1234,\"cost\"");
        bench.read("l.jsonl").replace("\"cost\"", &of_person)
    };
    bench.write("ann.jsonl", told(1));
    bench.write("ben.jsonl", told(2));
    let merge = |ledgers: &str| bench.run(&format!("ledger merge {ledgers} --data iris"));
    assert_eq!(merge("ann.jsonl ben.jsonl").status, 0);
    bench.write("renamed.jsonl", format!("\u{feff}{}", told(1)));
    merge("ann.jsonl ben.jsonl renamed.jsonl").failed(
        2,
        "error: renamed.jsonl is a copy of ann.jsonl, so its answers would count twice; leave one out\n",
    );
    // Nor is an earlier state of it, from which an answer was taken back later.
    let retracted = "{\"v\":1,\"type\":\"retracted\",\"id\":\"q000001\"}\n";
    bench.write("renamed.jsonl", told(1) + retracted);
    assert_eq!(merge("renamed.jsonl ann.jsonl").status, 2);
}

#[test]
fn an_imported_answer_is_a_vote_even_if_it_follows() {
    let bench = Bench::with("cars.csv", CARS);
    bench.write("ann.csv", "i,j,answer\n0,1,same\n1,2,same\n0,2,same\n");
    bench.write("eve.csv", "i,j,answer\n0,2,different\n");
    let session = |name: &str, import: &str| {
        let line = format!("label --data cars.csv {OF_CARS} --ledger {name} --import {import}");
        assert_eq!(bench.run(&line).status, 0, "{}", bench.run(&line).err);
    };
    let merged = |ledgers: &str| {
        let done = bench.run(&format!("ledger merge {ledgers} --data cars.csv --name model"));
        assert_eq!(done.status, 0, "{}", done.err);
        done.out
    };
    session("ann.jsonl", "ann.csv");
    session("eve.jsonl", "eve.csv");
    let found = merged("ann.jsonl eve.jsonl");
    assert!(found.contains("\n0,1,must_link") && found.contains("\n1,2,must_link"), "{found}");
    assert!(!found.contains("\n0,2,"), "one vote for each side: {found}");
    // An answer that was taken back in its own ledger does not count in another one.
    session("all.jsonl", "eve.jsonl");
    let taken_back = "{\"v\":1,\"type\":\"retracted\",\"id\":\"q000000\"}\n";
    bench.write("eve.jsonl", bench.read("eve.jsonl") + taken_back);
    assert!(!merged("eve.jsonl all.jsonl").contains("cannot_link"));
    // Only another ledger decides: one of the same name in another folder is another person's.
    std::fs::create_dir(bench.path("bob")).expect("a folder");
    session("bob/ann.jsonl", "ann.jsonl");
    assert_eq!(merged("bob/ann.jsonl"), merged("ann.jsonl"));
}

#[test]
fn a_ledger_goes_on_if_rows_were_appended() {
    let bench = Bench::with("cars.csv", CARS);
    bench.write("more.csv", format!("{CARS}vw,5,5\n"));
    bench.write("other.csv", format!("{CARS}vw,5,5\n").replace("ford,9", "ford,7"));
    bench.write("old.csv", "i,j,answer\n0,1,different\n1,3,same\n");
    bench.write("new.csv", "i,j,answer\n6,0,same\n");
    let session = |data: &str, import: &str| {
        let line =
            format!("label --data {data} {OF_CARS} --seed 3 --ledger l.jsonl --import {import}");
        bench.run(&line)
    };
    assert_eq!(session("cars.csv", "old.csv").status, 0);
    let before = bench.read("l.jsonl");
    let done = session("other.csv", "new.csv");
    let said = "l.jsonl, line 1: belongs to another selection: its number of objects is 6, this one's is 7";
    assert!(done.status == 3 && done.err.contains(said), "{}", done.err);
    assert_eq!(bench.read("l.jsonl"), before);
    let done = session("more.csv", "new.csv");
    let said = "warning: l.jsonl: the data have 1 row more than before; the answers are kept";
    assert!(done.status == 0 && done.err.contains(said), "{}", done.err);
    assert!(done.err.contains("3 answers in l.jsonl"), "{}", done.err);
    assert!(bench.read("l.jsonl").starts_with(&before));
    let done = session("more.csv", "new.csv");
    assert!(done.status == 0 && !done.err.contains("than before"), "{}", done.err);
    // Answers of a session are merged, whatever its seed was.
    let line =
        format!("label --data cars.csv {OF_CARS} --seed 3 --ledger ann.jsonl --import old.csv");
    assert_eq!(bench.run(&line).status, 0);
    let merged = bench.run("ledger merge ann.jsonl --data more.csv --name model");
    assert_eq!(
        merged.out, "i,j,type,weight\n0,1,cannot_link,1\n1,3,must_link,1\n",
        "{}",
        merged.err
    );
    let merged = bench.run("ledger merge ann.jsonl --data other.csv --name model");
    assert!(merged.status == 3 && merged.err.contains("is about 6 objects"), "{}", merged.err);
}

/// The answers were refused: only a table of numbers had the same hash as its first rows.
#[test]
fn rows_may_be_appended_to_data_of_any_kind() {
    let mtx = |rows: &str, n: usize, nonzeros: usize| {
        format!("%%MatrixMarket matrix coordinate real general\n{n} 9 {nonzeros}\n{rows}")
    };
    let sparse = "1 1 1.5\n2 3 2\n3 1 1\n4 3 2.5\n";
    let words = "colour,x\nred,0\ngreen,1\nred,1\ngreen,\n";
    let twice = "x,y\n0.5,1.5\n0.5,1.5\n5,1.5\n0.5,2\n5,2\n";
    let cases = [
        ("s.mtx", mtx(sparse, 4, 4), mtx(&format!("{sparse}5 9 3\n"), 5, 5), ""),
        ("w.csv", words.into(), format!("{words}blue,7\n"), "[\"impute_missing\",\"one_hot\"]"),
        ("t.csv", twice.into(), format!("{twice}0.5,1.5\n9,9\n"), "[\"deduplicate\"]"),
    ];
    for (data, before, after, transforms) in cases {
        let bench = Bench::with(data, before);
        bench.write("old.csv", "i,j,answer\n0,2,different\n2,3,different\n");
        let set = if transforms.is_empty() {
            String::new()
        } else {
            format!("--set transforms={transforms}")
        };
        let session = |ledger: &str, import: &str| {
            bench.run(&format!(
                "label --data {data} --k 2 --selector random_pairs {set} --ledger {ledger} --import {import}"
            ))
        };
        let done = session("l.jsonl", "old.csv");
        assert_eq!(done.status, 0, "{data}: {}", done.err);
        bench.write(data, after);
        let done = session("l.jsonl", "old.csv");
        let said = "1 row more than before; the answers are kept";
        assert!(done.status == 0 && done.err.contains(said), "{data}: {}", done.err);
        let done = session("other.jsonl", "l.jsonl");
        assert!(done.status == 0 && !done.err.contains("other values"), "{data}: {}", done.err);
    }
}

/// Answers by row number went to other objects without a warning if the number of rows was the same, and in data sets
/// that are known by name also if rows were inserted.
#[test]
fn answers_by_row_number_are_not_taken_for_other_rows() {
    let rows = "0.5,1.5\n9.5,1\n4.5,7\n2,8.5\n";
    let bench = Bench::with("d.csv", format!("x,y\n{rows}"));
    bench.write("r.csv", "x,y\n2,8.5\n4.5,7\n9.5,1\n0.5,1.5\n");
    bench.write("old.csv", "i,j,answer\n0,1,different\n1,2,same\n");
    let label =
        "--k 2 --selector random_pairs --clusterer pck_means --budget 9 --out o.csv --import";
    assert_eq!(
        bench.run(&format!("label --data d.csv {label} old.csv --ledger l.jsonl")).status,
        0
    );
    let said = "l.jsonl: refers to rows by number, but its rows had other values";
    for (data, warned) in [("d.csv", false), ("r.csv", true)] {
        let merged = bench.run(&format!("ledger merge l.jsonl --data {data} --out p.csv"));
        assert_eq!((merged.status, merged.err.contains(said)), (0, warned), "{}", merged.err);
        let label = format!("label --data {data} {label} l.jsonl --ledger {data}.jsonl");
        let taken = bench.run(&label);
        assert_eq!((taken.status, taken.err.contains(said)), (0, warned), "{}", taken.err);
        let oracle = "{type=\"replay\",ledger=\"l.jsonl\"}";
        let line = format!("select --data {data} --k 2 --selector random_pairs --oracle {oracle}");
        let replayed = bench.run(&line);
        assert_eq!((replayed.status, replayed.err.contains(said)), (0, warned), "{}", replayed.err);
    }
    std::fs::create_dir(bench.path("sets")).unwrap();
    bench.write("sets/MANIFEST.csv", "name,kind,path\nfew,csv,few.csv\n");
    bench.write("sets/few.csv", format!("x,y\n{rows}"));
    let line = format!("label --data few --data-dir sets {label} old.csv --ledger n.jsonl");
    let first = bench.run(&line);
    assert_eq!(first.status, 0, "{}", first.err);
    bench.write("sets/few.csv", format!("x,y\n7,7.5\n{rows}"));
    let refused = bench.run(&line);
    assert!(
        refused.status == 3 && refused.err.contains("its number of objects is 4"),
        "{}",
        refused.err
    );
}

#[test]
#[cfg(unix)]
fn ctrl_c_saves_and_quits() {
    let bench = Bench::with("cars.csv", CARS);
    let line = format!(
        "--data cars.csv {OF_CARS} --clusterer kmeans --selection-only --ledger l.jsonl --out labels.csv"
    );
    let label = Label::start(&bench, &line.split(' ').collect::<Vec<_>>());
    let (host, path) = parts(&label.address);
    let wait = |(host, path): (&str, &str)| {
        while send(host, "GET", &format!("{path}state"), &[], "").json()["open"].is_null() {}
    };
    wait((host, path));
    let own = format!("http://{host}");
    let why = |i: &str| {
        let look = json!({ "look": "why", "i": i, "j": "5 (dodge)" }).to_string();
        send(host, "POST", &format!("{path}look"), &[("Origin", own.as_str())], &look).status
    };
    // Two are called fiat.
    assert_eq!(["1", "ford", "Opel", "fiat"].map(why), [200, 200, 200, 404]);
    // Its name on the page.
    assert_eq!(["ford (row 1)", "ford (row 2)", "1 (ford)"].map(why), [200, 404, 200]);
    let (status, said) = label.interrupted();
    assert_eq!(status, 0, "{said}");
    assert_eq!(bench.read("labels.csv").lines().count(), 7);
    // Without answers, a file that exists is kept.
    bench.write("labels.csv", "of another session");
    let label = Label::start(&bench, &line.split(' ').collect::<Vec<_>>());
    wait(parts(&label.address));
    let (status, said) = label.interrupted();
    let kept = "\nlabels.csv was not changed, because no pair was answered\n";
    assert!(status == 0 && said.contains(kept), "{said}");
    // Neither an answer that was retracted nor "don't know" changes it.
    bench.write("told.csv", "i,j,answer\n0,1,different\n");
    bench.write("unsure.csv", "i,j,answer\n1,3,unsure\n");
    let session = |import: &str| bench.run(&format!("label {line} --import {import}"));
    let done =
        bench.run(&format!("label {line} --import told.csv").replace("--out labels.csv", ""));
    assert_eq!(done.status, 0, "{}", done.err);
    let ledger = bench.read("l.jsonl");
    let told = ledger.lines().find(|line| line.contains("\"type\":\"stated\"")).unwrap();
    let id = serde_json::from_str::<serde_json::Value>(told).unwrap()["id"].clone();
    bench.write("l.jsonl", format!("{ledger}{{\"v\":1,\"type\":\"retracted\",\"id\":{id}}}\n"));
    let done = session("unsure.csv");
    assert!(done.status == 0 && done.err.contains(kept.trim_start()), "{}", done.err);
    assert!(done.err.contains("0 answers and 1 \"don't know\" in l.jsonl"), "{}", done.err);
    assert_eq!(bench.read("labels.csv"), "of another session");
}
