//! Which centre has the smallest score for each of many dense rows, and by how much?
//!
//! The scores of [`crate::panels`], for rows that come many at a time: a group of rows is turned so
//! that each lane of two vectors holds one row; rows in double precision can be rounded to single on
//! the way. A few centres are taken at a time; the smallest and the second smallest score stay in
//! registers, and nothing is ever compared within a vector.

use pulp::{Simd, WithSimd, bytemuck};

use crate::vectors::{Aligned, Real, dispatch, lanes};

/// Vectors of rows in a group.
const VECTORS: usize = 2;
/// Centres at a time: with them, as many chains of multiply-adds as hide their latency.
const CENTRES: usize = 5;
/// Features that are turned at a time.
pub(crate) const QUAD: usize = 4;

/// What [`Rowwise::smallest`] finds, row by row, and what it works in; for one block after the other.
#[derive(Default)]
pub(crate) struct Found {
    records: Aligned,
    turned: Aligned,
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

    /// The smallest scores of rows of so many features that stand one after the other, off by
    /// `error` at most.
    pub(crate) fn smallest<R: Source<T>>(
        &self,
        source: &R,
        rows: &[R::X],
        length: usize,
        error: f64,
        found: &mut Found,
    ) {
        let count = rows.len() / length;
        // Whole groups: what belongs to no row is never read.
        let group = VECTORS * lanes::<T>();
        let whole = count.next_multiple_of(group);
        found.score.resize(whole, 0.0);
        found.second.resize(whole, 0.0);
        found.centre.resize(whole, 0);
        let records = found.records.numbers::<R::X>(2 * group * self.d);
        let turned = found.turned.numbers::<T>(whole * self.d);
        dispatch(Turn { source, rows, length, group, records, turned });
        found.sure = dispatch(Kernel {
            centres: self,
            turned,
            score: &mut found.score,
            centre: &mut found.centre,
            second: &mut found.second,
            error,
        });
    }
}

/// What scores are computed from.
pub(crate) trait Source<T> {
    /// Numbers of the rows as they stand in memory.
    type X: Real;

    /// What is subtracted from every row, if anything; features that fill up a quad are zero.
    fn shift(&self) -> Option<&[[Self::X; QUAD]]>;

    /// Where turned rows are written: to their place, or to a spare one.
    fn place<'p>(to: &'p mut [T], spare: &'p mut [Self::X]) -> &'p mut [Self::X];

    /// Brings them from the spare place to their own.
    fn bring(spare: &[Self::X], to: &mut [T]);
}

/// Rows as they are.
pub(crate) struct AsIs;

impl<T: Real> Source<T> for AsIs {
    type X = T;

    #[inline(always)]
    fn shift(&self) -> Option<&[[T; QUAD]]> {
        None
    }

    #[inline(always)]
    fn place<'p>(to: &'p mut [T], _: &'p mut [T]) -> &'p mut [T] {
        to
    }

    #[inline(always)]
    fn bring(_: &[T], _: &mut [T]) {}
}

/// Rows in double precision, moved by this and rounded to single precision on the way.
pub(crate) struct Rounded(pub Vec<[f64; QUAD]>);

impl Source<f32> for Rounded {
    type X = f64;

    #[inline(always)]
    fn shift(&self) -> Option<&[[f64; QUAD]]> {
        Some(&self.0)
    }

    #[inline(always)]
    fn place<'p>(_: &'p mut [f32], spare: &'p mut [f64]) -> &'p mut [f64] {
        spare
    }

    #[inline(always)]
    fn bring(spare: &[f64], to: &mut [f32]) {
        to.iter_mut().zip(spare).for_each(|(to, from)| *to = *from as f32);
    }
}

/// Turns groups of rows: feature by feature, the rows side by side.
struct Turn<'a, T, R: Source<T>> {
    source: &'a R,
    rows: &'a [R::X],
    length: usize,
    /// Rows in a group.
    group: usize,
    /// For the records of a group, and for the group itself.
    records: &'a mut [R::X],
    turned: &'a mut [T],
}

