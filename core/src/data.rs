//! The data that a method clusters.
//!
//! Dense rows, sparse rows, distances or affinities, shared behind an `Arc` with an optional list
//! of rows: a subsample copies nothing. Values are checked once, when the data is made; a method
//! never sees NaN. Only a table, as a file may hold it, has missing values and words; transforms
//! make dense data of it.

use std::sync::{Arc, OnceLock};

use ndarray::{Array2, ArrayView1, ArrayView2, Axis, CowArray, Ix2};

use crate::error::{Error, Result};
use crate::kind;
use crate::reduce;

mod checks;
mod contiguous;
mod csr;
mod digest;
mod magnitudes;
mod row;
mod rows;
pub(crate) mod weights;

pub use csr::Csr;
pub use row::Row;
pub use rows::Lent;
use rows::Rows;

/// Kinds of numbers that a [`Data`] holds.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    serde::Serialize,
    serde::Deserialize,
    kind::Described,
)]
#[serde(rename_all = "snake_case")]
pub enum DataKind {
    /// n × d, row-major.
    Dense,
    /// n × d, compressed sparse rows.
    Csr,
    /// n × n symmetric distances.
    Distances,
    /// n × n symmetric affinities.
    Affinity,
    /// n × d, with missing values or words: only transforms take it.
    Table,
}

impl DataKind {
    /// The word used in messages and listings.
    pub fn name(self) -> &'static str {
        match self {
            DataKind::Dense => "dense",
            DataKind::Csr => "csr",
            DataKind::Distances => "distances",
            DataKind::Affinity => "affinity",
            DataKind::Table => "table",
        }
    }

    /// True if objects are rows of numbers, dense or sparse; such data have features and centres.
    pub fn is_rows(self) -> bool {
        matches!(self, DataKind::Dense | DataKind::Csr)
    }
}

#[derive(Debug)]
enum Matrix {
    Dense(Rows),
    Csr(Csr),
    Distances(Array2<f64>),
    Affinity(Array2<f64>),
    /// NaN where a value is missing; in a column of words the place of each in its list.
    Table(Array2<f64>, Vec<Option<Words>>),
}

/// The different words of a column, sorted.
pub type Words = Arc<[String]>;

#[derive(Debug)]
struct Store {
    matrix: Matrix,
    /// The squared norms of dense and sparse rows, computed once.
    norms: Vec<f64>,
    digest: OnceLock<[u8; 32]>,
    ranges: OnceLock<Vec<(f64, f64)>>,
}

/// The objects a method clusters. Cheap to clone.
///
/// ```
/// use mustlink_core::{Csr, Data, DataKind, Error};
/// use ndarray::array;
///
/// # fn main() -> mustlink_core::Result<()> {
/// let dense = Data::dense(array![[0.0, 2.0], [3.0, 0.0]])?;
/// let rows = Csr { indptr: vec![0, 1, 2], indices: vec![1, 0], values: vec![2.0, 3.0], columns: 2 };
/// let sparse = Data::csr(rows)?;
/// assert_eq!((dense.kind(), sparse.kind()), (DataKind::Dense, DataKind::Csr));
/// assert_eq!(dense.row(0).squared_distance(&sparse.row(1)), 13.0);
///
/// // A method never sees NaN.
/// let refused = Data::dense(array![[0.0], [f64::NAN]]).unwrap_err();
/// assert!(matches!(refused, Error::NonFinite { row: 1, col: 0 }));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Data {
    store: Arc<Store>,
    rows: Option<Arc<[u32]>>,
    /// One for each object that is left; absent: each counts once.
    weights: Option<Arc<[f64]>>,
}

impl Data {
    fn new(matrix: Matrix) -> Result<Self> {
        let (n, d) = match &matrix {
            Matrix::Dense(x) => x.dim(),
            Matrix::Distances(x) | Matrix::Affinity(x) | Matrix::Table(x, _) => x.dim(),
            Matrix::Csr(x) => (x.rows(), x.columns),
        };
        if n == 0 || d == 0 {
            return Err(Error::EmptyData);
        }
        if n >= u32::MAX as usize {
            return Err(Error::TooLarge { n });
        }
        let store =
            Store { matrix, norms: Vec::new(), digest: OnceLock::new(), ranges: OnceLock::new() };
        let mut data = Data { store: Arc::new(store), rows: None, weights: None };
        if data.kind().is_rows() {
            let mut norms = vec![0.0; n];
            reduce::fill(&mut norms, |i| data.row(i).norm2());
            Arc::get_mut(&mut data.store).expect("not shared yet").norms = norms;
        }
        Ok(data)
    }

