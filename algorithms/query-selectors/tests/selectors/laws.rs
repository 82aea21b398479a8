//! The laws of the role, on the selectors of this crate.

// The default of `cobra`'s clusterer.
use mustlink_base_clusterers as _;
// The defaults of what asks a committee.
use mustlink_ensemble_generators as _;
use mustlink_query_selectors as _;

#[test]
fn every_selector_keeps_the_laws() {
    let cases = mustlink_laws::cases_for(|d| d.package == "mustlink-query-selectors");
    assert!(cases.len() > 4 * 15, "{} laws", cases.len());
    let broken: Vec<String> = cases
        .iter()
        .filter_map(|case| case.run().err().map(|e| format!("{}: {e}", case.name)))
        .collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}
