//! Which Python exception is an error?

use mustlink::Error;
use pyo3::prelude::*;

/// The name of its class in `mustlink.exceptions`.
fn class(error: &Error) -> &'static str {
    match error.root() {
        Error::EmptyData
        | Error::NonFinite { .. }
        | Error::Magnitude { .. }
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

/// The exception of an error with its text.
pub(crate) fn with_text(py: Python<'_>, error: &Error, text: String) -> PyErr {
    let made = py
        .import("mustlink.exceptions")
        .and_then(|module| module.getattr(class(error)))
        .and_then(|class| class.call1((text,)));
    made.map_or_else(|e| e, PyErr::from_value)
}

/// The exception of an error, with objects named by their rows.
pub(crate) fn raised(py: Python<'_>, error: &Error) -> PyErr {
    with_text(py, error, error.to_string())
}
