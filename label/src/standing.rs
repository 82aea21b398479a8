//! The result of the method with the answers so far.
//!
//! It is run beside the session whenever answers have changed, on a thread of its own; a person waits for
//! nothing. It shows what it would say of the next pair and what its clusters are, and changes no result.

use mustlink_core::knowledge::Knowledge;
use mustlink_core::roles::{Answer, Outcome, Question, Reply, Respondent};
use mustlink_core::{Constraint, Constraints, Problem, Result};
use mustlink_experiments::{Single, thread_pool};

use crate::found::Found;
use crate::sorting;
use crate::state::{Shared, State};

/// Runs the method whenever answers have changed, until the session closes.
pub(crate) fn follow(shared: &Shared, single: &Single, seen: &Problem) {
    let mut told = None;
    // The next question comes first: one thread is enough for this.
    let alone = thread_pool(Some(1));
    loop {
        let mut state = shared.lock();
        // Only what answers say can change what is found.
        while !state.closed && (state.busy || told.as_ref() == Some(&said(&state))) {
            state = shared.changed.wait(state).unwrap_or_else(|e| e.into_inner());
        }
        if state.closed {
            return;
        }
        let answers = said(&state);
        drop(state);
        // A method that cannot say anything yet may with the next answer.
        let made = match &alone {
            Ok(pool) => pool.install(|| found(single, seen, &answers)),
            Err(_) => found(single, seen, &answers),
        };
        if let Ok(Some(found)) = made {
            shared.found(found);
        }
        told = Some(answers);
    }
}

/// One answer: its pair, the smaller object first, and the reply.
type Said = ((u32, u32), Reply);

fn said(state: &State) -> Vec<Said> {
    let entries = state.view.entries.iter();
    entries.map(|e| (sorting::pair(e.subject, e.reference), e.reply)).collect()
}

fn found(single: &Single, seen: &Problem, answers: &[Said]) -> Result<Option<Found>> {
    let clustering = if single.method.clusterer.is_some() {
        let pair = |&((i, j), reply): &Said| {
            reply.kind().map(|kind| Constraint::new(i as usize, j as usize, kind))
        };
        let so_far = Constraints::new(seen.n(), answers.iter().filter_map(pair))?;
        single.method.between_questions(seen, &so_far, single.steps, single.context())?
    } else {
        let mut knowledge = Knowledge::new(seen.n(), &seen.constraints);
        answers.iter().for_each(|&((i, j), reply)| {
            knowledge.tell(i, j, reply);
        });
        let selection = single.ask(seen, &mut Known { knowledge }, None, None)?;
        let Some((_, clustering)) = selection.and_then(|mut s| s.snapshots.pop()) else {
            return Ok(None);
        };
        clustering
    };
    Ok(Some(Found::new(&seen.data, clustering.shown().labels, answers.len())))
}

/// Answers what is known.
struct Known {
    knowledge: Knowledge,
}

impl Respondent for Known {
    fn ask(&mut self, question: &Question) -> Result<Outcome> {
        let (i, j) = (question.i, question.j);
        let reply = match self.knowledge.relation(i, j) {
            Some(kind) => kind.into(),
            None if self.knowledge.was_asked(i, j) => Reply::DontKnow,
            None => return Ok(Outcome::Pending),
        };
        Ok(Outcome::Answered(Answer::of(reply)))
    }
}
