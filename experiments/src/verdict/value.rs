//! The values of the parts of a formula.

use std::collections::BTreeMap;

use crate::statistics::mean_height;

/// One value per cell, by (repeat, fold).
pub type Sample = BTreeMap<(usize, usize), f64>;
/// Curve points in order.
pub type CurveValues = Vec<(f64, Sample)>;

/// Value of a part of a formula.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Truth(bool),
    Number(f64),
    Sample(Sample),
    Curve(CurveValues),
    /// A curve of numbers.
    Line(Vec<(f64, f64)>),
}

impl Value {
    /// In words, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Truth(_) => "true or false",
            Value::Number(_) => "a number",
            Value::Sample(_) => "a value per cell",
            Value::Curve(_) | Value::Line(_) => "a curve (take last, at, area, …)",
        }
    }

    /// `f` of each number in it.
    pub fn map(self, f: impl Fn(f64) -> f64) -> Value {
        let of = |s: Sample| -> Sample { s.into_iter().map(|(c, x)| (c, f(x))).collect() };
        match self {
            Value::Truth(t) => Value::Truth(t),
            Value::Number(x) => Value::Number(f(x)),
            Value::Sample(s) => Value::Sample(of(s)),
            Value::Line(l) => Value::Line(l.into_iter().map(|(p, x)| (p, f(x))).collect()),
            Value::Curve(c) => Value::Curve(c.into_iter().map(|(p, s)| (p, of(s))).collect()),
        }
    }
}

/// Reason why a value is missing.
#[derive(Debug, Clone, PartialEq)]
pub enum EvalError {
    /// Results are missing.
    NoData(String),
    /// The formula makes no sense.
    Wrong(String),
}

/// A value, or the reason why it is missing.
pub(super) type Valued = Result<Value, EvalError>;

/// A formula that makes no sense: the expected and the actual value.
pub(super) fn wrong<T>(name: &str, wanted: &str, got: &Value) -> Result<T, EvalError> {
    Err(EvalError::Wrong(format!("{name} takes {wanted}, got {}", got.kind())))
}

/// A missing value, and the reason.
pub(super) fn no_data<T>(what: impl Into<String>) -> Result<T, EvalError> {
    Err(EvalError::NoData(what.into()))
}

/// The number that was found, or the reason why it is missing.
pub(super) fn number(found: Option<f64>, lacks: &str) -> Valued {
    found.map_or_else(|| no_data(lacks), |x| Ok(Value::Number(x)))
}

/// The mean height of the curve of each cell that has all points; the area of a curve with holes would be that of
/// another curve.
pub fn areas(curve: &[(f64, Sample)]) -> Sample {
    let Some((_, first)) = curve.first() else { return Sample::new() };
    let area = |key: &(usize, usize)| {
        let points: Option<Vec<(f64, f64)>> =
            curve.iter().map(|(p, sample)| Some((*p, *sample.get(key)?))).collect();
        mean_height(&points?)
    };
    first.keys().filter_map(|key| Some((*key, area(key)?))).collect()
}
