//! Conversions of Python's arrays to the data of methods.
//!
//! Doubles that are stored row by row are read in place. Other values are copied once, into memory that the core
//! owns: rows that are not next to each other and single precision are turned into the core's form on the way.

use mustlink::constraints::{Constraint, Constraints, Group, Kind, Strength};
use mustlink::data::Words;
use mustlink::datasets::Classes;
use mustlink::ndarray::{Array2, ArrayView2};
use mustlink::roles::Scene;
use mustlink::{Csr, Data, DataKind, Error, Result};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::interrupt::detached;
use crate::lent::lent;

/// A matrix as passed from Python: rows in double or single precision, compressed sparse rows (offsets, columns,
/// values, number of columns), or a table. A table has values, NaN if one is missing, and for each column with words
/// the list of its words; the values of such a column are places in the list.
pub(crate) enum Matrix<'py> {
    Double(PyReadonlyArray2<'py, f64>),
    Single(PyReadonlyArray2<'py, f32>),
    Sparse(
        PyReadonlyArray1<'py, i64>,
        PyReadonlyArray1<'py, u32>,
        PyReadonlyArray1<'py, f64>,
        usize,
    ),
    Table(PyReadonlyArray2<'py, f64>, Vec<Option<Vec<String>>>),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Matrix<'py> {
    type Error = PyErr;

    fn extract(x: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(rows) = x.extract() {
            return Ok(Matrix::Double(rows));
        }
        if let Ok(rows) = x.extract() {
            return Ok(Matrix::Single(rows));
        }
        if let Ok((rows, words)) = x.extract() {
            return Ok(Matrix::Table(rows, words));
        }
        match x.extract() {
            Ok((offsets, columns, values, d)) => Ok(Matrix::Sparse(offsets, columns, values, d)),
            Err(_) => Err(PyTypeError::new_err(
                "X: must be a matrix of float64 or float32, or the parts of a sparse one",
            )),
        }
    }
}

impl Matrix<'_> {
    /// The data of kind `kind`, for a call that ends before the matrix may change: dense rows are not copied.
    pub fn borrowed(&self, py: Python<'_>, kind: DataKind) -> Result<Data> {
        match self {
            Matrix::Double(rows) if kind == DataKind::Dense => match lent(rows) {
                Some(values) => {
                    let shape = rows.as_array().dim();
                    detached(py, || Data::lent(values, shape))
                }
                None => self.data(py, kind),
            },
            _ => self.data(py, kind),
        }
    }

    /// The data of kind `kind`, in memory of the core.
    pub fn data(&self, py: Python<'_>, kind: DataKind) -> Result<Data> {
        let dense = |x: Array2<f64>| match kind {
            DataKind::Distances => Data::distances(x),
            DataKind::Affinity => Data::affinity(x),
            _ => Data::dense(x),
        };
        match self {
            Matrix::Double(rows) => {
                let rows = rows.as_array();
                detached(py, || match rows.as_slice() {
                    Some(all) => dense(shaped(rows.dim(), all.to_vec())),
                    None => dense(by_rows(rows, |v| v)),
                })
            }
            Matrix::Table(rows, words) => {
                let rows = shaped(rows.as_array().dim(), rows.as_array().iter().copied().collect());
                if words.len() != rows.ncols() {
                    let legal = format!("{}, one list or None for each column", rows.ncols());
                    return Err(Error::bad_param("words", words.len(), legal));
                }
                let list = |words: &Vec<String>| -> Words { words.as_slice().into() };
                let words = words.iter().map(|words| words.as_ref().map(list)).collect();
                detached(py, || Data::table(rows, words))
            }
            Matrix::Single(rows) => {
                let rows = rows.as_array();
                detached(py, || dense(by_rows(rows, f64::from)))
            }
            Matrix::Sparse(offsets, columns, values, d) => {
                let (offsets, columns, values) =
                    (offsets.as_array(), columns.as_array(), values.as_array());
                let columns_of = *d;
                detached(py, || {
                    Data::csr(Csr {
                        indptr: offsets.iter().map(|&at| at as usize).collect(),
                        indices: columns.to_vec(),
                        values: values.to_vec(),
                        columns: columns_of,
                    })
                })
            }
        }
    }
}

/// Position of the first cell that is not a number in a column of numbers; None if the column holds categories.
#[pyfunction]
pub(crate) fn typing_error(cells: Vec<String>) -> Option<usize> {
    mustlink_datasets::typing_error(&cells)
}

/// True if a text marks an unknown class, as in a CSV file.
#[pyfunction]
pub(crate) fn unknown_class(text: &Bound<'_, PyString>) -> bool {
    Scene::is_unknown(&text.to_string_lossy())
}

/// The matrix row by row in memory of its own.
fn by_rows<T: Copy>(x: ArrayView2<'_, T>, double: impl Fn(T) -> f64) -> Array2<f64> {
    let values: Vec<f64> = match x.as_slice() {
        Some(all) => all.iter().map(|&v| double(v)).collect(),
        None => x.iter().map(|&v| double(v)).collect(),
    };
    shaped(x.dim(), values)
}

fn shaped(shape: (usize, usize), values: Vec<f64>) -> Array2<f64> {
    Array2::from_shape_vec(shape, values).expect("as many values as the matrix has")
}

/// Constraints as passed from Python: for pairs the objects i and j, +1 or −1, weight, strength (0: not given, 1: soft,
/// 2: hard); then the groups.
pub(crate) type Pairs<'py> = (
    PyReadonlyArray1<'py, u32>,
    PyReadonlyArray1<'py, u32>,
    PyReadonlyArray1<'py, i8>,
    PyReadonlyArray1<'py, f64>,
    PyReadonlyArray1<'py, i8>,
    Apart<'py>,
);

/// Groups whose members must all be apart: each member and the number of its group; for each group its name, weight
/// and strength.
type Apart<'py> = (
    PyReadonlyArray1<'py, u32>,
    PyReadonlyArray1<'py, u32>,
    Vec<String>,
    PyReadonlyArray1<'py, f64>,
    PyReadonlyArray1<'py, i8>,
);

