//! Questions and answers: a callable that is asked, or a session that waits for answers.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use mustlink::constraints::Constraints;
use mustlink::roles::Reply;
use mustlink::run::Transformed;
use mustlink::selection::{Recorded, Selection};
use mustlink::{Error, Result};
use mustlink_experiments::LedgerDriver;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use crate::cluster::{Ended, Found, conclude, known, request};
use crate::data::{Matrix, Pairs, constraints, kind, table};
use crate::errors::raised;
use crate::interrupt::{detached, interruptible};
use crate::job::{Job, Known, Request};
use crate::oracle::{reply_of, selection};

/// An answer about two rows: +1 together, −1 apart, 0 unknown.
type Told = (u32, u32, i8);

/// Questions and answers of a selection.
#[pyclass(frozen, module = "mustlink._mustlink")]
pub(crate) struct Selected {
    constraints: Constraints,
    warnings: Vec<String>,
}

#[pymethods]
impl Selected {
    /// The constraints that were selected.
    #[getter]
    fn constraints<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        table(py, &self.constraints)
    }

    /// Warnings of the selection.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }
}

/// The constraints of a selection.
fn selected(job: &Job, seen: &Transformed, selection: &Selection) -> Result<Selected> {
    let all = job.method.constraints_at(&seen.problem, selection, selection.asked())?;
    Ok(Selected { constraints: job.of_rows(&all)?, warnings: job.warnings() })
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
    let threads = request.threads;
    let work = || {
        let job = Job::new(&request, data, known, &flag)?;
        Ok((job.seen()?, job))
    };
    let (seen, job) = interruptible(py, threads, &flag, work)?.map_err(of)?;
    let selection = selection(py, &job, &seen, oracle.as_ref(), threads, &flag)?;
    selected(&job, &seen, &selection.unwrap_or_default()).map_err(of)
}

/// Result of a session.
enum Outgoing {
    Selected(Selected),
    Clustered(Box<Ended>),
}

impl Outgoing {
    fn new(job: &Job, seen: &Transformed, selection: &Selection, clustering: bool) -> Result<Self> {
        if clustering {
            return conclude(job, seen, Some(selection)).map(|e| Outgoing::Clustered(Box::new(e)));
        }
        selected(job, seen, selection).map(Outgoing::Selected)
    }

    fn into_python(self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        Ok(match self {
            Outgoing::Selected(selected) => Py::new(py, selected)?.into_any(),
            Outgoing::Clustered(ended) => Py::new(py, Found::new(py, *ended)?)?.into_any(),
        })
    }
}

/// A selection that waits for its answers.
#[pyclass(module = "mustlink._mustlink")]
pub(crate) struct Session {
    job: Job,
    seen: Transformed,
    /// Absent after the end of a session with a ledger, so that others can open it.
    driver: Option<Mutex<LedgerDriver>>,
    /// The answers at the end of a session with a ledger.
    told: Vec<Told>,
    is_over: bool,
    clustering: bool,
    threads: Option<usize>,
    flag: Arc<AtomicBool>,
}

impl Session {
    /// Does work that may take long. If it is interrupted, the session continues from the answers so far.
    fn work<T: Send>(
        &mut self,
        py: Python<'_>,
        work: impl FnOnce(&Job, &Transformed, &mut LedgerDriver) -> Result<T> + Send,
    ) -> PyResult<T> {
        let Session { job, seen, driver, flag, threads, .. } = self;
        flag.store(false, Ordering::Relaxed);
        let done = interruptible(py, *threads, flag, || {
            let driver = match driver {
                Some(driver) => driver,
                None => driver.insert(Mutex::new(job.driver(seen)?)),
            };
            work(job, seen, driver.get_mut().unwrap_or_else(|e| e.into_inner()))
        })?;
        done.map_err(|e| self.job.raised(py, &e))
    }

    /// Closes the ledger of a session that is over.
    fn release(&mut self) {
        if self.is_over && self.job.has_ledger() {
            self.told = self.answers();
            self.driver = None;
        }
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
        let known = Known { constraints, ..Known::default() };
        let (flag, threads): (Arc<AtomicBool>, _) = (Arc::default(), request.threads);
        let job = detached(py, || Job::new(&request, data, known, &flag)).map_err(of)?;
        let made = interruptible(py, threads, &flag, || {
            let seen = if clustering { job.admitted()? } else { job.seen()? };
            let driver = Some(Mutex::new(job.driver(&seen)?));
            Ok::<_, Error>((seen, driver))
        })?;
        let (seen, driver) = made.map_err(|e| job.raised(py, &e))?;
        let (told, is_over) = (Vec::new(), false);
        Ok(Session { job, seen, driver, told, is_over, clustering, threads, flag })
    }

    /// The answers so far, those of the ledger first: the object of the question, the object that it was
    /// compared with, and the answer.
    #[getter]
    fn answers(&self) -> Vec<Told> {
        let Some(driver) = &self.driver else { return self.told.clone() };
        let driver = driver.lock().unwrap_or_else(|e| e.into_inner());
        let told = |r: Recorded| {
            let (i, j) = self.job.rows_of(&r.question());
            (i, j, number(r.answer.reply))
        };
        driver.answers().into_iter().filter(|r| !r.retracted).map(told).collect()
    }

    /// The result for the answers so far, a clustering or only the constraints. The session continues.
    fn so_far(&mut self, py: Python<'_>, clustering: bool) -> PyResult<Py<PyAny>> {
        let outgoing = self.work(py, |job, seen, driver| {
            job.question(seen, driver)?;
            // Only the result at the end has warnings.
            Outgoing::new(&job.unheard(), seen, &driver.selection(), clustering)
        });
        self.release();
        outgoing?.into_python(py)
    }

    /// Retracts the last answer; its question is open again.
    fn undo(&mut self, py: Python<'_>) -> PyResult<()> {
        let undone = self.work(py, |_, _, driver| {
            let nothing = || Error::Oracle("no question has been answered yet".into());
            driver.undo()?.then_some(()).ok_or_else(nothing)
        });
        self.is_over &= undone.is_err();
        self.release();
        undone
    }

    /// The open question: its number, its object, the object that it is compared with, and
    /// its purpose; none if no questions are left.
    fn question(&mut self, py: Python<'_>) -> PyResult<Option<(u64, u32, u32, &'static str)>> {
        let question = self.work(py, |job, seen, driver| job.question(seen, driver))?;
        Ok(question.map(|q| {
            let (i, j) = self.job.rows_of(&q);
            (q.id, i, j, q.purpose)
        }))
    }

    /// Answers the open question: +1 together, −1 apart, 0 unknown.
    fn tell(&mut self, py: Python<'_>, reply: i8) -> PyResult<()> {
        self.work(py, |job, seen, driver| {
            if driver.open().is_none() {
                return Err(Error::Oracle("no question is open".into()));
            }
            job.tell(seen, driver, reply_of(reply))
        })
    }

    /// Ends the questions and returns the result.
    fn finish(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let clustering = self.clustering;
        let outgoing = self.work(py, |job, seen, driver| {
            job.question(seen, driver)?;
            driver.end("closed")?;
            Outgoing::new(job, seen, &driver.selection(), clustering)
        });
        self.is_over = true;
        self.release();
        outgoing?.into_python(py)
    }

    /// Ends it without a result.
    fn leave(&mut self) {
        if let Some(driver) = self.driver.take() {
            // The answers are in the ledger, whether or not its last line is.
            let _ = driver.into_inner().unwrap_or_else(|e| e.into_inner()).end("closed");
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.leave();
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
