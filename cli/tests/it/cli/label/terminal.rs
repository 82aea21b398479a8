//! A session through a real pseudo-terminal.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use super::super::support::Bench;
use super::{CARS, OF_CARS, skipped};

/// `mustlink label` in a terminal of its own, which util-linux's `script` makes.
struct Terminal {
    child: Child,
    output: Receiver<Vec<u8>>,
    screen: vt100::Parser,
    device: String,
}

impl Terminal {
    /// `None` with a message if `script` is missing.
    fn start(bench: &Bench, arguments: &str) -> Option<Self> {
        let known = Command::new("script").arg("--version").output();
        if !known.is_ok_and(|o| String::from_utf8_lossy(&o.stdout).contains("util-linux")) {
            skipped("no script of util-linux");
            return None;
        }
        let program = env!("CARGO_BIN_EXE_mustlink");
        let inside = format!(
            "tty > tty; stty rows 24 cols 80; '{program}' label {arguments}; echo status $?"
        );
        let mut command = bench.command(&[]);
        let folder = command.get_current_dir().unwrap().to_path_buf();
        command = Command::new("script");
        let mut child = command
            .args(["-q", "-f", "-c", &inside, "/dev/null"])
            .current_dir(folder)
            .env("TERM", "xterm")
            .env("NO_COLOR", "1")
            .env_remove("MUSTLINK_DATA")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = child.stdout.take().unwrap();
        let (send, output) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = out.read(&mut bytes) {
                if send.send(bytes[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        let screen = vt100::Parser::new(24, 80, 0);
        let mut terminal = Terminal { child, output, screen, device: String::new() };
        terminal.until("belong together?");
        terminal.device = bench.read("tty").trim().to_string();
        Some(terminal)
    }

    fn text(&self) -> String {
        self.screen.screen().contents()
    }

    /// Waits until a text is on the screen.
    fn until(&mut self, text: &str) {
        let start = Instant::now();
        while !self.text().contains(text) {
            assert!(start.elapsed() < SOON, "\"{text}\" never came:\n{}", self.text());
            match self.output.recv_timeout(Duration::from_millis(200)) {
                Ok(bytes) => self.screen.process(&bytes),
                Err(RecvTimeoutError::Timeout) => {}
                Err(e) => panic!("\"{text}\" never came: {e}\n{}", self.text()),
            }
        }
    }

    /// Waits until a text is no longer there.
    fn gone(&mut self, text: &str) {
        let start = Instant::now();
        while self.text().contains(text) {
            assert!(start.elapsed() < SOON, "\"{text}\" stays:\n{}", self.text());
            if let Ok(bytes) = self.output.recv_timeout(Duration::from_millis(200)) {
                self.screen.process(&bytes);
            }
        }
    }

    fn press(&mut self, keys: &str, then: &str) {
        self.child.stdin.as_mut().unwrap().write_all(keys.as_bytes()).unwrap();
        self.until(then);
    }

    fn resize(&mut self, rows: u16, columns: u16) {
        let device = File::open(&self.device).unwrap();
        let mut stty = Command::new("stty");
        stty.args(["rows", &rows.to_string(), "cols", &columns.to_string()]);
        assert!(stty.stdin(device).status().unwrap().success());
        self.screen.screen_mut().set_size(rows, columns);
    }
}

const SOON: Duration = Duration::from_secs(60);

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_session_in_a_terminal() {
    let bench = Bench::new();
    let long = "word ".repeat(400);
    let mut table = String::from("name,a,b,text\n");
    for k in 0..30 {
        let group = k % 3;
        table += &format!("日本-{k},{group}.{k:02},{}.5,grüße von {k} {long}\n", 5 * group);
    }
    bench.write("t.csv", table);
    let arguments = "--data t.csv --id name --features a,b --show-text text --selector explore_consolidate \
                     --clusterer pck_means --k 3 --budget 20 --ledger l.jsonl --out labels.csv";
    let Some(mut t) = Terminal::start(&bench, arguments) else { return };
    t.until("page down");
    t.until("save and quit");
    assert!(t.text().contains("0 answered, 20 left"), "{}", t.text());
    assert!(t.text().contains("grüße von"), "{}", t.text());
    let colours = |t: &Terminal| {
        let cell = |row, column| t.screen.screen().cell(row, column).map(vt100::Cell::fgcolor);
        (0..24)
            .flat_map(|r| (0..80).map(move |c| (r, c)))
            .all(|(r, c)| cell(r, c).is_none_or(|colour| colour == vt100::Color::Default))
    };
    assert!(colours(&t));
    // One page up leads back, however often it went down.
    t.press(&"\u{1b}[6~".repeat(20), "save and quit");
    t.gone("more: page down");
    t.press("\u{1b}[5~", "more: page down");
    // Enter means nothing.
    t.press("\r\rn", "1 answered, 19 left");
    // The caps lock may be on.
    t.press("Y", "2 answered");
    t.press("m", "Note on the next answer");
    t.press("grün\r", "note on the next answer: grün");
    t.press(" ", "unsure 1");
    t.press("l", "(grün)");
    t.press("\u{1b}", "belong together?");
    t.press("\u{7f}", "unsure 0");
    t.press("s", "1 for later");
    t.press("?", "undo: undoes the last answer");
    t.press("?", "belong together?");
    t.press("g", "Objects with the same number");
    t.press("1\u{1b}", "belong together?");
    t.press("w", "name of the first object");
    t.press("nobody\r", "the object with the id");
    t.press("日本-0\r", "nobody or 日本-0 is not the name of exactly one object");
    // Smaller and larger, while it runs.
    t.resize(12, 40);
    t.press("?", "esc leave");
    t.press("\u{1b}", "belong");
    t.resize(50, 160);
    t.press("l", "up/down choose");
    t.press("\u{1b}", "belong together?");
    // The guess is hidden, also after the method has been run.
    t.until("found");
    assert!(!t.text().contains("would say"), "{}", t.text());
    t.press("q", "status 0");
    assert_eq!(bench.read("labels.csv").lines().count(), 31);
    let ledger = bench.read("l.jsonl");
    assert!(ledger.contains("\"note\":\"grün\"") && ledger.contains("日本-"), "{ledger}");
    // And on again, where it stopped.
    let shown = format!("{arguments} --show-guess");
    let Some(mut t) = Terminal::start(&bench, &shown) else { return };
    assert!(t.text().contains("2 answered, 18 left"), "{}", t.text());
    t.until("the method guesses");
    t.press("n", "3 answered");
    // A terminal that is closed ends the program, which lets go of the ledger.
    assert!(bench.path("l.jsonl.lock").exists());
    drop(t);
    let start = Instant::now();
    while bench.path("l.jsonl.lock").exists() {
        assert!(start.elapsed() < SOON, "the ledger is still held");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn lists_and_clusters_name_objects_by_what_people_saw() {
    let bench = Bench::with("cars.csv", CARS);
    let arguments = format!("--data cars.csv {OF_CARS} --clusterer pck_means --ledger l.jsonl");
    let Some(mut t) = Terminal::start(&bench, &arguments) else { return };
    let rows = CARS.lines().skip(1).enumerate();
    let names: Vec<String> =
        rows.map(|(i, row)| format!("{} (row {i})", row.split(',').next().unwrap())).collect();
    let text = t.text();
    let asked = text.split("Do ").nth(1).and_then(|rest| rest.split(" belong").next()).unwrap();
    let name = |row: &str| names[row[4..].parse::<usize>().unwrap()].as_str();
    let pair: Vec<&str> = asked.split(" and ").map(name).collect();
    t.press("n", "1 answered");
    t.press("l", &format!("{}: different", pair.join(" – ")));
    t.press("\u{1b}", "belong together?");
    t.until("2 clusters found");
    t.press("c", "all belong together");
    let text = t.text();
    let is_named = |line: &str| names.iter().any(|name| line.contains(name.as_str()));
    for place in ["in the middle ", "at the border: 1 "] {
        let mut lines = text.lines().filter(|line| line.contains(place)).peekable();
        assert!(lines.peek().is_some() && lines.all(is_named), "{place}:\n{text}");
    }
    t.press("\u{1b}", "belong together?");
    t.press("q", "status 0");
}

#[test]
fn without_a_terminal_it_says_so() {
    let bench = Bench::new();
    let done = bench.run("label --data iris --selector random_pairs --ledger l.jsonl");
    assert_eq!(done.status, 2);
    assert!(done.err.contains("--web"), "{}", done.err);
    assert!(!bench.files().contains(&"l.jsonl".to_string()));
}

#[test]
fn answers_of_a_spreadsheet_are_taken() {
    let bench = Bench::new();
    let asked = bench
        .run("select --data iris --selector random_pairs --budget 12 --questions --out pairs.csv");
    assert_eq!(asked.status, 0, "{}", asked.err);
    let sheet = bench.read("pairs.csv");
    let answered: Vec<String> = sheet
        .lines()
        .enumerate()
        .map(|(at, line)| match line.split(',').collect::<Vec<_>>()[..] {
            [i, j, ""] if at < 11 => {
                let class = |o: &str| o.parse::<usize>().unwrap() / 50;
                let word = if class(i) == class(j) { "same" } else { "Different" };
                format!("{i},{j},{word}")
            }
            _ => line.to_string(),
        })
        .collect();
    bench.write("answers.csv", answered.join("\n"));
    let label = "label --data iris --selector random_pairs --clusterer pck_means --k 3 --budget 12 \
                 --ledger l.jsonl --out labels.csv --import";
    let done = bench.run(&format!("{label} answers.csv"));
    assert_eq!(done.status, 0, "{}", done.err);
    assert!(done.err.contains("10 answers in l.jsonl"), "{}", done.err);
    let next = "\n  mustlink cluster --data iris --clusterer pck_means --k 3 --constraints pairs.csv --out clusters.csv\n";
    assert!(done.err.ends_with(next), "{}", done.err);
    let ledger = bench.read("l.jsonl");
    assert_eq!(ledger.matches("\"type\":\"stated\"").count(), 10);
    // Once more changes nothing; a contradiction is named with its row, and nothing is taken.
    assert_eq!(bench.run(&format!("{label} answers.csv")).status, 0);
    assert_eq!(bench.read("l.jsonl").matches("stated").count(), 10);
    let turned = answered
        .join("\n")
        .replace("same", "x")
        .replace("Different", "same")
        .replace('x', "different");
    bench.write("turned.csv", turned);
    let refused = bench.run(&format!("{label} turned.csv"));
    assert_eq!(refused.status, 3, "{}", refused.err);
    assert!(refused.err.contains("turned.csv, line 2: contradicts"), "{}", refused.err);
}
