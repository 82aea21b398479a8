//! The oracle that charges.

use std::collections::HashMap;

use mustlink_core::prelude::*;

use crate::parts::table::Table;
use crate::parts::wrapping::{open_source, pair, properties_of};

/// Puts a price on each question: one for all, by object, or from a table.
///
/// # Method
/// The price is multiplied by the price of the source: 1 for an answer, 1 per vote of a crowd. With `per_object`, the
/// price of a question is the sum over its two objects. Each costs `new` when it appears in an answer for the first
/// time and `old` afterwards. A table has a price per pair; other pairs cost `constant`. Replies are not changed.
/// # Errors
/// `BadParam` for `per_object` together with `table`; `Data` for a wrong table.
#[options]
pub struct Cost {
    /// Price of a question.
    #[option(default = 1.0, min = 0.0)]
    pub constant: f64,
    /// Prices by object, instead of `constant`.
    pub per_object: Option<PerObject>,
    /// CSV with the columns `i`, `j` and `cost`.
    #[option(file = true)]
    pub table: Option<String>,
    /// Read the objects in the table as ids, not as row numbers.
    #[option(inert = "it concerns a table that has no default")]
    pub by_id: bool,
    /// Oracle that answers the questions.
    #[option(slot = "truth")]
    pub source: Option<Box<dyn Oracle>>,
}

/// Price of an object.
#[options]
pub struct PerObject {
    /// Price the first time.
    #[option(default = 1.0, min = 0.0)]
    pub new: f64,
    /// Price every later time.
    #[option(min = 0.0)]
    pub old: f64,
}

#[plugin("cost")]
impl Oracle for Cost {
    fn open(&self, scene: &Scene) -> Result<Box<dyn Respondent>> {
        let price = match (&self.per_object, &self.table) {
            (Some(_), Some(_)) => {
                return Err(Error::bad_param("table", "a file", "absent together with per_object"));
            }
            (Some(by), None) => {
                Price::PerObject { new: by.new, old: by.old, seen: vec![false; scene.n] }
            }
            (None, None) => Price::Pairs { constant: self.constant, table: HashMap::new() },
            (None, Some(file)) => {
                let file = Table::read(&scene.ctx.base().join(file))?;
                let column = file.column("cost")?;
                let mut table = HashMap::new();
                for (pair, line, cells) in file.pairs(scene, self.by_id)? {
                    let cost =
                        cells[column].parse().ok().filter(|c: &f64| *c >= 0.0 && c.is_finite());
                    let cost = cost.ok_or_else(|| {
                        let message =
                            format!("cost must be a finite number >= 0, got \"{}\"", cells[column]);
                        file.bad(line, message)
                    })?;
                    if table.insert(pair, cost).is_some_and(|before| before != cost) {
                        return Err(file.bad(line, "the pair has another cost before"));
                    }
                }
                Price::Pairs { constant: self.constant, table }
            }
        };
        let source = open_source(self, &**self.source()?, scene)?;
        Ok(Box::new(Charging { n: scene.n, price, source }))
    }

    fn properties(&self) -> OracleProperties {
        properties_of(Layer::Cost, &self.source)
    }

    fn source(&self) -> Option<&dyn Oracle> {
        self.source.as_deref()
    }
}

enum Price {
    PerObject { new: f64, old: f64, seen: Vec<bool> },
    Pairs { constant: f64, table: HashMap<(u32, u32), f64> },
}

impl Price {
    fn of(&self, pair: (u32, u32)) -> f64 {
        match self {
            Price::PerObject { new, old, seen } => {
                let of = |o: u32| match seen.get(o as usize) {
                    Some(true) => *old,
                    _ => *new,
                };
                of(pair.0) + of(pair.1)
            }
            Price::Pairs { constant, table } => table.get(&pair).copied().unwrap_or(*constant),
        }
    }

    fn paid(&mut self, pair: (u32, u32)) {
        if let Price::PerObject { seen, .. } = self {
            for object in [pair.0, pair.1] {
                if let Some(seen) = seen.get_mut(object as usize) {
                    *seen = true;
                }
            }
        }
    }
}

struct Charging {
    n: usize,
    price: Price,
    source: Box<dyn Respondent>,
}

impl Respondent for Charging {
    fn ask(&mut self, question: &Question) -> Result<Outcome> {
        question.objects(self.n)?;
        let pair = pair(question);
        let mut outcome = self.source.ask(question)?;
        if let Outcome::Answered(answer) = &mut outcome {
            answer.cost *= self.price.of(pair);
            self.price.paid(pair);
        }
        Ok(outcome)
    }

    fn cost(&self, question: &Question) -> f64 {
        self.price.of(pair(question)) * self.source.cost(question)
    }

    fn recall(&mut self, question: &Question, answer: &Answer) {
        self.price.paid(pair(question));
        self.source.recall(question, answer);
    }
}
