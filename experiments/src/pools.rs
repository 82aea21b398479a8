//! Which threads does a task run on?
//!
//! Each task has a pool to itself. In one pool for all, a thread that waits for a part of its task would
//! take up another whole task meanwhile: the first would last as long as both, and meet a time limit that
//! the second deserved.

use std::sync::Mutex;

use mustlink::{Error, Result};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Pools that no task has at the moment.
#[derive(Default)]
pub(crate) struct Pools {
    idle: Mutex<Vec<ThreadPool>>,
}

impl Pools {
    /// Does `work` on `threads` threads that do nothing else.
    ///
    /// # Errors
    /// `Usage` where the threads cannot be started.
    pub fn install<T: Send>(&self, threads: usize, work: impl FnOnce() -> T + Send) -> Result<T> {
        let idle = || self.idle.lock().unwrap_or_else(|e| e.into_inner());
        let there = {
            let mut idle = idle();
            let at = idle.iter().position(|p| p.current_num_threads() == threads);
            at.map(|at| idle.swap_remove(at))
        };
        let pool = match there {
            Some(pool) => pool,
            None => ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .map_err(|e| Error::Usage(format!("cannot start {threads} threads: {e}")))?,
        };
        let made = pool.install(work);
        idle().push(pool);
        Ok(made)
    }
}

/// How many of the `free` threads the first of `ready` tasks gets: its share, at least one.
pub(crate) fn share(free: usize, ready: usize) -> usize {
    (free / ready.max(1)).max(1)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use super::*;
    use rayon::prelude::*;

    #[test]
    fn tasks_share_what_is_free() {
        assert_eq!((share(8, 1), share(8, 20), share(8, 0), share(1, 1)), (8, 1, 8, 1));
        let mut free = 8;
        let shares: Vec<usize> = (1..=5)
            .rev()
            .map(|ready| {
                let mine = share(free, ready);
                free -= mine;
                mine
            })
            .collect();
        assert_eq!((shares, free), (vec![1, 1, 2, 2, 2], 0));
    }

    #[test]
    fn no_task_waits_for_another() {
        let pools = Pools::default();
        let (over, begun) = (AtomicBool::new(false), AtomicBool::new(false));
        std::thread::scope(|scope| {
            // A long task, which ends only after a short one with parts of its own is over.
            scope.spawn(|| {
                let wait = || {
                    begun.store(true, Ordering::SeqCst);
                    while !over.load(Ordering::SeqCst) {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                };
                pools.install(1, wait).unwrap();
            });
            while !begun.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
            let sum: u64 = pools
                .install(2, || (0..1000u32).into_par_iter().with_max_len(1).map(u64::from).sum())
                .unwrap();
            assert_eq!(sum, 499_500);
            over.store(true, Ordering::SeqCst);
        });
        // Both pools are free again, and used again.
        assert_eq!(pools.install(2, rayon::current_num_threads).unwrap(), 2);
        assert_eq!(pools.idle.lock().unwrap().len(), 2);
    }
}
