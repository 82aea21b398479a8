//! What happens on Ctrl-C? The first asks for an orderly end, the second ends at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::term;

/// The flag that Ctrl-C (or SIGTERM) sets, watched from now on.
pub(crate) fn flag() -> Arc<AtomicBool> {
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    FLAG.get_or_init(|| {
        let flag: Arc<AtomicBool> = Arc::default();
        let raised = flag.clone();
        let watched = ctrlc::set_handler(move || {
            if raised.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
            term::tell("stopping; once more ends at once");
        });
        if let Err(e) = watched {
            term::tell(&format!("warning: interrupts are not watched: {e}"));
        }
        flag
    })
    .clone()
}
