//! An ensemble with one member for each feature.

use mustlink::prelude::*;

/// One member per feature: the clustering of that feature alone.
///
/// # Method
/// The clusterer is run on one feature after the other. Its constraints are left out.
/// # Input and output
/// Dense data; as many members as features.
/// # Errors
/// Returns the errors of the clusterer.
/// # Cost and randomness
/// That of the clusterer, once per feature, on a path of its own.
#[options]
pub struct PerFeature {
    /// Clusterer of the objects.
    #[option(slot = "kmeans")]
    pub clusterer: Option<Box<dyn BaseClusterer>>,
}

#[plugin("per_feature")]
impl EnsembleGenerator for PerFeature {
    fn generate(&self, problem: &Problem, ctx: &Context) -> Result<Ensemble> {
        let clusterer = self.clusterer()?;
        let problem = problem.clone().with_constraints(Constraints::default());
        let mut members = Vec::new();
        for f in 0..problem.d() {
            ctx.check()?;
            let alone = Problem { data: problem.data.features(&[f])?, ..problem.clone() };
            let found = clusterer.cluster(&alone, &ctx.index(f).child("clusterer"))?;
            let provenance = format!("feature {f}");
            members.push(Member { provenance, ..Member::from_labels(&found.labels) });
        }
        Ensemble::new(problem.n(), members)
    }

    fn memory(&self, shape: &Shape, _labels_only: bool) -> u64 {
        let alone = Shape { d: 1, entries: shape.n, ..*shape };
        let held = self.clusterer().map_or(0, |c| c.memory(&alone));
        held + (4 * shape.n * shape.d + 8 * shape.n) as u64
    }
}
