//! Groups in the roles that read pairs: consensus, propagators and transforms.
//!
//! Clusterers, selectors and metrics have a law of their own; these three roles see no group at all.

use mustlink::contract::fixtures;
use mustlink::prelude::*;
use mustlink::registry::{Catalogue, Role, build_default};
use mustlink::roles::{ConsensusFunction, ConstraintPropagator, Transform};
use mustlink::{Ensemble, Member, run};

/// The names of the plugins of a role that run as they stand.
fn plugins(role: Role) -> impl Iterator<Item = &'static str> {
    Catalogue::get().unwrap().role(role).map(|d| d.tag)
}

/// A problem, its classes, and constraints in which groups stand, and the same in pairs.
fn setting() -> (Problem, Vec<u32>, [Constraints; 2]) {
    let (problem, classes) = fixtures::dense(1);
    let given = fixtures::true_constraints(&classes, 12, 1);
    let grouped = fixtures::with_groups(&given, &classes);
    let listed = grouped.in_pairs("this test").unwrap();
    assert!(grouped.groups().len() > 1 && listed.groups().is_empty());
    (problem, classes, [grouped, listed])
}

#[test]
fn propagators_see_the_pairs_of_groups() {
    let (problem, classes, [grouped, listed]) = setting();
    let clustering = Clustering::from_labels(classes);
    let mut seen = 0;
    for tag in plugins(Role::ConstraintPropagator) {
        let plugin: Box<dyn ConstraintPropagator> = build_default(tag).unwrap();
        let data = fixtures::of_first_kind(&plugin.properties().accepts, problem.clone());
        let made = |given: &Constraints| {
            let problem = data.clone().with_constraints(given.clone());
            let made =
                run::propagate(&*plugin, given, Some(&clustering), &problem, &fixtures::context(1));
            format!("{made:?}")
        };
        assert_eq!(made(&grouped), made(&listed), "{tag}");
        seen += 1;
    }
    assert!(seen > 3, "{seen} propagators");
}

#[test]
fn transforms_see_the_pairs_of_groups() {
    let (problem, _, [grouped, listed]) = setting();
    let mut seen = 0;
    for tag in plugins(Role::Transform) {
        let plugin: Box<dyn Transform> = build_default(tag).unwrap();
        if !plugin.properties().reads_constraints {
            continue;
        }
        let data = fixtures::of_first_kind(&plugin.properties().accepts, problem.clone());
        let made = |given: &Constraints| {
            let problem = data.clone().with_constraints(given.clone());
            let made =
                run::transform(std::slice::from_ref(&plugin), &problem, &fixtures::context(1));
            made.map(|made| made.problem.data.to_dense()).map_err(|e| e.to_string())
        };
        let grouped_gives = made(&grouped);
        seen += usize::from(grouped_gives.is_ok());
        assert_eq!(grouped_gives, made(&listed), "{tag}");
    }
    assert!(seen > 2, "{seen} transforms that read constraints");
}

#[test]
fn consensus_functions_see_the_pairs_of_groups() {
    let (problem, classes, given) = setting();
    let [grouped, listed] = given;
    let mut seen = 0;
    for tag in plugins(Role::ConsensusFunction) {
        let plugin: Box<dyn ConsensusFunction> = build_default(tag).unwrap();
        if !plugin.needs().reads_constraints {
            continue;
        }
        // Members that are each wrong about others.
        let member = |shift: usize| {
            let label = |i: usize| {
                if i % 5 == shift { classes[(i + 1) % classes.len()] } else { classes[i] }
            };
            let labels: Vec<u32> = (0..classes.len()).map(label).collect();
            Member::from_labels(&labels)
        };
        let ensemble = Ensemble::new(classes.len(), (0..5).map(member).collect()).unwrap();
        let made = |given: &Constraints| {
            let problem = problem.clone().with_k(3).with_constraints(given.clone());
            let made = run::combine(&*plugin, &ensemble, &problem, &fixtures::context(1));
            made.map(|run| run.clustering.labels).map_err(|e| e.to_string())
        };
        let grouped_gives = made(&grouped);
        seen += usize::from(grouped_gives.is_ok());
        assert_eq!(grouped_gives, made(&listed), "{tag}");
    }
    assert!(seen > 3, "{seen} consensus functions that read constraints");
}
