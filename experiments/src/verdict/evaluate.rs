//! The value of a formula on the results of an experiment.
//!
//! `ari('pck')` is the learning curve of a method under a metric (or another number of a row);
//! `last`, `at`, `area` make of a curve one value per cell, paired between methods; `low`, `high`
//! make of those one number.

use std::collections::BTreeMap;

use mustlink_core::text::count;

use super::arithmetic::{alone, combine, divided, in_common};
use super::parse::{Expression, Formula, Operator};
use super::value::{CurveValues, EvalError, Sample, Value, Valued, areas, no_data, number, wrong};
use crate::statistics::multiple::holm;
use crate::statistics::paired::signed_rank;
use crate::statistics::several::aligned;
use crate::statistics::{Summary, Unit, log_log_slope, mean_height, one_sided_confidence};

/// The results of one data set.
#[derive(Debug, Clone, Default)]
pub struct SetResults {
    /// Its name.
    pub id: String,
    /// Objects.
    pub n: usize,
    /// Features.
    pub d: usize,
    /// Classes, where they are known.
    pub classes: Option<usize>,
    /// Curves by column and method.
    pub curves: BTreeMap<(String, String), CurveValues>,
}

/// The results that a formula uses.
#[derive(Debug, Clone)]
pub struct Results {
    /// One for each data set.
    pub sets: Vec<SetResults>,
    /// Confidence of intervals.
    pub level: f64,
    /// Unit that counts as one observation of a mean and its interval.
    pub unit: Unit,
    /// Test objects per training object; absent when nothing is held back.
    pub held_back: Option<f64>,
}

impl Results {
    /// The observations of a sample: the cells themselves, or the means over the folds of each repeat.
    fn units(&self, sample: &Sample) -> Vec<f64> {
        if self.unit == Unit::Fold {
            return sample.values().copied().collect();
        }
        let mut by_repeat: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for (&(repeat, _), &value) in sample {
            by_repeat.entry(repeat).or_default().push(value);
        }
        by_repeat.values().map(|v| v.iter().sum::<f64>() / v.len() as f64).collect()
    }

    fn summary(&self, sample: &Sample) -> Result<Summary, EvalError> {
        Summary::of(&self.units(sample), self.level)
            .map_or_else(|| no_data("no cell has a value"), Ok)
    }
}

/// Value of a condition, with the comparisons in it: `0.83 > 0.81`.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// True if the condition holds.
    pub holds: bool,
    /// The comparisons in the condition, with their numbers.
    pub numbers: Vec<String>,
}

impl Formula {
    /// Evaluates the condition, on one data set or (without) on all.
    pub fn judge(&self, results: &Results, set: Option<usize>) -> Result<Judged, EvalError> {
        self.judged(Scope { results, set, whole: false })
    }

    /// Evaluates the condition on all data sets, each of which must have a value.
    pub fn judge_all(&self, results: &Results) -> Result<Judged, EvalError> {
        self.judged(Scope { results, set: None, whole: true })
    }

    fn judged(&self, scope: Scope<'_>) -> Result<Judged, EvalError> {
        let mut numbers = Vec::new();
        match scope.value(&self.root, &mut numbers)? {
            Value::Truth(holds) => Ok(Judged { holds, numbers }),
            other => wrong("a claim", "true or false", &other),
        }
    }

    /// The number, with the interval of its mean where it is one over cells.
    pub fn number(
        &self,
        results: &Results,
        set: Option<usize>,
    ) -> Result<(f64, Option<(f64, f64)>), EvalError> {
        match (Scope { results, set, whole: false }).value(&self.root, &mut Vec::new())? {
            Value::Number(x) => Ok((x, None)),
            Value::Sample(s) => {
                let summary = results.summary(&s)?;
                Ok((summary.mean, summary.interval()))
            }
            other => wrong("a printed number", "a number", &other),
        }
    }
}

/// A number as people read it.
pub fn shown(x: f64) -> String {
    match x.abs() {
        a if x == x.round() && a < 1e15 => format!("{x:.0}"),
        a if a >= 100.0 => format!("{x:.1}"),
        a if a >= 0.001 => format!("{x:.4}"),
        _ => format!("{x:.3e}"),
    }
}

fn slope(points: &[(f64, f64)]) -> Valued {
    number(log_log_slope(points), "a slope needs two points above 0")
}

