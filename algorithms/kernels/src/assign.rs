//! Which centre is nearest to each object?
//!
//! Dense rows: a fused kernel gives the two smallest scores of each row, never an n × k matrix.
//! Where they lie within the rounding bound of each other, the exact distances of [`Points`] decide,
//! so the labels are those of the plain loop.
//! Sparse rows: each non-zero is one step over all centres, stored feature by feature.

use ndarray::Array2;
use rayon::prelude::*;

use crate::panels::{Panels, Smallest, smallest};
use crate::points::{Distortion, Points, row, row_norms};
use mustlink_core::data::{DataKind, Row};

/// Rows per block.
const ROWS: usize = 256;

/// How a block is assigned.
enum Way {
    /// Centres feature by feature.
    Sparse(Array2<f64>),
    /// Centres packed for the vector kernel.
    Panels(Panels),
    /// As they are.
    Plain,
}

/// Gives every object the label of its nearest centre: the current label if it attains the
/// minimum, else the lowest index. `labels` holds the current labels and receives the new ones;
/// objects with `skip(i)` keep theirs. Returns how many changed.
pub fn assign(
    points: &Points,
    centres: &Array2<f64>,
    labels: &mut [u32],
    skip: Option<&[bool]>,
) -> usize {
    let norms = row_norms(centres);
    let skipped = |i: usize| skip.is_some_and(|s| s[i]);
    let cosine = points.distortion() == Distortion::Cosine;
    let (k, d) = centres.dim();
    let way = match points.data().kind() {
        DataKind::Csr => Way::Sparse(centres.t().as_standard_layout().into_owned()),
        // Packing pays from a few products a row on.
        _ if k >= 4 && d >= 2 => {
            Way::Panels(Panels::new(centres, |h| if cosine { 0.0 } else { 0.5 * norms[h] }))
        }
        _ => Way::Plain,
    };
    labels
        .par_chunks_mut(ROWS)
        .enumerate()
        .map(|(b, chunk)| {
            let first = b * ROWS;
            match &way {
                Way::Sparse(t) => sparse_block(points, centres, t, &norms, first, chunk, &skipped),
                Way::Panels(p) => dense_block(points, centres, p, &norms, first, chunk, &skipped),
                Way::Plain => plain_block(points, centres, &norms, first, chunk, &skipped),
            }
        })
        .sum()
}

/// The label of the smallest of `candidates` by exact distance; the current one wins ties, then the lowest.
fn exact(
    points: &Points,
    centres: &Array2<f64>,
    norms: &[f64],
    i: usize,
    current: u32,
    candidates: impl Iterator<Item = usize>,
) -> u32 {
    let mut best = (f64::INFINITY, u32::MAX);
    for h in candidates {
        let value = points.distance(i, row(centres, h), norms[h]);
        if value < best.0 || (value == best.0 && h as u32 == current) {
            best = (value, h as u32);
        }
    }
    best.1
}

fn plain_block(
    points: &Points,
    centres: &Array2<f64>,
    norms: &[f64],
    first: usize,
    chunk: &mut [u32],
    skipped: &impl Fn(usize) -> bool,
) -> usize {
    let mut moved = 0;
    for (at, label) in chunk.iter_mut().enumerate().filter(|(at, _)| !skipped(first + at)) {
        let new = exact(points, centres, norms, first + at, *label, 0..centres.nrows());
        moved += usize::from(new != *label);
        *label = new;
    }
    moved
}

fn dense_block(
    points: &Points,
    centres: &Array2<f64>,
    panels: &Panels,
    norms: &[f64],
    first: usize,
    chunk: &mut [u32],
    skipped: &impl Fn(usize) -> bool,
) -> usize {
    let (k, d) = centres.dim();
    let rows = chunk.len();
    let gathered: Vec<f64>;
    let x = match points.data().dense_slice() {
        Some(all) => &all[first * d..(first + rows) * d],
        None => {
            let mut block = Vec::with_capacity(rows * d);
            for i in first..first + rows {
                if let Row::Dense(x) = points.data().row(i) {
                    block.extend_from_slice(x);
                }
            }
            gathered = block;
            &gathered
        }
    };
    let none = Smallest { score: f64::INFINITY, centre: u32::MAX, second: f64::INFINITY };
    let mut found = vec![none; rows];
    smallest(x, panels, &mut found);
    // Error of a score: d products and sums of magnitude |x||µ|, once more for the norm.
    let unit = 4.0 * (d as f64 + 8.0) * f64::EPSILON;
    let largest = norms.iter().copied().fold(0.0, f64::max);
    let mut moved = 0;
    for (r, label) in chunk.iter_mut().enumerate().filter(|(r, _)| !skipped(first + r)) {
        let i = first + r;
        let bound = unit * (points.norm(i) + largest);
        let new = if found[r].second > found[r].score + 2.0 * bound {
            found[r].centre
        } else {
            exact(points, centres, norms, i, *label, 0..k)
        };
        moved += usize::from(new != *label);
        *label = new;
    }
    moved
}

