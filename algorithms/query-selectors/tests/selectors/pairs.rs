//! Selectors that choose all their pairs beforehand.

use mustlink_core::prelude::*;
use mustlink_core::selection::ConstraintView;
use mustlink_query_selectors::co_association_band::CoAssociationBand;
use mustlink_query_selectors::fixed_list::FixedList;
use mustlink_query_selectors::imputed_pairs::{ImputedPairs, Side};
use mustlink_query_selectors::pair_disagreement::PairDisagreement;
use mustlink_query_selectors::pair_entropy::PairEntropy;
use mustlink_query_selectors::{Limits, Pool};

use crate::committee::{E12, given, twelve};
use crate::support::{questions, select, truth};

const CLASSES: [u32; 12] = [0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2];

/// Members of the twelve objects that put two of them together.
fn together(i: u32, j: u32) -> usize {
    E12.iter().filter(|m| m[i as usize] == m[j as usize]).count()
}

fn asked(selector: &dyn QuerySelector, seed: u64) -> Vec<(u32, u32)> {
    questions(&select(selector, &twelve(), truth(&CLASSES), None, seed).unwrap())
}

#[test]
fn the_most_divided_pairs_come_first_and_no_object_too_often() {
    let (generator, per_object, skip_entailed) = (given(&E12), 2, false);
    let pool = Pool { generator, limits: Limits { per_object, ..Limits::default() } };
    let entropy = PairEntropy { pool: pool.clone(), skip_entailed };
    let weights = Some(vec![1.0; 5]);
    let disagreement = PairDisagreement { pool: pool.clone(), skip_entailed, weights };
    for seed in 0..5 {
        // Both scores fall with the distance of the co-association from 1/2.
        assert_eq!(asked(&entropy, seed), asked(&disagreement, seed));
        for pairs in [asked(&entropy, seed), asked(&disagreement, seed)] {
            let doubt = |&(i, j): &(u32, u32)| together(i, j).min(5 - together(i, j));
            let doubts: Vec<usize> = pairs.iter().map(doubt).collect();
            assert!(doubts.windows(2).all(|w| w[0] >= w[1]) && doubts[0] == 2, "{doubts:?}");
            for i in 0..12 {
                assert!(pairs.iter().filter(|p| p.0 == i || p.1 == i).count() <= 2);
            }
        }
    }
    // A member that weighs everything leaves no doubt about anything but chance.
    let one = Some(vec![0.0, 0.0, 0.0, 0.0, 0.0]);
    let none = PairDisagreement { pool, weights: one, ..Default::default() };
    let refused = none.start(&twelve(), &Context::new(1)).err().unwrap().to_string();
    assert!(refused.starts_with("weights: must be 5 weights >= 0"), "{refused}");
}

#[test]
fn pairs_that_are_settled_leave_their_place_to_others() {
    let pool =
        Pool { generator: given(&E12), limits: Limits { per_object: 1, ..Limits::default() } };
    let entropy = PairEntropy { pool, skip_entailed: true };
    let first = select(&entropy, &twelve(), truth(&CLASSES), None, 1).unwrap();
    let told = first.at(usize::MAX, ConstraintView::Queried).unwrap();
    let again = twelve().with_constraints(told);
    let second = select(&entropy, &again, truth(&CLASSES), None, 1).unwrap();
    assert!(!questions(&second).is_empty());
    assert!(questions(&second).iter().all(|pair| !questions(&first).contains(pair)));
}

#[test]
fn a_band_holds_its_pairs_and_grows_if_asked() {
    let band = |lo, hi, fraction, widen| CoAssociationBand {
        generator: given(&E12),
        lo,
        hi,
        fraction,
        widen,
        ..CoAssociationBand::default()
    };
    // Counts 2 and 3 of 5; 0.5 · 12 pairs wanted.
    let pairs = asked(&band(0.4, 0.6, 0.5, false), 1);
    assert_eq!(pairs.len(), 6);
    assert!(pairs.iter().all(|&(i, j)| (2..=3).contains(&together(i, j))));
    // No count of five lies between 0.45 and 0.55; the band grows to 2 ..= 3.
    assert!(asked(&band(0.45, 0.55, 0.5, false), 1).is_empty());
    let grown = asked(&band(0.45, 0.55, 0.5, true), 1);
    assert!(grown.len() == 6 && grown.iter().all(|&(i, j)| (2..=3).contains(&together(i, j))));
    // More are wanted than are disputed at all.
    let disputed = (0..12).flat_map(|j| (0..j).map(move |i| (i, j)));
    let disputed = disputed.filter(|&(i, j)| (1..5).contains(&together(i, j))).count();
    assert_eq!(asked(&band(0.45, 0.55, 9.0, true), 1).len(), disputed);
}

#[test]
fn imputed_pairs_are_told_from_the_others() {
    let of = |side| ImputedPairs {
        generator: given(&E12),
        side,
        kappa_must: 0.8,
        ..ImputedPairs::default()
    };
    let decided = |&(i, j): &(u32, u32)| together(i, j) == 0 || together(i, j) >= 4;
    let (imputed, others) = (asked(&of(Side::Imputed), 1), asked(&of(Side::NotImputed), 1));
    assert!(imputed.iter().all(decided) && !others.iter().any(decided));
    // 13 must-links and 32 cannot-links of the 66 pairs.
    assert_eq!((imputed.len(), others.len()), (45, 21));
}

#[test]
fn a_wrongly_imputed_pair_gives_no_constraint_where_only_right_ones_are_wanted() {
    let of = |correct_only| ImputedPairs {
        generator: given(&E12),
        kappa_must: 0.8,
        correct_only,
        ..ImputedPairs::default()
    };
    // The ensemble is wrong about object 1.
    let mut classes = CLASSES;
    classes[1] = 2;
    let made = |correct_only| {
        let all = select(&of(correct_only), &twelve(), truth(&classes), None, 1).unwrap();
        (all.asked(), all.at(45, ConstraintView::Queried).unwrap())
    };
    let ((asked, every), (asked_too, right)) = (made(false), made(true));
    assert_eq!((asked, asked_too, every.len()), (45, 45, 45));
    let agrees = |c: &&Constraint| match c.kind {
        Kind::MustLink => together(c.i, c.j) >= 4,
        Kind::CannotLink => together(c.i, c.j) == 0,
    };
    let expected: Vec<&Constraint> = every.pairs().iter().filter(agrees).collect();
    assert_eq!(right.pairs().iter().collect::<Vec<_>>(), expected);
    assert!(!expected.is_empty() && expected.len() < 45);
}

#[test]
fn a_list_is_asked_as_it_stands() {
    let list = |pairs: &[(u32, u32)]| FixedList { pairs: pairs.to_vec(), ..FixedList::default() };
    assert_eq!(asked(&list(&[(3, 1), (0, 5), (1, 3), (2, 2)]), 1), [(3, 1), (0, 5)]);
    let skip = FixedList { skip_entailed: true, ..list(&[(0, 1), (1, 2), (2, 0), (4, 0)]) };
    assert_eq!(asked(&skip, 1), [(0, 1), (1, 2), (4, 0)]);
    let beyond = list(&[(0, 12)]).start(&twelve(), &Context::new(1)).err();
    assert_eq!(beyond, Some(Error::IndexOutOfRange { index: 12, n: 12 }));
}
