//! What happens on Ctrl-C? The first asks for an orderly end, the second ends at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::term;

static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// The flag that Ctrl-C (or SIGTERM) sets, watched from now on.
pub(crate) fn flag() -> Arc<AtomicBool> {
    FLAG.get_or_init(|| {
        let flag: Arc<AtomicBool> = Arc::default();
        let raised = flag.clone();
        if let Err(e) = ctrlc::set_handler(move || raise(&raised)) {
            term::tell(&format!("warning: interrupts are not watched: {e}"));
        }
        flag
    })
    .clone()
}

fn raise(flag: &AtomicBool) {
    if flag.swap(true, Ordering::Relaxed) {
        std::process::exit(130);
    }
    term::tell("stopping; once more ends at once");
}

/// Has SIGTERM wait for one thread, which does what Ctrl-C does. METIS, a C library, puts a handler of its
/// own over it while it works, which jumps out of whatever thread the signal meets; held back from all
/// threads, it meets none. To be called before any other thread starts; programs that are started begin
/// with no signal held back.
#[cfg(unix)]
pub(crate) fn watch_termination() {
    use nix::sys::signal::{SigSet, Signal};

    let mut termination = SigSet::empty();
    termination.add(Signal::SIGTERM);
    if termination.thread_block().is_err() {
        return;
    }
    std::thread::spawn(move || {
        while termination.wait().is_ok() {
            match FLAG.get() {
                Some(flag) => raise(flag),
                None => std::process::exit(128 + Signal::SIGTERM as i32),
            }
        }
    });
}

#[cfg(not(unix))]
pub(crate) fn watch_termination() {}
