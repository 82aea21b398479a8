//! How far is each dense object from each centre, about?
//!
//! Scores order the centres of an object: ‖µ‖²/2 − x·µ, for cosine −x·µ. They are rounded, and this
//! file knows by how much, in double and in single precision.

use std::ops::Range;

use ndarray::Array2;

use crate::panels::{Panels, Smallest, width};
use crate::points::{Distortion, Narrow, Points, row};
use crate::rowwise::{Found, Rowwise};

enum Packed<'a, D, S> {
    Double(D),
    Single(S, &'a Narrow),
}

/// Centres packed in the precision of the objects.
pub(crate) struct Scores<'a, D, S> {
    points: &'a Points,
    packed: Packed<'a, D, S>,
    /// What rounding takes of products in double precision.
    rounding: f64,
    /// The longest centre, as packed.
    longest: f64,
    /// The longest centre as it is, with what was subtracted.
    outside: f64,
}

/// Of all centres, for many objects.
pub(crate) type Whole<'a> = Scores<'a, Rowwise<f64>, Rowwise<f32>>;
/// Of some centres, for some objects.
pub(crate) type Parts<'a> = Scores<'a, Panels<f64>, Panels<f32>>;

/// Centres in a panel of [`Parts`].
pub(crate) fn panel_width(points: &Points) -> usize {
    if points.narrow().is_some() { width::<f32>() } else { width::<f64>() }
}

/// What a row is multiplied with, written for a centre; gives the constant of its scores.
type Factors<'f> = dyn Fn(usize, &mut [f64]) -> f64 + 'f;

impl<'a> Whole<'a> {
    /// Packs all centres.
    pub(crate) fn new(points: &'a Points, centres: &Array2<f64>, norms: &[f64]) -> Self {
        let (k, d) = centres.dim();
        let double = |factors: &Factors| Rowwise::new(d, k, factors);
        let single = |factors: &Factors| Rowwise::new(d, k, factors);
        Self::pack(points, centres, norms, double, single)
    }

    /// The smallest scores of the objects from `first` on, whose rows are `rows`, off by `error` at
    /// most.
    pub(crate) fn smallest(&self, first: usize, rows: &[f64], error: f64, found: &mut Found) {
        let count = rows.len() / self.points.d();
        match &self.packed {
            Packed::Double(packed) => packed.smallest(rows, count, error, found),
            Packed::Single(packed, narrow) => {
                let rows = &narrow.rows[first * self.points.d()..][..rows.len()];
                packed.smallest(rows, count, error, found);
            }
        }
    }
}

impl<'a> Parts<'a> {
    /// Packs the centres named in `order`.
    pub(crate) fn new(
        points: &'a Points,
        centres: &Array2<f64>,
        norms: &[f64],
        order: &[u32],
    ) -> Self {
        let d = points.d();
        let double = |factors: &Factors| Panels::new(d, order.to_vec(), factors);
        let single = |factors: &Factors| Panels::new(d, order.to_vec(), factors);
        Self::pack(points, centres, norms, double, single)
    }

    /// Number of panels.
    pub(crate) fn panels(&self) -> usize {
        match &self.packed {
            Packed::Double(panels) => panels.len(),
            Packed::Single(panels, _) => panels.len(),
        }
    }

    /// The smallest scores, among the centres of `panels`, of the objects `object(0)`, `object(1)`, …
    pub(crate) fn smallest(
        &self,
        panels: Range<usize>,
        object: impl Fn(usize) -> usize + Copy,
        out: &mut [Smallest],
    ) {
        match &self.packed {
            Packed::Double(packed) => {
                let rows = self.points.dense_rows();
                packed.smallest(panels, |r| rows.row(object(r)), out);
            }
            Packed::Single(packed, narrow) => {
                let d = self.points.d();
                packed.smallest(panels, |r| &narrow.rows[object(r) * d..][..d], out);
            }
        }
    }
}

