//! Which centre has the smallest score for each of many dense rows, and by how much?
//!
//! The scores of [`crate::panels`], for rows that come many at a time: a group of rows is turned so
//! that each lane of two vectors holds one row. A few centres are taken at a time; the smallest and
//! the second smallest score stay in registers, and nothing is ever compared within a vector.

use pulp::{Simd, WithSimd, bytemuck};

use crate::panels::Smallest;
use crate::vectors::{Aligned, Real, dispatch};

/// Vectors of rows in a group.
const VECTORS: usize = 2;
/// Centres at a time: with them, as many chains of multiply-adds as hide their latency.
const CENTRES: usize = 5;
/// Features that are turned at a time.
const QUAD: usize = 4;

/// Centres packed for [`Rowwise::smallest`].
pub(crate) struct Rowwise<T> {
    /// Features, filled up to whole quads.
    d: usize,
    constants: Vec<T>,
    /// Panels of a few centres, feature by feature.
    factors: Vec<T>,
}

impl<T: Real> Rowwise<T> {
    /// Packs centres 0..k. `factors` writes what rows are multiplied with, and gives the constant
    /// of the centre.
    pub(crate) fn new(d: usize, k: usize, factors: impl Fn(usize, &mut [f64]) -> f64) -> Self {
        let filled = d.next_multiple_of(QUAD).max(QUAD);
        let mut packed = vec![T::of(0.0); k * filled];
        let mut constants = Vec::with_capacity(k);
        let mut row = vec![0.0; d];
        for panel in packed.chunks_mut(CENTRES * filled) {
            let count = panel.len() / filled;
            for c in 0..count {
                constants.push(T::of(factors(constants.len(), &mut row)));
                for (to, &value) in panel[c..].iter_mut().step_by(count).zip(&row) {
                    *to = T::of(value);
                }
            }
        }
        Rowwise { d: filled, constants, factors: packed }
    }

    /// The smallest scores of rows that stand one after the other.
    pub(crate) fn smallest(&self, rows: &[T], scratch: &mut Aligned, out: &mut [Smallest]) {
        if !out.is_empty() {
            dispatch(Kernel { centres: self, rows, scratch, out });
        }
    }
}

struct Kernel<'a, T> {
    centres: &'a Rowwise<T>,
    rows: &'a [T],
    scratch: &'a mut Aligned,
    out: &'a mut [Smallest],
}

impl<T: Real> WithSimd for Kernel<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Kernel { centres, rows, scratch, out } = self;
        let length = rows.len() / out.len();
        let (d, lanes) = (centres.d, T::lanes::<S>());
        let group = VECTORS * lanes;
        let scratch = scratch.numbers::<T>(2 * group * d);
        let (records, turned) = scratch.split_at_mut(group * d);
        // Whatever was in it before: features that fill up must be numbers, of rows that are not
        // there nothing is read.
        let (records, _) = records.as_chunks_mut::<QUAD>();
        records[group * (d / QUAD - 1)..].fill([T::of(0.0); QUAD]);
        let slots = slots::<S, T>(simd);
        let infinity = T::splat(simd, T::of(f64::INFINITY));
        for (out, rows) in out.chunks_mut(group).zip(rows.chunks(group * length)) {
            for (r, row) in rows.chunks_exact(length).enumerate() {
                let (quads, rest) = row.as_chunks::<QUAD>();
                let mut slot = r / lanes * lanes + slots[r % lanes];
                for quad in quads {
                    records[slot] = *quad;
                    slot += group;
                }
                if !rest.is_empty() {
                    records[slot][..rest.len()].copy_from_slice(rest);
                }
            }
            let from = T::vectors::<S>(records.as_flattened()).chunks_exact(QUAD * VECTORS);
            let to = T::vectors_mut::<S>(turned).chunks_exact_mut(QUAD * VECTORS);
            for (from, to) in from.zip(to) {
                for v in 0..VECTORS {
                    let of = QUAD * v;
                    let features =
                        T::turn(simd, [from[of], from[of + 1], from[of + 2], from[of + 3]]);
                    for s in 0..QUAD {
                        to[s * VECTORS + v] = features[s];
                    }
                }
            }
            let mut best = Best {
                score: [infinity; VECTORS],
                at: [T::splat(simd, T::of(0.0)); VECTORS],
                second: [infinity; VECTORS],
            };
            let rows = T::vectors::<S>(turned);
            let panels = centres.factors.chunks(CENTRES * d);
            for (p, (factors, constants)) in
                panels.zip(centres.constants.chunks(CENTRES)).enumerate()
            {
                let panel = Panel::<S, T> { simd, rows, factors, constants, first: p * CENTRES };
                match constants.len() {
                    1 => panel.take::<1>(&mut best),
                    2 => panel.take::<2>(&mut best),
                    3 => panel.take::<3>(&mut best),
                    4 => panel.take::<4>(&mut best),
                    _ => panel.take::<CENTRES>(&mut best),
                }
            }
            let score: &[T] = bytemuck::cast_slice(&best.score[..]);
            let at: &[T] = bytemuck::cast_slice(&best.at[..]);
            let second: &[T] = bytemuck::cast_slice(&best.second[..]);
            for (r, to) in out.iter_mut().enumerate() {
                *to = match score[r] < T::of(f64::INFINITY) {
                    true => Smallest {
                        score: score[r].wide(),
                        centre: at[r].wide() as u32,
                        second: second[r].wide(),
                    },
                    false => Smallest::NONE,
                };
            }
        }
    }
}

