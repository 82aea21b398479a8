//! What does an ensemble say about the objects that are still to be placed?
//!
//! The committee selectors share what is here: the co-associations, and for every object the number
//! of votes it shares with each neighbourhood, M_ic = Σ_{j ∈ π_c} c_ij, kept up to date as objects
//! join. From these integers follow the mean co-association S_ic = M_ic / (τ |π_c|) and its
//! size-weighted form T_ic = M_ic / (τ Σ|π|), so that margins are compared as exact fractions.

use std::cmp::Ordering;
use std::collections::HashMap;

use mustlink_kernels::ensemble::co_association::CoAssociation;

/// Votes shared with each neighbourhood.
pub struct Votes {
    co: CoAssociation,
    /// M_ic for each neighbourhood c and object i.
    shared: Vec<Vec<u64>>,
    sizes: Vec<u64>,
    /// The neighbourhood that an object counts in though nobody said that it belongs there.
    lent: HashMap<u32, u32>,
}

/// A fraction in [0, 1] as numerator and denominator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Margin {
    numerator: u128,
    denominator: u128,
}

impl Margin {
    /// Smaller fractions first.
    pub fn order(self, other: Margin) -> Ordering {
        (self.numerator * other.denominator).cmp(&(other.numerator * self.denominator))
    }

    /// The fraction as a number.
    pub fn value(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }
}

impl Votes {
    /// No neighbourhood yet.
    pub fn new(co: CoAssociation) -> Self {
        Votes { co, shared: Vec::new(), sizes: Vec::new(), lent: HashMap::new() }
    }

    /// The co-associations.
    pub fn co_association(&self) -> &CoAssociation {
        &self.co
    }

    /// A new neighbourhood with `object` in it.
    pub fn create(&mut self, object: u32) {
        self.shared.push(vec![0; self.co.n()]);
        self.sizes.push(0);
        self.join(object, self.sizes.len() as u32 - 1);
    }

    /// `object` joins a neighbourhood: one row of counts is added, nothing else changes. Where it
    /// counted already without being a member, it counts once.
    pub fn join(&mut self, object: u32, neighbourhood: u32) {
        let before = self.lent.remove(&object);
        if before == Some(neighbourhood) {
            return;
        }
        let row = self.co.row(object as usize);
        let changed = |column: &mut Vec<u64>, by: fn(&mut u64, u64)| {
            column.iter_mut().zip(&row).for_each(|(m, &c)| by(m, u64::from(c)));
        };
        if let Some(other) = before {
            changed(&mut self.shared[other as usize], |m, c| *m -= c);
            self.sizes[other as usize] -= 1;
        }
        changed(&mut self.shared[neighbourhood as usize], |m, c| *m += c);
        self.sizes[neighbourhood as usize] += 1;
    }

    /// `objects` count in a neighbourhood until they join one. None of them counts anywhere yet.
    pub fn lend(&mut self, objects: &[u32], neighbourhood: u32) {
        let all: Vec<u32> = (0..self.co.n() as u32).collect();
        let sums = self.co.sums(&all, objects);
        let column = &mut self.shared[neighbourhood as usize];
        column.iter_mut().zip(sums).for_each(|(m, sum)| *m += sum);
        self.sizes[neighbourhood as usize] += objects.len() as u64;
        self.lent.extend(objects.iter().map(|&i| (i, neighbourhood)));
    }

    /// Whether an object counts in a neighbourhood without being a member.
    pub fn is_lent(&self, object: u32) -> bool {
        self.lent.contains_key(&object)
    }

    /// M_ic for every neighbourhood c.
    pub fn shared(&self, object: u32) -> Vec<u64> {
        self.shared.iter().map(|column| column[object as usize]).collect()
    }

    /// S_ic for every neighbourhood c.
    pub fn association(&self, object: u32) -> Vec<f64> {
        let tau = self.co.members() as f64;
        let mean = |(m, size): (u64, &u64)| m as f64 / (tau * *size as f64);
        self.shared(object).into_iter().zip(&self.sizes).map(mean).collect()
    }

    /// Neighbourhoods by decreasing S_ic, ties by creation.
    pub fn order(&self, object: u32) -> Vec<u32> {
        let shared = self.shared(object);
        let mut order: Vec<u32> = (0..self.sizes.len() as u32).collect();
        // M_a / |π_a| > M_b / |π_b| without dividing; the sort is stable.
        let scaled =
            |a: u32, b: u32| u128::from(shared[a as usize]) * u128::from(self.sizes[b as usize]);
        order.sort_by(|&a, &b| scaled(b, a).cmp(&scaled(a, b)));
        order
    }

    /// (T_a − T_b) / (T_a + T_b) for the two largest entries of the row of `object`; with
    /// `by_size = false` the same of S. Without any votes the margin is 0; with one neighbourhood, 1.
    pub fn margin(&self, object: u32, by_size: bool) -> Margin {
        let shared = self.shared(object);
        let sizes = &self.sizes;
        // Entries over a common denominator: T_c ∝ M_c; S_c ∝ M_c / |π_c|, compared crosswise.
        let mut best: Option<(u128, u128)> = None;
        let mut second: Option<(u128, u128)> = None;
        let above =
            |x: (u128, u128), y: Option<(u128, u128)>| y.is_none_or(|y| x.0 * y.1 > y.0 * x.1);
        for (m, &size) in shared.iter().zip(sizes) {
            let entry = (u128::from(*m), if by_size { 1 } else { u128::from(size) });
            if above(entry, best) {
                second = best;
                best = Some(entry);
            } else if above(entry, second) {
                second = Some(entry);
            }
        }
        let (Some(a), Some(b)) = (best, second) else {
            return Margin { numerator: 1, denominator: 1 };
        };
        let (a, b) = (a.0 * b.1, b.0 * a.1);
        if a + b == 0 {
            return Margin { numerator: 0, denominator: 1 };
        }
        Margin { numerator: a - b, denominator: a + b }
    }

