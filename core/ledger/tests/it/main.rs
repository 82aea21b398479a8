//! Ledgers and the selections that write them against plain lists.

use mustlink_ledger::Header;
use serde_json::json;

mod inquiry;
mod lines;
mod model;

/// The header of a ledger about `n` objects.
fn header(n: usize, selector: &str) -> Header {
    Header {
        dataset: "few".into(),
        fingerprint: "f".into(),
        n,
        values: None,
        created: "2026-01-31T00:00:00Z".into(),
        seed: None,
        selector: json!({ "type": selector }),
        oracle: json!({ "type": "truth" }),
        ids: None,
    }
}
