//! The log of a selection, and the constraints that its answers give.
//!
//! The log is the truth about what was asked: counts and constraints at any point of a learning curve
//! are a replay of it.

use std::collections::{HashMap, HashSet};

use crate::kind::{self, Described};
use serde::{Deserialize, Serialize};

use crate::closure::{Closure, EntailedWeight, MAX_CLOSURE_PAIRS, OnConflict};
use crate::clustering::Clustering;
use crate::constraints::{Constraint, Constraints, Kind, Origin};
use crate::error::{Error, Result};
use crate::knowledge::{Knowledge, LAST_NEIGHBOURHOOD, Learned};
use crate::roles::{Event, QueryId, Reply};
use crate::witness::Witness;

/// Constraints that a selection passes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, Described)]
#[serde(rename_all = "snake_case")]
pub enum ConstraintView {
    /// Only the replies.
    Queried,
    /// The replies, the inferences of the last-neighbourhood rule, and a must-link from each object to the
    /// representative of its neighbourhood.
    #[default]
    Neighbourhood,
    /// Everything the replies entail, as pairs.
    Closure,
}

impl ConstraintView {
    /// The word used in results.
    pub fn name(self) -> &'static str {
        match self {
            ConstraintView::Queried => "queried",
            ConstraintView::Neighbourhood => "neighbourhood",
            ConstraintView::Closure => "closure",
        }
    }
}

/// Treatment of answers that contradict earlier knowledge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, Described)]
#[serde(rename_all = "snake_case")]
pub enum Contradicting {
    /// The selection ends with an error that shows a shortest chain for each of them.
    Error,
    /// They are left out: the earlier answer holds.
    #[default]
    KeepFirst,
    /// They are passed on with the others, for methods that weigh constraints.
    KeepAll,
    /// They are left out, together with the answers on the shortest chain that each of them contradicts.
    DropAllInvolved,
}

impl Contradicting {
    /// The word in files.
    pub fn name(self) -> &'static str {
        match self {
            Contradicting::Error => "error",
            Contradicting::KeepFirst => "keep_first",
            Contradicting::KeepAll => "keep_all",
            Contradicting::DropAllInvolved => "drop_all_involved",
        }
    }
}

/// A finished selection: all questions, replies and conclusions.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    pub(crate) n: usize,
    /// Everything that happened, in order.
    pub events: Vec<Event>,
    /// Clusterings of an inherently active method after this number of replies, for each point requested.
    pub snapshots: Vec<(usize, Clustering)>,
    /// True if the budget (and not the selector) ended it.
    pub budget_ended: bool,
    /// Reason for the end, if it was not the selector: `budget`, `pending` (an answer is still missing), `closed`
    /// or `out_of_scope` (the oracle refused).
    pub closed: Option<&'static str>,
}

/// Counts over the first p replies of a selection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Counts {
    /// Replies.
    pub queries: usize,
    /// Must-link replies.
    pub must: usize,
    /// Cannot-link replies.
    pub cannot: usize,
    /// "Don't know" replies.
    pub dont_know: usize,
    /// Replies that the selector took back: they are queries and none of the three above.
    pub retracted: usize,
    /// Conclusions that cost nothing, of those from before answers were corrected none.
    pub inferred: usize,
    /// Replies that contradict what was known when they came.
    pub conflicts: usize,
    /// Replies that are not taken as they came, because of others.
    pub corrected: usize,
    /// Total cost.
    pub cost: f64,
}

impl Counts {
    fn of(&mut self, reply: Reply) -> &mut usize {
        match reply {
            Reply::MustLink => &mut self.must,
            Reply::CannotLink => &mut self.cannot,
            Reply::DontKnow => &mut self.dont_know,
        }
    }
}

impl Selection {
    /// A selection over `n` objects from its log.
    pub fn from_events(n: usize, events: Vec<Event>) -> Self {
        Selection { n, events, ..Selection::default() }
    }

    /// Number of replies.
    pub fn asked(&self) -> usize {
        self.events.iter().filter(|e| matches!(e, Event::Told { .. })).count()
    }

    /// True if the selection has fewer than `p` replies because nothing was left to ask.
    pub fn saturated(&self, p: usize) -> bool {
        p > self.asked()
    }

    /// The log up to and with what followed the p-th reply: all before the next question.
    pub fn prefix(&self, p: usize) -> &[Event] {
        let mut told = 0;
        let end = self.events.iter().position(|e| {
            told += usize::from(matches!(e, Event::Told { .. }));
            told >= p && matches!(e, Event::Asked { .. })
        });
        &self.events[..end.unwrap_or(self.events.len())]
    }

