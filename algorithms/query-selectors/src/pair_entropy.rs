//! Pairs with the largest entropy of the votes of an ensemble.

use mustlink_core::prelude::*;
use mustlink_kernels::ensemble::co_association::{CoAssociation, Normalise};

use crate::parts::pair_list::along;
use crate::parts::pair_pool::Pool;

/// Pairs on which the members of an ensemble are most divided, by entropy.
///
/// # Method
/// The score is h(A) = −A log A − (1 − A) log(1 − A) of the co-association A of the pair. With up to 2000 eligible
/// objects, every pair is scored; with more, `pool` random pairs are. Pairs are asked by decreasing score, ties in
/// random order, with no object in more than `per_object` of them. h and the variance A (1 − A) both fall with |A −
/// 1/2|: these are the pairs of `pair_disagreement` without weights.
/// # Input and output
/// The input of the generator, dense or sparse rows. One batch of pairs; replies only change which pairs are
/// entailed.
/// # Errors
/// The errors of the generator; `BadParam` for `pool` and `per_object`.
/// # Cost and randomness
/// The ensemble, then O(τ) for each pair scored. Random in the ensemble, the pool and ties.
/// # References
/// Query by committee with the votes of [Greene2007].
#[options]
pub struct PairEntropy {
    /// Options of the committee, and for the pairs that are asked.
    #[option(flatten)]
    pub pool: Pool,
    /// Skip pairs whose answer follows from earlier replies, instead of asking them.
    #[option(default = true)]
    pub skip_entailed: bool,
}

#[plugin("pair_entropy", cites = ["Greene2007"], version = 2)]
impl QuerySelector for PairEntropy {
    fn start(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Inquiry>> {
        let ensemble = self.pool.ensemble(problem, ctx)?;
        let co = CoAssociation::implicit(&ensemble);
        let score = |i: u32, j: u32| {
            // A pair that no member saw is as uncertain as can be.
            let a = co.association(i as usize, j as usize, Normalise::CoPresence).unwrap_or(0.5);
            let term = |p: f64| if p > 0.0 { -p * p.log2() } else { 0.0 };
            term(a) + term(1.0 - a)
        };
        self.pool.disputed(problem, &score, self.skip_entailed, ctx)
    }

    fn properties(&self) -> SelectorProperties {
        along(self.pool.generator(), self.skip_entailed)
    }

    fn memory(&self, shape: &Shape) -> u64 {
        self.pool.memory(shape)
    }
}
