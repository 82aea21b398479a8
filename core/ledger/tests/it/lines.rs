//! The content of each line of a ledger, and the line numbers in errors.

use std::path::{Path, PathBuf};

use mustlink_core::roles::{Answer, Reply, Scene};
use mustlink_core::selection::Record;
use mustlink_core::{Context, Error};
use mustlink_ledger::{Durability, Header, Ledger, is_ledger};
use serde_json::{Value, json};

fn header() -> Header {
    let ids = ["a", "b", "c", "d"].map(String::from).to_vec();
    Header { ids: Some(ids.into()), ..crate::header(4, "random_pairs") }
}

fn open(path: &Path) -> Ledger {
    Ledger::open(path, header(), Durability::Batch(2)).unwrap()
}

#[cfg(unix)]
#[test]
fn a_file_of_two_names_has_one_writer() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let first = open(&path("asked.jsonl"));
    std::os::unix::fs::symlink(path("asked.jsonl"), path("link.jsonl")).unwrap();
    std::fs::hard_link(path("asked.jsonl"), path("other.jsonl")).unwrap();
    for name in ["link.jsonl", "other.jsonl"] {
        let refused = Ledger::open(&path(name), header(), Durability::Batch(2)).unwrap_err();
        assert!(refused.to_string().contains("under another name of the file"), "{refused}");
    }
    drop(first);
    open(&path("link.jsonl"));
}

fn ledger() -> (tempfile::TempDir, PathBuf, Ledger) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("asked.jsonl");
    let ledger = open(&path);
    (folder, path, ledger)
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn must(cost: f64) -> Answer {
    Answer { cost, ..Answer::of(Reply::MustLink) }
}

fn statement(pair: (u32, u32)) -> ((u32, u32), Answer) {
    (pair, must(1.0))
}

/// The error with the path taken out.
fn said(path: &Path, made: Result<(), Error>) -> String {
    made.unwrap_err().to_string().replace(&path.display().to_string(), "L")
}

#[test]
fn names_are_those_of_whoever_opens() {
    let (_folder, path, mut first) = ledger();
    first.ask(0, 2, "test").unwrap();
    first.tell(0, &must(1.0)).unwrap();
    drop(first);
    // A file does not hold the names of all objects: they are given each time.
    let mut again = open(&path);
    again.state("test", None, &[statement((3, 1))]).unwrap();
    drop(again);
    let lines = lines(&path);
    assert_eq!((&lines[1]["i_id"], &lines[1]["j_id"]), (&json!("a"), &json!("c")));
    assert_eq!((&lines[3]["i_id"], &lines[3]["j_id"]), (&json!("b"), &json!("d")));
}

/// An answer that was taken back stood in the way if an object in it was gone or had another id.
#[test]
fn answers_taken_back_are_not_in_the_way() {
    let (_folder, path, mut ledger) = ledger();
    for (id, (subject, reference)) in (0..).zip([(0, 2), (1, 3)]) {
        ledger.ask(subject, reference, "test").unwrap();
        ledger.tell(id, &must(1.0)).unwrap();
    }
    ledger.retract(0, None).unwrap();
    drop(ledger);
    let ids = |all: &[&str]| Some(all.iter().map(ToString::to_string).collect::<Vec<_>>().into());
    let three = Scene::with_labels(vec![None; 3], Context::new(0));
    let scene = Scene { ids: ids(&["d", "b", "c"]), ..three.clone() };
    let (left, notices) = mustlink_ledger::answers(&path, &scene).unwrap();
    assert_eq!((left.len(), left[0].subject, left[0].reference), (1, 1, 0));
    assert!(notices.is_empty(), "{notices:?}");
    let gone = mustlink_ledger::answers(&path, &Scene { ids: ids(&["a", "c", "d"]), ..three });
    assert!(said(&path, gone.map(drop)).contains("no object has the id \"b\""));
    let now = Header { n: 5, ids: ids(&["z", "b", "c", "d", "e"]), ..header() };
    Ledger::open_grown(&path, now, Durability::None, &|_| true).unwrap();
}

