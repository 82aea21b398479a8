//! The programs that run, and the folders that were written for them.
//!
//! Each program leads a process group of its own, so that signals of the terminal do not reach it. When mustlink
//! returns normally, dropped handles end the programs. When it exits early, it calls [`end_all`]. When it is killed,
//! its [`Keeper`] ends the programs, and the next process removes the folders.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

use tempfile::TempDir;

/// The beginning of the names of folders.
pub(super) const PREFIX: &str = "mustlink-";
/// The name of a file in each folder, which the process that owns the folder keeps locked until it ends.
const LOCK: &str = "lock";

struct Open {
    programs: BTreeSet<u32>,
    /// Each folder with its lock, if the system supports locks.
    folders: BTreeMap<PathBuf, Option<File>>,
    keeper: Option<Keeper>,
    /// True once the folders of ended processes have been removed.
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

/// True if this process must not start programs.
static STILL: AtomicBool = AtomicBool::new(false);

/// Allows or forbids this process to start programs. Commands that only read files forbid it.
pub fn let_start(may: bool) {
    STILL.store(!may, Ordering::Relaxed);
}

/// True if this process may start programs.
pub(super) fn may_start() -> bool {
    !STILL.load(Ordering::Relaxed)
}

/// A shell that ends the programs of this process if the process is killed. It reads from its input which groups run;
/// however this process ends, the input closes then.
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
    /// Informs the keeper that a group has started or ended. Without a keeper, only a killed mustlink leaves programs.
    fn tell(&mut self, sign: char, group: u32) {
        let told = |keeper: &mut Keeper| keeper.0.write_all(format!("{sign} {group}\n").as_bytes());
        if self.keeper.as_mut().is_some_and(|keeper| told(keeper).is_err()) {
            self.keeper = None;
        }
    }
}

/// Ends every running program and its child processes, and removes the files written for it. For a
/// process that is about to end without dropping anything. A thread that starts a program or makes a folder after
/// this waits for the end of the process, because anything it makes would be left behind.
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

/// Makes a folder that [`end_all`] removes unless its owner has removed it. The first call also removes the folders
/// of processes that were killed.
///
/// # Errors
/// Returns the errors of the system.
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

/// The lock of a folder. It is renamed to [`LOCK`] once it is held, so a free file of that name is from a dead process.
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
            // If it cannot be removed, it belongs to another user, or the next process tries again.
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
/// Errors of the system; an error if this process must not start programs.
pub(super) fn start(command: &mut Command) -> io::Result<Child> {
    if !may_start() {
        return Err(io::Error::other("this command starts no programs"));
    }
    let mut open = open();
    // First, so that no program runs for the time that the start of the keeper takes without one.
    if cfg!(unix) && open.keeper.is_none() {
        open.keeper = Keeper::start();
    }
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

/// True if a program has ended. It keeps its number, and that of its group, until it is waited for.
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
