//! Lists and ranges of values that an option takes one after the other.

use serde_json::Value;

use crate::document::{Node, NodeKind};

/// More values than this are taken for a slip.
const MAX_VALUES: usize = 10_000;

/// The values of a list, or the numbers of a range `{ from = 1, to = 9, step = 2 }` or
/// `{ from = 0.01, to = 100, factor = 10 }`; `None` for what is neither.
///
/// # Errors
/// Describes the fault in a range.
pub fn axis_values(node: &Node) -> Option<Result<Vec<Node>, String>> {
    if !node.items().is_empty() {
        return Some(Ok(node.items().to_vec()));
    }
    let keys: Vec<&str> = node.entries().iter().map(|e| e.key.as_str()).collect();
    let known = |k: &&str| ["from", "to", "step", "factor"].contains(k);
    if !keys.contains(&"from") || !keys.iter().all(known) {
        return None;
    }
    let at = |value: Value| node.replaced(NodeKind::Value(value));
    Some(numbers(node).map(|all| all.into_iter().map(at).collect()))
}

/// The numbers of a range, `to` included if a step reaches it: whole ones where first and step are.
fn numbers(range: &Node) -> Result<Vec<Value>, String> {
    let number = |key: &str| match range.get(key).map(|n| &n.kind) {
        None => Ok(None),
        Some(NodeKind::Value(v)) if v.is_number() => Ok(Some(v.clone())),
        Some(_) => Err(format!("{key} must be a number")),
    };
    let needed = |key: &str| {
        number(key)?.ok_or_else(|| {
            format!(
                "a range needs {key}: {{ from = 1, to = 9, step = 2 }}, or factor in place of step"
            )
        })
    };
    let (from, to) = (needed("from")?, needed("to")?);
    let (step, factor) = (number("step")?, number("factor")?);
    let real = |v: &Value| v.as_f64().unwrap_or(f64::NAN);
    let next: Box<dyn Fn(usize) -> Value> = match (&step, &factor) {
        (Some(_), Some(_)) => return Err("a range has a step or a factor, not both".into()),
        (None, None) => return needed("step").map(|_| Vec::new()),
        (Some(step), None) => {
            if real(step) <= 0.0 {
                return Err(format!("the step of a range must be above 0, got {step}"));
            }
            match (from.as_i64(), step.as_i64()) {
                (Some(from), Some(step)) => Box::new(move |i| {
                    let next = step.checked_mul(i as i64).and_then(|more| from.checked_add(more));
                    next.map_or(Value::Null, Value::from)
                }),
                _ => {
                    let (from, step) = (real(&from), real(step));
                    Box::new(move |i| rounded(from + step * i as f64))
                }
            }
        }
        (None, Some(factor)) => {
            if real(factor) <= 1.0 || real(&from) <= 0.0 {
                let message = "with a factor, from must be above 0 and the factor above 1";
                return Err(format!("{message}, got {from} and {factor}"));
            }
            let whole = from.is_i64() && factor.is_i64();
            let (from, factor) = (real(&from), real(factor));
            Box::new(move |i| match from * factor.powi(i as i32) {
                x if whole && x < 2f64.powi(53) => (x as i64).into(),
                x => rounded(x),
            })
        }
    };
    let end = real(&to);
    let mut values = Vec::new();
    for i in 0..=MAX_VALUES {
        let value = next(i);
        // None is where there are no larger numbers.
        if value.is_null() || real(&value) > end {
            break;
        }
        values.push(value);
    }
    match values.len() {
        0 => Err(format!("a range goes upwards; {from} is above {to}")),
        n if n > MAX_VALUES => Err(format!("a range has more than {MAX_VALUES} values")),
        _ => Ok(values),
    }
}

/// The number as people would write it: 0.3, not 0.30000000000000004.
fn rounded(x: f64) -> Value {
    format!("{x:.12e}").parse::<f64>().unwrap_or(x).into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn values(range: Value) -> Result<Vec<Value>, String> {
        let values = axis_values(&Node::synthetic(&range)).expect("a list or a range")?;
        Ok(values.iter().map(Node::to_value).collect())
    }

    #[test]
    fn ranges_are_lists() {
        for (range, list) in [
            (json!({ "from": 1, "to": 9, "step": 2 }), json!([1, 3, 5, 7, 9])),
            (json!({ "from": 0, "to": 5, "step": 2 }), json!([0, 2, 4])),
            (json!({ "from": 0.1, "to": 0.5, "step": 0.1 }), json!([0.1, 0.2, 0.3, 0.4, 0.5])),
            (json!({ "from": -1, "to": 0.5, "step": 0.75 }), json!([-1.0, -0.25, 0.5])),
            (
                json!({ "from": 0.01, "to": 100, "factor": 10 }),
                json!([0.01, 0.1, 1.0, 10.0, 100.0]),
            ),
            (json!({ "from": 2, "to": 40, "factor": 2 }), json!([2, 4, 8, 16, 32])),
            // The next ones are larger than any number.
            (json!({ "from": 1, "to": i64::MAX, "step": i64::MAX - 1 }), json!([1, i64::MAX])),
            (json!({ "from": 5, "to": i64::MAX, "step": i64::MAX - 1 }), json!([5])),
            (json!({ "from": 1.0, "to": 1e300, "factor": 1e200 }), json!([1.0, 1e200])),
            (json!([3, "x"]), json!([3, "x"])),
        ] {
            assert_eq!(Value::Array(values(range.clone()).unwrap()), list, "{range}");
        }
        for other in [json!([]), json!(3), json!({ "to": 3 }), json!({ "from": 1, "type": "x" })] {
            assert!(axis_values(&Node::synthetic(&other)).is_none(), "{other}");
        }
    }

    #[test]
    fn what_is_no_range_is_said() {
        for (range, said) in [
            (json!({ "from": 1, "to": 9 }), "a range needs step"),
            (json!({ "from": 1, "step": 9 }), "a range needs to"),
            (json!({ "from": 1, "to": 9, "step": 1, "factor": 2 }), "not both"),
            (json!({ "from": 1, "to": 9, "step": 0 }), "must be above 0, got 0"),
            (json!({ "from": 0, "to": 9, "factor": 2 }), "from must be above 0"),
            (json!({ "from": 1, "to": 9, "factor": 1 }), "the factor above 1, got 1 and 1"),
            (json!({ "from": 3, "to": 1, "step": 1 }), "3 is above 1"),
            (json!({ "from": "a", "to": 1, "step": 1 }), "from must be a number"),
            (json!({ "from": 0, "to": 1e9, "step": 1 }), "more than 10000 values"),
        ] {
            let error = values(range.clone()).unwrap_err();
            assert!(error.contains(said), "{range}: {error}");
        }
    }
}