#[test]
fn answers_are_kept_if_rows_were_appended() {
    let (_folder, path, mut first) = ledger();
    first.ask(0, 2, "test").unwrap();
    first.tell(0, &must(1.0)).unwrap();
    first.ask(1, 3, "test").unwrap();
    drop(first);
    let five = |ids: [&str; 5]| {
        let ids = Some(ids.map(String::from).to_vec().into());
        Header { n: 5, fingerprint: "g".into(), ids, ..header() }
    };
    let now = five(["a", "b", "c", "d", "e"]);
    let open = |now: &Header, begins: bool| {
        let looked_at = |then: &Header| then.n == 4 && begins;
        Ledger::open_grown(&path, now.clone(), Durability::Batch(2), &looked_at)
    };
    let other =
        "L, line 1: belongs to another selection: its number of objects is 4, this one's is 5";
    let renamed = five(["z", "b", "c", "d", "e"]);
    for refused in [open(&now, false), open(&renamed, true)] {
        let text = said(&path, refused.map(drop));
        assert!(text.starts_with(other), "{text}");
    }
    let mut grown = open(&now, true).unwrap();
    assert!(grown.notices()[0].contains("1 row more than before"), "{:?}", grown.notices());
    // Another course, in which the answer is served where its pair comes.
    assert_eq!((grown.unmet().len(), grown.knows(2, 0)), (1, true));
    assert_eq!(grown.ask(4, 1, "test").unwrap(), (2, None));
    grown.tell(2, &must(1.0)).unwrap();
    drop(grown);
    let again = Ledger::open(&path, now.clone(), Durability::None).unwrap();
    assert_eq!((again.answers().len(), again.notices().len()), (2, 0));
    again.report().unwrap();
    drop(again);
    let five = Scene::with_labels(vec![None; 5], Context::new(0));
    let scene = Scene { ids: now.ids.clone(), ..five };
    let (pairs, _) = mustlink_ledger::answers(&path, &scene).unwrap();
    let pairs: Vec<_> = pairs.iter().map(|r| (r.subject, r.reference)).collect();
    assert_eq!(pairs, [(0, 2), (4, 1)]);
    let before = Ledger::open(&path, header(), Durability::None).map(drop);
    assert!(said(&path, before).contains("number of objects is 5, this one's is 4"));
    // A header of as many objects begins another file.
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.clone() + &text).unwrap();
    let twice = Ledger::open(&path, now, Durability::None).map(drop);
    assert_eq!(said(&path, twice), "L, line 8: not a line of a ledger: a second header");
}

#[test]
fn an_error_names_the_line_that_would_have_been_written() {
    let (_folder, path, mut ledger) = ledger();
    // Behind the header: the third is no pair, and none is taken.
    let three = [(0, 1), (2, 3), (1, 1)].map(statement);
    let made = ledger.state("test", None, &three);
    assert_eq!(said(&path, made), "L, line 4: q000002 asks about the pair (1, 1)");
    assert_eq!((lines(&path).len(), ledger.answers().len()), (1, 0));
    ledger.state("test", None, &three[..2]).unwrap();
    let made = ledger.state("test", None, &[statement((1, 0))]);
    assert_eq!(said(&path, made), "L, line 4: the pair (0, 1) was answered already");
    drop(ledger);
    let made = open(&path).state("test", None, &[statement((3, 3))]);
    assert_eq!(said(&path, made), "L, line 4: q000002 asks about the pair (3, 3)");
    assert_eq!(lines(&path).len(), 3);
}

#[test]
fn a_statement_takes_the_place_of_the_open_question_about_its_pair() {
    let (_folder, path, mut ledger) = ledger();
    ledger.ask(0, 1, "test").unwrap();
    ledger.tell(0, &must(1.0)).unwrap();
    ledger.ask(2, 3, "test").unwrap();
    ledger.state("test", None, &[(0, 2), (3, 2)].map(statement)).unwrap();
    let check = |ledger: &mut Ledger| {
        ledger.rewind();
        let stated: Vec<_> = ledger.answers().iter().map(|r| (r.id, r.with, r.line)).collect();
        assert_eq!(stated, [(0, None, 3), (2, Some(2), 5), (3, Some(2), 6)]);
        // Its course ends before that question, which has its answer now.
        assert_eq!(ledger.ask(0, 1, "test").unwrap(), (0, Some(must(1.0))));
        assert_eq!(ledger.ask(2, 3, "test").unwrap().0, 3);
        ledger.report().unwrap();
    };
    check(&mut ledger);
    drop(ledger);
    check(&mut open(&path));
}

#[test]
fn a_line_that_cannot_follow_is_named_on_opening() {
    let (_folder, path, mut ledger) = ledger();
    ledger.state("test", None, &[(0, 1), (2, 3)].map(statement)).unwrap();
    drop(ledger);
    let text = std::fs::read_to_string(&path).unwrap();
    let twice: String = text.lines().chain(text.lines().last()).map(|l| format!("{l}\n")).collect();
    std::fs::write(&path, twice).unwrap();
    let header = open(&path.with_extension("other")).header().clone();
    let made = || said(&path, Ledger::open(&path, header.clone(), Durability::None).map(drop));
    assert_eq!(made(), "L, line 4: q000001 was asked before");
    // The next one would have no number.
    std::fs::write(&path, text.replace("q000000", &format!("q{}", u64::MAX))).unwrap();
    let wrong = made();
    assert!(wrong.starts_with("L, line 2: ") && wrong.contains("is not the id"), "{wrong}");
}

