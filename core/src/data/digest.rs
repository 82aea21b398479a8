//! A digest of data: equal data have equal digests.

use super::{Data, DataKind, Matrix, Row};

impl Data {
    /// A hash of kind, shape, values and weights: equal content, equal digest.
    pub fn digest(&self) -> [u8; 32] {
        let whole = *self.store.digest.get_or_init(|| {
            let mut h = blake3::Hasher::new();
            let mut floats = |tag: u8, x: &[f64]| {
                h.update(&[tag]);
                let mut buffer = Vec::with_capacity(8 * 1024);
                for block in x.chunks(1024) {
                    buffer.clear();
                    block.iter().for_each(|v| buffer.extend_from_slice(&v.to_le_bytes()));
                    h.update(&buffer);
                }
            };
            match &self.store.matrix {
                Matrix::Dense(x) => floats(0, x.values()),
                Matrix::Distances(x) => floats(2, x.as_slice().expect("standard layout")),
                Matrix::Affinity(x) => floats(3, x.as_slice().expect("standard layout")),
                Matrix::Table(x, words) => {
                    floats(4, x.as_slice().expect("standard layout"));
                    for list in words {
                        h.update(&[0xff]);
                        for word in list.iter().flat_map(|list| list.iter()) {
                            h.update(&(word.len() as u64).to_le_bytes());
                            h.update(word.as_bytes());
                        }
                    }
                }
                Matrix::Csr(x) => {
                    floats(1, &x.values);
                    x.indices.iter().for_each(|c| {
                        h.update(&c.to_le_bytes());
                    });
                    x.indptr.iter().for_each(|p| {
                        h.update(&(*p as u64).to_le_bytes());
                    });
                }
            }
            h.update(&(self.d() as u64).to_le_bytes());
            *h.finalize().as_bytes()
        });
        if self.rows.is_none() && self.weights.is_none() {
            return whole;
        }
        let mut h = blake3::Hasher::new();
        h.update(&whole);
        self.rows.iter().flat_map(|rows| rows.iter()).for_each(|r| {
            h.update(&r.to_le_bytes());
        });
        if let Some(weights) = self.weights() {
            h.update(b"weights");
            weights.iter().for_each(|w| {
                h.update(&w.to_le_bytes());
            });
        }
        *h.finalize().as_bytes()
    }

    /// A hash of the values of the first `n` objects. It does not depend on the objects after them, on columns of
    /// zeros, or on the other words of a column.
    ///
    /// # Panics
    /// When there are fewer objects.
    pub fn digest_of_first(&self, n: usize) -> [u8; 32] {
        let mut h = blake3::Hasher::new();
        let mut bytes: Vec<u8> = Vec::new();
        for i in 0..n {
            bytes.clear();
            let mut cell = |column: usize, value: f64| {
                let words = self.words(column).filter(|_| !value.is_nan());
                if value == 0.0 && words.is_none() {
                    return;
                }
                bytes.extend((column as u64).to_le_bytes());
                match words.map(|words| words[value as usize].as_bytes()) {
                    Some(word) => {
                        bytes.extend((word.len() as u64).to_le_bytes());
                        bytes.extend(word);
                    }
                    None if value.is_nan() => bytes.extend(f64::NAN.to_le_bytes()),
                    None => bytes.extend(value.to_le_bytes()),
                }
            };
            match (self.kind(), self.row(i)) {
                (DataKind::Distances | DataKind::Affinity, _) => {
                    (0..=i).for_each(|j| cell(j, self.pair(i, j)));
                }
                (_, Row::Dense(x)) => x.iter().enumerate().for_each(|(c, &v)| cell(c, v)),
                (_, Row::Sparse(columns, values)) => {
                    columns.iter().zip(values).for_each(|(&c, &v)| cell(c as usize, v));
                }
            }
            h.update(&(bytes.len() as u64).to_le_bytes());
            h.update(&bytes);
        }
        *h.finalize().as_bytes()
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, array};

    use super::*;
    use crate::data::{Csr, Words};

    #[test]
    fn rows_that_follow_do_not_change_the_first_ones() {
        let same = |few: &Data, more: &Data| {
            assert!(few.n() < more.n());
            few.digest_of_first(few.n()) == more.digest_of_first(few.n())
        };
        let dense = |x: Array2<f64>| Data::dense(x).unwrap();
        let few = dense(array![[0.0, 2.0], [3.0, 0.0]]);
        let more = dense(array![[0.0, 2.0], [3.0, 0.0], [2.0, 0.0]]);
        assert!(same(&few, &more) && same(&few, &more.subset(&[0, 1, 1])));
        assert!(!same(&few, &more.subset(&[1, 0, 2])));
        // A value in another column, and the same values cut into other rows.
        assert!(!same(&few, &dense(array![[2.0, 0.0], [3.0, 0.0], [2.0, 0.0]])));
        assert!(!same(&few, &dense(array![[0.0, 0.0], [3.0, 2.0], [2.0, 0.0]])));
        // New sparse rows may add columns to all rows; the hash stays the same.
        let (indices, values) = (vec![1, 0, 7], vec![2.0, 3.0, 1.0]);
        let sparse = Csr { indptr: vec![0, 1, 2, 3], indices, values, columns: 8 };
        assert!(same(&few, &Data::csr(sparse).unwrap()));
        // New rows may also add words to the sorted list of a column, which changes the numbers of the old words.
        let words = |list: &[&str]| {
            let list: Vec<String> = list.iter().map(ToString::to_string).collect();
            vec![Some(Words::from(list)), None]
        };
        let table = |x: Array2<f64>, list: &[&str]| Data::table(x, words(list)).unwrap();
        let few = table(array![[0.0, 1.0], [f64::NAN, f64::NAN]], &["red"]);
        let x = array![[1.0, 1.0], [f64::NAN, f64::NAN], [0.0, 2.0]];
        assert!(same(&few, &table(x.clone(), &["blue", "red"])));
        assert!(!same(&few, &table(x, &["blue", "reds"])));
        let distances = |x: Array2<f64>| Data::distances(x).unwrap();
        let few = distances(array![[0.0, 1.0], [1.0, 0.0]]);
        let more = distances(array![[0.0, 1.0, 5.0], [1.0, 0.0, 4.0], [5.0, 4.0, 0.0]]);
        assert!(same(&few, &more) && !same(&few, &more.subset(&[0, 2, 1])));
    }
}
