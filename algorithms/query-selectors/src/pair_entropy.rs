//! On which pairs is an ensemble most divided?

use mustlink_core::prelude::*;
use mustlink_kernels::co_association::{CoAssociation, Normalise};

use crate::disputed::{Pool, disputed};
use crate::pair_list::{PairList, along};

/// Pairs on which the members of an ensemble are most divided, by entropy.
///
/// # Method
/// The score is h(A) = −A log A − (1 − A) log(1 − A) of the co-association A of the pair. Every pair of eligible objects is scored where there are at most 2000 of these, else `pool`
/// random ones; pairs are asked by decreasing score, ties in random order, no object more than
/// `per_object` times.
/// # Input and output
/// What the generator takes, dense or sparse rows. One batch of pairs; replies change nothing but
/// what is entailed.
/// # Errors
/// Those of the generator; `BadParam` for `pool` and `per_object`.
/// # Cost and randomness
/// The ensemble, then O(τ) for each pair scored. Random in the ensemble, the pool and ties.
/// # References
/// Query by committee with the votes of [Greene2007].
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PairEntropy {
    /// What makes the committee.
    #[schemars(extend("x-default" = "subsample"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generator: Option<Box<dyn EnsembleGenerator>>,
    /// Pairs scored where there are more than 2000 eligible objects.
    #[schemars(range(min = 1))]
    pub pool: usize,
    /// Questions about one object, at most.
    #[schemars(range(min = 1))]
    pub per_object: usize,
    /// Whether pairs that earlier replies entail are passed over for free instead of asked.
    pub skip_entailed: bool,
}

impl Default for PairEntropy {
    fn default() -> Self {
        PairEntropy { generator: None, pool: 100_000, per_object: 3, skip_entailed: true }
    }
}

register!(QuerySelector, PairEntropy, "pair_entropy", references: ["Greene2007"]);

impl PairEntropy {
    fn pool(&self) -> Pool {
        Pool { size: self.pool, per_object: self.per_object }
    }
}

#[typetag::serde(name = "pair_entropy")]
impl QuerySelector for PairEntropy {
    fn start(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Inquiry>> {
        let generator = slot::<Self, dyn EnsembleGenerator>(&self.generator, "generator")?;
        let ensemble = ctx.ensemble_labels(&**generator, problem).map_err(|e| e.at("generator"))?;
        let co = CoAssociation::implicit(&ensemble);
        let score = |i: u32, j: u32| {
            // A pair that no member saw is as uncertain as can be.
            let a = co.association(i as usize, j as usize, Normalise::CoPresence).unwrap_or(0.5);
            let term = |p: f64| if p > 0.0 { -p * p.log2() } else { 0.0 };
            term(a) + term(1.0 - a)
        };
        let pairs = disputed(problem, &self.pool(), score, ctx)?;
        Ok(PairList::start(problem, pairs, self.skip_entailed, "disputed"))
    }

    fn properties(&self) -> SelectorProperties {
        let generator = slot::<Self, dyn EnsembleGenerator>(&self.generator, "generator");
        along(generator, self.skip_entailed)
    }

    fn memory(&self, shape: &Shape) -> u64 {
        let generator = slot::<Self, dyn EnsembleGenerator>(&self.generator, "generator");
        self.pool().memory(generator, shape)
    }
}
