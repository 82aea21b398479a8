//! Sums, differences, products and quotients of two values.

use std::collections::BTreeSet;

use super::parse::Operator;
use super::value::{EvalError, Sample, Value, Valued, no_data};

fn paired(a: &Sample, b: &Sample, with: impl Fn(f64, f64) -> f64) -> Sample {
    a.iter().filter_map(|(key, x)| Some((*key, with(*x, *b.get(key)?)))).collect()
}

/// Items left out of a difference because one side of it has no value, if any.
pub(super) fn alone(a: &Value, b: &Value) -> Option<String> {
    let of = |s: &Sample, t: &Sample| {
        let both = s.keys().filter(|key| t.contains_key(key)).count();
        (s.len() + t.len() - 2 * both, s.len() + t.len() - both)
    };
    let (alone, all) = match (a, b) {
        (Value::Sample(s), Value::Sample(t)) => of(s, t),
        (Value::Curve(c), Value::Curve(e)) => {
            let points = c.iter().zip(e).map(|((_, s), (_, t))| of(s, t));
            points.max_by_key(|point| point.0)?
        }
        _ => return None,
    };
    (alone > 0).then(|| format!("{alone} of {all} pairs dropped: one side has no value"))
}

/// Leaves out the cells that one of these samples lacks, and says how many values these are; other values stay.
pub(super) fn in_common(values: &mut [Value]) -> usize {
    let lacks = |key: &(usize, usize)| {
        values.iter().any(|v| matches!(v, Value::Sample(s) if !s.contains_key(key)))
    };
    let cells = |v: &Value| -> Vec<(usize, usize)> {
        match v {
            Value::Sample(s) => s.keys().copied().collect(),
            _ => Vec::new(),
        }
    };
    let alone: BTreeSet<(usize, usize)> = values.iter().flat_map(cells).filter(lacks).collect();
    let mut dropped = 0;
    for value in values {
        if let Value::Sample(s) = value {
            let before = s.len();
            s.retain(|key, _| !alone.contains(key));
            dropped += before - s.len();
        }
    }
    dropped
}

/// A quotient without what was divided by 0, which is noted.
pub(super) fn divided(value: Value, notes: &mut Vec<String>) -> Valued {
    let (mut dropped, mut all) = (0, 0);
    let mut keep = |x: f64| {
        all += 1;
        dropped += usize::from(!x.is_finite());
        x.is_finite()
    };
    let kept = match value {
        Value::Number(x) => {
            keep(x);
            Value::Number(x)
        }
        Value::Sample(mut s) => {
            s.retain(|_, x| keep(*x));
            Value::Sample(s)
        }
        Value::Curve(mut c) => {
            c.iter_mut().for_each(|(_, s)| s.retain(|_, x| keep(*x)));
            Value::Curve(c)
        }
        Value::Line(mut l) => {
            l.retain(|(_, x)| keep(*x));
            Value::Line(l)
        }
        other => other,
    };
    match dropped {
        0 => Ok(kept),
        _ if dropped == all => no_data("division by 0"),
        _ => {
            notes.push(format!("{dropped} of {all} quotients dropped: division by 0"));
            Ok(kept)
        }
    }
}

/// Arithmetic, point by point and cell by cell.
pub(super) fn combine(operator: Operator, a: Value, b: Value) -> Valued {
    let with = |x: f64, y: f64| match operator {
        Operator::Plus => x + y,
        Operator::Minus => x - y,
        Operator::Times => x * y,
        _ => x / y,
    };
    const OTHER_POINTS: &str = "curves with other points";
    let same = |p: f64, q: f64| if p == q { Ok(p) } else { no_data(OTHER_POINTS) };
    match (&a, &b) {
        (Value::Curve(c), Value::Curve(e)) if c.len() != e.len() => return no_data(OTHER_POINTS),
        (Value::Line(l), Value::Line(m)) if l.len() != m.len() => return no_data(OTHER_POINTS),
        _ => {}
    }
    Ok(match (a, b) {
        (Value::Sample(s), Value::Sample(t)) => Value::Sample(paired(&s, &t, with)),
        (Value::Curve(c), Value::Curve(e)) => {
            let both = c.iter().zip(&e);
            let points = both.map(|((p, s), (q, t))| Ok((same(*p, *q)?, paired(s, t, with))));
            Value::Curve(points.collect::<Result<_, EvalError>>()?)
        }
        (Value::Line(l), Value::Line(m)) => {
            let points = l.iter().zip(&m).map(|((p, v), (q, w))| Ok((same(*p, *q)?, with(*v, *w))));
            Value::Line(points.collect::<Result<_, EvalError>>()?)
        }
        (a, Value::Number(y)) if !matches!(a, Value::Truth(_)) => a.map(|x| with(x, y)),
        (Value::Number(x), b) if !matches!(b, Value::Truth(_)) => b.map(|y| with(x, y)),
        (a, b) => {
            let (a, b) = (a.kind(), b.kind());
            return Err(EvalError::Wrong(format!("{a} {} {b} has no meaning", operator.symbol())));
        }
    })
}