/// A line that was cut off may be the beginning of a header; a file without a whole line may be another kind of file.
#[test]
fn a_file_that_is_no_ledger_is_left_as_it_is() {
    let (_folder, path, ledger) = ledger();
    let header = ledger.header().clone();
    drop(ledger);
    let matrix = b"\x93NUMPY\x01\x00\x06\x00{    \n\x00\x00\x00\x00";
    let sheet = b"i,j,answer\n0,1,same\n1,2,different\n";
    let files: [&[u8]; 5] =
        [b"{\"mustlink_model\":1}", b"one line of notes\n", matrix, b"\n", sheet];
    for file in files {
        std::fs::write(&path, file).unwrap();
        let made = Ledger::open(&path, header.clone(), Durability::None).map(drop);
        assert_eq!(
            said(&path, made),
            "L: is not a ledger, and is left as it is; choose another file"
        );
        assert_eq!(std::fs::read(&path).unwrap(), file);
    }
    for file in [&b"{\"v\":1,\"ty"[..], &[0; 99][..], &b""[..]] {
        std::fs::write(&path, file).unwrap();
        let ledger = Ledger::open(&path, header.clone(), Durability::None).unwrap();
        assert_eq!(ledger.notices().len(), usize::from(!file.is_empty()));
    }
}

#[test]
fn a_folder_that_does_not_exist_is_named_without_the_lock() {
    let (folder, path, ledger) = ledger();
    let header = ledger.header().clone();
    let nowhere = folder.path().join("no/asked.jsonl");
    let made = Ledger::open(&nowhere, header, Durability::None).map(drop);
    assert_eq!(said(&nowhere, made), "L: its folder does not exist");
    assert!(path.exists() && !nowhere.exists());
}

#[test]
fn only_a_reply_can_be_taken_back_and_once() {
    let (_folder, _, mut ledger) = ledger();
    let refused = |made: Result<(), Error>, id: &str| {
        let message = format!("{id} has no reply to take back");
        assert_eq!(made.unwrap_err(), Error::Oracle(message));
    };
    refused(ledger.retract(0, None), "q000000");
    let (id, _) = ledger.ask(0, 1, "test").unwrap();
    refused(ledger.retract(id, None), "q000000");
    ledger.tell(id, &must(1.0)).unwrap();
    ledger.retract(id, Some("somebody")).unwrap();
    refused(ledger.retract(id, None), "q000000");
}

#[test]
fn what_is_served_again_costs_nothing() {
    let (_folder, path, mut ledger) = ledger();
    ledger.state("test", None, &[((0, 1), must(2.5))]).unwrap();
    let (id, answer) = ledger.ask(1, 0, "test").unwrap();
    assert_eq!((id, answer), (0, Some(must(2.5))));
    let served = lines(&path).pop().unwrap();
    assert_eq!((&served["cached"], &served["cost"]), (&json!(true), &json!(0.0)));
    let report = ledger.report().unwrap();
    assert_eq!((report.asked, report.cached, report.cost), (1, 1, 2.5));
}

#[test]
fn lines_at_once_are_written_and_their_error_is_told() {
    let (_folder, path, mut ledger) = ledger();
    ledger.at_once(|l| l.state("test", None, &[statement((0, 1))])).unwrap();
    assert_eq!(lines(&path).len(), 2);
    let made = ledger.at_once(|l| l.state("test", None, &[statement((0, 1))]));
    assert_eq!(said(&path, made), "L, line 3: the pair (0, 1) was answered already");
    // Those after it wait for the disk as they did before.
    ledger.ask(2, 3, "test").unwrap();
    assert_eq!(lines(&path).len(), 3);
}

#[test]
fn what_is_recorded_is_known_and_so_is_all_before_its_end() {
    let (_folder, _path, mut ledger) = ledger();
    ledger.state("test", None, &[statement((0, 1))]).unwrap();
    assert!(ledger.knows(1, 0) && !ledger.knows(2, 3));
    for (id, (i, j)) in [(1, (0, 2)), (2, (1, 3))] {
        assert_eq!(ledger.ask(i, j, "test").unwrap(), (id, None));
        ledger.tell(id, &must(1.0)).unwrap();
    }
    assert!(!ledger.knows(2, 3));
    // Another question there is a difference from the recording.
    ledger.rewind();
    assert!(ledger.knows(2, 3));
}

#[test]
fn a_ledger_is_known_by_its_beginning() {
    let (folder, path, ledger) = ledger();
    drop(ledger);
    assert!(is_ledger(&path));
    let text = std::fs::read_to_string(&path).unwrap();
    let other = folder.path().join("other");
    for (text, is) in [
        // As some editors write it.
        (format!("\u{feff}{text}"), true),
        (text[..22].to_string(), true),
        (text[..21].to_string(), false),
        (format!(" {text}"), false),
        ("i,j,type\n0,1,must_link\n".to_string(), false),
        (String::new(), false),
    ] {
        std::fs::write(&other, &text).unwrap();
        assert_eq!(is_ledger(&other), is, "{text}");
    }
    assert!(!is_ledger(&folder.path().join("none")) && !is_ledger(folder.path()));
}
