//! Why is a pair known?
//!
//! Statements are edges; a pair is together where a path of must-links joins it and apart where a path
//! with exactly one cannot-link does. The shortest such path is the reason.

use std::collections::{BTreeMap, VecDeque};

use mustlink_core::constraints::{Constraints, Kind};
use mustlink_core::roles::QueryId;
use serde::Serialize;

/// One statement of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Link {
    /// First object.
    pub i: u32,
    /// Second object.
    pub j: u32,
    /// Together or apart.
    pub kind: Kind,
    /// The answer that says so; absent: it was given.
    pub answer: Option<QueryId>,
}

/// What was given and answered.
#[derive(Debug, Clone, Default)]
pub struct Statements {
    links: Vec<Link>,
    ends: BTreeMap<u32, Vec<usize>>,
}

impl Statements {
    /// Those of given constraints.
    pub fn new(given: &Constraints) -> Self {
        let mut all = Statements::default();
        for set in given.neighbourhoods() {
            set.windows(2).for_each(|w| all.add(w[0], w[1], Kind::MustLink, None));
        }
        given.pairs().iter().for_each(|c| all.add(c.i, c.j, c.kind, None));
        all
    }

    /// One more.
    pub fn add(&mut self, i: u32, j: u32, kind: Kind, answer: Option<QueryId>) {
        self.ends.entry(i).or_default().push(self.links.len());
        self.ends.entry(j).or_default().push(self.links.len());
        self.links.push(Link { i, j, kind, answer });
    }

    /// The relation of two objects with the shortest chain that says so, must-links first where both hold;
    /// `None` where nothing is known.
    pub fn why(&self, i: u32, j: u32) -> Option<(Kind, Vec<Link>)> {
        let must = self.chain(i, j, Kind::MustLink).map(|chain| (Kind::MustLink, chain));
        must.or_else(|| self.chain(i, j, Kind::CannotLink).map(|chain| (Kind::CannotLink, chain)))
    }

    /// A shortest chain that puts two objects together, or apart.
    pub fn chain(&self, i: u32, j: u32, kind: Kind) -> Option<Vec<Link>> {
        let goal = (j, kind == Kind::CannotLink);
        // A place is an object and whether a cannot-link was crossed on the way to it.
        let mut from: BTreeMap<(u32, bool), ((u32, bool), usize)> = BTreeMap::new();
        let mut queue = VecDeque::from([(i, false)]);
        while let Some(here) = queue.pop_front() {
            if here == goal {
                break;
            }
            for &at in self.ends.get(&here.0).map_or(&[][..], Vec::as_slice) {
                let link = &self.links[at];
                let apart = link.kind == Kind::CannotLink;
                if apart && (here.1 || kind == Kind::MustLink) {
                    continue;
                }
                let other = if link.i == here.0 { link.j } else { link.i };
                let there = (other, here.1 || apart);
                if there != (i, false) && !from.contains_key(&there) {
                    from.insert(there, (here, at));
                    queue.push_back(there);
                }
            }
        }
        let mut chain = Vec::new();
        let mut here = goal;
        while here != (i, false) {
            let (before, at) = *from.get(&here)?;
            chain.push(self.links[at]);
            here = before;
        }
        chain.reverse();
        Some(chain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_chain_is_the_reason() {
        let mut all = Statements::new(&Constraints::default());
        for (id, (i, j, kind)) in [
            (0, 1, Kind::MustLink),
            (1, 2, Kind::MustLink),
            (2, 3, Kind::CannotLink),
            (0, 2, Kind::MustLink),
            (3, 4, Kind::CannotLink),
        ]
        .into_iter()
        .enumerate()
        {
            all.add(i, j, kind, Some(id as u64));
        }
        let ids = |i, j| {
            let (kind, chain) = all.why(i, j)?;
            Some((kind, chain.iter().filter_map(|link| link.answer).collect::<Vec<_>>()))
        };
        assert_eq!(ids(0, 3), Some((Kind::CannotLink, vec![3, 2])));
        assert_eq!(ids(3, 1), Some((Kind::CannotLink, vec![2, 1])));
        assert_eq!(ids(0, 2), Some((Kind::MustLink, vec![3])));
        // Apart from the same object says nothing of two.
        assert_eq!(ids(2, 4), None);
    }
}
