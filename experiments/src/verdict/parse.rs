//! Formulas of claims: their grammar and the functions they may name.
//!
//! A recursive descent by strength of operators. Names get their meaning in other modules; this one only
//! has the list of functions.

/// Two arguments or more.
pub(super) const ANY: usize = usize::MAX;

/// Every function with the number of its arguments.
///
/// The files under `papers/` use most of them. The others are what claims need that no file judges
/// yet: `median`, `sd` and `in_set` (error rates over starts, compared across data
/// sets), `count_sets`, `sets`, `mean_sets` and `median_sets` (wins and losses, margins, ratios of
/// times over many data sets), `confidence_resampled` (folds share training objects).
pub(super) const FUNCTIONS: [(&str, usize); 28] = [
    // curve('column', 'method'): a curve, for columns with odd names. A quote within a name is written twice.
    ("curve", 2),
    // The first point of a curve.
    ("first", 1),
    // The last point of a curve.
    ("last", 1),
    // at(curve, p): the point at p queries.
    ("at", 2),
    // between(curve, from, to): the part of a curve.
    ("between", 3),
    // Mean height of a curve, by the trapezoid rule.
    ("area", 1),
    // A curve of means.
    ("means", 1),
    // Largest mean of a curve.
    ("max", 1),
    // Smallest mean of a curve.
    ("min", 1),
    // Average of the means of a curve over its points.
    ("average", 1),
    // Slope of a curve of means with both axes logarithmic.
    ("slope", 1),
    // Absolute value, point by point.
    ("abs", 1),
    // Median over cells.
    ("median", 1),
    // Standard deviation over cells.
    ("sd", 1),
    // spread(a, b, ...): standard deviation of two numbers or more.
    ("spread", ANY),
    // Lower end of the interval of a mean.
    ("low", 1),
    // Upper end of the interval of a mean.
    ("high", 1),
    // Highest of 90, 95, 97.5, 99 % at which a one-sided t test finds some point above 0; else 0.
    ("confidence", 1),
    // The same with the correction for overlapping training sets.
    ("confidence_resampled", 1),
    // Number of data sets on which a condition holds.
    ("count_sets", 1),
    // Number of data sets with results.
    ("sets", 0),
    // Mean over data sets.
    ("mean_sets", 1),
    // Median over data sets.
    ("median_sets", 1),
    // Slope against n over data sets with both axes logarithmic.
    ("slope_sets", 1),
    // p of the signed-rank test of a difference over data sets, two-sided.
    ("wilcoxon_sets", 1),
    // holm_sets(control, a, b, ...): the largest p of the others against the control over data sets, by
    // aligned ranks (a larger number is the better one) with Holm's adjustment.
    ("holm_sets", ANY),
    // The same with the error that García et al. (2010) print.
    ("holm_printed_sets", ANY),
    // in_set('data set', value): the value on that data set.
    ("in_set", 2),
];

/// Names that mean a number of the data set.
pub(super) const FACTS: [&str; 3] = ["n", "d", "classes"];

