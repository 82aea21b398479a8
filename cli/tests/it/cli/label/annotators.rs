//! Several annotators on one server: each has a page, a ledger and a share of the questions.

use serde_json::{Value, json};

use super::super::support::Bench;
use super::Label;
use super::http::{parts, send};

/// Number of questions. No answer follows from others.
const PAIRS: u64 = 35;
const SESSION: &str = "--data iris --method m.toml --annotators anna,ben --ledger l.jsonl";
const AGREEMENT: &str = "agree on 4 of 5 pairs that both answered; Cohen's κ is 0.62";

fn method() -> String {
    let pairs: Vec<String> = (0..PAIRS).map(|k| format!("[{k}, {}]", 149 - k)).collect();
    format!(
        "selector = {{ type = \"fixed_list\", pairs = [{}] }}\nclusterer = \"pck_means\"\nk = 3\n",
        pairs.join(", ")
    )
}

/// The page of one annotator.
struct Page {
    address: String,
    /// All that it was sent.
    sent: String,
}

impl Page {
    fn new(address: String) -> Self {
        Page { address, sent: String::new() }
    }

    fn send(&mut self, method: &str, what: &str, body: &str) -> Value {
        let (host, path) = parts(&self.address);
        let own = format!("http://{host}");
        let got = send(host, method, &format!("{path}{what}"), &[("Origin", own.as_str())], body);
        let text = String::from_utf8_lossy(&got.body);
        let is_guess_sent = text.contains("\"says\":true") || text.contains("\"says\":false");
        assert!(!is_guess_sent, "the guess about an open question: {text}");
        self.sent += &text;
        got.json()
    }

    /// The state at the end, or with a question once the method has a guess about it.
    fn next(&mut self) -> Value {
        loop {
            let now = self.send("GET", "state", "");
            let has_guess = now["standing"]["answers"] == now["counts"]["answered"];
            if (has_guess && !now["open"].is_null()) || !now["ended"].is_null() {
                return now;
            }
        }
    }

    /// Answers most so many questions, and returns their numbers. Answers to even numbers are "same", but not to
    /// `other`.
    fn answer(&mut self, most: usize, note: &str, other: Option<u64>) -> Vec<u64> {
        let mut asked = Vec::new();
        while asked.len() < most {
            let now = self.next();
            let Some(a) = now["open"]["subject"].as_u64() else { break };
            let k = a.min(now["open"]["reference"].as_u64().unwrap());
            let same = (k % 2 == 0) != (other == Some(k));
            let reply = if same { "must_link" } else { "cannot_link" };
            let turn = &now["turn"];
            let act = json!({ "act": "reply", "turn": turn, "reply": reply, "note": note });
            self.send("POST", "act", &act.to_string());
            asked.push(k);
        }
        asked
    }

    fn quit(&mut self) {
        let turn = self.next()["turn"].clone();
        let now = self.send("POST", "act", &json!({ "act": "quit", "turn": turn }).to_string());
        assert_eq!(now["ended"], "saved");
    }

    /// The result that is shown when all annotators have finished.
    fn written(&mut self) -> Value {
        let mut now = self.send("GET", "state", "");
        while now["written"].is_null() {
            now = self.send("GET", &format!("state?since={}", now["beat"]), "");
        }
        now["written"].clone()
    }
}

fn start(bench: &Bench) -> (Label, Page, Page) {
    let mut label = Label::start(bench, &SESSION.split(' ').collect::<Vec<_>>());
    let (anna, ben) = (Page::new(label.address.clone()), Page::new(label.next_address()));
    (label, anna, ben)
}