/// The constraints of `n` objects.
pub(crate) fn constraints(pairs: Option<&Pairs<'_>>, n: usize) -> Result<Constraints> {
    let Some((i, j, kind, weight, strength, apart)) = pairs else {
        return Ok(Constraints::default());
    };
    let (i, j, kind) = (i.as_array(), j.as_array(), kind.as_array());
    let (weight, strength) = (weight.as_array(), strength.as_array());
    let pair = |at: usize| Constraint {
        kind: if kind[at] > 0 { Kind::MustLink } else { Kind::CannotLink },
        weight: weight[at],
        strength: binding(strength[at]),
        ..Constraint::must(i[at] as usize, j[at] as usize)
    };
    let listed = Constraints::new(n, (0..i.len()).map(pair))?;
    let (members, group, names, weight, strength) = apart;
    let (weight, strength) = (weight.as_array(), strength.as_array());
    if names.is_empty() {
        return Ok(listed);
    }
    let mut of: Vec<Vec<u32>> = vec![Vec::new(); names.len()];
    for (&member, &group) in members.as_array().iter().zip(group.as_array()) {
        of[group as usize].push(member);
    }
    let groups = names.iter().zip(of).enumerate().map(|(at, (name, of))| Group {
        weight: weight[at],
        strength: binding(strength[at]),
        ..Group::new(name, of)
    });
    listed.with_groups(n, groups)
}

/// A strength by its number.
fn binding(number: i8) -> Option<Strength> {
    match number {
        1 => Some(Strength::Soft),
        2 => Some(Strength::Hard),
        _ => None,
    }
}

fn number(strength: Option<Strength>) -> i8 {
    match strength {
        None => 0,
        Some(Strength::Soft) => 1,
        Some(Strength::Hard) => 2,
    }
}

/// Constraints in the form for Python: a table of columns.
pub(crate) fn table<'py>(py: Python<'py>, all: &Constraints) -> PyResult<Bound<'py, PyAny>> {
    use numpy::IntoPyArray;
    let listed = all.listed();
    let column = |of: fn(&Constraint) -> u32| -> Vec<u32> { listed.iter().map(of).collect() };
    let kind: Vec<i8> =
        listed.iter().map(|c| if c.kind == Kind::MustLink { 1 } else { -1 }).collect();
    let weight: Vec<f64> = listed.iter().map(|c| c.weight).collect();
    let strength: Vec<i8> = listed.iter().map(|c| number(c.strength)).collect();
    let of_group = all.groups().iter().enumerate();
    let (members, group): (Vec<u32>, Vec<u32>) = of_group
        .flat_map(|(at, group)| group.members.iter().map(move |&member| (member, at as u32)))
        .unzip();
    let groups = all.groups().iter();
    let apart = (
        members.into_pyarray(py),
        group.into_pyarray(py),
        groups.clone().map(|group| group.name.clone()).collect::<Vec<_>>(),
        groups.clone().map(|group| group.weight).collect::<Vec<_>>().into_pyarray(py),
        groups.map(|group| number(group.strength)).collect::<Vec<_>>().into_pyarray(py),
    );
    let columns = (
        column(|c| c.i).into_pyarray(py),
        column(|c| c.j).into_pyarray(py),
        kind.into_pyarray(py),
        weight.into_pyarray(py),
        strength.into_pyarray(py),
        apart,
    );
    Ok(columns.into_pyobject(py)?.into_any())
}

/// Numbers of classes, −1 if unknown, as classes.
pub(crate) fn classes(labels: Option<&PyReadonlyArray1<'_, i64>>) -> Option<Classes> {
    let labels = labels?.as_array();
    let k = labels.iter().max().map_or(0, |&largest| largest + 1);
    Some(Classes {
        names: (0..k).map(|c| c.to_string()).collect(),
        labels: labels.iter().map(|&l| u32::try_from(l).ok()).collect(),
    })
}

/// The kind of a matrix by its name.
pub(crate) fn kind(word: Option<&str>) -> Result<DataKind> {
    match word {
        None | Some("dense") => Ok(DataKind::Dense),
        Some("distances") => Ok(DataKind::Distances),
        Some("affinity") => Ok(DataKind::Affinity),
        Some(other) => {
            Err(Error::bad_param("kind", other, "\"dense\", \"distances\" or \"affinity\""))
        }
    }
}
