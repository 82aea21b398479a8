//! How is this program started again?

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// What this process was called.
static NAME: OnceLock<OsString> = OnceLock::new();

/// Notes the first argument of the process.
pub(crate) fn started_as(name: Option<&OsString>) {
    if let Some(name) = name {
        // The first call counts: another one means the same process.
        let _ = NAME.set(name.clone());
    }
}

/// The program to start for the same again: what was called, where that is a file, since a command that
/// is part of a Python package runs in the process of another program; else the program of this process.
pub(crate) fn path() -> std::io::Result<PathBuf> {
    match NAME.get().map(Path::new).filter(|name| name.components().count() > 1 && name.is_file()) {
        Some(file) => std::path::absolute(file),
        None => std::env::current_exe(),
    }
}
