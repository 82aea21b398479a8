//! The centre with the smallest score for each of some dense rows, and its lead.
//!
//! A score is a constant of the centre minus an inner product with the row. Centres are packed in
//! panels of two vectors, transposed, with the constant in front, so that each score is one chain of
//! fused multiply-adds; the smallest and the second smallest score of a row stay in registers and no
//! table of rows × centres is ever stored. Scores are rounded: the caller decides by exact distances
//! wherever two of them are closer than the rounding error.
//!
//! For few rows: where rows come many at a time, `many_rows` is faster.

use std::ops::Range;

use pulp::{Simd, WithSimd, bytemuck};

use crate::simd::dispatch::dispatch;
use crate::simd::vectors::{Real, lanes};

/// Vectors in one panel.
const VECTORS: usize = 2;
/// Rows whose scores are kept while panels go by.
const TILE: usize = 64;
/// Bytes of the nearest cache that the panels fill which are passed over a step of rows at a time.
const NEAR: usize = 16 * 1024;

/// The smallest scores of one row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Smallest {
    /// The smallest score.
    pub score: f64,
    /// Its centre.
    pub centre: u32,
    /// The smallest score of all other centres.
    pub second: f64,
}

impl Smallest {
    /// No centre seen yet.
    pub(crate) const NONE: Smallest =
        Smallest { score: f64::INFINITY, centre: u32::MAX, second: f64::INFINITY };
}

/// Centres in one panel.
pub(crate) fn width<T: Real>() -> usize {
    VECTORS * lanes::<T>()
}

/// Centres packed for [`Panels::smallest`].
pub(crate) struct Panels<T> {
    d: usize,
    width: usize,
    /// The centre in each place; the last panel may have fewer places than its width.
    order: Vec<u32>,
    packed: Vec<T>,
}

impl<T: Real> Panels<T> {
    /// Packs the centres named in `order`. `factors` writes what rows are multiplied with, and
    /// gives the constant of the centre.
    pub(crate) fn new(
        d: usize,
        order: Vec<u32>,
        factors: impl Fn(usize, &mut [f64]) -> f64,
    ) -> Self {
        let width = width::<T>();
        let size = width * (d + 1);
        let mut packed = vec![T::of(0.0); order.len().div_ceil(width) * size];
        let mut row = vec![0.0; d];
        for (panel, centres) in packed.chunks_exact_mut(size).zip(order.chunks(width)) {
            for (w, &h) in centres.iter().enumerate() {
                panel[w] = T::of(factors(h as usize, &mut row));
                for (s, &value) in row.iter().enumerate() {
                    panel[(s + 1) * width + w] = T::of(value);
                }
            }
            // Places beyond the last centre never win.
            panel[centres.len()..width].fill(T::of(f64::INFINITY));
        }
        Panels { d, width, order, packed }
    }

    /// Number of panels.
    pub(crate) fn len(&self) -> usize {
        self.order.len().div_ceil(self.width)
    }

    /// The smallest scores, among the centres of `panels`, of the rows `row(0)`, `row(1)`, …
    pub(crate) fn smallest<'x>(
        &self,
        panels: Range<usize>,
        row: impl Fn(usize) -> &'x [T] + Copy,
        out: &mut [Smallest],
    ) where
        T: 'x,
    {
        let size = self.width * (self.d + 1);
        dispatch(Kernel {
            d: self.d,
            width: self.width,
            order: &self.order[panels.start * self.width..],
            packed: &self.packed[panels.start * size..panels.end * size],
            row,
            out,
        });
    }
}

struct Kernel<'a, T, F> {
    d: usize,
    width: usize,
    order: &'a [u32],
    packed: &'a [T],
    row: F,
    out: &'a mut [Smallest],
}

/// The best scores of one row so far, lane by lane.
#[derive(Clone, Copy)]
struct Lane<V> {
    best: V,
    /// The vector that contains `best`, counted from the first panel.
    at: V,
    second: V,
}

impl<'x, T: Real + 'x, F: Fn(usize) -> &'x [T] + Copy> WithSimd for Kernel<'_, T, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Kernel { d, width, order, packed, row, out } = self;
        debug_assert_eq!(width, VECTORS * T::lanes::<S>());
        let none = T::splat(simd, T::of(f64::INFINITY));
        let fresh = Lane { best: none, at: T::splat(simd, T::of(0.0)), second: none };
        let size = VECTORS * (d + 1);
        let panels = (NEAR / (size * size_of::<T::V<S>>())).max(1);
        for (t, out) in out.chunks_mut(TILE).enumerate() {
            let row = |r: usize| &row(t * TILE + r)[..d];
            let mut kept = [fresh; TILE];
            for (p, part) in T::vectors::<S>(packed).chunks(panels * size).enumerate() {
                let part = Part { simd, vectors: part, d, first: p * panels };
                let mut r = 0;
                // As many chains as hide the latency of a multiply-add and fit the registers.
                if S::REGISTER_COUNT >= 32 {
                    while r + 8 <= out.len() {
                        part.step::<T, 8>(std::array::from_fn(|i| row(r + i)), &mut kept[r..r + 8]);
                        r += 8;
                    }
                }
                while r + 4 <= out.len() {
                    part.step::<T, 4>(std::array::from_fn(|i| row(r + i)), &mut kept[r..r + 4]);
                    r += 4;
                }
                while r < out.len() {
                    part.step::<T, 1>([row(r)], &mut kept[r..r + 1]);
                    r += 1;
                }
            }
            for (lane, to) in kept.iter().zip(out) {
                *to = gather::<S, T>(lane, order);
            }
        }
    }
}

