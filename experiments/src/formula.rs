//! What does a claim about results say, as arithmetic?
//!
//! Formulas over the rows of an experiment, written in the experiment file and evaluated by the
//! report. `ari('pck')` is the learning curve of a method under a metric (or another number of a
//! row); `last`, `at`, `area` make of a curve one value per cell, paired between methods; `mean`,
//! `low`, `high` make of those one number. [`FUNCTIONS`] lists all; the manual has the same table.

use std::collections::BTreeMap;

use mustlink::registry::suggestion;
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::stats::{Summary, mean_height};

/// Every function with its arguments and what it gives.
pub(crate) const FUNCTIONS: [(&str, usize, &str); 28] = [
    ("curve", 2, "curve('column', 'method'): a curve, for columns with odd names"),
    ("first", 1, "the first point of a curve"),
    ("last", 1, "the last point of a curve"),
    ("at", 2, "at(curve, p): the point at p queries"),
    ("between", 3, "between(curve, from, to): the part of a curve"),
    ("area", 1, "mean height of a curve, by the trapezoid rule"),
    ("means", 1, "a curve of means"),
    ("max", 1, "largest mean of a curve"),
    ("min", 1, "smallest mean of a curve"),
    ("average", 1, "average of the means of a curve over its points"),
    ("slope", 1, "slope of a curve of means with both axes logarithmic"),
    ("abs", 1, "absolute value, point by point"),
    ("mean", 1, "mean over cells"),
    ("median", 1, "median over cells"),
    ("sd", 1, "standard deviation over cells"),
    ("low", 1, "lower end of the interval of a mean"),
    ("high", 1, "upper end of the interval of a mean"),
    (
        "confidence",
        1,
        "highest of 90, 95, 97.5, 99 % at which a one-sided t test finds some point above 0; else 0",
    ),
    ("confidence_resampled", 1, "the same with the correction for overlapping training sets"),
    ("count_sets", 1, "number of data sets on which a condition holds"),
    ("sets", 0, "number of data sets with results"),
    ("mean_sets", 1, "mean over data sets"),
    ("median_sets", 1, "median over data sets"),
    ("min_sets", 1, "smallest over data sets"),
    ("max_sets", 1, "largest over data sets"),
    ("slope_sets", 1, "slope against n over data sets with both axes logarithmic"),
    ("in_set", 2, "in_set('data set', value): the value on that data set"),
    ("log", 1, "natural logarithm"),
];

/// Names that stand for a number of the data set.
const FACTS: [&str; 3] = ["n", "d", "classes"];

/// A parsed formula.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Formula {
    root: Node,
}

#[derive(Debug, Clone, PartialEq)]
enum Node {
    Number(f64),
    Text(String),
    Name(String),
    Call(String, Vec<Node>),
    Not(Box<Node>),
    Minus(Box<Node>),
    Binary(Operator, Box<Node>, Box<Node>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Or,
    And,
    Less,
    AtMost,
    More,
    AtLeast,
    Equal,
    Other,
    Plus,
    Minus,
    Times,
    Over,
}

impl Operator {
    const ALL: [(&'static str, Operator, u8); 12] = [
        ("or", Operator::Or, 0),
        ("and", Operator::And, 1),
        ("<=", Operator::AtMost, 3),
        (">=", Operator::AtLeast, 3),
        ("==", Operator::Equal, 3),
        ("!=", Operator::Other, 3),
        ("<", Operator::Less, 3),
        (">", Operator::More, 3),
        ("+", Operator::Plus, 4),
        ("-", Operator::Minus, 4),
        ("*", Operator::Times, 5),
        ("/", Operator::Over, 5),
    ];
    const UNARY: u8 = 6;
    const NOT: u8 = 2;

    fn symbol(self) -> &'static str {
        Operator::ALL.iter().find(|o| o.1 == self).map_or("", |o| o.0)
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Number(f64),
    Text(String),
    Word(String),
    Sign(&'static str),
    End,
}

fn tokens(text: &str) -> Result<Vec<(usize, Token)>, String> {
    const SIGNS: [&str; 13] = ["<=", ">=", "==", "!=", "<", ">", "+", "-", "*", "/", "(", ")", ","];
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let length =
            |inside: fn(char) -> bool| rest.find(|c: char| !inside(c)).unwrap_or(rest.len());
        let (token, used) = if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        } else if c.is_ascii_digit() || c == '.' {
            let used = length(|c| c.is_ascii_digit() || c == '.');
            let number = rest[..used].parse();
            let fail = |_| format!("at character {}: \"{}\" is no number", at + 1, &rest[..used]);
            (Token::Number(number.map_err(fail)?), used)
        } else if c.is_alphabetic() || c == '_' {
            let used = length(|c| c.is_alphanumeric() || c == '_');
            (Token::Word(rest[..used].to_string()), used)
        } else if c == '\'' {
            let end = rest[1..].find('\'');
            let end = end.ok_or_else(|| format!("at character {}: a quote stays open", at + 1))?;
            (Token::Text(rest[1..=end].to_string()), end + 2)
        } else {
            let sign = SIGNS.into_iter().find(|s| rest.starts_with(s));
            let sign =
                sign.ok_or_else(|| format!("at character {}: \"{c}\" has no meaning", at + 1))?;
            (Token::Sign(sign), sign.len())
        };
        out.push((at, token));
        at += used;
    }
    out.push((text.len(), Token::End));
    Ok(out)
}

/// Deeper formulas are refused: nobody writes them, and reading them would need the stack.
const DEEPEST: usize = 64;

struct Parser {
    tokens: Vec<(usize, Token)>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> &Token {
        &self.tokens[self.at].1
    }

