//! The constraints that candidates get: constraints that every candidate accepts.

use std::ops::RangeInclusive;

use mustlink_core::closure::{EntailedWeight, MAX_CLOSURE_PAIRS};
use mustlink_core::prelude::*;
use mustlink_kernels::constrained::sides::Sides;

/// The constraints without marks and without contradictions. What is marked hard holds in the end, by the
/// consensus, and not in each of its members. Of constraints that contradict one another the weakest is
/// left out; with two clusters that of a cycle with an odd number of cannot-links, too.
///
/// # Errors
/// No errors are known.
pub fn told(constraints: &Constraints, n: usize, k: Option<usize>) -> Result<Constraints> {
    let free = |c: &Constraint| Constraint { strength: None, ..*c };
    let all = Constraints::new(n, constraints.pairs().iter().map(free))?;
    let closure = Closure::new(&all, n, OnConflict::DropWeakest)?;
    let mut left: Vec<Constraint> = closure.constraints().pairs().to_vec();
    if k == Some(2) {
        left = of_two_sides(left, n);
    }
    // In whatever order they were given, the folds are the same.
    left.sort_by_key(|c| (c.i, c.j, c.kind == Kind::CannotLink));
    let named = constraints.neighbourhoods().to_vec();
    Ok(Constraints::new(n, left)?.with_neighbourhoods(named))
}

/// The numbers of clusters among `ks` that may hold what is marked hard.
///
/// # Errors
/// `InconsistentConstraints`; `InfeasibleConstraints` where none does.
pub fn that_may_hold(
    constraints: &Constraints,
    n: usize,
    ks: RangeInclusive<usize>,
) -> Result<RangeInclusive<usize>> {
    if !constraints.any_hard() {
        return Ok(ks);
    }
    let marked = constraints.pairs().iter().filter(|c| c.strength == Some(Strength::Hard));
    let hard = Constraints::new(n, marked.copied())?;
    let closure = Closure::new(&hard, n, OnConflict::Error)?;
    let (first, last) = ks.into_inner();
    let most = closure.require_feasible(last);
    most.map_err(|e| if first < last { e.at("k_max") } else { e })?;
    let least = (first..last).find(|&k| closure.require_feasible(k).is_ok());
    Ok(least.unwrap_or(last)..=last)
}

/// All that follows from the constraints, as pairs.
///
/// # Errors
/// `ClosureTooLarge`.
pub fn closed(constraints: &Constraints, n: usize) -> Result<Constraints> {
    let closure = Closure::new(constraints, n, OnConflict::Keep)?;
    let pairs = closure.pairs(EntailedWeight::Bottleneck, MAX_CLOSURE_PAIRS)?;
    let named = constraints.neighbourhoods().to_vec();
    Ok(Constraints::new(n, pairs)?.with_neighbourhoods(named))
}

/// A warning about constraints of one kind alone, which a few large or many small clusters satisfy
/// whatever the data are; `k` is the number of clusters if it is known.
pub fn one_sided(told: &Constraints, k: Option<usize>) -> Option<&'static str> {
    match (told.count(Kind::MustLink), told.count(Kind::CannotLink)) {
        (1.., 0) => Some(
            "all constraints are must-links: candidates that put nearly all objects together satisfy them best; add \
             some cannot-links",
        ),
        (0, 1..) if k.is_none() => Some(
            "all constraints are cannot-links: more clusters satisfy them better, so they do not show how many \
             clusters there are; give the number, or add some must-links",
        ),
        _ => None,
    }
}

/// The heaviest pairs first; each is kept if two sides can hold it together with the pairs kept before.
fn of_two_sides(pairs: Vec<Constraint>, n: usize) -> Vec<Constraint> {
    let order = order::descending(&pairs.iter().map(|c| c.weight).collect::<Vec<f64>>());
    let mut sides = Sides::new(n);
    let mut holds = vec![false; pairs.len()];
    for p in order {
        let c = pairs[p];
        holds[p] = sides.join(c.i, c.j, c.kind == Kind::MustLink);
    }
    pairs.into_iter().zip(holds).filter_map(|(c, holds)| holds.then_some(c)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contradictions_are_left_out_and_marks_taken_off() {
        let given = [
            Constraint::must(0, 1),
            Constraint::must(1, 2).weighing(0.5),
            Constraint::cannot(0, 2),
            Constraint { strength: Some(Strength::Hard), ..Constraint::cannot(3, 4) },
        ];
        let all = Constraints::new(5, given).unwrap();
        let left = told(&all, 5, None).unwrap();
        assert_eq!(left.len(), 3);
        assert!(left.pairs().iter().all(|c| c.strength.is_none() && (c.i, c.j) != (1, 2)));
    }

    #[test]
    fn three_objects_do_not_part_into_two_clusters() {
        let apart = [(0, 1), (1, 2), (0, 2)].map(|(i, j)| Constraint::cannot(i, j));
        let all = Constraints::new(3, apart).unwrap();
        assert_eq!(told(&all, 3, None).unwrap().len(), 3);
        assert_eq!(told(&all, 3, Some(3)).unwrap().len(), 3);
        assert_eq!(told(&all, 3, Some(2)).unwrap().len(), 2);
    }

    #[test]
    fn numbers_that_cannot_hold_what_is_hard_are_not_tried() {
        let hard = |c: Constraint| Constraint { strength: Some(Strength::Hard), ..c };
        let apart = [(0, 1), (1, 2), (0, 2)].map(|(i, j)| Constraint::cannot(i, j));
        let soft = Constraints::new(9, apart).unwrap();
        assert_eq!(that_may_hold(&soft, 9, 2..=8), Ok(2..=8));
        let marked = Constraints::new(9, apart.map(hard)).unwrap();
        assert_eq!(that_may_hold(&marked, 9, 2..=8), Ok(3..=8));
        assert_eq!(that_may_hold(&marked, 9, 5..=5), Ok(5..=5));
        let of = |ks| that_may_hold(&marked, 9, ks).unwrap_err().to_string();
        assert!(of(1..=2).starts_with("k_max: constraints: 2 clusters cannot"), "{}", of(1..=2));
        assert!(of(2..=2).starts_with("constraints: 2 clusters cannot"), "{}", of(2..=2));
    }

    #[test]
    fn constraints_of_one_kind_are_told_of() {
        let said = |pairs: &[Constraint], k| {
            one_sided(&Constraints::new(9, pairs.iter().copied()).unwrap(), k)
        };
        let (must, cannot) = (Constraint::must(0, 1), Constraint::cannot(1, 2));
        for k in [None, Some(2)] {
            assert!(said(&[must], k).unwrap().contains("are must-links"));
            assert_eq!((said(&[must, cannot], k), said(&[], k)), (None, None));
        }
        assert!(said(&[cannot], None).unwrap().contains("how many"));
        assert_eq!(said(&[cannot], Some(2)), None);
    }
}
