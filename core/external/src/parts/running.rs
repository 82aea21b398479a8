//! The programs that run, and the folders that were written for them.
//!
//! Programs lead process groups of their own, so that no signal of the terminal reaches them. An orderly end
//! ends them by dropping their handles; a process that ends where it stands calls [`end_all`]; after one that is
//! killed, its [`Keeper`] ends them, and the next process removes its folders.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

use tempfile::TempDir;

/// How the names of folders begin.
pub(super) const PREFIX: &str = "mustlink-";
/// A file in each folder that its process has locked as long as it lives.
const LOCK: &str = "lock";

struct Open {
    programs: BTreeSet<u32>,
    /// Each with its lock, where the system has locks.
    folders: BTreeMap<PathBuf, Option<File>>,
    keeper: Option<Keeper>,
    /// Folders of processes that are gone were looked for.
    swept: bool,
}

static OPEN: Mutex<Open> = Mutex::new(Open {
    programs: BTreeSet::new(),
    folders: BTreeMap::new(),
    keeper: None,
    swept: false,
});

fn open() -> MutexGuard<'static, Open> {
    OPEN.lock().unwrap_or_else(|e| e.into_inner())
}

/// Whether programs may not be started.
static STILL: AtomicBool = AtomicBool::new(false);

/// Lets this process start programs from now on, or none: for a command that only looks at files.
pub fn let_start(may: bool) {
    STILL.store(!may, Ordering::Relaxed);
}

/// Whether this process may start programs.
pub(super) fn may_start() -> bool {
    !STILL.load(Ordering::Relaxed)
}

/// A shell that ends the programs of this process when that was killed: it reads which groups run, and its input
/// closes with this process, whatever ends it.
struct Keeper(ChildStdin);

impl Keeper {
    /// Reads `+ GROUP` and `- GROUP`, and kills the groups that are left at the end.
    const SCRIPT: &str = r#"trap '' HUP INT TERM
        while read -r sign group; do
            case $sign in
            +) live="$live $group" ;;
            *) left=; for one in $live; do [ "$one" = "$group" ] || left="$left $one"; done; live=$left ;;
            esac
        done
        for one in $live; do kill -s KILL -- "-$one"; done"#;

    fn start() -> Option<Self> {
        let mut command = Command::new("sh");
        command.args(["-c", Self::SCRIPT]).current_dir("/").stdin(Stdio::piped());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        Some(Keeper(own_group(&mut command).spawn().ok()?.stdin?))
    }
}

impl Open {
    /// Tells the keeper that a group runs, or runs no more. Without a keeper, only a killed process leaves programs.
    fn tell(&mut self, sign: char, group: u32) {
        if cfg!(unix) && self.keeper.is_none() && sign == '+' {
            self.keeper = Keeper::start();
        }
        let told = |keeper: &mut Keeper| keeper.0.write_all(format!("{sign} {group}\n").as_bytes());
        if self.keeper.as_mut().is_some_and(|keeper| told(keeper).is_err()) {
            self.keeper = None;
        }
    }
}

/// Ends every program that runs with all that it started, and removes what was written for it: for a
/// process that is about to end without dropping anything. Whoever starts a program or makes a folder after
/// this waits for that end: threads go on until then, and the next thing they made would be left.
pub fn end_all() {
    let mut open = open();
    #[cfg(unix)]
    for program in std::mem::take(&mut open.programs) {
        end_group(i32::try_from(program).ok().and_then(rustix::process::Pid::from_raw));
        open.tell('-', program);
    }
    for (folder, _lock) in std::mem::take(&mut open.folders) {
        // A file that is written meanwhile keeps the folder. Nobody is left to be told.
        let _ = (0..3).any(|_| std::fs::remove_dir_all(&folder).is_ok());
    }
    std::mem::forget(open);
}

/// Makes a folder that is removed by [`end_all`] as long as its owner does not. The first one also removes those
/// of processes that were killed.
///
/// # Errors
/// Those of the system.
pub(super) fn open_folder(builder: &tempfile::Builder<'_, '_>) -> io::Result<TempDir> {
    let mut open = open();
    if !std::mem::replace(&mut open.swept, true) {
        sweep(&std::env::temp_dir());
    }
    let folder = builder.tempdir()?;
    let lock = locked(folder.path()).ok();
    open.folders.insert(folder.path().to_path_buf(), lock);
    Ok(folder)
}

/// The lock of a folder. It has its name once it is held, so that a free one by that name is of a dead process.
fn locked(folder: &Path) -> io::Result<File> {
    let (new, path) = (folder.join("lock.new"), folder.join(LOCK));
    let file = File::create(&new)?;
    file.try_lock()?;
    std::fs::rename(new, path)?;
    Ok(file)
}

/// Removes the folders of processes that are gone.
fn sweep(temporary: &Path) {
    for entry in std::fs::read_dir(temporary).into_iter().flatten().flatten() {
        let folder = entry.path();
        let ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        let lock = ours.then(|| File::open(folder.join(LOCK)).ok()).flatten();
        if lock.is_some_and(|lock| lock.try_lock().is_ok()) {
            // One that cannot be removed is another's, or is tried again by the next process.
            let _ = std::fs::remove_dir_all(folder);
        }
    }
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
/// Those of the system, and where nothing is to be started.
pub(super) fn start(command: &mut Command) -> io::Result<Child> {
    if !may_start() {
        return Err(io::Error::other("this command starts no programs"));
    }
    let mut open = open();
    let child = unmasked(|| own_group(command).spawn())?;
    open.programs.insert(child.id());
    open.tell('+', child.id());
    Ok(child)
}

/// Makes a program the leader of a group.
fn own_group(command: &mut Command) -> &mut Command {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    command
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
    open.tell('-', child.id());
}

#[cfg(unix)]
fn end_group(leader: Option<rustix::process::Pid>) {
    use rustix::process::{Signal, kill_process_group};
    let _ = leader.map(|leader| kill_process_group(leader, Signal::KILL));
}
