//! Vector operations: scores in either precision, and sums in fixed lanes.

use mustlink_core::reduce;
use prefetch_index::prefetch_index;
use pulp::{Simd, WithSimd, bytemuck};

use crate::simd::dispatch::dispatch;

/// Bytes of a cache line.
const LINE: usize = 64;

/// Memory aligned to cache lines: vectors that cross lines are slow.
#[derive(Default)]
pub(crate) struct Aligned(Vec<f64>);

impl Aligned {
    /// `count` zeros.
    pub(crate) fn zeros(count: usize) -> Self {
        Aligned(vec![0.0; count + LINE / size_of::<f64>()])
    }

    /// Room for `count` numbers; what was in it before is undefined.
    pub(crate) fn numbers<T: Real>(&mut self, count: usize) -> &mut [T] {
        let doubles = (count * size_of::<T>()).div_ceil(size_of::<f64>());
        if self.0.len() < doubles + LINE / size_of::<f64>() {
            *self = Aligned::zeros(doubles);
        }
        let first = self.first(doubles);
        &mut bytemuck::cast_slice_mut(&mut self.0[first..first + doubles])[..count]
    }

    /// The first `count` numbers that [`Aligned::zeros`] made.
    pub(crate) fn get(&self, count: usize) -> &[f64] {
        let first = self.first(count);
        &self.0[first..first + count]
    }

    fn first(&self, doubles: usize) -> usize {
        self.0.as_ptr().align_offset(LINE).min(self.0.len() - doubles)
    }
}

/// Number type of scores: `f64` or `f32`.
pub(crate) trait Real: bytemuck::Pod + PartialOrd + Send + Sync {
    /// A vector of them.
    type V<S: Simd>: bytemuck::Pod;
    fn lanes<S: Simd>() -> usize;
    fn vectors<S: Simd>(x: &[Self]) -> &[Self::V<S>];
    fn vectors_mut<S: Simd>(x: &mut [Self]) -> &mut [Self::V<S>];
    fn splat<S: Simd>(simd: S, value: Self) -> Self::V<S>;
    /// a · b + c.
    fn fma<S: Simd>(simd: S, a: Self::V<S>, b: Self::V<S>, c: Self::V<S>) -> Self::V<S>;
    fn min<S: Simd>(simd: S, a: Self::V<S>, b: Self::V<S>) -> Self::V<S>;
    fn max<S: Simd>(simd: S, a: Self::V<S>, b: Self::V<S>) -> Self::V<S>;
    /// `yes` in the lanes where a < b, else `no`.
    fn select<S: Simd>(
        simd: S,
        a: Self::V<S>,
        b: Self::V<S>,
        yes: Self::V<S>,
        no: Self::V<S>,
    ) -> Self::V<S>;
    /// From four vectors of records of four, the four vectors of the first, second, … of each record;
    /// all in the same order.
    fn transpose<S: Simd>(simd: S, records: [Self::V<S>; 4]) -> [Self::V<S>; 4];
    fn of(value: f64) -> Self;
    fn wide(self) -> f64;
    fn from_bits(bits: u32) -> Self;
    /// The lowest bits.
    fn bits(self) -> u32;
}

