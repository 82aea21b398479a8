//! Scales of axes, and their round numbers.

/// From numbers to shares of a length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    /// The number at the left or lower end.
    pub low: f64,
    /// The number at the other end; the smaller one where the axis runs backwards.
    pub high: f64,
    pub logarithmic: bool,
}

impl Scale {
    /// A linear axis from `low` to `high`.
    pub fn linear(low: f64, high: f64) -> Scale {
        Scale { low, high, logarithmic: false }
    }

    /// A logarithmic axis from `low` to `high`, both above 0.
    pub fn logarithmic(low: f64, high: f64) -> Scale {
        Scale { low, high, logarithmic: true }
    }

    /// 0 at the low end, 1 at the high one.
    pub fn share(self, v: f64) -> f64 {
        let by = |v: f64| if self.logarithmic { v.log10() } else { v };
        (by(v) - by(self.low)) / (by(self.high) - by(self.low))
    }
}

/// The smallest and the largest of some numbers.
pub(crate) fn span(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let ends = (f64::INFINITY, f64::NEG_INFINITY);
    values.into_iter().fold(ends, |(low, high), v| (low.min(v), high.max(v)))
}

/// About `wanted` round numbers that enclose both ends.
pub(crate) fn ticks(low: f64, high: f64, wanted: usize) -> Vec<f64> {
    let span = if high > low { high - low } else { low.abs().max(1.0) * 0.1 };
    let raw = span / wanted as f64;
    let power = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .map(|f| f * power)
        .find(|s| *s >= raw * 0.999)
        .unwrap_or(power * 10.0);
    let first = (low / step + 1e-9).floor() as i64;
    let last = (high / step - 1e-9).ceil().max(first as f64 + 1.0) as i64;
    (first..=last).map(|i| i as f64 * step).collect()
}

/// Powers of ten between two numbers, both ends enclosed.
pub(crate) fn decades(low: f64, high: f64) -> Vec<f64> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    (first..=last.max(first + 1)).map(|e| 10f64.powi(e)).collect()
}

/// A tick with as many decimals as the distance to its neighbour needs.
pub(crate) fn number(v: f64, all: &[f64]) -> String {
    let step = all.windows(2).map(|w| w[1] - w[0]).fold(f64::INFINITY, f64::min);
    let decimals = (0..6).find(|&d| {
        let scaled = step * 10f64.powi(d);
        (scaled - scaled.round()).abs() < 1e-6 && scaled.round() >= 1.0
    });
    let text = format!("{v:.*}", decimals.unwrap_or(0) as usize);
    if text.starts_with('-') && v == 0.0 { text[1..].into() } else { text }
}

/// A power of ten, in few letters.
pub(crate) fn power(v: f64) -> String {
    if (0.001..10000.0).contains(&v) { v.to_string() } else { format!("{v:e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_enclose() {
        assert_eq!(ticks(0.0, 100.0, 10).len(), 11);
        let t = ticks(0.613, 0.944, 6);
        assert!(t[0] <= 0.613 && *t.last().unwrap() >= 0.944 && t.len() <= 9, "{t:?}");
        assert_eq!(number(0.65, &[0.6, 0.65]), "0.65");
        assert_eq!(number(20.0, &[0.0, 20.0]), "20");
        assert!(ticks(0.5, 0.5, 6).len() >= 2);
        assert_eq!(decades(0.02, 5.0), [0.01, 0.1, 1.0, 10.0]);
        assert_eq!(decades(1.0, 1.0), [1.0, 10.0]);
    }

    #[test]
    fn shares_follow_the_scale() {
        assert_eq!(Scale::linear(2.0, 4.0).share(3.5), 0.75);
        assert_eq!(Scale::linear(8.0, 0.0).share(2.0), 0.75);
        assert_eq!(Scale::logarithmic(0.01, 1.0).share(0.1), 0.5);
    }
}
