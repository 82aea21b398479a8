//! The chain of answers from which a pair follows.
//!
//! Statements are edges; a pair is together where a path of must-links joins it and apart where a path
//! with exactly one cannot-link does. The shortest such path is the reason.

use std::collections::{BTreeMap, VecDeque};

use mustlink_core::constraints::{Constraints, Kind};
use mustlink_core::knowledge::Knowledge;
use mustlink_core::roles::QueryId;
use mustlink_core::selection::Recorded;
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
    /// The answer with this statement; absent: it was given.
    pub answer: Option<QueryId>,
}

/// The given constraints and the answers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Statements {
    links: Vec<Link>,
    ends: BTreeMap<u32, Vec<usize>>,
    /// Given groups whose members are all apart, and those of each object.
    groups: Vec<Vec<u32>>,
    grouped: BTreeMap<u32, Vec<usize>>,
    /// The entailed pairs, without the reasons.
    knowledge: Knowledge,
}

impl Statements {
    /// The statements of given constraints about `n` objects, without the soft ones.
    pub fn new(n: usize, given: &Constraints) -> Self {
        let given = given.facts();
        let mut all = Statements {
            links: Vec::new(),
            ends: BTreeMap::new(),
            groups: Vec::new(),
            grouped: BTreeMap::new(),
            knowledge: Knowledge::new(n, &given),
        };
        for set in given.neighbourhoods() {
            set.windows(2).for_each(|w| all.add(w[0], w[1], Kind::MustLink, None));
        }
        given.listed().iter().for_each(|c| all.add(c.i, c.j, c.kind, None));
        for (at, group) in given.groups().iter().enumerate() {
            group.members.iter().for_each(|&i| all.grouped.entry(i).or_default().push(at));
            all.groups.push(group.members.clone());
        }
        all
    }

    /// One more.
    pub fn add(&mut self, i: u32, j: u32, kind: Kind, answer: Option<QueryId>) {
        self.ends.entry(i).or_default().push(self.links.len());
        self.ends.entry(j).or_default().push(self.links.len());
        self.links.push(Link { i, j, kind, answer });
        match kind {
            Kind::MustLink => self.knowledge.must(i, j),
            Kind::CannotLink => self.knowledge.cannot(i, j),
        };
    }

    /// The relation of two objects, if anything is known of it; in near-constant time.
    pub fn relation(&mut self, i: u32, j: u32) -> Option<Kind> {
        self.knowledge.relation(i, j)
    }

    /// The relation of two objects with the shortest chain that shows it; must-links first if both relations follow.
    /// `None` if nothing is known.
    pub fn why(&self, i: u32, j: u32) -> Option<(Kind, Vec<Link>)> {
        let must = self.chain(i, j, Kind::MustLink).map(|chain| (Kind::MustLink, chain));
        must.or_else(|| self.chain(i, j, Kind::CannotLink).map(|chain| (Kind::CannotLink, chain)))
    }

    /// A shortest chain that puts two objects together, or apart.
    pub fn chain(&self, i: u32, j: u32, kind: Kind) -> Option<Vec<Link>> {
        let goal = (j, kind == Kind::CannotLink);
        // A place is an object and whether a cannot-link was crossed on the way to it.
        let mut from: BTreeMap<(u32, bool), ((u32, bool), Link)> = BTreeMap::new();
        let mut queue = VecDeque::from([(i, false)]);
        while let Some(here) = queue.pop_front() {
            if here == goal {
                break;
            }
            for link in self.at(here.0, kind == Kind::CannotLink && !here.1) {
                let other = if link.i == here.0 { link.j } else { link.i };
                let there = (other, here.1 || link.kind == Kind::CannotLink);
                if there != (i, false) && !from.contains_key(&there) {
                    from.insert(there, (here, link));
                    queue.push_back(there);
                }
            }
        }
        let mut chain = Vec::new();
        let mut here = goal;
        while here != (i, false) {
            let (before, link) = *from.get(&here)?;
            chain.push(link);
            here = before;
        }
        chain.reverse();
        Some(chain)
    }

    /// The statements about an object; cannot-links where they are wanted.
    fn at(&self, object: u32, apart: bool) -> impl Iterator<Item = Link> + '_ {
        let listed = self.ends.get(&object).into_iter().flatten().map(|&at| self.links[at]);
        let groups = self.grouped.get(&object).into_iter().flatten().filter(move |_| apart);
        let others = groups.flat_map(|&at| &self.groups[at]).filter(move |&&j| j != object);
        let kind = Kind::CannotLink;
        let grouped = others.map(move |&j| Link { i: object, j, kind, answer: None });
        listed.filter(move |link| apart || link.kind == Kind::MustLink).chain(grouped)
    }
}

/// The given constraints and answers, as statements.
pub(crate) fn statements<'a>(
    n: usize,
    given: &Constraints,
    answers: impl IntoIterator<Item = &'a Recorded>,
) -> Statements {
    let mut all = Statements::new(n, given);
    for r in answers {
        if let Some(kind) = r.answer.reply.kind() {
            all.add(r.subject, r.reference, kind, Some(r.id));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_a_group_are_apart() {
        let given = Constraints::new(5, [mustlink_core::Constraint::must(2, 3)]).unwrap();
        let group = mustlink_core::Group::new("photo", vec![0, 1, 2]);
        let all = Statements::new(5, &given.with_groups(5, [group]).unwrap());
        let (kind, chain) = all.why(0, 3).unwrap();
        assert_eq!((kind, chain.len(), chain[0].j), (Kind::CannotLink, 2, 2));
        assert_eq!(all.why(1, 4), None);
    }

    #[test]
    fn the_shortest_chain_is_the_reason() {
        let mut all = Statements::new(5, &Constraints::default());
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
