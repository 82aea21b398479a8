//! The centre with the smallest score for each of many dense rows, and its lead.
//!
//! The scores of `few_rows`, for rows that come many at a time: a group of rows is transposed so that
//! each lane of two vectors holds one row; rows in double precision can be rounded to single on
//! the way. A few centres are taken at a time; the smallest and the second smallest score stay in
//! registers, and nothing is ever compared within a vector.

use pulp::{Simd, WithSimd, bytemuck};

use crate::simd::dispatch::dispatch;
use crate::simd::vectors::{Aligned, Real, lanes, prefetch, rounded};

/// Vectors of rows in a group.
const VECTORS: usize = 2;
/// Centres in a panel: with the most, as many chains of multiply-adds as registers hold.
const WIDTHS: [usize; 3] = [5, 4, 3];
/// Features that are transposed at a time.
pub(crate) const FEATURES_PER_STEP: usize = 4;

/// The results of [`Rowwise::smallest`], row by row, and its working memory; reused from block to block.
#[derive(Default)]
pub(crate) struct NearestTwo {
    padded: Aligned,
    transposed: Aligned,
    score: Vec<f64>,
    centre: Vec<u32>,
    second: Vec<f64>,
    unambiguous: bool,
}

impl NearestTwo {
    /// The centres with the smallest scores, if no scores that are off by the error given to
    /// [`Rowwise::smallest`] could make them others.
    #[inline(always)]
    pub(crate) fn all_unambiguous(&self) -> Option<&[u32]> {
        self.unambiguous.then_some(&self.centre)
    }

    /// The centre with the smallest score of row `r`, if no score that is off by `error` at most
    /// could make it another one.
    #[inline(always)]
    pub(crate) fn unambiguous(&self, r: usize, error: f64) -> Option<u32> {
        // False too where one is no number.
        (self.second[r] > self.score[r] + 2.0 * error).then_some(self.centre[r])
    }
}

/// Centres packed for [`Rowwise::smallest`].
pub(crate) struct Rowwise<T> {
    /// Features, filled up to whole steps.
    d: usize,
    /// Centres in a panel. The last one is filled up with centres that are infinitely far.
    width: usize,
    constants: Vec<T>,
    /// The bits of 0, 1, …: centres are never computed with.
    numbers: Vec<T>,
    /// The panels, feature by feature.
    factors: Vec<T>,
}

/// The width of panels for so many centres, which is that of [`Kernel::run`]: wide ones read rows less
/// often, but may have to be filled up.
fn width(k: usize) -> usize {
    let cost = |width: usize| k.next_multiple_of(width) * (width + 1) * 60 / width;
    WIDTHS.into_iter().min_by_key(|&width| cost(width)).expect("some widths")
}

impl<T: Real> Rowwise<T> {
    /// Packs centres 0..k. `factors` writes what rows are multiplied with, and gives the constant
    /// of the centre.
    pub(crate) fn new(d: usize, k: usize, factors: impl Fn(usize, &mut [f64]) -> f64) -> Self {
        let (filled, width) =
            (d.next_multiple_of(FEATURES_PER_STEP).max(FEATURES_PER_STEP), width(k));
        let places = k.next_multiple_of(width);
        let mut packed = vec![T::of(0.0); places * filled];
        let mut constants = vec![T::of(f64::INFINITY); places];
        let mut row = vec![0.0; d];
        for h in 0..k {
            constants[h] = T::of(factors(h, &mut row));
            let panel = &mut packed[h / width * width * filled..];
            for (to, &value) in panel[h % width..].iter_mut().step_by(width).zip(&row) {
                *to = T::of(value);
            }
        }
        let numbers = (0..places as u32).map(T::from_bits).collect();
        Rowwise { d: filled, width, constants, numbers, factors: packed }
    }

    /// The smallest scores of rows stored one after the other, with an error of at most `error`. Prefetches the
    /// memory after `memory`, the numbers of these rows: the next block, spread evenly to avoid stalls.
    pub(crate) fn smallest<R: Source<T>>(
        &self,
        source: R,
        rows: &[R::X],
        memory: &[R::X],
        length: usize,
        error: f64,
        found: &mut NearestTwo,
    ) {
        let count = rows.len() / length;
        // Whole groups: what belongs to no row is never read.
        let group = VECTORS * lanes::<T>();
        let whole = count.next_multiple_of(group);
        found.score.resize(whole, 0.0);
        found.second.resize(whole, 0.0);
        found.centre.resize(whole, 0);
        let padded = found.padded.numbers::<R::X>(group * length);
        let transposed = found.transposed.numbers::<T>(whole * self.d);
        dispatch(Transpose { source, rows, memory, length, padded, transposed });
        found.unambiguous = dispatch(Kernel {
            centres: self,
            rows: rows.len(),
            memory,
            transposed,
            score: &mut found.score,
            centre: &mut found.centre,
            second: &mut found.second,
            error,
        });
    }
}

