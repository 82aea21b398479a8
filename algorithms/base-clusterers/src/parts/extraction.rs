//! The extraction of a flat clustering from a hierarchy, with or without constraints.

use mustlink_core::prelude::*;
use mustlink_kernels::graph::reachability::Join;
use mustlink_kernels::noise::{Noise, with_noise};

use super::cluster_tree::ClusterTree;

/// Selection of clusters from a hierarchy.
#[options]
pub enum ClusterSelection {
    /// The clusters with the largest total value, by constraints and excess of mass.
    #[default]
    ExcessOfMass,
    /// The clusters that contain no other clusters: many small ones, whatever the constraints are.
    Leaf,
}

/// The options of extracting clusters from a hierarchy.
#[options]
pub struct Extraction {
    /// Smallest number of objects in a cluster; smaller parts fall out of the cluster around them.
    #[option(default = 5, min = 2)]
    pub min_cluster_size: usize,
    /// Selection of clusters from the hierarchy.
    pub selection: ClusterSelection,
    /// Importance of stability compared with constraints. At 0 the constraints decide and stability breaks ties; at 1
    /// constraints are ignored. In between, shares of the greatest stability and of the weight of all constraints are
    /// added.
    #[option(default = 0.0, min = 0.0, max = 1.0)]
    pub stability_weight: f64,
    /// Distance below which clusters that split from each other stay one (ε̂, in feature units).
    #[option(default = 0.0, min = 0.0, units = 1)]
    pub epsilon: f64,
    /// Allow a result in which all objects are one cluster.
    pub allow_single_cluster: bool,
    /// Treatment of objects outside all clusters in ensembles and studies. In files and in Python they are noise, -1.
    pub noise: Noise,
}

impl Extraction {
    /// True if constraints make a difference.
    fn reads_constraints(&self) -> bool {
        self.selection == ClusterSelection::ExcessOfMass && self.stability_weight < 1.0
    }

    /// Properties of a method with these options.
    pub(crate) fn properties(&self) -> Properties {
        let reads = self.reads_constraints();
        Properties {
            accepts: vec![DataKind::Dense, DataKind::Csr, DataKind::Distances],
            needs_k: false,
            reads_constraints: reads,
            reads_groups: reads,
            soft_weights: reads,
            index_keyed: false,
            ..Properties::default()
        }
    }

    /// The clusters of the hierarchy that `joins` make; diagnostics: `noise_objects`, their total
    /// `stability`, and with constraints `satisfaction`, the share of their weight that is kept.
    pub(crate) fn extract(&self, joins: Vec<Join>, constraints: &Constraints) -> Clustering {
        let n = joins.len() + 1;
        if n > 1 && joins.iter().all(|j| j.height == 0.0) {
            // Nothing tells the objects apart: no level is above another, and every cannot-link is broken.
            let kept = |must: f64, _: f64| must;
            return told(with_noise(&vec![Some(0); n], self.noise), 0.0, constraints, kept);
        }
        let whole = self.allow_single_cluster;
        let tree = ClusterTree::new(n, joins, self.min_cluster_size);
        let agreement = tree.agreement(constraints);
        let chosen = match self.selection {
            ClusterSelection::Leaf => tree.leaves(whole),
            ClusterSelection::ExcessOfMass => self.best(&tree, &agreement, constraints),
        };
        let chosen = tree.merged_below(self.epsilon, &chosen, whole);
        let found = with_noise(&tree.groups(&chosen), self.noise);
        let kept = |_: f64, cannot: f64| cannot + total(&chosen, &agreement);
        told(found, total(&chosen, tree.stability()), constraints, kept)
    }

    fn best(&self, tree: &ClusterTree, agreement: &[f64], constraints: &Constraints) -> Vec<bool> {
        let (stability, whole) = (tree.stability(), self.allow_single_cluster);
        let stable = || tree.best(|c| (stability[c], 0.0), whole);
        let (must, cannot) = weights(constraints);
        if !self.reads_constraints() || must + cannot == 0.0 {
            return stable();
        }
        if self.stability_weight == 0.0 {
            return tree.best(|c| (agreement[c], stability[c]), whole);
        }
        let greatest = total(&stable(), stability);
        let of_stability = if greatest > 0.0 { self.stability_weight / greatest } else { 0.0 };
        let of_agreement = (1.0 - self.stability_weight) / (must + cannot);
        let mixed = |c: usize| of_stability * stability[c] + of_agreement * agreement[c];
        tree.best(|c| (mixed(c), stability[c]), whole)
    }
}

/// A clustering with its diagnostics: `kept` is what it keeps of the total weights of must-links and cannot-links.
fn told(
    mut clustering: Clustering,
    stability: f64,
    constraints: &Constraints,
    kept: impl Fn(f64, f64) -> f64,
) -> Clustering {
    let diagnostics = &mut clustering.extras.diagnostics;
    diagnostics.insert("stability".into(), stability);
    let (must, cannot) = weights(constraints);
    if must + cannot > 0.0 {
        diagnostics.insert("satisfaction".into(), kept(must, cannot) / (must + cannot));
    }
    clustering
}

fn total(chosen: &[bool], worth: &[f64]) -> f64 {
    chosen.iter().zip(worth).filter(|(chosen, _)| **chosen).map(|(_, w)| w).sum()
}

/// Total weights of must-links and cannot-links.
fn weights(constraints: &Constraints) -> (f64, f64) {
    let of = |kind| {
        let mut weights: Vec<f64> =
            constraints.listed().iter().filter(|c| c.kind == kind).map(|c| c.weight).collect();
        // In an order of their own: that of constraints is nothing.
        order::sort_values(&mut weights);
        weights.into_iter().sum::<f64>()
    };
    let groups = constraints.groups().iter().map(|g| g.weight * g.pair_count() as f64);
    (of(Kind::MustLink), of(Kind::CannotLink) + groups.sum::<f64>())
}
