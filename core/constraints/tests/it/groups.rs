//! A group whose members must be apart against its pairs, one by one.

use std::collections::{BTreeMap, BTreeSet};

use mustlink_core::closure::{Closure, EntailedWeight, Feasibility, OnConflict};
use mustlink_core::constraints::{
    Constraint, Constraints, Duplicates, Group, Origin, Strength, Violations,
};
use mustlink_core::knowledge::Knowledge;
use mustlink_core::lists::Lists;
use mustlink_core::random::SeedPath;
use mustlink_core::{Error, Kind, options};
use proptest::prelude::*;

const N: usize = 10;

fn mark() -> impl Strategy<Value = Option<Strength>> {
    prop::sample::select(vec![None, Some(Strength::Soft), Some(Strength::Hard)])
}

fn given() -> impl Strategy<Value = (Vec<Constraint>, Vec<Group>)> {
    let pair = (0..N, 0..N, any::<bool>(), 1u32..4, mark());
    let pairs = prop::collection::vec(pair, 0..8).prop_map(|all| {
        let all = all.into_iter().filter(|(i, j, ..)| i != j);
        all.map(|(i, j, must, w, strength)| {
            let kind = if must { Kind::MustLink } else { Kind::CannotLink };
            Constraint { strength, ..Constraint::new(i, j, kind).weighing(f64::from(w)) }
        })
        .collect()
    });
    let group = (prop::collection::vec(0..N as u32, 0..6), 1u32..4, mark());
    let groups = prop::collection::vec(group, 0..4).prop_map(|all| {
        let group = |(at, (members, w, strength)): (usize, (Vec<u32>, u32, Option<Strength>))| {
            Group { weight: f64::from(w), strength, ..Group::new(format!("g{at}"), members) }
        };
        all.into_iter().enumerate().map(group).collect()
    });
    (pairs, groups)
}

/// The same said twice: by groups, and by pairs alone.
fn both((pairs, groups): (Vec<Constraint>, Vec<Group>)) -> (Constraints, Constraints) {
    let all = pairs.iter().copied().chain(groups.iter().flat_map(Group::pairs));
    let plain = Constraints::new(N, all).unwrap();
    let grouped = Constraints::new(N, pairs).unwrap().with_groups(N, groups).unwrap();
    (grouped, plain)
}

/// The constraints as texts, in one order.
fn said(constraints: &[Constraint]) -> Vec<String> {
    let mut all: Vec<String> = constraints.iter().map(|c| format!("{c:?}")).collect();
    all.sort();
    all
}

/// The pairs (p, q) of lists of neighbours with p < q.
fn ascending(lists: &Lists) -> Vec<(u32, u32)> {
    let of = |p: u32| lists[p as usize].iter().map(move |&q| (p, q)).filter(|(p, q)| p < q);
    (0..lists.len() as u32).flat_map(of).collect()
}

