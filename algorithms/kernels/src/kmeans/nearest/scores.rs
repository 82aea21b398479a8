//! Scores of dense objects and centres, with bounds of their rounding errors.
//!
//! Scores order the centres of an object: ‖µ‖²/2 − x·µ, for cosine −x·µ. They are rounded, by at
//! most what is bounded here, in double and in single precision. Of many objects at a time, single
//! precision is tried first, double precision where it could be wrong, exact distances last.
//!
//! Source of the bounds: Higham, Accuracy and Stability of Numerical Algorithms, ch. 3.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use ndarray::Array2;

use crate::distance::points::{Distortion, Points, row};
use crate::distance::precision::SingleCopy;
use crate::kmeans::nearest::few_rows::{Panels, Smallest, width};
use crate::kmeans::nearest::many_rows::{
    FEATURES_PER_STEP, NearestTwo, Rounded, Rowwise, Shifted, Unchanged,
};

enum Packed<'a, D, S> {
    Double(D),
    Single(S, &'a SingleCopy, SingleError),
}

/// Centres packed in the precision of the objects.
pub(crate) struct Scores<'a, D, S> {
    points: &'a Points,
    packed: Packed<'a, D, S>,
    /// The longest centre.
    longest: f64,
}

/// How far scores in single precision can be from the truth.
struct SingleError {
    d: f64,
    rounding: f64,
    scale: f64,
    /// The longest centre, as packed.
    longest: f64,
    /// The longest centre as it is, with what was subtracted.
    outside: f64,
}

impl SingleError {
    /// For an object of a squared norm that has this length when it is rounded.
    #[inline(always)]
    fn of(&self, norm: f64, length: f64) -> f64 {
        let &SingleError { d, rounding, scale, longest, outside } = self;
        let unit = 0.5 * f64::from(f32::EPSILON);
        // As in double precision, with rows and centres that were rounded before, after a
        // subtraction that was rounded too. The last term is for what is too small for single
        // precision.
        let rounded = 1.1 * (d + 8.0) * unit * longest * (length + longest);
        let moved = 4.0 * f64::EPSILON * scale * (norm.sqrt() + outside) * (length + 2.0 * longest);
        let exact = rounding * (length * length + longest * longest);
        rounded + moved + exact + d * f64::from(f32::MIN_POSITIVE)
    }
}

/// Scores of all centres, for many objects.
pub(crate) type AllCentreScores<'a> = Scores<'a, MixedPrecision, Rowwise<f32>>;
/// The scores of some centres for some objects.
pub(crate) type PanelScores<'a> = Scores<'a, Panels<f64>, Panels<f32>>;

/// Scores in double precision, and in single precision before, on rows that are rounded on the way:
/// these take half the time, and mostly no rounding error could change the nearest centre.
pub(crate) struct MixedPrecision {
    double: Rowwise<f64>,
    single_pass: Option<SinglePrecisionPass>,
    /// How far scores of double precision can be from the truth, whatever the object.
    error: f64,
}

struct SinglePrecisionPass {
    packed: Rowwise<f32>,
    /// The vector that is subtracted from every row, if any.
    shift: Option<Vec<[f64; FEATURES_PER_STEP]>>,
    error: f64,
    tried: AtomicUsize,
    failed: AtomicUsize,
}

impl SinglePrecisionPass {
    /// From so many centres on they are faster.
    const CENTRES: usize = 4;
    /// Blocks that may be ambiguous before their share decides whether the pass is tried at all.
    const PATIENCE: usize = 16;

    /// True if the nearest centre of every row is unambiguous.
    fn smallest(&self, rows: &[f64], d: usize, found: &mut NearestTwo) -> bool {
        // Blocks of other threads count too: which precision decides changes no label.
        let (tried, failed) = (self.tried.load(Relaxed), self.failed.load(Relaxed));
        if failed > Self::PATIENCE + tried / 4 {
            return false;
        }
        match &self.shift {
            Some(shift) => self.packed.smallest(Shifted(shift), rows, rows, d, self.error, found),
            None => self.packed.smallest(Rounded, rows, rows, d, self.error, found),
        }
        let all = found.all_unambiguous().is_some();
        self.tried.fetch_add(1, Relaxed);
        self.failed.fetch_add(usize::from(!all), Relaxed);
        all
    }
}

/// Centres in a panel of [`PanelScores`].
pub(crate) fn panel_width(points: &Points) -> usize {
    if points.single_copy().is_some() { width::<f32>() } else { width::<f64>() }
}

/// Writes the factors of a row for a centre; returns the constant of its scores.
type Factors<'f> = dyn Fn(usize, &mut [f64]) -> f64 + 'f;

impl<'a> AllCentreScores<'a> {
    /// Packs all centres.
    pub(crate) fn new(points: &'a Points, centres: &Array2<f64>, norms: &[f64]) -> Self {
        let (k, d) = centres.dim();
        let longest = norms.iter().copied().fold(0.0, f64::max).sqrt();
        let double = |factors: &Factors| {
            let scaling = points.scaling();
            let single_pass =
                (k >= SinglePrecisionPass::CENTRES && scaling.fits_singles()).then(|| {
                    let pack = |factors: &Factors| Rowwise::new(d, k, factors);
                    let (packed, error) =
                        pack_single(points, centres, longest, &scaling.shift, 1.0, pack);
                    let shift = scaling.shift.iter().any(|&m| m != 0.0).then(|| {
                        let mut quads =
                            vec![[0.0; FEATURES_PER_STEP]; d.div_ceil(FEATURES_PER_STEP)];
                        quads.as_flattened_mut()[..d].copy_from_slice(&scaling.shift);
                        quads
                    });
                    SinglePrecisionPass {
                        packed,
                        shift,
                        error: error
                            .of(scaling.largest, scaling.most * (1.0 + f64::from(f32::EPSILON))),
                        tried: AtomicUsize::new(0),
                        failed: AtomicUsize::new(0),
                    }
                });
            let error = double_error(d, points.scaling().largest, longest);
            MixedPrecision { double: Rowwise::new(d, k, factors), single_pass, error }
        };
        let single = |factors: &Factors| Rowwise::new(d, k, factors);
        Self::pack(points, centres, norms, double, single)
    }

