//! The campaign of `examples/hard_constraints.rs` on its first sets.

use mustlink::contract::campaign::{methods, run};

/// `auto` tries dozens of methods on each set.
const SLOW: [&str; 1] = ["auto"];

#[test]
fn no_hard_constraint_is_broken_and_every_refusal_is_right() {
    let methods = methods(&SLOW).unwrap();
    assert!(methods.len() > 8, "{} methods", methods.len());
    for (tag, counts) in run(&methods, 0..400).unwrap() {
        assert!(counts.met > 100 && counts.undecided == 0, "{tag}: {counts:?}");
        assert!(counts.refused > 100 || counts.met == 400, "{tag}: {counts:?}");
    }
}