    /// Counts over the first `p` replies.
    pub fn counts(&self, p: usize) -> Counts {
        let mut c = Counts::default();
        let mut told: HashMap<u64, Reply> = HashMap::new();
        for event in self.prefix(p) {
            match event {
                Event::Told { id, reply, cost } => {
                    c.queries += 1;
                    c.cost += cost;
                    told.insert(*id, *reply);
                    *c.of(*reply) += 1;
                }
                Event::Retracted { id } => {
                    if let Some(reply) = told.remove(id) {
                        *c.of(reply) -= 1;
                        c.retracted += 1;
                    }
                }
                Event::Inferred { .. } => c.inferred += 1,
                // What still follows is said again.
                Event::Corrected { .. } => c.inferred = 0,
                _ => {}
            }
        }
        c.conflicts = self.contradicting(p).len();
        let taken = self.answered(p);
        let as_told = |id: &QueryId, reply: &Reply| match taken.get(id) {
            Some(c) => reply.kind() == Some(c.kind),
            None => reply.kind().is_none(),
        };
        c.corrected = told.iter().filter(|(id, reply)| !as_told(id, reply)).count();
        c
    }

    /// The constraints after the first `p` replies, with named neighbourhoods. If answers contradict each other,
    /// the first one holds.
    ///
    /// # Errors
    /// `ClosureTooLarge` for the closure view.
    pub fn at(&self, p: usize, view: ConstraintView) -> Result<Constraints> {
        let without = self.contradicting(p).into_iter().collect();
        self.handed(p, view, &without, None, &Constraints::default())
    }

    /// As [`Selection::at`], with another rule for answers that contradict each other or `given`.
    ///
    /// # Errors
    /// `InconsistentConstraints` where the rule asks for it; `ClosureTooLarge` for the closure view.
    pub fn constraints(
        &self,
        p: usize,
        view: ConstraintView,
        rule: Contradicting,
        given: &Constraints,
    ) -> Result<Constraints> {
        let without = self.left_out(p, rule, given)?;
        if rule != Contradicting::DropAllInvolved || without.is_empty() {
            return self.handed(p, view, &without, None, given);
        }
        let left = self.handed(p, ConstraintView::Queried, &without, None, given)?;
        let left = Closure::new(&given.facts().union(&left, self.n)?, self.n, OnConflict::Keep)?;
        self.handed(p, view, &without, Some(&left), given)
    }

    /// The queries among the first `p` whose answers contradict what was known, in their order.
    pub fn contradicting(&self, p: usize) -> Vec<QueryId> {
        let mut found: Vec<QueryId> = Vec::new();
        for event in self.prefix(p) {
            match event {
                Event::Conflict { id } if !found.contains(id) => found.push(*id),
                // The driver says anew what is left of them.
                Event::Corrected { .. } => found.clear(),
                Event::Retracted { id } => found.retain(|known| known != id),
                _ => {}
            }
        }
        found
    }

    /// The queries among the first `p` whose answers do not become constraints under this rule.
    ///
    /// # Errors
    /// `InconsistentConstraints` where the rule asks for it.
    pub fn left_out(
        &self,
        p: usize,
        rule: Contradicting,
        given: &Constraints,
    ) -> Result<HashSet<QueryId>> {
        let mut out: HashSet<QueryId> = self.contradicting(p).into_iter().collect();
        if out.is_empty() {
            return Ok(out);
        }
        match rule {
            Contradicting::KeepFirst => {}
            Contradicting::KeepAll => out.clear(),
            Contradicting::Error => {
                let witnesses = self.witnesses(p, given, usize::MAX)?;
                return Err(Error::InconsistentConstraints(witnesses.into()));
            }
            Contradicting::DropAllInvolved => {
                let links = self.witnesses(p, given, usize::MAX)?.into_iter().flat_map(|w| {
                    let ends = std::iter::once(w.cannot);
                    ends.chain(w.path.windows(2).map(|l| (l[0], l[1])).collect::<Vec<_>>())
                });
                let links: HashSet<(u32, u32)> = links.map(|(i, j)| (i.min(j), i.max(j))).collect();
                let answered = self.answered(p).into_iter();
                out.extend(answered.filter(|(_, c)| links.contains(&(c.i, c.j))).map(|(id, _)| id));
            }
        }
        Ok(out)
    }

    /// Number of the first `p` answers that become constraints under this rule: corrected answers that are not
    /// "don't know" and are not left out.
    ///
    /// # Errors
    /// `InconsistentConstraints` if the rule asks for it.
    pub fn used(&self, p: usize, rule: Contradicting, given: &Constraints) -> Result<usize> {
        let without = self.left_out(p, rule, given)?;
        Ok(self.answered(p).keys().filter(|id| !without.contains(id)).count())
    }

