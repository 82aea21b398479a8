//! The component form of the closure against the plain rules, pair by pair.

use std::collections::{BTreeMap, VecDeque};

use mustlink_core::Error;
use mustlink_core::closure::{Closure, EntailedWeight, Feasibility, OnConflict};
use mustlink_core::constraints::{Constraint, Constraints, Kind};
use mustlink_core::error::Infeasible;
use mustlink_core::random::SeedPath;
use proptest::prelude::*;

pub fn given(n: usize) -> impl Strategy<Value = Vec<Constraint>> {
    let pair = (0..n, 0..n, any::<bool>(), 1u32..5);
    prop::collection::vec(pair, 0..2 * n).prop_map(|all| {
        all.into_iter()
            .filter(|(i, j, ..)| i != j)
            .map(|(i, j, must, w)| {
                let kind = if must { Kind::MustLink } else { Kind::CannotLink };
                Constraint::new(i, j, kind).weighing(f64::from(w))
            })
            .collect()
    })
}

/// Transitivity and entailment as they read, on n × n tables of the strongest chain.
fn plain(n: usize, constraints: &Constraints) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
    let mut must = vec![vec![0.0f64; n]; n];
    let mut cannot = vec![vec![0.0f64; n]; n];
    for (i, row) in must.iter_mut().enumerate() {
        row[i] = f64::INFINITY;
    }
    for c in constraints.pairs().iter().filter(|c| c.kind == Kind::MustLink) {
        let (i, j) = (c.i as usize, c.j as usize);
        must[i][j] = must[i][j].max(c.weight);
        must[j][i] = must[i][j];
    }
    for m in 0..n {
        for i in 0..n {
            for j in 0..n {
                must[i][j] = must[i][j].max(must[i][m].min(must[m][j]));
            }
        }
    }
    for c in constraints.pairs().iter().filter(|c| c.kind == Kind::CannotLink) {
        for (a, b) in [(c.i as usize, c.j as usize), (c.j as usize, c.i as usize)] {
            if must[a][b] > 0.0 {
                continue; // a contradiction is not extended
            }
            for i in 0..n {
                for j in 0..n {
                    let w = c.weight.min(must[i][a]).min(must[b][j]);
                    cannot[i][j] = cannot[i][j].max(w);
                }
            }
        }
    }
    (must, cannot)
}

/// A shortest chain of must-links between the ends of a pair, neighbours in index order, by tables.
fn chain(c: &Constraint, links: &[(usize, Constraint)]) -> Option<(Vec<u32>, Vec<usize>)> {
    let mut from: BTreeMap<u32, Option<(u32, usize)>> = [(c.i, None)].into();
    let mut queue = VecDeque::from([c.i]);
    while let Some(x) = queue.pop_front() {
        let mut next: Vec<(u32, usize)> = links
            .iter()
            .filter(|(_, l)| l.kind == Kind::MustLink && (l.i == x || l.j == x))
            .map(|&(at, l)| (l.i + l.j - x, at))
            .collect();
        next.sort_unstable();
        for (y, at) in next {
            from.entry(y).or_insert_with(|| {
                queue.push_back(y);
                Some((x, at))
            });
        }
    }
    from.contains_key(&c.j).then(|| {
        let (mut path, mut used) = (vec![c.j], Vec::new());
        while let Some((before, at)) = from[&path[0]] {
            path.insert(0, before);
            used.insert(0, at);
        }
        (path, used)
    })
}

/// Drops the weakest constraint of the first contradiction, of equal ones the last, and starts again.
fn drop_weakest(constraints: &Constraints) -> Vec<Constraint> {
    let mut left: Vec<(usize, Constraint)> =
        constraints.pairs().iter().copied().enumerate().collect();
    loop {
        let mut cannot = left.iter().filter(|(_, c)| c.kind == Kind::CannotLink);
        let first = cannot.find_map(|(at, c)| Some((*at, chain(c, &left)?.1)));
        let Some((at, links)) = first else { return left.into_iter().map(|(_, c)| c).collect() };
        let weight = |at: &usize| constraints.pairs()[*at].weight;
        let all = links.into_iter().chain([at]);
        let weakest = all.min_by(|a, b| weight(a).total_cmp(&weight(b)).then(b.cmp(a))).unwrap();
        left.retain(|(at, _)| *at != weakest);
    }
}