    fn next(&mut self) -> Token {
        let token = self.tokens[self.at].1.clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn fail<T>(&self, wanted: &str) -> Result<T, String> {
        let found = match self.peek() {
            Token::Number(x) => x.to_string(),
            Token::Text(t) => format!("'{t}'"),
            Token::Word(w) => format!("\"{w}\""),
            Token::Sign(s) => format!("\"{s}\""),
            Token::End => "the end".into(),
        };
        Err(format!(
            "at character {}: expected {wanted}, found {found}",
            self.tokens[self.at].0 + 1
        ))
    }

    fn expect(&mut self, sign: &'static str) -> Result<(), String> {
        if *self.peek() == Token::Sign(sign) {
            self.next();
            return Ok(());
        }
        self.fail(&format!("\"{sign}\""))
    }

    /// The operator that comes next, if it binds at least as strongly as `least`.
    fn operator(&self, least: u8) -> Option<(Operator, u8)> {
        let word = match self.peek() {
            Token::Word(w) => w.as_str(),
            Token::Sign(s) => s,
            _ => return None,
        };
        let found = Operator::ALL.iter().find(|(symbol, ..)| *symbol == word)?;
        (found.2 >= least).then_some((found.1, found.2))
    }

    fn expression(&mut self, least: u8) -> Result<Node, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("nested too deeply".into());
        }
        let mut left = self.operand()?;
        while let Some((operator, strength)) = self.operator(least) {
            self.next();
            let right = self.expression(strength + 1)?;
            left = Node::Binary(operator, Box::new(left), Box::new(right));
            // a < b < c means nothing here.
            if strength == 3 && self.operator(3).is_some_and(|(_, s)| s == 3) {
                return self.fail("\"and\" between two comparisons");
            }
        }
        self.depth -= 1;
        Ok(left)
    }

    fn operand(&mut self) -> Result<Node, String> {
        match self.peek().clone() {
            Token::Number(x) => {
                self.next();
                Ok(Node::Number(x))
            }
            Token::Text(t) => {
                self.next();
                Ok(Node::Text(t))
            }
            Token::Sign("-") => {
                self.next();
                Ok(Node::Minus(Box::new(self.expression(Operator::UNARY)?)))
            }
            Token::Sign("(") => {
                self.next();
                let inner = self.expression(0)?;
                self.expect(")")?;
                Ok(inner)
            }
            Token::Word(w) if w == "not" => {
                self.next();
                Ok(Node::Not(Box::new(self.expression(Operator::NOT + 1)?)))
            }
            Token::Word(w) if w != "and" && w != "or" => {
                self.next();
                if *self.peek() != Token::Sign("(") {
                    return Ok(Node::Name(w));
                }
                self.next();
                let mut arguments = Vec::new();
                while *self.peek() != Token::Sign(")") {
                    if !arguments.is_empty() {
                        self.expect(",")?;
                    }
                    arguments.push(self.expression(0)?);
                }
                self.next();
                Ok(Node::Call(w, arguments))
            }
            _ => self.fail("a number, a name or \"(\""),
        }
    }
}

/// What a formula may name.
pub(crate) struct Names<'a> {
    /// Metrics and other numbers of rows.
    pub columns: Vec<&'a str>,
    /// Methods.
    pub methods: Vec<&'a str>,
    /// Data sets.
    pub datasets: Vec<&'a str>,
}

impl Formula {
    /// Reads a formula.
    pub fn parse(text: &str) -> Result<Formula, String> {
        let mut parser = Parser { tokens: tokens(text)?, at: 0, depth: 0 };
        let root = parser.expression(0)?;
        match parser.peek() {
            Token::End => Ok(Formula { root }),
            _ => parser.fail("an operator or the end"),
        }
    }

    /// Whether it speaks of all data sets together.
    pub fn is_about_sets(&self) -> bool {
        fn about(node: &Node) -> bool {
            match node {
                Node::Call(name, arguments) => {
                    name == "sets"
                        || name.ends_with("_sets")
                        || name == "in_set"
                        || arguments.iter().any(about)
                }
                Node::Not(a) | Node::Minus(a) => about(a),
                Node::Binary(_, a, b) => about(a) || about(b),
                _ => false,
            }
        }
        about(&self.root)
    }