/// Source of scores.
pub(crate) trait Source<T>: Copy {
    /// Type of the numbers of the rows in memory.
    type X: Real;

    /// The same for rows of so many steps, so that none of them is checked again.
    #[inline(always)]
    fn of(self, _quads: usize) -> Self {
        self
    }

    /// The step of a row that begins with its feature `FEATURES_PER_STEP * q`.
    fn quad<S: Simd>(
        self,
        simd: S,
        q: usize,
        x: &[Self::X; FEATURES_PER_STEP],
    ) -> [T; FEATURES_PER_STEP];
}

/// Rows as they are.
#[derive(Clone, Copy)]
pub(crate) struct Unchanged;

impl<T: Real> Source<T> for Unchanged {
    type X = T;

    #[inline(always)]
    fn quad<S: Simd>(self, _: S, _: usize, x: &[T; FEATURES_PER_STEP]) -> [T; FEATURES_PER_STEP] {
        *x
    }
}

/// Rows in double precision, rounded to single precision on the way.
#[derive(Clone, Copy)]
pub(crate) struct Rounded;

impl Source<f32> for Rounded {
    type X = f64;

    #[inline(always)]
    fn quad<S: Simd>(
        self,
        simd: S,
        _: usize,
        x: &[f64; FEATURES_PER_STEP],
    ) -> [f32; FEATURES_PER_STEP] {
        rounded(simd, x, &[0.0; FEATURES_PER_STEP])
    }
}

/// The same, shifted by these values before.
#[derive(Clone, Copy)]
pub(crate) struct Shifted<'a>(pub &'a [[f64; FEATURES_PER_STEP]]);

impl Source<f32> for Shifted<'_> {
    type X = f64;

    #[inline(always)]
    fn of(self, quads: usize) -> Self {
        Shifted(&self.0[..quads])
    }

    #[inline(always)]
    fn quad<S: Simd>(
        self,
        simd: S,
        q: usize,
        x: &[f64; FEATURES_PER_STEP],
    ) -> [f32; FEATURES_PER_STEP] {
        rounded(simd, x, &self.0[q])
    }
}

/// Transposes groups of rows: feature by feature, rows next to each other.
struct Transpose<'a, T, R: Source<T>> {
    source: R,
    rows: &'a [R::X],
    memory: &'a [R::X],
    length: usize,
    /// For a group of rows.
    padded: &'a mut [R::X],
    transposed: &'a mut [T],
}

impl<T: Real, R: Source<T>> WithSimd for Transpose<'_, T, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match T::lanes::<S>() {
            1 => self.run::<S, 1>(simd),
            2 => self.run::<S, 2>(simd),
            4 => self.run::<S, 4>(simd),
            8 => self.run::<S, 8>(simd),
            _ => self.run::<S, 16>(simd),
        }
    }
}

impl<T: Real, R: Source<T>> Transpose<'_, T, R> {
    /// For vectors of L rows.
    #[inline(always)]
    fn run<S: Simd, const L: usize>(self, simd: S) {
        let Transpose { source, rows, memory, length, padded, transposed } = self;
        let places = places::<S, T, L>(simd);
        let size = VECTORS * L * length;
        let groups =
            transposed.chunks_exact_mut(VECTORS * L * length.next_multiple_of(FEATURES_PER_STEP));
        // A group that is not full is filled up with copies of its last row.
        let (whole, rest) = rows.split_at(rows.len() / size * size);
        if !rest.is_empty() {
            let last = &rest[rest.len() - length..];
            let (start, missing) = padded[..size].split_at_mut(rest.len());
            start.copy_from_slice(rest);
            missing.chunks_exact_mut(length).for_each(|row| row.copy_from_slice(last));
        }
        let filled = (!rest.is_empty()).then_some(&padded[..size]);
        for (g, (block, transposed)) in
            whole.chunks_exact(size).chain(filled).zip(groups).enumerate()
        {
            let transposed = T::vectors_mut::<S>(transposed)
                .as_chunks_mut::<{ FEATURES_PER_STEP * VECTORS }>()
                .0;
            for v in 0..VECTORS {
                // Each row where transposing brings it to its place.
                let row = |r: usize| &block[(v * L + places[r]) * length..][..length];
                let ahead = (memory, memory.len() + (g * VECTORS + v) * L * length / 2);
                transpose::<S, T, R, L>(
                    simd,
                    source,
                    std::array::from_fn(row),
                    ahead,
                    v,
                    transposed,
                );
            }
        }
    }
}

