//! Oracles that are Python callables.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mustlink::roles::{Answer, Outcome, Question, Reply, Respondent};
use mustlink::{Error, Result};
use pyo3::prelude::*;

use crate::job::Asking;

/// Time between two checks for signals.
pub(crate) const LOOK: Duration = Duration::from_millis(50);

/// An exception that a callable raised while methods ran.
#[derive(Clone, Default)]
pub(crate) struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    /// Keeps an exception for the caller of the work.
    pub fn put(&self, error: PyErr) {
        *self.0.lock().unwrap_or_else(|e| e.into_inner()) = Some(error);
    }

    /// The exception, if there was one.
    pub fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(|e| e.into_inner()).take()
    }
}

/// Passes questions to the thread that requested the work, and waits for its answers.
struct Callable {
    questions: Sender<(u32, u32)>,
    answers: Receiver<i8>,
}

/// Place where the questions of some work arrive. The thread that requested the work answers them, so that a callable
/// runs in the thread of its caller. There it can be interrupted, and may use objects bound to that thread.
pub(crate) struct Desk {
    oracle: Py<PyAny>,
    questions: Mutex<Receiver<(u32, u32)>>,
    answers: Sender<i8>,
}

/// A respondent that asks `oracle`, a callable that returns +1 for together, −1 for apart, 0 for unknown; and its
/// desk.
pub(crate) fn asking(oracle: Py<PyAny>) -> (Asking, Desk) {
    let (asked, questions) = channel();
    let (answers, replies) = channel();
    let callable = Callable { questions: asked, answers: replies };
    (Box::new(callable), Desk { oracle, questions: Mutex::new(questions), answers })
}

impl Desk {
    /// Answers until the work ends. An exception ends it, and later questions are refused.
    pub fn answer(self, py: Python<'_>) -> PyResult<()> {
        let Desk { oracle, questions, answers } = self;
        loop {
            let next = py.detach(|| {
                let questions = questions.lock().unwrap_or_else(|e| e.into_inner());
                questions.recv_timeout(LOOK)
            });
            match next {
                Ok(objects) => {
                    let reply: i8 = oracle.call1(py, objects)?.extract(py)?;
                    // Work that has ended meanwhile asks no more.
                    let _ = answers.send(reply);
                }
                Err(RecvTimeoutError::Timeout) => py.check_signals()?,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    }
}

/// The reply of a number.
pub(crate) fn reply_of(number: i8) -> Reply {
    match number {
        1.. => Reply::MustLink,
        0 => Reply::DontKnow,
        _ => Reply::CannotLink,
    }
}

impl Respondent for Callable {
    fn ask(&mut self, question: &Question) -> Result<Outcome> {
        let asked = self.questions.send((question.subject, question.reference)).is_ok();
        match self.answers.recv() {
            Ok(reply) if asked => Ok(Outcome::Answered(Answer::of(reply_of(reply)))),
            // Whoever asked for the work has what was raised.
            _ => Err(Error::Oracle("the callable raised an exception".into())),
        }
    }
}
