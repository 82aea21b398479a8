//! Removal of features with the same value for all objects.

use mustlink_core::prelude::*;
use mustlink_core::text::{count, form};

use crate::parts::refused::{misfit, no_such_step};

/// Drops the features that have one value for all objects.
///
/// # Method
/// A feature is kept if two rows differ in it (0 and −0 are one value). Methods that weigh features by how little
/// they vary, such as `lac`, would otherwise give a constant feature the largest weight of all.
/// # Input and output
/// n × d, dense or sparse; n × the kept features, in order, with their names.
/// # Errors
/// `Data` if every feature is constant.
/// # Cost and randomness
/// O(stored entries); not random.
#[options]
pub struct DropConstant {}

/// Indices of the features in which two rows differ.
fn varying(data: &Data) -> Vec<usize> {
    let d = data.d();
    let mut first = vec![0.0; d];
    data.row(0).add_to(&mut first, 1.0);
    let mut varies = vec![false; d];
    // Of sparse rows: in how many a feature is stored. Where it is not, it is 0.
    let mut stored = vec![0usize; d];
    for i in 0..data.n() {
        match data.row(i) {
            Row::Dense(x) => (0..d).for_each(|s| varies[s] |= x[s] != first[s]),
            Row::Sparse(columns, values) => {
                for (&s, &v) in columns.iter().zip(values) {
                    varies[s as usize] |= v != first[s as usize];
                    stored[s as usize] += 1;
                }
            }
        }
    }
    if data.kind() == DataKind::Csr {
        (0..d).for_each(|s| varies[s] |= stored[s] < data.n() && first[s] != 0.0);
    }
    (0..d).filter(|&s| varies[s]).collect()
}

#[plugin("drop_constant")]
impl Transform for DropConstant {
    fn fit(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Fitted>> {
        let (data, d) = (&problem.data, problem.d());
        let kept = varying(data);
        if kept.is_empty() {
            return Err(Error::Data {
                place: "drop_constant".into(),
                message: format!("each of the {d} features has one value for all objects"),
            });
        }
        let dropped = d - kept.len();
        if dropped > 0 {
            let features = count(dropped, "constant feature");
            ctx.warn(format!("{features} {} dropped", form(dropped, "was", "were")));
        }
        Ok(Box::new(Varying { d, kept }))
    }

    fn restore(&self, saved: &Value) -> Result<Box<dyn Fitted>> {
        let tag = "drop_constant";
        let varying = Varying::deserialize(saved).map_err(|e| no_such_step(tag, e))?;
        let Varying { d, kept } = &varying;
        let ascending = kept.is_sorted_by(|a, b| a < b);
        if kept.is_empty() || !ascending || kept.last().is_some_and(|last| last >= d) {
            let why = format!("kept must be ascending numbers below d = {d}");
            return Err(no_such_step(tag, why));
        }
        Ok(Box::new(varying))
    }
}

#[derive(Serialize, Deserialize)]
struct Varying {
    d: usize,
    kept: Vec<usize>,
}

impl Fitted for Varying {
    fn apply(&self, data: &Data) -> Result<Data> {
        if !data.kind().is_rows() || data.d() != self.d {
            return Err(misfit("drop_constant", format_args!("{} features", self.d), data.d()));
        }
        if self.kept.len() == self.d { Ok(data.clone()) } else { data.features(&self.kept) }
    }

    fn features(&self) -> Features {
        if self.kept.len() == self.d { Features::Same } else { Features::Chosen(self.kept.clone()) }
    }

    fn saved(&self) -> Option<Value> {
        kept(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::run;
    use mustlink_laws::fixtures::to_csr;
    use ndarray::{Array2, Axis, array};
    use proptest::prelude::*;

    fn dropped(data: Data) -> Result<(Array2<f64>, Features, Vec<String>)> {
        let ctx = Context::new(1);
        let steps: [Box<dyn Transform>; 1] = [Box::new(DropConstant {})];
        let made = run::transform(&steps, &Problem::new(data), &ctx)?;
        Ok((made.problem.data.to_dense(), made.lineage.features, ctx.warnings()))
    }

    #[test]
    fn by_hand() {
        // The third feature is −0 and 0, the fourth 0 but for one object.
        let x = array![[5.0, 1.0, -0.0, 0.0], [5.0, 2.0, 0.0, 0.0], [5.0, 1.0, 0.0, 7.0]];
        for data in [Data::dense(x.clone()).unwrap(), Data::csr(to_csr(&x)).unwrap()] {
            let (y, features, warnings) = dropped(data).unwrap();
            assert_eq!(y, array![[1.0, 0.0], [2.0, 0.0], [1.0, 7.0]]);
            assert_eq!(features, Features::Chosen(vec![1, 3]));
            assert_eq!(warnings, ["transforms[0]: 2 constant features were dropped"]);
        }
    }

    #[test]
    fn nothing_left_is_an_error() {
        let message = dropped(Data::dense(array![[3.0, 0.0]]).unwrap()).unwrap_err().to_string();
        assert!(message.contains("each of the 2 features has one value"), "{message}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Features stay iff their column holds two values; sparse as dense.
        #[test]
        fn those_with_two_values_stay(
            x in proptest::collection::vec(proptest::collection::vec(0u8..2, 4), 1..8),
        ) {
            let x = Array2::from_shape_fn((x.len(), 4), |(i, s)| f64::from(x[i][s]));
            let expected: Vec<usize> =
                (0..4).filter(|&s| x.column(s).iter().any(|v| *v != x[[0, s]])).collect();
            let dense = dropped(Data::dense(x.clone()).unwrap());
            let sparse = dropped(Data::csr(to_csr(&x)).unwrap());
            if expected.is_empty() {
                prop_assert!(dense.is_err() && sparse.is_err());
            } else {
                let y = x.select(Axis(1), &expected);
                prop_assert_eq!(&dense.unwrap().0, &y);
                prop_assert_eq!(&sparse.unwrap().0, &y);
            }
        }
    }
}
