//! The answers of a selection so far, and the pairs that follow from them.
//!
//! Union–find over must-links, cannot-link edges between components, pairs asked. Relations
//! are looked up in near-constant time; on union the smaller edge set moves into the larger.

use std::collections::HashSet;

use crate::closure::UnionFind;
use crate::constraints::{Constraints, Kind};
use crate::groups::share;
use crate::roles::Reply;

/// The rule of an inference: an object apart from all but one of the k neighbourhoods joins that one.
pub const LAST_NEIGHBOURHOOD: &str = "last_neighbourhood";
/// The rule of an inference: transitivity and entailment from what is known.
pub const ENTAILED: &str = "entailed";
/// The rule of what a selector acts on without knowing it; never a constraint.
pub const ASSUMED: &str = "assumed";

/// Effect of a reply on the knowledge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Learned {
    /// It was new.
    New,
    /// It was known already.
    Known,
    /// It contradicts what was known; the first statement stays.
    Conflict,
}

/// Knowledge about pairs during a selection.
#[derive(Debug, Clone, Default)]
pub struct Knowledge {
    uf: UnionFind,
    apart: Vec<HashSet<u32>>,
    asked: HashSet<(u32, u32)>,
    /// The groups of each root whose members must all be apart, ascending; empty without groups.
    groups: Vec<Vec<u32>>,
}

fn key(i: u32, j: u32) -> (u32, u32) {
    (i.min(j), i.max(j))
}

impl Knowledge {
    /// Knowledge from `given` about `n` objects. If constraints contradict each other, the first one holds. Nothing is
    /// known from those marked soft.
    pub fn new(n: usize, given: &Constraints) -> Self {
        let given = given.facts();
        let mut knowledge = Knowledge {
            uf: UnionFind::new(n),
            apart: vec![HashSet::new(); n],
            asked: HashSet::new(),
            groups: vec![Vec::new(); if given.groups().is_empty() { 0 } else { n }],
        };
        for set in given.neighbourhoods() {
            set.windows(2).for_each(|w| {
                knowledge.must(w[0], w[1]);
            });
        }
        for c in given.listed().iter().filter(|c| c.kind == Kind::MustLink) {
            knowledge.must(c.i, c.j);
        }
        for c in given.listed().iter().filter(|c| c.kind == Kind::CannotLink) {
            knowledge.cannot(c.i, c.j);
        }
        for (at, group) in given.groups().iter().enumerate() {
            for &i in &group.members {
                let root = knowledge.uf.find(i) as usize;
                if knowledge.groups[root].last() != Some(&(at as u32)) {
                    knowledge.groups[root].push(at as u32);
                }
            }
        }
        knowledge
    }

    /// Relation of the pair that is known, if any.
    pub fn relation(&mut self, i: u32, j: u32) -> Option<Kind> {
        let (p, q) = (self.uf.find(i), self.uf.find(j));
        if p == q {
            Some(Kind::MustLink)
        } else {
            let of = |p: u32| self.groups.get(p as usize).map_or(&[][..], Vec::as_slice);
            let apart = self.apart[p as usize].contains(&q) || share(of(p), of(q));
            apart.then_some(Kind::CannotLink)
        }
    }

    /// A name for the must-link component of `i`: equal for two objects iff they are in one.
    pub fn component(&mut self, i: u32) -> u32 {
        self.uf.find(i)
    }

    /// The pair was asked in this selection.
    pub fn was_asked(&self, i: u32, j: u32) -> bool {
        self.asked.contains(&key(i, j))
    }

    /// Takes a reply.
    pub fn tell(&mut self, i: u32, j: u32, reply: Reply) -> Learned {
        self.asked.insert(key(i, j));
        match reply {
            Reply::MustLink => self.must(i, j),
            Reply::CannotLink => self.cannot(i, j),
            Reply::DontKnow => Learned::New,
        }
    }

    /// Learns a must-link.
    pub fn must(&mut self, i: u32, j: u32) -> Learned {
        match self.relation(i, j) {
            Some(Kind::MustLink) => return Learned::Known,
            Some(Kind::CannotLink) => return Learned::Conflict,
            None => {}
        }
        let (a, b) = (self.uf.find(i), self.uf.find(j));
        let (keep, lose) = self.uf.union(a, b).expect("relation said they are two");
        // The edges of the lost root move to the kept one, the smaller set into the larger; the
        // neighbours' sets are renamed for the lost root only.
        let lost = std::mem::take(&mut self.apart[lose as usize]);
        for &q in &lost {
            self.apart[q as usize].remove(&lose);
            self.apart[q as usize].insert(keep);
        }
        let kept = &mut self.apart[keep as usize];
        if kept.len() < lost.len() {
            let small = std::mem::replace(kept, lost);
            kept.extend(small);
        } else {
            kept.extend(lost);
        }
        if !self.groups.is_empty() {
            let lost = std::mem::take(&mut self.groups[lose as usize]);
            let kept = &mut self.groups[keep as usize];
            kept.extend(lost);
            kept.sort_unstable();
        }
        Learned::New
    }

    /// Learns a cannot-link.
    pub fn cannot(&mut self, i: u32, j: u32) -> Learned {
        match self.relation(i, j) {
            Some(Kind::CannotLink) => return Learned::Known,
            Some(Kind::MustLink) => return Learned::Conflict,
            None => {}
        }
        let (p, q) = (self.uf.find(i), self.uf.find(j));
        self.apart[p as usize].insert(q);
        self.apart[q as usize].insert(p);
        Learned::New
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constraints::{Constraint, Strength};
    use crate::groups::Group;

    /// One wrong hint made two classes one, and answers that denied it were left out.
    #[test]
    fn nothing_follows_from_soft_constraints() {
        let soft = Some(Strength::Soft);
        let hint = Constraint { strength: soft, ..Constraint::must(1, 2) };
        let given = Constraints::new(6, [Constraint::must(0, 1), hint]).unwrap();
        let group = Group { strength: soft, ..Group::new("photo", vec![3, 4]) };
        let mut known = Knowledge::new(6, &given.with_groups(6, [group]).unwrap());
        assert_eq!(known.relation(0, 1), Some(Kind::MustLink));
        assert_eq!((known.relation(0, 2), known.relation(3, 4)), (None, None));
        assert_eq!(known.tell(1, 2, Reply::CannotLink), Learned::New);
        assert_eq!(known.relation(0, 2), Some(Kind::CannotLink));
    }

    #[test]
    fn replies_entail_and_contradict() {
        let mut k = Knowledge::new(6, &Constraints::default());
        assert_eq!(k.tell(0, 1, Reply::MustLink), Learned::New);
        assert_eq!(k.tell(1, 2, Reply::CannotLink), Learned::New);
        assert_eq!(k.relation(0, 2), Some(Kind::CannotLink));
        assert_eq!(k.tell(2, 3, Reply::MustLink), Learned::New);
        assert_eq!(k.relation(0, 3), Some(Kind::CannotLink));
        assert_eq!(k.tell(3, 0, Reply::MustLink), Learned::Conflict);
        assert_eq!(k.tell(4, 5, Reply::DontKnow), Learned::New);
        assert!(k.was_asked(5, 4));
        assert_eq!(k.relation(4, 5), None);
    }
}