impl<'a, D, S> Scores<'a, D, S> {
    fn pack(
        points: &'a Points,
        centres: &Array2<f64>,
        norms: &[f64],
        double: impl FnOnce(&Factors) -> D,
        single: impl FnOnce(&Factors) -> S,
    ) -> Self {
        let cosine = points.distortion() == Distortion::Cosine;
        let rounding = 4.0 * (points.d() as f64 + 8.0) * f64::EPSILON;
        let longest = norms.iter().copied().fold(0.0, f64::max).sqrt();
        let Some(narrow) = points.narrow() else {
            let packed = double(&|h, to| {
                to.iter_mut().zip(row(centres, h)).for_each(|(to, c)| *to = -c);
                if cosine { 0.0 } else { 0.5 * norms[h] }
            });
            let packed = Packed::Double(packed);
            return Scores { points, packed, rounding, longest, outside: 0.0 };
        };
        let farthest = std::cell::Cell::new(0.0f64);
        let packed = single(&|h, to| {
            let mut square = 0.0;
            for ((to, c), m) in to.iter_mut().zip(row(centres, h)).zip(&narrow.shift) {
                // Rounded here, so that the constant fits the factors.
                let rounded = f64::from(((c - m) * narrow.scale) as f32);
                square += rounded * rounded;
                *to = -rounded;
            }
            farthest.set(farthest.get().max(square));
            if cosine { 0.0 } else { 0.5 * square }
        });
        let shift = narrow.shift.iter().map(|m| m * m).sum::<f64>().sqrt();
        Scores {
            points,
            packed: Packed::Single(packed, narrow),
            rounding,
            longest: farthest.get().sqrt(),
            outside: longest + shift,
        }
    }

    /// How far a score of object `i` can be from the truth, in units of scores, with what exact
    /// distances lose to rounding.
    #[inline(always)]
    pub(crate) fn error(&self, i: usize) -> f64 {
        let length = match &self.packed {
            Packed::Double(_) => 0.0,
            Packed::Single(_, narrow) => f64::from(narrow.lengths[i]),
        };
        self.error_of(self.points.norm(i), length)
    }

    /// [`Scores::error`] of whatever object: at most this.
    pub(crate) fn largest_error(&self) -> f64 {
        // Narrow rows have lengths of 1 at most, before they are rounded.
        self.error_of(self.points.largest_norm(), 1.0 + f64::from(f32::EPSILON))
    }

    /// The error of an object of a squared norm, and of a length where it is narrow.
    #[inline(always)]
    fn error_of(&self, norm: f64, length: f64) -> f64 {
        let (double, longest) = (self.rounding, self.longest);
        match &self.packed {
            // d products and sums of magnitude |x||µ|, once more for the norm.
            Packed::Double(_) => double * (norm + longest * longest),
            // The same, with rows and centres that were rounded before, after a subtraction that
            // was rounded too. The last term is for what is too small for single precision.
            Packed::Single(_, narrow) => {
                let d = self.points.d() as f64;
                let unit = 0.5 * f64::from(f32::EPSILON);
                let rounded = 1.1 * (d + 8.0) * unit * longest * (length + longest);
                let outside = narrow.scale * (norm.sqrt() + self.outside);
                let moved = 4.0 * f64::EPSILON * outside * (length + 2.0 * longest);
                let exact = double * (length * length + longest * longest);
                rounded + moved + exact + d * f64::from(f32::MIN_POSITIVE)
            }
        }
    }

    /// Between which values the squared Euclidean distance of object `i` lies to the centre that
    /// `score`, off by `error` at most, belongs to. Centres of cosine must have length 1.
    pub(crate) fn square(&self, i: usize, score: f64, error: f64) -> (f64, f64) {
        let d = self.points.d() as f64;
        let (norm, scale, unit) = match &self.packed {
            Packed::Double(_) => (self.points.norm(i), 1.0, (d + 8.0) * f64::EPSILON),
            Packed::Single(_, narrow) => {
                let length = f64::from(narrow.lengths[i]);
                (length * length, narrow.scale, f64::from(f32::EPSILON))
            }
        };
        let one = match self.points.distortion() {
            Distortion::Cosine => scale * scale,
            Distortion::SquaredEuclidean => 0.0,
        };
        let (value, slack) = (norm + one + 2.0 * score, 4.0 * unit * (norm + one) + 2.0 * error);
        let unscale = 1.0 / (scale * scale);
        ((value - slack) * unscale, (value + slack) * unscale)
    }
}
