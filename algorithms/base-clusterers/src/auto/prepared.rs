//! The objects as candidates see them, made once for all candidates that begin with the same transforms.

use std::collections::BTreeMap;

use mustlink_core::prelude::*;
use mustlink_core::run::{self, Transformed};

use super::portfolio::Candidate;

/// The objects after the first transforms of a candidate: those before the first that reads constraints.
#[derive(Clone)]
pub struct Prepared {
    /// Number of these transforms.
    pub steps: usize,
    /// The objects after them.
    pub made: Result<Transformed>,
}

/// Context for the random numbers of candidate `at`. It does not depend on the pairs that are held back, so that only
/// these make a difference.
pub fn place(ctx: &Context, at: usize) -> Context {
    ctx.child("candidates").index(at).for_trial()
}

#[cfg(test)]
impl Prepared {
    /// Objects before any transform.
    pub fn unchanged(problem: Problem) -> Self {
        Prepared { steps: 0, made: Ok(Transformed::unchanged(problem)) }
    }
}

/// The objects of `problem` as each candidate sees them. A transform is random as it is for the first of the candidates
/// that share it.
///
/// # Errors
/// Cancellation. The error of a transform is kept for the candidates that need it.
pub fn prepared(
    candidates: &[Candidate],
    problem: &Problem,
    ctx: &Context,
) -> Result<Vec<Prepared>> {
    let steps = |c: &Candidate| {
        let mut reads = c.transforms.iter().map(|t| t.properties().reads_constraints);
        reads.position(|reads| reads).unwrap_or(c.transforms.len())
    };
    let key = |c: &Candidate| {
        c.transforms[..steps(c)]
            .iter()
            .map(|t| (t.typetag_name(), t.to_value().to_string()))
            .collect::<Vec<_>>()
    };
    let keys: Vec<_> = candidates.iter().map(key).collect();
    let mut first: BTreeMap<_, usize> = BTreeMap::new();
    keys.iter().enumerate().for_each(|(c, key)| {
        first.entry(key).or_insert(c);
    });
    let make = |(key, &c): (_, &usize)| {
        ctx.check()?;
        let steps = steps(&candidates[c]);
        match run::transform(&candidates[c].transforms[..steps], problem, &place(ctx, c)) {
            Err(e @ (Error::Cancelled | Error::TimedOut { .. })) => Err(e),
            made => Ok((key, Prepared { steps, made })),
        }
    };
    let first: Vec<_> = first.iter().collect();
    let made: BTreeMap<_, _> =
        reduce::try_map(first.len(), |at| make(first[at]))?.into_iter().collect();
    Ok(keys.iter().map(|key| made[&key].clone()).collect())
}
