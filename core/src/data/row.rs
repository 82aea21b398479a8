//! One object as a row of numbers, and arithmetic with it.

use crate::reduce;

/// The values of one object, dense or sparse.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Row<'a> {
    /// All d values.
    Dense(&'a [f64]),
    /// Columns and values of the stored entries.
    Sparse(&'a [u32], &'a [f64]),
}

impl Row<'_> {
    /// Squared Euclidean norm.
    pub fn norm2(&self) -> f64 {
        match self {
            Row::Dense(x) => reduce::inner_product(x, x),
            Row::Sparse(_, x) => x.iter().map(|v| v * v).sum(),
        }
    }

    /// Adds `scale` times this row to `to`.
    pub fn add_to(&self, to: &mut [f64], scale: f64) {
        match self {
            Row::Dense(x) => to.iter_mut().zip(*x).for_each(|(t, v)| *t += scale * v),
            Row::Sparse(columns, values) => {
                columns.iter().zip(*values).for_each(|(&c, v)| to[c as usize] += scale * v);
            }
        }
    }

    /// Inner product with a dense vector.
    pub fn dot(&self, with: &[f64]) -> f64 {
        match self {
            Row::Dense(x) => x.iter().zip(with).map(|(a, b)| a * b).sum(),
            Row::Sparse(columns, values) => {
                columns.iter().zip(*values).map(|(&c, v)| v * with[c as usize]).sum()
            }
        }
    }

    /// Squared Euclidean distance to another row, by differences.
    pub fn squared_distance(&self, other: &Row<'_>) -> f64 {
        match (self, other) {
            (Row::Dense(a), Row::Dense(b)) => {
                a.iter().zip(*b).map(|(x, y)| (x - y) * (x - y)).sum()
            }
            (Row::Sparse(ca, va), Row::Sparse(cb, vb)) => {
                let (mut i, mut j, mut sum) = (0, 0, 0.0);
                while i < ca.len() || j < cb.len() {
                    let left = ca.get(i).copied().unwrap_or(u32::MAX);
                    let right = cb.get(j).copied().unwrap_or(u32::MAX);
                    let mut difference = 0.0;
                    if left <= right {
                        difference += va[i];
                        i += 1;
                    }
                    if right <= left {
                        difference -= vb[j];
                        j += 1;
                    }
                    sum += difference * difference;
                }
                sum
            }
            (Row::Sparse(c, v), Row::Dense(x)) | (Row::Dense(x), Row::Sparse(c, v)) => {
                let mut at = 0;
                let mut sum = 0.0;
                for (s, &value) in x.iter().enumerate() {
                    let mut difference = value;
                    if at < c.len() && c[at] as usize == s {
                        difference -= v[at];
                        at += 1;
                    }
                    sum += difference * difference;
                }
                sum
            }
        }
    }

    /// Inner product with another row.
    pub fn dot_row(&self, other: &Row<'_>) -> f64 {
        match (self, other) {
            (Row::Dense(a), _) => other.dot(a),
            (_, Row::Dense(b)) => self.dot(b),
            (Row::Sparse(ca, va), Row::Sparse(cb, vb)) => {
                let (mut i, mut j, mut sum) = (0, 0, 0.0);
                while i < ca.len() && j < cb.len() {
                    match ca[i].cmp(&cb[j]) {
                        std::cmp::Ordering::Less => i += 1,
                        std::cmp::Ordering::Greater => j += 1,
                        std::cmp::Ordering::Equal => {
                            sum += va[i] * vb[j];
                            i += 1;
                            j += 1;
                        }
                    }
                }
                sum
            }
        }
    }
}
