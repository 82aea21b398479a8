//! Errors about fitted steps that are damaged, or are applied to unsuitable data.

use std::fmt::Display;

use mustlink_core::Error;

/// Error for a part of a model that is not a step of the transform `tag`.
pub(crate) fn no_such_step(tag: &str, why: impl Display) -> Error {
    Error::Plugin { tag: tag.into(), message: format!("is not such a step: {why}") }
}

/// Error for data unlike those of the fit: description of both.
pub(crate) fn misfit(tag: &str, fitted: impl Display, applied: impl Display) -> Error {
    Error::Plugin { tag: tag.into(), message: format!("fitted to {fitted}, applied to {applied}") }
}