fn sparse_block(
    points: &Points,
    centres: &Array2<f64>,
    transposed: &Array2<f64>,
    norms: &[f64],
    first: usize,
    chunk: &mut [u32],
    skipped: &impl Fn(usize) -> bool,
) -> usize {
    let k = centres.nrows();
    let t = transposed.as_slice().expect("standard layout");
    let mut dots = vec![0.0; k];
    let mut moved = 0;
    for (at, label) in chunk.iter_mut().enumerate().filter(|(at, _)| !skipped(first + at)) {
        let i = first + at;
        dots.fill(0.0);
        if let Row::Sparse(columns, values) = points.data().row(i) {
            for (&c, &v) in columns.iter().zip(values) {
                let centre = &t[c as usize * k..(c as usize + 1) * k];
                dots.iter_mut().zip(centre).for_each(|(s, m)| *s += v * m);
            }
        }
        let mut best = (f64::INFINITY, u32::MAX);
        for h in 0..k {
            let value = match points.distortion() {
                Distortion::Cosine => 1.0 - dots[h],
                Distortion::SquaredEuclidean => {
                    points.sparse_distance(i, dots[h], row(centres, h), norms[h])
                }
            };
            if value < best.0 || (value == best.0 && h as u32 == *label) {
                best = (value, h as u32);
            }
        }
        moved += usize::from(best.1 != *label);
        *label = best.1;
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::contract::fixtures;
    use mustlink_core::data::Data;
    use mustlink_core::random::SeedPath;

    fn plain(points: &Points, centres: &Array2<f64>, labels: &mut [u32]) -> usize {
        let norms = row_norms(centres);
        plain_block(points, centres, &norms, 0, labels, &|_| false)
    }

    #[test]
    fn blocked_product_gives_the_labels_of_the_plain_loop() {
        let mut s = SeedPath::new(3).stream("assign");
        for (n, d, k) in [(700, 9, 11), (300, 33, 300), (257, 64, 8)] {
            for distortion in [Distortion::SquaredEuclidean, Distortion::Cosine] {
                // A large offset makes cancellation bite; rounded values make exact ties.
                let x = Array2::from_shape_fn((n, d), |_| 1e3 + s.below(4) as f64);
                let points = Points::new(&Data::dense(x).unwrap(), distortion).unwrap();
                let mut centres = Array2::zeros((k, d));
                for h in 0..k {
                    let centre = points.centre_at(s.below(n)).unwrap();
                    centres.row_mut(h).assign(&ndarray::ArrayView1::from(&centre));
                }
                let mut fast: Vec<u32> = (0..n).map(|_| s.below(k) as u32).collect();
                let mut slow = fast.clone();
                let moved = assign(&points, &centres, &mut fast, None);
                assert_eq!(moved, plain(&points, &centres, &mut slow));
                assert_eq!(fast, slow, "n {n} d {d} k {k} {distortion:?}");
            }
        }
    }

    #[test]
    fn sparse_block_gives_the_labels_of_the_plain_loop() {
        let mut s = SeedPath::new(4).stream("assign");
        for distortion in [Distortion::SquaredEuclidean, Distortion::Cosine] {
            let x = Array2::from_shape_fn((300, 40), |_| {
                if s.below(5) == 0 { s.below(3) as f64 } else { 0.0 }
            });
            let csr = Data::csr(fixtures::to_csr(&x)).unwrap();
            let points = Points::new(&csr, distortion).unwrap();
            let centres = Array2::from_shape_fn((17, 40), |_| s.unit());
            let mut fast = vec![u32::MAX; 300];
            let mut slow = fast.clone();
            assign(&points, &centres, &mut fast, None);
            plain(&points, &centres, &mut slow);
            assert_eq!(fast, slow);
        }
    }
}
