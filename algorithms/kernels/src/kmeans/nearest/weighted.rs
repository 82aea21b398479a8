//! The nearest centre if every centre has its own weights of features.
//!
//! Σ w (x − µ)² = Σ w x² − 2 Σ (w µ) x + Σ w µ²: inner products with a row that has its squares behind
//! it, so that the kernel of plain distances pre-selects here too: in single precision, rows and
//! centres shifted to the mean of the centres. Where scores are closer than their rounding error, the
//! exact sum of differences decides.
//! A sweep also sums, block by block, while the rows are in the cache, what means and variances need.
//!
//! Source of the distance: [Domeniconi2007].

use std::cell::RefCell;

use ndarray::{Array2, Axis, Zip};
use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use mustlink_core::clustering::NONE;
use mustlink_core::data::{Data, DataKind, Row};
use mustlink_core::reduce::{self, sum_lanes};

use crate::distance::points::row;
use crate::kmeans::nearest::many_rows::{NearestTwo, Rounded, Rowwise};
use crate::simd::dispatch::dispatch;

/// Most rows, and most of their values, that the kernel takes at a time: what follows the scores
/// then finds the rows in the nearest cache.
const ROWS: usize = 128;
const NUMBERS: usize = 4096;

/// Σ w (x − y)², in eight fixed lanes.
pub fn weighted_distance(x: &[f64], y: &[f64], weights: &[f64]) -> f64 {
    let mut lanes = [0.0f64; 8];
    for (block, w) in weights.chunks(8).enumerate() {
        let at = 8 * block;
        for (l, ((a, b), w)) in x[at..].iter().zip(&y[at..]).zip(w).enumerate() {
            let difference = a - b;
            lanes[l] += w * (difference * difference);
        }
    }
    sum_lanes(lanes)
}

/// The sums of a sweep about the centres that it compared.
pub struct Moments {
    /// Objects of each cluster.
    pub sizes: Vec<usize>,
    /// Σ (x − µ) over the objects of each cluster, k × d.
    pub sums: Array2<f64>,
    /// Σ (x − µ)², k × d.
    pub squares: Array2<f64>,
}

impl Moments {
    fn new(k: usize, d: usize) -> Self {
        Moments { sizes: vec![0; k], sums: Array2::zeros((k, d)), squares: Array2::zeros((k, d)) }
    }

    fn add(&mut self, other: &Moments) {
        self.sizes.iter_mut().zip(&other.sizes).for_each(|(a, b)| *a += b);
        Zip::from(&mut self.sums).and(&other.sums).for_each(|a, b| *a += b);
        Zip::from(&mut self.squares).and(&other.squares).for_each(|a, b| *a += b);
    }

    #[inline(always)]
    fn include(&mut self, x: &[f64], centres: &[f64], h: usize) {
        let d = x.len();
        self.sizes[h] += 1;
        let sums = &mut self.sums.as_slice_mut().expect("standard layout")[h * d..][..d];
        let squares = &mut self.squares.as_slice_mut().expect("standard layout")[h * d..][..d];
        let centre = &centres[h * d..][..d];
        for (((sum, square), x), c) in sums.iter_mut().zip(squares).zip(x).zip(centre) {
            let difference = x - c;
            *sum += difference;
            *square += difference * difference;
        }
    }
}

/// Centres that weigh the features, each its own way.
pub struct Weighted<'a> {
    centres: &'a Array2<f64>,
    weights: &'a Array2<f64>,
    constants: Vec<f64>,
    packed: Rowwise<f32>,
    /// Shift of rows and centres before they are packed.
    shift: Vec<f64>,
    /// Largest weight, and largest Σ w µ² + |constant|, of shifted centres.
    scale: (f64, f64),
}

/// Working memory for the rows that the kernel takes at a time.
#[derive(Default)]
struct Work {
    found: NearestTwo,
    /// Shifted rows, each with its squares behind it.
    wide: Vec<f64>,
    /// Sum of the squares of each shifted row.
    squares: Vec<f64>,
    /// Sparse rows, written out.
    plain: Vec<f64>,
}

thread_local! {
    static WORK: RefCell<Work> = RefCell::default();
}

