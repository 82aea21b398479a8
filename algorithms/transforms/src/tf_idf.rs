//! Weights of words: larger the more often a word is in a document, and the fewer other documents
//! contain it.

use mustlink_core::prelude::*;

use crate::l2_rows::by_row;
use crate::parts::refused::misfit;

/// Weight of the count of a term in a document.
#[options]
pub enum TermFrequency {
    /// 1 + ln(count). Counts below 1, which texts do not have, are used unchanged, so that the weight never falls.
    #[default]
    Log,
    /// ln(1 + count).
    Log1p,
    /// The count.
    Raw,
}

/// Weight of the number of documents with a term.
#[options]
pub enum DocumentFrequency {
    /// ln(n / documents with the term): 0 for a term of every document.
    #[default]
    Log,
    /// 1 + ln((1 + n) / (1 + documents with the term)): never 0.
    Smooth,
    /// 1 for every term.
    None,
}

/// Weights counts of terms: log-based tf–idf, `(1 + ln count) · ln(n / documents with the term)`.
///
/// # Method
/// The weight of a term in a document is the product of `tf` and `idf`. The defaults are the log-based tf–idf of the
/// literature on document clustering. Lengths of documents do not change, so `l2_rows` usually follows.
/// # Input and output
/// n documents × d terms, counts >= 0, dense or sparse; the same shape and kind, and the same stored entries. A term
/// that occurs in no document has weight 0.
/// # Errors
/// `Data` for a negative count, with its row and column.
/// # Cost and randomness
/// O(stored entries); not random.
/// # References
/// [Greene2007] mentions "log-based tf-idf" without the formula; [Salton1988] has the formulas.
#[options]
pub struct TfIdf {
    /// Weight of the count of a term in a document.
    pub tf: TermFrequency,
    /// Weight of the number of documents with a term.
    pub idf: DocumentFrequency,
}

fn negative(row: usize, col: usize, count: f64) -> Error {
    Error::Data {
        place: format!("data: row {row}, column {col}"),
        message: format!("tf_idf weighs counts, which must be at least 0, got {count}"),
    }
}

#[plugin("tf_idf", cites = ["Greene2007", "Salton1988"])]
impl Transform for TfIdf {
    fn fit(&self, problem: &Problem, _: &Context) -> Result<Box<dyn Fitted>> {
        let data = &problem.data;
        let mut documents = vec![0u32; data.d()];
        for i in 0..data.n() {
            let mut count = |col: usize, v: f64| {
                documents[col] += u32::from(v > 0.0);
                if v < 0.0 { Err(negative(i, col, v)) } else { Ok(()) }
            };
            match data.row(i) {
                Row::Dense(x) => x.iter().enumerate().try_for_each(|(c, &v)| count(c, v))?,
                Row::Sparse(columns, values) => {
                    columns.iter().zip(values).try_for_each(|(&c, &v)| count(c as usize, v))?;
                }
            }
        }
        let n = data.n() as f64;
        let idf = documents
            .into_iter()
            .map(|df| match (self.idf, f64::from(df)) {
                (_, 0.0) => 0.0,
                (DocumentFrequency::Log, df) => (n / df).ln(),
                (DocumentFrequency::Smooth, df) => 1.0 + ((1.0 + n) / (1.0 + df)).ln(),
                (DocumentFrequency::None, _) => 1.0,
            })
            .collect();
        Ok(Box::new(Weights { tf: self.tf, idf }))
    }

    fn restore(&self, saved: &Value) -> Result<Box<dyn Fitted>> {
        restored::<Weights>("tf_idf", saved)
    }
}

#[derive(Serialize, Deserialize)]
struct Weights {
    tf: TermFrequency,
    idf: Vec<f64>,
}

impl Weights {
    fn weight(&self, row: usize, col: usize, count: f64) -> Result<f64> {
        if count < 0.0 {
            return Err(negative(row, col, count));
        }
        let tf = match self.tf {
            TermFrequency::Log if count > 1.0 => 1.0 + count.ln(),
            TermFrequency::Log1p => count.ln_1p(),
            TermFrequency::Log | TermFrequency::Raw => count,
        };
        Ok(tf * self.idf[col])
    }
}