/// Which record of [`Real::turn`] ends in each lane.
#[inline(always)]
fn slots<S: Simd, T: Real>(simd: S) -> [usize; 64] {
    let lanes = T::lanes::<S>();
    let mut records = [T::of(0.0); 4 * 64];
    for (r, record) in records[..QUAD * lanes].chunks_exact_mut(QUAD).enumerate() {
        record.fill(T::of(r as f64));
    }
    let records = T::vectors::<S>(&records[..QUAD * lanes]);
    let turned = T::turn(simd, std::array::from_fn(|q| records[q]));
    let mut slots = [0; 64];
    let places: &[T] = bytemuck::cast_slice(&turned[..1]);
    slots.iter_mut().zip(places).for_each(|(to, r)| *to = r.wide() as usize);
    slots
}

/// What is known of a group of rows while centres go by.
struct Best<V> {
    score: [V; VECTORS],
    /// The centre of `score`.
    at: [V; VECTORS],
    second: [V; VECTORS],
}

/// A group of rows and a few centres.
struct Panel<'a, S: Simd, T: Real> {
    simd: S,
    rows: &'a [T::V<S>],
    factors: &'a [T],
    constants: &'a [T],
    /// The number of the first centre.
    first: usize,
}

impl<S: Simd, T: Real> Panel<'_, S, T> {
    #[inline(always)]
    fn take<const C: usize>(&self, best: &mut Best<T::V<S>>) {
        let simd = self.simd;
        let mut scores: [[T::V<S>; VECTORS]; C] =
            std::array::from_fn(|c| [T::splat(simd, self.constants[c]); VECTORS]);
        for (x, factors) in self.rows.chunks_exact(VECTORS).zip(self.factors.chunks_exact(C)) {
            for c in 0..C {
                let factor = T::splat(simd, factors[c]);
                for v in 0..VECTORS {
                    scores[c][v] = T::fma(simd, x[v], factor, scores[c][v]);
                }
            }
        }
        for c in 0..C {
            let number = T::splat(simd, T::of((self.first + c) as f64));
            for v in 0..VECTORS {
                let score = scores[c][v];
                best.at[v] = T::select(simd, score, best.score[v], number, best.at[v]);
                best.second[v] = T::min(simd, best.second[v], T::max(simd, score, best.score[v]));
                best.score[v] = T::min(simd, score, best.score[v]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panels::tests::is_smallest;
    use mustlink_core::random::SeedPath;
    use ndarray::Array2;

    fn check<T: Real>(tolerance: f64) {
        let mut s = SeedPath::new(1).stream("rowwise");
        let mut scratch = Aligned::default();
        for (rows, d, k) in
            [(1, 1, 1), (9, 3, 2), (140, 17, 33), (13, 5, 8), (67, 64, 100), (100, 6, 5)]
        {
            let x: Vec<T> = (0..rows * d).map(|_| T::of(s.normal())).collect();
            let centres = Array2::from_shape_fn((k, d), |_| s.normal());
            let constant = |h: usize| 0.5 * centres.row(h).dot(&centres.row(h));
            let packed = Rowwise::<T>::new(d, k, |h, row| {
                row.iter_mut().zip(centres.row(h)).for_each(|(to, c)| *to = -c);
                constant(h)
            });
            let mut out = vec![Smallest::NONE; rows];
            packed.smallest(&x, &mut scratch, &mut out);
            for (r, got) in out.iter().enumerate() {
                let row: Vec<f64> = x[r * d..(r + 1) * d].iter().map(|v| v.wide()).collect();
                let row = ndarray::ArrayView1::from(&row);
                let score = |h: usize| constant(h) - row.dot(&centres.row(h));
                is_smallest(got, (0..k).map(|h| (score(h), h as u32)), tolerance);
            }
        }
    }

    #[test]
    fn smallest_scores_are_those_of_the_plain_loop() {
        check::<f64>(1e-12);
        check::<f32>(1e-3);
    }

    #[test]
    fn no_score_is_no_centre() {
        let packed = Rowwise::<f64>::new(1, 2, |_, row| {
            row[0] = -1e200;
            f64::INFINITY
        });
        let mut out = [Smallest { score: 0.0, centre: 0, second: 0.0 }; 3];
        packed.smallest(&[1e200; 3], &mut Aligned::default(), &mut out);
        assert_eq!(out, [Smallest::NONE; 3]);
    }
}
