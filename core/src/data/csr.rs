//! Sparse rows in compressed form (CSR).

use super::row::Row;
use crate::error::{Error, Result};

/// Compressed sparse rows: column indices of a row are sorted and unique.
#[derive(Debug, Clone, PartialEq)]
pub struct Csr {
    /// `n + 1` offsets into `indices` and `values`.
    pub indptr: Vec<usize>,
    /// Column of each stored entry.
    pub indices: Vec<u32>,
    /// Value of each stored entry; explicit zeros are legal.
    pub values: Vec<f64>,
    /// Number of columns.
    pub columns: usize,
}

impl Csr {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.indptr.len().saturating_sub(1)
    }

    /// Columns and values of row `i`.
    pub fn row(&self, i: usize) -> (&[u32], &[f64]) {
        let span = self.indptr[i]..self.indptr[i + 1];
        (&self.indices[span.clone()], &self.values[span])
    }

    pub(super) fn check(&self) -> Result<()> {
        let bad =
            |row: usize, reason: &str| Err(Error::MalformedCsr { row, reason: reason.into() });
        if self.indptr.is_empty() || self.indptr[0] != 0 {
            return bad(0, "offsets must start at 0");
        }
        if self.indices.len() != self.values.len()
            || *self.indptr.last().expect("not empty") != self.indices.len()
        {
            return bad(self.rows(), "offsets, indices and values do not fit together");
        }
        for i in 0..self.rows() {
            if self.indptr[i] > self.indptr[i + 1] {
                return bad(i, "offsets decrease");
            }
        }
        for i in 0..self.rows() {
            let (columns, values) = self.row(i);
            if columns.windows(2).any(|w| w[0] >= w[1]) {
                return bad(i, "column indices must be sorted and unique");
            }
            if columns.last().is_some_and(|&c| c as usize >= self.columns) {
                return bad(i, "column index out of range");
            }
            if let Some(at) = values.iter().position(|v| !v.is_finite()) {
                return Err(Error::NonFinite { row: i, col: columns[at] as usize });
            }
        }
        Ok(())
    }
}

/// Sparse rows of `d` columns with those in `columns` alone, which ascend.
pub(super) fn with_columns<'a>(
    rows: impl Iterator<Item = Row<'a>>,
    d: usize,
    columns: &[usize],
) -> Csr {
    assert!(columns.is_sorted_by(|a, b| a < b), "columns of sparse data ascend");
    let mut place = vec![None; d];
    columns.iter().enumerate().for_each(|(to, &from)| place[from] = Some(to as u32));
    let mut out =
        Csr { indptr: vec![0], indices: Vec::new(), values: Vec::new(), columns: columns.len() };
    for row in rows {
        if let Row::Sparse(stored, values) = row {
            for (&from, &value) in stored.iter().zip(values) {
                if let Some(to) = place[from as usize] {
                    out.indices.push(to);
                    out.values.push(value);
                }
            }
        }
        out.indptr.push(out.values.len());
    }
    out
}
