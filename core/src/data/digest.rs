//! When is data the same?

use super::{Data, Matrix};

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
}
