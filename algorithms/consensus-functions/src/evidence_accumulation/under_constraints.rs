//! Tests of evidence accumulation under constraints against its documented rule.

use mustlink_core::prelude::*;
use proptest::prelude::*;

use super::{Constrain, CutAt, EvidenceAccumulation, Linkage, Part};
use crate::parts::e12::{blank, e12};

/// Sizes of the clusters, which are intervals of objects in E12.
fn groups(c: &Clustering) -> Vec<usize> {
    assert!(c.labels.windows(2).all(|w| w[0] <= w[1]), "{:?}", c.labels);
    c.sizes()
}

/// Problem of E12 under constraints.
fn under(k: usize, pairs: &[Constraint]) -> Problem {
    blank(12, k).with_constraints(Constraints::new(12, pairs.iter().copied()).unwrap())
}

#[test]
fn constraints_by_hand() {
    let (ensemble, _) = e12();
    let of = |ea: &EvidenceAccumulation, problem: &Problem| {
        ea.combine(&ensemble, problem, &Context::new(1)).unwrap()
    };
    let average = EvidenceAccumulation::default();
    // {0..4} {5..8} {9..11} without. Object 4 is nearer to 3 (.8, with 0: .6 by a member less) than to 5.
    let with = of(&average, &under(3, &[Constraint::must(4, 5)]));
    assert_eq!(groups(&with), [4, 5, 3]);
    // The pair would merge at height 0.
    let with = of(&average, &under(3, &[Constraint::cannot(5, 6)]));
    assert_ne!(with.labels[5], with.labels[6]);
    assert_eq!(with.k, 3);
    // What follows is obeyed too: 0 and 9 are apart, as 4 is from 9.
    let pairs = [Constraint::must(0, 4), Constraint::cannot(4, 9), Constraint::must(8, 9)];
    let with = of(&average, &under(2, &pairs));
    assert_eq!((with.k, with.labels[8]), (2, with.labels[9]));
    assert_ne!(with.labels[0], with.labels[8]);
    // Must-links leave fewer clusters than are wanted.
    let all: Vec<Constraint> = (1..12).map(|i| Constraint::must(0, i)).collect();
    assert_eq!(of(&average, &under(3, &all)).k, 1);
    // At k = n nothing merges but what is linked; like objects do not.
    assert_eq!(of(&average, &under(12, &all[..3])).k, 9);
    // A threshold, too, parts and joins.
    let half = EvidenceAccumulation {
        linkage: Linkage::Single,
        cut: CutAt::Threshold,
        ..EvidenceAccumulation::default()
    };
    let pairs = [Constraint::must(0, 11), Constraint::cannot(5, 6)];
    let c = of(&half, &under(3, &pairs));
    assert_eq!(c.labels[0], c.labels[11]);
    assert_ne!(c.labels[5], c.labels[6]);
    let lifetime = EvidenceAccumulation { cut: CutAt::Lifetime, ..average };
    let c = of(&lifetime, &under(3, &pairs));
    assert_eq!(c.labels[0], c.labels[11]);
    assert_ne!(c.labels[5], c.labels[6]);
    // Two members that say the same: a cannot-link that they meet changes nothing.
    let same = vec![Member::from_labels(&[0, 0, 0, 1, 1, 1]); 2];
    let ensemble = Ensemble::new(6, same).unwrap();
    for pairs in [&[][..], &[Constraint::cannot(0, 3)]] {
        let problem = blank(6, 2).with_constraints(Constraints::new(6, pairs.to_vec()).unwrap());
        let c = lifetime.combine(&ensemble, &problem, &Context::new(1)).unwrap();
        assert_eq!(c.labels, [0, 0, 0, 1, 1, 1]);
        assert_eq!(c.extras.diagnostics["lifetime"], 1.0);
    }
}

#[test]
fn merging_meets_no_dead_end() {
    // A path of cannot-links between alike objects, the ends of which join first by the tie rule:
    // with two clusters 0 and 3 must be apart then, although no constraint says so.
    let ensemble = Ensemble::new(4, vec![Member::from_labels(&[0; 4])]).unwrap();
    let pairs = [Constraint::cannot(0, 1), Constraint::cannot(1, 2), Constraint::cannot(2, 3)];
    let problem = blank(4, 2).with_constraints(Constraints::new(4, pairs).unwrap());
    let part = Some(Part::WhileMerging);
    let ea = EvidenceAccumulation { part, ..EvidenceAccumulation::default() };
    let c = ea.combine(&ensemble, &problem, &Context::new(1)).unwrap();
    assert_eq!(c.labels, [0, 1, 0, 1]);
}

