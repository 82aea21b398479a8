//! Growing constraints, and their relation to a pair.

use std::collections::BTreeSet;

use mustlink_core::prelude::*;

/// The closure of a growing set of constraints.
///
/// Objects are in sets; must-links unite sets and cannot-links keep them apart. For two clusters a
/// cannot-link unites as well, with its ends on two sides: what is apart from the same object is
/// then together.
#[derive(Clone)]
pub(super) struct Links {
    two: bool,
    set: Vec<u32>,
    side: Vec<bool>,
    members: Vec<Vec<u32>>,
    apart: Vec<BTreeSet<u32>>,
}

impl Links {
    /// The closure of `given` over n objects, for k clusters. What contradicts an earlier constraint
    /// is left out.
    pub(super) fn new(n: usize, k: usize, given: &Constraints) -> Self {
        let mut links = Links {
            two: k == 2,
            set: (0..n as u32).collect(),
            side: vec![false; n],
            members: (0..n as u32).map(|i| vec![i]).collect(),
            apart: vec![BTreeSet::new(); n],
        };
        for kind in [Kind::MustLink, Kind::CannotLink] {
            for c in given.pairs().iter().filter(|c| c.kind == kind) {
                links.add(c.i, c.j, kind);
            }
        }
        links
    }

    /// Relation that follows for a pair, if any.
    pub(super) fn relation(&self, a: u32, b: u32) -> Option<Kind> {
        let (p, q) = (self.set[a as usize], self.set[b as usize]);
        if p == q {
            let across = self.side[a as usize] != self.side[b as usize];
            return Some(if across { Kind::CannotLink } else { Kind::MustLink });
        }
        self.apart[p as usize].contains(&q).then_some(Kind::CannotLink)
    }

    /// Adds a constraint; nothing where something is already known about the pair. Whether it was.
    pub(super) fn add(&mut self, a: u32, b: u32, kind: Kind) -> bool {
        if self.relation(a, b).is_some() {
            return false;
        }
        let (p, q) = (self.set[a as usize], self.set[b as usize]);
        if kind == Kind::CannotLink && !self.two {
            self.apart[p as usize].insert(q);
            self.apart[q as usize].insert(p);
            return true;
        }
        let across = self.side[a as usize] != self.side[b as usize];
        let flip = across != (kind == Kind::CannotLink);
        let size = |s: u32| self.members[s as usize].len();
        let (keep, lose) = if size(p) >= size(q) { (p, q) } else { (q, p) };
        let moved = std::mem::take(&mut self.members[lose as usize]);
        for &i in &moved {
            self.set[i as usize] = keep;
            self.side[i as usize] ^= flip;
        }
        self.members[keep as usize].extend(moved);
        for other in std::mem::take(&mut self.apart[lose as usize]) {
            self.apart[other as usize].remove(&lose);
            self.apart[other as usize].insert(keep);
            self.apart[keep as usize].insert(other);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::closure::Feasibility;
    use proptest::prelude::*;

    #[test]
    fn two_clusters_make_must_links_of_two_cannot_links() {
        let cannot = [Constraint::cannot(0, 1), Constraint::cannot(1, 2)];
        let given = Constraints::new(4, cannot).unwrap();
        let mut two = Links::new(4, 2, &given);
        assert_eq!(two.relation(0, 2), Some(Kind::MustLink));
        // An odd cycle is refused.
        assert!(!two.add(0, 2, Kind::CannotLink));
        assert!(two.add(2, 3, Kind::CannotLink));
        assert_eq!(two.relation(0, 3), Some(Kind::CannotLink));
        assert_eq!(two.relation(1, 3), Some(Kind::MustLink));
        assert_eq!(Links::new(4, 3, &given).relation(0, 2), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn relations_are_those_of_the_closure(seed: u64, n in 2usize..12, k in 2usize..4, m in 0usize..20) {
            let mut s = SeedPath::new(seed).stream("links");
            let mut links = Links::new(n, k, &Constraints::default());
            let mut taken: Vec<Constraint> = Vec::new();
            for _ in 0..m {
                let (a, b) = (s.below(n), s.below(n));
                let kind = if s.below(2) == 0 { Kind::MustLink } else { Kind::CannotLink };
                let known = links.relation(a as u32, b as u32);
                let added = links.add(a as u32, b as u32, kind);
                prop_assert_eq!(added, known.is_none());
                if added {
                    taken.push(Constraint::new(a, b, kind));
                }
                // Never a contradiction; and for two clusters never an odd cycle.
                let given = Constraints::new(n, taken.iter().copied()).unwrap();
                let closure = Closure::new(&given, n, OnConflict::Error).unwrap();
                if k == 2 {
                    let Feasibility::Feasible(colours) = closure.feasibility(2) else {
                        panic!("an odd cycle of {taken:?}")
                    };
                    prop_assert_eq!(colours.len(), closure.components());
                }
                for i in 0..n {
                    for j in 0..n {
                        let plain = closure.relation(i, j);
                        let found = links.relation(i as u32, j as u32);
                        if k == 2 {
                            // Together or apart in every colouring: the opposite cannot be.
                            let opposite = |kind| {
                                let more = taken.iter().copied().chain([Constraint::new(i, j, kind)]);
                                let more = Constraints::new(n, more).unwrap();
                                match Closure::new(&more, n, OnConflict::Error) {
                                    Ok(c) => matches!(c.feasibility(2), Feasibility::Feasible(_)),
                                    Err(_) => false,
                                }
                            };
                            let expected = if i == j || !opposite(Kind::CannotLink) {
                                Some(Kind::MustLink)
                            } else if !opposite(Kind::MustLink) {
                                Some(Kind::CannotLink)
                            } else {
                                None
                            };
                            prop_assert_eq!(found, expected);
                        } else {
                            prop_assert_eq!(found, plain);
                        }
                    }
                }
            }
        }
    }
}
