//! What does not change from start to start: objects, pairs, and which distance is learned.

use std::sync::Arc;

use mustlink_core::prelude::*;
use mustlink_kernels::constrained::constraint_groups::ConstraintGroups;
use mustlink_kernels::distance::points::row;
use ndarray::Array2;
use rayon::prelude::*;

use super::measure::Measure;

/// The problem, as all starts see it.
pub(super) struct Field {
    pub(super) measure: Measure,
    pub(super) rate: f64,
    pub(super) x: Array2<f64>,
    /// The features in the log-determinant: those that are not constant; none where it does not count.
    pub(super) varying: Vec<usize>,
    pub(super) links: Arc<ConstraintGroups>,
    pub(super) partners: Partners,
    /// Centres of I-divergence are not below this: a feature absent from a cluster stays possible.
    pub(super) least: Vec<f64>,
    /// Given or entailed cannot-links, whose largest distance is φ_max.
    pub(super) apart: Vec<(u32, u32)>,
}

impl Field {
    pub(super) fn row(&self, i: u32) -> &[f64] {
        row(&self.x, i as usize)
    }
}

/// The pairs of each object, one object after the other: a visit reads them in one go.
pub(super) struct Partners {
    pub(super) starts: Vec<usize>,
    pub(super) all: Vec<Partner>,
}

/// One object's side of a pair.
pub(super) struct Partner {
    pub(super) object: u32,
    pub(super) other: u32,
    pub(super) kind: Kind,
    pub(super) weight: f64,
}

impl Partners {
    pub(super) fn new(n: usize, pairs: &[Constraint]) -> Self {
        let partner = |object, other, c: &Constraint| {
            let &Constraint { kind, weight, .. } = c;
            Partner { object, other, kind, weight }
        };
        let both = |c: &Constraint| [partner(c.i, c.j, c), partner(c.j, c.i, c)];
        let mut all: Vec<Partner> = pairs.iter().flat_map(both).collect();
        // Stable: the order of the pairs stays.
        all.par_sort_by_key(|partner| partner.object);
        let mut starts = vec![0; n + 1];
        all.iter().for_each(|partner| starts[partner.object as usize + 1] += 1);
        (0..n).for_each(|i| starts[i + 1] += starts[i]);
        Partners { starts, all }
    }
}
