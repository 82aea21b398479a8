//! Completion of names at the cursor of a shell.
//!
//! Names come from the catalogue and the data directory at the moment they are wanted, so a
//! completion script never lags behind the plugins of the program it was printed by.

use std::ffi::OsStr;

use clap_complete::engine::{
    ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter,
};
use mustlink::registry::{Catalogue, Descriptor, Role};
use mustlink_datasets::OpenOptions;

/// The environment variable with which a completion script asks the program to complete.
pub(crate) const VARIABLE: &str = "MUSTLINK_COMPLETE";

fn starting<T: Into<CompletionCandidate>>(
    current: &OsStr,
    names: impl IntoIterator<Item = T>,
) -> Vec<CompletionCandidate> {
    let Some(current) = current.to_str() else { return Vec::new() };
    let mut out: Vec<CompletionCandidate> = names.into_iter().map(Into::into).collect();
    out.retain(|c| c.get_value().to_string_lossy().starts_with(current));
    out
}

fn candidates(wanted: impl Fn(&Descriptor) -> bool) -> Vec<CompletionCandidate> {
    let all = Catalogue::get().map(Catalogue::all).unwrap_or_default();
    all.iter()
        .filter(|d| wanted(d))
        .map(|d| CompletionCandidate::new(d.tag).help(Some(d.summary().into())))
        .collect()
}

/// The names of data sets that can be opened without a path.
fn sets() -> Vec<String> {
    let listings = mustlink_datasets::available(&OpenOptions::from_env()).unwrap_or_default();
    listings.into_iter().map(|l| l.name).collect()
}

/// Names of plugins and data sets.
pub(crate) fn described(current: &OsStr) -> Vec<CompletionCandidate> {
    starting(current, candidates(|_| true)).into_iter().chain(starting(current, sets())).collect()
}

/// Names of plugins, results and files.
pub(crate) fn cited(current: &OsStr) -> Vec<CompletionCandidate> {
    let mut out = starting(current, candidates(|_| true));
    out.extend(PathCompleter::any().complete(current));
    out
}

/// The names that have a schema.
pub(crate) fn schemas(current: &OsStr) -> Vec<CompletionCandidate> {
    let mut out = starting(current, ["experiment", "method"]);
    out.extend(starting(current, candidates(|_| true)));
    out
}

/// The names that can be listed.
pub(crate) fn listed(current: &OsStr) -> Vec<CompletionCandidate> {
    starting(current, Role::ALL.into_iter().map(Role::plural).chain(["datasets".to_string()]))
}

/// Data sets by name or path.
pub(crate) fn data(current: &OsStr) -> Vec<CompletionCandidate> {
    let mut out = starting(current, sets());
    out.extend(PathCompleter::any().stdio().complete(current));
    out
}

/// Plugins of a role.
pub(crate) fn plugins(role: Role) -> ArgValueCompleter {
    ArgValueCompleter::new(move |current: &OsStr| starting(current, candidates(|d| d.role == role)))
}
