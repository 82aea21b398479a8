//! The assignment of the objects of a group to different clusters.
//!
//! If no other constraint mentions the objects of a group, all of them are placed in one step, by the assignment
//! of smallest total distance, with one object per cluster.

use mustlink_core::closure::Closure;
use mustlink_core::{Result, reduce};
use mustlink_kernels::agreement::linear_assignment::maximise;
use mustlink_kernels::constrained::penalised_kmeans::distances;
use mustlink_kernels::distance::points::Points;
use ndarray::Array2;

/// Groups whose objects no other constraint touches.
pub(crate) struct MatchedGroups {
    groups: Vec<Vec<u32>>,
}

impl MatchedGroups {
    /// Such groups of `closure`. The others are placed component by component.
    pub(crate) fn new(closure: &Closure) -> Self {
        let lone = (0..closure.cliques().len()).filter(|&g| closure.is_alone(g));
        let members = |g: usize| {
            closure.cliques()[g].iter().map(|&p| closure.members(p as usize)[0]).collect()
        };
        MatchedGroups { groups: lone.map(members).collect() }
    }

    /// No group at all.
    pub(crate) fn none() -> Self {
        MatchedGroups { groups: Vec::new() }
    }

    /// True if it is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// The objects of all groups.
    pub(crate) fn objects(&self) -> impl Iterator<Item = u32> + '_ {
        self.groups.iter().flatten().copied()
    }

    /// Puts the objects of each group into clusters, one a cluster, at the smallest total distance; gives the
    /// number of those that moved.
    ///
    /// # Errors
    /// `NumericalFailure` for distances that are not finite.
    pub(crate) fn place(
        &self,
        points: &Points,
        centres: &Array2<f64>,
        labels: &mut [u32],
    ) -> Result<usize> {
        let k = centres.nrows();
        let matched = reduce::try_map(self.groups.len(), |g| {
            let group = &self.groups[g];
            let gains: Vec<f64> =
                distances(points, centres, group, 1.0).into_iter().map(|d| -d).collect();
            maximise(&gains, group.len(), k)
        })?;
        let mut moved = 0;
        for (group, clusters) in self.groups.iter().zip(matched) {
            for (&i, cluster) in group.iter().zip(clusters) {
                let cluster = cluster.expect("no more members than clusters") as u32;
                moved += usize::from(labels[i as usize] != cluster);
                labels[i as usize] = cluster;
            }
        }
        Ok(moved)
    }
}
