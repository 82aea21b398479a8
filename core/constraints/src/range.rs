//! The range of a number.

use serde_json::Value;

/// The range that is declared for a number; `None`: without that bound.
#[derive(Debug, Clone, Copy, Default)]
pub struct Range {
    /// The smallest that is legal.
    pub min: Option<f64>,
    /// The largest that is legal.
    pub max: Option<f64>,
    /// Value that it must exceed.
    pub above: Option<f64>,
    /// Value that it must stay below.
    pub below: Option<f64>,
    /// True if the word "auto" is allowed instead.
    pub auto: bool,
}

impl Range {
    /// Any number.
    pub const ANY: Range = Range { min: None, max: None, above: None, below: None, auto: false };

    /// This range, and the bound of `inner` on a side where this has none.
    pub fn over(&self, inner: &Range) -> Range {
        let low = if self.min.or(self.above).is_some() { self } else { inner };
        let high = if self.max.or(self.below).is_some() { self } else { inner };
        Range { min: low.min, max: high.max, above: low.above, below: high.below, auto: self.auto }
    }

    /// True if `x` lies in it.
    pub fn holds(&self, x: f64) -> bool {
        self.min.is_none_or(|b| x >= b)
            && self.max.is_none_or(|b| x <= b)
            && self.above.is_none_or(|b| x > b)
            && self.below.is_none_or(|b| x < b)
    }

    /// The range in words, such as "between 0 and 1". Absent if every number is legal. A largest number that only keeps
    /// values computable is not part of it.
    pub fn words(&self) -> Option<String> {
        let high = self.max.filter(|&b| b < CEILING);
        match (self.min, self.above, high, self.below) {
            (Some(a), None, Some(b), None) => {
                Some(format!("between {} and {}", plain(a), plain(b)))
            }
            (low, above, high, below) => {
                let bound =
                    |word, bound: Option<f64>| bound.map(|b| format!("{word} {}", plain(b)));
                let low = bound("at least", low).or(bound("above", above));
                let high = bound("at most", high).or(bound("below", below));
                let both: Vec<String> = low.into_iter().chain(high).collect();
                (!both.is_empty()).then(|| both.join(" and "))
            }
        }
    }

    /// The range that `x` must be in, in words. Absent if `x` is legal.
    pub fn refusal(&self, x: f64) -> Option<String> {
        let ceiling = self.max.filter(|&b| b >= CEILING && x > b);
        let words = || ceiling.map(|b| format!("at most {}", plain(b))).or_else(|| self.words());
        if self.holds(x) { None } else { words() }
    }

    /// A number of this kind in the range: "an integer, at least 1".
    pub fn number(&self, kind: &str) -> String {
        match self.words() {
            Some(words) if words.starts_with("at ") => format!("{kind}, {words}"),
            Some(words) => format!("{kind} {words}"),
            None => kind.into(),
        }
    }
}

/// A largest number from which on people need not read of it.
const CEILING: f64 = 1e9;

/// A number as people write it: 3 for 3.0.
pub fn plain(x: f64) -> String {
    if x.fract() == 0.0 && x.abs() < 1e16 { format!("{x:.0}") } else { Value::from(x).to_string() }
}
