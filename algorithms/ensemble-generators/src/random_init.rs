//! What do many runs of one clusterer say, when only their starts differ?

use mustlink_core::prelude::*;

use crate::members::{MemberK, Settings, SingleClusterer};

/// Many runs of one clusterer on all objects, each with its own random start.
///
/// # Method
/// Member t runs the clusterer under its own seed path; nothing else differs. An ensemble of τ
/// members is the beginning of every longer one.
/// # Input and output
/// What the clusterer takes. `members` partitions of all objects.
/// # Errors
/// `BadParam` for `members` and `k`; a member that fails is made again, `max_failures` times in all,
/// then its error is returned.
/// # Cost and randomness
/// `members` runs, in parallel.
/// # References
/// [StrehlGhosh2002]; [FredJain2005].
#[options]
pub struct RandomInit {
    /// Number of members (τ).
    #[option(default = 100, min = 1, max = 65535)]
    pub members: usize,
    /// Number of clusters of each member: a number, `{ min, max }` or `{ list }`; absent: that of the problem.
    pub k: Option<MemberK>,
    /// What makes a member.
    #[option(slot = "kmeans")]
    pub clusterer: Option<Box<dyn BaseClusterer>>,
    /// How many failed members are made again before giving up.
    pub max_failures: usize,
}

impl RandomInit {
    fn recipe(&self) -> SingleClusterer<'_> {
        let settings = Settings::new(self.members, self.k.as_ref(), self.max_failures);
        SingleClusterer { clusterer: self.clusterer(), sampling: None, settings }
    }
}

#[plugin("random_init", cites = ["StrehlGhosh2002", "FredJain2005"], waives = ["every_option_changes_something.max_failures" => "no member of the small problems fails"])]
impl EnsembleGenerator for RandomInit {
    fn generate(&self, problem: &Problem, ctx: &Context) -> Result<Ensemble> {
        self.recipe().generate(problem, ctx)
    }

    fn properties(&self) -> GeneratorProperties {
        self.recipe().properties()
    }

    fn memory(&self, shape: &Shape, labels_only: bool) -> u64 {
        self.recipe().memory(shape, labels_only)
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
            RandomInit { members, ..RandomInit::default() }.generate(&p, &Context::new(3)).unwrap()
        };
        let (short, long) = (make(3), make(7));
        assert_eq!(short.members(), &long.members()[..3]);
    }

    #[test]
    fn labels_alone_are_kept_where_nothing_else_is_read() {
        let (p, _) = fixtures::dense(1);
        let g = RandomInit { members: 2, ..RandomInit::default() };
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