proptest! {
    #[test]
    fn components_say_what_the_rules_say(all in given(9)) {
        let n = 9;
        let constraints = Constraints::new(n, all).unwrap();
        let closure = Closure::new(&constraints, n, OnConflict::Keep).unwrap();
        let (must, cannot) = plain(n, &constraints);
        let mut counts = (0, 0);
        for i in 0..n {
            for j in 0..i {
                let expected = if must[i][j] > 0.0 {
                    Some(Kind::MustLink)
                } else if cannot[i][j] > 0.0 {
                    Some(Kind::CannotLink)
                } else {
                    None
                };
                prop_assert_eq!(closure.relation(i, j), expected);
                counts.0 += u64::from(expected == Some(Kind::MustLink));
                counts.1 += u64::from(expected == Some(Kind::CannotLink));
            }
        }
        prop_assert_eq!(closure.pair_counts(), counts);
        let pairs = closure.pairs(EntailedWeight::Bottleneck, 1000).unwrap();
        let given: Vec<_> = constraints.pairs().iter().map(|c| (c.i, c.j, c.kind)).collect();
        for c in &pairs {
            if !given.contains(&(c.i, c.j, c.kind)) {
                let table = if c.kind == Kind::MustLink { &must } else { &cannot };
                prop_assert_eq!(c.weight, table[c.i as usize][c.j as usize]);
            }
        }
        prop_assert_eq!(pairs.len() as u64, counts.0 + counts.1 + closure.conflicts().len() as u64);
    }

    #[test]
    fn closing_twice_adds_nothing(all in given(9)) {
        let constraints = Constraints::new(9, all).unwrap();
        let Ok(closure) = Closure::new(&constraints, 9, OnConflict::DropCl) else {
            return Err(TestCaseError::fail("drop_cl leaves nothing to refuse"));
        };
        let pairs = closure.pairs(EntailedWeight::Bottleneck, 1000).unwrap();
        let again = Constraints::new(9, pairs.clone()).unwrap();
        let again = Closure::new(&again, 9, OnConflict::Error).unwrap();
        prop_assert_eq!(again.pairs(EntailedWeight::Bottleneck, 1000).unwrap(), pairs);
    }

    #[test]
    fn counted_violations_are_those_of_the_pairs(all in given(9), labels in prop::collection::vec(0u32..3, 9)) {
        let constraints = Constraints::new(9, all).unwrap();
        let closure = Closure::new(&constraints, 9, OnConflict::Keep).unwrap();
        let pairs = closure.pairs(EntailedWeight::Bottleneck, 1000).unwrap();
        let count = |kind| pairs.iter().filter(|c| c.kind == kind && c.is_violated(&labels)).count() as u64;
        prop_assert_eq!(closure.violation_counts(&labels), (count(Kind::MustLink), count(Kind::CannotLink)));
    }

    #[test]
    fn witnesses_are_the_shortest_chains(all in given(12)) {
        let constraints = Constraints::new(12, all).unwrap();
        let listed: Vec<_> = constraints.pairs().iter().copied().enumerate().collect();
        let cannot = listed.iter().filter(|(_, c)| c.kind == Kind::CannotLink);
        let expected: Vec<_> =
            cannot.filter_map(|(at, c)| Some((*at, (c.i, c.j), chain(c, &listed)?))).collect();
        let kept = Closure::new(&constraints, 12, OnConflict::Keep).unwrap();
        let witnesses = kept.witnesses();
        let found = witnesses.iter().map(|w| (w.index, w.cannot, (w.path.clone(), w.links.clone())));
        prop_assert_eq!(found.collect::<Vec<_>>(), expected);
        match Closure::new(&constraints, 12, OnConflict::Error) {
            Ok(_) => prop_assert!(witnesses.is_empty()),
            Err(Error::InconsistentConstraints(told)) => {
                prop_assert_eq!(&told.shown[..], &witnesses[..witnesses.len().min(5)]);
                prop_assert_eq!(told.count, witnesses.len());
                let text = |told| Error::InconsistentConstraints(told).to_string();
                prop_assert_eq!(text(told), text(witnesses.into()));
            }
            Err(e) => prop_assert!(false, "{}", e),
        }
    }

    #[test]
    fn the_weakest_go_one_by_one(all in given(12)) {
        let constraints = Constraints::new(12, all).unwrap();
        let left = Closure::new(&constraints, 12, OnConflict::DropWeakest).unwrap();
        prop_assert!(left.conflicts().is_empty());
        let kept = drop_weakest(&constraints);
        prop_assert_eq!(left.constraints().pairs(), &kept[..]);
        let gone = constraints.pairs().iter().copied().filter(|c| !kept.contains(c));
        prop_assert_eq!(left.dropped(), gone.collect::<Vec<_>>());
    }

    #[test]
    fn feasibility_is_honest(all in given(6), k in 1usize..4) {
        let constraints = Constraints::new(6, all).unwrap();
        let closure = Closure::new(&constraints, 6, OnConflict::DropCl).unwrap();
        let m = closure.components();
        let possible = (0..k.pow(m as u32)).any(|code| {
            let colour = |p: usize| code / k.pow(p as u32) % k;
            (0..m).all(|p| closure.apart(p).iter().all(|&q| colour(p) != colour(q as usize)))
        });
        match closure.feasibility(k) {
            Feasibility::Feasible(colour) => {
                prop_assert!(possible);
                prop_assert!(colour.iter().all(|&c| (c as usize) < k));
                for p in 0..m {
                    prop_assert!(closure.apart(p).iter().all(|&q| colour[p] != colour[q as usize]));
                }
            }
            Feasibility::Infeasible(witness) => {
                prop_assert!(!possible);
                match witness {
                    Infeasible::Clique(objects) => {
                        prop_assert!(objects.len() > k);
                        for (at, &a) in objects.iter().enumerate() {
                            for &b in &objects[at + 1..] {
                                prop_assert_eq!(closure.relation(a as usize, b as usize), Some(Kind::CannotLink));
                            }
                        }
                    }
                    Infeasible::OddCycle(objects) => {
                        prop_assert_eq!(objects.len() % 2, 1);
                        for at in 0..objects.len() {
                            let (a, b) = (objects[at], objects[(at + 1) % objects.len()]);
                            prop_assert_eq!(closure.relation(a as usize, b as usize), Some(Kind::CannotLink));
                        }
                    }
                    Infeasible::Exhausted(_)
                    | Infeasible::Group { .. }
                    | Infeasible::Limits { .. }
                    | Infeasible::Blocked(_)
                    | Infeasible::Surrounded { .. } => {
                        prop_assert!(false, "not a witness of colouring");
                    }
                }
            }
            Feasibility::Unknown => prop_assert!(k > 2),
        }
    }
}

