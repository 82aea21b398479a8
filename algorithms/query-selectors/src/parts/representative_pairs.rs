//! Pairs of representatives in ascending distance.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::sync::Arc;

use mustlink_core::knowledge::Knowledge;
use mustlink_core::reduce;
use mustlink_kernels::distance::points::Points;
use rayon::prelude::*;

/// Up to this many representatives all pairs are sorted at once.
pub(crate) const SORTED_UP_TO: usize = 5000;

/// A pair of representatives, by position or by object, in the order in which pairs are asked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Near {
    pub squared: f64,
    pub a: u32,
    pub b: u32,
}

impl Eq for Near {}
impl PartialOrd for Near {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Near {
    fn cmp(&self, other: &Self) -> Ordering {
        self.squared.total_cmp(&other.squared).then((self.a, self.b).cmp(&(other.a, other.b)))
    }
}

fn near(points: &Points, representatives: &[u32], a: usize, b: usize) -> Near {
    let (i, j) = (representatives[a] as usize, representatives[b] as usize);
    Near { squared: points.between(i, j), a: a as u32, b: b as u32 }
}

/// The pairs of representatives in ascending distance.
#[derive(Clone)]
pub(crate) enum Pairs {
    /// All of them, and how many are behind us.
    Sorted { list: Arc<Vec<Near>>, at: usize },
    /// For each a the next pair (a, b), b > a, in a heap: memory for R pairs, not R².
    Lazy { heads: BinaryHeap<Reverse<Near>> },
}

impl Pairs {
    /// All pairs of `representatives`.
    pub fn new(points: &Points, representatives: &[u32]) -> Self {
        if representatives.len() <= SORTED_UP_TO {
            Pairs::sorted(points, representatives)
        } else {
            Pairs::lazy(points, representatives)
        }
    }

    fn sorted(points: &Points, representatives: &[u32]) -> Self {
        let r = representatives.len();
        let mut list = vec![Near { squared: 0.0, a: 0, b: 0 }; r * r.saturating_sub(1) / 2];
        // The list once and nothing beside it: with thousands of representatives it is long.
        let mut rest = &mut list[..];
        let mut rows = Vec::with_capacity(r);
        for a in 0..r {
            let (row, after) = rest.split_at_mut(r - 1 - a);
            rows.push(row);
            rest = after;
        }
        reduce::over(rows.into_iter(), |a, row| {
            let to = row.iter_mut().zip(a + 1..);
            to.for_each(|(x, b)| *x = near(points, representatives, a, b));
        });
        list.par_sort_unstable();
        Pairs::Sorted { list: Arc::new(list), at: 0 }
    }

    fn lazy(points: &Points, representatives: &[u32]) -> Self {
        let r = representatives.len();
        let mut heads: Vec<Option<Near>> = vec![None; r];
        reduce::fill(&mut heads, |a| (a + 1..r).map(|b| near(points, representatives, a, b)).min());
        Pairs::Lazy { heads: heads.into_iter().flatten().map(Reverse).collect() }
    }

    /// The same pairs from the first on.
    pub fn restarted(&self, points: &Points, representatives: &[u32]) -> Self {
        match self {
            Pairs::Sorted { list, .. } => Pairs::Sorted { list: list.clone(), at: 0 },
            Pairs::Lazy { .. } => Pairs::lazy(points, representatives),
        }
    }

    /// The closest pair not given yet whose relation is unknown; `knowledge` is of positions.
    pub fn next(&mut self, points: &Points, of: &[u32], knowledge: &mut Knowledge) -> Option<Near> {
        let mut is_open = |x: &Near| knowledge.relation(x.a, x.b).is_none();
        match self {
            Pairs::Sorted { list, at } => {
                while let Some(x) = list.get(*at) {
                    *at += 1;
                    if is_open(x) {
                        return Some(*x);
                    }
                }
                None
            }
            Pairs::Lazy { heads } => {
                // A head never lies beyond the closest open pair of its row, so the least head
                // that is open is the closest open pair of all.
                while let Some(Reverse(x)) = heads.pop() {
                    let open = is_open(&x);
                    let a = x.a as usize;
                    let mut following: Option<Near> = None;
                    for b in a + 1..of.len() {
                        let y = near(points, of, a, b);
                        if y > x && following.is_none_or(|f| y < f) && is_open(&y) {
                            following = Some(y);
                        }
                    }
                    heads.extend(following.map(Reverse));
                    if open {
                        return Some(x);
                    }
                }
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::prelude::*;
    use mustlink_kernels::distance::points::Distortion;
    use mustlink_laws::strategies::grid;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lazy_pairs_come_in_the_sorted_order(x in grid(1..=39, 1..=3), modulus in 1usize..7) {
            let points = Points::new(&Data::dense(x).unwrap(), Distortion::default()).unwrap();
            let all: Vec<u32> = (0..points.n() as u32).collect();
            let run = |mut pairs: Pairs| {
                let mut knowledge = Knowledge::new(all.len(), &Constraints::default());
                let mut asked = Vec::new();
                while let Some(x) = pairs.next(&points, &all, &mut knowledge) {
                    asked.push((x.a, x.b));
                    match (x.a as usize % modulus, x.b as usize % modulus) {
                        (0, 1) => {}
                        (p, q) if p == q => drop(knowledge.must(x.a, x.b)),
                        _ => drop(knowledge.cannot(x.a, x.b)),
                    }
                }
                asked
            };
            prop_assert_eq!(run(Pairs::sorted(&points, &all)), run(Pairs::lazy(&points, &all)));
        }
    }
}
