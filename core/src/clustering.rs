//! The result of a method: labels, the objective that it minimised, and how it ended.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use ndarray::Array2;
use serde::{Deserialize, Serialize};

use crate::features::Lineage;

/// Replaces a missing label or index: of an object that a member did not see, or that
/// is not yet assigned.
pub const NONE: u32 = u32::MAX;

/// Status at the end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// A whole sweep moved nothing, or the objective did not change.
    #[default]
    Converged,
    /// The iteration limit was reached.
    MaxIter,
    /// A labelling repeated.
    Cycle,
    /// The query budget ended an inherently active method.
    BudgetExhausted,
    /// Stopped from outside with a usable result.
    Stopped,
}

impl Status {
    /// The word used in results.
    pub fn name(self) -> &'static str {
        match self {
            Status::Converged => "converged",
            Status::MaxIter => "max_iter",
            Status::Cycle => "cycle",
            Status::BudgetExhausted => "budget_exhausted",
            Status::Stopped => "stopped",
        }
    }
}

/// One sweep.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct IterStat {
    /// Objective after the sweep.
    pub objective: f64,
    /// Objects that changed cluster.
    pub moved: usize,
    /// Constraints violated after the sweep, where the method looks at them.
    pub violations: Option<usize>,
}

/// Rule for computing distances to the centres.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Geometry {
    /// Squared Euclidean distance.
    #[default]
    SquaredEuclidean,
    /// Cosine to centres of unit length.
    Cosine,
    /// Squared differences weighted by the row of `weights` of the centre.
    Weighted,
    /// Mahalanobis, by `metrics` of the centre.
    Mahalanobis,
}

/// Optional results of a method in addition to its labels.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Extras {
    /// Centres, k × d, with their geometry.
    pub centers: Option<Array2<f64>>,
    /// Rule for computing distances to the centres.
    pub geometry: Geometry,
    /// Feature weights per cluster, k × d.
    pub weights: Option<Array2<f64>>,
    /// Metrics: one or k symmetric d × d matrices.
    pub metrics: Option<Vec<Array2<f64>>>,
    /// Shares of the components of a Gaussian mixture, k that sum to 1; `metrics` are then its precisions, or
    /// `weights` their diagonals.
    pub mixing: Option<Vec<f64>>,
    /// Memberships, n × k, rows sum to 1.
    pub memberships: Option<Array2<f64>>,
    /// Distances to clusters, n × k.
    pub distances: Option<Array2<f64>>,
    /// Named numbers worth reporting.
    pub diagnostics: BTreeMap<String, f64>,
    /// Methods that a method such as `auto` tried.
    pub tried: Vec<Tried>,
    /// True for each object that the method leaves in no cluster; only noise has the labels of such objects. Empty
    /// without
    /// noise.
    pub noise: Vec<bool>,
}

impl Extras {
    /// The first part whose shape is not that of `n` objects in `k` clusters, in words.
    pub(crate) fn misshapen(&self, n: usize, k: usize) -> Option<String> {
        let centres = [("centres", &self.centers), ("weights", &self.weights)].into_iter();
        let centres = centres.filter_map(|(name, x)| Some((name, x.as_ref()?.nrows(), k)));
        let shares = [("memberships", &self.memberships), ("distances", &self.distances)];
        let shares = shares.into_iter().filter_map(|(name, x)| Some((name, x.as_ref()?)));
        let shares = shares.flat_map(|(name, x)| [(name, x.nrows(), n), (name, x.ncols(), k)]);
        let metrics = self.metrics.iter().map(Vec::len).filter(|&count| count != 1);
        let metrics = metrics.map(|count| ("metrics", count, k));
        let mixing = self.mixing.iter().map(|all| ("shares of components", all.len(), k));
        let mut all = centres.chain(shares).chain(metrics).chain(mixing);
        let (name, given, needed) = all.find(|(_, given, needed)| given != needed)?;
        Some(format!("{name} for {given} in place of {needed}"))
    }
}

/// A method that was tried by one that chooses.
#[derive(Debug, Clone)]
pub struct Tried {
    /// Its plugins in order: `z_score + pck_means`.
    pub name: String,
    /// Its `transforms` and `clusterer`, as a configuration.
    pub method: serde_json::Value,
    /// Number of clusters it was asked for.
    pub k: usize,
    /// Score on held-out constraints, or without constraints agreement with the partitions of the others, in 0..=1.
    /// Absent if neither exists.
    pub score: Option<f64>,
    /// Standard error of the score.
    pub error: Option<f64>,
    /// Weight in the result; 0: not used.
    pub weight: f64,
    /// Result of the trial, in words.
    pub outcome: String,
    /// Its clustering, where it was run to the end.
    pub labels: Option<Vec<u32>>,
    /// Wall time of all its runs; not part of the result, so clusterings are equal without it.
    pub seconds: f64,
    /// Rule that places new objects, if it is part of the result.
    pub rule: Option<Rule>,
}

/// Rule by which a tried method places new objects.
#[derive(Debug, Clone, Default)]
pub struct Rule {
    /// Its transforms as they were fitted: the configuration of each, and what it saves of itself, if it can.
    pub steps: Vec<(serde_json::Value, Option<serde_json::Value>)>,
    /// Its centres and their geometry, if it has any.
    pub extras: Extras,
    /// Origin of the features that its clusterer gets.
    pub lineage: Lineage,
}

