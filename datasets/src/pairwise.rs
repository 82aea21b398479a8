//! Checks of features that should be distances or affinities.
//!
//! Files are read as features. A matrix of pairs of objects has as many columns as rows and is the same on both
//! sides of its diagonal; clustered on as features it gives clusters of something else.

use mustlink_core::{Data, DataKind, Row};

/// Fewer objects have such features by chance.
const FEW: usize = 3;

/// The message about a matrix that may be one of pairs.
pub(crate) fn note(data: &Data) -> Option<String> {
    let n = data.n();
    if n != data.d() || n < FEW || !data.kind().is_rows() {
        return None;
    }
    let value = |i: usize, j: usize| match data.row(i) {
        Row::Dense(x) => x[j],
        Row::Sparse(columns, values) => {
            columns.binary_search(&(j as u32)).map_or(0.0, |at| values[at])
        }
    };
    let same = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(b.abs());
    let mirrored = |i: usize| match data.row(i) {
        Row::Dense(x) => (0..i).all(|j| same(x[j], value(j, i))),
        Row::Sparse(columns, values) => {
            columns.iter().zip(values).all(|(&j, &v)| same(v, value(j as usize, i)))
        }
    };
    let beside = |i: usize| match data.row(i) {
        Row::Dense(x) => x.iter().enumerate().any(|(j, v)| j != i && *v != 0.0),
        Row::Sparse(columns, values) => {
            columns.iter().zip(values).any(|(&j, v)| j as usize != i && *v != 0.0)
        }
    };
    if !(0..n).all(mirrored) || !(0..n).any(beside) {
        return None;
    }
    let dense = data.kind() == DataKind::Dense;
    let (what, kind) = if dense && (0..n).all(|i| value(i, i) == 0.0) {
        ("distances", "distances")
    } else {
        ("affinities", "affinity")
    };
    Some(format!(
        "{n} rows and as many columns, the same on both sides of the diagonal: {what} of pairs? They are read as \
         features; as {what} they come in from Python, kind=\"{kind}\""
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::Csr;
    use ndarray::{Array2, array};

    fn of(x: Array2<f64>) -> Option<String> {
        note(&Data::dense(x).unwrap())
    }

    #[test]
    fn a_matrix_of_pairs_is_told_from_features() {
        let distances = of(array![[0.0, 1.0, 2.0], [1.0, 0.0, 3.5], [2.0, 3.5, 0.0]]).unwrap();
        assert!(distances.contains("distances of pairs?"), "{distances}");
        let affinities = of(array![[1.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 1.0]]).unwrap();
        assert!(affinities.ends_with("kind=\"affinity\""), "{affinities}");
        let features = [
            array![[0.0, 1.0, 2.0], [1.0, 0.0, 3.5], [2.0, 3.4, 0.0]],
            Array2::eye(5),
            array![[0.0, 1.0], [1.0, 0.0]],
            Array2::ones((4, 3)),
        ];
        features.into_iter().for_each(|x| assert_eq!(of(x), None));
    }

    #[test]
    fn both_halves_of_sparse_rows_count() {
        let rows = |values: [f64; 4]| {
            let (indptr, indices) = (vec![0, 1, 3, 4], vec![1, 0, 2, 1]);
            let values = values.to_vec();
            note(&Data::csr(Csr { indptr, indices, values, columns: 3 }).unwrap())
        };
        assert!(rows([0.5, 0.5, 2.0, 2.0]).is_some_and(|n| n.contains("affinities of pairs?")));
        assert_eq!(rows([0.5, 0.5, 2.0, 0.0]), None);
        assert_eq!(rows([0.5, 0.0, 2.0, 2.0]), None);
    }
}