    /// Dense objects, n × d.
    ///
    /// # Errors
    /// `EmptyData`, `NonFinite` (first in row-major order), `TooLarge`.
    pub fn dense(x: Array2<f64>) -> Result<Self> {
        // Most matrices are in standard layout already: they are taken, not copied.
        let x = if x.is_standard_layout() { x } else { x.as_standard_layout().into_owned() };
        Data::of_rows(Rows::Own(x))
    }

    /// Dense objects, n × d, whose values are stored row by row in memory of another owner. Nothing is copied.
    ///
    /// # Errors
    /// Returns the errors of [`Data::dense`]; `BadParam` where there are other than n·d values.
    pub fn lent(values: Lent, shape: (usize, usize)) -> Result<Self> {
        let given = (*values).as_ref().len();
        if shape.0.checked_mul(shape.1) != Some(given) {
            let legal = format!("{} × {}, as there are objects and features", shape.0, shape.1);
            return Err(Error::bad_param("values", given, legal));
        }
        Data::of_rows(Rows::Lent { values, shape })
    }

    fn of_rows(rows: Rows) -> Result<Self> {
        let data = Data::new(Matrix::Dense(rows))?;
        // Finite norms are those of finite values: most data is read once for both.
        if !data.store.norms.iter().all(|norm| norm.is_finite()) {
            checks::finite(data.as_array().expect("dense"))?;
        }
        Ok(data)
    }

    /// Sparse objects, n × d.
    ///
    /// # Errors
    /// `EmptyData`, `MalformedCsr`, `NonFinite`, `TooLarge`.
    pub fn csr(x: Csr) -> Result<Self> {
        x.check()?;
        Data::new(Matrix::Csr(x))
    }

    /// Pairwise distances, n × n, symmetric, at least 0 and 0 on the diagonal.
    ///
    /// # Errors
    /// `EmptyData`, `NonFinite`, `NotSymmetric`; `BadParam` for another number of columns; `Data` for values that are
    /// not distances.
    pub fn distances(x: Array2<f64>) -> Result<Self> {
        let x = x.as_standard_layout().into_owned();
        checks::distances(&x)?;
        Data::new(Matrix::Distances(x))
    }

    /// Pairwise affinities, n × n, symmetric.
    ///
    /// # Errors
    /// `EmptyData`, `NonFinite`, `NotSymmetric`; `BadParam` for another number of columns.
    pub fn affinity(x: Array2<f64>) -> Result<Self> {
        let x = x.as_standard_layout().into_owned();
        checks::symmetric(&x)?;
        Data::new(Matrix::Affinity(x))
    }

    /// Objects with missing values (NaN) or words. For a column of words, `words` has their list, and the cells are
    /// positions in that list. Without missing values and words, the data are dense.
    ///
    /// # Errors
    /// `EmptyData`, `TooLarge`; `NonFinite` for an infinite value and for a place that its list does
    /// not have.
    ///
    /// # Panics
    /// When `words` has not one entry per column.
    pub fn table(x: Array2<f64>, words: Vec<Option<Words>>) -> Result<Self> {
        assert_eq!(words.len(), x.ncols(), "one entry per column");
        if words.iter().all(Option::is_none) && x.iter().all(|v| !v.is_nan()) {
            return Data::dense(x);
        }
        let x = x.as_standard_layout().into_owned();
        let legal = |column: usize, v: f64| match &words[column] {
            _ if v.is_nan() => true,
            None => v.is_finite(),
            Some(list) => v >= 0.0 && v.fract() == 0.0 && (v as usize) < list.len(),
        };
        if let Some(((row, col), _)) = x.indexed_iter().find(|((_, c), v)| !legal(*c, **v)) {
            return Err(Error::NonFinite { row, col });
        }
        Data::new(Matrix::Table(x, words))
    }

    /// The words of a column of a table, if it holds words.
    pub fn words(&self, column: usize) -> Option<&Words> {
        match &self.store.matrix {
            Matrix::Table(_, words) => words[column].as_ref(),
            _ => None,
        }
    }

