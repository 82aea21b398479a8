//! A mutation test of the laws: plugins that are sound but for one flaw. Each flaw is caught by the
//! law that should catch it, and each law catches some flaw; a sound plugin breaks none.
//!
//! The table of both is a page of the manual; `MUSTLINK_REFRESH=1` writes it.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use mustlink_core::prelude::*;
use mustlink_core::run;
use mustlink_laws::campaign::{self, Method};
use mustlink_laws::{PeakAlloc, fixtures, laws_for};

use shared::Caught;

mod clusterers;
mod consensus;
mod generators;
mod metrics;
mod neighbours;
mod oracles;
mod origins;
mod propagators;
mod selectors;
mod shared;
mod transforms;
mod undescribed;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Memory of other tests would be measured, too.
static ALONE: Mutex<()> = Mutex::new(());

/// The campaign distinguishes plugins that break their promises from plugins that keep them.
#[test]
fn a_campaign_finds_who_breaks_promises() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let run = |flaw: &str| {
        let flawed =
            clusterers::FlawedClusterer { flaw: flaw.into(), hard: true, ..Default::default() };
        let method = Method::clusterer(Box::new(flawed)).expect("it promises must-links");
        campaign::run(&[method], 0..200)
    };
    run("").expect("sound but for no flaw");
    let fault = run("promises cannot-links and looks at none").expect_err("broken");
    assert!(fault.contains("it promises every cannot-link and violates"), "{fault}");
}

/// Not in the form in which errors are held in memory.
#[test]
fn a_broken_law_says_what_came_and_what_to_do() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let flaw = "does not declare that it needs k".into();
    let plugin = clusterers::FlawedClusterer { flaw, ..Default::default() };
    let laws = laws_for::<dyn BaseClusterer>(&plugin);
    let law = laws.iter().find(|law| law.name == "illegal_k_is_named").expect("a law");
    let said = law.try_on(&plugin).expect_err("broken");
    assert!(said.ends_with("; declare needs_k, if it needs k"), "{said}");
    assert!(!said.contains("MissingK"), "{said}");
    let flaw = "gives a label for each thread".into();
    let plugin = clusterers::FlawedClusterer { flaw, ..Default::default() };
    let law = laws.iter().find(|law| law.name == "same_seed_same_bits").expect("a law");
    let said = law.try_on(&plugin).expect_err("broken");
    assert!(said.contains("another result; do not use the number of threads"), "{said}");
}

/// Their clusters are as many as the user wants.
#[test]
fn a_method_that_needs_k_may_part_equal_rows() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let is_tried = |plugin: &(dyn BaseClusterer + 'static)| {
        laws_for(plugin).iter().any(|law| law.name == "equal_rows_are_near")
    };
    assert!(!is_tried(&clusterers::FlawedClusterer::default()));
    assert!(is_tried(&neighbours::FlawedNeighbours::default()));
}

/// Tries the mutants of a role, and notes what is not as it should be.
type Trial = fn(&mut Vec<String>) -> Caught;

const PAGE: &str = "../../book/developers/src/reference/laws.md";

const HEAD: &str = "# Laws and what they catch

A plugin that is sound but for one flaw is a mutant. Each is tried by all laws of its role (`cargo test -p mustlink-laws
--test mutants`, which writes this page with `MUSTLINK_REFRESH=1`): no law is here that catches
nothing, and every flaw is caught. [Test your own invariant](../test-an-invariant.md) shows how to run the laws and add
one.
";

#[test]
fn every_flaw_is_caught_and_every_law_catches_one() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    // Flaws that panic are caught; nobody needs to read about them.
    std::panic::set_hook(Box::new(|_| {}));
    let mut complaints = Vec::new();
    let mut page = String::from(HEAD);
    let mut mutants = 0;
    let mut section = |title: &str, caught: Caught, complaints: &mut Vec<String>| {
        let flaws: BTreeSet<&String> = caught.values().flatten().collect();
        mutants += flaws.len();
        let _ = write!(page, "\n## {title}\n\n{} laws, {} mutants.\n\n", caught.len(), flaws.len());
        page += "| law | catches |\n|---|---|\n";
        for (law, flaws) in &caught {
            if flaws.is_empty() {
                complaints.push(format!("{title}: {law} catches nothing"));
            }
            let flaws: Vec<&str> = flaws.iter().map(String::as_str).collect();
            let _ = writeln!(page, "| `{law}` | {} |", flaws.join("; "));
        }
    };
    let roles: [(&str, Trial); 9] = [
        ("Every role", undescribed::caught),
        ("Base clusterers", clusterers::caught),
        ("Ensemble generators", generators::caught),
        ("Consensus functions", consensus::caught),
        ("Constraint propagators", propagators::caught),
        ("Query selectors", selectors::caught),
        ("Oracles", oracles::caught),
        ("Metrics", metrics::caught),
        ("Transforms", transforms::caught),
    ];
    let told = std::thread::scope(|scope| {
        let tried = roles.map(|(_, caught)| {
            scope.spawn(move || {
                let mut complaints = Vec::new();
                (caught(&mut complaints), complaints)
            })
        });
        tried.map(|role| role.join().expect("no law lets a panic through"))
    });
    for ((title, _), (caught, more)) in roles.iter().zip(told) {
        complaints.extend(more);
        section(title, caught, &mut complaints);
    }
    let _ = std::panic::take_hook();
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
    assert!(mutants >= 25, "{mutants} mutants");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    if std::env::var_os("MUSTLINK_REFRESH").is_some_and(|v| v == "1") {
        std::fs::write(&path, &page).expect("the page can be written");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = page.lines().find(|line| !written.lines().any(|l| l == *line));
    assert!(
        written == page,
        "{PAGE} is not what the laws say (MUSTLINK_REFRESH=1 rewrites it): {}",
        differs.unwrap_or("it has lines too many")
    );
}

/// Data of an undeclared kind are rejected before a clusterer gets them.
#[test]
fn other_kinds_are_refused_by_the_framework() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (dense, _) = fixtures::dense(1);
    let plugin = clusterers::FlawedClusterer::default();
    for kind in [DataKind::Distances, DataKind::Affinity] {
        let other = fixtures::pairwise(&dense, kind);
        let result = run::cluster(&plugin, &other, &Context::new(1));
        assert!(matches!(result, Err(Error::UnsupportedData { .. })), "{}", kind.name());
        let (plugin, none) = (propagators::FlawedPropagator::default(), Constraints::default());
        let result = run::propagate(&plugin, &none, None, &other, &Context::new(1));
        assert!(matches!(result, Err(Error::UnsupportedData { .. })), "{}", kind.name());
    }
}
