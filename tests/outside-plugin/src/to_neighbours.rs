//! Constraints that spread to the nearest neighbours of their objects.

use std::collections::BTreeMap;

use mustlink::kernels::{Distortion, Neighbours, Points};
use mustlink::prelude::*;

/// Each constraint also holds, for less, for the nearest neighbours of its objects.
///
/// # Method
/// From a pair (i, j) of weight w come (i', j) and (i, j') of weight `share`·w, where i' is the object
/// nearest to i. A pair that comes from several keeps the largest weight of each kind; pairs that were
/// given stay as they are.
/// # Input and output
/// Dense or sparse data, squared Euclidean distance; the given constraints and the new ones.
/// # Errors
/// Cancellation.
/// # Cost and randomness
/// O(n²·d); nothing random.
#[options]
pub struct ToNeighbours {
    /// Weight of what is new, as a share of the constraint that it comes from.
    #[option(default = 0.5, above = 0.0, max = 1.0)]
    pub share: f64,
}

#[plugin("to_neighbours")]
impl ConstraintPropagator for ToNeighbours {
    fn propagate(
        &self,
        constraints: &Constraints,
        _: Option<&Clustering>,
        problem: &Problem,
        ctx: &Context,
    ) -> Result<Propagated> {
        ctx.check()?;
        if problem.n() < 2 || constraints.pairs().is_empty() {
            return Ok(Propagated::Constraints(constraints.clone()));
        }
        let points = Points::new(&problem.data, Distortion::SquaredEuclidean)?;
        let near = Neighbours::search(&points, 1, ctx)?;
        let given: Vec<(u32, u32)> = constraints.pairs().iter().map(|c| (c.i, c.j)).collect();
        let mut found: BTreeMap<(u32, u32, bool), f64> = BTreeMap::new();
        for c in constraints.pairs() {
            let weight = self.share * c.weight;
            for (a, b) in [(near.of(c.i as usize).0[0], c.j), (c.i, near.of(c.j as usize).0[0])] {
                let (i, j) = (a.min(b), a.max(b));
                if i != j && weight > 0.0 && !given.contains(&(i, j)) {
                    let most = found.entry((i, j, c.kind == Kind::MustLink)).or_default();
                    *most = most.max(weight);
                }
            }
        }
        let new = found.into_iter().map(|((i, j, must), weight)| {
            let kind = if must { Kind::MustLink } else { Kind::CannotLink };
            Constraint::new(i as usize, j as usize, kind).weighing(weight)
        });
        let all = Constraints::new(problem.n(), constraints.pairs().iter().copied().chain(new))?;
        let named = constraints.neighbourhoods().to_vec();
        Ok(Propagated::Constraints(all.with_neighbourhoods(named)))
    }

    fn memory(&self, shape: &Shape) -> u64 {
        (64 * shape.n + 8 * shape.entries) as u64 + (1 << 20)
    }
}