/// A parsed formula.
#[derive(Debug, Clone, PartialEq)]
pub struct Formula {
    pub(super) root: Expression,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Expression {
    Number(f64),
    Text(String),
    Name(String),
    Call(String, Vec<Expression>),
    Not(Box<Expression>),
    Minus(Box<Expression>),
    Binary(Operator, Box<Expression>, Box<Expression>),
}

impl Expression {
    /// True if `is` holds for a call in it, by its name and arguments.
    fn has_call(&self, is: &mut dyn FnMut(&str, &[Expression]) -> bool) -> bool {
        match self {
            Expression::Call(name, arguments) => {
                is(name, arguments) || arguments.iter().any(|a| a.has_call(is))
            }
            Expression::Not(a) | Expression::Minus(a) => a.has_call(is),
            Expression::Binary(_, a, b) => a.has_call(is) || b.has_call(is),
            _ => false,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
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

    /// The operator as written in a formula.
    pub fn symbol(self) -> &'static str {
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
            let fail =
                |_| format!("at character {}: \"{}\" is not a number", at + 1, &rest[..used]);
            (Token::Number(number.map_err(fail)?), used)
        } else if c.is_alphabetic() || c == '_' {
            let used = length(|c| c.is_alphanumeric() || c == '_');
            (Token::Word(rest[..used].to_string()), used)
        } else if c == '\'' {
            let open = || {
                format!(
                    "at character {}: a quote stays open; write one within a name twice",
                    at + 1
                )
            };
            let (text, used) = quoted(rest).ok_or_else(open)?;
            (Token::Text(text), used)
        } else {
            let sign = SIGNS.into_iter().find(|s| rest.starts_with(s));
            let unknown = || format!("at character {}: \"{c}\" has no meaning", at + 1);
            let sign = sign.ok_or_else(unknown)?;
            (Token::Sign(sign), sign.len())
        };
        out.push((at, token));
        at += used;
    }
    out.push((text.len(), Token::End));
    Ok(out)
}

/// The name between the quote that a text begins with and the one that ends it, and how long that is; a quote
/// within a name is written twice.
fn quoted(text: &str) -> Option<(String, usize)> {
    let (mut name, mut at) = (String::new(), 1);
    loop {
        let end = at + text[at..].find('\'')?;
        name += &text[at..end];
        at = end + 1;
        if !text[at..].starts_with('\'') {
            return Some((name, at));
        }
        name.push('\'');
        at += 1;
    }
}

/// Deeper formulas are refused: parsing recurses, and the stack is finite.
const DEEPEST: usize = 64;
/// So are longer ones: what follows from left to right is a tree as deep as it is long.
const MOST_OPERATORS: usize = 500;

struct Parser {
    tokens: Vec<(usize, Token)>,
    at: usize,
    depth: usize,
    operators: usize,
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

    fn expression(&mut self, least: u8) -> Result<Expression, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("nested too deeply".into());
        }
        let mut left = self.operand()?;
        while let Some((operator, strength)) = self.operator(least) {
            self.next();
            self.operators += 1;
            if self.operators > MOST_OPERATORS {
                return Err(format!("has more than {MOST_OPERATORS} operators"));
            }
            let right = self.expression(strength + 1)?;
            left = Expression::Binary(operator, Box::new(left), Box::new(right));
            // a < b < c means nothing here.
            if strength == 3 && self.operator(3).is_some_and(|(_, s)| s == 3) {
                return self.fail("\"and\" between two comparisons");
            }
        }
        self.depth -= 1;
        Ok(left)
    }

    fn operand(&mut self) -> Result<Expression, String> {
        match self.peek().clone() {
            Token::Number(x) => {
                self.next();
                Ok(Expression::Number(x))
            }
            Token::Text(t) => {
                self.next();
                Ok(Expression::Text(t))
            }
            Token::Sign("-") => {
                self.next();
                Ok(Expression::Minus(Box::new(self.expression(Operator::UNARY)?)))
            }
            Token::Sign("(") => {
                self.next();
                let inner = self.expression(0)?;
                self.expect(")")?;
                Ok(inner)
            }
            Token::Word(w) if w == "not" => {
                self.next();
                Ok(Expression::Not(Box::new(self.expression(Operator::NOT + 1)?)))
            }
            Token::Word(w) if w != "and" && w != "or" => {
                self.next();
                if *self.peek() != Token::Sign("(") {
                    return Ok(Expression::Name(w));
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
                Ok(Expression::Call(w, arguments))
            }
            _ => self.fail("a number, a name or \"(\""),
        }
    }
}

impl Formula {
    /// Reads a formula.
    pub fn parse(text: &str) -> Result<Formula, String> {
        let mut parser = Parser { tokens: tokens(text)?, at: 0, depth: 0, operators: 0 };
        let root = parser.expression(0)?;
        match parser.peek() {
            Token::End => Ok(Formula { root }),
            _ => parser.fail("an operator or the end"),
        }
    }

    /// The points of curves that `at` names as numbers.
    pub fn points(&self) -> Vec<f64> {
        let mut out = Vec::new();
        self.root.has_call(&mut |name, arguments| {
            if let ("at", [_, Expression::Number(p)]) = (name, arguments) {
                out.push(*p);
            }
            false
        });
        out
    }

    /// True if it speaks of all data sets together.
    pub fn is_about_sets(&self) -> bool {
        let is_about = |name: &str| name.ends_with("_sets") || ["sets", "in_set"].contains(&name);
        self.root.has_call(&mut |name, _| is_about(name))
    }
}
