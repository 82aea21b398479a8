//! A session as it stands: what was answered, what is open, what follows.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Instant;

use mustlink_core::Constraint;
use mustlink_core::closure::{Closure, OnConflict};
use mustlink_core::constraints::{Constraints, Kind};
use mustlink_core::knowledge::{ENTAILED, Knowledge};
use mustlink_core::roles::{Answer, QueryId, Question, Reply};
use mustlink_core::selection::Recorded;

use crate::chain::Statements;
use crate::found::Found;
use crate::view::{Counts, Entry, Open, Standing, View};

/// Who set a question aside.
pub(crate) const LATER: &str = "later";
/// Number of last answers that pace and advice look at.
const LAST: usize = 10;

#[derive(Default)]
pub(crate) struct State {
    pub view: View,
    pub given: Constraints,
    pub n: usize,
    pub budget: Option<usize>,
    /// The time when the annotator first opened the session.
    pub begun: Option<Instant>,
    /// The act of this turn is under way, or the first question.
    pub busy: bool,
    /// What the method made of the answers so far.
    pub found: Option<Found>,
    similarity: Option<f64>,
    /// For each answer of this session, true if the method had predicted it.
    agreed: HashMap<QueryId, bool>,
    /// No more clusterings are wanted.
    pub closed: bool,
}

impl State {
    pub fn statements(&self, without: Option<QueryId>) -> Statements {
        let mut all = Statements::new(self.n, &self.given);
        for e in self.view.entries.iter().filter(|e| Some(e.id) != without) {
            if let Some(kind) = e.reply.kind() {
                all.add(e.subject, e.reference, kind, Some(e.id));
            }
        }
        all
    }

    /// The last event: an answer, or all those that were given with it.
    pub fn last(&self) -> Vec<QueryId> {
        let Some(last) = self.view.entries.last() else { return Vec::new() };
        let first = last.with.unwrap_or(last.id);
        let given = self.view.entries.iter().filter(|e| e.id == first || e.with == Some(first));
        given.map(|e| e.id).collect()
    }

    fn count(&mut self) {
        let entries = &self.view.entries;
        let of = |reply| entries.iter().filter(|e| e.reply == reply && !e.later).count();
        let later = entries.iter().filter(|e| e.later).count();
        let answered = self.view.counts.answered;
        let mut times: Vec<u64> = entries.iter().filter_map(|e| e.elapsed_ms).collect();
        let mut times = times.split_off(times.len().saturating_sub(LAST));
        times.sort_unstable();
        self.view.counts = Counts {
            same: of(Reply::MustLink),
            different: of(Reply::CannotLink),
            unsure: of(Reply::DontKnow),
            later,
            left: self.budget.map(|budget| budget.saturating_sub(answered)),
            retracted: (answered + later).saturating_sub(entries.len()),
            answered,
            free: self.free(),
            pace_ms: times.get(times.len() / 2).copied(),
        };
    }

    /// Pairs that follow and were neither given nor answered.
    fn free(&self) -> u64 {
        let answers = self.view.entries.iter().filter_map(|e| {
            Some(Constraint::new(e.subject as usize, e.reference as usize, e.reply.kind()?))
        });
        let all = Constraints::new(self.n, answers).and_then(|c| self.given.union(&c, self.n));
        let closed = all.and_then(|all| {
            let said = all.len() as u64;
            Ok((said, Closure::new(&all, self.n, OnConflict::DropCl)?))
        });
        closed.map_or(0, |(said, closure)| {
            let (must, cannot) = closure.pair_counts();
            (must + cannot).saturating_sub(said)
        })
    }

    /// What is shown of what the method says.
    fn judge(&mut self) {
        let Some(found) = &self.found else { return };
        let says = self.view.open.as_ref().and_then(|q| found.says(q.subject, q.reference));
        // Answers that were taken back are not among the entries.
        let judged = self.view.entries.iter().rev().filter_map(|e| self.agreed.get(&e.id));
        let last: Vec<&bool> = judged.take(LAST).collect();
        let agreed = (last.iter().filter(|&&&a| a).count(), last.len());
        let similarity = self.similarity;
        let advice = similarity.filter(|&s| s >= ALIKE && agreed == (LAST, LAST)).map(|s| {
            format!(
                "the last {LAST} answers are what the method said before them, and its last two clusterings \
                 are alike (adjusted Rand index {s:.2}): more answers would change little"
            )
        });
        let (clusters, answers) = (found.clusters.len(), found.answers);
        self.view.standing = Some(Standing { clusters, answers, says, agreed, similarity, advice });
    }
}

