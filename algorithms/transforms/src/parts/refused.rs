//! What does a fitted step say that was kept wrongly, or is applied to other data than it was fitted to?

use std::fmt::Display;

use mustlink_core::Error;

/// Of what a model keeps and is no step of the transform `tag`.
pub(crate) fn no_such_step(tag: &str, why: impl Display) -> Error {
    Error::Plugin { tag: tag.into(), message: format!("is no such step: {why}") }
}

/// Of data unlike those of the fit: what these had, and those have.
pub(crate) fn misfit(tag: &str, fitted: impl Display, applied: impl Display) -> Error {
    Error::Plugin { tag: tag.into(), message: format!("fitted to {fitted}, applied to {applied}") }
}