    /// Writes the nearest centres of the objects from `first` on, whose rows are `rows`, to `to`;
    /// `exact` decides, by the number of the object, where scores cannot.
    #[inline(always)]
    pub(crate) fn nearest(
        &self,
        first: usize,
        rows: &[f64],
        found: &mut NearestTwo,
        to: &mut [u32],
        mut exact: impl FnMut(usize) -> u32,
    ) {
        let d = self.points.d();
        match &self.packed {
            Packed::Double(MixedPrecision { double, single_pass, error }) => {
                if !single_pass.as_ref().is_some_and(|r| r.smallest(rows, d, found)) {
                    double.smallest(Unchanged, rows, rows, d, *error, found);
                }
            }
            Packed::Single(packed, single_copy, error) => {
                let rows = &single_copy.rows[first * d..][..rows.len()];
                let error = error.of(self.points.scaling().largest, 1.0 + f64::from(f32::EPSILON));
                packed.smallest(Unchanged, rows, rows, d, error, found);
            }
        }
        match found.all_unambiguous() {
            Some(centres) => to.copy_from_slice(&centres[..to.len()]),
            None => {
                for (r, to) in to.iter_mut().enumerate() {
                    let i = first + r;
                    *to = found.unambiguous(r, self.error(i)).unwrap_or_else(|| exact(i));
                }
            }
        }
    }
}

impl<'a> PanelScores<'a> {
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
            Packed::Single(panels, ..) => panels.len(),
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
            Packed::Single(packed, single_copy, _) => {
                let d = self.points.d();
                packed.smallest(panels, |r| &single_copy.rows[object(r) * d..][..d], out);
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
        let longest = norms.iter().copied().fold(0.0, f64::max).sqrt();
        let packed = match points.single_copy() {
            None => Packed::Double(double(&|h, to| {
                to.iter_mut().zip(row(centres, h)).for_each(|(to, c)| *to = -c);
                if cosine { 0.0 } else { 0.5 * norms[h] }
            })),
            Some((single_copy, scaling)) => {
                let (packed, error) =
                    pack_single(points, centres, longest, &scaling.shift, scaling.scale, single);
                Packed::Single(packed, single_copy, error)
            }
        };
        Scores { points, packed, longest }
    }

    /// How far a score of object `i` can be from the truth, in units of scores, with what exact
    /// distances lose to rounding.
    #[inline(always)]
    pub(crate) fn error(&self, i: usize) -> f64 {
        let norm = self.points.norm(i);
        match &self.packed {
            Packed::Double(_) => double_error(self.points.d(), norm, self.longest),
            Packed::Single(_, single_copy, error) => {
                error.of(norm, f64::from(single_copy.lengths[i]))
            }
        }
    }

    /// Between which values the squared Euclidean distance of object `i` lies to the centre that
    /// `score`, off by `error` at most, belongs to. Centres of cosine must have length 1.
    pub(crate) fn square(&self, i: usize, score: f64, error: f64) -> (f64, f64) {
        let d = self.points.d() as f64;
        let (norm, scale, unit) = match &self.packed {
            Packed::Double(_) => (self.points.norm(i), 1.0, (d + 8.0) * f64::EPSILON),
            Packed::Single(_, single_copy, error) => {
                let length = f64::from(single_copy.lengths[i]);
                (length * length, error.scale, f64::from(f32::EPSILON))
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

/// How far scores in double precision can be from the truth: d products and sums of magnitude |x||µ|,
/// once more for the norm. The last term is for what is too small for it.
#[inline(always)]
fn double_error(d: usize, norm: f64, longest: f64) -> f64 {
    rounding(d) * (norm + longest * longest) + d as f64 * f64::MIN_POSITIVE
}

/// Rounding error of d products and sums in double precision, relative to their size.
fn rounding(d: usize) -> f64 {
    4.0 * (d as f64 + 8.0) * f64::EPSILON
}

/// Packs centres, the longest of which has this length, for scores in single precision.
fn pack_single<P>(
    points: &Points,
    centres: &Array2<f64>,
    longest: f64,
    shift: &[f64],
    scale: f64,
    pack: impl FnOnce(&Factors) -> P,
) -> (P, SingleError) {
    let cosine = points.distortion() == Distortion::Cosine;
    let farthest = std::cell::Cell::new(0.0f64);
    let packed = pack(&|h, to| {
        let mut square = 0.0;
        for ((to, c), m) in to.iter_mut().zip(row(centres, h)).zip(shift) {
            // Rounded here, so that the constant fits the factors.
            let rounded = f64::from(((c - m) * scale) as f32);
            square += rounded * rounded;
            *to = -rounded;
        }
        farthest.set(farthest.get().max(square));
        if cosine { 0.0 } else { 0.5 * square }
    });
    let shift = shift.iter().map(|m| m * m).sum::<f64>().sqrt();
    let error = SingleError {
        d: points.d() as f64,
        rounding: rounding(points.d()),
        scale,
        longest: farthest.get().sqrt(),
        outside: longest + shift,
    };
    (packed, error)
}
