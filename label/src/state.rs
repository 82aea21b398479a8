//! A session as it stands: what was answered, what is open, what follows.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use mustlink_core::Context;
use mustlink_core::closure::{Closure, OnConflict};
use mustlink_core::constraints::{Constraint, Constraints};
use mustlink_core::knowledge::ENTAILED;
use mustlink_core::roles::{Answer, QueryId, Question, Reply};
use mustlink_core::selection::{Recorded, Selection};

use crate::chain::{Statements, statements};
use crate::found::Found;
use crate::sorting::{Statement, pair};
use crate::view::{Counts, Entry, Freshness, Open, Said, Standing, View, Written};

/// The annotator of questions that were set aside.
pub(crate) const LATER: &str = "later";
/// Time between two interrupt checks.
const LOOK: Duration = Duration::from_millis(100);
/// Number of last answers used for pace and advice.
const LAST: usize = 10;

/// A command to the work of a session.
#[derive(Debug)]
pub(crate) enum Command {
    /// The answer to the open question.
    Reply(Judgement),
    /// The answer to the open question, if there is one, and further changes of the ledger.
    Rewrite { reply: Option<Judgement>, change: Change },
    /// Ends the session; all is saved.
    Quit,
}

/// The answer of a person to the open question.
#[derive(Debug)]
pub(crate) struct Judgement {
    pub reply: Reply,
    pub note: Option<String>,
    /// To be asked again.
    pub later: bool,
}

/// Answers taken back, and new ones without a question. Earlier answers about the pairs of the new ones are taken
/// back too.
#[derive(Debug, Default)]
pub(crate) struct Change {
    pub back: Vec<QueryId>,
    pub purpose: &'static str,
    pub new: Vec<Statement>,
    pub note: Option<String>,
    /// Answers by pair from another ledger. They keep their annotators and times.
    pub recorded: BTreeMap<(u32, u32), Answer>,
    /// The answer to the open question that was given with them.
    pub with: Option<QueryId>,
}

#[derive(Default)]
pub(crate) struct State {
    pub view: View,
    pub given: Arc<Constraints>,
    /// The given constraints and the answers.
    pub known: Statements,
    pub n: usize,
    pub budget: Option<usize>,
    /// The time when the annotator first opened the session.
    pub begun: Option<Instant>,
    /// The time when the open question was shown.
    opened: Option<Instant>,
    /// The act of this turn is under way, or the first question.
    pub busy: bool,
    /// The command of this turn, until the work takes it.
    pub command: Option<Command>,
    /// The selection so far, until the method reads it.
    pub selection: Option<Selection>,
    /// The result of the method with the answers so far.
    pub found: Option<Found>,
    /// The answers that the method read last, and whether it found clusters with them.
    pub read: Option<(Vec<Said>, bool)>,
    similarity: Option<f64>,
    moved: Option<(usize, usize)>,
    /// The guess of the method is shown before each answer.
    pub shows_guess: bool,
    /// The clusters were shown while the open question was open.
    pub guess_is_seen: bool,
    /// Objects that the clusters showed. From then on, the annotator knows how the method places any two of them.
    pub shown: HashSet<u32>,
    /// The guess of the method for each answer that was given without sight of it.
    guesses: HashMap<QueryId, bool>,
    /// Pairs whose guess was shown, before or after an answer. If it is taken back, the next answer does not count.
    revealed: HashSet<(u32, u32)>,
    /// The work has ended: no more clusterings are needed.
    pub closed: bool,
    /// The session was dropped.
    is_left: bool,
}

impl State {
    /// The given constraints and all answers but this one.
    pub fn without(&self, id: QueryId) -> Statements {
        let mut all = Statements::new(self.n, &self.given);
        for e in self.view.entries.iter().filter(|e| e.id != id) {
            if let Some(kind) = e.reply.kind() {
                all.add(e.subject, e.reference, kind, Some(e.id));
            }
        }
        all
    }

    /// Time since the question was opened. The person cannot have read it before the page was.
    pub fn elapsed_ms(&self) -> Option<u64> {
        let start = self.opened.max(self.begun)?;
        u64::try_from(start.elapsed().as_millis()).ok()
    }

    /// True if the person has given as many answers as the budget allows.
    pub fn is_spent(&self) -> bool {
        self.budget.is_some_and(|budget| self.view.counts.answered >= budget)
    }

    /// The last event: an answer, or all those that were given with it.
    pub fn last(&self) -> Vec<QueryId> {
        let Some(last) = self.view.entries.last() else { return Vec::new() };
        let first = last.with.unwrap_or(last.id);
        let given = self.view.entries.iter().filter(|e| e.id == first || e.with == Some(first));
        given.map(|e| e.id).collect()
    }

