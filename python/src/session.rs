//! Questions and answers: a callable that is asked, or a session that whoever likes may answer.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use mustlink::constraints::Constraints;
use mustlink::roles::{Outcome, Question, Refusal, Reply, Respondent};
use mustlink::selection::Counts;
use mustlink::{Data, Error, Result};
use mustlink_experiments::thread_pool;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use crate::cluster::{Ended, Found, carry_out, known, request};
use crate::data::{Matrix, Pairs, constraints, kind, table};
use crate::errors::{raised, with_text};
use crate::interrupt::{answering, detached, interruptible};
use crate::job::{Asking, Job, Known, Request};
use crate::oracle::{LOOK, answered, asking};

/// An answer about two rows: +1 together, −1 apart, 0 unknown.
type Told = (u32, u32, i8);

/// Answers recorded questions and passes the others on.
struct Serving {
    known: HashMap<(u32, u32), i8>,
    /// Channel for further questions and their answers; absent without an annotator.
    others: Option<(Sender<Question>, Receiver<i8>)>,
}

impl Serving {
    fn asking(told: &[Told], others: Option<(Sender<Question>, Receiver<i8>)>) -> Asking {
        let known = told.iter().map(|&(i, j, said)| ((i.min(j), i.max(j)), said)).collect();
        Box::new(Serving { known, others })
    }
}

impl Respondent for Serving {
    fn ask(&mut self, question: &Question) -> Result<Outcome> {
        if let Some(&said) =
            self.known.get(&(question.i.min(question.j), question.i.max(question.j)))
        {
            return Ok(answered(said));
        }
        // A session that is over has nobody at the other end.
        let asked = |(to, from): &(Sender<Question>, Receiver<i8>)| {
            to.send(question.clone()).ok().and_then(|()| from.recv().ok())
        };
        let reply = self.others.as_ref().and_then(asked);
        Ok(reply.map_or(Outcome::Refused(Refusal::Closed), answered))
    }
}

/// Questions and answers of a selection.
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

    /// Number of questions, of must-links, of cannot-links, of questions without an answer, of contradictions.
    #[getter]
    fn counts(&self) -> (usize, usize, usize, usize, usize) {
        let c = &self.counts;
        (c.queries, c.must, c.cannot, c.dont_know, c.conflicts)
    }

    /// Reason why it ended before the selector was done: "budget", "closed" …
    #[getter]
    fn closed(&self) -> Option<&'static str> {
        self.closed
    }

    /// Warnings of the selection.
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
    let all = job.method.constraints_at(&seen.problem, &selection, selection.asked())?;
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

/// Result of a session.
enum Outgoing {
    Selected(Selected),
    Clustered(Box<Ended>),
}

type Ending = std::result::Result<Outgoing, (Error, String)>;

/// Result of a session whose questions `asking` answers.
fn ending(job: &Job, asking: Asking, clustering: bool) -> Ending {
    let made = if clustering {
        carry_out(job, Some(asking)).map(|ended| Outgoing::Clustered(Box::new(ended)))
    } else {
        selected(job, Some(asking)).map(Outgoing::Selected)
    };
    made.map_err(|e| {
        let text = e.render(&|i| job.id(i));
        (e, text)
    })
}

/// The result of a session for Python.
fn outgoing(py: Python<'_>, ended: Ending) -> PyResult<Py<PyAny>> {
    match ended {
        Ok(Outgoing::Selected(selected)) => Ok(Py::new(py, selected)?.into_any()),
        Ok(Outgoing::Clustered(ended)) => Ok(Py::new(py, Found::new(py, *ended)?)?.into_any()),
        Err((e, text)) => Err(with_text(py, &e, text)),
    }
}

/// The input of a session, from which a selection can be started again.
struct Given {
    request: Request,
    data: Data,
    constraints: Constraints,
}

impl Given {
    fn job(&self, request: Request, flag: &Arc<AtomicBool>) -> Result<Job> {
        let known = Known { constraints: self.constraints.clone(), ..Known::default() };
        Job::new(&request, self.data.clone(), known, flag)
    }
}

/// A running selection, in a thread of its own.
struct Live {
    questions: Mutex<Receiver<Question>>,
    answers: Option<Sender<i8>>,
    flag: Arc<AtomicBool>,
    thread: JoinHandle<Ending>,
}

/// A selection that waits for its answers.
#[pyclass(module = "mustlink._mustlink")]
pub(crate) struct Session {
    given: Given,
    told: Vec<Told>,
    open: Option<Question>,
    live: Option<Live>,
}

impl Session {
    /// Starts the selection; questions that were answered before are not asked again.
    fn begin(&mut self, py: Python<'_>) -> PyResult<()> {
        let of = |e: Error| raised(py, &e);
        let flag: Arc<AtomicBool> = Arc::default();
        let given = &self.given;
        let made = detached(py, || {
            let job = given.job(given.request.clone(), &flag)?;
            let recorded = job.answers()?;
            Ok((job, recorded))
        });
        let (job, recorded) = made.map_err(of)?;
        if given.request.ledger.is_some() {
            let told = |(i, j, reply)| (i, j, number(reply));
            self.told = recorded.into_iter().map(told).collect();
        }
        let clustering = !given.request.selection_only;
        let (questions, asked) = channel();
        let (answers, replies) = channel();
        // The ledger serves its own answers.
        let told = if given.request.ledger.is_some() { &[][..] } else { &self.told };
        let asking = Serving::asking(told, Some((questions, replies)));
        // Its threads wait for answers: nothing else may wait for them.
        let pool = thread_pool(given.request.threads).map_err(of)?;
        let work = move || pool.install(|| ending(&job, asking, clustering));
        let (questions, answers) = (Mutex::new(asked), Some(answers));
        self.live = Some(Live { questions, answers, flag, thread: std::thread::spawn(work) });
        Ok(())
    }

