//! The law that a plugin checks the cancel flag in every round.

use serde_json::Value;

use super::fixtures::PATIENCE;
use super::law::{Lawful, Verdict};
use crate::ensure;
use mustlink_core::clustering::Clustering;
use mustlink_core::context::Context;
use mustlink_core::error::Error;
use mustlink_core::random::SeedPath;

/// Options that set how often something is done.
const TIMES: [&str; 6] =
    ["max_iterations", "restarts", "members", "rounds", "sweeps", "iterations"];

fn counted<R: ?Sized, T>(
    p: &R,
    run: impl Fn(&R, &Context) -> Result<T, Error>,
) -> Result<(T, u64), String> {
    let seed = SeedPath::new(3);
    let ctx = Context::builder(seed).time_limit(Some(PATIENCE)).count_looks().build();
    let made = run(p, &ctx).map_err(|e| e.to_string())?;
    Ok((made, ctx.looks()))
}

/// If an option lets a plugin do something twice, and once is another result, it looks more often.
pub(super) fn grow_with_the_work<R: Lawful + ?Sized, T: PartialEq>(
    p: &R,
    run: impl Fn(&R, &Context) -> Result<T, Error>,
) -> Verdict {
    for option in TIMES {
        let config = p.to_value();
        if !config.get(option).is_some_and(Value::is_u64) {
            continue;
        }
        let at = |times: u64| {
            let mut config = config.clone();
            config[option] = times.into();
            counted(&*R::from_value(config)?, &run)
        };
        // What refuses such a number is no loop of that length.
        let ((once, few), (often, many)) = match (at(1), at(5)) {
            (Ok(one), Ok(other)) => (one, other),
            (Err(e), _) | (_, Err(e)) if e.contains("panicked: ") => {
                return Err(format!("{option} = 1 or 5: {e}"));
            }
            _ => continue,
        };
        ensure!(
            once == often || many > few,
            "{option} = 1 and 5 give different results and it looks at the flag {few} and {many} \
             times; call ctx.check() in the loop"
        );
    }
    Ok(())
}

/// One look at least for each entry of its history.
pub(super) fn cover_the_history<R: ?Sized>(
    p: &R,
    run: impl Fn(&R, &Context) -> Result<Clustering, Error>,
) -> Verdict {
    let (made, looks) = counted(p, run)?;
    let sweeps = made.history.len();
    ensure!(
        looks >= sweeps as u64,
        "its history has {sweeps} sweeps and it looked at the flag {looks} times; call \
         ctx.check() every sweep"
    );
    Ok(())
}
