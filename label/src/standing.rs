//! The result of the method with the answers so far.
//!
//! The method runs next to the session whenever answers have changed, on a thread of its own, so the annotator
//! never waits. It shows its guess about the next pair and its clusters, and changes no result.

use mustlink_core::roles::Reply;
use mustlink_core::{Clustering, Constraint, Constraints, Problem, Result};
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
        let own = state.clustering.take();
        drop(state);
        // A method that cannot say anything yet may with the next answer.
        let made = match &alone {
            Ok(pool) => pool.install(|| found(single, seen, &answers, own)),
            Err(_) => found(single, seen, &answers, own),
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

/// The result of the clusterer, otherwise the selector's `own` clustering.
fn found(
    single: &Single,
    seen: &Problem,
    answers: &[Said],
    own: Option<Clustering>,
) -> Result<Option<Found>> {
    let clustering = if single.method.clusterer.is_some() {
        let pair = |&((i, j), reply): &Said| {
            reply.kind().map(|kind| Constraint::new(i as usize, j as usize, kind))
        };
        let so_far = Constraints::new(seen.n(), answers.iter().filter_map(pair))?;
        single.method.between_questions(seen, &so_far, single.steps, single.context())?
    } else {
        let Some(own) = own else { return Ok(None) };
        own
    };
    Ok(Some(Found::new(&seen.data, clustering.shown().labels, answers.len())))
}
