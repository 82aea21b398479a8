//! A whole method: a small tree of plugins.

use std::sync::Arc;

use crate::kind::{self, Described};
use serde::{Deserialize, Serialize};

use crate::clustering::{Clustering, Extras};
use crate::constraints::Constraints;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::role::Role;
use crate::roles::{BaseClusterer, Oracle, Properties, QuerySelector, Transform};
use crate::run::{self, Run, Transformed};
use crate::selection::{ConstraintView, Contradicting, Selection, without_clusterer};

/// A method: transforms, a selector of constraints, and a clusterer.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Described)]
#[serde(default, deny_unknown_fields)]
pub struct Method {
    /// Transforms of the data, in order. In a method file, those that drop or merge rows come first.
    pub transforms: Vec<Box<dyn Transform>>,
    /// Clusterer that groups the objects. If absent, the selector's own clustering.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clusterer: Option<Box<dyn BaseClusterer>>,
    /// Selector that chooses the pairs to ask. If absent, nothing is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<Box<dyn QuerySelector>>,
    /// Oracle that answers the questions. If absent and a selector asks, the classes of the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oracle: Option<Box<dyn Oracle>>,
    /// Constraints of the selection that the clusterer gets.
    pub view: ConstraintView,
    /// Treatment of answers that contradict earlier knowledge. For files of constraints, see the option
    /// `on_conflict` of the clusterer.
    pub on_conflict: Contradicting,
}

impl Method {
    /// The transforms that do not read constraints, up to the first that does: what selectors see.
    pub fn prefix(&self) -> &[Box<dyn Transform>] {
        &self.transforms[..self.prefix_len()]
    }

    /// The transforms from the first that reads constraints on: refitted whenever those change.
    pub fn suffix(&self) -> &[Box<dyn Transform>] {
        &self.transforms[self.prefix_len()..]
    }

    /// Checks that constraints marked hard will hold. It can be called before the first question.
    ///
    /// # Errors
    /// `HardNotSupported`: the plugin that gives the clustering (the clusterer, or a selector that clusters by
    /// itself) does not promise to keep such a constraint.
    pub fn admit_hard(&self, constraints: &Constraints) -> Result<()> {
        let (plugin, promises) = match (&self.clusterer, &self.selector) {
            (Some(c), _) => (c.typetag_name(), c.properties()),
            (None, Some(s)) => (s.typetag_name(), Properties::default()),
            (None, None) => return Ok(()),
        };
        run::admit_hard(Role::BaseClusterer, plugin, &promises, constraints)
    }

    /// True if constraints make a difference: to a transform, to the clusterer, or to a selector that
    /// clusters by itself.
    pub fn reads_constraints(&self) -> bool {
        let transforms = !self.suffix().is_empty();
        transforms || self.clusterer.as_ref().is_none_or(|c| c.properties().reads_constraints)
    }

    /// True if the oracle uses only the classes.
    pub fn is_answered_by_classes(&self) -> bool {
        let oracle = self.oracle.as_ref();
        self.selector.is_some() && oracle.is_none_or(|o| o.properties().needs_labels)
    }

    /// The name of what reads no constraints where nothing else of the method does.
    pub fn unread_by(&self) -> Option<&'static str> {
        let clusterer = self.clusterer.as_ref().filter(|_| !self.reads_constraints());
        clusterer.map(|c| c.typetag_name())
    }

    /// The constraints after `p` replies of `selection`: those of `seen` and those selected.
    ///
    /// # Errors
    /// `InconsistentConstraints` where `on_conflict` asks for it; `ClosureTooLarge` for that view.
    pub fn constraints_at(
        &self,
        seen: &Problem,
        selection: &Selection,
        p: usize,
    ) -> Result<Constraints> {
        let given = &seen.constraints;
        let selected = selection.constraints(p, self.view, self.on_conflict, given)?;
        given.union(&selected, seen.n())
    }

    /// Clusters `under`, the problem after the prefix with all its constraints: refits the suffix and
    /// runs the clusterer. Also gives what the clusterer saw. `first` transforms stood before the
    /// prefix and are no longer listed here.
    ///
    /// # Errors
    /// `BadParam` without a clusterer; the errors of the transforms and the clusterer.
    pub fn cluster(
        &self,
        under: &Problem,
        first: usize,
        ctx: &Context,
    ) -> Result<(Transformed, Run)> {
        let clusterer = self
            .clusterer
            .as_ref()
            .ok_or_else(|| Error::bad_param("clusterer", "nothing", "a base clusterer"))?;
        self.admit_hard(&under.constraints)?;
        let at = first + self.prefix_len();
        let input = run::transform_from(at, self.suffix(), under, ctx)?;
        let ctx = ctx.child("clusterer").beside(&under.data, &input.problem.data);
        let run = run::cluster(&**clusterer, &input.problem, &ctx)
            .map_err(|e| input.lineage.features.error_before(e).at("clusterer"))?;
        Ok((input, run))
    }

    /// The clustering after `p` replies of `selection`: that of the clusterer, with `under` as in
    /// [`Method::cluster`]; without a clusterer, that of the selector at this time.
    ///
    /// # Errors
    /// `Contract` when the method has no clusterer and the selection holds no clustering; otherwise the errors of
    /// [`Method::cluster`].
    pub fn clustering_at(
        &self,
        under: &Problem,
        selection: Option<&Selection>,
        p: usize,
        first: usize,
        ctx: &Context,
    ) -> Result<(Transformed, Run)> {
        if self.clusterer.is_some() {
            return self.cluster(under, first, ctx);
        }
        let tag = self.selector.as_ref().map_or("selector", |s| s.typetag_name());
        self.admit_hard(&under.constraints)?;
        let own = selection.and_then(|s| s.snapshot(p)).cloned();
        let own = own.ok_or_else(|| Error::Contract {
            plugin: tag.into(),
            broken: "it declares that it clusters by itself, but gives no clustering".into(),
        })?;
        let run = run::check_and_count(tag, own, under, 0.0)?;
        Ok((Transformed::unchanged(under.clone()), run))
    }

    /// The clustering of `seen` that a selector asks for between questions, under the given
    /// constraints and those selected so far.
    ///
    /// # Errors
    /// Returns the errors of [`Method::cluster`].
    pub fn between_questions(
        &self,
        seen: &Problem,
        so_far: &Constraints,
        first: usize,
        ctx: &Context,
    ) -> Result<Clustering> {
        if self.clusterer.is_none() {
            let selector = self.selector.as_ref().map_or("nothing", |s| s.typetag_name());
            return Err(without_clusterer(selector));
        }
        let constraints = Arc::new(seen.constraints.union(so_far, seen.n())?);
        let under = Problem { constraints, ..seen.clone() };
        let mut clustering = self.cluster(&under, first, ctx)?.1.clustering;
        if !self.suffix().is_empty() {
            // Centres lie in the space after the suffix, which the selector does not see.
            let noise = clustering.extras.noise;
            clustering.extras = Extras { noise, ..Extras::default() };
        }
        Ok(clustering)
    }

    fn prefix_len(&self) -> usize {
        let reads = self.transforms.iter().position(|t| t.properties().reads_constraints);
        reads.unwrap_or(self.transforms.len())
    }
}
