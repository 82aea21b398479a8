//! Questions and answers: a callable that is asked, or a session that whoever likes may answer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use mustlink::constraints::Constraints;
use mustlink::roles::{Outcome, Question, Refusal, Respondent};
use mustlink::selection::Counts;
use mustlink::{Error, Result};
use mustlink_experiments::thread_pool;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use crate::cluster::{Ended, Found, carry_out, known, request};
use crate::data::{Matrix, Pairs, kind, table};
use crate::errors::{raised, with_text};
use crate::interrupt::{answering, detached};
use crate::job::{Asking, Job, Request};
use crate::oracle::{LOOK, answered, asking};

/// Hands questions over and waits for the answers.
struct Waiting {
    questions: Sender<Question>,
    answers: Receiver<i8>,
}

impl Respondent for Waiting {
    fn ask(&mut self, question: &Question) -> Result<Outcome> {
        // A session that is over has nobody at the other end.
        let asked = self.questions.send(question.clone()).is_ok();
        Ok(match self.answers.recv() {
            Ok(reply) if asked => answered(reply),
            _ => Outcome::Refused(Refusal::Closed),
        })
    }
}

/// What was asked and answered.
#[pyclass(frozen, module = "mustlink._mustlink")]
pub(crate) struct Selected {
    constraints: Constraints,
    counts: Counts,
    closed: Option<&'static str>,
    warnings: Vec<String>,
}

#[pymethods]
impl Selected {
    /// The constraints that were selected.
    #[getter]
    fn constraints<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        table(py, &self.constraints)
    }

    /// Questions asked, answered by must-links, by cannot-links, not answered, contradicting.
    #[getter]
    fn counts(&self) -> (usize, usize, usize, usize, usize) {
        let c = &self.counts;
        (c.queries, c.must, c.cannot, c.dont_know, c.conflicts)
    }

    /// Why it ended before the selector was done: "budget", "closed" …
    #[getter]
    fn closed(&self) -> Option<&'static str> {
        self.closed
    }

    /// What is worth knowing.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }
}

/// Selects without clustering.
fn selected(job: &Job, asked: Option<Asking>) -> Result<Selected> {
    let seen = job.seen()?;
    let selection = job
        .select(&seen.problem, asked)
        .map_err(|e| job.about_features(&seen, e))?
        .unwrap_or_default();
    let method = &job.method;
    let all = selection.constraints(
        selection.asked(),
        method.view,
        method.on_conflict,
        &seen.problem.constraints,
    )?;
    Ok(Selected {
        constraints: job.of_rows(&all)?,
        counts: selection.counts(selection.asked()),
        closed: selection.closed,
        warnings: job.warnings(),
    })
}

/// Selects constraints by asking: `oracle`, the method's oracle, or the classes `y_true`.
#[pyfunction]
#[pyo3(signature = (text, x, pairs=None, y_true=None, oracle=None))]
pub(crate) fn select<'py>(
    py: Python<'py>,
    text: &str,
    x: Matrix<'py>,
    pairs: Option<Pairs<'py>>,
    y_true: Option<PyReadonlyArray1<'py, i64>>,
    oracle: Option<Py<PyAny>>,
) -> PyResult<Selected> {
    let request = Request { selection_only: true, ..request(py, text)? };
    let of = |e: Error| raised(py, &e);
    let data = kind(request.kind.as_deref()).and_then(|kind| x.data(py, kind)).map_err(of)?;
    drop(x);
    let known = known(data.n(), pairs.as_ref(), None, y_true.as_ref()).map_err(of)?;
    let flag: Arc<AtomicBool> = Arc::default();
    let (asked, desk) = oracle.map(asking).unzip();
    let done = answering(py, request.threads, &flag, desk, || {
        selected(&Job::new(&request, data, known, &flag)?, asked)
    })?;
    done.map_err(of)
}

/// What a session comes to.
enum Outgoing {
    Selected(Selected),
    Clustered(Box<Ended>),
}

type Ending = std::result::Result<Outgoing, (Error, String)>;

/// A selection that waits for its answers.
#[pyclass(module = "mustlink._mustlink")]
pub(crate) struct Session {
    questions: Mutex<Receiver<Question>>,
    answers: Option<Sender<i8>>,
    open: Option<Question>,
    flag: Arc<AtomicBool>,
    thread: Option<JoinHandle<Ending>>,
}

