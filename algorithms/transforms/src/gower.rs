//! Conversion of numbers and words to columns whose distances are close to Gower's.

use mustlink_core::prelude::*;

use crate::min_max::{finite_ranges, is_constant};
use crate::one_hot::{Encoded, OneHot};

/// Turns a table of numbers and words into numbers, so that each column counts equally.
///
/// # Method
/// Numbers are divided by their range. Each word becomes a column that is 0 or √½, and all columns are divided by √p
/// for p columns of the table. The squared Euclidean distance of two rows is then the mean over the columns of the
/// table of ((x − y) / range)² for numbers, and of 0 (equal) or 1 (different) for words. It is between 0 and 1.
///
/// Gower takes |x − y| / range for numbers. If numbers have only two values, and in tables of words, both are the same:
/// the squared distance is Gower's. Otherwise it is at most Gower's, because the square of a share is smaller. No
/// clusterer sums absolute differences. If you need Gower's distance itself, pass a matrix of it to a clusterer that
/// accepts distances: `Hierarchical(3, kind="distances")` in Python.
///
/// With `one_hot` and `min_max`, different words have a squared distance of 2, twice that of the two ends of a range.
/// With `one_hot` and `z_score`, rare words count more than frequent ones.
///
/// A word that is missing, or did not occur when the transform was fitted, has 0 in all its columns: its squared
/// distance to every word is ½. A missing number stays missing (`impute_missing`). Constant columns become 0.
/// # Input and output
/// n × d, a table or dense; n × (columns of numbers + words), dense if no number is missing. New columns are named by
/// column and word: `colour_red`. Each column of the table has the weight 1 / p in the mean, a constant one 0:
/// `--weights` writes these weights.
/// # Errors
/// `Feature` for a column of more than `max_words` different words, and for a range that exceeds the largest number;
/// `BadParam` for `columns` in data without names.
/// # Cost and randomness
/// O(n · columns made); not random.
/// # References
/// [Gower1971], with equal weights. Differs: squares of the differences of numbers, and missing values are not left
/// out of the mean.
#[options]
pub struct Gower {
    /// Columns of words.
    #[option(flatten)]
    pub words: OneHot,
}

#[plugin("gower", cites = ["Gower1971"])]
impl Transform for Gower {
    fn fit(&self, problem: &Problem, _: &Context) -> Result<Box<dyn Fitted>> {
        let data = &problem.data;
        let encoded = self.words.encoding(data)?;
        let ranges = finite_ranges(data)?;
        let of_numbers = |(words, (low, high)): (&Option<_>, (f64, f64))| match words {
            Some(_) => None,
            // Nothing is known of the column.
            None if low > high => Some((0.0, 0.0)),
            None => Some((low, high)),
        };
        let ranges = encoded.words.iter().zip(ranges).map(of_numbers).collect();
        Ok(Box::new(Scaled { encoded, ranges }))
    }

    fn properties(&self) -> TransformProperties {
        TransformProperties { any_magnitude: true, ..self.words.properties() }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        self.words.memory(shape)
    }

    fn restore(&self, saved: &Value) -> Result<Box<dyn Fitted>> {
        restored::<Scaled>("gower", saved)
    }
}

#[derive(Serialize, Deserialize)]
struct Scaled {
    encoded: Encoded,
    /// Smallest and largest value of each column of numbers; `None` for words.
    ranges: Vec<Option<(f64, f64)>>,
}

impl Fitted for Scaled {
    fn apply(&self, data: &Data) -> Result<Data> {
        let mut made = self.encoded.columns(data, "gower")?;
        let columns = self.ranges.len() as f64;
        let mut next = 0;
        for (range, words) in self.ranges.iter().zip(&self.encoded.words) {
            let width = words.as_ref().map_or(1, Vec::len);
            for mut column in made.columns_mut().into_iter().skip(next).take(width) {
                match range {
                    // A missing value stays one.
                    Some((low, high)) if is_constant(*low, *high) => {
                        column.mapv_inplace(|x| if x.is_nan() { x } else { 0.0 })
                    }
                    Some((low, high)) => {
                        column.mapv_inplace(|x| (x - low) / (high - low) / columns.sqrt())
                    }
                    None => column.mapv_inplace(|x| x / (2.0 * columns).sqrt()),
                }
            }
            next += width;
        }
        let width = made.ncols();
        Data::table(made, vec![None; width])
    }

    fn of_other_kind(&self, data: &Data) -> Vec<usize> {
        self.encoded.of_other_kind(data)
    }

    fn unseen(&self, data: &Data) -> Vec<(usize, String)> {
        self.encoded.unseen(data)
    }

    fn features(&self) -> Features {
        self.encoded.features()
    }

    fn weights(&self) -> Option<Vec<f64>> {
        let columns = self.ranges.len() as f64;
        let weight = |range: &Option<(f64, f64)>| match range {
            Some((low, high)) if is_constant(*low, *high) => 0.0,
            _ => 1.0 / columns,
        };
        Some(self.ranges.iter().map(weight).collect())
    }

