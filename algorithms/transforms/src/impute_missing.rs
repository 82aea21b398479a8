//! Replacement of missing values in a table.

use std::collections::BTreeMap;

use mustlink_core::data::Words;
use mustlink_core::prelude::*;
use mustlink_core::text::{count, form};
use ndarray::{Array2, ArrayViewMut1};

use crate::parts::numeric_words::{bits, by_value, of_other_kind};
use crate::parts::refused::misfit;

/// Value that fills a gap in a column of numbers.
#[options]
pub enum Fill {
    /// The mean of the known values.
    #[default]
    Mean,
    /// The median of the known values; for an even number, the mean of the middle two.
    Median,
    /// 0.
    Zero,
}

/// Fills missing values: numbers with the mean or median of their column, words with the most frequent one.
///
/// # Method
/// Each column is filled by itself, from its known values over all rows. Of equally frequent words, the first in the
/// order of their characters is taken. Classes and constraints are not used.
/// # Input and output
/// n × d, a table or dense; the same without gaps: dense unless a column holds words (`one_hot`).
/// # Errors
/// `Feature` for a column without any value.
/// # Cost and randomness
/// O(n·d), with the median O(n·d·log n); not random.
#[options]
pub struct ImputeMissing {
    /// Value that fills a gap in a column of numbers.
    pub numbers: Fill,
}

impl ImputeMissing {
    fn value(&self, mut present: Vec<f64>) -> f64 {
        let n = present.len();
        match self.numbers {
            // Of equal values exactly that: rounding would make a constant column vary.
            Fill::Mean if present.iter().all(|v| *v == present[0]) => present[0],
            // Divided first, so that no sum of finite values overflows.
            Fill::Mean => present.iter().map(|v| v / n as f64).sum(),
            Fill::Median => {
                order::sort_values(&mut present);
                0.5 * present[(n - 1) / 2] + 0.5 * present[n / 2]
            }
            Fill::Zero => 0.0,
        }
    }
}

/// The most frequent of some places in a list, the first of equals.
fn most_frequent(places: &[f64]) -> f64 {
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    places.iter().for_each(|&p| *counts.entry(p as u64).or_default() += 1);
    let best = counts.iter().rev().max_by_key(|(_, count)| **count);
    best.map_or(0.0, |(&place, _)| place as f64)
}