    fn entry(&self, recorded: &Recorded) -> Entry {
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
            guess: self.guesses.get(&recorded.id).copied(),
        }
    }

    fn count(&mut self) {
        let entries = &self.view.entries;
        let of = |reply| entries.iter().filter(|e| e.reply == reply && !e.later).count();
        let later = entries.iter().filter(|e| e.later).count();
        let answered = entries.len() - later;
        let mut times: Vec<u64> = entries.iter().filter_map(|e| e.elapsed_ms).collect();
        let mut times = times.split_off(times.len().saturating_sub(LAST));
        times.sort_unstable();
        self.view.counts = Counts {
            same: of(Reply::MustLink),
            different: of(Reply::CannotLink),
            unsure: of(Reply::DontKnow),
            later,
            left: self.budget.map(|budget| budget.saturating_sub(answered)),
            answered,
            free: self.view.counts.free,
            pace_ms: times.get(times.len() / 2).copied(),
        };
    }

    /// Replaces the result of the method.
    fn take(&mut self, found: Found) {
        let compared = self.found.as_ref().map(|before| (before.answers, before.compared(&found)));
        self.similarity = compared.as_ref().map(|(_, both)| both.adjusted_rand());
        self.moved = compared.and_then(|(before, both)| {
            let more = found.answers.checked_sub(before).filter(|&more| more > 0)?;
            Some(((both.n() - both.matching()) as usize, more))
        });
        self.found = Some(found);
        self.judge();
    }

    /// Updates whether the clusters rest on all answers.
    fn compare(&mut self) {
        let said = self.view.said();
        self.view.freshness = match &self.read {
            Some((read, true)) if *read == said => Freshness::Current,
            Some((read, false)) if *read == said => Freshness::Missing,
            _ if self.closed => Freshness::Missing,
            _ => Freshness::Computing,
        };
    }

    /// Updates the shown part of the method's result.
    fn judge(&mut self) {
        let Some(found) = &self.found else { return };
        let open = self.view.open.as_ref().filter(|_| self.shows_guess);
        let says = open.and_then(|q| found.says(q.subject, q.reference));
        let entries = self.view.entries.iter().rev();
        let agrees = |e: &Entry| Some(e.guess? == (e.reply == Reply::MustLink));
        let last: Vec<bool> = entries.filter_map(agrees).take(LAST).collect();
        let agreed = (last.iter().filter(|&&a| a).count(), last.len());
        let (similarity, moved) = (self.similarity, self.moved);
        let advice = similarity.filter(|&s| s >= ALIKE && agreed == (LAST, LAST)).map(|s| {
            format!(
                "the method guessed the last {LAST} answers correctly, and its last two clusterings are alike \
                 (adjusted Rand index {s:.2}), so more answers would change little"
            )
        });
        let (clusters, answers) = (found.clusters.len(), found.answers);
        self.view.standing =
            Some(Standing { clusters, answers, says, agreed, similarity, moved, advice });
    }
}

/// From this adjusted Rand index on two clusterings are alike.
const ALIKE: f64 = 0.95;

/// The state that all threads see.
#[derive(Default)]
pub(crate) struct Shared {
    state: Mutex<State>,
    pub changed: Condvar,
}

impl Shared {
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Waits for the next command. An interrupt or a dropped session counts as `Quit`.
    pub fn command(&self, ctx: &Context) -> Command {
        let mut state = self.lock();
        loop {
            if let Some(command) = state.command.take() {
                return command;
            }
            if state.is_left || ctx.check().is_err() {
                return Command::Quit;
            }
            let waited = self.changed.wait_timeout(state, LOOK);
            state = waited.unwrap_or_else(|e| e.into_inner()).0;
        }
    }

    fn change(&self, f: impl FnOnce(&mut State)) {
        let mut state = self.lock();
        f(&mut state);
        state.judge();
        state.busy = false;
        state.view.turn += 1;
        state.view.beat += 1;
        self.changed.notify_all();
    }

    pub fn open(&self, open: Open, selection: Option<Selection>) {
        self.change(|state| {
            state.view.open = Some(open);
            state.opened = Some(Instant::now());
            state.guess_is_seen = state.shows_guess;
            state.selection = selection;
        });
    }

