//! Conversion of words to numbers: one column for each word.

use std::collections::{HashMap, HashSet};

use mustlink_core::data::Words;
use mustlink_core::prelude::*;
use ndarray::Array2;

use crate::parts::numeric_words::{bits, by_value, of_other_kind};
use crate::parts::refused::misfit;

/// Turns each column of words into one column of 0 and 1 per word.
///
/// # Method
/// A row has 1 in the column of its word and 0 in those of the others. It has 0 in all of them if the word is
/// missing, or did not occur when the transform was fitted. Columns of numbers stay as they are, and the order of
/// columns is kept. Two rows with different words are √2 apart, whatever the words are. If columns of numbers have
/// another scale, add `z_score` or `min_max` after it. A column of numbers with a cell that is not a number is
/// rejected; list columns whose numbers are codes in `columns`.
/// # Input and output
/// n × d, a table or dense; n × (columns of numbers + words), dense if no number is missing (`impute_missing`). New
/// columns are named by column and word: `colour_red`.
/// # Errors
/// `Feature` for a column of more than `max_words` different words; `BadParam` for `columns` in data without names.
/// # Cost and randomness
/// O(n · columns made); not random.
#[options]
pub struct OneHot {
    /// Largest number of different words in a column. Columns with more are ids or text, not categories.
    #[option(default = 100, min = 1)]
    pub max_words: usize,
    /// Names of file columns that hold categories, so that their numbers are words too. In other columns numbers stay
    /// numbers.
    pub columns: Vec<String>,
}

#[plugin("one_hot")]
impl Transform for OneHot {
    fn fit(&self, problem: &Problem, _: &Context) -> Result<Box<dyn Fitted>> {
        Ok(Box::new(self.encoding(&problem.data)?))
    }

    fn properties(&self) -> TransformProperties {
        TransformProperties {
            accepts: vec![DataKind::Table, DataKind::Dense],
            ..TransformProperties::default()
        }
    }

    fn memory(&self, shape: &Shape) -> u64 {
        8 * shape.n as u64 * shape.d as u64 * (self.max_words.min(shape.n) as u64 + 1)
    }

    fn restore(&self, saved: &Value) -> Result<Box<dyn Fitted>> {
        restored::<Encoded>("one_hot", saved)
    }
}