#[plugin("impute_missing", version = 2)]
impl Transform for ImputeMissing {
    fn fit(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Fitted>> {
        let data = &problem.data;
        let x = data.to_dense();
        let (mut fill, mut words, mut lists, mut gaps) = (Vec::new(), Vec::new(), Vec::new(), 0);
        for (s, column) in x.columns().into_iter().enumerate() {
            let present: Vec<f64> = column.iter().copied().filter(|v| !v.is_nan()).collect();
            gaps += data.n() - present.len();
            if present.is_empty() {
                return Err(Error::Feature {
                    feature: s,
                    message: "every value is missing; leave the column out (--ignore)".into(),
                });
            }
            fill.push(match data.words(s) {
                Some(_) => most_frequent(&present),
                None => self.value(present),
            });
            words.push(data.words(s).map(|list| list[fill[s] as usize].clone()));
            let numbers = data.words(s).filter(|list| by_value(list).is_some());
            lists.push(numbers.map(|list| list.to_vec()));
        }
        if gaps > 0 {
            let (values, were) = (count(gaps, "missing value"), form(gaps, "was", "were"));
            ctx.warn(format!("{values} of {} {were} filled in", data.n() * data.d()));
        }
        Ok(Box::new(Filled { fill, words, lists }))
    }

    fn properties(&self) -> TransformProperties {
        TransformProperties {
            accepts: vec![DataKind::Table, DataKind::Dense],
            ..TransformProperties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        24 * shape.n as u64 * shape.d as u64
    }

    fn restore(&self, saved: &Value) -> Result<Box<dyn Fitted>> {
        restored::<Filled>("impute_missing", saved)
    }
}

#[derive(Serialize, Deserialize)]
struct Filled {
    /// Per column what a gap becomes: a number, or the place of a word in the list of the objects of the fit.
    fill: Vec<f64>,
    /// The word itself: other objects have lists of their own.
    words: Vec<Option<String>>,
    /// All words of a column in the fit, where some are numbers and known by their values.
    #[serde(default)]
    lists: Vec<Option<Vec<String>>>,
}

impl Filled {
    /// The words of a column, and what a gap in it becomes. Numbers become the places of words where the fit had
    /// words.
    fn of_column(
        &self,
        s: usize,
        data: &Data,
        column: &mut ArrayViewMut1<f64>,
    ) -> Result<(Option<Words>, f64)> {
        let other_kind = |what: &str| {
            let message =
                format!("feature {s} contains {what}, but did not when the transform was fitted");
            Err(Error::Plugin { tag: "impute_missing".into(), message })
        };
        let word = match (&self.words[s], data.words(s)) {
            (None, None) => return Ok((None, self.fill[s])),
            (None, Some(_)) => return other_kind("words"),
            (Some(word), _) => word,
        };
        let mut list: Vec<String> = match data.words(s) {
            Some(list) => list.to_vec(),
            None if column.iter().all(|v| v.is_nan()) => Vec::new(),
            None => match self.words_of(s, column) {
                Some(list) => list,
                None => return other_kind("numbers"),
            },
        };
        let place = list.iter().position(|w| w == word).unwrap_or(list.len());
        if place == list.len() {
            list.push(word.clone());
        }
        Ok((Some(list.into()), place as f64))
    }

    /// New rows whose words all look like numbers were read as numbers: puts the places of these words in their
    /// stead, and gives the words. `None` where those of the fit are not known by their values.
    fn words_of(&self, s: usize, column: &mut ArrayViewMut1<f64>) -> Option<Vec<String>> {
        let mut list = self.lists.get(s)?.clone()?;
        let mut known = by_value(&list)?;
        for v in column.iter_mut().filter(|v| !v.is_nan()) {
            let place = *known.entry(bits(*v)).or_insert_with(|| {
                list.push(v.to_string());
                list.len() - 1
            });
            *v = place as f64;
        }
        Some(list)
    }
}

impl Fitted for Filled {
    fn apply(&self, data: &Data) -> Result<Data> {
        if [data.d(), self.words.len()] != [self.fill.len(); 2] {
            let fitted = format!("{} features", self.fill.len());
            return Err(misfit("impute_missing", fitted, data.d()));
        }
        let mut x: Array2<f64> = data.to_dense();
        let mut words = Vec::with_capacity(data.d());
        for (s, mut column) in x.columns_mut().into_iter().enumerate() {
            let (list, fill) = self.of_column(s, data, &mut column)?;
            column.mapv_inplace(|v| if v.is_nan() { fill } else { v });
            words.push(list);
        }
        Data::table(x, words)
    }

    fn of_other_kind(&self, data: &Data) -> Vec<usize> {
        let list = |s: usize| self.lists.get(s).and_then(Option::as_ref);
        let numeric = |s: usize| list(s).is_some_and(|list| by_value(list).is_some());
        let words = self.words.iter().enumerate();
        let fitted: Vec<_> = words.map(|(s, word)| word.as_ref().map(|_| numeric(s))).collect();
        of_other_kind(data, &fitted)
    }

    fn saved(&self) -> Option<Value> {
        kept(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mustlink_core::run;
    use ndarray::array;

    const GAP: f64 = f64::NAN;

    fn filled(numbers: Fill, data: Data) -> Result<(Data, Vec<String>)> {
        let ctx = Context::new(1);
        let steps: [Box<dyn Transform>; 1] = [Box::new(ImputeMissing { numbers })];
        let made = run::transform(&steps, &Problem::new(data), &ctx)?;
        Ok((made.problem.data, ctx.warnings()))
    }

    #[test]
    fn by_hand() {
        let x = array![[1.0, 4.0], [GAP, 5.0], [2.0, GAP], [9.0, 6.0]];
        let table = || Data::table(x.clone(), vec![None, None]).unwrap();
        let at = |numbers, row: usize, col: usize| {
            filled(numbers, table()).unwrap().0.as_array().unwrap()[[row, col]]
        };
        assert_eq!((at(Fill::Mean, 1, 0), at(Fill::Mean, 2, 1)), (4.0, 5.0));
        assert_eq!((at(Fill::Median, 1, 0), at(Fill::Zero, 1, 0)), (2.0, 0.0));
        let (data, warnings) = filled(Fill::Mean, table()).unwrap();
        assert_eq!(data.kind(), DataKind::Dense);
        assert_eq!(data.to_dense().row(0).to_vec(), [1.0, 4.0]);
        assert_eq!(warnings, ["transforms[0]: 2 missing values of 8 were filled in"]);
    }

    #[test]
    fn a_constant_column_stays_constant() {
        // Six times 0.1 / 6 is not 0.1.
        let x = Array2::from_shape_fn((7, 1), |(i, _)| if i == 6 { GAP } else { 0.1 });
        let (data, _) = filled(Fill::Mean, Data::table(x, vec![None]).unwrap()).unwrap();
        assert!(data.to_dense().iter().all(|v| *v == 0.1));
    }

    #[test]
    fn the_most_frequent_word_and_the_first_of_equals() {
        let list = || Some(["blue", "green", "red"].map(String::from).into());
        let x = array![[2.0, 1.0], [2.0, GAP], [0.0, 0.0], [GAP, GAP]];
        let data = Data::table(x, vec![list(), list()]).unwrap();
        let (data, _) = filled(Fill::Mean, data).unwrap();
        assert_eq!(data.kind(), DataKind::Table);
        let x = data.to_dense();
        assert_eq!((x[[3, 0]], x[[1, 1]], x[[3, 1]]), (2.0, 0.0, 0.0));
    }

    #[test]
    fn other_objects_have_words_of_their_own() {
        let data = |x: Array2<f64>, words: &[&str]| {
            let list: Vec<String> = words.iter().map(|w| w.to_string()).collect();
            Data::table(x, vec![(!words.is_empty()).then(|| list.into())]).unwrap()
        };
        let fit = data(array![[1.0], [1.0], [0.0], [GAP]], &["a", "b"]);
        let fitted = ImputeMissing { numbers: Fill::Mean };
        let fitted = fitted.fit(&Problem::new(fit), &Context::new(1)).unwrap();
        // The kept one, too.
        let kept = ImputeMissing::default().restore(&fitted.saved().unwrap()).unwrap();
        let read = |data: &Data, i: usize| match data.words(0) {
            Some(words) => words[data.to_dense()[[i, 0]] as usize].clone(),
            None => String::new(),
        };
        for fitted in [fitted, kept] {
            for (x, words) in [
                (array![[0.0], [GAP]], &["b", "c"][..]),
                (array![[0.0], [GAP]], &["c"]),
                (array![[GAP], [GAP]], &[]),
            ] {
                let made = fitted.apply(&data(x.clone(), words)).unwrap();
                assert_eq!(read(&made, 1), "b", "{words:?}");
                assert_eq!(read(&made, 0), *words.first().unwrap_or(&"b"));
            }
            let numbers = data(array![[3.0], [GAP]], &[]);
            let message = fitted.apply(&numbers).unwrap_err().to_string();
            assert!(message.contains("feature 0 contains numbers"), "{message}");
        }
    }

    #[test]
    fn words_that_look_like_numbers_are_known_by_their_values() {
        let words: Words = ["1", "2.0", "many"].map(String::from).into();
        let x = array![[0.0], [0.0], [1.0], [2.0], [GAP]];
        let problem = Problem::new(Data::table(x, vec![Some(words)]).unwrap());
        let fitted = ImputeMissing::default().fit(&problem, &Context::new(1)).unwrap();
        let kept = ImputeMissing::default().restore(&fitted.saved().unwrap()).unwrap();
        // A file of these alone holds no word that is not a number.
        let x = array![[2.0], [1.0], [7.0], [GAP], [7.0]];
        let numbers = Data::table(x, vec![None]).unwrap();
        for fitted in [fitted, kept] {
            let made = fitted.apply(&numbers).unwrap();
            let (words, places) = (made.words(0).unwrap(), made.to_dense());
            let read: Vec<&str> = (0..5).map(|i| &*words[places[[i, 0]] as usize]).collect();
            assert_eq!(read, ["2.0", "1", "7", "1", "7"]);
        }
    }

    #[test]
    fn a_column_of_gaps_is_named() {
        let data = Data::table(array![[1.0, GAP], [2.0, GAP]], vec![None, None]).unwrap();
        let message = filled(Fill::Mean, data).unwrap_err().to_string();
        assert!(message.contains("feature 1") && message.contains("--ignore"), "{message}");
    }
}
