//! The result of the method with the answers so far.
//!
//! The method runs next to the session whenever answers have changed, on a thread of its own, so the annotator
//! never waits. It shows its guess about the next pair and its clusters, and changes no result. It clusters as the
//! labels at the end are made, so what is shown for all answers is what a file of labels contains.

use mustlink_core::Result;
use mustlink_core::roles::Reply;
use mustlink_core::run::Transformed;
use mustlink_core::selection::Selection;
use mustlink_experiments::{Single, thread_pool};

use crate::found::Found;
use crate::sorting;
use crate::state::{Shared, State};

/// Runs the method whenever answers have changed, until the session closes.
pub(crate) fn follow(shared: &Shared, single: &Single, seen: &Transformed) {
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
        let selection = state.selection.take();
        drop(state);
        // A method that cannot say anything yet may with the next answer.
        let made = match &alone {
            Ok(pool) => pool.install(|| found(single, seen, answers.len(), selection)),
            Err(_) => found(single, seen, answers.len(), selection),
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

/// The result of the method for `selection`, which rests on this number of answers.
fn found(
    single: &Single,
    seen: &Transformed,
    answers: usize,
    selection: Option<Selection>,
) -> Result<Option<Found>> {
    let Some(selection) = selection else { return Ok(None) };
    let clustered = single.cluster(seen, Some(&selection))?;
    Ok(Some(Found::new(&seen.problem.data, clustered.run.clustering.labels, answers)))
}