    fn saved(&self) -> Option<Value> {
        kept(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::data::Words;
    use mustlink_core::run;
    use ndarray::{Array2, array};
    use proptest::prelude::*;

    fn transformed(data: Data) -> run::Transformed {
        let steps: [Box<dyn Transform>; 1] = [Box::new(Gower::default())];
        run::transform(&steps, &Problem::new(data), &Context::new(1)).unwrap()
    }

    fn squared(data: &Data, i: usize, j: usize) -> f64 {
        data.row(i).squared_distance(&data.row(j))
    }

    fn words(list: &[&str]) -> Option<Words> {
        Some(list.iter().map(|word| word.to_string()).collect())
    }

    #[test]
    fn by_hand() {
        let x = array![[7.0, 1.0, 3.0, 5.0], [8.0, 0.0, f64::NAN, 5.0], [11.0, f64::NAN, 4.0, 5.0]];
        let table = Data::table(x, vec![None, words(&["blue", "red"]), None, None]).unwrap();
        let made = transformed(table);
        // Size has the range 4, n the range 1; one of four columns is constant.
        let x = made.problem.data.to_dense();
        let (number, word) = (0.5, 0.5 * 0.5f64.sqrt());
        let rows = [[0.0, 0.0, word, 0.0, 0.0], [number / 4.0, word, 0.0, f64::NAN, 0.0]];
        for (i, row) in rows.iter().enumerate() {
            for (s, v) in row.iter().enumerate() {
                assert!((x[[i, s]] - v).abs() < 1e-15 || v.is_nan() && x[[i, s]].is_nan(), "{x}");
            }
        }
        assert_eq!(x.row(2).to_vec(), [number, 0.0, 0.0, number, 0.0]);
        let names = ["size", "colour", "n", "same"].map(String::from);
        let columns = ["size", "colour_blue", "colour_red", "n", "same"];
        assert_eq!(made.lineage.features.names(&names, 5), columns);
        let (before, weights) = made.lineage.metric.unwrap();
        assert_eq!(
            (before.names(&names, 4), weights),
            (names.to_vec(), vec![0.25, 0.25, 0.25, 0.0])
        );
    }

    #[test]
    fn it_is_applied_to_new_rows_by_the_ranges_of_the_fit() {
        let fit = Data::table(array![[0.0, 0.0], [2.0, 1.0]], vec![None, words(&["a", "b"])]);
        let fitted = Gower::default().fit(&Problem::new(fit.unwrap()), &Context::new(1)).unwrap();
        let kept = Gower::default().restore(&fitted.saved().unwrap()).unwrap();
        let new = Data::table(array![[4.0, 0.0]], vec![None, words(&["c"])]).unwrap();
        for fitted in [fitted, kept] {
            let x = fitted.apply(&new).unwrap().to_dense();
            assert!(
                (x[[0, 0]] - 2f64.sqrt()).abs() < 1e-15 && x[[0, 1]] == 0.0 && x[[0, 2]] == 0.0
            );
            assert_eq!(fitted.unseen(&new), [(1, "c".to_string())]);
            let one = Data::dense(array![[4.0]]).unwrap();
            let refused = fitted.apply(&one).unwrap_err().to_string();
            assert_eq!(refused, "gower: fitted to 2 features, applied to 1");
        }
    }

    /// Gower's dissimilarity of the R package cluster 2.1.4, `daisy(metric = "gower")`, printed by
    /// `benches/peers/gower.R`.
    #[test]
    fn tables_of_words_and_of_two_numbers_have_the_distance_of_daisy() {
        let x = array![
            [1.0, 2.0, 0.0],
            [4.0, 2.0, 1.0],
            [1.0, 0.0, 0.0],
            [4.0, 1.0, 0.0],
            [1.0, 0.0, 1.0]
        ];
        let lists = vec![None, words(&["blue", "green", "red"]), words(&["round", "square"])];
        let made = transformed(Data::table(x, lists).unwrap()).problem.data;
        let of_three = [2.0, 1.0, 2.0, 2.0, 3.0, 2.0, 2.0, 2.0, 1.0, 3.0];
        let pairs = (0..5).flat_map(|i| (i + 1..5).map(move |j| (i, j)));
        for ((i, j), daisy) in pairs.zip(of_three) {
            assert!((squared(&made, i, j) - daisy / 3.0).abs() < 1e-15, "{i}, {j}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// A plain second road: the mean over columns, from the values themselves.
        #[test]
        fn squared_distances_are_means_over_columns(
            rows in proptest::collection::vec((-1e3f64..1e3, 0usize..4, -5f64..5.0), 2..20),
        ) {
            let x = Array2::from_shape_fn((rows.len(), 3), |(i, s)| match s {
                0 => rows[i].0,
                1 => rows[i].1 as f64,
                _ => rows[i].2,
            });
            let table = Data::table(x, vec![None, words(&["a", "b", "c", "d"]), None]).unwrap();
            let made = transformed(table).problem.data;
            let range = |value: &dyn Fn(usize) -> f64| {
                let values = || (0..rows.len()).map(value);
                values().fold(f64::MIN, f64::max) - values().fold(f64::MAX, f64::min)
            };
            let (first, last) = (range(&|i| rows[i].0), range(&|i| rows[i].2));
            prop_assume!(first > 1e-3 && last > 1e-3);
            for i in 0..rows.len() {
                for j in 0..rows.len() {
                    let shares = [(rows[i].0 - rows[j].0) / first, (rows[i].2 - rows[j].2) / last];
                    let differ = f64::from(u8::from(rows[i].1 != rows[j].1));
                    let mean = (shares.iter().map(|v| v * v).sum::<f64>() + differ) / 3.0;
                    let gower = (shares.iter().map(|v| v.abs()).sum::<f64>() + differ) / 3.0;
                    let found = squared(&made, i, j);
                    prop_assert!((found - mean).abs() < 1e-12 && found <= gower + 1e-12);
                }
            }
        }
    }
}
