//! A session as it stands: what was answered, what is open, what follows.

use std::sync::{Condvar, Mutex, MutexGuard};

use mustlink_core::Constraint;
use mustlink_core::closure::{Closure, OnConflict};
use mustlink_core::constraints::{Constraints, Kind};
use mustlink_core::roles::{Answer, QueryId, Question, Reply};
use mustlink_core::selection::Recorded;

use crate::chain::Statements;
use crate::view::{Counts, Entry, Open, View};

/// Who answers what follows from earlier answers.
pub(crate) const ENTAILED: &str = "entailed";

#[derive(Default)]
pub(crate) struct State {
    pub view: View,
    pub given: Constraints,
    pub n: usize,
    pub budget: Option<usize>,
    /// The act of this turn is under way.
    pub busy: bool,
}

impl State {
    pub fn statements(&self, without: Option<QueryId>) -> Statements {
        let mut all = Statements::new(&self.given);
        for e in self.view.entries.iter().filter(|e| Some(e.id) != without) {
            if let Some(kind) = kind(e.reply) {
                all.add(e.subject, e.reference, kind, Some(e.id));
            }
        }
        all
    }

    fn count(&mut self) {
        let entries = &self.view.entries;
        let of = |reply| entries.iter().filter(|e| e.reply == reply).count();
        let answered = self.view.counts.answered;
        let counts = Counts {
            same: of(Reply::MustLink),
            different: of(Reply::CannotLink),
            unsure: of(Reply::DontKnow),
            left: self.budget.map(|budget| budget.saturating_sub(answered)),
            retracted: answered.saturating_sub(entries.len()),
            answered,
            free: self.free(),
        };
        self.view.counts = counts;
    }

    /// Pairs that follow and were neither given nor answered.
    fn free(&self) -> u64 {
        let known = self.view.entries.iter().filter_map(|e| {
            let (i, j) = (e.subject as usize, e.reference as usize);
            Some(Constraint::new(i, j, kind(e.reply)?))
        });
        let all = Constraints::new(self.n, known).and_then(|c| self.given.union(&c, self.n));
        let closed = all.and_then(|all| {
            let said = all.len() as u64;
            Ok((said, Closure::new(&all, self.n, OnConflict::DropCl)?))
        });
        closed.map_or(0, |(said, closure)| {
            let (must, cannot) = closure.pair_counts();
            (must + cannot).saturating_sub(said)
        })
    }
}

/// What both threads see.
#[derive(Default)]
pub(crate) struct Shared {
    state: Mutex<State>,
    pub changed: Condvar,
}

impl Shared {
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn change(&self, f: impl FnOnce(&mut State)) {
        let mut state = self.lock();
        f(&mut state);
        state.busy = false;
        state.view.turn += 1;
        self.changed.notify_all();
    }

    pub fn open(&self, open: Open) {
        self.change(|state| {
            state.count();
            state.view.open = Some(open);
        });
    }

    pub fn answered(&self, question: &Question, answer: &Answer) {
        let mut state = self.lock();
        state.view.open = None;
        state.view.counts.answered += 1;
        let recorded = Recorded {
            id: question.id,
            subject: question.subject,
            reference: question.reference,
            answer: answer.clone(),
            retracted: false,
        };
        state.view.entries.push(entry(&recorded));
    }

    /// What the ledger holds before a run.
    pub fn begin(&self, answers: &[Recorded]) {
        let mut state = self.lock();
        state.view.open = None;
        state.view.ended = None;
        let own = answers.iter().filter(|r| is_own(&r.answer));
        state.view.counts.answered = own.clone().filter(|r| r.answer.cost > 0.0).count();
        state.view.entries = own.filter(|r| !r.retracted).map(entry).collect();
    }

    pub fn ended(&self, why: String) {
        self.change(|state| {
            state.count();
            state.view.open = None;
            state.view.ended = Some(why);
        });
    }
}

pub(crate) fn is_own(answer: &Answer) -> bool {
    answer.annotator.as_deref() != Some(ENTAILED)
}

fn entry(recorded: &Recorded) -> Entry {
    Entry {
        id: recorded.id,
        subject: recorded.subject,
        reference: recorded.reference,
        reply: recorded.answer.reply,
        note: recorded.answer.note.clone(),
        elapsed_ms: recorded.answer.elapsed_ms,
    }
}

/// The relation that a reply states.
pub(crate) fn kind(reply: Reply) -> Option<Kind> {
    match reply {
        Reply::MustLink => Some(Kind::MustLink),
        Reply::CannotLink => Some(Kind::CannotLink),
        Reply::DontKnow => None,
    }
}
