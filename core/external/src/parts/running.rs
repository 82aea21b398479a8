//! Which programs run, and what was written for them?
//!
//! Programs lead process groups of their own, so that no signal of the terminal reaches them. What ends
//! in order ends them by dropping their handles; a process that ends where it stands calls [`end_all`].

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard};

use tempfile::TempDir;

struct Open {
    programs: BTreeSet<u32>,
    folders: BTreeSet<PathBuf>,
}

static OPEN: Mutex<Open> = Mutex::new(Open { programs: BTreeSet::new(), folders: BTreeSet::new() });

fn open() -> MutexGuard<'static, Open> {
    OPEN.lock().unwrap_or_else(|e| e.into_inner())
}

/// Ends every program that runs with all that it started, and removes what was written for it: for a
/// process that is about to end without dropping anything. Whoever starts a program or makes a folder after
/// this waits for that end: threads go on until then, and the next thing they made would be left.
pub fn end_all() {
    let mut open = open();
    #[cfg(unix)]
    for program in std::mem::take(&mut open.programs) {
        end_group(i32::try_from(program).ok().and_then(rustix::process::Pid::from_raw));
    }
    for folder in std::mem::take(&mut open.folders) {
        // A file that is written meanwhile keeps the folder. Nobody is left to be told.
        let _ = (0..3).any(|_| std::fs::remove_dir_all(&folder).is_ok());
    }
    std::mem::forget(open);
}

/// Makes a folder that is removed by [`end_all`] as long as its owner does not.
///
/// # Errors
/// Those of the system.
pub(super) fn open_folder(builder: &tempfile::Builder<'_, '_>) -> io::Result<TempDir> {
    let mut open = open();
    let folder = builder.tempdir()?;
    open.folders.insert(folder.path().to_path_buf());
    Ok(folder)
}

/// Removes a folder for its owner.
pub(super) fn close_folder(folder: &Path) {
    let mut open = open();
    // What cannot be removed now is tried again when the handle is dropped.
    let _ = std::fs::remove_dir_all(folder);
    open.folders.remove(folder);
}

/// Starts a program as the leader of a group, with no signal held back.
///
/// # Errors
/// Those of the system.
pub(super) fn start(command: &mut Command) -> io::Result<Child> {
    let mut open = open();
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        command.process_group(0);
    }
    let child = unmasked(|| command.spawn())?;
    open.programs.insert(child.id());
    Ok(child)
}

/// Does `work` with no SIGTERM held back from this thread: what is started inherits what is, and could
/// neither be terminated nor terminate what it starts itself.
#[cfg(unix)]
fn unmasked<T>(work: impl FnOnce() -> T) -> T {
    use nix::sys::signal::{SigSet, SigmaskHow, Signal};
    let mut termination = SigSet::empty();
    termination.add(Signal::SIGTERM);
    let before = termination.thread_swap_mask(SigmaskHow::SIG_UNBLOCK);
    let done = work();
    if let Ok(before) = before {
        let _ = before.thread_set_mask();
    }
    done
}

#[cfg(not(unix))]
fn unmasked<T>(work: impl FnOnce() -> T) -> T {
    work()
}

/// Whether a program has ended. It keeps its number, and that of its group, until it is waited for.
#[cfg(unix)]
pub(super) fn has_ended(child: &mut Child) -> bool {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(waitid(WaitId::Pid(Pid::from_child(child)), options), Ok(None))
}

#[cfg(not(unix))]
pub(super) fn has_ended(child: &mut Child) -> bool {
    !matches!(child.try_wait(), Ok(None))
}

/// Ends a program that was not waited for, and all it started that did not leave its group.
pub(super) fn end(child: &mut Child) {
    let mut open = open();
    // Fails only where nobody is left.
    #[cfg(unix)]
    end_group(Some(rustix::process::Pid::from_child(child)));
    #[cfg(not(unix))]
    let _ = child.kill();
    open.programs.remove(&child.id());
}

#[cfg(unix)]
fn end_group(leader: Option<rustix::process::Pid>) {
    use rustix::process::{Signal, kill_process_group};
    let _ = leader.map(|leader| kill_process_group(leader, Signal::KILL));
}