#[test]
fn contradictions_show_the_shortest_chain() {
    let links = [(4, 9), (9, 17), (4, 5), (5, 6), (6, 17)].map(|(i, j)| Constraint::must(i, j));
    let all = links.into_iter().chain([Constraint::cannot(4, 17)]);
    let constraints = Constraints::new(20, all).unwrap();
    let error = Closure::new(&constraints, 20, OnConflict::Error).unwrap_err();
    assert_eq!(error.to_string(), "constraints: cannot-link 4–17 contradicts must-links 4–9–17");
    let named = error.render(&|i| format!("doc{i}"));
    assert_eq!(named, "constraints: cannot-link doc4–doc17 contradicts must-links doc4–doc9–doc17");
}

#[test]
fn infeasible_k_shows_the_clique() {
    let all =
        [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3)].map(|(i, j)| Constraint::cannot(i, j));
    let constraints = Constraints::new(6, all).unwrap();
    let closure = Closure::new(&constraints, 6, OnConflict::Error).unwrap();
    assert_eq!(
        closure.require_feasible(3).unwrap_err().to_string(),
        "constraints: 3 clusters cannot hold 4 objects that must all be apart: 0, 1, 2, 3"
    );
    assert!(closure.require_feasible(4).is_ok());
    let odd = Constraints::new(
        4,
        [Constraint::cannot(0, 1), Constraint::cannot(1, 2), Constraint::cannot(0, 2)],
    );
    let closure = Closure::new(&odd.unwrap(), 4, OnConflict::Error).unwrap();
    assert_eq!(
        closure.require_feasible(2).unwrap_err().to_string(),
        "constraints: 2 clusters cannot satisfy the odd cycle of cannot-links 0–1–2"
    );
}