fn close(a: Violations, b: Violations) -> bool {
    let weights = (a.must_weight - b.must_weight).abs() + (a.cannot_weight - b.cannot_weight).abs();
    (a.must, a.cannot) == (b.must, b.cannot) && weights < 1e-9
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// If several constraints are about one pair, the largest weight and the most binding mark count, in any order.
    #[test]
    fn order_of_statements_is_nothing((pairs, groups) in given(), seed: u64) {
        let rank = |s: Option<Strength>| s.map_or(1, |s| 2 * u8::from(s == Strength::Hard));
        let mut plain: BTreeMap<_, (f64, u8)> = BTreeMap::new();
        for c in pairs.iter().copied().chain(groups.iter().flat_map(Group::pairs)) {
            let most = plain.entry((c.i, c.j, c.kind as u8)).or_default();
            *most = (most.0.max(c.weight), most.1.max(rank(c.strength)));
        }
        let order = SeedPath::new(seed).stream("order").permutation(pairs.len());
        let shuffled: Vec<Constraint> = order.iter().map(|&at| pairs[at as usize]).collect();
        for pairs in [pairs, shuffled] {
            let made = Constraints::new(N, pairs).unwrap().with_groups(N, groups.clone()).unwrap();
            let pairs = made.pairs().iter();
            let made = pairs.map(|c| ((c.i, c.j, c.kind as u8), (c.weight, rank(c.strength))));
            prop_assert_eq!(made.collect::<BTreeMap<_, _>>(), plain.clone());
        }
    }

    #[test]
    fn groups_say_what_their_pairs_say(all in given(), labels in prop::collection::vec(0u32..4, N)) {
        let (grouped, plain) = both(all);
        prop_assert_eq!(said(grouped.pairs()), said(plain.pairs()));
        prop_assert_eq!(grouped.len(), plain.len());
        for kind in [Kind::MustLink, Kind::CannotLink] {
            prop_assert_eq!(grouped.count(kind), plain.count(kind));
        }
        prop_assert!(close(grouped.violations(&labels), plain.violations(&labels)));
        let listed = grouped.in_pairs("a test").unwrap();
        prop_assert!(listed.groups().is_empty());
        prop_assert_eq!(listed.pairs(), grouped.pairs());
    }

    #[test]
    fn groups_follow_their_objects(all in given(), gone in prop::collection::vec(any::<bool>(), N)) {
        let (grouped, plain) = both(all);
        let rows: Vec<usize> = (0..N).rev().filter(|&i| !gone[i]).collect();
        let said = |c: &Constraints| said(c.subset(&rows, N).pairs());
        prop_assert_eq!(said(&grouped), said(&plain));
        let (a, b) = (grouped.within(|i| !gone[i]), plain.within(|i| !gone[i]));
        prop_assert_eq!((a.0.len(), a.1), (b.0.len(), b.1));
        let map: Vec<_> = (0..N as u32).map(|i| (!gone[i as usize]).then_some(i)).collect();
        prop_assert_eq!(grouped.renumbered(N, &map).unwrap().1, plain.renumbered(N, &map).unwrap().1);
        // Rows that become one: both refuse, or both go on.
        let halves: Vec<_> = (0..N as u32).map(|i| Some(i / 2)).collect();
        let (a, b) = (grouped.renumbered(N, &halves), plain.renumbered(N, &halves));
        prop_assert_eq!(a.is_ok(), b.is_ok());
        if let (Ok(a), Ok(b)) = (a, b) {
            let pairs = |c: &Constraints| {
                let mut all: Vec<_> = c.pairs().iter().map(|c| (c.i, c.j, c.kind)).collect();
                all.sort();
                all
            };
            prop_assert_eq!(pairs(&a.0), pairs(&b.0));
        }
    }

    #[test]
    fn unions_are_those_of_the_pairs(one in given(), other in given()) {
        let ((a, b), (c, d)) = (both(one), both(other));
        let (grouped, plain) = (a.union(&c, N).unwrap(), b.union(&d, N).unwrap());
        prop_assert_eq!(said(grouped.pairs()), said(plain.pairs()));
    }

    #[test]
    fn closures_are_those_of_the_pairs(
        all in given(), labels in prop::collection::vec(0u32..3, N), k in 1usize..6,
    ) {
        let (grouped, plain) = both(all);
        let close = |c: &Constraints| Closure::new(c, N, OnConflict::Keep).unwrap();
        let (a, b) = (close(&grouped), close(&plain));
        for i in 0..N {
            for j in 0..N {
                prop_assert_eq!(a.relation(i, j), b.relation(i, j));
            }
        }
        for p in 0..a.components() {
            prop_assert_eq!(a.apart(p), b.apart(p));
            prop_assert_eq!(a.is_apart(p), !b.apart(p).is_empty());
        }
        prop_assert_eq!(a.conflicts().len(), b.conflicts().len());
        prop_assert_eq!(a.pair_counts(), b.pair_counts());
        prop_assert_eq!(a.violation_counts(&labels), b.violation_counts(&labels));
        let pairs = |c: &Closure| said(&c.pairs(EntailedWeight::Bottleneck, 1000).unwrap());
        prop_assert_eq!(pairs(&a), pairs(&b));
        let chains = |c: &Closure| {
            let mut all: Vec<_> =
                c.witnesses().into_iter().map(|w| (w.cannot, w.path.len(), w.links.len())).collect();
            all.sort();
            all
        };
        prop_assert_eq!(chains(&a), chains(&b));
        match (a.feasibility(k), b.feasibility(k)) {
            (Feasibility::Feasible(colours), found) => {
                prop_assert!(!matches!(found, Feasibility::Infeasible(_)));
                prop_assert!(colours.iter().all(|&c| (c as usize) < k));
                let fits = |p: usize| a.apart(p).iter().all(|&q| colours[q as usize] != colours[p]);
                prop_assert!((0..a.components()).all(fits));
            }
            (Feasibility::Infeasible(_), found) => {
                prop_assert!(!matches!(found, Feasibility::Feasible(_)));
            }
            (Feasibility::Unknown, found) => prop_assert!(matches!(found, Feasibility::Unknown)),
        }
        for rule in [OnConflict::DropCl, OnConflict::DropWeakest] {
            let left = |c: &Constraints| Closure::new(c, N, rule).unwrap();
            prop_assert!(left(&grouped).conflicts().is_empty());
            if rule == OnConflict::DropCl {
                let (a, b) = (left(&grouped), left(&plain));
                prop_assert_eq!(said(a.constraints().pairs()), said(b.constraints().pairs()));
                prop_assert_eq!(said(a.dropped()), said(b.dropped()));
            }
        }
    }

    #[test]
    fn what_is_told_of_a_set_is_counted_pair_by_pair(
        all in given(), more in given(), labels in prop::collection::vec(0u32..4, N),
    ) {
        let ((grouped, plain), (other, _)) = (both(all), both(more));
        let together = |c: &Constraint| labels[c.i as usize] == labels[c.j as usize];
        let broken = |c: &&Constraint| together(c) == (c.kind == Kind::CannotLink);
        let mut by_hand = Violations::default();
        for c in plain.pairs().iter().filter(broken) {
            let (count, weight) = if c.kind == Kind::MustLink {
                (&mut by_hand.must, &mut by_hand.must_weight)
            } else {
                (&mut by_hand.cannot, &mut by_hand.cannot_weight)
            };
            *count += 1;
            *weight += c.weight;
        }
        for c in [&grouped, &plain] {
            prop_assert!(close(c.violations(&labels), by_hand));
            prop_assert_eq!(c.violations(&labels).total(), by_hand.must + by_hand.cannot);
            let hard = plain.pairs().iter().any(|c| c.strength == Some(Strength::Hard));
            prop_assert_eq!(c.any_hard(), hard);
            let ends = plain.pairs().iter().flat_map(|c| [c.i as usize, c.j as usize]);
            prop_assert_eq!(c.objects(), ends.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>());
            prop_assert_eq!(c.is_empty(), plain.pairs().is_empty());
        }
        let stated = |c: &Constraints| -> BTreeSet<_> {
            c.pairs().iter().map(|c| (c.i, c.j, c.kind)).collect()
        };
        prop_assert_eq!(grouped.digest(), grouped.clone().digest());
        if stated(&grouped) != stated(&other) {
            prop_assert_ne!(grouped.digest(), other.digest());
        }
        let of_either = &stated(&plain) | &stated(&other);
        prop_assert_eq!(stated(&grouped.union(&other, N).unwrap()), of_either);
    }

    #[test]
    fn a_closure_counts_each_pair_of_components_once(all in given()) {
        let (grouped, plain) = both(all);
        let closure = Closure::new(&grouped, N, OnConflict::Keep).unwrap();
        let components = 0..closure.components();
        prop_assert!(components.clone().map(|p| closure.members(p)[0]).is_sorted());
        for p in components.clone() {
            prop_assert!(closure.members(p).iter().all(|&i| closure.component(i as usize) == p));
        }
        let all_apart = |p: usize| closure.apart(p).iter().map(move |&q| (p as u32, q));
        let apart: BTreeSet<_> = components.clone().flat_map(all_apart).filter(|(p, q)| p < q).collect();
        let among = |clique: &Vec<u32>| {
            let pairs = clique.iter().enumerate().flat_map(|(at, &p)| {
                clique[at + 1..].iter().map(move |&q| (p, q))
            });
            pairs.collect::<Vec<_>>()
        };
        let mut counted: Vec<_> =
            ascending(closure.countable_edges());
        counted.extend(closure.countable_cliques().iter().flat_map(among));
        counted.sort_unstable();
        prop_assert_eq!(&counted, &apart.iter().copied().collect::<Vec<_>>());
        // A group that lies in two components or more is a clique, and alone if its objects are in nothing else.
        let parts_of = |group: &Group| {
            let parts = group.members.iter().map(|&i| closure.component(i as usize) as u32);
            parts.collect::<BTreeSet<u32>>().into_iter().collect::<Vec<u32>>()
        };
        let wide = |group: &&Group| parts_of(group).len() > 1;
        let cliques: Vec<&Group> = grouped.groups().iter().filter(wide).collect();
        prop_assert_eq!(closure.cliques(), cliques.iter().map(|g| parts_of(g)).collect::<Vec<_>>());
        let mut beside: BTreeSet<_> =
            ascending(&closure.apart_beside_lone_groups()).into_iter().collect();
        for (g, group) in cliques.iter().enumerate() {
            let said = |i: &u32| {
                let listed = grouped.listed().iter().filter(|c| [c.i, c.j].contains(i)).count();
                listed + grouped.groups().iter().filter(|g| g.members.contains(i)).count()
            };
            prop_assert_eq!(closure.is_alone(g), group.members.iter().all(|i| said(i) == 1));
            if closure.is_alone(g) {
                beside.extend(among(&closure.cliques()[g]));
            }
        }
        prop_assert_eq!(beside, apart);
        let inside = |c: &&Constraint| {
            let (p, q) = (closure.component(c.i as usize), closure.component(c.j as usize));
            c.kind == Kind::CannotLink && p == q
        };
        let contradictions: Vec<Constraint> = plain.pairs().iter().filter(inside).copied().collect();
        let told: Vec<Constraint> = closure.contradictions().collect();
        prop_assert_eq!(said(&told), said(&contradictions));
    }

    #[test]
    fn knowledge_is_that_of_the_pairs(all in given(), more in prop::collection::vec((0u32..10, 0u32..10, any::<bool>()), 0..8)) {
        let (grouped, plain) = both(all);
        let (mut a, mut b) = (Knowledge::new(N, &grouped), Knowledge::new(N, &plain));
        for (i, j, must) in more.into_iter().filter(|(i, j, _)| i != j) {
            if must {
                prop_assert_eq!(a.must(i, j), b.must(i, j));
            } else {
                prop_assert_eq!(a.cannot(i, j), b.cannot(i, j));
            }
            for x in 0..N as u32 {
                for y in 0..N as u32 {
                    prop_assert_eq!(a.relation(x, y), b.relation(x, y));
                }
            }
        }
    }
}

