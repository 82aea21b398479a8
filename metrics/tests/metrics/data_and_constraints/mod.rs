//! Scores that look at more than labels and classes.

mod constraint_sets;
mod geometry;

use mustlink_core::prelude::*;

/// The same objects without their zeros.
fn sparse(data: &Data) -> Data {
    let mut csr = Csr { indptr: vec![0], indices: vec![], values: vec![], columns: data.d() };
    for row in data.to_dense().rows() {
        for (c, &v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            csr.indices.push(c as u32);
            csr.values.push(v);
        }
        csr.indptr.push(csr.indices.len());
    }
    Data::csr(csr).expect("well formed")
}
