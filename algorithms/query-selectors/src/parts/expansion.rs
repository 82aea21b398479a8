//! Votes of an ensemble about the objects that have no neighbourhood yet.
//!
//! `committee`, `density_weighted` and `object_margin` share what is here: the counts c_ij of members that
//! put two objects together, and for every object the number of votes it shares with each cluster of
//! placed ones, M_ic = Σ_{j ∈ π_c} c_ij. Only the [`Neighbourhoods`] store where objects are placed, and
//! the sums follow them. From these integers follow the mean co-association S_ic = M_ic / (τ |π_c|)
//! ([Greene2007] equation 3) and its size-weighted form T_ic = M_ic / (τ Σ|π|) (equation 5), so that
//! margins are compared as exact fractions.

use std::cmp::Ordering;
use std::collections::HashMap;

use mustlink_core::prelude::*;
use mustlink_kernels::ensemble::co_association::CoAssociation;

use crate::parts::neighbourhoods::Neighbourhoods;

/// Weight of the association with a cluster in the margin.
#[options]
pub enum Weighting {
    /// The share of the cluster in all placed objects (T, equation 5).
    #[default]
    Size,
    /// No weight (S, equation 4).
    None,
}

/// Position of objects that share no vote with any cluster.
#[options]
pub enum ZeroAssociation {
    /// Before all others: their margin is 0.
    #[default]
    First,
    /// After all others.
    Last,
}

/// The votes that objects share with the clusters of placed ones.
pub struct Expansion {
    co: CoAssociation,
    weighting: Weighting,
    zero: ZeroAssociation,
    columns: Vec<Column>,
    /// The cluster in which an object counts although no answer has put it there.
    guests: HashMap<u32, u32>,
}

/// Sums over a cluster c.
struct Column {
    /// M_ic for each object i.
    shared: Vec<u64>,
    /// |π_c|, guests included.
    size: u64,
    /// Number of members that these sums include.
    followed: usize,
}

/// A fraction in [0, 1] as numerator and denominator.
#[derive(Debug, Clone, Copy)]
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

impl Expansion {
    /// No cluster yet.
    pub fn new(co: CoAssociation, weighting: Weighting, zero: ZeroAssociation) -> Self {
        Expansion { co, weighting, zero, columns: Vec::new(), guests: HashMap::new() }
    }

    /// The co-associations.
    pub fn co_association(&self) -> &CoAssociation {
        &self.co
    }

    /// Takes in who joined since the last call, one row of counts each; `members` are those of each
    /// cluster in order of joining. A guest that joined counts once.
    pub fn follow(&mut self, members: &[Vec<u32>]) {
        let empty = || Column { shared: vec![0; self.co.n()], size: 0, followed: 0 };
        self.columns.resize_with(members.len(), empty);
        for (c, members) in members.iter().enumerate() {
            for &x in &members[self.columns[c].followed..] {
                let before = self.guests.remove(&x);
                if before == Some(c as u32) {
                    continue;
                }
                let row = self.co.row(x as usize);
                let mut changed = |c: usize, by: fn(&mut u64, u64)| {
                    let Column { shared, size, .. } = &mut self.columns[c];
                    shared.iter_mut().zip(&row).for_each(|(m, &count)| by(m, u64::from(count)));
                    by(size, 1);
                };
                changed(c, |sum, by| *sum += by);
                if let Some(other) = before {
                    changed(other as usize, |sum, by| *sum -= by);
                }
            }
            self.columns[c].followed = members.len();
        }
    }

    /// `objects` count in a cluster until they join one. None of them counts anywhere yet.
    pub fn invite(&mut self, objects: &[u32], cluster: u32) {
        let all: Vec<u32> = (0..self.co.n() as u32).collect();
        let sums = self.co.sums(&all, objects);
        let column = &mut self.columns[cluster as usize];
        column.shared.iter_mut().zip(sums).for_each(|(m, sum)| *m += sum);
        column.size += objects.len() as u64;
        self.guests.extend(objects.iter().map(|&i| (i, cluster)));
    }