#[test]
fn a_group_is_named_where_it_cannot_be_held() {
    let photo = Group::new("photo", vec![4, 1, 2]);
    let with = |pairs: &[Constraint]| {
        let listed = Constraints::new(6, pairs.iter().copied()).unwrap();
        listed.with_groups(6, [photo.clone()]).unwrap()
    };
    let closure = Closure::new(&with(&[]), 6, OnConflict::Error).unwrap();
    assert_eq!(closure.constraints().listed(), []);
    assert_eq!(
        closure.require_feasible(2).unwrap_err().to_string(),
        "constraints: 2 clusters cannot hold the 3 members of the group \"photo\", which must all be \
         apart: 1, 2, 4; raise k or split the group"
    );
    assert!(closure.require_feasible(3).is_ok());
    let torn = with(&[Constraint::must(1, 5), Constraint::must(5, 4)]);
    assert_eq!(
        Closure::new(&torn, 6, OnConflict::Error).unwrap_err().to_string(),
        "constraints: cannot-link 1–4 of the group \"photo\" contradicts must-links 1–5–4"
    );
}

#[test]
fn the_first_pair_of_a_group_may_be_the_contradiction() {
    let listed = Constraints::new(4, [Constraint::must(0, 1)]).unwrap();
    let given = listed.with_groups(4, [Group::new("photo", vec![0, 1, 2])]).unwrap();
    let closure = Closure::new(&given, 4, OnConflict::Keep).unwrap();
    assert_eq!(closure.contradictions().collect::<Vec<_>>(), [Constraint::cannot(0, 1)]);
    // 0 and 1 are one component: 2 is apart from both, and the contradiction counts by itself.
    assert_eq!(closure.violation_counts(&[0; 4]), (0, 3));
}

