//! The canonical form of an ensemble: order, labels and weights of its members.

use std::ops::Range;

use mustlink_core::clustering::compact;
use mustlink_core::prelude::*;

use crate::parts::weights::Weights;

/// An ensemble as consensus functions read it: without members of weight 0, clusters named by first
/// appearance, members in an order of their own. So neither names nor order leave a trace in a result.
pub(crate) struct CanonicalEnsemble<'a> {
    /// Number of objects.
    pub n: usize,
    /// Number of clusters wanted.
    pub k: usize,
    /// Labels of each member, in `0..clusters` or [`NONE`].
    pub labels: Vec<Vec<u32>>,
    /// The members themselves.
    pub members: Vec<&'a Member>,
    /// Weight of each member, mean 1.
    pub weights: Vec<f64>,
    /// The same as they were given, whole numbers if they were: where only ratios count, sums of
    /// these are exact. 1 where all members count the same.
    pub given: Vec<f64>,
    /// Index of the first cluster of each member in the numbering of all clusters.
    pub first: Vec<usize>,
}

impl<'a> CanonicalEnsemble<'a> {
    /// The ensemble as the plugin `tag` reads it.
    ///
    /// # Errors
    /// `MissingK`, `BadK`, `TooManyClusters`; the errors of the weights; cancellation.
    pub fn new(
        ensemble: &'a Ensemble,
        problem: &Problem,
        weights: &Weights,
        tag: &str,
        ctx: &Context,
    ) -> Result<Self> {
        let k = problem.require_k(None, tag)?;
        let counting = weights.counting(ensemble, problem, ctx)?;
        let mut all: Vec<(Vec<u32>, usize, f64, &Member)> = reduce::map(counting.len(), |t| {
            let (m, w) = counting[t];
            let (labels, clusters) = compact(&m.labels);
            (labels, clusters, w, m)
        });
        all.sort_by(|a, b| {
            a.0.cmp(&b.0).then(a.2.total_cmp(&b.2)).then_with(|| by_extras(a.3, b.3))
        });
        let mut view = CanonicalEnsemble {
            n: ensemble.n(),
            k,
            labels: Vec::with_capacity(all.len()),
            members: Vec::with_capacity(all.len()),
            weights: Vec::new(),
            given: Vec::with_capacity(all.len()),
            first: vec![0],
        };
        for (labels, clusters, weight, member) in all {
            view.first.push(view.first[view.first.len() - 1] + clusters);
            view.labels.push(labels);
            view.given.push(weight);
            view.members.push(member);
        }
        let mean = view.given.iter().sum::<f64>() / view.len() as f64;
        // Weights by a rule have this mean already, up to rounding.
        let mean = if (mean - 1.0).abs() < 1e-9 { 1.0 } else { mean };
        view.weights = view.given.iter().map(|w| w / mean).collect();
        Ok(view)
    }

    /// The ensemble for a plugin `tag` that counts all members the same. A warning is given if they have
    /// different weights.
    ///
    /// # Errors
    /// Returns the errors of [`CanonicalEnsemble::new`].
    pub fn unweighted(
        ensemble: &'a Ensemble,
        problem: &Problem,
        tag: &str,
        ctx: &Context,
    ) -> Result<Self> {
        let view = CanonicalEnsemble::new(ensemble, problem, &Weights::default(), tag, ctx)?;
        if !view.is_uniform() {
            ctx.warn(format!("{tag} counts all members the same, whatever they weigh"));
        }
        Ok(view)
    }

    /// The outcome of k = 1 and k = n, for which nothing need be done.
    pub fn trivial(&self) -> Option<Clustering> {
        trivial(self.n, self.k)
    }

    /// Number of members.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Clusters of all members.
    pub fn clusters(&self) -> usize {
        self.first[self.len()]
    }

    /// All members count the same.
    pub fn is_uniform(&self) -> bool {
        self.weights.iter().all(|&w| w == 1.0)
    }

    /// No label is missing.
    pub fn is_complete(&self) -> bool {
        self.labels.iter().all(|l| !l.contains(&NONE))
    }

    /// The members as an ensemble of labels and weights.
    pub fn ensemble(&self) -> Ensemble {
        let member = |t: usize| Member {
            labels: self.labels[t].clone(),
            k: self.columns(t).len(),
            weight: self.given[t],
            ..Member::default()
        };
        let members = (0..self.len()).map(member).collect();
        Ensemble::new(self.n, members).expect("members of one ensemble fit together")
    }

    /// The clusters of member `t`, counted through all members.
    pub fn columns(&self, t: usize) -> Range<usize> {
        self.first[t]..self.first[t + 1]
    }

    /// The member of each cluster, these counted through all members.
    pub fn member_of_clusters(&self) -> Vec<usize> {
        (0..self.len()).flat_map(|t| self.columns(t).map(move |_| t)).collect()
    }

    /// The cluster of object `i` in member `t`, counted through all members.
    pub fn cluster(&self, i: usize, t: usize) -> Option<usize> {
        let l = self.labels[t][i];
        (l != NONE).then(|| self.first[t] + l as usize)
    }

    /// The members that saw object `i`, each with its cluster there.
    pub fn clusters_of(&self, i: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.len()).filter_map(move |t| Some((t, self.cluster(i, t)?)))
    }
}

/// The only partition of n objects in k clusters, for k = 1 and k = n.
pub(crate) fn trivial(n: usize, k: usize) -> Option<Clustering> {
    match k {
        1 => Some(Clustering { k: 1, ..Clustering::from_labels(vec![0; n]) }),
        k if k == n => Some(Clustering::from_labels((0..k as u32).collect())),
        _ => None,
    }
}

/// The clusters of a member by first appearance, as [`CanonicalEnsemble`] names them: those of its
/// `columns` that have an object.
pub(crate) fn order(m: &Member, columns: usize) -> Vec<usize> {
    let mut seen = vec![false; columns];
    let mut order = Vec::new();
    for &l in &m.labels {
        if (l as usize) < columns && !std::mem::replace(&mut seen[l as usize], true) {
            order.push(l as usize);
        }
    }
    order
}

/// An order of members with the same labels.
fn by_extras(a: &Member, b: &Member) -> std::cmp::Ordering {
    let of = |m: &Member| {
        let e = &m.extras;
        let tables = [&e.distances, &e.memberships, &e.weights, &e.centers];
        tables.map(|t| t.as_ref().map(|t| t.iter().map(|v| v.to_bits()).collect::<Vec<u64>>()))
    };
    of(a).cmp(&of(b))
}
