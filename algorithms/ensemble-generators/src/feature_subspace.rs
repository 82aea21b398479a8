//! What do runs of one clusterer say that each saw a part of the features?

use mustlink_core::prelude::*;

use crate::members::{MemberK, Settings, Single};
use crate::views::View;

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
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FeatureSubspace {
    /// Number of members (τ).
    #[schemars(range(min = 1, max = 65535))]
    pub members: usize,
    /// Number of clusters of each member: a number, `{ min, max }` or `{ list }`; absent: that of the problem.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<MemberK>,
    /// What makes a member.
    #[schemars(extend("x-default" = "kmeans"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clusterer: Option<Box<dyn BaseClusterer>>,
    /// The share of the features a member sees.
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0))]
    pub fraction: f64,
    /// How many failed members are made again before giving up.
    #[schemars(range(min = 0))]
    pub max_failures: usize,
}

impl Default for FeatureSubspace {
    fn default() -> Self {
        FeatureSubspace { members: 100, k: None, clusterer: None, fraction: 0.5, max_failures: 0 }
    }
}

register!(EnsembleGenerator, FeatureSubspace, "feature_subspace",
    references: ["StrehlGhosh2002"]);

impl FeatureSubspace {
    fn single(&self) -> Single<'_> {
        Single {
            clusterer: slot::<Self, dyn BaseClusterer>(&self.clusterer, "clusterer"),
            view: Some(View::FeatureSubspace { fraction: self.fraction }),
            settings: Settings {
                members: self.members,
                k: self.k.as_ref(),
                max_failures: self.max_failures,
            },
        }
    }
}

#[typetag::serde(name = "feature_subspace")]
impl EnsembleGenerator for FeatureSubspace {
    fn generate(&self, problem: &Problem, ctx: &Context) -> Result<Ensemble> {
        self.single().generate(problem, ctx)
    }

    fn properties(&self) -> GeneratorProperties {
        self.single().properties()
    }

    fn memory(&self, shape: &Shape, labels_only: bool) -> u64 {
        self.single().memory(shape, labels_only)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_base_clusterers as _;
    use mustlink_core::contract::fixtures;

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
                let far = |h: usize| (0..4).map(|s| w[[h, s]] * (x[s] - c[[h, s]]).powi(2)).sum::<f64>();
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
