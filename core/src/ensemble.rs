//! Ensembles: many partitions of the same objects.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crate::clustering::{Clustering, Extras, NONE, compact};
use crate::error::{Error, Result};

/// One clustering of an ensemble.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// Label of each object, in `0..k` without gaps, or [`NONE`].
    pub labels: Vec<u32>,
    /// Number of non-empty clusters.
    pub k: usize,
    /// Objective of the base clusterer.
    pub objective: Option<f64>,
    /// Centres, weights, memberships, distances, if the base clusterer gave them.
    pub extras: Extras,
    /// Objects the member was fitted on; absent means all.
    pub in_sample: Option<Vec<bool>>,
    /// Weight in a consensus, compared with members of weight 1; a member of weight 0 is
    /// ignored.
    pub weight: f64,
    /// Provenance: clusterer and its parameters, sample, features.
    pub provenance: String,
}

impl Default for Member {
    fn default() -> Self {
        Member {
            labels: Vec::new(),
            k: 0,
            objective: None,
            extras: Extras::default(),
            in_sample: None,
            weight: 1.0,
            provenance: String::new(),
        }
    }
}

impl Member {
    /// A member from labels, compacted in order of first appearance.
    pub fn from_labels(labels: &[u32]) -> Self {
        let (labels, k) = compact(labels);
        Member { labels, k, ..Member::default() }
    }
}

/// Base clusterings of the same objects.
///
/// ```
/// use mustlink_core::clustering::NONE;
/// use mustlink_core::ensemble::{Ensemble, Member};
///
/// # fn main() -> mustlink_core::Result<()> {
/// // Any labels will do; the second member did not see the last object.
/// let members = vec![Member::from_labels(&[7, 7, 2]), Member::from_labels(&[0, 1, NONE])];
/// let ensemble = Ensemble::new(3, members)?;
/// assert_eq!(ensemble.members()[0].labels, [0, 0, 1]);
///
/// let together = ensemble.members().iter().filter(|m| m.labels[0] == m.labels[1]).count();
/// assert_eq!(together as f64 / ensemble.len() as f64, 0.5);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ensemble {
    n: usize,
    members: Vec<Member>,
}

impl Ensemble {
    /// An ensemble over `n` objects.
    ///
    /// # Errors
    /// `BadParam` without members; `Contract` when a member has another number of labels, a label
    /// that is not below its k, or a weight that is negative or not finite.
    pub fn new(n: usize, members: Vec<Member>) -> Result<Self> {
        if members.is_empty() {
            return Err(Error::bad_param("members", 0, "at least 1"));
        }
        for (t, m) in members.iter().enumerate() {
            let largest = m.labels.iter().filter(|&&l| l != NONE).max();
            let broken = match largest {
                _ if m.labels.len() != n => format!("{} labels for {n} objects", m.labels.len()),
                Some(&l) if l as usize >= m.k => format!("the label {l} in {} clusters", m.k),
                _ if !m.weight.is_finite() || m.weight < 0.0 => format!("the weight {}", m.weight),
                _ => continue,
            };
            let broken = format!("member {t} has {broken}");
            return Err(Error::Contract { plugin: m.provenance.clone(), broken });
        }
        Ok(Ensemble { n, members })
    }

    /// Number of objects.
    pub fn n(&self) -> usize {
        self.n
    }

    /// The members in order.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The members themselves.
    pub fn into_members(self) -> Vec<Member> {
        self.members
    }

    /// Number of members (τ).
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// True if every member has k clusters.
    pub fn has_k(&self, k: usize) -> bool {
        self.members.iter().all(|member| member.k == k)
    }

    /// Bytes of the labels of all members.
    pub fn bytes(&self) -> u64 {
        4 * (self.n * self.len()) as u64
    }

    /// Never true: an ensemble has at least one member.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }
}

impl Clustering {
    /// The clustering as people are shown it. Clusters are numbered [`by_size`], where each object counts as many
    /// `rows` of the user's data as it stands for, or once. An object of noise has no label ([`NONE`]), and noise is
    /// not counted among the clusters.
    #[must_use]
    pub fn shown(mut self, rows: Option<&[u32]>) -> Self {
        let is_noisy = self.extras.noise.contains(&true);
        if is_noisy {
            let marks = self.labels.iter_mut().zip(&self.extras.noise);
            marks.filter(|(_, is_noise)| **is_noise).for_each(|(label, _)| *label = NONE);
        }
        let mut order = by_size(&self.labels, self.k, rows);
        if is_noisy {
            let sizes = self.sizes();
            order.retain(|&cluster| sizes[cluster] > 0);
        }
        if !order.iter().copied().eq(0..self.k) {
            let extras = std::mem::take(&mut self.extras);
            self.extras = in_order(extras, &self.labels, &order, self.k);
            let mut numbers = vec![NONE; self.k];
            order.iter().zip(0..).for_each(|(&cluster, number)| numbers[cluster] = number);
            let labels = self.labels.iter_mut().filter(|label| **label != NONE);
            labels.for_each(|label| *label = numbers[*label as usize]);
            self.k = order.len();
        }
        self
    }
}