#[test]
fn parting_afterwards_moves_what_is_bound_alone() {
    let (ensemble, _) = e12();
    let average = EvidenceAccumulation::default();
    // {0..4} {5..8} {9..11} without. Object 4 has (2 + 2 + 2 + 3 + 5)/25 in common with the first and
    // 7/20 with the second, object 3 has 20/25 and 3/20: 4 moves.
    let problem = under(3, &[Constraint::cannot(3, 4)]);
    let c = average.combine(&ensemble, &problem, &Context::new(1)).unwrap();
    assert_eq!(groups(&c), [4, 5, 3]);
    // Two of one cluster and one of another: the must-linked pair goes where it fits best together.
    let pairs = [Constraint::must(4, 5), Constraint::cannot(5, 8)];
    let c = average.combine(&ensemble, &under(3, &pairs), &Context::new(1)).unwrap();
    assert_eq!(c.labels[4], c.labels[5]);
    assert_ne!(c.labels[5], c.labels[8]);
}

#[test]
fn what_cannot_be_obeyed_is_named() {
    let (ensemble, _) = e12();
    let ea = EvidenceAccumulation::default();
    let refused = |ea: &EvidenceAccumulation, problem: &Problem| {
        ea.combine(&ensemble, problem, &Context::new(1)).unwrap_err()
    };
    let triangle = [Constraint::cannot(0, 1), Constraint::cannot(1, 2), Constraint::cannot(0, 2)];
    let e = refused(&ea, &under(2, &triangle));
    assert!(matches!(e, Error::InfeasibleConstraints { k: 2, .. }), "{e}");
    let chain = [Constraint::must(0, 1), Constraint::must(1, 2), Constraint::cannot(0, 2)];
    let e = refused(&ea, &under(2, &chain));
    assert!(matches!(e, Error::InconsistentConstraints(_)), "{e}");
    // As evidence neither is a contradiction, unless it is marked hard.
    let weigh = EvidenceAccumulation { constrain: Constrain::Weigh, ..ea.clone() };
    for pairs in [&triangle, &chain] {
        assert_eq!(weigh.combine(&ensemble, &under(2, pairs), &Context::new(1)).unwrap().k, 2);
    }
    let hard = chain.map(|c| Constraint { strength: Some(Strength::Hard), ..c });
    let e = refused(&weigh, &under(2, &hard));
    assert!(matches!(e, Error::InconsistentConstraints(_)), "{e}");
    let single = EvidenceAccumulation { linkage: Linkage::Single, max_n: 11, ..ea };
    let e = refused(&single, &under(2, &chain[..1])).to_string();
    assert!(e.starts_with("max_n: ") && e.contains("hbgf"), "{e}");
    single.combine(&ensemble, &under(2, &[]), &Context::new(1)).unwrap();
}

#[test]
fn evidence_by_hand() {
    // A₀₁ = 1/2, A₀₂ = 0, A₁₂ = 1/2.
    let members = [[0, 0, 1], [0, 1, 1]].map(|l| Member::from_labels(&l)).to_vec();
    let ensemble = Ensemble::new(3, members).unwrap();
    let of = |pairs: &[Constraint]| {
        let given = Constraints::new(3, pairs.iter().copied()).unwrap();
        let ea =
            EvidenceAccumulation { constrain: Constrain::Weigh, ..EvidenceAccumulation::default() };
        let problem = blank(3, 2).with_constraints(given);
        ea.combine(&ensemble, &problem, &Context::new(1)).unwrap()
    };
    assert_eq!(of(&[]).labels, [0, 0, 1]);
    // (1/2 + 3)/4 = 7/8 is more than 1/2, then (0 + 1/2)/2 is the mean of the other two.
    let c = of(&[Constraint::must(1, 2).weighing(3.0)]);
    assert_eq!(c.labels, [0, 1, 1]);
    assert_eq!(c.extras.diagnostics["next_height"], 0.75);
    assert_eq!(c.extras.diagnostics["lifetime"], 0.75 - 0.125);
    // (1/2 + 0)/2 is less than 1/2; both kinds on a pair add up.
    assert_eq!(of(&[Constraint::cannot(0, 1)]).labels, [0, 1, 1]);
    let both = [Constraint::cannot(0, 1), Constraint::must(0, 1).weighing(2.0)];
    // (1/2 + 2)/4 = 5/8.
    assert_eq!(of(&both).extras.diagnostics["lifetime"], 0.75 - 0.375);
}

/// True if some of kⁿ labellings gives clusters that must be apart different labels.
fn fits(apart: &[(usize, usize)], clusters: usize, k: usize) -> bool {
    (0..k.pow(clusters as u32)).any(|code| {
        let label = |c: usize| code / k.pow(c as u32) % k;
        apart.iter().all(|&(a, b)| label(a) != label(b))
    })
}