#[test]
fn many_pairs_and_long_chains_are_closed_without_enumeration() {
    // 100 000 random pairs over 20 000 objects in 10 classes.
    let mut s = SeedPath::new(1).stream("closure");
    let class: Vec<usize> = (0..20_000).map(|_| s.below(10)).collect();
    let pairs = (0..100_000).filter_map(|_| {
        let (i, j) = (s.below(20_000), s.below(20_000));
        (i != j).then(|| {
            if class[i] == class[j] { Constraint::must(i, j) } else { Constraint::cannot(i, j) }
        })
    });
    let constraints = Constraints::new(20_000, pairs.collect::<Vec<_>>()).unwrap();
    let closure = Closure::new(&constraints, 20_000, OnConflict::Error).unwrap();
    let (must, cannot) = closure.pair_counts();
    assert!(must > 100_000 && cannot > 5_000_000, "{must} {cannot}");
    assert!(matches!(
        closure.pairs(EntailedWeight::Bottleneck, 1_000_000),
        Err(Error::ClosureTooLarge { limit: 1_000_000, .. })
    ));
    let n = 1_000_000;
    let chain = Constraints::new(n, (1..n).map(|i| Constraint::must(i - 1, i))).unwrap();
    let closure = Closure::new(&chain, n, OnConflict::Error).unwrap();
    assert_eq!(closure.pair_counts(), (n as u64 * (n as u64 - 1) / 2, 0));
}

#[test]
fn named_neighbourhoods_start_clusters_and_link_nothing() {
    let constraints = Constraints::new(6, [Constraint::must(1, 2)])
        .unwrap()
        .with_neighbourhoods(vec![vec![5], vec![2, 3]]);
    let closure = Closure::new(&constraints, 6, OnConflict::Error).unwrap();
    assert_eq!(closure.neighbourhoods(), [vec![1, 2, 3], vec![5]]);
    assert_eq!(closure.relation(2, 3), None);
}

/// Unequal weights take as long as there are pairs: a search for each would take minutes.
#[test]
fn many_constraints_of_unequal_weights_are_closed() {
    let (n, mut s) = (900, SeedPath::new(2).stream("closure"));
    let class: Vec<usize> = (0..n).map(|_| s.below(3)).collect();
    let pairs: Vec<Constraint> = (0..9000)
        .map(|_| {
            let (i, j) = (s.below(n), s.below(n - 1));
            let j = if j < i { j } else { j + 1 };
            let one = if class[i] == class[j] {
                Constraint::must(i, j)
            } else {
                Constraint::cannot(i, j)
            };
            one.weighing(s.unit())
        })
        .collect();
    let constraints = Constraints::new(n, pairs).unwrap();
    let closure = Closure::new(&constraints, n, OnConflict::Error).unwrap();
    let all = closure.pairs(EntailedWeight::Bottleneck, 1_000_000).unwrap();
    assert_eq!(all.len(), n * (n - 1) / 2);
    assert!(all.iter().all(|c| c.weight > 0.0 && c.weight < 1.0));
}

/// Long chains and many contradictions: a search for each would fill minutes and gigabytes.
#[test]
fn many_contradictions_are_told_by_a_few() {
    let n = 200_000;
    let links = (1..n).map(|i| Constraint::must(i - 1, i));
    let apart = (0..n / 2).map(|i| Constraint::cannot(i, n - 1 - i));
    let constraints = Constraints::new(n, links.chain(apart)).unwrap();
    let refused = Closure::new(&constraints, n, OnConflict::Error).unwrap_err();
    let Error::InconsistentConstraints(told) = refused else { panic!("{refused}") };
    assert_eq!((told.shown.len(), told.count), (5, n / 2));
    assert_eq!(told.shown[4].path.len(), n - 8);
}