/// The clusters below `k`, the largest first, equal ones in the order of their first objects, empty ones last. Each
/// object counts as often as `rows` says, or once.
pub fn by_size(labels: &[u32], k: usize, rows: Option<&[u32]>) -> Vec<usize> {
    let mut places = vec![(Reverse(0u64), labels.len()); k];
    for (i, &label) in labels.iter().enumerate().filter(|(_, label)| **label != NONE) {
        let (Reverse(size), first) = &mut places[label as usize];
        *size += rows.map_or(1, |rows| u64::from(rows[i]));
        *first = i.min(*first);
    }
    let mut order: Vec<usize> = (0..k).collect();
    order.sort_by_key(|&cluster| places[cluster]);
    order
}

/// Per-cluster extras of a clustering with the rows of empty clusters left out and the others in
/// the order of [`compact`] labels.
pub fn without_empty(extras: Extras, labels: &[u32], k: usize) -> Extras {
    let mut order: Vec<usize> = Vec::new();
    let mut seen = vec![false; k];
    for &l in labels.iter().filter(|&&l| l != NONE) {
        if !seen[l as usize] {
            seen[l as usize] = true;
            order.push(l as usize);
        }
    }
    in_order(extras, labels, &order, k)
}

/// Per-cluster extras of the clusters in `order`; the others of the `k` are empty. Shares of an object or a mixture in
/// those are spread over the clusters in `order` in proportion, so that shares sum to 1. An object with all its shares
/// in empty clusters is in its own cluster.
fn in_order(extras: Extras, labels: &[u32], order: &[usize], k: usize) -> Extras {
    let mut is_kept = vec![false; k];
    order.iter().for_each(|&h| is_kept[h] = true);
    let rows = |x: ndarray::Array2<f64>| x.select(ndarray::Axis(0), order);
    let columns = |x: ndarray::Array2<f64>| x.select(ndarray::Axis(1), order);
    let empty = |h: &usize| is_kept.get(*h) != Some(&true);
    let memberships = |x: ndarray::Array2<f64>| {
        let mut kept = x.select(ndarray::Axis(1), order);
        let gone: Vec<usize> = (0..x.ncols()).filter(empty).collect();
        for (i, mut row) in kept.rows_mut().into_iter().enumerate() {
            // Where nothing is lost the bits stay as they are.
            if gone.iter().map(|&h| x[[i, h]]).sum::<f64>() > 0.0 {
                let total = row.sum();
                let own = order.iter().position(|&h| labels.get(i) == Some(&(h as u32)));
                if total > 0.0 {
                    row.mapv_inplace(|share| share / total);
                } else if let Some(own) = own {
                    row[own] = 1.0;
                }
            }
        }
        kept
    };
    let mixing = |all: Vec<f64>| -> Vec<f64> {
        let gone: f64 = (0..all.len()).filter(empty).map(|h| all[h]).sum();
        let total: f64 = order.iter().map(|&h| all[h]).sum();
        let by = if gone > 0.0 && total > 0.0 { total } else { 1.0 };
        order.iter().map(|&h| all[h] / by).collect()
    };
    Extras {
        centers: extras.centers.map(rows),
        weights: extras.weights.map(rows),
        metrics: extras.metrics.map(|all| match all.len() {
            1 => all,
            _ => order.iter().map(|&h| all[h].clone()).collect(),
        }),
        mixing: extras.mixing.map(mixing),
        memberships: extras.memberships.map(memberships),
        distances: extras.distances.map(columns),
        ..extras
    }
}

/// Hash of all that determines an ensemble.
pub(crate) type EnsembleKey = [u8; 32];

/// Ensembles of a run, each made once. Cheap to clone.
#[derive(Clone, Default)]
pub struct EnsembleStore(Arc<Mutex<HashMap<EnsembleKey, Kept>>>);

/// Warnings, each with the place it was given at.
pub(crate) type Warnings = Vec<(String, String)>;

/// An ensemble, and the warnings from making it.
pub(crate) type Kept = (Arc<Ensemble>, Arc<Warnings>);

impl EnsembleStore {
    /// The first ensemble that is kept under one of `keys`.
    pub(crate) fn find(&self, keys: impl IntoIterator<Item = EnsembleKey>) -> Option<Kept> {
        let kept = self.0.lock().expect("no panic while holding it");
        keys.into_iter().find_map(|key| kept.get(&key).cloned())
    }

    /// Keeps `made` under `key`, or gives what another thread put there first.
    pub(crate) fn keep(&self, key: EnsembleKey, made: Kept) -> Kept {
        let mut kept = self.0.lock().expect("no panic while holding it");
        kept.entry(key).or_insert(made).clone()
    }
}

#[cfg(test)]
mod tests {
    use ndarray::Axis;

