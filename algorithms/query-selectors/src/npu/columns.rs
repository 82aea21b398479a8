//! The order of the values of each feature.
//!
//! A tree asks of a feature how its values are ordered, and only for a threshold what they are. So
//! every feature is held as the ranks of its distinct values: made once, for any number of forests
//! over the same objects. Of sparse rows the zeros are not held.

use mustlink_core::data::{Data, DataKind, Row};
use mustlink_core::{order, reduce};

/// The features of n objects by rank.
pub struct Columns {
    n: usize,
    columns: Vec<Column>,
}

/// One feature.
pub(super) struct Column {
    /// Its distinct values in increasing order; a rank is a position among them.
    values: Vec<f64>,
    ranks: Ranks,
}

/// The ranks of a feature.
pub(super) enum Ranks {
    /// Ranks of every object.
    All(Vec<u32>),
    /// Ranks of the objects that have an entry, in order; the others have the value 0.
    Stored { objects: Vec<u32>, ranks: Vec<u32>, zero: u32 },
}

impl Columns {
    /// The features of dense or sparse objects, in O(d n log n) for dense ones.
    pub fn new(data: &Data) -> Self {
        let n = data.n();
        let columns = match data.kind() {
            DataKind::Csr => {
                let mut entries: Vec<Vec<(f64, u32)>> = vec![Vec::new(); data.d()];
                for i in 0..n {
                    if let Row::Sparse(columns, values) = data.row(i) {
                        let stored = columns.iter().zip(values).filter(|(_, v)| **v != 0.0);
                        stored.for_each(|(&c, &v)| entries[c as usize].push((v, i as u32)));
                    }
                }
                reduce::over(entries.into_iter(), |_, entries| Column::stored(entries, n))
            }
            _ => reduce::map(data.d(), |f| Column::all(data, f)),
        };
        Columns { n, columns }
    }

    /// Number of objects.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Number of features.
    pub fn d(&self) -> usize {
        self.columns.len()
    }

    pub(super) fn column(&self, feature: usize) -> &Column {
        &self.columns[feature]
    }
}

/// Puts a rank for every entry into `ranks`, by the position that comes with it, and returns the
/// distinct values.
fn rank(entries: &mut [(f64, u32)], ranks: &mut [u32]) -> Vec<f64> {
    order::sort_objects(entries);
    let mut values: Vec<f64> = Vec::new();
    for &(v, at) in &*entries {
        if values.last() != Some(&v) {
            values.push(v);
        }
        ranks[at as usize] = values.len() as u32 - 1;
    }
    values
}

impl Column {
    fn all(data: &Data, feature: usize) -> Self {
        let value = |i: usize| match data.row(i) {
            // Adding 0 makes −0 and 0 one value in the order too.
            Row::Dense(x) | Row::Sparse(_, x) => x[feature] + 0.0,
        };
        let mut entries: Vec<(f64, u32)> = (0..data.n()).map(|i| (value(i), i as u32)).collect();
        let mut ranks = vec![0; data.n()];
        let values = rank(&mut entries, &mut ranks);
        Column { values, ranks: Ranks::All(ranks) }
    }

    fn stored(entries: Vec<(f64, u32)>, n: usize) -> Self {
        let objects: Vec<u32> = entries.iter().map(|e| e.1).collect();
        let mut placed: Vec<(f64, u32)> = entries.iter().map(|e| e.0).zip(0..).collect();
        let has_zeros = entries.len() < n;
        if has_zeros {
            placed.push((0.0, entries.len() as u32));
        }
        let mut ranks = vec![0; placed.len()];
        let values = rank(&mut placed, &mut ranks);
        // Where no object has a zero, nobody asks for its rank.
        let zero = if has_zeros { ranks.pop().unwrap_or(0) } else { 0 };
        Column { values, ranks: Ranks::Stored { objects, ranks, zero } }
    }

    pub(super) fn ranks(&self) -> &Ranks {
        &self.ranks
    }

    /// The rank of the value of `object`.
    pub(super) fn rank(&self, object: u32) -> u32 {
        match &self.ranks {
            Ranks::All(ranks) => ranks[object as usize],
            Ranks::Stored { objects, ranks, zero } => {
                objects.binary_search(&object).map_or(*zero, |at| ranks[at])
            }
        }
    }

    /// The largest rank whose value does not exceed the middle between those of `low` and `high`,
    /// which is that of `low` at least and below `high`.
    pub(super) fn cut(&self, low: u32, high: u32) -> u32 {
        let between = &self.values[low as usize..high as usize];
        let middle = f64::midpoint(between[0], self.values[high as usize]);
        // Of neighbouring numbers the middle may round up to the higher one.
        low + between.partition_point(|&v| v <= middle).max(1) as u32 - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_laws::fixtures::to_csr;
    use ndarray::{Array2, array};
    use proptest::prelude::*;

    #[test]
    fn ranks_are_those_of_distinct_values() {
        let data = Data::dense(array![[2.0], [-1.0], [0.0], [-0.0], [2.0]]).unwrap();
        let columns = Columns::new(&data);
        let column = columns.column(0);
        assert_eq!(column.values, [-1.0, 0.0, 2.0]);
        assert_eq!((0..5).map(|i| column.rank(i)).collect::<Vec<_>>(), [2, 0, 1, 1, 2]);
    }

    #[test]
    fn a_cut_lies_in_the_middle() {
        let data = Data::dense(array![[0.0], [1.0], [2.0], [3.0], [10.0]]).unwrap();
        let columns = Columns::new(&data);
        let column = columns.column(0);
        // Between 0 and 10 the threshold is 5, between 0 and 3 it is 1.5, between 0 and 2 it is 1.
        assert_eq!((column.cut(0, 4), column.cut(0, 3), column.cut(0, 2)), (3, 1, 1));
        assert_eq!((column.cut(0, 1), column.cut(3, 4)), (0, 3));
    }

    #[test]
    fn a_cut_between_neighbouring_or_huge_numbers_parts_them() {
        let next = 1.0 + f64::EPSILON;
        let data = Data::dense(array![
            [1.0, -f64::MAX, 5e-324],
            [next, f64::MAX, 0.0],
            [next + f64::EPSILON, 1.0, -5e-324]
        ])
        .unwrap();
        let columns = Columns::new(&data);
        for f in 0..3 {
            for (low, high) in [(0, 1), (1, 2)] {
                assert_eq!(columns.column(f).cut(low, high), low, "feature {f}");
            }
            assert!(columns.column(f).cut(0, 2) < 2, "feature {f}");
        }
    }

    proptest! {
        #[test]
        fn sparse_rows_have_the_ranks_of_dense_ones(
            x in prop::collection::vec(prop_oneof![Just(0.0), -2.0f64..2.0, Just(1.5)], 3 * 12),
        ) {
            let x = Array2::from_shape_vec((12, 3), x).unwrap();
            let sparse = Columns::new(&Data::csr(to_csr(&x)).unwrap());
            let dense = Columns::new(&Data::dense(x).unwrap());
            for f in 0..3 {
                prop_assert_eq!(&dense.column(f).values, &sparse.column(f).values);
                for i in 0..12 {
                    prop_assert_eq!(dense.column(f).rank(i), sparse.column(f).rank(i));
                }
            }
        }
    }
}
