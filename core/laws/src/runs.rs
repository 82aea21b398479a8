//! The laws of every run, for all roles and results.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::law::{Law, Runs, Verdict, in_threads};
use super::{ceilings, fixtures, numbers};
use crate::ensure;
use mustlink_core::context::Context;
use mustlink_core::error::{Error, Result};
use mustlink_core::random::SeedPath;

/// The laws about numbers and the cancel flag, for every plugin of the role.
pub(super) fn laws<R: Runs + ?Sized>() -> Vec<Law<R>> {
    let mut laws = Vec::from(numbers::laws::<R>(|_| true));
    laws.push(Law::always("cancelling_is_heard", cancelling_is_heard));
    laws.push(Law::always("legal_values_are_harmless", |p: &R| {
        let small = p.smaller()?;
        ceilings::are_harmless(small.as_deref().unwrap_or(p), R::run_small)
    }));
    laws
}

fn cancelling_is_heard<R: Runs + ?Sized>(p: &R) -> Verdict {
    let small = p.smaller()?;
    let ctx = Context::builder(SeedPath::new(1)).cancel(Arc::new(AtomicBool::new(true))).build();
    match small.as_deref().unwrap_or(p).run_small(&ctx) {
        Err(e) if matches!(e.root(), Error::Cancelled) => Ok(()),
        Err(e) => Err(format!("a cancelled run gave {e:?}; call ctx.check() every sweep")),
        Ok(_) => Err("a cancelled run gave a result; call ctx.check() every sweep".into()),
    }
}

/// Remedy if the result depends on the number of threads.
const SAME_ON_THREADS: &str = "do not use the number of threads or the order in which they end, and add up numbers \
                               with reduce::sum";

/// Remedy if the result depends on chance or on the time.
const SAME_ON_ONE_THREAD: &str = "the order of a HashMap or HashSet, a random generator of your own, or a clock reaches \
                                  the result; use sorted keys, and draw random numbers from ctx.stream(\"purpose\")";

/// Number of runs on one thread. If they differ, the number of threads is not the cause.
const REPEATS: usize = 4;

/// The outcome of runs with one seed, which is the same each time and on any number of threads.
pub(super) fn same_every_time<T: PartialEq + Send>(
    run: impl Fn() -> Result<T, String> + Sync,
) -> Result<Result<T, String>, String> {
    let first = run();
    for (threads, name) in [(1, "one thread gives"), (7, "seven threads give")] {
        let other = in_threads(threads, &run);
        let differ = format!("{name} another result");
        same_outcome(&first, &other, &differ, || in_threads(1, &run))?;
    }
    Ok(first)
}

/// One thread and three give the same, where one is done soon enough to tell.
pub(super) fn same_on_threads<T: PartialEq + Send>(
    seed: u64,
    run: impl Fn(&Context) -> Result<T> + Sync,
) -> Verdict {
    let alone = match in_threads(1, || run(&fixtures::short_context(seed))) {
        Err(e) if matches!(e.root(), Error::TimedOut { .. }) => return Ok(()),
        result => result.map_err(|e| e.to_string()),
    };
    let on_threads = |threads: usize| {
        in_threads(threads, || run(&fixtures::context(seed))).map_err(|e| e.to_string())
    };
    let differ = "one thread and three threads give different results";
    same_outcome(&alone, &on_threads(3), differ, || on_threads(1))?;
    alone.map(drop)
}

/// Checks that two outcomes are equal. If they are not, the number of threads is called the cause only if runs on one
/// thread all give the same.
fn same_outcome<T: PartialEq>(
    one: &Result<T, String>,
    other: &Result<T, String>,
    differ: &str,
    on_one_thread: impl Fn() -> Result<T, String>,
) -> Verdict {
    if one == other {
        return Ok(());
    }
    if let (Ok(_), Err(e)) | (Err(e), Ok(_)) = (one, other) {
        return Err(format!(
            "two runs with one seed differ: one gives a result, the other fails ({e}); {SAME_ON_ONE_THREAD}"
        ));
    }
    let repeated: Vec<Result<T, String>> = (0..REPEATS).map(|_| on_one_thread()).collect();
    let is_steady = repeated.windows(2).all(|pair| pair[0] == pair[1]);
    ensure!(is_steady, "two runs with one seed differ, on one thread too; {SAME_ON_ONE_THREAD}");
    Err(format!("{differ}; {SAME_ON_THREADS}"))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn the_cause_of_a_difference_is_the_likely_one() {
        let calls = AtomicUsize::new(0);
        let call = || calls.fetch_add(1, Ordering::Relaxed);
        let complaint = same_every_time(|| Ok(call())).unwrap_err();
        assert!(complaint.ends_with(SAME_ON_ONE_THREAD), "{complaint}");
        assert!(complaint.contains("HashMap"), "{complaint}");
        let complaint = same_on_threads(1, |_| Ok(call())).unwrap_err();
        assert!(complaint.ends_with(SAME_ON_ONE_THREAD), "{complaint}");

        let complaint = same_every_time(|| Ok(rayon::current_num_threads())).unwrap_err();
        assert!(complaint.ends_with(SAME_ON_THREADS), "{complaint}");
        let complaint = same_on_threads(1, |_| Ok(rayon::current_num_threads())).unwrap_err();
        assert!(complaint.ends_with(SAME_ON_THREADS), "{complaint}");

        let every_other =
            || if call().is_multiple_of(2) { Ok(()) } else { Err("no root".to_string()) };
        let complaint = same_every_time(every_other).unwrap_err();
        assert!(complaint.contains("the other fails (no root); "), "{complaint}");
        assert!(complaint.ends_with(SAME_ON_ONE_THREAD), "{complaint}");

        // An error that is the same each time is an outcome.
        let same = same_every_time(|| Err::<(), _>("infeasible".to_string()));
        assert_eq!(same, Ok(Err("infeasible".to_string())));
    }
}
