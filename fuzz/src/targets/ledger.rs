//! Logs of questions and answers.

use mustlink::Context;
use mustlink::roles::{Answer, Reply, Scene};
use mustlink::selection::Record;
use mustlink_ledger::{Durability, Header, Ledger, answers};
use serde_json::json;

use super::harness::Harness;

pub(super) const WORDS: &[&str] = &[
    "\"v\":1",
    "\"type\":\"header\"",
    "\"asked\"",
    "\"told\"",
    "\"stated\"",
    "\"inferred\"",
    "\"joined\"",
    "\"clustered\"",
    "\"conflict\"",
    "\"corrected\"",
    "\"done\"",
    "\"retracted\"",
    "\"closed\"",
    "\"id\":",
    "\"q000000\"",
    "\"q000001\"",
    "\"q18446744073709551615\"",
    "\"i\":",
    "\"j\":",
    "\"subject\":",
    "\"reference\":",
    "\"with\":",
    "\"reply\":\"must_link\"",
    "\"cannot_link\"",
    "\"dont_know\"",
    "\"cost\":",
    "\"cached\":true",
    "\"votes\":[",
    "}\n",
    "\"elapsed_ms\":",
];

/// The header of the ledgers of the corpus.
fn header() -> Header {
    Header {
        dataset: "nine".into(),
        fingerprint: "f".into(),
        n: 9,
        values: None,
        created: "2026-01-31T00:00:00Z".into(),
        seed: None,
        selector: json!({ "type": "random_pairs" }),
        oracle: json!({ "type": "truth" }),
        ids: Some((0..9).map(|i| format!("o{i}")).collect()),
    }
}

/// Read, then gone on with as far as it lets one, and read again: what was written can be read.
pub(super) fn ledger() -> Harness {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("l.jsonl");
    let ids: Vec<String> = (0..9).map(|i| format!("o{i}")).collect();
    Box::new(move |bytes| {
        let _ = folder.path();
        std::fs::write(&path, bytes).expect("a file");
        let scene = |n: usize| Scene::with_labels(vec![None; n], Context::new(0));
        let with_ids = Scene { ids: Some(ids.clone().into()), ..scene(9) };
        let _ = (answers(&path, &with_ids), answers(&path, &scene(5)));
        let Ok(mut ledger) = Ledger::open(&path, header(), Durability::None) else { return };
        ledger.report().expect("counts that add up");
        ledger.rewind();
        for (i, j) in [(0, 1), (3, 2), (7, 8)] {
            if let Ok((id, None)) = ledger.ask(i, j, "fuzz") {
                let _ = ledger.tell(id, &Answer::of(Reply::MustLink));
            }
        }
        let said = [((4, 5), Answer::of(Reply::CannotLink)), ((6, 5), Answer::of(Reply::MustLink))];
        let _ = ledger.state("fuzz", None, &said);
        if let Some(last) = ledger.last() {
            let _ = ledger.retract(last, Some("fuzz"));
        }
        let _ = (ledger.unmet(), ledger.has_more(), ledger.close(Some("fuzz")));
        let report = ledger.report().expect("counts that add up");
        drop(ledger);
        let again = Ledger::open(&path, header(), Durability::None).expect("what was written");
        assert_eq!(again.report().expect("counts that add up"), report);
    })
}
