//! Which word is meant where all words of new rows look like numbers, and were read as such?

use std::collections::HashMap;

/// The places of the words that are numbers, by the bits of their values; `None` where there are none or two have
/// one value.
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

/// Those of a value in that table, in which 0 and -0 are one.
pub(crate) fn bits(value: f64) -> u64 {
    (value + 0.0).to_bits()
}
