//! The assignment of each object to its nearest centre.
//!
//! Dense rows: a fused kernel gives the two smallest scores of each row, never an n × k matrix.
//! Where they lie within the rounding bound of each other, the exact distances of [`Points`] decide,
//! so the labels are those of the plain loop.
//! Sparse rows have a kernel of their own.

use ndarray::Array2;
use rayon::prelude::*;

use crate::distance::points::{Points, row, row_norms};
use crate::kmeans::nearest::many_rows::NearestTwo;
use crate::kmeans::nearest::scores::AllCentreScores;
use crate::kmeans::nearest::sparse;
use mustlink_core::clustering::NONE;
use mustlink_core::data::DataKind;

/// Rows per block.
const ROWS: usize = 256;

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
    let k = centres.nrows();
    if points.data().kind() == DataKind::Csr {
        return sparse::assign(points, centres, &norms, labels, skip);
    }
    let scores = AllCentreScores::new(points, centres, &norms);
    let rows = points.dense_rows();
    let block = |(found, gathered): &mut (NearestTwo, Vec<f64>),
                 (b, chunk): (usize, &mut [u32])| {
        let first = b * ROWS;
        let mut nearest = [NONE; ROWS];
        let nearest = &mut nearest[..chunk.len()];
        let exact = |i: usize| exact(points, centres, &norms, i, chunk[i - first], 0..k);
        scores.nearest(first, rows.block(first, chunk.len(), gathered), found, nearest, exact);
        let mut moved = 0;
        for (r, (label, &new)) in chunk.iter_mut().zip(&*nearest).enumerate() {
            if !skip.is_some_and(|s| s[first + r]) {
                moved += usize::from(new != *label);
                *label = new;
            }
        }
        moved
    };
    labels.par_chunks_mut(ROWS).enumerate().map_init(Default::default, block).sum()
}

/// The label of the smallest of `candidates` by exact distance; the current one wins ties, then the lowest.
pub(crate) fn exact(
    points: &Points,
    centres: &Array2<f64>,
    norms: &[f64],
    i: usize,
    current: u32,
    candidates: impl Iterator<Item = usize>,
) -> u32 {
    let mut best = (f64::INFINITY, NONE);
    for h in candidates {
        let value = points.distance(i, row(centres, h), norms[h]);
        // The first counts even where squares are too large for a number.
        if value < best.0 || (value == best.0 && h as u32 == current) || best.1 == NONE {
            best = (value, h as u32);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distance::points::Distortion;
    use mustlink_core::data::Data;
    use mustlink_core::random::SeedPath;
    use proptest::prelude::*;

    fn plain(points: &Points, centres: &Array2<f64>, labels: &mut [u32]) -> usize {
        let norms = row_norms(centres);
        let mut moved = 0;
        for (i, label) in labels.iter_mut().enumerate() {
            let new = exact(points, centres, &norms, i, *label, 0..centres.nrows());
            moved += usize::from(new != *label);
            *label = new;
        }
        moved
    }

    #[test]
    fn blocked_product_gives_the_labels_of_the_plain_loop() {
        let mut s = SeedPath::new(3).stream("assign");
        for (n, d, k) in [(700, 9, 11), (300, 33, 300), (257, 64, 8), (1500, 1, 2), (1100, 6, 3)] {
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
    proptest! {
        /// Whatever the data does to scores in single precision: far from the origin, tiny, huge, with
        /// one row far away, centres that differ by less than it sees.
        #[test]
        fn labels_are_those_of_the_plain_loop(
            seed: u64,
            n in 1usize..300,
            d in 1usize..40,
            k in 1usize..20,
            offset in proptest::sample::select(vec![0.0, 1.0, 1e3, 1e7]),
            scale in proptest::sample::select(vec![1e-160, 1e-15, 1.0, 1e15, 1e160]),
            outlier: bool,
            rounded: bool,
            cosine: bool,
        ) {
            let mut s = SeedPath::new(seed).stream("assign");
            let mut x = Array2::from_shape_fn((n, d), |_| {
                let value = if rounded { s.below(3) as f64 } else { s.normal() };
                scale * (offset + value)
            });
            if outlier {
                x[[n / 2, d / 2]] = 1e6 * scale;
            }
            let distortion =
                if cosine { Distortion::Cosine } else { Distortion::SquaredEuclidean };
            let points = Points::new(&Data::dense(x).unwrap(), distortion).unwrap();
            let mut centres = Array2::<f64>::zeros((k, d));
            for h in 0..k {
                let (a, b) = (points.data().row(s.below(n)), points.data().row(s.below(n)));
                let mut centre = centres.row_mut(h);
                let to = centre.as_slice_mut().unwrap();
                match h % 3 {
                    0 => a.add_to(to, 1.0),
                    1 => a.add_to(to, 1.0 + 1e-10),
                    _ => {
                        a.add_to(to, 0.5);
                        b.add_to(to, 0.5);
                    }
                }
            }
            let mut fast: Vec<u32> = (0..n).map(|_| s.below(k) as u32).collect();
            let mut slow = fast.clone();
            let moved = assign(&points, &centres, &mut fast, None);
            prop_assert_eq!(moved, plain(&points, &centres, &mut slow));
            prop_assert_eq!(fast, slow);
        }
    }
}