macro_rules! real {
    ($t:ty, $v:ident, $lanes:ident, $cast:ident, $cast_mut:ident, $splat:ident, $fma:ident, $min:ident, $max:ident,
     $less:ident, $select:ident, $transpose:ident) => {
        impl Real for $t {
            type V<S: Simd> = S::$v;
            #[inline(always)]
            fn lanes<S: Simd>() -> usize {
                S::$lanes
            }
            #[inline(always)]
            fn vectors<S: Simd>(x: &[Self]) -> &[S::$v] {
                S::$cast(x).0
            }
            #[inline(always)]
            fn vectors_mut<S: Simd>(x: &mut [Self]) -> &mut [S::$v] {
                S::$cast_mut(x).0
            }
            #[inline(always)]
            fn splat<S: Simd>(simd: S, value: Self) -> S::$v {
                simd.$splat(value)
            }
            #[inline(always)]
            fn fma<S: Simd>(simd: S, a: S::$v, b: S::$v, c: S::$v) -> S::$v {
                simd.$fma(a, b, c)
            }
            #[inline(always)]
            fn min<S: Simd>(simd: S, a: S::$v, b: S::$v) -> S::$v {
                simd.$min(a, b)
            }
            #[inline(always)]
            fn max<S: Simd>(simd: S, a: S::$v, b: S::$v) -> S::$v {
                simd.$max(a, b)
            }
            #[inline(always)]
            fn select<S: Simd>(simd: S, a: S::$v, b: S::$v, yes: S::$v, no: S::$v) -> S::$v {
                simd.$select(simd.$less(a, b), yes, no)
            }
            #[inline(always)]
            fn transpose<S: Simd>(simd: S, records: [S::$v; 4]) -> [S::$v; 4] {
                simd.$transpose(records)
            }
            #[inline(always)]
            fn of(value: f64) -> Self {
                value as $t
            }
            #[inline(always)]
            fn wide(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn from_bits(bits: u32) -> Self {
                <$t>::from_bits(bits.into())
            }
            #[inline(always)]
            fn bits(self) -> u32 {
                self.to_bits() as u32
            }
        }
    };
}

real!(
    f64,
    f64s,
    F64_LANES,
    as_simd_f64s,
    as_mut_simd_f64s,
    splat_f64s,
    mul_add_e_f64s,
    min_f64s,
    max_f64s,
    less_than_f64s,
    select_f64s,
    deinterleave_shfl_f64s
);
real!(
    f32,
    f32s,
    F32_LANES,
    as_simd_f32s,
    as_mut_simd_f32s,
    splat_f32s,
    mul_add_e_f32s,
    min_f32s,
    max_f32s,
    less_than_f32s,
    select_f32s,
    deinterleave_shfl_f32s
);

/// Numbers in a vector of the instruction set of this machine.
pub(crate) fn lanes<T: Real>() -> usize {
    struct Lanes<T>(std::marker::PhantomData<T>);
    impl<T: Real> WithSimd for Lanes<T> {
        type Output = usize;
        fn with_simd<S: Simd>(self, _: S) -> usize {
            T::lanes::<S>()
        }
    }
    dispatch(Lanes::<T>(std::marker::PhantomData))
}

/// Σ (x − y)² under an instruction set: bit for bit that of [`reduce::squared_distance`].
#[inline(always)]
pub(crate) fn squared_distance<S: Simd>(simd: S, x: &[f64], y: &[f64]) -> f64 {
    by_width::<S, false>(simd, x, y, &mut [], square(simd), reduce::squared_distance)
}

/// Σ x·y under an instruction set: bit for bit that of [`reduce::inner_product`].
#[inline(always)]
pub(crate) fn inner_product<S: Simd>(simd: S, x: &[f64], y: &[f64]) -> f64 {
    by_width::<S, false>(simd, x, y, &mut [], product(simd), reduce::inner_product)
}

/// [`squared_distance`], and adds `x` to `sum`.
#[inline(always)]
pub(crate) fn squared_distance_and_sum<S: Simd>(
    simd: S,
    x: &[f64],
    y: &[f64],
    sum: &mut [f64],
) -> f64 {
    by_width::<S, true>(simd, x, y, sum, square(simd), reduce::squared_distance)
}

/// [`inner_product`], and adds `x` to `sum`.
#[inline(always)]
pub(crate) fn inner_product_and_sum<S: Simd>(
    simd: S,
    x: &[f64],
    y: &[f64],
    sum: &mut [f64],
) -> f64 {
    by_width::<S, true>(simd, x, y, sum, product(simd), reduce::inner_product)
}

#[inline(always)]
fn square<S: Simd>(simd: S) -> impl Fn(S::f64s, S::f64s) -> S::f64s {
    move |a, b| {
        let difference = simd.sub_f64s(a, b);
        simd.mul_f64s(difference, difference)
    }
}

#[inline(always)]
fn product<S: Simd>(simd: S) -> impl Fn(S::f64s, S::f64s) -> S::f64s {
    move |a, b| simd.mul_f64s(a, b)
}

#[inline(always)]
fn by_width<S: Simd, const SUM: bool>(
    simd: S,
    x: &[f64],
    y: &[f64],
    sum: &mut [f64],
    term: impl Fn(S::f64s, S::f64s) -> S::f64s,
    plain: impl Fn(&[f64], &[f64]) -> f64,
) -> f64 {
    match S::F64_LANES {
        8 => in_lanes::<S, 1, SUM>(simd, x, y, sum, term),
        4 => in_lanes::<S, 2, SUM>(simd, x, y, sum, term),
        2 => in_lanes::<S, 4, SUM>(simd, x, y, sum, term),
        _ => {
            if SUM {
                add(simd, sum, x);
            }
            plain(x, y)
        }
    }
}

/// The sum of `term` in eight fixed lanes, W vectors; terms of nothing must be zero. With SUM, adds
/// `x` to `sum`.
#[inline(always)]
fn in_lanes<S: Simd, const W: usize, const SUM: bool>(
    simd: S,
    x: &[f64],
    y: &[f64],
    sum: &mut [f64],
    term: impl Fn(S::f64s, S::f64s) -> S::f64s,
) -> f64 {
    // As long as each other, so that nothing is checked again.
    let (y, sum) = (&y[..x.len()], &mut sum[..if SUM { x.len() } else { 0 }]);
    let whole = x.len() / (W * S::F64_LANES) * (W * S::F64_LANES);
    let ((x, rest_x), (y, rest_y)) = (x.split_at(whole), y.split_at(whole));
    let (sum, rest_sum) = sum.split_at_mut(if SUM { whole } else { 0 });
    let mut lanes = [simd.splat_f64s(0.0); W];
    let (xs, ys) =
        (S::as_simd_f64s(x).0.as_chunks::<W>().0, S::as_simd_f64s(y).0.as_chunks::<W>().0);
    let sums = S::as_mut_simd_f64s(sum).0.as_chunks_mut::<W>().0;
    for c in 0..xs.len().min(ys.len()) {
        for w in 0..W {
            lanes[w] = simd.add_f64s(lanes[w], term(xs[c][w], ys[c][w]));
            if SUM {
                sums[c][w] = simd.add_f64s(sums[c][w], xs[c][w]);
            }
        }
    }
    if !rest_x.is_empty() {
        let ((xs, last_x), (ys, last_y)) = (S::as_simd_f64s(rest_x), S::as_simd_f64s(rest_y));
        // Indices that are known when this is compiled keep the lanes in registers.
        for w in 0..W {
            let (a, b) = match (xs.get(w), ys.get(w)) {
                (Some(&a), Some(&b)) => (a, b),
                _ if w == xs.len() && !last_x.is_empty() => {
                    (simd.partial_load_f64s(last_x), simd.partial_load_f64s(last_y))
                }
                _ => break,
            };
            lanes[w] = simd.add_f64s(lanes[w], term(a, b));
        }
        if SUM {
            rest_sum.iter_mut().zip(rest_x).for_each(|(s, x)| *s += x);
        }
    }
    let lanes: &[f64] = bytemuck::cast_slice(&lanes[..]);
    reduce::sum_lanes(std::array::from_fn(|l| lanes[l]))
}

/// Adds `x` to `sum`.
#[inline(always)]
pub(crate) fn add<S: Simd>(simd: S, sum: &mut [f64], x: &[f64]) {
    let ((sums, rest), (xs, last)) = (S::as_mut_simd_f64s(sum), S::as_simd_f64s(x));
    sums.iter_mut().zip(xs).for_each(|(s, &x)| *s = simd.add_f64s(*s, x));
    rest.iter_mut().zip(last).for_each(|(s, x)| *s += x);
}

/// Adds four rows to `sum`, one after the other.
#[inline(always)]
pub(crate) fn add_four<S: Simd>(simd: S, sum: &mut [f64], rows: [&[f64]; 4]) {
    let whole = sum.len() / S::F64_LANES * S::F64_LANES;
    let [a, b, c, e] = rows.map(|row| S::as_simd_f64s(&row[..whole]).0);
    let (sums, last) = S::as_mut_simd_f64s(sum);
    for ((((s, &a), &b), &c), &e) in sums.iter_mut().zip(a).zip(b).zip(c).zip(e) {
        let sum = simd.add_f64s(simd.add_f64s(*s, a), b);
        *s = simd.add_f64s(simd.add_f64s(sum, c), e);
    }
    for (f, s) in last.iter_mut().enumerate() {
        *s = rows.iter().fold(*s, |s, row| s + row[whole + f]);
    }
}

/// x − m, rounded to single precision.
#[inline(always)]
pub(crate) fn rounded<S: Simd>(simd: S, x: &[f64; 4], m: &[f64; 4]) -> [f32; 4] {
    // The expression below in explicit vectors: the compiler turns its loop into slow code.
    #[cfg(target_arch = "x86_64")]
    {
        let any: &dyn std::any::Any = &simd;
        let wide = any.downcast_ref::<pulp::x86::V4>().map(|v4| **v4);
        if let Some(v3) = wide.or(any.downcast_ref::<pulp::x86::V3>().copied()) {
            let moved = v3.sub_f64x4(bytemuck::cast(*x), bytemuck::cast(*m));
            return bytemuck::cast(v3.convert_f64x4_to_f32x4(moved));
        }
    }
    std::array::from_fn(|s| (x[s] - m[s]) as f32)
}

/// Prefetches numbers from a place on, wherever that is.
#[inline(always)]
pub(crate) fn prefetch<X>(rows: &[X], from: usize, count: usize) {
    let line = LINE / size_of::<X>();
    for l in 0..count.div_ceil(line) {
        prefetch_index(rows, from + l * line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::random::SeedPath;

    struct Both<'a>(&'a [f64], &'a [f64]);

    impl WithSimd for Both<'_> {
        type Output = (f64, f64, Vec<f64>);

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
            let Both(x, y) = self;
            let mut sum = y.to_vec();
            add(simd, &mut sum, x);
            let (square, product) = (squared_distance(simd, x, y), inner_product(simd, x, y));
            let mut also = y.to_vec();
            assert_eq!(squared_distance_and_sum(simd, x, y, &mut also), square);
            assert_eq!(also, sum);
            let mut also = y.to_vec();
            assert_eq!(inner_product_and_sum(simd, x, y, &mut also), product);
            assert_eq!(also, sum);
            let mut four = x.to_vec();
            for row in [y, x, x, y] {
                add(simd, &mut four, row);
            }
            let mut also = x.to_vec();
            add_four(simd, &mut also, [y, x, x, y]);
            assert_eq!(also, four);
            (square, product, sum)
        }
    }

    #[test]
    fn every_instruction_set_gives_the_same_bits() {
        let mut s = SeedPath::new(4).stream("vectors");
        for d in 0..70 {
            let x: Vec<f64> = (0..d).map(|_| s.normal()).collect();
            let y: Vec<f64> = (0..d).map(|_| s.normal()).collect();
            let sum = x.iter().zip(&y).map(|(a, b)| b + a).collect();
            let plain = (reduce::squared_distance(&x, &y), reduce::inner_product(&x, &y), sum);
            assert_eq!(dispatch(Both(&x, &y)), plain);
            assert_eq!(Simd::vectorize(pulp::Scalar, Both(&x, &y)), plain);
            #[cfg(target_arch = "x86_64")]
            if let Some(simd) = pulp::x86::V3::try_new() {
                assert_eq!(Simd::vectorize(simd, Both(&x, &y)), plain);
            }
        }
    }
}
