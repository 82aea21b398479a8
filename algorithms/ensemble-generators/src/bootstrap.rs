//! What do runs of one clusterer say that each saw the objects in other proportions?

use mustlink_core::prelude::*;

use crate::members::{MemberK, OutOfSample, Settings, SingleClusterer};
use crate::sampling::Sampling;

/// Many runs of one clusterer, each on n objects drawn with replacement; the others are classified.
///
/// # Method
/// Each member draws n objects with replacement; an object drawn twice weighs twice. About a third
/// of the objects are left out and join the nearest cluster in the member's own geometry.
/// # Input and output
/// What the clusterer takes. `members` partitions of all objects, or with
/// `out_of_sample = "leave_out"` of those each saw.
/// # Errors
/// `BadParam` for `members` and `k`; a member that fails is made again, `max_failures` times in all,
/// then its error is returned.
/// # Cost and randomness
/// `members` runs, in parallel; random in samples and starts.
/// # References
/// [DudoitFridlyand2003].
#[options]
pub struct Bootstrap {
    /// Number of members (τ).
    #[option(default = 100, min = 1, max = 65535)]
    pub members: usize,
    /// Number of clusters of each member: a number, `{ min, max }` or `{ list }`; absent: that of the problem.
    pub k: Option<MemberK>,
    /// What makes a member.
    #[option(slot = "kmeans")]
    pub clusterer: Option<Box<dyn BaseClusterer>>,
    /// What happens to the objects a member did not draw.
    pub out_of_sample: OutOfSample,
    /// How many failed members are made again before giving up.
    pub max_failures: usize,
}

impl Bootstrap {
    fn recipe(&self) -> SingleClusterer<'_> {
        let settings = Settings::new(self.members, self.k.as_ref(), self.max_failures);
        SingleClusterer {
            clusterer: self.clusterer(),
            sampling: Some(Sampling::Bootstrap { out_of_sample: self.out_of_sample }),
            settings,
        }
    }
}

#[plugin("bootstrap", cites = ["DudoitFridlyand2003"], waives = ["every_option_changes_something.max_failures" => "no member of the small problems fails"])]
impl EnsembleGenerator for Bootstrap {
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
    fn about_a_third_is_left_out() {
        let (p, _) = fixtures::dense(1);
        let g =
            Bootstrap { members: 20, out_of_sample: OutOfSample::LeaveOut, ..Bootstrap::default() };
        let e = g.generate(&p, &Context::new(3)).unwrap();
        let missing = |m: &Member| m.labels.iter().filter(|l| **l == NONE).count();
        let all: usize = e.members().iter().map(missing).sum();
        // 45 · 20 · e⁻¹ ≈ 331.
        assert!((260..400).contains(&all), "{all}");
    }

    #[test]
    fn every_object_gets_a_label() {
        let (p, classes) = fixtures::dense(1);
        let g = Bootstrap { members: 6, ..Bootstrap::default() };
        for m in g.generate(&p, &Context::new(3)).unwrap().members() {
            assert!(m.labels.iter().all(|&l| (l as usize) < m.k));
            assert_eq!(mustlink_core::clustering::canonical(&classes), m.labels);
        }
    }
}