    /// Compares an answer with the guess about its question.
    pub fn judged(&self, question: &Question, answer: &Answer) {
        let mut state = self.lock();
        let guess = state.found.as_ref().and_then(|f| f.says(question.subject, question.reference));
        let pair_is_shown =
            [question.subject, question.reference].iter().all(|o| state.shown.contains(o));
        let is_seen = state.guess_is_seen || pair_is_shown;
        let is_judged = answer.reply.kind().is_some();
        if let Some(guess) = guess.filter(|_| is_seen || is_judged) {
            let is_first = state.revealed.insert(pair(question.subject, question.reference));
            if is_first && is_judged && !is_seen {
                state.guesses.insert(question.id, guess);
            }
        }
    }

    /// Takes the answers that the driver has now.
    pub fn answers(&self, answers: &[Recorded]) {
        let (n, given) = {
            let state = self.lock();
            (state.n, state.given.clone())
        };
        let mut own: Vec<&Recorded> = standing(answers).collect();
        // Sorted by line: an open question has a smaller id than statements before its answer.
        own.sort_by_key(|r| r.line);
        let known = statements(n, &given, own.iter().copied());
        let free = free(n, &given, &own);
        let mut state = self.lock();
        state.view.open = None;
        state.view.ended = None;
        state.view.entries = own.into_iter().map(|r| state.entry(r)).collect();
        state.view.counts.free = free;
        state.count();
        state.compare();
        state.known = known;
    }

    pub fn ended(&self, why: String, selection: Option<Selection>) {
        self.change(|state| {
            state.view.open = None;
            state.view.ended = Some(why);
            state.selection = selection;
            // The page now shows the clusters: an answer that is given once more is not blind.
            let asked = state.view.entries.iter().map(|e| pair(e.subject, e.reference));
            state.revealed.extend(asked);
        });
    }

    /// The method was run with these answers.
    pub fn found(&self, answers: Vec<Said>, found: Option<Found>) {
        let mut state = self.lock();
        state.read = Some((answers, found.is_some()));
        if let Some(found) = found {
            state.take(found);
        }
        state.compare();
        state.view.beat += 1;
        self.changed.notify_all();
    }

    pub fn written(&self, written: Written) {
        let mut state = self.lock();
        state.view.written = Some(written);
        state.view.beat += 1;
        self.changed.notify_all();
    }

    /// The work has ended.
    pub fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        state.compare();
        state.view.beat += 1;
        self.changed.notify_all();
    }

    /// The session was dropped.
    pub fn leave(&self) {
        self.lock().is_left = true;
        self.changed.notify_all();
    }
}

/// Number of pairs that follow and were neither given nor answered.
fn free(n: usize, given: &Constraints, answers: &[&Recorded]) -> u64 {
    let answers = answers.iter().filter_map(|r| {
        let kind = r.answer.reply.kind()?;
        Some(Constraint::new(r.subject as usize, r.reference as usize, kind))
    });
    let all = Constraints::new(n, answers).and_then(|c| given.facts().union(&c, n));
    let closed = all.and_then(|all| {
        let stated = all.len() as u64;
        Ok((stated, Closure::new(&all, n, OnConflict::DropCl)?))
    });
    closed.map_or(0, |(stated, closure)| {
        let (must, cannot) = closure.pair_counts();
        (must + cannot).saturating_sub(stated)
    })
}

/// True if a person gave the answer: entailed questions are answered automatically.
pub fn is_own(answer: &Answer) -> bool {
    answer.annotator.as_deref() != Some(ENTAILED)
}

/// The annotator of an answer: the recorded one, otherwise the ledger stands for its annotator.
pub fn annotator(answer: &Answer, ledger: &Path) -> String {
    let file = || format!("ledger {}", ledger.file_name().unwrap_or_default().display());
    answer.annotator.clone().unwrap_or_else(file)
}

/// True if the answer sets its question aside.
pub fn is_later(answer: &Answer) -> bool {
    answer.annotator.as_deref() == Some(LATER)
}

