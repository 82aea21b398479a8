//! Which centre is nearest when features have weights, the same for all centres or each its own?
//!
//! Σ w (x − µ)² = Σ w x² − 2 Σ (w µ) x + Σ w µ²: inner products of a row, with its squares behind it
//! where weights differ between centres, so that the kernel of plain distances pre-selects here too.
//! Where scores are closer than their rounding error, the exact sum of differences decides.

use ndarray::Array2;
use rayon::prelude::*;

use mustlink_core::clustering::NONE;
use mustlink_core::data::{Data, Row};

use crate::points::{row, sum_lanes};
use crate::rowwise::{AsIs, Found, Rowwise};

/// Objects in a block.
const ROWS: usize = 128;

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

/// Centres under a diagonal metric.
pub struct Weighted<'a> {
    centres: &'a Array2<f64>,
    weights: &'a Array2<f64>,
    constants: Vec<f64>,
    packed: Rowwise<f64>,
    /// Largest weight, and largest Σ w µ² + |constant|.
    scale: (f64, f64),
}

impl<'a> Weighted<'a> {
    /// Centres, k × d, with weights: 1 × d for one metric, k × d for one per centre; finite, >= 0.
    /// The cost of an object and a centre is Σ w (x − µ)² plus the constant of the centre; no
    /// constants = 0.
    ///
    /// # Panics
    /// When shapes do not fit together.
    pub fn new(centres: &'a Array2<f64>, weights: &'a Array2<f64>, constants: &[f64]) -> Self {
        let (k, d) = centres.dim();
        let single = weights.nrows() == 1;
        assert!(single || weights.nrows() == k, "one row of weights, or one per centre");
        assert_eq!(weights.ncols(), d, "one weight per feature");
        assert!(constants.is_empty() || constants.len() == k, "no constant, or one per centre");
        let constants = if constants.is_empty() { vec![0.0; k] } else { constants.to_vec() };
        let own = |h: usize| row(weights, if single { 0 } else { h });
        let square =
            |h: usize| row(centres, h).iter().zip(own(h)).map(|(c, w)| w * c * c).sum::<f64>();
        let packed = Rowwise::new(if single { d } else { 2 * d }, k, |h, to| {
            for (s, (c, w)) in row(centres, h).iter().zip(own(h)).enumerate() {
                to[s] = -w * c;
                if !single {
                    to[d + s] = 0.5 * w;
                }
            }
            0.5 * (square(h) + constants[h])
        });
        let most = (0..k).map(|h| square(h) + constants[h].abs()).fold(0.0, f64::max);
        let weight = weights.iter().copied().fold(0.0, f64::max);
        Weighted { centres, weights, constants, packed, scale: (weight, most) }
    }

    /// The cost of a dense object and centre `h`, exactly.
    pub fn cost(&self, x: &[f64], h: usize) -> f64 {
        let w = row(self.weights, if self.weights.nrows() == 1 { 0 } else { h });
        weighted_distance(x, row(self.centres, h), w) + self.constants[h]
    }

    /// Gives every object the label of its cheapest centre: the current label if it attains the
    /// minimum, else the lowest index. Objects with `skip(i)` keep theirs. Returns how many changed.
    pub fn assign(&self, data: &Data, labels: &mut [u32], skip: Option<&[bool]>) -> usize {
        labels
            .par_chunks_mut(ROWS)
            .enumerate()
            .map(|(b, chunk)| self.block(data, b * ROWS, chunk, skip))
            .sum()
    }

