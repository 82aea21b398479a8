//! Any generator on a part of the data.

use mustlink_core::options::{Found, Options, Range};
use mustlink_core::prelude::*;
use serde_json::Value;

use crate::bootstrap::Bootstrap;
use crate::feature_subspace::FeatureSubspace;
use crate::parts::member_input::OutOfSample;
use crate::parts::members::{
    MOST_MEMBERS, check_total, extend, in_parallel, members_memory, threads,
};
use crate::parts::recipe::Recipe;
use crate::parts::view::View;
use crate::random_init::RandomInit;
use crate::random_projection::{Projection, RandomProjection};
use crate::subsample::Subsample;

/// The most views that may lie around one another.
const MOST_NESTED: usize = 4;

/// Many runs of any generator, each on a view of the data, such as a sample or a subspace of the features.
///
/// # Method
/// `members` views are drawn, and the generator makes its ensemble on each. The members of all these ensembles,
/// extended to all objects, are the result.
/// # Input and output
/// The input of the generator; rows of features if the view needs them. `members` times as many partitions as the
/// generator makes.
/// # Errors
/// `BadParam` for `members`, for the options of the view, and for more than 4 nested views. A member that fails is
/// made again, `max_failures` times in all; then its error is returned.
/// # Cost and randomness
/// `members` ensembles, in parallel; random in views and in the generator.
/// # References
/// [StrehlGhosh2002]: object- and feature-distributed clustering.
#[options]
pub struct Compose {
    /// Number of views.
    #[option(default = 100, min = 1, max = MOST_MEMBERS)]
    pub members: usize,
    /// Content of each view: `subsample`, `bootstrap`, `feature_subspace` or `random_projection`.
    #[option(default = Sampling::FeatureSubspace { fraction: 0.5 })]
    pub view: Sampling,
    /// Generator that makes members on each view.
    #[option(default = Box::new(RandomInit { recipe: Recipe { members: 1, ..Recipe::default() } }))]
    pub generator: Box<dyn EnsembleGenerator>,
    /// Number of failed members that are made again before the run fails.
    #[option(min = 0, inert = "no member of the small problems fails")]
    pub max_failures: usize,
}

fn rate() -> f64 {
    0.8
}

fn fraction() -> f64 {
    0.5
}

/// Part of the data that a member gets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Described)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Sampling {
    /// A share of the objects, without replacement.
    Subsample {
        /// Share of the objects.
        #[serde(default = "rate")]
        #[option(max = 1.0, above = 0.0)]
        rate: f64,
        /// Treatment of the other objects.
        #[serde(default)]
        out_of_sample: OutOfSample,
    },
    /// As many objects as the data have, drawn with replacement.
    Bootstrap {
        /// Treatment of objects that were not drawn.
        #[serde(default)]
        out_of_sample: OutOfSample,
    },
    /// A share of the features.
    FeatureSubspace {
        /// Share of the features.
        #[serde(default = "fraction")]
        #[option(max = 1.0, above = 0.0)]
        fraction: f64,
    },
    /// Random mixtures of the features.
    RandomProjection {
        /// Distribution of the entries.
        #[serde(default)]
        kind: Projection,
        /// Number of mixtures. If absent, twice the logarithm of n rounded up, at least 2, at most d.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[option(min = 1, max = 1_000_000_000)]
        dimensions: Option<usize>,
    },
}

impl Options for Sampling {
    fn look(&self, path: &str, declared: &Range, found: &mut Found) {
        // The ranges are those of the generators of the same names.
        self.view().look(path, declared, found);
    }
}

impl Sampling {
    /// The view that the generator of this name has.
    fn view(&self) -> Box<dyn View> {
        match *self {
            Sampling::Subsample { rate, out_of_sample } => {
                Box::new(Subsample { rate, out_of_sample, ..Subsample::default() })
            }
            Sampling::Bootstrap { out_of_sample } => {
                Box::new(Bootstrap { out_of_sample, ..Bootstrap::default() })
            }
            Sampling::FeatureSubspace { fraction } => {
                Box::new(FeatureSubspace { fraction, ..FeatureSubspace::default() })
            }
            Sampling::RandomProjection { kind, dimensions } => {
                Box::new(RandomProjection { kind, dimensions, ..RandomProjection::default() })
            }
        }
    }
}

