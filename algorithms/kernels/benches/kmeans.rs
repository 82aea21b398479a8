//! The sizes from which bounds are faster than all distances in k-means.
//!
//! `cargo bench -p mustlink-kernels --bench kmeans`. A run is 30 sweeps from k random objects, on 50
//! overlapping Gaussian groups; the columns are objects, features, clusters. What `algorithm =
//! "auto"` does is set from this table.

use divan::{Bencher, black_box};
use mustlink_core::random::SeedPath;
use mustlink_core::{Context, Data};
use mustlink_kernels::distance::points::{Distortion, Points};
use mustlink_kernels::kmeans::lloyd::{Algorithm, Empty, Stop, ToleranceKind, lloyd_by};
use ndarray::Array2;

fn main() {
    divan::main();
}

type Size = (usize, usize, usize);

const SIZES: [Size; 13] = [
    (10_000, 16, 100),
    (10_000, 16, 1000),
    (100_000, 2, 10),
    (100_000, 2, 100),
    (100_000, 2, 1000),
    (100_000, 16, 10),
    (100_000, 16, 100),
    (100_000, 16, 300),
    (100_000, 16, 1000),
    (100_000, 64, 10),
    (100_000, 64, 100),
    (100_000, 64, 300),
    (100_000, 64, 1000),
];

fn run(bencher: Bencher, (n, d, k): Size, algorithm: Algorithm) {
    let mut s = SeedPath::new(1).stream("bench");
    let means = Array2::from_shape_fn((50, d), |_| 2.0 * s.normal());
    let mut x = Array2::from_shape_fn((n, d), |_| s.normal());
    for mut row in x.rows_mut() {
        row += &means.row(s.below(50));
    }
    let mut centres = Array2::zeros((k, d));
    for (h, i) in s.sample(n, k).into_iter().enumerate() {
        centres.row_mut(h).assign(&x.row(i));
    }
    let data = Data::dense(x).expect("finite");
    let points = Points::new(&data, Distortion::SquaredEuclidean).expect("prepared");
    let stop = Stop::new(30, 0.0, ToleranceKind::Relative);
    let ctx = Context::new(1);
    bencher.bench(|| {
        lloyd_by(algorithm, black_box(&points), centres.clone(), stop, Empty::Reseed, &ctx)
            .expect("no empty cluster is refused")
    });
}

#[divan::bench(sample_count = 2, args = SIZES)]
fn all_distances(bencher: Bencher, size: Size) {
    run(bencher, size, Algorithm::Lloyd);
}

#[divan::bench(sample_count = 2, args = SIZES)]
fn one_bound(bencher: Bencher, size: Size) {
    run(bencher, size, Algorithm::Hamerly);
}

#[divan::bench(sample_count = 2, args = SIZES)]
fn bounds_of_groups(bencher: Bencher, size: Size) {
    run(bencher, size, Algorithm::Yinyang);
}