/// Some rows of the data.
#[derive(Clone, Copy)]
struct Rows<'a> {
    data: &'a Data,
    first: usize,
    d: usize,
    /// All of them where the data is sparse.
    plain: &'a [f64],
}

impl<'a> Rows<'a> {
    #[inline(always)]
    fn get(self, r: usize) -> &'a [f64] {
        match self.data.row(self.first + r) {
            Row::Dense(x) => x,
            Row::Sparse(..) => &self.plain[r * self.d..][..self.d],
        }
    }
}

/// Shifts rows and writes their squares behind them, under an instruction set.
struct Widen<'a> {
    rows: Rows<'a>,
    shift: &'a [f64],
    wide: &'a mut [f64],
    squares: &'a mut [f64],
}

impl WithSimd for Widen<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let d = self.shift.len();
        let to = self.wide.chunks_exact_mut(2 * d).zip(self.squares);
        for (r, (to, total)) in to.enumerate() {
            let (shifted, squares) = to.split_at_mut(d);
            for ((to, x), s) in shifted.iter_mut().zip(self.rows.get(r)).zip(self.shift) {
                *to = x - s;
            }
            squares.iter_mut().zip(&*shifted).for_each(|(to, v)| *to = v * v);
            let mut lanes = [0.0; 8];
            let (eights, rest) = squares.as_chunks::<8>();
            for eight in eights {
                lanes.iter_mut().zip(eight).for_each(|(lane, v)| *lane += v);
            }
            *total = sum_lanes(lanes) + rest.iter().sum::<f64>();
        }
    }
}

/// Adds rows to the moments of their clusters, under an instruction set.
struct Include<'a> {
    rows: Rows<'a>,
    labels: &'a [u32],
    centres: &'a [f64],
    moments: &'a mut Moments,
}

impl WithSimd for Include<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (r, &h) in self.labels.iter().enumerate() {
            self.moments.include(self.rows.get(r), self.centres, h as usize);
        }
    }
}

impl<'a> Weighted<'a> {
    /// Centres with weights, both k × d; weights finite, >= 0. The cost of an object and a centre is
    /// Σ w (x − µ)² plus the constant of the centre; no constants = 0.
    ///
    /// # Panics
    /// When shapes do not fit together.
    pub fn new(centres: &'a Array2<f64>, weights: &'a Array2<f64>, constants: &[f64]) -> Self {
        let (k, d) = centres.dim();
        assert_eq!(weights.dim(), (k, d), "one weight per centre and feature");
        assert!(constants.is_empty() || constants.len() == k, "no constant, or one per centre");
        let constants = if constants.is_empty() { vec![0.0; k] } else { constants.to_vec() };
        let shift = centres.mean_axis(Axis(0)).map_or_else(|| vec![0.0; d], |m| m.to_vec());
        let shifted = |h: usize| {
            let all = row(centres, h).iter().zip(&shift).zip(row(weights, h));
            all.map(|((c, s), w)| (c - s, *w))
        };
        let square = |h| shifted(h).map(|(c, w)| w * c * c).sum::<f64>();
        let packed = Rowwise::new(2 * d, k, |h, to| {
            for (s, (c, w)) in shifted(h).enumerate() {
                to[s] = -w * c;
                to[d + s] = 0.5 * w;
            }
            0.5 * (square(h) + constants[h])
        });
        let most = (0..k).map(|h| square(h) + constants[h].abs()).fold(0.0, f64::max);
        let weight = weights.iter().copied().fold(0.0, f64::max);
        Weighted { centres, weights, constants, packed, scale: (weight, most), shift }
    }

    /// The cost of a dense row and centre `h`, exactly.
    pub fn cost(&self, x: &[f64], h: usize) -> f64 {
        weighted_distance(x, row(self.centres, h), row(self.weights, h)) + self.constants[h]
    }

    /// The costs of each of `objects` at each centre, row by row, exactly.
    pub fn costs(&self, data: &Data, objects: &[u32]) -> Vec<f64> {
        let (k, d) = self.centres.dim();
        let mut out = vec![0.0; objects.len() * k];
        out.par_chunks_mut(k).zip(objects).for_each_init(
            || vec![0.0; d],
            |x, (to, &i)| {
                write_row(data, i as usize, x);
                to.iter_mut().enumerate().for_each(|(h, to)| *to = self.cost(x, h));
            },
        );
        out
    }