/// Transposes as many rows as a vector holds to vector `v` of each feature, and prefetches half as many
/// numbers from a place on.
#[inline(always)]
fn transpose<S: Simd, T: Real, R: Source<T>, const L: usize>(
    simd: S,
    source: R,
    rows: [&[R::X]; L],
    ahead: (&[R::X], usize),
    v: usize,
    transposed: &mut [[T::V<S>; FEATURES_PER_STEP * VECTORS]],
) {
    let whole = rows[0].len() / FEATURES_PER_STEP;
    let quads = rows.map(|row| &row.as_chunks::<FEATURES_PER_STEP>().0[..whole]);
    let inner = source.of(whole);
    let (to, last) = transposed.split_at_mut(whole);
    for q in 0..whole {
        let part = L * FEATURES_PER_STEP / 2;
        prefetch(ahead.0, ahead.1 + q * part, part);
        let records = std::array::from_fn(|r| inner.quad(simd, q, &quads[r][q]));
        write::<S, T, L>(simd, records, v, &mut to[q]);
    }
    for to in last {
        let rest = |r: usize| {
            let mut quad = [R::X::of(0.0); FEATURES_PER_STEP];
            let rest = &rows[r][whole * FEATURES_PER_STEP..];
            quad[..rest.len()].copy_from_slice(rest);
            source.quad(simd, whole, &quad)
        };
        write::<S, T, L>(simd, std::array::from_fn(rest), v, to);
    }
}

/// Transposes one step of features of as many rows.
#[inline(always)]
fn write<S: Simd, T: Real, const L: usize>(
    simd: S,
    records: [[T; FEATURES_PER_STEP]; L],
    v: usize,
    to: &mut [T::V<S>; FEATURES_PER_STEP * VECTORS],
) {
    let vectors = T::vectors::<S>(records.as_flattened());
    let features = T::transpose(simd, std::array::from_fn(|i| vectors[i]));
    for s in 0..FEATURES_PER_STEP {
        to[s * VECTORS + v] = features[s];
    }
}

/// In which lane each record of [`Real::transpose`] ends.
#[inline(always)]
fn places<S: Simd, T: Real, const L: usize>(simd: S) -> [usize; L] {
    let records: [[T; FEATURES_PER_STEP]; L] =
        std::array::from_fn(|r| [T::of(r as f64); FEATURES_PER_STEP]);
    let records = T::vectors::<S>(records.as_flattened());
    let transposed = T::transpose(simd, std::array::from_fn(|i| records[i]));
    let lanes: &[T] = bytemuck::cast_slice(&transposed[..1]);
    let mut places = [0; L];
    (0..L).for_each(|lane| places[lanes[lane].wide() as usize] = lane);
    places
}

/// The smallest scores of transposed rows; returns whether all are unambiguous.
struct Kernel<'a, T, X> {
    centres: &'a Rowwise<T>,
    /// How many numbers the rows had before they were transposed, and where they come from: for the
    /// prefetches.
    rows: usize,
    memory: &'a [X],
    transposed: &'a [T],
    score: &'a mut [f64],
    centre: &'a mut [u32],
    second: &'a mut [f64],
    error: f64,
}

impl<T: Real, X> WithSimd for Kernel<'_, T, X> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> bool {
        match self.centres.width {
            3 => self.run::<S, 3>(simd),
            4 => self.run::<S, 4>(simd),
            _ => self.run::<S, 5>(simd),
        }
    }
}

