//! What do the laws ask of any run, whatever the role and whatever comes out?

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

/// Two runs with one seed give the same, on any number of threads.
pub(super) fn same_every_time<T: PartialEq + Send>(
    run: impl Fn() -> Result<T, String> + Sync,
) -> Verdict {
    let first = run()?;
    for threads in [1, 7] {
        if in_threads(threads, &run)? != first {
            ensure!(
                run()? == first,
                "two runs with one seed differ; draw random numbers from ctx.stream(\"purpose\"), and let no \
                 clock, and no order of a hash map, reach the result"
            );
            let threads = if threads == 1 { "one thread gives" } else { "seven threads give" };
            return Err(format!("{threads} another result; {SAME_ON_THREADS}"));
        }
    }
    Ok(())
}

/// One thread and three give the same, where one is done soon enough to tell.
pub(super) fn same_on_threads<T: PartialEq + Send>(
    seed: u64,
    run: impl Fn(&Context) -> Result<T> + Sync,
) -> Verdict {
    let alone = match in_threads(1, || run(&fixtures::short_context(seed))) {
        Err(e) if matches!(e.root(), Error::TimedOut { .. }) => return Ok(()),
        result => result.map_err(|e| e.to_string())?,
    };
    let together = in_threads(3, || run(&fixtures::context(seed))).map_err(|e| e.to_string())?;
    ensure!(
        together == alone,
        "one thread and three threads give different results; {SAME_ON_THREADS}"
    );
    Ok(())
}
