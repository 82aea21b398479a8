//! The oracle that remembers another selection.

use std::collections::HashMap;

use mustlink_core::prelude::*;

use crate::parts::wrapping::pair;

/// Answers from the ledger of an earlier selection, in any order of the questions.
///
/// # Method
/// Replies are found by pair; retracted replies are left out. An answer costs the same as in the ledger.
/// # Input and output
/// If ledger and data have ids, objects are found by id: the rows may have another order. Without ids, the objects of
/// the ledger must be the first ones; a warning reports if their values differ.
/// # Errors
/// `BadParam` without a ledger; `Data` for a file that is not a ledger, an unknown id, other data.
#[options]
pub struct Replay {
    /// Ledger file.
    #[option(file = true)]
    pub ledger: Option<String>,
    /// Oracle that answers the pairs missing from the ledger. If absent, they are refused, which ends the selection.
    pub missing: Option<Box<dyn Oracle>>,
}

#[plugin("replay")]
impl Oracle for Replay {
    fn open(&self, scene: &Scene) -> Result<Box<dyn Respondent>> {
        let Some(path) = self.ledger.as_deref().filter(|path| !path.is_empty()) else {
            return Err(Error::bad_param("ledger", "nothing", "the file of an earlier selection"));
        };
        let path = scene.ctx.base().join(path);
        let (recorded, notices) = mustlink_ledger::answers(&path, scene)?;
        notices.into_iter().for_each(|text| scene.ctx.warn(text));
        let answers = recorded.into_iter().map(|r| {
            let question = r.question();
            ((question.i, question.j), r.answer)
        });
        let missing = self.missing.as_ref().map(|m| m.open(scene).map_err(|e| e.at("missing")));
        Ok(Box::new(Remembering {
            n: scene.n,
            answers: answers.collect(),
            missing: missing.transpose()?,
        }))
    }

    fn properties(&self) -> OracleProperties {
        match &self.missing {
            // Two who answer need not agree.
            Some(missing) => OracleProperties { noiseless: false, ..missing.properties() },
            None => OracleProperties {
                noiseless: false,
                needs_labels: false,
                ..OracleProperties::default()
            },
        }
    }
}

struct Remembering {
    n: usize,
    answers: HashMap<(u32, u32), Answer>,
    missing: Option<Box<dyn Respondent>>,
}

impl Respondent for Remembering {
    fn ask(&mut self, question: &Question) -> Result<Outcome> {
        question.objects(self.n)?;
        match (self.answers.get(&pair(question)), &mut self.missing) {
            (Some(answer), _) => Ok(Outcome::Answered(answer.clone())),
            (None, Some(missing)) => missing.ask(question),
            (None, None) => Ok(Outcome::Refused(Refusal::OutOfScope)),
        }
    }

    fn cost(&self, question: &Question) -> f64 {
        match (self.answers.get(&pair(question)), &self.missing) {
            (Some(answer), _) => answer.cost,
            (None, Some(missing)) => missing.cost(question),
            (None, None) => 0.0,
        }
    }

    fn recall(&mut self, question: &Question, answer: &Answer) {
        if !self.answers.contains_key(&pair(question))
            && let Some(missing) = &mut self.missing
        {
            missing.recall(question, answer);
        }
    }
}