impl<T: Real, R: Source<T>> WithSimd for Turn<'_, T, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Turn { source, rows, length, group, records, turned } = self;
        let (records, spare) = records.split_at_mut(records.len() / 2);
        let shift = source.shift();
        for (rows, to) in rows.chunks(group * length).zip(turned.chunks_exact_mut(spare.len())) {
            let turned = R::place(to, spare);
            match group / R::X::lanes::<S>() {
                VECTORS => turn::<S, R::X, VECTORS>(simd, rows, length, shift, records, turned),
                4 => turn::<S, R::X, 4>(simd, rows, length, shift, records, turned),
                more => unreachable!("{more} vectors of rows"),
            }
            R::bring(spare, to);
        }
    }
}

/// Turns a group of W vectors of rows. Rows that are not there are those that are.
#[inline(always)]
fn turn<S: Simd, X: Real, const W: usize>(
    simd: S,
    rows: &[X],
    length: usize,
    shift: Option<&[[X; QUAD]]>,
    records: &mut [X],
    turned: &mut [X],
) {
    let lanes = X::lanes::<S>();
    let (last, whole) = (rows.len() / length - 1, length / QUAD);
    let row = |r: usize| &rows[r.min(last) * length..][..length];
    // The last features are filled up to a quad, feature by feature.
    let (turned, rest) = turned.split_at_mut(whole * QUAD * W * lanes);
    for (f, to) in rest.chunks_exact_mut(W * lanes).enumerate() {
        let at = whole * QUAD + f;
        let moved = shift.map_or(X::of(0.0), |shift| shift[whole][f]);
        for (r, to) in to.iter_mut().enumerate() {
            *to = row(r).get(at).map_or(X::of(0.0), |&x| x.minus(moved));
        }
    }
    let turned = X::vectors_mut::<S>(turned);
    if lanes == QUAD {
        // A vector is a quad: no detour.
        let shift = shift.map(|shift| &X::vectors::<S>(shift.as_flattened())[..whole]);
        for w in 0..W {
            let rows: [&[X::V<S>]; QUAD] =
                std::array::from_fn(|q| &X::vectors::<S>(row(w * QUAD + q))[..whole]);
            for (q, to) in turned.chunks_exact_mut(QUAD * W).enumerate() {
                let mut quads = [rows[0][q], rows[1][q], rows[2][q], rows[3][q]];
                if let Some(shift) = shift {
                    quads = quads.map(|quad| X::sub(simd, quad, shift[q]));
                }
                let features = X::turn(simd, quads);
                for s in 0..QUAD {
                    to[s * W + w] = features[s];
                }
            }
        }
        return;
    }
    let slots = slots::<S, X>(simd);
    let (records, _) = records.as_chunks_mut::<QUAD>();
    for r in 0..W * lanes {
        let slot = r / lanes * lanes + slots[r % lanes];
        let to = records.chunks_exact_mut(W * lanes).map(|quads| &mut quads[slot]);
        let (quads, _) = row(r).as_chunks::<QUAD>();
        match shift {
            None => quads.iter().zip(to).for_each(|(from, to)| *to = *from),
            Some(shift) => {
                for ((from, shift), to) in quads.iter().zip(shift).zip(to) {
                    *to = std::array::from_fn(|s| from[s].minus(shift[s]));
                }
            }
        }
    }
    let from = X::vectors::<S>(records.as_flattened()).chunks_exact(QUAD * W);
    for (from, to) in from.zip(turned.chunks_exact_mut(QUAD * W)) {
        for w in 0..W {
            let features = X::turn(simd, std::array::from_fn(|q| from[w * QUAD + q]));
            for s in 0..QUAD {
                to[s * W + w] = features[s];
            }
        }
    }
}

/// The smallest scores of turned rows; tells whether all are sure.
struct Kernel<'a, T> {
    centres: &'a Rowwise<T>,
    turned: &'a [T],
    score: &'a mut [f64],
    centre: &'a mut [u32],
    second: &'a mut [f64],
    error: f64,
}