/// Number of generators of this kind that are nested in a configuration.
fn depth(config: &Value) -> usize {
    let own = usize::from(config.get("type").is_some_and(|t| t == "compose"));
    own + config.get("generator").map_or(0, depth)
}

#[plugin("compose", cites = ["StrehlGhosh2002"], version = 3)]
impl EnsembleGenerator for Compose {
    fn generate(&self, problem: &Problem, ctx: &Context) -> Result<Ensemble> {
        let nested = 1 + depth(&RoleObject::to_value(&*self.generator));
        if nested > MOST_NESTED {
            let legal = format!("at most {MOST_NESTED} views around one another");
            return Err(Error::bad_param("generator", nested, legal));
        }
        // Before any member is made.
        if let Some((members, _)) = self.size(&problem.shape()) {
            check_total(members)?;
        }
        let k = problem.k.unwrap_or(1);
        let view = self.view.view();
        in_parallel(problem.n(), self.members, self.max_failures, ctx, |_, ctx| {
            let seen = view.draw(problem, k, &ctx.child("view")).map_err(|e| e.at("view"))?;
            // What lies outside a view is classified by all that the inner members have.
            let own = ctx.child("generator").with_extras();
            let inner = self.generator.generate(&seen.problem, &own);
            let inner = inner.map_err(|e| e.at("generator"))?;
            let outward = |m: &Member| {
                let mut member = extend(problem, &seen, m.clone(), ctx)?;
                member.provenance = format!("{}; {}", member.provenance, seen.note);
                Ok(member)
            };
            inner.members().iter().map(outward).collect()
        })
    }

    fn properties(&self) -> GeneratorProperties {
        let facts = self.generator.properties();
        GeneratorProperties { accepts: self.view.view().accepts(facts.accepts), ..facts }
    }

    fn size(&self, shape: &Shape) -> Option<(usize, usize)> {
        let (members, k) = self.generator.size(shape).unwrap_or((1, shape.k));
        Some((self.members.saturating_mul(members), k))
    }

