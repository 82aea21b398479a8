//! Costs of groups whose members must be apart, compared with the costs of their pairs.

use std::sync::Arc;

use mustlink_core::Data;
use mustlink_core::closure::{Closure, OnConflict};
use mustlink_core::clustering::NONE;
use mustlink_core::constraints::{Constraint, Constraints, Group};
use mustlink_kernels::constrained::constraint_groups::{ConstraintGroups, Entail};
use mustlink_kernels::constrained::distance_costs::MetricPenalties;
use mustlink_kernels::constrained::icm::PairwiseCosts;
use mustlink_kernels::constrained::mahalanobis::{Metric, Scatter};
use mustlink_kernels::constrained::violation_costs::Penalties;
use ndarray::Array2;
use proptest::prelude::*;

const N: usize = 14;
const K: usize = 3;

fn groups() -> impl Strategy<Value = Vec<Vec<u32>>> {
    prop::collection::vec(prop::collection::vec(0..N as u32, 2..6), 1..4)
}

fn must_links() -> impl Strategy<Value = Vec<Constraint>> {
    let pair = (0..N, 0..N).prop_map(|(i, j)| Constraint::must(i, j));
    prop::collection::vec(pair, 0..4)
}

fn labels() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(prop_oneof![4 => 0..K as u32, 1 => Just(NONE)], N)
}

/// The costs of the groups as they are, and of all their pairs written out; the first weighs `weight`.
fn both(
    links: Vec<Constraint>,
    groups: Vec<Vec<u32>>,
    weight: f64,
    entail: Entail,
) -> [Arc<ConstraintGroups>; 2] {
    let named = groups.into_iter().enumerate().map(|(at, members)| {
        let weight = if at == 0 { weight } else { 1.0 };
        Group { weight, ..Group::new("together", members) }
    });
    let whole = Constraints::new(N, links).unwrap().with_groups(N, named).unwrap();
    let pairs = whole.in_pairs("this test").unwrap();
    [whole, pairs].map(|constraints| {
        let closure = Closure::new(&constraints, N, OnConflict::Keep).unwrap();
        Arc::new(ConstraintGroups::new(&closure, 2.0, 3.0, entail, K).unwrap())
    })
}

fn costs(of: &mut impl PairwiseCosts, labels: &[u32]) -> Vec<f64> {
    let mut all = vec![0.0; N * K];
    for &i in of.links().objects().to_vec().iter() {
        of.add(i as usize, labels, &mut all[i as usize * K..][..K]);
    }
    all
}

fn are_near(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-9 * a.abs().max(1.0))
}

#[test]
fn groups_are_held_whole() {
    let members: Vec<u32> = (0..10).collect();
    let [whole, pairs] = both(vec![Constraint::must(0, 12)], vec![members], 1.0, Entail::Full);
    assert_eq!(whole.objects(), pairs.objects());
    // Where pairs are asked one by one, there is a limit that names itself.
    let many = Constraints::new(10_000, []).unwrap();
    let group = Group { weight: 2.0, ..Group::new("crowd", (0..10_000).collect()) };
    let many = many.with_groups(10_000, [group]).unwrap();
    let closure = Closure::new(&many, 10_000, OnConflict::Keep).unwrap();
    ConstraintGroups::new(&closure, 1.0, 1.0, Entail::Full, K).unwrap();
    ConstraintGroups::new(&closure, 1.0, 1.0, Entail::Off, K).unwrap();
    let by_size = Entail::NeighbourhoodsOnly;
    let refused = ConstraintGroups::new(&closure, 1.0, 1.0, by_size, K).err().unwrap();
    assert!(refused.to_string().contains("weighs pairs one by one"), "{refused}");
    // The same where must-links make large groups share pairs.
    let crowds = [0..5000, 5000..10_000].map(|all| Group::new("crowd", all.collect()));
    let links = [Constraint::must(0, 5000), Constraint::must(1, 5001)];
    let tied = Constraints::new(10_000, links).unwrap().with_groups(10_000, crowds).unwrap();
    let closure = Closure::new(&tied, 10_000, OnConflict::Keep).unwrap();
    let refused = ConstraintGroups::new(&closure, 1.0, 1.0, Entail::Full, K).err().unwrap();
    assert!(refused.to_string().contains("make groups share some"), "{refused}");
}

proptest! {
    #[test]
    fn groups_cost_what_their_pairs_cost(
        links in must_links(), groups in groups(), first in labels(), then in labels(),
        x in prop::collection::vec(-5.0..5.0f64, N * 2), multi in any::<bool>(),
        // Weights of which every sum is exact.
        weight in prop_oneof![Just(1.0), Just(0.25)],
        entail in prop_oneof![Just(Entail::Full), Just(Entail::Off)],
    ) {
        let [whole, pairs] = both(links, groups, weight, entail);
        let counted = |links: &Arc<ConstraintGroups>| {
            let mut costs_of = Penalties::new(links, K, &first);
            for i in 0..N {
                costs_of.moved(i, first[i], then[i]);
            }
            (costs(&mut costs_of, &then), costs_of.total(&then))
        };
        prop_assert_eq!(counted(&whole), counted(&pairs));
        // A member without a cluster takes no part in scatters.
        let placed = |labels: &[u32]| -> Vec<u32> {
            labels.iter().map(|&l| if l == NONE { 0 } else { l }).collect()
        };
        let (first, then) = (placed(&first), placed(&then));
        let data = Data::dense(Array2::from_shape_vec((N, 2), x).unwrap()).unwrap();
        let metric = |h: usize| Metric::Diagonal(vec![1.0 + h as f64, 0.5]);
        let metrics: Vec<Metric> = (0..if multi { K } else { 1 }).map(metric).collect();
        let spans = vec![vec![10.0, 10.0]; metrics.len()];
        let measured = |links: &Arc<ConstraintGroups>| {
            let mut costs_of = MetricPenalties::new(links, &data, K);
            costs_of.set(&metrics, &spans, &first);
            for i in 0..N {
                costs_of.moved(i, first[i], then[i]);
            }
            let (scatters, number) = costs_of.scatter(&then);
            let traces: Vec<f64> = scatters
                .iter()
                .flat_map(|scatter| match scatter {
                    Scatter::Diagonal(all) => all.clone(),
                    Scatter::Full(_) => unreachable!("diagonal metrics"),
                })
                .collect();
            (costs(&mut costs_of, &then), traces, number)
        };
        let (one, other) = (measured(&whole), measured(&pairs));
        prop_assert!(are_near(&one.0, &other.0), "{one:?} {other:?}");
        prop_assert!(are_near(&one.1, &other.1), "{one:?} {other:?}");
        prop_assert_eq!(one.2, other.2);
    }
}
