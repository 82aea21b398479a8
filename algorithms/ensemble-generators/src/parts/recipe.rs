//! The recipe by which one clusterer makes all members of an ensemble.

use mustlink_core::prelude::*;

use crate::parts::member_input::MemberInput;
use crate::parts::member_k::MemberK;
use crate::parts::members::{in_parallel, own_k, runs_memory, threads};
use crate::parts::view::View;

/// Options shared by generators that run one clusterer.
#[options]
pub struct Recipe {
    /// Number of members (τ).
    #[option(default = 100, min = 1, max = 65535)]
    pub members: usize,
    /// Number of clusters of each member: a number, `{ min, max }` or `{ list }`. If absent, the k of the problem.
    pub k: Option<MemberK>,
    /// Clusterer that makes a member.
    #[option(slot = "kmeans")]
    pub clusterer: Option<Box<dyn BaseClusterer>>,
    /// Number of failed members that are made again before the run fails.
    #[option(min = 0, inert = "no member of the small problems fails")]
    pub max_failures: usize,
}

/// Registers a generator whose members its recipe makes, each shown what it draws as a [`View`].
macro_rules! by_recipe {
    ($type:ident, $($plugin:tt)*) => {
        #[plugin($($plugin)*)]
        impl EnsembleGenerator for $type {
            fn generate(&self, problem: &Problem, ctx: &Context) -> Result<Ensemble> {
                self.recipe.generate(Some(self), problem, ctx)
            }

            fn properties(&self) -> GeneratorProperties {
                self.recipe.properties(Some(self))
            }

            fn size(&self, shape: &Shape) -> Option<(usize, usize)> {
                Some(self.recipe.size(shape))
            }

            fn memory(&self, shape: &Shape, labels_only: bool) -> u64 {
                self.recipe.memory(Some(self), shape, labels_only)
            }
        }
    };
}
pub(crate) use by_recipe;

impl Recipe {
    /// Makes the members in parallel, each shown what it draws of `view`; absent: everything.
    ///
    /// # Errors
    /// A default clusterer that is not linked; a number of clusters out of range; the errors of [`in_parallel`].
    pub(crate) fn generate(
        &self,
        view: Option<&dyn View>,
        problem: &Problem,
        ctx: &Context,
    ) -> Result<Ensemble> {
        let clusterer = self.clusterer()?;
        let own = own_k(&**clusterer);
        if let (Some(own), Some(_)) = (own, &self.k) {
            ctx.warn(format!(
                "every member has {own} clusters, as its clusterer sets; k of the ensemble is ignored"
            ));
        }
        in_parallel(problem.n(), self.members, self.max_failures, ctx, |t, ctx| {
            let mut problem = problem.clone();
            let drawn = ctx.child("view");
            if let Some(k) = &self.k {
                problem.k = Some(k.draw(problem.n(), &mut drawn.stream("k"))?);
            }
            let seen = match view {
                None => MemberInput::whole(&problem),
                Some(view) => view.draw(&problem, own.or(problem.k).unwrap_or(1), &drawn)?,
            };
            seen.member(&**clusterer, &problem, t, ctx).map(|m| vec![m])
        })
    }

    /// Properties of the clusterer that also hold with the view.
    pub(crate) fn properties(&self, view: Option<&dyn View>) -> GeneratorProperties {
        // A default that is not linked is reported by `generate`.
        let Ok(clusterer) = self.clusterer() else { return GeneratorProperties::default() };
        let facts = clusterer.properties();
        GeneratorProperties {
            accepts: match view {
                None => facts.accepts,
                Some(view) => view.accepts(facts.accepts),
            },
            needs_k: self.k.is_none() && facts.needs_k,
            reads_constraints: facts.reads_constraints,
        }
    }

    /// Members, and the most clusters of one.
    pub(crate) fn size(&self, shape: &Shape) -> (usize, usize) {
        let own = self.clusterer().ok().and_then(|clusterer| own_k(&**clusterer));
        let drawn = self.k.as_ref().map(|k| k.most(shape.n));
        (self.members, own.or(drawn).unwrap_or(shape.k))
    }

    /// Bytes: the ensemble, and one view and one run of the clusterer for each thread.
    pub(crate) fn memory(&self, view: Option<&dyn View>, shape: &Shape, labels_only: bool) -> u64 {
        let views = view.map_or(0, |view| threads(self.members) * View::memory(view, shape));
        let shape = Shape { k: self.size(shape).1, ..*shape };
        let made = self.clusterer();
        views + made.map_or(0, |c| runs_memory(self.members, &**c, &shape, labels_only))
    }
}