impl<T: Real, X> Kernel<'_, T, X> {
    /// For panels of C centres.
    #[inline(always)]
    fn run<S: Simd, const C: usize>(self, simd: S) -> bool {
        let Kernel { centres, rows, memory, transposed, score, centre, second, error } = self;
        let (d, group) = (centres.d, VECTORS * T::lanes::<S>());
        let infinity = T::splat(simd, T::of(f64::INFINITY));
        let (zero, one) = (T::splat(simd, T::of(0.0)), T::splat(simd, T::of(1.0)));
        let minus_one = T::splat(simd, T::of(-1.0));
        // A little more, for what rounding takes of the difference of two scores.
        let apart = T::splat(simd, T::of(2.00001 * error));
        // Half of the numbers after these are prefetched here, with the steps of so many panels: not of
        // more, for parts of cache lines.
        let prefetching = (centres.constants.len() / C).min(2);
        let part = FEATURES_PER_STEP * group / 2 / prefetching;
        let mut ambiguous = [zero; VECTORS];
        let factors = centres.factors.as_chunks::<C>().0.as_chunks::<FEATURES_PER_STEP>().0;
        let transposed =
            T::vectors::<S>(transposed).as_chunks::<VECTORS>().0.as_chunks::<FEATURES_PER_STEP>().0;
        for (g, transposed) in transposed.chunks_exact(d / FEATURES_PER_STEP).enumerate() {
            let mut best = [Best { score: infinity, at: zero, second: infinity }; VECTORS];
            let ahead = memory.len() + (rows + g * group * d) / 2;
            let constants = centres.constants.as_chunks::<C>().0.iter();
            let each = constants.zip(centres.numbers.as_chunks::<C>().0);
            let panels = factors.chunks_exact(transposed.len()).zip(each);
            for (p, (factors, (constants, numbers))) in panels.enumerate() {
                let mut scores = constants.map(|constant| [T::splat(simd, constant); VECTORS]);
                for (q, (x, factors)) in transposed.iter().zip(factors).enumerate() {
                    if p < prefetching {
                        prefetch(memory, ahead + (p * (d / FEATURES_PER_STEP) + q) * part, part);
                    }
                    for s in 0..FEATURES_PER_STEP {
                        for c in 0..C {
                            let factor = T::splat(simd, factors[s][c]);
                            for v in 0..VECTORS {
                                scores[c][v] = T::fma(simd, x[s][v], factor, scores[c][v]);
                            }
                        }
                    }
                }
                let number = |c: usize| T::splat(simd, numbers[c]);
                for v in 0..VECTORS {
                    // Like a tournament: no long chain of steps that wait for each other.
                    let pair = |c: usize| {
                        let (a, b) = (scores[c][v], scores[c + 1][v]);
                        Best::of_two::<S, T>(simd, a, b, number(c), number(c + 1))
                    };
                    let mut panel = pair(0);
                    if C > 3 {
                        panel = panel.join::<S, T>(simd, pair(2));
                    }
                    if C % 2 == 1 {
                        panel = panel.meet::<S, T>(simd, scores[C - 1][v], number(C - 1));
                    }
                    best[v] = best[v].join::<S, T>(simd, panel);
                }
            }
            for v in 0..VECTORS {
                let gap = T::fma(simd, minus_one, best[v].score, best[v].second);
                // Also where the gap is no number.
                ambiguous[v] = T::select(simd, apart, gap, ambiguous[v], one);
            }
            let of = g * group..(g + 1) * group;
            numbers(best.map(|b| b.score), &mut score[of.clone()], T::wide);
            numbers(best.map(|b| b.second), &mut second[of.clone()], T::wide);
            numbers(best.map(|b| b.at), &mut centre[of], T::bits);
        }
        let ambiguous: &[T] = bytemuck::cast_slice(&ambiguous[..]);
        ambiguous.iter().all(|v| *v == T::of(0.0))
    }
}

/// Applies `take` to the numbers of all lanes.
#[inline(always)]
fn numbers<V: bytemuck::Pod, T: Real, U>(
    vectors: [V; VECTORS],
    to: &mut [U],
    take: impl Fn(T) -> U,
) {
    let from: &[T] = bytemuck::cast_slice(&vectors);
    to.iter_mut().zip(from).for_each(|(to, from)| *to = take(*from));
}

/// The best scores of a vector of rows so far.
#[derive(Clone, Copy)]
struct Best<V> {
    score: V,
    /// The centre of `score`.
    at: V,
    second: V,
}

impl<V: Copy> Best<V> {
    /// Best of two centres with these scores and numbers.
    #[inline(always)]
    fn of_two<S: Simd, T: Real<V<S> = V>>(simd: S, a: V, b: V, at_a: V, at_b: V) -> Self {
        Best {
            score: T::min(simd, a, b),
            at: T::select(simd, b, a, at_b, at_a),
            second: T::max(simd, a, b),
        }
    }

    /// With one more centre.
    #[inline(always)]
    fn meet<S: Simd, T: Real<V<S> = V>>(self, simd: S, score: V, number: V) -> Self {
        let best = self.score;
        Best {
            score: T::min(simd, score, best),
            at: T::select(simd, score, best, number, self.at),
            second: T::min(simd, self.second, T::max(simd, score, best)),
        }
    }