    /// Gives every object the label of its cheapest centre: the current label if it attains the
    /// minimum, else the lowest index; objects with `skip(i)` keep theirs. Sums over all objects, by
    /// the labels they then have, in the fixed tree of [`reduce`].
    pub fn sweep(&self, data: &Data, labels: &mut [u32], skip: Option<&[bool]>) -> Moments {
        self.tree(data, 0, labels, skip)
    }

    fn tree(
        &self,
        data: &Data,
        first: usize,
        labels: &mut [u32],
        skip: Option<&[bool]>,
    ) -> Moments {
        let blocks = reduce::blocks(labels.len());
        if blocks <= 1 {
            return WORK.with_borrow_mut(|work| self.block(data, first, labels, skip, work));
        }
        let half = blocks.next_power_of_two() / 2 * reduce::BLOCK;
        let (left, right) = labels.split_at_mut(half);
        let (mut a, b) = rayon::join(
            || self.tree(data, first, left, skip),
            || self.tree(data, first + half, right, skip),
        );
        a.add(&b);
        a
    }

    fn block(
        &self,
        data: &Data,
        first: usize,
        labels: &mut [u32],
        skip: Option<&[bool]>,
        work: &mut Work,
    ) -> Moments {
        let (k, d) = self.centres.dim();
        let wide = 2 * d;
        let most_rows = (NUMBERS / wide).clamp(8, ROWS);
        let centres = self.centres.as_slice().expect("standard layout");
        let mut moments = Moments::new(k, d);
        for (part, labels) in labels.chunks_mut(most_rows).enumerate() {
            let first = first + part * most_rows;
            if data.kind() == DataKind::Csr {
                work.plain.resize(labels.len() * d, 0.0);
                let rows = work.plain.chunks_exact_mut(d).enumerate();
                rows.for_each(|(r, to)| write_row(data, first + r, to));
            }
            work.wide.resize(labels.len() * wide, 0.0);
            work.squares.resize(labels.len(), 0.0);
            let rows = Rows { data, first, d, plain: &work.plain };
            let (found, shift) = (&mut work.found, &self.shift);
            dispatch(Widen { rows, shift, wide: &mut work.wide, squares: &mut work.squares });
            // Each row has an error of its own, so none is given for all.
            let memory =
                data.dense_slice().map_or(&work.wide[..], |x| &x[..(first + labels.len()) * d]);
            self.packed.smallest(Rounded, &work.wide, memory, wide, 0.0, found);
            for (r, label) in labels.iter_mut().enumerate() {
                if skip.is_some_and(|s| s[first + r]) {
                    continue;
                }
                let error = self.error(work.squares[r]);
                *label =
                    found.unambiguous(r, error).unwrap_or_else(|| self.exact(rows.get(r), *label));
            }
            dispatch(Include { rows, labels, centres, moments: &mut moments });
        }
        moments
    }

    /// How far a score can be off for a shifted row with this sum of squares.
    #[inline(always)]
    fn error(&self, square: f64) -> f64 {
        // Rounded products and sums of magnitude Σ w x² + Σ w µ², half of it; and what is too small for
        // a number in single precision, times what it may be multiplied with.
        let (weight, most) = self.scale;
        // Far from where single precision ends.
        let largest = (1.0 + weight) * (1.0 + square) + most;
        if largest.is_nan() || largest > 1e36 {
            return f64::INFINITY;
        }
        let terms = 2.0 * self.shift.len() as f64 + 16.0;
        let tiny = f64::from(f32::MIN_POSITIVE);
        terms
            * (2.0 * f64::from(f32::EPSILON) * (weight * square + most)
                + tiny * (1.0 + square + weight + most))
    }

    fn exact(&self, x: &[f64], current: u32) -> u32 {
        let mut best = (f64::INFINITY, NONE);
        for h in 0..self.centres.nrows() {
            let value = self.cost(x, h);
            // The first counts even where squares are too large for a number.
            if value < best.0 || (value == best.0 && h as u32 == current) || best.1 == NONE {
                best = (value, h as u32);
            }
        }
        best.1
    }
}

