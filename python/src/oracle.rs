//! Oracles that are Python callables.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use mustlink::roles::Reply;
use mustlink::run::Transformed;
use mustlink::selection::Selection;
use pyo3::prelude::*;

use crate::interrupt::interruptible;
use crate::job::Job;

/// The reply of a number.
pub(crate) fn reply_of(number: i8) -> Reply {
    match number {
        1.. => Reply::MustLink,
        0 => Reply::DontKnow,
        _ => Reply::CannotLink,
    }
}

/// Selects; `oracle` is asked if it is given. It runs in this thread: there it can be interrupted, and may use objects
/// bound to the thread. `None` when the method has no selector.
pub(crate) fn selection(
    py: Python<'_>,
    job: &Job,
    seen: &Transformed,
    oracle: Option<&Py<PyAny>>,
    threads: Option<usize>,
    flag: &Arc<AtomicBool>,
) -> PyResult<Option<Selection>> {
    if job.method.selector.is_none() {
        return Ok(None);
    }
    let Some(oracle) = oracle else {
        let selection = interruptible(py, threads, flag, || job.select(seen))?;
        return selection.map_err(|e| job.raised(py, &e));
    };
    let driver = interruptible(py, threads, flag, || job.driver(seen))?;
    let mut driver = driver.map_err(|e| job.raised(py, &e))?;
    let mut reply = None;
    loop {
        let next = interruptible(py, threads, flag, || {
            if let Some(reply) = reply {
                job.tell(seen, &mut driver, reply)?;
            }
            job.question(seen, &mut driver)
        })?;
        let Some(question) = next.map_err(|e| job.raised(py, &e))? else {
            return Ok(Some(driver.selection()));
        };
        reply = Some(reply_of(oracle.call1(py, job.rows_of(&question))?.extract(py)?));
    }
}