#[test]
fn contradictions_of_later_groups_are_theirs() {
    let listed = Constraints::new(6, [Constraint::must(4, 5)]).unwrap();
    let groups = [("one", vec![0, 1, 2]), ("two", vec![3, 4, 5])].map(|(n, m)| Group::new(n, m));
    let given = listed.with_groups(6, groups).unwrap();
    let closure = Closure::new(&given, 6, OnConflict::Keep).unwrap();
    assert_eq!(closure.contradictions().collect::<Vec<_>>(), [Constraint::cannot(4, 5)]);
}

#[test]
fn a_pair_that_a_group_and_a_cannot_link_say_counts_once() {
    let listed = Constraints::new(3, [Constraint::must(0, 2), Constraint::cannot(1, 2)]).unwrap();
    let given = listed.with_groups(3, [Group::new("photo", vec![0, 1])]).unwrap();
    let closure = Closure::new(&given, 3, OnConflict::Keep).unwrap();
    assert_eq!(closure.cliques(), [vec![0, 1]]);
    assert!(closure.countable_cliques().is_empty());
    assert_eq!(ascending(closure.countable_edges()), [(0, 1)]);
    assert_eq!(closure.violation_counts(&[0; 3]), (0, 2));
}

#[test]
fn groups_that_share_pairs_of_components_are_tangled_and_others_not() {
    let of = |links: &[Constraint]| {
        let groups = [("one", vec![0, 1]), ("two", vec![2, 3])].map(|(n, m)| Group::new(n, m));
        let listed = Constraints::new(4, links.iter().copied()).unwrap();
        let given = listed.with_groups(4, groups).unwrap();
        let closure = Closure::new(&given, 4, OnConflict::Keep).unwrap();
        let (must, cannot) = closure.violation_counts(&[0; 4]);
        assert_eq!(must, 0);
        (closure.countable_cliques().to_vec(), ascending(closure.countable_edges()), cannot)
    };
    assert_eq!(of(&[]), (vec![vec![0, 1], vec![2, 3]], vec![], 2));
    let linked = [Constraint::must(0, 2)];
    assert_eq!(of(&linked), (vec![vec![0, 1], vec![0, 2]], vec![], 4));
    let both = [Constraint::must(0, 2), Constraint::must(1, 3)];
    assert_eq!(of(&both), (vec![], vec![(0, 1)], 4));
}