/// Panels that stay in the nearest cache.
struct Part<'a, S, V> {
    simd: S,
    vectors: &'a [V],
    d: usize,
    /// The number of the first panel.
    first: usize,
}

impl<S: Simd, V: Copy> Part<'_, S, V> {
    #[inline(always)]
    fn step<T: Real<V<S> = V>, const R: usize>(&self, rows: [&[T]; R], kept: &mut [Lane<V>]) {
        let mut lanes: [Lane<V>; R] = std::array::from_fn(|r| kept[r]);
        for (p, panel) in self.vectors.chunks_exact(VECTORS * (self.d + 1)).enumerate() {
            self.panel::<T, R>(rows, panel, self.first + p, &mut lanes);
        }
        kept.copy_from_slice(&lanes);
    }

    #[inline(always)]
    fn panel<T: Real<V<S> = V>, const R: usize>(
        &self,
        rows: [&[T]; R],
        panel: &[V],
        number: usize,
        lanes: &mut [Lane<V>; R],
    ) {
        let simd = self.simd;
        let d = self.d;
        // Lengths that the compiler sees are not checked again.
        let rows: [&[T]; R] = std::array::from_fn(|r| &rows[r][..d]);
        let (constants, factors) = panel.split_at(VECTORS);
        let factors = &factors[..VECTORS * d];
        let mut scores = [[constants[0], constants[1]]; R];
        for s in 0..d {
            let (first, second) = (factors[VECTORS * s], factors[VECTORS * s + 1]);
            for r in 0..R {
                let value = T::splat(simd, rows[r][s]);
                scores[r][0] = T::fma(simd, value, first, scores[r][0]);
                scores[r][1] = T::fma(simd, value, second, scores[r][1]);
            }
        }
        for v in 0..VECTORS {
            let at = T::splat(simd, T::of((number * VECTORS + v) as f64));
            for r in 0..R {
                let (lane, score) = (&mut lanes[r], scores[r][v]);
                lane.at = T::select(simd, score, lane.best, at, lane.at);
                lane.second = T::min(simd, lane.second, T::max(simd, score, lane.best));
                lane.best = T::min(simd, score, lane.best);
            }
        }
    }
}

/// The smallest scores over all lanes.
#[inline(always)]
fn gather<S: Simd, T: Real>(lane: &Lane<T::V<S>>, order: &[u32]) -> Smallest {
    let best: &[T] = bytemuck::cast_slice(std::slice::from_ref(&lane.best));
    let at: &[T] = bytemuck::cast_slice(std::slice::from_ref(&lane.at));
    let second: &[T] = bytemuck::cast_slice(std::slice::from_ref(&lane.second));
    let least = |x: T, y: T| if x < y { x } else { y };
    let (mut score, mut winner) = (best[0], 0);
    let mut next = second[0];
    for l in 1..best.len() {
        let larger = if best[l] < score { score } else { best[l] };
        next = least(next, least(larger, second[l]));
        winner = if best[l] < score { l } else { winner };
        score = least(best[l], score);
    }
    if score >= T::of(f64::INFINITY) {
        return Smallest::NONE;
    }
    let place = at[winner].wide() as usize * best.len() + winner;
    Smallest { score: score.wide(), centre: order[place], second: next.wide() }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use mustlink_core::random::SeedPath;
    use ndarray::Array2;

    /// True if these are the smallest and the second smallest of all scores with their centres.
    pub(crate) fn is_smallest(
        got: &Smallest,
        scores: impl Iterator<Item = (f64, u32)>,
        tolerance: f64,
    ) {
        let mut plain: Vec<(f64, u32)> = scores.collect();
        plain.sort_by(|a, b| a.partial_cmp(b).unwrap());
        assert!((got.score - plain[0].0).abs() < tolerance);
        assert_eq!(got.centre, plain[0].1);
        match plain.get(1) {
            Some((second, _)) => assert!((got.second - second).abs() < tolerance),
            None => assert_eq!(got.second, f64::INFINITY),
        }
    }

    fn check<T: Real>(tolerance: f64) {
        let mut s = SeedPath::new(1).stream("panels");
        for (rows, d, k) in [(1, 1, 1), (9, 3, 2), (13, 5, 8), (140, 17, 33), (67, 64, 100)] {
            let x: Vec<T> = (0..rows * d).map(|_| T::of(s.normal())).collect();
            let centres = Array2::from_shape_fn((k, d), |_| s.normal());
            let constant = |h: usize| 0.5 * centres.row(h).dot(&centres.row(h));
            // Any order of the centres, and any run of panels.
            let order: Vec<u32> = s.sample(k, k).iter().map(|&h| h as u32).collect();
            let panels = Panels::<T>::new(d, order.clone(), |h, row| {
                row.iter_mut().zip(centres.row(h)).for_each(|(to, c)| *to = -c);
                constant(h)
            });
            for range in [0..panels.len(), panels.len() / 2..panels.len()] {
                let seen = &order[range.start * panels.width..k.min(range.end * panels.width)];
                let mut out = vec![Smallest::NONE; rows];
                panels.smallest(range, |r| &x[r * d..(r + 1) * d], &mut out);
                for (r, got) in out.iter().enumerate() {
                    let row: Vec<f64> = x[r * d..(r + 1) * d].iter().map(|v| v.wide()).collect();
                    let row = ndarray::ArrayView1::from(&row);
                    let score = |&h: &u32| constant(h as usize) - row.dot(&centres.row(h as usize));
                    is_smallest(got, seen.iter().map(|h| (score(h), *h)), tolerance);
                }
            }
        }
    }

    #[test]
    fn smallest_scores_are_those_of_the_plain_loop() {
        check::<f64>(1e-12);
        check::<f32>(1e-3);
    }
}