/// The answers that a person gave and did not take back.
pub(crate) fn standing(answers: &[Recorded]) -> impl Iterator<Item = &Recorded> {
    answers.iter().filter(|r| !r.retracted && is_own(&r.answer))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use mustlink_core::Data;

    use super::*;

    /// The guesses that agreed, of how many; the guess that is shown for the open question.
    type Agreed = ((usize, usize), Option<bool>);

    /// Answers questions about four objects, of which the method puts two and two together.
    fn answering(shared: &Shared) -> impl Fn(QueryId, (u32, u32), Reply) -> Agreed {
        let data = Data::dense(mustlink::ndarray::Array2::zeros((4, 1))).unwrap();
        shared.lock().n = 4;
        shared.found(Vec::new(), Some(Found::new(&data, vec![0, 0, 1, 1], 0)));
        let answers = RefCell::new(Vec::new());
        move |id, (subject, reference), reply| {
            let (answer, retracted, with, line) = (Answer::of(reply), false, None, id as usize);
            let recorded = Recorded { id, subject, reference, answer, retracted, with, line };
            shared.judged(&recorded.question(), &recorded.answer);
            // All before it were taken back.
            let mut answers = answers.borrow_mut();
            if shared.lock().view.entries.is_empty() {
                answers.clear();
            }
            answers.push(recorded);
            shared.answers(&answers);
            shared.open(Open { id: id + 1, subject: 0, reference: 3, purpose: "test" }, None);
            let standing = shared.lock().view.standing.clone().unwrap();
            (standing.agreed, standing.says)
        }
    }

    /// The guess is shown after the answer: an answer that is given once more is not blind.
    #[test]
    fn an_answer_that_is_taken_back_agrees_with_nothing() {
        let shared = Shared::default();
        let answer = answering(&shared);
        assert_eq!(answer(0, (0, 1), Reply::MustLink), ((1, 1), None));
        assert_eq!(answer(1, (0, 2), Reply::MustLink), ((1, 2), None));
        let guesses = |shared: &Shared| -> Vec<_> {
            shared.lock().view.entries.iter().map(|e| e.guess).collect()
        };
        assert_eq!(guesses(&shared), [Some(true), Some(false)]);
        shared.answers(&[]);
        assert_eq!(answer(2, (1, 0), Reply::MustLink), ((0, 0), None));
        assert_eq!(guesses(&shared), [None]);
        assert_eq!(answer(3, (1, 3), Reply::CannotLink), ((1, 1), None));
    }

    /// "Don't know" shows no guess, but the clusters at the end do.
    #[test]
    fn an_answer_after_the_end_agrees_with_nothing() {
        let shared = Shared::default();
        let answer = answering(&shared);
        assert_eq!(answer(0, (0, 1), Reply::DontKnow), ((0, 0), None));
        shared.ended("the budget is spent".into(), None);
        shared.answers(&[]);
        assert_eq!(answer(1, (0, 1), Reply::MustLink), ((0, 0), None));
    }

    #[test]
    fn only_answers_without_sight_of_the_guess_agree() {
        let shared = Shared::default();
        let answer = answering(&shared);
        assert_eq!(answer(0, (0, 1), Reply::MustLink), ((1, 1), None));
        // The clusters were on the screen.
        shared.lock().guess_is_seen = true;
        assert_eq!(answer(1, (2, 3), Reply::MustLink), ((1, 1), None));
        // Neither does the same pair count after an undo.
        assert_eq!(answer(2, (3, 2), Reply::MustLink), ((1, 1), None));
        assert_eq!(answer(3, (1, 2), Reply::CannotLink), ((2, 2), None));
        // They showed two objects of a later question, and one of the question after it.
        shared.lock().shown.extend([0, 3]);
        assert_eq!(answer(4, (0, 3), Reply::CannotLink), ((2, 2), None));
        assert_eq!(answer(5, (0, 2), Reply::CannotLink), ((3, 3), None));
        let shared = Shared::default();
        shared.lock().shows_guess = true;
        shared.open(Open { id: 0, subject: 0, reference: 1, purpose: "test" }, None);
        let answer = answering(&shared);
        assert_eq!(answer(0, (0, 1), Reply::MustLink), ((0, 0), Some(false)));
        assert_eq!(shared.lock().view.entries[0].guess, None);
    }

    #[test]
    fn a_question_takes_no_time_before_somebody_looks() {
        let shared = Shared::default();
        shared.open(Open { id: 0, subject: 0, reference: 1, purpose: "test" }, None);
        let mut state = shared.lock();
        // An hour from now is later than the question, however slow this machine is.
        state.begun = Some(Instant::now() + Duration::from_secs(3600));
        assert_eq!(state.elapsed_ms(), Some(0));
    }

    #[test]
    fn objects_that_move_are_counted() {
        let shared = Shared::default();
        let answer = answering(&shared);
        let data = Data::dense(mustlink::ndarray::Array2::zeros((4, 1))).unwrap();
        let moved = |labels: [u32; 4], answers| {
            shared.found(Vec::new(), Some(Found::new(&data, labels.to_vec(), answers)));
            shared.lock().view.standing.as_ref().unwrap().moved
        };
        answer(0, (0, 1), Reply::MustLink);
        // Other numbers of the clusters are not other clusters.
        assert_eq!(moved([1, 1, 0, 0], 1), Some((0, 1)));
        assert_eq!(moved([1, 1, 1, 0], 3), Some((1, 2)));
        assert_eq!(moved([1, 1, 0, 0], 2), None);
    }
}
