//! The result of the method with the answers so far.
//!
//! The method runs next to the session whenever answers have changed, on a thread of its own, so the annotator
//! never waits. It shows its guess about the next pair and its clusters, and changes no result. It clusters as the
//! labels at the end are made, so what is shown for all answers is what a file of labels contains.

use mustlink_core::Result;
use mustlink_core::run::Transformed;
use mustlink_core::selection::Selection;
use mustlink_experiments::{Single, thread_pool};

use crate::found::Found;
use crate::state::{Shared, State};

/// Runs the method whenever answers have changed, until the session closes.
pub(crate) fn follow(shared: &Shared, single: &Single, seen: &Transformed) {
    // The next question comes first: one thread is enough for this.
    let alone = thread_pool(Some(1));
    loop {
        let mut state = shared.lock();
        // Only what answers say can change what is found.
        while !state.closed && (state.busy || is_read(&state)) {
            state = shared.changed.wait(state).unwrap_or_else(|e| e.into_inner());
        }
        if state.closed {
            return;
        }
        let answers = state.view.said();
        let selection = state.selection.take();
        drop(state);
        // A method that cannot say anything yet may with the next answer.
        let made = match &alone {
            Ok(pool) => pool.install(|| found(single, seen, answers.len(), selection)),
            Err(_) => found(single, seen, answers.len(), selection),
        };
        shared.found(answers, made.ok().flatten());
    }
}

/// True if the method has read the answers.
fn is_read(state: &State) -> bool {
    state.read.as_ref().is_some_and(|(read, _)| *read == state.view.said())
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

#[cfg(test)]
mod tests {
    use mustlink_core::Data;
    use mustlink_core::roles::{Answer, Reply};
    use mustlink_core::selection::Recorded;

    use super::*;
    use crate::view::Freshness::{self, Computing, Current, Missing};

    /// Otherwise the last page would show clusters of earlier answers as the result.
    #[test]
    fn clusters_are_current_if_the_method_has_read_all_answers() {
        let shared = Shared::default();
        shared.lock().n = 4;
        let data = Data::dense(mustlink::ndarray::Array2::zeros((4, 1))).unwrap();
        let answer = |id: u64, subject| Recorded {
            id,
            subject,
            reference: 3,
            answer: Answer::of(Reply::CannotLink),
            retracted: false,
            with: None,
            line: id as usize,
        };
        let answers = [answer(0, 1), answer(1, 2)];
        let freshness = |shared: &Shared| -> Freshness { shared.lock().view.freshness };
        let found = |is_found: bool| {
            let said = shared.lock().view.said();
            let found = Found::new(&data, vec![0, 0, 1, 1], said.len());
            shared.found(said, is_found.then_some(found));
            freshness(&shared)
        };
        shared.answers(&answers[..1]);
        assert_eq!((freshness(&shared), found(true)), (Computing, Current));
        let first = shared.lock().view.said();
        shared.answers(&answers);
        assert_eq!(freshness(&shared), Computing);
        // A run that began before the last answer.
        shared.found(first, Some(Found::new(&data, vec![0, 0, 1, 1], 1)));
        assert_eq!(freshness(&shared), Computing);
        assert_eq!((found(false), found(true)), (Missing, Current));
        shared.answers(&answers[..1]);
        shared.close();
        assert_eq!(freshness(&shared), Missing);
    }
}