/// Row `i` of dense or sparse data, all features.
pub fn write_row(data: &Data, i: usize, to: &mut [f64]) {
    match data.row(i) {
        Row::Dense(from) => to.copy_from_slice(from),
        Row::Sparse(columns, values) => {
            to.fill(0.0);
            columns.iter().zip(values).for_each(|(&c, &v)| to[c as usize] = v);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::random::SeedPath;
    use mustlink_laws::fixtures;

    #[test]
    fn labels_and_sums_are_those_of_the_plain_loop() {
        let mut s = SeedPath::new(5).stream("weighted");
        for (n, d, k) in [(300, 1, 3), (300, 5, 7), (200, 33, 40), (1030, 2, 4), (20, 700, 3)] {
            for offset in [0.0, 1e4] {
                // Rounded values and repeated centres make exact ties.
                let x = Array2::from_shape_fn((n, d), |_| offset + s.below(5) as f64);
                let centres = Array2::from_shape_fn((k, d), |(h, _)| {
                    offset + if h % 2 == 0 { s.below(5) as f64 } else { s.unit() }
                });
                let weights = Array2::from_shape_fn((k, d), |_| {
                    if s.below(4) == 0 { 0.0 } else { s.below(3) as f64 + 0.5 }
                });
                let constants: Vec<f64> = (0..k).map(|h| (h % 3) as f64 - 1.0).collect();
                for constants in [&[][..], &constants] {
                    let weighted = Weighted::new(&centres, &weights, constants);
                    let start: Vec<u32> = (0..n).map(|_| s.below(k) as u32).collect();
                    let slow: Vec<u32> =
                        (0..n).map(|i| weighted.exact(row(&x, i), start[i])).collect();
                    for data in
                        [Data::dense(x.clone()).unwrap(), Data::csr(fixtures::to_csr(&x)).unwrap()]
                    {
                        let mut fast = start.clone();
                        let moments = weighted.sweep(&data, &mut fast, None);
                        assert_eq!(fast, slow, "n {n} d {d} k {k}");
                        check_moments(&moments, &x, &centres, &fast);
                        let mut kept = start.clone();
                        let moments = weighted.sweep(&data, &mut kept, Some(&vec![true; n]));
                        assert_eq!(kept, start);
                        check_moments(&moments, &x, &centres, &kept);
                        let costs = weighted.costs(&data, &[3, 0]);
                        assert_eq!(costs[k - 1], weighted.cost(row(&x, 3), k - 1));
                        assert_eq!(costs[k], weighted.cost(row(&x, 0), 0));
                    }
                }
            }
        }
    }

    fn check_moments(moments: &Moments, x: &Array2<f64>, centres: &Array2<f64>, labels: &[u32]) {
        let mut slow = Moments::new(centres.nrows(), centres.ncols());
        for (i, &l) in labels.iter().enumerate() {
            let centres = centres.as_slice().unwrap();
            slow.include(row(x, i), centres, l as usize);
        }
        assert_eq!(moments.sizes, slow.sizes);
        let near = |a: &Array2<f64>, b: &Array2<f64>| {
            a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-9 * b.abs().max(1.0))
        };
        assert!(near(&moments.sums, &slow.sums) && near(&moments.squares, &slow.squares));
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bits() {
        let mut s = SeedPath::new(6).stream("weighted");
        let data = Data::dense(Array2::from_shape_fn((5000, 3), |_| s.normal())).unwrap();
        let centres = Array2::from_shape_fn((4, 3), |_| s.normal());
        let weights = Array2::from_shape_fn((4, 3), |_| s.unit());
        let at = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut labels = vec![NONE; 5000];
            let weighted = Weighted::new(&centres, &weights, &[]);
            let moments = pool.install(|| weighted.sweep(&data, &mut labels, None));
            (labels, moments.sizes, moments.sums, moments.squares)
        };
        assert_eq!(at(1), at(2));
        assert_eq!(at(1), at(7));
    }

    #[test]
    fn weights_of_one_give_squared_distances() {
        let x: Vec<f64> = (0..19).map(|v| f64::from(v) * 0.37).collect();
        let y: Vec<f64> = (0..19).map(|v| f64::from(v * v) * 0.11).collect();
        let plain = crate::distance::points::squared_distance(&x, &y);
        assert_eq!(weighted_distance(&x, &y, &[1.0; 19]), plain);
    }
}
