//! A selector that is a generator of Python.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::Arc;

use mustlink::exchange::PlainValue;
use mustlink::prelude::*;
use pyo3::prelude::*;

use crate::callables::{Callable, called, told};

/// A selector that is a generator function of Python, registered in this process.
///
/// # Method
/// The generator yields pairs of objects and is sent the answers.
/// # Input and output
/// Dense data. One question per pair; if the function has no parameter for the objects that may be asked about, pairs
/// with other objects are skipped.
/// # Errors
/// `BadParam` for a name that is not registered; `Plugin` for exceptions and for yielded values that are not pairs.
/// # Cost and randomness
/// A copy of the data; the function gets a seed below 2³².
#[options]
pub struct PythonSelector {
    /// Name under which the function is registered.
    pub name: String,
    /// File that contains the function; results depend on its content.
    #[option(program = true)]
    pub source: Vec<String>,
    /// Options of the function itself.
    #[option(kind = <BTreeMap<String, PlainValue> as Described>::KIND)]
    pub options: BTreeMap<String, Value>,
}

#[plugin("python_selector")]
impl QuerySelector for PythonSelector {
    fn start(&self, problem: &Problem, ctx: &Context) -> Result<Box<dyn Inquiry>> {
        let callable = Callable::named(&self.name)?;
        let seed = ctx.stream("seed").next_u64() >> 32;
        let generator = called(&callable, |py| {
            let given = told(py, problem, seed, &self.options)?;
            callable.function.call1(py, given)
        })?;
        // A function that knows the eligible objects must respect them; pairs of any other are skipped.
        let eligible = problem.eligible.clone().filter(|_| !callable.facts.takes_eligible);
        Ok(Box::new(Generator {
            callable,
            generator,
            eligible,
            passed_over: HashSet::new(),
            ctx: ctx.clone(),
            asked: 0,
            told: VecDeque::from([None]),
            open: None,
            over: false,
        }))
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

/// A running generator.
struct Generator {
    callable: Arc<Callable>,
    generator: Py<PyAny>,
    /// The objects that may be asked about, if the function has no parameter for them.
    eligible: Option<Arc<[bool]>>,
    /// Its pairs with other objects, which are not asked.
    passed_over: HashSet<(u32, u32)>,
    ctx: Context,
    asked: u64,
    /// The answers that are to be sent: first nothing, which starts the generator.
    told: VecDeque<Option<Reply>>,
    open: Option<(u64, u32, u32)>,
    over: bool,
}

impl Generator {
    /// The next pair of the function, after the answer to the last one.
    fn after(&self, answer: Option<Reply>) -> Result<Option<(u32, u32)>> {
        let answer = match answer {
            Some(Reply::MustLink) => Some(true),
            Some(Reply::CannotLink) => Some(false),
            _ => None,
        };
        called(&self.callable, |py| self.generator.call_method1(py, "ask", (answer,))?.extract(py))
    }

    /// The next pair that may be asked; the answer to every skipped pair is "unknown".
    fn next_eligible(&mut self, answer: Option<Reply>) -> Result<Option<(u32, u32)>> {
        let mut next = self.after(answer)?;
        while let (Some((i, j)), Some(eligible)) = (next, &self.eligible) {
            let is_out = |end: u32| eligible.get(end as usize) == Some(&false);
            if !is_out(i) && !is_out(j) {
                break;
            }
            if !self.passed_over.insert((i.min(j), i.max(j))) {
                return Err(Error::Contract {
                    plugin: self.callable.name.clone(),
                    broken: format!("yielded the pair ({i}, {j}) twice"),
                });
            }
            self.ctx.check()?;
            next = self.after(None)?;
        }
        Ok(next)
    }
}

impl Inquiry for Generator {
    fn step(&mut self) -> Result<Step> {
        if let Some(answer) = self.told.pop_front().filter(|_| !self.over) {
            match self.next_eligible(answer)? {
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
