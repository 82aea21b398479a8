//! A whole study from its file.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use mustlink::Error;
use mustlink::config::Document;
use mustlink_experiments::{
    Experiment, Keep, Outcome, ProgressSnapshot, RunOptions, RunProgress, Source, run,
};
use pyo3::prelude::*;
use serde::Deserialize;

use crate::errors::{raised, read};
use crate::interrupt::interruptible;

/// An exception that a callable raised while methods ran.
#[derive(Clone, Default)]
struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    /// Keeps an exception for the caller of the work.
    fn put(&self, error: PyErr) {
        *self.0.lock().unwrap_or_else(|e| e.into_inner()) = Some(error);
    }

    /// The exception, if there was one.
    fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(|e| e.into_inner()).take()
    }
}

/// Options for running an experiment.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    sets: Vec<String>,
    threads: Option<usize>,
    memory_limit: Option<u64>,
    force: bool,
    data_dirs: Vec<PathBuf>,
}

/// Reports progress to a callable: cells done, cells, cells failed, seconds to go.
struct Progress {
    watcher: Py<PyAny>,
    raised: Raised,
    cancel: Arc<AtomicBool>,
}

impl RunProgress for Progress {
    fn update(&self, now: &ProgressSnapshot) {
        let told = Python::attach(|py| {
            self.watcher.call1(py, (now.done, now.total, now.failed, now.seconds_left))
        });
        if let Err(e) = told {
            self.raised.put(e);
            self.cancel.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    }
}

/// A cell that failed: data set, method, repeat, fold, the first error.
type Failed = (String, String, usize, usize, String);

/// An experiment file as JSON, without changes.
#[pyfunction]
pub(crate) fn read_experiment(py: Python<'_>, file: PathBuf) -> PyResult<String> {
    let read = py.detach(|| Document::read(&file));
    read.map(|document| document.root().to_value().to_string()).map_err(|e| raised(py, &e))
}

/// Runs the experiment of a file, or continues where it stopped. `document`, as JSON, replaces the content of the
/// file.
/// Returns the table of the report, the page, the number of cells and of finished cells, and the failed cells.
#[pyfunction]
#[pyo3(signature = (file, out, text, progress=None, document=None))]
pub(crate) fn run_experiment(
    py: Python<'_>,
    file: PathBuf,
    out: PathBuf,
    text: &str,
    progress: Option<Py<PyAny>>,
    document: Option<String>,
) -> PyResult<(String, PathBuf, usize, usize, Vec<Failed>)> {
    let of = |e: Error| raised(py, &e);
    let request: Request = read(py, text, "request")?;
    let cancel: Arc<AtomicBool> = Arc::default();
    let inside = Raised::default();
    let mut options = RunOptions {
        threads: request.threads,
        memory_limit: request.memory_limit.or_else(mustlink_cli::default_limit),
        keep: if request.force { Keep::Nothing } else { Keep::Current },
        source: Source { data_dirs: request.data_dirs.clone(), ..Source::default() },
        cancel: cancel.clone(),
        ..RunOptions::to(&out)
    };
    if let Some(watcher) = progress {
        let (raised, cancel) = (inside.clone(), cancel.clone());
        options.progress = Arc::new(Progress { watcher, raised, cancel });
    }
    let done = interruptible(py, request.threads, &cancel, || {
        let experiment = match document {
            Some(text) => {
                let name = format!("{}, as JSON.json", file.display());
                let folder = file.parent().unwrap_or(Path::new(""));
                Experiment::parse(&name, &text, folder, &request.sets)?
            }
            None => Experiment::load(&file, &request.sets)?,
        };
        let outcome: Outcome = run(&experiment, &options)?;
        let report = mustlink_report::report(&out)?;
        Ok((outcome, report.table, report.page))
    })?;
    if let Some(raised) = inside.take() {
        return Err(raised);
    }
    let (outcome, table, page) = done.map_err(of)?;
    let failed = outcome.failed.into_iter();
    let failed = failed.map(|c| (c.dataset, c.method, c.repeat, c.fold, c.message)).collect();
    Ok((table, page, outcome.total, outcome.skipped + outcome.done, failed))
}
