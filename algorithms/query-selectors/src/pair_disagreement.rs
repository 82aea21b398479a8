//! Pairs with the largest variance of the votes of an ensemble.

use mustlink_core::prelude::*;
use mustlink_kernels::ensemble::co_association::{CoAssociation, Normalise};

use crate::parts::pair_list::along;
use crate::parts::pair_pool::Pool;

/// Pairs on which the members of an ensemble are most divided, by variance.
///
/// # Method
/// The score is τ/(τ − 1) · A (1 − A) of the co-association A of the pair, in which members may have different weights.
/// With up to 2000 eligible objects, every pair is scored; with more, `pool` random pairs are. Pairs are asked by
/// decreasing score, ties in random order, with no object in more than `per_object` of them. Without weights these are
/// the pairs of `pair_entropy`.
/// # Input and output
/// The input of the generator, dense or sparse rows. One batch of pairs; replies only change which pairs are
/// entailed.
/// # Errors
/// The errors of the generator; `BadParam` for `pool` and `per_object`, and for weights that are negative, all 0 or
/// not one per member.
/// # Cost and randomness
/// The ensemble, then O(τ) for each pair scored. Random in the ensemble, the pool and ties.
/// # References
/// Query by committee with the votes of [Greene2007].
#[options]
pub struct PairDisagreement {
    /// Options of the committee, and for the pairs that are asked.
    #[option(flatten)]
    pub pool: Pool,
    /// Weight of each member. If absent, all are equal.
    pub weights: Option<Vec<f64>>,
    /// Skip pairs whose answer follows from earlier replies, instead of asking them.
    #[option(default = true)]
    pub skip_entailed: bool,
}

#[plugin("pair_disagreement", cites = ["Greene2007"], version = 2)]
impl QuerySelector for PairDisagreement {
    fn start(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Inquiry>> {
        let ensemble = self.pool.ensemble(problem, ctx)?;
        let tau = ensemble.len();
        if let Some(w) = &self.weights {
            let legal = w.len() == tau && w.iter().all(|w| w.is_finite() && *w >= 0.0);
            if !legal || w.iter().sum::<f64>() <= 0.0 {
                let legal = format!("{tau} weights >= 0, one for each member, not all 0");
                return Err(Error::bad_param("weights", format!("{w:?}"), legal));
            }
        }
        let co = CoAssociation::implicit(&ensemble);
        let weighted = |i: u32, j: u32, weights: &[f64]| {
            let (mut together, mut seen) = (0.0, 0.0);
            for (m, w) in ensemble.members().iter().zip(weights) {
                let (a, b) = (m.labels[i as usize], m.labels[j as usize]);
                if a != NONE && b != NONE {
                    seen += w;
                    together += if a == b { *w } else { 0.0 };
                }
            }
            (seen > 0.0).then(|| together / seen)
        };
        let score = |i: u32, j: u32| {
            let a = match &self.weights {
                Some(w) => weighted(i, j, w),
                None => co.association(i as usize, j as usize, Normalise::CoPresence),
            };
            // A pair that no member saw is as uncertain as can be.
            let a = a.unwrap_or(0.5);
            tau as f64 / (tau.max(2) - 1) as f64 * a * (1.0 - a)
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
