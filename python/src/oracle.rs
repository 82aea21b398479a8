//! Who answers, where a callable does.

use std::sync::{Arc, Mutex};

use mustlink::roles::{Answer, Outcome, Question, Reply, Respondent};
use mustlink::{Error, Result};
use pyo3::prelude::*;

/// An exception that a callable raised while methods ran.
#[derive(Clone, Default)]
pub(crate) struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    /// Keeps an exception for whoever asked for the work.
    pub fn put(&self, error: PyErr) {
        *self.0.lock().unwrap_or_else(|e| e.into_inner()) = Some(error);
    }

    /// The exception, if there was one.
    pub fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(|e| e.into_inner()).take()
    }
}

/// A callable that answers: +1 together, −1 apart, 0 unknown.
pub(crate) struct Callable {
    oracle: Py<PyAny>,
    raised: Raised,
}

impl Callable {
    /// What asks `oracle`.
    pub fn new(oracle: Py<PyAny>, raised: &Raised) -> Self {
        Callable { oracle, raised: raised.clone() }
    }
}

/// The answer that a number stands for.
pub(crate) fn answered(reply: i8) -> Outcome {
    let reply = match reply {
        1.. => Reply::MustLink,
        0 => Reply::DontKnow,
        _ => Reply::CannotLink,
    };
    Outcome::Answered(Answer::of(reply))
}

impl Respondent for Callable {
    fn ask(&mut self, question: &Question) -> Result<Outcome> {
        let objects = (question.subject, question.reference);
        let reply: PyResult<i8> = Python::attach(|py| self.oracle.call1(py, objects)?.extract(py));
        reply.map(answered).map_err(|e| {
            self.raised.put(e);
            Error::Oracle("the callable raised an exception".into())
        })
    }
}
