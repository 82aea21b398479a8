//! How similar are the leaves of a hierarchy: objects, or groups of objects that all members label alike?

use std::ops::Range;

use mustlink_core::prelude::*;
use mustlink_kernels::ensemble::co_association::Normalise;
use mustlink_kernels::ensemble::signatures::Signatures;
use rayon::prelude::*;

use super::memberships::Memberships;
use crate::parts::canonical_ensemble::CanonicalEnsemble;

/// The leaves and their similarities.
pub(super) struct Leaves<'a> {
    view: &'a CanonicalEnsemble<'a>,
    signatures: Option<Signatures>,
    memberships: Option<Memberships>,
    /// First object of each leaf.
    first: Vec<u32>,
    pub(super) sizes: Vec<usize>,
    /// Leaf of each object.
    pub(super) of: Vec<u32>,
    normalise: Normalise,
    /// What a similarity is divided by at the end.
    pub(super) scale: f64,
}

impl<'a> Leaves<'a> {
    /// Of the ensemble that `view` shows; similar by `memberships` where given, else by labels.
    pub(super) fn new(
        view: &'a CanonicalEnsemble<'a>,
        memberships: Option<Memberships>,
        normalise: Normalise,
    ) -> Self {
        let n = view.n;
        let complete = view.is_complete();
        // Where every member sees everything, both are the same.
        let normalise = if complete { Normalise::Members } else { normalise };
        let scale = match normalise {
            Normalise::Members => view.given.iter().sum(),
            Normalise::CoPresence => 1.0,
        };
        // Like objects are at distance 0 only where labels decide and none is missing.
        if !complete || memberships.is_some() {
            return Leaves {
                view,
                signatures: None,
                memberships,
                first: (0..n as u32).collect(),
                sizes: vec![1; n],
                of: (0..n as u32).collect(),
                normalise,
                scale,
            };
        }
        let signatures = Signatures::new(&view.ensemble());
        let groups = 0..signatures.len();
        Leaves {
            view,
            memberships,
            first: groups.clone().map(|a| signatures.objects(a)[0]).collect(),
            sizes: groups.map(|a| signatures.size(a)).collect(),
            of: (0..n).map(|i| signatures.group_of(i) as u32).collect(),
            signatures: Some(signatures),
            normalise,
            scale,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.first.len()
    }

    /// Similarity of each of some leaves to every leaf, not yet divided by the scale. Whole numbers
    /// when all members count the same and see everything: sums of them are exact.
    pub(super) fn rows(&self, leaves: Range<usize>) -> Vec<Vec<f64>> {
        let mut rows: Vec<Vec<f64>> = match (&self.memberships, &self.signatures) {
            (Some(memberships), _) => memberships.products(leaves.clone()),
            (None, Some(signatures)) if self.view.is_uniform() => {
                let row = |a| signatures.row(a).into_iter().map(f64::from).collect();
                leaves.clone().into_par_iter().map(row).collect()
            }
            (None, _) => leaves.clone().into_par_iter().map(|a| self.together(a)).collect(),
        };
        if self.normalise == Normalise::CoPresence {
            rows.par_iter_mut().zip(leaves).for_each(|(row, a)| {
                row.iter_mut().zip(self.seen(a)).for_each(|(c, p)| {
                    *c = if p > 0.0 { *c / p } else { 0.0 };
                });
            });
        }
        rows
    }

    /// As [`Leaves::rows`], of one leaf.
    pub(super) fn row(&self, a: usize) -> Vec<f64> {
        self.rows(a..a + 1).swap_remove(0)
    }

    /// Weight of the members that put leaf `a` and each other together.
    fn together(&self, a: usize) -> Vec<f64> {
        self.weigh(a, |own, other| other == own)
    }

    /// Weight of the members that saw leaf `a` and each other.
    fn seen(&self, a: usize) -> Vec<f64> {
        self.weigh(a, |_, other| other != NONE)
    }

    /// Weight of the members in which the labels of leaf `a`, if it has one, and of each other do.
    fn weigh(&self, a: usize, counts: impl Fn(u32, u32) -> bool) -> Vec<f64> {
        let mut out = vec![0.0; self.len()];
        for (labels, weight) in self.view.labels.iter().zip(&self.view.given) {
            let own = labels[self.first[a] as usize];
            if own == NONE {
                continue;
            }
            for (sum, &j) in out.iter_mut().zip(&self.first) {
                *sum += if counts(own, labels[j as usize]) { *weight } else { 0.0 };
            }
        }
        out
    }
}
