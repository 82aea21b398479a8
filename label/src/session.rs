//! A labelling session: one selector, one ledger, one person.

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mustlink_core::constraints::{Constraints, Kind};
use mustlink_core::knowledge::Knowledge;
use mustlink_core::roles::{Answer, Oracle, QueryId, Reply};
use mustlink_core::selection::{Record, Recorded, Selection};
use mustlink_core::{Context, Problem, Result};
use mustlink_experiments::Single;
use mustlink_ledger::{Durability, Ledger};

use crate::chain::{Link, Statements};
use crate::desk::{Command, Desk, next};
use crate::state::{ENTAILED, Shared, State, is_own, kind};
use crate::view::View;

/// What a person does.
#[derive(Debug, Clone, PartialEq)]
pub enum Act {
    /// Answers the open question.
    Reply {
        /// What is said.
        reply: Reply,
        /// What is remarked.
        note: Option<String>,
    },
    /// Takes the last answer back.
    Undo,
    /// Gives another answer in the place of an earlier one.
    Change {
        /// Number of the query.
        id: QueryId,
        /// What is said now.
        reply: Reply,
    },
    /// Saves and ends.
    Quit,
}

/// Why an act is not taken.
#[derive(Debug, Clone, PartialEq)]
pub enum Trouble {
    /// It was meant for another state of the session, or comes a second time.
    Stale,
    /// There is nothing to do it to.
    Nothing,
    /// It contradicts earlier answers: the shortest chain of them.
    Conflict(Vec<Link>),
}

/// A session under way: cheap to share between threads.
pub struct Session {
    shared: Arc<Shared>,
    commands: Mutex<Sender<Command>>,
}

/// The other end of a session: what runs the selector.
pub struct Work {
    shared: Arc<Shared>,
    commands: Receiver<Command>,
    budget: Option<usize>,
}

impl Session {
    /// A session of at most `budget` answers about `seen`, and what does its work.
    pub fn new(seen: &Problem, budget: Option<usize>) -> (Session, Work) {
        let shared: Arc<Shared> = Arc::default();
        {
            let mut state = shared.lock();
            (state.n, state.budget) = (seen.n(), budget);
            state.given = (*seen.constraints).clone();
        }
        let (send, commands) = channel();
        let session = Session { shared: shared.clone(), commands: Mutex::new(send) };
        (session, Work { shared, commands, budget })
    }

    /// The session as it stands; waits up to `patience` for a turn other than `since`.
    pub fn view(&self, since: Option<u64>, patience: Duration) -> View {
        let state = self.shared.lock();
        let still = |state: &mut State| since == Some(state.view.turn);
        let waited = self.shared.changed.wait_timeout_while(state, patience, still);
        waited.unwrap_or_else(|e| e.into_inner()).0.view.clone()
    }

    /// Why the relation of two objects is known, if it is.
    pub fn why(&self, i: u32, j: u32) -> Option<(Kind, Vec<Link>)> {
        self.shared.lock().statements(None).why(i, j)
    }

    /// Does something, given under `turn`.
    ///
    /// # Errors
    /// See [`Trouble`]; nothing is changed then.
    pub fn act(&self, turn: u64, act: Act) -> std::result::Result<(), Trouble> {
        let mut state = self.shared.lock();
        if state.busy || state.view.turn != turn {
            return Err(Trouble::Stale);
        }
        let command = match act {
            Act::Quit => Command::Quit,
            Act::Reply { reply, note } => {
                state.view.open.as_ref().ok_or(Trouble::Nothing)?;
                Command::Reply { reply, note }
            }
            Act::Undo => {
                let last = state.view.entries.iter().map(|e| e.id).max().ok_or(Trouble::Nothing)?;
                Command::TakeBack { id: last, instead: None }
            }
            Act::Change { id, reply } => {
                let old = state.view.entries.iter().find(|e| e.id == id);
                let old = old.ok_or(Trouble::Nothing)?.clone();
                let wanted = kind(reply);
                let known = state.statements(Some(id)).why(old.subject, old.reference);
                if let (Some(wanted), Some((kind, chain))) = (wanted, known)
                    && kind != wanted
                {
                    return Err(Trouble::Conflict(chain));
                }
                // The query of before stays counted; the change costs nothing more.
                let answer = Answer { cost: 0.0, note: old.note, ..Answer::of(reply) };
                Command::TakeBack { id, instead: Some(answer) }
            }
        };
        state.busy = true;
        let sent = self.commands.lock().unwrap_or_else(|e| e.into_inner()).send(command);
        sent.map_err(|_| Trouble::Stale)
    }
}

