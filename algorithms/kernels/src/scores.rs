//! How far is each dense object from each centre, about?
//!
//! Scores order the centres of an object: ‖µ‖²/2 − x·µ, for cosine −x·µ. They are rounded, and this
//! file knows by how much, in double and in single precision.

use std::ops::Range;

use ndarray::Array2;

use crate::panels::{Panels, Smallest, width};
use crate::points::{Distortion, Narrow, Points, row};

enum Packed<'a> {
    Double(Panels<f64>),
    Single(Panels<f32>, &'a Narrow),
}

/// Centres packed in the precision of the objects.
pub(crate) struct Scores<'a> {
    points: &'a Points,
    packed: Packed<'a>,
    /// The longest centre, as packed.
    longest: f64,
    /// The longest centre as it is, with what was subtracted.
    outside: f64,
}

/// Centres in a panel of the kernel that scores `points`.
pub(crate) fn panel_width(points: &Points) -> usize {
    if points.narrow().is_some() { width::<f32>() } else { width::<f64>() }
}

impl<'a> Scores<'a> {
    /// Packs the centres named in `order`.
    pub(crate) fn new(
        points: &'a Points,
        centres: &Array2<f64>,
        norms: &[f64],
        order: Vec<u32>,
    ) -> Self {
        let d = points.d();
        let cosine = points.distortion() == Distortion::Cosine;
        let longest = norms.iter().copied().fold(0.0, f64::max).sqrt();
        let Some(narrow) = points.narrow() else {
            let panels = Panels::new(d, order, |h, to| {
                to.iter_mut().zip(row(centres, h)).for_each(|(to, c)| *to = -c);
                if cosine { 0.0 } else { 0.5 * norms[h] }
            });
            return Scores { points, packed: Packed::Double(panels), longest, outside: 0.0 };
        };
        let farthest = std::cell::Cell::new(0.0f64);
        let panels = Panels::new(d, order, |h, to| {
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
            packed: Packed::Single(panels, narrow),
            longest: farthest.get().sqrt(),
            outside: longest + shift,
        }
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
                packed.smallest(panels, |r| self.points.dense_row(object(r)), out);
            }
            Packed::Single(packed, narrow) => {
                let d = self.points.d();
                packed.smallest(panels, |r| &narrow.rows[object(r) * d..][..d], out);
            }
        }
    }

    /// How far a score of object `i` can be from the truth, in units of scores, with what exact
    /// distances lose to rounding.
    pub(crate) fn error(&self, i: usize) -> f64 {
        let d = self.points.d() as f64;
        let double = 4.0 * (d + 8.0) * f64::EPSILON;
        let longest = self.longest;
        match &self.packed {
            // d products and sums of magnitude |x||µ|, once more for the norm.
            Packed::Double(_) => double * (self.points.norm(i) + longest * longest),
            // The same, with rows and centres that were rounded before, after a subtraction that
            // was rounded too. The last term is for what is too small for single precision.
            Packed::Single(_, narrow) => {
                let length = f64::from(narrow.lengths[i]);
                let unit = 0.5 * f64::from(f32::EPSILON);
                let rounded = 1.1 * (d + 8.0) * unit * longest * (length + longest);
                let outside = narrow.scale * (self.points.norm(i).sqrt() + self.outside);
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
