//! Failing writes for tests of programs.
//!
//! [`Trial::apply`] has a program start with this library (`LD_PRELOAD`). Every call to the kernel that
//! changes a file in one folder is then counted and written into a log, and one of them fails, or ends the
//! program. The calls are stopped by a filter in the kernel (seccomp), not by functions of the same
//! names, so it also stops calls of crates that do not use the C library, and the program needs no
//! hook. It works only on Linux on x86-64; on other systems [`library`] returns an error.

use std::path::{Path, PathBuf};
use std::process::Command;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod filter;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod handler;

/// The folder whose files are watched.
const FOLDER: &str = "FAILING_WRITES_FOLDER";
/// The file that the calls are written to, outside of the folder.
const LOG: &str = "FAILING_WRITES_LOG";
/// The number of the call that fails, from 1; 0 or none: all go through.
const AT: &str = "FAILING_WRITES_AT";
/// How it fails: a name of a [`Fault`].
const HOW: &str = "FAILING_WRITES_HOW";

/// How a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// This call alone, as on a broken disk.
    Broken,
    /// This call alone, as without permission.
    Denied,
    /// This call and all later ones that need room.
    Full,
    /// Half of the bytes are written, and then the disk is full.
    Short,
    /// The program ends without warning, after half of the bytes were written.
    Killed,
}

impl Fault {
    /// All of them.
    pub const ALL: [Fault; 5] =
        [Fault::Broken, Fault::Denied, Fault::Full, Fault::Short, Fault::Killed];

    fn name(self) -> &'static str {
        match self {
            Fault::Broken => "broken",
            Fault::Denied => "denied",
            Fault::Full => "full",
            Fault::Short => "short",
            Fault::Killed => "killed",
        }
    }

    /// True if a call of this name can fail so: writing to an open file needs no permission, and
    /// removing one no room.
    pub fn befalls(self, call: &str) -> bool {
        let writes = matches!(call, "write" | "writev" | "pwrite64");
        match self {
            Fault::Broken | Fault::Killed => true,
            Fault::Denied => matches!(call, "open" | "rename" | "mkdir" | "unlink" | "link"),
            Fault::Full => writes || matches!(call, "open" | "rename" | "mkdir" | "sync" | "link"),
            Fault::Short => writes,
        }
    }

    /// The system's name of the error.
    pub fn cause(self) -> &'static str {
        match self {
            Fault::Broken => "Input/output error",
            Fault::Denied => "Permission denied",
            Fault::Full | Fault::Short => "No space left on device",
            Fault::Killed => "",
        }
    }
}

/// One start of a program.
#[derive(Debug)]
pub struct Trial<'a> {
    /// The library, from [`library`].
    pub library: &'a Path,
    /// The folder whose files are watched, without links in its path.
    pub folder: &'a Path,
    /// The file to which the calls are written, outside of the folder.
    pub log: &'a Path,
    /// The call that fails, from 1, and how.
    pub fault: Option<(usize, Fault)>,
}

impl Trial<'_> {
    /// Has the program start with the library.
    pub fn apply(&self, command: &mut Command) {
        command.env("LD_PRELOAD", self.library).env(FOLDER, self.folder).env(LOG, self.log);
        if let Some((at, fault)) = self.fault {
            command.env(AT, at.to_string()).env(HOW, fault.name());
        }
    }
}

/// A call that changed a file, or tried to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// `open`, `write`, `rename`…
    pub name: String,
    /// The file.
    pub path: PathBuf,
}

/// The calls in a log, in their order.
pub fn calls(log: &str) -> Vec<Call> {
    let call = |line: &str| {
        let (name, path) = line.split_once(' ')?;
        Some(Call { name: name.into(), path: path.into() })
    };
    log.lines().filter_map(call).collect()
}

/// The library, which cargo puts next to the tests of a crate that depends on this one.
///
/// # Errors
/// The reason why the library is missing: another system.
pub fn library() -> Result<PathBuf, String> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Err("writes are made to fail on Linux on x86-64 alone".into());
    }
    let tests = std::env::current_exe().map_err(|e| e.to_string())?;
    Ok(tests.with_file_name("libmustlink_failing_writes.so"))
}