/// As [`naive`], under constraints, by the words of the rule.
fn naive_under(ensemble: &Ensemble, linkage: Linkage, problem: &Problem) -> Vec<u32> {
    let (n, k) = (ensemble.n(), problem.k.unwrap());
    let closure = problem.closure(OnConflict::Error).unwrap();
    let count = |i: usize, j: usize| {
        ensemble.members().iter().filter(|m| m.labels[i] == m.labels[j]).count() as f64
    };
    let alike = |i: usize, j: usize| {
        let bound = |i: usize| {
            let p = closure.component(i);
            closure.members(p).len() > 1 || !closure.apart(p).is_empty()
        };
        !bound(i) && !bound(j) && count(i, j) == ensemble.len() as f64
    };
    let start = |grouped: bool| {
        let mut clusters: Vec<Vec<usize>> = Vec::new();
        for i in 0..n {
            let with = |c: &&mut Vec<usize>| {
                let together = closure.component(c[0]) == closure.component(i);
                together || (grouped && alike(c[0], i))
            };
            match clusters.iter_mut().find(with) {
                Some(cluster) => cluster.push(i),
                None => clusters.push(vec![i]),
            }
        }
        clusters
    };
    let mut clusters = start(true);
    if clusters.len() < k {
        clusters = start(false);
    }
    while clusters.len() > k {
        let mut best: Option<(f64, usize, usize)> = None;
        for a in 0..clusters.len() {
            for b in a + 1..clusters.len() {
                let pairs =
                    clusters[a].iter().flat_map(|&i| clusters[b].iter().map(move |&j| (i, j)));
                let all: Vec<f64> = pairs.clone().map(|(i, j)| count(i, j)).collect();
                let s = match linkage {
                    Linkage::Single => all.iter().copied().fold(0.0, f64::max),
                    Linkage::Complete => all.iter().copied().fold(f64::INFINITY, f64::min),
                    Linkage::Average => all.iter().sum::<f64>() / all.len() as f64,
                };
                let mut merged = clusters.clone();
                let moved = merged.remove(b);
                merged[a].extend(moved);
                let of = |i: u32| merged.iter().position(|c| c.contains(&(i as usize))).unwrap();
                let cannot = problem.constraints.pairs().iter();
                let cannot = cannot.filter(|c| c.kind == Kind::CannotLink);
                let apart: Vec<(usize, usize)> = cannot.map(|c| (of(c.i), of(c.j))).collect();
                if best.is_none_or(|(t, ..)| s > t) && fits(&apart, merged.len(), k) {
                    best = Some((s, a, b));
                }
            }
        }
        let (_, a, b) = best.expect("a pair is left");
        let moved = clusters.remove(b);
        clusters[a].extend(moved);
        clusters[a].sort_unstable();
        clusters.sort();
    }
    let mut labels = vec![0; n];
    clusters.iter().enumerate().for_each(|(c, set)| {
        set.iter().for_each(|&i| labels[i] = c as u32);
    });
    mustlink_core::clustering::canonical(&labels)
}

proptest! {
    #[test]
    fn under_constraints_it_is_the_naive_hierarchy(
        seed: u64, tau in 1usize..5, k in 1usize..4,
        (given, _) in mustlink_laws::strategies::feasible(8, 3, 8),
    ) {
        let mut s = SeedPath::new(seed).stream("members");
        let member = |_| {
            Member::from_labels(&(0..8).map(|_| s.below(3) as u32).collect::<Vec<u32>>())
        };
        let ensemble = Ensemble::new(8, (0..tau).map(member).collect()).unwrap();
        let problem = blank(8, k).with_constraints(given);
        let closure = problem.closure(OnConflict::Error).unwrap();
        for linkage in [Linkage::Single, Linkage::Average, Linkage::Complete] {
            let part = Some(Part::WhileMerging);
            let ea = EvidenceAccumulation { linkage, part, ..Default::default() };
            match ea.combine(&ensemble, &problem, &Context::new(1)) {
                Ok(c) => {
                    prop_assert_eq!(problem.constraints.violations(&c.labels).total(), 0);
                    let naive = naive_under(&ensemble, linkage, &problem);
                    prop_assert_eq!(&c.labels, &naive, "{:?}", linkage);
                }
                Err(Error::InfeasibleConstraints { .. }) => {
                    let cannot = problem.constraints.pairs().iter();
                    let cannot = cannot.filter(|c| c.kind == Kind::CannotLink);
                    let of = |i: u32| closure.component(i as usize);
                    let apart: Vec<_> = cannot.map(|c| (of(c.i), of(c.j))).collect();
                    prop_assert!(!fits(&apart, closure.components(), k));
                }
                Err(e) => prop_assert!(false, "{e}"),
            }
        }
    }
}
