//! The first Ctrl-C asks for an orderly end, the second ends the program immediately.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Once, OnceLock};

use mustlink::kept_children;

use crate::term;

static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Exit status of an interrupted program: 128 and the number of the signal.
static STATUS: AtomicI32 = AtomicI32::new(INTERRUPTED);

/// The status of Ctrl-C, which stands for all signals inside the program.
pub(crate) const INTERRUPTED: i32 = 130;

/// The status that the program ends with when it would end with `status`.
pub(crate) fn status(status: u8) -> u8 {
    let signal = u8::try_from(STATUS.load(Ordering::Relaxed)).unwrap_or(status);
    if i32::from(status) == INTERRUPTED { signal } else { status }
}

/// The flag that Ctrl-C (or SIGTERM) sets from now on.
pub(crate) fn flag() -> Arc<AtomicBool> {
    FLAG.get_or_init(Arc::default).clone()
}

/// Watches Ctrl-C from now on. Until `flag` is called, Ctrl-C ends the program immediately.
fn watch_interrupts() {
    static WATCHED: Once = Once::new();
    WATCHED.call_once(|| {
        if let Err(e) = ctrlc::set_handler(|| interrupted(INTERRUPTED)) {
            term::tell(&format!("warning: interrupts are not watched: {e}"));
        }
    });
}

fn interrupted(status: i32) {
    let Some(flag) = FLAG.get() else { leave(status) };
    STATUS.store(status, Ordering::Relaxed);
    if flag.swap(true, Ordering::Relaxed) {
        leave(status);
    }
    term::tell("stopping; press Ctrl-C again to end immediately");
}

/// Ends the program where it stands, and the programs that it started.
fn leave(status: i32) -> ! {
    kept_children::end_all();
    std::process::exit(status)
}

/// Watches Ctrl-C, and has SIGTERM and SIGHUP wait for one thread, which does what Ctrl-C does.
///
/// METIS, a C library, puts a handler of its own over SIGTERM while it works, which jumps out of whatever thread the
/// signal meets. Held back from all threads, the signal meets none. Call this before any other thread starts.
#[cfg(unix)]
pub(crate) fn watch() {
    use nix::sys::signal::{SigSet, Signal};

    // A program that nohup starts ignores a hang-up. Check this first, because the handler would hide it.
    let outlives_its_terminal = outlives_its_terminal();
    let held = SigSet::from_iter([Signal::SIGTERM, Signal::SIGHUP]).thread_block();
    watch_interrupts();
    if held.is_err() {
        return;
    }
    let mut awaited = SigSet::from_iter([Signal::SIGTERM]);
    if !outlives_its_terminal {
        awaited.add(Signal::SIGHUP);
    }
    std::thread::spawn(move || {
        while let Ok(signal) = awaited.wait() {
            interrupted(128 + signal as i32);
        }
    });
}

#[cfg(not(unix))]
pub(crate) fn watch() {
    watch_interrupts();
}

/// True if this program ignores the end of its terminal, because it was started so, as by nohup.
#[cfg(unix)]
fn outlives_its_terminal() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    ignores(&status, nix::sys::signal::Signal::SIGHUP as u32)
}

/// True if a signal is ignored, according to the status that Linux shows of a process.
#[cfg(unix)]
fn ignores(status: &str, signal: u32) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok());
    mask.is_some_and(|mask| (mask >> (signal - 1)) & 1 == 1)
}

#[cfg(all(test, unix))]
mod tests {
    #[test]
    fn ignored_signals_are_bits() {
        let by_nohup = "SigBlk:\t0000000000004000\nSigIgn:\t0000000000001001\n";
        assert!(super::ignores(by_nohup, 1));
        assert!(!super::ignores(by_nohup, 15));
        assert!(!super::ignores("SigIgn:\t0000000000001000\n", 1));
        assert!(!super::ignores("", 1));
    }
}
