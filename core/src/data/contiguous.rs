//! The places of the rows of a subset in memory.

use std::sync::{Arc, OnceLock};

use super::{Data, DataKind, Matrix, Rows, Store};

impl Data {
    /// Bytes of dense rows that [`Data::contiguous`] copies at most.
    pub const MOST_COPIED: usize = 16 << 20;

    /// The same objects, with dense rows that a list selects copied one after the other where they are
    /// few enough: what reads each of them again and again waits less for memory. Other data is shared.
    pub fn contiguous(&self) -> Self {
        let few = 8 * self.n() * self.d() <= Data::MOST_COPIED;
        if self.kind() != DataKind::Dense || self.rows.is_none() || !few {
            return self.clone();
        }
        let norms = (0..self.n()).map(|i| self.norm2(i)).collect();
        // What the values range over is said of all rows, so that units stay those of the whole.
        let ranges = OnceLock::from(self.ranges().to_vec());
        let matrix = Matrix::Dense(Rows::Own(self.to_dense()));
        let store = Store { matrix, norms, digest: OnceLock::new(), ranges };
        Data { store: Arc::new(store), rows: None, weights: self.weights.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn contiguous_rows_are_the_same_objects_in_the_same_units() {
        let x = Data::dense(array![[0.0, 1.0], [1e9, 5.0], [2.0, 3.0], [4.0, 4.0]]).unwrap();
        let some = x.subset(&[3, 0, 0]);
        let copy = some.contiguous();
        assert_eq!(copy.dense_slice(), Some(&[4.0, 4.0, 0.0, 1.0, 0.0, 1.0][..]));
        assert_eq!(some.dense_slice(), None);
        assert_eq!(copy.ranges(), x.ranges());
        assert!((0..3).all(|i| copy.norm2(i) == some.norm2(i)));
        assert!(Arc::ptr_eq(&x.contiguous().store, &x.store));
    }
}