    /// True if an object counts in a cluster without being a member.
    pub fn is_guest(&self, object: u32) -> bool {
        self.guests.contains_key(&object)
    }

    /// S_ic for every cluster c ([Greene2007] equation 3).
    pub fn association(&self, object: u32) -> Vec<f64> {
        let tau = self.co.members() as f64;
        let mean = |c: &Column| c.shared[object as usize] as f64 / (tau * c.size as f64);
        self.columns.iter().map(mean).collect()
    }

    /// Clusters by decreasing S_ic, ties by creation.
    pub fn order(&self, object: u32) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.columns.len() as u32).collect();
        // M_a / |π_a| > M_b / |π_b| without dividing; the sort is stable.
        let scaled = |a: u32, b: u32| {
            let [a, b] = [a, b].map(|c| &self.columns[c as usize]);
            u128::from(a.shared[object as usize]) * u128::from(b.size)
        };
        order.sort_by(|&a, &b| scaled(b, a).cmp(&scaled(a, b)));
        order
    }

    /// w(i) = (T_a − T_b) / (T_a + T_b) for the two largest entries of the row of `object`
    /// ([Greene2007] equation 5); without weighting the same of S (equation 4). Without any votes the
    /// margin is 0; with one cluster, 1.
    pub fn margin(&self, object: u32) -> Margin {
        // Entries over a common denominator: T_c ∝ M_c; S_c ∝ M_c / |π_c|, compared crosswise.
        let mut best: Option<(u128, u128)> = None;
        let mut second: Option<(u128, u128)> = None;
        let above =
            |x: (u128, u128), y: Option<(u128, u128)>| y.is_none_or(|y| x.0 * y.1 > y.0 * x.1);
        for Column { shared, size, .. } in &self.columns {
            let divisor = match self.weighting {
                Weighting::Size => 1,
                Weighting::None => u128::from(*size),
            };
            let entry = (u128::from(shared[object as usize]), divisor);
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

    /// True if `object` comes after all others, as it shares no vote with any cluster.
    pub fn comes_last(&self, object: u32) -> bool {
        self.zero == ZeroAssociation::Last
            && self.columns.iter().all(|column| column.shared[object as usize] == 0)
    }

    /// The free objects that may be placed next; guests wait until all others are placed.
    pub fn candidates(&self, groups: &Neighbourhoods) -> Vec<u32> {
        let mut free = groups.free();
        if free.iter().any(|&i| !self.is_guest(i)) {
            free.retain(|&i| !self.is_guest(i));
        }
        free
    }

    /// The candidate with the smallest margin, ties by the selector's rule.
    pub fn most_disputed(&self, groups: &mut Neighbourhoods) -> Option<u32> {
        let keyed = |i| ((self.comes_last(i), self.margin(i)), i);
        let scored: Vec<_> = self.candidates(groups).into_iter().map(keyed).collect();
        let order = |a: (bool, Margin), b: (bool, Margin)| a.0.cmp(&b.0).then(a.1.order(b.1));
        let least = scored.iter().map(|s| s.0).min_by(|&a, &b| order(a, b))?;
        let tied = scored.into_iter().filter(|s| order(s.0, least).is_eq());
        groups.one_of(&tied.map(|s| s.1).collect::<Vec<u32>>())
    }

    /// Asks `object` against the representatives, the most associated cluster first; after "don't know"
    /// other members, those first that share most votes with it.
    pub fn locate(
        &self,
        groups: &mut Neighbourhoods,
        object: u32,
        infer: bool,
        purpose: &'static str,
    ) {
        let order = self.order(object);
        let retries = groups.asking().dont_know_retries;
        let put = |&p: &u32| {
            let members = &groups.members()[p as usize];
            // Only as many as may be tried.
            let mut rest = if retries > 0 { members[1..].to_vec() } else { Vec::new() };
            let count = |m: u32| self.co.count(object as usize, m as usize);
            // The sort is stable: ties stay in order of joining.
            rest.sort_by_cached_key(|&m| std::cmp::Reverse(count(m)));
            std::iter::once(members[0]).chain(rest).collect()
        };
        let references = order.iter().map(put).collect();
        groups.locate_by(object, order, references, infer, purpose);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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

    fn expansion(co: CoAssociation) -> Expansion {
        Expansion::new(co, Weighting::default(), ZeroAssociation::default())
    }

    /// The labels of some members.
    fn votes() -> impl Strategy<Value = Vec<Vec<u32>>> {
        (4usize..26, 1usize..7, 2u32..4)
            .prop_flat_map(|(n, tau, k)| prop::collection::vec(prop::collection::vec(0..k, n), tau))
    }

    #[test]
    fn margins_of_the_trace() {
        let e = ensemble(&E12.map(Vec::from));
        let mut votes = expansion(CoAssociation::implicit(&e));
        let mut sets = vec![vec![0], vec![5], vec![10]];
        votes.follow(&sets);
        let margins = |votes: &Expansion| -> Vec<f64> {
            (0..12).map(|i| (1e6 * votes.margin(i).value()).round() / 1e6).collect()
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
        let mut join = |votes: &mut Expansion, i: u32, c: usize| {
            sets[c].push(i);
            votes.follow(&sets);
        };
        [(4, 0), (8, 1)].iter().for_each(|&(i, c)| join(&mut votes, i, c));
        assert_eq!(margins(&votes)[9], 0.0);
        join(&mut votes, 9, 2);
        assert_eq!(margins(&votes)[7], (1e6f64 * 5.0 / 11.0).round() / 1e6);
        join(&mut votes, 7, 1);
        assert_eq!(margins(&votes)[11], 0.5);
        join(&mut votes, 11, 2);
        assert_eq!(margins(&votes)[3], (1e6f64 * 5.0 / 9.0).round() / 1e6);
        join(&mut votes, 3, 0);
        assert_eq!(margins(&votes)[6], 0.6);
    }

    proptest! {
        #[test]
        fn votes_kept_up_are_votes_counted(labels in votes(), seed: u64, lent in 0usize..4) {
            let e = ensemble(&labels);
            let n = e.n();
            let co = CoAssociation::dense(&e, &Context::new(1)).unwrap();
            let mut votes = expansion(co.clone());
            // Those who joined, and with them those who count.
            let (mut members, mut sets) = (Vec::new(), Vec::new());
            let mut s = SeedPath::new(seed).stream("order");
            let order = s.permutation(n);
            // The last ones count in the first neighbourhood until their turn comes.
            let guests = order[order.len() - lent.min(order.len() - 3)..].to_vec();
            for i in order {
                if sets.len() < 3 {
                    members.push(vec![i]);
                    sets.push(vec![i]);
                    votes.follow(&members);
                    if sets.len() == 1 {
                        votes.invite(&guests, 0);
                        sets[0].extend(&guests);
                    }
                } else {
                    let c = s.below(3);
                    members[c].push(i);
                    votes.follow(&members);
                    sets.iter_mut().for_each(|set: &mut Vec<u32>| set.retain(|&x| x != i));
                    sets[c].push(i);
                }
                for x in 0..n as u32 {
                    let slow: Vec<u64> = sets.iter().map(|set| co.sums(&[x], set)[0]).collect();
                    let shared: Vec<u64> =
                        votes.columns.iter().map(|c| c.shared[x as usize]).collect();
                    prop_assert_eq!(&shared, &slow);
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
                    let exact = votes.margin(x).value();
                    prop_assert!((0.0..=1.0).contains(&exact) && (exact - w).abs() < 1e-12);
                }
            }
        }
    }
}
