//! Checks of the names in a formula and of the kinds of its values.

use std::collections::BTreeMap;

use mustlink_core::registry::suggestion;

use crate::statistics::Unit;

use super::evaluate::{Results, Scope, SetResults};
use super::parse::{ANY, Expression, FACTS, FUNCTIONS, Formula};
use super::value::{EvalError, Value};

/// Names allowed in a formula.
pub struct Names<'a> {
    /// Metrics and other numbers of rows.
    pub columns: Vec<&'a str>,
    /// Methods.
    pub methods: Vec<&'a str>,
    /// Data sets.
    pub datasets: Vec<&'a str>,
}

impl Formula {
    /// Checks that every name is known, every function has its arguments, and the kinds of values fit;
    /// `condition` is true if the result must be true or false, and false if it must be a number.
    pub fn check(&self, names: &Names, condition: bool) -> Result<(), String> {
        check_names(&self.root, names)?;
        // Results cannot be invented without data sets. The study is rejected for another reason.
        if names.datasets.is_empty() {
            return Ok(());
        }
        // A try on invented results finds values of the wrong kind.
        let invented = invented(names);
        let scope = if self.is_about_sets() {
            Scope { results: &invented, set: None, whole: false }
        } else {
            Scope { results: &invented, set: Some(0), whole: false }
        };
        match (scope.value(&self.root, &mut Vec::new()), condition) {
            (Ok(Value::Truth(_)), true) | (Ok(Value::Number(_) | Value::Sample(_)), false) => {
                Ok(())
            }
            (Err(EvalError::NoData(_)), _) => Ok(()),
            (Err(EvalError::Wrong(message)), _) => Err(message),
            (Ok(other), true) => Err(format!("must be true or false, is {}", other.kind())),
            (Ok(other), false) => Err(format!("must be a number, is {}", other.kind())),
        }
    }
}

/// Hint about an unknown method id: that its lists made several methods of it, or the nearest id.
pub(crate) fn instead<'a>(id: &str, ids: impl Iterator<Item = &'a str> + Clone) -> String {
    let of_lists = |other: &&str| other.strip_prefix(id).is_some_and(|rest| rest.starts_with('['));
    match ids.clone().find(of_lists) {
        Some(first) => {
            let several = ids.filter(of_lists).count();
            format!("; its lists stand for {several} methods, the first of which is \"{first}\"")
        }
        None => suggestion(id, ids),
    }
}

fn check_names(node: &Expression, names: &Names) -> Result<(), String> {
    let known = |what: &str, name: &str, list: &[&str]| {
        if list.contains(&name) {
            Ok(())
        } else {
            Err(format!("no {what} '{name}'{}", suggestion(name, list.iter().copied())))
        }
    };
    let method = |name: &str| match names.methods.contains(&name) {
        true => Ok(()),
        false => Err(format!("no method '{name}'{}", instead(name, names.methods.iter().copied()))),
    };
    match node {
        Expression::Number(_) | Expression::Text(_) => Ok(()),
        Expression::Name(name) => known("number of a data set", name, &FACTS),
        Expression::Not(a) | Expression::Minus(a) => check_names(a, names),
        Expression::Binary(_, a, b) => check_names(a, names).and_then(|()| check_names(b, names)),
        Expression::Call(name, arguments) => {
            let function = FUNCTIONS.iter().find(|f| f.0 == name);
            if let Some((name, count)) = function
                && (arguments.len() != *count && *count != ANY
                    || *count == ANY && arguments.len() < 2)
            {
                let wanted = if *count == ANY { "2 or more".into() } else { count.to_string() };
                return Err(format!("{name} takes {wanted} arguments, got {}", arguments.len()));
            }
            match (name.as_str(), &arguments[..]) {
                ("curve", [Expression::Text(column), Expression::Text(id)]) => {
                    known("column", column, &names.columns)?;
                    method(id)
                }
                ("curve", _) => Err("curve takes 'column' and 'method'".into()),
                ("in_set", [Expression::Text(set), rest]) => {
                    known("data set", set, &names.datasets)?;
                    check_names(rest, names)
                }
                (_, rest) if function.is_some() => {
                    rest.iter().try_for_each(|a| check_names(a, names))
                }
                (column, [Expression::Text(id)]) => {
                    let functions = FUNCTIONS.iter().map(|f| f.0);
                    if !names.columns.contains(&column) {
                        let near =
                            suggestion(column, functions.chain(names.columns.iter().copied()));
                        return Err(format!("no function or column \"{column}\"{near}"));
                    }
                    method(id)
                }
                (column, _) if names.columns.contains(&column) => {
                    Err(format!("{column} takes a method between single quotes"))
                }
                (other, _) => {
                    let near = suggestion(other, FUNCTIONS.iter().map(|f| f.0));
                    Err(format!("no function \"{other}\"; a column takes a 'method'{near}"))
                }
            }
        }
    }
}

/// Results with every name in them: a curve of two points and three cells for each.
fn invented(names: &Names) -> Results {
    let mut curves = BTreeMap::new();
    for column in &names.columns {
        for (at, method) in names.methods.iter().enumerate() {
            let sample =
                |p: f64| (p, (0..3).map(|r| ((r, 0), 1.0 + p + (at * r) as f64)).collect());
            let key = (column.to_string(), method.to_string());
            curves.insert(key, vec![sample(0.0), sample(1.0)]);
        }
    }
    let set = |(at, id): (usize, &&str)| SetResults {
        id: id.to_string(),
        n: 10 + at,
        d: 2,
        classes: Some(2),
        curves: curves.clone(),
    };
    let sets = names.datasets.iter().enumerate().map(set).collect();
    Results { sets, level: 0.95, unit: Unit::Fold, held_back: Some(0.25) }
}
