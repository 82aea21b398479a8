//! Which centre has the smallest score for each of many dense rows, and by how much?
//!
//! The scores of [`crate::panels`], for rows that come many at a time: a group of rows is turned so
//! that each lane of two vectors holds one row. A few centres are taken at a time; the smallest and
//! the second smallest score stay in registers, and nothing is ever compared within a vector.

use prefetch_index::prefetch_index;
use pulp::{Simd, WithSimd, bytemuck};

use crate::vectors::{Aligned, LINE, Real, dispatch};

/// Vectors of rows in a group.
const VECTORS: usize = 2;
/// Centres at a time: with them, as many chains of multiply-adds as hide their latency.
const CENTRES: usize = 5;
/// Features that are turned at a time.
const QUAD: usize = 4;

/// What [`Rowwise::smallest`] finds, row by row, and what it works in; for one block after the other.
#[derive(Default)]
pub(crate) struct Found {
    scratch: Aligned,
    score: Vec<f64>,
    centre: Vec<u32>,
    second: Vec<f64>,
    sure: bool,
}

impl Found {
    /// The centres with the smallest scores, if no scores that are off by the error given to
    /// [`Rowwise::smallest`] could make them others.
    #[inline(always)]
    pub(crate) fn all_sure(&self) -> Option<&[u32]> {
        self.sure.then_some(&self.centre)
    }

    /// The centre with the smallest score of row `r`, if no score that is off by `error` at most
    /// could make it another one.
    #[inline(always)]
    pub(crate) fn sure(&self, r: usize, error: f64) -> Option<u32> {
        // False too where one is no number.
        (self.second[r] > self.score[r] + 2.0 * error).then_some(self.centre[r])
    }
}

/// Centres packed for [`Rowwise::smallest`].
pub(crate) struct Rowwise<T> {
    /// Features, filled up to whole quads.
    d: usize,
    constants: Vec<T>,
    /// The bits of 0, 1, …: centres are never computed with.
    numbers: Vec<T>,
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
        let numbers = (0..k as u32).map(T::from_bits).collect();
        Rowwise { d: filled, constants, numbers, factors: packed }
    }

    /// The smallest scores of so many rows that stand one after the other, off by `error` at most.
    pub(crate) fn smallest(&self, rows: &[T], count: usize, error: f64, found: &mut Found) {
        if count > 0 {
            dispatch(Kernel { centres: self, rows, count, error, found });
        }
    }
}

struct Kernel<'a, T> {
    centres: &'a Rowwise<T>,
    rows: &'a [T],
    count: usize,
    error: f64,
    found: &'a mut Found,
}

impl<T: Real> WithSimd for Kernel<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Kernel { centres, rows, count, error, found } = self;
        let length = rows.len() / count;
        let (d, lanes) = (centres.d, T::lanes::<S>());
        let group = VECTORS * lanes;
        // Whole groups: what belongs to no row is never read.
        let whole = count.next_multiple_of(group);
        found.score.resize(whole, 0.0);
        found.second.resize(whole, 0.0);
        found.centre.resize(whole, 0);
        let scratch = found.scratch.numbers::<T>(2 * group * d);
        let (records, turned) = scratch.split_at_mut(group * d);
        // Whatever was in it before: features that fill up must be numbers, of rows that are not
        // there nothing is read.
        let (records, _) = records.as_chunks_mut::<QUAD>();
        records[group * (d / QUAD - 1)..].fill([T::of(0.0); QUAD]);
        let slots = slots::<S, T>(simd);
        let infinity = T::splat(simd, T::of(f64::INFINITY));
        let (zero, one) = (T::splat(simd, T::of(0.0)), T::splat(simd, T::of(1.0)));
        let minus_one = T::splat(simd, T::of(-1.0));
        // A little more, for what rounding takes of the difference of two scores.
        let apart = T::splat(simd, T::of(2.00001 * error));
        let mut unsure = [zero; VECTORS];
        for (g, block) in rows.chunks(group * length).enumerate() {
            if lanes == QUAD {
                turn_quads::<S, T>(simd, block, length, T::vectors_mut::<S>(turned));
            } else {
                for (r, row) in block.chunks_exact(length).enumerate() {
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
            }
            // The rows that come next are on their way while these are worked on.
            let next = (g + 1) * group * length;
            for at in (next..next + group * length).step_by(LINE / size_of::<T>()) {
                prefetch_index(rows, at);
            }
            let mut best = Best {
                score: [infinity; VECTORS],
                at: [zero; VECTORS],
                second: [infinity; VECTORS],
            };
            let rows = T::vectors::<S>(turned);
            let panels = centres.factors.chunks(CENTRES * d);
            for (p, (factors, constants)) in
                panels.zip(centres.constants.chunks(CENTRES)).enumerate()
            {
                let numbers = &centres.numbers[p * CENTRES..][..constants.len()];
                let panel = Panel::<S, T> { simd, rows, factors, constants, numbers };
                match constants.len() {
                    1 => panel.take::<1>(&mut best),
                    2 => panel.take::<2>(&mut best),
                    3 => panel.take::<3>(&mut best),
                    4 => panel.take::<4>(&mut best),
                    _ => panel.take::<CENTRES>(&mut best),
                }
            }
            for v in 0..VECTORS {
                let gap = T::fma(simd, minus_one, best.score[v], best.second[v]);
                // Also where the gap is no number.
                unsure[v] = T::select(simd, apart, gap, unsure[v], one);
            }
            let of = g * group..(g + 1) * group;
            numbers(&best.score, &mut found.score[of.clone()], T::wide);
            numbers(&best.second, &mut found.second[of.clone()], T::wide);
            numbers(&best.at, &mut found.centre[of], T::bits);
        }
        let unsure: &[T] = bytemuck::cast_slice(&unsure[..]);
        found.sure = unsure.iter().all(|v| *v == T::of(0.0));
    }
}

