//! Scaling of every object to length 1.

use mustlink_core::prelude::*;
use mustlink_core::text::{count, form};
use ndarray::Array2;

/// Scales every object to Euclidean length 1; an object of zeros stays unchanged.
///
/// # Method
/// x / ‖x‖. Objects that differ only in scale become equal.
/// # Input and output
/// n × d, dense or sparse; the same shape and kind, and the same stored entries. A warning reports the number of
/// objects with only zeros, because under cosine they are not similar to any object.
/// # Cost and randomness
/// O(stored entries); not random.
#[options]
pub struct L2Rows {}

#[plugin("l2_rows")]
impl Transform for L2Rows {
    fn fit(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Fitted>> {
        let data = &problem.data;
        let zero = |i: usize| match data.row(i) {
            Row::Dense(x) | Row::Sparse(_, x) => x.iter().all(|&v| v == 0.0),
        };
        let zeros = reduce::reduce(data.n(), |r| r.filter(|&i| zero(i)).count(), |a, b| a + b);
        if let Some(zeros) = zeros.filter(|&zeros| zeros > 0) {
            let verbs = form(zeros, "has only zeros and keeps", "have only zeros and keep");
            ctx.warn(format!("{} {verbs} length 0", count(zeros, "object")));
        }
        Ok(Box::new(Unit))
    }

    fn restore(&self, saved: &Value) -> Result<Box<dyn Fitted>> {
        restored::<Unit>("l2_rows", saved)
    }
}

/// Rewrites the stored values of every row: `f(row, columns, values)`, where dense rows have no
/// list of columns. Sparse data keeps its stored entries.
pub(crate) fn by_row(
    data: &Data,
    f: impl Fn(usize, Option<&[u32]>, &mut [f64]) -> Result<()> + Sync,
) -> Result<Data> {
    match data.kind() {
        DataKind::Csr => {
            let rows: Vec<(&[u32], &[f64])> = (0..data.n())
                .map(|i| match data.row(i) {
                    Row::Sparse(columns, values) => (columns, values),
                    Row::Dense(_) => (&[][..], &[][..]),
                })
                .collect();
            let mut indptr = Vec::with_capacity(rows.len() + 1);
            indptr.push(0);
            rows.iter().for_each(|(c, _)| indptr.push(indptr[indptr.len() - 1] + c.len()));
            let columns = rows.iter().map(|&(c, _)| c).collect::<Vec<_>>().concat();
            let values = reduce::map(rows.len(), |i| {
                let (columns, mut values) = (rows[i].0, rows[i].1.to_vec());
                f(i, Some(columns), &mut values).map(|()| values)
            });
            // The first row in order speaks, whichever thread was first.
            let values = values.into_iter().collect::<Result<Vec<_>>>()?.concat();
            Data::csr(Csr { indptr, indices: columns, values, columns: data.d() })
        }
        _ => {
            let d = data.d();
            let mut out: Array2<f64> = data.to_dense();
            let slice = out.as_slice_mut().expect("standard layout");
            let done = reduce::over(slice.chunks_mut(d), |i, values| f(i, None, values));
            done.into_iter().collect::<Result<()>>()?;
            Data::dense(out)
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Unit;

impl Fitted for Unit {
    fn apply(&self, data: &Data) -> Result<Data> {
        by_row(data, |_, _, values| {
            unit(values);
            Ok(())
        })
    }

    fn saved(&self) -> Option<Value> {
        kept(self)
    }
}

/// Scales to length 1, also where squares leave the range of numbers.
fn unit(values: &mut [f64]) {
    let mut norm2: f64 = values.iter().map(|v| v * v).sum();
    if !(1e-280..1e280).contains(&norm2) {
        let largest = values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        if largest == 0.0 {
            return;
        }
        values.iter_mut().for_each(|v| *v /= largest);
        norm2 = values.iter().map(|v| v * v).sum();
    }
    let norm = norm2.sqrt();
    values.iter_mut().for_each(|v| *v /= norm);
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_laws::fixtures::to_csr;
    use ndarray::array;
    use proptest::prelude::*;

    fn units(data: Data) -> (Data, Vec<String>) {
        let problem = Problem::new(data);
        let ctx = Context::new(1);
        let fitted = L2Rows {}.fit(&problem, &ctx).unwrap();
        (fitted.apply(&problem.data).unwrap(), ctx.warnings())
    }

    #[test]
    fn by_hand() {
        let x = array![[3.0, 4.0], [0.0, -2.0], [0.0, 0.0]];
        let (y, warnings) = units(Data::dense(x).unwrap());
        assert_eq!(y.to_dense(), array![[0.6, 0.8], [0.0, -1.0], [0.0, 0.0]]);
        assert_eq!(warnings, ["1 object has only zeros and keeps length 0"]);
    }

    #[test]
    fn tiny_and_huge_rows_have_length_one() {
        let (y, _) = units(Data::dense(array![[3e-200, 4e-200], [3e200, 4e200]]).unwrap());
        for i in 0..2 {
            assert!((y.row(i).norm2() - 1.0).abs() < 1e-15);
            assert!((y.row(i).dot(&[1.0, 0.0]) - 0.6).abs() < 1e-15);
        }
    }

    #[test]
    fn sparse_rows_keep_their_entries() {
        let stored = Csr {
            indptr: vec![0, 2, 3],
            indices: vec![0, 2, 1],
            values: vec![2.0, 0.0, 0.0],
            columns: 3,
        };
        let (y, warnings) = units(Data::csr(stored).unwrap());
        let y = y.as_csr().unwrap();
        assert_eq!((y.values.as_slice(), y.entries_of(0)), (&[1.0, 0.0, 0.0][..], 2));
        assert_eq!(warnings.len(), 1);
    }

    trait Entries {
        fn entries_of(&self, i: usize) -> usize;
    }
    impl Entries for Csr {
        fn entries_of(&self, i: usize) -> usize {
            self.row(i).0.len()
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Length 1 or 0, the scale of a row does not matter, dense and sparse agree.
        #[test]
        fn length_one(
            x in proptest::collection::vec(prop_oneof![Just(0.0), -10f64..10.0], 12),
            scale in 0.01f64..100.0,
        ) {
            let x = Array2::from_shape_vec((4, 3), x).unwrap();
            let (y, _) = units(Data::dense(x.clone()).unwrap());
            let (s, _) = units(Data::csr(to_csr(&x)).unwrap());
            prop_assert_eq!(s.kind(), DataKind::Csr);
            prop_assert_eq!(s.to_dense(), y.to_dense());
            let (z, _) = units(Data::dense(&x * scale).unwrap());
            for i in 0..4 {
                let norm2 = y.row(i).norm2();
                prop_assert!(norm2 == 0.0 || (norm2 - 1.0).abs() < 1e-12);
            }
            prop_assert!((y.to_dense() - z.to_dense()).iter().all(|v| v.abs() < 1e-12));
        }
    }
}