#[test]
fn annotators_share_the_questions_and_see_their_agreement_at_the_end() {
    let bench = Bench::with("m.toml", method());
    let (label, mut anna, ben) = start(&bench);
    assert!(anna.address.contains("/anna-") && ben.address.contains("/ben-"), "{}", ben.address);
    let mut of_anna = anna.answer(3, "by anna", None);
    label.kill();
    let (label, mut anna, mut ben) = start(&bench);
    assert_eq!(anna.next()["counts"]["answered"], 3);
    // While one has finished, the other still answers.
    of_anna.extend(anna.answer(usize::MAX, "by anna", None));
    anna.quit();
    assert_eq!(anna.next()["written"], json!(null));
    let of_ben = ben.answer(usize::MAX, "by ben", Some(14));
    let shared: Vec<u64> = of_anna.iter().copied().filter(|k| of_ben.contains(k)).collect();
    assert_eq!((of_anna.len(), of_ben.len(), shared), (20, 20, vec![0, 7, 14, 21, 28]));
    assert!((0..PAIRS).all(|k| of_anna.contains(&k) || of_ben.contains(&k)));
    let told = std::thread::scope(|scope| {
        let waits = scope.spawn(|| {
            let written = anna.written();
            (written, anna.sent)
        });
        assert!(!ben.sent.contains("κ") && !ben.sent.contains("by anna"));
        ben.quit();
        let of_ben = ben.written();
        let (of_anna, sent) = waits.join().unwrap();
        assert!(!sent.contains("by ben") && sent.matches("κ").count() == 1, "{sent}");
        [of_anna, of_ben]
    });
    let merge = "ledger merge l-anna.jsonl l-ben.jsonl --data iris --out pairs.csv";
    let cluster = "cluster --data iris --method m.toml --oracle none --constraints pairs.csv --out clusters.csv";
    for written in told {
        assert_eq!(written["agreement"], json!([format!("anna and ben {AGREEMENT}")]));
        let files = json!([["Answers of anna", "l-anna.jsonl"], ["Answers of ben", "l-ben.jsonl"]]);
        assert_eq!(
            (&written["files"], &written["next"]),
            (&files, &json!([format!("mustlink {merge}"), format!("mustlink {cluster}")]))
        );
    }
    let (status, said) = label.ended();
    let lines = format!(
        "20 answers in l-anna.jsonl\n20 answers in l-ben.jsonl\nanna and ben {AGREEMENT}\n\
         run the same command again to change answers\n\
         to use the answers with other methods:\n  mustlink {merge}\n  mustlink {cluster}\n"
    );
    assert!(status == 0 && said.ends_with(&lines), "{said}");
    let merged = bench.run(merge);
    assert_eq!(merged.status, 0, "{}", merged.err);
    assert!(merged.err.contains(&format!("\nl-anna and l-ben {AGREEMENT}\n")), "{}", merged.err);
    assert_eq!(bench.run(cluster).status, 0);
    // The pair on which they differ is left out.
    assert_eq!(bench.read("pairs.csv").lines().count(), PAIRS as usize);
}

#[test]
fn the_order_of_annotators_is_nothing() {
    let bench = Bench::with("m.toml", method());
    let (label, mut anna, mut ben) = start(&bench);
    anna.answer(2, "", None);
    ben.answer(3, "", None);
    label.kill();
    let line = SESSION.replace("anna,ben", "ben,anna");
    let mut label = Label::start(&bench, &line.split(' ').collect::<Vec<_>>());
    let (mut ben, mut anna) = (Page::new(label.address.clone()), Page::new(label.next_address()));
    let answered = [&mut anna, &mut ben].map(|page| page.next()["counts"]["answered"].clone());
    assert_eq!(answered, [2, 3]);
    label.kill();
}

#[cfg(unix)]
#[test]
fn agreement_is_not_shown_before_all_have_finished() {
    let bench = Bench::with("m.toml", method());
    let (label, mut anna, mut ben) = start(&bench);
    anna.answer(usize::MAX, "", None);
    anna.quit();
    ben.answer(3, "", None);
    let (status, said) = label.interrupted();
    assert!(status == 0 && !said.contains("κ"), "{said}");
    assert!(said.contains("\nagreement is shown when all have finished\n"), "{said}");
}

#[test]
fn a_ledger_that_another_process_writes_is_refused_before_a_page_is_served() {
    let bench = Bench::with("m.toml", method());
    let line = SESSION.replace(" --annotators anna,ben", "").replace("l.jsonl", "l-ben.jsonl");
    let first = Label::start(&bench, &line.split(' ').collect::<Vec<_>>());
    Page::new(first.address.clone()).next();
    let second = bench.run(&format!("label --web {SESSION}"));
    let said = "l-ben.jsonl: is being written by process";
    assert!(second.status == 3 && second.err.contains(said), "{}", second.err);
    assert!(!second.err.contains("answer at"), "{}", second.err);
    first.kill();
}

#[test]
fn names_of_annotators_are_parts_of_files_and_addresses() {
    let bench = Bench::with("m.toml", method());
    let label = "label --data iris --method m.toml --ledger l.jsonl --web --annotators";
    for (names, said) in [
        ("anna", "at least two names are needed, got anna"),
        ("anna,ben,Anna", "Anna is given twice"),
        ("anna,../ben", "a name has letters a to z, digits, - and _, got \"../ben\""),
        ("anna,,ben", "a name has letters a to z, digits, - and _, got \"\""),
    ] {
        let done = bench.run(&format!("{label} {names}"));
        done.failed(2, &format!("error: --annotators: {said}\n"));
    }
    let done = bench.run(&format!("{label} anna,ben --selector cobras --clusterer none"));
    assert!(done.status == 2 && done.err.contains("--clusterer pck_means"), "{}", done.err);
    assert_eq!(bench.run(&format!("{label} anna,ben --out labels.csv")).status, 2);
    assert_eq!(bench.files(), ["m.toml"]);
}
