//! Does it pay to ask what an ensemble decides by itself?

use std::collections::HashSet;

use mustlink_core::prelude::*;
use mustlink_kernels::ensemble::co_association::CoAssociation;
use mustlink_kernels::ensemble::imputation::Thresholds;

use crate::pair_list::{PairList, along};

/// Which pairs are asked.
#[options]
pub enum Side {
    /// Those the ensemble decides: imputed must-links and cannot-links.
    #[default]
    Imputed,
    /// Those it leaves open.
    NotImputed,
}

/// Random pairs that an ensemble decides by itself, or random pairs that it leaves open.
///
/// # Method
/// Uniform pairs of eligible objects are drawn without replacement, and kept while nearly all or
/// nearly none of the members put them together, or while neither is so, until there are `pairs`.
/// They are asked in the order drawn; what the ensemble says about them is not told.
/// # Input and output
/// What the generator takes, dense or sparse rows. One batch of pairs; all are asked.
/// # Errors
/// Those of the generator; `BadParam` for thresholds.
/// # Cost and randomness
/// The ensemble and O(τ) for each pair drawn, at most 1000 draws for each pair wanted. Random in the
/// ensemble and the draws.
/// # References
/// Figure 2 of [Greene2007], which asks only what is imputed correctly; here wrongly imputed pairs
/// take part, with their true reply.
#[options]
pub struct ImputedPairs {
    /// What makes the ensemble.
    #[option(slot = "subsample")]
    pub generator: Option<Box<dyn EnsembleGenerator>>,
    /// Which pairs are asked.
    pub side: Side,
    /// How many, at most.
    #[option(default = 1000)]
    pub pairs: usize,
    /// Share of the members from which on a pair is an imputed must-link (κ_m).
    #[option(default = 0.98, min = 0.0, max = 1.0)]
    pub kappa_must: f64,
    /// Share of the members up to which a pair is an imputed cannot-link (κ_c).
    #[option(min = 0.0, max = 1.0)]
    pub kappa_cannot: f64,
}

/// Draws for each pair wanted before the search is given up.
const PATIENCE: usize = 1000;

#[plugin("imputed_pairs", cites = ["Greene2007"])]
impl QuerySelector for ImputedPairs {
    fn start(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Inquiry>> {
        let generator = self.generator()?;
        let ensemble = ctx.ensemble_labels(&**generator, problem).map_err(|e| e.at("generator"))?;
        let thresholds = Thresholds::new(self.kappa_must, self.kappa_cannot, ensemble.len())?;
        let co = CoAssociation::implicit(&ensemble);
        let eligible = problem.eligible_objects();
        let m = eligible.len();
        let all = m * m.saturating_sub(1) / 2;
        let mut draw = ctx.stream("pairs");
        let mut drawn = HashSet::new();
        let mut pairs = Vec::new();
        for _ in 0..self.pairs.min(all).saturating_mul(PATIENCE) {
            if pairs.len() == self.pairs || drawn.len() == all {
                break;
            }
            ctx.check()?;
            let (a, b) = (draw.below(m), draw.below(m));
            if a == b || !drawn.insert((a.min(b), a.max(b))) {
                continue;
            }
            let (i, j) = (eligible[a.min(b)], eligible[a.max(b)]);
            let (x, y) = (i as usize, j as usize);
            let decided = thresholds.judge(co.count(x, y), co.joint(x, y)).is_some();
            if decided == (self.side == Side::Imputed) {
                pairs.push((i, j));
            }
        }
        Ok(PairList::start(problem, pairs, false, "imputed"))
    }

    fn properties(&self) -> SelectorProperties {
        let generator = self.generator();
        along(generator, false)
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let generator = self.generator();
        generator.map_or(0, |g| 2 * g.memory(shape, true)) + 64 * self.pairs as u64
    }
}