    /// For the first `most` contradicting answers a shortest chain that each closes, found among `given`,
    /// the answers that stay, and what was inferred where these alone do not contradict it.
    ///
    /// # Errors
    /// Returns no error for objects of the problem.
    pub fn witnesses(&self, p: usize, given: &Constraints, most: usize) -> Result<Vec<Witness>> {
        let contradicting = self.contradicting(p);
        let out = contradicting.iter().copied().collect();
        let answers = self.handed(p, ConstraintView::Queried, &out, None, given)?;
        let more = self.handed(p, ConstraintView::Neighbourhood, &out, None, given)?;
        let asked = self.answered(p);
        let mut witnesses = Vec::new();
        for answer in contradicting.iter().filter_map(|id| asked.get(id)).take(most) {
            for known in [&answers, &more] {
                let all = Constraints::new(self.n, [*answer])?
                    .union(&given.facts(), self.n)?
                    .union(known, self.n)?;
                let closure = Closure::new(&all, self.n, OnConflict::Keep)?;
                // The answer stands first: it is the cannot-link, or a link of chains in its component.
                let near = |&at: &usize| {
                    let of = |at: usize| closure.component(all.pair(at).i as usize);
                    at == 0 || (all.pair(0).kind == Kind::MustLink && of(at) == of(0))
                };
                let conflicts = closure.conflicts().iter().copied().filter(near);
                let closes = |w: &Witness| w.index == 0 || w.links.contains(&0);
                let chains = closure.witnesses_of(conflicts).filter(closes);
                if let Some(shortest) = chains.min_by_key(|w| w.path.len()) {
                    witnesses.push(shortest);
                    break;
                }
            }
        }
        Ok(witnesses)
    }

    /// The answers among the first `p` that say something, as they are taken, by the number of their query.
    pub fn answered(&self, p: usize) -> HashMap<QueryId, Constraint> {
        answered(self.prefix(p))
    }

    /// The constraints of the first `p` replies except those in `without`, which stay in the log only.
    /// Conclusions are passed on if `left`, when given, still entails them, and neither
    /// `given` nor an answer contradicts them.
    fn handed(
        &self,
        p: usize,
        view: ConstraintView,
        without: &HashSet<QueryId>,
        left: Option<&Closure>,
        given: &Constraints,
    ) -> Result<Constraints> {
        let answered = self.answered(p);
        let mut pairs: Vec<Constraint> = Vec::new();
        let mut named: Vec<Vec<u32>> = Vec::new();
        let mut inferred: HashSet<u32> = HashSet::new();
        // A selector does not hear of all answers, as of those that `repair` asks for, and infers what they deny.
        // Answers that contradict each other deny nothing.
        let at_odds = self.contradicting(p).iter().any(|id| !without.contains(id));
        let heard = || {
            let mut known = Knowledge::new(self.n, given);
            for (id, c) in &answered {
                if !without.contains(id) {
                    known.tell(c.i, c.j, c.kind.into());
                }
            }
            known
        };
        // What was given, the answers, and what was inferred so far; absent before anything was.
        let mut known: Option<Knowledge> = None;
        for event in self.prefix(p) {
            match event {
                // What still follows is said again.
                Event::Corrected { .. } => {
                    pairs.retain(|c| c.origin != Origin::Entailed);
                    named.clear();
                    inferred.clear();
                    known = None;
                }
                Event::Told { id, .. } if !without.contains(id) => pairs.extend(answered.get(id)),
                // What the replies entail is left to the closure; what was assumed is no constraint.
                Event::Inferred { i, j, kind, rule } if rule == LAST_NEIGHBOURHOOD => {
                    inferred.insert(*i);
                    if view != ConstraintView::Queried && left.is_none() {
                        let known = known.get_or_insert_with(&heard);
                        if known.tell(*i, *j, (*kind).into()) != Learned::Conflict || at_odds {
                            let c = Constraint::new(*i as usize, *j as usize, *kind);
                            pairs.push(c.from(Origin::Entailed));
                        }
                    }
                }
                // The replies alone do not say where an inferred member belongs.
                Event::Joined { object, .. }
                    if view == ConstraintView::Queried && inferred.contains(object) => {}
                Event::Joined { object, representative, .. }
                    if left.is_some_and(|left| {
                        let at = |i: &u32| left.component(*i as usize);
                        at(object) != at(representative)
                    }) => {}
                Event::Joined { object, representative, .. }
                    if !at_odds
                        && known.as_mut().is_some_and(|known| {
                            known.must(*object, *representative) == Learned::Conflict
                        }) => {}
                Event::Joined { object, neighbourhood, representative } => {
                    let at = *neighbourhood as usize;
                    if named.len() <= at {
                        named.resize(at + 1, Vec::new());
                    }
                    named[at].push(*object);
                    if view != ConstraintView::Queried && object != representative {
                        let c = Constraint::must(*object as usize, *representative as usize);
                        pairs.push(c.from(Origin::Entailed));
                    }
                }
                _ => {}
            }
        }
        named.retain(|set| !set.is_empty());
        let constraints = Constraints::new(self.n, pairs)?.with_neighbourhoods(named);
        if view != ConstraintView::Closure {
            return Ok(constraints);
        }
        let closure = Closure::new(&constraints, self.n, OnConflict::Keep)?;
        let all = closure.pairs(EntailedWeight::Bottleneck, MAX_CLOSURE_PAIRS)?;
        Ok(Constraints::new(self.n, all)?
            .with_neighbourhoods(constraints.neighbourhoods().to_vec()))
    }