    /// The kind of these data.
    pub fn kind(&self) -> DataKind {
        match &self.store.matrix {
            Matrix::Dense(_) => DataKind::Dense,
            Matrix::Csr(_) => DataKind::Csr,
            Matrix::Distances(_) => DataKind::Distances,
            Matrix::Affinity(_) => DataKind::Affinity,
            Matrix::Table(..) => DataKind::Table,
        }
    }

    /// An error if the data are not rows, which `plugin` needs.
    ///
    /// # Errors
    /// `UnsupportedData`.
    pub fn require_rows(&self, plugin: &str) -> Result<()> {
        let kind = self.kind();
        if kind.is_rows() {
            return Ok(());
        }
        let (kind, accepts) = (kind.name(), "dense or csr".into());
        Err(Error::UnsupportedData { plugin: plugin.into(), kind, accepts })
    }

    /// Number of objects.
    pub fn n(&self) -> usize {
        match (&self.rows, &self.store.matrix) {
            (Some(rows), _) => rows.len(),
            (None, Matrix::Dense(x)) => x.dim().0,
            (None, Matrix::Distances(x) | Matrix::Affinity(x) | Matrix::Table(x, _)) => x.nrows(),
            (None, Matrix::Csr(x)) => x.rows(),
        }
    }

    /// Number of features (for distances and affinities: of objects).
    #[inline]
    pub fn d(&self) -> usize {
        match &self.store.matrix {
            Matrix::Dense(x) => x.d(),
            Matrix::Table(x, _) => x.ncols(),
            Matrix::Csr(x) => x.columns,
            Matrix::Distances(_) | Matrix::Affinity(_) => self.n(),
        }
    }

    /// Stored entries: n·d, or the non-zeros of sparse data.
    pub fn entries(&self) -> usize {
        match &self.store.matrix {
            Matrix::Csr(x) => match &self.rows {
                None => x.values.len(),
                Some(rows) => {
                    rows.iter().map(|&r| x.indptr[r as usize + 1] - x.indptr[r as usize]).sum()
                }
            },
            _ => self.n() * self.d(),
        }
    }

    /// True if both use the same copy of the numbers.
    pub fn shares(&self, other: &Data) -> bool {
        Arc::ptr_eq(&self.store, &other.store)
    }

    /// Bytes of the numbers and the norms of rows. If the data are restricted to some rows, all objects still count.
    pub fn bytes(&self) -> u64 {
        let numbers = match &self.store.matrix {
            Matrix::Dense(x) => 8 * x.values().len(),
            Matrix::Distances(x) | Matrix::Affinity(x) | Matrix::Table(x, _) => 8 * x.len(),
            Matrix::Csr(x) => 12 * x.values.len() + 8 * x.indptr.len(),
        };
        let weights = self.weights().map_or(0, <[f64]>::len);
        (numbers + 8 * (self.store.norms.len() + weights)) as u64
    }

    #[inline]
    fn at(&self, i: usize) -> usize {
        self.rows.as_ref().map_or(i, |rows| rows[i] as usize)
    }

