//! The oracle that stops after so many answers.

use mustlink_core::prelude::*;

use crate::parts::wrapping::{open_source, properties_of};

/// Passes questions on until a number of answers or a total cost is reached, then refuses.
///
/// # Method
/// The budget is checked before asking: a question that would exceed it never reaches the source. With both limits,
/// the first one reached ends the answers. After one refusal, all questions are refused.
/// # Errors
/// `BadParam` for a source that is not allowed inside a budget.
/// # References
/// [Basu2004] §4: a constant number of queries.
#[options]
pub struct Budget {
    /// Number of answers allowed. If absent, no limit.
    #[option(min = 0)]
    pub queries: Option<u64>,
    /// Total cost allowed. If absent, no limit.
    #[option(above = 0.0)]
    pub cost: Option<f64>,
    /// Oracle that answers the questions.
    #[option(slot = "truth")]
    pub source: Option<Box<dyn Oracle>>,
}

#[plugin("budget", cites = ["Basu2004"])]
impl Oracle for Budget {
    fn open(&self, scene: &Scene) -> Result<Box<dyn Respondent>> {
        if self.queries.is_none() && self.cost.is_none() {
            scene.ctx.warn("a budget without queries or cost limits nothing");
        }
        Ok(Box::new(Counting {
            queries: self.queries.unwrap_or(u64::MAX),
            // Ten questions at 0.1 cost 1, whatever their floating sum.
            cost: self.cost.map_or(f64::INFINITY, |cost| cost * (1.0 + 1e-9)),
            answered: 0,
            spent: 0.0,
            over: false,
            source: open_source(self, &**self.source()?, scene)?,
        }))
    }

    fn properties(&self) -> OracleProperties {
        properties_of(Layer::Budget, &self.source)
    }

    fn source(&self) -> Option<&dyn Oracle> {
        self.source.as_deref()
    }

    fn limit(&self) -> Option<usize> {
        let own = self.queries.map(|q| usize::try_from(q).unwrap_or(usize::MAX));
        let inner = self.source.as_ref().and_then(|source| source.limit());
        [own, inner].into_iter().flatten().min()
    }
}

struct Counting {
    queries: u64,
    cost: f64,
    answered: u64,
    spent: f64,
    over: bool,
    source: Box<dyn Respondent>,
}

impl Respondent for Counting {
    fn ask(&mut self, question: &Question) -> Result<Outcome> {
        self.over |=
            self.answered >= self.queries || self.spent + self.source.cost(question) > self.cost;
        if self.over {
            return Ok(Outcome::Refused(Refusal::BudgetExhausted));
        }
        let outcome = self.source.ask(question)?;
        // An error or an answer that is still to come leaves the question open: it is not counted.
        if let Outcome::Answered(answer) = &outcome {
            self.answered += 1;
            self.spent += answer.cost;
        }
        Ok(outcome)
    }

    fn cost(&self, question: &Question) -> f64 {
        self.source.cost(question)
    }

    fn recall(&mut self, question: &Question, answer: &Answer) {
        self.answered += 1;
        self.spent += answer.cost;
        self.source.recall(question, answer);
    }
}
