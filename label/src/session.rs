//! A labelling session: one selector, one ledger, one person.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mustlink_core::Problem;
use mustlink_core::constraints::Kind;
use mustlink_core::data::Data;
use mustlink_core::nearest::{around, nearest};
use mustlink_core::roles::{QueryId, Reply};

use crate::chain::{Link, Statements};
use crate::found::{Cluster, Found};
use crate::sorting::{self, Statement};
use crate::state::{Change, Command, Judgement, Shared, State};
use crate::view::{Clusters, Open, View, Written};
use crate::work::Work;

/// An action of a person.
#[derive(Debug, Clone, PartialEq)]
pub enum Act {
    /// Answers the open question.
    Reply {
        /// The answer.
        reply: Reply,
        /// A remark.
        note: Option<String>,
    },
    /// Sets the open question aside; at the end, asks the first of those set aside once more.
    Later,
    /// Takes the last answer back, or all that were given with it.
    Undo,
    /// Gives another answer in the place of an earlier one.
    Change {
        /// Number of the query.
        id: QueryId,
        /// The new answer.
        reply: Reply,
    },
    /// Sorts objects into groups.
    Sort {
        /// Objects that belong together, and apart from those of every other group.
        groups: Vec<Vec<u32>>,
    },
    /// Makes statements about pairs without a question.
    State {
        /// The purpose of the question.
        purpose: &'static str,
        /// The statements.
        said: Vec<Statement>,
    },
    /// Saves and ends.
    Quit,
}

/// Why an act is not taken.
#[derive(Debug, Clone, PartialEq)]
pub enum Trouble {
    /// It was meant for another state of the session, comes a second time, or before the next question.
    Stale,
    /// There is nothing to do it to.
    Nothing,
    /// An object that does not exist, or one twice.
    Objects,
    /// More answers than are left of the budget.
    Budget,
    /// It contradicts earlier answers: the shortest chain of them.
    Conflict(Vec<Link>),
}

impl Trouble {
    /// The message for a person.
    pub fn says(&self) -> &'static str {
        match self {
            Trouble::Stale => "Not accepted: the question has changed, or is still being computed.",
            Trouble::Nothing => "There is nothing to change.",
            Trouble::Objects => "Not accepted: each object must exist, and may occur only once.",
            Trouble::Budget => "Not accepted: this needs more answers than are left of the budget.",
            Trouble::Conflict(_) => {
                "Not accepted: this contradicts the answers below. Change one of them first."
            }
        }
    }
}

/// A session under way: cheap to share between threads.
pub struct Session {
    shared: Arc<Shared>,
    data: Data,
}

impl Drop for Session {
    fn drop(&mut self) {
        self.shared.leave();
    }
}

impl Session {
    /// A session of at most `budget` answers about `seen`, and what does its work.
    pub fn new(seen: &Problem, budget: Option<usize>) -> (Session, Work) {
        let shared: Arc<Shared> = Arc::default();
        {
            let mut state = shared.lock();
            // Until the first question is there nothing is taken.
            (state.n, state.budget, state.busy) = (seen.n(), budget, true);
            state.given = seen.constraints.clone();
            state.known = Statements::new(seen.n(), &seen.constraints);
        }
        let session = Session { shared: shared.clone(), data: seen.data.clone() };
        (session, Work { shared })
    }

    /// The session as it stands; waits up to `patience` for a turn other than `since`.
    pub fn view(&self, since: Option<u64>, patience: Duration) -> View {
        self.wait(patience, |view| since == Some(view.turn))
    }

    /// The session as it stands; waits up to `patience` for news after `beat`.
    pub fn news(&self, beat: Option<u64>, patience: Duration) -> View {
        self.wait(patience, |view| beat == Some(view.beat))
    }

    fn wait(&self, patience: Duration, still: impl Fn(&View) -> bool) -> View {
        let mut state = self.shared.lock();
        state.begun.get_or_insert_with(Instant::now);
        let still = |state: &mut State| still(&state.view);
        let waited = self.shared.changed.wait_timeout_while(state, patience, still);
        let state = waited.unwrap_or_else(|e| e.into_inner()).0;
        let seconds = state.begun.map_or(0, |begun| begun.elapsed().as_secs());
        View { seconds, ..state.view.clone() }
    }

    /// Why the relation of two objects is known, if it is.
    pub fn why(&self, i: u32, j: u32) -> Option<(Kind, Vec<Link>)> {
        self.shared.lock().known.why(i, j)
    }

    /// The clusters as they stand, once the method was run. They show the guess about the open question and about every
    /// two of the objects that they name, so that these answers do not count as agreement.
    pub fn clusters(&self) -> Option<Clusters> {
        let mut state = self.shared.lock();
        state.guess_is_seen = true;
        let found = state.found.as_ref()?;
        let (clusters, noise) = (found.clusters.clone(), found.noise());
        // The medoid is the first of the typical ones.
        let shown = clusters.iter().flat_map(|c| c.typical.iter().chain(&c.border));
        state.shown.extend(shown);
        Some(Clusters { clusters, noise })
    }

    /// Shows the guess of the method before each answer, or hides it. Agreement is counted only if it is hidden.
    pub fn show_guess(&self, shows_guess: bool) {
        self.shared.lock().shows_guess = shows_guess;
    }

    /// Shows the clusters of the final labels.
    pub fn labelled(&self, labels: Vec<u32>) {
        let answers = self.shared.lock().view.said();
        let found = Found::new(&self.data, labels, answers.len());
        self.shared.found(answers, Some(found));
    }

