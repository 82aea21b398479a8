//! Threads for work that needs threads of its own.

use mustlink_core::run::STACK;
use mustlink_core::{Error, Result};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// A pool of so many threads; absent: one per core.
///
/// # Errors
/// `Usage` where they cannot be started.
pub fn thread_pool(threads: Option<usize>) -> Result<ThreadPool> {
    let pool = ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).stack_size(STACK);
    pool.build().map_err(|e| {
        let many: String = match threads {
            None => "threads".into(),
            Some(1) => "a thread".into(),
            Some(many) => format!("{many} threads"),
        };
        Error::Usage(format!("cannot start {many}: {e}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_has_as_many_threads_as_were_asked_for() {
        assert_eq!(thread_pool(Some(3)).unwrap().current_num_threads(), 3);
    }
}
