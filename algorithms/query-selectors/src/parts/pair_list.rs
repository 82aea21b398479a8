//! Questions about pairs that were all chosen in advance.

use std::borrow::Cow;
use std::collections::HashSet;

use mustlink_core::knowledge::{ENTAILED, Knowledge, Learned};
use mustlink_core::prelude::*;

use crate::parts::checks::not_open;

/// Properties of a selector that asks about pairs listed with the help of an ensemble.
pub fn along(
    generator: Result<Cow<'_, Box<dyn EnsembleGenerator>>>,
    skips_entailed: bool,
) -> SelectorProperties {
    // A default that is not linked is reported by `start`.
    let facts = generator.map(|g| g.properties());
    SelectorProperties {
        needs_k: facts.as_ref().is_ok_and(|f| f.needs_k),
        skips_entailed,
        accepts_sparse: facts.is_ok_and(|f| f.accepts.contains(&DataKind::Csr)),
        ..SelectorProperties::default()
    }
}

/// Pairs asked one after another in the order given.
pub struct PairList {
    knowledge: Knowledge,
    skip_entailed: bool,
    purpose: &'static str,
    pairs: std::vec::IntoIter<(u32, u32)>,
    /// Entailed pairs that were passed over.
    passed: HashSet<(u32, u32)>,
    next_id: QueryId,
    open: Option<(QueryId, u32, u32)>,
    events: Vec<Event>,
}

impl PairList {
    /// An inquiry about `pairs` of `problem`'s objects: (subject, reference), all eligible, none
    /// twice.
    pub fn start(
        problem: &Problem,
        pairs: Vec<(u32, u32)>,
        skip_entailed: bool,
        purpose: &'static str,
    ) -> Box<dyn Inquiry> {
        let mut list = PairList::empty(problem, skip_entailed, purpose);
        list.put(pairs);
        Box::new(list)
    }

    /// One without pairs, into which they are [`put`](PairList::put) as they are chosen.
    pub fn empty(problem: &Problem, skip_entailed: bool, purpose: &'static str) -> Self {
        PairList {
            knowledge: Knowledge::new(problem.n(), &problem.constraints),
            skip_entailed,
            purpose,
            pairs: Vec::new().into_iter(),
            passed: HashSet::new(),
            next_id: 0,
            open: None,
            events: Vec::new(),
        }
    }

    /// Asks about `pairs` in the place of those that are left, none that was asked before.
    pub fn put(&mut self, mut pairs: Vec<(u32, u32)>) {
        pairs.retain(|&(i, j)| !self.knowledge.was_asked(i, j));
        self.pairs = pairs.into_iter();
        // A question that was not answered gives its number to the next.
        self.next_id -= u64::from(self.open.is_some());
        self.advance();
    }

    /// True if no pair is left to ask about.
    pub fn is_over(&self) -> bool {
        self.open.is_none()
    }

    /// True if a pair would be asked about: it was not yet, nor is it passed over.
    pub fn needs(&mut self, i: u32, j: u32) -> bool {
        let passed = self.skip_entailed && self.knowledge.relation(i, j).is_some();
        !passed && !self.knowledge.was_asked(i, j)
    }

    /// Takes the reply to query `id`, and says what it says of which pair; `None` where it contradicts what
    /// was known, or says nothing.
    ///
    /// # Errors
    /// An id that is not the open one.
    pub fn learn(&mut self, id: QueryId, reply: Reply) -> Result<Option<Constraint>> {
        let Some((_, i, j)) = self.open.filter(|o| o.0 == id) else { return Err(not_open(id)) };
        let learned = self.knowledge.tell(i, j, reply);
        if learned == Learned::Conflict {
            self.events.push(Event::Conflict { id });
        }
        self.advance();
        let Some(kind) = reply.kind() else { return Ok(None) };
        let said = Constraint::new(i as usize, j as usize, kind);
        Ok((learned != Learned::Conflict).then_some(said))
    }

    fn advance(&mut self) {
        self.open = None;
        for (i, j) in self.pairs.by_ref() {
            if self.skip_entailed
                && let Some(kind) = self.knowledge.relation(i, j)
            {
                // Said once, however often the pair is put.
                if self.passed.insert((i, j)) {
                    self.events.push(Event::Inferred { i, j, kind, rule: ENTAILED.into() });
                }
                continue;
            }
            self.open = Some((self.next_id, i, j));
            self.next_id += 1;
            break;
        }
    }
}

impl Inquiry for PairList {
    fn step(&mut self) -> Result<Step> {
        Ok(match self.open {
            Some((id, subject, reference)) => {
                Step::Ask { id, subject, reference, purpose: self.purpose }
            }
            None => Step::Done(Done::Exhausted),
        })
    }

    fn tell(&mut self, id: QueryId, reply: Reply) -> Result<()> {
        self.learn(id, reply).map(|_| ())
    }

    fn drain(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }
}
