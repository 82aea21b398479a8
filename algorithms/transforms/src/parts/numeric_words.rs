//! Words of new rows that look like numbers and were read as numbers, and features that cannot be those of
//! the fit.

use std::collections::HashMap;

use mustlink_core::Data;

/// The places of the words that are numbers, by the bits of their values; `None` if no word is a number or two have
/// the same value.
pub(crate) fn by_value(words: &[String]) -> Option<HashMap<u64, usize>> {
    let mut places = HashMap::new();
    for (at, word) in words.iter().enumerate() {
        let value: Option<f64> = word.trim().parse().ok();
        let Some(value) = value.filter(|v| v.is_finite()) else { continue };
        if places.insert(bits(value), at).is_some() {
            return None;
        }
    }
    (!places.is_empty()).then_some(places)
}

/// The bits of a value in that table, in which 0 and -0 are one value.
pub(crate) fn bits(value: f64) -> u64 {
    (value + 0.0).to_bits()
}

/// The features in which all rows are of the other kind: numbers that are not words of a column of words, or words in
/// a column of numbers. `fitted` shows for columns of words whether numbers may replace them.
pub(crate) fn of_other_kind(data: &Data, fitted: &[Option<bool>]) -> Vec<usize> {
    if data.d() != fitted.len() {
        return Vec::new();
    }
    let x = data.to_dense();
    let other = |&s: &usize| match (fitted[s], data.words(s)) {
        (Some(numeric), None) => !numeric && x.column(s).iter().any(|v| !v.is_nan()),
        (words, own) => words.is_none() && own.is_some(),
    };
    (0..data.d()).filter(other).collect()
}