#[test]
fn groups_are_added_to_what_was_known() {
    let twice = [Constraint::must(0, 1), Constraint::must(0, 1)];
    let summed = Constraints::with_duplicates(4, twice, Duplicates::Sum).unwrap();
    assert_eq!(summed.summed(), 1);
    let named = summed.with_neighbourhoods(vec![vec![1, 0]]);
    let given = named.with_groups(4, [Group::new("photo", vec![2, 3])]).unwrap();
    for set in [&given, &given.in_pairs("a test").unwrap()] {
        assert_eq!(set.summed(), 1);
        assert_eq!(set.neighbourhoods(), [vec![0, 1]]);
    }
}

#[test]
fn what_follows_is_told_from_what_was_given() {
    let given = Constraints::new(3, [Constraint::must(0, 1), Constraint::must(1, 2)]).unwrap();
    let closure = Closure::new(&given, 3, OnConflict::Keep).unwrap();
    let pairs = closure.pairs(EntailedWeight::Uniform(0.5), 3).unwrap();
    let told: Vec<_> = pairs.iter().map(|c| (c.i, c.j, c.weight, c.origin)).collect();
    let (given, entailed) = (Origin::Given, Origin::Entailed);
    assert_eq!(told, [(0, 1, 1.0, given), (0, 2, 0.5, entailed), (1, 2, 1.0, given)]);
    assert!(closure.pairs(EntailedWeight::Uniform(0.5), 2).is_err());
    assert!(options::check(&EntailedWeight::Uniform(0.0)).is_ok());
    let refused = options::check(&EntailedWeight::Uniform(-1.0)).unwrap_err().to_string();
    assert_eq!(refused, "uniform: must be at least 0, got -1");
}