/// From this adjusted Rand index on two clusterings are alike.
const ALIKE: f64 = 0.95;

/// What all threads see.
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
        state.count();
        state.judge();
        state.busy = false;
        state.view.turn += 1;
        state.view.beat += 1;
        self.changed.notify_all();
    }

    pub fn open(&self, open: Open) {
        self.change(|state| state.view.open = Some(open));
    }

    pub fn answered(&self, question: &Question, answer: &Answer) {
        let mut state = self.lock();
        state.view.open = None;
        state.view.counts.answered += usize::from(answer.is_paid());
        let said = state.found.as_ref().and_then(|f| f.says(question.subject, question.reference));
        if let (Some(said), Some(kind)) = (said, answer.reply.kind()) {
            state.agreed.insert(question.id, said == (kind == Kind::MustLink));
        }
        let recorded = Recorded {
            id: question.id,
            subject: question.subject,
            reference: question.reference,
            answer: answer.clone(),
            retracted: false,
            with: None,
            line: usize::MAX,
        };
        state.view.entries.push(entry(&recorded));
    }

    /// What the ledger holds before a run.
    pub fn begin(&self, answers: &[Recorded]) {
        let mut state = self.lock();
        state.view.open = None;
        state.view.ended = None;
        let own = answers.iter().filter(|r| is_own(&r.answer));
        state.view.counts.answered = own.clone().filter(|r| r.answer.is_paid()).count();
        let mut standing: Vec<&Recorded> = own.filter(|r| !r.retracted).collect();
        // A question that was open has a smaller number than what was stated before it was answered.
        standing.sort_by_key(|r| r.line);
        state.view.entries = standing.into_iter().map(entry).collect();
    }

    pub fn ended(&self, why: String) {
        self.change(|state| {
            state.view.open = None;
            state.view.ended = Some(why);
        });
    }

    /// The method was run.
    pub fn found(&self, found: Found) {
        let mut state = self.lock();
        state.similarity = state.found.as_ref().map(|before| before.similarity(&found));
        state.found = Some(found);
        state.judge();
        state.view.beat += 1;
        self.changed.notify_all();
    }

    pub fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }
}

/// Whether a person gave it: what follows from earlier answers is answered by itself.
pub fn is_own(answer: &Answer) -> bool {
    answer.annotator.as_deref() != Some(ENTAILED)
}

/// Whether it sets its question aside.
pub fn is_later(answer: &Answer) -> bool {
    answer.annotator.as_deref() == Some(LATER)
}

/// Those of these answers that a person gave and that stand.
pub(crate) fn standing(answers: &[Recorded]) -> impl Iterator<Item = &Recorded> {
    answers.iter().filter(|r| !r.retracted && is_own(&r.answer))
}

/// What `given` constraints on `n` objects and answers say.
pub(crate) fn known<'a>(
    n: usize,
    given: &Constraints,
    answers: impl IntoIterator<Item = &'a Recorded>,
) -> Knowledge {
    let mut knowledge = Knowledge::new(n, given);
    for r in answers {
        knowledge.tell(r.subject, r.reference, r.answer.reply);
    }
    knowledge
}

fn entry(recorded: &Recorded) -> Entry {
    let answer = &recorded.answer;
    Entry {
        id: recorded.id,
        subject: recorded.subject,
        reference: recorded.reference,
        reply: answer.reply,
        later: is_later(answer),
        note: answer.note.clone(),
        elapsed_ms: answer.elapsed_ms,
        at: answer.at.clone(),
        with: recorded.with,
    }
}

#[cfg(test)]
mod tests {
    use mustlink_core::Data;

    use super::*;

    #[test]
    fn an_answer_that_is_taken_back_agrees_with_nothing() {
        let shared = Shared::default();
        let data = Data::dense(mustlink::ndarray::Array2::zeros((4, 1))).unwrap();
        shared.lock().n = 4;
        shared.found(Found::new(&data, vec![0, 0, 1, 1], 0));
        let answer = |id, i, j, reply| {
            let question = Question { id, i, j, subject: i, reference: j, purpose: "test" };
            shared.answered(&question, &Answer::of(reply));
            shared.open(Open { id: id + 1, subject: 0, reference: 3, purpose: "test" });
            shared.lock().view.standing.clone().unwrap().agreed
        };
        assert_eq!(answer(0, 0, 1, Reply::MustLink), (1, 1));
        assert_eq!(answer(1, 0, 2, Reply::MustLink), (1, 2));
        // Both are taken back, and the first is given once more.
        shared.begin(&[]);
        assert_eq!(answer(2, 0, 1, Reply::MustLink), (1, 1));
    }
}
