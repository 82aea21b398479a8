//! Runs of one clusterer that differ only in their starts.

use mustlink_core::prelude::*;

use crate::parts::recipe::Recipe;

/// Many runs of one clusterer on all objects, each with its own random start.
///
/// # Method
/// Member t runs the clusterer under its own seed path; nothing else differs. The τ members of an ensemble are also
/// the first τ members of every longer one.
/// # Input and output
/// The input of the clusterer. `members` partitions of all objects.
/// # Errors
/// `BadParam` for `members` and `k`. A member that fails is made again, `max_failures` times in all; then its error
/// is returned.
/// # Cost and randomness
/// `members` runs, in parallel.
/// # References
/// [StrehlGhosh2002]; [FredJain2005].
#[options]
pub struct RandomInit {
    /// Options shared by generators that run one clusterer.
    #[option(flatten)]
    pub recipe: Recipe,
}

#[plugin("random_init", cites = ["StrehlGhosh2002", "FredJain2005"], version = 2)]
impl EnsembleGenerator for RandomInit {
    fn generate(&self, problem: &Problem, ctx: &Context) -> Result<Ensemble> {
        self.recipe.generate(None, problem, ctx)
    }

    fn properties(&self) -> GeneratorProperties {
        self.recipe.properties(None)
    }

    fn size(&self, shape: &Shape) -> Option<(usize, usize)> {
        Some(self.recipe.size(shape))
    }

    fn memory(&self, shape: &Shape, labels_only: bool) -> u64 {
        self.recipe.memory(None, shape, labels_only)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_base_clusterers as _;
    use mustlink_laws::fixtures;

    #[test]
    fn a_shorter_ensemble_begins_a_longer_one() {
        let (p, _) = fixtures::dense(1);
        let make = |members| {
            let recipe = Recipe { members, ..Recipe::default() };
            RandomInit { recipe }.generate(&p, &Context::new(3)).unwrap()
        };
        let (short, long) = (make(3), make(7));
        assert_eq!(short.members(), &long.members()[..3]);
    }

    #[test]
    fn labels_alone_are_kept_where_nothing_else_is_read() {
        let (p, _) = fixtures::dense(1);
        let g = RandomInit { recipe: Recipe { members: 2, ..Recipe::default() } };
        let whole = Context::new(3).ensemble(&g, &p).unwrap();
        let bare = Context::new(3).ensemble_labels(&g, &p).unwrap();
        for (whole, bare) in whole.members().iter().zip(bare.members()) {
            assert!(whole.extras.centers.is_some());
            assert_eq!(bare.extras, Extras::default());
            assert_eq!(bare.labels, whole.labels);
        }
        // Half a million bytes of centres that are not estimated where they are not kept.
        let shape = Shape { n: 100, d: 16_000, k: 2, entries: 1000, constraints: 0 };
        assert_eq!(g.memory(&shape, false) - g.memory(&shape, true), 2 * 2 * 16_000 * 8);
    }
}
