//! The laws of the role, for every function of this crate: at once what the workspace tests one by one.

use mustlink_consensus_functions as _;
use mustlink_core::contract::cases_for;

#[test]
fn every_function_keeps_the_laws_of_its_role() {
    let cases = cases_for(|d| d.package == "mustlink-consensus-functions");
    let broken: Vec<String> = cases
        .iter()
        .filter_map(|case| case.run().err().map(|why| format!("{}: {why}", case.name)))
        .collect();
    assert!(cases.len() > 100, "only {} laws were tried", cases.len());
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}