    /// Whether every name is known, every function has its arguments, and the kinds of values fit;
    /// `condition` says whether it is to be true or false, or a number.
    pub fn check(&self, names: &Names, condition: bool) -> Result<(), String> {
        check_names(&self.root, names)?;
        // A try on invented results finds values of the wrong kind.
        let invented = Results::invented(names);
        let scope = match self.is_about_sets() {
            true => Scope { results: &invented, set: None },
            false => Scope { results: &invented, set: Some(0) },
        };
        match (scope.value(&self.root, &mut Vec::new()), condition) {
            (Ok(Value::Truth(_)), true) | (Ok(Value::Number(_) | Value::Sample(_)), false) => {
                Ok(())
            }
            (Err(Trouble::NoData(_)), _) => Ok(()),
            (Err(Trouble::Wrong(message)), _) => Err(message),
            (Ok(other), true) => Err(format!("must be true or false, is {}", other.kind())),
            (Ok(other), false) => Err(format!("must be a number, is {}", other.kind())),
        }
    }
}

fn check_names(node: &Node, names: &Names) -> Result<(), String> {
    let known = |what: &str, name: &str, list: &[&str]| match list.contains(&name) {
        true => Ok(()),
        false => Err(format!("no {what} '{name}'{}", suggestion(name, list.iter().copied()))),
    };
    match node {
        Node::Number(_) | Node::Text(_) => Ok(()),
        Node::Name(name) => known("number of a data set", name, &FACTS),
        Node::Not(a) | Node::Minus(a) => check_names(a, names),
        Node::Binary(_, a, b) => check_names(a, names).and_then(|()| check_names(b, names)),
        Node::Call(name, arguments) => {
            let function = FUNCTIONS.iter().find(|f| f.0 == name);
            if let Some((name, count, _)) = function
                && arguments.len() != *count
            {
                return Err(format!("{name} takes {count} arguments, got {}", arguments.len()));
            }
            match (name.as_str(), &arguments[..]) {
                ("curve", [Node::Text(column), Node::Text(method)]) => {
                    known("column", column, &names.columns)?;
                    known("method", method, &names.methods)
                }
                ("curve", _) => Err("curve takes 'column' and 'method'".into()),
                ("in_set", [Node::Text(set), rest]) => {
                    known("data set", set, &names.datasets)?;
                    check_names(rest, names)
                }
                (_, rest) if function.is_some() => {
                    rest.iter().try_for_each(|a| check_names(a, names))
                }
                (column, [Node::Text(method)]) => {
                    let functions = FUNCTIONS.iter().map(|f| f.0);
                    if !names.columns.contains(&column) {
                        let near =
                            suggestion(column, functions.chain(names.columns.iter().copied()));
                        return Err(format!("no function or column \"{column}\"{near}"));
                    }
                    known("method", method, &names.methods)
                }
                (other, _) => {
                    let near = suggestion(other, FUNCTIONS.iter().map(|f| f.0));
                    Err(format!("no function \"{other}\"{near}; a column takes a 'method'"))
                }
            }
        }
    }
}

/// One value per cell (or repeat), by (repeat, fold).
pub(crate) type Sample = BTreeMap<(usize, usize), f64>;
/// Curve points in order.
pub(crate) type CurveValues = Vec<(f64, Sample)>;

/// The results of one data set.
#[derive(Debug, Clone, Default)]
pub(crate) struct SetResults {
    pub id: String,
    pub n: usize,
    pub d: usize,
    pub classes: Option<usize>,
    /// Curves by column and method.
    pub curves: BTreeMap<(String, String), CurveValues>,
}

/// The results a formula speaks about.
#[derive(Debug, Clone)]
pub(crate) struct Results {
    pub sets: Vec<SetResults>,
    /// Confidence of intervals.
    pub level: f64,
    /// Test objects per training object; absent when nothing is held back.
    pub held_back: Option<f64>,
}

impl Results {
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
        Results { sets, level: 0.95, held_back: Some(0.25) }
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Value {
    Truth(bool),
    Number(f64),
    Sample(Sample),
    Curve(CurveValues),
    /// A curve of numbers.
    Line(Vec<(f64, f64)>),
}

impl Value {
    fn kind(&self) -> &'static str {
        match self {
            Value::Truth(_) => "true or false",
            Value::Number(_) => "a number",
            Value::Sample(_) => "a value per cell",
            Value::Curve(_) | Value::Line(_) => "a curve (take last, at, area, …)",
        }
    }
}

/// Why there is no value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Trouble {
    /// Results are missing.
    NoData(String),
    /// The formula makes no sense.
    Wrong(String),
}

type Valued = Result<Value, Trouble>;