/// Scope of a formula: one data set, or (without) all together.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub results: &'a Results,
    pub set: Option<usize>,
    /// True if a data set without a value is missing, not passed over.
    pub whole: bool,
}

impl Scope<'_> {
    fn set(&self, what: &str) -> Result<&SetResults, EvalError> {
        match self.set {
            Some(set) => Ok(&self.results.sets[set]),
            None => Err(EvalError::Wrong(format!(
                "{what} is of one data set; put it into count_sets, mean_sets, in_set, …"
            ))),
        }
    }

    /// The value of an expression; the comparisons in it go to `notes`.
    pub fn value(&self, expression: &Expression, notes: &mut Vec<String>) -> Valued {
        match expression {
            Expression::Number(x) => Ok(Value::Number(*x)),
            Expression::Text(t) => Err(EvalError::Wrong(format!("'{t}' is not a value"))),
            Expression::Name(name) => {
                let set = self.set(name)?;
                match name.as_str() {
                    "n" => Ok(Value::Number(set.n as f64)),
                    "d" => Ok(Value::Number(set.d as f64)),
                    _ => number(set.classes.map(|k| k as f64), "no classes"),
                }
            }
            Expression::Not(a) => match self.value(a, notes)? {
                Value::Truth(t) => Ok(Value::Truth(!t)),
                other => wrong("not", "true or false", &other),
            },
            Expression::Minus(a) => {
                combine(Operator::Times, Value::Number(-1.0), self.value(a, notes)?)
            }
            Expression::Binary(operator, a, b) => {
                // Both sides are worked out, so that all numbers are shown.
                let a = self.value(a, notes)?;
                let b = self.value(b, notes)?;
                let note = alone(&a, &b);
                notes.extend(note.filter(|note| !notes.contains(note)));
                match operator {
                    Operator::Or | Operator::And => match (a, b) {
                        (Value::Truth(a), Value::Truth(b)) => {
                            let either = *operator == Operator::Or;
                            Ok(Value::Truth(if either { a || b } else { a && b }))
                        }
                        (Value::Truth(_), other) | (other, _) => {
                            wrong(operator.symbol(), "true or false", &other)
                        }
                    },
                    Operator::Less
                    | Operator::AtMost
                    | Operator::More
                    | Operator::AtLeast
                    | Operator::Equal
                    | Operator::Other => {
                        // Means of other cells than those of the rival could turn the sign.
                        let mut sides = [a, b];
                        in_common(&mut sides);
                        let [a, b] = sides;
                        let (x, y) =
                            (self.plain(operator.symbol(), a)?, self.plain(operator.symbol(), b)?);
                        notes.push(format!("{} {} {}", shown(x), operator.symbol(), shown(y)));
                        Ok(Value::Truth(match operator {
                            Operator::Less => x < y,
                            Operator::AtMost => x <= y,
                            Operator::More => x > y,
                            Operator::AtLeast => x >= y,
                            Operator::Equal => x == y,
                            _ => x != y,
                        }))
                    }
                    Operator::Over => divided(combine(*operator, a, b)?, notes),
                    _ => combine(*operator, a, b),
                }
            }
            Expression::Call(name, arguments) => self.call(name, arguments, notes),
        }
    }

    /// A number, or the mean of a value per cell.
    fn plain(&self, name: &str, value: Value) -> Result<f64, EvalError> {
        match value {
            Value::Number(x) => Ok(x),
            Value::Sample(s) => Ok(self.results.summary(&s)?.mean),
            other => wrong(name, "numbers", &other),
        }
    }

    fn curve_of(&self, column: &str, method: &str) -> Valued {
        let set = self.set(column)?;
        let curve = set.curves.get(&(column.to_string(), method.to_string()));
        match curve.filter(|c| c.iter().any(|(_, sample)| !sample.is_empty())) {
            Some(curve) => Ok(Value::Curve(curve.clone())),
            None => no_data(format!("{column} of {method}")),
        }
    }

    fn line(&self, name: &str, value: Value) -> Result<Vec<(f64, f64)>, EvalError> {
        match value {
            Value::Line(line) => Ok(line),
            Value::Curve(curve) => curve
                .iter()
                .filter(|(_, sample)| !sample.is_empty())
                .map(|(p, sample)| Ok((*p, self.results.summary(sample)?.mean)))
                .collect(),
            other => wrong(name, "a curve", &other),
        }
    }

    fn call(&self, name: &str, arguments: &[Expression], notes: &mut Vec<String>) -> Valued {
        if name.ends_with("_sets") || name == "sets" {
            return self.over_sets(name, arguments, notes);
        }
        match (name, arguments) {
            ("in_set", [Expression::Text(id), inner]) => {
                let place = self.results.sets.iter().position(|s| s.id == *id);
                let Some(place) = place else { return no_data(id.clone()) };
                return Scope { set: Some(place), ..*self }.value(inner, notes);
            }
            ("curve", [Expression::Text(column), Expression::Text(method)]) => {
                return self.curve_of(column, method);
            }
            (column, [Expression::Text(method)]) => return self.curve_of(column, method),
            _ => {}
        }
        let mut values = arguments.iter().map(|a| self.value(a, notes));
        let Some(value) = values.next().transpose()? else {
            return Err(EvalError::Wrong(format!("{name} takes an argument")));
        };
        let mut numbers = Vec::new();
        for more in values {
            numbers.push(self.plain(name, more?)?);
        }
        match (name, value) {
            ("spread", value) => {
                numbers.insert(0, self.plain(name, value)?);
                let sd = Summary::of(&numbers, self.results.level).and_then(|s| s.sd);
                number(sd, "one number has no spread")
            }
            ("between", Value::Curve(curve)) => Ok(Value::Curve(part(name, &numbers, curve)?)),
            ("between", Value::Line(line)) => Ok(Value::Line(part(name, &numbers, line)?)),
            ("first" | "last" | "at", Value::Curve(curve)) => {
                Ok(Value::Sample(part(name, &numbers, curve)?.swap_remove(0).1))
            }
            ("first" | "last" | "at", Value::Line(line)) => {
                Ok(Value::Number(part(name, &numbers, line)?[0].1))
            }
            ("area", Value::Curve(curve)) => match areas(&curve) {
                none if none.is_empty() => no_data("an area needs two points"),
                areas => Ok(Value::Sample(areas)),
            },
            ("area", Value::Line(line)) => number(mean_height(&line), "an area needs two points"),
            ("means", value) => Ok(Value::Line(self.line(name, value)?)),
            ("max" | "min" | "average", value) => {
                let line = self.line(name, value)?;
                let heights = line.iter().map(|p| p.1);
                let height = match name {
                    "max" => heights.reduce(f64::max),
                    "min" => heights.reduce(f64::min),
                    _ => (!line.is_empty()).then(|| heights.sum::<f64>() / line.len() as f64),
                };
                number(height, "a curve without points")
            }
            ("slope", value) => slope(&self.line(name, value)?),
            ("abs", value) => absolute(value),
            ("median" | "sd" | "low" | "high", Value::Sample(sample)) => {
                let s = self.results.summary(&sample)?;
                let statistic = match name {
                    "median" => Some(s.median),
                    "sd" => s.sd,
                    "low" => s.interval().map(|ends| ends.0),
                    _ => s.interval().map(|ends| ends.1),
                };
                number(statistic, "one cell has no spread")
            }
            ("confidence" | "confidence_resampled", value) => self.confidence(name, value),
            (name, other) => wrong(name, "something else", &other),
        }
    }

    /// The highest level at which a test finds some point above 0.
    fn confidence(&self, name: &str, value: Value) -> Valued {
        // The correction is one for cells that share training objects.
        let confidence = |s: &Sample| {
            let (observed, correction) = match name {
                "confidence" => (self.results.units(s), 0.0),
                _ => (s.values().copied().collect(), self.results.held_back.unwrap_or(0.0)),
            };
            // Of one there is no test: that none rejects is no finding.
            (observed.len() > 1).then(|| one_sided_confidence(&observed, correction))
        };
        let highest = match value {
            Value::Sample(s) => confidence(&s),
            Value::Curve(curve) => curve.iter().filter_map(|(_, s)| confidence(s)).reduce(f64::max),
            other => return wrong(name, "a curve or a value per cell", &other),
        };
        number(highest, "a test needs two observations")
    }

    fn over_sets(&self, name: &str, arguments: &[Expression], notes: &mut Vec<String>) -> Valued {
        if name == "sets" {
            return Ok(Value::Number(self.results.sets.len() as f64));
        }
        if name.starts_with("holm") {
            return self.against_the_first(name, arguments, notes);
        }
        let Some(inner) = arguments.first() else {
            return Err(EvalError::Wrong(format!("{name} takes an argument")));
        };
        let mut truths = Vec::new();
        let mut values = Vec::new();
        for (place, set) in self.results.sets.iter().enumerate() {
            let mut inside = Vec::new();
            let value = Scope { set: Some(place), ..*self }.value(inner, &mut inside);
            match (name, value) {
                (_, Err(EvalError::NoData(what))) if self.whole => {
                    return no_data(format!("{}: {what}", set.id));
                }
                (_, Err(EvalError::NoData(_))) => continue,
                (_, Err(e)) => return Err(e),
                ("count_sets", Ok(Value::Truth(t))) => truths.push(t),
                ("count_sets", Ok(other)) => return wrong(name, "true or false", &other),
                (_, Ok(value)) => {
                    let x = self.plain(name, value)?;
                    inside.push(shown(x));
                    values.push((set.n as f64, x));
                }
            }
            notes.push(format!("{}: {}", set.id, inside.join(", ")));
        }
        if name == "count_sets" {
            // None of no set at all is no count.
            return match truths.len() {
                0 => no_data("no data set has a value"),
                _ => Ok(Value::Number(truths.iter().filter(|t| **t).count() as f64)),
            };
        }
        let mut all: Vec<f64> = values.iter().map(|v| v.1).collect();
        if name == "wilcoxon_sets" {
            return match all.len() {
                0 | 1 => no_data("a test needs two data sets"),
                _ => Ok(Value::Number(signed_rank(&all).p)),
            };
        }
        mustlink_core::order::sort_values(&mut all);
        let Some(s) = Summary::of(&all, self.results.level) else { return no_data("no data set") };
        match name {
            "mean_sets" => Ok(Value::Number(s.mean)),
            "median_sets" => Ok(Value::Number(s.median)),
            _ => slope(&values),
        }
    }
}