#[test]
fn members_that_become_one_row_are_named() {
    let photo = Group::new("photo", vec![0, 1, 2]);
    let given = Constraints::default().with_groups(3, [photo]).unwrap();
    let refused = given.renumbered(2, &[Some(0), Some(1), Some(0)]).unwrap_err().to_string();
    assert!(refused.contains("0–2 of the group \"photo\""), "{refused}");
}

#[test]
fn marks_of_pairs_and_of_groups_are_found() {
    let hard = Constraint { strength: Some(Strength::Hard), ..Constraint::must(0, 1) };
    let listed = Constraints::new(4, [hard]).unwrap();
    assert!(listed.any_hard());
    assert!(listed.with_groups(4, [Group::new("photo", vec![2, 3])]).unwrap().any_hard());
    let named = Constraints::default().with_neighbourhoods(vec![vec![1]]);
    assert!(!named.is_empty());
    assert!(Constraints::default().is_empty());
}

#[test]
fn large_groups_are_never_pairs() {
    // 2 · 10⁹ pairs each: whoever listed them would not come to an end here.
    let n = 200_000;
    let groups = (0..3u32).map(|g| {
        let members = (0..n as u32).filter(|i| i % 3 == g).collect();
        Group::new(format!("g{g}"), members)
    });
    // Must-links from group to group, as one voice in many recordings.
    let links = (0..1000).map(|i| Constraint::must(3 * i, 3 * i + 1));
    let given = Constraints::new(n, links).unwrap().with_groups(n, groups).unwrap();
    assert_eq!(given.listed().len(), 1000);
    let closure = Closure::new(&given, n, OnConflict::Error).unwrap();
    assert_eq!(closure.relation(0, 3), Some(Kind::CannotLink));
    assert_eq!(closure.relation(1, 3), Some(Kind::CannotLink));
    assert_eq!(closure.relation(2, 3), None);
    assert!(closure.require_feasible(100).is_err());
    let labels: Vec<u32> = (0..n as u32).map(|i| i / 3).collect();
    assert_eq!(closure.violation_counts(&labels), (0, 0));
    // What must-links make two of the groups share is counted once.
    let (linked, alone) = (1000u64, 66_667 - 1000);
    let among = |members: u64| members * (members - 1) / 2;
    let shared = among(2 * linked) - linked + 2 * (2 * linked * alone);
    let apart = shared + 2 * among(alone) + among(66_666);
    assert_eq!(closure.violation_counts(&vec![0; n]), (0, apart));
    assert_eq!(closure.pair_counts(), (linked, apart));
    assert_eq!(given.violations(&labels).cannot, 0);
    assert_eq!(given.violations(&vec![0; n]).cannot, given.grouped_pairs());
    assert_eq!(Knowledge::new(n, &given).relation(1, 3), Some(Kind::CannotLink));
    let refused = given.in_pairs("pck_means").unwrap_err();
    assert!(matches!(refused, Error::TooManyGroupPairs { .. }), "{refused}");
}
