//! What do runs of one clusterer say that each saw a part of the features?

use mustlink_core::prelude::*;

use crate::members::{MemberK, Settings, SingleClusterer};
use crate::sampling::Sampling;

/// Many runs of one clusterer, each on a random share of the features.
///
/// # Method
/// Each member draws `fraction` of the features without replacement, at least one, and clusters all
/// objects on them.
/// # Input and output
/// Dense or sparse rows. `members` partitions. Centres are given over all features, the unseen ones
/// with weight 0; those of cosine members are not kept.
/// # Errors
/// `BadParam` for `members`, `fraction` and `k`; a member that fails is made again, `max_failures`
/// times in all, then its error is returned.
/// # Cost and randomness
/// `members` runs, in parallel, each with a copy of its features.
/// # References
/// [StrehlGhosh2002] §4.4.
#[options]
pub struct FeatureSubspace {
    /// Number of members (τ).
    #[option(default = 100, min = 1, max = 65535)]
    pub members: usize,
    /// Number of clusters of each member: a number, `{ min, max }` or `{ list }`; absent: that of the problem.
    pub k: Option<MemberK>,
    /// What makes a member.
    #[option(slot = "kmeans")]
    pub clusterer: Option<Box<dyn BaseClusterer>>,
    /// The share of the features a member sees.
    #[option(default = 0.5, above = 0.0, max = 1.0)]
    pub fraction: f64,
    /// How many failed members are made again before giving up.
    pub max_failures: usize,
}

impl FeatureSubspace {
    fn recipe(&self) -> SingleClusterer<'_> {
        let settings = Settings::new(self.members, self.k.as_ref(), self.max_failures);
        SingleClusterer {
            clusterer: self.clusterer(),
            sampling: Some(Sampling::FeatureSubspace { fraction: self.fraction }),
            settings,
        }
    }
}

#[plugin("feature_subspace", cites = ["StrehlGhosh2002"], waives = ["every_option_changes_something.max_failures" => "no member of the small problems fails"])]
impl EnsembleGenerator for FeatureSubspace {
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
    fn centres_come_back_into_the_whole_space() {
        let (p, _) = fixtures::dense(1);
        let g = FeatureSubspace { members: 4, ..FeatureSubspace::default() };
        for m in g.generate(&p, &Context::new(3)).unwrap().members() {
            let (c, w) = (m.extras.centers.as_ref().unwrap(), m.extras.weights.as_ref().unwrap());
            assert_eq!((c.dim(), m.extras.geometry), ((3, 4), Geometry::Weighted));
            assert_eq!(w.row(0).sum(), 2.0);
            // Each object lies nearest to the centre of its label, in its features.
            for (i, &l) in m.labels.iter().enumerate() {
                let Row::Dense(x) = p.data.row(i) else { panic!() };
                let far =
                    |h: usize| (0..4).map(|s| w[[h, s]] * (x[s] - c[[h, s]]).powi(2)).sum::<f64>();
                assert!((0..3).all(|h| far(l as usize) <= far(h) + 1e-12));
            }
        }
    }

    #[test]
    fn sparse_rows_lose_the_same_features() {
        let (dense, sparse) = (fixtures::dense(1).0, fixtures::sparse(1).0);
        let g = FeatureSubspace { members: 4, ..FeatureSubspace::default() };
        let labels = |p: &Problem| -> Vec<Vec<u32>> {
            let e = g.generate(p, &Context::new(3)).unwrap();
            e.members().iter().map(|m| m.labels.clone()).collect()
        };
        assert_eq!(labels(&dense), labels(&sparse));
    }
}
