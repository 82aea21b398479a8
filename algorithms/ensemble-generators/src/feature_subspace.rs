//! Runs of one clusterer on random subsets of the features.

use mustlink_core::prelude::*;

use crate::parts::member_input::{MemberInput, OutOfSample, Space};
use crate::parts::recipe::{Recipe, by_recipe};
use crate::parts::view::View;

/// Many runs of one clusterer, each on a random share of the features.
///
/// # Method
/// Each member draws `fraction` of the features without replacement, at least one, and clusters all objects on them.
/// # Input and output
/// Dense or sparse rows. `members` partitions. Centres are given over all features. Features a member did not use
/// have weight 0; the others have equal weights with sum 1. Centres of cosine members are not kept.
/// # Errors
/// `BadParam` for `members`, `fraction` and `k`. A member that fails is made again, `max_failures` times in all; then
/// its error is returned.
/// # Cost and randomness
/// `members` runs, in parallel, each with a copy of its features.
/// # References
/// [StrehlGhosh2002] §4.4.
#[options]
pub struct FeatureSubspace {
    /// Options shared by generators that run one clusterer.
    #[option(flatten)]
    pub recipe: Recipe,
    /// Share of the features that a member gets.
    #[option(default = 0.5, above = 0.0, max = 1.0)]
    pub fraction: f64,
}

by_recipe!(FeatureSubspace, "feature_subspace", cites = ["StrehlGhosh2002"], version = 3);

impl View for FeatureSubspace {
    fn draw(&self, problem: &Problem, _: usize, ctx: &Context) -> Result<MemberInput> {
        problem.data.require_rows("feature_subspace")?;
        let d = problem.d();
        let m = ((self.fraction * d as f64).round() as usize).max(1);
        let mut features = ctx.stream("features").sample(d, m);
        features.sort_unstable();
        let data = problem.data.features(&features)?;
        Ok(MemberInput {
            problem: Problem { data, start: None, ..problem.clone() },
            rows: None,
            note: format!("{m} of {d} features"),
            space: Space::Features(features),
            out_of_sample: OutOfSample::default(),
        })
    }

    fn accepts(&self, inner: Vec<DataKind>) -> Vec<DataKind> {
        inner.into_iter().filter(|kind| kind.is_rows()).collect()
    }

    fn memory(&self, shape: &Shape) -> u64 {
        // One feature at least.
        let seen = (12.0 * self.fraction.clamp(0.0, 1.0) * shape.entries as f64) as u64;
        seen.max(8 * shape.n as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_base_clusterers as _;
    use mustlink_laws::fixtures;

    #[test]
    fn a_small_share_is_one_feature() {
        let shape = Shape { n: 100, d: 2, k: 1, entries: 200, constraints: 0 };
        let view = FeatureSubspace { fraction: 0.01, ..FeatureSubspace::default() };
        assert_eq!(View::memory(&view, &shape), 800);
    }

    #[test]
    fn centres_come_back_into_the_whole_space() {
        let (p, _) = fixtures::dense(1);
        let g = FeatureSubspace {
            recipe: Recipe { members: 4, ..Recipe::default() },
            ..FeatureSubspace::default()
        };
        for m in g.generate(&p, &Context::new(3)).unwrap().members() {
            let (c, w) = (m.extras.centers.as_ref().unwrap(), m.extras.weights.as_ref().unwrap());
            assert_eq!((c.dim(), m.extras.geometry), ((3, 4), Geometry::Weighted));
            assert_eq!(w.row(0).sum(), 1.0);
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
        let kmeans = serde_json::json!({ "type": "kmeans", "distortion": "squared_euclidean" });
        let kmeans = <dyn BaseClusterer as RoleObject>::from_value(kmeans).unwrap();
        let g = FeatureSubspace {
            recipe: Recipe { members: 4, clusterer: Some(kmeans), ..Recipe::default() },
            ..FeatureSubspace::default()
        };
        let labels = |p: &Problem| -> Vec<Vec<u32>> {
            let e = g.generate(p, &Context::new(3)).unwrap();
            e.members().iter().map(|m| m.labels.clone()).collect()
        };
        assert_eq!(labels(&dense), labels(&sparse));
    }
}