/// Something of the numbers of all lanes.
#[inline(always)]
fn numbers<V: bytemuck::Pod, T: Real, U>(
    vectors: &[V; VECTORS],
    to: &mut [U],
    take: impl Fn(T) -> U,
) {
    let from: &[T] = bytemuck::cast_slice(vectors);
    to.iter_mut().zip(from).for_each(|(to, from)| *to = take(*from));
}

/// Rows whose vectors are quads, turned without a detour. Rows that are not there are those that are.
#[inline(always)]
fn turn_quads<S: Simd, T: Real>(simd: S, rows: &[T], length: usize, turned: &mut [T::V<S>]) {
    let last = rows.len() / length - 1;
    for v in 0..VECTORS {
        let rows: [&[T]; QUAD] = std::array::from_fn(|q| {
            let r = (v * QUAD + q).min(last);
            &rows[r * length..(r + 1) * length]
        });
        let quads = rows.map(|row| &T::vectors::<S>(row)[..length / QUAD]);
        let (whole, rest) = turned.split_at_mut(length / QUAD * QUAD * VECTORS);
        for (q, to) in whole.chunks_exact_mut(QUAD * VECTORS).enumerate() {
            let features = T::turn(simd, [quads[0][q], quads[1][q], quads[2][q], quads[3][q]]);
            for s in 0..QUAD {
                to[s * VECTORS + v] = features[s];
            }
        }
        if !rest.is_empty() {
            let mut records = [T::of(0.0); QUAD * QUAD];
            for (to, row) in records.chunks_exact_mut(QUAD).zip(rows) {
                let from = &row[length / QUAD * QUAD..];
                to[..from.len()].copy_from_slice(from);
            }
            let records = T::vectors::<S>(&records);
            let features = T::turn(simd, [records[0], records[1], records[2], records[3]]);
            for s in 0..QUAD {
                rest[s * VECTORS + v] = features[s];
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
    numbers: &'a [T],
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
            let number = T::splat(simd, self.numbers[c]);
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
    use crate::panels::Smallest;
    use crate::panels::tests::is_smallest;
    use mustlink_core::random::SeedPath;
    use ndarray::Array2;

    fn check<T: Real>(tolerance: f64) {
        let mut s = SeedPath::new(1).stream("rowwise");
        let mut found = Found::default();
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
            packed.smallest(&x, rows, tolerance, &mut found);
            for r in 0..rows {
                let (score, second) = (found.score[r], found.second[r]);
                let got = Smallest { score, centre: found.centre[r], second };
                let row: Vec<f64> = x[r * d..(r + 1) * d].iter().map(|v| v.wide()).collect();
                let row = ndarray::ArrayView1::from(&row);
                let score = |h: usize| constant(h) - row.dot(&centres.row(h));
                is_smallest(&got, (0..k).map(|h| (score(h), h as u32)), tolerance);
            }
        }
    }

    #[test]
    fn smallest_scores_are_those_of_the_plain_loop() {
        check::<f64>(1e-12);
        check::<f32>(1e-3);
    }

    #[test]
    fn nothing_is_sure_where_scores_are_no_numbers() {
        let packed = Rowwise::<f64>::new(1, 2, |_, row| {
            row[0] = -1e200;
            f64::INFINITY
        });
        let mut found = Found::default();
        for x in [1e200, -1e200, f64::NAN] {
            packed.smallest(&[x; 3], 3, 0.0, &mut found);
            assert!(found.all_sure().is_none(), "{x}");
            assert!((0..3).all(|r| found.sure(r, 0.0).is_none()), "{x}");
        }
    }
}