#[pymethods]
impl Session {
    /// A session on the rows of `x`, as `text` says; with `clustering` it ends with a clustering.
    #[new]
    #[pyo3(signature = (text, x, pairs=None, clustering=true))]
    fn new<'py>(
        py: Python<'py>,
        text: &str,
        x: Matrix<'py>,
        pairs: Option<Pairs<'py>>,
        clustering: bool,
    ) -> PyResult<Self> {
        let request = Request { selection_only: !clustering, ..request(py, text)? };
        let of = |e: Error| raised(py, &e);
        let data = kind(request.kind.as_deref()).and_then(|kind| x.data(py, kind)).map_err(of)?;
        let known = known(data.n(), pairs.as_ref(), None, None).map_err(of)?;
        let flag: Arc<AtomicBool> = Arc::default();
        let job = detached(py, || Job::new(&request, data, known, &flag)).map_err(of)?;
        let (questions, asked) = channel();
        let (answers, replies) = channel();
        // Its threads wait for answers: nothing else may wait for them.
        let pool = thread_pool(request.threads).map_err(of)?;
        let work = move || {
            let waiting: Asking = Box::new(Waiting { questions, answers: replies });
            let made = if clustering {
                carry_out(&job, Some(waiting)).map(|e| Outgoing::Clustered(Box::new(e)))
            } else {
                selected(&job, Some(waiting)).map(Outgoing::Selected)
            };
            made.map_err(|e| {
                let text = e.render(&|i| job.id(i));
                (e, text)
            })
        };
        Ok(Session {
            questions: Mutex::new(asked),
            answers: Some(answers),
            open: None,
            flag,
            thread: Some(std::thread::spawn(move || pool.install(work))),
        })
    }

    /// The open question: its number, the object it is about, the object that is compared with, and
    /// what it serves; none when there are no more.
    fn question(&mut self, py: Python<'_>) -> PyResult<Option<(u64, u32, u32, &'static str)>> {
        while self.open.is_none() && self.answers.is_some() {
            let questions = &self.questions;
            let next = || {
                let questions = questions.lock().unwrap_or_else(|e| e.into_inner());
                questions.recv_timeout(LOOK)
            };
            match py.detach(next) {
                Ok(question) => self.open = Some(question),
                Err(RecvTimeoutError::Timeout) => py.check_signals()?,
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        Ok(self.open.as_ref().map(|q| (q.id, q.subject, q.reference, q.purpose)))
    }

    /// The answer to the open question: +1 together, −1 apart, 0 unknown.
    fn tell(&mut self, py: Python<'_>, reply: i8) -> PyResult<()> {
        let (Some(_), Some(answers)) = (self.open.take(), &self.answers) else {
            return Err(raised(py, &Error::Oracle("no question is open".into())));
        };
        // One that has ended meanwhile says so when it is asked for its result.
        let _ = answers.send(reply);
        Ok(())
    }

    /// Ends the questions and gives what they came to.
    fn finish(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let Some(thread) = self.thread.take() else {
            return Err(raised(py, &Error::Oracle("the session is over".into())));
        };
        self.answers = None;
        self.open = None;
        let mut interrupted = None;
        while !thread.is_finished() {
            py.detach(|| std::thread::sleep(Duration::from_millis(1)));
            if let (None, Err(raised)) = (&interrupted, py.check_signals()) {
                self.flag.store(true, Ordering::Relaxed);
                interrupted = Some(raised);
            }
        }
        let ended = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        if let Some(raised) = interrupted {
            return Err(raised);
        }
        match ended {
            Ok(Outgoing::Selected(selected)) => Ok(Py::new(py, selected)?.into_any()),
            Ok(Outgoing::Clustered(ended)) => Ok(Py::new(py, Found::new(py, *ended)?)?.into_any()),
            Err((e, text)) => Err(with_text(py, &e, text)),
        }
    }

    /// Ends it without a result. It may be in a function of Python, which has to come back while there is an
    /// interpreter.
    fn leave(&mut self, py: Python<'_>) -> PyResult<()> {
        self.flag.store(true, Ordering::Relaxed);
        self.answers = None;
        self.open = None;
        let Some(thread) = self.thread.take() else { return Ok(()) };
        while !thread.is_finished() {
            py.detach(|| std::thread::sleep(Duration::from_millis(1)));
            py.check_signals()?;
        }
        Ok(())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.flag.store(true, Ordering::Relaxed);
    }
}