fn wrong<T>(name: &str, wanted: &str, got: &Value) -> Result<T, Trouble> {
    Err(Trouble::Wrong(format!("{name} takes {wanted}, got {}", got.kind())))
}

fn no_data<T>(what: impl Into<String>) -> Result<T, Trouble> {
    Err(Trouble::NoData(what.into()))
}

/// What a condition comes to, with the comparisons in it: `0.83 > 0.81`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Judged {
    pub holds: bool,
    pub numbers: Vec<String>,
}

impl Formula {
    /// Whether the condition holds, on one data set or (without) on all.
    pub fn judge(&self, results: &Results, set: Option<usize>) -> Result<Judged, Trouble> {
        let mut numbers = Vec::new();
        match (Scope { results, set }).value(&self.root, &mut numbers)? {
            Value::Truth(holds) => Ok(Judged { holds, numbers }),
            other => wrong("a claim", "true or false", &other),
        }
    }

    /// The number, with the interval of its mean where it is one over cells.
    pub fn number(
        &self,
        results: &Results,
        set: Option<usize>,
    ) -> Result<(f64, Option<(f64, f64)>), Trouble> {
        match (Scope { results, set }).value(&self.root, &mut Vec::new())? {
            Value::Number(x) => Ok((x, None)),
            Value::Sample(s) => {
                let summary = summary(&s, results.level)?;
                Ok((summary.mean, summary.half_width.map(|_| summary.interval())))
            }
            other => wrong("a printed number", "a number", &other),
        }
    }
}

/// A number as people read it.
pub(crate) fn shown(x: f64) -> String {
    match x.abs() {
        a if x == x.round() && a < 1e15 => format!("{x:.0}"),
        a if a >= 100.0 => format!("{x:.1}"),
        a if a >= 0.001 => format!("{x:.4}"),
        _ => format!("{x:.3e}"),
    }
}

fn summary(sample: &Sample, level: f64) -> Result<Summary, Trouble> {
    let values: Vec<f64> = sample.values().copied().collect();
    Summary::of(&values, level).map_or_else(|| no_data("no cell has a value"), Ok)
}

fn paired(a: &Sample, b: &Sample, with: impl Fn(f64, f64) -> f64) -> Sample {
    a.iter().filter_map(|(key, x)| Some((*key, with(*x, *b.get(key)?)))).collect()
}

/// Least squares through (ln x, ln y).
fn log_slope(points: &[(f64, f64)]) -> Valued {
    let logs: Vec<(f64, f64)> = points
        .iter()
        .filter(|(x, y)| *x > 0.0 && *y > 0.0)
        .map(|(x, y)| (x.ln(), y.ln()))
        .collect();
    let count = logs.len() as f64;
    let mean_x = logs.iter().map(|p| p.0).sum::<f64>() / count;
    let mean_y = logs.iter().map(|p| p.1).sum::<f64>() / count;
    let across: f64 = logs.iter().map(|p| (p.0 - mean_x) * (p.0 - mean_x)).sum();
    let both: f64 = logs.iter().map(|p| (p.0 - mean_x) * (p.1 - mean_y)).sum();
    if logs.len() < 2 || across <= 0.0 {
        return no_data("a slope needs two points above 0");
    }
    Ok(Value::Number(both / across))
}

/// Highest of the usual levels, in percent, at which the mean is above 0 by a one-sided paired t
/// test; `correction` adds n_test / n_train to the variance factor 1/m.
fn confidence(sample: &Sample, correction: f64) -> f64 {
    let values: Vec<f64> = sample.values().copied().collect();
    let Some(s) = Summary::of(&values, 0.95) else { return 0.0 };
    let Some(sd) = s.sd else { return 0.0 };
    if sd == 0.0 {
        return if s.mean > 0.0 { 99.0 } else { 0.0 };
    }
    let t = s.mean / (sd * (1.0 / s.n as f64 + correction).sqrt());
    let Ok(student) = StudentsT::new(0.0, 1.0, (s.n - 1) as f64) else { return 0.0 };
    let reached = |level: &f64| t >= student.inverse_cdf(level / 100.0);
    [99.0, 97.5, 95.0, 90.0].into_iter().find(reached).unwrap_or(0.0)
}

#[derive(Clone, Copy)]
struct Scope<'a> {
    results: &'a Results,
    set: Option<usize>,
}

