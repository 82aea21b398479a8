//! Similarities of the leaves: objects, or groups of objects that all members label alike.

use std::ops::Range;

use mustlink_core::prelude::*;
use mustlink_kernels::ensemble::co_association::Normalise;
use mustlink_kernels::ensemble::signatures::Signatures;

use super::memberships::Memberships;
use crate::parts::canonical_ensemble::CanonicalEnsemble;

/// Writes how alike a cluster of member `t` is to each cluster of that member, between 0 and 1.
pub(crate) type Alike = Box<dyn Fn(usize, u32, &mut [f64]) + Sync>;

/// The leaves and their similarities.
pub(super) struct Leaves<'a> {
    view: &'a CanonicalEnsemble<'a>,
    signatures: Option<Signatures>,
    memberships: Option<Memberships>,
    /// Similarity of clusters of one member. If absent, a cluster is only similar to itself.
    pub(super) alike: Option<&'a Alike>,
    /// Evidence from constraints about pairs of leaves: weight of the must-link, of both
    /// kinds.
    evidence: Vec<Vec<(u32, f64, f64)>>,
    /// First object of each leaf.
    first: Vec<u32>,
    pub(super) sizes: Vec<usize>,
    /// Leaf of each object.
    pub(super) of: Vec<u32>,
    normalise: Normalise,
    /// Divisor of similarities at the end.
    pub(super) scale: f64,
}

impl<'a> Leaves<'a> {
    /// Leaves of the ensemble that `view` shows; similar by `memberships` if given, otherwise by labels. Objects
    /// that are `alone` are leaves of their own.
    pub(super) fn new(
        view: &'a CanonicalEnsemble<'a>,
        memberships: Option<Memberships>,
        normalise: Normalise,
        alone: &[bool],
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
        let signatures =
            (complete && memberships.is_none()).then(|| Signatures::new(&view.ensemble()));
        let mut leaves = Leaves {
            view,
            signatures,
            memberships,
            alike: None,
            evidence: Vec::new(),
            first: Vec::new(),
            sizes: Vec::new(),
            of: Vec::with_capacity(n),
            normalise,
            scale,
        };
        let mut open = vec![NONE; n];
        for (i, &alone) in alone.iter().enumerate() {
            let group = leaves.signatures.as_ref().map_or(i, |s| s.group_of(i));
            if !alone && open[group] != NONE {
                leaves.of.push(open[group]);
                leaves.sizes[open[group] as usize] += 1;
                continue;
            }
            let leaf = leaves.first.len() as u32;
            leaves.of.push(leaf);
            leaves.first.push(i as u32);
            leaves.sizes.push(1);
            if !alone {
                open[group] = leaf;
            }
        }
        leaves
    }

    /// Takes constraints as evidence: the co-association A of a pair becomes
    /// (A + w)/(1 + w) under a must-link of weight w and A/(1 + w) under a cannot-link, the mean of what
    /// the members say and w times what the constraint says. Their objects are alone.
    pub(super) fn hear(&mut self, evidence: &[Constraint]) {
        if evidence.is_empty() {
            return;
        }
        self.evidence = vec![Vec::new(); self.len()];
        for c in evidence {
            let (a, b) = (self.of[c.i as usize], self.of[c.j as usize]);
            for (from, to) in [(a, b), (b, a)] {
                let own = &mut self.evidence[from as usize];
                let at = own.iter().position(|e| e.0 == to).unwrap_or_else(|| {
                    own.push((to, 0.0, 0.0));
                    own.len() - 1
                });
                own[at].1 += if c.kind == Kind::MustLink { c.weight } else { 0.0 };
                own[at].2 += c.weight;
            }
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
            (None, Some(signatures)) if self.view.is_uniform() && self.alike.is_none() => {
                let row = |a: usize| {
                    let counts = signatures.row(signatures.group_of(self.first[a] as usize));
                    if counts.len() == self.len() {
                        return counts.into_iter().map(f64::from).collect();
                    }
                    let group = |&i: &u32| signatures.group_of(i as usize);
                    self.first.iter().map(|i| f64::from(counts[group(i)])).collect()
                };
                reduce::map(leaves.len(), |at| row(leaves.start + at))
            }
            (None, _) => reduce::map(leaves.len(), |at| self.together(leaves.start + at)),
        };
        if self.normalise == Normalise::CoPresence {
            reduce::over(rows.iter_mut(), |at, row| {
                row.iter_mut().zip(self.seen(leaves.start + at)).for_each(|(c, p)| {
                    *c = if p > 0.0 { *c / p } else { 0.0 };
                });
            });
        }
        for (row, a) in rows.iter_mut().zip(leaves) {
            for &(b, must, both) in self.evidence.get(a).into_iter().flatten() {
                let share = &mut row[b as usize];
                *share = (*share + must * self.scale) / (1.0 + both);
            }
        }
        rows
    }

    /// As [`Leaves::rows`], of one leaf.
    pub(super) fn row(&self, a: usize) -> Vec<f64> {
        self.rows(a..a + 1).swap_remove(0)
    }

    /// Mean dissimilarity of an object to the objects of each cluster of some labels.
    pub(super) fn unlike(&self) -> impl Fn(usize, &[u32], &[f64]) -> Vec<f64> {
        |i, labels, sizes| {
            // Similarities to leaves are those to all of their objects.
            let row = self.row(self.of[i] as usize);
            let mut sums = vec![0.0; sizes.len()];
            for (&l, &leaf) in labels.iter().zip(&self.of) {
                sums[l as usize] += row[leaf as usize] / self.scale;
            }
            // No object is like an empty cluster.
            let mean = |h: usize| if sizes[h] > 0.0 { sums[h] / sizes[h] } else { 0.0 };
            (0..sizes.len()).map(|h| 1.0 - mean(h)).collect()
        }
    }

    /// Weight of the members that put leaf `a` and each other together, or how alike their clusters are.
    fn together(&self, a: usize) -> Vec<f64> {
        let Some(alike) = self.alike else { return self.weigh(a, |own, other| other == own) };
        let mut out = vec![0.0; self.len()];
        let mut to_own = Vec::new();
        for (t, labels) in self.view.labels.iter().enumerate() {
            let own = labels[self.first[a] as usize];
            if own == NONE {
                continue;
            }
            to_own.clear();
            to_own.resize(self.view.columns(t).len(), 0.0);
            alike(t, own, &mut to_own);
            for (sum, &j) in out.iter_mut().zip(&self.first) {
                let other = labels[j as usize];
                *sum +=
                    if other == NONE { 0.0 } else { self.view.given[t] * to_own[other as usize] };
            }
        }
        out
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