    fn block(&self, data: &Data, first: usize, chunk: &mut [u32], skip: Option<&[bool]>) -> usize {
        let (k, d) = self.centres.dim();
        let wide = if self.weights.nrows() == 1 { d } else { 2 * d };
        let mut x = vec![0.0; chunk.len() * wide];
        for (r, to) in x.chunks_exact_mut(wide).enumerate() {
            match data.row(first + r) {
                Row::Dense(from) => to[..d].copy_from_slice(from),
                Row::Sparse(columns, values) => {
                    columns.iter().zip(values).for_each(|(&c, &v)| to[c as usize] = v);
                }
            }
            let (plain, squares) = to.split_at_mut(d);
            squares.iter_mut().zip(plain).for_each(|(to, v)| *to = *v * *v);
        }
        let mut found = Found::default();
        // Rows are asked for one by one, each with its own error.
        self.packed.smallest(AsIs, &x, wide, 0.0, &mut found);
        let mut moved = 0;
        for (r, label) in chunk.iter_mut().enumerate() {
            if skip.is_some_and(|s| s[first + r]) {
                continue;
            }
            let x = &x[r * wide..r * wide + d];
            let square: f64 = x.iter().map(|v| v * v).sum();
            // Products and sums of magnitude Σ w x² + Σ w µ², twice: rounded here, and exact.
            let (weight, most) = self.scale;
            let relative = 4.0 * (wide as f64 + 8.0) * f64::EPSILON;
            let error = relative * (weight * square + most) + wide as f64 * f64::MIN_POSITIVE;
            let new = found.sure(r, error).unwrap_or_else(|| self.exact(x, *label, k));
            moved += usize::from(new != *label);
            *label = new;
        }
        moved
    }

    fn exact(&self, x: &[f64], current: u32, k: usize) -> u32 {
        let mut best = (f64::INFINITY, NONE);
        for h in 0..k {
            let value = self.cost(x, h);
            if value < best.0 || (value == best.0 && h as u32 == current) || best.1 == NONE {
                best = (value, h as u32);
            }
        }
        best.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::contract::fixtures;
    use mustlink_core::random::SeedPath;

    #[test]
    fn labels_are_those_of_the_plain_loop() {
        let mut s = SeedPath::new(5).stream("weighted");
        for (n, d, k) in [(300, 1, 3), (300, 5, 7), (200, 33, 40)] {
            for offset in [0.0, 1e4] {
                // Rounded values and repeated centres make exact ties.
                let x = Array2::from_shape_fn((n, d), |_| offset + s.below(5) as f64);
                let centres = Array2::from_shape_fn((k, d), |(h, _)| {
                    offset + if h % 2 == 0 { s.below(5) as f64 } else { s.unit() }
                });
                for rows in [1, k] {
                    let weights = Array2::from_shape_fn((rows, d), |_| {
                        if s.below(4) == 0 { 0.0 } else { s.below(3) as f64 + 0.5 }
                    });
                    let constants: Vec<f64> = (0..k).map(|h| (h % 3) as f64 - 1.0).collect();
                    for constants in [&[][..], &constants] {
                        let weighted = Weighted::new(&centres, &weights, constants);
                        let start: Vec<u32> = (0..n).map(|_| s.below(k) as u32).collect();
                        let slow: Vec<u32> =
                            (0..n).map(|i| weighted.exact(row(&x, i), start[i], k)).collect();
                        for data in [
                            Data::dense(x.clone()).unwrap(),
                            Data::csr(fixtures::to_csr(&x)).unwrap(),
                        ] {
                            let mut fast = start.clone();
                            let moved = weighted.assign(&data, &mut fast, None);
                            assert_eq!(fast, slow, "n {n} d {d} k {k} rows {rows}");
                            let differ = fast.iter().zip(&start).filter(|(a, b)| a != b).count();
                            assert_eq!(moved, differ);
                            let mut kept = start.clone();
                            assert_eq!(weighted.assign(&data, &mut kept, Some(&vec![true; n])), 0);
                            assert_eq!(kept, start);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn weights_of_one_give_squared_distances() {
        let x: Vec<f64> = (0..19).map(|v| f64::from(v) * 0.37).collect();
        let y: Vec<f64> = (0..19).map(|v| f64::from(v * v) * 0.11).collect();
        assert_eq!(weighted_distance(&x, &y, &[1.0; 19]), crate::points::squared_distance(&x, &y));
    }
}
