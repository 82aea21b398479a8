//! A selector that is a generator of Python.

use std::collections::{BTreeMap, VecDeque};

use mustlink::exchange::PlainValue;
use mustlink::prelude::*;
use pyo3::prelude::*;

use crate::callables::{Callable, called, constraints_of, matrix_of};

/// A selector that is a generator function of Python, registered in this process.
///
/// # Method
/// The generator yields pairs of objects and is sent the answers.
/// # Input and output
/// Dense data. A pair a question.
/// # Errors
/// `BadParam` for a name under which nothing is registered; `Plugin` for what it raises, and for what it
/// yields that is no pair.
/// # Cost and randomness
/// A copy of the data; a seed below 2³² is handed over.
#[options]
pub struct PythonSelector {
    /// The name it is registered under.
    pub name: String,
    /// The file it stands in: a change of it changes what results depend on.
    #[option(program = true)]
    pub source: Vec<String>,
    /// Options of its own.
    #[schemars(with = "BTreeMap<String, PlainValue>")]
    pub options: BTreeMap<String, Value>,
}

#[plugin("python_selector")]
impl QuerySelector for PythonSelector {
    fn start(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Inquiry>> {
        let callable = Callable::named(&self.name)?;
        let seed = ctx.stream("seed").next_u64() >> 32;
        let generator = called(&callable, |py| {
            let given = (
                matrix_of(py, &problem.data)?,
                problem.k,
                constraints_of(py, &problem.constraints, problem.n())?,
                seed,
                crate::callables::options(&self.options),
            );
            callable.function.call1(py, given)
        })?;
        let (asked, told) = (0, VecDeque::from([None]));
        Ok(Box::new(Generator { callable, generator, asked, told, open: None, over: false }))
    }

    fn properties(&self) -> SelectorProperties {
        let facts = Callable::find(&self.name).map(|c| c.facts.clone()).unwrap_or_default();
        SelectorProperties {
            needs_k: facts.needs_k,
            skips_entailed: facts.skips_entailed,
            needs_setup: self.name.is_empty(),
            ..SelectorProperties::default()
        }
    }
}

/// A generator under way.
struct Generator {
    callable: std::sync::Arc<Callable>,
    generator: Py<PyAny>,
    asked: u64,
    /// The answers that are to be sent: nothing first, which starts it.
    told: VecDeque<Option<Reply>>,
    open: Option<(u64, u32, u32)>,
    over: bool,
}

impl Inquiry for Generator {
    fn step(&mut self) -> Result<Step> {
        if let Some(answer) = self.told.pop_front().filter(|_| !self.over) {
            let next: Option<(u32, u32)> = called(&self.callable, |py| {
                let answer = match answer {
                    Some(Reply::MustLink) => true.into_pyobject(py)?.to_owned().into_any().unbind(),
                    Some(Reply::CannotLink) => {
                        false.into_pyobject(py)?.to_owned().into_any().unbind()
                    }
                    _ => py.None(),
                };
                self.generator.call_method1(py, "ask", (answer,))?.extract(py)
            })?;
            match next {
                Some((i, j)) => {
                    self.open = Some((self.asked, i, j));
                    self.asked += 1;
                }
                None => self.over = true,
            }
        }
        Ok(match self.open {
            Some((id, subject, reference)) if !self.over => {
                Step::Ask { id, subject, reference, purpose: "python" }
            }
            _ => Step::Done(Done::TargetReached),
        })
    }

    fn tell(&mut self, id: QueryId, reply: Reply) -> Result<()> {
        if self.open.is_none_or(|(open, ..)| open != id) {
            return Err(Error::Oracle(format!("query {id} is not open")));
        }
        self.open = None;
        self.told.push_back(Some(reply));
        Ok(())
    }
}
