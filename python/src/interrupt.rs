//! Work without the interpreter's lock, and its interruption by Ctrl-C.
//!
//! The work is done by a thread of its own; the thread that asked for it waits and checks for signals. A
//! signal raises the flag that methods check once per sweep.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mustlink::Result;
use mustlink_experiments::thread_pool;
use pyo3::prelude::*;
use rayon::ThreadPool;

/// Time between two checks for signals.
const LOOK: Duration = Duration::from_millis(50);

/// The pools of this process by their number of threads, 0 for one per core. A forked process has none of its
/// parent's threads, so it makes its own pools.
static POOLS: Mutex<BTreeMap<(u32, usize), Arc<ThreadPool>>> = Mutex::new(BTreeMap::new());

/// The pool with this number of threads, by default one per core.
pub(crate) fn pool(threads: Option<usize>) -> Result<Arc<ThreadPool>> {
    let key = (std::process::id(), threads.unwrap_or(0));
    let mut pools = POOLS.lock().unwrap_or_else(|e| e.into_inner());
    if let Some(pool) = pools.get(&key) {
        return Ok(pool.clone());
    }
    let pool = Arc::new(thread_pool(threads)?);
    pools.insert(key, pool.clone());
    Ok(pool)
}

/// Does short work without the interpreter's lock, in a pool of this process. The global pool of rayon has no
/// threads after a fork.
pub(crate) fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    py.detach(|| match rayon::current_thread_index() {
        // In the pool that called back.
        Some(_) => work(),
        None => match pool(None) {
            Ok(pool) => pool.install(work),
            Err(_) => work(),
        },
    })
}

/// Runs `work` in a pool with this number of threads, by default one per core. If a signal handler raises an exception,
/// such as that of Ctrl-C, it raises `flag`; when the work has ended, the exception is raised here.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    threads: Option<usize>,
    flag: &AtomicBool,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    // What a function of Python calls waits for no thread of the pool that waits for the function.
    let pool = match rayon::current_thread_index() {
        None => pool(threads),
        Some(_) => thread_pool(threads).map(Arc::new),
    };
    let pool = pool.map_err(|e| crate::errors::raised(py, &e))?;
    let (send, receive) = sync_channel(1);
    let receive = Mutex::new(receive);
    std::thread::scope(|scope| {
        let worker = scope.spawn(move || {
            // Whoever waits cannot be gone.
            let _ = send.send(pool.install(work));
        });
        let mut interrupted = None;
        loop {
            let got = py.detach(|| {
                let receive = receive.lock().unwrap_or_else(|e| e.into_inner());
                receive.recv_timeout(LOOK)
            });
            match got {
                Ok(done) => return interrupted.map_or(Ok(done), Err),
                Err(RecvTimeoutError::Timeout) => {
                    if let (None, Err(raised)) = (&interrupted, py.check_signals()) {
                        flag.store(true, Ordering::Relaxed);
                        interrupted = Some(raised);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => match worker.join() {
                    Err(panic) => resume_unwind(panic),
                    Ok(()) => unreachable!("a worker that ends well has sent its result"),
                },
            }
        }
    })
}