impl Scope<'_> {
    /// The largest adjusted p of all arguments against the first, over the data sets that have them all.
    fn against_the_first(
        &self,
        name: &str,
        arguments: &[Expression],
        notes: &mut Vec<String>,
    ) -> Valued {
        let mut rows = Vec::new();
        for place in 0..self.results.sets.len() {
            let scope = Scope { set: Some(place), ..*self };
            let values = arguments.iter().map(|a| scope.value(a, &mut Vec::new()));
            let row = values.collect::<Result<Vec<Value>, EvalError>>().and_then(|mut values| {
                let dropped = in_common(&mut values);
                if dropped > 0 {
                    let set = &self.results.sets[place].id;
                    let values = count(dropped, "value");
                    notes.push(format!(
                        "{set}: {values} dropped, because another side has no value there"
                    ));
                }
                values.into_iter().map(|v| scope.plain(name, v)).collect()
            });
            match row {
                Ok(row) => rows.push(row),
                Err(EvalError::NoData(what)) if self.whole => {
                    return no_data(format!("{}: {what}", self.results.sets[place].id));
                }
                Err(EvalError::NoData(_)) => {}
                Err(e) => return Err(e),
            }
        }
        let Some(test) = aligned(&rows) else { return no_data("a test needs two data sets") };
        let printed = name == "holm_printed_sets";
        let tests = if printed { test.against_as_printed(0) } else { test.against(0) };
        let p = holm(&tests[1..].iter().map(|f| f.1).collect::<Vec<_>>());
        let shown: Vec<String> = p.iter().map(|p| shown(*p)).collect();
        notes.push(format!("p {}", shown.join(", ")));
        Ok(Value::Number(p.into_iter().fold(0.0, f64::max)))
    }
}

/// The absolute value, point by point.
fn absolute(value: Value) -> Valued {
    match value {
        Value::Truth(_) => wrong("abs", "a number or a curve", &value),
        value => Ok(value.map(f64::abs)),
    }
}

/// The requested points of a curve; at least one.
fn part<T>(
    name: &str,
    numbers: &[f64],
    mut points: Vec<(f64, T)>,
) -> Result<Vec<(f64, T)>, EvalError> {
    match (name, numbers) {
        ("first", _) => points.truncate(1),
        ("last", _) => points = points.pop().into_iter().collect(),
        ("at", [p]) => points.retain(|point| point.0 == *p),
        (_, [from, to]) => points.retain(|point| (*from..=*to).contains(&point.0)),
        _ => {}
    }
    if points.is_empty() { no_data("no such point of the curve") } else { Ok(points) }
}
