//! No method does worse with correct answers than without any, but for those that are named here.

use std::collections::BTreeMap;

use super::atlas::{InDraws, draws, hold};
use super::chances::short;

/// Methods whose mean over the sets falls by more than its standard error. The manual says why.
const WORSE: [&str; 0] = [];

/// A fall below this on a set is not worth a word.
const SMALL: f64 = 0.02;

/// The gain of a method on each set by its answers, and the number of draws in which it loses there.
struct Gains {
    without: Vec<f64>,
    with: Vec<f64>,
    falls_on: Vec<String>,
}

impl Gains {
    /// The mean gain over the sets, and its standard error.
    fn mean(&self) -> (f64, f64) {
        let gains: Vec<f64> = self.with.iter().zip(&self.without).map(|(w, o)| w - o).collect();
        let n = gains.len() as f64;
        let mean = gains.iter().sum::<f64>() / n;
        let squares: f64 = gains.iter().map(|g| (g - mean).powi(2)).sum();
        (mean, (squares / (n - 1.0) / n).sqrt())
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// A refused draw counts 0.
fn values(draws: &InDraws) -> Vec<f64> {
    draws.values().map(|ari| ari.unwrap_or(0.0)).collect()
}

fn gains() -> BTreeMap<String, Gains> {
    let (without, with) =
        (draws("with-and-without.csv", "0"), draws("with-and-without.csv", "100"));
    let sets = |method: &String| {
        let mut gains = Gains { without: vec![], with: vec![], falls_on: vec![] };
        for (set, alone) in &without[method] {
            let (alone, told) = (values(alone), values(&with[method][set]));
            assert_eq!(alone.len(), told.len(), "{method} on {set}");
            let falls = alone.iter().zip(&told).all(|(alone, told)| told < alone);
            if falls && mean(&told) < mean(&alone) - SMALL {
                gains.falls_on.push(format!("{set} ({})", signed(mean(&told) - mean(&alone))));
            }
            gains.without.push(mean(&alone));
            gains.with.push(mean(&told));
        }
        gains
    };
    without.keys().map(|method| (method.clone(), sets(method))).collect()
}

fn signed(number: f64) -> String {
    let sign = if number < 0.0 { "−" } else { "+" };
    format!("{sign}{}", short(number.abs(), 3))
}

#[test]
fn right_answers_make_no_method_worse() {
    let worse: Vec<String> = gains()
        .into_iter()
        .filter(|(_, gains)| {
            let (mean, error) = gains.mean();
            mean < -error
        })
        .map(|(method, _)| method)
        .collect();
    assert_eq!(worse, WORSE);
}

#[test]
fn the_table_with_and_without_answers_is_current() {
    let mut rows: Vec<(String, Gains)> = gains().into_iter().collect();
    rows.sort_by(|a, b| a.1.mean().0.total_cmp(&b.1.mean().0));
    let mut table = String::from(
        "| 100 correct answers | without | with | gain | falls on |\n|---|---|---|---|---|\n",
    );
    for (method, gains) in rows {
        let (gain, error) = gains.mean();
        table += &format!(
            "| `{method}` | {} | {} | {} ± {} | {} |\n",
            short(mean(&gains.without), 3).replace('-', "−"),
            short(mean(&gains.with), 3).replace('-', "−"),
            signed(gain),
            short(error, 3),
            gains.falls_on.join(", "),
        );
    }
    hold("| 100 correct answers |", &table.replace(" |  |\n", " | |\n"));
}