    /// Clustering of an inherently active method after `p` replies.
    pub fn snapshot(&self, p: usize) -> Option<&Clustering> {
        self.snapshots.iter().rev().find(|(at, _)| *at <= p).map(|(_, c)| c)
    }
}

/// The answers in a log that say something, as they are taken, by the number of their query.
pub(crate) fn answered(events: &[Event]) -> HashMap<QueryId, Constraint> {
    let mut asked: HashMap<QueryId, (u32, u32)> = HashMap::new();
    let mut answered = HashMap::new();
    for event in events {
        match event {
            Event::Asked { id, subject, reference, .. } => {
                asked.insert(*id, (*subject, *reference));
            }
            Event::Told { id, reply, .. } | Event::Corrected { id, reply } => {
                let (Some(kind), Some(&(i, j))) = (reply.kind(), asked.get(id)) else {
                    answered.remove(id);
                    continue;
                };
                let c = Constraint::new(i as usize, j as usize, kind);
                answered.insert(*id, c.from(Origin::Queried));
            }
            Event::Retracted { id } => drop(answered.remove(id)),
            _ => {}
        }
    }
    answered
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constraints::Kind;

    fn log(answers: &[(u32, u32, Reply, bool)]) -> Selection {
        let mut events = Vec::new();
        for (at, &(subject, reference, reply, clashes)) in answers.iter().enumerate() {
            let id = at as u64;
            events.push(Event::Asked { id, subject, reference, purpose: "test".into() });
            events.push(Event::Told { id, reply, cost: 1.0 });
            events.extend(clashes.then_some(Event::Conflict { id }));
        }
        Selection::from_events(6, events)
    }

    #[test]
    fn answers_that_are_not_taken_as_they_came_are_used_as_they_are_taken() {
        use Reply::{CannotLink, DontKnow, MustLink};
        let mut selection = log(&[
            (0, 1, MustLink, false),
            (1, 2, MustLink, false),
            (3, 4, DontKnow, false),
            (0, 2, CannotLink, true),
        ]);
        let none = Constraints::default();
        let used = |s: &Selection, rule| {
            let handed = s.constraints(4, ConstraintView::Queried, rule, &none).unwrap();
            let used = s.used(4, rule, &none).unwrap();
            assert_eq!(used, handed.pairs().len());
            used
        };
        assert_eq!(used(&selection, Contradicting::KeepFirst), 2);
        assert_eq!(used(&selection, Contradicting::KeepAll), 3);
        assert_eq!(used(&selection, Contradicting::DropAllInvolved), 0);
        // One of the chain is doubted: nothing contradicts the others.
        selection.events.push(Event::Corrected { id: 1, reply: DontKnow });
        assert_eq!(used(&selection, Contradicting::KeepFirst), 2);
        assert_eq!(selection.counts(4).must + selection.counts(4).cannot, 3);
    }

    #[test]
    fn what_is_inferred_anew_counts_once() {
        let inferred = || Event::Inferred {
            i: 1,
            j: 2,
            kind: Kind::MustLink,
            rule: LAST_NEIGHBOURHOOD.into(),
        };
        let mut selection = log(&[(0, 1, Reply::MustLink, false), (0, 2, Reply::MustLink, false)]);
        selection.events.push(inferred());
        assert_eq!(selection.counts(2).inferred, 1);
        selection.events.push(Event::Corrected { id: 0, reply: Reply::MustLink });
        assert_eq!(selection.counts(2).inferred, 0);
        selection.events.push(inferred());
        assert_eq!(selection.counts(2).inferred, 1);
    }

    #[test]
    fn answers_come_before_what_was_inferred_without_them() {
        use Reply::{CannotLink, MustLink};
        let mut events = Vec::new();
        let joined = |object, neighbourhood, representative| Event::Joined {
            object,
            neighbourhood,
            representative,
        };
        let inferred =
            |i| Event::Inferred { i, j: 0, kind: Kind::MustLink, rule: LAST_NEIGHBOURHOOD.into() };
        let asked = |id, subject, reference, reply| {
            let asked = Event::Asked { id, subject, reference, purpose: "test".into() };
            [asked, Event::Told { id, reply, cost: 1.0 }]
        };
        events.push(joined(0, 0, 0));
        events.extend(asked(0, 1, 0, CannotLink));
        events.push(joined(1, 1, 1));
        // Apart from 1, so with 0; and 3 with 2.
        events.extend(asked(1, 2, 1, CannotLink));
        events.extend([inferred(2), joined(2, 0, 0)]);
        events.extend(asked(2, 3, 2, MustLink));
        events.push(joined(3, 0, 0));
        events.extend(asked(3, 4, 1, CannotLink));
        events.extend([inferred(4), joined(4, 0, 0)]);
        // Not so: of this the selector does not hear.
        events.extend(asked(4, 2, 0, CannotLink));
        let selection = Selection::from_events(6, events);
        let none = Constraints::default();
        let handed = |p, given: &Constraints| {
            let rule = Contradicting::KeepFirst;
            selection.constraints(p, ConstraintView::Neighbourhood, rule, given).unwrap()
        };
        let musts = |p, given: &Constraints| {
            let handed = handed(p, given);
            let musts = handed.pairs().iter().filter(|c| c.kind == Kind::MustLink);
            let mut musts: Vec<(u32, u32)> = musts.map(|c| (c.i, c.j)).collect();
            musts.sort_unstable();
            musts
        };
        assert_eq!(musts(4, &none), [(0, 2), (0, 3), (0, 4), (2, 3)]);
        assert_eq!(musts(5, &none), [(0, 4), (2, 3)]);
        // As what is given says with the answers.
        let given = Constraints::new(6, [Constraint::must(2, 4)]).unwrap();
        assert_eq!(musts(5, &given), [(2, 3)]);
        let handed = handed(5, &none);
        assert!(handed.neighbourhoods().iter().all(|set| !set.contains(&2) && !set.contains(&3)));
        let closure = Closure::new(&handed, 6, OnConflict::Keep).unwrap();
        assert!(closure.conflicts().is_empty());
    }

    #[test]
    fn each_rule_hands_on_what_it_says() {
        use Reply::{CannotLink, MustLink};
        // 0–1–2 belong together, so that 0 and 2 cannot be apart; 3–4 has no part in it.
        let selection = log(&[
            (0, 1, MustLink, false),
            (1, 2, MustLink, false),
            (3, 4, MustLink, false),
            (0, 2, CannotLink, true),
        ]);
        let none = Constraints::default();
        let count = |rule| {
            let handed = selection.constraints(4, ConstraintView::Queried, rule, &none).unwrap();
            (handed.count(Kind::MustLink), handed.count(Kind::CannotLink))
        };
        assert_eq!(count(Contradicting::KeepFirst), (3, 0));
        assert_eq!(count(Contradicting::KeepAll), (3, 1));
        assert_eq!(count(Contradicting::DropAllInvolved), (1, 0));
        let refused =
            selection.constraints(4, ConstraintView::Queried, Contradicting::Error, &none);
        let Err(Error::InconsistentConstraints(all)) = refused else { panic!("{refused:?}") };
        let first = &all.shown[0];
        assert_eq!((first.cannot, first.path.as_slice()), ((0, 2), &[0, 1, 2][..]));
        assert_eq!((selection.counts(4).conflicts, selection.counts(3).conflicts), (1, 0));
    }

    #[test]
    fn given_constraints_are_in_the_chain_and_stay() {
        let selection = log(&[(0, 2, Reply::CannotLink, true)]);
        let given = [Constraint::must(0, 1), Constraint::must(1, 2)];
        let given = Constraints::new(6, given).unwrap();
        let chains = selection.witnesses(1, &given, 5).unwrap();
        assert_eq!(chains[0].path, [0, 1, 2]);
        let rule = Contradicting::DropAllInvolved;
        assert!(
            selection.constraints(1, ConstraintView::Queried, rule, &given).unwrap().is_empty()
        );
    }
}
