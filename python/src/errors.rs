//! The Python exception of each error.

use std::collections::BTreeMap;
use std::sync::Mutex;

use mustlink::Error;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use serde::de::DeserializeOwned;

/// Last exceptions of functions, by their names: the text, and the exception with its traceback.
static RAISED: Mutex<BTreeMap<String, (String, PyErr)>> = Mutex::new(BTreeMap::new());

/// Keeps the exception of a function, whose text is `message`.
pub(crate) fn keep(name: &str, message: &str, exception: PyErr) {
    let mut raised = RAISED.lock().unwrap_or_else(|e| e.into_inner());
    let before = raised.insert(name.into(), (message.into(), exception));
    // What it lets go of may be objects of Python that look here themselves.
    drop(raised);
    drop(before);
}

/// The exception that a function raised, if its text is `message`.
fn raised_by(name: &str, message: &str) -> Option<PyErr> {
    let mut raised = RAISED.lock().unwrap_or_else(|e| e.into_inner());
    if raised.get(name)?.0 != message {
        return None;
    }
    raised.remove(name).map(|(_, exception)| exception)
}

/// Name of the class of an error in `mustlink.exceptions`.
fn class(error: &Error) -> &'static str {
    match error.root() {
        Error::EmptyData
        | Error::NonFinite { .. }
        | Error::Magnitude { .. }
        | Error::Feature { .. }
        | Error::MalformedCsr { .. }
        | Error::NotSymmetric { .. }
        | Error::TooLarge { .. }
        | Error::UnsupportedData { .. }
        | Error::UnsupportedWeights { .. }
        | Error::Data { .. } => "DataError",
        Error::IndexOutOfRange { .. }
        | Error::SelfCannotLink { .. }
        | Error::BadWeight { .. }
        | Error::DuplicateConstraint { .. }
        | Error::HardNotSupported { .. }
        | Error::UndecidedConstraints { .. }
        | Error::ClosureTooLarge { .. }
        | Error::TooManyGroupPairs { .. }
        | Error::TooManyPropagated { .. } => "ConstraintError",
        Error::InconsistentConstraints(_) => "InconsistentConstraintsError",
        Error::InfeasibleConstraints { .. } => "InfeasibleConstraintsError",
        Error::MissingK { .. } => "MissingKError",
        Error::BadK
        | Error::TooManyClusters { .. }
        | Error::BadParam { .. }
        | Error::Config(_)
        | Error::NotLinked { .. }
        | Error::Usage(_) => "ConfigError",
        Error::NumericalFailure { .. } => "NumericalError",
        Error::Memory { .. } => "MemoryLimitError",
        Error::TimedOut { .. } => "TimeLimitError",
        Error::Cancelled => "CancelledError",
        Error::Contract { .. } | Error::Plugin { .. } => "PluginError",
        Error::Oracle(_) => "OracleError",
        _ => "MustlinkError",
    }
}

/// The exception of an error with its text. If a Python function raised an exception, that is its cause.
pub(crate) fn with_text(py: Python<'_>, error: &Error, text: String) -> PyErr {
    let made = py
        .import("mustlink.exceptions")
        .and_then(|module| module.getattr(class(error)))
        .and_then(|class| class.call1((text,)));
    let made = made.map_or_else(|e| e, PyErr::from_value);
    let cause = match error.root() {
        Error::Plugin { tag, message } => raised_by(tag, message),
        _ => None,
    };
    match cause {
        // An exit or an interrupt is no error of the function.
        Some(cause) if !cause.is_instance_of::<PyException>(py) => cause,
        Some(cause) => {
            made.set_cause(py, Some(cause));
            made
        }
        None => made,
    }
}

/// The exception of an error about the data of the user, with the names of the columns, if any.
pub(crate) fn of_given(py: Python<'_>, error: &Error, text: String, names: &[String]) -> PyErr {
    let text = match error {
        Error::NonFinite { col, .. } => match names.get(*col) {
            Some(name) => {
                text.replacen(&format!(" column {col}:"), &format!(" column \"{name}\":"), 1)
            }
            None => text,
        },
        _ => text,
    };
    with_text(py, error, text)
}

/// The exception of an error, with objects given by their rows.
pub(crate) fn raised(py: Python<'_>, error: &Error) -> PyErr {
    with_text(py, error, error.to_string())
}

/// Reads the JSON of a `what`.
pub(crate) fn read<T: DeserializeOwned>(py: Python<'_>, text: &str, what: &str) -> PyResult<T> {
    let fail = |e: serde_json::Error| Error::Usage(format!("is not a {what}: {e}"));
    serde_json::from_str(text).map_err(|e| raised(py, &fail(e)))
}
