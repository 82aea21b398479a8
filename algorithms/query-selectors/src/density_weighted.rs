//! Disputed objects that represent many others.

use mustlink_core::prelude::*;
use mustlink_kernels::ensemble::co_association::CoAssociation;

use crate::committee::Committee;

/// Objects that a committee disputes and that lie among many others.
///
/// # Method
/// Works as `committee`, but the next object is the one with the largest (1 − margin) · density^β. The density around
/// an object is its mean co-association with the 10 objects most associated with it.
/// # Input and output
/// The input of the generator, dense or sparse rows; k from the problem or the option.
/// # Errors
/// Returns the errors of `committee`.
/// # Cost and randomness
/// As `committee`, and one row of counts for each object: O(n²), without a matrix O(n² τ / 32).
/// # References
/// The expansion of [Greene2007] with the information density of [SettlesCraven2008].
#[options]
pub struct DensityWeighted {
    /// Weight of the density (β); 0 gives the margin alone.
    #[option(default = 1.0, min = 0.0)]
    pub beta: f64,
    /// Options shared with `committee`.
    #[option(flatten)]
    pub committee: Committee,
}

#[plugin("density_weighted", cites = ["Greene2007", "SettlesCraven2008"])]
impl QuerySelector for DensityWeighted {
    fn start(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Inquiry>> {
        let (n, beta, mut density) = (problem.n(), self.beta, Vec::new());
        self.committee.begin("density_weighted", problem, ctx, move |expansion, groups| {
            if density.is_empty() {
                let (co, ctx, eligible) =
                    (expansion.co_association(), groups.ctx(), groups.eligible());
                let of = |&i: &u32| {
                    ctx.check()?;
                    Ok(around(co, i, beta))
                };
                let found: Vec<f64> = reduce::try_map(eligible.len(), |at| of(&eligible[at]))?;
                density = vec![0.0; n];
                eligible.iter().zip(found).for_each(|(&i, around)| density[i as usize] = around);
            }
            let candidates = expansion.candidates(groups);
            let score = |&i: &u32| {
                if expansion.comes_last(i) {
                    -1.0
                } else {
                    (1.0 - expansion.margin(i).value()) * density[i as usize]
                }
            };
            let scores: Vec<Option<f64>> = candidates.iter().map(|i| Some(score(i))).collect();
            Ok(groups.best(&scores).map(|at| candidates[at]))
        })
    }

    fn properties(&self) -> SelectorProperties {
        self.committee.properties()
    }

    fn memory(&self, shape: &Shape) -> u64 {
        self.committee.memory(shape)
    }
}

/// Neighbours whose co-associations make the density around an object.
const NEIGHBOURS: usize = 10;

/// The information density around object `i` ([SettlesCraven2008]): (mean co-association with the 10
/// objects most associated with it)^β.
fn around(co: &CoAssociation, i: u32, beta: f64) -> f64 {
    let mut row = co.row(i as usize);
    row.swap_remove(i as usize);
    if row.len() > NEIGHBOURS {
        row.select_nth_unstable_by(NEIGHBOURS, |a, b| b.cmp(a));
        row.truncate(NEIGHBOURS);
    }
    let sum: u32 = row.iter().sum();
    let mean = f64::from(sum) / (row.len().max(1) * co.members()) as f64;
    mean.powf(beta)
}
