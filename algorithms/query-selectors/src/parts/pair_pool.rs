//! The pairs that an ensemble disputes most.
//!
//! `pair_entropy` and `pair_disagreement` differ in the number they give a pair, and in that the
//! second weighs members; what is here draws the pool, orders it and limits the questions about one
//! object.

use std::collections::HashMap;
use std::sync::Arc;

use mustlink_core::knowledge::Knowledge;
use mustlink_core::prelude::*;

use crate::parts::pair_list::PairList;

/// Eligible objects above which the pool is a sample.
pub const ALL_PAIRS_UP_TO: usize = 2000;

/// Options for the pairs that are scored, and the number of pairs per object.
#[options]
pub struct Limits {
    /// Number of pairs scored if there are more than 2000 eligible objects.
    #[option(
        default = 100_000,
        min = 1,
        inert = "it matters only beyond 2000 eligible objects, and the small problems have fewer"
    )]
    pub pool: usize,
    /// Maximum number of questions about one object.
    #[option(default = 3, min = 1)]
    pub per_object: usize,
}

/// Options of a committee and of the pool of its pairs.
#[options]
pub struct Pool {
    /// Generator that makes the committee.
    #[option(slot = "subsample")]
    pub generator: Option<Box<dyn EnsembleGenerator>>,
    /// Options of the pool.
    #[option(flatten)]
    pub limits: Limits,
}

impl Limits {
    /// Bytes of a pool of pairs of n objects.
    pub(crate) fn memory(&self, n: usize) -> u64 {
        let all = ALL_PAIRS_UP_TO * ALL_PAIRS_UP_TO / 2;
        40 * (n * n / 2).min(self.pool.max(all)) as u64
    }
}

impl Pool {
    /// The committee.
    ///
    /// # Errors
    /// A default generator that is not linked; the errors of the generator.
    pub(crate) fn ensemble(&self, problem: &Problem, ctx: &Context) -> Result<Arc<Ensemble>> {
        let generator = self.generator()?;
        ctx.ensemble_labels(&**generator, problem).map_err(|e| e.at("generator"))
    }

    /// Bytes: two ensembles of the generator (packed and as it was made), and the pool.
    pub(crate) fn memory(&self, shape: &Shape) -> u64 {
        self.generator().map_or(0, |g| 2 * g.memory(shape, true)) + self.limits.memory(shape.n)
    }

    /// Asks the pairs of the pool by decreasing `score`.
    pub(crate) fn disputed(
        &self,
        problem: &Problem,
        score: &(dyn Fn(u32, u32) -> f64 + Sync),
        skip_entailed: bool,
        ctx: &Context,
    ) -> Result<Box<dyn Inquiry>> {
        let mut open = not_given(problem, skip_entailed);
        let pairs = most_disputed(problem, &self.limits, score, &mut open, ctx)?;
        Ok(PairList::start(problem, pairs, skip_entailed, "disputed"))
    }
}

/// The pairs of eligible objects by decreasing `score` (from 0 to 1), ties in random order, no object in more than
/// `per_object` of them. Scores that differ by less than 1e-12 are ties: p and 1 − p dispute a pair alike, but
/// c/τ and 1 − c/τ round differently, and all pairs of one kind would come before the other's. Pairs that are not
/// `open` do not count, nor are they there.
///
/// # Errors
/// `BadParam` for a pool or a limit of 0.
pub fn most_disputed(
    problem: &Problem,
    limits: &Limits,
    score: &(dyn Fn(u32, u32) -> f64 + Sync),
    open: &mut dyn FnMut(u32, u32) -> bool,
    ctx: &Context,
) -> Result<Vec<(u32, u32)>> {
    let eligible = problem.eligible_objects();
    let m = eligible.len();
    // A sample larger than the pairs there are could never be drawn.
    let mut pairs: Vec<(u32, u32)> = if m <= ALL_PAIRS_UP_TO || m * (m - 1) / 2 <= limits.pool {
        (0..m)
            .flat_map(|b| (0..b).map(move |a| (a, b)))
            .map(|(a, b)| (eligible[a], eligible[b]))
            .collect()
    } else {
        let mut draw = ctx.stream("pool");
        let mut drawn = std::collections::HashSet::with_capacity(limits.pool);
        let mut pairs = Vec::with_capacity(limits.pool);
        while pairs.len() < limits.pool {
            let (a, b) = (draw.below(m), draw.below(m));
            if a != b && drawn.insert((a.min(b), a.max(b))) {
                pairs.push((eligible[a.min(b)], eligible[a.max(b)]));
            }
        }
        pairs
    };
    ctx.check()?;
    ctx.stream("ties").shuffle(&mut pairs);
    let rounded = |score: f64| (score * 1e12).round();
    let mut scored: Vec<(f64, (u32, u32))> =
        reduce::map(pairs.len(), |at| (rounded(score(pairs[at].0, pairs[at].1)), pairs[at]));
    // The sort is stable: ties stay shuffled.
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut asked: HashMap<u32, usize> = HashMap::new();
    let mut out = Vec::new();
    for (_, (i, j)) in scored {
        let often = |x| asked.get(&x).copied().unwrap_or(0);
        if often(i).max(often(j)) < limits.per_object && open(i, j) {
            *asked.entry(i).or_default() += 1;
            *asked.entry(j).or_default() += 1;
            out.push((i, j));
        }
    }
    Ok(out)
}

/// Which pairs the constraints of `problem` do not settle; all, where such are not to be passed over.
fn not_given(problem: &Problem, skip_entailed: bool) -> impl FnMut(u32, u32) -> bool {
    let given = skip_entailed && !problem.constraints.is_empty();
    let mut known = given.then(|| Knowledge::new(problem.n(), &problem.constraints));
    move |i, j| known.as_mut().is_none_or(|known| known.relation(i, j).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_larger_than_all_pairs_is_all_pairs() {
        let n = ALL_PAIRS_UP_TO + 1;
        let data = Data::dense(ndarray::Array2::zeros((n, 1))).unwrap();
        let limits = Limits { pool: usize::MAX, per_object: n };
        let (problem, ctx) = (Problem::new(data), Context::new(1));
        let pairs =
            most_disputed(&problem, &limits, &|_, _| 1.0, &mut not_given(&problem, true), &ctx)
                .unwrap();
        assert_eq!(pairs.len(), n * (n - 1) / 2);
    }

    /// 1/3 and 1 − 2/3 differ in their last bit.
    #[test]
    fn scores_that_differ_by_rounding_are_ties() {
        let problem = Problem::new(Data::dense(ndarray::Array2::zeros((12, 1))).unwrap());
        let limits = Limits { pool: 1, per_object: 12 };
        let kind = |i: u32, j: u32| (i + j) % 2;
        let p = [1.0 / 3.0, 1.0 - 2.0 / 3.0];
        assert_ne!(p[0], p[1]);
        let score = |i, j| p[kind(i, j) as usize];
        let pairs =
            most_disputed(&problem, &limits, &score, &mut |_, _| true, &Context::new(1)).unwrap();
        let odd = pairs[..20].iter().filter(|&&(i, j)| kind(i, j) == 1).count();
        assert!((5..=15).contains(&odd), "{odd} of 20");
    }
}