    use super::*;

    #[test]
    fn labels_are_compacted_in_order_of_appearance() {
        let m = Member::from_labels(&[7, NONE, 2, 7, 9]);
        assert_eq!((m.labels, m.k), (vec![0, NONE, 1, 0, 2], 3));
    }

    #[test]
    fn extras_follow_the_compacted_labels() {
        let centers = ndarray::array![[0.0], [1.0], [2.0]];
        let extras = Extras { centers: Some(centers), ..Extras::default() };
        let out = without_empty(extras, &[2, 0, 2], 3);
        assert_eq!(out.centers.unwrap(), ndarray::array![[2.0], [0.0]]);
    }

    #[test]
    fn clusters_are_shown_by_size_with_all_that_is_theirs() {
        // The sizes are 2, 0, 3, 2; the last of two equal ones has the first object.
        let of_rows = ndarray::array![[0.0], [1.0], [2.0], [3.0]];
        let of_columns = ndarray::Array2::from_shape_fn((7, 4), |(i, h)| (10 * i + h) as f64);
        let extras = Extras {
            centers: Some(of_rows.clone()),
            weights: Some(of_rows.clone()),
            metrics: Some((0..4).map(|h| ndarray::array![[f64::from(h)]]).collect()),
            mixing: Some(vec![0.125, 0.25, 0.5, 0.125]),
            memberships: Some(of_columns.clone()),
            distances: Some(of_columns.clone()),
            ..Extras::default()
        };
        let found =
            Clustering { extras, k: 4, ..Clustering::from_labels(vec![3, 2, 0, 2, 0, 2, 3]) };
        let shown = found.clone().shown(None);
        assert_eq!((&shown.labels[..], shown.k), (&[1, 0, 2, 0, 2, 0, 1][..], 4));
        let order = [2, 3, 0, 1];
        let (rows, columns) = (of_rows.select(Axis(0), &order), of_columns.select(Axis(1), &order));
        assert_eq!(
            (shown.extras.centers.as_ref(), shown.extras.weights.as_ref()),
            (Some(&rows), Some(&rows))
        );
        assert_eq!(
            shown.extras.metrics.as_ref().unwrap()[..2],
            [ndarray::array![[2.0]], ndarray::array![[3.0]]]
        );
        assert_eq!(shown.extras.mixing.as_deref(), Some(&[0.5, 0.125, 0.125, 0.25][..]));
        let shares = (shown.extras.memberships.as_ref(), shown.extras.distances.as_ref());
        assert_eq!(shares, (Some(&columns), Some(&columns)));
        // What is shown is shown as it is.
        assert_eq!(shown.clone().shown(None), shown);
        // The object of cluster 0 that stands for three rows makes it the largest.
        let of_user = found.shown(Some(&[1, 1, 3, 1, 1, 1, 1]));
        assert_eq!(of_user.labels, [2, 1, 0, 1, 0, 1, 2]);
    }

    #[test]
    fn shares_of_what_is_left_sum_to_one() {
        let memberships = ndarray::array![[0.25, 0.5, 0.25], [0.75, 0.25, 0.0], [0.0, 1.0, 0.0]];
        let mixing = Some(vec![0.25, 0.5, 0.25]);
        let extras = Extras { memberships: Some(memberships), mixing, ..Extras::default() };
        // The second cluster is nobody's, and the first object has half of itself in it.
        let out = without_empty(extras.clone(), &[2, 0, 0], 3);
        assert_eq!(out.memberships.unwrap(), ndarray::array![[0.5, 0.5], [0.0, 1.0], [0.0, 1.0]]);
        assert_eq!(out.mixing.unwrap(), [0.5, 0.5]);
        // Where no cluster is empty they are as they were.
        let whole = without_empty(extras.clone(), &[0, 1, 2], 3);
        assert_eq!((whole.memberships, whole.mixing), (extras.memberships, extras.mixing));
    }

    #[test]
    fn labels_beyond_the_clusters_are_refused() {
        let member = Member { labels: vec![0, NONE, 2], k: 2, ..Member::default() };
        let refused = Ensemble::new(3, vec![member]).unwrap_err().to_string();
        assert!(refused.contains("member 0 has the label 2 in 2 clusters"), "{refused}");
    }

    #[test]
    fn weights_that_are_none_are_refused() {
        let of = |weight| Member { weight, ..Member::from_labels(&[0, 0, 1]) };
        assert!(Ensemble::new(3, vec![of(0.0), of(2.5)]).is_ok());
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            let refused = Ensemble::new(3, vec![of(1.0), of(bad)]).unwrap_err().to_string();
            assert!(refused.contains(&format!("member 1 has the weight {bad}")), "{refused}");
        }
    }

    #[test]
    fn an_ensemble_without_members_is_refused() {
        assert!(Ensemble::new(3, vec![]).is_err());
        assert!(Ensemble::new(3, vec![Member::from_labels(&[0, 1])]).is_err());
    }
}