    /// Object `i` of dense or sparse data; row `i` of the whole matrix otherwise, with NaN where a table
    /// has no value.
    #[inline]
    pub fn row(&self, i: usize) -> Row<'_> {
        let i = self.at(i);
        match &self.store.matrix {
            Matrix::Dense(x) => Row::Dense(&x.values()[i * x.d()..(i + 1) * x.d()]),
            Matrix::Distances(x) | Matrix::Affinity(x) | Matrix::Table(x, _) => {
                let d = x.ncols();
                Row::Dense(&x.as_slice().expect("standard layout")[i * d..(i + 1) * d])
            }
            Matrix::Csr(x) => {
                let (columns, values) = x.row(i);
                Row::Sparse(columns, values)
            }
        }
    }

    /// Squared Euclidean norm of row `i`.
    #[inline]
    pub fn norm2(&self, i: usize) -> f64 {
        // Rows of distances and affinities have none in store.
        self.store.norms.get(self.at(i)).copied().unwrap_or_else(|| self.row(i).norm2())
    }

    /// Entry (i, j) of distances or affinities.
    pub fn pair(&self, i: usize, j: usize) -> f64 {
        match &self.store.matrix {
            Matrix::Distances(x) | Matrix::Affinity(x) => x[[self.at(i), self.at(j)]],
            _ => panic!("pair() is for distances and affinities"),
        }
    }

    /// The rows of dense data as one slice, if the data are not restricted to some rows.
    pub fn dense_slice(&self) -> Option<&[f64]> {
        match (&self.store.matrix, &self.rows) {
            (Matrix::Dense(x), None) => Some(x.values()),
            _ => None,
        }
    }

    /// The whole matrix if it is dense and unrestricted.
    pub fn as_array(&self) -> Option<ArrayView2<'_, f64>> {
        match (&self.store.matrix, &self.rows) {
            (Matrix::Dense(x), None) => Some(x.view()),
            _ => None,
        }
    }

    /// The objects as a dense matrix: a view if they are one, otherwise a copy.
    pub fn matrix(&self) -> CowArray<'_, f64, Ix2> {
        self.as_array().map_or_else(|| self.to_dense().into(), CowArray::from)
    }

    /// The whole matrix if it is sparse and unrestricted.
    pub fn as_csr(&self) -> Option<&Csr> {
        match (&self.store.matrix, &self.rows) {
            (Matrix::Csr(x), None) => Some(x),
            _ => None,
        }
    }

    /// The same objects restricted to `rows`, in that order. Copies no value.
    pub fn subset(&self, rows: &[usize]) -> Self {
        let weights = self.weights_of(rows);
        let rows: Arc<[u32]> = rows.iter().map(|&r| self.at(r) as u32).collect();
        Data { store: self.store.clone(), rows: Some(rows), weights }
    }

    /// The same objects with only the features `columns`, which ascend for sparse data. Copies.
    ///
    /// # Errors
    /// `EmptyData` when no column is left.
    ///
    /// # Panics
    /// When `columns` of sparse data do not ascend.
    pub fn features(&self, columns: &[usize]) -> Result<Self> {
        let (n, d) = (self.n(), columns.len());
        let chosen = match self.kind() {
            DataKind::Dense => {
                let mut values = Vec::with_capacity(n * d);
                for i in 0..n {
                    if let Row::Dense(x) = self.row(i) {
                        values.extend(columns.iter().map(|&c| x[c]));
                    }
                }
                Data::dense(Array2::from_shape_vec((n, d), values).expect("n rows of d values"))
            }
            DataKind::Csr => {
                let rows = (0..n).map(|i| self.row(i));
                Data::csr(csr::with_columns(rows, self.d(), columns))
            }
            _ => Data::dense(self.to_dense().select(Axis(1), columns)),
        };
        Ok(chosen?.weighted_as(self))
    }

    /// A dense copy of dense or sparse data.
    pub fn to_dense(&self) -> Array2<f64> {
        let mut out = Array2::zeros((self.n(), self.d()));
        // Rows and columns of distances are the same objects.
        let both =
            self.rows.is_some() && matches!(self.kind(), DataKind::Distances | DataKind::Affinity);
        for i in 0..self.n() {
            let mut to = out.row_mut(i);
            match self.row(i) {
                Row::Dense(x) if !both => to.assign(&ArrayView1::from(x)),
                Row::Dense(_) => (0..self.n()).for_each(|j| to[j] = self.pair(i, j)),
                Row::Sparse(columns, values) => {
                    columns.iter().zip(values).for_each(|(&c, &v)| to[c as usize] = v);
                }
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn norms_are_those_of_the_rows() {
        // Squares that overflow are no reason to refuse a value.
        let dense = Data::dense(array![[3.0, 4.0], [1e200, 0.0], [0.0, 0.0]]).unwrap();
        let sparse =
            Csr { indptr: vec![0, 2, 2], indices: vec![1, 4], values: vec![-1.0, 2.0], columns: 5 };
        let distances = Data::distances(array![[0.0, 2.0], [2.0, 0.0]]).unwrap();
        for data in [dense.clone(), dense.subset(&[2, 0, 0]), Data::csr(sparse).unwrap(), distances]
        {
            for i in 0..data.n() {
                assert_eq!(data.norm2(i), data.row(i).norm2());
            }
        }
        assert_eq!((dense.norm2(0), dense.norm2(1)), (25.0, f64::INFINITY));
        assert_eq!(dense.subset(&[2, 0]).norm2(1), 25.0);
    }

    #[test]
    fn distances_of_some_objects_are_those_between_them() {
        let all =
            Data::distances(array![[0.0, 1.0, 2.0], [1.0, 0.0, 4.0], [2.0, 4.0, 0.0]]).unwrap();
        let drawn = array![[0.0, 2.0, 2.0], [2.0, 0.0, 0.0], [2.0, 0.0, 0.0]];
        assert_eq!(all.subset(&[2, 0, 0]).to_dense(), drawn);
        assert_eq!(all.subset(&[1, 2]).to_dense(), array![[0.0, 4.0], [4.0, 0.0]]);
    }

    #[test]
    fn first_bad_value_is_named() {
        let x = array![[0.0, 1.0], [f64::NAN, f64::INFINITY]];
        assert_eq!(Data::dense(x).unwrap_err(), Error::NonFinite { row: 1, col: 0 });
        assert_eq!(Data::dense(Array2::zeros((0, 3))).unwrap_err(), Error::EmptyData);
    }

    #[test]
    fn a_table_holds_missing_values_and_words() {
        let x = array![[1.0, f64::NAN], [f64::NAN, 1.0]];
        let words: Words = ["blue", "red"].map(String::from).into();
        let table = Data::table(x.clone(), vec![None, Some(words.clone())]).unwrap();
        assert_eq!((table.kind(), table.n(), table.d()), (DataKind::Table, 2, 2));
        assert_eq!(table.words(1).unwrap()[1], "red");
        assert!(table.words(0).is_none());
        assert_eq!(table.subset(&[1]).to_dense()[[0, 1]], 1.0);
        assert_ne!(table.digest(), Data::table(x.clone(), vec![None, None]).unwrap().digest());
        let whole = Data::table(array![[1.0, 2.0]], vec![None, None]).unwrap();
        assert_eq!(whole.kind(), DataKind::Dense);
        let wrong = Data::table(x * 2.0, vec![None, Some(words)]).unwrap_err();
        assert_eq!(wrong, Error::NonFinite { row: 1, col: 1 });
    }

    #[test]
    fn subset_of_subset_names_the_first_rows() {
        let x = Data::dense(array![[0.0], [1.0], [2.0], [3.0]]).unwrap();
        let y = x.subset(&[3, 1, 0]).subset(&[2, 0]);
        assert_eq!(y.row(0), Row::Dense(&[0.0]));
        assert_eq!(y.row(1), Row::Dense(&[3.0]));
        assert_ne!(x.digest(), y.digest());
    }

    #[test]
    fn sparse_distance_equals_dense() {
        let a = Csr {
            indptr: vec![0, 2, 3],
            indices: vec![0, 3, 1],
            values: vec![1.0, 2.0, 5.0],
            columns: 4,
        };
        let s = Data::csr(a).unwrap();
        let d = Data::dense(s.to_dense()).unwrap();
        assert_eq!(s.row(0).squared_distance(&s.row(1)), 30.0);
        assert_eq!(s.row(0).squared_distance(&d.row(1)), 30.0);
        assert_eq!(s.row(0).dot_row(&d.row(0)), 5.0);
    }

    #[test]
    fn some_features_are_those_of_dense_and_of_sparse_rows() {
        let x = array![[1.0, 0.0, 3.0], [0.0, 5.0, 0.0], [7.0, 8.0, 9.0]];
        let stored = Csr {
            indptr: vec![0, 2, 3, 6],
            indices: vec![0, 2, 1, 0, 1, 2],
            values: vec![1.0, 3.0, 5.0, 7.0, 8.0, 9.0],
            columns: 3,
        };
        for data in [Data::dense(x).unwrap(), Data::csr(stored).unwrap()] {
            let data = data.with_weights(vec![1.0, 2.0, 3.0]).unwrap();
            let some = data.subset(&[2, 0]).features(&[1, 2]).unwrap();
            assert_eq!(some.kind(), data.kind());
            assert_eq!(some.to_dense(), array![[8.0, 9.0], [0.0, 3.0]]);
            assert_eq!(some.weights(), Some(&[3.0, 1.0][..]));
            assert_eq!(data.features(&[]).unwrap_err(), Error::EmptyData);
        }
    }

    #[test]
    fn unsorted_columns_are_refused() {
        let a = Csr { indptr: vec![0, 2], indices: vec![1, 0], values: vec![1.0, 2.0], columns: 2 };
        assert!(matches!(Data::csr(a), Err(Error::MalformedCsr { row: 0, .. })));
    }
}
