//! What do runs of one clusterer say that each saw other mixtures of the features?

use mustlink_core::prelude::*;

use crate::members::{MemberK, Settings, SingleClusterer};
use crate::sampling::{Projection, Sampling};

/// Many runs of one clusterer, each on random mixtures of the features.
///
/// # Method
/// Each member multiplies the data by a random d × m matrix and clusters the result.
/// # Input and output
/// Dense or sparse rows; the clusterer must take dense ones. `members` partitions, without centres.
/// # Errors
/// `BadParam` for `members`, `dimensions` and `k`; a member that fails is made again, `max_failures`
/// times in all, then its error is returned.
/// # Cost and randomness
/// `members` runs, in parallel, and O(entries · m) each.
/// # References
/// [FernBrodley2003]; `sparse`: [Achlioptas2003].
#[options]
pub struct RandomProjection {
    /// Number of members (τ).
    #[option(default = 100, min = 1, max = 65535)]
    pub members: usize,
    /// Number of clusters of each member: a number, `{ min, max }` or `{ list }`; absent: that of the problem.
    pub k: Option<MemberK>,
    /// What makes a member.
    #[option(slot = "kmeans")]
    pub clusterer: Option<Box<dyn BaseClusterer>>,
    /// How the mixtures are drawn.
    pub kind: Projection,
    /// Number of mixtures (m), at most d; absent: twice the logarithm of n rounded up, at least 2.
    #[option(min = 1)]
    pub dimensions: Option<usize>,
    /// How many failed members are made again before giving up.
    pub max_failures: usize,
}

impl RandomProjection {
    fn recipe(&self) -> SingleClusterer<'_> {
        let settings = Settings::new(self.members, self.k.as_ref(), self.max_failures);
        SingleClusterer {
            clusterer: self.clusterer(),
            sampling: Some(Sampling::RandomProjection {
                kind: self.kind,
                dimensions: self.dimensions,
            }),
            settings,
        }
    }
}

#[plugin("random_projection", cites = ["FernBrodley2003", "Achlioptas2003"], waives = ["every_option_changes_something.max_failures" => "no member of the small problems fails"])]
impl EnsembleGenerator for RandomProjection {
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

    use mustlink_core::random::SeedPath;

    #[test]
    fn lengths_are_kept_on_average() {
        let (p, _) = fixtures::dense(1);
        for kind in [Projection::Gaussian, Projection::Sparse] {
            let view = Sampling::RandomProjection { kind, dimensions: Some(4) };
            let mut ratio = 0.0;
            for t in 0..400 {
                let ctx = Context::builder(SeedPath::new(t)).build();
                let seen = view.draw(&p, 3, &ctx).unwrap().problem;
                ratio += seen.data.row(0).norm2() / p.data.row(0).norm2() / 400.0;
            }
            assert!((ratio - 1.0).abs() < 0.15, "{kind:?}: {ratio}");
        }
    }

    #[test]
    fn sparse_rows_are_mixed_alike() {
        let (dense, sparse) = (fixtures::dense(1).0, fixtures::sparse(1).0);
        let g = RandomProjection { members: 4, ..RandomProjection::default() };
        let labels = |p: &Problem| -> Vec<Vec<u32>> {
            let e = g.generate(p, &Context::new(3)).unwrap();
            e.members().iter().map(|m| m.labels.clone()).collect()
        };
        assert_eq!(labels(&dense), labels(&sparse));
        let five = RandomProjection { dimensions: Some(5), ..g }.generate(&dense, &Context::new(1));
        let text = "dimensions: must be in 1..=4, got 5";
        assert_eq!(five.unwrap_err().root().to_string(), text);
    }
}