impl Scope<'_> {
    fn set(&self, what: &str) -> Result<&SetResults, Trouble> {
        match self.set {
            Some(at) => Ok(&self.results.sets[at]),
            None => Err(Trouble::Wrong(format!(
                "{what} is of one data set; put it into count_sets, mean_sets, in_set, …"
            ))),
        }
    }

    fn value(&self, node: &Node, notes: &mut Vec<String>) -> Valued {
        match node {
            Node::Number(x) => Ok(Value::Number(*x)),
            Node::Text(t) => Err(Trouble::Wrong(format!("'{t}' is no value"))),
            Node::Name(name) => {
                let set = self.set(name)?;
                match name.as_str() {
                    "n" => Ok(Value::Number(set.n as f64)),
                    "d" => Ok(Value::Number(set.d as f64)),
                    _ => set
                        .classes
                        .map_or_else(|| no_data("no classes"), |k| Ok(Value::Number(k as f64))),
                }
            }
            Node::Not(a) => match self.value(a, notes)? {
                Value::Truth(t) => Ok(Value::Truth(!t)),
                other => wrong("not", "true or false", &other),
            },
            Node::Minus(a) => combine(Operator::Times, Value::Number(-1.0), self.value(a, notes)?),
            Node::Binary(operator, a, b) => {
                // Both sides are worked out, so that all numbers are told.
                let a = self.value(a, notes)?;
                let b = self.value(b, notes)?;
                match operator {
                    Operator::Or | Operator::And => match (a, b) {
                        (Value::Truth(a), Value::Truth(b)) => {
                            Ok(Value::Truth(if *operator == Operator::Or {
                                a || b
                            } else {
                                a && b
                            }))
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
                    _ => combine(*operator, a, b),
                }
            }
            Node::Call(name, arguments) => self.call(name, arguments, notes),
        }
    }

    /// A number, or the mean of a value per cell.
    fn plain(&self, name: &str, value: Value) -> Result<f64, Trouble> {
        match value {
            Value::Number(x) => Ok(x),
            Value::Sample(s) => Ok(summary(&s, self.results.level)?.mean),
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

    fn line(&self, name: &str, value: Value) -> Result<Vec<(f64, f64)>, Trouble> {
        match value {
            Value::Line(line) => Ok(line),
            Value::Curve(curve) => curve
                .iter()
                .filter(|(_, sample)| !sample.is_empty())
                .map(|(p, sample)| Ok((*p, summary(sample, self.results.level)?.mean)))
                .collect(),
            other => wrong(name, "a curve", &other),
        }
    }

    fn call(&self, name: &str, arguments: &[Node], notes: &mut Vec<String>) -> Valued {
        if name.ends_with("_sets") || name == "sets" {
            return self.over_sets(name, arguments, notes);
        }
        match (name, arguments) {
            ("in_set", [Node::Text(id), inner]) => {
                let at = self.results.sets.iter().position(|s| s.id == *id);
                let Some(at) = at else { return no_data(id.clone()) };
                return Scope { set: Some(at), ..*self }.value(inner, notes);
            }
            ("curve", [Node::Text(column), Node::Text(method)]) => {
                return self.curve_of(column, method);
            }
            (column, [Node::Text(method)]) => return self.curve_of(column, method),
            _ => {}
        }
        let mut values = arguments.iter().map(|a| self.value(a, notes));
        let Some(value) = values.next().transpose()? else {
            return Err(Trouble::Wrong(format!("{name} takes an argument")));
        };
        let mut numbers = Vec::new();
        for more in values {
            numbers.push(self.plain(name, more?)?);
        }
        match (name, value) {
            ("first" | "last" | "at" | "between", Value::Curve(curve)) => {
                let part = part(name, &numbers, curve)?;
                match name {
                    "between" => Ok(Value::Curve(part)),
                    _ => {
                        Ok(Value::Sample(part.into_iter().next().map(|p| p.1).unwrap_or_default()))
                    }
                }
            }
            ("first" | "last" | "at" | "between", Value::Line(line)) => {
                let part = part(name, &numbers, line)?;
                match name {
                    "between" => Ok(Value::Line(part)),
                    _ => Ok(Value::Number(part[0].1)),
                }
            }
            ("area", Value::Curve(curve)) => {
                let mut by_cell: BTreeMap<(usize, usize), Vec<(f64, f64)>> = BTreeMap::new();
                for (p, sample) in &curve {
                    sample.iter().for_each(|(c, v)| by_cell.entry(*c).or_default().push((*p, *v)));
                }
                // The area of a curve with holes would be that of another curve.
                let whole = by_cell.into_iter().filter(|(_, points)| points.len() == curve.len());
                let areas: Sample = whole
                    .filter_map(|(cell, points)| Some((cell, mean_height(&points)?)))
                    .collect();
                if areas.is_empty() {
                    return no_data("an area needs two points");
                }
                Ok(Value::Sample(areas))
            }
            ("area", Value::Line(line)) => mean_height(&line)
                .map_or_else(|| no_data("an area needs two points"), |a| Ok(Value::Number(a))),
            ("means", value) => Ok(Value::Line(self.line(name, value)?)),
            ("max" | "min" | "average", value) => {
                let line = self.line(name, value)?;
                let heights = line.iter().map(|p| p.1);
                let found = match name {
                    "max" => heights.reduce(f64::max),
                    "min" => heights.reduce(f64::min),
                    _ => (!line.is_empty()).then(|| heights.sum::<f64>() / line.len() as f64),
                };
                found.map_or_else(|| no_data("a curve without points"), |x| Ok(Value::Number(x)))
            }
            ("slope", value) => log_slope(&self.line(name, value)?),
            ("abs", value) => Ok(match value {
                Value::Number(x) => Value::Number(x.abs()),
                Value::Sample(s) => {
                    Value::Sample(s.into_iter().map(|(c, v)| (c, v.abs())).collect())
                }
                Value::Line(l) => Value::Line(l.into_iter().map(|(p, v)| (p, v.abs())).collect()),
                Value::Curve(c) => {
                    let point = |(p, s): (f64, Sample)| {
                        (p, s.into_iter().map(|(c, v)| (c, v.abs())).collect())
                    };
                    Value::Curve(c.into_iter().map(point).collect())
                }
                other => return wrong(name, "a number or a curve", &other),
            }),
            ("log", value) => Ok(Value::Number(self.plain(name, value)?.ln())),
            ("mean" | "median" | "sd" | "low" | "high", Value::Sample(sample)) => {
                let s = summary(&sample, self.results.level)?;
                let found = match name {
                    "mean" => Some(s.mean),
                    "median" => Some(s.median),
                    "sd" => s.sd,
                    "low" => s.half_width.map(|_| s.interval().0),
                    _ => s.half_width.map(|_| s.interval().1),
                };
                found.map_or_else(|| no_data("one cell has no spread"), |x| Ok(Value::Number(x)))
            }
            ("confidence" | "confidence_resampled", value) => {
                let correction = match name {
                    "confidence" => 0.0,
                    _ => self.results.held_back.unwrap_or(0.0),
                };
                match value {
                    Value::Sample(s) => Ok(Value::Number(confidence(&s, correction))),
                    Value::Curve(curve) => {
                        let levels = curve.iter().map(|(_, s)| confidence(s, correction));
                        Ok(Value::Number(levels.fold(0.0, f64::max)))
                    }
                    other => wrong(name, "a curve or a value per cell", &other),
                }
            }
            (name, other) => wrong(name, "something else", &other),
        }
    }

    fn over_sets(&self, name: &str, arguments: &[Node], notes: &mut Vec<String>) -> Valued {
        if name == "sets" {
            return Ok(Value::Number(self.results.sets.len() as f64));
        }
        let Some(inner) = arguments.first() else {
            return Err(Trouble::Wrong(format!("{name} takes an argument")));
        };
        let mut truths = 0;
        let mut values = Vec::new();
        for (at, set) in self.results.sets.iter().enumerate() {
            let mut inside = Vec::new();
            let value = Scope { set: Some(at), ..*self }.value(inner, &mut inside);
            match (name, value) {
                (_, Err(Trouble::NoData(_))) => continue,
                (_, Err(e)) => return Err(e),
                ("count_sets", Ok(Value::Truth(t))) => truths += usize::from(t),
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
            return Ok(Value::Number(truths as f64));
        }
        let mut all: Vec<f64> = values.iter().map(|v| v.1).collect();
        all.sort_by(f64::total_cmp);
        let Some(s) = Summary::of(&all, self.results.level) else { return no_data("no data set") };
        match name {
            "mean_sets" => Ok(Value::Number(s.mean)),
            "median_sets" => Ok(Value::Number(s.median)),
            "min_sets" => Ok(Value::Number(s.min)),
            "max_sets" => Ok(Value::Number(s.max)),
            _ => log_slope(&values),
        }
    }
}

/// The wanted points of a curve; at least one.
fn part<T>(
    name: &str,
    numbers: &[f64],
    mut points: Vec<(f64, T)>,
) -> Result<Vec<(f64, T)>, Trouble> {
    match (name, numbers) {
        ("first", _) => points.truncate(1),
        ("last", _) => points = points.pop().into_iter().collect(),
        ("at", [p]) => points.retain(|point| point.0 == *p),
        (_, [from, to]) => points.retain(|point| (*from..=*to).contains(&point.0)),
        _ => {}
    }
    match points.is_empty() {
        true => no_data("no such point of the curve"),
        false => Ok(points),
    }
}

/// Arithmetic, point by point and cell by cell.
fn combine(operator: Operator, a: Value, b: Value) -> Valued {
    let with = |x: f64, y: f64| match operator {
        Operator::Plus => x + y,
        Operator::Minus => x - y,
        Operator::Times => x * y,
        _ => x / y,
    };
    let each = |s: Sample, y: f64, turned: bool| -> Sample {
        s.into_iter().map(|(c, v)| (c, if turned { with(y, v) } else { with(v, y) })).collect()
    };
    let same = |p: f64, q: f64| if p == q { Ok(p) } else { no_data("curves with other points") };
    Ok(match (a, b) {
        (Value::Number(x), Value::Number(y)) => Value::Number(with(x, y)),
        (Value::Sample(s), Value::Number(y)) => Value::Sample(each(s, y, false)),
        (Value::Number(x), Value::Sample(s)) => Value::Sample(each(s, x, true)),
        (Value::Sample(s), Value::Sample(t)) => Value::Sample(paired(&s, &t, with)),
        (Value::Curve(c), Value::Number(y)) => {
            Value::Curve(c.into_iter().map(|(p, s)| (p, each(s, y, false))).collect())
        }
        (Value::Number(x), Value::Curve(c)) => {
            Value::Curve(c.into_iter().map(|(p, s)| (p, each(s, x, true))).collect())
        }
        (Value::Curve(c), Value::Curve(e)) => {
            let both = c.iter().zip(&e);
            let points = both.map(|((p, s), (q, t))| Ok((same(*p, *q)?, paired(s, t, with))));
            Value::Curve(points.collect::<Result<_, Trouble>>()?)
        }
        (Value::Line(l), Value::Number(y)) => {
            Value::Line(l.into_iter().map(|(p, v)| (p, with(v, y))).collect())
        }
        (Value::Number(x), Value::Line(l)) => {
            Value::Line(l.into_iter().map(|(p, v)| (p, with(x, v))).collect())
        }
        (Value::Line(l), Value::Line(m)) => {
            let points = l.iter().zip(&m).map(|((p, v), (q, w))| Ok((same(*p, *q)?, with(*v, *w))));
            Value::Line(points.collect::<Result<_, Trouble>>()?)
        }
        (a, b) => {
            let (a, b) = (a.kind(), b.kind());
            return Err(Trouble::Wrong(format!("{a} {} {b} has no meaning", operator.symbol())));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names<'static> {
        Names {
            columns: vec!["ari", "nmi_geo", "time_cluster_s"],
            methods: vec!["a", "b + c"],
            datasets: vec!["iris", "wine"],
        }
    }

    /// Two data sets, three repeats; b is a + 0.1 on iris and a − 0.1 on wine, with some spread.
    fn results() -> Results {
        let curve = |shift: f64| -> CurveValues {
            let at = |p: f64, base: f64| {
                (p, (0..3).map(|r| ((r, 0), base + shift * (1.0 + 0.1 * r as f64))).collect())
            };
            vec![at(0.0, 0.2), at(10.0, 0.6), at(20.0, 0.5)]
        };
        let set = |id: &str, n: usize, shift: f64| SetResults {
            id: id.into(),
            n,
            d: 4,
            classes: Some(3),
            curves: BTreeMap::from([
                (("ari".into(), "a".into()), curve(0.0)),
                (("ari".into(), "b + c".into()), curve(shift)),
                (("time_cluster_s".into(), "a".into()), {
                    let time = (n * n) as f64;
                    vec![
                        (1.0, BTreeMap::from([((0, 0), time)])),
                        (4.0, BTreeMap::from([((0, 0), 4.0 * time)])),
                    ]
                }),
            ]),
        };
        let sets = vec![set("iris", 100, 0.1), set("wine", 200, -0.1)];
        Results { sets, level: 0.95, held_back: Some(0.25) }
    }

    fn number(text: &str, set: Option<usize>) -> f64 {
        Formula::parse(text).unwrap().number(&results(), set).unwrap().0
    }

    fn holds(text: &str, set: Option<usize>) -> bool {
        let formula = Formula::parse(text).unwrap();
        formula.check(&names(), true).unwrap();
        formula.judge(&results(), set).unwrap().holds
    }

    #[track_caller]
    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-12, "{a} is not {b}");
    }

    #[test]
    fn arithmetic() {
        near(number("1 + 2 * 3 - 4 / 2", None), 5.0);
        near(number("-(1 + 2) * 3", None), -9.0);
        near(number("10 - 3 - 2", None), 5.0);
        assert!(holds("not 1 > 2 and 2 >= 2 or 1 == 2", Some(0)));
        assert!(!holds("not (1 < 2)", Some(0)));
        near(number("n * d + classes", Some(1)), 803.0);
    }

    #[test]
    fn curves() {
        near(number("last(ari('a'))", Some(0)), 0.5);
        near(number("at(ari('a'), 10) - first(ari('a'))", Some(0)), 0.4);
        near(number("area(ari('a'))", Some(0)), (0.4 + 0.55) / 2.0);
        near(number("area(between(ari('a'), 0, 10))", Some(0)), 0.4);
        near(number("max(ari('a')) - last(means(ari('a')))", Some(0)), 0.1);
        near(number("average(abs(means(ari('a') - ari('b + c'))))", Some(1)), 0.11);
        near(number("mean(last(curve('ari', 'b + c')))", Some(0)), 0.61);
        near(number("slope(time_cluster_s('a'))", Some(0)), 1.0);
        near(number("low(last(ari('a')))", Some(0)), 0.5);
    }

    #[test]
    fn differences_are_paired() {
        assert!(holds("low(last(ari('b + c') - ari('a'))) > 0", Some(0)));
        assert!(holds("high(last(ari('b + c')) - last(ari('a'))) < 0", Some(1)));
        assert!(holds("confidence(ari('b + c') - ari('a')) == 99", Some(0)));
        assert!(holds("confidence(ari('b + c') - ari('a')) == 0", Some(1)));
        assert!(holds("confidence_resampled(ari('b + c') - ari('a')) >= 97.5", Some(0)));
    }

    #[test]
    fn one_sided_levels() {
        // Nine degrees: 2.687 lies between 1.833 (95 %) and 2.821 (99 %), above 2.262 (97.5 %).
        let a = [0.71, 0.65, 0.80, 0.55, 0.90, 0.62, 0.77, 0.58, 0.69, 0.84];
        let b = [0.68, 0.66, 0.74, 0.55, 0.85, 0.60, 0.70, 0.61, 0.60, 0.80];
        let sample: Sample = (0..10).map(|i| ((i, 0), a[i] - b[i])).collect();
        assert_eq!(confidence(&sample, 0.0), 97.5);
        // t = 1.8497 with the correction.
        assert_eq!(confidence(&sample, 1.0 / 9.0), 95.0);
        let turned: Sample = sample.into_iter().map(|(c, v)| (c, -v)).collect();
        assert_eq!(confidence(&turned, 0.0), 0.0);
        assert_eq!(confidence(&(0..3).map(|i| ((i, 0), 1.0)).collect(), 0.0), 99.0);
        assert_eq!(confidence(&(0..3).map(|i| ((i, 0), 0.0)).collect(), 0.0), 0.0);
    }

    #[test]
    fn over_data_sets() {
        assert!(holds("count_sets(area(ari('b + c')) > area(ari('a'))) == 1", None));
        near(number("slope_sets(first(time_cluster_s('a')))", None), 2.0);
        near(number("mean_sets(n) + sets()", None), 152.0);
        near(number("in_set('wine', n) - min_sets(n)", None), 100.0);
        let formula = Formula::parse("count_sets(n > 150) >= 1").unwrap();
        let judged = formula.judge(&results(), None).unwrap();
        assert_eq!(judged.numbers, ["iris: 100 > 150", "wine: 200 > 150", "1 >= 1"]);
    }

    #[test]
    fn missing_results_are_no_data() {
        let formula = Formula::parse("last(nmi_geo('a')) > 0").unwrap();
        let judged = formula.judge(&results(), Some(0));
        assert_eq!(judged, Err(Trouble::NoData("nmi_geo of a".into())));
        let formula = Formula::parse("at(ari('a'), 7) > 0").unwrap();
        assert!(matches!(formula.judge(&results(), Some(0)), Err(Trouble::NoData(_))));
    }

    #[test]
    fn mistakes_are_named() {
        let said = |text: &str| match Formula::parse(text) {
            Err(e) => e,
            Ok(f) => f.check(&names(), true).unwrap_err(),
        };
        for (text, expected) in [
            ("1 +", "at character 4: expected a number, a name or \"(\", found the end"),
            ("(1 > 2", "at character 7: expected \")\", found the end"),
            ("1 > 2 > 3", "at character 7: expected \"and\" between two comparisons, found \">\""),
            ("1 > 2 3", "at character 7: expected an operator or the end, found 3"),
            ("ari('a) > 1", "at character 5: a quote stays open"),
            ("1 % 2 > 1", "at character 3: \"%\" has no meaning"),
            ("1.2.3 > 1", "at character 1: \"1.2.3\" is no number"),
            ("last(arii('a')) > 0", "no function or column \"arii\"; did you mean \"ari\"?"),
            ("last(ari('x')) > 0", "no method 'x'"),
            ("in_set('irsi', n) > 0", "no data set 'irsi'; did you mean \"iris\"?"),
            ("m > 0", "no number of a data set 'm'"),
            ("at(ari('a')) > 0", "at takes 2 arguments, got 1"),
            ("ari('a') > 0", "> takes numbers, got a curve (take last, at, area, …)"),
            ("last(ari('a'))", "must be true or false, is a value per cell"),
            ("n and 1 > 0", "and takes true or false, got a number"),
            ("low(3) > 0", "low takes something else, got a number"),
            ("count_sets(n) > 1", "count_sets takes true or false, got a number"),
            (
                "sets() > 1 and last(ari('a')) > 0",
                "ari is of one data set; put it into count_sets, mean_sets, in_set, …",
            ),
        ] {
            assert_eq!(said(text), expected, "{text}");
        }
        assert_eq!(said(&"(".repeat(5000)), "nested too deeply");
        let number = Formula::parse("ari('a')").unwrap().check(&names(), false);
        assert_eq!(number.unwrap_err(), "must be a number, is a curve (take last, at, area, …)");
    }
}