    /// With those of other centres.
    #[inline(always)]
    fn join<S: Simd, T: Real<V<S> = V>>(self, simd: S, other: Self) -> Self {
        let rest = T::min(simd, self.second, other.second);
        Best {
            score: T::min(simd, self.score, other.score),
            at: T::select(simd, other.score, self.score, other.at, self.at),
            second: T::min(simd, rest, T::max(simd, self.score, other.score)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kmeans::nearest::few_rows::Smallest;
    use crate::kmeans::nearest::few_rows::tests::is_smallest;
    use mustlink_core::random::SeedPath;
    use ndarray::Array2;

    fn check<T: Real>(tolerance: f64) {
        let mut s = SeedPath::new(1).stream("rowwise");
        let mut found = NearestTwo::default();
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
            packed.smallest(Unchanged, &x, &x, d, tolerance, &mut found);
            let unambiguous = found.all_unambiguous().is_some();
            assert!(!unambiguous || (0..rows).all(|r| found.unambiguous(r, tolerance).is_some()));
            assert!(unambiguous || k > 1, "one centre has no rival");
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

    fn check_transposed<T: Real, R: Source<T>>(source: impl Fn(usize) -> R) {
        let mut s = SeedPath::new(2).stream("transposed");
        for (count, length) in [(1, 1usize), (3, 4), (64, 7), (5, 64), (64, 16), (40, 2)] {
            let rows: Vec<R::X> = (0..count * length).map(|_| R::X::of(s.normal())).collect();
            let (filled, source) = (length.next_multiple_of(FEATURES_PER_STEP), source(length));
            let check = |lanes: usize, run: &dyn Fn(Transpose<'_, T, R>)| {
                let group = VECTORS * lanes;
                let mut transposed = vec![T::of(-1.0); count.next_multiple_of(group) * filled];
                let mut padded = vec![R::X::of(-1.0); group * length];
                let padded = &mut padded;
                let (rows, memory, transposed) = (&rows[..], &[][..], &mut transposed[..]);
                run(Transpose { source, rows, memory, length, padded, transposed });
                for (at, value) in transposed.iter().enumerate() {
                    let (g, f, r) = (at / (group * filled), at / group % filled, at % group);
                    let x = &rows[(g * group + r).min(count - 1) * length..][..length];
                    let mut quad = [R::X::of(0.0); FEATURES_PER_STEP];
                    let of = &x[f / FEATURES_PER_STEP * FEATURES_PER_STEP..];
                    quad[..of.len().min(FEATURES_PER_STEP)]
                        .copy_from_slice(&of[..of.len().min(FEATURES_PER_STEP)]);
                    let expected = source.quad(pulp::Scalar, f / FEATURES_PER_STEP, &quad)
                        [f % FEATURES_PER_STEP];
                    assert_eq!(value.wide(), expected.wide(), "{count} {length} {lanes} {at}");
                }
            };
            check(lanes::<T>(), &|transpose| dispatch(transpose));
            check(1, &|transpose| Simd::vectorize(pulp::Scalar, transpose));
        }
    }

    #[test]
    fn transposed_rows_stand_feature_by_feature() {
        check_transposed::<f64, _>(|_| Unchanged);
        check_transposed::<f32, _>(|_| Unchanged);
        // Features that fill up a step are not moved.
        let shift = |length: usize| -> &'static [[f64; FEATURES_PER_STEP]] {
            let mut shift = vec![[0.0; FEATURES_PER_STEP]; length.div_ceil(FEATURES_PER_STEP)];
            shift.as_flattened_mut()[..length].fill(0.7);
            shift.leak()
        };
        check_transposed::<f32, _>(|_| Rounded);
        check_transposed::<f32, _>(|length| Shifted(shift(length)));
    }

    #[test]
    fn nothing_is_unambiguous_where_scores_are_no_numbers() {
        let packed = Rowwise::<f64>::new(1, 2, |_, row| {
            row[0] = -1e200;
            f64::INFINITY
        });
        let mut found = NearestTwo::default();
        for x in [1e200, -1e200, f64::NAN] {
            packed.smallest(Unchanged, &[x; 3], &[], 1, 0.0, &mut found);
            assert!(found.all_unambiguous().is_none(), "{x}");
            assert!((0..3).all(|r| found.unambiguous(r, 0.0).is_none()), "{x}");
        }
    }
}