    /// Whether `object` shares no vote with any neighbourhood.
    pub fn has_no_association(&self, object: u32) -> bool {
        self.shared.iter().all(|column| column[object as usize] == 0)
    }

    /// The members of each neighbourhood of `order` as they are put in questions about `object`: the
    /// founder, then those that share most votes with it. Only as many as may be tried.
    pub fn references(
        &self,
        object: u32,
        order: &[u32],
        members: &[Vec<u32>],
        retries: u8,
    ) -> Vec<Vec<u32>> {
        let put = |&p: &u32| {
            let members = &members[p as usize];
            let mut rest = if retries > 0 { members[1..].to_vec() } else { Vec::new() };
            let count = |m: u32| self.co.count(object as usize, m as usize);
            // The sort is stable: ties stay in order of joining.
            rest.sort_by_cached_key(|&m| std::cmp::Reverse(count(m)));
            std::iter::once(members[0]).chain(rest).collect()
        };
        order.iter().map(put).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::random::SeedPath;
    use mustlink_core::{Context, prelude::*};
    use proptest::prelude::*;

    const E12: [[u32; 12]; 5] = [
        [0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2],
        [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2],
        [0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2],
        [0, 0, 0, 0, 0, 1, 1, 2, 2, 2, 2, 2],
        [0, 0, 0, 0, 3, 1, 1, 1, 1, 2, 2, 2],
    ];

    fn ensemble(labels: &[Vec<u32>]) -> Ensemble {
        let members = labels.iter().map(|l| Member::from_labels(l)).collect();
        Ensemble::new(labels[0].len(), members).unwrap()
    }

    /// The labels of some members.
    fn votes() -> impl Strategy<Value = Vec<Vec<u32>>> {
        (4usize..26, 1usize..7, 2u32..4)
            .prop_flat_map(|(n, tau, k)| prop::collection::vec(prop::collection::vec(0..k, n), tau))
    }

    #[test]
    fn margins_of_the_trace() {
        let e = ensemble(&E12.map(Vec::from));
        let mut votes = Votes::new(CoAssociation::implicit(&e));
        [0, 5, 10].iter().for_each(|&r| votes.create(r));
        let margins = |votes: &Votes| -> Vec<f64> {
            (0..12).map(|i| (1e6 * votes.margin(i, true).value()).round() / 1e6).collect()
        };
        let first = margins(&votes);
        for (i, w) in [
            (1, 1.0),
            (2, 1.0),
            (3, 0.6),
            (4, 0.0),
            (6, 1.0),
            (7, 0.6),
            (8, 0.2),
            (9, 0.6),
            (11, 1.0),
        ] {
            assert_eq!(first[i], w, "object {i}");
        }
        assert_eq!(votes.association(4), [0.4, 0.4, 0.0]);
        assert_eq!(votes.order(4), [0, 1, 2]);
        [(4, 0), (8, 1)].iter().for_each(|&(i, c)| votes.join(i, c));
        assert_eq!(margins(&votes)[9], 0.0);
        votes.join(9, 2);
        assert_eq!(margins(&votes)[7], (1e6f64 * 5.0 / 11.0).round() / 1e6);
        votes.join(7, 1);
        assert_eq!(margins(&votes)[11], 0.5);
        votes.join(11, 2);
        assert_eq!(margins(&votes)[3], (1e6f64 * 5.0 / 9.0).round() / 1e6);
        votes.join(3, 0);
        assert_eq!(margins(&votes)[6], 0.6);
    }

    proptest! {
        #[test]
        fn votes_kept_up_are_votes_counted(labels in votes(), seed: u64, lent in 0usize..4) {
            let e = ensemble(&labels);
            let n = e.n();
            let co = CoAssociation::dense(&e, &Context::new(1)).unwrap();
            let mut votes = Votes::new(co.clone());
            let mut sets: Vec<Vec<u32>> = Vec::new();
            let mut s = SeedPath::new(seed).stream("order");
            let order = s.permutation(n);
            // The last ones count in the first neighbourhood until their turn comes.
            let guests = order[order.len() - lent.min(order.len() - 3)..].to_vec();
            for i in order {
                if sets.len() < 3 {
                    votes.create(i);
                    sets.push(vec![i]);
                    if sets.len() == 1 {
                        votes.lend(&guests, 0);
                        sets[0].extend(&guests);
                    }
                } else {
                    let c = s.below(3);
                    votes.join(i, c as u32);
                    sets.iter_mut().for_each(|set| set.retain(|&x| x != i));
                    sets[c].push(i);
                }
                for x in 0..n as u32 {
                    let slow: Vec<u64> = sets.iter().map(|set| co.sums(&[x], set)[0]).collect();
                    prop_assert_eq!(&votes.shared(x), &slow);
                    // Equation 5 in floating point.
                    let total: usize = sets.iter().map(Vec::len).sum();
                    let mut t: Vec<f64> = votes.association(x).iter().zip(&sets)
                        .map(|(s, set)| set.len() as f64 / total as f64 * s).collect();
                    t.sort_by(|a, b| b.total_cmp(a));
                    let w = match t.len() {
                        1 => 1.0,
                        _ if t[0] + t[1] == 0.0 => 0.0,
                        _ => 2.0 * t[0] / (t[0] + t[1]) - 1.0,
                    };
                    let exact = votes.margin(x, true).value();
                    prop_assert!((0.0..=1.0).contains(&exact) && (exact - w).abs() < 1e-12);
                }
            }
        }
    }
}