    /// Shows which files were written.
    pub fn written(&self, written: Written) {
        self.shared.written(written);
    }

    /// True if nothing runs the session any more.
    pub fn is_over(&self) -> bool {
        self.shared.lock().closed
    }

    /// Number of objects.
    pub fn n(&self) -> u32 {
        self.data.n() as u32
    }

    /// That all objects of the cluster of this medoid, as it stands, belong together.
    pub fn pure(&self, medoid: u32) -> Act {
        let found = self.clusters().unwrap_or_default();
        let own = found.clusters.into_iter().find(|c| c.medoid == medoid);
        own.map_or(Act::State { purpose: "pure", said: Vec::new() }, |own| Session::whole(&own))
    }

    /// That all objects of a cluster belong together.
    pub fn whole(cluster: &Cluster) -> Act {
        let others = cluster.members.iter().copied().filter(|&o| o != cluster.medoid);
        let all: Vec<u32> = std::iter::once(cluster.medoid).chain(others).collect();
        Act::State { purpose: "pure", said: sorting::statements(&[all]) }
    }

    /// The `count` objects nearest to one, as the selector sees them.
    pub fn neighbours(&self, object: u32, count: usize) -> Vec<u32> {
        nearest(&self.data, object, count, |_| true)
    }

    /// Up to `most` objects around the open question that are worth sorting, its own two first; none where
    /// nothing is open.
    pub fn around(&self, most: usize) -> Vec<u32> {
        let state = self.shared.lock();
        let Some(open) = &state.view.open else { return Vec::new() };
        let pair = (open.subject, open.reference);
        let mut known = state.known.clone();
        drop(state);
        let together = |a, b| known.relation(a, b) == Some(Kind::MustLink);
        around(&self.data, pair, most.min(sorting::MOST), together)
    }

    /// Does something, given under `turn`.
    ///
    /// # Errors
    /// See [`Trouble`]; nothing is changed then.
    pub fn act(&self, turn: u64, act: Act) -> Result<(), Trouble> {
        let mut state = self.shared.lock();
        if state.busy || state.closed || state.view.turn != turn {
            return Err(Trouble::Stale);
        }
        state.command = Some(command(&state, act)?);
        state.busy = true;
        self.shared.changed.notify_all();
        Ok(())
    }
}

/// The command of an act.
fn command(state: &State, act: Act) -> Result<Command, Trouble> {
    let open = state.view.open.as_ref();
    let back = |ids: Vec<QueryId>| {
        let change = Change { back: ids, ..Change::default() };
        Command::Rewrite { reply: None, change }
    };
    match act {
        Act::Quit => Ok(Command::Quit),
        Act::Reply { reply, note } => {
            open.ok_or(Trouble::Nothing)?;
            Ok(Command::Reply(Judgement { reply, note, later: false }))
        }
        Act::Later if open.is_some() => {
            Ok(Command::Reply(Judgement { reply: Reply::DontKnow, note: None, later: true }))
        }
        Act::Later => {
            let aside = state.view.entries.iter().filter(|e| e.later).map(|e| e.id).min();
            Ok(back(vec![aside.ok_or(Trouble::Nothing)?]))
        }
        Act::Undo => match state.last() {
            last if last.is_empty() => Err(Trouble::Nothing),
            last => Ok(back(last)),
        },
        Act::Change { id, reply } => {
            let old = state.view.entries.iter().find(|e| e.id == id).ok_or(Trouble::Nothing)?;
            let new = Statement { i: old.subject, j: old.reference, reply };
            let known = &mut state.without(id);
            sorting::fresh(known, &[new]).map_err(|(_, chain)| Trouble::Conflict(chain))?;
            let (new, note) = (vec![new], old.note.clone());
            let change = Change { purpose: "change", new, note, ..Change::default() };
            Ok(Command::Rewrite { reply: None, change })
        }
        Act::Sort { groups } => {
            let mut all: Vec<u32> = groups.iter().flatten().copied().collect();
            all.sort_unstable();
            if all.len() > sorting::MOST || all.windows(2).any(|w| w[0] == w[1]) {
                return Err(Trouble::Objects);
            }
            stated(state, "sort", sorting::statements(&groups))
        }
        Act::State { purpose, said } => stated(state, purpose, said),
    }
}

/// Statements without a question. One about the pair of the open question is its answer.
fn stated(state: &State, purpose: &'static str, said: Vec<Statement>) -> Result<Command, Trouble> {
    if said.iter().any(|s| s.i == s.j || s.i.max(s.j) as usize >= state.n) {
        return Err(Trouble::Objects);
    }
    let known = &mut state.known.clone();
    let mut new = sorting::fresh(known, &said).map_err(|(_, chain)| Trouble::Conflict(chain))?;
    if new.is_empty() {
        return Err(Trouble::Nothing);
    }
    if state.view.counts.left.is_some_and(|left| left < new.len()) {
        return Err(Trouble::Budget);
    }
    let of = |s: &Statement, q: &Open| {
        (s.i, s.j) == (q.subject, q.reference) || (s.j, s.i) == (q.subject, q.reference)
    };
    let open = state.view.open.as_ref();
    let at = open.and_then(|q| new.iter().position(|s| of(s, q)));
    let reply = at.map(|at| Judgement { reply: new.remove(at).reply, note: None, later: false });
    let change = Change { purpose, new, ..Change::default() };
    Ok(Command::Rewrite { reply, change })
}