impl<T: Real> WithSimd for Kernel<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> bool {
        let Kernel { centres, turned, score, centre, second, error } = self;
        let (d, group) = (centres.d, VECTORS * T::lanes::<S>());
        let infinity = T::splat(simd, T::of(f64::INFINITY));
        let (zero, one) = (T::splat(simd, T::of(0.0)), T::splat(simd, T::of(1.0)));
        let minus_one = T::splat(simd, T::of(-1.0));
        // A little more, for what rounding takes of the difference of two scores.
        let apart = T::splat(simd, T::of(2.00001 * error));
        let mut unsure = [zero; VECTORS];
        for (g, rows) in T::vectors::<S>(turned).chunks_exact(VECTORS * d).enumerate() {
            let mut best = Best {
                score: [infinity; VECTORS],
                at: [zero; VECTORS],
                second: [infinity; VECTORS],
            };
            let panels = centres.factors.chunks(CENTRES * d);
            let constants = centres.constants.chunks(CENTRES).zip(centres.numbers.chunks(CENTRES));
            for (factors, (constants, numbers)) in panels.zip(constants) {
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
            numbers(&best.score, &mut score[of.clone()], T::wide);
            numbers(&best.second, &mut second[of.clone()], T::wide);
            numbers(&best.at, &mut centre[of], T::bits);
        }
        let unsure: &[T] = bytemuck::cast_slice(&unsure[..]);
        unsure.iter().all(|v| *v == T::of(0.0))
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
        let quads = self.rows.chunks_exact(QUAD * VECTORS);
        for (x, factors) in quads.zip(self.factors.chunks_exact(QUAD * C)) {
            for s in 0..QUAD {
                for c in 0..C {
                    let factor = T::splat(simd, factors[s * C + c]);
                    for v in 0..VECTORS {
                        scores[c][v] = T::fma(simd, x[s * VECTORS + v], factor, scores[c][v]);
                    }
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
            packed.smallest(&AsIs, &x, d, tolerance, &mut found);
            let sure = found.all_sure().is_some();
            assert!(!sure || (0..rows).all(|r| found.sure(r, tolerance).is_some()));
            assert!(sure || k > 1, "one centre has no rival");
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

    /// A group of W vectors of rows, turned, and the number of rows in it.
    struct Turned<'a, X, const W: usize> {
        rows: &'a [X],
        length: usize,
        shift: Option<&'a [[X; QUAD]]>,
    }

    impl<X: Real, const W: usize> WithSimd for Turned<'_, X, W> {
        type Output = (Vec<X>, usize);

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
            let Turned { rows, length, shift } = self;
            let group = W * X::lanes::<S>();
            let rows = &rows[..rows.len().min(group * length)];
            let mut turned = vec![X::of(-1.0); group * length.next_multiple_of(QUAD)];
            let mut records = turned.clone();
            turn::<S, X, W>(simd, rows, length, shift, &mut records, &mut turned);
            (turned, group)
        }
    }

    fn check_turned<X: Real, const W: usize>() {
        let mut s = SeedPath::new(2).stream("turned");
        for (count, length) in [(1, 1usize), (3, 4), (64, 7), (5, 64), (64, 16)] {
            let rows: Vec<X> = (0..count * length).map(|_| X::of(s.normal())).collect();
            let mut shift = vec![[X::of(0.0); QUAD]; length.div_ceil(QUAD)];
            shift.as_flattened_mut()[..length].fill_with(|| X::of(s.normal()));
            for shift in [None, Some(&shift[..])] {
                let op = || Turned::<X, W> { rows: &rows, length, shift };
                let all = [dispatch(op()), Simd::vectorize(pulp::Scalar, op())];
                for (turned, group) in all {
                    for (at, value) in turned.iter().enumerate() {
                        let (f, r) = (at / group, (at % group).min(count - 1));
                        let from = if f < length { rows[r * length + f] } else { X::of(0.0) };
                        let moved = shift.map_or(X::of(0.0), |shift| shift[f / QUAD][f % QUAD]);
                        assert_eq!(value.wide(), from.minus(moved).wide(), "{count} {length} {at}");
                    }
                }
            }
        }
    }

    #[test]
    fn turned_rows_stand_feature_by_feature() {
        check_turned::<f64, 2>();
        check_turned::<f64, 4>();
        check_turned::<f32, 2>();
        check_turned::<f32, 4>();
    }

    #[test]
    fn nothing_is_sure_where_scores_are_no_numbers() {
        let packed = Rowwise::<f64>::new(1, 2, |_, row| {
            row[0] = -1e200;
            f64::INFINITY
        });
        let mut found = Found::default();
        for x in [1e200, -1e200, f64::NAN] {
            packed.smallest(&AsIs, &[x; 3], 1, 0.0, &mut found);
            assert!(found.all_sure().is_none(), "{x}");
            assert!((0..3).all(|r| found.sure(r, 0.0).is_none()), "{x}");
        }
    }
}
