//! Distances and affinities of pairs of objects, and features that should be such.
//!
//! Files are read as features unless an option says otherwise. A matrix of pairs of objects has as many columns as
//! rows and is the same on both sides of its diagonal; clustered on as features it gives clusters of something else.

use std::collections::BTreeSet;

use mustlink_core::text::count;
use mustlink_core::{Data, DataKind, Result, Row};

use crate::bytes::bad;
use crate::columns::counts;
use crate::dataset::Dataset;
use crate::options::within;

/// The place of the ids that come from the names of columns.
pub(crate) const HEADER: &str = "header row";

/// The plural of a kind of pairs in messages.
fn plural(kind: DataKind) -> &'static str {
    if kind == DataKind::Distances { "distances" } else { "affinities" }
}

/// The data set whose features were read from a matrix of pairs. The names of the columns become ids, unless there are
/// ids or the names only count columns.
///
/// # Errors
/// `Data` for a matrix with other than n columns, with missing values or words, for rows and columns in different
/// orders, for sparse distances, and as in [`Data::distances`] and [`Data::affinity`].
pub(crate) fn of_pairs(mut set: Dataset, kind: DataKind, limit: Option<u64>) -> Result<Dataset> {
    let (n, d, what) = (set.n(), set.d(), plural(kind));
    let place = if set.provenance.is_empty() { &set.name } else { &set.provenance }.clone();
    if let Some(odd) = set.not_numbers() {
        let message = format!("{}; all {what} must be known", odd.told());
        return Err(bad(odd.place.clone(), message));
    }
    if n != d {
        let message = format!(
            "{what} need as many columns as rows, got {} and {}; declare other columns with --id, --class or --ignore",
            count(n, "row"),
            count(d, "column")
        );
        return Err(bad(place, message));
    }
    if kind == DataKind::Distances && set.data.kind() == DataKind::Csr {
        let message = "a sparse matrix has no distance for most pairs; write all of them as a CSV or .npy file";
        return Err(bad(place, message));
    }
    within(limit, 8 * (n * n) as u64, &place)?;
    let names = std::mem::take(&mut set.feature_names);
    match &set.ids {
        Some(ids) if **ids != *names => {
            let sorted = |names: &[String]| names.iter().cloned().collect::<BTreeSet<_>>();
            let at = ids.iter().zip(&names).position(|(id, name)| id != name);
            if let Some(at) = at.filter(|_| sorted(ids) == sorted(&names)) {
                let message = format!(
                    "rows and columns must have the same order, but row {} is {} and column {} is {}",
                    at + 1,
                    ids[at],
                    at + 1,
                    names[at]
                );
                return Err(bad(place, message));
            }
        }
        Some(_) => {}
        None if names.is_empty() || counts(&names) || names[0].starts_with('#') => {}
        None => {
            set.ids = Some(names.into());
            set.reading.id = Some(HEADER.into());
        }
    }
    let x = set.data.to_dense();
    let data = match kind {
        DataKind::Distances => Data::distances(x),
        _ => Data::affinity(x),
    };
    set.data = data.map_err(|e| e.at(&place))?.weighted_as(&set.data);
    Ok(set)
}

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
         features; --{what} FILE reads them as {what}, in Python kind=\"{kind}\""
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
