//! Removal of objects that repeat an earlier one.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher;

use mustlink_core::prelude::*;
use ndarray::Array2;

use crate::parts::refused::misfit;

/// Keeps the first of each group of equal rows.
///
/// # Method
/// Rows are equal when all their values are (0 and −0 are one value; an explicit zero of sparse data is a zero like
/// any other). Rows stay in order. A row map records the new position of each old row, so that constraints and
/// classes follow.
/// # Input and output
/// n × d, dense or sparse; one row for each distinct row.
/// # Cost and randomness
/// O(stored entries) on average, by hashing; not random.
#[options]
pub struct Deduplicate {}

/// Columns and bits of the entries that are not zero: equal rows, equal lists.
fn content(row: Row<'_>) -> impl Iterator<Item = (u32, u64)> + '_ {
    let (columns, values) = match row {
        Row::Dense(values) => (None, values),
        Row::Sparse(columns, values) => (Some(columns), values),
    };
    values
        .iter()
        .enumerate()
        .filter(|(_, v)| **v != 0.0)
        .map(move |(at, v)| (columns.map_or(at as u32, |c| c[at]), v.to_bits()))
}

#[plugin("deduplicate")]
impl Transform for Deduplicate {
    fn fit(&self, problem: &Problem, _: &Context) -> Result<Box<dyn Fitted>> {
        let data = &problem.data;
        // Kept rows by hash; only looked up, never walked through.
        let mut by_hash: HashMap<u64, Vec<u32>> = HashMap::with_capacity(data.n());
        let mut kept: Vec<usize> = Vec::new();
        let mut map = Vec::with_capacity(data.n());
        for i in 0..data.n() {
            let mut hasher = DefaultHasher::new();
            content(data.row(i)).for_each(|(column, bits)| {
                hasher.write_u32(column);
                hasher.write_u64(bits);
            });
            let same_hash = by_hash.entry(hasher.finish()).or_default();
            let equal = same_hash
                .iter()
                .copied()
                .find(|&new| content(data.row(kept[new as usize])).eq(content(data.row(i))));
            map.push(Some(equal.unwrap_or_else(|| {
                let new = kept.len() as u32;
                same_hash.push(new);
                kept.push(i);
                new
            })));
        }
        Ok(Box::new(Distinct { kept, map }))
    }

    fn properties(&self) -> TransformProperties {
        TransformProperties { changes_rows: true, ..TransformProperties::default() }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        (8 * shape.entries + 64 * shape.n) as u64
    }
}

struct Distinct {
    kept: Vec<usize>,
    map: Vec<Option<u32>>,
}

impl Fitted for Distinct {
    fn apply(&self, data: &Data) -> Result<Data> {
        if data.n() != self.map.len() {
            let fitted = format!("{} rows", self.map.len());
            return Err(misfit("deduplicate", fitted, data.n()));
        }
        if self.kept.len() == data.n() {
            return Ok(data.clone());
        }
        // A copy of what is left, not a list of rows over all: what follows reads it many times.
        let left = data.subset(&self.kept);
        match data.kind() {
            DataKind::Csr => {
                let mut csr =
                    Csr { indptr: vec![0], indices: vec![], values: vec![], columns: data.d() };
                for i in 0..left.n() {
                    if let Row::Sparse(columns, values) = left.row(i) {
                        csr.indices.extend_from_slice(columns);
                        csr.values.extend_from_slice(values);
                    }
                    csr.indptr.push(csr.indices.len());
                }
                Data::csr(csr)
            }
            _ => {
                let x: Array2<f64> = left.to_dense();
                Data::dense(x)
            }
        }
    }

    fn row_map(&self) -> Option<&[Option<u32>]> {
        Some(&self.map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_laws::fixtures::to_csr;
    use ndarray::array;
    use proptest::prelude::*;

    fn distinct(data: Data) -> (Data, Vec<u32>) {
        let problem = Problem::new(data);
        let fitted = Deduplicate {}.fit(&problem, &Context::new(1)).unwrap();
        let map = fitted.row_map().unwrap().iter().map(|r| r.unwrap()).collect();
        (fitted.apply(&problem.data).unwrap(), map)
    }

    #[test]
    fn by_hand() {
        let x = array![[1.0, 0.0], [2.0, 1.0], [1.0, -0.0], [2.0, 1.0], [0.0, 1.0]];
        let (y, map) = distinct(Data::dense(x).unwrap());
        assert_eq!(map, [0, 1, 0, 1, 2]);
        assert_eq!(y.to_dense(), array![[1.0, 0.0], [2.0, 1.0], [0.0, 1.0]]);
    }

    #[test]
    fn explicit_zeros_are_zeros() {
        let x = Csr {
            indptr: vec![0, 2, 3, 3, 4],
            indices: vec![0, 2, 0, 1],
            values: vec![5.0, 0.0, 5.0, 0.0],
            columns: 3,
        };
        let (y, map) = distinct(Data::csr(x).unwrap());
        assert_eq!(map, [0, 0, 1, 1]);
        assert_eq!((y.kind(), y.n()), (DataKind::Csr, 2));
    }

    #[test]
    fn equal_columns_in_other_places_are_not_equal_rows() {
        let x =
            Csr { indptr: vec![0, 1, 2], indices: vec![0, 1], values: vec![1.0; 2], columns: 2 };
        assert_eq!(distinct(Data::csr(x).unwrap()).1, [0, 1]);
    }

    #[test]
    fn constraints_follow_their_rows() {
        let x = Data::dense(array![[1.0], [2.0], [1.0], [3.0]]).unwrap();
        let links = [Constraint::must(2, 3), Constraint::cannot(1, 2), Constraint::must(0, 2)];
        let problem = Problem::new(x).with_constraints(Constraints::new(4, links).unwrap());
        let steps: [Box<dyn Transform>; 1] = [Box::new(Deduplicate {})];
        let made = mustlink_core::run::transform(&steps, &problem, &Context::new(1)).unwrap();
        assert_eq!(made.rows.unwrap(), [Some(0), Some(1), Some(0), Some(2)]);
        let links = [Constraint::must(0, 2), Constraint::cannot(0, 1)];
        assert_eq!(made.problem.constraints.pairs(), links);

        let apart = Constraints::new(4, [Constraint::cannot(0, 2)]).unwrap();
        let problem = problem.with_constraints(apart);
        assert!(mustlink_core::run::transform(&steps, &problem, &Context::new(1)).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Against the quadratic road: each row maps to the first that equals it.
        #[test]
        fn as_by_comparing_all(x in proptest::collection::vec(0u8..2, 3..60)) {
            let n = x.len() / 3;
            let x = Array2::from_shape_fn((n, 3), |(i, j)| f64::from(x[3 * i + j]));
            let (y, map) = distinct(Data::dense(x.clone()).unwrap());
            let (_, sparse) = distinct(Data::csr(to_csr(&x)).unwrap());
            prop_assert_eq!(&map, &sparse);
            let mut firsts = Vec::new();
            for i in 0..n {
                let first = (0..=i).find(|&j| x.row(j) == x.row(i)).unwrap();
                if first == i {
                    firsts.push(i);
                }
                prop_assert_eq!(firsts[map[i] as usize], first);
            }
            prop_assert_eq!(y.n(), firsts.len());
            prop_assert_eq!(distinct(y.clone()).0.digest(), y.digest());
        }
    }
}