    fn memory(&self, shape: &Shape, labels_only: bool) -> u64 {
        let inner = self.view.view().memory(shape) + self.generator.memory(shape, false);
        let (members, k) = self.size(shape).unwrap_or((self.members, shape.k));
        let shape = Shape { k, ..*shape };
        let views = threads(self.members).saturating_mul(inner);
        members_memory(members, &shape, labels_only).saturating_add(views)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::Sweep;
    use mustlink_base_clusterers as _;
    use mustlink_laws::fixtures;

    #[test]
    fn samples_of_subspaces() {
        let (p, classes) = fixtures::dense(1);
        let subspaces = Compose {
            members: 2,
            view: Sampling::FeatureSubspace { fraction: 0.75 },
            ..Compose::default()
        };
        let view = Sampling::Subsample { rate: 0.8, out_of_sample: OutOfSample::NearestCentroid };
        let g = Compose { members: 5, view, generator: Box::new(subspaces), ..Compose::default() };
        let e = g.generate(&p, &Context::new(2)).unwrap();
        assert_eq!(e.len(), 10);
        let sizes = g.size(&p.shape());
        assert_eq!(sizes, Some((10, p.k.unwrap())));
        let right = |m: &Member| m.labels == mustlink_core::clustering::canonical(&classes);
        assert!(e.members().iter().filter(|m| right(m)).count() >= 5);
        for m in e.members() {
            assert_eq!(m.in_sample.as_ref().unwrap().iter().filter(|s| **s).count(), 36);
            assert_eq!(m.extras.geometry, Geometry::Weighted);
            assert!(m.provenance.contains("3 of 4 features; 36 of 45 objects"), "{}", m.provenance);
        }
    }

    #[test]
    fn too_many_members_are_refused_before_any_is_made() {
        let (p, _) = fixtures::dense(1);
        // Not one of them could be made.
        let clusterer = serde_json::json!({ "type": "kmeans", "k": 46 });
        let clusterer = Some(<dyn BaseClusterer as RoleObject>::from_value(clusterer).unwrap());
        let recipe = Recipe { members: 700, clusterer, ..Recipe::default() };
        let generator = Box::new(RandomInit { recipe });
        let g = Compose { members: 700, generator, ..Compose::default() };
        let text = g.generate(&p, &Context::new(2)).unwrap_err().to_string();
        assert_eq!(text, "members: must be at most 65535 members in all, got 490000");
    }

    #[test]
    fn the_memory_of_too_many_members_is_a_large_number() {
        let (p, _) = fixtures::dense(1);
        let recipe = Recipe { members: MOST_MEMBERS, ..Recipe::default() };
        let mut g = Compose { members: MOST_MEMBERS, ..Compose::default() };
        g.generator = Box::new(RandomInit { recipe });
        for _ in 0..2 {
            g = Compose { members: MOST_MEMBERS, generator: Box::new(g), ..Compose::default() };
        }
        assert!(g.memory(&p.shape(), false) >= 1 << 60);
    }

    #[test]
    fn every_member_of_a_sweep_sees_the_view() {
        let (p, _) = fixtures::dense(1);
        let view = Sampling::Bootstrap { out_of_sample: OutOfSample::LeaveOut };
        let g = Compose {
            members: 2,
            view,
            generator: Box::new(Sweep::default()),
            ..Compose::default()
        };
        let e = g.generate(&p, &Context::new(2)).unwrap();
        assert_eq!(
            e.members().iter().map(|m| m.k).collect::<Vec<_>>(),
            [2, 3, 4, 5, 6, 2, 3, 4, 5, 6]
        );
        assert_eq!(e.members()[0].in_sample, e.members()[4].in_sample);
        assert_ne!(e.members()[0].in_sample, e.members()[5].in_sample);
    }

    #[test]
    fn members_are_the_same_for_who_reads_labels_alone() {
        // By angle the objects left out belong elsewhere than by the means of clusters.
        let x = ndarray::Array2::from_shape_fn((40, 2), |(i, s)| {
            let angle = if i % 2 == 0 { 0.1 } else { 1.4 } + 0.01 * (i % 7) as f64;
            (1.0 + (i * i % 17) as f64) * if s == 0 { angle.cos() } else { angle.sin() }
        });
        let p = Problem::new(Data::dense(x).unwrap()).with_k(2);
        let cosine = serde_json::json!({ "type": "kmeans", "distortion": "cosine" });
        let clusterer = <dyn BaseClusterer as RoleObject>::from_value(cosine).unwrap();
        let recipe = Recipe { members: 1, clusterer: Some(clusterer), ..Recipe::default() };
        let inner = RandomInit { recipe };
        let view = Sampling::Subsample { rate: 0.3, out_of_sample: OutOfSample::NearestCentroid };
        let g = Compose { members: 10, view, generator: Box::new(inner), ..Compose::default() };
        let (whole, bare) =
            (Context::new(1).ensemble(&g, &p), Context::new(1).ensemble_labels(&g, &p));
        for (whole, bare) in whole.unwrap().members().iter().zip(bare.unwrap().members()) {
            assert_eq!(whole.labels, bare.labels);
            assert!(whole.extras.centers.is_some());
            assert_eq!(bare.extras, Extras::default());
        }
    }

    #[test]
    fn five_views_are_too_many() {
        let (p, _) = fixtures::dense(1);
        let mut g = Compose { members: 1, ..Compose::default() };
        for _ in 0..3 {
            g = Compose { members: 1, generator: Box::new(g), ..Compose::default() };
        }
        assert!(g.generate(&p, &Context::new(2)).is_ok());
        let g = Compose { members: 1, generator: Box::new(g), ..Compose::default() };
        let message = g.generate(&p, &Context::new(2)).unwrap_err().to_string();
        assert_eq!(message, "generator: must be at most 4 views around one another, got 5");
    }
}