impl Fitted for Weights {
    fn apply(&self, data: &Data) -> Result<Data> {
        if data.d() != self.idf.len() {
            return Err(misfit("tf_idf", format_args!("{} terms", self.idf.len()), data.d()));
        }
        by_row(data, |row, columns, values| {
            for (at, v) in values.iter_mut().enumerate() {
                let col = columns.map_or(at, |c| c[at] as usize);
                *v = self.weight(row, col, *v)?;
            }
            Ok(())
        })
    }

    fn saved(&self) -> Option<Value> {
        kept(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_laws::fixtures::to_csr;
    use ndarray::{Array2, array};
    use proptest::prelude::*;

    fn weighed(plugin: &TfIdf, data: Data) -> Result<Data> {
        let problem = Problem::new(data);
        let fitted = plugin.fit(&problem, &Context::new(1))?;
        fitted.apply(&problem.data)
    }

    #[test]
    fn by_hand() {
        let ln = |x: f64| x.ln();
        // Documents with the term: 1, 3, 2, 0 of 3.
        let x = array![[4.0, 1.0, 0.0, 0.0], [0.0, 2.0, 1.0, 0.0], [0.0, 1.0, 3.0, 0.0]];
        let data = Data::dense(x).unwrap();
        let y = weighed(&TfIdf::default(), data.clone()).unwrap().to_dense();
        let expected = array![
            [(1.0 + ln(4.0)) * ln(3.0), 0.0, 0.0, 0.0],
            [0.0, 0.0, ln(1.5), 0.0],
            [0.0, 0.0, (1.0 + ln(3.0)) * ln(1.5), 0.0]
        ];
        assert!((&y - &expected).iter().all(|v| v.abs() < 1e-15), "{y}");

        let other = TfIdf { tf: TermFrequency::Log1p, idf: DocumentFrequency::Smooth };
        let y = weighed(&other, data.clone()).unwrap().to_dense();
        assert!((y[[0, 0]] - ln(5.0) * (1.0 + ln(2.0))).abs() < 1e-15);
        assert!((y[[1, 1]] - ln(3.0)).abs() < 1e-15);
        assert_eq!(y[[2, 3]], 0.0);

        let raw = TfIdf { tf: TermFrequency::Raw, idf: DocumentFrequency::None };
        assert_eq!(weighed(&raw, data.clone()).unwrap().to_dense(), data.to_dense());
    }

    #[test]
    fn a_negative_count_is_named() {
        let x = array![[1.0, 0.0], [2.0, -1.5]];
        let dense = weighed(&TfIdf::default(), Data::dense(x.clone()).unwrap()).unwrap_err();
        let sparse = weighed(&TfIdf::default(), Data::csr(to_csr(&x)).unwrap()).unwrap_err();
        assert_eq!(
            dense.to_string(),
            "data: row 1, column 1: tf_idf weighs counts, which must be at least 0, got -1.5"
        );
        assert_eq!(dense, sparse);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Sparse and dense agree to the bit; a higher count never weighs less; zeros stay zeros.
        #[test]
        fn two_roads(
            x in proptest::collection::vec(prop_oneof![Just(0.0), 0f64..9.0], 30),
            tf in 0usize..3,
            idf in 0usize..3,
        ) {
            use DocumentFrequency as D;
            use TermFrequency as T;
            let plugin = TfIdf {
                tf: [T::Log, T::Log1p, T::Raw][tf],
                idf: [D::Log, D::Smooth, D::None][idf],
            };
            let x = Array2::from_shape_vec((6, 5), x).unwrap();
            let dense = weighed(&plugin, Data::dense(x.clone()).unwrap()).unwrap().to_dense();
            let sparse = weighed(&plugin, Data::csr(to_csr(&x)).unwrap()).unwrap();
            prop_assert_eq!(sparse.kind(), DataKind::Csr);
            prop_assert_eq!(&sparse.to_dense(), &dense);
            for c in 0..5 {
                for i in 0..6 {
                    prop_assert!(x[[i, c]] > 0.0 || dense[[i, c]] == 0.0);
                    for j in 0..6 {
                        prop_assert!(x[[i, c]] < x[[j, c]] || dense[[i, c]] >= dense[[j, c]]);
                    }
                }
            }
        }
    }
}