impl PartialEq for Tried {
    fn eq(&self, other: &Self) -> bool {
        let of = |t: &Self| (t.k, t.score, t.error, t.weight);
        (&self.name, &self.method, &self.outcome, &self.labels, of(self))
            == (&other.name, &other.method, &other.outcome, &other.labels, of(other))
    }
}

/// A partition of all objects, with how it was found.
///
/// ```
/// use mustlink_core::Clustering;
/// use mustlink_core::clustering::canonical;
///
/// let clustering = Clustering::from_labels(vec![2, 0, 2, 2]);
/// assert_eq!(clustering.sizes(), [1, 0, 3]);
/// assert_eq!(clustering.empty_clusters(), 1);
/// // Names of clusters do not matter.
/// assert_eq!(canonical(&clustering.labels), canonical(&[0, 1, 0, 0]));
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Clustering {
    /// One label in `0..k` per object; none is missing.
    pub labels: Vec<u32>,
    /// Number of clusters, empty ones included.
    pub k: usize,
    /// Value of the method's objective, if it has one.
    pub objective: Option<f64>,
    /// One entry per sweep.
    pub history: Vec<IterStat>,
    /// Status at the end of the run.
    pub status: Status,
    /// Other results of the method.
    pub extras: Extras,
}

impl Clustering {
    /// A clustering with labels alone; k is the largest label + 1. An object without a label is in no cluster.
    pub fn from_labels(labels: Vec<u32>) -> Self {
        let k = labels.iter().filter(|&&l| l != NONE).max().map_or(0, |&l| l as usize + 1);
        Clustering { labels, k, ..Clustering::default() }
    }

    /// Members per cluster; an object without a label is in none.
    pub fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.k];
        self.labels.iter().filter(|&&l| l != NONE).for_each(|&l| sizes[l as usize] += 1);
        sizes
    }

    /// Labels for counting violated constraints, in which each noise object is apart from all others.
    pub fn apart(&self) -> Cow<'_, [u32]> {
        let own = |(i, (&label, &is_noise)): (usize, (&u32, &bool))| {
            if is_noise { (self.k + i) as u32 } else { label }
        };
        let noise = &self.extras.noise;
        match noise.contains(&true) {
            false => Cow::Borrowed(&self.labels),
            true => self.labels.iter().zip(noise).enumerate().map(own).collect(),
        }
    }

    /// Number of clusters without an object.
    pub fn empty_clusters(&self) -> usize {
        self.sizes().iter().filter(|&&s| s == 0).count()
    }
}

/// Labels renamed to `0..k` in order of first appearance, and k; [`NONE`] stays.
pub fn compact(labels: &[u32]) -> (Vec<u32>, usize) {
    let mut next = 0;
    let mut name = |known: &mut u32| {
        if *known == NONE {
            *known = next;
            next += 1;
        }
        *known
    };
    let largest = labels.iter().filter(|&&l| l != NONE).max().map_or(0, |&l| l as usize);
    let renamed = if largest <= 4 * labels.len() {
        let mut names = vec![NONE; largest + 1];
        let of = |&l: &u32| if l == NONE { NONE } else { name(&mut names[l as usize]) };
        labels.iter().map(of).collect()
    } else {
        let mut names: HashMap<u32, u32> = HashMap::new();
        let of = |&l: &u32| if l == NONE { NONE } else { name(names.entry(l).or_insert(NONE)) };
        labels.iter().map(of).collect()
    };
    (renamed, next as usize)
}

/// The [`compact`] labels alone: two labellings are the same partition iff equal here.
pub fn canonical(labels: &[u32]) -> Vec<u32> {
    compact(labels).0
}

/// A 128-bit hash of the partition.
pub fn partition_hash(labels: &[u32]) -> [u8; 16] {
    let mut h = blake3::Hasher::new();
    // Many at a time: a call for each label takes longer than its hash.
    for labels in canonical(labels).chunks(4096) {
        let bytes: Vec<u8> = labels.iter().flat_map(|l| l.to_le_bytes()).collect();
        h.update(&bytes);
    }
    h.finalize().as_bytes()[..16].try_into().expect("16 of 32 bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_renamed_by_first_appearance_and_missing_ones_stay() {
        assert_eq!(compact(&[3, NONE, 1, 3]), (vec![0, NONE, 1, 0], 2));
        // Far apart: not by a table of all names.
        assert_eq!(compact(&[NONE - 1, 0, NONE, NONE - 1]), (vec![0, 1, NONE, 0], 2));
        assert_eq!(compact(&[]), (vec![], 0));
        assert_eq!(compact(&[NONE]), (vec![NONE], 0));
    }

    #[test]
    fn noise_is_shown_without_a_label_and_apart_from_all() {
        let mut found = Clustering::from_labels(vec![0, 2, 1, 0, 1]);
        found.extras.noise = vec![true, false, false, true, false];
        assert_eq!(*found.apart(), [3, 2, 1, 6, 1]);
        let shown = found.shown(None);
        assert_eq!((&shown.labels[..], shown.k), (&[NONE, 1, 0, NONE, 0][..], 2));
        assert_eq!(shown.sizes(), [2, 1]);
        let without = Clustering::from_labels(vec![0, 0]);
        assert_eq!((&*without.apart(), &without.clone().shown(None)), (&[0, 0][..], &without));
    }

    #[test]
    fn canonical_forgets_names() {
        assert_eq!(canonical(&[7, 2, 7, 0]), [0, 1, 0, 2]);
        assert_eq!(partition_hash(&[1, 0, 1]), partition_hash(&[0, 5, 0]));
        assert_ne!(partition_hash(&[1, 0, 1]), partition_hash(&[0, 0, 1]));
    }
}