impl Work {
    /// Runs the selector of `single` until the person quits, and gives what was selected. Every answer is on
    /// disk before the next question.
    ///
    /// # Errors
    /// Those of the selector and of the ledger; one that another process holds names it.
    pub fn run(mut self, single: &Single, seen: &Problem, path: &Path) -> Result<Selection> {
        let done = self.carry_out(single, seen, path);
        if let Err(e) = &done {
            self.shared.ended(e.render(&|i| single.set.id(i)));
        }
        done
    }

    fn carry_out(&mut self, single: &Single, seen: &Problem, path: &Path) -> Result<Selection> {
        let mut scene = single.set.scene(single.context().child("oracle"));
        scene.data = Some(seen.data.clone());
        let nobody: Box<dyn Oracle> = mustlink_core::registry::build_default("none")?;
        let mut ledger = single.keep(&scene, &*nobody, path, Durability::Every)?;
        let mut ready = Vec::new();
        loop {
            let answers = ledger.answers();
            self.shared.begin(&answers);
            let ctx = single.context();
            let mut desk = self.desk(seen, &answers, std::mem::take(&mut ready), ctx);
            let selection = single.ask(seen, &mut desk, None, Some(&mut ledger))?;
            let selection = selection.unwrap_or_default();
            // Those for pairs that this course did not come to.
            ready = std::mem::take(&mut desk.ready);
            let then = match desk.then.take() {
                Some(command) => command,
                None => {
                    self.shared.ended(ending(selection.closed).into());
                    next(&self.commands, ctx)
                }
            };
            match then {
                Command::Quit => {
                    for ((i, j), _) in &ready {
                        let (i, j) = (single.id(*i as usize), single.id(*j as usize));
                        ctx.warn(format!(
                            "the changed answer about {i} and {j} is not kept: nothing asks about them now"
                        ));
                    }
                    self.shared.ended("saved".into());
                    return Ok(selection);
                }
                Command::TakeBack { id, instead } => {
                    ready.extend(take_back(&mut ledger, &seen.constraints, id, instead)?);
                }
                // Nothing is open any more: it was for a question before the end.
                Command::Reply { .. } => {}
            }
        }
    }

    fn desk<'a>(
        &'a mut self,
        seen: &Problem,
        answers: &[Recorded],
        ready: Vec<((u32, u32), Answer)>,
        ctx: &'a Context,
    ) -> Desk<'a> {
        let mut statements = Statements::new(&seen.constraints);
        for r in answers.iter().filter(|r| !r.retracted && is_own(&r.answer)) {
            if let Some(kind) = kind(r.answer.reply) {
                statements.add(r.subject, r.reference, kind, Some(r.id));
            }
        }
        Desk {
            shared: self.shared.clone(),
            commands: &mut self.commands,
            ctx,
            statements,
            ready,
            paid: answers.iter().filter(|r| r.answer.cost > 0.0).count(),
            budget: self.budget,
            then: None,
        }
    }
}

fn ending(closed: Option<&str>) -> &'static str {
    match closed {
        None => "nothing is left to ask",
        Some("budget") => "the budget is spent",
        Some(_) => "there are no more questions",
    }
}

/// Takes an answer back, and before it every reply that followed from it and follows no more. Gives the
/// answer that stands ready in its place.
fn take_back(
    ledger: &mut Ledger,
    given: &Constraints,
    id: QueryId,
    instead: Option<Answer>,
) -> Result<Option<((u32, u32), Answer)>> {
    let answers = ledger.answers();
    let standing = |r: &&Recorded| !r.retracted && r.id != id;
    let mut left = Knowledge::new(ledger.header().n, given);
    for r in answers.iter().filter(standing).filter(|r| is_own(&r.answer)) {
        left.tell(r.subject, r.reference, r.answer.reply);
    }
    for r in answers.iter().filter(standing).filter(|r| !is_own(&r.answer)) {
        if left.relation(r.subject, r.reference) != kind(r.answer.reply) {
            ledger.retract(r.id, Some(ENTAILED))?;
        }
    }
    let old = answers.iter().find(|r| r.id == id).map(Recorded::question);
    ledger.retract(id, None)?;
    Ok(old.zip(instead).map(|(q, answer)| ((q.i, q.j), answer)))
}