    /// Waits until the selection has ended. A signal ends it early, and its exception is raised afterwards.
    fn ended(&mut self, py: Python<'_>) -> PyResult<Option<Ending>> {
        self.open = None;
        let Some(mut live) = self.live.take() else { return Ok(None) };
        live.answers = None;
        let mut interrupted = None;
        while !live.thread.is_finished() {
            py.detach(|| std::thread::sleep(Duration::from_millis(1)));
            if let (None, Err(raised)) = (&interrupted, py.check_signals()) {
                live.flag.store(true, Ordering::Relaxed);
                interrupted = Some(raised);
            }
        }
        let ended = live.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        interrupted.map_or(Ok(Some(ended)), Err)
    }
}

#[pymethods]
impl Session {
    /// A session on the rows of `x`, as configured in `text`; with `clustering` it ends with a clustering.
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
        let constraints = constraints(pairs.as_ref(), data.n()).map_err(of)?;
        let given = Given { request, data, constraints };
        let mut session = Session { given, told: Vec::new(), open: None, live: None };
        session.begin(py)?;
        Ok(session)
    }

    /// The answers so far, those of the ledger first: the object of the question, the object that it was
    /// compared with, and the answer.
    #[getter]
    fn answers(&self) -> Vec<Told> {
        self.told.clone()
    }

    /// The result for the answers so far, a clustering or only the constraints. The session continues; if it has a
    /// ledger, `ledger` is a copy of it.
    #[pyo3(signature = (clustering, ledger=None))]
    fn so_far(
        &self,
        py: Python<'_>,
        clustering: bool,
        ledger: Option<PathBuf>,
    ) -> PyResult<Py<PyAny>> {
        let flag: Arc<AtomicBool> = Arc::default();
        let asking = Serving::asking(&self.told, None);
        let request = Request { selection_only: !clustering, ledger, ..self.given.request.clone() };
        let ended = interruptible(py, request.threads, &flag, || {
            let job = self.given.job(request, &flag).map_err(|e| {
                let text = e.to_string();
                (e, text)
            })?;
            ending(&job, asking, clustering)
        })?;
        outgoing(py, ended)
    }

    /// Retracts the last answer; its question is open again.
    fn undo(&mut self, py: Python<'_>) -> PyResult<()> {
        let of = |e: Error| raised(py, &e);
        if self.told.is_empty() {
            return Err(of(Error::Oracle("no question has been answered yet".into())));
        }
        self.leave(py)?;
        let flag: Arc<AtomicBool> = Arc::default();
        let given = &self.given;
        let taken = detached(py, || given.job(given.request.clone(), &flag)?.take_back());
        if taken.is_ok() {
            self.told.pop();
        }
        // If it could not be taken back, the session goes on as before.
        self.begin(py)?;
        taken.map_err(of)
    }

    /// The open question: its number, its object, the object that it is compared with, and
    /// its purpose; none if no questions are left.
    fn question(&mut self, py: Python<'_>) -> PyResult<Option<(u64, u32, u32, &'static str)>> {
        while let (None, Some(live)) = (&self.open, &self.live) {
            let questions = &live.questions;
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

    /// Answers the open question: +1 together, −1 apart, 0 unknown.
    fn tell(&mut self, py: Python<'_>, reply: i8) -> PyResult<()> {
        let answers = self.live.as_ref().and_then(|live| live.answers.as_ref());
        let (Some(question), Some(answers)) = (self.open.take(), answers) else {
            return Err(raised(py, &Error::Oracle("no question is open".into())));
        };
        self.told.push((question.subject, question.reference, reply));
        // One that has ended meanwhile says so when it is asked for its result.
        let _ = answers.send(reply);
        Ok(())
    }

    /// Ends the questions and returns the result.
    fn finish(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        match self.ended(py)? {
            Some(ended) => outgoing(py, ended),
            None => Err(raised(py, &Error::Oracle("the session is over".into()))),
        }
    }

    /// Ends it without a result. A Python function may be running, and has to return while the interpreter still
    /// exists.
    fn leave(&mut self, py: Python<'_>) -> PyResult<()> {
        if let Some(live) = &self.live {
            live.flag.store(true, Ordering::Relaxed);
        }
        self.ended(py).map(drop)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(live) = &self.live {
            live.flag.store(true, Ordering::Relaxed);
        }
    }
}

/// The number of a reply.
fn number(reply: Reply) -> i8 {
    match reply {
        Reply::MustLink => 1,
        Reply::CannotLink => -1,
        Reply::DontKnow => 0,
    }
}