impl OneHot {
    /// The columns that the words of `data` become.
    ///
    /// # Errors
    /// Returns the errors of the transform.
    pub(crate) fn encoding(&self, data: &Data) -> Result<Encoded> {
        let words: Vec<Option<Words>> = (0..data.d()).map(|s| data.words(s).cloned()).collect();
        // The reader of the file has already turned declared columns into words.
        if words.iter().flatten().count() < self.columns.len() {
            let legal = "columns of a file or a frame that is read with this option";
            return Err(Error::bad_param("columns", self.columns.join(", "), legal));
        }
        for (s, list) in words.iter().enumerate() {
            let Some(list) = list.as_ref().filter(|list| list.len() > self.max_words) else {
                continue;
            };
            return Err(Error::Feature {
                feature: s,
                message: format!(
                    "{} different words, such as \"{}\", are more than max_words = {}; leave the \
                     column out (--ignore), name it as ids (--id), or raise max_words",
                    list.len(),
                    list[0],
                    self.max_words
                ),
            });
        }
        let words = words.into_iter().map(|list| list.map(|list| list.to_vec())).collect();
        Ok(Encoded { words })
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Encoded {
    /// Per column its words, if it holds words.
    pub words: Vec<Option<Vec<String>>>,
}

impl Encoded {
    /// The first column that each old one becomes, and the number of columns.
    fn places(&self) -> (Vec<usize>, usize) {
        let (mut starts, mut next) = (Vec::with_capacity(self.words.len()), 0);
        for list in &self.words {
            starts.push(next);
            next += list.as_ref().map_or(1, |list| list.len());
        }
        (starts, next)
    }

    /// The columns, 1 where a row has the word; errors are those of the transform `tag`.
    pub fn columns(&self, data: &Data, tag: &str) -> Result<Array2<f64>> {
        let d = self.words.len();
        let other_kind = |s| {
            let message = format!("feature {s} contains words in only one of the two data sets");
            Err(Error::Plugin { tag: tag.into(), message })
        };
        if data.d() != d {
            return Err(misfit(tag, format_args!("{d} features"), data.d()));
        }
        let (starts, columns) = self.places();
        let x = data.to_dense();
        let mut out: Array2<f64> = Array2::zeros((data.n(), columns));
        for (s, list) in self.words.iter().enumerate() {
            match (list, data.words(s)) {
                (None, None) => out.column_mut(starts[s]).assign(&x.column(s)),
                (Some(list), Some(own)) => {
                    let known: HashMap<&str, usize> =
                        list.iter().map(String::as_str).zip(0..).collect();
                    let to: Vec<Option<usize>> =
                        own.iter().map(|word| known.get(word.as_str()).copied()).collect();
                    for (i, v) in x.column(s).iter().enumerate().filter(|(_, v)| !v.is_nan()) {
                        if let Some(at) = to[*v as usize] {
                            out[[i, starts[s] + at]] = 1.0;
                        }
                    }
                }
                (Some(list), None) => {
                    let known = by_value(list);
                    for (i, v) in x.column(s).iter().enumerate().filter(|(_, v)| !v.is_nan()) {
                        let Some(known) = &known else { return other_kind(s) };
                        if let Some(at) = known.get(&bits(*v)) {
                            out[[i, starts[s] + at]] = 1.0;
                        }
                    }
                }
                (None, Some(_)) => return other_kind(s),
            }
        }
        Ok(out)
    }
}

impl Fitted for Encoded {
    fn apply(&self, data: &Data) -> Result<Data> {
        let made = self.columns(data, "one_hot")?;
        let columns = made.ncols();
        Data::table(made, vec![None; columns])
    }

    fn of_other_kind(&self, data: &Data) -> Vec<usize> {
        let numeric =
            |list: &Option<Vec<String>>| list.as_ref().map(|list| by_value(list).is_some());
        let fitted: Vec<_> = self.words.iter().map(numeric).collect();
        of_other_kind(data, &fitted)
    }

    fn unseen(&self, data: &Data) -> Vec<(usize, String)> {
        let mut unseen = Vec::new();
        if data.d() != self.words.len() {
            return unseen;
        }
        let x = data.to_dense();
        for (s, list) in self.words.iter().enumerate() {
            let Some(list) = list else { continue };
            if let Some(words) = data.words(s) {
                let known: HashSet<&String> = list.iter().collect();
                unseen.extend(words.iter().filter(|w| !known.contains(w)).map(|w| (s, w.clone())));
                continue;
            }
            // All words of these rows look like numbers, and were read as such.
            let mut known: HashSet<u64> =
                by_value(list).into_iter().flatten().map(|(value, _)| value).collect();
            for v in x.column(s).iter().filter(|v| !v.is_nan()) {
                if known.insert(bits(*v)) {
                    unseen.push((s, v.to_string()));
                }
            }
        }
        unseen
    }

    fn features(&self) -> Features {
        if self.words.iter().all(Option::is_none) {
            return Features::Same;
        }
        let mut parts = Vec::new();
        for (s, list) in self.words.iter().enumerate() {
            match list {
                Some(list) => parts.extend(list.iter().map(|word| (s, Some(word.clone())))),
                None => parts.push((s, None)),
            }
        }
        Features::Parts(parts)
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

    fn colours() -> Data {
        let words: Words = ["blue", "red"].map(String::from).into();
        let x = array![[7.0, 1.0, 3.0], [8.0, 0.0, GAP], [9.0, GAP, 4.0]];
        Data::table(x, vec![None, Some(words), None]).unwrap()
    }

    #[test]
    fn by_hand() {
        let steps: [Box<dyn Transform>; 1] =
            [Box::new(OneHot { max_words: 100, ..OneHot::default() })];
        let made = run::transform(&steps, &Problem::new(colours()), &Context::new(1)).unwrap();
        let data = made.problem.data;
        let x = data.to_dense();
        assert_eq!(x.row(0).to_vec(), [7.0, 0.0, 1.0, 3.0]);
        assert_eq!(x.row(2).to_vec(), [9.0, 0.0, 0.0, 4.0]);
        // The gap among the numbers is left to `impute_missing`.
        assert_eq!((data.kind(), x[[1, 3]].is_nan()), (DataKind::Table, true));
        let before = ["size", "colour", "n"].map(String::from);
        let names = ["size", "colour_blue", "colour_red", "n"];
        assert_eq!(made.lineage.features.names(&before, 4), names);
    }

    #[test]
    fn with_impute_missing_it_makes_dense_data_in_either_order() {
        let one: Box<dyn Transform> = Box::new(OneHot { max_words: 2, ..OneHot::default() });
        let other: Box<dyn Transform> =
            Box::new(crate::impute_missing::ImputeMissing { numbers: Default::default() });
        for steps in [[one.clone(), other.clone()], [other, one]] {
            let made = run::transform(&steps, &Problem::new(colours()), &Context::new(1)).unwrap();
            assert_eq!(made.problem.data.kind(), DataKind::Dense);
            assert_eq!(made.problem.data.to_dense()[[1, 3]], 3.5);
        }
    }

    #[test]
    fn words_that_were_not_there_before_are_none_of_them() {
        let fitted = OneHot { max_words: 2, ..OneHot::default() }
            .fit(&Problem::new(colours()), &Context::new(1));
        let fitted = fitted.unwrap();
        let green: Words = ["green".to_string()].into();
        let other = Data::table(array![[1.0, 0.0, 2.0]], vec![None, Some(green), None]).unwrap();
        let made = fitted.apply(&other).unwrap();
        assert_eq!(made.to_dense(), array![[1.0, 0.0, 0.0, 2.0]]);
        assert_eq!(fitted.unseen(&other), [(1, "green".to_string())]);
        assert_eq!(fitted.unseen(&colours()), []);
    }

    #[test]
    fn words_that_are_numbers_are_known_again() {
        let made = |words: &[&str], new: f64| {
            let of = |words: &[&str]| -> Words { words.iter().map(|w| w.to_string()).collect() };
            let x = Array2::from_shape_fn((words.len(), 1), |(i, _)| i as f64);
            let data = Data::table(x, vec![Some(of(words))]).unwrap();
            let fitted = OneHot { max_words: 9, ..OneHot::default() }
                .fit(&Problem::new(data), &Context::new(1))
                .unwrap();
            let new = Data::table(array![[new]], vec![None]).unwrap();
            fitted.apply(&new).map(|made| made.to_dense().row(0).to_vec())
        };
        assert_eq!(made(&["1", "2", "A"], 2.0).unwrap(), [0.0, 1.0, 0.0]);
        assert_eq!(made(&["1", "2", "A"], 3.0).unwrap(), [0.0, 0.0, 0.0]);
        let data =
            Data::table(array![[0.0], [1.0]], vec![Some(["2", "A"].map(String::from).into())]);
        let fitted = OneHot { max_words: 9, ..OneHot::default() }
            .fit(&Problem::new(data.unwrap()), &Context::new(1));
        let new = Data::table(array![[2.0], [3.5], [GAP], [3.5]], vec![None]).unwrap();
        assert_eq!(fitted.unwrap().unseen(&new), [(0, "3.5".to_string())]);
        // Which of two is meant, or whether this is the column at all, nobody knows.
        assert!(made(&["1", "01", "A"], 1.0).is_err() && made(&["A", "B"], 1.0).is_err());
    }

    #[test]
    fn too_many_words_are_no_categories() {
        let steps: [Box<dyn Transform>; 1] =
            [Box::new(OneHot { max_words: 1, ..OneHot::default() })];
        let refused = run::transform(&steps, &Problem::new(colours()), &Context::new(1));
        let message = refused.unwrap_err().to_string();
        assert!(message.contains("feature 1: 2 different words, such as \"blue\""), "{message}");
    }
}
