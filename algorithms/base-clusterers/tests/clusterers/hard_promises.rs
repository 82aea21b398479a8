//! No set of hard constraints is given up that k clusters can hold, whatever the options, and two
//! clusters take no search.

use mustlink_base_clusterers::clac::{Clac, WhenInfeasible};
use mustlink_base_clusterers::constrained_complete_link::ConstrainedCompleteLink;
use mustlink_base_clusterers::constrained_em::ConstrainedEm;
use mustlink_core::prelude::*;
use mustlink_core::run;
use mustlink_kernels::constrained::must_link_units::UnitOrder;
use mustlink_laws::feasible;
use ndarray::Array2;

/// The method satisfies every set; `passes_over` names those that ask for something else.
fn every_set_is_met(method: &dyn BaseClusterer, passes_over: &[&str]) {
    for (name, problem) in feasible::sets() {
        if passes_over.iter().any(|set| name.starts_with(set)) {
            continue;
        }
        match run::cluster(method, &problem, &Context::new(1)) {
            Ok(made) => assert_eq!(made.violations.cannot, 0, "{name}"),
            Err(e) => panic!("{name}: {e}"),
        }
    }
}

#[test]
fn complete_link_lets_must_links_be_soft_and_keeps_cannot_links() {
    every_set_is_met(&ConstrainedCompleteLink { soft_ml: true, ..Default::default() }, &[]);
}

#[test]
fn em_without_a_floor_goes_on_from_other_starts() {
    // The centre of a star is a cluster by itself, which has no extent whatever the start.
    every_set_is_met(&ConstrainedEm { reg_covar: 0.0, ..Default::default() }, &["a star"]);
}

#[test]
fn clac_meets_them_in_any_order() {
    for chunklet_order in [UnitOrder::Random, UnitOrder::Index] {
        for infeasible in [WhenInfeasible::Exact, WhenInfeasible::Error] {
            every_set_is_met(&Clac { infeasible, chunklet_order, ..Default::default() }, &[]);
        }
    }
}

/// A crown of 300 objects: i on one side must be apart from all on the other but its partner.
fn crown() -> Problem {
    let m = 150;
    let mut s = SeedPath::new(1).stream("crown");
    let object = s.permutation(2 * m);
    let others = |i: usize| (0..m).filter(move |&j| j != i).map(move |j| (i, m + j));
    let pairs = (0..m).flat_map(others);
    let pairs = pairs.map(|(i, j)| Constraint::cannot(object[i] as usize, object[j] as usize));
    let constraints = Constraints::new(2 * m, pairs).unwrap();
    let x = Array2::from_shape_fn((2 * m, 3), |_| s.normal());
    Problem::new(Data::dense(x).unwrap()).with_k(2).with_constraints(constraints)
}

/// A run that checks the flag this often or less has not searched.
const FEW_LOOKS: u64 = 20_000;

#[test]
fn two_clusters_are_two_colours() {
    let p = crown();
    let ctx = || Context::builder(SeedPath::new(1)).cancel_after(FEW_LOOKS).build();
    let em = run::cluster(&ConstrainedEm::default(), &p, &ctx()).unwrap();
    assert_eq!(em.violations.total(), 0);
    // One part of two labellings: its probabilities are exact.
    assert_eq!(em.clustering.extras.diagnostics["approximate_chunklets"], 0.0);
    let (infeasible, chunklet_order) = (WhenInfeasible::Exact, UnitOrder::Random);
    let clac = Clac { infeasible, chunklet_order, ..Clac::default() };
    assert_eq!(run::cluster(&clac, &p, &ctx()).unwrap().violations.total(), 0);
}

#[test]
fn entangled_labels_hear_cancelling() {
    // Three clusters: belief propagation takes long.
    let p = crown().with_k(3);
    let ctx = Context::builder(SeedPath::new(1)).cancel_after(40).build();
    let ended = run::cluster(&ConstrainedEm::default(), &p, &ctx).unwrap_err();
    assert_eq!(ended.root(), &Error::Cancelled);
}
