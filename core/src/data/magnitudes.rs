//! The sizes of the values of data.

use std::ops::Range;

use rayon::prelude::*;

use super::{Data, Matrix};
use crate::reduce;

impl Data {
    /// The smallest and the largest value of every feature of dense data, of all values of other
    /// kinds: one pair. Rows that a list leaves out count as well.
    pub(crate) fn ranges(&self) -> &[(f64, f64)] {
        let kept = &self.store.ranges;
        if let Some(ranges) = kept.get() {
            return ranges;
        }
        // Before the cell is locked: a thread that waits for parts of this work takes up other work, which
        // may ask for the same and would wait for itself.
        let ranges = self.find_ranges();
        kept.get_or_init(|| ranges)
    }

    fn find_ranges(&self) -> Vec<(f64, f64)> {
        const NOTHING: (f64, f64) = (f64::INFINITY, f64::NEG_INFINITY);
        let join = |a: (f64, f64), b: (f64, f64)| (a.0.min(b.0), a.1.max(b.1));
        let of_all = |x: &[f64]| {
            let each =
                x.par_chunks(1 << 16).map(|x| x.iter().fold(NOTHING, |r, &v| join(r, (v, v))));
            vec![each.reduce(|| NOTHING, join)]
        };
        match &self.store.matrix {
            // Words have no size, and transforms take a table as it is.
            Matrix::Table(..) => vec![(0.0, 0.0)],
            Matrix::Csr(x) if x.values.is_empty() => vec![(0.0, 0.0)],
            Matrix::Csr(x) => of_all(&x.values),
            Matrix::Distances(x) | Matrix::Affinity(x) => {
                of_all(x.as_slice().expect("standard layout"))
            }
            Matrix::Dense(x) => {
                let d = x.d();
                let rows = |rows: Range<usize>| {
                    let mut ranges = vec![NOTHING; d];
                    for row in x.values()[rows.start * d..rows.end * d].chunks_exact(d) {
                        ranges.iter_mut().zip(row).for_each(|(r, &v)| *r = join(*r, (v, v)));
                    }
                    ranges
                };
                let both = |mut a: Vec<(f64, f64)>, b: Vec<(f64, f64)>| {
                    a.iter_mut().zip(b).for_each(|(a, b)| *a = join(*a, b));
                    a
                };
                reduce::reduce(x.dim().0, rows, both).expect("data is not empty")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use ndarray::Array2;

    use super::*;

    /// Tasks of one pool that ask for the ranges of the same data at once; a thread that waits within one
    /// takes up another.
    #[test]
    fn tasks_that_ask_at_once_do_not_wait_for_one_another() {
        let (told, done) = mpsc::channel();
        std::thread::spawn(move || {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("a pool");
            for round in 0..200 {
                let x = Array2::from_shape_fn((20_000, 2), |(i, j)| (i + j + round) as f64);
                let data = Data::dense(x).expect("finite values");
                let last = (20_000 + round) as f64;
                pool.scope(|s| {
                    for _ in 0..16 {
                        s.spawn(|_| assert_eq!(data.ranges()[1], ((1 + round) as f64, last)));
                    }
                });
            }
            told.send(()).expect("somebody listens");
        });
        done.recv_timeout(Duration::from_secs(300)).expect("no task waits for itself");
    }
}
