//! How are many members made, and made again where one fails?

use std::sync::atomic::{AtomicU64, Ordering};

use mustlink_core::prelude::*;
use rayon::prelude::*;

/// The most members an ensemble may have.
pub(crate) const MOST_MEMBERS: usize = 65_535;

/// Runs `one` for every member number, again where it fails, and strings the results together.
///
/// Number t draws from the path `member/t` alone, and when it failed from `member/t/again/a`.
///
/// # Errors
/// `BadParam` for the number of members; the first error in order that is left once
/// `max_failures` members were made again.
pub(crate) fn in_parallel(
    members: usize,
    max_failures: usize,
    ctx: &Context,
    one: impl Fn(usize, &Context) -> Result<Vec<Member>> + Sync,
) -> Result<Vec<Member>> {
    if members > MOST_MEMBERS {
        let legal = format!("in 1..={MOST_MEMBERS}");
        return Err(Error::bad_param("members", members, legal));
    }
    let done = AtomicU64::new(0);
    let attempts = |t: usize| {
        let member = ctx.child("member").index(t);
        (0..=max_failures).map(move |attempt| match attempt {
            0 => member.clone(),
            _ => member.child("again").index(attempt),
        })
    };
    let made: Vec<Result<(Vec<Member>, usize)>> = (0..members)
        .into_par_iter()
        .map(|t| {
            let mut last = None;
            for (failures, member) in attempts(t).enumerate() {
                ctx.check()?;
                match one(t, &member) {
                    Ok(mut made) => {
                        if ctx.labels_only() {
                            made.iter_mut().for_each(|m| m.extras = Extras::default());
                        }
                        let done = 1 + done.fetch_add(1, Ordering::Relaxed);
                        ctx.progress(done, Some(members as u64));
                        return Ok((made, failures));
                    }
                    Err(e) => last = Some(e),
                }
            }
            ctx.check()?;
            Err(last.expect("at least one attempt"))
        })
        .collect();
    let mut all = Vec::with_capacity(members);
    let mut failures = 0;
    for result in made {
        let (more, failed) = result?;
        failures += failed;
        all.extend(more);
    }
    if failures > max_failures {
        let legal = format!(">= {failures} for this data");
        return Err(Error::bad_param("max_failures", max_failures, legal));
    }
    Ok(all)
}

/// The properties of a generator that runs all of `clusterers` on the same objects.
pub(crate) fn properties<'a>(
    clusterers: impl Iterator<Item = &'a dyn BaseClusterer>,
) -> GeneratorProperties {
    let facts = clusterers.map(|c| c.properties()).map(|facts| GeneratorProperties {
        accepts: facts.accepts,
        needs_k: facts.needs_k,
        reads_constraints: facts.reads_constraints,
    });
    let both = |a: GeneratorProperties, b: GeneratorProperties| GeneratorProperties {
        accepts: a.accepts.into_iter().filter(|kind| b.accepts.contains(kind)).collect(),
        needs_k: a.needs_k || b.needs_k,
        reads_constraints: a.reads_constraints || b.reads_constraints,
    };
    facts.reduce(both).unwrap_or_default()
}

/// Bytes of so many members over all objects: labels, and centres unless nobody reads them.
pub(crate) fn members_memory(members: usize, shape: &Shape, labels_only: bool) -> u64 {
    let extras = if labels_only { 0 } else { 8 * shape.k * shape.d };
    (members * (4 * shape.n + extras)) as u64
}

/// Bytes: so many members, and one run of `clusterer` for each thread.
pub(crate) fn runs_memory(
    members: usize,
    clusterer: &dyn BaseClusterer,
    shape: &Shape,
    labels_only: bool,
) -> u64 {
    members_memory(members, shape, labels_only) + threads(members) * clusterer.memory(shape)
}

/// The same where members are made by several clusterers: that of the one that takes most.
pub(crate) fn most_memory(
    members: usize,
    clusterers: &[Box<dyn BaseClusterer>],
    shape: &Shape,
    labels_only: bool,
) -> u64 {
    let of = |c: &dyn BaseClusterer| runs_memory(members, c, shape, labels_only);
    clusterers.iter().map(|c| of(&**c)).max().unwrap_or(0)
}

/// How many of so many members are made at once.
pub(crate) fn threads(members: usize) -> u64 {
    rayon::current_num_threads().min(members) as u64
}
