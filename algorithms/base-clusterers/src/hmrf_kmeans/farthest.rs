//! The farthest cannot-linked pair under weights that change a little from time to time.
//!
//! Distances that are linear in the weights grow by at most the largest ratio of a weight to its old one:
//! while that times what is not among the farthest stays below the best of those, only those are looked at.

use mustlink_core::reduce;

use super::field::Field;

/// Pairs that are looked at while they suffice.
pub(super) const KEPT: usize = 256;
/// More than the rounding errors of a distance and of a ratio.
const SLACK: f64 = 1.0 + 1e-9;

/// The farthest pair, and those that may become it.
pub(super) struct Farthest<'a> {
    field: &'a Field,
    /// Places in the list of cannot-linked pairs, ascending.
    kept: Vec<u32>,
    /// No other pair is farther under `weights`.
    others: f64,
    weights: Vec<f64>,
}

/// The first of the farthest pairs, `None` where no two are apart, and its distance.
type Found = (Option<(u32, u32)>, f64);

impl<'a> Farthest<'a> {
    pub(super) fn new(field: &'a Field) -> Self {
        let weights = vec![1.0; field.x.ncols()];
        Farthest { field, kept: Vec::new(), others: f64::INFINITY, weights }
    }

    /// The farthest pair under the weights `a`.
    pub(super) fn under(&mut self, a: &[f64]) -> Found {
        let ratios = a.iter().zip(&self.weights).map(|(new, old)| new / old);
        let others = ratios.fold(0.0, f64::max) * SLACK * self.others;
        let of = |&at: &u32| (at, self.distance(at, a));
        let found = first_largest(self.kept.iter().map(of));
        match found {
            Some((at, far)) if far > others => (Some(self.field.apart[at as usize]), far),
            _ => self.anew(a),
        }
    }

    fn distance(&self, at: u32, a: &[f64]) -> f64 {
        let (i, j) = self.field.apart[at as usize];
        self.field.measure.pair(a, self.field.row(i), self.field.row(j))
    }

    /// Over all pairs.
    fn anew(&mut self, a: &[f64]) -> Found {
        let count = self.field.apart.len() as u32;
        let all: Vec<f64> = reduce::map(count as usize, |at| self.distance(at as u32, a));
        let found = first_largest((0..count).zip(all.iter().copied()));
        if self.field.measure.is_linear() {
            let mut order: Vec<u32> = (0..count).collect();
            self.others = 0.0;
            if all.len() > KEPT {
                let far = |at: u32| all[at as usize];
                let (_, next, _) = order.select_nth_unstable_by(KEPT, |&p, &q| {
                    far(q).total_cmp(&far(p)).then(p.cmp(&q))
                });
                self.others = all[*next as usize];
                order.truncate(KEPT);
                order.sort_unstable();
            }
            self.kept = order;
            self.weights.copy_from_slice(a);
        }
        match found {
            Some((at, far)) if far > 0.0 => (Some(self.field.apart[at as usize]), far),
            _ => (None, 0.0),
        }
    }
}

fn first_largest(each: impl Iterator<Item = (u32, f64)>) -> Option<(u32, f64)> {
    each.reduce(|best, next| if next.1 > best.1 { next } else { best })
}
