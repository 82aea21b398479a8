//! Which disputed objects stand for many others?

use mustlink_core::prelude::*;

use crate::committee::{Beginning, Committee};

/// Objects that a committee disputes and that lie among many others.
///
/// # Method
/// As `committee`, but the next object is the one with the largest (1 − margin) · density^β; the
/// density around an object is its mean co-association with the 10 objects most associated with it.
/// # Input and output
/// What the generator takes, dense or sparse rows; k from the problem or the option.
/// # Errors
/// Those of `committee`.
/// # Cost and randomness
/// As `committee`, and one row of counts for each object: O(n²), without a matrix O(n² τ / 32).
/// # References
/// The expansion of [Greene2007] with the information density of [SettlesCraven2008].
#[options]
pub struct DensityWeighted {
    /// The committee.
    #[option(flatten)]
    pub committee: Committee,
    /// How much the density counts (β); 0 gives the margin alone.
    #[option(default = 1.0, min = 0.0)]
    pub beta: f64,
}

#[plugin("density_weighted", cites = ["Greene2007", "SettlesCraven2008"])]
impl QuerySelector for DensityWeighted {
    fn start(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Inquiry>> {
        let (beginning, beta) = (Beginning::Imputed, Some(self.beta));
        self.committee.begin(beginning, beta, "density_weighted", problem, ctx)
    }

    fn properties(&self) -> SelectorProperties {
        self.committee.properties()
    }

    fn memory(&self, shape: &Shape) -> u64 {
        self.committee.memory(shape)
    }
}
